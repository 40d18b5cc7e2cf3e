"""One file for each rank of a job, and what they say together.

Ranks wait for each other in every step (an all-reduce), so a late batch of one rank is a long step of all others. Steps are put
side by side by their count, never by time: clocks of hosts differ, and ranks that end by time end at different steps.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import util
from pathlib import Path
from typing import Any

from . import accelerators, spans
from .stamps import Waits

# 1 did not say when a rank measured, nor whether it used CUDA.
VERSION = 2
KEYS = ("rank", "world", "wait_ns", "step_ns", "begins", "error")
KEYS_SINCE_2 = ("began_unix_ns", "wrote_unix_ns", "cuda")
# A rank is named as the slowest where it waited longest in so many blocks, and longer than any other by this share of the time.
BLOCKS_NAMED = spans.BLOCKS - 1
WAIT_SHARE_MIN = 0.05
# Of what its waits are longer, what the others take longer, where they wait for it: nothing or all.
FOLLOWED_MIN = 0.5
# Ranks that meet in each step take as long for it, but for this share.
MET_APART_MAX = 0.1
ASSUMED = "if steps by themselves take all ranks alike"
STEPS_UNSEEN = (
    "a rank whose step itself is slow is never named: the others wait for it in theirs, and all are as long. Time the "
    "step on each rank without the others"
)
# The first file is written once its batches say something.
BATCHES_FIRST = spans.BATCHES_MIN + 1


class Writer:
    """Writes what one rank measured.

    A file is written anew each time that there are twice as many batches as in the last one, and at the end. So a job that is
    killed leaves half of its batches at least, and what a batch costs does not grow with their number or with that of the passes.
    """

    def __init__(self, folder: str | os.PathLike[str], waits: Waits) -> None:
        self._folder = Path(folder)
        self._waits = waits
        self._began_ns = 0
        self._rank: tuple[int, int] | None = None
        self._process = 0
        self._written: tuple[int, str | None] = (0, None)
        self._folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, last: bool = False) -> None:
        """Between two batches: writes where it is time, and where these are the last ones and something is new."""
        self._began_ns = self._began_ns or time.time_ns()
        now = (len(self._waits.step_ns), self._waits.error)
        if self._rank is None and now != self._written:
            self._begin()
        if now == self._written or not last and now[0] < max(BATCHES_FIRST, 2 * self._written[0]):
            return
        if self._process != os.getpid():
            self._waits.unwritten = "another process measured before this one: no file of this one was written"
            return
        self._written = now
        self._waits.unwritten = None
        try:
            self._write()
        except OSError as error:
            self._waits.unwritten = f"no file was written to {self._folder}: {error.strerror}"
            self._written = (now[0], self._waits.unwritten)
        if not last:
            # Writing is no waiting.
            self._waits.ask()

    def _begin(self) -> None:
        # A watch is often made before there are ranks, and the process group is gone at exit.
        self._process, self._rank = os.getpid(), accelerators.rank_and_world()
        # atexit is not run by processes that multiprocessing forks.
        util.Finalize(None, self, kwargs={"last": True}, exitpriority=0)

    def _write(self) -> None:
        """The file of this rank, whole or not there."""
        assert self._rank is not None
        rank, world = self._rank
        waits = self._waits
        told = {
            "version": VERSION,
            "rank": rank,
            "world": world,
            "began_unix_ns": self._began_ns,
            "wrote_unix_ns": time.time_ns(),
            "cuda": waits.gpu is not None,
            "wait_ns": list(waits.wait_ns)[: len(waits.step_ns)],
            "step_ns": list(waits.step_ns),
            "begins": waits.begins,
            "first_ns": waits.first_ns,
            "gap_ns": waits.gap_ns,
            "error": waits.error,
        }
        handle, part = tempfile.mkstemp(dir=self._folder, prefix=f".rank-{rank}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(json.dumps(told))
            os.replace(part, self._folder / f"rank-{rank}.json")
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise


# Those of this process and folder that still may write; a process that was forked has its own.
_writers: weakref.WeakValueDictionary[tuple[int, str], Writer] = weakref.WeakValueDictionary()


def writer(folder: str | os.PathLike[str] | None, waits: Waits) -> Callable[..., None]:
    """What writes the file of this rank into a folder; nothing without one."""
    if folder is None:
        return _nothing
    place = os.getpid(), os.path.realpath(folder)
    if place in _writers:
        raise ValueError(
            f"another loader of this process writes into {os.fspath(folder)}, and a rank has one file there: name a folder for "
            f"each loader and each job, such as record={os.path.join(os.fspath(folder), 'validation')!r}"
        )
    made = _writers[place] = Writer(folder, waits)
    return made


def _nothing(last: bool = False) -> None:
    """Nobody asked for a file. It has a name, since frameworks pickle their callbacks."""


@dataclass
class Ranks:
    """What the ranks of a job waited for, over the steps that all of them made."""

    steps: int
    wait_share: dict[int, float]
    """Of each rank's time, waiting for its own batches."""
    others_share: dict[int, float]
    """Of each rank's time, waiting in its steps for ranks whose batches came later; empty where stamps do not say it."""
    slowest: int | None
    """The rank whose batches hold up the others, if one does."""
    why: str
    """Why that rank is named, and on which condition, or why none is."""
    lacks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{len(self.wait_share)} ranks, {self.steps} steps of each"]
        named = "no rank is named" if self.slowest is None else f"rank {self.slowest} holds up the others"
        lines.append(f"{named}: {self.why}")
        for rank, share in sorted(self.wait_share.items()):
            others = f"   for those of others {100 * self.others_share[rank]:3.0f} %" if self.others_share else ""
            lines.append(f"rank {rank:<5} for its batches {100 * share:3.0f} %{others}")
        return "\n".join([*lines, *(f"LACKS {lack}" for lack in self.lacks)])


