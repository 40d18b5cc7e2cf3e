"""The executable `feedline`, which does the measuring: found, run, and its answers and refusals handed on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

# What a run that was interrupted has to write its record.
END_S = 10.0


class Interval(TypedDict):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


class Cell(TypedDict, total=False):
    """A way of reading one target."""

    cell: str
    engine: str
    operation: str
    access: str
    cache: str
    queue_depth: int
    threads: int
    block_bytes: int


class Deciding(Cell, total=False):
    """The cell that a verdict rests on."""

    sample_bytes: float
    repetitions: int
    samples_per_s: Interval
    bytes_per_s: Interval
    of_line: float
    utilization: Interval | None
    doubts: list[str]


class Verdict(TypedDict, total=False):
    """What is said of one target."""

    target: str
    verdict: str
    sentence: str
    why: list[str]
    scope: dict[str, Any]
    line_samples_per_s: float
    feeds_accelerators: int | None
    deciding: Deciding
    best: Deciding


class Paths(TypedDict):
    """Where a run lies."""

    run: str
    page: str | None


class Answer(TypedDict, total=False):
    """The answer of a run, as `feedline schema answer` describes it."""

    version: int
    run_id: str
    scenario: str
    interrupted: bool
    elapsed_ns: int
    need: dict[str, Any]
    lines: list[dict[str, float]]
    verdicts: list[Verdict]
    unjudged: list[dict[str, Any]]
    not_tested: list[str]
    gate: dict[str, Any]
    paths: Paths


class Row(Cell, total=False):
    """One repetition of one cell of a record, as `feedline export --format jsonl` writes it."""

    run_id: str
    scenario: str
    variant: str | None
    target: str
    role: str
    rep: int
    round: int
    rank: int
    outcome: str
    counters: dict[str, int]
    errors: dict[str, int]
    throughput_bps: float
    samples_per_s: float
    ops_per_s: float
    latency_mean_ns: float
    latency_p50_ns: float
    latency_max_ns: float
    window_ns: int


class Failed(Exception):
    """feedline ended with another code than 0; the text is what it said."""

    def __init__(self, words: str, code: int, answer: Answer | None = None) -> None:
        super().__init__(words)
        self.code = code
        self.answer = answer
        """What was measured all the same, if anything was."""


class Refused(Failed):
    """The scenario or the call is wrong, or asks what this machine cannot do."""


class GateMissed(Failed):
    """A gated target does not meet its gate."""


class Regressed(Failed):
    """A gated metric is worse than before by more than its margin."""


class Inconclusive(Failed):
    """A gated target is UNCERTAIN, or a gated comparison cannot tell (with `strict`)."""


class Interrupted(Failed):
    """The run was interrupted; what was measured is in its record."""


KINDS: dict[int, type[Failed]] = {2: Refused, 3: GateMissed, 4: Regressed, 5: Inconclusive, 130: Interrupted}


def executable() -> str:
    """The executable: FEEDLINE in the environment, else that of this installation, else the first in PATH."""
    named = os.environ.get("FEEDLINE")
    if named:
        if shutil.which(named) is None:
            raise FileNotFoundError(f"FEEDLINE names {named}, which is no file that can be run")
        return named
    for scheme in (None, f"{os.name}_user"):
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        found = os.path.join(folder, "feedline")
        if os.access(found, os.X_OK):
            return found
    in_path = shutil.which("feedline")
    if in_path is None:
        raise FileNotFoundError("no executable `feedline` in this installation or in PATH; FEEDLINE=/its/path names one")
    return in_path


def said(arguments: Iterable[str]) -> str:
    """Standard output of the executable; what is not a success is raised with its words."""
    with subprocess.Popen(
        [executable(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            out, words = process.communicate()
        except KeyboardInterrupt:
            # The terminal told the child too, which ends its record first.
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    if process.returncode == 0:
        return out
    answer = _answer(out)
    raise KINDS.get(process.returncode, Failed)(_words(words, answer), process.returncode, answer)


def _answer(out: str) -> Answer | None:
    try:
        found = json.loads(out)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None  # type: ignore[return-value]


def _words(words: str, answer: Answer | None) -> str:
    if answer is not None:
        gate = answer.get("gate") or {}
        sentences = [verdict.get("sentence", "") for verdict in answer.get("verdicts", [])]
        words += "\n".join([f"gate: {gate.get('outcome', 'none')}", *sentences])
    return words.strip() or "feedline said nothing"


def run(
    scenario: Any,
    *,
    results: str | os.PathLike[str] | None = None,
    strict: bool = False,
    only: Iterable[str] = (),
    **overrides: Any,
) -> Answer:
    """Measures a scenario (a file, a `Scenario`, or with `need` a path or URL) and returns its answer.

    Other named arguments override keys of the scenario: `load={"threads": 2}`, or `**{"load.threads": 2}`. The record goes into
    `results`, else into a fresh temporary folder; the answer's `paths` say where.
    """
    with tempfile.TemporaryDirectory(prefix="feedline-") as folder:
        into = os.fspath(results) if results is not None else tempfile.mkdtemp(prefix="feedline-results-")
        arguments = ["run", _given(scenario, folder), "--json", "--quiet", "--yes", "--results", into]
        arguments += ["--strict"] if strict else []
        arguments += [f"--only={target}" for target in ([only] if isinstance(only, str) else only)]
        try:
            answer = _answer(said([*arguments, *_overrides(overrides)]))
        finally:
            if results is None and not os.listdir(into):
                os.rmdir(into)
    if answer is None:
        raise Failed("feedline printed no answer", 1)
    return answer


def check(scenario: Any, **overrides: Any) -> str:
    """What `feedline check` says of a right scenario; a wrong one is raised as `Refused`, with every mistake in it."""
    with tempfile.TemporaryDirectory(prefix="feedline-") as folder:
        return said(["check", _given(scenario, folder), *_overrides(overrides)]).strip()


def load(record: str | os.PathLike[str] | Answer) -> list[Row]:
    """Every repetition in the record of a run: its folder, or the answer that names it."""
    folder = record["paths"]["run"] if isinstance(record, Mapping) else os.fspath(record)
    return [json.loads(line) for line in said(["export", folder, "--format", "jsonl"]).splitlines()]


def _given(scenario: Any, folder: str) -> str:
    if scenario is None:
        raise TypeError("None is no scenario: where a report has none, it says why")
    if hasattr(scenario, "save") and not isinstance(scenario, (str, os.PathLike)):
        path = os.path.join(folder, "scenario.toml")
        scenario.save(path)
        return path
    return str(os.fspath(scenario))


def _overrides(overrides: Mapping[str, Any]) -> list[str]:
    arguments = []
    for name, value in overrides.items():
        if name == "need":
            arguments.append(f"--need={value if isinstance(value, str) else toml(value)}")
        elif isinstance(value, Mapping):
            arguments += [f"--set={name}.{key}={toml(inner)}" for key, inner in value.items()]
        else:
            arguments.append(f"--set={name}={toml(value)}")
    return arguments


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        # TOML takes no DEL as it is, and JSON does.
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(inner) for inner in value) + "]"
    raise TypeError(f"{type(value).__name__} is no value of a scenario: {value!r}")
