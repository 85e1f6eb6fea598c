# SPDX-License-Identifier: Apache-2.0
"""What is done: all is checked, then written as one change, and put back where systemd or a service says no."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import systemd
from ..status import who
from ..terminal import Failure, Interrupted, Output, Unchanged
from . import changes, proof, system, trial
from .arguments import Request
from .service import Service, switched_on
from .target import Target

# Exit statuses. UNSERVED: it is done, and a process is not served by drng.
DONE, NOT_DONE, UNSERVED = 0, 1, 3


class Report:
    """What is said of each target: lines, or one answer for programs at the end."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.answer: dict[str, Any] = {"changed": False, "targets": []}
        self.unserved = False

    def of(self, target: Target) -> dict[str, Any]:
        found = [entry for entry in self.answer["targets"] if entry["name"] == target.name]
        if not found:
            found = [{"name": target.name, "changed": False, "said": [], "processes": []}]
            self.answer["targets"] += found
        found[0].update(target.facts())
        return found[0]

    def line(self, text: str) -> None:
        if not self.as_json:
            Output.line(text)

    def say(self, target: Target, text: str) -> None:
        self.of(target)["said"].append(text)
        self.line(f"{target.name}: {text}")


def targets_of(request: Request) -> list[Target]:
    """The system last: what it reads, services read before it."""
    everything = request.all or (request.verb == "status" and not request.services)
    services: list[Target] = [Service(name) for name in (switched_on() if everything else request.services)]
    return services + [system.choose(request)] * (everything or request.system)


class Change:
    """Files that become others, and the units that are restarted for it."""

    def __init__(self, files: Sequence[changes.File], targets: Sequence[Target]) -> None:
        self.files = [file for file in files if file.before != file.after]
        self.targets = targets
        self.ran: list[str] = []  # of the units that were restarted, those that ran before

    def make(self, files: Sequence[changes.File]) -> None:
        changes.make(files)
        if systemd.is_running() and any(target.unit for target in self.targets):
            systemd.systemctl("daemon-reload")

    def restart(self, unit: str) -> None:
        self.ran += [unit] * proof.is_active(unit)
        proof.restart(unit)

    @contextlib.contextmanager
    def or_put_back(self) -> Iterator[None]:
        """What fails in here, or is interrupted, leaves everything as it was."""
        try:
            yield
        except (Failure, Interrupted, OSError) as error:
            if isinstance(error, Unchanged):
                raise
            try:
                self.make([file.back() for file in reversed(self.files) if changes.read(file.path) == file.after])
                for unit in self.ran:
                    proof.restart(unit)
            except Failure as other:
                raise Failure(f"{error}; what has been done stays: {other}") from None
            if isinstance(error, Interrupted):
                raise
            raise Unchanged(f"{error}; all is put back" if self.ran else str(error)) from None


def prove(report: Report, change: Change, target: Target, unit: str) -> None:
    change.restart(unit)
    served = proof.looked_at(unit)
    whose = "" if target.unit else f"{unit.removesuffix('.service')} "
    first, *rest = who.lines(served) if served else ["no process of it runs"]
    report.say(target, f"{whose}restarted; {first}")
    report.of(target)["processes"] += [vars(each) for each in served]
    if target.head is None:
        return
    for line in rest:
        report.say(target, line)
    if not who.is_served(served) or (target.unit and not proof.uses_libcrypto(served)):
        report.unserved = True
    others = target.known.get("ConsistsOf", "") if isinstance(target, Service) else ""
    if others and not proof.uses_libcrypto(served):
        report.say(target, f"the work is done by other units: name them in its place: {others}")


def say_what_is(report: Report, request: Request, target: Target, changed: bool) -> None:
    report.of(target)["changed"] = changed
    settings = "".join(f", {key} = {value}" for key, value in target.head.settings) if target.head else ""
    on = f"{target.head.profile}{settings}, {target.path}" if target.head else ""
    report.say(target, on if on and changed else f"{on or 'drng is off'}{'' if changed else ', as before'}")
    for note in target.notes:
        report.say(target, note)
    if request.verb == "off" and (served := target.still_served()):
        report.say(target, served)


