//! Tidy CSV (RFC 4180): one row for each figure of each repetition of each cell.

use analysis::{RepFigures, Summary};
use record::{Axis, Cell, RunRecord};

use super::json::{outcome, role};
use super::{Export, by_cell};
use crate::words;

const COLUMNS: [&str; 32] = [
    "run_id",
    "scenario",
    "variant",
    "target",
    "cell",
    "engine",
    "operation",
    "access",
    "cache",
    "queue_depth",
    "block_bytes",
    "role",
    "rep",
    "rank",
    "round",
    "outcome",
    "metric",
    "unit",
    "value",
    "gap",
    "layout",
    "streams",
    "shuffle_buffer",
    "checkpoint",
    "tier",
    "copy_to",
    "durability",
    "shard_bytes",
    "members",
    "codec",
    "compressible_percent",
    "write_percent",
];

/// Every figure of every repetition in a row of its own. What makes no point has one row without a metric, whose
/// column `gap` says why.
pub fn csv(record: &RunRecord, summary: &Summary) -> Export {
    let mut table = Table::default();
    table.row(&COLUMNS.map(str::to_owned));
    let mut gaps = Vec::new();
    for (cell, reps, absent) in by_cell(record, summary) {
        if reps.is_empty() {
            let why = absent.clone().unwrap_or_else(|| format!("{}: no repetition was made", cell.cell));
            // A row all the same: a cell that is missing from a table is not missed.
            table.row(&row(record, cell, [""; 5].map(str::to_owned), ["", "", "", &why]));
        }
        for figures in &reps {
            table.repetition(record, figures);
        }
        gaps.extend(absent);
    }
    Export { text: table.0, gaps }
}

#[derive(Default)]
struct Table(String);

impl Table {
    fn repetition(&mut self, record: &RunRecord, figures: &RepFigures<'_>) {
        let rep = figures.rep;
        let which = || {
            [
                role(rep.role).to_owned(),
                rep.rep.to_string(),
                rep.rank.to_string(),
                rep.round.to_string(),
                outcome(&rep.outcome).to_owned(),
            ]
        };
        for (metric, value) in &figures.values {
            let (unit, value) = (metric.unit.symbol(), value.to_string());
            self.row(&row(record, figures.cell, which(), [metric.name, unit, &value, ""]));
        }
        if let Some(gap) = &figures.gap {
            self.row(&row(record, figures.cell, which(), ["", "", "", &words::gap::words(gap)]));
        }
    }

    fn row<const N: usize>(&mut self, fields: &[String; N]) {
        self.0.push_str(&crate::csv::row(fields));
    }
}

fn number(number: Option<u32>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn row(record: &RunRecord, cell: &Cell, which: [String; 5], figure: [&str; 4]) -> [String; 32] {
    let run = &record.run;
    let [role, rep, rank, round, outcome] = which;
    let [metric, unit, value, gap] = figure.map(str::to_owned);
    let said = |axis| cell.said_along(axis).unwrap_or_default().to_owned();
    [
        run.run_id.clone(),
        run.scenario.clone(),
        run.variant.as_ref().map(|variant| variant.name.clone()).unwrap_or_default(),
        cell.target.clone(),
        cell.cell.clone(),
        cell.engine.clone(),
        cell.operation.to_string(),
        cell.access.to_string(),
        cell.cache.to_string(),
        cell.queue_depth.to_string(),
        cell.block_bytes.to_string(),
        role,
        rep,
        rank,
        round,
        outcome,
        metric,
        unit,
        value,
        gap,
        run.datasets.get(cell.dataset).map(|dataset| dataset.layout.clone()).unwrap_or_default(),
        number(cell.streams),
        number(cell.shuffle_buffer),
        cell.checkpoint.as_ref().map(|plan| plan.mode.clone()).unwrap_or_default(),
        cell.tier.as_ref().map(|tier| tier.policy.clone()).unwrap_or_default(),
        cell.copy.as_ref().map(|copy| copy.to.clone()).unwrap_or_default(),
        cell.durability.as_ref().map(ToString::to_string).unwrap_or_default(),
        said(Axis::ShardBytes),
        said(Axis::Members),
        said(Axis::Codec),
        said(Axis::Compressibility),
        cell.write_percent.map(|percent| percent.to_string()).unwrap_or_default(),
    ]
}
