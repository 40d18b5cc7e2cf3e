//! The edge that `size` searched: the last value that meets the target, and the first that misses it.

use feed::Interval;
use record::axis::{self, alike};
use record::{Axis, Cell, Datasets};

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::cells::Cells;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::gap::Gap;
use crate::cell::rate::Rate;
use crate::curve::Panel;
use crate::verdict::way_apart::WayApart;

/// What a search along one axis found on one target, in one way of reading it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizing {
    /// Name of the target.
    pub target: String,
    /// Its engine.
    pub engine: String,
    /// What sets the way in which it was read apart from the others that were searched.
    pub apart: WayApart,
    /// What was searched: `accelerators`, `readers`, `queue_depth`, `prefetch`.
    pub axis: String,
    /// The hardest value that met the target: the most accelerators, the fewest readers.
    pub meets: Option<Edge>,
    /// The easiest value that missed it.
    // Kept beside the value that meets: an edge of which one side is unknown is a bound and no edge.
    pub misses: Option<Edge>,
    /// Utilization that had to be met.
    pub threshold: f64,
    /// Values that were tried.
    pub tried: usize,
}

/// One side of the edge.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The searched value.
    pub value: u32,
    /// Slug of the cell.
    pub cell: String,
    /// Its utilization: of the fresh repetitions, where there are any; or why there is none, which misses.
    pub au: Result<Rate, NoUtilization>,
    /// What forbids to rest anything on it.
    pub doubt: Option<Flag>,
}

/// Why a cell of a search has no utilization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoUtilization {
    /// Its repetitions failed, or were not made.
    Unmeasured(Gap),
    /// The record holds no job.
    NoJob,
}

/// Why an edge may lie elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EdgeDoubt<'a> {
    /// Nothing may rest on one of its sides.
    Flagged(&'a Edge, &'a Flag),
    /// The interval of a side reaches the target, or it has none.
    Reached,
}

impl Edge {
    fn meets(&self, threshold: f64) -> bool {
        self.au.as_ref().is_ok_and(|au| au.mean >= threshold)
    }

    fn interval(&self) -> Option<Interval> {
        self.au.as_ref().ok()?.interval
    }

    fn flagged(&self) -> Option<EdgeDoubt<'_>> {
        self.doubt.as_ref().map(|flag| EdgeDoubt::Flagged(self, flag))
    }
}

impl Sizing {
    /// Whether both sides were measured again, nothing forbids to rest on them, and the interval of neither reaches the
    /// target.
    pub fn is_sure(&self) -> bool {
        self.meets.is_some() && self.misses.is_some() && self.doubt().is_none()
    }

    /// Why the edge may lie elsewhere; `None` where one side is missing, too.
    pub fn doubt(&self) -> Option<EdgeDoubt<'_>> {
        let (met, missed) = self.meets.as_ref().zip(self.misses.as_ref())?;
        if let Some(doubt) = met.flagged().or_else(|| missed.flagged()) {
            return Some(doubt);
        }
        let is_met = met.interval().is_some_and(|interval| interval.low >= self.threshold);
        // Repetitions that failed miss for certain: there is no interval that could reach over the target.
        let is_missed = missed.au.is_err() || missed.interval().is_some_and(|one| one.high < self.threshold);
        (!is_met || !is_missed).then_some(EdgeDoubt::Reached)
    }
}

/// One for each row of cells.
pub(crate) fn of(cells: &Cells<'_>, axis: &str) -> Vec<Sizing> {
    let planned: Vec<&Cell> = cells.all.iter().map(|cell| &cell.cell).collect();
    let rows = search_rows(cells, &planned, axis);
    let tried = |row: &Vec<SearchValue>| row.iter().map(|one| &cells.all[one.cell]).collect();
    let rows: Vec<Vec<&CellSummary>> = rows.iter().map(tried).collect();
    let ways: Vec<(&str, Panel)> =
        rows.iter().map(|row| (row[0].cell.target.as_str(), Panel::of(row[0]))).collect();
    let of_row = |(row, (target, way)): (&Vec<&CellSummary>, &(&str, Panel))| {
        let of_target = ways.iter().filter(|(other, _)| other == target);
        let others: Vec<&Panel> = of_target.map(|(_, other)| other).collect();
        sizing(row, axis, WayApart::of(way, &others))
    };
    rows.iter().zip(&ways).filter_map(of_row).collect()
}

/// One value of a row along which an edge is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchValue {
    /// The value.
    pub value: u32,
    /// Index of the cell that has it.
    pub cell: usize,
}

