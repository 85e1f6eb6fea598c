# SPDX-License-Identifier: Apache-2.0
"""A few seconds of each fuzz target of tests/fuzz, under AddressSanitizer and UndefinedBehaviorSanitizer.

DRNG_FUZZ_SECONDS is how long each runs; what it finds is left in build/fuzz, from which the next run goes on.
"""

import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.support.builds import BUILD, ROOT, need, said_by

SECONDS = os.environ.get("DRNG_FUZZ_SECONDS", "2")
TARGETS = BUILD / "fuzz" / "tests" / "fuzz"
SEEDS = ROOT / "tests" / "fuzz" / "corpus"
NAMES = sorted(p.stem.removeprefix("fuzz_") for p in (ROOT / "tests" / "fuzz").glob("fuzz_*.c"))


def run(name: str, *arguments: str) -> str:
    """What the target said."""
    result = subprocess.run(
        [str(TARGETS / f"fuzz_{name}"), *arguments],
        capture_output=True,
        text=True,
        timeout=300 + int(SECONDS),
        check=False,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stderr


def test_every_target_has_seeds() -> None:
    assert NAMES
    assert sorted(p.name for p in SEEDS.iterdir()) == NAMES


@pytest.mark.nightly("the units' tests of what is fuzzed")
@pytest.mark.parametrize("name", NAMES)
def test_every_seed_passes(name: str) -> None:
    seeds = sorted(str(p) for p in (SEEDS / name).iterdir())
    assert seeds
    assert run(name, *seeds).count("Executed ") == len(seeds)


@pytest.mark.nightly("the units' tests of what is fuzzed")
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_in_a_short_run(name: str) -> None:
    found = BUILD / "fuzz/corpus" / name
    found.mkdir(parents=True, exist_ok=True)
    output = run(
        name,
        f"-max_total_time={SECONDS}",
        "-timeout=60",
        "-print_final_stats=1",
        f"-artifact_prefix={BUILD}/fuzz/{name}-",
        str(found),
        str(SEEDS / name),
    )
    tried = re.search(r"^stat::number_of_executed_units: *(\d+)$", output, re.MULTILINE)
    assert tried, output[-4000:]
    assert int(tried[1]) > len(list((SEEDS / name).iterdir())), "nothing but the seeds was tried"


@pytest.mark.nightly("the units' tests of what is fuzzed")
def test_oss_fuzz_builds_every_target(tmp_path: Path) -> None:
    """With the environment of its builder; each target runs with the libraries beside it, and has its seeds."""
    out = tmp_path / "out"
    out.mkdir()
    env = {
        **os.environ,
        "CC": need("clang"),
        "CFLAGS": "-O1 -gline-tables-only -fsanitize=address -fsanitize=fuzzer-no-link",
        "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer",
        "OUT": str(out),
        "WORK": str(tmp_path / "work"),
        "CCACHE_NOHASHDIR": "1",  # where ccache is used: the folder's name is a new one each time
    }
    script = ROOT / "tests/fuzz/oss-fuzz/build.sh"
    built = subprocess.run([script], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=600)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    assert sorted(path.name for path in out.glob("fuzz_*") if not path.suffix) == [f"fuzz_{name}" for name in NAMES]
    for name in NAMES:
        seeds = tmp_path / name
        with zipfile.ZipFile(out / f"fuzz_{name}_seed_corpus.zip") as archive:
            archive.extractall(seeds)
        assert {path.name for path in seeds.iterdir()} == {path.name for path in (SEEDS / name).iterdir()}
        ran = subprocess.run([out / f"fuzz_{name}", "-runs=1", seeds], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr[-2000:]
    libraries = said_by("ldd", out / "fuzz_functions")
    assert f"{out}/lib/libcrypto.so" in libraries
