# SPDX-License-Identifier: Apache-2.0
"""Virtual machines under QEMU's own CPU (TCG), which are started, snapshotted and cloned.

scripts/ci/guests.sh fetches QEMU and the kernels. A guest has one program, tests/programs/clone_guest.c. It speaks on
a debug port: what is read from it here has happened in that machine. Each machine also has a number, which its program
reads from the same port; it is no part of a snapshot, so that a clone knows at its first instruction that it is one.
"""

import json
import lzma
import os
import re
import selectors
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.builds import BUILD, CONF, said_by
from tests.support.device_tree import Devices

GUESTS = BUILD / "guests"
SOURCE = 0xE9  # the number of a machine that is no clone
SECONDS = 240  # for a boot, or for all draws of a clone: a few, on a machine with nothing else to do


@dataclass(frozen=True)
class Architecture:
    """Of a guest: what it runs on, and what of ours runs in it."""

    name: str  # QEMU's, and that of scripts/ci/guests.sh
    machine: str
    number: tuple[str, str]  # the option by which a machine has its number, and speaks
    words: tuple[str, ...]  # for its kernel
    module: Path
    program: Path
    sysroot: Path | None = None  # None: this machine's own libraries
    by_tree: bool = False  # its devices are no devices of QEMU's (device_tree.py)

    @property
    def qemu(self) -> Path:
        return GUESTS / f"qemu-{self.name}" / "usr"


X86_64 = Architecture(
    "x86_64",
    "q35",
    ("-device", "isa-debugcon,chardev=port,readback={}"),
    # On a busy machine the timer's interrupts come late: the kernel would take it for a broken one, and cannot find out
    # how long its delays are. lpj is what suits 4 GHz: longer delays do no harm.
    ("console=ttyS0", "no_timer_check", "lpj=16000000"),
    BUILD / "release" / "drng.so",
    BUILD / "dev" / "tests" / "clone_guest",
)
CROSS = BUILD / "cross" / "aarch64"
AARCH64 = Architecture(
    "aarch64",
    "virt",
    ("-semihosting-config", "enable=on,userspace=on,target=native,chardev=port,arg={}"),
    ("console=ttyAMA0",),
    CROSS / "drng.so",
    CROSS / "tests" / "clone_guest",
    CROSS / "sysroot",
    by_tree=True,
)
OF_A_SYSROOT = ("ld-linux-aarch64.so.1", "libc.so.6", "libcrypto.so.3")


class GuestError(Exception):
    """The rig is broken, or the guest is: nothing is known about clones."""


class NotBootedError(GuestError):
    """The guest's program has not begun. It says so before it loads drng: nothing of drng's is to blame."""


# ---- What a guest starts from ----


def cpio(files: Mapping[str, bytes]) -> bytes:
    """An archive that the kernel unpacks as its first file system (format newc)."""
    names = {str(parent) for name in files for parent in Path(name).parents} - {"."}
    entries = [(name, 0o040755, b"") for name in sorted(names)] + [(n, 0o100755, data) for n, data in files.items()]
    archive = b""
    for number, (name, mode, data) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % value for value in fields) + name.encode() + b"\0"
        archive += head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)
    return archive


def libraries(*programs: Path) -> set[str]:
    """The paths at which the loader finds what these need, itself included."""
    said = said_by("ldd", *map(str, programs))
    return set(re.findall(r"(/\S+) \(0x", said))


def modules(kernel: str) -> dict[str, bytes]:
    folder = GUESTS / "kernels" / kernel / "modules"
    return {
        f"modules/{path.name.removesuffix('.xz')}": lzma.decompress(data) if path.suffix == ".xz" else data
        for path in sorted(folder.iterdir())
        for data in [path.read_bytes()]
    }


def shared_libraries(architecture: Architecture) -> dict[str, bytes]:
    if architecture.sysroot:
        return {f"lib/{name}": next(architecture.sysroot.rglob(name)).read_bytes() for name in OF_A_SYSROOT}
    found = libraries(architecture.program, architecture.module)
    return {path.lstrip("/"): Path(path).read_bytes() for path in found}


