# SPDX-License-Identifier: Apache-2.0
"""A trial of drng: it ends by itself unless somebody confirms it.

All of it lives below /run, so that the machine's next start ends it; a transient timer, which goes with it, ends it
sooner.
"""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from .. import systemd
from ..terminal import Unchanged
from . import service, system

# systemd makes the timer, and the service that it starts, without files of ours. What could not be switched off,
# because of a lock or a full disk, is tried again.
UNIT = "drng-trial"
PROPERTIES = ("--collect", "--property=Type=oneshot", "--property=Restart=on-failure", "--property=RestartSec=300")
TRANSIENT = Path("/run/systemd/transient")

# This program: in the sources, above its modules; installed, in share, beside sbin and bin.
HERE = Path(__file__).resolve().parent.parent.parent


def under_way() -> list[str]:
    """What is on trial, as it is typed."""
    drop_ins = glob.glob(f"{service.RUN}/*.service.d/{service.TRIED}")
    names = sorted(os.path.basename(os.path.dirname(path)).removesuffix(".service.d") for path in drop_ins)
    return names + ["--system"] * os.path.exists(system.TRIED)


def until() -> str:
    said = systemd.run("systemctl", "show", "--property=Description", f"{UNIT}.timer").stdout
    found = re.search(r"until (.+)", said)
    return found[1] if found else "the machine's next start"


def refuse(typed: Sequence[str], on: Sequence[str], length: int) -> None:
    """During a trial only another one begins; what is on cannot be tried."""
    tried = under_way()
    if tried and not length:
        raise Unchanged(f"{' '.join(tried)}: on trial until {until()}: drng-enable confirm, or off, ends that first")
    if length and (kept := set(on) - set(tried)):
        raise Unchanged(f"{', '.join(sorted(kept))}: on already, and not on trial")


def ends_it() -> bool:
    """Whether this is what the timer has started."""
    return systemd.of_cgroup(Path("/proc/self/cgroup").read_bytes()) == f"{UNIT}.service"


def still(names: Sequence[str]) -> Sequence[str]:
    """Of services that are named, those to act on: one of a trial may have been switched off, and have gone, since."""
    tried = under_way()
    return [name for name in names if name in tried] if tried and ends_it() else names


def finish() -> None:
    """Stops the timer, and what it has started, which may wait to try again, unless that is us."""
    units = [f"{UNIT}.timer", f"{UNIT}.service"]
    if not any((TRANSIENT / unit).exists() for unit in units):
        return
    if ends_it():
        units.pop()
    for verb in ("stop", "reset-failed"):
        systemd.run("systemctl", verb, "--", *units)


def begin(typed: Sequence[str], length: int, *, restart: bool) -> str:
    """What ends it is there before anything is switched on. A trial that is under way begins anew, with this one."""
    if not systemd.is_running():
        raise Unchanged("--try needs a systemd that runs, whose timer would switch drng off again: leave --try out")
    folders = (HERE, HERE.parent / "sbin", HERE.parent / "bin")
    program = next((folder for folder in folders if (folder / "drng-enable").is_file()), HERE) / "drng-enable"
    end = time.strftime("%F %T", time.localtime(time.time() + length))
    when = (f"--on-active={length}", "--timer-property=AccuracySec=1s", f"--description=drng on trial until {end}")
    # What the one under way has restarted runs with drng, and needs it at the end, too.
    restart = restart or " --restart " in systemd.run("systemctl", "show", "-pExecStart", f"{UNIT}.service").stdout
    words = [*sorted({*under_way(), *typed}), *["--restart"] * restart]
    finish()
    result = systemd.run("systemd-run", f"--unit={UNIT}", *when, *PROPERTIES, "--", str(program), "off", *words)
    if result.returncode != 0:
        raise Unchanged(f"no timer can be started that would switch drng off again: {result.stderr.strip()}")
    return end
