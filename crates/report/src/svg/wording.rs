//! Words of a plot: title, subtitles, labels, description.

use analysis::{CellSummary, Curve, LineAt, Summary};
use feed::Flow;

use super::sheet::subtitle_columns;
use crate::head;
use crate::number::RateUnit;
use crate::words::{self, machine::machine};

/// What a rate below the line means.
pub(super) fn too_slow(summary: &Summary) -> &'static str {
    match &summary.need {
        Ok(need) if need.flow() == Flow::Writes => "writes are too slow",
        Ok(need) if need.flow() == Flow::Both => "reads or writes are too slow",
        _ => "accelerators starve",
    }
}

/// The title of the run, and what a plot shows.
pub(super) fn title_of(summary: &Summary, shown: &str) -> String {
    // Titles are often questions: "which store?: throughput" reads badly.
    format!("{}: {shown}", head::title(summary).trim_end_matches(['?', '.', ':', ' ']))
}

/// What the reader must know before the marks: need, line, conditions, storage where it fits into a line, run, machine.
pub(super) fn subtitles(summary: &Summary, conditions: Vec<String>) -> Vec<String> {
    let head = &summary.head;
    let mut need = format!("need {}", head::need(summary));
    if let Some(line) = head::line(summary) {
        need.push_str("; ");
        need.push_str(&line);
    }
    let mut lines = vec![need];
    lines.extend(conditions);
    let places = head::places_in_short(summary);
    // Many targets have many places; the page lists them with all that is known.
    if !places.is_empty() && places.chars().count() <= subtitle_columns() {
        lines.push(places);
    }
    let tool = format!("feedline {}", head.tool.version);
    let parts = [format!("run {}", head.run_id), machine(&head.machine), tool];
    lines.push(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; "));
    lines
}

/// `$ feedline run ...`, the command that made a run; empty where nothing is known.
pub(super) fn command(words: &[String]) -> String {
    let command = feed::plain(&record::typed(words));
    if command.is_empty() { String::new() } else { format!("$ {command}") }
}

/// What a screen reader says instead of the curves.
pub(super) fn description(summary: &Summary) -> String {
    let verdicts = summary.verdicts.iter().map(|verdict| {
        format!("{} {}: {}.", verdict.target, verdict.word(), words::verdict::sentence(verdict))
    });
    let need = format!("Need {}.", head::need(summary));
    std::iter::once(need).chain(verdicts).collect::<Vec<_>>().join(" ")
}

/// Lines of the label of a curve: its name, and the verdict when it rests on a cell of this curve.
pub(super) fn curve_label(summary: &Summary, curve: &Curve, columns: usize) -> Vec<String> {
    let mut lines = crate::plain::folded(&words::curve::label(curve), columns);
    let judged = summary.verdicts.iter().find(|verdict| {
        let mut cells = curve.cells.iter().map(|index| summary.cells[*index].cell.cell.as_str());
        verdict.cell().is_some_and(|judged| cells.any(|cell| cell == judged))
    });
    let word = judged.and_then(|verdict| match verdict.of_reads() {
        _ if verdict.demo => Some("DEMO"),
        reads => reads.map(|reads| reads.judgement.name()),
    });
    lines.extend(word.or(curve.demo.then_some("DEMO")).map(str::to_owned));
    lines
}

/// Lines of the label of the feed line.
pub(super) fn line_label(summary: &Summary, line: &LineAt, unit: RateUnit) -> Vec<String> {
    let at = summary.need.as_ref().map_or_else(|_| String::new(), feed::Need::at_line);
    vec![format!("line {}", unit.said(line.bps)), at]
}

/// The label of the second line.
pub(super) fn demand_label(line: &LineAt, unit: RateUnit) -> Vec<String> {
    vec![format!("{} at 100 %", unit.said(line.demand_bps))]
}

/// The target of a cell by its title, marked where feedline started its server itself.
pub(super) fn target_title(summary: &Summary, target: &str) -> String {
    let known = summary.targets.iter().find(|known| known.name == target);
    let title = known.map_or(target, |known| known.title.as_str());
    // A title that a user wrote may say it already.
    let says_so = title.to_lowercase().contains("demo");
    if known.is_some_and(|known| known.demo && !says_so) {
        format!("{title} (DEMO)")
    } else {
        title.to_owned()
    }
}

/// `filer io_uring, depth 32`, and of several forms which: `filer io_uring, depth 32, codec none`.
pub(super) fn cell_title(summary: &Summary, cell: &CellSummary) -> String {
    let target = target_title(summary, &cell.cell.target);
    let title = format!("{target} {}, depth {}", cell.engine_label(), cell.cell.queue_depth);
    std::iter::once(title).chain(words::form::of_cell(&cell.cell)).collect::<Vec<_>>().join(", ")
}
