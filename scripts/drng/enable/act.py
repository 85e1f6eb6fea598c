# SPDX-License-Identifier: Apache-2.0
"""What is done: all is checked, then written as one change, and put back where systemd or a service says no."""

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import systemd
from ..status import services, who
from ..terminal import Failure, Interrupted, Output, Unchanged
from . import changes, restart, trial
from .arguments import Request
from .service import VARIABLE, Service, switched_on
from .system import System
from .target import Target

# Exit statuses. UNSERVED: it is done, and a process is not served by drng.
DONE, NOT_DONE, UNSERVED = 0, 1, 3


# For programs, beside what is said of all.
Answer = dict[str, Any]


def targets_of(request: Request) -> list[Target]:
    """The system last: what it reads, services read before it."""
    if request.tried or request.verb == "confirm":
        typed = trial.under_way()
    elif request.all or not (request.services or request.system):
        typed = [*switched_on(), System.typed]
    else:
        typed = request.services + [System.typed] * request.system
    found = [System() if name == System.typed else Service(name) for name in typed]
    return [*{target.name: target for target in found}.values()]  # an alias is its unit


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

    @contextlib.contextmanager
    def or_put_back(self) -> Iterator[None]:
        """What fails in here, or is interrupted, leaves everything as it was: what ran, runs."""
        try:
            yield
        except (Failure, OSError, Interrupted) as error:
            changes.ignore_signals()
            kind: type[Failure] = Unchanged
            said = [f"{error}; all files are put back" if self.ran else str(error)]
            try:
                self.make([file.back() for file in reversed(self.files) if changes.read(file.path) == file.after])
            except (Failure, OSError) as other:
                said, kind = [f"{error}; this could not be undone: {other}"], Failure
            for unit in self.ran:
                try:
                    restart.restart(unit, "restart")
                except Failure as other:
                    said, kind = [*said, str(other)], Failure
            raise kind("; ".join(said)) from None


# ---- Restarts ----


def restart_one(
    change: Change, target: Target, unit: str, processes: list[who.Process], given: Mapping[str, services.Setting]
) -> None:
    """One that is to be other than it is: it is on and started before; or is off, and has a file that has gone, or drng
    although nothing gives it that any more. Of a service that is on, it is said in any case who serves."""
    known, is_asked = restart.state(unit), bool(target.head and target.unit)
    if target.head:
        since = restart.started(known)
        is_due = any(os.stat(path).st_mtime > since for path in target.ours if os.path.exists(path))
        # The line that leads to those files may be younger than they are.
        is_due |= any(each.reason == "started-before" for each in processes)
    else:
        path = given[unit].path if unit in given else None
        gone = [each for each in processes if f"{VARIABLE}={each.conf}" in target.variables and each.conf != path]
        is_due = bool((target.unit and target.changed) or gone)
        is_due |= path is None and not System().head and any(each.counters for each in processes)
    left = restart.why_left(unit, known) if is_due else ""
    if is_due and not left:
        change.ran.append(unit)
        restart.restart(unit)
        processes = restart.looked_at(unit)
    elif not is_asked and not left:
        return
    first, *rest = [left] if left else who.lines(processes) if processes else ["no process of it runs"]
    for line in [f"{'restarted; ' * (is_due and not left)}{first}", *(rest if target.head else [])]:
        target.say(line if target.unit else f"{unit}: {line}")
    target.processes += map(who.process_json, [] if left else processes)
    # Of the system some units always wait for a reboot.
    target.is_unserved |= (is_asked if left else bool(target.head)) and not who.is_served(processes)
    target.is_unserved |= is_asked and not left and not who.counted(processes)


def restart_all(change: Change, targets: Sequence[Target]) -> None:
    """Of a service, its unit; of the system, every unit with libcrypto that is no target, and to which systemd gives no
    openssl.cnf."""
    given = services.settings()
    own = {target.unit for target in targets} | {*given}
    for target in targets:
        if target.unit.endswith("@.service"):
            target.say("a template: instances that start from now on have it")
        elif target.unit:
            restart_one(change, target, target.unit, restart.looked_at(target.unit), given)
        else:
            for unit, processes in restart.by_unit().items():
                if unit not in own:
                    restart_one(change, target, unit, processes, given)


# ---- on, off, confirm ----


