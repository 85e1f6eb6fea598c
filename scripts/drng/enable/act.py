# SPDX-License-Identifier: Apache-2.0
"""What is done: all is checked, then written as one change, and put back where systemd or a service says no."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from .. import systemd
from ..status import who
from ..status.verdict import USES_DRNG
from ..terminal import Failure, Interrupted, Output, Unchanged
from . import changes, restart, trial
from .arguments import Request
from .service import Service, switched_on
from .system import System
from .target import Target

# Exit statuses. UNSERVED: it is done, and a process is not served by drng.
DONE, NOT_DONE, UNSERVED = 0, 1, 3


class Report:
    """What is said: lines at once, or one answer for programs at the end."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.answer: dict[str, Any] = {"changed": False, "error": ""}
        self.targets: list[Target] = []
        self.unserved = False

    def line(self, text: str) -> None:
        if not self.as_json:
            Output.line(text)

    def say(self, target: Target, text: str) -> None:
        target.said.append(text)
        self.line(f"{target.name}: {text}")


def targets_of(request: Request) -> list[Target]:
    """The system last: what it reads, services read before it."""
    if request.tried or request.verb == "confirm":
        typed = trial.under_way()
    elif request.all or not (request.services or request.system):
        typed = [*switched_on(), System.typed]
    else:
        typed = request.services + [System.typed] * request.system
    return [System() if name == System.typed else Service(name) for name in typed]


class Change:
    """Files that become others, and the units that are restarted for it."""

    def __init__(self, files: Sequence[changes.File]) -> None:
        self.files = [file for file in files if file.before != file.after]
        self.ran: list[str] = []  # what has been restarted

    def make(self, files: Sequence[changes.File]) -> None:
        """systemd reads them in any case: of a run that was killed it may not have."""
        changes.make(files)
        if systemd.is_running():
            systemd.systemctl("daemon-reload")

    def _put_back(self, error: BaseException) -> list[str]:
        """What of it does not run again."""
        changes.ignore_signals()
        try:
            self.make([file.back() for file in reversed(self.files) if changes.read(file.path) == file.after])
        except Failure as other:
            raise Failure(f"{error}; this could not be undone: {other}") from None
        down = []
        for unit in self.ran:
            try:
                restart.restart(unit, "restart")
            except Failure as other:
                down.append(str(other))
        return down

    @contextlib.contextmanager
    def or_put_back(self) -> Iterator[None]:
        """What fails in here, or is interrupted, leaves everything as it was: what ran, runs."""
        try:
            yield
        except Unchanged:
            raise
        except (Failure, OSError, Interrupted) as error:
            down = self._put_back(error)
            said = "; ".join([f"{error}; all files are put back" if self.ran else str(error), *down])
            raise (Failure if down else Unchanged)(said) from None


# ---- Restarts ----


def restart_one(report: Report, change: Change, target: Target, unit: str, processes: list[who.Process]) -> None:
    """One that is to be other than it is: it is on and started before, or is off and still has drng. Of a service that
    is on, it is said in any case who serves."""
    known, name, done = restart.state(unit), "" if target.unit else f"{unit}: ", ""
    asked = bool(target.head and target.unit)
    if target.head:
        is_due = target.is_older(restart.started(known))
    else:
        is_due = any(each.uses == USES_DRNG for each in processes)
    if is_due and (reason := restart.why_left(unit, known)):
        report.say(target, f"{name}{reason}")
        # Of the system some units always wait for a reboot.
        report.unserved |= asked and not who.is_served(processes)
        return
    if is_due:
        change.ran.append(unit)
        restart.restart(unit)
        processes, done = restart.looked_at(unit), "restarted; "
    elif not asked:
        return
    lines = who.lines(processes) if processes else ["no process of it runs"]
    report.say(target, f"{name}{done}{lines[0]}")
    for line in lines[1:] if target.head else ():
        report.say(target, f"{name}{line}")
    target.processes += map(restart.facts, processes)
    report.unserved |= bool(target.head) and not who.is_served(processes)
    report.unserved |= asked and not restart.uses_libcrypto(processes)


def restart_all(report: Report, change: Change) -> None:
    """Of a service, its unit; of the system, every unit with libcrypto that is no target and has no file of its own."""
    own = {target.unit for target in report.targets} | {f"{name}.service" for name in switched_on()}
    for target in report.targets:
        if target.unit.endswith("@.service"):
            report.say(target, "a template: instances that start from now on have it")
        elif target.unit:
            restart_one(report, change, target, target.unit, restart.looked_at(target.unit))
        else:
            for unit, processes in restart.by_unit().items():
                if unit not in own:
                    restart_one(report, change, target, unit, processes)


# ---- on, off, confirm ----


def say_what_is(report: Report, target: Target) -> None:
    settings = "".join(f", {key} = {value}" for key, value in target.head.settings) if target.head else ""
    what = f"{target.head.profile}{settings}, {target.path}" if target.head else "drng is off"
    report.say(target, f"{what}{'' if target.changed else ', as before'}")
    for note in filter(None, [*target.notes, "" if target.head or target.missing else target.still_served()]):
        report.say(target, note)


