"""Means with 95 % intervals over blocks of batches.

Batches of a loader are not independent: workers end together, buffers drain together. A block is longer than that, so the
block is the sample. With too few batches there is no interval, and nothing rests on the mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

BLOCKS = 8
BATCHES_MIN = 2 * BLOCKS
# Student's t, two-sided 95 %, for BLOCKS - 1 = 7 degrees of freedom.
T_95 = 2.365
# The same for a line through BATCHES_MIN points, with two degrees fewer; a little wide for more of them.
T_95_LINE = 2.145


@dataclass(frozen=True)
class Span:
    """A mean and the 95 % interval around it."""

    mean: float
    low: float
    high: float

    def percent(self) -> str:
        """A share as people read it: `41 %`, or `38-44 %` where the interval is wider than a point."""
        low, high = round(100 * self.low), round(100 * self.high)
        return f"{low}-{high} %" if high - low > 1 else f"{round(100 * self.mean)} %"

    def apart(self, other: Span) -> bool:
        """Whether the intervals have nothing in common."""
        return self.low > other.high or other.low > self.high


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Span | None:
    """The sum of the parts by the sum of the wholes, with the interval of that over blocks; None of too few batches."""
    if len(parts) < BATCHES_MIN or sum(wholes) <= 0:
        return None
    length = len(parts) // BLOCKS
    # What does not fill a block is left out at the front, where a job is least like itself.
    first = len(parts) - length * BLOCKS
    blocks = []
    for at in range(first, len(parts), length):
        whole = sum(wholes[at : at + length])
        if whole <= 0:
            return None
        blocks.append(sum(parts[at : at + length]) / whole)
    mean = sum(parts[first:]) / sum(wholes[first:])
    spread = math.sqrt(sum((block - mean) ** 2 for block in blocks) / (BLOCKS - 1))
    half = T_95 * spread / math.sqrt(BLOCKS)
    return Span(mean, max(0.0, mean - half), mean + half)


def mean(values: Sequence[float]) -> Span | None:
    """The mean of values with its interval over blocks; None of too few."""
    return ratio(values, [1.0] * len(values))


def slope(causes: Sequence[float], effects: Sequence[float], length: int) -> Span | None:
    """What an effect is more for each one that its cause is more, by a line through sums of so many steps.

    None of a cause that does not vary.
    """
    first = len(causes) % length
    x, y = ([sum(values[at : at + length]) for at in range(first, len(values), length)] for values in (causes, effects))
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    squares = sum((one - mean_x) ** 2 for one in x)
    if squares <= 0:
        return None
    found = sum((one - mean_x) * (other - mean_y) for one, other in zip(x, y)) / squares
    left = sum((other - mean_y - found * (one - mean_x)) ** 2 for one, other in zip(x, y))
    half = T_95_LINE * math.sqrt(left / (len(x) - 2) / squares)
    return Span(found, found - half, found + half)
