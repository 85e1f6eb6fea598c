# SPDX-License-Identifier: Apache-2.0
"""What drng is switched on for: the file for its lines, as it stands and as it would be."""

from __future__ import annotations

from typing import Any

from ..conf import meaning
from ..terminal import Unchanged, UsageError, warn
from . import block, programs
from .arguments import PROFILES, Request
from .changes import File, read
from .check import Check


def with_settings(head: block.Head, more: list[tuple[str, str]]) -> block.Head:
    """What is set already and what --set adds; a key without a value has its default again."""
    for key, value in more:
        if key not in meaning.DRNG_KEYS:
            raise UsageError(f"--set {key}: drng has no such key{meaning.hint(key, list(meaning.DRNG_KEYS))}")
        if value and not meaning.allows(key, value):
            raise UsageError(f"--set {key}={value}: write one of {', '.join(meaning.DRNG_KEYS[key])}")
    settings = dict(head.settings) | dict(more)
    return block.Head(head.profile, tuple((key, value) for key, value in settings.items() if value))


class Target:
    """The system or a service. `head` says which profile is on, or None; once on() or off() has been asked, which will
    be."""

    unit = ""  # its name for systemd; none of the system

    def __init__(self, name: str, typed: str, path: str) -> None:
        self.name, self.typed, self.path = name, typed, path
        self.found = read(path)
        self.text = block.decode(self.found)
        self.head = block.head_of(self.text)
        self.check = Check(path)
        self.notes: list[str] = []

    # ---- Which a system and a service have each in its own way ----

    def base(self) -> str:
        """What our lines stand behind."""
        raise NotImplementedError

    def files(self, head: block.Head) -> list[File]:
        """All of them, with the lines for it."""
        raise NotImplementedError

    def off(self) -> list[File]:
        raise NotImplementedError

    def may_name_drng(self) -> bool:
        """Whether what the base says of drng comes from lines that we put there."""
        return self.head is not None

    def require(self, request: Request) -> None:
        """Fails where nothing can be switched on."""

    def last_check(self, text: str, head: block.Head) -> None:
        """Of what would be on."""

    def why_not_in_effect(self) -> str:
        """By systemd's own word, once it has read the files; empty where it is."""
        return ""

    def still_served(self) -> str:
        """By what drng serves where this is off; empty where it does not."""
        return ""

    # ---- Which they have in common ----

    def lines(self, head: block.Head) -> str:
        base = self.base()
        return block.lines(base, head, self.check.meaning(base))

    def on(self, request: Request) -> list[File]:
        """The files, once they are checked. The profile is the one that is named, that is on, or strict."""
        self.require(request)
        was = self.head or block.Head()
        profile = request.profile or (was.profile if was.profile in PROFILES else "strict")
        head, base = with_settings(block.Head(profile, was.settings), request.settings), self.base()
        conf = self.check.conf(base)
        found = meaning.understand(conf)
        if found.drng and not self.may_name_drng():
            raise Unchanged(
                f"{self.check.path}, or a file that it includes, activates drng already, by lines that drng-enable did "
                "not write; remove them first, or keep them"
            )
        if found.random and not self.may_name_drng():
            warn(f"[{found.init}] random = {found.random} has no effect while drng is on")
        if PROFILES[profile].since_3_5 and not conf.is_since(3, 5):
            said = programs.openssl("version").stdout.strip()
            raise Unchanged(f"{profile} needs OpenSSL 3.5 or later; this is {said}")
        after = base + self.lines(head)
        self.check.change(base, after, profile)
        self.last_check(after, head)
        self.check.warn_of_closed_files(self.path, profile)
        files = self.files(head)
        self.head = head
        return files

    def is_outdated(self) -> bool:
        """Whether `on` would write other lines than those that are there. What stands around them is somebody's own."""

        def ours(data: bytes | None) -> str:
            text = block.decode(data)
            return block.of(text).partition("\n")[2] or text

        return self.head is not None and any(ours(file.before) != ours(file.after) for file in self.files(self.head))

    def facts(self) -> dict[str, Any]:
        head = self.head or block.Head()
        known = {"name": self.name, "on": self.head is not None, "profile": head.profile, "file": self.path}
        return {**known, "settings": dict(head.settings)}
