"""What is measured of a loader, and what is left as it was."""

from __future__ import annotations

import copy
import errno
import inspect
import json
import multiprocessing
import os
import pickle
import random
import signal
import sys
import tempfile
import unittest
from collections import UserDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import feedline
from feedline import accelerators, rank_files
from feedline.stamps import Waits, length_of, size_of

from .played import MS, Batch, Loader, Step, World


class Own:
    """A loader with attributes of its own and no length."""

    def __init__(self, batches: list[Any]) -> None:
        self.batches = batches
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Any:
        return iter(self.batches)


def raising() -> Any:
    yield Batch([1])
    raise OSError("key=secret")


class Figures(unittest.TestCase):
    def test_waits_steps_first_batch_and_gap_are_what_the_clock_says(self) -> None:
        world = World(1, noise=0)
        loader = feedline.wrap(Loader(world, 2, 3, workers=0, batches=20), clock=world.clock)
        step = Step(world, 15)
        for _ in range(2):
            for batch in loader:
                step(batch)
            world.now_ns += 100 * MS
            world.cached.clear()
        waits = feedline.waits(loader)
        self.assertEqual(set(waits.wait_ns), {5 * MS})
        self.assertEqual(set(waits.step_ns), {15 * MS})
        self.assertEqual((waits.first_ns, waits.gap_ns, waits.begins), ([5 * MS, 5 * MS], [105 * MS], [0, 20]))
        busy = waits.busy()
        assert busy is not None
        self.assertAlmostEqual(busy.mean, 0.75)
        self.assertEqual(waits.lacks(), [])
        self.assertIn("in steps 75 % of 40 steps", str(waits))
        self.assertIn("first batch 0.005 s; those of 2 passes are 1 % of their time", str(waits))

    def test_measuring_ends_by_count_and_the_loader_goes_on(self) -> None:
        world = World(1, noise=0)
        loader = feedline.wrap(Loader(world, 2, 3, workers=0, batches=20), steps=7, clock=world.clock)
        self.assertEqual(sum(1 for _ in loader), 20)
        self.assertEqual(len(feedline.waits(loader).step_ns), 7)

    def test_a_step_that_nobody_saw_ending_does_not_count(self) -> None:
        world = World(1, noise=0)
        loader = feedline.wrap(Loader(world, 2, 3, workers=0, batches=20), clock=world.clock)
        for _ in range(3):
            for at, _batch in enumerate(loader):
                if at == 4:
                    break
            world.now_ns += 500 * MS
        waits = feedline.waits(loader)
        self.assertEqual((len(waits.wait_ns), len(waits.step_ns)), (5 + 4 + 4, 4 + 4 + 4))
        self.assertLess(max(waits.step_ns), MS)

    def test_the_length_of_a_batch_is_found_where_frameworks_put_it(self) -> None:
        array, labels, scale = (SimpleNamespace(shape=shape) for shape in ((8, 3), (8,), ()))
        for batch, length in (
            (array, 8), ([array, labels, scale], 8), ({"x": [array]}, 8), ([array], 8), ((array, ["a"] * 8), 8),
            (Batch([1, 2]), 2), ([("image", 1)] * 5, 5), ((["image"] * 5, [1] * 5), 5), (3, 0), ({}, 0),
        ):  # fmt: skip
            self.assertEqual(length_of(batch), length, batch)

    def test_what_may_be_samples_or_columns_has_no_length(self) -> None:
        image, short, long = (SimpleNamespace(shape=shape) for shape in ((3, 224, 224), (5,), (9,)))
        for batch in ([image] * 8, (image, image), [short, long], ("name", 3), (["image"] * 2, [1] * 3)):
            self.assertEqual(length_of(batch), 0, batch)

    def test_looking_at_a_batch_never_fails_and_makes_none(self) -> None:
        class Lazy(dict):
            def values(self) -> Any:
                raise AssertionError("made")

        class Decoding:
            """As a lazy row of `datasets`: its values are decoded as they are asked for."""

            def keys(self) -> Any:
                return ["x"]

            def __len__(self) -> int:
                return 1

            values = __getitem__ = Lazy.values

        class Lengthless:
            def __len__(self) -> int:
                raise RuntimeError("no length")

        shapes = [SimpleNamespace(shape=shape) for shape in (lambda: (3,), (None, 3), 5, ())]
        for batch in (*shapes, Decoding(), Lengthless(), "words", None):
            self.assertEqual(length_of(batch), 0, batch)
            self.assertIn(size_of(batch), (0, 1))
        self.assertEqual(length_of(Lazy(x=[1, 2])), 2)
        self.assertEqual(length_of(UserDict(x=[1, 2])), 2)
        self.assertEqual(len(list(feedline.wrap([Lengthless()] * 3))), 3)

    def test_the_size_of_a_batch_is_that_of_what_is_in_it(self) -> None:
        tokens, labels = (SimpleNamespace(shape=shape) for shape in ((8, 100), (8,)))
        for batch, size in (
            (tokens, 800), ([tokens, labels], 808), ({"x": tokens, "y": {"z": labels}}, 808), (UserDict(x=tokens), 800),
            ([tokens] * 40, 40), (Batch([1, 2]), 2), ((["image"] * 5, [1] * 5), 10), ("words", 0), (None, 0),
        ):  # fmt: skip
            self.assertEqual(size_of(batch), size, batch)

    def test_unlike_batches_are_told_but_not_the_rest_at_the_end(self) -> None:
        for sizes, alike in (([8] * 20 + [3], True), ([8, 4] * 10, False)):
            loader = feedline.wrap(Own([Batch(range(size)) for size in sizes]))
            list(loader)
            self.assertEqual(feedline.waits(loader).alike(), alike)

    def test_an_empty_loader_says_what_is_lacking(self) -> None:
        loader = feedline.wrap(Own([]))
        self.assertEqual(list(loader), [])
        self.assertIn("no batch was measured", str(feedline.waits(loader)))
        self.assertIsNone(feedline.waits(loader).busy())

    def test_too_few_batches_give_no_interval(self) -> None:
        loader = feedline.wrap(Own([Batch([1])] * 10))
        list(loader)
        self.assertIsNone(feedline.waits(loader).busy())
        self.assertIn("10 batches are too few for an interval", str(feedline.waits(loader)))


