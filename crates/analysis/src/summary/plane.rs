//! Reads against writes: what each target gave of both at once.

use feed::Operation;

use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::cell::operation;
use crate::cell::rate::Rate;
use crate::cell::training::closed_loops::is_closed;
use crate::curve::treatment::{self, FromMemory};
use crate::summary::Summary;

/// What one target gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// Name of the target.
    pub target: String,
    /// Whether feedline started its server itself, or slows it down.
    pub demo: bool,
    /// Its fastest cell for each share of writes, from reads alone to writes alone, of samples of the size, and writes of the
    /// durability, of the mix that is judged.
    pub points: Vec<PlanePoint>,
    /// Bytes per second that are to be read, and to be written, at the utilization target; absent where not both are asked for.
    pub line: Option<(f64, f64)>,
}

/// The fastest cell of one share of writes.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanePoint {
    /// Name of the cell.
    pub cell: String,
    /// Share of what it moves that it writes, percent: 0 of reads alone, 100 of writes alone.
    pub write_percent: u8,
    /// Bytes read per second.
    pub read_bps: Rate,
    /// Bytes written per second.
    pub write_bps: Rate,
    /// Whether the client, not the storage, was measured, or the cell is not valid.
    pub is_doubtful: bool,
}

/// Each storage that was read and written at once; a share of several blocks, orders and depths is its fastest cell.
// The fastest and not the judged one: the plane shows what is there to be had, and verdicts have their own repetitions.
pub fn planes(summary: &Summary) -> Vec<Plane> {
    let targets = summary.targets.iter().filter(|target| target.storage);
    targets.filter_map(|target| of_target(summary, target)).collect()
}

fn of_target(summary: &Summary, target: &record::Target) -> Option<Plane> {
    let of_target = || summary.cells.iter().filter(|cell| cell.cell.target == target.name);
    // Samples of one size have one line, and what is promised of writes is what they cost: those of the mix that is judged.
    let mut mixes = of_target().filter(|cell| cell.figures().is_some_and(|figures| figures.mix.is_some()));
    let shown = mixes.clone().find(|cell| summary.is_judged(cell)).or_else(|| mixes.next())?;
    let from_storage = of_target().filter(|cell| {
        is_closed(cell)
            && operation::moves_samples(&cell.cell)
            // A mix is one of blocks: to replace an object costs something else.
            && cell.cell.operation != Operation::WriteFile
            && cell.sample_bytes == shown.sample_bytes
            && (cell.cell.durability.is_none() || cell.cell.durability == shown.cell.durability)
            && treatment::from_cache(&cell.cell) == FromMemory::Nothing
    });
    let mut points: Vec<(PlanePoint, f64)> = Vec::new();
    for (cell, figures) in from_storage.filter_map(|cell| Some((cell, cell.figures()?))) {
        let point = point(cell, figures);
        let (is_sound, bps) = (!point.is_doubtful, figures.bps.mean);
        match points.iter_mut().find(|(known, _)| known.write_percent == point.write_percent) {
            Some(known) if (!known.0.is_doubtful, known.1) < (is_sound, bps) => *known = (point, bps),
            Some(_) => {}
            None => points.push((point, bps)),
        }
    }
    let mut points: Vec<PlanePoint> = points.into_iter().map(|(point, _)| point).collect();
    points.sort_by_key(|point| point.write_percent);
    let has_mix = points.iter().any(|point| (1..100).contains(&point.write_percent));
    let line = of_need(summary, shown);
    has_mix.then(|| Plane { target: target.name.clone(), demo: target.demo, points, line })
}

fn point(cell: &CellSummary, figures: &Figures) -> PlanePoint {
    const NOTHING: Rate = Rate { mean: 0.0, interval: None, min: 0.0, max: 0.0 };
    let (write_percent, read_bps, write_bps) = match (&figures.mix, cell.cell.write_percent) {
        (Some(mix), Some(percent)) => (percent, mix.read_bps, mix.write_bps),
        _ if operation::writes_over(&cell.cell) => (100, NOTHING, figures.bps),
        _ => (0, figures.bps, NOTHING),
    };
    PlanePoint {
        cell: cell.cell.cell.clone(),
        write_percent,
        read_bps,
        write_bps,
        is_doubtful: figures.is_client_limited() || !figures.is_valid(),
    }
}

/// What the need asks of a cell's samples, and of writes.
fn of_need(summary: &Summary, cell: &CellSummary) -> Option<(f64, f64)> {
    let need = summary.need.as_ref().ok()?;
    Some((need.line_bps(cell.sample_bytes?), need.write_bps? * need.utilization))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, need_in_bytes, rep};
    use crate::summarise;

    /// A cell for each of these: share of writes, and what it moved by the line.
    fn planes_of(cells: &[(u8, f64)]) -> Vec<Plane> {
        let mut builder = Builder::new();
        builder.run.need = need_in_bytes(1e9);
        builder.run.need.write_bytes_per_s = Some(0.5e9);
        for (number, (percent, moved)) in cells.iter().enumerate() {
            let name = format!("c{number}");
            builder.cell(&name, "disk", 8);
            builder.edit_cell(&name, |cell| match percent {
                0 => {}
                100 => cell.operation = "write".into(),
                percent => (cell.operation, cell.write_percent) = ("mix".into(), Some(*percent)),
            });
            for repetition in 0..3 {
                let mut one = rep(&name, repetition, moved * 1e9);
                let written = one.counters["bytes"] * u64::from(*percent) / 100;
                one.counters.insert("written_bytes".to_owned(), written);
                builder.push(one);
            }
        }
        planes(&summarise(&builder.record()))
    }

    #[test]
    fn each_share_is_its_fastest_cell_between_reads_and_writes_alone() {
        let [plane] = &planes_of(&[(100, 1.0), (30, 1.5), (0, 3.0), (30, 2.0), (30, 1.0)])[..] else {
            panic!()
        };
        let found: Vec<_> = plane.points.iter().map(|point| (point.write_percent, &*point.cell)).collect();
        assert_eq!(found, [(0, "c2"), (30, "c3"), (100, "c0")]);
        let [reads, mix, writes] = &plane.points[..] else { panic!() };
        assert_eq!((reads.write_bps.mean, writes.read_bps.mean), (0.0, 0.0));
        assert!(
            (mix.read_bps.mean / 1.4e9 - 1.0).abs() < 1e-6 && (mix.write_bps.mean / 0.6e9 - 1.0).abs() < 1e-6
        );
        // The builder's utilization is nine tenths.
        assert_eq!(plane.line, Some((0.9e9, 0.45e9)));
    }

    #[test]
    fn without_a_mix_there_is_no_plane() {
        assert!(planes_of(&[(0, 3.0), (100, 1.0)]).is_empty());
    }
}
