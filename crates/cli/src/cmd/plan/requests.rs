//! Requests that a run makes of a service that charges for them, and what they cost.

use feed::units::{format_bytes, format_duration_ns, group_digits};
use plan::{Cell, Charged, Limit, Plan, Price, Target, Task};

use super::asked;

/// Lines for each such target: of the dataset, of the reading and of the copies.
pub(super) fn rows(plan: &Plan) -> Vec<String> {
    let charged = |(index, target): (usize, &Target)| Some((index, target.config.charged()?));
    let targets = plan.targets.iter().enumerate().filter_map(charged);
    targets.flat_map(|(index, charged)| of_target(plan, index, charged)).collect()
}

fn of_target(plan: &Plan, index: usize, charged: Charged) -> Vec<String> {
    let target = &plan.targets[index];
    let cells: Vec<&Cell> = plan.cells.iter().filter(|cell| cell.target == index).collect();
    let writes = objects_written(plan, &cells);
    let mut rows = Vec::new();
    if let Some(objects) = writes {
        rows.push(format!(
            "{}: {} objects to be put, unless they are there already; each is put by one request, or by several parts \
             where it is large",
            target.name,
            group_digits(objects)
        ));
    }
    // Copies apart from the rest: they run as fast as the storages let them, so that no rate of theirs
    // follows from the line.
    let copied = Copied::of(plan, index);
    rows.extend(copied.words(&target.name));
    let Some(rates) = at_the_line(plan, &cells, charged, &copied) else {
        return rows;
    };
    for (ends, kind) in [(rates.reads, "GET and HEAD"), (rates.puts, "PUT")] {
        let Some(ends) = ends else { continue };
        let [least, most] = ends.map(|rate| group_digits(rate.ceil() as u64));
        let rate = if least == most { most } else { format!("{least} to {most}") };
        rows.push(format!("{}: {rate} {kind} a second at the line", target.name));
    }
    rows.extend(
        target
            .price
            .as_ref()
            .map(|price| estimate(plan, target, price, &rates, writes.unwrap_or(0) + copied.writes as u64)),
    );
    rows
}

/// Objects of all datasets that the cells read and feedline writes.
fn objects_written(plan: &Plan, cells: &[&Cell]) -> Option<u64> {
    let mut datasets: Vec<usize> = cells.iter().map(|cell| cell.dataset).collect();
    datasets.sort_unstable();
    datasets.dedup();
    let objects = datasets.into_iter().filter_map(|dataset| asked::objects(&plan.datasets[dataset]));
    objects.reduce(u64::saturating_add)
}

/// Requests of copies from or to a target, which no line paces: a repetition is a copy.
#[derive(Default)]
struct Copied {
    reads: f64,
    bytes: f64,
    /// Objects that are put.
    writes: f64,
}

impl Copied {
    fn of(plan: &Plan, target: usize) -> Self {
        let mut all = Self::default();
        let repetitions = f64::from(plan.measure.repetitions);
        for (cell, copy) in plan.cells.iter().filter_map(|cell| Some((cell, cell.task.copy()?))) {
            let Some(one) = asked::copy(cell, copy, &plan.datasets[cell.dataset]) else { continue };
            if cell.target == target {
                all.reads += one.reads * repetitions;
                all.bytes += one.bytes * repetitions;
            }
            if copy.to == target {
                all.writes += one.writes * repetitions;
            }
        }
        all
    }

    fn words(&self, target: &str) -> Option<String> {
        let some =
            |count: f64, of: &str| (count > 0.0).then(|| format!("{} {of}", group_digits(count as u64)));
        let words: Vec<String> =
            [some(self.reads, "GET"), some(self.writes, "objects put")].into_iter().flatten().collect();
        (!words.is_empty()).then(|| format!("{target}: {} by all copies", words.join(" and ")))
    }
}

/// What the cells of a target ask for when they run just at the line.
struct Rates {
    /// The fewest and the most requests a second that read; absent where none does.
    reads: Option<[f64; 2]>,
    /// The same of those that put an object in the place of another.
    puts: Option<[f64; 2]>,
    /// Requests of all repetitions; absent where their length is not a time.
    total: Option<Total>,
}

