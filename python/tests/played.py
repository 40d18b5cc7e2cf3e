"""A job that is played: loaders, steps and a machine on a virtual clock, with their truth known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from feedline import _binary, machine
from feedline.diagnosis import Around
from feedline.opens import Opens
from feedline.scenario import Scenario

MS = 1_000_000
BATCH = 4


class World:
    """A clock that only what is played moves on, a page cache, and the processors."""

    def __init__(self, seed: int, *, noise: float = 0.1, others: float = 0.0) -> None:
        self.now_ns = 0
        self.noise = random.Random(seed)
        self.spread = noise
        self.others = others
        """How long others hold a processor, for each time that the job wants one."""
        self.cached: set[str] = set()
        self.opened: list[str] = []
        self.own_ns = self.delayed_ns = self.others_ns = 0
        self.played: list[Scenario] = []

    def clock(self) -> int:
        return self.now_ns

    def lasts(self, mean_ns: float) -> float:
        """A time drawn around its mean, of a storage or an accelerator."""
        return mean_ns * max(0.1, self.noise.gauss(1, self.spread))

    def computes(self, mean_ns: float) -> float:
        """A time of a processor, longer where others hold it."""
        drawn = self.lasts(mean_ns)
        delayed = drawn * self.others * self.noise.uniform(0.5, 1.5)
        self.own_ns += int(drawn)
        self.delayed_ns += int(delayed)
        return drawn + delayed

    def moment(self, now_ns: int) -> machine.Moment:
        others_ns = int(min(1.0, self.others) * now_ns * (machine.os.cpu_count() or 1))
        return machine.Moment(now_ns, self.own_ns + others_ns, {1: (self.own_ns, self.delayed_ns)}, {1: 100 * len(self.opened)})

    @contextmanager
    def hearing(self, loader: Any) -> Iterator[Opens]:
        heard = Heard()
        before = len(self.opened)
        yield heard
        heard.order[:] = self.opened[before:]

    def evict(self, files: Sequence[str]) -> float:
        self.cached -= set(files)
        return 0.0

    def fill(self, files: Sequence[str]) -> float:
        self.cached |= set(files)
        return 1.0

    def play(self, scenario: Scenario) -> _binary.Answer:
        self.played.append(scenario)
        interval: _binary.Interval = {"mean": 0.97, "low": 0.96, "high": 0.98}
        return {"verdicts": [{"target": "here", "deciding": {"utilization": interval, "doubts": []}}]}

    def around(self) -> Around:
        return Around(self.clock, self.moment, self.hearing, self.evict, self.fill, lambda: 16, self.play)


class Heard(Opens):
    """Opened files that are nowhere on this machine."""

    def bytes(self) -> int:
        return 100 * len(self.order)


class Batch(list):
    """Samples of one batch."""


class Loader:
    """As `DataLoader`: workers that read and decode one batch each, batches ahead, the same files in every pass."""

    def __init__(self, world: World, read_ms: float, decode_ms: float, *, workers: int = 4, batches: int = 400) -> None:
        self.world = world
        self.read_ns, self.decode_ns = read_ms * MS, decode_ms * MS
        self.num_workers = workers
        self.prefetch_factor = 2 if workers else None
        self.batches = batches

    def __len__(self) -> int:
        return self.batches

    def fetch_ns(self, batch: int) -> float:
        files = [f"/data/{batch * BATCH + at}.jpg" for at in range(BATCH)]
        cold = [file for file in files if file not in self.world.cached]
        self.world.opened += files
        self.world.cached |= set(files)
        return self.world.lasts(self.read_ns * len(cold) / BATCH) + self.world.computes(self.decode_ns)

    def __iter__(self) -> Iterator[Batch]:
        if not self.num_workers:
            for batch in range(self.batches):
                self.world.now_ns += int(self.fetch_ns(batch))
                yield Batch(range(BATCH))
            return
        free_ns = [float(self.world.now_ns)] * self.num_workers
        ready_ns: list[float] = []
        ahead = self.num_workers * (self.prefetch_factor or 2)
        for batch in range(self.batches):
            while len(ready_ns) < min(self.batches, batch + ahead):
                worker = len(ready_ns) % self.num_workers
                begin_ns = max(free_ns[worker], self.world.now_ns)
                free_ns[worker] = begin_ns + self.fetch_ns(len(ready_ns))
                ready_ns.append(free_ns[worker])
            self.world.now_ns = max(self.world.now_ns, int(ready_ns[batch]))
            yield Batch(range(BATCH))


class Step:
    """A step that takes its time and nothing else."""

    def __init__(self, world: World, step_ms: float) -> None:
        self.world, self.step_ns, self.made = world, step_ms * MS, 0

    def __call__(self, batch: Any) -> None:
        self.made += 1
        self.world.now_ns += int(self.world.lasts(self.step_ns))