class Passive(unittest.TestCase):
    def test_all_but_iteration_is_the_loaders_own(self) -> None:
        own = Own([Batch([1])])
        loader = feedline.wrap(own)
        loader.set_epoch(3)
        loader.batches = [Batch([2])]
        self.assertIsInstance(loader, Own)
        self.assertEqual((own.epoch, list(loader)), (3, [[2]]))
        self.assertFalse(hasattr(loader, "__len__"))
        self.assertTrue(loader)
        with self.assertRaises(AttributeError):
            _ = loader.nothing
        del loader.epoch
        self.assertFalse(hasattr(own, "epoch"))
        self.assertEqual(len(feedline.wrap(Loader(World(1), 1, 1, batches=9))), 9)

    def test_a_pass_has_a_length_where_the_loaders_own_has_one(self) -> None:
        class Sized:
            def __init__(self) -> None:
                self.left = [3, 2]

            def __len__(self) -> int:
                return 2

            def __next__(self) -> int:
                if not self.left:
                    raise StopIteration
                return self.left.pop()

        class Passes:
            def __iter__(self) -> Any:
                return Sized()

        loader = feedline.wrap(Passes())
        self.assertEqual((len(iter(loader)), list(loader)), (2, [2, 3]))
        self.assertFalse(hasattr(iter(feedline.wrap(Own([]))), "__len__"))

    def test_a_copy_and_what_another_process_gets_is_the_loader_itself(self) -> None:
        loader = feedline.wrap(Own([Batch([1])]))
        for other in (copy.deepcopy(loader), pickle.loads(pickle.dumps(loader))):
            self.assertIs(type(other), Own)

    def test_the_loaders_error_reaches_the_job_and_its_words_are_not_kept(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            loader = feedline.wrap(Own([]), record=folder)
            loader.batches = raising()
            with self.assertRaisesRegex(OSError, "key=secret"):
                list(loader)
            self.assertEqual(feedline.waits(loader).error, "OSError")
            self.assertNotIn("secret", str(feedline.waits(loader)))
            self.assertNotIn("secret", Path(folder, "rank-0.json").read_text())

    def test_a_generator_is_measured_by_next_too(self) -> None:
        loader = feedline.wrap(Batch([at]) for at in range(5))
        self.assertEqual(next(loader), [0])
        self.assertEqual([next(loader), next(loader)], [[1], [2]])
        self.assertEqual(len(feedline.waits(loader).step_ns), 2)

    def test_what_is_no_loader_is_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, "a loader is iterated, and int cannot be"):
            feedline.wrap(3)
        with self.assertRaisesRegex(TypeError, "a loader is iterated, and type cannot be"):
            feedline.wrap(Own)
        with self.assertRaisesRegex(TypeError, "'str' object cannot be interpreted as an integer"):
            feedline.wrap([1], steps="200")
        with self.assertRaisesRegex(ValueError, "wrapped already"):
            feedline.wrap(feedline.wrap([1]))
        with self.assertRaisesRegex(ValueError, "steps = 0"):
            feedline.wrap([1], steps=0)
        with self.assertRaisesRegex(TypeError, "not wrapped"):
            feedline.waits([1])

    def test_what_accelerate_builds_from_a_watched_loader_is_watched(self) -> None:
        accelerate = accelerating()
        with mock.patch.dict(sys.modules, accelerate=accelerate):
            loader = feedline.wrap(Own([Batch([1]), Batch([2])]))
        prepared = accelerate.Accelerator().prepare_data_loader(loader)
        self.assertEqual(list(prepared), [[1, 1], [2, 2]])
        self.assertEqual(len(feedline.waits(loader).step_ns), 2)
        self.assertIs(type(accelerate.Accelerator().prepare_data_loader(Own([Batch([1])]))), Own)
        self.assertEqual(list(inspect.signature(accelerate.Accelerator.prepare_data_loader).parameters), ["self", "data_loader"])

    def test_accelerate_is_as_it_was_once_no_loader_is_watched(self) -> None:
        accelerate = accelerating()
        own = accelerate.Accelerator.prepare_data_loader
        with mock.patch.dict(sys.modules, accelerate=accelerate):
            loaders = [feedline.wrap(Own([])) for _ in range(2)]
            loaders.pop()
            self.assertIsNot(accelerate.Accelerator.prepare_data_loader, own)
            loaders.pop()
            self.assertIs(accelerate.Accelerator.prepare_data_loader, own)
            # What another puts around it meanwhile is not ours to take away, once or again.
            for _ in range(2):
                loaders = [feedline.wrap(Own([Batch([1])]))]
                if accelerate.Accelerator.prepare_data_loader.__name__ != "others":
                    inner = accelerate.Accelerator.prepare_data_loader

                    def others(self: Any, data_loader: Any) -> Any:
                        return inner(self, data_loader)

                    accelerate.Accelerator.prepare_data_loader = others
                prepared = accelerate.Accelerator().prepare_data_loader(loaders[0])
                self.assertEqual((list(prepared), len(feedline.waits(prepared).step_ns)), ([[1, 1]], 1))
                del prepared
                loaders.pop()
                self.assertIs(accelerate.Accelerator.prepare_data_loader, others)


