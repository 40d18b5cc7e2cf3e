"""With the loaders and frameworks themselves, where they are installed."""

from __future__ import annotations

import importlib.util
import os
import random
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any

import feedline
from feedline import opens
from feedline.kept import Kept


def missing(*names: str) -> list[str]:
    return [name for name in names if importlib.util.find_spec(name) is None]


if missing("torch"):
    Dataset: Any = object
else:
    import torch
    from torch.utils.data import BatchSampler, DataLoader, Dataset, DistributedSampler, IterableDataset, RandomSampler

FILES = 80


class Samples(Dataset):
    """Files of bytes, of which one may be torn."""

    def __init__(self, folder: str, torn: int | None = None) -> None:
        self.folder, self.torn = folder, torn

    def __len__(self) -> int:
        return FILES

    def __getitem__(self, at: int) -> Any:
        if at == self.torn:
            raise OSError(f"sample {at} is torn")
        return torch.tensor(list(Path(self.folder, f"{at}.bin").read_bytes()))


class Several(Samples):
    """Samples that are asked for together."""

    def __getitem__(self, at: list[int]) -> Any:
        return torch.stack([super(Several, self).__getitem__(one) for one in at])


class Framework(unittest.TestCase):
    needs = ("torch",)

    def setUp(self) -> None:
        absent = missing(*self.needs)
        if absent:
            self.skipTest(f"not installed: {', '.join(absent)}")
        warnings.simplefilter("ignore")
        torch.manual_seed(5)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for at in range(FILES):
            Path(self.folder, f"{at}.bin").write_bytes(bytes([at] * 4))


class Loaders(Framework):
    def loader(self, context: str, persistent: bool) -> Any:
        return DataLoader(
            Samples(self.folder), 8, shuffle=True, num_workers=2, multiprocessing_context=context,
            persistent_workers=persistent, generator=torch.Generator().manual_seed(1),
        )  # fmt: skip

    def test_workers_that_persist_are_left_alone_by_a_diagnosis(self) -> None:
        loader = self.loader("fork", True)
        next(iter(loader))
        workers = loader._iterator._workers
        drawn: list[Any] = []
        report = feedline.diagnose(loader, lambda batch: drawn.append(batch.tolist()), steps=34, state=[], storage=False)
        self.assertIs(loader._iterator._workers, workers)
        self.assertTrue(loader.persistent_workers and all(worker.is_alive() for worker in workers))
        # After a first step.
        self.assertEqual(drawn[1:11], drawn[-10:])
        self.assertEqual(len(report.opens.order), FILES)

    def test_batches_are_those_of_the_bare_loader_however_workers_start(self) -> None:
        for context in ("fork", "spawn", "forkserver"):
            for persistent in (False, True):
                with self.subTest(context=context, persistent=persistent):
                    bare = [batch.tolist() for loader in [self.loader(context, persistent)] for _ in range(2) for batch in loader]
                    watched = feedline.wrap(self.loader(context, persistent))
                    self.assertIsInstance(watched, DataLoader)
                    self.assertEqual([batch.tolist() for _ in range(2) for batch in watched], bare)
                    waits = feedline.waits(watched)
                    self.assertEqual((len(waits.step_ns), len(waits.first_ns), set(waits.sizes)), (20, 2, {8 * 4}))

    def test_what_workers_open_is_heard_however_they_start(self) -> None:
        for context in ("fork", "spawn", "forkserver"):
            with self.subTest(context=context):
                loader = DataLoader(Samples(self.folder), 8, num_workers=2, multiprocessing_context=context)
                with opens.hearing(loader) as heard:
                    list(loader)
                self.assertEqual(sorted(heard.order), sorted(str(Path(self.folder, f"{at}.bin")) for at in range(FILES)))
                self.assertIsNone(loader.worker_init_fn)

    def test_an_error_in_a_worker_reaches_the_job_as_it_is(self) -> None:
        loader = DataLoader(Samples(self.folder, torn=50), 8, num_workers=2)
        said = []
        for one in (loader, feedline.wrap(loader)):
            with self.assertRaises(OSError) as raised:
                list(one)
            said.append(str(raised.exception))
        self.assertEqual(said[0].splitlines()[0], said[1].splitlines()[0])
        with self.assertRaisesRegex(OSError, "sample 50 is torn"):
            feedline.diagnose(loader, lambda batch: None, steps=40, state=[], storage=False)
        self.assertIsNone(loader.worker_init_fn)

    def test_epochs_and_samplers_are_the_loaders_own(self) -> None:
        sampler = DistributedSampler(Samples(self.folder), num_replicas=2, rank=0)
        loader = feedline.wrap(DataLoader(sampler.dataset, 8, sampler=sampler))
        loader.sampler.set_epoch(3)
        self.assertEqual((sampler.epoch, len(loader), loader.batch_size), (3, 5, 8))

    def test_a_stream_has_no_length_and_keeps_none(self) -> None:
        class Stream(IterableDataset):
            def __iter__(self) -> Any:
                return iter(torch.arange(20))

        loader = feedline.wrap(DataLoader(Stream(), 4))
        self.assertEqual(sum(1 for _ in loader), 5)
        with self.assertRaises(TypeError):
            len(loader)


