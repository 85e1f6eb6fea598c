# SPDX-License-Identifier: Apache-2.0
"""entered.py: the page on architecture says no less than is entered; a child makes a seed, a warm process does not."""

import pytest

import entered
from tests.support.builds import need, said_by

pytestmark = pytest.mark.nightly("the figures of architecture.md as they are")


def test_the_page_says_no_less() -> None:
    need("addr2line")
    said_by(entered.__file__)


def test_what_was_followed_is_a_draw() -> None:
    need("addr2line")
    entered.build()
    files = {draw: {place.partition(":")[0] for _, _, place in trace} for draw, trace in entered.traces().items()}
    generator = {"mixing/drbg/ctr_drbg.h", "mixing/drbg/request_entropy.h"}
    seed = {"mixing/entropy/seed.c", "mixing/entropy/noise.c"}
    assert generator <= files["warm"] and not seed & files["warm"]
    assert generator | seed <= files["child"]
