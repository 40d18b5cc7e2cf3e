//! What bounds a run without a file: two minutes, and a tenth of the free space.

use std::fmt::Write as _;

use plan::{Limit, Load, OVERHEAD_NS, Plan};
use scenario::SIZE_DEFAULT_BYTES;

use crate::args::InputArgs;
use crate::cost::repetitions;

/// The budget where `--budget` does not set it.
// What somebody waits who types a command to see what it does.
const BUDGET_NS: u64 = 120_000_000_000;

/// A run without a file writes at most one part in this many of the free space.
// The disk under test may be that of the system.
const FREE_PARTS: u64 = 10;

/// Share of the budget that is planned for: what a machine does beside the windows takes the rest.
const PLANNED_PERCENT: u64 = 90;

/// Shortest repetition, so that threads and queues come into their stride.
const REPETITION_NS_MIN: u64 = 300_000_000;

/// A repetition warms up for one part in this many, as by default (2 s of 12 s).
const WARMUP_PARTS: u64 = 6;

/// The size of a dataset that is written `count` times, as a line of a scenario. It is a power of two, so that a dataset
/// that is there still fits when a little more or less is free. `None` where the user says how much, and where the default
/// is small enough.
pub(crate) fn dataset(args: &InputArgs, free_bytes: Option<u64>, count: u64) -> Option<String> {
    let most = free_bytes? / FREE_PARTS / count.max(1);
    if says_data(args) || most >= SIZE_DEFAULT_BYTES {
        return None;
    }
    let bytes = most.checked_ilog2().map_or(1, |power| 1_u64 << power);
    Some(format!("dataset.size = \"{bytes} B\"\n"))
}

/// The budget, and windows with which all that is planned fits it, as lines of a scenario. `None` where the user says how
/// long is measured, and for paced and training loads.
pub(crate) fn measure(args: &InputArgs, plan: &Plan) -> Option<String> {
    let is_closed = plan.cells.iter().all(|cell| cell.load == Load::Closed);
    let Limit::Duration { duration_ns } = plan.measure.limit else { return None };
    // A paced load and a job take as long as their arrivals and steps; shortening them would ask another
    // question.
    if says_windows(args) || !is_closed {
        return None;
    }
    let budget_ns = plan.measure.budget_ns.unwrap_or(BUDGET_NS);
    let each_ns = budget_ns / 100 * PLANNED_PERCENT / repetitions(plan, plan.measure.repetitions).max(1);
    let each_ns = each_ns.saturating_sub(OVERHEAD_NS).max(REPETITION_NS_MIN);
    let mut lines =
        if args.budget.is_some() { String::new() } else { "measure.budget = \"2m\"\n".to_owned() };
    if each_ns < plan.measure.warmup_ns + duration_ns {
        let warmup_ms = each_ns / WARMUP_PARTS / 1_000_000;
        let duration_ms = each_ns / 1_000_000 - warmup_ms;
        let _ = write!(lines, "measure.warmup = \"{warmup_ms}ms\"\nmeasure.duration = \"{duration_ms}ms\"\n");
    }
    Some(lines)
}

/// The bounds of a run without a file that its command line does not set, in words; `None` where it sets all.
pub(crate) fn words(args: &InputArgs) -> Option<String> {
    let time = (args.budget.is_none() && !says_windows(args)).then_some("a screen of 2 min");
    let data = (!says_data(args)).then_some("data of at most a tenth of free space");
    let bounds: Vec<&str> = time.into_iter().chain(data).collect();
    let others = "\n      --budget, --set measure and --set dataset.size say otherwise";
    (!bounds.is_empty()).then(|| format!("NOTE  without a file: {}{others}", bounds.join(", ")))
}

/// Whether the command line says which data are read.
fn says_data(args: &InputArgs) -> bool {
    let says = ["dataset", "dataset.size", "dataset.samples", "dataset.source"];
    args.existing || says.iter().any(|key| sets(args, key))
}

/// Whether the command line says how long is measured, other than by a budget.
fn says_windows(args: &InputArgs) -> bool {
    args.set.iter().any(|set| set.trim_start().starts_with("measure"))
}

/// Whether the command line sets this key.
fn sets(args: &InputArgs, key: &str) -> bool {
    args.set.iter().filter_map(|set| set.split_once('=')).any(|(set, _)| set.trim() == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_what_is_free_is_written_and_little_changes_do_not_change_it() {
        let size = |free_bytes: u64, count| dataset(&InputArgs::default(), Some(free_bytes), count);
        let line = |bytes: u64| Some(format!("dataset.size = \"{bytes} B\"\n"));
        assert_eq!(size(57_000_000_000, 1), line(4 << 30));
        assert_eq!(size(50_000_000_000, 1), size(57_000_000_000, 1));
        assert_eq!(size(57_000_000_000, 4), line(1 << 30), "four datasets share it");
        assert_eq!((size(86_000_000_000, 1), size(0, 1)), (None, line(1)));
        // A server does not say what is free.
        assert_eq!(dataset(&InputArgs::default(), None, 1), None);
        let says = |set: &str| InputArgs { set: vec![set.to_owned()], ..InputArgs::default() };
        assert_eq!(dataset(&says("dataset.size=1 GB"), Some(1), 1), None);
        assert!(dataset(&says("dataset.seed=2"), Some(1), 1).is_some());
    }

    #[test]
    fn what_the_command_line_says_is_no_bound_of_ours() {
        let said =
            |args: InputArgs| words(&args).map(|words| words.lines().next().unwrap_or_default().to_owned());
        let args = InputArgs::default;
        let both = "NOTE  without a file: a screen of 2 min, data of at most a tenth of free space";
        assert_eq!(said(args()).as_deref(), Some(both));
        let of_data = "NOTE  without a file: data of at most a tenth of free space";
        assert_eq!(said(InputArgs { budget: Some("5m".to_owned()), ..args() }).as_deref(), Some(of_data));
        let of_time = "NOTE  without a file: a screen of 2 min";
        assert_eq!(said(InputArgs { existing: true, ..args() }).as_deref(), Some(of_time));
        assert_eq!(said(InputArgs { budget: Some("5m".to_owned()), existing: true, ..args() }), None);
    }
}
