"""What a diagnosis found, as text for a terminal, as a page, and for notebooks. It computes nothing."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass, field
from pathlib import Path

from .limits import Limit, Parts
from .opens import Opens
from .scenario import Scenario
from .spans import Span

SAID = {
    "storage": "storage is the limit",
    "decoding": "decoding is the limit",
    "both": "storage and decoding limit it alike",
    "step": "the step is the limit",
    "others": "others on this machine hide the limit",
    "uncertain": "UNCERTAIN, no limit is named",
}
BAR_PX = 360


@dataclass
class Report:
    """The limit of a job, and the figures that it rests on."""

    limit: Limit
    parts: Parts
    opens: Opens
    restored: list[str]
    """What was put back as it was, by the names of its classes."""
    scenario: Scenario | None
    """The job as feedline plays it; None where its reads are unseen."""
    storage_doubts: list[str] = field(default_factory=list)
    first_batch_s: float | None = None

    def headline(self) -> str:
        """The answer in one line, with what removing the limit gives."""
        busy = f"busy {self.parts.busy.percent()}" if self.parts.busy else "busy share unknown"
        gone = self.limit.without.get(self.limit.name)
        return f"{busy}: {SAID[self.limit.name]}{f' (without it {gone.percent()})' if gone else ''}"

    def rows(self) -> list[tuple[str, Span]]:
        """Each part that was measured, with its time from batch to batch in ns."""
        named = [
            ("job", self.parts.job),
            (self.parts.step_of, self.parts.step),
            ("loader alone", self.parts.loader),
            ("loader from memory", self.parts.warm),
            ("job from memory", self.parts.warm_job),
        ]
        return [(name, span) for name, span in named if span is not None]

    def removals(self) -> list[tuple[str, Span]]:
        """What the busy share would be without a part, measured or predicted, and of storage by itself, as feedline measured."""
        how = {"storage": "measured", "decoding": "predicted"}
        found = [(f"without {part}, {how[part]}", span) for part, span in self.limit.without.items()]
        alone = self.parts.storage_busy
        return [*found, *([("this storage alone, by feedline", alone)] if alone else [])]

    def remarks(self) -> list[tuple[str, str]]:
        """Everything else that is said, as a word and a sentence."""
        said = [("WHY", self.limit.why), ("NEXT", self.limit.advice)]
        if self.first_batch_s is not None:
            share = f", {100 * self.parts.start_share:.0f} % of a pass" if self.parts.start_share is not None else ""
            said.append(("FIRST", f"the first batch came after {self.first_batch_s:.3f} s{share}"))
        said += [("LACKS", lack) for lack in self.parts.lacks]
        said += [("DOUBT", f"feedline's reading: {doubt}") for doubt in self.storage_doubts]
        if self.restored:
            said.append(("KEPT", f"as it was: {', '.join(self.restored)}"))
        return said

    def __str__(self) -> str:
        lines = [self.headline()]
        if self.rows():
            lines.append(f"{'':<32}{'ms a batch, 95 %':>20}")
            lines += [f"{name:<32}{_ms(span):>20}" for name, span in self.rows()]
        lines += [f"{name:<32}{span.percent() + ' busy':>20}" for name, span in self.removals()]
        return "\n".join([*lines, *(f"{word:<5} {sentence}" for word, sentence in self.remarks())])

    def _repr_html_(self) -> str:
        longest = max((span.high for _, span in self.rows()), default=1.0)
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{_bar(span, longest)}</td><td>{_ms(span)} ms a batch</td></tr>"
            for name, span in self.rows()
        )
        rows += "".join(
            f"<tr><td>{html.escape(name)}</td><td>{_bar(span, 1.0)}</td><td>{span.percent()} busy</td></tr>"
            for name, span in self.removals()
        )
        remarks = "".join(f"<li><b>{html.escape(word)}</b> {html.escape(sentence)}</li>" for word, sentence in self.remarks())
        return f"<h3>{html.escape(self.headline())}</h3><table>{rows}</table><ul>{remarks}</ul>"

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Writes a page that needs nothing else."""
        style = (
            "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}td{padding:.2em .8em}pre{overflow:auto}"
        )
        scenario = f"<h3>As a scenario</h3><pre>{html.escape(self.scenario.text())}</pre>" if self.scenario else ""
        Path(path).write_text(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>My GPU waits</title>'
            f"<style>{style}</style>{self._repr_html_()}{scenario}</html>\n",
            encoding="utf-8",
        )


def _ms(span: Span) -> str:
    return f"{span.low / 1e6:.3g} - {span.high / 1e6:.3g}"


def _bar(span: Span, whole: float) -> str:
    def px(value: float) -> float:
        return round(BAR_PX * min(1.0, value / whole), 1)

    return (
        f'<svg width="{BAR_PX}" height="14" role="img" aria-label="{px(span.mean) / BAR_PX:.0%}">'
        f'<rect width="{px(span.mean)}" height="14" fill="#4878a8"/>'
        f'<line x1="{px(span.low)}" x2="{px(span.high)}" y1="7" y2="7" stroke="#222" stroke-width="2"/></svg>'
    )