def initramfs(architecture: Architecture, kernel: str, config: str) -> bytes:
    """The guest's program, drng.so as it is released, a libcrypto, and an openssl.cnf."""
    files = shared_libraries(architecture) | modules(kernel)
    files |= {"init": architecture.program.read_bytes(), "ossl/drng.so": architecture.module.read_bytes()}
    files |= {f"{name}/.empty": b"" for name in ("proc", "sys", "dev")}
    return cpio({**files, "ossl/openssl.cnf": config.encode()})


def openssl_cnf(keys: Mapping[str, str]) -> str:
    """conf/drng.cnf with these keys in the provider's own section."""
    head, section, tail = (CONF / "drng.cnf").read_text().partition("[drng_sect]\n")
    assert section
    return head + section + "".join(f"{key} = {value}\n" for key, value in keys.items()) + tail


# ---- Machines ----


@dataclass(frozen=True)
class Hardware:
    cpu: str
    architecture: Architecture = X86_64
    kernel: str = "backports"  # a folder of build/guests/kernels
    devices: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()  # of the guest's program
    environment: Mapping[str, str] = field(default_factory=dict)

    def qemu(self) -> list[str]:
        """By QEMU's own loader and libraries: nothing of it is installed."""
        qemu = self.architecture.qemu
        return [
            *("setpriv", "--pdeathsig", "KILL"),
            str(qemu / "lib64" / "ld-linux-x86-64.so.2"),
            *("--library-path", str(qemu / "lib" / "x86_64-linux-gnu")),
            str(qemu / "bin" / f"qemu-system-{self.architecture.name}"),
            *("-L", str(qemu / "share" / "qemu"), "-L", str(qemu / "share" / "seabios")),
            *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        ]

    def cpus(self) -> list[str]:
        return ["-accel", "tcg,thread=multi", "-smp", "2", "-m", "256", "-cpu", self.cpu]

    def played(self) -> Devices | None:
        """What this process is the hypervisor of."""
        if not (self.architecture.by_tree and self.devices):
            return None
        return Devices([device.partition(",")[0] for device in self.devices], self.qemu(), self.cpus())

    def command(self, number: int, initrd: Path) -> list[str]:
        guest = self.architecture
        kernel = GUESTS / "kernels" / self.kernel / "vmlinuz"
        environment = {"OPENSSL_MODULES": "/ossl", "OPENSSL_CONF": "/ossl/openssl.cnf", **self.environment}
        words = [
            *guest.words,
            "loglevel=6",
            "panic=-1",
            *(f"{key}={value}" for key, value in environment.items()),
        ]
        return [
            *self.qemu(),
            *("-M", guest.machine, *self.cpus()),
            *("-kernel", str(kernel), "-initrd", str(initrd)),
            *("-append", " ".join([*words, "--", *self.arguments])),
            *(word.format(number) for word in guest.number),
            *(word for device in self.devices if not guest.by_tree for word in ("-device", device)),
        ]


