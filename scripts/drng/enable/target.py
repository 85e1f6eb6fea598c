# SPDX-License-Identifier: Apache-2.0
"""What drng is switched on for: the system, or a service."""

from __future__ import annotations

import os
from typing import Any

from ..conf.meaning import named_sections
from ..conf.probe import Probe
from ..terminal import Failure, Unchanged, warn
from . import texts
from .arguments import PROFILES, Request
from .changes import File
from .check import require, why_not
from .texts import Head

TRIAL = "/run/drng"  # for files of a trial, which go with the machine's next start


class Target:
    """`head` says what is on, or None; once on() or off() has been asked, what will be."""

    unit = ""  # its name for systemd; none of the system
    name = typed = path = ""
    head: Head | None = None
    tried = False  # on trial
    missing = ""  # why nothing can be known of it now
    is_under_ours = False  # what we have written may be what activates drng in the file that our lines stand behind
    ours: dict[str, bytes | None]  # drng's own files, as they are
    trials: tuple[str, ...] = ()  # those of them that a confirmed trial does without

    def __init__(self) -> None:
        self.notes: list[str] = []  # what is said beside it
        self.said: list[str] = []
        self.processes: list[dict[str, Any]] = []
        self.changed = False
        self.served: bool | None = None  # None: nobody has asked

    # ---- Which a system and a service have each in its own way ----

    def base(self) -> Probe:
        """Of what our lines stand behind."""
        raise NotImplementedError

    def files(self, head: Head, *, trial: bool) -> list[File]:
        """All of them, as they would be with it."""
        raise NotImplementedError

    def require(self, request: Request) -> None:
        """Fails where nothing can be switched on."""
        raise NotImplementedError

    def after(self, head: Head) -> Probe:
        """Of what would be read with our lines."""
        raise NotImplementedError

    def why_not_in_effect(self) -> str:
        """Of what is on, once systemd has read the files; empty where it is."""
        return ""

    # ---- Which they have in common ----

    def on(self, request: Request) -> list[File]:
        """The files, once they are checked. The profile is the one that is named, that is on, or strict."""
        self.notes.clear()
        texts.require_ours(self.ours)
        self.require(request)
        was = self.head or Head()
        settings = dict(was.settings) | dict(request.settings)
        head = Head(
            request.profile or (was.profile if was.profile in PROFILES else "strict"),
            tuple((key, value) for key, value in settings.items() if value),
        )
        base = self.base()
        if reason := why_not(base):
            raise Unchanged(f"{base.path} does not load as it is: {reason}")
        named = named_sections(base)
        if named.drng and not self.is_under_ours:
            raise Unchanged(
                f"{base.path}, or a file that it includes, activates drng already, by lines that drng-enable did not "
                "write; remove them first, or keep them"
            )
        if named.random and self.head is None and not self.is_under_ours:
            warn(f"random = {named.random} of {base.path} has no effect while drng is on")
        require(base, self.after(head), head.profile)
        files = self.files(head, trial=bool(request.trial))
        self.head = head
        return files

    def off(self) -> list[File]:
        texts.require_ours(self.ours)
        self.notes.clear()
        self.head = None
        return [File(path, data, None) for path, data in self.ours.items()]

    def confirmed(self) -> list[File]:
        """A trial's, where they stay."""
        assert self.head is not None
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
        found = self.head and not self.missing and self.files(self.head, trial=self.tried)
        return any(file.before != file.after for file in found or ())

    def is_older(self, started: float) -> bool:
        """Whether what started then has not read what is there now."""
        return any(os.stat(path).st_mtime > started for path in self.ours if os.path.exists(path))

    def facts(self) -> dict[str, Any]:
        """For programs."""
        head = self.head or Head()
        known = {"name": self.name, "on": self.head is not None, "profile": head.profile, "file": self.path}
        known |= {"settings": dict(head.settings), "changed": self.changed, "said": self.said}
        return {**known, "processes": self.processes, **({} if self.served is None else {"served": self.served})}