def ranks(folder: str | os.PathLike[str]) -> Ranks:
    """Puts together what `wrap(loader, record=folder)` wrote on each rank."""
    files = sorted(Path(folder).glob("rank-*.json"))
    if not files:
        raise FileNotFoundError(f"no rank-*.json in {folder}: wrap(loader, record=folder) writes them")
    told, lacks = _of_one_run([_read(file) for file in files])
    one_run = not lacks
    lacks += _disagreements(told)
    steps = min(len(one["step_ns"]) for one in told)
    first = {begin for one in told for begin in one["begins"]}
    at = [step for step in range(steps) if step not in first]
    wait = {one["rank"]: [one["wait_ns"][step] for step in at] for one in told}
    step = {one["rank"]: [one["step_ns"][step] for step in at] for one in told}
    whole = {rank: max(1, sum(wait[rank]) + sum(step[rank])) for rank in wait}
    shares = {rank: sum(wait[rank]) / whole[rank] for rank in wait}
    cuda = any(one["cuda"] for one in told)
    others = {} if cuda else {rank: others_ns / whole[rank] for rank, others_ns in _others_ns(wait, step).items()}
    if not one_run:
        named = Named(None, "files may be of several runs")
    elif len(at) < spans.BATCHES_MIN:
        named = Named(None, f"{steps} common steps are too few: {spans.BATCHES_MIN + 1} at least")
    else:
        named = _slowest(wait, step, shares, cuda)
    if not named.waited_for:
        others = {}
        lacks.append("late batches are not what ranks wait for in their steps: no share for those of others is known")
    if len(told) > 1:
        lacks.append(STEPS_UNSEEN)
    return Ranks(steps, shares, others, named.rank, named.why, lacks)


def _others_ns(wait: dict[int, list[int]], step: dict[int, list[int]]) -> dict[int, int]:
    """What each rank waited for others: by what its steps are longer than the shortest ones, and its waits shorter than the longest.

    Each by itself says more than that. Ranks that do not meet in each step differ by what they do themselves, and late batches of
    one rank are waited for by nobody where another is later still.
    """
    longest_waits = sum(map(max, zip(*wait.values())))
    shortest_steps = sum(map(min, zip(*step.values())))
    return {rank: min(sum(step[rank]) - shortest_steps, longest_waits - sum(wait[rank])) for rank in wait}


def _read(file: Path) -> dict[str, Any]:
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        if told["version"] not in (1, VERSION):
            raise ValueError(f"version {told['version']}, and this package reads 1 and {VERSION}")
        lacking = [key for key in KEYS + (KEYS_SINCE_2 if told["version"] > 1 else ()) if key not in told]
        if lacking:
            raise ValueError(f"it has no {', '.join(lacking)}")
        if len(told["wait_ns"]) != len(told["step_ns"]):
            raise ValueError("waits and steps differ in number")
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is not what a rank writes: {error}") from error
    # Files of version 1 are older than all others.
    return {"began_unix_ns": 0, "wrote_unix_ns": 0, "cuda": False, **told}


