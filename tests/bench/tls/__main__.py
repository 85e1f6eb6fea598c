# SPDX-License-Identifier: Apache-2.0
"""TLS servers on drng and on OpenSSL's own generator: the highest rates, CPU time, and the generator's part in it.

For nginx, Apache and HAProxy, on one CPU each time, and for both generators in turn: the highest connection rate and
the highest download rate that keep every connection under two seconds, after Intel's studies of the three; the server's
CPU time for a handshake or a download; how often it draws for one, and how long that takes. Load comes from ab on the
other CPUs, without keep-alive. Everything stays on 127.0.0.1.

Writes tls.json, tls.md and pictures to build/bench-tls. The whole takes about half an hour, --quick about a minute.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from tests.support.builds import BUILD

from . import pictures, records, servers
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
    return parser.parse_args()


def numbers(text: str | None) -> tuple[int, ...] | None:
    return tuple(int(number) for number in text.split(",")) if text else None


def chosen(options: argparse.Namespace, settings: Any) -> Any:
    """The settings, with what the options say of them."""
    said = {
        "kinds": tuple(options.server) if options.server else None,
        "sizes": numbers(options.sizes),
        "repeats": options.repeats,
        "seconds": options.seconds,
    }
    return dataclasses.replace(settings, **{key: value for key, value in said.items() if value is not None})


def measure(options: argparse.Namespace) -> dict:
    module = BUILD / "release" / "drng.so"
    if not module.exists():
        sys.exit("build/release/drng.so is missing: cmake --preset release && cmake --build --preset release")
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

    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "tls.json").write_text(json.dumps(report, indent=1) + "\n")
    (options.output / "tls.md").write_text(tls_report.markdown(report))
    show("")
    try:
        drawn = pictures.draw(report, options.output)
    except ImportError as error:
        drawn = []
        print(f"No pictures: matplotlib cannot be imported: {error}")
    print(tls_report.markdown(report))
    for path in (options.output / "tls.json", options.output / "tls.md", *drawn):
        print(path)


if __name__ == "__main__":
    main()
