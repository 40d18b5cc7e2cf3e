"""What a diagnosis restores, refuses, says that it lacks, and writes."""

from __future__ import annotations

import dataclasses
import os
import random
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import feedline
from feedline import opens, pagecache
from feedline.kept import Kept

from .played import MS, Loader, Step, World


class Model:
    """A model that each step changes."""

    def __init__(self) -> None:
        self.weights = {"w": [1.0]}

    def state_dict(self) -> dict[str, Any]:
        return self.weights

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.weights = state


class Diagnosing(unittest.TestCase):
    def setUp(self) -> None:
        self.world = World(7)

    def diagnose(self, loader: Any, step: Any, **options: Any) -> feedline.Report:
        return feedline.diagnose(loader, step, **{"steps": 100, "state": [], "around": self.world.around(), **options})

    def test_model_and_random_state_are_as_they_were(self) -> None:
        model, step = Model(), Step(self.world, 5)
        before = random.getstate()

        def training(batch: Any) -> None:
            model.weights["w"][0] += random.random()
            step(batch)

        report = self.diagnose(Loader(self.world, 5, 5), training, state=[model])
        self.assertGreater(step.made, 150)
        self.assertEqual(model.weights, {"w": [1.0]})
        self.assertEqual(random.getstate(), before)
        self.assertIn("KEPT  as it was: Model, random state", str(report))

    def test_they_are_restored_too_where_the_job_fails_and_its_error_is_its_own(self) -> None:
        model = Model()

        def failing(batch: Any) -> None:
            model.weights["w"][0] += 1
            raise ZeroDivisionError("the job's own")

        with self.assertRaisesRegex(ZeroDivisionError, "the job's own"):
            self.diagnose(Loader(self.world, 5, 5), failing, state=[model])
        self.assertEqual(model.weights, {"w": [1.0]})

    def test_each_pass_asks_for_the_same_batches(self) -> None:
        drawn: list[list[int]] = []

        class Shuffled(Loader):
            def __iter__(self) -> Any:
                drawn.append(random.sample(range(100), 5))
                return super().__iter__()

        self.diagnose(Shuffled(self.world, 5, 5), Step(self.world, 5))
        self.assertEqual(len(drawn), 9)
        self.assertEqual(len({tuple(order) for order in drawn}), 1)

    def test_it_refuses_where_nothing_can_be_restored(self) -> None:
        loader, step = Loader(self.world, 5, 5), Step(self.world, 5)
        with self.assertRaisesRegex(ValueError, r"state=\[model, optimizer\]"):
            feedline.diagnose(loader, step)
        with self.assertRaisesRegex(TypeError, "int has no state_dict"):
            feedline.diagnose(loader, step, state=[3])
        with self.assertRaisesRegex(ValueError, "steps = 10: 34 are the fewest"):
            self.diagnose(loader, step, steps=10)
        with self.assertRaisesRegex(TypeError, "int does neither"):
            self.diagnose(3, step)
        with self.assertRaisesRegex(TypeError, "a step is called with a batch, and NoneType cannot be"):
            self.diagnose(loader, None)
        with self.assertRaisesRegex(TypeError, r"state=\[model, optimizer\], and Model is no list"):
            self.diagnose(loader, step, state=Model())
        with self.assertRaisesRegex(TypeError, "'str' object cannot be interpreted as an integer"):
            self.diagnose(loader, step, steps="200")
        with self.assertRaisesRegex(TypeError, "without_storage is iterated several times"):
            self.diagnose(loader, step, without_storage=iter([1]))
        with self.assertRaisesRegex(TypeError, "the NoneType that the function made cannot be"):
            self.diagnose(lambda: None, step)
        self.assertEqual(step.made, 0)

    def test_it_refuses_to_run_in_one_rank_of_many(self) -> None:
        os.environ.update(RANK="1", WORLD_SIZE="8")
        self.addCleanup(lambda: [os.environ.pop(name) for name in ("RANK", "WORLD_SIZE")])
        with self.assertRaisesRegex(RuntimeError, "ranks would wait for each other"):
            self.diagnose(Loader(self.world, 5, 5), Step(self.world, 5))

    def test_a_one_shot_generator_gives_waits_alone(self) -> None:
        report = self.diagnose(iter(Loader(self.world, 50, 5)), Step(self.world, 5))
        self.assertEqual(report.limit.name, "uncertain")
        self.assertIn("a one-shot iterator gives waits alone", report.limit.why)
        assert report.parts.busy is not None
        self.assertLess(report.parts.busy.mean, 0.5)
        # Files that were in memory would be there in time as well.
        report = self.diagnose(iter(Loader(self.world, 1, 1)), Step(self.world, 50))
        self.assertEqual(report.limit.name, "uncertain")
        self.assertIn("hand a function that makes the loader", report.limit.advice)

    def test_a_function_that_makes_the_loader_gives_all(self) -> None:
        def fresh() -> Any:
            return iter(Loader(self.world, 40, 5, workers=0))

        class Made(Loader):
            def __init__(self) -> None:
                super().__init__(world, 40, 5)

        world = self.world
        for makes in (fresh, Made):
            self.assertEqual(self.diagnose(makes, Step(self.world, 5)).limit.name, "storage")

    def test_an_empty_loader_and_too_few_batches_name_nothing(self) -> None:
        for batches, why, advice in (
            (0, "the loader gave no batch", "look why it ends"),
            (9, "9 batches in a pass are too few", "a longer loader"),
        ):
            report = self.diagnose(Loader(self.world, 5, 5, batches=batches), Step(self.world, 5))
            self.assertEqual(report.limit.name, "uncertain")
            self.assertIn(why, report.limit.why)
            self.assertIn(advice, report.limit.advice)

    def test_batches_that_are_none_are_batches(self) -> None:
        class Nothing(Loader):
            def __iter__(self) -> Iterator[Any]:
                return (None for _ in super().__iter__())

        report = self.diagnose(Nothing(self.world, 40, 5), Step(self.world, 5))
        self.assertEqual(report.limit.name, "storage")
        self.assertIn("the number of samples in a batch is unknown", str(report))

    def test_few_batches_that_are_enough_in_both_rounds_are_not_called_too_few(self) -> None:
        report = self.diagnose(Loader(self.world, 40, 5, workers=0, batches=12), Step(self.world, 5))
        self.assertEqual(report.limit.name, "storage")
        self.assertNotIn("batches in a pass", str(report))
        self.assertNotIn("12 batches", str(report))

    def test_reads_that_nobody_saw_are_said_to_be_unseen(self) -> None:
        class Unseen(Loader):
            def fetch_ns(self, batch: int) -> float:
                return self.world.lasts(self.read_ns)

        report = self.diagnose(Unseen(self.world, 50, 0), Step(self.world, 5))
        self.assertEqual((report.limit.name, report.scenario), ("uncertain", None))
        self.assertIn("no file was seen to be opened", report.limit.why)
        memory = Loader(self.world, 0, 2)
        report = self.diagnose(Unseen(self.world, 50, 0), Step(self.world, 5), without_storage=memory)
        self.assertEqual(report.limit.name, "storage")

    def test_decoding_is_not_named_where_unseen_reads_may_hide_storage(self) -> None:
        class Mapped(World):
            @contextmanager
            def hearing(self, loader: Any) -> Any:
                with super().hearing(loader) as heard:
                    yield heard
                heard.loaded[:] = ["pyarrow"]

        for world, name in ((Mapped(3), "uncertain"), (World(3), "decoding")):
            report = self.diagnose(Loader(world, 5, 40), Step(world, 5), around=world.around())
            self.assertEqual(report.limit.name, name)
        for read_ms, decode_ms, name in ((160, 5, "storage"), (1, 1, "uncertain")):
            world = Mapped(3)
            report = self.diagnose(Loader(world, read_ms, decode_ms), Step(world, 5), around=world.around())
            self.assertEqual(report.limit.name, name)
            self.assertIn("pyarrow is loaded in the loader, and what it opens is unseen", str(report))

    def test_a_cache_that_cannot_be_proven_is_said(self) -> None:
        around = dataclasses.replace(self.world.around(), evict=lambda files: 0.4, fill=lambda files: None)
        report = self.diagnose(Loader(self.world, 40, 5), Step(self.world, 5), around=around)
        self.assertEqual(report.limit.name, "uncertain")
        self.assertIn("not proven cold", report.limit.why)
        self.assertIn("not proven cold: 40 % of the files stayed", str(report))
        self.assertIn("not proven warm: an unknown share", str(report))

    def test_a_step_that_returns_at_once_is_told(self) -> None:
        report = self.diagnose(Loader(self.world, 40, 5), Step(self.world, 0.001))
        self.assertIn("if it returns before its work is done", str(report))

    def test_the_scenario_is_the_job(self) -> None:
        report = self.diagnose(Loader(self.world, 8, 20, workers=4), Step(self.world, 5))
        scenario = report.scenario
        assert scenario is not None
        self.assertEqual((scenario.batch, scenario.readers, scenario.prefetch, scenario.steps), (4, 4, 8, 50))
        self.assertEqual((scenario.root, scenario.suffix, scenario.sample_bytes), ("/data", ".jpg", 100))
        self.assertAlmostEqual(scenario.step_ns / MS, 5, delta=0.5)
        self.assertAlmostEqual(scenario.decode_ns / MS, 20 / 4, delta=0.5)
        self.assertTrue(scenario.decode_burns)
        self.assertEqual([played.decode_ns for played in self.world.played], [0])

    def test_decoding_that_others_held_up_is_processor_time_all_the_same(self) -> None:
        world = World(7, others=2.0)
        report = self.diagnose(Loader(world, 5, 40, workers=0), Step(world, 5), around=world.around())
        assert report.scenario is not None
        self.assertTrue(report.scenario.decode_burns)
        self.assertAlmostEqual(report.scenario.decode_ns / MS, 40 / 4, delta=1)

    def test_a_batch_that_its_files_speak_against_is_not_counted_by_its_length(self) -> None:
        class Images(Loader):
            """Each batch of four files is as long as what it is said to be."""

            shapes: Any = [(3, 8, 8)]

            def __iter__(self) -> Iterator[Any]:
                arrays = [SimpleNamespace(shape=shape) for shape in self.shapes]
                return (arrays[0] if len(arrays) == 1 else arrays for _ in super().__iter__())

        for shapes, given, batch, words in (
            ([(4, 3), (4,)], None, 4, "a batch is taken for 4 samples, its outermost length"),
            ([(3, 8, 8)], None, None, "each batch opens 4 files, and its outermost length is 3"),
            ([(3, 8, 8)], 4, 4, ""),
            ([(3, 8, 8)] * 4, None, None, "the number of samples in a batch is unknown"),
            ([(2, 8, 8)], 2, 4, "a sample opens 2 files: each of them is a sample of the scenario"),
        ):
            loader = Images(self.world, 40, 5)
            loader.shapes = shapes
            report = self.diagnose(loader, Step(self.world, 5), batch=given)
            self.assertEqual(report.scenario and report.scenario.batch, batch, str(report))
            self.assertIn(words, str(report))
            self.assertEqual(report.limit.name, "storage")
        for wrong in (0, -1):
            with self.assertRaisesRegex(ValueError, "a batch has one sample at least"):
                self.diagnose(loader, Step(self.world, 5), batch=wrong)

    def test_a_file_for_each_batch_is_a_sample_or_a_batch(self) -> None:
        class Arrays(Loader):
            def fetch_ns(self, batch: int) -> float:
                self.world.opened.append(f"/data/{batch}.npy")
                return self.world.lasts(self.read_ns)

            def __iter__(self) -> Iterator[Any]:
                return (SimpleNamespace(shape=(224, 224, 3)) for _ in super().__iter__())

        for given, layout in ((None, None), (1, "files"), (224, "records")):
            report = self.diagnose(Arrays(self.world, 40, 5), Step(self.world, 5), batch=given)
            self.assertEqual(report.scenario and report.scenario.layout, layout, str(report))
            self.assertEqual(
                "each batch opens one file, which is a sample or a batch of length 224" in str(report), given is None
            )

    def test_files_of_another_kind_are_not_in_the_scenario_and_it_says_so(self) -> None:
        class Labelled(Loader):
            def fetch_ns(self, batch: int) -> float:
                self.world.opened += [f"/data/{batch}/{at}.txt" for at in range(3)]
                return super().fetch_ns(batch)

        report = self.diagnose(Labelled(self.world, 40, 5), Step(self.world, 5))
        assert report.scenario is not None
        self.assertEqual((report.scenario.batch, report.scenario.suffix), (4, ".jpg"))
        self.assertIn("the scenario reads files that end in '.jpg' alone", str(report))

    def test_without_a_scenario_the_report_says_why(self) -> None:
        for loader in (Loader(self.world, 5, 5, batches=9), iter(Loader(self.world, 5, 5))):
            report = self.diagnose(loader, Step(self.world, 5))
            self.assertIn("no scenario: step and loader were not measured by themselves", str(report))
            self.assertNotIn("scenario", report.limit.why)

    def test_shards_have_a_scenario_where_feedline_knows_their_form(self) -> None:
        for suffix, layout in ((".tar", "webdataset"), (".idx", None)):

            class Shards(Loader):
                def fetch_ns(self, batch: int, suffix: str = suffix) -> float:
                    if batch % 10 == 0:
                        self.world.opened.append(f"/data/{batch // 10}{suffix}")
                    return self.world.lasts(self.read_ns)

            scenario = self.diagnose(Shards(self.world, 40, 5), Step(self.world, 5)).scenario
            self.assertEqual(scenario and scenario.layout, layout)

    def test_what_feedline_read_is_a_busy_share_whichever_cell_decides(self) -> None:
        rate = {"mean": 400.0, "low": 380.0, "high": 900.0}
        for deciding, low in (
            ({"utilization": {"mean": 0.7, "low": 0.6, "high": 1.02}, "doubts": []}, 0.6),
            ({"utilization": None, "samples_per_s": rate, "doubts": ["narrow"]}, 380 / (4 / 0.005)),
        ):
            answer: Any = {"verdicts": [{"verdict": "UNCERTAIN", "sentence": "noisy, narrow", "deciding": deciding}]}
            around = dataclasses.replace(self.world.around(), play=lambda scenario, answer=answer: answer)
            report = self.diagnose(Loader(self.world, 40, 5), Step(self.world, 5), around=around)
            alone = report.parts.storage_busy
            assert alone is not None
            self.assertAlmostEqual(alone.low, low, delta=0.02)
            self.assertEqual(alone.high, 1.0)
            # What the sentence says already is not said again.
            self.assertEqual(report.storage_doubts, ["UNCERTAIN: noisy, narrow"])

    def test_feedline_that_refuses_is_no_end_of_a_diagnosis(self) -> None:
        for error in (feedline.Refused("error: no such folder", 2), OSError("no such folder")):

            def refusing(scenario: Any, error: Exception = error) -> Any:
                raise error

            around = dataclasses.replace(self.world.around(), play=refusing)
            report = self.diagnose(Loader(self.world, 40, 5), Step(self.world, 5), around=around)
            self.assertEqual((report.limit.name, report.parts.storage_busy), ("storage", None))
            self.assertIn(f"feedline did not read the files: {error}", str(report))

    def test_pages_hold_names_as_text(self) -> None:
        report = self.diagnose(Loader(self.world, 40, 5), Step(self.world, 5))
        report.parts.lacks.append("<script>")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "report.html")
            report.to_html(path)
            page = path.read_text()
        self.assertIn("storage is the limit", page)
        self.assertIn("&lt;script&gt;", page)
        self.assertNotIn("<script>", page)
        self.assertIn(report._repr_html_(), page)