struct Total {
    requests: f64,
    puts: f64,
    /// Bytes read.
    bytes: f64,
    ns: u64,
}

/// What a cell asks for in a second.
struct OfCell {
    reads: f64,
    puts: f64,
    read_bps: f64,
}

/// The least and the most of what some cells have; `None` where none has any.
fn ends(rates: &[OfCell], of: fn(&OfCell) -> f64) -> Option<[f64; 2]> {
    let some = || rates.iter().map(of).filter(|rate| *rate > 0.0);
    Some([some().reduce(f64::min)?, some().reduce(f64::max)?])
}

fn at_the_line(plan: &Plan, cells: &[&Cell], charged: Charged, copied: &Copied) -> Option<Rates> {
    let of_cell = |cell: &&Cell| -> Option<OfCell> {
        if matches!(cell.task, Task::Copy(_)) {
            return None;
        }
        let asked = asked::sample(cell, &plan.datasets[cell.dataset], charged)?;
        let samples_per_s = plan.need.line_samples_per_s(asked.bytes);
        let read_bps = if asked.reads > 0.0 { plan.need.line_bps(asked.bytes) } else { 0.0 };
        Some(OfCell { reads: samples_per_s * asked.reads, puts: samples_per_s * asked.writes, read_bps })
    };
    let rates: Vec<OfCell> = cells.iter().filter_map(of_cell).collect();
    if rates.is_empty() {
        return None;
    }
    let total = match plan.measure.limit {
        Limit::Duration { duration_ns } | Limit::Steps { otherwise_ns: duration_ns, .. } => {
            let each_ns = plan.measure.warmup_ns.saturating_add(duration_ns);
            // The confirmation repeats one of the cells.
            let repetitions = u64::from(plan.measure.repetitions);
            let ns = each_ns.saturating_mul(repetitions).saturating_mul(rates.len() as u64 + 1);
            let seconds = each_ns as f64 / 1e9 * repetitions as f64;
            let all = |of: fn(&OfCell) -> f64| {
                let (sum, most) =
                    (rates.iter().map(of).sum::<f64>(), rates.iter().map(of).fold(0.0, f64::max));
                (sum + most) * seconds
            };
            let requests = all(|rate| rate.reads) + copied.reads;
            let bytes = all(|rate| rate.read_bps) + copied.bytes;
            Some(Total { requests, puts: all(|rate| rate.puts), bytes, ns })
        }
        Limit::Bytes { .. } | Limit::Epochs { .. } => None,
    };
    let (reads, puts) = (ends(&rates, |rate| rate.reads), ends(&rates, |rate| rate.puts));
    Some(Rates { reads, puts, total })
}

fn estimate(plan: &Plan, target: &Target, price: &Price, rates: &Rates, puts: u64) -> String {
    let puts = puts as f64 + rates.total.as_ref().map_or(0.0, |total| total.puts);
    let written = puts / 1000.0 * price.per_1000_writes;
    let over = if rates.puts.is_some() { " and over it" } else { "" };
    // Without a length no sum is invented: bytes and epochs end a repetition after as many requests as they
    // take, however fast.
    let Some(total) = &rates.total else {
        return format!(
            "{}: {written:.2} {} to write the dataset; what the cells do has no length in time to estimate",
            target.name, price.currency
        );
    };
    let read = total.requests / 1000.0 * price.per_1000_reads;
    let moved = total.bytes / 1e9 * price.per_gb;
    let budget =
        if plan.measure.budget_ns.is_some() { ", and the budget does not end the run before" } else { "" };
    format!(
        "{}: about {:.2} {}: {written:.2} to write the dataset{over}, {read:.2} for {} requests, {moved:.2} for {} read; by \
         the prices of the scenario, if every cell runs just at the line for {}{budget}; a faster store costs more in \
         proportion",
        target.name,
        written + read + moved,
        price.currency,
        group_digits(total.requests as u64),
        format_bytes(total.bytes as u64),
        format_duration_ns(total.ns),
    )
}
