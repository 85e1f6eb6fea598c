# SPDX-License-Identifier: Apache-2.0
"""Clones of virtual machines: what two machines from one snapshot draw alike. scripts/ci/test-clones.sh runs all cases.

    python3 -m tests.support.clones [--list] [--document FILE] [CASE...]

A guest runs to the point where all its workers have drawn, and is snapshotted. Two clones start from the snapshot, and
draw from their first instruction on. OpenSSL's own generator draws beside drng in every guest and is the control: it
must repeat every draw, or the rig is broken. The status is 1 where a case did not come out as expected, and 2 where the
rig is broken.
"""

import argparse
import itertools
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.builds import SKIPPED
from tests.support.clone_cases import CASES, KERNEL_HAS_HEARD, REPEATS, VMCLOCK, VMGENID, Case
from tests.support.guests import SOURCE, GuestError, Machine, NotBootedError, initramfs, machine, openssl_cnf, why_not

FAILED, BROKEN = 1, 2  # how a run ends, beside SKIPPED

# ---- What was drawn ----

OF_DRNG = ("RAND_bytes", "RAND_priv_bytes", "EVP_RAND")
CONTROL = "built-in"
KERNEL = "getrandom"


@dataclass(frozen=True)
class Draw:
    machine: int
    worker: int
    after_us: int
    kind: str
    across: bool  # it had begun before the snapshot
    ends: tuple[str, ...]  # the first and the last bytes; none where it failed
    protection: str


def draws_of(number: int, lines: Sequence[str]) -> list[Draw]:
    found = []
    for line in lines:
        if line.startswith("@ "):
            worker, after, kind, when, drawn, protection = line[2:].split(" ")
            half = len(drawn) // 2
            ends = () if drawn == "failed" else (drawn[:half], drawn[half:])
            found.append(Draw(number, int(worker), int(after), kind, when == "across", ends, protection))
    return found


@dataclass
class Count:
    """Of some draws: how many there are, and how many have something in common with a draw of another machine."""

    all: int = 0
    repeated: int = 0
    last_us: int = 0  # when the last of those was drawn

    def __str__(self) -> str:
        return f"{self.repeated} of {self.all}"


def count(draws: Sequence[Draw], every: Sequence[Draw]) -> Count:
    """Of `draws`, beside every draw that there is of any kind."""
    machines: dict[str, set[int]] = {}
    for draw in every:
        for end in draw.ends:
            machines.setdefault(end, set()).add(draw.machine)
    repeated = [draw for draw in draws if any(machines[end] != {draw.machine} for end in draw.ends)]
    return Count(len(draws), len(repeated), max((draw.after_us for draw in repeated), default=0))


# ---- A case ----


@dataclass
class Result:
    case: Case
    draws: list[Draw]

    def _of(self, kinds: Sequence[str], across: bool = False) -> Count:
        return count([d for d in self.draws if d.kind in kinds and d.across == across], self.draws)

    @property
    def drng(self) -> Count:
        return self._of(OF_DRNG)

    @property
    def under_way(self) -> Count:
        return self._of(OF_DRNG, across=True)

    @property
    def control(self) -> Count:
        return self._of([CONTROL])

    @property
    def kernel(self) -> Count:
        return self._of([KERNEL])

    @property
    def protection(self) -> str:
        return ", ".join(sorted({d.protection for d in self.draws if d.kind in OF_DRNG}))

    def wrong(self) -> list[str]:
        """What did not come out as expected."""
        said = []
        if any(not d.ends for d in self.draws if d.kind in OF_DRNG):
            said.append("drng failed to serve")
        if self.drng.repeated != (self.drng.all if self.case.expected is REPEATS else 0):
            said.append(f"{self.drng} draws repeat, and it was expected that {self.case.expected.value}")
        if self.case.across and self.under_way.repeated:
            said.append(f"{self.under_way} draws repeat that were under way at the snapshot")
        return said


def facts_of(lines: Sequence[str]) -> dict[str, str]:
    """The last one of each name."""
    return dict(line[2:].partition(" ")[::2] for line in lines if line.startswith("# "))


def check_the_cpu(case: Case, source: Mapping[str, str]) -> None:
    if source["disabled-reason"] != case.cpu.disabled:
        raise GuestError(f"{case.name}: this was to be another CPU: {source['disabled-reason']!r}")


def check_the_vmclock(case: Case, before: str | None, after: Sequence[str | None]) -> None:
    """It must say in this guest what the case is about: another value than before, and the same one in both clones."""
    if VMCLOCK in case.devices and (None in after or len(set(after)) != 1 or before in after):
        raise GuestError(f"{case.name}: vmclock says {before} before, and {after} in the clones")


def check_the_control(result: Result) -> None:
    if "busy" in result.case.arguments and not result.under_way.all:
        raise GuestError(f"{result.case.name}: the snapshot fell into no request")
    if result.control.all == 0 or result.control.repeated != result.control.all:
        raise GuestError(
            f"{result.case.name}: the rig is broken, OpenSSL's own generator repeats {result.control} draws"
        )


def let_it_draw(case: Case, clone: Machine) -> None:
    clone.wait_for_line("done")
    if VMGENID in case.devices and case.kernel != "debian12":
        clone.wait(lambda: KERNEL_HAS_HEARD in clone.said, "the kernel hears of the clone")


