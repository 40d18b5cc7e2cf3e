"""Jobs that are drawn, each played without its parts as well: what is named is held against what removing it gives."""

from __future__ import annotations

import random
import unittest
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import feedline
from feedline.stamps import Pass, Waits

from .played import MS, Loader, World

JOBS = 200
# Of what is named a hundredth may be wrong, as an interval of 95 % may be.
WRONG_MAX = JOBS // 100
# What is as good as alike, or as 90 % busy, of shares that are known within some points.
POINTS = 0.04


class Drawn(Loader):
    """Batches of drawn sizes, which take decoding and the step as long as they are large, and which may say so."""

    def __init__(self, world: World, job: Job, read_ms: float, decode_ms: float) -> None:
        super().__init__(world, read_ms, decode_ms, workers=job.workers)
        self.job, self.whole_ns = job, decode_ms * MS

    def fetch_ns(self, batch: int) -> float:
        self.decode_ns = self.whole_ns * self.job.sizes[batch]
        return super().fetch_ns(batch)

    def __iter__(self) -> Iterator[Any]:
        for size, _ in zip(self.job.sizes, super().__iter__()):
            yield SimpleNamespace(size=size, **({"shape": (4, int(100 * size))} if self.job.tells else {}))


class Job:
    """A job of one seed."""

    def __init__(self, seed: int) -> None:
        drawn = random.Random(seed)
        self.seed, self.workers, self.noise = seed, drawn.choice((0, 1, 2, 4)), drawn.choice((0.05, 0.2))
        self.step_ms = drawn.choice((5, 20))
        each_ms = self.step_ms * max(1, self.workers)
        self.read_ms, self.decode_ms = (each_ms * drawn.choice((0.02, 0.1, 0.3, 0.7, 1.1, 1.5, 3)) for _ in range(2))
        kinds = drawn.choice(((1.0,), (0.25, 1.75), (0.5, 1, 1.5)))
        self.sizes = [drawn.choice(kinds) for _ in range(400)]
        self.sizes[0] = drawn.choice((0.15, 1, 5))
        self.tells = drawn.random() < 0.5
        self.first_step_ms = drawn.choice((0, 3000))

    def parts(self, world: World, read_ms: float, decode_ms: float) -> tuple[Drawn, Any]:
        """The loader and the step, the first of which takes longer."""
        left_ms = [self.first_step_ms]

        def step(batch: Any) -> None:
            world.now_ns += int(world.lasts(batch.size * self.step_ms * MS) + (left_ms.pop() * MS if left_ms else 0))

        return Drawn(world, self, read_ms, decode_ms), step

    def named(self) -> feedline.Report:
        world = World(self.seed, noise=self.noise)
        loader, step = self.parts(world, self.read_ms, self.decode_ms)
        return feedline.diagnose(loader, step, steps=200, state=[], batch=4, around=world.around())

    def busy(self, read_ms: float, decode_ms: float) -> float:
        """What it is with such parts, without a first step that takes longer."""
        world = World(self.seed + JOBS, noise=self.noise)
        loader, step = self.parts(world, read_ms, decode_ms)
        step(SimpleNamespace(size=1))
        waits = Waits(400, world.clock, events=False)
        waits.begin()
        for batch in Pass(iter(loader), waits):
            step(batch)
        found = waits.busy(2 * max(1, self.workers))
        assert found is not None
        return found.mean

    def right(self, name: str) -> bool:
        whole, without_storage = self.busy(self.read_ms, self.decode_ms), self.busy(0, self.decode_ms)
        without_decoding = self.busy(self.read_ms, 0)
        gain = without_storage - without_decoding
        if name in ("uncertain", "step"):
            return name == "uncertain" or whole >= 0.9 - POINTS
        return (
            whole < 0.9 + POINTS and {"storage": gain > -POINTS, "decoding": gain < POINTS, "both": abs(gain) < 3 * POINTS}[name]
        )


class Named(unittest.TestCase):
    def test_jobs_that_are_drawn_are_named_rightly_or_not_at_all(self) -> None:
        wrong, named = [], 0
        for seed in range(JOBS):
            job = Job(seed)
            report = job.named()
            named += report.limit.name != "uncertain"
            if not job.right(report.limit.name):
                wrong.append(f"seed {seed}: {report}")
        self.assertLessEqual(len(wrong), WRONG_MAX, "\n\n".join(wrong))
        self.assertGreater(named, JOBS // 2)


if __name__ == "__main__":
    unittest.main()
