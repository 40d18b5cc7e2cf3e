"""What the accelerator itself says, where there is one: CUDA events, ranks of a job, loaders that accelerate builds anew.

Nothing here imports a framework. What a job has not imported, it does not use.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref
from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import spans
from .spans import Span

# Events whose time is not known yet, at most; beyond that the oldest step is left out.
PENDING_MAX = 256


def cuda() -> Any:
    """torch.cuda, where the job has begun to use it."""
    torch = sys.modules.get("torch")
    found = getattr(torch, "cuda", None)
    return found if found is not None and found.is_available() and found.is_initialized() else None


def synchronize() -> None:
    """Waits until the accelerator has done what it was given: the time of a call is the time to launch it."""
    found = cuda()
    if found is not None:
        found.synchronize()


def rank_and_world() -> tuple[int, int]:
    """Rank of this process and number of ranks, as torch.distributed or the launcher's variables say."""
    torch = sys.modules.get("torch")
    group = getattr(torch, "distributed", None)
    if group is not None and group.is_available() and group.is_initialized():
        return int(group.get_rank()), int(group.get_world_size())
    for rank, world in (
        ("RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        # Of the step and not of the job: SLURM_NTASKS stands in a batch script too, which is one process.
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ):
        if os.environ.get(rank, "").isdigit() and os.environ.get(world, "").isdigit():
            return int(os.environ[rank]), int(os.environ[world])
    return 0, 1


class Events:
    """Pairs of CUDA events around each step, in the order of the stream.

    From the event after one step to the event before the next the stream had nothing to do: the accelerator waited. The times are
    read once both events are over, and nothing ever waits for them.
    """

    def __init__(self, torch_cuda: Any, step: int) -> None:
        self._cuda = torch_cuda
        self._free: list[Any] = []
        self._pending: deque[tuple[int, Any, Any, Any]] = deque()
        self._step = step
        self._begun: Any = None
        self._before: Any = None
        self.busy_ms: dict[int, float] = {}
        self.idle_ms: dict[int, float] = {}
        self.overdue = array("q")
        """Steps whose events were not over when there was no more room for them."""

    @classmethod
    def where_there_is_cuda(cls, step: int) -> Events | None:
        """Events on the current device from this step on, or None where the job uses no CUDA."""
        found = cuda()
        return cls(found, step) if found is not None else None

    def _event(self) -> Any:
        event = self._free.pop() if self._free else self._cuda.Event(enable_timing=True)
        event.record()
        return event

    def begin(self) -> None:
        """A step begins on the current stream."""
        self._begun = self._event()

    def end(self) -> None:
        """All of the step has been given to the stream."""
        if self._begun is None:
            return
        ended = self._event()
        self._pending.append((self._step, self._before, self._begun, ended))
        self._step += 1
        self._before, self._begun = ended, None
        self._collect()

    def drop(self) -> None:
        """The step that has begun does not count."""
        self._begun = None

    def _collect(self) -> None:
        while self._pending and self._pending[0][3].query():
            step, before, begun, ended = self._pending.popleft()
            self.busy_ms[step] = begun.elapsed_time(ended)
            if before is not None:
                self.idle_ms[step] = before.elapsed_time(begun)
                self._free.append(before)
            self._free.append(begun)
        if len(self._pending) > PENDING_MAX:
            self.overdue.append(self._pending.popleft()[0])

    def busy(self, steps: list[int]) -> Span | None:
        """Share of the stream's time in which it worked, over these steps."""
        self._collect()
        known = [step for step in steps if step in self.busy_ms and step in self.idle_ms]
        return spans.ratio([self.busy_ms[step] for step in known], [self.busy_ms[step] + self.idle_ms[step] for step in known])


def unprepared(loader: Any) -> Any:
    """The loader of PyTorch in one that accelerate has prepared: it has the workers, and the position if there is one."""
    return getattr(loader, "__dict__", {}).get("base_dataloader", loader)


@dataclass
class Followed:
    """The method of accelerate that keeps the watch, in the place of its own."""

    own: Callable[..., Any]
    following: Callable[..., Any]
    loaders: int = 0
    """How many watched loaders live that it may be given."""


_followed: dict[Any, Followed] = {}


def follow_prepare(accelerate: Any, loader: Any, watched: type, around: Callable[[Any, Any], Any]) -> None:
    """Lets accelerate's `prepare` keep the watch: it builds a loader anew from the attributes of the one it is given.

    Its method is its own again once the last watched loader is gone.
    """
    kind = getattr(accelerate, "Accelerator", None)
    if kind is None or not hasattr(kind, "prepare_data_loader"):
        return
    if kind not in _followed:
        own = kind.prepare_data_loader
        _followed[kind] = Followed(own, _following(own, watched, around))
        kind.prepare_data_loader = _followed[kind].following
    _followed[kind].loaders += 1
    weakref.finalize(loader, _leave, kind).atexit = False


def _following(own: Callable[..., Any], watched: type, around: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    @functools.wraps(own)
    def prepare_data_loader(self: Any, data_loader: Any, *arguments: Any, **named: Any) -> Any:
        if not issubclass(type(data_loader), watched):
            return own(self, data_loader, *arguments, **named)
        prepared = own(self, data_loader._feedline_loader, *arguments, **named)
        return around(data_loader, prepared)

    return prepare_data_loader


def _leave(kind: Any) -> None:
    followed = _followed[kind]
    followed.loaders -= 1
    # What somebody else has put around it since stays, and this in it.
    if not followed.loaders and kind.prepare_data_loader is followed.following:
        kind.prepare_data_loader = followed.own
        del _followed[kind]
