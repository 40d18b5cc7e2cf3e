//! Predictions beside what was measured.

use analysis::{CellPrediction, CellSummary, Summary, TargetPrediction};

use crate::grid::{Grid, GridRow};
use crate::number::{RateUnit, grouped, three_digits};

/// Rows up to which every cell is shown on a terminal.
const SHOWN_MAX: usize = 24;

/// Behind the ratio of a doubtful cell on a terminal, and what it stands for.
const DOUBT: &str = "*";
const DOUBT_WORDS: &str = "* doubtful: see the remarks of its row in the first table";

/// `"claim" (source)`; absent where predictions rest on emulated servers alone.
pub(crate) fn claim(summary: &Summary) -> Option<String> {
    let claim = summary.predictions.as_ref()?.claim.as_ref()?;
    let source = claim.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
    Some(format!("\"{}\"{source}", claim.words))
}

/// One table for what demonstrates, and one for what was held against a storage; on a terminal only the cells that
/// differ where there are many.
pub(crate) fn tables(summary: &Summary, all: bool) -> Vec<Grid> {
    let Some(predictions) = &summary.predictions else { return Vec::new() };
    [true, false]
        .into_iter()
        .filter_map(|demo| {
            let targets: Vec<&TargetPrediction> =
                predictions.targets.iter().filter(|target| target.demo == demo).collect();
            table(summary, &targets, all)
        })
        .collect()
}

/// What the line asks of each target.
pub(crate) fn asked(summary: &Summary) -> Vec<String> {
    of_targets(summary, |target| &target.at_line)
}

/// Where the claim and the server of a target differ.
pub(crate) fn differences(summary: &Summary) -> Vec<String> {
    of_targets(summary, |target| &target.differences)
}

/// Sentences with the names of the targets of which each is true.
fn of_targets(summary: &Summary, words: fn(&TargetPrediction) -> &Vec<String>) -> Vec<String> {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for target in summary.predictions.iter().flat_map(|predictions| &predictions.targets) {
        for sentence in words(target) {
            match said.iter_mut().find(|(known, _)| known == sentence) {
                Some((_, names)) => names.push(&target.target),
                None => said.push((sentence, vec![&target.target])),
            }
        }
    }
    said.into_iter().map(|(sentence, names)| format!("{}: {sentence}", names.join(", "))).collect()
}

fn table(summary: &Summary, targets: &[&TargetPrediction], all: bool) -> Option<Grid> {
    let of_all: Vec<(&TargetPrediction, &CellPrediction)> =
        targets.iter().flat_map(|target| target.cells.iter().map(|cell| (*target, cell))).collect();
    let heading = targets.first()?.heading();
    let fits = all || of_all.len() <= SHOWN_MAX;
    let mut shown: Vec<_> = of_all.iter().copied().filter(|(_, cell)| fits || !cell.agrees()).collect();
    if shown.is_empty() {
        shown.extend(of_all.first());
    }
    let what = if fits {
        String::new()
    } else {
        let agree = of_all.iter().filter(|(_, cell)| cell.agrees()).count();
        format!("; {agree} of {} cells agree (all in report.md)", of_all.len())
    };
    let highest =
        of_all.iter().map(|(_, cell)| cell.predicted.bps.max(cell.measured_bps)).fold(0.0, f64::max);
    let columns = Columns {
        unit: RateUnit::for_largest(highest),
        with_bytes: highest > 0.0,
        short: (!all).then(|| Short::of(summary, targets)),
    };
    let rows = shown.iter().map(|(target, cell)| columns.row(summary, target, cell)).collect();
    Some(Grid {
        title: format!("predicted and measured: {heading}{what}"),
        names: columns.names(),
        figures: columns.headings(),
        rows,
        foot: if columns.has(|short| short.doubts) { DOUBT_WORDS.to_owned() } else { String::new() },
    })
}

/// The figures of a table.
struct Columns {
    unit: RateUnit,
    /// False where no cell moves bytes.
    with_bytes: bool,
    /// Where each cell that agrees has one line; absent where all is told in notes.
    short: Option<Short>,
}

/// What a short table has in columns, and another one in its notes.
#[derive(Clone, Copy)]
struct Short {
    engines: bool,
    connections: bool,
    /// Whether a ratio has a sign behind it.
    doubts: bool,
}

