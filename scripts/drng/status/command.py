# SPDX-License-Identifier: Apache-2.0
"""Shows who serves OpenSSL's random numbers: a program that starts now in this environment, or processes that run."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from .. import VERSION, files, procfs, systemd
from ..terminal import USAGE, Failure, Output, Parser, UsageError, complain, open_standard_files, printable
from . import environment, metrics, output, services, states, verdict, who
from .output import Group
from .states import CANNOT_TELL
from .verdict import Process, short


def parse() -> argparse.Namespace:
    parser = Parser(prog="drng-status", description=(__doc__ or "").split("\n")[0], allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"drng-status {VERSION}")
    parser.add_argument("services", nargs="*", metavar="SERVICE", help="show the processes of systemd services")
    whose = "show processes and their children"
    parser.add_argument("--pid", metavar="N", nargs="+", action="extend", type=int, default=[], help=whose)
    parser.add_argument("--all", action="store_true", help="show all processes that have libcrypto")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--long", action="store_true", help="print rows for each process")
    form.add_argument("--json", action="store_true", help="print JSON, an object in a line")
    form.add_argument("--check", action="store_true", help="print a line for each unit and exit with 0, 1, 2 or 3")
    form.add_argument("--prometheus", action="store_true", help="print metrics for node_exporter's textfile collector")
    form.add_argument("--needs-restart", action="store_true", help="print the services that should be restarted")
    parser.add_argument("--output", metavar="FILE", help="with --prometheus: replace this file in one step")
    arguments = parser.parse_args()
    arguments.services = list(dict.fromkeys(map(short, arguments.services)))
    arguments.pid = list(dict.fromkeys(arguments.pid))
    if sum(map(bool, (arguments.services, arguments.pid, arguments.all))) > 1:
        parser.error("name services, or processes by --pid, or --all")
    if arguments.output is not None and not (arguments.prometheus and arguments.output):
        parser.error("--output takes the path of a file, and needs --prometheus")
    if (arguments.prometheus or arguments.needs_restart) and not arguments.services and not arguments.pid:
        arguments.all = True
    return arguments


def look_for(arguments: argparse.Namespace) -> tuple[list[Group], list[str]]:
    """What was asked for, and why some of it cannot be shown. All processes are looked at together."""
    targets: dict[str, Callable[[], list[int]]] = {"all": procfs.numbers} if arguments.all else {}
    targets |= {service: partial(services.members_of, service) for service in arguments.services}
    targets |= {f"process {pid}": partial(procfs.family, pid) for pid in arguments.pid}
    groups, missing, wanted = [], [], {}
    for label, members in targets.items():
        try:
            wanted[label] = members()
        except Failure as error:
            missing.append(printable(f"{label}: {error}"))
    asked = [pid for pids in wanted.values() for pid in pids if pid != os.getpid()]
    found = {process.pid: process for process in who.of_processes(asked)}
    for label, pids in wanted.items():
        those = [found[pid] for pid in pids if pid in found]
        if arguments.pid and pids[0] not in found:
            missing.append(f"{label}: it has ended, or this user may not see it")
        else:
            groups.append(Group(printable(label), states.counted(those) or those[:1]))
    return groups, missing


def print_check(found: list[tuple[int, str]]) -> int:
    """The worst first: monitoring shows the first. A name, of a process or in an error, may have a bar in it, and
    monitoring takes what follows one for data."""
    for _, line in sorted(found, key=lambda pair: -states.WORST_LAST.index(pair[0])):
        print(line.replace("|", "\\x7c"))
    return states.worst([result for result, _ in found])


# Of a program that starts now, without --long.
FEW = ("served-by", "active-source", "config", "message")


def show_environment(arguments: argparse.Namespace) -> int:
    path, process = environment.new_program()
    if arguments.check:
        return print_check([Group("new programs", [process]).checked()])
    known = {"config": printable(path), **output.process_json(process)}
    if arguments.json:
        print(json.dumps(known))
    else:
        output.print_rows(known if arguments.long else {key: known.get(key, "") for key in FEW})
    return 0


def show_units_to_restart(processes: list[Process]) -> int:
    """A unit a line, for systemctl restart. Processes choose their own names: they are told of on standard error."""
    found = [p for p in processes if p.restart]
    units = {p.unit for p in found if p.restart != verdict.REBOOT and systemd.can_be_restarted(p.unit)}
    for unit in sorted(units):
        print(unit)
    for p in (p for p in found if p.unit not in units):
        complain(f"process {p.pid} ({p.name}) of {p.owner}, unit {p.unit}: {verdict.RESTART[p.restart]}")
    # What root cannot look at, it cannot at the next try either, and standard error names it.
    unknown = any(each.missed if os.geteuid() == 0 else each.problem for each in processes)
    return 1 if any(p.restart != verdict.REBOOT for p in found) else CANNOT_TELL if unknown else 0


def show_processes(arguments: argparse.Namespace) -> int:
    groups, missing = look_for(arguments)
    processes = [*{process.pid: process for group in groups for process in group.processes}.values()]
    if arguments.check:
        found = output.check_all(processes) if arguments.all and groups else [each.checked() for each in groups]
        return print_check([*((CANNOT_TELL, said) for said in missing), *found])
    # In every form, it is a failure if what was asked for by number cannot be told of.
    for first in [group.processes[0] for group in groups] if arguments.pid else ():
        if first.served_by == verdict.NOT_KNOWN:
            missing.append(f"process {first.pid} ({first.name}): {first.why}")
    for line in [*missing, *(output.unseen(processes) if arguments.all and not arguments.prometheus else ())]:
        complain(line)
    result = CANNOT_TELL if missing else 0
    if arguments.needs_restart:
        return states.worst([show_units_to_restart(processes), result])
    if arguments.prometheus:
        text = metrics.metrics_of(processes)
        if arguments.output is None:
            print(text, end="")
        else:
            files.write(arguments.output, text.encode())
        return result
    if arguments.all:
        groups = output.by_unit([process for process in processes if not process.problem])
        processes = [process for group in groups for process in group.processes]
    if arguments.json:
        print(json.dumps({"processes": [*map(output.process_json, processes)]}))
    elif arguments.long:
        output.print_processes(processes)
    else:
        for group in groups:
            print(group.checked()[1])
    return result


def show(arguments: argparse.Namespace) -> int:
    has_target = arguments.services or arguments.pid or arguments.all
    try:
        return show_processes(arguments) if has_target else show_environment(arguments)
    except Failure as error:
        said = printable(str(error))
        if arguments.check:
            return print_check([(CANNOT_TELL, f"{'all processes' if has_target else 'new programs'}: {said}")])
        complain(said)
        return CANNOT_TELL


def run() -> NoReturn:
    Output.program = "drng-status"
    open_standard_files()
    # Whoever reads may stop when it has read enough.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        status = show(parse())
    except UsageError as error:
        complain(str(error))
        status = USAGE
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    # Here and not at the end of Python, which has an exit status of its own for what cannot be written.
    sys.stdout.flush()
    sys.exit(status)
