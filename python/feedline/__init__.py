"""Which part of a training job is its limit: storage, decoding, or the step?

`wrap` measures a loader as it is, `diagnose` takes the job apart, and `run`, `check` and `load` speak to the executable that
this package brings.
"""

import sys

if sys.version_info < (3, 10):
    raise ImportError("import feedline needs Python 3.10 or later; the command `feedline` works without")

import importlib

from ._binary import Answer, Failed, GateMissed, Inconclusive, Interrupted, Refused, Regressed, Row, check, load, run
from .diagnosis import diagnose
from .rank_files import Ranks, ranks
from .report import Report
from .scenario import Scenario
from .stamps import Waits
from .watch import waits, wrap

__all__ = [
    "Answer",
    "Failed",
    "GateMissed",
    "Inconclusive",
    "Interrupted",
    "Ranks",
    "Refused",
    "Regressed",
    "Report",
    "Row",
    "Scenario",
    "Waits",
    "check",
    "diagnose",
    "load",
    "ranks",
    "run",
    "waits",
    "wrap",
]


def __getattr__(name: str) -> object:
    # Callbacks import their framework, so only who names them does.
    if name in ("hf", "lightning"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