/// Training cells that differ in the searched value alone, as rows from the easiest value to the hardest: the most
/// accelerators are the hardest, and the fewest of anything else.
///
/// By default readers bring their own prefetch: only where several were asked for of one number of readers is it a
/// coordinate of its own.
pub fn search_rows(run: &impl Datasets, cells: &[&Cell], axis: &str) -> Vec<Vec<SearchValue>> {
    let axis = Axis::named(axis);
    let rows = grouped(run, cells, axis, true);
    let repeats = |row: &Vec<SearchValue>| row.windows(2).any(|two| two[0].value == two[1].value);
    if axis == Axis::Readers && rows.iter().any(repeats) { grouped(run, cells, axis, false) } else { rows }
}

fn grouped(
    run: &impl Datasets,
    cells: &[&Cell],
    axis: Axis,
    prefetch_follows: bool,
) -> Vec<Vec<SearchValue>> {
    let mut rows: Vec<Vec<SearchValue>> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let Some(value) = value(cell, axis) else { continue };
        let one = SearchValue { value, cell: index };
        let but = may_differ(cell, axis, prefetch_follows);
        match rows.iter_mut().find(|row| alike(run, cells[row[0].cell], cell, &but)) {
            Some(row) => row.push(one),
            None => rows.push(vec![one]),
        }
    }
    for row in &mut rows {
        row.sort_by_key(|one| one.value);
        // More readers, depth or prefetch make it easier; more accelerators make it harder.
        if axis != Axis::Accelerators {
            row.reverse();
        }
    }
    rows
}

/// The searched axis and what follows from it: threads, connections, streams, and the depth of readers.
fn may_differ(cell: &Cell, axis: Axis, prefetch_follows: bool) -> Vec<Axis> {
    let has_readers = cell.training.as_ref().is_some_and(|job| job.readers.is_some());
    let mut but = vec![axis];
    // The depth of readers is their number, and follows; a depth that was set is searched for itself.
    but.extend(axis::CURVE.iter().filter(|axis| **axis != Axis::Depth || has_readers));
    but.extend((prefetch_follows && axis == Axis::Readers).then_some(Axis::Prefetch));
    but
}

fn sizing(cells: &[&CellSummary], axis: &str, apart: WayApart) -> Option<Sizing> {
    let first = cells.first()?;
    let threshold = first.cell.training.as_ref()?.threshold;
    let edges: Vec<Edge> = cells.iter().filter_map(|cell| edge(cell, axis)).collect();
    let meets = |edge: &&Edge| edge.meets(threshold);
    // What misses once is not met behind it: storage that wavers at its edge feeds what it always fed.
    let met = edges.iter().take_while(meets).count();
    Some(Sizing {
        target: first.cell.target.clone(),
        engine: first.engine_label(),
        apart,
        axis: axis.to_owned(),
        tried: edges.len(),
        misses: edges.get(met).cloned(),
        meets: met.checked_sub(1).and_then(|last| edges.get(last).cloned()),
        threshold,
    })
}

/// Fresh repetitions count where there are any, and those that failed miss.
fn edge(cell: &CellSummary, axis: &str) -> Option<Edge> {
    let value = value(&cell.cell, Axis::named(axis))?;
    // The search itself measures each value once and follows what it finds, so that its last values are chosen by
    // chance too. Fresh repetitions are not.
    let measurement = cell.confirmed.as_ref().unwrap_or(&cell.measured);
    let (au, doubt) = match measurement {
        Measurement::Figures(figures) => {
            let au = figures.training.as_ref().map(|training| training.au);
            let grave = figures.flags.iter().find(|flag| flag.gravity() != Gravity::Informs);
            (au.ok_or(NoUtilization::NoJob), grave.cloned())
        }
        Measurement::Failed { reason, .. } | Measurement::NotRun { reason } => {
            (Err(NoUtilization::Unmeasured(reason.clone())), None)
        }
        Measurement::Operations(_) => return None,
    };
    Some(Edge { value, cell: cell.cell.cell.clone(), au, doubt })
}

