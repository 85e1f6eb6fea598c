# SPDX-License-Identifier: Apache-2.0
"""The arithmetic: the highest rate that keeps the latency, ratios, and their spread."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

LIMIT_MS = 2000  # of the papers: how long somebody waits for a small page


@dataclass(frozen=True)
class Step:
    """One run with so many connections at once."""

    concurrency: int
    rate: float  # requests or MB a second
    longest_ms: float
    failed: int
    cpu_us: float  # the server's, for one request

    @property
    def keeps_the_limit(self) -> bool:
        return self.failed == 0 and self.longest_ms < LIMIT_MS


def highest(ladder: Iterable[int], run: Callable[[int], Step]) -> Step | None:
    """Climbs until the limit is broken or the rate falls twice in turn; the best step on the way that kept it."""
    best: Step | None = None
    falls = 0
    for concurrency in ladder:
        step = run(concurrency)
        if not step.keeps_the_limit:
            break
        if best is None or step.rate > best.rate:
            best, falls = step, 0
        else:
            falls += 1
        if falls == 2:
            break
    return best


@dataclass(frozen=True)
class Spread:
    """Over repeats."""

    median: float
    low: float
    high: float

    def text(self, digits: int = 2) -> str:
        return f"{self.median:.{digits}f} ({self.low:.{digits}f}..{self.high:.{digits}f})"

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.median(values), min(values), max(values))


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Of pairs that were measured one right after the other."""
    return spread([a / b for a, b in zip(ours, theirs, strict=True)])