def accelerating() -> Any:
    """As accelerate, whose method builds another loader from the one that it is given."""

    class Accelerator:
        def prepare_data_loader(self, data_loader: Any) -> Any:
            """Its own words."""
            return Own([Batch([at, at]) for (at,) in data_loader.batches])

    return SimpleNamespace(Accelerator=Accelerator)


class Events(unittest.TestCase):
    """The order of CUDA events, on a stream that is played."""

    def test_the_stream_waits_from_the_end_of_a_step_to_the_next_and_nothing_is_synchronised(self) -> None:
        stream = {"now_ms": 0.0}

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                self.at_ms = 0.0

            def record(self) -> None:
                self.at_ms = stream["now_ms"]

            def query(self) -> bool:
                return True

            def elapsed_time(self, other: Event) -> float:
                return other.at_ms - self.at_ms

        waits = Waits(50, lambda: 0)
        waits.gpu = accelerators.Events(SimpleNamespace(Event=Event), 0)
        waits.begin()
        for _ in range(41):
            waits.ask()
            stream["now_ms"] += 6
            waits.came()
            stream["now_ms"] += 2
        waits.end()
        busy = waits.busy()
        assert busy is not None
        self.assertAlmostEqual(busy.mean, 0.25)
        self.assertIn("GPU busy 25 %", str(waits))


