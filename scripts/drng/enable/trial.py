# SPDX-License-Identifier: Apache-2.0
"""A trial of drng: it is switched off again unless somebody confirms it.

A transient timer of systemd does that. A restart of the machine takes the timer away, and is what an administrator does
to a machine that no longer answers: so a unit in /etc does it at the next start, before the services. That unit is also
the record of the trial. It does nothing while the timer is there, since systemd may start it with any other unit.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from .. import systemd
from ..terminal import Unchanged
from . import block, programs
from .changes import File, make, read

NAME = "drng-enable-trial.service"
RECORD = f"/etc/systemd/system/{NAME}"
END = "drng-enable-trial-end"  # the timer, and the service that it starts

TEXT = """\
# made by drng-enable: a trial until {until}
[Unit]
Description=Switch drng off, since nobody has confirmed its trial
Documentation=man:drng-enable(8)
ConditionPathExists=!/run/systemd/transient/{timer}.timer
DefaultDependencies=no
RequiresMountsFor=/etc /usr
After=local-fs.target
Before=sysinit.target shutdown.target
Conflicts=shutdown.target

[Service]
Type=oneshot
ExecStart={program} off {words}

[Install]
WantedBy=sysinit.target
"""

# What could not be done, because of a lock or a full disk, is tried again.
AGAIN = 300


def under_way() -> tuple[list[str], str]:
    """What is on trial, as it is typed, and until when; nothing, without a record."""
    found = re.search(r"a trial until (.*)\n(?:.*\n)*ExecStart=\S+ off (.*)\n", block.decode(read(RECORD)))
    return (found[2].replace("\\\\", "\\").replace(" --restart", "").split(), found[1]) if found else ([], "")


def refuse(words: Sequence[str], on: Sequence[str], length: int) -> None:
    """What is on trial is confirmed, tried longer, or switched off; what is on cannot be tried."""
    tried, until = under_way()
    is_ours = bool(set(tried) & set(on))
    if (is_ours and not length) or (tried and length and set(tried) != set(words)):
        raise Unchanged(f"{' '.join(tried)}: on trial until {until}: drng-enable confirm, or off, ends that first")
    if length and on and not is_ours:
        raise Unchanged(f"{', '.join(on)}: on already, and not on trial")
    if not length and set(tried) & set(words):
        # One whose lines somebody has taken out is over; its timer would take these out, too.
        end()


def _stop() -> None:
    """The timer; and what it has started, which may wait to try again, unless that is us."""
    units = [f"{END}.timer"]
    if systemd.of_cgroup(Path("/proc/self/cgroup").read_bytes()) != f"{END}.service":
        units.append(f"{END}.service")
    for verb in ("stop", "reset-failed"):
        systemd.run("systemctl", verb, "--", *units)


def begin(words: Sequence[str], length: int) -> str:
    """What ends it is there before anything is switched on. A trial that was under way begins anew."""
    if not systemd.is_running():
        raise Unchanged("--try needs a systemd that runs, whose timer would switch drng off again: leave --try out")
    _stop()
    program = programs.companion("drng-enable")
    timer = ["--quiet", "--no-ask-password", f"--unit={END}", f"--on-active={length}"]
    timer += ["--timer-property=AccuracySec=1s", "--property=Type=oneshot", "--property=Restart=on-failure"]
    timer += [f"--property=RestartSec={AGAIN}", "--description=End of the trial of drng"]
    started = systemd.run("systemd-run", *timer, program, "off", *words)
    if systemd.run("systemctl", "is-active", "--", f"{END}.timer").stdout.strip() != "active":
        said = started.stderr.strip() or "the timer is not active"
        raise Unchanged(f"no timer can be started that would switch drng off again: {said}")
    until = time.strftime("%H:%M:%S", time.localtime(time.time() + length))
    escaped = " ".join(words).replace("\\", "\\\\")
    text = TEXT.format(until=until, timer=END, program=program, words=escaped)
    try:
        make([File(RECORD, read(RECORD), block.encode(text))])
        systemd.systemctl("enable", "--quiet", "--", NAME)
    except BaseException:
        end()
        raise
    return until


def end() -> None:
    """Nothing is on trial any more."""
    if (found := read(RECORD)) is None:
        return
    if systemd.is_running():
        systemd.run("systemctl", "disable", "--quiet", "--", NAME)
    make([File(RECORD, found, None)])
    if systemd.is_running():
        _stop()
        systemd.run("systemctl", "daemon-reload")
