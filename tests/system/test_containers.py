# SPDX-License-Identifier: Apache-2.0
"""drng-status on processes in containers, and on what a container may have prepared for root's look into it.

Here unshare makes the containers; at the end there are podman's.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
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
OTHER, UNKNOWN = 12345, 54321


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
        rows = [row for row in json.loads(result.stdout)["processes"] if row["uses"] != "no libcrypto"]
        assert len(rows) == 1
        return rows[0]


@contextlib.contextmanager
def box(place: Path, *, users: tuple[str, ...] = (), drop: tuple[str, ...] = (), **environment: str) -> Iterator[Box]:
    """A process in a container, which has drawn; `drop` is a command that takes rights away from it first."""
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
        *(*drop, "env", "-i", *variables, SYSTEM_PYTHON, "/opt/status_target.py"),
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
        assert (row["uses"], machine.beside_remarks(row["message"])) == ("drng", "")
        assert row["requests"] >= 3
        own = dict(line.split(":\t") for line in Path(f"/proc/{row['pid']}/status").read_text().splitlines())
        assert own["NSpid"].split()[-1] != str(row["pid"]), "it has another number inside"


def test_an_openssl_cnf_that_is_there_outside_only_is_missing(place: Path) -> None:
    here = profile(place)
    with box(place, OPENSSL_CONF=str(here)) as inside:
        row = inside.row()
        assert row["uses"] == "libcrypto without drng"
        assert (row["reason"], f"OPENSSL_CONF names {here}: No such file" in row["message"]) == ("not-readable", True)


# ---- What a container may have prepared ----

# Makes what is at the path; the text is the path of a file outside of the container.
Prepare = Callable[[Path, str], None]


def link(target: str) -> Prepare:
    return lambda path, outside: path.symlink_to(target.format(outside=outside))


def text(words: str) -> Prepare:
    return lambda path, outside: path.write_text(words.format(outside=outside)) and None


def sparse(path: Path, _: str) -> None:
    """A terabyte, with a line at its end that would be a problem if somebody came to it."""
    with path.open("wb") as file:
        file.truncate(1 << 40)
        file.seek(1 << 40)
        file.write(b"\n.include /nowhere.cnf\n")


MISSING, UNKNOWN_WHAT, NOTHING = "not-readable", "unknown", "not-named"

# What becomes of /box/trap.cnf once libcrypto has read it, and the reasons that may be given then.
TRAPS: dict[str, tuple[Prepare, tuple[str, ...]]] = {
    "a link to a file outside": (link("{outside}"), (MISSING,)),
    "a link above the root": (link("../../../../../../..{outside}"), (MISSING,)),
    "a link to the first process's root": (link("/proc/1/root{outside}"), (MISSING,)),
    "a link to the root of whoever follows it": (link("/proc/self/root{outside}"), (MISSING,)),
    "a link to a directory of whoever follows it": (link("/proc/self/cwd/outside.cnf"), (MISSING,)),
    "links that never end": (link("trap.cnf"), (MISSING,)),
    "a FIFO": (lambda path, _: os.mkfifo(path), (MISSING,)),
    "a socket": (lambda path, _: os.mknod(path, 0o140666), (MISSING,)),
    "a directory": (lambda path, _: path.mkdir(), (MISSING,)),
    "a device": (link("/dev/zero"), (NOTHING,)),
    "a terabyte": (sparse, (UNKNOWN_WHAT, MISSING, NOTHING)),
    "a file of the kernel": (link("/proc/kmsg"), (UNKNOWN_WHAT, MISSING)),
    "an include of a file outside": (text(".include {outside}\n"), (MISSING,)),
    "an include of itself": (text(".include /box/trap.cnf\n"), (MISSING, NOTHING)),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_container_cannot_lead_astray(place: Path, name: str) -> None:
    """What is outside is not there, whatever way leads to it; and what never ends does not keep anybody."""
    outside = place / "outside.cnf"
    outside.write_text("this_is = secret\n.include /this/is/secret\n")
    prepare, reasons = TRAPS[name]
    trap = place / "box/trap.cnf"
    trap.write_text("a = b\n")
    with box(place, OPENSSL_CONF="/box/trap.cnf") as inside:
        trap.unlink()
        prepare(trap, str(outside))
        began = time.monotonic()
        row = inside.row()
        assert time.monotonic() - began < 15
        assert (row["uses"], row["reason"] in reasons) == ("libcrypto without drng", True), row["message"]
        assert "secret" not in row["message"]


# ---- Rights inside ----

NO_CAPABILITIES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all")


def test_root_without_capabilities_may_not_read_what_is_another_s(place: Path) -> None:
    """As under --cap-drop=all: libcrypto goes on without the file, and the row says why."""
    here = profile(place / "box")
    here.chmod(0o600)
    os.chown(here, OTHER, OTHER)
    with box(place, drop=NO_CAPABILITIES, OPENSSL_CONF="/box/drng.cnf") as inside:
        row = inside.row()
        assert row["uses"] == "libcrypto without drng"
        assert (row["reason"], "Permission denied" in row["message"]) == ("not-readable", True)


def test_root_with_capabilities_reads_it(place: Path, machine: Machine) -> None:
    """The failing twin."""
    here = profile(place / "box")
    here.chmod(0o600)
    os.chown(here, OTHER, OTHER)
    with box(place, OPENSSL_CONF="/box/drng.cnf") as inside:
        row = inside.row()
        assert (row["uses"], machine.beside_remarks(row["message"])) == ("drng", "")


@pytest.mark.parametrize("owner", [OTHER + 1, UNKNOWN])
def test_root_of_a_user_namespace_reads_what_its_users_own_and_no_more(
    place: Path, machine: Machine, owner: int
) -> None:
    here = profile(place / "box")
    here.chmod(0o600)
    os.chown(here, owner, owner)
    with box(place, users=(SYSTEM_PYTHON, "-c", AS_USERS), OPENSSL_CONF="/box/drng.cnf") as inside:
        row = inside.row()
        if owner == UNKNOWN:
            assert row["uses"] == "libcrypto without drng"
            assert row["reason"] in ("not-readable", "unknown")
        else:
            assert (row["uses"], machine.beside_remarks(row["message"])) == ("drng", "")


# ---- podman's ----


@pytest.mark.sources
@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_the_images(packages: Path, suite: str) -> None:
    """conf/containers, and the host's files mounted, without capabilities and under podman's filter."""
    deb = next(packages.glob("openssl-provider-drng_*.deb"))
    said = in_chroot("scripts/ci/test-containers.sh", deb, suite, chroot=CHROOTS / suite)
    for proof in (
        "layer: seen from outside",
        "mounted: seen from outside",
        "layer: nginx does not start without the module",
    ):
        assert f"{suite}, {proof}" in said
