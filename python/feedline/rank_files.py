"""One file for each rank of a job, and what they say together.

Ranks wait for each other in every step (an all-reduce), so a late batch of one rank is a long step of all others. Steps are put
side by side by their count, never by time: clocks of hosts differ, and ranks that end by time end at different steps.
"""

from __future__ import annotations

import atexit
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import accelerators, spans
from .stamps import Waits

VERSION = 1
# A rank is named as the slowest where it waited longest in so many of the blocks, and waits are at least this share of the time.
BLOCKS_NAMED = spans.BLOCKS - 1
WAIT_SHARE_MIN = 0.05


class Writer:
    """Writes what one rank measured."""

    def __init__(self, folder: str | os.PathLike[str], waits: Waits) -> None:
        self._folder = Path(folder)
        self._waits = waits
        self._written = -1
        self._process = os.getpid()
        self._folder.mkdir(parents=True, exist_ok=True)
        # A job may end in the middle of a pass.
        atexit.register(self.write)

    def write(self) -> None:
        """The file of this rank, whole or not there; nothing where nothing was measured since the last one."""
        if self._process != os.getpid() or self._written == len(self._waits.step_ns) or not self._folder.is_dir():
            return
        self._written = len(self._waits.step_ns)
        rank, world = accelerators.rank_and_world()
        waits = self._waits
        told = {
            "version": VERSION,
            "rank": rank,
            "world": world,
            "wait_ns": list(waits.wait_ns)[: len(waits.step_ns)],
            "step_ns": list(waits.step_ns),
            "begins": waits.begins,
            "first_ns": waits.first_ns,
            "gap_ns": waits.gap_ns,
            "error": waits.error,
        }
        handle, part = tempfile.mkstemp(dir=self._folder, prefix=f".rank-{rank}-")
        with os.fdopen(handle, "w") as file:
            json.dump(told, file)
        os.replace(part, self._folder / f"rank-{rank}.json")


def writer(folder: str | os.PathLike[str] | None, waits: Waits) -> Callable[[], None]:
    """What writes the file of this rank into a folder; nothing without one."""
    return _nothing if folder is None else Writer(folder, waits).write


def _nothing() -> None:
    """Nobody asked for a file. It has a name, since frameworks pickle their callbacks."""


@dataclass
class Ranks:
    """What the ranks of a job waited for, over the steps that all of them made."""

    steps: int
    wait_share: dict[int, float]
    """Of each rank's time, waiting for its own batches."""
    others_share: dict[int, float]
    """Of each rank's time, waiting in its steps for ranks that came later."""
    slowest: int | None
    """The rank whose batches hold up the others, if one does."""
    lacks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{len(self.wait_share)} ranks, {self.steps} steps of each"]
        if self.slowest is None:
            lines.append("no rank's batches hold up the others")
        else:
            waited = 100 * self.wait_share[self.slowest]
            lines.append(f"rank {self.slowest} holds up the others: it waits {waited:.0f} % of the time for its batches")
        for rank, share in sorted(self.wait_share.items()):
            lines.append(f"rank {rank:<5} for data {100 * share:3.0f} %   for others {100 * self.others_share[rank]:3.0f} %")
        return "\n".join([*lines, *(f"LACKS {lack}" for lack in self.lacks)])


def ranks(folder: str | os.PathLike[str]) -> Ranks:
    """Puts together what `wrap(loader, record=folder)` wrote on each rank."""
    files = sorted(Path(folder).glob("rank-*.json"))
    if not files:
        raise FileNotFoundError(f"no rank-*.json in {folder}: wrap(loader, record=folder) writes them")
    told = [_read(file) for file in files]
    lacks = _disagreements(told)
    steps = min(len(one["step_ns"]) for one in told)
    first = {begin for one in told for begin in one["begins"]}
    at = [step for step in range(steps) if step not in first]
    wait = {one["rank"]: [one["wait_ns"][step] for step in at] for one in told}
    step = {one["rank"]: [one["step_ns"][step] for step in at] for one in told}
    others = dict.fromkeys(wait, 0)
    for i in range(len(at)):
        # Who comes last to the all-reduce waits for nobody in it.
        last = min(step[rank][i] for rank in step)
        for rank in others:
            others[rank] += step[rank][i] - last
    whole = {rank: max(1, sum(wait[rank]) + sum(step[rank])) for rank in wait}
    shares = {rank: sum(wait[rank]) / whole[rank] for rank in wait}
    if len(at) < spans.BATCHES_MIN:
        lacks.append(f"{steps} common steps are too few to name a rank: {spans.BATCHES_MIN + 1} at least")
    slowest = _slowest(wait, shares) if len(at) >= spans.BATCHES_MIN else None
    lacks.append("a rank whose step itself is slow makes all steps equally long, and is not named")
    return Ranks(steps, shares, {rank: others[rank] / whole[rank] for rank in others}, slowest, lacks)


def _read(file: Path) -> dict[str, Any]:
    try:
        told = json.loads(file.read_text())
        if told["version"] != VERSION:
            raise ValueError(f"version {told['version']}, and this package reads {VERSION}")
        if len(told["wait_ns"]) != len(told["step_ns"]):
            raise ValueError("waits and steps differ in number")
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is not what a rank writes: {error}") from error
    return dict(told)


def _disagreements(told: list[dict[str, Any]]) -> list[str]:
    lacks = []
    if len({one["world"] for one in told}) > 1:
        lacks.append("files are of jobs with different numbers of ranks: name a fresh folder for each job")
    world = max(one["world"] for one in told)
    if len(told) < world:
        missing = sorted(set(range(world)) - {one["rank"] for one in told})
        lacks.append(f"{len(told)} of {world} ranks wrote a file; missing: {', '.join(map(str, missing))}")
    counts = {one["rank"]: len(one["step_ns"]) for one in told}
    if len(set(counts.values())) > 1:
        least = min(counts, key=lambda rank: counts[rank])
        lacks.append(f"ranks made different numbers of steps, rank {least} the fewest ({counts[least]})")
    lacks += [f"rank {one['rank']} ended with {one['error']}" for one in told if one["error"]]
    return lacks


def _slowest(wait: dict[int, list[int]], shares: dict[int, float]) -> int | None:
    candidate = max(shares, key=lambda rank: shares[rank])
    if len(shares) < 2 or shares[candidate] < WAIT_SHARE_MIN:
        return None
    length = len(wait[candidate]) // spans.BLOCKS
    longest = 0
    for block in range(spans.BLOCKS):
        part = slice(block * length, (block + 1) * length)
        sums = {rank: sum(waits[part]) for rank, waits in wait.items()}
        longest += sums[candidate] > max(sum_ns for rank, sum_ns in sums.items() if rank != candidate)
    return candidate if longest >= BLOCKS_NAMED else None
