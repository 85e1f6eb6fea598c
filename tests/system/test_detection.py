"""How likely a fault is to be found: as scripts/evidence/detection.py computes it, and compared with what was tried."""

from __future__ import annotations

import math

import pytest

import cutoffs
import detection
from detection import GOOD


def test_sums_of_trials_are_binomial() -> None:
    for least in (1, 3, 9):
        by_hand = sum(math.comb(12, k) * 0.25**k * 0.75 ** (12 - k) for k in range(least, 13))
        assert detection.again([(12, 0.25)], least) == pytest.approx(by_hand)
        assert detection.again([(5, 0.25), (7, 0.25)], least) == pytest.approx(by_hand)
    assert detection.again([(3, 1.0)], 3) == 1 and detection.again([(3, 1.0)], 4) == 0


def test_a_good_source_is_found_as_often_as_there_are_false_alarms() -> None:
    """Another way to the rates of cutoffs.py, which counts outcomes."""
    assert math.log2(detection.lane(GOOD)) == pytest.approx(cutoffs.apt_alarm(8, cutoffs.STARTUP_WORDS), abs=0.1)
    assert detection.sequence([GOOD] * 8) == pytest.approx(2 * 2 ** cutoffs.apt_alarm(8), rel=0.1)
    assert detection.unchanging([0.5] * 64) == pytest.approx(2.0 ** (cutoffs.bits_alarm()), rel=0.1)
    assert detection.runs([GOOD] * 8) == pytest.approx(1024 * 2 ** cutoffs.rct_alarm(8), rel=0.1)


def test_a_bit_that_sticks_in_use_is_found_with_its_127th_word_at_the_latest() -> None:
    assert detection.stuck(1, cutoffs.bits_delay()) == 1
    assert detection.stuck(1, cutoffs.bits_delay() - 1) < 1
    assert detection.stuck(1, 16) < 2**-50
    # Begun with a window, it is found at the end of it; and with what came before by chance the same.
    assert detection.stuck(1, 64) == pytest.approx((1 + sum(0.5**n for n in range(1, 64))) / 64)


def test_words_in_turn_are_found_once_a_window_has_begun_with_one() -> None:
    assert detection.returning(2, 3) == 1 / 512
    assert detection.returning(2, 511 + 3) == 1
    assert detection.returning(64, 511 + 64) == 511 / 512


def test_the_hour_is_one_reseed() -> None:
    assert detection.hours() == {"RDSEED": 16, "RDRAND": 2 * 2052}


@pytest.mark.parametrize(("computed", "count"), [(0.4, 500), (0.4, 300), (0.0, 1), (1.0, 1023)])
def test_what_was_tried_must_agree_with_what_is_computed(computed: float, count: int) -> None:
    fault = detection.FAULTS[0]
    detection.compare(fault, "start-up", computed, round(1024 * computed), 1024)
    with pytest.raises(RuntimeError, match=f"found in {count} of 1024 trials"):
        detection.compare(fault, "start-up", computed, count, 1024)


def test_a_formula_that_is_wrong_makes_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{f.name} {lane} 0 0 0 0" for f in detection.FAULTS for lane in range(1)]
    monkeypatch.setattr(detection.faults, "run", lambda *_: "\n".join(lines))
    with pytest.raises(RuntimeError, match=r"all zeros, lane 0, start-up: computed 1\.0000, found in 0 of 1024"):
        detection.table()
    monkeypatch.setattr(detection.faults, "run", lambda *_: "\n".join(lines[1:]))
    with pytest.raises(RuntimeError, match="only one of both knows"):
        detection.table()
