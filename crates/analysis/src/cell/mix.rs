//! Reads and writes of one load.

use feed::Operation;
use record::{Cell, Rep, counter};

use crate::cell::counters::{counted, errors};
use crate::cell::rate::Rate;

/// Share of writes in what a cell is to move, above 0 and below 1; `None` of cells that do not read and write both.
pub(crate) fn share(cell: &Cell) -> Option<f64> {
    let percent = cell.write_percent.filter(|percent| (1..100).contains(percent))?;
    Some(f64::from(percent) / 100.0)
}

/// Whether a cell is said to read and write both, with a share of writes that cannot be, or none: a damaged record.
pub(crate) fn lacks_share(cell: &Cell) -> bool {
    cell.operation == Operation::Mix && share(cell).is_none()
}

/// Bytes that a repetition of a cell wrote over its dataset inside its window; `None` of a mix that does not count them.
pub(crate) fn written_bytes(cell: &Cell, rep: &Rep) -> Option<u64> {
    match cell.operation.known() {
        Some(Operation::Write | Operation::WriteFile) => Some(counted(rep, counter::BYTES)),
        // More than all that was moved is a damaged record. Nothing is a count too: no write ended in the window.
        Some(Operation::Mix) => rep
            .counters
            .get(counter::WRITTEN_BYTES)
            .copied()
            .filter(|written| *written <= counted(rep, counter::BYTES)),
        _ => Some(0),
    }
}

/// Bytes per second that one repetition of a mix read, and those that it wrote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moved {
    read_bps: f64,
    write_bps: f64,
}

impl Moved {
    pub(crate) fn of(cell: &Cell, rep: &Rep) -> Self {
        let written = written_bytes(cell, rep).unwrap_or(0) as f64;
        let per_s = |bytes: f64| bytes / (rep.window_ns as f64 / 1e9);
        let read = counted(rep, counter::BYTES) as f64 - written;
        Self { read_bps: per_s(read), write_bps: per_s(written) }
    }
}

/// Operations by which any that follow each other may miss their share.
const OPS_APART: u64 = 3;

/// Share of the smaller part that may be missing at the ends of a window. Few operations at a great depth would be all ends.
const FORGIVEN_MAX: f64 = 0.1;

/// How much of what a repetition of a mix moved counts, 0 to 1: what reads and writes come to by the one that got less of its part.
/// 1 of other cells, and where nothing of the one fell into the window although nothing failed, which is a flag.
pub(crate) fn part(cell: &Cell, rep: &Rep) -> f64 {
    let Some(write_share) = share(cell) else { return 1.0 };
    let written = written_bytes(cell, rep).unwrap_or(0) as f64;
    let moved = counted(rep, counter::BYTES) as f64;
    // What was under way as the window opened and closed is in it with one end alone.
    let at_its_ends = (OPS_APART + u64::from(cell.queue_depth)) as f64 * cell.block_bytes as f64;
    let forgiven = at_its_ends.min(FORGIVEN_MAX * write_share.min(1.0 - write_share) * moved);
    let tells = errors(rep) > 0 || (written > 0.0 && written < moved);
    if moved > 0.0 && tells && (written - write_share * moved).abs() > forgiven {
        feed::formula::mixed_part(moved, written, write_share)
    } else {
        1.0
    }
}

/// What a cell read and wrote at once.
#[derive(Debug, Clone, PartialEq)]
pub struct MixFigures {
    /// Bytes read per second.
    pub read_bps: Rate,
    /// Bytes written per second.
    pub write_bps: Rate,
}

impl MixFigures {
    /// Of the repetitions that make a point; `None` of cells that do not both.
    pub(crate) fn of(cell: &Cell, used: &[&Rep], error: f64) -> Option<Self> {
        share(cell)?;
        let of = |part: fn(Moved) -> f64| {
            let points: Vec<f64> = used.iter().map(|rep| part(Moved::of(cell, rep))).collect();
            Rate::at(&points, error)
        };
        Some(Self { read_bps: of(|moved| moved.read_bps)?, write_bps: of(|moved| moved.write_bps)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, figures, rep};

    #[test]
    fn a_mix_counts_by_the_part_that_lacks_most() {
        let mut cell = record::testing::cell("c", "disk", 8);
        (cell.operation, cell.write_percent, cell.block_bytes) = ("mix".into(), Some(25), 1);
        let part = |read: u64, written: u64| {
            let mut rep = rep("c", 0, 1e9);
            let counts = [(counter::BYTES, read + written), (counter::WRITTEN_BYTES, written)];
            rep.counters.extend(counts.map(|(name, count)| (name.to_owned(), count)));
            Some(part(&cell, &rep))
        };
        assert_eq!(part(750_000, 250_000), Some(1.0));
        assert_eq!(part(900_000, 150_000), Some(600_000.0 / 1_050_000.0), "reads do not stand for writes");
        assert_eq!(part(300_000, 900_000), Some(400_000.0 / 1_200_000.0));
        assert_eq!(part(750_011, 249_989), Some(1.0), "what is under way at either end");
        assert_eq!(part(35, 5), Some(20.0 / 40.0), "a window of few operations is not all ends");
    }

    #[test]
    fn reads_and_writes_are_told_apart() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.edit_cell("c", |cell| {
            (cell.operation, cell.write_percent) = ("mix".into(), Some(30));
        });
        for number in 0..3 {
            let mut one = rep("c", number, 1e9);
            one.counters.insert(counter::WRITTEN_BYTES.to_owned(), one.counters[counter::BYTES] / 10 * 3);
            builder.push(one);
        }
        let found = figures(&builder, "c");
        let mix = found.mix.unwrap();
        assert!((mix.read_bps.mean / 0.7e9 - 1.0).abs() < 1e-6, "{mix:?}");
        assert!((mix.write_bps.mean / 0.3e9 - 1.0).abs() < 1e-6, "{mix:?}");
        assert!((found.bps.mean / 1e9 - 1.0).abs() < 1e-6);
        assert_eq!(share(&record::testing::cell("c", "disk", 8)), None);
    }
}
