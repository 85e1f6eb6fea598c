# SPDX-License-Identifier: Apache-2.0
"""A trial of drng: it ends by itself unless somebody confirms it.

All of it lives below /run, so that the machine's next start ends it; a timer, which goes with it, ends it sooner.
"""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from .. import systemd
from ..terminal import Failure, Unchanged
from . import service, system
from .changes import File, make, read
from .texts import decode, encode

END = "drng-trial"  # the timer, and the service that it starts
TIMER, SERVICE = f"{service.RUN}/{END}.timer", f"{service.RUN}/{END}.service"
TIMER_TEXT = "[Unit]\nDescription=Until {}, drng is on trial\n[Timer]\nOnActiveSec={}s\nAccuracySec=1s\n"
# What could not be done, because of a lock or a full disk, is tried again.
SERVICE_TEXT = (
    "[Unit]\nDescription=End of the trial of drng\n[Service]\nType=oneshot\n{}Restart=on-failure\nRestartSec=300\n"
)

# This program: in the sources, above its modules; installed, in share, beside sbin and bin.
HERE = Path(__file__).resolve().parent.parent.parent


def under_way() -> list[str]:
    """What is on trial, as it is typed."""
    drop_ins = glob.glob(f"{service.RUN}/*.service.d/{service.TRIED}")
    names = sorted(os.path.basename(os.path.dirname(path)).removesuffix(".service.d") for path in drop_ins)
    return names + ["--system"] * os.path.exists(system.TRIED)


def until() -> str:
    found = re.search(r"Until (\S+), drng", decode(read(TIMER)))
    return found[1] if found else "the machine's next start"


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
    folders = (HERE, HERE.parent / "sbin", HERE.parent / "bin")
    program = next((folder for folder in folders if (folder / "drng-enable").is_file()), HERE) / "drng-enable"
    again = " --restart" if restart or b" --restart\n" in (read(SERVICE) or b"") else ""
    names = sorted({*under_way(), *typed}, key=lambda name: name != "--system")
    # The system's is a command of its own: one verb takes either.
    commands = [["--system"]] * ("--system" in names) + [[name for name in names if name != "--system"]]
    lines = [f"ExecStart={program} off {' '.join(words)}{again}\n" for words in commands if words]
    end = time.strftime("%H:%M:%S", time.localtime(time.time() + length))
    texts = {TIMER: TIMER_TEXT.format(end, length), SERVICE: SERVICE_TEXT.format("".join(lines).replace("\\", "\\\\"))}
    _stop()
    try:
        make([File(path, read(path), encode(text)) for path, text in texts.items()])
        systemd.systemctl("daemon-reload")
        systemd.systemctl("start", f"{END}.timer")
    except Failure as error:
        finish()
        raise Unchanged(f"no timer can be started that would switch drng off again: {error}") from None
    return end


def finish() -> None:
    """Nothing is on trial any more."""
    files = [File(path, data, None) for path in (TIMER, SERVICE) if (data := read(path)) is not None]
    if files:
        _stop()
        make(files)
        systemd.run("systemctl", "daemon-reload")
