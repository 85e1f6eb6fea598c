# SPDX-License-Identifier: Apache-2.0
"""Records of TLS on drng, with the kernel's TLS asked for and not: who serves, and what a record draws."""

from __future__ import annotations

import pytest

from tests.bench.tls import records
from tests.support.builds import CONF, RELEASE

AEAD = [suite.title for suite in records.SUITES if "GCM" in suite.title]
CBC = [suite.title for suite in records.SUITES if "CBC" in suite.title]


@pytest.fixture(scope="module", params=[False, True], ids=["libssl", "kernel"])
def drawn(request: pytest.FixtureRequest) -> tuple[bool, dict[str, records.Drawn]]:
    env = RELEASE.environment({"OPENSSL_CONF": str(CONF / "drng.cnf")})
    return request.param, records.measure(request.param, env)


def test_the_connection_is_served_by_drng(drawn: tuple[bool, dict[str, records.Drawn]]) -> None:
    """Its counters count nothing else; a handshake draws keys and randoms of both sides."""
    for title in (*AEAD, *CBC):
        assert drawn[1][title].connection >= 3, title


def test_a_record_of_an_aead_draws_nothing(drawn: tuple[bool, dict[str, records.Drawn]]) -> None:
    """Its nonce is a counter."""
    assert len(AEAD) == 2
    assert {(drawn[1][title].requests, drawn[1][title].bytes) for title in AEAD} == {(0, 0)}


def test_a_record_of_cbc_draws_its_iv(drawn: tuple[bool, dict[str, records.Drawn]]) -> None:
    """By libssl in either case: the kernel makes no records of CBC."""
    for title in CBC:
        assert drawn[1][title].requests == pytest.approx(1, abs=0.05)
        assert drawn[1][title].bytes == pytest.approx(16, abs=1)
        assert not drawn[1][title].kernel


def test_the_kernel_makes_the_records_where_it_can(drawn: tuple[bool, dict[str, records.Drawn]]) -> None:
    asked, by_suite = drawn
    if asked:
        missing = records.why_no_kernel_tls()
        if missing:
            pytest.skip(f"only what happens without it was counted: {missing}")
    assert {by_suite[title].kernel for title in AEAD} == {asked}


def test_the_table_says_what_was_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = dict.fromkeys((*AEAD, *CBC), records.Drawn(0.0, 0.0, 9.0, False))
    monkeypatch.setattr(records, "measure", lambda kernel, env: figures)
    monkeypatch.setattr(records, "why_no_kernel_tls", lambda: "it was taken away")
    assert records.markdown({}).endswith("\n\nBy the kernel: not measured on this machine, since it was taken away.\n")
    monkeypatch.setattr(records, "why_no_kernel_tls", lambda: None)
    text = records.markdown({})
    assert text.count("| by the kernel, which did not make the records |") == len(figures)
    assert text.count("| without the kernel |") == len(figures)
