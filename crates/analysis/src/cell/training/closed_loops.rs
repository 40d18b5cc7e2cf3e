//! The reads in closed loops beside a training job, from which its utilization and the cause of its stalls follow.

use std::collections::{BTreeMap, BTreeSet};

use record::axis::{self, Axis, Places, alike, others};
use record::{Cell, Datasets, Run};

use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::cell::set_apart::is_set;

/// Whether nothing but the depth decides what a cell reads.
pub(crate) fn is_closed(cell: &CellSummary) -> bool {
    cell.cell.pace.is_none() && cell.cell.training.is_none()
}

/// The closed cells of a run, found by how they read.
// Built once: a job that looked at every cell would make a run of thousands of jobs quadratic.
pub struct ClosedLoops<'a, D = Run> {
    run: &'a D,
    cells: &'a [CellSummary],
    places: Places,
    /// Targets of which several numbers of streams were read at one depth.
    streams_vary: BTreeSet<&'a str>,
    /// By target and treatment of the page cache, the fastest of each size of samples and blocks.
    fastest: BTreeMap<(&'a str, &'a str), Vec<(usize, f64)>>,
}

impl<'a, D: Datasets> ClosedLoops<'a, D> {
    /// Those of `cells`.
    pub fn of(run: &'a D, cells: &'a [CellSummary]) -> Self {
        let closed = || cells.iter().enumerate().filter(|(_, cell)| is_closed(cell));
        let mut streamed: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
        for cell in cells.iter().map(|one| &one.cell).filter(|cell| cell.streams.is_some()) {
            streamed.entry(cell.target.as_str()).or_default().push(cell);
        }
        streamed.retain(|_, cells| is_set(run, cells, Axis::Streams));
        let mut loops = Self {
            run,
            cells,
            places: Places::of(
                run,
                closed().map(|(index, cell)| (index, &cell.cell)),
                others(axis::PREDICTION),
            ),
            streams_vary: streamed.into_keys().collect(),
            fastest: BTreeMap::new(),
        };
        for (index, cell) in closed() {
            if let Some(figures) = cell.figures() {
                loops.add_to_fastest(index, figures.bps.mean);
            }
        }
        loops
    }

    fn add_to_fastest(&mut self, index: usize, bps: f64) {
        let cells = self.cells;
        let own = &cells[index];
        let of_way = self.fastest.entry((&own.cell.target, own.cell.cache.as_str())).or_default();
        match of_way.iter_mut().find(|(known, _)| size(&cells[*known]) == size(own)) {
            Some(known) if known.1.total_cmp(&bps).is_le() => *known = (index, bps),
            Some(_) => {}
            None => of_way.push((index, bps)),
        }
    }

    /// The closed cells that read as `cell` does, at whatever depth.
    pub(super) fn alike(&self, cell: &'a CellSummary) -> impl Iterator<Item = &'a CellSummary> {
        let streams_vary = self.streams_vary.contains(cell.cell.target.as_str());
        let beside = self.places.beside(self.run, &cell.cell).iter().map(|index| &self.cells[*index]);
        // Streams that follow the depth, as those of readers do, are no other way of reading.
        beside.filter(move |other| {
            let (a, b) = (&other.cell, &cell.cell);
            alike(self.run, a, b, axis::PREDICTION)
                && a.streams.is_some() == b.streams.is_some()
                && (!streams_vary || a.streams == b.streams)
        })
    }

    /// The valid closed cells that read as `cell` does, one for each depth, the shallowest first: what is known of its storage by
    /// the reads outstanding. Of several at one depth it is one of as many threads, before others.
    pub fn by_depth(&self, cell: &'a CellSummary) -> Vec<&'a CellSummary> {
        // A loop that may not be judged may not judge a job either.
        let valid = self.alike(cell).filter(|other| other.figures().is_some_and(Figures::is_valid));
        let has_threads = |other: &CellSummary| other.cell.threads == cell.cell.threads;
        let mut of_depth: BTreeMap<u32, &CellSummary> = BTreeMap::new();
        for other in valid {
            let known = of_depth.entry(other.cell.queue_depth).or_insert(other);
            if has_threads(other) && !has_threads(known) {
                *known = other;
            }
        }
        of_depth.into_values().collect()
    }

    /// The fastest that reads the target of `cell` through the same caches in another size of samples or blocks.
    pub(crate) fn fastest_of_other_size(&self, cell: &CellSummary) -> Option<(&'a CellSummary, &'a Figures)> {
        let of_way = self.fastest.get(&(cell.cell.target.as_str(), cell.cell.cache.as_str()))?;
        // A read is larger by either.
        let others = of_way.iter().filter(|(index, _)| size(&self.cells[*index]) != size(cell));
        let (index, _) = others.max_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))?;
        let other = &self.cells[*index];
        Some((other, other.figures()?))
    }
}

fn size(cell: &CellSummary) -> (Option<f64>, u64) {
    (cell.sample_bytes, cell.cell.block_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Asked, Builder, cell_of_job, rep};
    use crate::summarise;

    /// How often a run of so many ways of reading, each with a job and closed loops at two depths, is asked while all loops beside
    /// all jobs are found, and how many these are.
    fn asked(ways: u64) -> (u32, usize) {
        let mut builder = Builder::new();
        for block_bytes in 1..=ways {
            for (kind, depth) in [("loop", 8), ("deep", 32), ("job", 8)] {
                let name = format!("{kind}{block_bytes}");
                builder.cell(&name, "disk", depth);
                builder.edit_cell(&name, |cell| {
                    (cell.block_bytes, cell.operation) = (block_bytes, "read_file".into());
                });
                if kind == "job" {
                    builder.edit_cell(&name, cell_of_job);
                } else {
                    (0..3).for_each(|number| builder.push(rep(&name, number, 1e9)));
                }
            }
        }
        let record = builder.record();
        let cells = summarise(&record).cells;
        let run = Asked::of(&record.run);
        let loops = ClosedLoops::of(&run, &cells);
        let jobs = cells.iter().filter(|cell| cell.cell.training.is_some());
        let found = jobs.map(|job| loops.by_depth(job).len()).sum();
        (run.times(), found)
    }

    #[test]
    fn a_job_is_held_against_those_loops_alone_that_may_read_as_it_does() {
        let (of_ten, found) = asked(10);
        assert_eq!((asked(200), found), ((20 * of_ten, 20 * found), 20), "twenty times the work");
    }
}