class Diagnosed(Framework):
    def test_model_optimizer_gradients_and_random_state_are_restored(self) -> None:
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.Adam(model.parameters())
        loader = DataLoader(Samples(self.folder), 2, shuffle=True, num_workers=2)
        asked: list[Any] = []

        def step(batch: Any) -> None:
            asked.append(batch.tolist())
            optimizer.zero_grad()
            (model(batch.float()) * torch.rand(1)).sum().backward()
            optimizer.step()

        step(torch.ones(2, 4))
        before = {name: value.clone() for name, value in model.state_dict().items()}
        moments = optimizer.state_dict()["state"][0]["exp_avg"].clone()
        gradient = model.weight.grad.clone()
        drawn = torch.get_rng_state()
        report = feedline.diagnose(loader, step, steps=70, state=[model, optimizer], storage=False)
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(value, before[name]))
        self.assertTrue(torch.equal(optimizer.state_dict()["state"][0]["exp_avg"], moments))
        self.assertTrue(torch.equal(model.weight.grad, gradient))
        self.assertTrue(torch.equal(torch.get_rng_state(), drawn))
        # A first step; then the job from memory, the job, one batch over and over; and back.
        passes = [asked[2 + 35 * at :][:35] for at in range(6)]
        self.assertTrue(passes[0] == passes[1] == passes[4] == passes[5])
        self.assertEqual(len({str(batch) for batch in passes[2] + passes[3]}), 1)
        assert report.scenario is not None
        self.assertEqual((report.scenario.batch, report.scenario.sample_bytes, report.scenario.readers), (2, 4, 2))

    def test_what_a_step_changes_of_a_module_beside_its_state_is_restored(self) -> None:
        class Model(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("mean", torch.ones(4), persistent=False)
                self.register_buffer("last", None, persistent=False)

        model = torch.nn.Sequential(Model(), torch.nn.Dropout().eval())
        mean = model[0].mean
        kept = Kept([model])
        model[0].mean.mul_(2)
        model[0].mean = model[0].last = torch.zeros(4)
        model[0].eval()
        model[1].train()
        kept.restore()
        self.assertIs(model[0].mean, mean)
        self.assertEqual((mean.tolist(), model[0].last), ([1, 1, 1, 1], None))
        self.assertEqual([module.training for module in model.modules()], [True, True, False])
        with self.assertRaisesRegex(ValueError, "a lazy module has no parameters before its first batch"):
            Kept([torch.nn.LazyLinear(1)])

    def test_each_generator_of_a_loader_is_as_it_was(self) -> None:
        samples = Samples(self.folder)
        samples.drawn = random.Random(1)
        generator = torch.Generator().manual_seed(3)
        sampler = RandomSampler(samples, generator=generator)
        for loader in (
            DataLoader(samples, 8, sampler=sampler),
            DataLoader(samples, batch_sampler=BatchSampler(sampler, 8, False)),
            DataLoader(samples, None, sampler=sampler),
        ):
            kept = Kept([], loader)
            self.assertTrue(kept.generators.endswith("PyTorch, the loader's sampler, the dataset"), kept.generators)
            for restore in (kept.restore_random, kept.restore):
                before = generator.get_state(), samples.drawn.getstate()
                list(loader.batch_sampler or loader.sampler)
                samples.drawn.random()
                self.assertFalse(torch.equal(generator.get_state(), before[0]))
                restore()
                self.assertTrue(torch.equal(generator.get_state(), before[0]))
                self.assertEqual(samples.drawn.getstate(), before[1])
        self.assertNotIn("the dataset", Kept([], DataLoader(samples, 8, num_workers=2)).generators)

    def test_what_the_workers_of_a_made_loader_open_is_heard(self) -> None:
        def fresh() -> Any:
            return DataLoader(Samples(self.folder), 4, num_workers=1, multiprocessing_context="spawn")

        # More steps than there are batches: the counters of workers are read before they end.
        report = feedline.diagnose(fresh, lambda batch: None, steps=60, state=[], storage=False, evict=False)
        self.assertEqual(len(report.opens.order), FILES)
        self.assertNotIn("mapped, or read in part", str(report))
        assert report.scenario is not None
        self.assertEqual((report.scenario.readers, report.scenario.prefetch), (1, 2))

    def test_samples_are_counted_as_the_loader_says_and_not_as_a_batch_looks(self) -> None:
        samples = Samples(self.folder)

        class Batches(IterableDataset):
            def __iter__(self) -> Any:
                return (torch.stack([samples[at + one] for one in range(2)]) for at in range(0, FILES, 2))

        sampler = BatchSampler(RandomSampler(samples), 2, False)
        listed = [[at, at + 1] for at in range(0, FILES, 2)]
        for loader, given, batch in (
            (DataLoader(samples, 2, collate_fn=list), None, 2),
            (DataLoader(samples, 2, collate_fn=torch.cat), None, 2),
            (DataLoader(samples, batch_sampler=sampler), None, 2),
            (DataLoader(samples, batch_sampler=listed), None, 2),
            (DataLoader(Several(self.folder), None, sampler=sampler), None, 2),
            (DataLoader(Several(self.folder), None, sampler=listed), None, None),
            (DataLoader(samples, None), None, None),
            (DataLoader(samples, None), 1, 1),
            (DataLoader(Batches(), None), None, None),
            (DataLoader(Batches(), None), 2, 2),
        ):
            report = feedline.diagnose(loader, lambda batch: None, steps=34, state=[], storage=False, batch=given)
            said = str(report)
            if batch is None:
                self.assertIsNone(report.scenario, said)
                self.assertIn("no scenario: with batch_size=None a loader hands out samples, or batches of its dataset", said)
            else:
                assert report.scenario is not None, said
                self.assertEqual((report.scenario.batch, report.scenario.sample_bytes), (batch, 4))

    def test_what_workers_hand_over_by_pipes_is_no_unseen_file(self) -> None:
        class Expanding(Samples):
            def __getitem__(self, at: int) -> Any:
                return Path(self.folder, f"{at}.bin").read_bytes() * 20_000

        loader = DataLoader(Expanding(self.folder), 4, num_workers=2, collate_fn=list)
        report = feedline.diagnose(loader, lambda batch: None, steps=34, state=[], storage=False)
        self.assertNotIn("more was read than the opened files hold", str(report))
        self.assertIsNotNone(report.scenario)

    def test_single_samples_of_different_lengths_are_not_said_to_be_batches_of_them(self) -> None:
        class Sentences(IterableDataset):
            def __iter__(self) -> Any:
                return (torch.ones(length) for length in range(1, 40))

        loader = feedline.wrap(DataLoader(Sentences(), None))
        list(loader)
        self.assertNotIn("samples", str(feedline.waits(loader)))

    def test_a_stateful_loader_is_where_it_was(self) -> None:
        if missing("torchdata"):
            self.skipTest("not installed: torchdata")
        from torchdata.stateful_dataloader import StatefulDataLoader

        loader = feedline.wrap(StatefulDataLoader(Samples(self.folder), 2, num_workers=1))
        batches = iter(loader)
        for _ in range(3):
            next(batches)
        state = loader.state_dict()
        resumed = StatefulDataLoader(Samples(self.folder), 2, num_workers=1)
        resumed.load_state_dict(state)
        self.assertEqual(next(iter(resumed)).tolist(), next(batches).tolist())
        # One that has begun, and one that has not.
        for one in (resumed, StatefulDataLoader(Samples(self.folder), 2, num_workers=1)):
            report = feedline.diagnose(one, lambda batch: None, steps=34, state=[], storage=False)
            self.assertGreaterEqual(len(report.opens.order), 2 * 17)
        again = StatefulDataLoader(Samples(self.folder), 2, num_workers=1)
        again.load_state_dict(resumed.state_dict())
        self.assertEqual([batch.tolist() for batch in again], [batch.tolist() for batch in batches])


class Accelerate(Framework):
    needs = ("torch", "accelerate")

    def test_a_loader_is_watched_that_was_wrapped_before_prepare(self) -> None:
        import accelerate

        os.environ.setdefault("ACCELERATE_USE_CPU", "true")
        own = accelerate.Accelerator.prepare_data_loader
        loader = feedline.wrap(DataLoader(Samples(self.folder), 8))
        prepared = accelerate.Accelerator().prepare(loader)
        self.assertEqual(sum(1 for _ in prepared), 10)
        self.assertEqual(len(feedline.waits(loader).step_ns), 10)
        del loader, prepared
        self.assertIs(accelerate.Accelerator.prepare_data_loader, own)

    def test_what_a_prepared_loader_opens_is_heard(self) -> None:
        import accelerate

        os.environ.setdefault("ACCELERATE_USE_CPU", "true")
        for workers in (0, 1):
            prepared = accelerate.Accelerator().prepare(DataLoader(Samples(self.folder), 2, num_workers=workers))
            report = feedline.diagnose(prepared, lambda batch: None, steps=34, state=[], storage=False)
            # It looks one batch ahead, and workers fetch two.
            self.assertGreaterEqual(len(report.opens.order), 2 * 17)
            assert report.scenario is not None, str(report)
            self.assertEqual((report.scenario.batch, report.scenario.readers), (2, 1))


class Lightning(Framework):
    needs = ("torch", "lightning")

    def test_steps_are_counted_by_the_callback(self) -> None:
        import lightning.pytorch as lightning

        class Model(lightning.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.layer = torch.nn.Linear(4, 1)

            def training_step(self, batch: Any, at: int) -> Any:
                return self.layer(batch.float()).sum()

            def configure_optimizers(self) -> Any:
                return torch.optim.SGD(self.parameters(), lr=1e-3)

        watch = feedline.lightning.Watch(steps=200, record=self.folder)
        lightning.Trainer(
            max_epochs=2, callbacks=[watch], accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False,
        ).fit(Model(), DataLoader(Samples(self.folder), 8))  # fmt: skip
        self.assertEqual((len(watch.waits.step_ns), len(watch.waits.first_ns)), (20, 2))
        self.assertEqual(feedline.ranks(self.folder).steps, 20)


class Transformers(Framework):
    needs = ("torch", "transformers", "accelerate")

    def test_steps_are_counted_by_the_callback(self) -> None:
        import transformers

        class Model(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = torch.nn.Linear(4, 1)

            def forward(self, x: Any) -> Any:
                return {"loss": self.layer(x.float()).sum()}

        watch = feedline.hf.Watch(steps=200, record=self.folder)
        transformers.Trainer(
            model=Model(),
            args=transformers.TrainingArguments(
                self.folder, num_train_epochs=2, per_device_train_batch_size=8, report_to=[], save_strategy="no", use_cpu=True,
                disable_tqdm=True, logging_strategy="no",
            ),
            train_dataset=[{"x": torch.ones(4)}] * 80, callbacks=[watch],
        ).train()  # fmt: skip
        self.assertEqual((len(watch.waits.step_ns), len(watch.waits.first_ns)), (20, 2))
        self.assertEqual(feedline.ranks(self.folder).steps, 20)


if __name__ == "__main__":
    unittest.main()
