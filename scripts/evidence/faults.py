# SPDX-License-Identifier: Apache-2.0
"""Tables of faults, from what the tests' programs have measured; tables.py puts them where they belong.

The programs are those of the dev build, on a scripted CPU and its clock, so that they give the same on every machine
that has AES-NI.
"""

import re
import sys
import tempfile
from pathlib import Path
from unittest import SkipTest

from common import ROOT, run, table


def run_test(program: str, **env: str) -> str:
    if "aes" not in Path("/proc/cpuinfo").read_text(encoding="utf-8").split():
        raise SkipTest("this CPU has no AES-NI, and the tables were made on the way that has it")
    path = ROOT / "build" / "dev" / "tests" / program
    if not path.exists():
        sys.exit(f"{path} is not there: cmake --preset dev && cmake --build --preset dev")
    return run(path, **env)


def table_of(program: str, variable: str, **env: str) -> str:
    """What the program writes to the file that this variable names."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "table.md"
        run_test(program, **{variable: str(written)}, **env)
        return written.read_text(encoding="utf-8").rstrip("\n")


def report() -> str:
    """A row for each scene: what the parameters say, and the errors, as `reason: data`."""
    rows = []
    for scene in re.split(r"\n(?=\S)", run_test("fault_report").rstrip("\n")):
        title, _, seen = scene.partition("\n")
        what, _, result = title.partition(": ")
        reason = re.search("disabled-reason: (.*)", seen)
        if reason:  # the error repeats it
            seen = seen.replace(f"fallback = no: {reason[1]}", "fallback = no: ...")
        said = "<br>".join(f"`{line.strip()}`" for line in seen.splitlines() if not line.endswith(": "))
        rows.append((f"{what[0].upper()}{what[1:]}", result.removeprefix("RAND_bytes() "), said))
    return table(("what is wrong", "RAND_bytes()", "what is seen"), rows)


def rates() -> str:
    return table_of("test_fault_rates", "DRNG_FAULT_RATES", DRNG_FAULT_TRIALS="200")


def unseen() -> str:
    return table_of("test_fault_unseen", "DRNG_FAULT_UNSEEN")


TABLES = {"fault-rates": rates, "fault-unseen": unseen, "report": report}
