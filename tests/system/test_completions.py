# SPDX-License-Identifier: Apache-2.0
"""The shells' completions: they name what --help says, and are typed at real bash, zsh and fish."""

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

FOLDER = CONF / "completions"
NAMES = ("drng-conf", "drng-enable", "drng-status")


def asked(name: str) -> tuple[list[str], list[str]]:
    """The options and verbs that the command speaks of."""
    said = subprocess.run([str(ROOT / "scripts" / name), "--help"], capture_output=True, text=True, check=True).stdout
    options = {*re.findall(r"(?<![\w-])--[a-z-]+", said), "--help", "--version"}
    verbs = re.findall(r"^(?:usage:)? +drng-enable (\w+)", said, flags=re.M)
    return sorted(options), list(dict.fromkeys(verbs))


COMMANDS = {name: asked(name) for name in NAMES}


def bash_words(text: str) -> list[str]:
    return re.search(r'^    (?:-\*\) )?_drng_reply -W "([^"]*)"', text, flags=re.M)[1].split()


def of_files(name: str) -> dict[str, tuple[list[str], list[str]]]:
    """The same, as each shell's file has them."""
    bash, fish = ((FOLDER / file).read_text() for file in (f"bash/{name}", f"fish/{name}.fish"))
    zsh = (FOLDER / "zsh/_drng").read_text().partition(f"\n{name})\n")[2].partition(";;")[0]
    words = bash_words(bash)
    return {
        "bash": ([w for w in words if w.startswith("-")], [w for w in words if not w.startswith("-")]),
        "zsh": (re.findall(r"'(--[a-z-]+)\[", zsh), re.findall(r'(\w+)\\:"', zsh)),
        "fish": ([f"--{w}" for w in re.findall(r" -l ([a-z-]+)", fish)], re.findall(r"' -a (\w+) -d", fish)),
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_files_name_what_help_says(name: str) -> None:
    options, verbs = COMMANDS[name]
    for shell, (named, done) in of_files(name).items():
        assert (sorted(named), sorted(done)) == (options, sorted(verbs)), shell


def test_the_profiles_are_those_that_there_are() -> None:
    for file in ("bash/drng-enable", "zsh/_drng", "fish/drng-enable.fish"):
        assert " ".join(arguments.PROFILES) in (FOLDER / file).read_text()


# ---- Typed ----

# Loads the files as the shells do it: by the command's name.
PREPARED = {
    "bash": "PS1='> '; bind 'set bell-style none'; for f in {folder}/bash/*; do source $f; done",
    "zsh": "PS1='> '; unsetopt beep; fpath=({folder}/zsh $fpath); autoload -U compinit; compinit -u -D; bindkey -e",
}
START = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}
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
def typing(shell: str, directory: Path) -> Iterator[Typist]:
    ours, theirs = pty.openpty()
    env = {"PATH": f"{directory / 'bin'}:/usr/bin:/bin", "TERM": "dumb", "HOME": str(directory), "LC_ALL": "C.UTF-8"}
    command = [need(shell), *START[shell]]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=directory) as process:
        os.close(theirs)
        try:
            typist = Typist(ours)
            typist.run(PREPARED[shell].format(folder=FOLDER))
            yield typist
        finally:
            process.kill()
            os.close(ours)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """With files to complete, and a systemctl that knows services, one of a name that means something to a shell."""
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a $(touch hit) file").write_text("")
    (tmp_path / "bin").mkdir()
    systemctl = tmp_path / "bin" / "systemctl"
    systemctl.write_text(
        "#!/bin/sh\ncat <<'END'\nnginx.service loaded active running A\n* stunnel@a.service loaded\n"
        "systemd-cryptsetup@dm\\x2d0.service loaded active exited B\nx$(touch\thit).service loaded\nEND\n"
    )
    systemctl.chmod(0o755)
    return tmp_path


def shortest(name: str, among: list[str]) -> str:
    """What must be typed until only this one is left."""
    others = [other for other in among if other != name]
    return next((name[:n] for n in range(3, len(name)) if not any(o.startswith(name[:n]) for o in others)), name)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_every_option_and_verb_is_completed(shell: str, place: Path) -> None:
    with typing(shell, place) as typist:
        for name, (options, verbs) in COMMANDS.items():
            for option in options:
                assert typist.say(f"{name} {shortest(option, options)}\t") == f"{name} {option}"
            for verb in verbs:
                start = next(verb[:n] for n in range(1, 9) if sum(w.startswith(verb[:n]) for w in verbs) == 1)
                assert typist.say(f"{name} {start}\t") == f"{name} {verb}"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_what_an_option_takes_is_completed(shell: str, place: Path) -> None:
    with typing(shell, place) as typist:
        assert typist.say("drng-enable on --profile perm\t") == "drng-enable on --profile permissive"
        assert typist.say("drng-enable on --service ngi\t") == "drng-enable on --service nginx"
        assert typist.say("drng-status --service stun\t") == "drng-status --service stunnel@a"
        # zsh's echo makes of it the character that it stands for.
        unit = "dm-0" if shell == "zsh" else r"dm\x2d0"
        assert typist.say("drng-status --service systemd-cry\t") == f"drng-status --service systemd-cryptsetup@{unit}"
        assert typist.say("drng-status ngi\t") == "drng-status nginx"
        assert typist.say("drng-enable on --restart ngi\t") == "drng-enable on --restart nginx"
        assert typist.say("drng-enable on --set fallb\t") == "drng-enable on --set fallback="
        assert typist.say("drng-conf a\\ \\$\t") == "drng-conf a $(touch hit) file"
        assert not (place / "hit").exists()


def fish(place: Path, line: str) -> set[str]:
    env = {"PATH": f"{place / 'bin'}:/usr/bin:/bin", "HOME": str(place), "LC_ALL": "C.UTF-8"}
    source = "; ".join(f"source {file}" for file in sorted((FOLDER / "fish").iterdir()))
    script = f"{source}; complete -C {line!r}"
    result = subprocess.run([need("fish"), "-N", "-c", script], capture_output=True, text=True, env=env, cwd=place)
    assert (result.returncode, result.stderr) == (0, "")
    return {found.split("\t")[0] for found in result.stdout.splitlines()}


def test_fish(place: Path) -> None:
    for name, (options, _) in COMMANDS.items():
        assert fish(place, f"{name} --") == set(options)
    assert fish(place, "drng-enable ") == set(COMMANDS["drng-enable"][1])
    assert fish(place, "drng-enable on --profile ") == {"strict", "permissive", "random-provider", "fips"}
    assert fish(place, "drng-enable on --service ngi") == {"nginx"}
    assert fish(place, "drng-enable on --service s") == {"stunnel@a", "systemd-cryptsetup@dm\\x2d0"}
    assert fish(place, "drng-enable on ngi") == {"nginx"}
    assert "a $(touch hit) file" in fish(place, "drng-conf ")
    assert not (place / "hit").exists()
