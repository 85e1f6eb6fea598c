"""Virtual machines that draw at the same time: the rig behind `bench_scaling.py --guests N`, which starts it.

    python3 -m tests.bench.guests N SECONDS SAMPLE

Each guest has one processor, one small initramfs and one program, tests/bench/draw.c, which speaks through the serial
port. Runs one guest alone, then N at once, and prints as JSON what each has drawn. KVM where a guest boots on it, else
QEMU's own CPU (TCG), on which an instruction's words are the host kernel's, and its speed is the emulator's.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.builds import BUILD
from tests.support.guests import GUESTS, X86_64, cpio, libraries, openssl_cnf

DRAW = BUILD / "bench" / "tests" / "bench" / "draw"
MODULE = BUILD / "bench" / "drng.so"
REQUEST = 48
BOOT_SECONDS = 240
KVM_SECONDS = 20  # a guest that boots at all is there in two
SOURCES = ("rdseed", "rdrand")


def initramfs(source: str) -> bytes:
    files = {path.lstrip("/"): Path(path).read_bytes() for path in libraries(DRAW, MODULE)}
    files |= {"init": DRAW.read_bytes(), "ossl/drng.so": MODULE.read_bytes()}
    config = openssl_cnf({"source": source, "fallback": "no"})
    return cpio({**files, "ossl/openssl.cnf": config.encode()})


class GuestError(Exception):
    """The guest did not boot, or did not draw."""


def command(accelerator: str, initrd: Path, seconds: float, sample: int) -> list[str]:
    """By QEMU's own loader and libraries, as tests/support/guests.py starts it."""
    qemu = X86_64.qemu
    words = ["console=ttyS0", "no_timer_check", "quiet", "panic=-1", "OPENSSL_MODULES=/ossl"]
    words += ["OPENSSL_CONF=/ossl/openssl.cnf", "--", "DRNG-SEED", str(REQUEST), str(seconds), str(sample), "hex"]
    cpu = "host" if accelerator == "kvm" else "Broadwell"
    return [
        *("setpriv", "--pdeathsig", "KILL"),
        str(qemu / "lib64" / "ld-linux-x86-64.so.2"),
        *("--library-path", str(qemu / "lib" / "x86_64-linux-gnu")),
        str(qemu / "bin" / "qemu-system-x86_64"),
        *("-L", str(qemu / "share" / "qemu"), "-L", str(qemu / "share" / "seabios")),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-M", "q35"),
        *("-accel", accelerator, "-cpu", cpu, "-smp", "1", "-m", "192"),
        *("-kernel", str(GUESTS / "kernels" / "debian12" / "vmlinuz"), "-initrd", str(initrd)),
        *("-append", " ".join(words), "-serial", "stdio"),
    ]


@dataclass
class Guest:
    """One machine, and the lines that it has said."""

    process: subprocess.Popen[bytes]
    lines: list[str] = field(default_factory=list)
    rest: bytes = b""

    def wait_for(self, pattern: str, seconds: float) -> re.Match[str]:
        """The first line like that which nobody has waited for yet."""
        assert self.process.stdout
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                while self.lines:
                    found = re.fullmatch(pattern, self.lines.pop(0))
                    if found:
                        return found
                if not selector.select(max(0, deadline - time.monotonic())):
                    raise GuestError(f"no line like {pattern} within {seconds} s")
                data = os.read(self.process.stdout.fileno(), 65536)
                if not data:
                    raise GuestError(f"the machine ended before a line like {pattern}: {self.rest!r}")
                *whole, self.rest = (self.rest + data).split(b"\n")
                self.lines += [line.decode(errors="replace").strip() for line in whole]

    def say(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def drawn(self, seconds: float, sample: int) -> dict[str, Any]:
        found = self.wait_for(r"(\d+) (\d+) (\d+) (\d+)", seconds + BOOT_SECONDS)
        size, ns, cpu_ns, missed = (int(word) for word in found.groups())
        return {"bytes": size, "seconds": ns / 1e9, "cpu_seconds": cpu_ns / 1e9, "missed": missed, "sample": ""}

    def take_sample(self, size: int) -> str:
        """What a terminal takes for the end of input lets it out."""
        self.say(b"\x04")
        digits = ""
        while len(digits) < 2 * size:
            digits += self.wait_for("([0-9a-f]{2,64})", BOOT_SECONDS)[1]
        return digits


@contextlib.contextmanager
def guests(count: int, accelerator: str, initrd: Path, seconds: float, sample: int) -> Iterator[list[Guest]]:
    """Booted, and ready to draw."""
    with contextlib.ExitStack() as stack:
        started = []
        for _ in range(count):
            process = subprocess.Popen(
                command(accelerator, initrd, seconds, sample),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(Guest(process))
        for guest in started:
            guest.wait_for("ready", KVM_SECONDS if accelerator == "kvm" else BOOT_SECONDS)
        yield started


def accelerator_here(initrd: Path) -> str:
    if os.access("/dev/kvm", os.R_OK | os.W_OK):
        with contextlib.suppress(GuestError), guests(1, "kvm", initrd, 0.01, 0):
            return "kvm"
    return "tcg"


def measure(count: int, accelerator: str, initrd: Path, seconds: float, sample: int) -> list[dict[str, Any]]:
    with guests(count, accelerator, initrd, seconds, sample) as ready:
        for guest in ready:
            guest.say(b"\n")
        shares = [guest.drawn(seconds, sample) for guest in ready]
        for guest, share in zip(ready, shares, strict=True):
            share["sample"] = guest.take_sample(min(sample, share["bytes"]))
        return shares


def main() -> int:
    count, seconds, sample = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    runs: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as directory:
        initrd = Path(directory) / "initrd"
        initrd.write_bytes(initramfs(SOURCES[0]))
        accelerator = accelerator_here(initrd)
        for source in SOURCES:
            initrd.write_bytes(initramfs(source))
            runs[source] = {str(n): measure(n, accelerator, initrd, seconds, sample) for n in sorted({1, count})}
    print(json.dumps({"accelerator": accelerator, "sources": runs}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
