# SPDX-License-Identifier: Apache-2.0
"""A process that CRIU writes to disk and restores twice: what the two copies draw alike, and what their children draw.

scripts/ci/guests.sh fetches CRIU. Processes are restored with the number that they had, so all of it happens in a PID
namespace of its own.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.builds import RELEASE, ConfigWriter
from tests.support.guests import GUESTS

KINDS = ("RAND_bytes", "RAND_priv_bytes", "EVP_RAND")
CONTROL = "built-in"
ROUNDS = 10

# $1: a folder; the rest: CRIU. The process draws again as soon as it has been restored, and CRIU waits for its end.
SCRIPT = """
cd "$1"
shift
mkdir image
mkfifo ready
cat >resumed <<'END'
#!/bin/sh
[ "$CRTOOLS_SCRIPT_ACTION" = post-resume ] || exit 0
kill -USR1 "$CRTOOLS_INIT_PID"
END
chmod +x resumed
setsid "$PROGRAM" "$PWD/draws" </dev/null >ready 2>&1 &
read -r word <ready
[ "$word" = ready ]
cp "/proc/$!/smaps" started
"$@" dump -t $! -D image -o ../dump.log
wait $! || :
for copy in 1 2; do
    "$@" restore -D image -o ../restore.log --action-script "$PWD/resumed"
    mv draws "draws-$copy"
done
"""


def criu() -> list[str]:
    """By its own loader and libraries: nothing of it is installed."""
    root = GUESTS / "criu" / "usr"
    if not (GUESTS / "fetched-x86_64").exists():
        pytest.skip("CRIU is not there: scripts/ci/guests.sh fetches it")
    loader = [str(root / "lib64" / "ld-linux-x86-64.so.2"), "--library-path", str(root / "lib" / "x86_64-linux-gnu")]
    return [*loader, str(root / "sbin" / "criu")]


@pytest.fixture(scope="module")
def works() -> list[str]:
    command = criu()
    if os.geteuid() != 0:
        pytest.skip("CRIU takes root")
    said = subprocess.run([*command, "check"], capture_output=True, text=True, timeout=60, check=False)
    if said.returncode != 0:
        pytest.skip(f"CRIU does not work with this kernel: {said.stdout}{said.stderr}")
    return command


@dataclass(frozen=True)
class Copies:
    """Who drew what, in each of the two; and whether the kernel wiped memory of a child before."""

    draws: tuple[list[list[str]], list[list[str]]]
    started_wiping: bool

    def of(self, copy: int, who: str, *kinds: str) -> list[str]:
        return [digest for drew, kind, digest in self.draws[copy] if drew == who and kind in kinds]

    def alike(self, *kinds: str) -> int:
        first, second = (self.of(copy, "copy", *kinds) for copy in (0, 1))
        assert len(first) == len(second) == ROUNDS * len(kinds)
        return len(set(first) & set(second))

    def child_like_its_parent(self, *kinds: str) -> int:
        child, parent = (self.of(0, who, *kinds) for who in ("child", "parent"))
        assert len(child) == len(parent) == ROUNDS * len(kinds)
        return len(set(child) & set(parent))


def restored_twice(command: list[str], config: Path, folder: Path) -> Copies:
    namespace = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    result = subprocess.run(
        [*namespace, "sh", "-ec", SCRIPT, "sh", str(folder), *command],
        env=RELEASE.environment({"OPENSSL_CONF": str(config), "PROGRAM": RELEASE.program("checkpoint_draw")}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    logs = "".join(path.read_text() for path in folder.glob("*.log"))
    assert result.returncode == 0, result.stdout + result.stderr + logs
    draws = [(folder / f"draws-{copy}").read_text().splitlines() for copy in (1, 2)]
    assert all(lines[-1] == "end" for lines in draws)
    first, second = ([line.split() for line in lines[:-1]] for lines in draws)
    wiping = re.search(r"^VmFlags:.* wf\b", (folder / "started").read_text(), re.MULTILINE)
    return Copies((first, second), wiping is not None)


def test_copies_part_with_request_mixing(works: list[str], config: ConfigWriter, tmp_path: Path) -> None:
    copies = restored_twice(works, config(request_mixing="yes"), tmp_path)
    assert copies.alike(CONTROL) == ROUNDS, "the control: nothing else tells the copies apart"
    assert copies.alike(*KINDS) == 0
    assert copies.child_like_its_parent(*KINDS) == 0


def test_without_it_copies_repeat_every_draw(works: list[str], config: ConfigWriter, tmp_path: Path) -> None:
    """As docs/clones.md says. State is locked and left out of dumps, but CRIU writes and restores it all the same."""
    copies = restored_twice(works, config(request_mixing="no"), tmp_path)
    assert copies.alike(CONTROL) == ROUNDS
    assert copies.alike(*KINDS) == ROUNDS * len(KINDS)


def test_forks_of_a_copy_are_noticed(works: list[str], config: ConfigWriter, tmp_path: Path) -> None:
    """CRIU before 4.2 restores memory without MADV_WIPEONFORK."""
    copies = restored_twice(works, config(request_mixing="no"), tmp_path)
    assert copies.child_like_its_parent(CONTROL) == 0
    assert copies.started_wiping
    assert copies.child_like_its_parent(*KINDS) == 0
