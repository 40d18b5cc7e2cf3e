//! The table of cells: how fast each was, of the line, and what is to be said of it.

use std::array::from_fn;

use analysis::{CellSummary, Curve, Figures, Measurement, Panel, Summary, Table, View};

use crate::grid::{Column, Grid, Width};
use crate::head;
use crate::number::{RateUnit, interval, of_line};
use crate::side;
use crate::words;

/// Rows up to which a terminal shows every one.
// More scroll out of most windows before they are read. The page and the Markdown report have them all.
const ROWS_MAX: usize = 40;
/// What the one name of an engine means that comes from no other tool.
// Other engines are named as in fio or by their library.
const LEAN: &str =
    "engine lean: feedline's own client, which does for a read what the protocol asks, and no more";

/// The unit for all rates of a summary.
pub(crate) fn unit(summary: &Summary) -> RateUnit {
    let rates = summary.cells.iter().filter_map(CellSummary::figures).map(|figures| figures.bps.mean);
    RateUnit::for_largest(rates.fold(0.0, f64::max))
}

/// A row before it is written.
struct Line<'a> {
    target: String,
    /// `> fresh` in the row that decides, which stands below that of its cell.
    engine: String,
    /// What a filter by engine finds the row by.
    found_by: String,
    /// One depth, or `512-4096` where several share one fate.
    depth: String,
    /// How the cell was read, where cells differ in it.
    read_as: String,
    cell: Option<&'a CellSummary>,
    /// Absent for a cell that has none, which the note explains.
    figures: Option<&'a Figures>,
    note: String,
    decides: bool,
    /// Whether a terminal shows it where there are many.
    is_kept: bool,
}

/// Every planned cell, and what was left out before the run.
pub(crate) fn grid(summary: &Summary) -> Grid {
    let unit = unit(summary);
    let conditions = Conditions::of(&summary.panels);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (panel, read_as) in summary.panels.iter().zip(&conditions.own) {
        lines.extend(panel.curves.iter().flat_map(|curve| of_curve(summary, curve, read_as, unit)));
    }
    lines.extend(summary.skipped.iter().map(skipped));
    let title = ["cells", &conditions.shared].into_iter().filter(|words| !words.is_empty());
    let mut grid = Grid::of(title.collect::<Vec<_>>().join(": "), &lines)
        .name("target", |line| line.target.clone())
        .name("engine", |line| line.engine.clone())
        .number("QD", |line| line.depth.clone());
    // One way of reading is said once above the table.
    if summary.panels.len() > 1 {
        let read_as = Column::name("read as").only(Width::Above);
        grid = grid.column(read_as, |line| Some(line.read_as.clone()));
    }
    let is_lean = |cell: &CellSummary| cell.cell.engine == "lean";
    let foot = if summary.cells.iter().any(is_lean) { LEAN } else { "" };
    grid.figure(unit.name, |line| Some(unit.write(line.figures?.bps.mean)))
        .figure("95 % interval", |line| interval(&line.figures?.bps, |bps| unit.write(bps)))
        .metrics(Table::Cells, |line| line.figures.map(View::of_figures).unwrap_or_default())
        .figure("of line", |line| line.figures?.of_line.map(|share| share_words(line.cell, share)))
        .rows(|row, line| {
            row.note.clone_from(&line.note);
            row.decides = line.decides;
            row.share = line.figures.and_then(|figures| figures.of_line);
            // The row that decides is not named by its engine, and a filter by engine must find it all the
            // same.
            row.found_by = Some(line.found_by.clone());
        })
        .brief(ROWS_MAX, "one cell of each curve, and those without figures", |line| line.is_kept)
        .foot(foot)
        .done()
}

/// How cells were read: what is the same of all stands above the table, the rest in a column.
struct Conditions {
    shared: String,
    /// Of each panel.
    own: Vec<String>,
}

impl Conditions {
    fn of(panels: &[Panel]) -> Self {
        if let [one] = panels {
            return Self { shared: head::panel(one), own: vec![String::new()] };
        }
        // What all panels share is said once above the table, so that the column holds what tells their rows apart.
        let parts: Vec<[String; 7]> = panels.iter().map(words::curve::parts).collect();
        let is_shared: [bool; 7] = from_fn(|at| parts.iter().all(|of| of[at] == parts[0][at]));
        let of_panel = |of: &[String; 7], shared: bool| {
            let kept = of.iter().enumerate().filter(|(at, _)| is_shared[*at] == shared);
            let kept = kept.map(|(_, part)| part.as_str()).filter(|part| !part.is_empty());
            kept.collect::<Vec<_>>().join(", ")
        };
        let lines: Vec<String> = panels.iter().map(head::panel_line).collect();
        // Lines differ where samples do: each size of sample has a line of its own in bytes.
        let has_one_line = lines.iter().all(|line| *line == lines[0]);
        let own =
            |(of, line): (&[String; 7], &String)| of_panel(of, false) + if has_one_line { "" } else { line };
        let shared_line = lines.first().filter(|_| has_one_line).map_or("", String::as_str);
        Self {
            shared: parts.first().map(|of| of_panel(of, true) + shared_line).unwrap_or_default(),
            own: parts.iter().zip(&lines).map(own).collect(),
        }
    }
}

/// The cell that stands for its curve: the judged one, else the first to clear, else the fastest.
fn representative(summary: &Summary, curve: &Curve) -> Option<usize> {
    let judged = |index: &usize| summary.verdict_on(&summary.cells[*index]).is_some();
    let mean = |index: &usize| summary.cells[*index].figures().map_or(-1.0, |figures| figures.bps.mean);
    let fastest = || curve.cells.iter().copied().max_by(|a, b| mean(a).total_cmp(&mean(b)));
    // The judged cell before the fastest: the row that is shown must be the one that the verdict speaks of.
    curve.cells.iter().copied().find(judged).or(curve.clears_at).or_else(fastest)
}