def switch(report: Report, request: Request) -> None:
    targets, on = targets_of(request), request.verb == "on"
    words = [target.typed for target in targets]
    if on:
        trial.refuse(words, [target.typed for target in targets if target.head], request.trial)
    plans = [(target, target.on(request) if on else target.off()) for target in targets]
    change = Change([file for _, files in plans for file in files], targets)
    if request.dry_run:
        if os.geteuid() == 0:
            changes.make(change.files, rehearse=True)
        report.answer["difference"] = difference = changes.difference(change.files)
        for line in difference.splitlines():
            report.line(line)
        return
    restarts = request.restart and systemd.is_running()
    restart = ["--restart"] * restarts
    report.answer["until"] = until = trial.begin([*words, *restart], request.trial) if request.trial else ""
    try:
        with change.or_put_back():
            change.make(change.files)
            if reason := next(filter(None, (target.why_not_in_effect() for target in targets)), ""):
                raise Failure(reason)
            for target, files in plans:
                say_what_is(report, request, target, any(file in change.files for file in files))
            for target in targets if restarts else ():
                others = set(proof.units_with_libcrypto()) - {each.unit for each in targets} if not target.unit else ()
                for unit in [target.unit] if target.unit else sorted(others):
                    prove(report, change, target, unit)
    except BaseException:
        if until:
            trial.end()
        raise
    report.answer["changed"] = bool(change.files)
    tried, _ = trial.under_way()
    if not on and tried and (request.all or set(tried) <= set(words)):
        trial.end()
    if until:
        report.line(f"on trial: switched off at {until} unless you say: drng-enable confirm")
    if restarts and on:
        report.line(f"undo: drng-enable off {' '.join([*words, *restart])}")
    elif request.restart and not restarts:
        report.line("systemd does not run here, so nothing is restarted: restart what is to have it yourself")
    elif change.files and not restarts:
        proof_of = f"; to see who serves them: drng-enable on {' '.join(words)} --restart"
        report.line(f"running programs need a restart{proof_of if on and systemd.is_running() else ''}")


def confirm(report: Report, request: Request) -> None:
    words, _ = trial.under_way()
    if not words:
        raise Unchanged("nothing is on trial, so there is nothing to confirm")
    trial.end()
    report.answer["changed"] = True
    report.line(f"{' '.join(words)}: confirmed, drng stays on")


# ---- status ----


def who_serves(report: Report, target: Target) -> str:
    """Of one that is on, in one line; or what keeps drng from it."""
    entry = report.of(target)
    if reason := target.why_not_in_effect():
        entry["served"] = False
        return f"not in effect: {reason}"
    if not target.unit:
        served = entry["served"] = target.check.serves(target.text)
        return f"programs that start now are {'served' if served else 'not served: drng-status says why'}"
    if not systemd.is_running():
        return "systemd does not run here"
    processes = proof.looked_at(target.unit)
    entry["processes"] = [vars(each) for each in processes]
    entry["served"] = who.is_served(processes)
    first, *rest = who.lines(processes) if processes else ["not running"]
    return f"{first}: {rest[-1]}" if rest else first


def notes_of(target: Target) -> Iterator[str]:
    words, until = trial.under_way()
    if target.typed in words:
        yield f"on trial until {until}: drng-enable confirm"
    try:
        if target.is_outdated():
            yield f"the installed profile, or these lines, have changed: `drng-enable on {target.typed}` mends that"
    except Failure as error:
        yield str(error)
    if isinstance(target, system.System) and (command := target.has_gone()):
        yield f"drng has gone from {target.path} since it was switched on: `{command}` brings it back"


def status(report: Report, request: Request) -> None:
    targets = sorted(targets_of(request), key=lambda target: target.unit)
    width = max(len(target.name) for target in targets)
    for target in targets:
        entry = report.of(target)
        state = f"on, {target.head.profile}" if target.head else "off"
        entry["said"] = [who_serves(report, target) if target.head else target.still_served(), *notes_of(target)]
        report.unserved |= not entry.get("served", True)
        first, *rest = entry["said"]
        report.line(f"{target.name:{width}}  {state:19} {first}".rstrip())
        for note in rest:
            report.line(f"{'':{width}}  {note}")


def act(request: Request, report: Report) -> int:
    verbs: dict[str, Callable[[Report, Request], None]] = {"confirm": confirm, "status": status}
    verbs.get(request.verb, switch)(report, request)
    return UNSERVED if report.unserved else DONE
