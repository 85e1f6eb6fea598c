#!/usr/bin/python3 -Es
# SPDX-License-Identifier: Apache-2.0
"""Proves, with CBMC and Spin, what tests only sample; docs/develop/proofs.md says what that is.

    prove.py                      all of tests/proofs/proofs.toml, and each with the code changed: it must fail then
    prove.py --quick              the proofs that take seconds, and no mutants; for continuous integration
    prove.py [--quick] NAME...    those whose name holds NAME

A proof counts if every property holds, loops unwound to their end included, and if there are properties; if every end
that its harness names is reached, in a second run; and if the prover refuses each of its mutants.

Both tools come from Debian's packages, in a chroot that stays in /var/cache/drng-proofs, 530 MB. Takes root to make it.
Exit status 1: something is not proved; 77: the chroot cannot be made here.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "proofs" / "proofs.toml"
CHROOT_SH = str(ROOT / "scripts" / "ci" / "chroot.sh")
CHROOT = "/var/cache/drng-proofs/trixie"
PACKAGES = ("cbmc", "gcc", "libc6-dev", "libssl-dev", "spin")
MEMORY = 8 << 30  # bytes of address space for a prover
SLOWER = 8  # a busy machine, or a slow one
LEAST_SECONDS = 120

# What CBMC 6 checks by itself is bounds, pointers, signed overflow, division, shifts and unwinding, among others.
CHECKS = ("--pointer-overflow-check", "--undefined-shift-check", "--unwinding-assertions", "--drop-unused-functions")
ALWAYS = ("--object-bits", "12")


class Unusable(Exception):
    """The list does not fit the tree, or a tool does not run."""


@dataclass(frozen=True)
class Proof:
    """One entry of proofs.toml."""

    name: str
    file: str  # in tests/proofs/; a harness ends with .c, a model with .pml
    claims: str  # what is proved, for a reader
    bound: str
    seconds: int  # that it takes, roughly
    entry: str = ""  # the harness's function
    sources: tuple[str, ...] = ()  # beside what the harness includes
    unwind: int = 1
    unwindset: tuple[str, ...] = ()
    variants: tuple[str, ...] = ("",)  # definitions; the proof is run with each
    replace: tuple[str, ...] = ()  # "f:g": calls of f() become calls of g()
    quick: bool = False
    mutants: tuple[str, ...] = ()  # names in tests/mutations/mutations.toml
    broken: tuple[str, ...] = ()  # definitions with which a model or a harness must fail


@dataclass
class Outcome:
    seconds: float = 0.0
    properties: int = 0
    wrong: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def read_list() -> list[Proof]:
    rows = tomllib.loads(LIST.read_text(encoding="utf-8")).items()
    return [
        Proof(name, **{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})
        for name, row in rows
    ]


# ---- Running a tool ----


def run_in(root: Path, folder: Path, command: Sequence[str], seconds: int) -> tuple[int, str, str]:
    """Status, output and complaints. What runs longer than `seconds` ends with 124, and in any case with this one:
    the signal goes to `timeout`, and to what that has started."""
    dies = ["setpriv", "--pdeathsig=KILL"]
    limited = [*dies, "timeout", "--kill-after=1", str(seconds), *dies, "prlimit", f"--as={MEMORY}"]
    enter = [CHROOT_SH, "enter", "--bind", str(root), str(root), CHROOT]
    inside = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(folder), *command]
    result = subprocess.run([*limited, *enter, *inside], capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr


# ---- CBMC ----


@dataclass(frozen=True)
class Verdict:
    """What CBMC says of each property: its text, and whether it holds."""

    properties: dict[str, tuple[str, bool]]
    complaint: str  # "" where it came to an end

    @property
    def failed(self) -> list[str]:
        return [text for text, holds in self.properties.values() if not holds]


def command_of(root: Path, proof: Proof, variant: str, *more: str) -> list[str]:
    defines = [f"-D{word}" for word in variant.split()]
    unwindset = ("--unwindset", ",".join(proof.unwindset)) if proof.unwindset else ()
    options = [*ALWAYS, "--unwind", str(proof.unwind), *unwindset, *more]
    read = [*defines, "-I", "models", "-I", str(root), proof.file, *(str(root / source) for source in proof.sources)]
    if not proof.replace:
        return ["cbmc", *read, "--function", proof.entry, *options]
    replaced = " ".join(f"--replace-calls {pair}" for pair in proof.replace)
    script = (
        f"goto-cc --function {proof.entry} {' '.join(read)} -o /tmp/whole >&2 && "
        f"goto-instrument {replaced} /tmp/whole /tmp/replaced >&2 && "
        f"exec cbmc {' '.join(options)} /tmp/replaced"
    )
    return ["sh", "-c", script]


def seconds_for(proof: Proof) -> int:
    return max(LEAST_SECONDS, SLOWER * proof.seconds)


def read_verdict(status: int, output: str, complaints: str) -> Verdict:
    try:
        messages = json.loads(output)
    except json.JSONDecodeError:
        return Verdict({}, complaints.strip() or f"status {status}, and no answer")
    properties: dict[str, tuple[str, bool]] = {}
    for message in messages:
        for row in message.get("result", []):
            line = row.get("sourceLocation", {})
            where = f"{Path(line.get('file', '?')).name}:{line.get('line', '?')}"
            properties[row["property"]] = (f"{where}: {row['description']}", row["status"] == "SUCCESS")
    ended = any("cProverStatus" in message for message in messages)
    errors = [m.get("messageText", "") for m in messages if m.get("messageType") == "ERROR"]
    return Verdict(properties, "" if ended else " ".join(errors) or complaints.strip() or f"status {status}")


def ask(root: Path, proof: Proof, variant: str, *options: str) -> Verdict:
    command = command_of(root, proof, variant, "--json-ui", *options)
    return read_verdict(*run_in(root, root / "tests/proofs", command, seconds_for(proof)))


def wants_reached(root: Path, proof: Proof) -> set[str]:
    """The ends that the harness's entry names."""
    text = (root / "tests/proofs" / proof.file).read_text(encoding="utf-8")
    body = re.search(rf"^void {proof.entry}\(void\)\n\{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
    if body is None:
        raise Unusable(f"{proof.file} has no function {proof.entry}")
    return set(re.findall(r'REACHED\("([^"]*)"\)', body[1]))


def unreached(root: Path, proof: Proof) -> list[str]:
    """The ends that no variant reaches."""
    left = wants_reached(root, proof)
    if not left:
        return ["names no end that must be reached"]
    for variant in proof.variants:
        verdict = ask(root, proof, f"{variant} VACUITY", "--no-standard-checks", "--no-unwinding-assertions")
        if verdict.complaint:
            return [f"whether its ends are reached: {verdict.complaint}"]
        left -= {text.partition("reached: ")[2] for text in verdict.failed}
        if not left:
            break
    return [f"not reached: {end}" for end in sorted(left)]


def prove_harness(root: Path, proof: Proof) -> Outcome:
    outcome = Outcome()
    begun = time.monotonic()
    for variant in proof.variants:
        verdict = ask(root, proof, variant, *CHECKS)
        outcome.properties += len(verdict.properties)
        if verdict.complaint:
            outcome.wrong.append(f"{variant} {verdict.complaint}".strip())
        elif not verdict.properties:
            outcome.wrong.append(f"{variant} nothing was checked".strip())
        outcome.wrong += verdict.failed
        if outcome.wrong:
            break
    outcome.seconds = time.monotonic() - begun
    if not outcome.wrong:
        outcome.wrong = unreached(root, proof)
    return outcome


def refuses(root: Path, proof: Proof, more: str = "") -> bool:
    """Whether the prover finds something wrong. That it came to no end is no refusal."""
    for variant in proof.variants:
        verdict = ask(root, proof, f"{variant} {more}", *CHECKS)
        if not verdict.complaint and verdict.failed:
            return True
    return False


# ---- Spin ----


def spin(root: Path, proof: Proof, variant: str) -> tuple[int, list[str]]:
    """The states that it has gone through, and what is wrong. Compiled and run in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="spin-", dir=root) as work:
        folder = Path(work)
        shutil.copy(root / "tests/proofs" / proof.file, folder / "model.pml")
        defines = " ".join(f"-D{word}" for word in variant.split())
        limit = f"-DMEMLIM={(MEMORY >> 20) * 3 // 4}"
        # A search of seconds is over before gcc has optimized it.
        level = "-O0" if proof.quick else "-O2"
        script = (
            f"spin {defines} -a model.pml && gcc {level} -w -DSAFETY -DCOLLAPSE -DVECTORSZ=4096 {limit} -o pan pan.c "
            "&& ./pan -m2000000 -n"
        )
        status, output, complaints = run_in(folder, folder, ["sh", "-ec", script], seconds_for(proof))
    states = re.search(r"^\s*(\d+) states, stored", output, re.MULTILINE)
    errors = re.search(r"errors: (\d+)", output)
    if status != 0 or states is None or errors is None:
        return 0, [f"spin: {complaints.strip() or output[-500:].strip()}"]
    wrong = re.findall(r"^pan:\d+: (.*?) \(at depth", output, re.MULTILINE)
    if not wrong and re.search(r"max search depth too small|out of memory|Search not completed", output):
        wrong = ["the search was not completed"]
    return int(states[1]), wrong


def prove_model(root: Path, proof: Proof) -> Outcome:
    outcome = Outcome()
    begun = time.monotonic()
    for variant in proof.variants:
        states, wrong = spin(root, proof, variant)
        outcome.properties += states
        outcome.wrong += [f"{variant} {text}".strip() for text in wrong]
    outcome.seconds = time.monotonic() - begun
    return outcome


def is_model(proof: Proof) -> bool:
    return proof.file.endswith(".pml")


def prove(root: Path, proof: Proof) -> Outcome:
    return prove_model(root, proof) if is_model(proof) else prove_harness(root, proof)


# ---- Mutants ----


def copy_tree(root: Path) -> None:
    """What the provers read."""
    for folder in ("mixing", "provider", "library", "tests/proofs"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)


@contextmanager
def copy_of_tree() -> Iterator[Path]:
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="drng-proofs-", dir=ROOT / "build") as work:
        copy_tree(Path(work))
        yield Path(work)


@contextmanager
def mutated(root: Path, name: str) -> Iterator[None]:
    mutate = ROOT / "scripts" / "mutate" / "mutate.py"
    command = [sys.executable, "-Es", str(mutate), "--apply", name, str(root)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Unusable(result.stderr.strip())
    try:
        yield
    finally:
        copy_tree(root)


def model_refuses(root: Path, proof: Proof, more: str) -> bool:
    wrong = spin(root, proof, f"{proof.variants[0]} {more}")[1]
    return bool(wrong) and not any(text.startswith("spin: ") for text in wrong)


def try_mutants(root: Path, proof: Proof, outcome: Outcome) -> None:
    """Notes which were refused, and complains of each that was not."""
    for name in proof.mutants:
        with mutated(root, name):
            (outcome.refused if refuses(root, proof) else outcome.wrong).append(name)
    for define in proof.broken:
        check = model_refuses if is_model(proof) else refuses
        (outcome.refused if check(root, proof, define) else outcome.wrong).append(define)


# ---- A run ----


def chosen(proofs: Sequence[Proof], names: Sequence[str], quick: bool) -> list[Proof]:
    wanted = [p for p in proofs if not names or any(n in p.name for n in names)]
    found = [p for p in wanted if p.quick or not quick]
    if not found:
        raise Unusable("no proof has such a name")
    return found


def run(proofs: Sequence[Proof], with_mutants: bool) -> int:
    status = 0
    with copy_of_tree() as root:
        for proof in proofs:
            outcome = prove(root, proof)
            if with_mutants and not outcome.wrong:
                try_mutants(root, proof, outcome)
            said = f"{outcome.properties:,} {'states' if is_model(proof) else 'properties'}"
            said += f", {len(outcome.refused)} mutants refused" if with_mutants else ""
            print(
                f"{proof.name}: {'NOT PROVED' if outcome.wrong else 'proved'}, {said}, {outcome.seconds:.1f} s",
                flush=True,
            )
            for text in outcome.wrong:
                print(f"    {text}", flush=True)
            status = 1 if outcome.wrong else status
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only those that take seconds, and no mutants")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    try:
        proofs = chosen(read_list(), args.names, args.quick)
        made = subprocess.run([CHROOT_SH, "make", "trixie", CHROOT, *PACKAGES], check=False)
        return made.returncode or run(proofs, not args.quick)
    except Unusable as problem:
        print(problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
