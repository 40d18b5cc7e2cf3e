"""Intervals, and what widens them."""

from __future__ import annotations

import os
import random
import tempfile
import unittest
from pathlib import Path

from feedline import evidence, machine, spans
from feedline.evidence import Played
from feedline.machine import Use
from feedline.scenario import Scenario
from feedline.stamps import Waits

from .played import MS

QUIET = Use(1000, 500, 0, 0, 2)


def played(wait_ms: float, step_ms: float, use: Use = QUIET, batches: int = 40) -> Played:
    waits = Waits(batches)
    # Batches differ a little, in a rhythm that no block follows.
    waits.wait_ns.extend(int(wait_ms * MS * (1 + 0.01 * (at % 3))) for at in range(batches))
    waits.step_ns.extend([int(step_ms * MS)] * batches)
    return Played(waits, use, 0)


class Intervals(unittest.TestCase):
    def test_the_interval_is_that_of_students_t_over_blocks(self) -> None:
        found = spans.mean([at // 2 for at in range(2, 18)])
        assert found is not None
        # Blocks of 1 to 8: a mean of 4.5, and 2.365 times 2.449 by the root of 8 around it.
        self.assertAlmostEqual(found.mean, 4.5)
        self.assertAlmostEqual(found.low, 2.452, places=3)
        self.assertAlmostEqual(found.high, 6.548, places=3)

    def test_it_holds_the_truth_as_often_as_it_says(self) -> None:
        drawn = random.Random(1)
        held = 0
        for _ in range(1000):
            found = spans.mean([drawn.gauss(10, 2) for _ in range(80)])
            assert found is not None
            held += found.low <= 10 <= found.high
        self.assertTrue(930 <= held <= 970, held)

    def test_a_ratio_is_of_sums_and_not_a_mean_of_ratios(self) -> None:
        found = spans.ratio([1.0, 9.0] * 8, [10.0, 10.0] * 8)
        assert found is not None
        self.assertEqual((found.mean, found.low, found.high), (0.5, 0.5, 0.5))
        self.assertIsNone(spans.ratio([1.0] * 15, [2.0] * 15))


class Doubts(unittest.TestCase):
    def test_what_others_may_have_taken_may_not_be_of_the_job(self) -> None:
        taken = Use(1000, 500, 400, 1000, 2)
        quiet, held_up = (evidence.batch_ns([played(10, 30, use)], 1) for use in (QUIET, taken))
        assert quiet is not None and held_up is not None
        self.assertEqual((held_up.mean, held_up.high), (quiet.mean, quiet.high))
        self.assertAlmostEqual(held_up.low, 0.6 * quiet.low)
        busy = evidence.busy([played(10, 30, taken)], 1)
        assert busy is not None
        # Of 40 ms others took 16 at most: from the steps, 14 of 24; from the waits, all 24.
        self.assertAlmostEqual(busy.low, 14 / 24, delta=0.01)
        self.assertEqual(busy.high, 1.0)

    def test_rounds_that_differ_leave_open_which_is_true(self) -> None:
        rounds = [played(10, 30), played(40, 30)]
        found = evidence.batch_ns(rounds, 1)
        assert found is not None
        self.assertLess(found.low, 40.2 * MS)
        self.assertGreater(found.high, 70 * MS)
        self.assertEqual(evidence.unsteady(rounds, 1), "40.1 and 70.4 ms a batch")
        self.assertIsNone(evidence.unsteady([played(10, 30), played(11, 30)], 1))


class Processors(unittest.TestCase):
    def test_those_of_a_container_are_what_its_groups_may_use(self) -> None:
        here = len(os.sched_getaffinity(0))
        one, half = "100000 100000\n", "50000 100000\n"
        for groups, files, cores in (
            ("0::/pod/job\n", {"pod/cpu.max": one, "pod/job/cpu.max": "900000 100000\n"}, 1),
            ("0::/\n", {"cpu.max": half}, 1),
            ("0::/\n", {"cpu.max": "max 100000\n"}, here),
            ("0::/\n", {}, here),
            ("4:cpu,cpuacct:/pod\n1:name=systemd:/\n", {
                "cpu,cpuacct/pod/cpu.cfs_quota_us": "100000\n", "cpu,cpuacct/pod/cpu.cfs_period_us": "100000\n",
            }, 1),
            ("4:cpu:/pod\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, here),
            ("3:memory:/pod\n", {"memory/pod/cpu.cfs_quota_us": "1\n", "memory/pod/cpu.cfs_period_us": "100000\n"}, here),
            ("", {}, here),
        ):  # fmt: skip
            with self.subTest(groups=groups, files=files), tempfile.TemporaryDirectory() as root:
                files = {"proc/self/cgroup": groups, **{f"sys/fs/cgroup/{name}": text for name, text in files.items()}}
                for name, text in files.items():
                    Path(root, name).parent.mkdir(parents=True, exist_ok=True)
                    Path(root, name).write_text(text)
                self.assertEqual(machine.cores(root), cores)


class Texts(unittest.TestCase):
    def test_a_scenario_says_the_job_in_feedlines_words(self) -> None:
        text = Scenario(4, 1.5e6, 5_000, 2, 8, 16, "/data", ".jpg", "files", 2.5e6).text()
        for line in (
            'need = { batch = 4, step_time = "1500us", sample_size = "5000 B", count = 1 }',
            'shards = "**/*.jpg"',
            "readers = 2",
            "prefetch = 8",
            "steps = 16",
            'decode = { cost = "2500us" }',
        ):
            self.assertIn(f"\n{line}\n", text)


if __name__ == "__main__":
    unittest.main()
