"""Jobs whose parts look like another part: none of them is named wrongly."""

from __future__ import annotations

import mmap
import os
import socket
import tempfile
import unittest
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import feedline
from feedline import opens, pagecache

from .played import MS, Loader, Step, World


def padded(length: int) -> Any:
    """A batch of four samples that are as long as the longest of them."""
    return SimpleNamespace(shape=(4, length))


class Misleading(unittest.TestCase):
    def setUp(self) -> None:
        self.world = World(7)

    def named(self, loader: Any, step: Any, **options: Any) -> tuple[str, str]:
        options = {"steps": 100, "state": [], "around": self.world.around(), **options}
        report = feedline.diagnose(loader, step, **options)
        return report.limit.name, str(report)

    def test_no_step_is_the_limit_where_nobody_saw_what_was_read(self) -> None:
        class Unheard(Loader):
            def fetch_ns(self, batch: int) -> float:
                return self.world.lasts(1 * MS)

        name, said = self.named(Unheard(self.world, 0, 0), Step(self.world, 20))
        self.assertEqual(name, "uncertain", said)
        self.assertIn("they may have come from memory", said)

    def test_no_step_is_the_limit_where_files_were_left_in_memory(self) -> None:
        name, said = self.named(Loader(self.world, 1, 1), Step(self.world, 40), evict=False)
        self.assertEqual(name, "uncertain", said)

    def test_files_that_each_pass_draws_anew_were_in_no_pass_out_of_memory(self) -> None:
        class Drawn(Loader):
            passes = 0

            def fetch_ns(self, batch: int) -> float:
                return super().fetch_ns(batch + 10_000 * self.passes)

            def __iter__(self) -> Iterator[Any]:
                self.passes += 1
                return super().__iter__()

        # In no pass are its files in memory, so storage is all of the loader, and reads like decoding.
        name, said = self.named(Drawn(self.world, 40, 1), Step(self.world, 5))
        self.assertEqual(name, "uncertain", said)
        self.assertIn("a later pass did not open 100 % of the files of the first", said)

    def test_samples_that_a_dataset_keeps_hide_storage(self) -> None:
        class Keeping(Loader):
            def fetch_ns(self, batch: int) -> float:
                if f"/data/{batch * 4}.jpg" in kept:
                    return self.world.lasts(1000)
                kept.update(f"/data/{batch * 4 + at}.jpg" for at in range(4))
                return super().fetch_ns(batch)

        kept: set[str] = set()
        name, said = self.named(Keeping(self.world, 40, 1, workers=0), Step(self.world, 5))
        self.assertEqual(name, "uncertain", said)
        self.assertIn("samples are kept", said)

    def test_reads_beside_the_opened_files_are_unseen_also_where_they_are_few(self) -> None:
        class Half(World):
            def moment(self, now_ns: int) -> Any:
                # Three times what was opened, and 3 MB in all.
                found = super().moment(now_ns)
                found.read_bytes[1] *= 150
                return found

        self.world = Half(3)
        name, said = self.named(Loader(self.world, 5, 40, workers=0), Step(self.world, 5))
        self.assertEqual(name, "uncertain", said)
        self.assertIn("more was read than the opened files hold", said)

    def test_what_comes_over_connections_is_no_decoding(self) -> None:
        class Connected(World):
            @contextmanager
            def hearing(self, loader: Any) -> Any:
                with super().hearing(loader) as heard:
                    yield heard
                heard.connections = 3

        self.world = Connected(3)
        name, said = self.named(Loader(self.world, 5, 40), Step(self.world, 5))
        self.assertEqual(name, "uncertain", said)
        self.assertIn("3 connections were begun", said)
        self.assertIn("no scenario", said)
        memory = Loader(self.world, 0, 40)
        name, said = self.named(Loader(self.world, 5, 40), Step(self.world, 5), without_storage=memory)
        self.assertEqual(name, "decoding", said)

    def test_a_loader_that_waits_for_something_else_does_not_decode(self) -> None:
        class Waiting(Loader):
            def fetch_ns(self, batch: int) -> float:
                return super().fetch_ns(batch) + self.world.lasts(40 * MS)

        name, said = self.named(Waiting(self.world, 5, 5), Step(self.world, 5))
        self.assertEqual(name, "uncertain", said)
        self.assertIn("the rest is neither its files nor decoding", said)

    def test_shares_that_are_both_small_are_not_alike_for_that(self) -> None:
        name, said = self.named(Loader(self.world, 10, 100, workers=0), Step(self.world, 1))
        self.assertEqual(name, "decoding", said)

    def test_a_step_for_a_short_batch_stands_for_no_other(self) -> None:
        world = self.world

        class Sorted(Loader):
            def __iter__(self) -> Iterator[Any]:
                for at, batch in enumerate(super().__iter__()):
                    yield batch[:1] if at == 0 else batch

        def step(batch: Any) -> None:
            world.now_ns += int(world.lasts(3 * MS * len(batch)))

        # A job of 4 + 8 + 12 ms: without storage 60 % busy, without decoding 75 %. Steps of 3 ms would say storage.
        name, said = self.named(Sorted(world, 4, 8, workers=0), step)
        self.assertEqual(name, "decoding", said)
        self.assertIn("step of the job from memory", said)

    def unlike(self, sizes: Iterable[int], batches: Any, *parts_ms: float, slowed: int = 1, workers: int = 4) -> tuple[str, str]:
        """What is named where a step takes a millisecond for each unit of its batch, and longer beside its loader."""
        world = self.world

        class Unlike(Loader):
            on = False

            def __iter__(self) -> Iterator[Any]:
                self.on = True
                try:
                    yield from (batches(size) for size, _ in zip(sizes, super().__iter__()))
                finally:
                    self.on = False

        def step(batch: Any) -> None:
            size = batch.size if hasattr(batch, "size") else batch.shape[1]
            world.now_ns += int(world.lasts(size * (slowed if loader.on else 1) * MS))

        loader = Unlike(world, *parts_ms, workers=workers)
        return self.named(loader, step)

    def test_a_long_step_for_one_batch_stands_for_no_other(self) -> None:
        for batches in (lambda size: SimpleNamespace(size=size), padded):
            # Without storage 50 % busy, without decoding 25 %. Steps of 40 ms, as that of the first batch, would say decoding.
            name, said = self.unlike([40, *[4] * 400], batches, 12, 4, workers=0)
            self.assertEqual(name, "storage", said)
            self.assertIn("step of the job from memory", said)
            self.assertEqual("LACKS batches differ in size" in said, batches is padded)

    def test_steps_of_unlike_batches_are_the_limit_where_those_of_one_size_take_as_long_alone(self) -> None:
        for sizes, slowed, expected in (
            ([10, 40] * 200, 1, "step"),
            ([10, 40] * 200, 3, "uncertain"),
            ([10] + [40] * 399, 1, "uncertain"),
        ):
            name, said = self.unlike(sizes, padded, 1, 1, slowed=slowed)
            self.assertEqual(name, expected, said)

    def test_a_step_that_its_loader_slows_is_not_the_limit(self) -> None:
        world = self.world

        class Beside(Loader):
            on = False

            def __iter__(self) -> Iterator[Any]:
                self.on = True
                try:
                    yield from super().__iter__()
                finally:
                    # Its threads end with the pass.
                    self.on = False

        loader = Beside(world, 1, 1)

        def step(batch: Any) -> None:
            world.now_ns += int(world.lasts((30 if loader.on else 10) * MS))

        name, said = self.named(loader, step)
        self.assertEqual(name, "uncertain", said)
        self.assertIn("a step takes 30", said)

    def test_no_step_is_the_limit_of_passes_that_are_little_longer_than_what_is_fetched_ahead(self) -> None:
        for batches, steps, expected in ((400, 40, "uncertain"), (400, 200, "step"), (20, 200, "step")):
            name, said = self.named(Loader(self.world, 1, 1, workers=8, batches=batches), Step(self.world, 40), steps=steps)
            self.assertEqual(name, expected, said)
            self.assertEqual("a pass of 20 batches tells little" in said, expected == "uncertain")

    def test_what_is_fetched_ahead_is_no_second_file_of_a_sample(self) -> None:
        # Of 17 batches that come 33 are fetched.
        loader = Loader(self.world, 40, 5, workers=8)
        report = feedline.diagnose(loader, Step(self.world, 5), steps=34, state=[], around=self.world.around())
        assert report.scenario is not None, str(report)
        self.assertEqual(report.scenario.batch, 4)

    def test_no_step_is_the_limit_where_passes_are_made_of_their_beginning(self) -> None:
        class Starting(Loader):
            persistent_workers = False

            def __iter__(self) -> Iterator[Any]:
                self.world.now_ns += 5000 * MS
                return super().__iter__()

        # A pass of 100 batches takes 5 s for its first, and 4 s for all others.
        for batches, persistent, expected in ((100, False, "uncertain"), (100, True, "step"), (10_000, False, "step")):
            loader = Starting(self.world, 1, 1, batches=batches)
            loader.__dict__["persistent_workers"] = persistent
            name, said = self.named(loader, Step(self.world, 40))
            self.assertEqual(name, expected, said)
            self.assertEqual("once the first is, and that one takes 5" in said, expected == "uncertain")

    def test_a_first_step_that_takes_long_fills_no_buffer_for_those_that_are_measured(self) -> None:
        world = self.world

        def step(batch: Any) -> None:
            world.now_ns += int(world.lasts((10 if compiled else 5000) * MS))
            compiled.append(True)

        # 12 ms a batch by eight workers, and 16 batches that were fetched while the step compiled would hide it for 96 steps.
        compiled: list[bool] = []
        report = feedline.diagnose(Loader(world, 8, 96, workers=8), step, steps=100, state=[], around=world.around())
        assert report.parts.warm_busy is not None
        self.assertAlmostEqual(report.parts.warm_busy.mean, 10 / 12, delta=0.04)

    def test_a_step_may_take_its_batch_apart(self) -> None:
        class Named(Loader):
            def __iter__(self) -> Iterator[Any]:
                return ({"images": batch, "labels": [1]} for batch in super().__iter__())

        def step(batch: Any) -> None:
            batch.pop("labels")
            self.world.now_ns += 5 * MS

        self.assertEqual(self.named(Named(self.world, 40, 5), step)[0], "storage")


