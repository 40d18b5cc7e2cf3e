//! The edge that `size` searched: the last value that meets the target, and the first that misses it.

use std::collections::BTreeMap;

use feed::Interval;
use record::axis::{self, Groups, alike, others};
use record::{Axis, Cell, Datasets};

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::figures::Figures;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::gap::Gap;
use crate::cell::rate::Rate;
use crate::curve::{FLAT_GAIN_MAX, Panel};
use crate::verdict::Source;
use crate::verdict::way_apart::WayApart;

/// What a search along one axis found on one target, in one way of reading it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizing {
    /// Name of the target.
    pub target: String,
    /// Its engine.
    pub engine: String,
    /// Whether feedline started its server itself, so that nothing is said of a storage.
    pub demo: bool,
    /// What sets the way in which it was read apart from the others that were searched.
    pub apart: WayApart,
    /// What was searched: `accelerators`, `readers`, `queue_depth`, `prefetch`, `hosts`.
    pub axis: String,
    /// Whether values of `hosts` are so many machines; else they are processes, of which some shared one.
    pub on_hosts: bool,
    /// The hardest value that met the target: the most accelerators, the fewest readers.
    pub meets: Option<Edge>,
    /// The easiest value that missed it.
    // Kept beside the value that meets: an edge of which one side is unknown is a bound and no edge.
    pub misses: Option<Edge>,
    /// Utilization that had to be met.
    pub threshold: f64,
    /// Values that were tried.
    pub tried: usize,
    /// Values between the two sides, or beyond the only one, at which the search ended before it tried them: the edge may lie at any
    /// of them. Absent of a search that came to its end.
    pub untried: Option<Untried>,
    /// What each number of hosts that was tried got, from the fewest on; empty of other searches.
    pub scaling: Vec<Scaled>,
    /// Where more hosts got no more; absent where that was not seen, and of other searches.
    pub full: Option<Full>,
}

/// Values that were not tried, the least and the largest of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Untried {
    /// The least.
    pub from: u32,
    /// The largest.
    pub to: u32,
}

/// What so many hosts got together.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    /// How many.
    pub hosts: u32,
    /// Bytes per second of all of them: of the fresh repetitions, where there are any.
    pub bps: Rate,
    /// The same by so many times what one host got; absent where that was not measured.
    pub of_one: Option<f64>,
    /// What forbids to rest anything on it.
    pub doubt: Option<Flag>,
}

/// Numbers of hosts between which a storage gave no more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Full {
    /// The fewest that missed the target.
    pub from: u32,
    /// More of them, which got as much.
    pub to: u32,
    /// What the fewest got, bytes per second.
    pub bps: f64,
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
    /// The least utilization of a job of several processes that measured it without waiting for each other; absent of others.
    pub least_au: Option<f64>,
    /// What forbids to rest anything on it.
    pub doubt: Option<Flag>,
}

/// Why a cell of a search has no utilization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoUtilization {
    /// Its repetitions failed.
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
    /// Its processes measured without waiting for each other's steps, as the job does. It is as little busy as this if they are
    /// slow in turn.
    NotInStep {
        /// The side that meets the target.
        met: &'a Edge,
        /// Its least utilization, 0 to 1.
        least_au: f64,
    },
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
    /// Whether both sides were measured again and lie next to each other, nothing forbids to rest on them, and the interval of
    /// neither reaches the target.
    pub fn is_sure(&self) -> bool {
        let is_found = self.meets.is_some() && self.misses.is_some() && self.untried.is_none();
        is_found && self.doubt().is_none()
    }

    /// Why what is said of a side that was found may not hold; `None` where nothing was measured, too.
    pub fn doubt(&self) -> Option<EdgeDoubt<'_>> {
        let (met, missed) = (self.meets.as_ref(), self.misses.as_ref());
        if let Some(doubt) = met.into_iter().chain(missed).find_map(Edge::flagged) {
            return Some(doubt);
        }
        let is_met = |met: &Edge| met.interval().is_some_and(|interval| interval.low >= self.threshold);
        // Repetitions that failed miss for certain: there is no interval that could reach over the target.
        let is_missed = |missed: &Edge| {
            missed.au.is_err() || missed.interval().is_some_and(|one| one.high < self.threshold)
        };
        if !met.is_none_or(is_met) || !missed.is_none_or(is_missed) {
            return Some(EdgeDoubt::Reached);
        }
        let least = met.and_then(|met| Some((met, met.least_au?)));
        least
            .filter(|(_, least_au)| *least_au < self.threshold)
            .map(|(met, least_au)| EdgeDoubt::NotInStep { met, least_au })
    }
}