def _of_one_run(told: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Those of the last run, and why they may not be of one: ranks wait for each other, so files of one run overlap in time."""
    began_ns = max(one["began_unix_ns"] for one in told)
    run = [one for one in told if one["wrote_unix_ns"] >= began_ns]
    lacks = []
    if len(run) < len(told):
        earlier = ", ".join(str(one["rank"]) for one in told if one["wrote_unix_ns"] < began_ns)
        lacks.append(
            f"files written before another rank began (of ranks {earlier}) are taken for an earlier run's and left out, and "
            "no rank is named: name a fresh folder for each job"
        )
    if began_ns == 0:
        lacks.append("files of version 1 do not say of which run they are, and no rank is named")
    if len({one["world"] for one in run}) > 1:
        lacks.append("files are of jobs with different numbers of ranks, and no rank is named: name a fresh folder for each job")
    return run, lacks


def _disagreements(told: list[dict[str, Any]]) -> list[str]:
    lacks = []
    world = max(one["world"] for one in told)
    if len(told) < world:
        missing = sorted(set(range(world)) - {one["rank"] for one in told})
        lacks.append(f"{len(told)} of {world} ranks wrote a file; missing: {', '.join(map(str, missing))}")
    counts = {one["rank"]: len(one["step_ns"]) for one in told}
    if len(set(counts.values())) > 1:
        least = min(counts, key=lambda rank: counts[rank])
        lacks.append(f"ranks made different numbers of steps, rank {least} the fewest ({counts[least]})")
    if any(one["cuda"] for one in told):
        lacks.append(
            "stamps are those of the host, and calls of CUDA return before their work is done: no share for batches of others is known"
        )
    lacks += [f"rank {one['rank']} ended with {one['error']}" for one in told if one["error"]]
    return lacks


@dataclass
class Named:
    """The rank whose batches hold up the others, or that there is none, and why."""

    rank: int | None
    why: str
    waited_for: bool = True
    """Whether late batches may be what ranks wait for in their steps."""


def _slowest(wait: dict[int, list[int]], step: dict[int, list[int]], shares: dict[int, float], cuda: bool) -> Named:
    if len(shares) == 1:
        return Named(None, "there is one")
    wholes = {rank: [sum(both) for both in zip(wait[rank], step[rank])] for rank in wait}
    times = [sum(whole) for whole in wholes.values()]
    if min(times) < (1 - WAIT_SHARE_MIN) * max(times):
        return Named(None, "they take different times for as many steps, so they do not wait for each other in them", False)
    rank = max(shares, key=lambda rank: shares[rank])
    waits = f"{100 * shares[rank]:.0f} % of the time"
    if shares[rank] - max(share for other, share in shares.items() if other != rank) < WAIT_SHARE_MIN:
        return Named(None, f"none waits for its batches {100 * WAIT_SHARE_MIN:.0f} % of the time longer than any other")
    latest = f"rank {rank} waits longest for its batches, {waits}"
    if _blocks_longest(wait, rank) < BLOCKS_NAMED:
        return Named(None, f"{latest}, but not in all parts of the steps")
    # Another rank may take as long for its step, and then nobody waits for these batches: if they come later still, nothing changes.
    others = [sum(both) / (len(wholes) - 1) for both in zip(*(whole for other, whole in wholes.items() if other != rank))]
    # Ranks that do not meet in each step take as long over many of them.
    met = sum(max(ends) - min(ends) for ends in zip(*wholes.values())) <= MET_APART_MAX * max(times)
    follows = spans.slope(wait[rank], others, 1 if met else len(others) // spans.BATCHES_MIN)
    if follows and follows.high < FOLLOWED_MIN:
        return Named(None, f"{latest}, and where it waits longer the others take no longer", False)
    # What takes the others longer by more than it waits, such as a busy machine, is none of its doing.
    if follows and FOLLOWED_MIN < follows.low <= 1:
        return Named(rank, f"it waits {waits} for its batches, and where it waits longer the others take longer")
    if cuda:
        return Named(None, f"{latest}, and its accelerator may work on meanwhile")
    return Named(rank, f"it waits {waits} for its batches, {ASSUMED}")


def _blocks_longest(wait: dict[int, list[int]], rank: int) -> int:
    """In how many parts of the steps a rank waits longer than any other."""
    length = len(wait[rank]) // spans.BLOCKS
    parts = [slice(block * length, (block + 1) * length) for block in range(spans.BLOCKS)]
    return sum(sum(wait[rank][part]) > max(sum(waits[part]) for other, waits in wait.items() if other != rank) for part in parts)