/// A combination that was left out before the run.
fn skipped(skipped: &record::Skipped) -> Line<'_> {
    Line {
        target: skipped.target.clone(),
        engine: skipped.engine.clone(),
        found_by: skipped.engine.clone(),
        depth: "-".to_owned(),
        read_as: String::new(),
        cell: None,
        figures: None,
        note: format!("skipped: {}", skipped.reason),
        decides: false,
        is_kept: true,
    }
}

/// The cells of a curve; depths that were not run for one reason share a row.
fn of_curve<'a>(summary: &'a Summary, curve: &Curve, read_as: &str, unit: RateUnit) -> Vec<Line<'a>> {
    let representative = representative(summary, curve);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for index in &curve.cells {
        let cell = &summary.cells[*index];
        let figures = cell.figures();
        let is_chosen = representative == Some(*index);
        let line = Line {
            target: curve.target.clone(),
            engine: engine(curve),
            found_by: engine(curve),
            depth: cell.cell.queue_depth.to_string(),
            read_as: read_as.to_owned(),
            cell: Some(cell),
            figures,
            note: note(summary, cell, curve, curve.clears_at == Some(*index), unit),
            decides: false,
            is_kept: is_chosen || figures.is_none(),
        };
        // Only what was not run is joined: a depth that failed has a cause that is looked for at that depth.
        let is_not_run = matches!(cell.measured, Measurement::NotRun { .. });
        match lines.last_mut().filter(|last| is_not_run && last.figures.is_none() && last.note == line.note) {
            Some(last) => extend(last, &line.depth),
            None => lines.push(line),
        }
        lines.extend(summary.deciding(cell).map(|figures| Line {
            target: cell.cell.target.clone(),
            // Below its cell and not in its place: the first repetitions chose the cell, so that their mean is
            // the better by chance, and the reader sees by how much.
            engine: "> fresh".to_owned(),
            found_by: engine(curve),
            depth: cell.cell.queue_depth.to_string(),
            read_as: read_as.to_owned(),
            cell: Some(cell),
            figures: Some(figures),
            note: deciding_note(figures),
            decides: true,
            is_kept: is_chosen,
        }));
    }
    lines
}

/// What is said of the fresh repetitions on which a verdict rests: the figure that its sentence speaks of.
fn deciding_note(figures: &Figures) -> String {
    let rounds = feed::counted_noun(figures.repetitions.into(), "round");
    with_flags(std::iter::once(format!("decides: {rounds} of fresh repetitions")), figures)
}

fn extend(line: &mut Line<'_>, depth: &str) {
    let first = line.depth.split('-').next().unwrap_or_default().to_owned();
    line.depth = format!("{first}-{depth}");
}

fn engine(curve: &Curve) -> String {
    if curve.distinctions.is_empty() {
        return curve.engine.clone();
    }
    format!("{} ({})", curve.engine, words::curve::distinctions(curve))
}

fn note(summary: &Summary, cell: &CellSummary, curve: &Curve, clears_first: bool, unit: RateUnit) -> String {
    let figures = match &cell.measured {
        Measurement::Figures(figures) => figures,
        Measurement::Operations(_) => return "names alone: see the table of metadata".to_owned(),
        Measurement::Failed { .. } | Measurement::NotRun { .. } => {
            return side::absent(cell).unwrap_or_default();
        }
    };
    // What decides has a row of its own.
    let beside = cell.confirmed.as_ref().filter(|_| summary.deciding(cell).is_none());
    let confirmed = beside.map(|fresh| confirmed_words(fresh, unit));
    let files = cell
        .reads_whole_files()
        .then(|| format!("read_file: {} files/s", feed::format_count(figures.ops_per_s)));
    let first = clears_first.then(|| "first to clear".to_owned());
    let demo = curve.demo.then(|| "DEMO".to_owned());
    let way =
        cell.network.as_ref().map(|network| words::network::row(network, &cell.cell)).unwrap_or_default();
    let words = demo.into_iter().chain(files).chain(first).chain(confirmed).chain(way);
    with_flags(words.chain(side::faults(cell)), figures)
}

fn with_flags(words: impl Iterator<Item = String>, figures: &Figures) -> String {
    words.chain(figures.flags.iter().map(words::flag::words)).collect::<Vec<_>>().join("; ")
}

/// Of storage behind a network, `0.4 %` and not `0 %`: a single connection may bring as little.
fn share_words(cell: Option<&CellSummary>, share: f64) -> String {
    let is_remote = cell.is_some_and(|cell| cell.network.is_some());
    match share {
        ..0.0005 if is_remote => "<0.1 %".to_owned(),
        ..0.01 if is_remote => format!("{:.1} %", share * 100.0),
        _ => of_line(share),
    }
}

/// What fresh repetitions say on which no verdict rests: `afresh 3.92 - 4.24`.
fn confirmed_words(confirmed: &Measurement, unit: RateUnit) -> String {
    match confirmed {
        Measurement::Figures(figures) => format!(
            "afresh {}",
            interval(&figures.bps, |bps| unit.write(bps)).unwrap_or_else(|| "-".to_owned())
        ),
        Measurement::Failed { reason, .. } => {
            format!("fresh repetitions failed: {}", words::gap::words(reason))
        }
        Measurement::NotRun { reason } => format!("not measured afresh: {}", words::gap::words(reason)),
        Measurement::Operations(_) => "not measured afresh: it moves no bytes".to_owned(),
    }
}
