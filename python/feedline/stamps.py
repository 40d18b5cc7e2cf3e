"""Stamps of batches: what a job waited for each, and how long it then computed.

Two looks at the clock for each batch, and nothing else.
"""

from __future__ import annotations

import math
import operator
import time
from array import array
from collections import UserDict
from collections.abc import Callable, Iterator
from typing import Any

from . import accelerators, spans
from .spans import Span

STEPS_MAX = 10_000
# Sizes that differ by less are alike.
ALIKE = 0.1
# Of a batch in more parts than this only their number is looked at.
PARTS_MAX = 16
Clock = Callable[[], int]


def length_of(batch: Any) -> int:
    """Outermost length of a batch: of what is stacked in it, else of itself. 0 where it may mean several things.

    A batch never fails by being looked at.
    """
    try:
        return _length_of(batch)
    except Exception:
        return 0


def _length_of(batch: Any) -> int:
    for _ in range(4):
        shape = getattr(batch, "shape", None)
        if shape is not None:
            return int(shape[0])
        if isinstance(batch, UserDict):
            batch = batch.data
        elif isinstance(batch, dict):
            # Not the batch's own `values`, which may be what makes them.
            batch = next(iter(dict.values(batch)), None)
        elif isinstance(batch, (list, tuple)):
            return _length_of_columns(batch)
        else:
            return 0 if isinstance(batch, (str, bytes)) or hasattr(batch, "keys") else len(batch)
    return 0


def _length_of_columns(batch: list[Any] | tuple[Any, ...]) -> int:
    """Of images and labels, which are of one length. Arrays that are all alike may be columns, or samples."""
    shapes = [one.shape for one in batch if hasattr(one, "shape")]
    if shapes:
        lengths = {int(shape[0]) for shape in shapes if len(shape)}
        alike = len(batch) > 1 and shapes == [shapes[0]] * len(batch)
        return lengths.pop() if len(lengths) == 1 and not alike else 0
    if isinstance(batch, list):
        return len(batch)
    # A tuple of columns, or one sample and what belongs to it.
    lengths = {len(one) for one in batch if isinstance(one, (list, tuple))}
    return lengths.pop() if len(lengths) == 1 and all(isinstance(one, (list, tuple)) for one in batch) else 0


def size_of(batch: Any) -> int:
    """How large a batch is, to tell it from others: the numbers in its arrays, else its length. 0 where nothing says it.

    A batch never fails by being looked at.
    """
    try:
        return _size_of(batch, 2)
    except Exception:
        return 0


def _size_of(batch: Any, deep: int) -> int:
    shape = getattr(batch, "shape", None)
    if shape is not None:
        return math.prod(map(int, shape))
    if isinstance(batch, UserDict):
        batch = batch.data
    if not isinstance(batch, (dict, list, tuple)):
        return 0 if isinstance(batch, (str, bytes)) or hasattr(batch, "keys") else len(batch)
    if not deep or len(batch) > PARTS_MAX:
        return len(batch)
    # Not the batch's own `values`, which may be what makes them.
    parts = dict.values(batch) if isinstance(batch, dict) else batch
    sizes = [_size_of(part, deep - 1) for part in parts if hasattr(part, "shape") or isinstance(part, (dict, list, tuple))]
    return sum(sizes) or len(batch)


