//! Amounts that cannot be meant, refused with the sums that show it.

use std::collections::BTreeSet;

use feed::{format_bytes, format_duration_ns, group_digits};
use plan::{Cell, DatasetSpec, Limit, Measure};

use crate::diagnostic::{Problem, Problems, Span};
use crate::written::{self, Dataset};

use super::schedule::List;

/// More cells are a mistake: with the default 12 s each, these take 33 hours per repetition.
const CELLS_MAX: u128 = 10_000;

/// Files of one dataset: their numbers have 32 bits.
const FILES_MAX: u64 = 4_000_000_000;

/// Bytes of one dataset, 100 PB. A client that writes 100 GB/s takes twelve days for it.
const DATASET_BYTES_MAX: u128 = 100_000_000_000_000_000;

const DAY_NS: u128 = 86_400_000_000_000;

/// A month: nobody waits longer for a verdict.
const RUN_NS_MAX: u128 = 30 * DAY_NS;

/// No client reads faster: 100 GB/s.
const FASTEST_BYTES_PER_NS: u128 = 100;

/// Whether a dataset of so many samples is more than can be written.
pub(super) fn too_much_data(
    written: &Dataset,
    samples: u64,
    (sample_bytes, span): (u64, Option<Span>),
) -> Option<Problem> {
    let bytes = u128::from(samples) * u128::from(sample_bytes);
    let most = if samples > FILES_MAX {
        format!("one dataset has at most {} samples", group_digits(FILES_MAX))
    } else if bytes > DATASET_BYTES_MAX {
        "one dataset has at most 100 PB, which take 12 days to write at 100 GB/s".to_owned()
    } else {
        return None;
    };
    let sum =
        format!("{} samples of {} = {}", group_digits(samples), format_bytes(sample_bytes), of_bytes(bytes));
    let amount = written.samples.span().or(written.size.span());
    let problem =
        Problem::new(format!("{sum}: {most}")).also_if(amount, "this much").also_if(span, "of this size");
    Some(problem.help("write a smaller dataset.size, or other samples"))
}

/// How lists multiply to the number of cells: "12 sample sizes x 9 depths = 108 cells".
fn sum(count: u128, lists: &[List]) -> String {
    let several = || lists.iter().filter(|list| list.length > 1);
    let product: u128 = several().map(|list| list.length as u128).product();
    let cells = feed::counted_noun(u64::try_from(count).unwrap_or(u64::MAX), "cell");
    let mut factors: Vec<String> = several().map(|list| format!("{} {}", list.length, list.what)).collect();
    if factors.is_empty() || !count.is_multiple_of(product) {
        return cells;
    }
    if count > product {
        factors.push(format!("{} ways to read", count / product));
    }
    format!("{} = {cells}", factors.join(" x "))
}

/// Refuses `count` cells, if they are too many, pointing at the lists that multiply them.
pub(super) fn too_many_cells(count: u128, lists: &[List]) -> Option<Problem> {
    if count <= CELLS_MAX {
        return None;
    }
    let most = feed::group_digits(CELLS_MAX as u64);
    let message = format!("{}; at most {most} are measured in one run", sum(count, lists));
    let several = lists.iter().filter(|list| list.length > 1);
    let problem = several.fold(Problem::new(message), |problem, list| {
        problem.also_if(list.span, format!("{} {}", list.length, list.what))
    });
    Some(
        problem
            .help("every list multiplies the cells: shorten the lists, or split them over several scenarios"),
    )
}

/// What a run is made of.
pub(super) struct Run<'a> {
    pub(super) written: &'a written::Measure,
    pub(super) cells: &'a [Cell],
    pub(super) specs: &'a [DatasetSpec],
    pub(super) measure: &'a Measure,
    /// The lists that multiply cells.
    pub(super) lists: &'a [List],
    /// Whether some of the cells are tried alone.
    pub(super) is_search: bool,
}

