# SPDX-License-Identifier: Apache-2.0
"""Completions, typed at a real bash: they name what --help says."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.drng.enable import arguments
from tests.support.builds import CONF, ROOT, need

FILE = CONF / "completions/drng.bash"
NAMES = ("drng-conf", "drng-enable", "drng-status")


def options(name: str) -> list[str]:
    """Of which the command speaks."""
    said = subprocess.run([str(ROOT / "scripts" / name), "--help"], capture_output=True, text=True, check=True).stdout
    return sorted({*re.findall(r"(?<![\w-])--[a-z-]+", said), "--help", "--version"})


# ---- Typed ----

PREPARED = f"PS1='> '; bind 'set bell-style none'; source {FILE}"
SECONDS = 30


class Typist:
    """At a shell on a terminal."""

    def __init__(self, terminal: int) -> None:
        self.terminal = terminal
        self.number = 0

    def say(self, line: str) -> str:
        """The output of an echo of the line, in which each tab is a completion."""
        self.number += 1
        mark = f"@{self.number}@"
        # To the line's beginning and end, so that it is printed and not run.
        os.write(self.terminal, f"{line}\x01echo {mark} \x05 {mark}\n".encode())
        return self._until(rf"(?:^|[\r\n]){mark} (.*?) ?{mark}\r")

    def run(self, line: str) -> None:
        os.write(self.terminal, f"{line}; echo ready''.\n".encode())
        self._until(r"ready\.(\r)")

    def _until(self, pattern: str) -> str:
        text = ""
        while not (found := re.search(pattern, text)):
            assert select.select([self.terminal], [], [], SECONDS)[0], text
            text += os.read(self.terminal, 4096).decode(errors="replace")
        return found[1].strip()


@contextmanager
def typing(directory: Path) -> Iterator[Typist]:
    ours, theirs = pty.openpty()
    env = {"PATH": f"{directory / 'bin'}:/usr/bin:/bin", "TERM": "dumb", "HOME": str(directory), "LC_ALL": "C.UTF-8"}
    command = [need("bash"), "--norc", "--noprofile", "-i"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=directory) as process:
        os.close(theirs)
        try:
            typist = Typist(ours)
            typist.run(PREPARED)
            yield typist
        finally:
            process.kill()
            os.close(ours)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Files to complete, the commands, a command of the same name in a folder, and a systemctl that knows services, one
    of a name that means something to a shell."""
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a $(touch hit) file").write_text("")
    (tmp_path / "bin").mkdir()
    for name in NAMES:
        (tmp_path / "bin" / name).symlink_to(ROOT / "scripts" / name)
    systemctl = tmp_path / "bin" / "systemctl"
    systemctl.write_text(
        "#!/bin/sh\ncat <<'END'\nnginx.service loaded active running A\n* stunnel@a.service loaded\n"
        "systemd-cryptsetup@dm\\x2d0.service loaded active exited B\nx$(touch\thit).service loaded\nEND\n"
    )
    systemctl.chmod(0o755)
    planted = tmp_path / "drng-conf"
    planted.write_text(f"#!/bin/sh\ntouch {tmp_path}/hit\n")
    planted.chmod(0o755)
    return tmp_path


def shortest(name: str, among: list[str]) -> str:
    """What must be typed until only this one is left."""
    others = [other for other in among if other != name]
    return next((name[:n] for n in range(3, len(name)) if not any(o.startswith(name[:n]) for o in others)), name)


def test_every_option_and_verb_is_completed(place: Path) -> None:
    with typing(place) as typist:
        for name in NAMES:
            known = options(name)
            for option in known:
                assert typist.say(f"{name} {shortest(option, known)}\t") == f"{name} {option}"
        for start, verb in {"on": "on", "of": "off", "s": "status", "c": "confirm"}.items():
            assert typist.say(f"drng-enable {start}\t") == f"drng-enable {verb}"


def test_what_an_option_takes_is_completed(place: Path) -> None:
    with typing(place) as typist:
        for profile in arguments.PROFILES:
            assert typist.say(f"drng-enable on --profile {profile[:2]}\t") == f"drng-enable on --profile {profile}"
        assert typist.say("drng-status stun\t") == "drng-status stunnel@a"
        assert typist.say("drng-status systemd-cry\t") == r"drng-status systemd-cryptsetup@dm\x2d0"
        assert typist.say("drng-enable on --restart ngi\t") == "drng-enable on --restart nginx"
        assert typist.say("drng-conf a\\ \\$\t") == "drng-conf a $(touch hit) file"
        assert typist.say("drng-status --prometheus --output a\\ f\t") == "drng-status --prometheus --output a folder/"
        assert typist.say("./drng-conf --v\t") == "./drng-conf --version"
    assert not (place / "hit").exists()