@dataclass
class Run:
    """One case on its way: numbers of machines, and what the clones have said."""

    case: Case
    folder: Path
    number: int = 0
    clones: list[list[str]] = field(default_factory=list)

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"

    def snapshot(self, of: Machine) -> Path:
        path = self.folder / f"snapshot-{self.number}"
        of.snapshot(path)
        return path

    def clone(self, snapshot: Path, generation: int) -> dict[str, str]:
        """One clone, which draws; and its own clones, where the case has them."""
        self.number += 1
        next_one = None
        with machine(self.case.hardware(), self.initrd, self.number, snapshot) as clone:
            let_it_draw(self.case, clone)
            if generation < self.case.generations:
                next_one = self.snapshot(clone)
        self.clones.append(clone.lines)
        facts = facts_of(clone.lines)
        if next_one:
            self.clone_twice(next_one, facts, generation + 1)
        return facts

    def clone_twice(self, snapshot: Path, source: Mapping[str, str], generation: int) -> None:
        """The second one stays without clones of its own."""
        clones = [self.clone(snapshot, generation), self.clone(snapshot, self.case.generations)]
        check_the_vmclock(self.case, source.get("vmclock"), [facts.get("vmclock") for facts in clones])

    def source(self) -> tuple[Path, dict[str, str]]:
        with machine(self.case.hardware(), self.initrd, SOURCE) as source:
            try:
                source.wait_for_line("ready")
            except GuestError as error:
                # On a busy machine one boot of hundreds stops in the kernel, which waits for its other processor.
                raise (error if source.lines else NotBootedError(str(error))) from None
            facts = facts_of(source.lines)
            check_the_cpu(self.case, facts)
            return self.snapshot(source), facts

    def run(self) -> Result:
        self.initrd.write_bytes(initramfs(self.case.cpu.architecture, self.case.kernel, openssl_cnf(self.case.keys)))
        try:
            snapshot, facts = self.source()
        except NotBootedError:
            snapshot, facts = self.source()
        self.clone_twice(snapshot, facts, 1)
        draws = [draws_of(number, lines) for number, lines in enumerate(self.clones)]
        return Result(self.case, list(itertools.chain(*draws)))


def run(case: Case) -> Result:
    """GuestError where nothing can be said."""
    with tempfile.TemporaryDirectory(prefix="drng-clones-") as folder:
        result = Run(case, Path(folder)).run()
    check_the_control(result)
    return result


# ---- As a table ----

HEADER = [
    "| `clone-protection` | cases | later draws that repeat | draws under way that repeat "
    "| getrandom() is the same in both for up to |",
    "| --- | --- | --- | --- | --- |",
]


def how_many(these: Count) -> str:
    words = {0: "none", these.all: "all"}
    return f"{words.get(these.repeated, these.repeated)} of {these.all:,}" if these.all else "-"


def together(counts: Sequence[Count]) -> Count:
    longest = max((count.last_us for count in counts if count.repeated), default=0)
    return Count(sum(count.all for count in counts), sum(count.repeated for count in counts), longest)


def row(protection: str, results: Sequence[Result]) -> str:
    """Of all cases whose copies are protected in this way."""
    kernel = together([result.kernel for result in results])
    cells = [
        f"`{protection}`",
        str(len(results)),
        how_many(together([result.drng for result in results])),
        how_many(together([result.under_way for result in results])),
        f"{kernel.last_us / 1000:,.0f} ms" if kernel.repeated else "-",
    ]
    return f"| {' | '.join(cells)} |"


def table(results: Sequence[Result]) -> str:
    protections = sorted({result.protection for result in results})
    rows = [row(kind, [result for result in results if result.protection == kind]) for kind in protections]
    return "\n".join([*HEADER, *rows]) + "\n"


def run_and_say(case: Case, results: list[Result]) -> int:
    """0, or the status that this case has the whole run end with; its result, if there is one."""
    if missing := why_not(case.cpu.architecture):
        print(f"{case.name}: skipped: {missing}", flush=True)
        return SKIPPED
    try:
        result = run(case)
    except GuestError as error:
        print(f"{case.name}: {error}", flush=True)
        return BROKEN
    results.append(result)
    print(f"{case.name}: {how_many(result.drng)} draws repeat; {result.protection}", flush=True)
    for wrong in result.wrong():
        print(f"{case.name}: FAILED: {wrong}", flush=True)
    return FAILED if result.wrong() else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="these, and not all")
    parser.add_argument("--list", action="store_true", help="the names of the cases")
    parser.add_argument("--document", type=Path, help="leaves the table there, if every case was run")
    args = parser.parse_args()
    unknown = set(args.cases) - {case.name for case in CASES}
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; --list names them")
    if args.list:
        print("\n".join(case.name for case in CASES))
        return 0
    results: list[Result] = []
    said = {run_and_say(case, results) for case in CASES if not args.cases or case.name in args.cases}
    if args.document and len(results) == len(CASES):
        args.document.parent.mkdir(parents=True, exist_ok=True)
        args.document.write_text(table(results), encoding="utf-8")
    return next(status for status in (BROKEN, FAILED, SKIPPED, 0) if status in said)


if __name__ == "__main__":
    sys.exit(main())