class RankFiles(unittest.TestCase):
    def written(self, folder: str, rank: int, wait_ms: Any, step_ms: Any, steps: int = 40, **other: Any) -> None:
        """The file of a rank, whose waits and steps are all alike, or one by one."""
        waits, lengths = ([ms] * steps if isinstance(ms, (int, float)) else ms for ms in (wait_ms, step_ms))
        told = {
            "version": 2, "rank": rank, "world": 4, "began_unix_ns": 100 + rank, "wrote_unix_ns": 200 + rank, "cuda": False,
            "wait_ns": [int(ms * MS) for ms in waits], "step_ns": [int(ms * MS) for ms in lengths], "begins": [0],
            "first_ns": [], "gap_ns": [], "error": None, **other,
        }  # fmt: skip
        Path(folder, f"rank-{rank}.json").write_text(
            json.dumps({key: value for key, value in told.items() if value != "left out"})
        )

    def test_the_rank_whose_batches_are_late_is_told_from_those_that_wait_for_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(4):
                self.written(folder, rank, *((30, 10) if rank == 2 else (1, 39)))
            found = feedline.ranks(folder)
            self.assertEqual((found.slowest, found.steps), (2, 40))
            self.assertAlmostEqual(found.wait_share[2], 0.75)
            self.assertEqual(found.others_share[2], 0)
            self.assertAlmostEqual(found.others_share[0], 29 / 40)

    def test_ranks_that_wait_alike_name_none(self) -> None:
        # Rank 2 waits longest in each block, and by less than it takes.
        for waits_ms in ((30, 30, 30, 30), (30, 30, 30.03, 30), (30, 30, 1, 1)):
            with tempfile.TemporaryDirectory() as folder:
                for rank, wait_ms in enumerate(waits_ms):
                    self.written(folder, rank, wait_ms, 10)
                self.assertIsNone(feedline.ranks(folder).slowest, waits_ms)

    def test_a_file_of_an_earlier_run_is_left_out_and_nobody_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(4):
                self.written(folder, rank, *((30, 10) if rank == 3 else (1, 39)))
            self.assertEqual(feedline.ranks(folder).slowest, 3)
            for rank in range(3):
                self.written(folder, rank, 30 if rank == 1 else 1, 10, began_unix_ns=300, wrote_unix_ns=400)
            found = feedline.ranks(folder)
            self.assertEqual((found.slowest, list(found.wait_share)), (None, [0, 1, 2]))
            self.assertIn("before another rank began (of ranks 3)", str(found))
            self.assertIn("3 of 4 ranks wrote a file; missing: 3", str(found))

    def test_ranks_of_worlds_that_differ_name_none(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(4):
                self.written(folder, rank, 30 if rank == 3 else 1, 10, world=4 if rank < 3 else 8)
            self.assertIsNone(feedline.ranks(folder).slowest)
            self.assertIn("different numbers of ranks", str(feedline.ranks(folder)))

    def test_files_of_version_1_are_read_and_name_none(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            since_2 = dict.fromkeys(("began_unix_ns", "wrote_unix_ns", "cuda"), "left out")
            for rank in range(4):
                self.written(folder, rank, 30 if rank == 3 else 1, 10, version=1, **since_2)
            found = feedline.ranks(folder)
            self.assertEqual((found.slowest, found.steps), (None, 40))
            self.assertIn("version 1 do not say of which run they are", str(found))

    def late(self, folder: str, late_ms: list[float], whole_ms: Any, **other: Any) -> feedline.Ranks:
        """Ranks whose steps end together, of which rank 3 has its batches so late."""
        for rank in range(4):
            waits = late_ms if rank == 3 else [1] * len(late_ms)
            self.written(folder, rank, waits, [whole_ms(late) - wait for late, wait in zip(late_ms, waits)], **other)
        return feedline.ranks(folder)

    def test_a_rank_is_named_where_the_others_take_longer_when_its_batches_come_later(self) -> None:
        drawn = random.Random(1)
        late_ms = [drawn.uniform(20, 60) for _ in range(100)]
        with tempfile.TemporaryDirectory() as folder:
            found = self.late(folder, late_ms, lambda late: late + drawn.gauss(20, 2))
            self.assertEqual(
                (found.slowest, found.why.partition(", ")[2]), (3, "and where it waits longer the others take longer")
            )
            self.assertAlmostEqual(found.others_share[0], 39 / 60, delta=0.05)
            self.assertEqual(found.others_share[3], 0)

    def test_late_batches_that_nobody_waits_for_are_not_named(self) -> None:
        # The step of rank 0 takes 100 ms by itself, and all others wait for it: what rank 3 waits for its batches is hidden.
        drawn = random.Random(1)
        late_ms = [drawn.uniform(5, 60) for _ in range(100)]
        with tempfile.TemporaryDirectory() as folder:
            found = self.late(folder, late_ms, lambda late: drawn.gauss(100, 2))
            self.assertEqual((found.slowest, found.others_share), (None, {}))
            self.assertIn("no rank is named: rank 3 waits longest for its batches", str(found))
            self.assertIn("where it waits longer the others take no longer", str(found))

    def test_late_batches_that_do_not_vary_are_named_by_what_is_assumed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            found = self.late(folder, [30] * 40, lambda late: late + 20)
            self.assertEqual(found.slowest, 3)
            self.assertIn("if steps by themselves take all ranks alike", found.why)

    def test_a_rank_whose_step_is_slow_is_said_to_be_unseen(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(4):
                # Three ranks wait for the fourth inside of their steps, and stamps do not say which.
                self.written(folder, rank, 1, 100)
            found = feedline.ranks(folder)
            self.assertEqual((found.slowest, set(found.others_share.values())), (None, {0}))
            self.assertIn("none waits for its batches 5 % of the time longer than any other", found.why)
            self.assertIn("LACKS a rank whose step itself is slow is never named", str(found))
            self.assertIn("Time the step on each rank without the others", str(found))

    def test_a_slow_step_of_a_rank_is_no_wait_for_others_where_gradients_are_accumulated(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(4):
                # Ranks meet in each fourth step; rank 2 takes 40 ms for each of them, and the others 10.
                self.written(folder, rank, 0, [40] * 40 if rank == 2 else [10, 10, 10, 130] * 10)
            found = feedline.ranks(folder)
            self.assertEqual((found.slowest, found.others_share[2]), (None, 0))

    def test_ranks_that_do_not_wait_for_each_other_name_none(self) -> None:
        drawn = random.Random(1)
        for late in ([30.0] * 100, [drawn.uniform(20, 60) for _ in range(100)]):
            with tempfile.TemporaryDirectory() as folder:
                for rank in range(4):
                    self.written(folder, rank, late if rank == 3 else 1, [drawn.gauss(20, 2) for _ in late], steps=100)
                found = feedline.ranks(folder)
                self.assertEqual((found.slowest, found.others_share), (None, {}))
                self.assertIn("they do not wait for each other", found.why)

    def test_what_takes_all_ranks_longer_is_no_proof_of_who_holds_them_up(self) -> None:
        drawn = random.Random(1)
        with tempfile.TemporaryDirectory() as folder:
            # Each tenth of a millisecond that rank 3 waits longer, a busy machine takes all steps a millisecond longer.
            late_ms = [drawn.uniform(10, 12) for _ in range(100)]
            found = self.late(folder, late_ms, lambda late: 100 + 10 * (late - 10))
            self.assertEqual((found.slowest, found.why.partition(", ")[2]), (3, "if steps by themselves take all ranks alike"))

    def test_one_rank_names_none(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.written(folder, 0, 30, 10, world=1)
            self.assertEqual(str(feedline.ranks(folder)).splitlines()[1], "no rank is named: there is one")
            self.assertNotIn("LACKS", str(feedline.ranks(folder)))

    def test_stamps_of_the_host_do_not_say_what_cuda_waits_for_others(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            found = self.late(folder, [30] * 40, lambda late: late + 20, cuda=True)
            self.assertEqual((found.slowest, found.others_share), (None, {}))
            self.assertIn("no share for batches of others is known", str(found))
            self.assertIn("its accelerator may work on meanwhile", str(found))
            self.assertNotIn("for those of others", str(found))
        with tempfile.TemporaryDirectory() as folder:
            # What varies, and lengthens the steps of the others, is seen in stamps of the host too.
            self.assertEqual(self.late(folder, list(range(20, 60)), lambda late: late + 20, cuda=True).slowest, 3)

    def test_ranks_that_disagree_are_put_together_by_count_and_told(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.written(folder, 0, 1, 39)
            self.written(folder, 1, 30, 10, steps=25, error="RuntimeError")
            found = feedline.ranks(folder)
            self.assertEqual(found.steps, 25)
            lacks = "\n".join(found.lacks)
            self.assertIn("2 of 4 ranks wrote a file; missing: 2, 3", lacks)
            self.assertIn("different numbers of steps, rank 1 the fewest (25)", lacks)
            self.assertIn("rank 1 ended with RuntimeError", lacks)

    def test_what_is_no_file_of_a_rank_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(FileNotFoundError, "no rank-"):
                feedline.ranks(folder)
            self.written(folder, 0, 1, 1, world="left out")
            with self.assertRaisesRegex(ValueError, "rank-0.json is not what a rank writes: it has no world"):
                feedline.ranks(folder)
            for wrong in ("{", '{"version": 9}', "[]"):
                Path(folder, "rank-0.json").write_text(wrong)
                with self.assertRaisesRegex(ValueError, "rank-0.json is not what a rank writes"):
                    feedline.ranks(folder)

    def read(self, folder: str) -> Any:
        return json.loads(Path(folder, "rank-0.json").read_text())

    def test_a_rank_writes_what_is_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            loader = feedline.wrap(Own([Batch([1])] * 40), steps=30, record=folder)
            list(loader)
            found = feedline.ranks(folder)
            self.assertEqual((found.steps, list(found.wait_share)), (30, [0]))
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["rank-0.json"])

    def test_a_second_loader_does_not_write_over_the_first(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            train = feedline.wrap(Own([Batch([1])] * 40), record=folder)
            for same in (folder, Path(folder), os.path.join(folder, "..", os.path.basename(folder))):
                with self.assertRaisesRegex(ValueError, "another loader of this process writes into .*: name a folder for each"):
                    feedline.wrap(Own([]), record=same)
            validation = feedline.wrap(Own([Batch([1])] * 20), record=Path(folder, "validation"))
            self.assertEqual((len(list(train)), len(list(validation))), (40, 20))
            del train
            # What it measured is still to be written.
            with self.assertRaisesRegex(ValueError, "another loader"):
                feedline.wrap(Own([]), record=folder)
            rank = multiprocessing.get_context("fork").Process(target=wrapped_elsewhere, args=(folder,))
            rank.start()
            rank.join()
            self.assertEqual(rank.exitcode, 0)
            del validation

    def test_a_loader_that_was_never_iterated_leaves_its_folder_to_another(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            feedline.wrap(Own([]), record=folder)
            feedline.wrap(Own([]), record=folder)

    def test_a_file_is_written_anew_when_batches_have_doubled_however_short_the_passes(self) -> None:
        for length in (10, 400):
            with tempfile.TemporaryDirectory() as folder:
                written, loader = [], feedline.wrap(Own([Batch([1])] * length), record=folder)
                for at in range(400 // length):
                    for step, _batch in enumerate(loader):
                        for path in Path(folder).iterdir():
                            written += [len(self.read(folder)["step_ns"])] if at or step else []
                            path.unlink()
                self.assertEqual(written, [17, 34, 68, 136, 272])

    def test_a_rank_that_is_killed_leaves_half_of_its_batches_at_least(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            rank = multiprocessing.get_context("fork").Process(target=killed, args=(folder, 50))
            rank.start()
            rank.join()
            self.assertEqual((rank.exitcode, len(self.read(folder)["step_ns"])), (-signal.SIGKILL, 34))
            self.assertEqual(os.listdir(folder), ["rank-0.json"])

    def test_what_writing_takes_is_neither_a_wait_nor_a_step(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            world = World(1, noise=0)
            loader = feedline.wrap(Loader(world, 2, 3, workers=0, batches=20), clock=world.clock, record=folder)
            write = rank_files.Writer._write

            def slow(self: Any) -> None:
                write(self)
                world.now_ns += 500 * MS

            with mock.patch.object(rank_files.Writer, "_write", slow):
                list(loader)
            self.assertEqual(len(self.read(folder)["step_ns"]), 17)
            self.assertEqual((set(feedline.waits(loader).wait_ns), set(feedline.waits(loader).step_ns)), ({5 * MS}, {0}))

    def test_a_folder_without_room_is_told_and_no_part_of_a_file_stays(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            loader = feedline.wrap(Own([Batch([1])] * 40), steps=30, record=folder)
            with mock.patch("os.replace", side_effect=OSError(errno.ENOSPC, "No space left on device")):
                self.assertEqual(len(list(loader)), 40)
            self.assertIn(f"no file was written to {folder}: No space left", str(feedline.waits(loader)))
            self.assertEqual(os.listdir(folder), [])

    def test_each_rank_writes_where_the_watch_was_made_before_it_started(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            waits = Waits()
            record = rank_files.writer(folder, waits)
            for start in ("fork", "spawn"):
                with self.subTest(start=start):
                    rank = multiprocessing.get_context(start).Process(target=measured, args=(waits, record, 20))
                    rank.start()
                    rank.join()
                    self.assertEqual((rank.exitcode, len(self.read(folder)["step_ns"])), (0, 20))
                    Path(folder, "rank-0.json").unlink()

    def test_a_process_that_goes_on_with_anothers_batches_says_that_it_writes_none(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            waits = Waits()
            record = rank_files.writer(folder, waits)
            measured(waits, record, 20)
            rank = multiprocessing.get_context("fork").Process(target=goes_on, args=(waits, record))
            rank.start()
            rank.join()
            self.assertEqual((rank.exitcode, len(self.read(folder)["step_ns"])), (0, 17))

    def test_a_rank_is_what_it_was_when_it_measured(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            waits = Waits()
            record = rank_files.writer(folder, waits)
            with mock.patch.object(accelerators, "rank_and_world", lambda: (3, 4)):
                measured(waits, record, 5)
            # The process group is gone.
            record(last=True)
            told = json.loads(Path(folder, "rank-3.json").read_text())
            self.assertEqual((told["rank"], told["world"], len(told["step_ns"])), (3, 4, 5))

    def test_the_tasks_of_a_batch_script_are_no_ranks_of_it(self) -> None:
        for variables, place in (
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, (0, 1)),
            ({"SLURM_PROCID": "2", "SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "4"}, (2, 4)),
        ):
            with mock.patch.dict(os.environ, variables, clear=True):
                self.assertEqual(accelerators.rank_and_world(), place)


def measured(waits: Waits, record: Any, batches: int) -> None:
    waits.begin()
    for _ in range(batches):
        waits.ask()
        record()
        waits.came()
    waits.end()


def wrapped_elsewhere(folder: str) -> None:
    feedline.wrap(Own([]), record=folder)


def killed(folder: str, batches: int) -> None:
    for at, _batch in enumerate(feedline.wrap(Own([Batch([1])] * 1000), record=folder)):
        if at == batches:
            os.kill(os.getpid(), signal.SIGKILL)


def goes_on(waits: Waits, record: Any) -> None:
    measured(waits, record, 20)
    if "another process measured before this one" not in str(waits):
        raise AssertionError(str(waits))


if __name__ == "__main__":
    unittest.main()
