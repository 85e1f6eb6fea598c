"""A file of drng's own in the folder that Fedora's and RHEL's openssl.cnf includes: the lines go there, and openssl.cnf
stays as it came, so that the next one of its package takes its place.

libcrypto reads the files of a folder in the order in which the file system has them, and of equal keys the last one
holds: the lines must do what they should as the first of them, and as the last.
"""

from __future__ import annotations

import re

from ..conf.meaning import compare
from ..conf.reading import directive, logical_lines, value_of
from ..files import Tree
from ..terminal import Unchanged, say
from . import block
from .arguments import PROFILES, Request
from .system import System
from .verify import Check

FOLDER = "/etc/pki/tls/openssl.d"
NAME = "drng-enable.conf"
PATH = f"{FOLDER}/{NAME}"


def _includes_folder(line: bytes) -> bool:
    return value_of(directive(line, b".include")).rstrip(b"/") == FOLDER.encode()


def is_on(tree: Tree) -> bool:
    return block.has_block(block.decode(tree.read(PATH, follow=False) or b""))


class DropIn(System):
    """The file as it stands and as it would be, with the openssl.cnf that includes it."""

    is_theirs = False

    def __init__(self, main: System) -> None:
        super().__init__(main.tree, main.request, PATH)
        self.main, self.is_first = main, False
        self.check = Check(self.tree, main.shown, self._whole, self.shown)
        self.others = [n for n in self.tree.names(FOLDER) if n.endswith((".cnf", ".conf")) and n != NAME]

    def _whole(self, text: str) -> str:
        """openssl.cnf, with what it would read of the folder if this text were in our file."""
        if self.tree.live and text == self.text:
            return self.main.text
        others = "".join(".include {}/{}\n".format(FOLDER, re.sub(r"([^\w.-])", r"\\\1", name)) for name in self.others)
        folder = f"{text}\n{others}" if self.is_first else f"{others}{text}\n"
        lines = logical_lines(self.main.found or b"")
        return "".join(folder if _includes_folder(line) else f"{block.decode(line)}\n" for line in lines)

    def does_all(self) -> bool:
        """Whether our lines hold, whatever else openssl.cnf and the folder say, and take nothing away from it."""
        profile = self.profile
        base = block.without_block(self.text, self.shown)
        after = base + self.lines(base, profile)
        for self.is_first in (True, False):
            meaning = self.check.meaning(after)
            holds = meaning.drng and meaning.random == PROFILES[profile].section
            if not holds or compare(self.check.conf(base), self.check.conf(after)):
                return False
        return True


def choose(tree: Tree, request: Request, path: str) -> System:
    """Where the system's lines are, or should go: what is on stays in the file in which it is."""
    main = System(tree, request, path)
    if request.conf or main.is_on or not any(map(_includes_folder, logical_lines(main.found or b""))):
        return main
    try:
        with tree.place(PATH, follow=False):
            drop_in = DropIn(main)
    except FileNotFoundError:
        return main
    if request.verb != "on":
        return drop_in
    # What somebody has written into our file is theirs, and would be in effect as if it were ours.
    if block.statements(block.without_block(drop_in.text, drop_in.shown)):
        raise Unchanged(
            f"{drop_in.shown} has lines that drng-enable did not write: take them out, or move them into another file "
            "of that folder"
        )
    if drop_in.does_all():
        return drop_in
    say(
        f"{drop_in.shown} would not do, since {main.shown} or another file of that folder overrules it: "
        f"{main.shown} is edited in its place"
    )
    return main
