"""From what was measured of each part to the part that is the limit, and what removing it gives.

Pure arithmetic. In each worker reading and decoding follow each other, so the time of a batch that goes away with storage is
storage's, and the rest is decoding's. How far a loader works beside the step is taken from the job itself: between the longer of
both times, where all is overlapped, and their sum, where nothing is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .machine import Use
from .spans import Span

# The share of the time from which on accelerators count as fed, as feedline draws its line.
FED = 0.90
# Differences that are smaller are no difference, where they are known within so much.
ALIKE = 0.05
KNOWN = 0.15
OVERLAP_NONE = 0.15
MORE_STEPS = "measure more steps"
# Steps that take so much longer in the job than alone are slowed by its loader.
SLOWED = 1.25
# Readers that compute for less of their time than this wait for something else, such as a lock or a service.
BURNT_SHARE_MIN = 0.5
BESIDE = "fewer workers or threads, or processors of their own for them; then measure again"
UNKNOWN = "the loader is the limit: hand `without_storage`, a loader of the same batches from memory, to tell its parts apart"
ELSEWHERE = "look at what the loader waits for: a lock, a service, names on a file server"


@dataclass(frozen=True)
class Unseen:
    """Why something of the job is not known, and what would tell."""

    why: str
    advice: str


@dataclass
class Parts:
    """Time from batch to batch in ns of each part by itself, what the machine did, and what is not known."""

    busy: Span | None = None
    """Share of the time of the whole job in which steps ran."""
    job: Span | None = None
    step: Span | None = None
    alone: Span | None = None
    """A step on one batch, without a loader."""
    beside: Span | None = None
    """The steps of the job on batches of that size, beside its loader; None where there are few of them."""
    loader: Span | None = None
    """Without steps, from storage."""
    warm: Span | None = None
    """Without steps and without storage."""
    warm_job: Span | None = None
    """With steps and without storage."""
    warm_busy: Span | None = None
    """Share of that time in which steps ran."""
    storage_busy: Span | None = None
    """Busy share of the job if its loader did nothing but read, as feedline reads the same files."""
    workers: int = 0
    cores: int = 1
    brief: str | None = None
    """Why passes are too short for what was fetched ahead to be used up, if they are."""
    start_share: float | None = None
    """Of a pass over the whole loader, what its first batch takes, where that is known and each pass has it."""
    loader_cpu_ns: float = 0.0
    """Processor time of a batch in the loader."""
    use: list[Use] = field(default_factory=list)
    unsteady: str | None = None
    not_cold: str | None = None
    """Why nobody knows that passes from storage came from storage, if that is so."""
    unseen: Unseen | None = None
    """Why some reads may have come from memory without anybody knowing, if that is so."""
    remote: Unseen | None = None
    """Why some reads are part of no file, and so of what is called decoding, if that is so."""
    unmeasured: Unseen | None = None
    """Why the parts were not measured, if they were not."""
    step_of: str = "step alone, one batch"
    """Which steps `step` stands for."""
    lacks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Limit:
    """The part that is the limit, why, and how busy accelerators would be without each part."""

    name: str
    """`storage`, `decoding`, `both`, `step`, `others` or `uncertain`."""
    why: str
    without: dict[str, Span]
    advice: str


def overlapped(parts: Parts) -> float:
    """How much of the shorter of loader and step runs beside the longer one: 0 for none of it, 1 for all."""
    assert parts.job and parts.loader and parts.step
    shorter = min(parts.loader.mean, parts.step.mean)
    if shorter < 0.1 * max(parts.loader.mean, parts.step.mean):
        return 1.0 if parts.workers else 0.0
    found = (parts.loader.mean + parts.step.mean - parts.job.mean) / shorter
    # Loaders overlap all or nothing, but for what is between: the difference of three times is not known better.
    return 0.0 if found < OVERLAP_NONE else 1.0 if found > 1 - OVERLAP_NONE else found


def _whole_ns(step_ns: float, loader_ns: float, overlap: float) -> float:
    return step_ns + loader_ns - overlap * min(step_ns, loader_ns)


def without(parts: Parts) -> dict[str, Span]:
    """Busy share of the job without storage's part of its loader, as measured from memory, and predicted without decoding's."""
    if not (parts.job and parts.step and parts.loader and parts.warm and parts.warm_job and parts.warm_busy):
        return {}
    step, loader, warm = parts.step, parts.loader, parts.warm
    overlap = overlapped(parts)
    # What handing a batch over costs beside either, and what a step takes longer beside a loader. Where both take about as long it
    # is also that one waits for the other by turns, which ends with a loader that is faster: so it may be gone without decoding.
    over_ns = max(0.0, parts.warm_job.mean - _whole_ns(step.mean, warm.mean, overlap))

    def busy(step_ns: float, reading_ns: float, over_ns: float) -> float:
        return step_ns / (_whole_ns(step_ns, max(0.0, reading_ns), overlap) + over_ns)

    decoding = Span(
        busy(step.mean, loader.mean - warm.mean, over_ns),
        busy(step.low, loader.high - warm.low, over_ns),
        busy(step.high, loader.low - warm.high, 0.0),
    )
    return {"storage": parts.warm_busy, "decoding": decoding}


def find(parts: Parts) -> Limit:
    """The limit of a job, or why none is named."""
    found = _named(parts)
    if found.name != "uncertain":
        return found
    # What others may have taken is in the intervals: they are named where it leaves open which part it is.
    worst = max(parts.use, key=lambda use: use.taken_share, default=None)
    perhaps = (MORE_STEPS, BESIDE, ELSEWHERE)
    if worst is not None and worst.held_up and found.advice in perhaps and parts.busy is not None:
        why = (
            f"others used {100 * worst.others_share:.0f} % of the processors, and the job was ready and waited for one "
            f"up to {100 * worst.delayed_share:.0f} % of the time: {found.why}"
        )
        return Limit("others", why, found.without, "measure again on a machine that is quiet")
    if parts.unsteady:
        return Limit("uncertain", f"{parts.unsteady}: {found.why}", found.without, "measure again, or longer: steps = ...")
    return found


def _named(parts: Parts) -> Limit:
    gone = without(parts)
    if parts.unmeasured:
        return Limit("uncertain", parts.unmeasured.why, gone, parts.unmeasured.advice)
    if parts.busy is None:
        return Limit("uncertain", "; ".join(parts.lacks) or "too few batches for an interval", {}, MORE_STEPS)
    if parts.not_cold and (parts.busy.high >= FED or not gone or gone["storage"].mean <= gone["decoding"].mean + ALIKE):
        # What is in memory hides storage, and nothing else.
        return Limit("uncertain", parts.not_cold, {}, "measure on files that nobody else reads, and that this user owns")
    if parts.busy.low >= FED:
        return _of_step(parts, gone)
    if parts.busy.high >= FED:
        why = f"accelerators are {parts.busy.percent()} busy, on both sides of {round(100 * FED)} %"
        return Limit("uncertain", why, gone, MORE_STEPS)
    if not gone:
        return Limit("uncertain", "; ".join(parts.lacks) or "the parts of the loader were not told apart", {}, UNKNOWN)
    return _of_loader(parts, gone)


def _of_step(parts: Parts, gone: dict[str, Span]) -> Limit:
    if parts.unseen:
        why = f"batches are there in time, but {parts.unseen.why}: they may have come from memory"
        return Limit("uncertain", why, gone, parts.unseen.advice)
    if parts.brief:
        return Limit("uncertain", f"batches are there in time, but {parts.brief}", gone, MORE_STEPS)
    if parts.alone and not parts.beside:
        why = "batches are there in time, but differ in size, and too few of one size show whether the loader slows their steps"
        return Limit("uncertain", why, gone, MORE_STEPS)
    if parts.alone and parts.beside and parts.beside.low > SLOWED * parts.alone.high:
        beside, alone = parts.beside.mean / 1e6, parts.alone.mean / 1e6
        why = f"a step takes {beside:.3g} ms beside the loader and {alone:.3g} ms alone: the loader may slow it"
        return Limit("uncertain", why, gone, BESIDE)
    if parts.start_share is not None and parts.start_share > 1 - FED:
        why = f"batches are there in time once the first is, and that one takes {100 * parts.start_share:.0f} % of a pass"
        return Limit("uncertain", why, gone, "longer passes, or workers that go on from pass to pass (persistent_workers=True)")
    return Limit("step", "batches are there in time", gone, "nothing but a faster accelerator, or a cheaper step")


def _of_loader(parts: Parts, gone: dict[str, Span]) -> Limit:
    storage, decoding = gone["storage"], gone["decoding"]
    gains = f"without storage {storage.percent()} busy, without decoding {decoding.percent()}"
    unseen = parts.unseen or parts.remote
    if unseen and storage.mean <= decoding.mean + ALIKE:
        return Limit("uncertain", f"{unseen.why}: it may hide storage", gone, f"the loader is the limit: {unseen.advice}")
    known = max(storage.high, decoding.high) - min(storage.low, decoding.low) <= KNOWN
    alike = known and _alike(storage.mean, decoding.mean)
    name = "both" if alike else "storage" if storage.mean > decoding.mean else "decoding"
    if not alike and not storage.apart(decoding):
        return Limit("uncertain", f"intervals overlap: {gains}", gone, MORE_STEPS)
    if name != "storage" and burnt(parts) < BURNT_SHARE_MIN:
        computes = f"from memory the loader computes for {round(100 * burnt(parts))} % of its time"
        why = f"{computes}: the rest is neither its files nor decoding"
        return Limit("uncertain", why, gone, ELSEWHERE)
    if name == "both":
        return Limit(name, f"removing either gives as much: {gains}", gone, more_workers(parts))
    if name == "decoding":
        return Limit(name, gains, gone, more_workers(parts))
    if parts.storage_busy is not None and parts.storage_busy.low >= FED:
        advice = "this storage gives more than the loader asks of it: more workers, larger reads or shards; or a local copy"
        return Limit(name, gains, gone, f"{advice}; {more_workers(parts)}")
    return Limit(name, gains, gone, "a local copy, faster storage, or shards; more workers where latency binds")


def _alike(one: float, other: float) -> bool:
    """Whether two busy shares are as good as the same, also where both are small."""
    return abs(one - other) <= ALIKE and abs(one - other) < KNOWN * max(one, other)


def burnt(parts: Parts) -> float:
    """Of the time that readers take for batches from memory, without what others may have taken, what they compute."""
    assert parts.warm
    return parts.loader_cpu_ns / max(1.0, parts.warm.low * max(1, parts.workers))


def more_workers(parts: Parts) -> str:
    """How many workers the loader would need to keep up, or what keeps more of them from helping."""
    assert parts.loader and parts.step
    if parts.workers == 0:
        return "fetch ahead in workers: this loader works while the step waits" if overlapped(parts) < 0.5 else "a faster loader"
    needed = math.ceil(parts.workers * parts.loader.mean / parts.step.mean / (1 - ALIKE)) if parts.step.mean else 0
    # Processors that decode all the time and do nothing else.
    most = parts.step.mean / (parts.loader_cpu_ns / parts.cores) if parts.loader_cpu_ns else math.inf
    if most < FED:
        return f"more workers do not help: {parts.cores} processors decode for {round(100 * most)} % at most; decode faster"
    return f"{needed} workers instead of {parts.workers}, if each goes on as now ({parts.cores} processors)"
