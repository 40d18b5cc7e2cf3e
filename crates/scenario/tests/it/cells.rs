//! The names of cells and the bytes that they read: both are kept in records, and records are compared for ever.

use std::fmt::Write as _;

use plan::{Cell, Plan};

use crate::shipped::{resolved, shipped};

/// Digits of a hash that are shown: enough to tell any two of the cells apart.
const DIGITS: usize = 12;

/// The hash of what a cell reads; none of data that must be listed or written first.
fn hash(plan: &Plan, cell: &Cell) -> String {
    let data = prepare::planned(plan.dataset(cell));
    data.map_or_else(|| "-".to_owned(), |data| dataset::plan_hash(&data, cell)[..DIGITS].to_owned())
}

#[test]
fn cells_of_shipped_scenarios_keep_their_names_coordinates_and_hashes() {
    let mut shown = String::new();
    for (name, source) in shipped() {
        let plan = resolved(&source);
        writeln!(shown, "{name}").unwrap();
        for cell in &plan.cells {
            let axes = cell.axes.iter().map(|axis| format!("{}={}{}", axis.name, axis.value, axis.unit));
            let axes = axes.collect::<Vec<_>>().join(" ");
            writeln!(shown, "  {} {}\n    {axes}", hash(&plan, cell), cell.slug).unwrap();
        }
    }
    insta::assert_snapshot!(shown);
}
