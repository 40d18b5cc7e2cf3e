//! What a run costs, by its plan alone: time, bytes read and written.

use std::collections::{BTreeMap, BTreeSet};

use feed::units::{counted_noun, format_bytes, format_duration_ns};
use plan::{DatasetSpec, Limit, Operation, Plan};

/// In place of a time, for repetitions that do not end by time.
const UNTIL_READ: &str = "until the bytes or epochs asked are read";

/// How long a run takes: up to the first look at its fresh repetitions, and where further rounds are needed.
pub(crate) fn time(plan: &Plan) -> String {
    let measure = &plan.measure;
    let of_rounds =
        |rounds: u32| Some(repetitions(plan, rounds).saturating_mul(plan.measure.repetition_ns()?));
    // Both, since the end of a run that stays undecided is later than its announcement, and nobody should
    // be surprised by it.
    let Some((total_ns, most_ns)) = of_rounds(measure.repetitions).zip(of_rounds(measure.fresh_rounds))
    else {
        return UNTIL_READ.to_owned();
    };
    let [total, most] = [total_ns, most_ns].map(format_duration_ns);
    let budget = measure.budget_ns.map_or_else(String::new, format_duration_ns);
    // A search for the depth may end with its first cells.
    let about = if plan.cells.iter().any(|cell| cell.auto_group.is_some()) { "up to" } else { "about" };
    match measure.budget_ns {
        Some(budget_ns) if budget_ns < total_ns => {
            format!("{budget}, the budget: what does not fit of about {total} is left out")
        }
        Some(budget_ns) if budget_ns < most_ns => {
            format!("{about} {total}, while a verdict is open up to the budget of {budget}")
        }
        _ if most_ns > total_ns => format!("{about} {total}, {most} while a verdict is open"),
        _ => format!("{about} {total}"),
    }
}

/// How long so many repetitions take at most, within a budget of their own.
pub(crate) fn time_of_more(plan: &Plan, repetitions: u64) -> String {
    let Some(each_ns) = plan.measure.repetition_ns() else { return UNTIL_READ.to_owned() };
    let most_ns = each_ns.saturating_mul(repetitions);
    let most_ns = plan.measure.budget_ns.map_or(most_ns, |budget_ns| most_ns.min(budget_ns));
    format!("{} at most, while a verdict is open", format_duration_ns(most_ns))
}

/// How long a search takes, which tries as many values as it takes.
pub(crate) fn search_time(plan: &Plan) -> String {
    let each = plan.measure.repetition_ns().map_or_else(|| "a repetition".to_owned(), format_duration_ns);
    format!(
        "{each} for each value that is tried, {} x that for each side of the edge",
        plan.measure.repetitions
    )
}

/// How long variants take, in words, and in nanoseconds where that is known. They are measured in the rounds of the first.
pub(crate) fn variants_time(plans: &[Plan]) -> (String, Option<u64>) {
    let Some(first) = plans.first() else { return ("nothing".to_owned(), Some(0)) };
    // Variants make no fresh rounds: they are compared and not judged.
    let rounds = first.cells.len() as u64 * plans.len() as u64 * u64::from(first.measure.repetitions);
    let budget_ns = first.measure.budget_ns;
    let most_ns = first.measure.repetition_ns().map(|ns| ns.saturating_mul(rounds));
    let words = match (most_ns, budget_ns) {
        (Some(most_ns), Some(budget_ns)) if budget_ns < most_ns => {
            let [budget, most] = [budget_ns, most_ns].map(format_duration_ns);
            format!("{budget}, the budget: what does not fit of about {most} is left out")
        }
        (Some(most_ns), _) => format!("about {}", format_duration_ns(most_ns)),
        (None, _) => UNTIL_READ.to_owned(),
    };
    (words, most_ns.map(|ns| budget_ns.map_or(ns, |budget_ns| ns.min(budget_ns))))
}

/// How long it measures at most; `None` where that depends on the storage.
pub(crate) fn most_ns(plan: &Plan) -> Option<u64> {
    let planned_ns =
        repetitions(plan, plan.measure.fresh_rounds).saturating_mul(plan.measure.repetition_ns()?);
    Some(plan.measure.budget_ns.map_or(planned_ns, |budget_ns| planned_ns.min(budget_ns)))
}

/// Repetitions of all cells, with so many rounds of fresh ones.
pub(crate) fn repetitions(plan: &Plan, rounds: u32) -> u64 {
    let made = plan.cells.len() as u64 * u64::from(plan.measure.repetitions);
    made + fresh_cells(plan) * u64::from(rounds)
}

/// What a run reads up to the first look at its fresh repetitions, and what it writes. Where repetitions end by time or by
/// steps, the bytes are those of a storage that gives as much as the line.
pub(crate) fn bytes(plan: &Plan) -> String {
    let made = plan.cells.iter().map(|cell| (cell, plan.measure.repetitions));
    let each: Option<Vec<f64>> =
        made.map(|(cell, times)| Some(bytes_of(plan, cell)? * f64::from(times))).collect();
    let Some(each) = each.filter(|each| !each.is_empty()) else {
        return "what it reads is known once the folder is listed".to_owned();
    };
    // Which cells are measured afresh is not known yet: they are counted like the others in the mean.
    let fresh = fresh_cells(plan) as f64 / each.len() as f64;
    let read = format_bytes((each.iter().sum::<f64>() * (1.0 + fresh)).round() as u64);
    let read = match plan.measure.limit {
        Limit::Bytes { .. } | Limit::Epochs { .. } => format!("reads about {read}"),
        Limit::Duration { .. } | Limit::Steps { .. } => {
            format!("reads about {read} where the storage gives what the line takes")
        }
    };
    let places = plan.places().into_iter().filter(|(target, _)| plan.targets[*target].config.is_storage());
    let written: u64 = places.filter_map(|(_, dataset)| plan.datasets[dataset].total_bytes()).sum();
    if written == 0 { read } else { format!("{read}, writes {} at most", format_bytes(written)) }
}