fn value(cell: &Cell, axis: Axis) -> Option<u32> {
    let training = cell.training.as_ref()?;
    match axis {
        Axis::Accelerators => Some(training.accelerators),
        Axis::Readers => training.readers,
        Axis::Depth => Some(cell.queue_depth),
        Axis::Prefetch => Some(training.prefetch),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use record::Role;

    use super::*;
    use crate::Stall;
    use crate::fixture::Builder;
    use crate::fixture::{cell_of_job, job_rep};
    use crate::{Summary, summarise};

    /// A search over accelerators: what was tried once, and what was measured again, with utilizations.
    fn searched(tried: &[(u32, f64)], again: &[(u32, [f64; 3])]) -> (Vec<Sizing>, Summary) {
        let mut builder = Builder::new();
        builder.run.size = Some("accelerators".to_owned());
        for number in 1..=32 {
            let name = format!("a{number}");
            builder.cell(&name, "disk", 8);
            builder.edit_cell(&name, cell_of_job);
            builder.edit_cell(&name, |cell| cell.training.as_mut().unwrap().accelerators = number);
        }
        let stalled = |au: f64| Stall { storage: 1.0 - au, ..Stall::default() };
        for (number, au) in tried {
            builder.push(job_rep(&format!("a{number}"), 0, stalled(*au), 4.0));
        }
        for (number, aus) in again {
            for (at, au) in (0..).zip(aus) {
                let mut rep = job_rep(&format!("a{number}"), at, stalled(*au), 4.0);
                rep.role = Role::Confirm;
                builder.push(rep);
            }
        }
        let summary = summarise(&builder.record());
        (summary.sizings.clone(), summary)
    }

    #[test]
    fn the_edge_lies_between_the_last_that_meets_and_the_first_that_misses() {
        let tried = [(8, 0.99), (16, 0.97), (32, 0.66), (23, 0.89), (22, 0.93)];
        let (found, summary) = searched(&tried, &[(22, [0.93, 0.931, 0.932]), (23, [0.889, 0.888, 0.89])]);
        let [one] = &found[..] else { panic!("{found:?}") };
        let edge = |edge: &Option<Edge>| edge.as_ref().unwrap().value;
        assert_eq!((edge(&one.meets), edge(&one.misses), one.tried, one.is_sure()), (22, 23, 5, true));
        let rests_on = |cell| crate::verdict::rests_on(&[], &found, cell);
        assert!(rests_on("a22") && rests_on("a23") && !rests_on("a16"));
        assert_eq!((summary.cells.len(), summary.verdicts.len()), (5, 0), "what was not needed is no row");
        let flags = summary.cells.iter().filter_map(CellSummary::figures).flat_map(|figures| &figures.flags);
        assert!(flags.into_iter().all(|flag| !matches!(flag, crate::Flag::Missing { .. })), "one try is all");
    }

    #[test]
    fn an_interval_that_reaches_the_target_is_not_sure() {
        let tried = [(8, 0.99), (9, 0.91), (10, 0.85)];
        let (found, _) = searched(&tried, &[(9, [0.92, 0.89, 0.91]), (10, [0.85, 0.851, 0.852])]);
        assert!(!found[0].is_sure());
        assert_eq!(found[0].doubt(), Some(EdgeDoubt::Reached));
    }

    #[test]
    fn rows_without_an_edge_have_the_end_that_was_tried() {
        let ends = |tried: &[(u32, f64)]| {
            let (found, _) = searched(tried, &[]);
            let value = |edge: &Option<Edge>| edge.as_ref().map(|edge| edge.value);
            (value(&found[0].meets), value(&found[0].misses))
        };
        assert_eq!(ends(&[(8, 0.99), (32, 0.99)]), (Some(32), None));
        assert_eq!(ends(&[(8, 0.2), (1, 0.5)]), (None, Some(1)));
    }

    #[test]
    fn what_is_met_behind_a_miss_was_luck() {
        let (found, _) = searched(&[(8, 0.99), (12, 0.89), (14, 0.91)], &[]);
        assert_eq!(found[0].meets.as_ref().unwrap().value, 8);
    }

    /// Every reader of shards has a stream of its own, so that streams follow the readers.
    #[test]
    fn readers_that_stream_shards_are_one_row() {
        let mut builder = Builder::new();
        for readers in [2, 4, 8] {
            let name = format!("r{readers}");
            builder.cell(&name, "disk", readers * 8);
            builder.edit_cell(&name, cell_of_job);
            builder.edit_cell(&name, |cell| {
                cell.training.as_mut().unwrap().readers = Some(readers);
                cell.streams = Some(readers * 8);
                let words = |name: &str, value: u32| record::AxisWords {
                    name: name.to_owned(),
                    value: value.to_string(),
                    unit: String::new(),
                };
                cell.axes = vec![words("readers", readers), words("streams", readers * 8)];
            });
        }
        let cells: Vec<&Cell> = builder.run.cells.iter().collect();
        let rows = search_rows(&builder.run, &cells, "readers");
        let values: Vec<Vec<u32>> =
            rows.iter().map(|row| row.iter().map(|one| one.value).collect()).collect();
        assert_eq!(values, [[8, 4, 2]]);
    }
}
