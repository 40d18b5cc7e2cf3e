//! One JSON object for each repetition of each cell, a line each.

use analysis::{RepFigures, Summary};
use record::{Axis, Cell, Outcome, Role, RunRecord};
use serde_json::{Map, Value, json};

use super::{Export, by_cell};
use crate::words;

/// Every repetition with all its figures and counts. A cell without repetitions has one line with its `gap`.
pub fn jsonl(record: &RunRecord, summary: &Summary) -> Export {
    let mut text = String::new();
    let mut gaps = Vec::new();
    for (cell, reps, absent) in by_cell(record, summary) {
        for figures in &reps {
            push(&mut text, &repetition(record, figures));
        }
        if reps.is_empty() {
            let why = absent.clone().unwrap_or_else(|| format!("{}: no repetition was made", cell.cell));
            let mut object = settings(record, cell);
            object.insert("gap".to_owned(), why.into());
            push(&mut text, &Value::Object(object));
        }
        gaps.extend(absent);
    }
    Export { text, gaps }
}

fn push(text: &mut String, value: &Value) {
    text.push_str(&value.to_string());
    text.push('\n');
}

/// What tells a cell from others.
fn settings(record: &RunRecord, cell: &Cell) -> Map<String, Value> {
    let variant = record.run.variant.as_ref().map(|variant| variant.name.as_str());
    let number = |axis| cell.said_along(axis).and_then(|value| value.parse::<u64>().ok());
    let object = json!({
        "run_id": record.run.run_id,
        "started": record.run.started,
        "scenario": record.run.scenario,
        "variant": variant,
        "target": cell.target,
        "cell": cell.cell,
        "engine": cell.engine,
        "operation": cell.operation,
        "access": cell.access,
        "cache": cell.cache,
        "queue_depth": cell.queue_depth,
        "threads": cell.threads,
        "connections": cell.connections,
        "block_bytes": cell.block_bytes,
        "layout": record.run.datasets.get(cell.dataset).map(|dataset| dataset.layout.as_str()),
        "streams": cell.streams,
        "shuffle_buffer": cell.shuffle_buffer,
        "mixing": cell.mixing,
        "checkpoint": cell.checkpoint,
        "tier": cell.tier,
        "copy": cell.copy,
        "durability": cell.durability,
        "shard_bytes": number(Axis::ShardBytes),
        "members": number(Axis::Members),
        "codec": cell.said_along(Axis::Codec),
        "compressible_percent": number(Axis::Compressibility),
        "write_percent": cell.write_percent,
    });
    if let Value::Object(object) = object { object } else { Map::new() }
}

fn repetition(record: &RunRecord, figures: &RepFigures<'_>) -> Value {
    let rep = figures.rep;
    let mut object = settings(record, figures.cell);
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("role", role(rep.role).into());
    put("rep", rep.rep.into());
    put("round", rep.round.into());
    put("rank", rep.rank.into());
    put("outcome", outcome(&rep.outcome).into());
    put("window_start_ns", rep.window_start_ns.into());
    put("window_ns", rep.window_ns.into());
    put("counters", json!(rep.counters));
    put("errors", json!(rep.errors));
    put("epochs", json!(rep.epochs));
    put("checkpoints", json!(rep.checkpoints));
    put("cpu_user_ns", rep.usage.cpu_user_ns.into());
    put("cpu_system_ns", rep.usage.cpu_system_ns.into());
    for (metric, value) in &figures.values {
        // All metrics and not those that trackers follow: whoever reads lines wants to choose.
        put(metric.name, (*value).into());
    }
    if let Some(gap) = &figures.gap {
        put("gap", words::gap::words(gap).into());
    }
    Value::Object(object)
}

pub(super) const fn role(role: Role) -> &'static str {
    match role {
        Role::Measure => "measure",
        Role::Confirm => "confirm",
    }
}

pub(super) const fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Complete => "complete",
        Outcome::Exhausted => "exhausted",
        Outcome::Interrupted => "interrupted",
        Outcome::Failed { .. } => "failed",
    }
}

/// JSON that people may read too, with a last line break.
pub(super) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
