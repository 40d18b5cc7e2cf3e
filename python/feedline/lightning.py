"""A callback for Lightning: what training waited between steps.

Lightning builds loaders anew, so the hooks around each step are what stays. What runs between them counts as waiting: the move
to the device, other callbacks, logging.
"""

from __future__ import annotations

import os
from typing import Any

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback

from .rank_files import writer
from .stamps import STEPS_MAX, Waits


class Watch(Callback):  # type: ignore[misc]
    """`Trainer(callbacks=[feedline.lightning.Watch(steps=200)])`; afterwards `watch.waits` says what was found."""

    def __init__(self, steps: int = STEPS_MAX, *, record: str | os.PathLike[str] | None = None) -> None:
        super().__init__()
        self.waits = Waits(steps)
        self._write = writer(record, self.waits)

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """A pass begins."""
        self.waits.begin()
        self._write()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """The batch is here."""
        self.waits.came(batch)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """The step is over."""
        self.waits.ask()
        self._write()

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """A pass is over."""
        self.waits.end()
        self._write()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """No batch comes any more."""
        self._write(last=True)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Training ends with an error of its own."""
        self.waits.failed(exception)
        self._write(last=True)
