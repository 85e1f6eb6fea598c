# SPDX-License-Identifier: Apache-2.0
"""A trial of drng: it ends by itself unless somebody confirms it.

All of it lives below /run, so that the machine's next start ends it; a transient timer, which goes with it, ends it
sooner: by `off --tried`, which takes away what is on trial then, and nothing else.
"""

import glob
import os
import sys
import time

from .. import TRIED, systemd
from ..terminal import Unchanged
from . import service

# systemd makes the timer, and the service that it starts, without files of ours. What could not be switched off,
# because of a lock or a full disk, is tried again.
UNIT = "drng-trial"
PROPERTIES = ("--collect", "--property=Type=oneshot", "--property=Restart=on-failure", "--property=RestartSec=300")
TRANSIENT = "/run/systemd/transient"


def under_way() -> list[str]:
    """What is on trial, as it is typed."""
    names = sorted(service.drop_ins(service.RUN, service.TRIED).values())
    return names + ["--system"] * os.path.exists(TRIED)


def finish(*, by_timer: bool = False) -> None:
    """Stops the timer, and what it has started, which may wait to try again, unless that is us."""
    if glob.glob(f"{TRANSIENT}/{UNIT}.*"):
        units = [f"{UNIT}.timer", *[f"{UNIT}.service"] * (not by_timer)]
        for verb in ("stop", "reset-failed"):
            systemd.run("systemctl", verb, "--", *units)


def begin(length: int, *, restart: bool) -> str:
    """What ends it is there before anything is switched on. Until when."""
    if not systemd.is_running():
        raise Unchanged("--try needs a systemd that runs, whose timer would switch drng off again: leave --try out")
    finish()  # of a run that was killed here
    end = time.strftime("%F %T", time.localtime(time.time() + length))
    when = (f"--on-active={length}", "--timer-property=AccuracySec=1s")
    words = [os.path.abspath(sys.argv[0]), "off", "--tried", *["--restart"] * restart]
    result = systemd.run("systemd-run", f"--unit={UNIT}", *when, *PROPERTIES, "--", *words)
    if result.returncode != 0:
        raise Unchanged(f"no timer can be started that would switch drng off again: {result.stderr.strip()}")
    return end
