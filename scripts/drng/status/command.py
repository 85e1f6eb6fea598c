"""Shows which generator serves OpenSSL's random numbers under this environment's openssl.cnf, and the state of drng.

Without a target it looks at the environment that it runs in; with one, at living processes, whose counters it reads
from outside.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from .. import VERSION, files, procfs, systemd
from ..terminal import CLEAR, USAGE, Failure, Output, Parser, UsageError, complain, on_terminal, print_rows
from ..text import printable
from . import environment, ledger, metrics, output, plugin, processes, services, states
from .states import Process

# The longest time between two looks is a day.
LONGEST = 86400.0

# ---- Arguments ----


def process_number(text: str) -> int:
    """In ASCII, and as long as a number of a process may be: Python would take any digits of any script."""
    if not re.fullmatch(r"[0-9]{1,10}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of a process")
    return int(text)


def add_options_of_forms(parser: Parser) -> None:
    parser.add_argument("--state", metavar="FILE", help="with --prometheus: add counters, whose sums are kept here")
    parser.add_argument("--output", metavar="FILE", help="with --prometheus: replace this file in one step")
    parser.add_argument("--perfdata", action="store_true", help="with --check: add performance data")
    for status, name in enumerate(("--warning", "--critical"), start=1):
        said = f"with --check: the status is {status} if fallback-seeds or failures of a unit are above N"
        parser.add_argument(name, action="append", metavar="NAME=N", help=said)


def check_options_of_forms(parser: Parser, arguments: argparse.Namespace) -> None:
    has_target = arguments.pid is not None or arguments.service is not None or arguments.all
    for_files = [path for path in (arguments.state, arguments.output) if path is not None]
    if not arguments.prometheus and for_files:
        parser.error("--state and --output need --prometheus")
    if "" in for_files:
        parser.error("--state and --output take the path of a file, and an empty one is none")
    if len({os.path.normpath(path).lstrip("/") for path in for_files}) < len(for_files):
        parser.error("--state and --output are the same file; the sums and the metrics need one each")
    if arguments.state is not None and has_target and not arguments.all:
        parser.error("--state is for all processes, not for --pid or --service")
    asked = arguments.perfdata or arguments.warning is not None or arguments.critical is not None
    if asked and not (arguments.check and has_target):
        parser.error("--perfdata, --warning and --critical need --check and --pid, --service or --all")
    if arguments.watch is not None and (for_files or arguments.needs_restart):
        parser.error("--watch cannot be used with --output, --state or --needs-restart")


def parse() -> argparse.Namespace:
    parser = Parser(
        prog="drng-status",
        description=(__doc__ or "").split("\n")[0],
        epilog="Exit status of --check: 0 hardware serves, 1 the fallback serves, 2 drng is not in use or serves "
        "nothing, 3 not known, for example because drng is loaded and has served nothing yet. "
        "Of --needs-restart: 0 none, 1 those that it prints, 3 not known. "
        "Without these: 0, or 3 if the target cannot be shown. 64: wrong arguments.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"drng-status {VERSION}")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--pid", type=process_number, metavar="N", help="show this process and its children")
    target.add_argument("--service", metavar="NAME", help="show the processes of a systemd service")
    target.add_argument("--all", action="store_true", help="show all processes that use drng")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, an object a line")
    form.add_argument("--long", action="store_true", help="print rows for each process, on a terminal too")
    form.add_argument("--prometheus", action="store_true", help="print metrics for node_exporter's textfile collector")
    form.add_argument("--check", action="store_true", help="print one line and exit with 0, 1, 2 or 3")
    form.add_argument("--needs-restart", action="store_true", help="print the units of which processes need a restart")
    add_options_of_forms(parser)
    watch = "repeat every 2 seconds, or every SECONDS"
    parser.add_argument("--watch", nargs="?", type=float, const=2.0, metavar="SECONDS", help=watch)
    arguments = parser.parse_args()
    # Not the other way round: nothing compares with "nan".
    if arguments.watch is not None and (arguments.check or not 0 < arguments.watch <= LONGEST):
        parser.error(
            f"--watch takes a number of seconds above 0 and up to {LONGEST:.0f}, and cannot be used with --check"
        )
    check_options_of_forms(parser, arguments)
    for_all = arguments.prometheus or arguments.needs_restart or arguments.watch is not None
    if arguments.pid is None and arguments.service is None and for_all:
        arguments.all = True
    for name in ("warning", "critical"):
        given = getattr(arguments, name)
        try:
            setattr(arguments, name, plugin.thresholds(",".join(given)) if given is not None else {})
        except ValueError as error:
            parser.error(f"argument --{name}: {error}")
    return arguments


# ---- What it does ----

# All that becomes of a process in any form.
EVALUATIONS: tuple[Callable[[Process], Any], ...] = (
    output.table_line,
    output.process_rows,
    output.process_json,
    lambda process: output.check_all([process]),
    lambda process: plugin.performance([process], {}, {}),
    lambda process: metrics.per_unit([process], ledger.Ledger(metrics.counted_keys())),
)


def checked(found: list[Process]) -> list[Process]:
    """The same processes, each of which can be shown. Of one whose counters cannot be evaluated nothing is known then,
    and the others are shown as they are."""
    for process in found:
        try:
            for evaluate in EVALUATIONS if process.counters else ():
                evaluate(process)
        except Exception as error:
            process.uses, process.counters, process.restart = states.UNKNOWN, {}, ""
            process.message = f"its counters cannot be evaluated: {type(error).__name__}"
    return found


def look_for(arguments: argparse.Namespace) -> list[Process]:
    """Without the shells and helpers that have nothing to do with libcrypto, but for what was asked for by number."""
    now = services.configuration(environment.default_config())
    if arguments.pid is not None:
        first, *others = processes.inspect_family(arguments.pid, now)
        return [first, *processes.with_libcrypto(others)]
    if arguments.service is not None:
        members, configured = services.members_and_config(arguments.service)
        found = processes.inspect_all(members, configured, now)
        return processes.with_libcrypto(found) or found
    found = processes.everybody(now)
    return found if arguments.prometheus else processes.concerned(found)


def subject(arguments: argparse.Namespace) -> str:
    """Whom --check was asked about: programs that start now in this environment need not get what a service has."""
    if arguments.pid is not None:
        return f"process {arguments.pid}"
    if arguments.service is not None:
        return f"service {printable(arguments.service.removesuffix('.service'))}"
    return "all processes" if arguments.all else "new programs"


def print_check(arguments: argparse.Namespace, line: str, performance: str = "") -> None:
    """A name, of a process or in an error, may have a bar in it, and what follows the first one is data."""
    print(f"{subject(arguments)}: {line}".replace("|", "\\x7c") + performance)


def show_environment(arguments: argparse.Namespace) -> int:
    status = environment.collect()
    if arguments.check:
        result, line = output.check_environment(status)
        print_check(arguments, line)
        return result
    if arguments.json:
        print(json.dumps(status))
    else:
        print_rows(output.environment_rows(status), output.colour_of)
    for warning in status["warnings"]:
        complain(warning)
    return 0


def unless_unknown(arguments: argparse.Namespace, found: list[Process]) -> int:
    """The exit status: in every form, it is a failure if the process that was asked for by number cannot be told of."""
    if arguments.pid is None or found[0].uses != states.UNKNOWN:
        return 0
    complain(f"process {found[0].pid} ({found[0].name}): {found[0].message}")
    return states.CANNOT_TELL


def check(arguments: argparse.Namespace, found: list[Process]) -> int:
    result, line = output.check_all(found) if arguments.all else output.check_processes(found)
    limits = (arguments.warning, arguments.critical)
    over, said = plugin.exceeded(found, *limits)
    print_check(arguments, line + said, plugin.performance(found, *limits) if arguments.perfdata else "")
    return states.worse(result, over)


def show_units_to_restart(found: list[Process], unknown: int) -> int:
    """A unit a line, for systemctl restart. Processes choose their own names: they are told of on standard error."""
    found = [process for process in found if process.restart]
    later = [process for process in found if process.restart == states.REBOOT]
    for unit in sorted({p.unit for p in found if p not in later and systemd.can_be_restarted(p.unit)}):
        print(unit)
    for p in found:
        if p in later or not systemd.can_be_restarted(p.unit):
            complain(f"process {p.pid} ({p.name}) of {p.owner}, unit {p.unit}: {states.RESTART[p.restart]}")
    return 1 if len(later) < len(found) else states.CANNOT_TELL if unknown else 0


def with_state(path: str, found: list[Process]) -> str:
    """The metrics, once their sums are on the disk: what cannot be kept is not shown, since it would be less later."""
    with files.place(path) as place, place.locked():
        kept = ledger.Ledger(metrics.counted_keys())
        try:
            if (text := place.read(ledger.MOST_STATE, only_ours=True)) is not None:
                kept = ledger.Ledger.from_json(kept.keys, text)
        except ledger.StateError as error:
            complain(f"{path}: {error}; the counters begin at zero")
        except files.TooLongError as error:
            complain(f"{error}; the counters begin at zero")
        shown = metrics.per_unit(found, kept, time.time(), procfs.boot_id())
        place.write(kept.to_json().encode(), 0o600)
    return shown


def show_metrics(arguments: argparse.Namespace, found: list[Process]) -> int:
    # Before the sums are kept: what they would have been shown in may be no place for a file.
    with contextlib.nullcontext() if arguments.output is None else files.place(arguments.output) as place:
        text = metrics.per_unit(found) if arguments.state is None else with_state(arguments.state, found)
        if place is None:
            print(text, end="")
        else:
            place.write(text.encode(), 0o644)
    return unless_unknown(arguments, found)


def show_processes(arguments: argparse.Namespace) -> int:
    found = checked(look_for(arguments))
    if arguments.check:
        return check(arguments, found)
    if arguments.prometheus:
        return show_metrics(arguments, found)
    hidden, everybody = sum(process.hidden for process in found), found
    if arguments.all:
        found = [process for process in everybody if not process.hidden]
        for line in output.unseen(everybody):
            complain(line)
    if arguments.needs_restart:
        # What root cannot look at, it cannot at the next try either, and that line says so.
        missed = sum(process.missed for process in everybody)
        return show_units_to_restart(found, missed if os.geteuid() == 0 else hidden)
    if arguments.json:
        print(json.dumps({"processes": [output.process_json(process) for process in found]}))
    elif found:
        output.print_processes(found, arguments.long)
    else:
        print("no process uses drng" + (", of those that could be looked at" if hidden else ""))
    return unless_unknown(arguments, found)


def watch(arguments: argparse.Namespace) -> int:
    """Until the target is gone, or somebody interrupts."""
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            if on_terminal():
                print(CLEAR, end="")
            show_processes(arguments)
            sys.stdout.flush()
            time.sleep(arguments.watch)
            if not arguments.json:
                print()
    return 0


def show(arguments: argparse.Namespace) -> int:
    has_target = arguments.pid is not None or arguments.service is not None or arguments.all
    try:
        if arguments.watch is not None:
            return watch(arguments)
        return show_processes(arguments) if has_target else show_environment(arguments)
    except Failure as error:
        if arguments.check:
            print_check(arguments, f"cannot tell: {error}")
        else:
            complain(str(error))
        return states.CANNOT_TELL


def prepare_streams() -> None:
    """A closed descriptor would be given to the next file that is opened, and what is printed would go there."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Whoever reads may stop when it has read enough.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.stdout is None:
        complain("standard output is closed")
        sys.exit(states.CANNOT_TELL)


def run() -> NoReturn:
    Output.program = "drng-status"
    prepare_streams()
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
