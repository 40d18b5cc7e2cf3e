"""What a diagnosis must leave as it found it: model, optimizer, gradients, random state, position of the loader."""

from __future__ import annotations

import copy
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from . import accelerators


def _copied(value: Any) -> Any:
    """A copy that later steps do not change; of tensors in the memory of the host, as that of the accelerator may be full."""
    if type(value).__name__.startswith("Uninitialized"):
        raise ValueError("a lazy module has no parameters before its first batch: call it on one, and diagnose then")
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
        # An error that is on its way already, as diagnose is called, is none of the job's.
        self._before = sys.exc_info()[1]
        self._back: list[tuple[str, Callable[[], Any]]] = []
        self.names: list[str] = []
        for one in objects:
            if not _has_state(one):
                raise TypeError(f"{type(one).__name__} has no state_dict and load_state_dict: what a step does to it stays")
            self.names.append(type(one).__name__)
            self._keep_state(one)
            for module in one.modules() if hasattr(one, "named_modules") else ():
                self._keep_module(module)
            for parameter in one.parameters() if hasattr(one, "parameters") else ():
                gradient = getattr(parameter, "grad", None)
                self._keep(one, setattr, parameter, "grad", None if gradient is None else gradient.detach().clone())
        loader = accelerators.unprepared(loader)
        if _has_state(loader):
            self._keep_state(loader)
            # To say where it is it may have started its workers, before anybody hears what they open.
            loader.load_state_dict(_copied(loader.state_dict()))
        self._random = list(_random_states(loader))
        self.generators = f"random state of {', '.join(name for name, _, _ in self._random)}"
        """Which random generators are as they were."""
        # Workers that persist draw other random numbers when they go on than when they start, so each pass starts its own, beside
        # those of the job.
        attributes = getattr(loader, "__dict__", {})
        self.persistent = bool(attributes.get("persistent_workers"))
        """Whether the workers of the job go on from pass to pass."""
        if self.persistent:
            attributes["persistent_workers"] = False
            self._keep(loader, attributes.__setitem__, "persistent_workers", True)

    def _keep(self, one: Any, call: Callable[..., Any], *arguments: Any) -> None:
        self._back.append((type(one).__name__, lambda: call(*arguments)))

    def _keep_state(self, one: Any) -> None:
        self._keep(one, one.load_state_dict, _copied(one.state_dict()))

    def _keep_module(self, module: Any) -> None:
        """What a step may change of a module that is not in its `state_dict`."""
        self._keep(module, setattr, module, "training", module.training)
        for name in getattr(module, "_non_persistent_buffers_set", ()):
            buffer = module._buffers[name]
            # Changed in place or put in the other's place: both are undone.
            self._keep(module, module._buffers.__setitem__, name, buffer)
            if buffer is not None:
                self._keep(module, buffer.detach().copy_, _copied(buffer))

    def restore_random(self) -> None:
        """Every random generator as it was: the next pass draws the same batches."""
        for _, restore, state in self._random:
            restore(state)

    def restore(self) -> None:
        """Everything as it was. What cannot be is told once the rest is restored, never in the place of the job's own error."""
        failed: list[tuple[str, Exception]] = []
        for name, restore in self._back:
            try:
                restore()
            except Exception as error:
                failed.append((name, error))
        self.restore_random()
        if not failed:
            return
        words = "not restored: " + "; ".join(f"{name} ({type(error).__name__}: {error})" for name, error in failed)
        if sys.exc_info()[1] in (None, self._before):
            raise RuntimeError(words) from failed[0][1]
        warnings.warn(words, RuntimeWarning, stacklevel=3)


def _has_state(one: Any) -> bool:
    return hasattr(one, "state_dict") and hasattr(one, "load_state_dict")


def _random_states(loader: Any) -> Iterator[tuple[str, Callable[[Any], Any], Any]]:
    """Generators that a pass draws from: where each is, what sets its state, and its state."""
    yield "Python", random.setstate, random.getstate()
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and hasattr(numpy, "random"):
        yield "NumPy", numpy.random.set_state, numpy.random.get_state()
    if torch is not None and hasattr(torch, "get_rng_state"):
        yield "PyTorch", torch.set_rng_state, torch.get_rng_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            yield "CUDA", torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()
    batches = getattr(loader, "batch_sampler", None)
    samplers = (getattr(loader, "sampler", None), batches, getattr(batches, "sampler", None))
    places = [("the loader", getattr(loader, "generator", None))]
    places += [("the loader's sampler", getattr(sampler, "generator", None)) for sampler in samplers]
    if not getattr(loader, "num_workers", 0):
        # Workers draw from copies.
        places += [("the dataset", value) for value in getattr(getattr(loader, "dataset", None), "__dict__", {}).values()]
    seen: list[Any] = []
    for place, generator in places:
        if type(generator).__name__ in ("Generator", "RandomState", "Random") and not any(generator is one for one in seen):
            seen.append(generator)
            yield place, *_state(generator)


def _state(generator: Any) -> tuple[Callable[[Any], Any], Any]:
    """Of a generator of NumPy, PyTorch or Python: what sets its state, and its state."""
    if hasattr(generator, "bit_generator"):
        return partial(setattr, generator.bit_generator, "state"), generator.bit_generator.state
    if hasattr(generator, "get_state"):
        return generator.set_state, generator.get_state()
    return generator.setstate, generator.getstate()
