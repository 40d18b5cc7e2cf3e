"""`diagnose`: a job, and each part of it by itself, until the limit has a name.

The parts are measured in two rounds, the second in the opposite order, so that a machine that changes meanwhile is seen: two
rounds of one part then differ. Before every pass the random state is what it was, so that each pass asks for the same batches.
"""

from __future__ import annotations

import math
import operator
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from . import _binary, accelerators, evidence, limits, machine, opens, pagecache, spans
from . import scenario as scenarios
from .evidence import Played
from .kept import Kept
from .limits import Unseen
from .opens import Opens
from .report import Report
from .scenario import Scenario
from .spans import Span
from .stamps import Clock, Pass, Waits, length_of
from .watch import bare

ROUNDS = 2
# More of the files in memory than this, and a pass is not cold; less, and it is not warm.
COLD_SHARE_MAX = 0.05
WARM_SHARE_MIN = 0.95
# What workers are told for a batch, at most, and what else a process reads now and then.
PIPES_BYTES = 16 << 10
ELSE_BYTES = 256 << 10
# More of the first pass's files than this stay closed in a later one, and that one read something else.
OTHERS_SHARE_MAX = 0.05
OTHER_LOADER = "hand `without_storage`, a loader of the same batches from memory, to tell its parts apart"
PYTHONS_OPEN = f"{OTHER_LOADER}, and let files be opened by Python, so that they can be dropped from memory"
SAY_BATCH = "hand the number of samples, batch=..."
# What feedline's own reading of the files may take.
STORAGE_BUDGET = "60s"
# Files below their folder for each that was opened, up to which feedline lists it: a pass opens a part of a dataset.
OTHER_FILES = 1000


def _play(scenario: Scenario) -> _binary.Answer:
    with tempfile.TemporaryDirectory(prefix="feedline-") as results:
        return _binary.run(scenario, results=results)


@dataclass
class Around:
    """What a diagnosis asks of the machine. Tests hand in one that is played."""

    clock: Clock = time.perf_counter_ns
    moment: Callable[[int], machine.Moment] = machine.moment
    hearing: Callable[[Any], AbstractContextManager[Opens]] = opens.hearing
    evict: Callable[[Sequence[str]], float | None] = pagecache.evict
    fill: Callable[[Sequence[str]], float | None] = pagecache.fill
    cores: Callable[[], int] = machine.cores
    play: Callable[[Scenario], _binary.Answer] = _play


