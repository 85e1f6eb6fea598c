#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""Takes each protection of mutations.toml out in turn: a test must fail each time.

Works on a copy of the tree, where it builds what the tests need and runs them: first as it is, which must pass, then
with one change at a time until a test fails. The exit status is 1 where no test did.

    mutate.py [TEXT...]           those whose name holds a TEXT, or all of them: some minutes
    mutate.py --check             only whether each still applies, and which do not
    mutate.py --apply NAME DIR    takes it out of the tree in DIR, and leaves it so
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import source

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "mutations" / "mutations.toml"
TEST_SECONDS = 300
# What the processes of the tests share out between them; the build too.
JOBS = str(max(1, (os.cpu_count() or 2) // 2))


class Unusable(Exception):
    """The table does not fit the tree, or the tree is not sound before anything is taken out."""


@dataclass(frozen=True)
class Mutation:
    """One protection: where it stands, what is put in its place, and who must notice."""

    name: str
    inside: str  # the function, constant or assembler's macro that has it
    old: str
    new: str
    tests: tuple[str, ...]
    file: str = ""  # the end of its path, where two files have such an `inside` with such a text
    needs: str = ""  # a flag of /proc/cpuinfo without which nothing can be seen


def read_table(path: Path) -> list[Mutation]:
    """The head of mutations.toml says what a row is."""
    found = []
    for name, (where, seen_by, old, new) in tomllib.loads(path.read_text(encoding="utf-8")).items():
        inside, _, file = where.partition(" in ")
        programs, _, needs = seen_by.partition(" if ")
        found.append(Mutation(name, inside, old, new, tuple(programs.split()), file, needs))
    return found


def place_of(root: Path, mutation: Mutation) -> source.Place:
    """The one place of its text."""
    files, found = source.places(root, mutation.inside, mutation.old, mutation.file)
    if len(found) == 1:
        return found.pop()
    where = ", ".join(sorted(str(path.relative_to(root)) for path in files))
    why = f"its text is there {len(found)} times, where once is wanted" if files else "it is defined nowhere"
    raise Unusable(
        f"'{mutation.name}' does not apply to {mutation.inside} ({where or 'mixing/, provider/, library/'}): {why}\n"
        f"    {mutation.old}\n"
        "Where the code has changed, change its row in tests/mutations/mutations.toml with it; where the protection is "
        "gone, take the row out."
    )


def take_out(root: Path, mutation: Mutation) -> tuple[Path, str]:
    """The file that has it no longer, and what was there."""
    place = place_of(root, mutation)
    before = place.path.read_text(encoding="utf-8")
    place.path.write_text(before[: place.start] + mutation.new + before[place.end :], encoding="utf-8")
    return place.path, before


def check(mutations: Sequence[Mutation]) -> None:
    """Every text of the table is where it says, once."""
    problems = []
    for mutation in mutations:
        try:
            place_of(ROOT, mutation)
        except Unusable as problem:
            problems.append(str(problem))
    if problems:
        raise Unusable("\n".join(problems))


# ---- The copy ----


def run(command: Sequence[str], cwd: Path) -> bool:
    """Whether it succeeds, within its time."""
    # A session of its own, so that what it started goes with it where its time runs out.
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(timeout=TEST_SECONDS) in (0, 77)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return False


class Copy:
    """A copy of the tree, with a build in which warnings are none of our business."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.build = root / "build" / "dev"
        copying = '. scripts/packaging/sources.sh; copy_sources "$1"'
        subprocess.run(["sh", "-euc", copying, "sh", root], cwd=ROOT, check=True)
        self._must(["cmake", "--preset", "dev", "-DDRNG_WERROR=OFF"])

    def _must(self, command: Sequence[str]) -> None:
        result = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Unusable(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")

    def target(self, test: str) -> list[str]:
        """What is to be built for a test; a test of pytest takes all that the build has."""
        if ".py" in test:
            return ["all"]
        return [test if test.startswith(("provider_", "process_")) else f"test_{test}"]

    def make(self, tests: Sequence[str]) -> None:
        targets = sorted({target for test in tests for target in self.target(test)})
        self._must(["cmake", "--build", str(self.build), "-j", JOBS, "--target", *targets])

    def passes(self, test: str) -> bool:
        file, colons, function = test.partition("::")
        if file.endswith(".py"):
            path = next((self.root / "tests").rglob(file))
            return run(["/usr/bin/python3", "-m", "pytest", "-x", "-q", f"{path}{colons}{function}"], self.root)
        return run([str(self.build / "tests" / self.target(test)[0])], self.root / "tests")

    @contextlib.contextmanager
    def changed(self, mutation: Mutation) -> Iterator[None]:
        path, before = take_out(self.root, mutation)
        try:
            yield
        finally:
            path.write_text(before, encoding="utf-8")


# ---- A run ----


def check_soundness(copy: Copy, mutations: Sequence[Mutation]) -> None:
    """A test that fails anyway would take any change for seen."""
    tests = sorted({test for mutation in mutations for test in mutation.tests})
    copy.make(tests)
    failing = [test for test in tests if not copy.passes(test)]
    if failing:
        raise Unusable(f"these fail before anything is taken out: {', '.join(failing)}")


def killer(copy: Copy, mutation: Mutation) -> str:
    """The first test that fails without the protection; "" where none does, or where that does not compile."""
    with copy.changed(mutation):
        for test in mutation.tests:
            try:
                copy.make([test])
            except Unusable as error:
                print(error, file=sys.stderr)
                return ""
            if not copy.passes(test):
                return test
    return ""


def run_all(mutations: Sequence[Mutation], work: Path) -> int:
    """How many no test has seen."""
    copy = Copy(work)
    print(f"Building and running the tests as they are, for {len(mutations)} mutations", flush=True)
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    # The tests of another architecture are not even built.
    tried = [m for m in mutations if not m.needs or m.needs in flags]
    check_soundness(copy, tried)
    survivors = 0
    for number, mutation in enumerate(mutations, 1):
        seen_by = (killer(copy, mutation) or "NOBODY") if mutation in tried else f"not tried: no {mutation.needs} here"
        survivors += seen_by == "NOBODY"
        print(f"[{number}/{len(mutations)}] {mutation.name}: {seen_by}", flush=True)
    print(f"{len(tried)} taken out, {len(tried) - survivors} seen, {survivors} not")
    return survivors


def main() -> int:
    parser = argparse.ArgumentParser(description="Takes each protection out in turn: a test must fail each time.")
    parser.add_argument("--check", action="store_true", help="only see whether every mutation still applies")
    parser.add_argument("--apply", nargs=2, metavar=("NAME", "DIR"), help="take one out of the tree in DIR")
    parser.add_argument("--table", type=Path, default=TABLE, help="another table than mutations.toml")
    parser.add_argument("names", nargs="*", metavar="TEXT", help="those whose name holds a TEXT")
    args = parser.parse_args()
    try:
        mutations = read_table(args.table)
        if args.apply:
            name, folder = args.apply
            found = [mutation for mutation in mutations if mutation.name == name]
            if not found:
                raise Unusable(f"no mutation has this name: {name}")
            take_out(Path(folder), found[0])
            return 0
        check(mutations)
        if args.check:
            print(f"All {len(mutations)} mutations apply")
            return 0
        mutations = [m for m in mutations if not args.names or any(text in m.name for text in args.names)]
        if not mutations:
            raise Unusable("no mutation has such a name")
        with tempfile.TemporaryDirectory(prefix="drng-mutate-") as work:
            return 1 if run_all(mutations, Path(work, "tree")) else 0
    except Unusable as problem:
        print(problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
