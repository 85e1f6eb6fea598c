# SPDX-License-Identifier: Apache-2.0
"""A trial of drng: it ends by itself unless somebody confirms it.

All of it lives below /run, so that the machine's next start ends it; a timer, which goes with it, ends it sooner.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Sequence
from pathlib import Path

from .. import systemd
from ..terminal import Failure, Unchanged
from . import service, system
from .changes import File, make, read
from .texts import encode

END = "drng-trial"  # the timer, and the service that it starts
UNITS = {
    f"{service.RUN}/{END}.timer": (
        "[Unit]\nDescription=Until {until}, drng is on trial\n[Timer]\nOnActiveSec={length}s\nAccuracySec=1s\n"
    ),
    # What could not be done, because of a lock or a full disk, is tried again.
    f"{service.RUN}/{END}.service": (
        "[Unit]\nDescription=End of the trial of drng\n[Service]\nType=oneshot\n{commands}"
        "Restart=on-failure\nRestartSec=300\n"
    ),
}

# This program: in the sources, above its modules; installed, in share, beside sbin and bin.
HERE = Path(__file__).resolve().parent.parent.parent


def under_way() -> list[str]:
    """What is on trial, as it is typed."""
    drop_ins = glob.glob(f"{service.RUN}/*.service.d/{service.TRIED}")
    names = sorted(os.path.basename(os.path.dirname(path)).removesuffix(".service.d") for path in drop_ins)
    return names + ["--system"] * os.path.exists(system.TRIED)


def until() -> str:
    """By systemd's word."""
    said = systemd.run("systemctl", "show", "--value", "--property=Description", "--", f"{END}.timer").stdout
    found = said.strip().removeprefix("Until ").removesuffix(", drng is on trial")
    return found if os.path.exists(f"{service.RUN}/{END}.timer") else "the machine's next start"


def refuse(typed: Sequence[str], on: Sequence[str], length: int) -> None:
    """During a trial only another one begins; what is on cannot be tried."""
    tried = under_way()
    if tried and not length:
        raise Unchanged(f"{' '.join(tried)}: on trial until {until()}: drng-enable confirm, or off, ends that first")
    if length and (kept := set(on) - set(tried)):
        raise Unchanged(f"{', '.join(sorted(kept))}: on already, and not on trial")


def _stop() -> None:
    """The timer; and what it has started, which may wait to try again, unless that is us."""
    units = [f"{END}.timer"]
    if systemd.of_cgroup(Path("/proc/self/cgroup").read_bytes()) != f"{END}.service":
        units.append(f"{END}.service")
    for verb in ("stop", "reset-failed"):
        systemd.run("systemctl", verb, "--", *units)


def begin(typed: Sequence[str], length: int, *, restart: bool) -> str:
    """What ends it is there before anything is switched on. A trial that is under way begins anew, with this one."""
    if not systemd.is_running():
        raise Unchanged("--try needs a systemd that runs, whose timer would switch drng off again: leave --try out")
    program = next(
        (p for p in (HERE, HERE.parent / "sbin", HERE.parent / "bin") if (p / "drng-enable").is_file()), HERE
    )
    restart = restart or any(b" --restart\n" in (read(path) or b"") for path in UNITS)
    words = sorted({*under_way(), *typed} - {"--system"})
    commands = [["--system"]] * ("--system" in [*under_way(), *typed]) + [words] * bool(words)
    lines = [" ".join([f"ExecStart={program}/drng-enable off", *w, *["--restart"] * restart]) for w in commands]
    end = time.strftime("%H:%M:%S", time.localtime(time.time() + length))
    values = {"until": end, "length": length, "commands": "".join(f"{line}\n" for line in lines).replace("\\", "\\\\")}
    _stop()
    try:
        make([File(path, read(path), encode(text.format(**values))) for path, text in UNITS.items()])
        systemd.systemctl("daemon-reload")
        systemd.systemctl("start", f"{END}.timer")
    except Failure as error:
        finish()
        raise Unchanged(f"no timer can be started that would switch drng off again: {error}") from None
    return end


def finish() -> None:
    """Nothing is on trial any more."""
    if not any(map(os.path.exists, UNITS)):
        return
    _stop()
    make([File(path, read(path), None) for path in UNITS])
    systemd.run("systemctl", "daemon-reload")