@dataclass
class Machine:
    """One QEMU, and all that it has said so far."""

    process: subprocess.Popen[bytes]
    monitor: socket.socket
    console: int
    lines: list[str] = field(default_factory=list)
    said: bytes = b""  # on its console
    answers: list[dict[str, Any]] = field(default_factory=list)
    _rests: dict[str, bytes] = field(default_factory=lambda: {"port": b"", "monitor": b""})

    def _take(self, source: str, data: bytes) -> None:
        if source == "console":
            self.said += data
            return
        *whole, self._rests[source] = (self._rests[source] + data).split(b"\n")
        if source == "port":
            self.lines += [line.decode() for line in whole]
        else:
            self.answers += [json.loads(line) for line in whole if line.strip()]

    def _failure(self, why: str) -> GuestError:
        broken = [line for line in self.lines if line.startswith("!")]
        tail = self.said.decode(errors="replace").splitlines()[-15:]
        return GuestError("\n".join([f"{why}: {' '.join(self.process.args)}", *broken, *tail]))  # type: ignore[arg-type]

    def wait(self, happened: Callable[[], bool], what: str) -> None:
        """Reads whatever the machine says until that has happened."""
        assert self.process.stdout
        deadline = time.monotonic() + SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ, "port")
            selector.register(self.console, selectors.EVENT_READ, "console")
            selector.register(self.monitor, selectors.EVENT_READ, "monitor")
            while not happened():
                ready = selector.select(deadline - time.monotonic())
                if not ready:
                    raise self._failure(f"not within {SECONDS} seconds: {what}")
                for key, _ in ready:
                    data = os.read(key.fd, 65536)
                    if not data:
                        raise self._failure(f"the machine ended before this: {what}")
                    self._take(key.data, data)

    def wait_for_line(self, line: str) -> None:
        self.wait(lambda: line in self.lines, line)

    def command(self, name: str, **arguments: Any) -> dict[str, Any]:
        count = len(self.answers)
        self.monitor.sendall(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        self.wait(lambda: any("return" in a or "error" in a for a in self.answers[count:]), name)
        answer = next(a for a in self.answers[count:] if "return" in a or "error" in a)
        if "error" in answer:
            raise self._failure(f"{name}: {answer['error']['desc']}")
        return answer

    def migrate(self, command: str, path: Path) -> None:
        self.command("migrate-set-capabilities", capabilities=[{"capability": "events", "state": True}])
        # At once, and not in rounds that go on while the guest writes to its memory.
        self.command("migrate-set-parameters", **{"max-bandwidth": 0, "downtime-limit": 2_000_000})
        self.command(command, uri=f"file:{path}")

        def ended() -> bool:
            states = [a["data"]["status"] for a in self.answers if a.get("event") == "MIGRATION"]
            return bool({"completed", "failed"} & set(states))

        self.wait(ended, f"the end of {command}")
        if any(a["data"]["status"] == "failed" for a in self.answers if a.get("event") == "MIGRATION"):
            raise self._failure(f"{command} failed")

    def snapshot(self, path: Path) -> None:
        """Of a machine that runs; it stands still afterwards."""
        self.migrate("migrate", path)

    def start_from(self, snapshot: Path, devices: Devices) -> None:
        """A machine that stands still: it hears what it is before its first instruction."""
        self.migrate("migrate-incoming", snapshot)
        devices.tell()
        if devices.tells_by_interrupt:
            self.command("system_powerdown")
            self.wait(lambda: any(a.get("event") == "POWERDOWN" for a in self.answers), "an interrupt")
        self.command("cont")


@contextmanager
def machine(hardware: Hardware, initrd: Path, number: int = SOURCE, snapshot: Path | None = None) -> Iterator[Machine]:
    """Boots it, or starts it as a clone; ended in any case."""
    ours, theirs = socket.socketpair()
    console, console_end = os.pipe()
    devices = hardware.played()
    incoming = ("-S", "-incoming", "defer") if devices else ("-incoming", f"file:{snapshot}")
    command = [
        *hardware.command(number, initrd),
        *("-chardev", "file,id=port,path=/dev/stdout"),
        *("-chardev", f"file,id=console,path=/dev/fd/{console_end}", "-serial", "chardev:console"),
        *("-chardev", f"socket,id=monitor,fd={theirs.fileno()}", "-mon", "chardev=monitor,mode=control"),
        *(devices.options if devices else ()),
        *(incoming if snapshot else ()),
    ]
    fds = (console_end, theirs.fileno(), *(devices.fds if devices else ()))
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": console_end}
    with subprocess.Popen(command, pass_fds=fds, **streams) as process:
        theirs.close()
        os.close(console_end)
        try:
            started = Machine(process, ours, console)
            started.command("qmp_capabilities")
            if snapshot and devices:
                started.start_from(snapshot, devices)
            yield started
        finally:
            process.kill()
            if devices:
                devices.close()
            ours.close()
            os.close(console)


def why_not(architecture: Architecture = X86_64) -> str | None:
    """What is missing; None: guests can be had."""
    if not (GUESTS / f"fetched-{architecture.name}").exists():
        return f"QEMU and kernels are not there: scripts/ci/guests.sh {architecture.name} fetches them"
    if not architecture.program.exists():
        return f"{architecture.program} has not been built: scripts/ci/test-clones.sh builds it"
    return None if shutil.which("setpriv") else "setpriv is not installed (package util-linux)"
