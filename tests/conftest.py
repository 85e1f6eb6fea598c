# SPDX-License-Identifier: Apache-2.0
"""How tests share the machine when several run at a time, and what a run says that it has left out."""

import contextlib
import ctypes
import fcntl
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("tests.support")

from tests.support.builds import BUILD  # noqa: E402


def pytest_sessionstart(session: pytest.Session) -> None:
    if not any(BUILD.glob("*/drng.so")) and not session.config.option.collectonly:
        pytest.exit("drng is not built: scripts/test.sh builds all that these tests need, and runs them", returncode=4)


# What this run leaves to the night.
LEFT = pytest.StashKey[Counter[str]]()

# Whose tests share nothing that takes long to make: each may go to another worker. The tests of any other file run in
# one, one after the other.
SPREAD = (
    "test_commands",
    "test_config",
    "test_cross",
    "test_enable",
    "test_fuzz",
    "test_hostile",
    "test_hostile_status",
    "test_library",
    "test_manual",
    "test_qemu",
    "test_status",
    "test_unit",
)


def left_to_the_night(items: Iterable[pytest.Item]) -> dict[str, int]:
    """How many tests each reason stands for: what a push runs in their place."""
    return Counter(item.get_closest_marker("nightly").args[0] for item in items if item.get_closest_marker("nightly"))


def pytest_deselected(items: list[pytest.Item]) -> None:
    items[0].config.stash.setdefault(LEFT, Counter()).update(left_to_the_night(items))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist tells the one that reports."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left"] = dict(session.config.stash.get(LEFT, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[LEFT] = Counter(getattr(node, "workeroutput", {}).get("left", {}))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadFileScheduling  # there if this hook is called

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return nodeid if Path(file).stem in SPREAD else file

    return Scheduling(config, log)


# A /run of one's own, with all that is in the machine's.
OWN_RUN = """
run=$(mktemp -d)
mount -t tmpfs -o mode=755 run "$run"
for entry in /run/*; do
    if [ "$entry" = /run/drng-enable.lock ]; then
        continue
    elif [ -L "$entry" ]; then
        cp -P "$entry" "$run"
        continue
    elif [ -d "$entry" ]; then
        mkdir "$run/${entry##*/}"
    else
        : >"$run/${entry##*/}"
    fi
    mount --rbind "$entry" "$run/${entry##*/}"
done
mount --move "$run" /run
rmdir "$run"
"""
CLONE_NEWNS = 0x20000


def pytest_configure(config: pytest.Config) -> None:
    """drng-enable's lock is in /run: that of one worker is none of the others'."""
    if hasattr(config, "workerinput") and os.geteuid() == 0 and ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0:
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["sh", "-eu"], input=OWN_RUN, text=True, check=True)


@contextlib.contextmanager
def locked(path: Path, how: int) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, how)
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test that is marked as `alone` waits for those that run, and keeps others from starting."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    gate, machine = BUILD / "tests.gate", BUILD / "tests.machine"
    with contextlib.ExitStack() as held:
        alone = item.get_closest_marker("alone") is not None
        with locked(gate, fcntl.LOCK_EX):
            held.enter_context(locked(machine, fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
        yield


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """What is left to the night."""
    left = config.stash.get(LEFT, Counter())
    if left and config.option.markexpr == "not nightly":
        terminalreporter.section("left to the night, which runs scripts/test.sh --all")
        for instead, count in left.most_common():
            terminalreporter.write_line(f"{count:4}  of which a push has {instead}")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """That other users may look into. pytest's own folders are closed to them by each new run of pytest's."""
    with tempfile.TemporaryDirectory(prefix="drng-open-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)