def say_what_next(report: Report, request: Request, restarts: bool) -> None:
    """The command that undoes it, and what running programs need."""
    shown = shlex.join(target.typed for target in report.targets)
    report.answer["undo"] = f"drng-enable off {shown}{' --restart' * restarts}" if request.verb == "on" else ""
    if report.answer["undo"] and report.answer["changed"]:
        report.line(f"undo: {report.answer['undo']}")
    if request.restart and not restarts:
        report.line("systemd does not run here, so nothing is restarted: restart what is to have it yourself")
    elif report.answer["changed"] and not restarts:
        proof = f"; to see who serves them: drng-enable on {shown} --restart"
        report.line(f"running programs need a restart{proof if request.verb == 'on' and systemd.is_running() else ''}")


def switch(report: Report, request: Request) -> None:
    targets, is_on = targets_of(request), request.verb == "on"
    if is_on and (tried := trial.under_way()):
        raise Unchanged(f"{' '.join(tried)}: on trial until {trial.until()}: drng-enable confirm, or off, ends that")
    if request.trial and (kept := [target.typed for target in targets if target.head]):
        raise Unchanged(f"{', '.join(kept)}: on already, and not on trial")
    plans = [(target, target.on(request) if is_on else target.off()) for target in targets]
    change = Change([file for _, files in plans for file in files])
    if request.dry_run:
        report.answer["difference"] = difference = changes.difference(change.files)
        for line in difference.splitlines():
            report.line(line)
        return
    restarts = request.restart and systemd.is_running()
    for target, files in plans:
        target.changed = any(file in change.files for file in files)
    report.targets = targets
    try:
        if request.trial:
            report.answer["until"] = trial.begin(request.trial, restart=restarts)
        with change.or_put_back():
            change.make(change.files)
            if reason := next(filter(None, (target.why_not_in_effect() for target in targets if target.head)), ""):
                raise Failure(reason)
            for target in targets:
                say_what_is(report, target)
            if restarts:
                restart_all(report, change)
    finally:
        if not trial.under_way():
            trial.finish(by_timer=request.tried)
    report.answer["changed"] = bool(change.files)
    if request.trial:
        report.line(f"on trial: switched off at {report.answer['until']} unless you say: drng-enable confirm")
    say_what_next(report, request, restarts)


def confirm(report: Report, request: Request) -> None:
    targets = [target for target in targets_of(request) if target.head]
    if not targets:
        raise Unchanged("nothing is on trial, so there is nothing to confirm")
    change = Change([file for target in targets for file in target.confirmed()])
    with change.or_put_back():
        change.make(change.files)
    trial.finish()
    report.targets, report.answer["changed"] = targets, True
    for target in targets:
        target.changed = True
    report.line(f"{', '.join(target.name for target in targets)}: confirmed, drng stays on")


# ---- status ----


def who_serves(target: Target) -> str:
    """Of one that is on, in one line; or what keeps drng from it."""
    if reason := target.why_not_in_effect():
        target.served = False
        return f"not in effect: {reason}"
    if isinstance(target, System):
        target.served = target.serves()
        return f"programs that start now are {'served' if target.served else 'not served: drng-status says why'}"
    if not systemd.is_running():
        return "systemd does not run here"
    processes = restart.looked_at(target.unit)
    target.processes, target.served = [restart.facts(each) for each in processes], who.is_served(processes)
    first, *rest = who.lines(processes) if processes else ["not running"]
    return f"{first}: {rest[-1]}" if rest else first


def said_of(target: Target) -> Iterator[str]:
    """The line of a target, but for its name and state; then what is said beside it."""
    try:
        yield who_serves(target) if target.head else target.missing or target.still_served()
    except Failure as error:
        target.served = False
        yield str(error)
    yield from target.notes
    if target.tried:
        yield f"on trial until {trial.until()}: drng-enable confirm"
    try:
        if target.is_outdated():
            again = f"drng-enable on {shlex.quote(target.typed)}"
            yield f"the installed profile, or these lines, have changed: `{again}` mends that"
    except Failure as error:
        yield str(error)


def status(report: Report, request: Request) -> None:
    report.targets = sorted(targets_of(request), key=lambda target: target.unit)
    width = max(len(target.name) for target in report.targets)
    for target in report.targets:
        state = f"on, {target.head.profile}" if target.head else "not known" if target.missing else "off"
        target.said = [*dict.fromkeys(said_of(target))]
        report.unserved |= target.served is False
        first, *rest = target.said
        report.line(f"{target.name:{width}}  {state:19} {first}".rstrip())
        for note in rest:
            report.line(f"{'':{width}}  {note}")


def act(request: Request, report: Report) -> int:
    {"status": status, "confirm": confirm}.get(request.verb, switch)(report, request)
    return UNSERVED if report.unserved else DONE
