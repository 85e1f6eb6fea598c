# SPDX-License-Identifier: Apache-2.0
"""What drng is switched on for: the system, or a service."""

from __future__ import annotations

import os
from typing import Any

from ..conf.meaning import DRNG_KEYS, allows, hint, named_sections
from ..conf.probe import Probe
from ..terminal import Failure, Unchanged, UsageError, warn
from . import texts
from .arguments import PROFILES, Request
from .changes import File
from .check import require, why_not
from .texts import Head

TRIAL = "/run/drng"  # for files of a trial, which go with the machine's next start


def with_settings(head: Head, more: list[tuple[str, str]]) -> Head:
    """What is set already and what --set adds; a key without a value has its default again."""
    for key, value in more:
        if key not in DRNG_KEYS:
            raise UsageError(f"--set {key}: drng has no such key{hint(key, list(DRNG_KEYS))}")
        if value and not allows(key, value):
            raise UsageError(f"--set {key}={value}: write one of {', '.join(DRNG_KEYS[key])}")
    settings = dict(head.settings) | dict(more)
    return Head(head.profile, tuple((key, value) for key, value in settings.items() if value))


class Target:
    """`head` says what is on, or None; once on() or off() has been asked, what will be. `tried`: on trial."""

    unit = ""  # its name for systemd; none of the system
    name = typed = path = ""
    head: Head | None = None
    tried = False
    ours: dict[str, bytes | None]  # drng's own files, as they are
    trials: tuple[str, ...] = ()  # those of them that a confirmed trial does without

    def __init__(self) -> None:
        self.notes: list[str] = []  # what is said beside it

    # ---- Which a system and a service have each in its own way ----

    def base(self) -> Probe:
        """Of what our lines stand behind."""
        raise NotImplementedError

    def files(self, head: Head, *, trial: bool) -> list[File]:
        """All of them, as they would be with it."""
        raise NotImplementedError

    def off(self) -> list[File]:
        texts.require_ours(self.ours)
        self.notes.clear()
        self.head, self.tried = None, False
        return [File(path, data, None) for path, data in self.ours.items()]

    def require(self, request: Request) -> None:
        """Fails where nothing can be switched on."""
        texts.require_ours(self.ours)

    def after(self, head: Head) -> Probe:
        """Of what would be read with our lines."""
        raise NotImplementedError

    def may_name_drng(self) -> bool:
        """Whether what the base says of drng comes from lines that we put there."""
        return False

    def why_not_in_effect(self) -> str:
        """Once systemd has read the files; empty where it is."""
        return ""

    # ---- Which they have in common ----

    def on(self, request: Request) -> list[File]:
        """The files, once they are checked. The profile is the one that is named, that is on, or strict."""
        self.notes.clear()
        self.require(request)
        was = self.head or Head()
        profile = request.profile or (was.profile if was.profile in PROFILES else "strict")
        head, base = with_settings(Head(profile, was.settings), request.settings), self.base()
        if reason := why_not(base):
            raise Unchanged(f"{base.path} does not load as it is: {reason}")
        named = named_sections(base)
        if named.drng and not self.may_name_drng():
            raise Unchanged(
                f"{base.path}, or a file that it includes, activates drng already, by lines that drng-enable did not "
                "write; remove them first, or keep them"
            )
        if named.random and self.head is None and not self.may_name_drng():
            warn(f"random = {named.random} of {base.path} has no effect while drng is on")
        require(base, self.after(head), profile)
        files = self.files(head, trial=bool(request.trial))
        self.head = head
        return files

    def confirmed(self) -> list[File]:
        """A trial's, where they stay."""
        assert self.head is not None
        self.tried = False
        return [*self.files(self.head, trial=False), *(File(path, self.ours[path], None) for path in self.trials)]

    def still_served(self) -> str:
        """By what drng serves where this is off; empty where it does not. Not to know it keeps nothing on."""
        try:
            base = self.base()
        except Failure as error:
            return f"it is not known whether drng still serves: {error}"
        return f"drng still serves, by lines of {base.path}" if base.served_by_drng else ""

    def is_outdated(self) -> bool:
        """Whether `on` would write other lines than those that are there."""
        found = self.head and self.files(self.head, trial=self.tried)
        return any(file.before != file.after for file in found or ())

    def is_older(self, started: float) -> bool:
        """Whether what started then has not read what is there now."""
        return any(os.stat(path).st_mtime > started for path in self.ours if os.path.exists(path))

    def facts(self) -> dict[str, Any]:
        head = self.head or Head()
        known = {"name": self.name, "on": self.head is not None, "profile": head.profile, "file": self.path}
        return {**known, "settings": dict(head.settings)}
