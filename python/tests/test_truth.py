"""Loaders whose limit is known, on the virtual clock: each is named rightly, every time."""

from __future__ import annotations

import unittest

import feedline
from feedline import limits
from feedline.machine import Use
from feedline.spans import Span

from .played import Loader, Step, World

SEEDS = range(20)


def diagnosed(
    world: World, read_ms: float, decode_ms: float, step_ms: float, workers: int = 4, steps: int = 200
) -> feedline.Report:
    loader = Loader(world, read_ms, decode_ms, workers=workers)
    return feedline.diagnose(loader, Step(world, step_ms), steps=steps, state=[], around=world.around())


class KnownLimits(unittest.TestCase):
    def every(self, name: str, **parts: float) -> None:
        for workers in (0, 1, 4):
            # So many workers share the work of a batch.
            share = max(1, workers)
            for seed in SEEDS:
                with self.subTest(workers=workers, seed=seed):
                    report = diagnosed(
                        World(seed), parts["read_ms"] * share, parts["decode_ms"] * share, parts["step_ms"], workers
                    )
                    self.assertEqual(report.limit.name, name, str(report))

    def test_slow_storage_is_named(self) -> None:
        self.every("storage", read_ms=40, decode_ms=5, step_ms=10)

    def test_slow_decoding_is_named(self) -> None:
        self.every("decoding", read_ms=5, decode_ms=40, step_ms=10)

    def test_a_slow_step_is_named(self) -> None:
        self.every("step", read_ms=1, decode_ms=1, step_ms=40)

    def test_parts_that_weigh_alike_are_named_together(self) -> None:
        self.every("both", read_ms=20, decode_ms=20, step_ms=5)

    def test_on_a_busy_machine_decoding_that_others_made_slow_is_theirs(self) -> None:
        for seed in SEEDS:
            for others in (2.0, 5.0):
                with self.subTest(seed=seed, others=others):
                    # By itself the loader takes 8 ms and a step 10.
                    report = diagnosed(World(seed, others=others), 2, 6, 10, workers=1)
                    self.assertEqual(report.limit.name, "others", str(report))
                    self.assertIn("others used 100 % of the processors", report.limit.why)

    def test_a_storage_so_slow_that_others_change_nothing_is_named_on_a_busy_machine_too(self) -> None:
        for seed in SEEDS:
            with self.subTest(seed=seed):
                report = diagnosed(World(seed, others=2.0), 80, 2, 10, workers=1)
                self.assertEqual(report.limit.name, "storage", str(report))

    def test_a_storage_that_changes_from_no_limit_to_one_is_uncertain(self) -> None:
        world = World(1)
        loader = Loader(world, 5, 30, workers=1)
        step = Step(world, 10)
        passes = iter(range(100))
        fresh = loader.__iter__

        class Changing(Loader):
            def __iter__(self):  # type: ignore[no-untyped-def]
                loader.read_ns = 5e6 if next(passes) < 5 else 120e6
                return fresh()

        changing = Changing(world, 5, 30, workers=1)
        report = feedline.diagnose(changing, step, steps=200, state=[], around=world.around())
        self.assertEqual(report.limit.name, "uncertain")
        self.assertIn("rounds of the job took", report.limit.why)


class Predictions(unittest.TestCase):
    def test_what_removing_a_part_gives_is_what_is_then_measured(self) -> None:
        cases = [(40, 5, 10, 0), (5, 40, 10, 0), (160, 20, 25, 4), (20, 160, 25, 4), (120, 60, 40, 4), (30, 15, 40, 0)]
        for read_ms, decode_ms, step_ms, workers in cases:
            with self.subTest(read_ms=read_ms, decode_ms=decode_ms, step_ms=step_ms, workers=workers):
                without = diagnosed(World(3), read_ms, decode_ms, step_ms, workers, steps=400).limit.without
                for part, left in (("storage", (0, decode_ms)), ("decoding", (read_ms, 0))):
                    then = diagnosed(World(4), *left, step_ms, workers).parts.busy
                    assert then is not None
                    self.assertLess(abs(without[part].mean - then.mean), 0.05, part)

    def test_workers_that_are_suggested_do(self) -> None:
        report = diagnosed(World(5), 10, 150, 20, workers=4)
        self.assertTrue(report.limit.advice.startswith("9 workers instead of 4"), report.limit.advice)
        then = diagnosed(World(6), 10, 150, 20, workers=9).parts.busy
        assert then is not None
        self.assertGreater(then.low, limits.FED)


class Rules(unittest.TestCase):
    def parts(self, **given: tuple[float, float, float]) -> limits.Parts:
        spans = {name: Span(*span) if name.endswith("busy") else Span(*(ms * 1e6 for ms in span)) for name, span in given.items()}
        return limits.Parts(workers=1, **spans)  # type: ignore[arg-type]

    def test_intervals_that_overlap_name_nothing(self) -> None:
        found = limits.find(
            self.parts(
                busy=(0.5, 0.4, 0.6),
                job=(20, 19, 21),
                step=(10, 9, 11),
                loader=(20, 14, 26),
                warm=(13, 8, 18),
                warm_job=(13, 9, 18),
                warm_busy=(0.75, 0.5, 0.9),
            )  # fmt: skip
        )
        self.assertEqual(found.name, "uncertain")
        self.assertIn("intervals overlap", found.why)

    def test_what_loader_and_step_wait_for_each_other_by_turns_may_be_gone_without_decoding(self) -> None:
        # The loader takes a tenth longer than the step, all of it decoding, and both vary: a job takes longer than either.
        parts = self.parts(
            busy=(0.8, 0.79, 0.81), job=(24.6, 24.4, 24.8), step=(20, 19.8, 20.2), loader=(22, 21.8, 22.2),
            warm=(21.6, 21.4, 21.8), warm_job=(24.6, 24.4, 24.8), warm_busy=(0.82, 0.81, 0.83),
        )  # fmt: skip
        parts.loader_cpu_ns = 21e6
        found = limits.find(parts)
        self.assertEqual(found.name, "decoding", found.why)
        self.assertGreater(found.without["decoding"].high, 0.99)

    def test_a_share_on_both_sides_of_the_line_names_nothing(self) -> None:
        found = limits.find(self.parts(busy=(0.9, 0.85, 0.95)))
        self.assertEqual((found.name, found.advice), ("uncertain", "measure more steps"))

    def test_more_workers_are_not_suggested_where_processors_are_used_up(self) -> None:
        parts = self.parts(
            busy=(0.5, 0.49, 0.51), job=(20, 20, 20), step=(10, 10, 10), loader=(20, 20, 20), warm=(19, 19, 19),
            warm_job=(19, 19, 19), warm_busy=(0.52, 0.52, 0.52),
        )  # fmt: skip
        parts.cores, parts.loader_cpu_ns = 2, 38e6
        found = limits.find(parts)
        self.assertEqual(found.name, "decoding")
        self.assertEqual(found.advice, "more workers do not help: 2 processors decode for 53 % at most; decode faster")

    def test_own_workers_that_wait_for_each_other_are_not_others(self) -> None:
        self.assertFalse(Use(1000, 2000, 1500, 20, 2).held_up)
        self.assertTrue(Use(1000, 1000, 300, 900, 2).held_up)
        self.assertFalse(Use(1000, 100, 20, 900, 2).held_up)
        self.assertEqual(Use(1000, 100, 9000, 900, 2).taken_share, 0.95)


if __name__ == "__main__":
    unittest.main()
