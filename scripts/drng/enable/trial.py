"""A trial of drng in the system's openssl.cnf: it is switched off again unless somebody confirms it.

A transient timer of systemd ends the trial. A restart of the machine takes the timer away, and is what an administrator
does to a machine that no longer answers; so a unit in /etc ends the trial at the next start, before the services. That
unit is also the record of the trial: without it there is none.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass

from .. import systemd
from ..files import Tree
from ..procfs import boot_id
from ..terminal import Failure, Unchanged, say, warn
from . import block, changes, programs

RECORD = "/etc/systemd/system/drng-enable-trial.service"
AT_THE_START = "/etc/systemd/system/sysinit.target.wants/drng-enable-trial.service"
TIMER = re.compile(r"drng-enable-trial-[0-9a-f]{8}")

# It begins like every file of drng-enable's. systemd passes over a section whose name begins with X-.
TEXT = """\
# made by drng-enable: ends the trial of "on --system --try" when the machine starts again
[Unit]
Description=Switch drng off, since nobody has confirmed its trial
Documentation=man:drng-enable(8)
DefaultDependencies=no
RequiresMountsFor=/etc /usr
After=local-fs.target
Before=sysinit.target shutdown.target
Conflicts=shutdown.target

[Service]
Type=oneshot
ExecStart={program} end-trial

[X-Trial]
Conf={conf}
Boot={boot}
Until={until:.0f}
Timer={timer}
"""

# What could not be done, because of a lock or a full disk, is tried again.
AGAIN = 300


@dataclass
class Trial:
    """One that has begun."""

    conf: str
    boot: str
    until: float  # by the clock that the timer goes by, which stands still while the machine sleeps
    timer: str

    @classmethod
    def find(cls, tree: Tree) -> Trial | None:
        data = tree.read(RECORD, follow=False) if tree.live else None
        if data is None:
            return None
        known = dict(re.findall(r"^(Conf|Boot|Until|Timer)=(.*)$", block.decode(data), flags=re.M))
        until = known.get("Until", "")
        conf = known.get("Conf", "")
        if not until.isdigit() or not conf.startswith("/") or not TIMER.fullmatch(known.get("Timer", "")):
            raise Failure(f"{RECORD} is not as drng-enable wrote it: remove it")
        return cls(conf, known.get("Boot", ""), float(until), known["Timer"])

    @property
    def left(self) -> float:
        """Seconds; none where the machine has been started anew."""
        return max(0.0, self.until - time.monotonic()) if self.boot == boot_id() else 0.0

    def describe(self) -> str:
        if self.left > 0:
            end = time.strftime("%H:%M:%S", time.localtime(time.time() + self.left))
            return f"{self.conf}: drng is on trial, and is switched off at {end} unless you say: drng-enable confirm"
        return f"{self.conf}: drng is on trial, whose time is over: drng-enable off --system ends it"


def _start_timer(name: str, length: int) -> None:
    """Verified by systemd's own word: without it nothing would end the trial."""
    started = systemd.run(
        "systemd-run",
        "--quiet",
        "--no-ask-password",
        f"--unit={name}",
        f"--on-active={length}",
        "--timer-property=AccuracySec=1s",
        "--property=Type=oneshot",
        "--property=Restart=on-failure",
        f"--property=RestartSec={AGAIN}",
        "--description=End of the trial of drng",
        programs.companion("drng-enable"),
        "end-trial",
    )
    is_active = systemd.run("systemctl", "is-active", "--", f"{name}.timer").stdout.strip() == "active"
    if started.returncode != 0 or not is_active:
        said = started.stderr.strip() or "the timer is not active"
        raise Unchanged(f"no timer can be started that would switch drng off again: {said}")


def _link(tree: Tree) -> None:
    with tree.place(AT_THE_START, follow=False, make=True) as place:
        try:
            os.symlink(RECORD, place.name, dir_fd=place.directory)
        except FileExistsError:
            if place.link() != RECORD:
                raise Unchanged(
                    f"{AT_THE_START} is not the link that drng-enable makes, so nothing would end the trial at "
                    "the next start: remove it"
                ) from None
        place.sync()


def _stop(timer: str) -> None:
    if systemd.is_running():
        with contextlib.suppress(Failure):
            systemd.systemctl("stop", "--", f"{timer}.timer")


def begin(tree: Tree, conf: str, length: int) -> Trial:
    """What ends it is there before anything is switched on. A trial that was under way begins anew."""
    before = Trial.find(tree)
    trial = Trial(conf, boot_id(), time.monotonic() + length, f"drng-enable-trial-{os.urandom(4).hex()}")
    try:
        _start_timer(trial.timer, length)
        text = TEXT.format(program=programs.companion("drng-enable"), **vars(trial))
        changes.make(tree, [changes.File(RECORD, tree.read(RECORD, follow=False), block.encode(text))])
        _link(tree)
    except BaseException:
        _stop(trial.timer)
        if before is None:
            forget(tree)
        raise
    if before is not None:
        _stop(before.timer)
    return trial


def forget(tree: Tree) -> None:
    """Nothing is on trial any more. The record goes first: without it the timer does nothing."""
    with contextlib.suppress(FileNotFoundError), tree.place(RECORD, follow=False) as place:
        place.unlink()
    with contextlib.suppress(FileNotFoundError), tree.place(AT_THE_START, follow=False) as place:
        if place.link() == RECORD:
            place.unlink()
    tree.remove_directory(os.path.dirname(AT_THE_START))


def end(tree: Tree, conf: str) -> None:
    """Where one of this file is under way."""
    try:
        trial = Trial.find(tree)
    except Failure as error:
        warn(str(error))
        return
    if trial is not None and trial.conf == conf:
        forget(tree)
        _stop(trial.timer)


def confirm(tree: Tree) -> None:
    trial = Trial.find(tree)
    if trial is None:
        raise Failure("nothing is on trial, so there is nothing to confirm")
    found = tree.read(trial.conf)
    if found is None:
        raise Failure(
            f"{trial.conf} is not there, so nobody can say whether drng is on: the trial goes on; put the file back, "
            f"or remove {RECORD} if it is gone for good"
        )
    if not block.has_block(block.decode(found)):
        end(tree, trial.conf)
        raise Failure(f"{trial.conf}: drng is off, so there is nothing to confirm")
    end(tree, trial.conf)
    say(f"{trial.conf}: the trial is confirmed, and drng stays on")
