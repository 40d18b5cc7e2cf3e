"""Passive measurement of a loader: `wrap` puts a proxy around it.

The proxy stamps its batches and changes nothing else: attributes, length, `set_epoch`, state and workers are those of the loader,
and so are its errors.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from . import accelerators, rank_files
from .stamps import STEPS_MAX, Clock, Pass, Waits

Loader = TypeVar("Loader")


class Watched:
    """A loader that is measured. All but iteration is the loader's own, its class too."""

    __slots__ = ("_feedline_loader", "_feedline_pass", "_feedline_record", "_feedline_waits", "__weakref__")

    def __init__(self, loader: Any, waits: Waits, record: Callable[..., None]) -> None:
        object.__setattr__(self, "_feedline_loader", loader)
        object.__setattr__(self, "_feedline_waits", waits)
        object.__setattr__(self, "_feedline_record", record)
        object.__setattr__(self, "_feedline_pass", None)

    # Frameworks ask isinstance(loader, DataLoader) before they do what the job needs.
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._feedline_loader)

    def __iter__(self) -> Pass:
        self._feedline_waits.begin()
        return Pass(iter(self._feedline_loader), self._feedline_waits, self._feedline_record)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._feedline_loader, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._feedline_loader, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._feedline_loader, name)

    def __repr__(self) -> str:
        return f"feedline.wrap({self._feedline_loader!r})"

    # A copy, and what another process gets, is the loader itself: stamps of two processes do not belong together.
    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _itself, (self._feedline_loader,)

    def _feedline_next(self) -> Any:
        if self._feedline_pass is None:
            object.__setattr__(self, "_feedline_pass", iter(self))
        return next(self._feedline_pass)


def _itself(loader: Any) -> Any:
    return loader


def _kind(loader: Any) -> type[Watched]:
    """A class with those special methods that the loader has: one that has no length must not seem to have one."""
    own: dict[str, Any] = {"__slots__": ()}
    if hasattr(type(loader), "__len__"):
        own["__len__"] = lambda self: len(self._feedline_loader)
    if hasattr(type(loader), "__getitem__"):
        own["__getitem__"] = lambda self, at: self._feedline_loader[at]
    if hasattr(type(loader), "__next__"):
        own["__next__"] = Watched._feedline_next
    return type("Watched", (Watched,), own)


def wrap(
    loader: Loader,
    steps: int = STEPS_MAX,
    *,
    record: str | os.PathLike[str] | None = None,
    clock: Clock = time.perf_counter_ns,
) -> Loader:
    """The loader, measured for its next `steps` batches; `waits(loader)` says what was found.

    With `record` each rank writes a file into that folder each time that its batches have doubled, and at the end;
    `ranks(folder)` puts them together.
    """
    if _watched(loader) is not None:
        raise ValueError("this loader is wrapped already")
    if not hasattr(type(loader), "__iter__"):
        raise TypeError(f"a loader is iterated, and {type(loader).__name__} cannot be")
    waits = Waits(steps, clock)
    watched = _kind(loader)(loader, waits, rank_files.writer(record, waits))
    accelerators.follow_prepare(sys.modules.get("accelerate"), watched, Watched, _around)
    return watched  # type: ignore[return-value]


def _around(watched: Watched, prepared: Any) -> Watched:
    """What a framework built from a watched loader, watched in its place."""
    return _kind(prepared)(prepared, watched._feedline_waits, watched._feedline_record)


def _watched(loader: Any) -> Watched | None:
    # isinstance would be told the class of the loader inside.
    return loader if issubclass(type(loader), Watched) else None


def bare(loader: Any) -> Any:
    """The loader itself, where it is wrapped."""
    watched = _watched(loader)
    return loader if watched is None else watched._feedline_loader


def waits(loader: Any) -> Waits:
    """What was measured of a wrapped loader."""
    watched = _watched(loader)
    if watched is None:
        raise TypeError("this loader is not wrapped: loader = feedline.wrap(loader)")
    found: Waits = watched._feedline_waits
    return found