impl Run<'_> {
    /// Refuses a run of more than 30 days, and a budget in which no round of all cells fits.
    pub(super) fn refuse_long(&self, problems: &mut Problems) {
        // The least that it can take, so that nothing is refused which might have fitted.
        let (cells, round_ns) = self.round();
        let repetitions = self.measure.repetitions;
        let total_ns = round_ns.saturating_mul(u128::from(repetitions));
        let is_searched = self.cells.iter().any(|cell| cell.auto_group.is_some());
        let sum = format!(
            "{}{} x {repetitions} repetitions of {} = {}",
            if is_searched { "at least " } else { "" },
            sum(cells, self.lists),
            duration(round_ns / cells.max(1)),
            duration(total_ns)
        );
        let problem = match self.measure.budget_ns {
            Some(budget_ns) if u128::from(budget_ns) > RUN_NS_MAX => {
                Problem::new("no run lasts more than 30 days, and this budget does")
                    .help("write for example measure.budget = \"2h\"")
            }
            // A budget in which not one round fits would end in a verdict on the cells that happened to
            // come first.
            Some(budget_ns) if round_ns > u128::from(budget_ns) && !self.is_search => {
                let (once, budget) = (duration(round_ns), format_duration_ns(budget_ns));
                Problem::new(format!("{sum}; once each takes {once}, and the budget is {budget}"))
                    .help("write a longer measure.budget, shorter lists, or a shorter measure.duration")
            }
            None if total_ns > RUN_NS_MAX && !self.is_search => {
                Problem::new(format!("{sum}; no run lasts more than 30 days"))
                    .help("write shorter lists, fewer repetitions, or a shorter measure.duration")
            }
            _ => return,
        };
        let length =
            self.written.duration.span().or(self.written.bytes.span()).or(self.written.epochs.span());
        let labels = [
            (self.written.budget.span(), "the budget"),
            (length.or(self.written.warmup.span()), "how long each takes"),
            (self.written.repetitions.span(), "how often"),
        ];
        problems.push(labels.into_iter().fold(problem, |problem, (span, what)| problem.also_if(span, what)));
    }

    /// The number of cells that are measured in any case, and the least time that one repetition of each takes,
    /// nanoseconds. A search may end at its first depth.
    fn round(&self) -> (u128, u128) {
        // Of a search the first depth is sure; how many follow is found out by the run.
        let mut searched = BTreeSet::new();
        let measured =
            self.cells.iter().filter(|cell| cell.auto_group.is_none_or(|group| searched.insert(group)));
        let each = measured.map(|cell| self.least_ns(cell));
        each.fold((0, 0), |(cells, ns), each_ns| (cells + 1, ns + each_ns))
    }

    fn least_ns(&self, cell: &Cell) -> u128 {
        let window_ns = match self.measure.limit {
            Limit::Duration { duration_ns: ns } | Limit::Steps { otherwise_ns: ns, .. } => ns.into(),
            // No rate is known before the run, and a guess would refuse what is possible on a faster
            // storage.
            Limit::Bytes { bytes } => u128::from(bytes) / FASTEST_BYTES_PER_NS,
            Limit::Epochs { epochs } => {
                let bytes = self.specs[cell.dataset].total_bytes().unwrap_or(0);
                u128::from(epochs) * u128::from(bytes) / FASTEST_BYTES_PER_NS
            }
        };
        u128::from(self.measure.warmup_ns) + window_ns
    }
}

fn of_bytes(bytes: u128) -> String {
    match u64::try_from(bytes) {
        Ok(bytes) => format_bytes(bytes),
        Err(_) => format!(
            "{} EB",
            group_digits(u64::try_from(bytes / 1_000_000_000_000_000_000).unwrap_or(u64::MAX))
        ),
    }
}

fn duration(ns: u128) -> String {
    match u64::try_from(ns) {
        Ok(ns) => format_duration_ns(ns),
        Err(_) => format!("{} d", group_digits(u64::try_from(ns / DAY_NS).unwrap_or(u64::MAX))),
    }
}