class Waits:
    """Stamps of the batches of one job, in the order in which they came, at most `steps` of them."""

    def __init__(self, steps: int = STEPS_MAX, clock: Clock = time.perf_counter_ns, *, events: bool = True) -> None:
        if operator.index(steps) < 1:
            raise ValueError(f"steps = {steps}: measure at least one")
        self.steps = steps
        self.clock = clock
        self.wait_ns = array("q")
        """What the job waited for each batch; the first of a pass is in `first_ns` as well."""
        self.step_ns = array("q")
        """From each batch to the request of the next one."""
        self.sizes = array("q")
        """How large each batch is, as `size_of` says it."""
        self.first_ns: list[int] = []
        """For each pass, from its beginning to its first batch."""
        self.gap_ns: list[int] = []
        """Between passes, from the last step of one to the first batch of the next: evaluation is in it."""
        self.begins: list[int] = []
        """Which batches began a pass."""
        self.error: str | None = None
        """Kind of the error with which the loader ended, if one did; its words may hold secrets and are not kept."""
        self.unwritten: str | None = None
        """Why the file of this rank does not hold all of this, if one was asked for."""
        self.gpu: accelerators.Events | None = None
        self._events = events
        self._began_ns: int | None = None
        self._asked_ns = 0
        self._came_ns: int | None = None
        self._ended_ns: int | None = None

    @property
    def full(self) -> bool:
        """Whether all batches that were asked for have been measured."""
        return len(self.step_ns) >= self.steps

    def begin(self) -> None:
        """A pass over the loader begins."""
        self._drop_open_step()
        self._began_ns = self.clock()

    def ask(self) -> None:
        """The job asks for a batch: its step, if it had one, is over."""
        self._asked_ns = self.clock()
        if self._came_ns is not None:
            self.step_ns.append(self._asked_ns - self._came_ns)
            self._came_ns = None
            self._ended_ns = self._asked_ns
            if self.gpu:
                self.gpu.end()

    def came(self, batch: Any = None) -> None:
        """The batch that was asked for is here."""
        now = self.clock()
        if self.full:
            return
        if self._began_ns is not None:
            self.begins.append(len(self.wait_ns))
            self.first_ns.append(now - self._began_ns)
            if self._ended_ns is not None:
                self.gap_ns.append(now - self._ended_ns)
            self._asked_ns = self._began_ns
            self._began_ns = None
            # A job often touches the accelerator only once its first batch is there.
            if self._events:
                self.gpu = self.gpu or accelerators.Events.where_there_is_cuda(len(self.step_ns))
        self.wait_ns.append(now - self._asked_ns)
        self.sizes.append(size_of(batch))
        if self.gpu:
            self.gpu.begin()
        self._came_ns = now

    def end(self) -> None:
        """The job takes no more batches now."""
        if self._came_ns is not None:
            self.ask()
        self._began_ns = None

    def failed(self, error: BaseException) -> None:
        """The loader, or the step, ended with an error."""
        self.error = type(error).__name__
        self._drop_open_step()

    def _drop_open_step(self) -> None:
        # The job left the loop in the middle of a pass: nobody knows when that step ended.
        if self._came_ns is not None:
            self._came_ns = None
            self.wait_ns.pop()
            self.sizes.pop()
            if self.begins and self.begins[-1] == len(self.wait_ns):
                self.begins.pop()
            if self.gpu:
                self.gpu.drop()

    def steady(self, warm_up: int = 1) -> list[int]:
        """Batches that count to a rate: all but the first ones of each pass."""
        count, starts = len(self.step_ns), self.begins or [0]
        edges = [*starts, count]
        return [
            at for begin, end in zip(edges, edges[1:]) for at in range(begin + min(max(1, warm_up), (end - begin) // 4 + 1), end)
        ]

    def busy(self, warm_up: int = 1) -> Span | None:
        """Share of the time in which steps ran, without the first batches of passes; None of too few batches."""
        at = self.steady(warm_up)
        if self.gpu:
            return self.gpu.busy(at)
        steps = [self.step_ns[i] for i in at]
        return _share(spans.ratio(steps, [self.wait_ns[i] + self.step_ns[i] for i in at]))

    def batch_ns(self, warm_up: int = 1) -> Span | None:
        """Time from batch to batch."""
        return spans.mean([self.wait_ns[i] + self.step_ns[i] for i in self.steady(warm_up)])

    def alike(self) -> bool:
        """Whether all batches but the last of a pass have one size, within a tenth."""
        last = {begin - 1 for begin in (*self.begins, len(self.sizes))}
        inner = [size for at, size in enumerate(self.sizes) if at not in last]
        return not inner or max(inner) <= (1 + ALIKE) * min(inner)

    def lacks(self) -> list[str]:
        """What this measurement does not say, as sentences."""
        said = []
        if not self.step_ns:
            said.append("no batch was measured: the loader gave none, or what was iterated was built anew from it")
        elif len(self.steady()) < spans.BATCHES_MIN:
            said.append(f"{len(self.step_ns)} batches are too few for an interval: {spans.BATCHES_MIN + 1} at least")
        return [*said, *self.unlike()]

    def unlike(self) -> list[str]:
        """What is not as in a job that goes well, as sentences."""
        said = []
        if self.error:
            said.append(f"it ended with {self.error}")
        if self.unwritten:
            said.append(self.unwritten)
        if not self.alike():
            said.append("batches differ in size")
        return said

    def __str__(self) -> str:
        lines = []
        busy = self.busy()
        count = len(self.step_ns)
        if count:
            what = "GPU busy" if self.gpu else "in steps"
            share = busy.percent() if busy else "unknown"
            waited = sum(self.wait_ns[i] for i in self.steady()) / 1e9
            lines.append(f"{what} {share} of {count} steps; waited {waited:.3f} s for batches")
        if self.first_ns:
            begun = f"first batch {self.first_ns[0] / 1e9:.3f} s"
            if len(self.begins) > 1:
                # The share in steps leaves them out, and short passes may be made of little else.
                of_all = sum(self.wait_ns[i] for i in self.begins) / max(1, sum(self.wait_ns) + sum(self.step_ns))
                begun += f"; those of {len(self.begins)} passes are {100 * of_all:.0f} % of their time"
            lines.append(begun)
        if self.gap_ns:
            lines.append(f"between passes {sum(self.gap_ns) / len(self.gap_ns) / 1e9:.3f} s, what runs there included")
        return "\n".join([*lines, *(f"LACKS {lack}" for lack in self.lacks())])


def _share(span: Span | None) -> Span | None:
    return span and Span(span.mean, span.low, min(1.0, span.high))


class Pass:
    """One pass over a loader, with a look at the clock around each batch."""

    def __init__(self, inner: Iterator[Any], waits: Waits, record: Callable[..., None] = lambda last=False: None) -> None:
        self._inner = inner
        self._waits = waits
        self._record = record

    def __new__(cls, inner: Iterator[Any], *more: Any) -> Pass:
        return super().__new__(_SizedPass if hasattr(type(inner), "__len__") else cls)

    def __iter__(self) -> Pass:
        return self

    def __next__(self) -> Any:
        waits = self._waits
        if waits.full:
            return next(self._inner)
        waits.ask()
        self._record(last=waits.full)
        try:
            batch = next(self._inner)
        except StopIteration:
            waits.end()
            raise
        except BaseException as error:
            waits.failed(error)
            self._record(last=True)
            raise
        waits.came(batch)
        return batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _SizedPass(Pass):
    """Over an iterator that has a length: one that has none must not seem to have one."""

    def __len__(self) -> int:
        return len(self._inner)  # type: ignore[arg-type]
