# SPDX-License-Identifier: Apache-2.0
"""The collector's files, and that Debian's batteries find the sources that are scripted to be bad."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest

from tests.support.builds import BUILD, ROOT, need

COLLECTOR = BUILD / "dev" / "tests" / "collect_raw"
SCRIPTED = BUILD / "dev" / "tests" / "collect_raw_scripted"


def collect(program: Path, cpu: str, stage: str, count: int) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([str(program), cpu, stage, str(count)], capture_output=True, check=False)


def stages_of_this_cpu() -> list[str]:
    return [s for s in ("rdseed", "rdrand", "drbg") if collect(COLLECTOR, "hardware", s, 8).returncode == 0]


def test_files_for_nists_tool(tmp_path: Path) -> None:
    result = subprocess.run(
        [str(ROOT / "scripts" / "evidence" / "collect-raw"), str(tmp_path), "5000", "20"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    for stage in stages_of_this_cpu():
        samples = (tmp_path / f"{stage}.bin").read_bytes()
        assert len(samples) == 5000
        assert len(set(samples)) == 256
        assert (tmp_path / f"{stage}.bin").stat().st_mode & 0o077 == 0
        if stage != "drbg":
            restarts = (tmp_path / f"{stage}.restarts.bin").read_bytes()
            assert len(restarts) == 400
            assert len({restarts[i : i + 20] for i in range(0, 400, 20)}) == 20, "two restarts gave the same"


def test_retries_are_counted_and_not_shown_as_words() -> None:
    """Of RDSEED some words come late; the scripted CPU gives each at once."""
    good = collect(SCRIPTED, "good", "rdrand-retries", 8000)
    assert good.returncode == 0 and good.stdout == bytes(8000)
    for stage in stages_of_this_cpu():
        if stage != "drbg":
            counts = struct.unpack("<1000Q", collect(COLLECTOR, "hardware", f"{stage}-retries", 8000).stdout)
            assert max(counts) < 100_000_000, "that would be a word"


def test_a_cpu_without_the_instruction_is_said_to_be() -> None:
    for stage in {"rdseed", "rdrand"} - set(stages_of_this_cpu()):
        assert b"has no instruction" in collect(COLLECTOR, "hardware", stage, 8).stderr
    assert collect(COLLECTOR, "good", "rdseed", 8).returncode == 2
    assert collect(SCRIPTED, "hardware", "rdseed", 8).returncode == 2


def test_health_tests_stop_what_counts_and_not_what_is_biased() -> None:
    """Why raw words are assessed: conditioned, the biased ones pass."""
    stopped = collect(SCRIPTED, "counting", "seed-rdrand", 1000)
    assert stopped.returncode == 1
    assert b"failed the repetition count test" in stopped.stderr
    assert stopped.stdout == b""
    assert len(collect(SCRIPTED, "biased", "seed-rdrand", 1000).stdout) == 1000


def failures(data: bytes) -> int:
    """How many blocks of 20,000 bits fail FIPS 140-2; of a random source one in a thousand."""
    result = subprocess.run(["rngtest"], input=data, capture_output=True, check=False)
    found = re.search(r"FIPS 140-2 failures: (\d+)", result.stderr.decode())
    assert found, result.stderr
    return int(found[1])


def chi_square(data: bytes) -> float:
    """Of the bytes: 255 on average, with a deviation of 23."""
    result = subprocess.run(["ent", "-t"], input=data, capture_output=True, check=True)
    return float(result.stdout.decode().splitlines()[1].split(",")[3])


@pytest.mark.parametrize(
    ("cpu", "by_rngtest", "by_ent"),
    # Each block of what repeats looks well.
    [("good", False, False), ("biased", True, True), ("counting", True, True), ("repeating", False, True)],
)
def test_batteries_find_what_is_scripted_to_be_bad(cpu: str, by_rngtest: bool, by_ent: bool) -> None:
    for program in ("rngtest", "ent"):
        need(program)
    words = collect(SCRIPTED, cpu, "rdrand", 1_000_000).stdout
    assert (failures(words) > 20) == by_rngtest
    assert (chi_square(words) > 500) == by_ent


@pytest.mark.parametrize("stage", ["rdseed", "rdrand", "drbg"])
def test_batteries_find_nothing_in_what_this_cpu_gives(stage: str) -> None:
    for program in ("rngtest", "ent"):
        need(program)
    if stage not in stages_of_this_cpu():
        pytest.skip("not in this CPU")
    data = collect(COLLECTOR, "hardware", stage, 1_000_000).stdout
    assert failures(data) < 20
    assert 100 < chi_square(data) < 500
