# SPDX-License-Identifier: Apache-2.0
"""scripts/evidence/health-lab: its log has each failure, from load to the end, and the module did the right thing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import health_lab
from health_lab import Scene
from tests.support.builds import BUILD, ROOT

LANES = range(8)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("lab") / "filed.log"
    command = [str(ROOT / "scripts" / "evidence" / "health-lab"), str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return file.read_text()


@pytest.fixture(scope="module")
def scenes(log: str) -> list[Scene]:
    return health_lab.scenes(log)


def the(scenes: list[Scene], instruction: str, failure: str, late: bool = False) -> list[Scene]:
    found = [s for s in scenes if (s.instruction, s.failure, s.late) == (instruction, failure, late)]
    assert found, (instruction, failure, late)
    return found


def test_the_log_says_what_was_tested_and_is_whole(log: str, scenes: list[Scene]) -> None:
    head = log.splitlines()[:3]
    assert re.match(r"# drng \d[\d.]*, commit \w+", head[0])
    assert re.match(r"# \d{4}-\d\d-\d\dT[\d:]{8}Z, gcc .*, libcrypto 3\.", head[1])
    assert log.splitlines()[-1] == f"# end: {len(scenes)} scenes"
    for scene in scenes:
        assert [scene.events[0].name, scene.events[-1].name] == ["loaded", "end"], scene
        times = [e.microseconds for e in scene.events]
        assert times == sorted(times), scene


def test_every_failure_is_of_either_instruction_and_of_every_lane(scenes: list[Scene]) -> None:
    of = {name: [(s.failure, s.lane, s.late) for s in scenes if s.instruction == name] for name in ("RDSEED", "RDRAND")}
    assert of["RDSEED"] == of["RDRAND"]
    for failure in ("a bit stuck at 0", "a bit stuck at 1", "a byte stuck", "a byte of two values"):
        for late in (False, True):
            assert [s.lane for s in the(scenes, "RDSEED", failure, late)] == [*LANES]


@pytest.mark.parametrize("instruction", ["RDSEED", "RDRAND"])
@pytest.mark.parametrize(
    ("failure", "late", "test", "first", "last"),
    [
        ("all zeros", False, "repetition count", 1, 1),
        ("all ones", False, "repetition count", 1, 1),
        ("repetition: one word for ever", False, "repetition count", 2, 2),
        ("repetition: one word for ever", True, "repetition count", 2, 2),
        ("two words in turn", False, "adaptive proportion", 3, 3),
        ("a period of 64 words", False, "adaptive proportion", 65, 65),
        ("counting", False, "repetition count", 1, 2),
        ("bias: a bit is set in 15 of 16 words", False, "", 1, 128),
        ("a bit stuck at 0", False, "unchanging bits", 64, 64),
        ("a bit stuck at 1", False, "unchanging bits", 64, 64),
        ("a bit stuck at 0", True, "unchanging bits", 2, 127),
        ("a bit stuck at 1", True, "unchanging bits", 2, 127),
        ("a byte stuck", False, "byte lanes", 12, 12),
        ("a byte stuck", True, "unchanging bits", 2, 127),
        ("a byte of two values", False, "byte lanes", 12, 128),
    ],
)
def test_what_fails_is_found_and_disabled(
    scenes: list[Scene], instruction: str, failure: str, late: bool, test: str, first: int, last: int
) -> None:
    """By the test that is for it, with the word that shows it, at the second time for good."""
    for scene in the(scenes, instruction, failure, late):
        failed = scene.of("health test failed")
        assert [re.search(r"failure (\d)", e.detail)[1] for e in failed] == ["1", "2"], scene  # type: ignore[index]
        assert {e.instruction for e in failed} == {instruction}
        assert scene.tests[0].startswith(test), scene
        assert scene.found_after is not None and first <= scene.found_after <= last, scene
        disabled = scene.of("disabled")
        assert [(e.instruction, e.words) for e in disabled] == [(instruction, failed[1].words)]
        after = scene.events[scene.events.index(disabled[0]) :]
        assert not [e for e in after if e.instruction == instruction and e.name != "disabled"], scene
        assert scene.outcome == ("RDRAND serves" if instruction == "RDSEED" else "refused")
        assert f"{instruction}: disabled after failed health tests" in scene.events[-1].detail


@pytest.mark.parametrize("instruction", ["RDSEED", "RDRAND"])
@pytest.mark.parametrize("failure", ["all zeros", "all ones"])
def test_the_first_word_of_a_dead_generator_counts_in_the_retry(
    scenes: list[Scene], instruction: str, failure: str
) -> None:
    """Its bytes fail the start-up tests; and it opens the window of the stuck value test, which the next word fails."""
    (scene,) = the(scenes, instruction, failure)
    assert scene.tests == ["repetition count", "stuck value"], scene
    assert [e.words for e in scene.of("health test failed")] == [1, 2], scene


@pytest.mark.parametrize("instruction", ["RDSEED", "RDRAND"])
def test_no_seed_takes_words_from_before_a_failure_on(scenes: list[Scene], instruction: str) -> None:
    """A seed that ends after a failed test begins after the start-up tests that followed it."""
    (scene,) = the(scenes, instruction, "repetition: one word twice", late=True)
    failed = scene.of("health test failed")[0]
    restarted, seed = (
        next(e for e in scene.of(n) if e.words > failed.words) for n in ("start-up tests passed", "seed")
    )
    assert restarted.detail == f"words {failed.words + 1} to {failed.words + 128}, discarded"
    assert seed.detail.startswith(f"words {restarted.words + 1} to ")
    assert not scene.disabled and scene.outcome == f"{instruction} serves"


def test_what_no_test_finds_is_said(scenes: list[Scene]) -> None:
    """So that the log is no advertisement: half of a byte's bits, in use, are beyond these tests."""
    for scene in the(scenes, "RDSEED", "a byte of two values", late=True):
        assert not scene.tests and scene.outcome == "goes on" and scene.seeds_meanwhile == 11


@pytest.mark.parametrize("late", [False, True])
def test_a_drought_fails_no_test_and_disables_nothing(scenes: list[Scene], late: bool) -> None:
    failure = "dry" if late else "dry for ever"
    for instruction, outcome in (("RDSEED", "RDRAND serves"), ("RDRAND", "refused")):
        (scene,) = the(scenes, instruction, failure, late)
        assert scene.of("gave no word", instruction) and not scene.tests and not scene.disabled
        assert scene.outcome == outcome


def test_two_logs_differ_in_their_heads_only(log: str) -> None:
    again = subprocess.run([str(BUILD / "dev" / "tests" / "health_lab")], capture_output=True, text=True, check=True)
    assert [line for line in log.splitlines() if not line.startswith("#")] == again.stdout.splitlines()


def test_a_log_that_cannot_be_written_is_said_and_not_left_half(tmp_path: Path) -> None:
    result = subprocess.run(
        [str(ROOT / "scripts" / "evidence" / "health-lab"), str(tmp_path / "no" / "such.log")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert "no/such.log" in result.stderr
    assert not list(tmp_path.iterdir())
