"""What a diagnosis must leave as it found it: model, optimizer, gradients, random state, position of the loader."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable, Iterable
from typing import Any


def _copied(value: Any) -> Any:
    """A copy that later steps do not change; of tensors in the memory of the host, as that of the accelerator may be full."""
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        return value.detach().cpu().clone()
    if type(value) in (dict, list, tuple):
        inner = [_copied(item) for item in (value.values() if isinstance(value, dict) else value)]
        return dict(zip(value, inner)) if isinstance(value, dict) else type(value)(inner)
    if hasattr(value, "items") and hasattr(value, "copy"):
        taken = value.copy()
        for key, item in value.items():
            taken[key] = _copied(item)
        return taken
    return copy.deepcopy(value)


class Kept:
    """Copies of the state of objects that have `state_dict` and `load_state_dict`, and of every random generator in use."""

    def __init__(self, objects: Iterable[Any], loader: Any = None) -> None:
        self._states: list[tuple[Any, Any]] = []
        self._gradients: list[tuple[Any, Any]] = []
        for one in objects:
            if not _has_state(one):
                raise TypeError(f"{type(one).__name__} has no state_dict and load_state_dict: what a step does to it stays")
            self._states.append((one, _copied(one.state_dict())))
            for parameter in one.parameters() if hasattr(one, "parameters") else ():
                gradient = getattr(parameter, "grad", None)
                self._gradients.append((parameter, None if gradient is None else gradient.detach().clone()))
        self.names = [type(one).__name__ for one, _ in self._states]
        if _has_state(loader):
            self._states.append((loader, _copied(loader.state_dict())))
        self._random = _random_states(getattr(loader, "generator", None))
        # Workers that persist draw other random numbers when they go on than when they start, so each pass starts its own, beside
        # those of the job.
        self._attributes = getattr(loader, "__dict__", {})
        self._persistent = self._attributes.get("persistent_workers")
        if self._persistent:
            self._attributes["persistent_workers"] = False

    def restore_random(self) -> None:
        """Every random generator as it was: the next pass draws the same batches."""
        for restore, state in self._random:
            restore(state)

    def restore(self) -> None:
        """Everything as it was."""
        for one, state in self._states:
            one.load_state_dict(state)
        for parameter, gradient in self._gradients:
            parameter.grad = gradient
        if self._persistent:
            self._attributes["persistent_workers"] = True
        self.restore_random()


def _has_state(one: Any) -> bool:
    return hasattr(one, "state_dict") and hasattr(one, "load_state_dict")


def _random_states(generator: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    states: list[tuple[Callable[[Any], Any], Any]] = [(random.setstate, random.getstate())]
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and hasattr(numpy, "random"):
        states.append((numpy.random.set_state, numpy.random.get_state()))
    if torch is not None and hasattr(torch, "get_rng_state"):
        states.append((torch.set_rng_state, torch.get_rng_state()))
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            states.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
    if generator is not None and hasattr(generator, "get_state"):
        states.append((generator.set_state, generator.get_state()))
    return states
