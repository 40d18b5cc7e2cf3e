"""From the passes over one part of a job to what they carry together: an interval that doubts widen.

What others may have taken from a pass is not part of the job, and rounds that differ leave open which of them is true. Neither is
an error to be averaged away: the interval spans both, and a limit that still stands out of it is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import spans
from .machine import Use
from .spans import Span
from .stamps import ALIKE, Waits

# Rounds of one part that are further apart than this, and than their intervals, were made on something that changed.
DRIFT = 0.25


@dataclass
class Played:
    """One pass over a part of the job."""

    waits: Waits
    use: Use
    read_bytes: int
    batch: Any = None
    """The first batch that came."""


def _whole(waits: Waits, at: int) -> int:
    return waits.wait_ns[at] + waits.step_ns[at]


def batch_ns(rounds: Sequence[Played], warm_up: int) -> Span | None:
    """Time from batch to batch. Its lower end is what may be left of it without others."""
    found = _together(rounds, warm_up, _whole, None)
    return found and Span(found.mean, found.low * (1 - _taken(rounds)), found.high)


def step_ns(rounds: Sequence[Played], warm_up: int) -> Span | None:
    """Time of a step of a job. Its lower end is what may be left of it without others."""
    found = _together(rounds, warm_up, lambda waits, at: waits.step_ns[at], None)
    return found and Span(found.mean, found.low * (1 - _taken(rounds)), found.high)


def step_of_size_ns(rounds: Sequence[Played], warm_up: int, size: int) -> Span | None:
    """Time of those steps of a job whose batches are about as large."""
    alike = [
        float(played.waits.step_ns[at])
        for played in rounds
        for at in played.waits.steady(warm_up)
        if abs(played.waits.sizes[at] - size) <= ALIKE * size
    ]
    found = spans.mean(alike)
    return found and Span(found.mean, found.low * (1 - _taken(rounds)), found.high)


def busy(rounds: Sequence[Played], warm_up: int) -> Span | None:
    """Share of the time in which steps ran; what others took may have been of the steps, or of the waits."""
    found = _together(rounds, warm_up, lambda waits, at: waits.step_ns[at], _whole)
    left = 1 - _taken(rounds)
    return found and Span(found.mean, max(0.0, (found.low - 1 + left) / left), min(1.0, found.high / left))


def unsteady(rounds: Sequence[Played], warm_up: int) -> str | None:
    """What the rounds took, where they do not agree."""
    each = _each(rounds, warm_up, _whole, None)
    if not _apart(each):
        return None
    return " and ".join(f"{span.mean / 1e6:.3g}" for span in each) + " ms a batch"


def _taken(rounds: Sequence[Played]) -> float:
    return max((played.use.taken_share for played in rounds), default=0.0)


def _hull(mean: float, each: Sequence[Span]) -> Span:
    return Span(mean, min(span.low for span in each), max(span.high for span in each))


def _apart(each: Sequence[Span]) -> bool:
    least, most = min(each, key=_mean, default=None), max(each, key=_mean, default=None)
    return bool(least and most and least.apart(most) and most.mean > (1 + DRIFT) * least.mean)


def _mean(span: Span) -> float:
    return span.mean


Stamp = Callable[[Waits, int], int]


def _each(rounds: Sequence[Played], warm_up: int, top: Stamp, bottom: Stamp | None) -> list[Span]:
    found = [spans.ratio(*_stamps([played], warm_up, top, bottom)) for played in rounds]
    return [span for span in found if span]


def _together(rounds: Sequence[Played], warm_up: int, top: Stamp, bottom: Stamp | None) -> Span | None:
    pooled = spans.ratio(*_stamps(rounds, warm_up, top, bottom))
    each = _each(rounds, warm_up, top, bottom)
    return _hull(pooled.mean, each) if pooled and _apart(each) else pooled


def _stamps(rounds: Sequence[Played], warm_up: int, top: Stamp, bottom: Stamp | None) -> tuple[list[float], list[float]]:
    at = [(played.waits, batch) for played in rounds for batch in played.waits.steady(warm_up)]
    return [top(*one) for one in at], [bottom(*one) if bottom else 1.0 for one in at]