/// What one repetition of a cell reads; `None` where that is not known before the data is listed.
fn bytes_of(plan: &Plan, cell: &plan::Cell) -> Option<f64> {
    let spec = plan.dataset(cell);
    if !plan.need.asks_rate() {
        // A checkpoint is read back once and whole, and its writing reads nothing.
        let is_restored = matches!(cell.task, plan::Task::Restore(_));
        return if is_restored { Some(spec.total_bytes()? as f64) } else { Some(0.0) };
    }
    let at_line = |window_ns: u64| {
        let sample_bytes = match spec {
            DatasetSpec::Generate(generate) => Some(generate.sample_bytes),
            DatasetSpec::Existing(existing) => existing.sample_bytes,
        };
        let sample_bytes = sample_bytes.map(|bytes| bytes as f64).or_else(|| plan.need.sample_bytes());
        let seconds = (plan.measure.warmup_ns + window_ns) as f64 / 1e9;
        plan.need.line_bps(sample_bytes.unwrap_or(1.0)) * seconds
    };
    match plan.measure.limit {
        Limit::Bytes { bytes } => Some(bytes as f64),
        Limit::Epochs { epochs } => Some(spec.total_bytes()? as f64 * epochs as f64),
        Limit::Duration { duration_ns: window_ns } | Limit::Steps { otherwise_ns: window_ns, .. } => {
            Some(at_line(window_ns))
        }
    }
}

/// What is written for checkpoints, target by target.
pub(crate) fn checkpoints(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let made = |cell: &plan::Cell| cell.writes_checkpoints().cloned().map(|of| (of.to, of));
    let by_target: BTreeMap<usize, plan::Checkpoint> = plan.cells.iter().filter_map(made).collect();
    by_target.into_values().map(|of| {
        format!(
            "{}: {} ({} in {}), again and again; {} of them lie there at most, and none in the end",
            plan.targets[of.to].name,
            of.label,
            format_bytes(of.bytes()),
            counted_noun(u64::from(of.files), "file"),
            of.keep + 1,
        )
    })
}

/// What loads write over, target by target.
pub(crate) fn overwrites(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let parts = |cell: &plan::Cell| match cell.operation() {
        Operation::WriteFile => "files",
        Operation::Names => "names beside the files",
        _ => "blocks",
    };
    // What an emulated server holds takes none of the user's disk.
    let keeps = |target: &plan::Target| !target.is_served_here() && target.config.is_storage();
    let writes = plan.cells.iter().filter(|cell| cell.operation().changes_storage());
    let writes = writes.filter(move |cell| keeps(&plan.targets[cell.target]));
    let places: BTreeSet<(usize, usize, &str)> =
        writes.map(|cell| (cell.target, cell.dataset, parts(cell))).collect();
    places.into_iter().map(|(target, dataset, parts)| {
        let bytes = plan.datasets[dataset].total_bytes().map(|bytes| format!(" of {}", format_bytes(bytes)));
        format!(
            "{}: {parts} of the dataset{}, again and again for as long as it is measured; it grows by nothing",
            plan.targets[target].name,
            bytes.unwrap_or_default(),
        )
    })
}

/// What is copied, target by target.
pub(crate) fn copies(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let copies = plan.cells.iter().filter_map(|cell| Some((cell, cell.task.copy()?)));
    copies.map(|(cell, copy)| {
        let whole = plan.dataset(cell).total_bytes();
        let bytes =
            whole.zip(copy.size_bytes).map(|(whole, size)| whole.min(size)).or(copy.size_bytes).or(whole);
        let amount = bytes
            .map_or_else(|| "the whole dataset".to_owned(), |bytes| format!("about {}", format_bytes(bytes)));
        let left = if copy.keep { "the last one stays" } else { "none stays" };
        format!("{}: a copy of {amount} in each repetition; {left}", plan.targets[copy.to].name)
    })
}

/// Cells of all storages that are measured afresh at most.
pub(crate) fn fresh_cells(plan: &Plan) -> u64 {
    let storages = (0..plan.targets.len()).filter(|index| plan.targets[*index].config.is_storage());
    let cells = |index| plan.cells.iter().filter(|cell| cell.target == index).count();
    // Checkpoints that are asked for have a cell each that writes and restores, besides those of the reads.
    let parts = plan.need.checkpoint.as_ref().map_or(0, |of| 1 + usize::from(of.restore_within_ns.is_some()));
    let most = if plan.need.asks_rate() { analysis::FRESH_CELLS_MAX + parts } else { parts };
    // Nothing is decided by a server of feedline's own: its reads are shown once.
    let most = |index: usize| if plan.targets[index].emulate.is_some() { most.min(1 + parts) } else { most };
    let fresh = |index| cells(index).min(most(index)) as u64;
    storages.map(fresh).sum()
}
