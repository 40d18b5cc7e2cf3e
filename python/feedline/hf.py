"""A callback for the Trainer of transformers: what training waited between steps.

The Trainer builds its loader itself, so its events are what stays. An event that follows a step (logging, evaluation, saving) is
not counted as waiting for data; what else runs before the next step is, such as the move to the device. With gradient
accumulation the batches of one step are waited for together.
"""

from __future__ import annotations

import os
from typing import Any

from transformers import TrainerCallback

from .rank_files import writer
from .stamps import STEPS_MAX, Waits


class Watch(TrainerCallback):  # type: ignore[misc]
    """`Trainer(callbacks=[feedline.hf.Watch(steps=200)])`; afterwards `watch.waits` says what was found."""

    def __init__(self, steps: int = STEPS_MAX, *, record: str | os.PathLike[str] | None = None) -> None:
        self.waits = Waits(steps)
        self._write = writer(record, self.waits)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """A pass begins."""
        self.waits.begin()
        self._write()

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """The batches of a step are here."""
        self.waits.came()

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """The step is over."""
        self.waits.ask()
        self._write()

    def on_log(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Logging, evaluation and saving end here: waiting begins afterwards."""
        self.waits.ask()

    on_evaluate = on_log
    on_save = on_log

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """A pass is over."""
        self.waits.end()
        self._write()

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """No batch comes any more."""
        self._write(last=True)