@dataclass
class Diagnosis:
    """The passes that were made, by part, and what is known of the loader."""

    loader: Any
    step: Callable[[Any], Any]
    steps: int
    kept: Kept
    around: Around
    batch: int | None = None
    """Samples of a batch, as the caller says."""
    rounds: dict[str, list[Played]] = field(default_factory=dict)
    lacks: list[str] = field(default_factory=list)
    not_cold: str | None = None
    unseen: Unseen | None = None
    """What of its reads nobody saw, if there is something."""
    in_full: bool = False
    """Whether nothing says that more was read than the files that were opened."""
    remote: Unseen | None = None
    unmeasured: Unseen | None = None
    """Why its parts were not measured, if they were not."""
    changed: Unseen | None = None
    """What later passes did not read of what the first one did."""
    opens: Opens = field(default_factory=Opens)
    whole: bool = False
    """Whether each pass goes over all that the loader has."""
    first: Any = None
    """The loader of the first pass, which says how it fetches."""

    def source(self) -> Any:
        """What a pass iterates: the loader, or what the factory makes."""
        if hasattr(type(self.loader), "__iter__"):
            return self.loader
        made = self.loader()
        if not hasattr(type(made), "__iter__"):
            raise TypeError(f"a loader is iterated, and the {type(made).__name__} that the function made cannot be")
        return made

    @property
    def workers(self) -> int:
        """Processes that fetch, 0 where the job's own does."""
        return int(getattr(self.first, "num_workers", 0) or 0)

    @property
    def receiver(self) -> int | None:
        """This process, where it reads no files but what workers hand it."""
        return os.getpid() if self.workers and hasattr(self.first, "worker_init_fn") else None

    @property
    def fetched(self) -> int:
        """Batches that a pass fetches at most: workers are at work on more than what has come."""
        return self.steps + (0 if self.whole else self.ahead)

    @property
    def ahead(self) -> int:
        """Batches that are fetched ahead."""
        return self.workers * int(getattr(self.first, "prefetch_factor", None) or 2)

    def play(self, part: str, source: Any, step: Callable[[Any], Any] | None) -> Played:
        """A pass of at most `steps` batches. What the loader opens in it is held against what it opened in the first one."""
        with nullcontext() if part == "step" else self.around.hearing(source) as heard:
            played = self.once(source, step)
        self.rounds.setdefault(part, []).append(played)
        if heard is None:
            return played
        played.read_bytes -= heard.worker_start_bytes
        if part == "look":
            self.opens = heard
        elif self.changed is None and not part.endswith("memory"):
            self.changed = _changed(self, heard)
        return played

    def once(self, source: Any, step: Callable[[Any], Any] | None) -> Played:
        """At most `steps` batches of that source, each with a step if there is one."""
        self.kept.restore_random()
        waits = Waits(self.steps, self.around.clock, events=False)
        before = self.around.moment(self.around.clock())
        waits.begin()
        first = None
        batches = Pass(iter(source), waits)
        while not waits.full:
            try:
                batch = next(batches)
            except StopIteration:
                break
            first = batch if first is None else first
            if step is not None:
                step(batch)
                # The call only launches what the accelerator is to do.
                accelerators.synchronize()
            if len(waits.wait_ns) == self.steps:
                waits.end()
        after = self.around.moment(self.around.clock())
        return Played(waits, machine.between(before, after), machine.bytes_between(before, after, self.receiver), first)


