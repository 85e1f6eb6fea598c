#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""Every table that is made by a script, in a page of docs/ or as a file of docs/develop/tables: written, and compared.

    tables.py --check [NAME...]    says which are not what their makers give now, and changes nothing
    tables.py --write [NAME...]    writes them anew

Each has a name. In a page it stands between two comments, like BEGIN and END below; else it is NAME.txt, as data that a
page sums up. What can be made anew at any time is, by the
functions of the modules beside this one, some of which run programs of the dev build. What was measured holds for one
machine and one day: nothing is compared, and --write puts in what the benchmark has left in build/, where that NAME is
given; what other CPUs have measured stays before it. Exit status 77: something could
not be made here.
"""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import SkipTest

import entropy
import faults

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77

BEGIN = "<!-- {}: made by scripts/evidence/tables.py -->\n\n"
END = "\n\n<!-- end of {} -->\n"
SECTION = re.compile(f"{BEGIN}(.*?){END}".format(r"([\w-]+)", r"\1"), re.DOTALL)


MADE: dict[str, Callable[[], str]] = {
    **entropy.TABLES,
    **faults.TABLES,
}
# What bench-docs.sh, false-alarms and entered.py measure, and scripts/ci/.
MEASURED = {
    **{name: ROOT / f"build/bench/{name}.md" for name in ("bench-aes-ni", "bench-avx2", "peers", "startup")},
    "clones": ROOT / "build/clones/clones.md",
    "programs": ROOT / "build/served/programs.md",
    "releases": ROOT / "build/matrix/releases.md",
    "false-alarms": ROOT / "build/false-alarms/false-alarms.md",
    "entered": ROOT / "build/entered/entered.md",
}


def make(name: str) -> str:
    if name in MADE:
        return MADE[name]().strip("\n")
    if not MEASURED[name].exists():
        raise SkipTest(f"{MEASURED[name]} is not there: scripts/bench/ and scripts/ci/ have what measures it")
    return MEASURED[name].read_text(encoding="utf-8").strip("\n")


def beside_other_cpus(old: str, new: str) -> str:
    """A table's text begins with its CPU and ": drng " (bench_report.py)."""
    cpu, said, _ = new.partition(": drng ")
    if not said:
        return new
    tables = (table.strip() for table in re.split(r"^(?=[^|\n]+: drng )", old, flags=re.MULTILINE))
    return "\n\n".join([*(table for table in tables if table and not table.startswith(cpu + said)), new])


def sections(folder: Path) -> dict[str, tuple[Path, str]]:
    """Where each of them stands, and its text."""
    data = sorted((folder / "develop" / "tables").glob("*.txt"))
    found = {path.stem: (path, path.read_text(encoding="utf-8").rstrip("\n")) for path in data}
    for page in sorted(folder.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for name, body in SECTION.findall(text):
            if name in found:
                sys.exit(f"{page}: {name} is there twice")
            found[name] = (page, body)
        strange = re.search(r"^<!--.*", SECTION.sub("", text), re.MULTILINE)
        if strange:
            sys.exit(f"{page}: neither the begin nor the end of a table: {strange[0]}")
    strangers = found.keys() ^ {*MADE, *MEASURED}
    if strangers:
        sys.exit(f"{folder}: tables that nobody makes, or that have no place: {', '.join(sorted(strangers))}")
    return found


def write(page: Path, name: str, new: str) -> None:
    if page.suffix == ".txt":
        page.write_text(new + "\n", encoding="utf-8")
        return
    text = page.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN.format(name))
    _, end, tail = rest.partition(END.format(name))
    page.write_text(head + begin + new + end + tail, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="change nothing, and say what is out of date")
    mode.add_argument("--write", action="store_true", help="write the tables anew")
    parser.add_argument("names", nargs="*", metavar="NAME", help="these, and not all that can be made anew")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="the folder with the pages")
    args = parser.parse_args()
    found = sections(args.docs)
    status = skipped = 0
    for name in args.names or MADE:
        if name not in found or (args.check and name in MEASURED):
            sys.exit(f"{name}: {'measured, so there is nothing to compare' if name in found else 'no such table'}")
        page, old = found[name]
        try:
            new = make(name)
        except SkipTest as reason:
            print(f"{name}: not made here: {reason}")
            skipped = SKIPPED
            continue
        except RuntimeError as wrong:
            print(f"{name}: {wrong}")
            status = 1
            continue
        if args.write:
            write(page, name, beside_other_cpus(old, new))
        elif new != old:
            print(f"{page}: {name} is out of date: scripts/evidence/tables.py --write {name} writes it anew")
            status = 1
    return status or skipped


if __name__ == "__main__":
    sys.exit(main())
