"""The scenario that plays a diagnosed job, here or on storage that is not bought yet."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from ._binary import toml

# Repetitions of each cell, for an interval of its own.
REPETITIONS = 3
STEPS_MIN = 16
# Shards by their suffix, as feedline calls their layout.
LAYOUTS = {".tar": "webdataset", ".tfrecord": "tfrecord", ".npy": "records", ".parquet": "parquet"}


@dataclass(frozen=True)
class Scenario:
    """A training job as feedline plays it: batches, readers, steps, and a stated time for what decoding takes."""

    batch: int
    step_ns: float
    sample_bytes: int
    readers: int
    prefetch: int
    steps: int
    root: str
    """Folder that holds the files that the job reads."""
    suffix: str
    """Which files below it; empty for all."""
    layout: str
    decode_ns: float = 0.0
    """What a reader takes for a sample beside reading it."""
    decode_burns: bool = False
    """Whether that is processor time, which feedline burns; else it waits so long."""
    opened: tuple[str, ...] = ()
    """Names of the files below `root` in the order in which the job opened them; none where files are no samples."""
    budget: str | None = None
    """What measuring may take at most, and then repetitions end by time; None where they end by steps."""

    def text(self, at: str | os.PathLike[str] | None = None, order: str | os.PathLike[str] | None = None) -> str:
        """As TOML: on the files of the job, or with `at` on files of their size that feedline writes there.

        With `order`, the path of a list of them, the job's files are read in that order.
        """
        if order is not None and (at is not None or not self.opened):
            raise ValueError("an order is that of the job's own files, each of them a sample")
        need = {
            "batch": self.batch,
            "step_time": _duration(self.step_ns),
            "sample_size": f"{self.sample_bytes} B",
            "count": 1,
        }
        how = "cpu" if self.decode_burns else "cost"
        lines = [
            "# Written by feedline.diagnose: the job as it was measured. `feedline run` plays it, `feedline size` finds how many",
            "# accelerators the storage feeds. Decoding is a stated time: `cpu` keeps a processor busy, `cost` does not.",
            "version = 1",
            f"need = {toml(need)}",
            "",
            *self._dataset(at, order),
            "",
            f"[targets.{'there' if at else 'here'}]",
            f"at = {toml(at or self.root)}",
            *([] if at and "://" in os.fspath(at) else ['engine = "pread"']),
            "",
            "[load]",
            'mode = "training"',
            *(['access = "list"'] if order is not None else []),
            *([] if at and "://" in os.fspath(at) else ['cache = "cold"']),
            "",
            "[training]",
            f"readers = {self.readers}",
            f"prefetch = {self.prefetch}",
            *([] if self.budget else [f"steps = {self.steps}"]),
            *([f"decode = {{ {how} = {toml(_duration(self.decode_ns))} }}"] if self.decode_ns >= 1000 else []),
            "",
            "[measure]",
            f"repetitions = {REPETITIONS}",
            # A budget is for repetitions that end by their time: that of the steps, if none waits.
            *(
                [f"duration = {toml(_duration(self.steps * self.step_ns))}", f"budget = {toml(self.budget)}"]
                if self.budget
                else []
            ),
        ]
        return "\n".join(lines) + "\n"

    def reading_alone(self, budget: str) -> Scenario:
        """The same job, if decoding took no time, measured for so long at most."""
        return replace(self, decode_ns=0.0, budget=budget)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        at: str | os.PathLike[str] | None = None,
        order: str | os.PathLike[str] | None = None,
    ) -> None:
        """Writes the scenario; with `at` (a folder, `nfs://`, `s3://`) it is about storage that does not hold the job's files.

        With `order` the files are read as the job opened them: that path becomes a list of them.
        """
        text = self.text(at, order)
        if order is not None:
            Path(order).write_text("".join(f"{name}\n" for name in self.opened), encoding="utf-8")
        Path(path).write_text(text, encoding="utf-8")

    def _dataset(self, at: str | os.PathLike[str] | None, order: str | os.PathLike[str] | None) -> list[str]:
        if at is not None:
            return ["[dataset]", f"samples = {self.batch * self.steps}", f'sample_size = "{self.sample_bytes} B"']
        lines = ["[dataset]", 'source = "existing"']
        if order is not None:
            return [*lines, f"order = {toml(os.path.abspath(order))}"]
        lines += [f"layout = {toml(self.layout)}"]
        lines += [f"shards = {toml('**/*' + self.suffix)}"] if self.suffix else []
        return lines


def _duration(value_ns: float) -> str:
    return f"{max(1, round(value_ns / 1000))}us"


def of_files(files: list[str]) -> tuple[str, str]:
    """The folder of these files and their suffix; of several kinds of files that of which there are most.

    Symbolic links are followed, as feedline follows none below a folder. A ValueError says which name no scenario can hold.
    """
    real = [os.path.realpath(path) for path in files]
    kinds = Counter(os.path.splitext(path)[1] for path in real)
    suffix = kinds.most_common(1)[0][0]
    alike = [path for path in real if path.endswith(suffix)]
    for path in alike:
        if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in path):
            raise ValueError(f"a control character, or what is no UTF-8, is in the name of a file: {path!r}")
    return os.path.commonpath([os.path.dirname(path) for path in alike]), suffix


def of_suffix(suffix: str, order: list[str]) -> list[str]:
    """Those of these files that end so, in their order."""
    ends = {path: os.path.realpath(path).endswith(suffix) for path in set(order)}
    return [path for path in order if ends[path]]


def below(root: str, order: list[str]) -> tuple[str, ...]:
    """The names of files below a folder, in their order."""
    folder = os.path.join(root, "")
    real = {path: os.path.realpath(path) for path in set(order)}
    return tuple(real[path][len(folder) :] for path in order if real[path].startswith(folder))
