# SPDX-License-Identifier: Apache-2.0
"""Completions, asked of bash: they name what --help says, and run nothing that is only being typed."""

import re
from pathlib import Path

import pytest

from scripts.drng.enable import arguments
from tests.support.builds import CONF, ROOT, said_by

NAMES = ("drng-conf", "drng-enable", "drng-status")
ASK = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _drng "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
# Services, one of a name that means something to a shell.
SYSTEMCTL = "#!/bin/sh\necho nginx.service loaded; echo '* stunnel@a.service loaded'; echo 'x$(touch\thit).service'\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Files, the commands, a command of the same name in a folder, and a systemctl."""
    (tmp_path / "bin").mkdir()
    for name in NAMES:
        (tmp_path / "bin" / name).symlink_to(ROOT / "scripts" / name)
    for name, text in {
        "bin/systemctl": SYSTEMCTL,
        "drng-conf": "#!/bin/sh\ntouch hit\n",
        "a $(touch hit) f": "",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def test_what_is_completed(place: Path) -> None:
    def ask(*words: str) -> set[str]:
        command = ["bash", "--norc", "--noprofile", "-c", ASK, "bash", str(CONF / "completions/drng.bash"), *words]
        path = {"PATH": f"{place}/bin:/usr/bin:/bin"}
        said = said_by(*command, env=path, cwd=place)
        return set(said.splitlines())

    for name in NAMES:
        help_of = said_by(ROOT / "scripts" / name, "--help")
        assert ask(name, "--") == {*re.findall(r"(?<![\w-])--[a-z-]+", help_of)} >= {"--help", "--version"}
    assert ask("drng-enable", "") == {"on", "off", "status", "confirm"}
    assert ask("drng-enable", "on", "--profile", "") == {*arguments.PROFILES}
    assert ask("drng-enable", "on", "--restart", "ngi") == {"nginx"}
    assert ask("drng-status", "stun") == {"stunnel@a"}
    assert ask("drng-status", "--prometheus", "--output", "a ") == {"a $(touch hit) f"}
    assert ask("drng-conf", "a ") == {"a $(touch hit) f"}
    assert ask("./drng-conf", "--v") == {"--version"}
    assert not (place / "hit").exists()
