//! Cells over time: a row for each, with a block for each run; and the same as rows of figures.

use analysis::{History, HistoryCell, HistoryPoint, HistoryValue, Metric};
use feed::Compared;

use super::words;
use crate::grid::{Column, Grid};
use crate::plain::ascii;
use crate::screen::Screen;
use crate::words::comparison as said;

/// Runs of which a row has a block; of more, the newest.
// What fits beside the other columns at 80 letters.
const BLOCKS_MAX: usize = 18;
/// Eighths of a row.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A run on which nothing may rest, and one that lacks the cell.
// Letters, so that they cannot be taken for a low block.
const EXCLUDED: char = 'x';
const ABSENT: char = '.';

/// Cells over time, one row for each, with a line of blocks that shows the throughput of each run.
pub fn history_terminal(history: &History, screen: Screen) -> String {
    let runs = history.run_ids.as_slice();
    let days = match runs.iter().map(|run| words::day(run)).collect::<Option<Vec<_>>>().as_deref() {
        Some([only]) => format!(", {only}"),
        Some([first, .., last]) => format!(", {first} to {last}"),
        _ => String::new(),
    };
    let count = feed::counted_noun(runs.len() as u64, "run");
    let mut page = screen.hanging("history  ", &ascii(&format!("{}: {count}{days}", history.scenario)));
    page.push_str(&screen.grid(&table(history)));
    for one in &history.breaks {
        page.push_str(&screen.hanging("break  ", &ascii(&said::broken(one))));
    }
    page
}

/// A row for each cell.
fn table(history: &History) -> Grid {
    let runs = history.run_ids.as_slice();
    // The newest, since a history is looked at for what changed last.
    let newest = &runs[runs.len().saturating_sub(BLOCKS_MAX)..];
    // Excluded runs take no part in first, last and change: their blocks show that they are there.
    let values = |cell: &&HistoryCell| cell.points.iter().filter_map(usable).collect::<Vec<f64>>();
    let write = |cell: &HistoryCell, value: Option<&f64>| {
        Some(words::value(Metric::of(Compared::Throughput, cell.counts_bytes), *value?))
    };
    let cells: Vec<&HistoryCell> = history.cells.iter().collect();
    Grid::of(legend(history), &cells)
        .name("target", |cell| cell.target.clone())
        .name("cell", |cell| cell.label.clone())
        .column(Column::blocks("throughput"), |cell| Some(blocks(cell, newest)))
        .figure("first", |cell| write(cell, values(cell).first()))
        .figure("last", |cell| write(cell, values(cell).last()))
        .figure("change", |cell| match values(cell).as_slice() {
            [first, .., last] if *first > 0.0 => Some(words::ratio(last / first)),
            _ => None,
        })
        .done()
}

/// What the blocks mean.
fn legend(history: &History) -> String {
    let mut words = "blocks: from half of the cell's highest run to the highest, oldest left".to_owned();
    let points = || history.cells.iter().flat_map(|cell| &cell.points);
    if points().any(|point| !point.excluded.is_empty()) {
        words.push_str("; x nothing may rest on that run");
    }
    let lacks = |cell: &HistoryCell| {
        history.run_ids.iter().any(|run| cell.points.iter().all(|point| point.run_id != *run))
    };
    if history.cells.iter().any(lacks) {
        words.push_str("; . the run lacks the cell");
    }
    if history.run_ids.len() > BLOCKS_MAX {
        words.extend([format!("; the newest {BLOCKS_MAX} runs")]);
    }
    words
}

/// The throughput of a run on which something may rest.
fn usable(point: &HistoryPoint) -> Option<f64> {
    let value = point.values.get(&Compared::Throughput).map(|of| of.value);
    value.filter(|value| point.excluded.is_empty() && value.is_finite() && *value >= 0.0)
}

fn blocks(cell: &HistoryCell, runs: &[String]) -> String {
    let highest = cell.points.iter().filter_map(usable).fold(0.0, f64::max);
    let block = |run: &String| {
        let Some(point) = cell.points.iter().find(|point| point.run_id == *run) else { return ABSENT };
        let Some(value) = usable(point) else { return EXCLUDED };
        if highest <= 0.0 {
            return BLOCKS[0];
        }
        // From half of the highest: from zero, a loss of a tenth would be less than one block.
        let height = ((value / highest - 0.5) * 2.0 * (BLOCKS.len() - 1) as f64).round();
        BLOCKS[height.clamp(0.0, (BLOCKS.len() - 1) as f64) as usize]
    };
    runs.iter().map(block).collect()
}

const COLUMNS: [&str; 12] = [
    "scenario", "cell", "target", "label", "metric", "unit", "run_id", "started", "value", "low", "high",
    "excluded",
];

/// Every point as a row of figures in base units, RFC 4180. Runs on which nothing may rest say why.
pub fn history_csv(history: &History) -> String {
    let mut page = crate::csv::row(&COLUMNS);
    for cell in &history.cells {
        for point in &cell.points {
            for (metric, value) in &point.values {
                let metric = Metric::of(*metric, cell.counts_bytes);
                page.push_str(&csv_row(history, cell, point, metric, value));
            }
        }
    }
    page
}

fn csv_row(
    history: &History,
    cell: &HistoryCell,
    point: &HistoryPoint,
    metric: &Metric,
    value: &HistoryValue,
) -> String {
    let [value, low, high] = [value.value, value.low, value.high].map(|value| value.to_string());
    let fields: [&str; 12] = [
        &history.scenario,
        &cell.cell,
        &cell.target,
        &cell.label,
        metric.word(),
        metric.unit.symbol(),
        &point.run_id,
        &point.started,
        &value,
        &low,
        &high,
        &said::exclusions(&point.excluded),
    ];
    crate::csv::row(&fields)
}