def say_what_is(target: Target) -> None:
    settings = "".join(f", {key} = {value}" for key, value in target.head.settings) if target.head else ""
    what = f"{target.head.profile}{settings}, {target.path}" if target.head else "off"
    target.say(f"{what}{'' if target.changed else ', as before'}")
    for note in target.notes:
        target.say(note)


def switch(request: Request) -> tuple[list[Target], Answer]:
    targets, is_on = targets_of(request), request.verb == "on"
    if is_on and (tried := trial.under_way()):
        raise Unchanged(f"{' '.join(tried)}: on trial: first end the trial by drng-enable confirm, or off")
    if request.trial and (kept := [target.typed for target in targets if target.head]):
        raise Unchanged(f"{', '.join(kept)}: on already, and not on trial")
    new = [target for target in targets if not target.head]
    plans = [(target, target.on(request) if is_on else target.off()) for target in targets]
    change, until = Change([file for _, files in plans for file in files]), ""
    if request.dry_run:
        difference = changes.difference(change.files)
        for line in difference.splitlines():
            Output.line(line)
        return [], {"difference": difference}
    restarts = request.restart and systemd.is_running()
    for target, files in plans:
        target.changed = any(file in change.files for file in files)
    try:
        if request.trial:
            until = trial.begin(request.trial, restart=restarts)
        with change.or_put_back():
            change.make(change.files)
            if reason := next(filter(None, (target.why_not_in_effect() for target in targets if target.head)), ""):
                raise Failure(reason)
            for target in targets:
                say_what_is(target)
            if restarts:
                restart_all(change, targets)
    finally:
        if not trial.under_way():
            trial.finish(by_timer=request.tried)
    if until:
        Output.line(f"on trial: switched off at {until} unless you say: drng-enable confirm")
    begun = shlex.join(target.typed for target in new if target.changed)
    undo = f"drng-enable off {begun}{' --restart' * restarts}" if is_on and begun else ""
    if undo:
        Output.line(f"undo: {undo}")
    if request.restart and not restarts:
        Output.line("systemd does not run here, so nothing is restarted: restart the programs yourself")
    elif change.files and not restarts:
        Output.line("running programs need a restart: --restart does that, and shows who serves them")
    return targets, {"undo": undo, "until": until}


def confirm(request: Request) -> tuple[list[Target], Answer]:
    targets = [target for target in targets_of(request) if target.head]
    if not targets:
        raise Unchanged("nothing is on trial, so there is nothing to confirm")
    files = [file for target in targets for file in target.on(request)]
    files += [changes.File(path, target.ours[path], None) for target in targets for path in target.trials]
    change = Change(files)
    with change.or_put_back():
        change.make(change.files)
    trial.finish()
    for target in targets:
        target.changed = True
    Output.line(f"{', '.join(target.name for target in targets)}: confirmed, drng stays on")
    return targets, {}


# ---- status ----


def said_of(target: Target) -> Iterator[str]:
    """The line of a target, but for its name and state; then what is said beside it."""
    try:
        if target.head and (reason := target.why_not_in_effect()):
            target.is_served = False
            yield f"not in effect: {reason}"
        else:
            yield target.missing or target.look()
    except Failure as error:
        target.is_served = False
        yield str(error)
    yield from target.notes
    if target.tried and target.head:
        yield "on trial: drng-enable confirm"


def status(request: Request) -> tuple[list[Target], Answer]:
    targets = sorted(targets_of(request), key=lambda target: target.unit)
    width = max(len(target.name) for target in targets)
    for target in targets:
        state = f"on, {target.head.profile}" if target.head else "not known" if target.missing else "off"
        target.said = [*dict.fromkeys(said_of(target))]
        target.is_unserved = target.is_served is False and bool(target.head or target.missing)
        first, *rest = target.said
        Output.line(f"{target.name:{width}}  {state:19} {first}".rstrip())
        for note in rest:
            Output.line(f"{'':{width}}  {note}")
    return targets, {}


def act(request: Request) -> Answer:
    targets, answer = {"status": status, "confirm": confirm}.get(request.verb, switch)(request)
    answer |= {"changed": any(target.changed for target in targets), "error": ""}
    answer["status"] = UNSERVED if any(target.is_unserved for target in targets) else DONE
    return {**answer, "targets": [target.facts() for target in targets]}