/// One for each row of cells.
pub(crate) fn of(source: &Source<'_>, axis: &str) -> Vec<Sizing> {
    let (run, cells) = (&source.record.run, &source.cells);
    let planned: Vec<&Cell> = cells.all.iter().map(|cell| &cell.cell).collect();
    let rows = search_rows(cells, &planned, axis);
    let tried = |row: &Vec<SearchValue>| row.iter().map(|one| &cells.all[one.cell]).collect();
    let rows: Vec<Vec<&CellSummary>> = rows.iter().map(tried).collect();
    let asked: Vec<&Cell> = run.cells.iter().collect();
    let asked = search_rows(run, &asked, axis);
    let row_of: BTreeMap<&str, &Vec<SearchValue>> = asked
        .iter()
        .flat_map(|row| row.iter().map(move |one| (run.cells[one.cell].cell.as_str(), row)))
        .collect();
    let ways: Vec<(&str, Panel)> =
        rows.iter().map(|row| (row[0].cell.target.as_str(), Panel::of(row[0]))).collect();
    let on_hosts = run.team.as_ref().map_or(run.ranks, record::Team::machines) == run.ranks;
    let of_row = |(row, (target, way)): (&Vec<&CellSummary>, &(&str, Panel))| {
        let of_target = ways.iter().filter(|(other, _)| other == target);
        let others: Vec<&Panel> = of_target.map(|(_, other)| other).collect();
        let demo = cells.targets.iter().any(|one| one.demo && one.name == *target);
        let asked = row_of.get(row[0].cell.cell.as_str()).map_or(&[][..], |row| row);
        sizing(row, axis, Place { apart: WayApart::of(way, &others), demo, on_hosts, asked })
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
/// accelerators and hosts are the hardest, and the fewest of anything else.
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
    let mut groups = Groups::along(others(&may_differ(true, axis, prefetch_follows)));
    for (index, cell) in cells.iter().enumerate() {
        let Some(value) = value(cell, axis) else { continue };
        let one = SearchValue { value, cell: index };
        let has_readers = cell.training.as_ref().is_some_and(|job| job.readers.is_some());
        let but = may_differ(has_readers, axis, prefetch_follows);
        let at = groups.place(run, cell, |at| alike(run, cells[rows[at][0].cell], cell, &but));
        match rows.get_mut(at) {
            Some(row) => row.push(one),
            None => rows.push(vec![one]),
        }
    }
    for row in &mut rows {
        row.sort_by_key(|one| one.value);
        // More readers, depth or prefetch make it easier; more accelerators and hosts make it harder.
        if !matches!(axis, Axis::Accelerators | Axis::Hosts) {
            row.reverse();
        }
    }
    rows
}

/// The searched axis and what follows from it: threads, connections, streams, and the depth of readers.
fn may_differ(has_readers: bool, axis: Axis, prefetch_follows: bool) -> Vec<Axis> {
    let mut but = vec![axis];
    // More hosts have more of everything, which each of them has by itself.
    if axis == Axis::Hosts {
        but.extend([Axis::Depth, Axis::Accelerators]);
    }
    // The depth of readers is their number, and follows; a depth that was set is searched for itself.
    but.extend(axis::CURVE.iter().filter(|axis| **axis != Axis::Depth || has_readers));
    but.extend((prefetch_follows && axis == Axis::Readers).then_some(Axis::Prefetch));
    but
}

/// What a search was made on.
struct Place<'a> {
    apart: WayApart,
    demo: bool,
    on_hosts: bool,
    /// All values that might have been tried, the easiest first.
    asked: &'a [SearchValue],
}

fn sizing(cells: &[&CellSummary], axis: &str, place: Place<'_>) -> Option<Sizing> {
    let Place { apart, demo, on_hosts, asked } = place;
    let first = cells.first()?;
    let threshold = first.cell.training.as_ref()?.threshold;
    let edges: Vec<Edge> = cells.iter().filter_map(|cell| edge(cell, axis)).collect();
    let is_met = |edge: &&Edge| edge.meets(threshold);
    // What misses once is not met behind it: storage that wavers at its edge feeds what it always fed.
    let met = edges.iter().take_while(is_met).count();
    let scaling = if Axis::named(axis) == Axis::Hosts { scaling(cells) } else { Vec::new() };
    let misses = edges.get(met).cloned();
    let meets = met.checked_sub(1).and_then(|last| edges.get(last).cloned());
    Some(Sizing {
        untried: untried(asked, meets.as_ref(), misses.as_ref()),
        target: first.cell.target.clone(),
        engine: first.engine_label(),
        apart,
        axis: axis.to_owned(),
        on_hosts,
        demo,
        tried: edges.len(),
        full: misses.as_ref().and_then(|edge| full(&scaling, edge.value)),
        scaling,
        misses,
        meets,
        threshold,
    })
}