def diagnose(
    loader: Any,
    step: Callable[[Any], Any],
    *,
    steps: int = 200,
    state: Sequence[Any] | None = None,
    without_storage: Any = None,
    evict: bool = True,
    storage: bool = True,
    batch: int | None = None,
    around: Around | None = None,
) -> Report:
    """Measures the job and its parts, names the limit, and says what removing it gives.

    `loader` can be iterated again, or is a function that makes one. `state` lists what `step` changes (model, optimizer,
    scheduler, scaler): all of it is restored at the end, with the random state; `state=[]` says that a step keeps nothing. The
    files that the loader opens are dropped from the page cache (`evict`), and feedline reads them too (`storage`).
    `without_storage` is a loader of the same batches from memory, where nobody can see which files are read. `batch` is the number
    of samples that the loader hands out at once, where its own `batch_size` does not say so.

    An error of the loader or of the step is raised as it is, once everything is restored.
    """
    around = around or Around()
    loader, without_storage = bare(loader), bare(without_storage)
    if state is None:
        raise ValueError(
            "a step changes a model: hand what it changes, state=[model, optimizer], so that it can be restored; "
            "state=[] where it changes nothing"
        )
    if not isinstance(state, (list, tuple)):
        raise TypeError(f"state lists what a step changes, state=[model, optimizer], and {type(state).__name__} is no list")
    if accelerators.rank_and_world()[1] > 1:
        raise RuntimeError(
            "diagnose measures one process: ranks would wait for each other. wrap(loader, record=...) measures all ranks"
        )
    if not hasattr(type(loader), "__iter__") and not callable(loader):
        raise TypeError(f"a loader is iterated, or makes one when it is called; {type(loader).__name__} does neither")
    if not callable(step):
        raise TypeError(f"a step is called with a batch, and {type(step).__name__} cannot be")
    if operator.index(steps) < ROUNDS * (spans.BATCHES_MIN + 1):
        raise ValueError(f"steps = {steps}: {ROUNDS * (spans.BATCHES_MIN + 1)} are the fewest that give an interval")
    if hasattr(type(without_storage), "__next__"):
        raise TypeError("without_storage is iterated several times: hand a loader, or a function that makes one")
    if batch is not None and operator.index(batch) < 1:
        raise ValueError(f"batch = {batch}: a batch has one sample at least")
    kept = Kept(state, loader)
    found = Diagnosis(loader, step, steps // ROUNDS, kept, around, batch)
    try:
        _measure(found, without_storage, evict)
    finally:
        kept.restore()
    return _conclude(found, without_storage, storage)


def _measure(found: Diagnosis, without_storage: Any, evict: bool) -> None:
    if hasattr(found.loader, "__next__"):
        # A generator gives its batches once: they go to the job itself.
        found.unmeasured = Unseen("a one-shot iterator gives waits alone", "hand a function that makes the loader")
        found.rounds["job"] = [found.once(found.loader, found.step)]
        return
    look = _look(found)
    if 0 < len(look.waits.wait_ns) < found.steps:
        # Workers end with the last batch and take their counters along, so the passes end before.
        found.steps, found.whole = len(look.waits.wait_ns), True
        look = _look(found)
    if not look.waits.wait_ns:
        found.unmeasured = Unseen("the loader gave no batch", "iterate it by itself, and look why it ends before its first batch")
        return
    _say_what_is_unseen(found, look)
    # A first step that compiles or allocates takes long, and what is fetched meanwhile is there for many steps.
    found.step(_again(look.batch))
    if not evict:
        found.not_cold = "files were left in memory: what storage takes is not in these figures"
        found.lacks.append(found.not_cold)
    forth = ("loader from memory", "job from memory", "job", "loader", "step")
    for part in forth + forth[::-1]:
        if part.endswith("from memory"):
            _from_memory(found, part, without_storage)
        elif part == "step":
            found.play(part, (_again(look.batch) for _ in range(found.steps)), found.step)
        else:
            if evict:
                _evict(found)
            found.play(part, found.source(), found.step if part == "job" else None)


def _look(found: Diagnosis) -> Played:
    """A first pass over the loader, which tells what it opens."""
    found.first = found.source()
    return found.play("look", found.first, None)


def _again(batch: Any) -> Any:
    """The same batch in containers of its own: a step may take it apart."""
    if type(batch) is dict:
        return {key: _again(value) for key, value in batch.items()}
    return [_again(value) for value in batch] if type(batch) is list else batch


def _changed(found: Diagnosis, heard: Opens) -> Unseen | None:
    """What a later pass did not open of what the first one did, if that is more than what workers had under way."""
    first = set(found.opens.files)
    closed = len(first - set(heard.files)) / len(first) if first else 0.0
    if closed <= OTHERS_SHARE_MAX + found.workers / found.steps:
        return None
    said = f"a later pass did not open {100 * closed:.0f} % of the files of the first: they are drawn anew, or samples are kept"
    return _unseen(found, said, "hand a function that makes the loader, seeded, and with no samples in memory")


def _unseen(found: Diagnosis, why: str, advice: str) -> Unseen:
    _lack(found, why)
    return Unseen(why, advice)


def _say_what_is_unseen(found: Diagnosis, look: Played) -> None:
    seen = found.opens.bytes()
    pipes = PIPES_BYTES * len(look.waits.wait_ns) if found.workers else 0
    most = 1.1 * seen + found.opens.other_bytes + pipes + ELSE_BYTES
    told = 0.5 * seen <= look.read_bytes <= most
    counted = opens.COUNTED_READERS if told else ()
    found.in_full = look.read_bytes <= most and all(name in opens.OFTEN_LOADED + counted for name in found.opens.loaded)
    for name in found.opens.loaded:
        said = f"{name} is loaded in the loader, and what it opens is unseen"
        if name in opens.REMOTE_READERS:
            found.remote = _unseen(found, said, OTHER_LOADER)
        elif not told or name in opens.UNCOUNTED_READERS:
            found.unseen = _unseen(found, said, PYTHONS_OPEN)
    if found.opens.connections:
        said = f"{found.opens.connections} connections were begun, and what comes over them is unseen"
        found.remote = _unseen(found, said, OTHER_LOADER)
    if not found.opens.order:
        said = "no file was seen to be opened: reads are past Python, over a network, or there are none"
        unseen = _unseen(found, said, PYTHONS_OPEN)
        found.unseen = found.unseen or (None if found.remote else unseen)
    elif look.read_bytes < 0.5 * seen:
        _lack(found, "files are mapped, or read in part: which bytes is unseen")
    elif not told:
        said = "more was read than the opened files hold: other reads are unseen, or some are read again"
        found.unseen = _unseen(found, said, PYTHONS_OPEN)


def _evict(found: Diagnosis) -> None:
    stayed = found.around.evict(found.opens.files)
    if found.opens.files and (stayed is None or stayed > COLD_SHARE_MAX):
        share = "an unknown share" if stayed is None else f"{100 * stayed:.0f} %"
        found.not_cold = f"the page cache was not proven cold: {share} of the files stayed in memory"
        _lack(found, found.not_cold)


def _from_memory(found: Diagnosis, part: str, without_storage: Any) -> None:
    step = found.step if part.startswith("job") else None
    if without_storage is not None:
        found.play(part, without_storage() if callable(without_storage) else without_storage, step)
        return
    if not found.opens.order:
        return
    there = found.around.fill(found.opens.files)
    if there is None or there < WARM_SHARE_MIN:
        share = "an unknown share" if there is None else f"{100 * there:.0f} %"
        _lack(found, f"the page cache was not proven warm: {share} of the files is in memory")
        return
    found.play(part, found.source(), step)


def _lack(found: Diagnosis, sentence: str) -> None:
    if sentence not in found.lacks:
        found.lacks.append(sentence)


def _warm_up(found: Diagnosis, part: str) -> int:
    # Workers begin together: what they have fetched by then is no rate.
    return 1 if part == "step" else max(1, found.ahead)


def _batch_ns(found: Diagnosis, part: str) -> Span | None:
    return evidence.batch_ns(found.rounds.get(part, []), _warm_up(found, part))


def _unsteady(found: Diagnosis) -> str | None:
    for part, rounds in found.rounds.items():
        took = evidence.unsteady(rounds, _warm_up(found, part))
        if took:
            return f"rounds of the {part} took {took}"
    return None


def _conclude(found: Diagnosis, without_storage: Any, storage: bool) -> Report:
    parts = limits.Parts(
        busy=evidence.busy(found.rounds.get("job", []), _warm_up(found, "job")),
        job=_batch_ns(found, "job"),
        step=_batch_ns(found, "step"),
        alone=_batch_ns(found, "step"),
        beside=evidence.step_ns(found.rounds.get("job", []), _warm_up(found, "job")),
        loader=_batch_ns(found, "loader"),
        warm=_batch_ns(found, "loader from memory"),
        warm_job=_batch_ns(found, "job from memory"),
        warm_busy=evidence.busy(found.rounds.get("job from memory", []), _warm_up(found, "job")),
        workers=found.workers,
        cores=found.around.cores(),
        use=[played.use for part, rounds in found.rounds.items() if part != "look" for played in rounds],
        unsteady=_unsteady(found),
        not_cold=found.not_cold,
        unseen=found.unseen or found.changed,
        unmeasured=found.unmeasured,
        remote=None if without_storage is not None else found.remote,
        lacks=found.lacks,
    )
    parts.start_share = _start_share(found, parts.job)
    if not found.whole and found.steps < 2 * found.ahead:
        parts.brief = f"a pass of {found.steps} batches tells little of a loader that fetches {found.ahead} ahead"
    loader = found.rounds.get("loader from memory") or found.rounds.get("loader")
    if loader:
        parts.loader_cpu_ns = sum(one.use.own_ns for one in loader) / max(1, sum(len(one.waits.step_ns) for one in loader))
    jobs = found.rounds.get("job", [])
    _step_of_all_batches(found, parts)
    for lack in jobs[0].waits.unlike() if jobs else ():
        _lack(found, lack)
    if jobs and parts.busy is None:
        few = f"{len(jobs[0].waits.step_ns)} batches in a pass are too few for an interval"
        parts.unmeasured = parts.unmeasured or Unseen(few, "a longer loader: smaller batches, or more of the dataset")
    if parts.step and parts.loader and parts.step.mean < 0.01 * parts.loader.mean:
        _lack(found, f"a step took {parts.step.mean / 1e3:.3g} us: if it returns before its work is done, let it wait for that")
    scenario: Scenario | None = None
    doubts: list[str] = []
    unplayed: list[str] = []
    try:
        scenario = _scenario(found, parts)
    except ValueError as error:
        unplayed.append(f"no scenario: {error}")
    if scenario is not None and storage and without_storage is None:
        parts.storage_busy, doubts = _by_feedline(found, scenario)
    limit = limits.find(parts)
    # That there is no scenario is no reason for a limit, or for none.
    found.lacks += unplayed
    return Report(limit, parts, found.opens, [*found.kept.names, found.kept.generators], scenario, doubts, _first_batch_s(found))


def _step_of_all_batches(found: Diagnosis, parts: limits.Parts) -> None:
    """Takes the steps of the job for those of one batch, where one batch stands for no other."""
    part = "job from memory" if "job from memory" in found.rounds else "job"
    rounds = found.rounds.get(part, [])
    made = evidence.step_ns(rounds, _warm_up(found, part))
    if not (parts.alone and made):
        return
    alike = rounds[0].waits.alike()
    if alike and not (made.low > limits.SLOWED * parts.alone.high or parts.alone.low > limits.SLOWED * made.high):
        return
    parts.step, parts.step_of = made, f"step of the {part}"
    if not alike:
        size = found.rounds["look"][-1].waits.sizes[0]
        parts.beside = evidence.step_of_size_ns(found.rounds["job"], _warm_up(found, "job"), size)


def _start_share(found: Diagnosis, job: Span | None) -> float | None:
    jobs = found.rounds.get("job", [])
    if job is None or found.kept.persistent or getattr(found.first, "persistent_workers", False):
        return None
    try:
        batches = len(found.first)
    except Exception:
        # A stream has none, and the length of others is their own code.
        return None
    first_ns = sum(played.waits.first_ns[0] for played in jobs) / len(jobs)
    return first_ns / (first_ns + batches * job.mean)


def _first_batch_s(found: Diagnosis) -> float | None:
    jobs = found.rounds.get("job", [])
    return jobs[0].waits.first_ns[0] / 1e9 if jobs and jobs[0].waits.first_ns else None


def _scenario(found: Diagnosis, parts: limits.Parts) -> Scenario:
    """The scenario of the job. A ValueError says why there is none: an order is never invented."""
    look = found.rounds.get("look", [])
    if not look or not parts.step or not parts.loader:
        raise ValueError("step and loader were not measured by themselves")
    if found.remote or not found.opens.order or not found.in_full:
        raise ValueError("some of the reads are unseen")
    batches = len(look[-1].waits.wait_ns)
    root, suffix = scenarios.of_files(found.opens.files)
    opened = replace(found.opens, order=scenarios.of_suffix(suffix, found.opens.order))
    batch = _samples_of_a_batch(found, look[-1], len(opened.order))
    each = len(opened.order) >= 0.5 * batch * batches
    layout = "files" if each else scenarios.LAYOUTS.get(suffix)
    if layout is None or (not each and look[-1].read_bytes < 0.5 * opened.bytes()):
        raise ValueError("files are read in part, or in a form that feedline does not know")
    if root == os.sep:
        raise ValueError("files have no folder in common")
    if len(opened.order) < len(found.opens.order):
        _lack(found, f"the scenario reads files that end in {suffix!r} alone, and others were opened beside them")
    of_sample = math.ceil(len(opened.order) / found.fetched / batch - 0.1)
    if each and of_sample > 1:
        _lack(found, f"a sample opens {of_sample} files: each of them is a sample of the scenario")
        batch *= of_sample
    size = opened.bytes() / len(opened.order) if each else max(look[-1].read_bytes, 1) / (batch * batches)
    readers = max(1, found.workers)
    decode, burns = _decoding(parts, readers, batch)
    return Scenario(
        batch=batch,
        step_ns=parts.step.mean,
        sample_bytes=max(1, round(size)),
        readers=readers,
        prefetch=found.ahead,
        steps=max(1, min(batches, len(opened.files) // batch) if each else batches),
        root=root,
        suffix=suffix,
        layout=layout,
        decode_ns=decode,
        decode_burns=burns,
        opened=scenarios.below(root, opened.order) if each else (),
    )


def _samples_of_a_batch(found: Diagnosis, look: Played, opened: int) -> int:
    """As the caller or the loader says, else as the batch looks, where the files that it is made of do not speak against it."""
    stated = found.batch or _stated_batch(found.first)
    if stated:
        return stated
    if getattr(found.first, "batch_size", 0) is None and getattr(found.first, "batch_sampler", None) is None:
        raise ValueError(f"with batch_size=None a loader hands out samples, or batches of its dataset: {SAY_BATCH}")
    length = length_of(look.batch)
    if length < 1:
        raise ValueError(f"the number of samples in a batch is unknown: {SAY_BATCH}")
    least, most = opened / found.fetched, opened / found.steps
    if length > 1 and least <= 1.1 and most >= 0.9:
        raise ValueError(f"each batch opens one file, which is a sample or a batch of length {length}: {SAY_BATCH}")
    if least > 1.1 * length:
        raise ValueError(f"each batch opens {round(least)} files, and its outermost length is {length}: {SAY_BATCH}")
    _lack(found, f"a batch is taken for {length} samples, its outermost length: batch=... says another number")
    return length


def _stated_batch(loader: Any) -> int:
    """Samples of a batch as a loader says, or who hands it the places of whole batches; 0 where neither does."""
    for place in (loader, getattr(loader, "batch_sampler", None), getattr(loader, "sampler", None)):
        size = getattr(place, "batch_size", None)
        if isinstance(size, int) and size > 0:
            return size
    return 0


def _decoding(parts: limits.Parts, readers: int, batch: int) -> tuple[float, bool]:
    """What decoding a sample takes a reader, and whether that is processor time."""
    if parts.warm is None:
        return 0.0, False
    whole = parts.warm.mean * readers / batch
    # No more than the time itself: batches that were fetched ahead and never taken are in the processor time too.
    burnt = min(whole, parts.loader_cpu_ns / batch)
    return (burnt, True) if limits.burnt(parts) >= limits.BURNT_SHARE_MIN else (whole, False)


def _crowded(root: str, files_max: int) -> bool:
    """Whether there are more files below a folder; it looks at no more than tell."""
    seen = 0
    for _, _, names in os.walk(root):
        seen += len(names)
        if seen > files_max:
            return True
    return False


def _by_feedline(found: Diagnosis, scenario: Scenario) -> tuple[Span | None, list[str]]:
    """Busy share of the same job with a loader that only reads, by feedline, from a cold cache that it proves."""
    if scenario.steps < scenarios.STEPS_MIN:
        return None, [f"{scenario.steps} steps without reading a file twice are too few"]
    if _crowded(scenario.root, OTHER_FILES * len(found.opens.files)):
        return None, [f"{scenario.root} holds many files beside those of the job: not read"]
    try:
        answer = found.around.play(scenario.reading_alone(STORAGE_BUDGET))
    except (OSError, _binary.Failed) as error:
        return None, [f"feedline did not read the files: {error}"]
    verdict = next(iter(answer.get("verdicts", [])), None)
    if verdict is None or "deciding" not in verdict:
        return None, ["UNCERTAIN: feedline judged no cell of these files"]
    deciding = verdict["deciding"]
    doubts = list(deciding.get("doubts", []))
    told = deciding.get("utilization")
    if told is None:
        # Decided by a closed loop of as many reads: what it gives, of what steps take without waiting.
        taken = scenario.batch / (scenario.step_ns / 1e9)
        rate = deciding["samples_per_s"]
        told = {"mean": rate["mean"] / taken, "low": rate["low"] / taken, "high": rate["high"] / taken}
    if verdict.get("verdict") == "UNCERTAIN":
        sentence = verdict.get("sentence", "")
        doubts = [f"UNCERTAIN: {sentence}", *(doubt for doubt in doubts if doubt not in sentence)]
    return Span(min(1.0, told["mean"]), max(0.0, min(1.0, told["low"])), min(1.0, told["high"])), doubts
