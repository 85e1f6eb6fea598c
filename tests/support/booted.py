# SPDX-License-Identifier: Apache-2.0
"""A systemd that runs: process 1 of namespaces of its own, on a copy of this machine, or of a chroot, that is thrown
away afterwards."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.builds import BUILD, ROOT

SECONDS = 60

thorough = pytest.mark.nightly("other tests of the same unit")
SYSTEMD = Path("/usr/lib/systemd/systemd")

# Every systemd has its groups of processes in the same two hierarchies: each machine has a place of its own there, or
# one takes away what another has just made for a service. Takes what BOOT takes, the name of the place, and BOOT.
HIERARCHIES = '"cgroup -o none,name=systemd" cgroup2'
PLACE = f"""
set -e
for kind in {HIERARCHIES}; do
    mount -t $kind cgroup "$1"
    mkdir "$1/$4"
    echo 0 >"$1/$4/cgroup.procs"
    umount "$1"
done
exec unshare --cgroup sh -c "$5" sh "$@"
"""
LEAVE = f"""
for kind in {HIERARCHIES}; do
    mount -t $kind cgroup "$1" && find "$1/$2" -depth -type d -exec rmdir {{}} +
done
"""

# What is built here; takes what BOOT takes.
INSTALL = f'DESTDIR="$1/root" cmake --install {BUILD}/release --prefix /usr >/dev/null\n'

# Takes an empty directory, commands for the root of the copy, and what it is a copy of. Nothing starts by itself; a
# notification says when systemd can be asked.
BOOT = f"""
set -e
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=$3,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount -t proc proc proc
mount --bind /proc/cpuinfo proc/cpuinfo
mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=1777 tmp tmp
mount -t tmpfs -o mode=755 dev dev
for node in null zero full random urandom tty; do
    : >dev/$node
    mount --bind /dev/$node dev/$node
done
mkdir dev/pts dev/shm
ln -s pts/ptmx dev/ptmx
mount -t devpts -o newinstance devpts dev/pts
mount -t tmpfs sys sys
mkdir -p sys/fs/cgroup
mount -t tmpfs cgroup sys/fs/cgroup
mkdir sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
mkdir -p ".{ROOT}"
mount --bind "{ROOT}" ".{ROOT}"
rm -f usr/sbin/policy-rc.d
rm -rf etc/systemd/system/*.wants
printf '[Unit]\\nDescription=nothing\\n' >etc/systemd/system/nothing.target
eval "$2"
# Not only a chroot: what is in a sandbox sees the root of others as /, as on a machine; and what systemd mounts for a
# service, its credentials, is seen by all.
mkdir before
pivot_root . before
set -- /usr/bin/env -i container=test PATH=/usr/sbin:/usr/bin {SYSTEMD} --unit=nothing.target --log-target=null
exec chroot . /bin/sh -c 'umount -l /before && rmdir /before && mount --make-rshared / && exec "$@"' sh "$@"
"""


@dataclass
class Machine:
    """Asked from outside, by what enters its namespaces."""

    pid: int

    def inside(self, *command: str) -> list[str]:
        """The command, entering the machine. A folder that nsenter enters would be the one outside."""
        enter = ["nsenter", f"--target={self.pid}", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--root"]
        return [*enter, "env", "-C", "/", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", *command]

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            self.inside(*command), capture_output=True, text=True, timeout=SECONDS, check=False, cwd="/"
        )
        assert not check or result.returncode == 0, result.stdout + result.stderr
        return result

    def enable(self, *words: str, status: int = 0) -> dict[str, Any]:
        """What drng-enable answers, for programs."""
        result = self.run("drng-enable", *words, "--json", check=False)
        assert result.returncode == status, result.stdout + result.stderr
        return json.loads(result.stdout)

    def write(self, path: str, text: str) -> None:
        self.run("mkdir", "-p", str(Path(path).parent))
        # Not through /proc/PID/root, which does not see what nsenter's --root does.
        self.run("sh", "-c", 'printf %s "$1" >"$2"', "sh", text, path)

    def read(self, path: str) -> str:
        return self.run("cat", path).stdout

    def unit(self, name: str, text: str) -> None:
        self.write(f"/etc/systemd/system/{name}", text)
        self.run("systemctl", "daemon-reload")


def child_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else 0


def ready(machine: Machine, process: subprocess.Popen[str]) -> bool:
    """As soon as it answers; each try waits for the process's own end, not for a time."""
    watched = os.pidfd_open(process.pid)
    try:
        for _ in range(10 * SECONDS):
            if select.select([watched], [], [], 0.1)[0]:
                return False
            machine.pid = machine.pid or child_of(process.pid)
            if machine.pid and machine.run("systemctl", "is-system-running", check=False).stdout.strip() in (
                "running",
                "degraded",
            ):
                return True
        return False
    finally:
        os.close(watched)


@contextmanager
def booted(directory: Path, before: str = "", base: str = "/", install: str = INSTALL) -> Iterator[Machine]:
    """`before`: shell commands, run where the root of the machine will be; `base`: what it copies; `install`: commands
    that bring drng, run before those."""
    if not SYSTEMD.exists() or os.geteuid() != 0:
        pytest.skip("booting a systemd takes root, and a systemd")
    namespaces = ["--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"]
    place = f"booted-{os.getpid()}-{time.monotonic_ns()}"
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(
            ["unshare", *namespaces, "sh", "-c", PLACE, "sh", str(directory), install + before, base, place, BOOT],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        machine = Machine(0)
        try:
            if not ready(machine, process):
                pytest.skip(f"no systemd can be booted here: {(directory / 'log').read_text()}")
            yield machine
        finally:
            # SIGTERM has no effect on a namespace's first process.
            if machine.pid:
                os.kill(machine.pid, signal.SIGKILL)
            else:
                process.kill()
            # It ends when all of the namespace has.
            process.wait()
            leave = ["unshare", "--mount", "sh", "-c", LEAVE, "sh", str(directory), place]
            subprocess.run(leave, stdout=log, stderr=log, check=False)