/// What lies between the two sides of an edge, or beyond the one that was found.
fn untried(asked: &[SearchValue], meets: Option<&Edge>, misses: Option<&Edge>) -> Option<Untried> {
    let place = |edge: &Edge| asked.iter().position(|one| one.value == edge.value);
    let from = meets.and_then(place).map_or(0, |met| met + 1);
    let to = misses.and_then(place).unwrap_or(asked.len());
    let between = || asked.get(from..to).into_iter().flatten().map(|one| one.value);
    Some(Untried { from: between().min()?, to: between().max()? })
}

/// Fresh repetitions count where there are any, and those that failed miss.
// The search itself measures each value once and follows what it finds, so that its last values are chosen by
// chance too. Fresh repetitions are not.
fn edge(cell: &CellSummary, axis: &str) -> Option<Edge> {
    let value = value(&cell.cell, Axis::named(axis))?;
    let (au, least_au, doubt) = match cell.latest() {
        Measurement::Figures(figures) => {
            let training = figures.training.as_ref();
            let au = training.map(|training| training.au).ok_or(NoUtilization::NoJob);
            (au, training.and_then(|training| training.least_au), grave(figures).cloned())
        }
        Measurement::Failed { reason, .. } => (Err(NoUtilization::Unmeasured(reason.clone())), None, None),
        // What had no time is on no side.
        Measurement::Operations(_) | Measurement::NotRun { .. } => return None,
    };
    Some(Edge { value, cell: cell.cell.cell.clone(), au, least_au, doubt })
}

/// What each number of hosts got.
fn scaling(cells: &[&CellSummary]) -> Vec<Scaled> {
    let got: Vec<(u32, &Figures)> =
        cells.iter().filter_map(|cell| Some((cell.cell.ranks?, cell.latest().figures()?))).collect();
    let one = got.iter().find(|(hosts, _)| *hosts == 1).map(|(_, figures)| figures.bps.mean);
    let scaled = |(hosts, figures): &(u32, &Figures)| Scaled {
        hosts: *hosts,
        bps: figures.bps,
        of_one: one.map(|one| figures.bps.mean / (f64::from(*hosts) * one)).filter(|share| share.is_finite()),
        doubt: grave(figures).cloned(),
    };
    got.iter().map(scaled).collect()
}

/// Whether the most hosts that were tried got no more than `from`, the fewest that missed the target: by the intervals of both there
/// may be no gain, there is less than half of what the hosts that came in addition would gain if each got as much, and by the
/// means less than a curve gains that is flat.
// Intervals that reach each other alone would say so of whatever was measured badly.
fn full(scaling: &[Scaled], from: u32) -> Option<Full> {
    // The most of all, and not the most without a doubt: what is doubtful there may be a gain.
    let most = scaling.iter().max_by_key(|one| one.hosts).filter(|most| most.hosts > from)?;
    let fewest = scaling.iter().find(|one| one.hosts == from)?;
    if fewest.doubt.is_some() || most.doubt.is_some() {
        return None;
    }
    let (few, many) = (fewest.bps.interval?, most.bps.interval?);
    let more = f64::from(most.hosts) / f64::from(from) - 1.0;
    let is_full = many.low <= few.high
        && many.high - few.low < few.low * more / 2.0
        && many.mean < few.mean * (1.0 + FLAT_GAIN_MAX);
    is_full.then_some(Full { from, to: most.hosts, bps: fewest.bps.mean })
}

fn grave(figures: &Figures) -> Option<&Flag> {
    figures.flags.iter().find(|flag| flag.gravity() != Gravity::Informs)
}

