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
    """What is said of each target: lines, or one answer for programs at the end."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.answer: dict[str, Any] = {"changed": False, "error": ""}
        self.targets: dict[str, dict[str, Any]] = {}
        self.unserved = False

    def of(self, target: Target) -> dict[str, Any]:
        entry = self.targets.setdefault(target.name, {"changed": False, "said": [], "processes": []})
        entry |= target.facts()
        return entry

    def line(self, text: str) -> None:
        if not self.as_json:
            Output.line(text)

    def say(self, target: Target, text: str) -> None:
        self.of(target)["said"].append(text)
        self.line(f"{target.name}: {text}")


def targets_of(request: Request) -> list[Target]:
    """The system last: what it reads, services read before it."""
    everything = request.all or not (request.services or request.system)
    services: list[Target] = [*map(Service, switched_on() if everything else trial.still(request.services))]
    return services + [System()] * (everything or request.system)


class Change:
    """Files that become others, and the units that are restarted for it."""

    def __init__(self, files: Sequence[changes.File], targets: Sequence[Target]) -> None:
        self.files = [file for file in files if file.before != file.after]
        self.reloads = systemd.is_running() and any(target.unit for target in targets)
        self.ran: list[str] = []  # what has been restarted

    def make(self, files: Sequence[changes.File]) -> None:
        changes.make(files)
        if self.reloads:
            systemd.systemctl("daemon-reload")

    def _put_back(self, error: BaseException) -> list[str]:
        """What of it does not run again."""
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
        except Interrupted as error:
            self._put_back(error)
            raise
        except (Failure, OSError) as error:
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
    report.of(target)["processes"] += map(restart.facts, processes)
    report.unserved |= bool(target.head) and not who.is_served(processes)
    report.unserved |= asked and not restart.uses_libcrypto(processes)


def restart_all(report: Report, change: Change, targets: Sequence[Target]) -> None:
    """Of a service, its unit; of the system, every unit with libcrypto that is no target and has no file of its own."""
    own = {target.unit for target in targets} | {f"{name}.service" for name in switched_on()}
    for target in targets:
        if target.unit.endswith("@.service"):
            report.say(target, "a template: instances that start from now on have it")
        elif target.unit:
            restart_one(report, change, target, target.unit, restart.looked_at(target.unit))
        else:
            for unit, processes in restart.by_unit().items():
                if unit not in own:
                    restart_one(report, change, target, unit, processes)


# ---- on, off, confirm ----


def say_what_is(report: Report, target: Target, changed: bool) -> None:
    report.of(target)["changed"] = changed
    settings = "".join(f", {key} = {value}" for key, value in target.head.settings) if target.head else ""
    what = f"{target.head.profile}{settings}, {target.path}" if target.head else "drng is off"
    report.say(target, f"{what}{'' if changed else ', as before'}")
    for note in filter(None, [*target.notes, "" if target.head else target.still_served()]):
        report.say(target, note)


def say_what_next(report: Report, request: Request, typed: Sequence[str], restarts: bool) -> None:
    """The command that undoes it, and what running programs need."""
    shown = shlex.join(typed)
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
    typed = [target.typed for target in targets]
    if is_on:
        trial.refuse(typed, [target.typed for target in targets if target.head], request.trial)
    plans = [(target, target.on(request) if is_on else target.off()) for target in targets]
    change = Change([file for _, files in plans for file in files], targets)
    if request.dry_run:
        report.answer["difference"] = difference = changes.difference(change.files)
        for line in difference.splitlines():
            report.line(line)
        return
    restarts = request.restart and systemd.is_running()
    changed = {target.name for target, files in plans if any(file in change.files for file in files)}
    until = trial.begin(typed, request.trial, restart=restarts) if request.trial else ""
    try:
        with change.or_put_back():
            change.make(change.files)
            if reason := next(filter(None, (target.why_not_in_effect() for target in targets)), ""):
                raise Failure(reason)
            for target in targets:
                say_what_is(report, target, target.name in changed)
            if restarts:
                restart_all(report, change, targets)
    finally:
        if not trial.under_way():
            trial.finish()
    report.answer["changed"], report.answer["until"] = bool(change.files), until
    if until:
        report.line(f"on trial: switched off at {until} unless you say: drng-enable confirm")
    say_what_next(report, request, typed, restarts)


def confirm(report: Report, request: Request) -> None:
    tried = [target for target in targets_of(request) if target.tried]
    if not tried:
        raise Unchanged("nothing is on trial, so there is nothing to confirm")
    change = Change([file for target in tried for file in target.confirmed()], tried)
    with change.or_put_back():
        change.make(change.files)
    trial.finish()
    report.answer["changed"] = True
    for target in tried:
        report.of(target)["changed"] = True
    report.line(f"{', '.join(target.name for target in tried)}: confirmed, drng stays on")


# ---- status ----


def who_serves(report: Report, target: Target) -> str:
    """Of one that is on, in one line; or what keeps drng from it."""
    entry = report.of(target)
    if reason := target.why_not_in_effect():
        entry["served"] = False
        return f"not in effect: {reason}"
    if isinstance(target, System):
        entry["served"] = target.serves()
        return f"programs that start now are {'served' if entry['served'] else 'not served: drng-status says why'}"
    if not systemd.is_running():
        return "systemd does not run here"
    processes = restart.looked_at(target.unit)
    entry["processes"], entry["served"] = [restart.facts(each) for each in processes], who.is_served(processes)
    first, *rest = who.lines(processes) if processes else ["not running"]
    return f"{first}: {rest[-1]}" if rest else first


def notes_of(target: Target) -> Iterator[str]:
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
    targets = sorted(targets_of(request), key=lambda target: target.unit)
    width = max(len(target.name) for target in targets)
    for target in targets:
        entry = report.of(target)
        state = f"on, {target.head.profile}" if target.head else "off"
        try:
            said = who_serves(report, target) if target.head else target.still_served()
        except Failure as error:
            said, entry["served"] = str(error), False
        entry["said"] = [said, *notes_of(target)]
        report.unserved |= not entry.get("served", True)
        first, *rest = entry["said"]
        report.line(f"{target.name:{width}}  {state:19} {first}".rstrip())
        for note in rest:
            report.line(f"{'':{width}}  {note}")


def act(request: Request, report: Report) -> int:
    if request.verb == "status":
        status(report, request)
    elif request.verb == "confirm":
        confirm(report, request)
    else:
        switch(report, request)
    return UNSERVED if report.unserved else DONE
