# SPDX-License-Identifier: Apache-2.0
"""The arithmetic behind docs/entropy.md; test_tables.py compares its tables."""

import math

import cutoffs
from entropy import RDRAND_RUN_WORDS, constants, deficit, describe_output, rdrand_entropy


def test_cutoffs_are_the_derived_ones() -> None:
    known, derived = constants(), cutoffs.derived()
    assert {name: known.get(name) for name in derived} == derived


def test_output_entropy_of_the_standard() -> None:
    """Worked by hand: what goes in is spread over more than fits, so that less than a bit is lost, or just one."""
    assert 0.99 < deficit(256, 128, 128, 128) < 1.01
    assert describe_output(512, 128, 256) == "128(1 - 2^-134)"
    assert describe_output(65792, 256, 128) == "127.0"
    assert describe_output(131328, 128, 256) == "128(1 - 2^-134)"
    # Hardly any entropy in: hardly any out.
    assert round(deficit(256, 128, 128, 10), 3) == 118


def test_rdrand_is_worth_what_its_reseeds_are_in_the_worst_window() -> None:
    """Counted word by word: every place in a run where a window may begin, and the runs as long as they get."""
    for words in (4, 1024, 1028, 2048, 2050, 2052, 3076):
        worst = min(
            sum(begin + words - reseed >= 2 for reseed in range(RDRAND_RUN_WORDS, begin + words, RDRAND_RUN_WORDS))
            for begin in range(1, RDRAND_RUN_WORDS + 1)
        )
        assert rdrand_entropy(words) == 128 * worst, words


def test_alarm_rates_of_the_adaptive_proportion_test() -> None:
    """The terms of the binomial distribution that matter, by hand: 511 words any of which is the first one again, and
    the greatest of the terms for bytes."""
    assert abs(cutoffs.apt_alarm(32) - (math.log2(511) - 32)) < 1e-6
    largest = math.log2(math.comb(511, 15)) - 15 * 8 + 496 * math.log2(255 / 256)
    assert largest < cutoffs.apt_alarm(8) < largest + 0.3
    assert cutoffs.bits_alarm() == 6 - 63
    assert cutoffs.bits_alarm(128) == -121
