//! github-action-benchmark: one file for figures of which more is better, and one for the others.

use analysis::Summary;
use serde_json::{Value, json};

use super::Export;
use super::measure::{Measure, measures};
use crate::words::machine::machine;

/// Which figures a file holds: the direction belongs to the file, not to the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `customBiggerIsBetter`: throughput, utilization.
    Bigger,
    /// `customSmallerIsBetter`: latency, processor time.
    Smaller,
}

/// The figures of one direction for github-action-benchmark; `None` where there are none, because its schema wants one.
pub fn github_action_benchmark(summary: &Summary, direction: Direction) -> Option<Export> {
    let mut entries = Vec::new();
    let mut gaps = Vec::new();
    for cell in &summary.cells {
        let (measures, absent) = measures(cell);
        gaps.extend(absent);
        let name = &cell.cell.cell;
        let wanted =
            measures.iter().filter(|one| one.metric.higher_is_better() == (direction == Direction::Bigger));
        entries.extend(wanted.map(|one| entry(summary, name, one)));
    }
    // No file at all: an empty list would fail the action that reads it.
    (!entries.is_empty()).then(|| Export { text: super::json::pretty(&Value::Array(entries)), gaps })
}

fn entry(summary: &Summary, cell: &str, measure: &Measure) -> Value {
    let head = &summary.head;
    let mut extra = vec![format!("run {}", head.run_id), format!("{} repetitions", head.repetitions)];
    let mut entry = json!({
        "name": format!("{cell} {}", measure.tracked.name),
        "unit": measure.metric.unit.symbol(),
        "value": measure.value,
    });
    if let Some((low, high)) = measure.interval {
        // Half of the interval: the form has room for one number behind the sign.
        entry["range"] = format!("± {}", (high - low) / 2.0).into();
        extra.insert(0, format!("95 % interval {low} to {high} {}", measure.metric.unit.symbol()));
    }
    extra.extend(Some(machine(&head.machine)).filter(|machine| !machine.is_empty()));
    entry["extra"] = extra.join("\n").into();
    entry
}
