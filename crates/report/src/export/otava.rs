//! CSV for Apache Otava, which looks for change points: one row for each run, one column for each figure.

use std::collections::BTreeMap;

use analysis::Summary;

use super::Export;
use super::measure::measures;

/// Runs in the order of time. A column stands only where every run has its figure: Otava takes a column with an empty
/// field for text.
pub fn otava(runs: &[Summary]) -> Export {
    let mut runs: Vec<&Summary> = runs.iter().collect();
    // By name where two began in one second, so that the order does not depend on the caller's.
    runs.sort_by(|a, b| (&a.head.started, &a.head.run_id).cmp(&(&b.head.started, &b.head.run_id)));
    let rows: Vec<BTreeMap<String, f64>> = runs.iter().map(|run| figures(run)).collect();
    let mut columns: Vec<String> = Vec::new();
    let mut gaps = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for name in rows.iter().flat_map(BTreeMap::keys) {
        *seen.entry(name).or_default() += 1;
    }
    for (name, count) in seen {
        if count == rows.len() {
            columns.push(name.to_owned());
        } else {
            gaps.push(format!("{name}: left out, {count} of {} runs have it", rows.len()));
        }
    }
    let head = ["time", "commit", "run"].map(str::to_owned).into_iter().chain(columns.iter().cloned());
    let mut text = row(head);
    for (run, figures) in runs.iter().zip(&rows) {
        let commit = run.head.tool.commit.clone().unwrap_or_else(|| "unknown".to_owned());
        let names = [run.head.started.clone(), commit, run.head.run_id.clone()];
        let values = columns.iter().filter_map(|name| figures.get(name)).map(ToString::to_string);
        text.push_str(&row(names.into_iter().chain(values)));
    }
    Export { text, gaps }
}

fn figures(run: &Summary) -> BTreeMap<String, f64> {
    let of_cell = |cell: &analysis::CellSummary| {
        let name = cell.cell.cell.clone();
        let named = move |one: super::measure::Measure| (format!("{name} {}", one.tracked.name), one.value);
        measures(cell).0.into_iter().map(named)
    };
    run.cells.iter().flat_map(of_cell).collect()
}

fn row(fields: impl Iterator<Item = String>) -> String {
    crate::csv::row(&fields.map(|field| super::line(&field)).collect::<Vec<_>>())
}