fn value(cell: &Cell, axis: Axis) -> Option<u32> {
    let training = cell.training.as_ref()?;
    match axis {
        Axis::Hosts => cell.ranks,
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
    use crate::fixture::{Asked, Builder};
    use crate::fixture::{cell_of_job, job_rep, team};
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
    fn one_side_alone_is_doubted_too() {
        let doubted = |tried: &[(u32, f64)], again: &[(u32, [f64; 3])]| {
            searched(tried, again).0[0].doubt() == Some(EdgeDoubt::Reached)
        };
        assert!(doubted(&[(8, 0.99), (32, 0.99)], &[]), "one try has no interval");
        assert!(!doubted(&[(8, 0.99), (32, 0.99)], &[(32, [0.99, 0.989, 0.991])]));
        assert!(doubted(&[(32, 0.93)], &[(32, [0.99, 0.85, 0.95])]));
        assert!(!doubted(&[(8, 0.2), (1, 0.5)], &[(1, [0.5, 0.501, 0.499])]));
        assert!(doubted(&[(8, 0.2), (1, 0.88)], &[(1, [0.87, 0.92, 0.85])]));
    }

    #[test]
    fn what_is_met_behind_a_miss_was_luck() {
        let (found, _) = searched(&[(8, 0.99), (12, 0.89), (14, 0.91)], &[]);
        assert_eq!(found[0].meets.as_ref().unwrap().value, 8);
    }

    #[test]
    fn a_search_that_ended_before_its_edge_is_not_sure_of_it() {
        let again = [(8, [0.99, 0.989, 0.991]), (32, [0.5, 0.501, 0.499])];
        let (found, _) = searched(&[(8, 0.99), (32, 0.5)], &again);
        let one = &found[0];
        assert_eq!((one.untried, one.doubt()), (Some(Untried { from: 9, to: 31 }), None));
        assert!(!one.is_sure());
        let untried = |tried: &[(u32, f64)]| searched(tried, &[]).0[0].untried;
        assert_eq!(untried(&[(8, 0.99), (16, 0.99)]), Some(Untried { from: 17, to: 32 }));
        assert_eq!(untried(&[(8, 0.5)]), Some(Untried { from: 1, to: 7 }));
        assert_eq!(
            [untried(&[(1, 0.5)]), untried(&[(32, 0.99)]), untried(&[(8, 0.99), (9, 0.5)])],
            [None; 3]
        );
    }

    #[test]
    fn a_row_that_had_no_time_is_said_to_be_untried() {
        let mut builder = Builder::new();
        builder.run.size = Some("accelerators".to_owned());
        for (name, accelerators, block_bytes) in
            [("a1", 1, 4096), ("a2", 2, 4096), ("b1", 1, 8192), ("b2", 2, 8192)]
        {
            builder.cell(name, "disk", 8);
            builder.edit_cell(name, cell_of_job);
            builder.edit_cell(name, |cell| {
                cell.block_bytes = block_bytes;
                cell.training.as_mut().unwrap().accelerators = accelerators;
            });
        }
        builder.push(job_rep("a1", 0, Stall { storage: 0.5, ..Stall::default() }, 4.0));
        let mut record = builder.record();
        for line in &mut record.lines {
            if let record::Line::End(end) = line {
                let reason = "budget".to_owned();
                end.not_run.push(record::NotRun { cell: "b1".to_owned(), repetitions: 1, reason });
            }
        }
        let summary = summarise(&record);
        let found: Vec<_> =
            summary.sizings.iter().map(|one| (one.tried, one.misses.is_some(), one.untried)).collect();
        assert_eq!(found, [(1, true, None), (0, false, Some(Untried { from: 1, to: 2 }))]);
        assert_eq!(summary.cells.len(), 2, "what is left has a row that says why");
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

    #[test]
    fn a_cell_is_held_against_those_rows_alone_that_may_be_its_own() {
        let asked = |rows: u64| {
            let mut builder = Builder::new();
            for block_bytes in 1..=rows {
                for accelerators in [1, 2] {
                    let name = format!("{block_bytes}/{accelerators}");
                    builder.cell(&name, "disk", 8);
                    builder.edit_cell(&name, cell_of_job);
                    builder.edit_cell(&name, |cell| {
                        cell.block_bytes = block_bytes;
                        cell.training.as_mut().unwrap().accelerators = accelerators;
                    });
                }
            }
            let cells: Vec<&Cell> = builder.run.cells.iter().collect();
            let run = Asked::of(&builder.run);
            let found = search_rows(&run, &cells, "accelerators").len() as u64;
            assert_eq!(found, rows);
            run.times()
        };
        assert_eq!(asked(200), 20 * asked(10), "twenty times the work");
    }

    /// The cell of so many hosts, of which each plays the job.
    fn name(hosts: u32) -> String {
        format!("h{hosts}")
    }

    /// What each of so many hosts made of a repetition in which all reached this utilization.
    fn push_of_hosts(builder: &mut Builder, hosts: u32, number: u32, role: Role, au: f64) {
        for rank in 0..hosts {
            let stall = Stall { storage: 1.0 - au, ..Stall::default() };
            builder.push(record::Rep {
                rank,
                ranks: hosts,
                role,
                window_unix_ns: Some(1_795_236_083_000_000_000 + u64::from(rank) * 1_000_000),
                ..job_rep(&name(hosts), number, stall, 4.0)
            });
        }
    }

    /// A search among four hosts over a storage that gives what `fed` of them need: these numbers are tried, and measured again.
    fn scaled(fed: f64, tried: &[u32], again: &[u32]) -> Builder {
        let mut builder = Builder::new();
        builder.run.size = Some("hosts".to_owned());
        (builder.run.ranks, builder.run.team) = (4, Some(team(4)));
        builder.run.need.samples_per_s = builder.run.need.samples_per_s.map(|per_s| per_s * 4.0);
        for hosts in 1..=4 {
            builder.cell(&name(hosts), "disk", 8 * hosts);
            builder.edit_cell(&name(hosts), |cell| {
                cell_of_job(cell);
                (cell.ranks, cell.threads) = (Some(hosts), cell.threads * hosts);
                cell.training.as_mut().unwrap().accelerators *= hosts;
            });
        }
        let au = |hosts: u32| (fed / f64::from(hosts)).min(0.999);
        for hosts in tried {
            push_of_hosts(&mut builder, *hosts, 0, Role::Measure, au(*hosts));
        }
        for hosts in again {
            for (number, off) in (0..).zip([-0.0004, 0.0, 0.0004]) {
                push_of_hosts(&mut builder, *hosts, number, Role::Confirm, au(*hosts) + off);
            }
        }
        builder
    }

    fn sizing_of(builder: &Builder) -> Sizing {
        let mut found = summarise(&builder.record()).sizings;
        assert_eq!(found.len(), 1, "one row, whatever follows from the number of hosts: {found:?}");
        found.remove(0)
    }

    #[test]
    fn the_most_hosts_that_are_fed_are_told_with_their_scaling_and_where_the_storage_is_full() {
        let found = sizing_of(&scaled(2.5, &[1, 4, 2, 3], &[1, 2, 3, 4]));
        let edge = |edge: &Option<Edge>| edge.as_ref().unwrap().value;
        assert_eq!((edge(&found.meets), edge(&found.misses)), (2, 3));
        assert!(found.is_sure() && found.on_hosts && !found.demo, "{:?}", found.doubt());
        let scaling: Vec<(u32, f64, f64)> = found
            .scaling
            .iter()
            .map(|one| (one.hosts, (one.bps.mean / 1e7).round(), (one.of_one.unwrap() * 100.0).round()))
            .collect();
        assert_eq!(scaling, [(1, 100.0, 100.0), (2, 200.0, 100.0), (3, 250.0, 83.0), (4, 250.0, 63.0)]);
        let full = found.full.unwrap();
        assert_eq!((full.from, full.to, (full.bps / 1e7).round()), (3, 4, 250.0));
    }

    #[test]
    fn a_storage_is_full_only_where_more_hosts_were_measured_and_got_no_more() {
        // Nobody beyond the first that misses was measured again.
        assert_eq!(sizing_of(&scaled(2.5, &[1, 4, 2, 3], &[1, 2, 3])).full, None);
        assert_eq!(sizing_of(&scaled(3.5, &[1, 4, 3], &[1, 3, 4])).full, None);
        assert_eq!(sizing_of(&scaled(9.0, &[1, 4], &[1, 4])).full, None);
        let mut rises = scaled(2.5, &[1, 4, 2, 3], &[1, 2, 3]);
        (0..3).for_each(|number| push_of_hosts(&mut rises, 4, number, Role::Confirm, 0.7));
        assert_eq!(sizing_of(&rises).full, None, "four got 2.8 times what one needs, and three 2.5 times");
        // Intervals so wide that nothing is known.
        let mut noisy = scaled(2.5, &[1, 4, 2, 3], &[1, 2, 3]);
        for (number, au) in (0..).zip([0.45, 0.62, 0.8]) {
            push_of_hosts(&mut noisy, 4, number, Role::Confirm, au);
        }
        assert_eq!(sizing_of(&noisy).full, None);
    }

    #[test]
    fn what_is_doubtful_or_more_is_no_storage_that_is_full() {
        let got = |hosts: u32, mean: f64, half: f64, doubt: bool| Scaled {
            hosts,
            bps: Rate {
                mean,
                interval: Some(Interval { low: mean - half, mean, high: mean + half }),
                min: mean,
                max: mean,
            },
            of_one: None,
            doubt: doubt.then_some(Flag::DatasetChanged),
        };
        let flat = [got(1, 100.0, 1.0, false), got(2, 101.0, 1.0, false)];
        assert_eq!(full(&flat, 1).unwrap().to, 2);
        let more = [&flat[..], &[got(3, 300.0, 1.0, true)]].concat();
        assert_eq!(full(&more, 1), None, "three got three times as much, which is doubtful and may be so");
        let wide = [got(1, 100.0, 30.0, false), got(3, 130.0, 5.0, false)];
        assert_eq!(full(&wide, 1), None, "30 % more is more, however wide an interval is");
    }

    #[test]
    fn a_job_in_step_is_fed_by_no_mean_of_its_hosts() {
        let found = |barrier: bool| {
            let mut builder = scaled(3.72, &[1, 4], &[1, 4]);
            for hosts in 1..=4 {
                builder.edit_cell(&name(hosts), |cell| cell.training.as_mut().unwrap().barrier = barrier);
            }
            sizing_of(&builder)
        };
        let (apart, in_step) = (found(false), found(true));
        assert_eq!((apart.meets.as_ref().unwrap().value, apart.doubt()), (4, None));
        // Each waits 7 % of its time: in turn that is 1 / (4 / 0.93 - 3) of it busy.
        let Some(EdgeDoubt::NotInStep { met, least_au }) = in_step.doubt() else { panic!("{in_step:?}") };
        assert!(met.value == 4 && (least_au - 0.77).abs() < 0.01, "{least_au}");
    }

    #[test]
    fn one_host_alone_is_measured_like_any_number_of_them() {
        let summary = summarise(&scaled(0.5, &[1, 4], &[1, 4]).record());
        let found = &summary.sizings[0];
        assert_eq!((&found.meets, found.misses.as_ref().unwrap().value), (&None, 1));
        let line = |hosts| summary.cell(&name(hosts)).unwrap().line.unwrap().bps / 1e8;
        assert_eq!((line(1).round(), line(4).round()), (9.0, 36.0), "each number has its part of the need");
        assert!(summary.ranks.iter().all(|of| of.cell != "h1"), "beside which nobody measured");
    }

    #[test]
    fn a_host_that_is_missing_among_those_that_take_part_is_a_failed_repetition_and_others_are_not_asked() {
        let mut builder = scaled(9.0, &[1, 4], &[1]);
        let whole = builder.record();
        push_of_hosts(&mut builder, 2, 0, Role::Measure, 0.99);
        let mut cut = builder.record();
        cut.lines.retain(|line| !matches!(line, record::Line::Rep(rep) if rep.cell == "h2" && rep.rank == 1));
        let measured = |record: &record::RunRecord, hosts: u32| {
            summarise(record).cell(&name(hosts)).map(|cell| cell.measured.clone())
        };
        let Some(Measurement::Failed { reason, .. }) = measured(&cut, 2) else { panic!("it was not made") };
        assert!(format!("{reason:?}").contains("rank 1 of 2 did not make this repetition"), "{reason:?}");
        assert!(matches!(measured(&whole, 4), Some(Measurement::Figures(_))));
    }

    #[test]
    fn processes_that_share_a_machine_are_no_hosts() {
        let mut builder = scaled(2.5, &[1, 4, 2, 3], &[1, 2, 3, 4]);
        builder.run.team.as_mut().unwrap().members[3].machine = 0;
        builder.run.targets[0].demo = true;
        let found = sizing_of(&builder);
        assert!(!found.on_hosts && found.demo);
    }

    #[test]
    fn a_search_whose_processes_were_lost_finds_nothing() {
        let mut record = scaled(2.5, &[1, 4, 2, 3], &[1, 2, 3, 4]).record();
        record.lines.retain(|line| !matches!(line, record::Line::End(_)));
        let summary = summarise(&record);
        assert_eq!((summary.sizings.len(), summary.unjudged.len()), (0, 1));
    }
}
