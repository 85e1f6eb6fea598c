# SPDX-License-Identifier: Apache-2.0
"""What drng is switched on for, the system or a service; and the check before anything is written: libcrypto loads
what would be there, from memory, in a child."""

from __future__ import annotations

import contextlib
import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ..conf.command import not_installed
from ..conf.meaning import lost, named_sections
from ..conf.probe import Probe, default_file
from ..conf.probe import probe as ask
from ..paths import OthersError, walked
from ..terminal import Output, Unchanged, complain
from . import texts
from .arguments import Request
from .changes import File, read
from .texts import Head

probe = functools.cache(ask)


named_conf = functools.cache(default_file)


def conf_path() -> str:
    """The one that libcrypto was built to read. Debian's openssl looks behind a link."""
    return os.path.realpath(named_conf())


def read_roots(path: str, named: str) -> bytes | None:
    """One that root alone can change, by the name that leads to it."""
    try:
        # What is not there is nobody's; what else is wrong, the reading says.
        with contextlib.suppress(OSError), walked(named):
            pass
    except OthersError as error:
        raise Unchanged(f"{error.said}: chown root and chmod go-w mend that") from None
    return read(path)


def require(before: Probe, after: Probe, profile: str) -> None:
    """Fails unless the second does for drng what it should, and leaves alone what the first one says."""
    gone = [f"[{name}] {key} = {value} no longer holds" for name, key, value in lost(before, after)]
    if gone:
        raise Unchanged(f"{before.path}: {'; '.join(gone)}")
    if reason := after.problem or after.stopped:
        said = "; ".join([reason, *not_installed(after)])
        raise Unchanged(f"{before.path} would not load with {profile}: {said}")
    failed = {name: why for name, why in after.not_loaded.items() if name not in before.not_loaded}
    if "drng" in failed and not os.path.exists(before.module):
        raise Unchanged(f"drng.so is not in {before.modules}: install openssl-provider-drng")
    # Beside the FIPS provider OpenSSL keeps the default one only where the file activates it.
    gone = sorted({*before.providers, *failed} - {*after.providers, "default" * (profile == "fips")})
    if gone:
        raise Unchanged("; ".join(f"the provider {name} would not be active: {failed.get(name, '')}" for name in gone))
    if not after.served_by_drng:
        for line in (*after.errors, *[f"{after.override} outranks every generator"] * bool(after.override)):
            complain(line)
        cure = ": for OpenSSL's FIPS provider there is --profile fips" if "fips" in after.override else ""
        raise Unchanged(f"random numbers would not come from drng{cure}")


class Target(ABC):
    """`head` says what is on, or None; once on() or off() has been asked, what will be."""

    unit = ""  # its name for systemd; none of the system
    name = typed = path = ""
    head: Head | None = None
    tried = False  # on trial
    missing = ""  # why nothing can be known of it now
    is_under_ours = False  # what we have written may be what activates drng in the file that our lines stand behind
    ours: dict[str, bytes | None]  # drng's own files, as they are
    trials: tuple[str, ...] = ()  # those of them that a confirmed trial does without
    variables: Sequence[str] = ()  # OPENSSL_CONF, with each value that leads to them

    def __init__(self) -> None:
        self.notes: list[str] = []  # what is said beside it
        self.said: list[str] = []
        self.processes: list[dict[str, Any]] = []
        self.changed = self.is_unserved = False
        self.is_served: bool | None = None  # None: nobody has asked

    # ---- Which a system and a service have each in its own way ----

    @abstractmethod
    def base(self) -> Probe:
        """Of what our lines stand behind."""

    @abstractmethod
    def files(self, head: Head, *, trial: bool) -> list[File]:
        """All of them, as they would be with it."""

    @abstractmethod
    def require(self, request: Request) -> None:
        """Fails where nothing can be switched on."""

    @abstractmethod
    def after(self, head: Head) -> Probe:
        """Of what would be read with our lines."""

    @abstractmethod
    def look(self) -> str:
        """Who serves where it is on, in a line; or what keeps drng from it."""

    def why_not_in_effect(self) -> str:
        """Of what is on, once systemd has read the files; empty where it is."""
        return ""

    # ---- Which they have in common ----

    def say(self, text: str) -> None:
        self.said.append(text)
        Output.line(f"{self.name}: {text}")

    def on(self, request: Request) -> list[File]:
        """The files, once they are checked. The profile is the one that is named, that is on, or strict."""
        self.notes.clear()
        texts.require_ours(self.ours)
        self.require(request)
        was = self.head or Head()
        settings = dict(was.settings) | dict(request.settings)
        profile = request.profile or was.profile or "strict"
        head, base = Head(profile, tuple((key, value) for key, value in settings.items() if value)), self.base()
        if reason := base.problem or base.stopped:
            raise Unchanged(f"{base.path} does not load as it is: {reason}")
        named = named_sections(base)
        if named.drng and not self.is_under_ours:
            raise Unchanged(
                f"{base.path}, or a file that it includes, activates drng already, by lines that drng-enable did not "
                "write; remove them first, or keep them"
            )
        require(base, self.after(head), profile)
        files = self.files(head, trial=bool(request.trial))
        self.head = head
        return files

    def off(self) -> list[File]:
        texts.require_ours(self.ours)
        self.notes.clear()
        self.head = None
        return [File(path, data, None) for path, data in self.ours.items()]

    def facts(self) -> dict[str, Any]:
        """For programs."""
        head = self.head or Head()
        known = {"name": self.name, "on": self.head is not None, "profile": head.profile, "file": self.path}
        known |= {"settings": dict(head.settings), "changed": self.changed, "said": self.said}
        return {**known, "processes": self.processes, **({} if self.is_served is None else {"served": self.is_served})}