class Proofs(unittest.TestCase):
    """The page cache and the hook, on real files."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def files(self, count: int, size: int, suffix: str) -> list[str]:
        found = [os.path.join(self.folder, f"{at}{suffix}") for at in range(count)]
        for path in found:
            Path(path).write_bytes(os.urandom(size))
        return found

    def test_large_files_that_stay_are_found_among_as_many_small_ones(self) -> None:
        small, large = self.files(320, 200, ".json"), self.files(320, 40_000, ".jpg")
        both = [path for pair in zip(small, large) for path in pair]
        os.sync()
        maps = []
        for path in large:
            with open(path, "rb") as file:
                # What is mapped and was touched stays.
                maps.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
                sum(maps[-1][:: mmap.PAGESIZE])
        there = pagecache.evict(both)
        if there is None:
            self.skipTest("the kernel does not tell what is in memory")
        self.assertGreater(there, 0.9)

    def test_files_that_are_gone_end_nothing(self) -> None:
        files = self.files(3, 5000, ".bin")
        with opens.hearing([]) as heard:
            for path in files:
                Path(path).read_bytes()
            os.remove(files[1])
        pagecache.fill(files)
        pagecache.evict(files)
        self.assertEqual(heard.bytes(), 10_000)

    def test_connections_over_a_network_are_heard_and_are_no_files(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server, opens.hearing([]) as heard:
            socket.create_connection(server.getsockname()).close()
        self.assertEqual((heard.connections, heard.order), (1, []))


if __name__ == "__main__":
    unittest.main()