class Keeping(unittest.TestCase):
    def test_the_position_of_a_stateful_loader_is_kept(self) -> None:
        loader = Model()
        kept = Kept([], loader)
        loader.weights["w"][0] = 9.0
        kept.restore()
        self.assertEqual((loader.weights, kept.names), ({"w": [1.0]}, []))


class Seen(unittest.TestCase):
    """The hook and the page cache, on real files."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.files = [os.path.join(folder.name, f"{at}.bin") for at in range(5)]
        for path in self.files:
            Path(path).write_bytes(os.urandom(20_000))

    def test_files_that_are_opened_to_be_read_are_seen_in_order(self) -> None:
        with opens.hearing([]) as heard:
            for at in (3, 1, 1, 3):
                Path(self.files[at]).read_bytes()
            os.close(os.open(self.files[0], os.O_RDONLY))
            open(self.files[2], "ab").close()
        Path(self.files[4]).read_bytes()
        self.assertEqual(heard.order, [self.files[at] for at in (3, 1, 3, 0)])
        self.assertEqual((len(heard.files), heard.bytes()), (3, 80_000))

    def test_a_worker_hears_and_then_does_what_the_job_asks(self) -> None:
        class Workers:
            num_workers = 2
            worker_init_fn = None

        called: list[int] = []
        loader = Workers()
        loader.worker_init_fn = own = called.append  # type: ignore[assignment]
        with opens.hearing(loader) as heard:
            loader.worker_init_fn(1)  # type: ignore[misc]
            Path(self.files[2]).read_bytes()
            opens.stop()
        self.assertEqual((heard.order, called), ([self.files[2]], [1]))
        self.assertIs(loader.worker_init_fn, own)

    def test_a_file_that_was_read_is_in_memory(self) -> None:
        there = pagecache.fill(self.files)
        if there is None:
            self.skipTest("the kernel does not tell what is in memory")
        self.assertEqual(there, 1.0)
        evicted = pagecache.evict(self.files)
        assert evicted is not None
        self.assertLessEqual(evicted, 1.0)
        self.assertEqual(Path(self.files[0]).stat().st_size, 20_000)


if __name__ == "__main__":
    unittest.main()
