# SPDX-License-Identifier: Apache-2.0
"""drng-status on processes in containers, of which root opens nothing.

Here unshare makes the containers; at the end there are podman's.
"""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import CONF, RELEASE, ROOT
from tests.support.machine import Machine
from tests.support.packages import CHROOTS, in_chroot
from tests.support.servers import PROGRAMS, SYSTEM_PYTHON

STATUS = ROOT / "scripts" / "drng-status"

# In namespaces of its own: the machine's programs on a root of its own, with the box, and the module and the program in
# /opt. The processor is the one outside.
ENTER = """
set -e
root=$1
mount -t tmpfs -o mode=755 box "$root"
for folder in bin lib lib64 sbin usr opt proc dev etc box tmp; do
    mkdir -p "$root/$folder"
done
for folder in bin lib lib64 sbin usr etc dev; do
    mount --rbind "/$folder" "$root/$folder"
done
mount --bind "$2" "$root/box"
mount --bind "$3" "$root/opt"
mount -t proc proc "$root/proc"
mount --bind /proc/cpuinfo "$root/proc/cpuinfo"
cd "$root"
mkdir -p tmp/old
pivot_root . tmp/old
umount -l /tmp/old
shift 3
exec "$@"
"""


# The same as user 0 of a user namespace, that is as user 12345 outside; it knows a hundred users. newuidmap would let
# nobody have these who is not in /etc/subuid.
AS_USERS = """
import ctypes, os, sys
ready, go = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    assert ctypes.CDLL(None).unshare(0x10000000) == 0
    os.write(ready[1], b".")
    os.read(go[0], 1)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    os.execvp(sys.argv[1], sys.argv[1:])
os.read(ready[0], 1)
for name in ("uid_map", "gid_map"):
    with open(f"/proc/{child}/{name}", "w") as file:
        file.write("0 12345 100")
os.write(go[1], b".")
os.waitpid(child, 0)
"""
OTHER = 12345


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may enter; tmp_path lies below one that root alone may."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        path = Path(folder)
        path.chmod(0o755)
        (path / "box").mkdir()
        yield path


@dataclass
class Box:
    """A container: its folder /box, and the number that its first process has outside."""

    folder: Path
    pid: int

    def status(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return RELEASE.run([str(STATUS), "--pid", str(self.pid), *arguments], timeout=60)

    def row(self) -> dict[str, Any]:
        result = self.status("--json")
        assert result.returncode == 0, result.stderr
        rows = [row for row in json.loads(result.stdout)["processes"] if row["served-by"] != "-"]
        assert len(rows) == 1
        return rows[0]


@contextlib.contextmanager
def box(place: Path, *, users: tuple[str, ...] = (), **environment: str) -> Iterator[Box]:
    """A process in a container, which has drawn."""
    folder, root, module = place / "box", place / "root", place / "module"
    for made in (folder, root, module):
        made.mkdir(exist_ok=True)
    shutil.copy(RELEASE.modules / "drng.so", module)
    shutil.copy(PROGRAMS / "status_target.py", module)
    inside = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "OPENSSL_MODULES": "/opt", **environment}
    variables = [f"{name}={value}" for name, value in inside.items()]
    spaces = ("--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc")
    command = [
        *(*users, "unshare", *spaces, "sh", "-c", ENTER, "sh", str(root), str(folder), str(module)),
        *("env", "-i", *variables, SYSTEM_PYTHON, "/opt/status_target.py"),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("draw 3 32\n")
        process.stdin.flush()
        assert process.stdout.readline() == "drawn\n"
        yield Box(folder, process.pid)
        process.stdin.close()


def profile(folder: Path) -> Path:
    path = folder / "drng.cnf"
    shutil.copy(CONF / "drng.cnf", path)
    path.chmod(0o644)
    return path


# ---- What is seen ----


def test_a_process_in_a_container_is_seen_from_outside(place: Path, machine: Machine) -> None:
    """The module's path and openssl.cnf are the container's: neither is there outside."""
    profile(place / "box")
    with box(place, OPENSSL_CONF="/box/drng.cnf") as inside:
        row = inside.row()
        assert not Path("/box").exists()
        assert not Path("/opt/drng.so").exists()
        assert ("requests" in row, machine.beside_remarks(row["message"])) == (True, "")
        assert row["requests"] >= 3
        own = dict(line.split(":\t") for line in Path(f"/proc/{row['pid']}/status").read_text().splitlines())
        assert own["NSpid"].split()[-1] != str(row["pid"]), "it has another number inside"


# ---- What is not ----

# Makes what is at the path; the other is a file outside of the container.
Prepare = Callable[[Path, Path], None]


def sparse(path: Path, _: Path) -> None:
    """A terabyte, with a line at its end that would be a problem if somebody came to it."""
    with path.open("wb") as file:
        file.truncate(1 << 40)
        file.seek(1 << 40)
        file.write(b"\n.include /nowhere.cnf\n")


# What becomes of /box/trap.cnf once libcrypto has read it.
TRAPS: dict[str, Prepare] = {
    "a profile": lambda path, _: profile(path.parent).rename(path) and None,
    "a link to a file outside": lambda path, outside: path.symlink_to(outside),
    "a FIFO": lambda path, _: os.mkfifo(path),
    "a terabyte": sparse,
}


def is_left_to_it(row: dict[str, Any], path: str) -> bool:
    there = f"as its user, where it runs: drng-conf {path}"
    return ("requests" in row, row["reason"], row["cure"]) == (False, "elsewhere", there)


@pytest.mark.parametrize("name", TRAPS)
def test_nothing_in_a_container_is_opened(place: Path, name: str) -> None:
    """Why it goes without drng is known there, and that is the command which is given."""
    outside = place / "outside.cnf"
    outside.write_text("this_is = secret\n.include /this/is/secret\n")
    trap = place / "box/trap.cnf"
    trap.write_text("a = b\n")
    with box(place, OPENSSL_CONF="/box/trap.cnf") as inside:
        trap.unlink()
        TRAPS[name](trap, outside)
        row = inside.row()
        assert is_left_to_it(row, "/box/trap.cnf"), row
        assert "secret" not in row["message"]


def test_a_file_of_the_same_name_outside_is_not_taken_for_it(place: Path) -> None:
    here = profile(place)
    with box(place, OPENSSL_CONF=str(here)) as inside:
        row = inside.row()
        assert is_left_to_it(row, str(here)), row


def test_a_process_of_a_user_namespace_is_seen(place: Path, machine: Machine) -> None:
    here = profile(place / "box")
    here.chmod(0o600)
    os.chown(here, OTHER + 1, OTHER + 1)
    with box(place, users=(SYSTEM_PYTHON, "-c", AS_USERS), OPENSSL_CONF="/box/drng.cnf") as inside:
        row = inside.row()
        assert ("requests" in row, machine.beside_remarks(row["message"])) == (True, "")


# ---- podman's ----


@pytest.mark.nightly("containers that unshare makes")
@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_the_images(packages: Path, suite: str) -> None:
    """conf/containers, and the host's files mounted, without capabilities and under podman's filter."""
    deb = next(packages.glob("openssl-provider-drng_*.deb"))
    said = in_chroot(CHROOTS / suite, "scripts/ci/test-containers.sh", deb, suite)
    for proof in (
        "layer: seen from outside",
        "mounted: seen from outside",
        "layer: nginx does not start without the module",
    ):
        assert f"{suite}, {proof}" in said
