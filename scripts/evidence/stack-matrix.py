#!/usr/bin/env python3
"""Whether anything secret stays on the stack, with every compiler here and every way to optimize and harden.

    scripts/evidence/stack-matrix.py            all of it, some minutes
    scripts/evidence/stack-matrix.py --short    each compiler as the module is released, and at both extremes

Builds mixing/ and tests/process/test_stack.c without CMake below build/stack-matrix and runs the test. Prints a row for
each build with the first thing that was found. Ends with 0 when nothing was, 1 when something was, 77 where the test
cannot run. What compiles with -O0 keeps every value on the stack, and is not looked at.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "stack-matrix"
SKIPPED = 77

COMMON = ("-std=c11", "-D_DEFAULT_SOURCE", "-DNDEBUG", "-I.", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror")
HARDENED = ("-fstack-protector-strong", "-fstack-clash-protection", "-fcf-protection=full", "-D_FORTIFY_SOURCE=2")
LEVELS = ("-O1", "-O2", "-O3", "-Os")
KERNELS = (
    "aes_ni.c",
    "aes_ni_short.c",
    "aes_portable.c",
    "aes_sbox.c",
    "aes_vaes256.c",
    "aes_vaes512.c",
    "aes_vaes_short.c",
)
OTHERS = re.compile(r"(.*_)?(none|arm|power|z)")  # other processors' files
TEST = (
    "tests/process/below.c",
    "tests/process/below_x86.c",
    "tests/process/kernel.c",
    "tests/process/secrets.c",
    "tests/process/stack_x86.c",
    "tests/process/test_stack.c",
    "tests/programs/hex.c",
    "tests/unit/bytes.c",
    "tests/unit/unit.c",
)


@dataclass(frozen=True)
class Build:
    """One way to compile mixing/."""

    compiler: str
    level: str
    hardened: bool = True
    kernel_level: str = "-O3"  # CMakeLists.txt compiles them so
    extra: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        words = [self.compiler, self.level, f"kernels {self.kernel_level}", "hardened" if self.hardened else "plain"]
        return " ".join([*words, *self.extra])

    def flags(self, source: Path) -> tuple[str, ...]:
        level = self.kernel_level if source.name in KERNELS else self.level
        return (level, *(HARDENED if self.hardened else ()), *self.extra)


def compilers() -> list[str]:
    """Each gcc and clang in PATH once, whatever its names are."""
    found: dict[Path, str] = {}
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        names = sorted(p.name for p in Path(folder).glob("*") if re.fullmatch(r"(gcc|clang)(-\d+)?", p.name))
        for name in reversed(names):  # gcc-12 before gcc: the version says more
            path = shutil.which(name)
            if path is not None:
                found.setdefault(Path(path).resolve(), name)
    return sorted(found.values())


def whole(compiler: str) -> Iterator[Build]:
    for level in LEVELS:
        for hardened in (False, True):
            yield Build(compiler, level, hardened)
            if level == "-O2":  # for whoever builds without CMakeLists.txt; -O1 and -Os unroll too little
                yield Build(compiler, level, hardened, level)
    for hardened in (False, True):
        yield Build(compiler, "-O2", hardened, extra=("-march=native",))
        yield Build(compiler, "-O2", hardened, extra=("-flto",))
        yield Build(compiler, "-O2", hardened, extra=("-fno-omit-frame-pointer",))


def short(compiler: str) -> Iterator[Build]:
    yield Build(compiler, "-O2")
    yield Build(compiler, "-O1", False)
    yield Build(compiler, "-O3", False)


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


@dataclass(frozen=True)
class Object:
    """A source as one compiler compiles it; builds share what they compile alike."""

    compiler: str
    flags: tuple[str, ...]
    source: Path

    @property
    def path(self) -> Path:
        return BUILD / slug(" ".join((self.compiler, *self.flags))) / f"{self.source.name}.o"


def slug(text: str) -> str:
    return re.sub(r"[^\w.]+", "_", text)


def objects_of(build: Build) -> list[Object]:
    mixing = sorted(p for p in (ROOT / "mixing").rglob("*.[cS]") if not OTHERS.fullmatch(p.stem))
    objects = [Object(build.compiler, build.flags(source), source) for source in mixing]
    return objects + [Object(build.compiler, ("-O2",), ROOT / path) for path in TEST]


def compile_one(made: Object) -> None:
    made.path.parent.mkdir(parents=True, exist_ok=True)
    # CMake's own name for ccache: what has been compiled before is not compiled again, wherever this tree lies.
    launcher = os.environ.get("CMAKE_C_COMPILER_LAUNCHER", "").split()
    source = str(made.source.relative_to(ROOT))
    result = run([*launcher, made.compiler, *COMMON, *made.flags, "-c", source, "-o", str(made.path)])
    if result.returncode != 0:
        raise SystemExit(f"{made.compiler} {' '.join(made.flags)} does not compile {made.source}:\n{result.stderr}")


def test(build: Build) -> tuple[Build, int, str]:
    """The test's exit status, and the lines that say what it found."""
    program = BUILD / f"test_stack_{slug(build.name)}"
    objects = [str(made.path) for made in objects_of(build)]
    linked = run([build.compiler, *build.extra, *objects, "-o", str(program), "-lcrypto", "-lcunit", "-Wl,-z,now"])
    if linked.returncode != 0:
        raise SystemExit(f"{build.name} does not link:\n{linked.stderr}")
    result = run([str(program)])
    lines = result.stdout.splitlines()
    found = [line.strip().removesuffix("FAILED") for line in lines if re.match(r" +\S+, AES-\d+, ", line)]
    return build, result.returncode, "\n".join(found) or lines[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="three builds for each compiler")
    arguments = parser.parse_args()

    builds = [b for c in compilers() for b in (short if arguments.short else whole)(c)]
    failed = False
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, dict.fromkeys(made for build in builds for made in objects_of(build))))
        for build, status, said in pool.map(test, builds):
            if status == SKIPPED:
                print(said)
                return SKIPPED
            failed |= status != 0
            findings = said.splitlines()
            print(
                f"{build.name:64} {'nothing' if status == 0 else f'{len(findings)} found: {findings[0]}'}", flush=True
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
