# SPDX-License-Identifier: Apache-2.0
"""Means with their confidence interval, and what may be said of a ratio."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# Student's t: 97.5% of a distribution with so many degrees of freedom lies below. Between two, the first serves.
T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179}
T |= {15: 2.131, 20: 2.086, 30: 2.042, 60: 2.0, 120: 1.98}


def quantile(freedom: int) -> float:
    return T[max(known for known in T if known <= freedom)]


@dataclass(frozen=True)
class Interval:
    """A mean, and half of its 95% confidence interval; infinite for a single value."""

    mean: float
    half: float

    def resolves(self, other: float) -> bool:
        return abs(self.mean - other) > self.half

    def text(self) -> str:
        """Of a ratio. What lies within the noise is no difference."""
        if math.isinf(self.half):
            return f"{self.mean:.3f}, once"
        said = f"{self.mean:.3f}" if self.resolves(1) else "none"
        return f"{said} ±{self.half:.3f}"


def interval(values: Sequence[float]) -> Interval:
    if len(values) < 2:
        return Interval(values[0], math.inf)
    error = statistics.stdev(values) / math.sqrt(len(values))
    return Interval(statistics.fmean(values), quantile(len(values) - 1) * error)
