# SPDX-License-Identifier: Apache-2.0
"""entered.py: it follows both draws from libcrypto's call on, and the page on architecture claims nothing smaller."""

from __future__ import annotations

import re

import pytest

import entered
from tests.support.builds import ROOT, need


@pytest.fixture(scope="module")
def traces() -> dict[str, entered.Trace]:
    need("addr2line")
    entered.build()
    return entered.traces()


def files_of(trace: entered.Trace) -> set[str]:
    return {entry.function.file for entry in trace}


@pytest.mark.parametrize("draw", entered.DRAWS)
def test_a_trace_starts_where_libcrypto_asks_for_bytes(traces: dict[str, entered.Trace], draw: str) -> None:
    called = [entry.function for entry in traces[draw] if entry.depth == 1]
    assert all(function.file.startswith("provider/rand/") for function in called)
    assert sum(function.name.endswith("generate") for function in called) == 1
    assert not [f.name for f in called if not f.name.endswith(("generate", "lock", "get_ctx_params"))]


def test_a_child_makes_a_seed_and_a_warm_process_does_not(traces: dict[str, entered.Trace]) -> None:
    generator = {"mixing/drbg/ctr_drbg.c", "mixing/drbg/request_entropy.c"}
    seed = {"mixing/entropy/seed.c", "mixing/entropy/noise.c"}
    assert generator <= files_of(traces["warm"]) and not seed & files_of(traces["warm"])
    assert generator | seed <= files_of(traces["child"])


def test_each_function_is_where_the_list_says(traces: dict[str, entered.Trace]) -> None:
    functions = {entry.function for trace in traces.values() for entry in trace}
    for function in functions:
        lines = (ROOT / function.file).read_text(encoding="utf-8").splitlines()[: int(function.line)]
        assert any(re.search(rf"\b{function.name}\b", line) for line in lines[-6:]), function


def test_the_list_has_each_of_them(traces: dict[str, entered.Trace]) -> None:
    printed = {tuple(line.split()[:2]) for line in entered.tree(traces["child"])}
    assert printed == {(e.function.name, f"{e.function.file}:{e.function.line}") for e in traces["child"]}


def understated(page: str, traces: dict[str, entered.Trace]) -> list[str]:
    """The draws of which a page says less than was measured."""
    found = []
    for draw, title in entered.DRAWS.items():
        row = re.search(rf"^\| {title} \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
        assert row, title
        said, now = entered.Figures(*map(int, row.groups())), entered.figures(traces[draw])
        if said.functions < now.functions or said.files < now.files or said.deep < now.deep:
            found.append(f"{title}: {now}")
    return found


def test_the_page_says_no_less(traces: dict[str, entered.Trace]) -> None:
    assert not understated((ROOT / "docs" / "develop" / "architecture.md").read_text(encoding="utf-8"), traces)


@pytest.mark.parametrize("column", range(3))
def test_a_page_that_says_less_is_found(traces: dict[str, entered.Trace], column: int) -> None:
    rows = entered.table(traces)
    assert not understated(rows, traces)
    numbers = re.findall(r" (\d+) \|", rows)
    less = rows.replace(f" {numbers[column]} |", f" {int(numbers[column]) - 1} |")
    assert len(understated(less, traces)) >= 1
