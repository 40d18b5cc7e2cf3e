"""The worked cases of docs/src/my-gpu-waits.md: a job of PyTorch whose limit is known, diagnosed, and then freed of it.

    docs/my-gpu-waits.py storage|decoding|step [TIMES]
    docs/my-gpu-waits.py ranks

Files of 100 kB are read and decoded by two workers; a step is a small model, and a sleep that stands for an accelerator. Storage is made
slow by the kernel (cgroup blkio of version 1, as root), decoding by work for the processor. What is predicted for the job without a
part is then held against the job without it. Needs torch, this package, and the executable.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

import feedline
from feedline import pagecache

BATCH, STEPS, SAMPLES, SAMPLE_BYTES = 8, 80, 400, 100_000
# Predictions are held against what follows so many times; naming is cheaper.
FOLLOWED = 5
# Of the job of several ranks: how many, and what the batches of one of them take longer.
RANKS, LATE_S = 8, 0.05
GROUP = Path("/sys/fs/cgroup/blkio")
# What storage gives in bytes a second (None: all it has), rounds of hashing that stand for decoding a sample, seconds of a step.
CASES = {"storage": (16_000_000, 4, 0.02), "decoding": (None, 100, 0.01), "step": (None, 4, 0.04)}


class Samples(Dataset):
    """Files that are read and then decoded."""

    def __init__(self, files: list[str], rounds: int) -> None:
        self.files, self.rounds = files, rounds

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, at: int) -> torch.Tensor:
        stored = Path(self.files[at]).read_bytes()
        for _ in range(self.rounds):
            hashlib.sha256(stored).digest()
        return torch.frombuffer(bytearray(stored[:4096]), dtype=torch.uint8).float()


@contextmanager
def throttled(folder: str, rate_bps: int | None):
    """Reads of this process and its children take at most so many bytes a second from the device of that folder."""
    if rate_bps is None:
        yield
        return
    device = os.stat(folder).st_dev
    group = GROUP / f"feedline-{os.getpid()}"
    group.mkdir()
    try:
        (group / "blkio.throttle.read_bps_device").write_text(f"{os.major(device)}:{os.minor(device)} {rate_bps}")
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (GROUP / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def step_of(seconds: float):
    """A step of a small model, with what it changes."""
    model = torch.nn.Linear(4096, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)

    def step(batch: torch.Tensor) -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        time.sleep(seconds)

    return step, [model, optimizer]


def loader_of(files: list[str], rounds: int) -> DataLoader:
    return DataLoader(Samples(files, rounds), batch_size=BATCH, shuffle=True, num_workers=2)


def busy_without(part: str, files: list[str], case: tuple) -> float:
    """What the job reaches without that part: from memory, or with nothing to decode."""
    _, rounds, seconds = case
    step, _ = step_of(seconds)
    loader = feedline.wrap(loader_of(files, 0 if part == "decoding" else rounds), STEPS)
    for _ in range(2):
        pagecache.fill(files) if part == "storage" else pagecache.evict(files)
        for batch in loader:
            step(batch)
    return feedline.waits(loader).busy(warm_up=4).mean


def once(name: str, files: list[str], folder: str, quiet: bool, followed: bool) -> tuple[str, list[float]]:
    case = CASES[name]
    step, state = step_of(case[2])
    with throttled(folder, case[0]):
        report = feedline.diagnose(loader_of(files, case[1]), step, steps=STEPS, state=state)
        errors = []
        for part, predicted in report.limit.without.items() if followed else ():
            then = busy_without(part, files, case)
            errors.append(100 * (then - predicted.mean))
            print(f"without {part}: said {predicted.percent()}, then measured {100 * then:.0f} %", flush=True)
    print(report.headline() if quiet else report, flush=True)
    return report.limit.name, errors


def rank_of_eight(rank: int, folder: str, slow: int) -> None:
    """A rank of a job of DistributedDataParallel, of which one has samples that come late."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29533")
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=RANKS)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4096, 8))

    def late(samples: list[torch.Tensor]) -> torch.Tensor:
        time.sleep(LATE_S if rank == slow else 0)
        return torch.stack(samples)

    loader = DataLoader([torch.ones(4096)] * BATCH * STEPS, batch_size=BATCH, collate_fn=late)
    for batch in feedline.wrap(loader, record=folder):
        model(batch).sum().backward()
    torch.distributed.destroy_process_group()


def ranks() -> None:
    with tempfile.TemporaryDirectory(prefix="feedline-") as folder:
        torch.multiprocessing.spawn(rank_of_eight, (folder, 5), nprocs=RANKS)
        print(feedline.ranks(folder))


def main() -> None:
    torch.set_num_threads(1)
    if sys.argv[1:] == ["ranks"]:
        return ranks()
    name, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    named: Counter[str] = Counter()
    errors: list[float] = []
    with tempfile.TemporaryDirectory(prefix="feedline-", dir=".") as folder:
        files = [os.path.join(os.path.abspath(folder), f"{at}.bin") for at in range(SAMPLES)]
        for path in files:
            Path(path).write_bytes(os.urandom(SAMPLE_BYTES))
        os.sync()
        for at in range(times):
            limit, wrong = once(name, files, folder, quiet=times > 1, followed=at < FOLLOWED)
            named[limit] += 1
            errors += wrong
    if times > 1:
        within = sum(abs(error) <= 5 for error in errors)
        print(f"{name}: named {dict(named)}; {within} of {len(errors)} predictions within 5 points", flush=True)


if __name__ == "__main__":
    main()
