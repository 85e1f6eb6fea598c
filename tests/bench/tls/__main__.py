# SPDX-License-Identifier: Apache-2.0
"""TLS servers on drng and on OpenSSL's own generator: the highest rates, CPU time, and the generator's part in it.

For nginx, Apache and HAProxy, on one CPU each time, and for both generators in turn: the highest connection rate and
the highest download rate that keep every connection under two seconds, after Intel's studies of the three; the server's
CPU time for a handshake or a download; how often it draws for one, and how long that takes. Load comes from ab on the
other CPUs, without keep-alive. Everything stays on 127.0.0.1.

Writes tls.json, tls.md and pictures to build/bench-tls. The whole takes about half an hour, --quick about a minute.

With --costs another experiment: the CPU time and the instructions of a request, for the rows of Intel's studies, on
OpenSSL's own generator, on drng, on drng with request mixing and on drng with batches. Round by round, each of which
waits for a quiet machine, until each ratio is known to one hundredth or the time is up. Writes costs.json, costs.md and
pictures; six hours at the most.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from tests.support.builds import BUILD

from . import costs, costs_report, pictures, records, servers
from . import report as tls_report
from .run import QUICK, Bench, Settings


def show(text: str) -> None:
    """A line that the next one replaces; line after line where nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="bench-tls.sh"
    )
    parser.add_argument("--quick", action="store_true", help="one step, two repeats, 1 MB: a look, not a measurement")
    parser.add_argument("--server", action="append", choices=("nginx", "Apache", "HAProxy"), help="only this one")
    parser.add_argument("--repeats", type=int, metavar="N", help="of each measurement, 5 by default")
    parser.add_argument("--seconds", type=int, metavar="N", help="for each step, 2 by default")
    parser.add_argument("--sizes", metavar="MB,...", help="of the files, 1,4,16 by default")
    parser.add_argument("--records", action="store_true", help="instead: what a record draws, also with kernel TLS")
    parser.add_argument("--output", type=Path, default=BUILD / "bench-tls", metavar="DIRECTORY")
    parser.add_argument(
        "--from", dest="report", type=Path, metavar="JSON", help="measure nothing: tables of this report"
    )
    costs_only = parser.add_argument_group("with --costs")
    costs_only.add_argument("--costs", action="store_true", help="measure what a request costs")
    costs_only.add_argument("--workers", metavar="N,...", help="1,2 by default")
    costs_only.add_argument("--only", metavar="TEXT", help="rows whose title has this text")
    costs_only.add_argument("--precision", type=float, metavar="R", help="half of a ratio's interval, 0.01 by default")
    costs_only.add_argument("--time-limit", type=float, dest="minutes", metavar="MINUTES", help="360 by default")
    costs_only.add_argument(
        "--limit", type=float, metavar="R", help="what others may take of all CPUs, 0.05 by default"
    )
    costs_only.add_argument(
        "--patience", type=float, metavar="SECONDS", help="that a round waits for quiet, 60 by default"
    )
    return parser.parse_args()


def numbers(text: str | None) -> tuple[int, ...] | None:
    return tuple(int(number) for number in text.split(",")) if text else None


def chosen(options: argparse.Namespace, settings: Any) -> Any:
    """The settings, with what the options say of them."""
    said = {
        "kinds": tuple(options.server) if options.server else None,
        "sizes": numbers(options.sizes),
        "workers": numbers(options.workers),
        **{
            name: getattr(options, name)
            for name in ("repeats", "seconds", "only", "precision", "minutes", "limit", "patience")
        },
    }
    known = {field.name for field in dataclasses.fields(settings)}
    return dataclasses.replace(settings, **{k: v for k, v in said.items() if v is not None and k in known})


def measure(options: argparse.Namespace) -> dict:
    module = BUILD / "release" / "drng.so"
    if not module.exists():
        sys.exit("build/release/drng.so is missing: cmake --preset release && cmake --build --preset release")
    if options.costs:
        settings = chosen(options, costs.QUICK if options.quick else costs.Settings())
        return costs.Costs(settings, module, options.output, show).measure()
    return Bench(chosen(options, QUICK if options.quick else Settings()), module, options.output, show).measure()


def write_records(output: Path) -> None:
    text = records.markdown(servers.environment(BUILD / "release" / "drng.so"))
    output.mkdir(parents=True, exist_ok=True)
    (output / "records.md").write_text(text)
    print(text)


def main() -> None:
    options = arguments()
    if options.records:
        write_records(options.output)
        return
    report = json.loads(options.report.read_text()) if options.report else measure(options)
    name, maker = ("costs", costs_report) if options.costs else ("tls", tls_report)

    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
    (options.output / f"{name}.md").write_text(maker.markdown(report))
    show("")
    try:
        drawn = costs_report.draw(report, options.output) if options.costs else pictures.draw(report, options.output)
    except ImportError as error:
        drawn = []
        print(f"No pictures: matplotlib cannot be imported: {error}")
    print(maker.markdown(report))
    for path in (options.output / f"{name}.json", options.output / f"{name}.md", *drawn):
        print(path)


if __name__ == "__main__":
    main()
