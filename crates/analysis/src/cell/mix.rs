//! Reads and writes of one load.

use record::{Cell, Rep, counter};

use crate::cell::counters::per_s;
use crate::cell::rate::Rate;

/// Share of writes in what a cell is to move, above 0 and below 1; `None` of cells that do not read and write both.
pub(crate) fn share(cell: &Cell) -> Option<f64> {
    let percent = cell.write_percent.filter(|percent| (1..100).contains(percent))?;
    Some(f64::from(percent) / 100.0)
}

/// Bytes per second that one repetition read, and those that it wrote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moved {
    read_bps: f64,
    write_bps: f64,
}

impl Moved {
    pub(crate) fn of(rep: &Rep) -> Self {
        let write_bps = per_s(rep, counter::WRITTEN_BYTES);
        // A record whose writes are more than all that was moved is damaged, and has read nothing.
        Self { read_bps: (per_s(rep, counter::BYTES) - write_bps).max(0.0), write_bps }
    }

    /// What both together come to where a share of it is to be written: by the one that got less of its part.
    // The sum alone would let more of the one stand for what the other lacks.
    pub(crate) fn bps(self, write_share: f64) -> f64 {
        (self.write_bps / write_share).min(self.read_bps / (1.0 - write_share))
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
            let points: Vec<f64> = used.iter().map(|rep| part(Moved::of(rep))).collect();
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
        let bps = |read_bps, write_bps| Moved { read_bps, write_bps }.bps(0.25);
        assert_eq!(bps(750.0, 250.0), 1_000.0);
        assert_eq!(bps(900.0, 150.0), 600.0, "reads do not stand for writes");
        assert_eq!(bps(300.0, 900.0), 400.0);
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
