# SPDX-License-Identifier: Apache-2.0
"""Runs the CUnit programs: as they are, under the sanitizers, and under valgrind."""

import os
from pathlib import Path

import pytest

from tests.support.builds import ROOT, SAMPLE, VALGRIND, programs, said_by

# ThreadSanitizer has nothing to find in a program of one thread: its build has the others alone.
PRESETS = {"dev": "", "dev-clang": "", "asan-ubsan": "", "tsan": "threads"}

NIGHTLY = pytest.mark.nightly("a part of what each program tries, built by GCC, in fewer builds")
MARKS = {"dev-clang": NIGHTLY}

# A generator through libcrypto, and a handle of libdrng. The longest of the others takes half a minute.
BY_VALGRIND = ("library_words", "provider_drbg")

# The longest ones: not for valgrind beside AddressSanitizer.
LONG = ("ctr_drbg", "fault_matrix", "process_allocation", "rows", "seed")

# What stops at every step, or fails at every allocation: a push tries a part of these, each night all.
EVERYWHERE = ("process_allocation", "process_slots", "process_step")

# process_step on other kernels: dev has every way of it on this one.
OTHER_KERNELS = ("process_step_copied", "process_step_no_wipe")

# Of another compiler's code those parts alone whose instructions decide: the kernels, what is wiped and cleared, and
# what is done in an order. The rest is C, which Clang compiles here, and runs each night.
OF_COMPILERS = (
    *(
        "aes",
        "aes_sbox",
        "aes_vaes256",
        "aes_vaes512",
        "conditioner",
        "ctr_drbg_answers",
        "guard",
        "health",
        "noise_mac",
    ),
    *("self_test_functions", "sha256", "vectors", "wipe", "process_stack", "process_step"),
)

# What tries everything does so with dev. What these are to find, and valgrind, is in any part of it.
SAMPLED = ("dev-clang", "tsan")

CASES = [
    pytest.param(
        path,
        preset in SAMPLED or name in OTHER_KERNELS + EVERYWHERE,
        id=f"{preset}-{name}",
        marks=MARKS.get(preset, ()),
    )
    for preset, label in PRESETS.items()
    for name, path in programs(preset, label)
    if preset != "dev-clang" or name in OF_COMPILERS
]
CASES += [
    pytest.param(path, False, id=f"{preset}-{name}-everywhere", marks=NIGHTLY)
    for preset in ("dev", "asan-ubsan")
    for name, path in programs(preset)
    if name in EVERYWHERE
]
# Not the processes and threads by the hundred, whose children valgrind takes for leaks: the sanitizers look at those.
VALGRIND_CASES = [
    pytest.param(path, id=name, marks=() if name in BY_VALGRIND else NIGHTLY)
    for name, path in programs("dev")
    if not name.startswith("process_") and name not in LONG
]


def run(command: list[str], sample: bool = False) -> None:
    env = {**os.environ, **(SAMPLE if sample else {})}
    said_by(*command, cwd=ROOT / "tests", env=env, timeout=600)


@pytest.mark.parametrize("preset", [pytest.param(name, marks=MARKS.get(name, ())) for name in PRESETS])
def test_every_preset_has_been_built(preset: str) -> None:
    assert programs(preset, PRESETS[preset]), f"build/{preset} has no tests: scripts/test.sh builds them"


def test_what_starts_threads_is_labelled_so() -> None:
    """In tests/CMakeLists.txt: what is not is kept from ThreadSanitizer."""
    starting = [p for p in (ROOT / "tests").rglob("test_*.c") if "pthread_create(" in p.read_text()]
    # test_library.c of tests/process is process_library; the one of tests/unit is library.
    names = {
        p.stem.removeprefix("test_") if p.parent.name == "unit" else f"{p.parent.name}_{p.stem[5:]}" for p in starting
    }
    assert names
    assert names <= {name for name, _ in programs("dev", "threads")}


@pytest.mark.parametrize(("program", "sample"), CASES)
def test_cunit(program: str, sample: bool) -> None:
    assert Path(program).exists()
    run([program], sample)


@pytest.mark.parametrize("program", VALGRIND_CASES)
def test_cunit_under_valgrind(program: str) -> None:
    run([*VALGRIND, program], sample=True)


HELGRIND = (
    "valgrind",
    "--tool=helgrind",
    # Or the threads that are kept busy starve the one that counts the rounds, for minutes on some days.
    "--fair-sched=yes",
    "--quiet",
    "--history-level=approx",
    f"--suppressions={ROOT / 'tests' / 'helgrind.supp'}",
    "--error-exitcode=98",
)


@pytest.mark.nightly("ThreadSanitizer")
@pytest.mark.parametrize("name", ["process_threads", "process_thread_cost"])
def test_threads_under_helgrind(name: str) -> None:
    run([*HELGRIND, dict(programs("dev"))[name]])