impl Short {
    /// Columns of what differs.
    fn of(summary: &Summary, targets: &[&TargetPrediction]) -> Self {
        let mut cells =
            targets.iter().flat_map(|target| &target.cells).map(|cell| &summary.cells[cell.cell].cell);
        Self {
            engines: targets.iter().any(|target| has_engines(summary, target)),
            doubts: targets.iter().flat_map(|target| &target.cells).any(|cell| cell.is_doubtful),
            connections: cells.any(|cell| ![0, cell.queue_depth].contains(&cell.connections)),
        }
    }
}

/// Whether a target was read by several engines.
fn has_engines(summary: &Summary, target: &TargetPrediction) -> bool {
    let mut engines = target.cells.iter().map(|cell| &summary.cells[cell.cell].cell.engine);
    let first = engines.next();
    engines.any(|engine| Some(engine) != first)
}

impl Columns {
    fn has(&self, column: fn(&Short) -> bool) -> bool {
        self.short.as_ref().is_some_and(column)
    }

    fn names(&self) -> Vec<&'static str> {
        if self.has(|short| short.engines) {
            vec!["target", "engine", "what", "QD"]
        } else {
            vec!["target", "what", "QD"]
        }
    }

    fn headings(&self) -> Vec<String> {
        let with_connections = self.has(|short| short.connections);
        let mut headings = if with_connections { vec!["conn".to_owned()] } else { Vec::new() };
        headings.extend(["predicted/s", "measured/s"].map(str::to_owned));
        if self.with_bytes {
            headings.push(format!("pred. {}", self.unit.name));
        }
        headings.push("ratio".to_owned());
        headings
    }

    fn row(&self, summary: &Summary, target: &TargetPrediction, of: &CellPrediction) -> GridRow {
        let cell = &summary.cells[of.cell];
        let connections = self.has(|short| short.connections).then(|| cell.cell.connections.to_string());
        let mut figures: Vec<String> = connections.into_iter().collect();
        figures.extend([of.predicted.ops_per_s, of.measured_ops_per_s].map(grouped));
        if self.with_bytes {
            figures.push(self.unit.write(of.predicted.bps));
        }
        let doubt = match (self.has(|short| short.doubts), of.is_doubtful) {
            (false, _) => "",
            (true, false) => " ",
            (true, true) => DOUBT,
        };
        figures.push(format!("{}{doubt}", three_digits(of.ratio())));
        let engine = self.has(|short| short.engines).then(|| cell.engine_label());
        let last = [what(cell, of), cell.cell.queue_depth.to_string()];
        let note = if self.short.is_some() {
            short_note(summary, target, cell, of)
        } else {
            note(summary, target, cell, of)
        };
        GridRow {
            names: std::iter::once(target.target.clone()).chain(engine).chain(last).collect(),
            figures,
            note,
        }
    }
}

/// `read 130 kB`, `stat`.
fn what(cell: &CellSummary, of: &CellPrediction) -> String {
    let operation = &cell.cell.operation;
    if of.operation.bytes > 0.0 {
        format!("{operation} {}", feed::format_bytes(of.operation.bytes.round() as u64))
    } else {
        operation.to_string()
    }
}

/// `latency-bound: 26 % below`, and where cells differ in their order, that; nothing more of a cell that agrees.
fn short_note(
    summary: &Summary,
    target: &TargetPrediction,
    cell: &CellSummary,
    of: &CellPrediction,
) -> String {
    let mut others = target.cells.iter().map(|other| &summary.cells[other.cell].cell.access);
    let access = others.any(|access| *access != cell.cell.access).then(|| cell.cell.access.to_string());
    let apart = (!of.agrees()).then(|| format!("{}: {}", of.predicted.bound.words(), of.difference()));
    access.into_iter().chain(apart).collect::<Vec<_>>().join("; ")
}

/// `latency-bound: agrees`, with what tells the cell apart from others of its target.
fn note(summary: &Summary, target: &TargetPrediction, cell: &CellSummary, of: &CellPrediction) -> String {
    let others = || target.cells.iter().map(|other| &summary.cells[other.cell]);
    let connections = cell.cell.connections;
    let varies = |get: fn(&CellSummary) -> &str| others().any(|other| get(other) != get(cell));
    let parts = [
        varies(|cell| &cell.cell.engine).then(|| cell.engine_label()),
        varies(|cell| cell.cell.access.as_str()).then(|| cell.cell.access.to_string()),
        others()
            .any(|other| other.cell.connections != other.cell.queue_depth && other.cell.connections > 0)
            .then(|| feed::counted_noun(u64::from(connections), "connection")),
    ];
    let apart: Vec<String> = parts.into_iter().flatten().collect();
    let words = format!("{}: {}", of.predicted.bound.words(), of.words());
    if apart.is_empty() { words } else { format!("{}; {words}", apart.join(", ")) }
}
