//! Cells arranged as curves of throughput against queue depth, and what the shape of a curve says.

mod distinction;
pub(crate) mod model;
pub(crate) mod prediction;
pub(crate) mod treatment;

use record::axis::{self, Groups, agree, alike, others};
use record::{Axis, AxisWords, Cell, Datasets, Target};

use crate::cell::cell_summary::CellSummary;
use crate::cell::need::LineAt;
use crate::cell::operation;
use crate::cell::set_apart::is_set;
use crate::cell::training::closed_loops::is_closed;
use crate::curve::model::Model;

use distinction::{Apart, distinctions, layout};
use treatment::FromMemory;

pub use distinction::Distinction;
pub use treatment::{Caching, Treatment};

// Throughput of storage that is limited by its bandwidth still wavers by a few percent from depth to depth: a stricter
// limit would call no real curve flat.
/// Gain over the last two doublings of depth below which a curve is flat.
pub(crate) const FLAT_GAIN_MAX: f64 = 0.05;
// Less than a tenth is what queueing costs on sound storage as well. More, with intervals apart, is contention.
/// Share of its peak below which the deepest point has fallen.
const FALLEN_SHARE: f64 = 0.90;
// Little: with a fixed latency, twice the depth is twice the rate. A fifth is left for the latency that grows a little
// before anything saturates.
/// Share of the gain in depth from which throughput counts as proportional to it.
const PROPORTIONAL_SHARE: f64 = 0.80;
/// Two doublings.
const SPAN_MIN: u32 = 4;

/// Curves that may be drawn together: the same samples in one form, blocks, order and cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// How the samples lie, `webdataset`; absent where every sample of the run is a file.
    pub layout: Option<String>,
    /// Bytes of one sample; absent when the record does not say.
    pub sample_bytes: Option<f64>,
    /// What sets their dataset apart from others of this layout and size; empty where the scenario lists no several.
    pub form: Vec<AxisWords>,
    /// What is done over and over, and in which pieces.
    pub pieces: Pieces,
    /// Order of the reads.
    pub access: String,
    /// The caches before its first cell's storage.
    pub caching: Caching,
    /// Every treatment, with who had it: more than one where each target could be read from storage in one way alone.
    pub treatments: Vec<Treatment>,
    /// The line of all its cells; absent without a need.
    pub line: Option<LineAt>,
    /// Its curves, in the order of the scenario.
    pub curves: Vec<Curve>,
    /// The first of its cells.
    pub(crate) first: Cell,
}

impl Panel {
    /// Whether a cell is read in this way, by whatever load.
    pub(crate) fn is_way_of(&self, run: &impl Datasets, cell: &CellSummary) -> bool {
        agree(run, &self.first, &cell.cell, axis::PANEL)
            && self.treatments.iter().any(|known| known.caching == Caching::of(&cell.cell))
    }

    /// Whether a cell may be drawn here although its treatment is another: both read from storage.
    fn takes_in(&self, run: &impl Datasets, cell: &CellSummary) -> bool {
        agree(run, &self.first, &cell.cell, axis::PANEL)
            && [&self.first, &cell.cell].into_iter().all(treatment::reaches)
    }

    /// Whether the scenario asks for samples of one size in both ways, however many bytes are stored for them.
    pub(crate) fn asks_for_samples_of(&self, other: &Self) -> bool {
        let asked = self.first.said_along(Axis::SampleBytes);
        asked.is_some() && asked == other.first.said_along(Axis::SampleBytes)
    }

    /// What comes from this client's page cache in this way of reading.
    pub(crate) fn lets_come(&self) -> FromMemory {
        treatment::from_memory(&self.first.cache)
    }

    /// Whether some treatment is one of both.
    pub(crate) fn is_treated_like(&self, other: &Self) -> bool {
        self.treatments.iter().any(|one| other.treatments.iter().any(|two| one.caching == two.caching))
    }

    /// The way in which a cell is read, without its curves.
    pub(crate) fn of(cell: &CellSummary) -> Self {
        Self {
            layout: layout(&cell.cell),
            sample_bytes: cell.sample_bytes,
            form: cell.cell.form().cloned().collect(),
            pieces: Pieces {
                operation: cell.cell.operation.to_string(),
                write_percent: cell.cell.write_percent,
                block_bytes: cell.cell.block_bytes,
            },
            access: cell.cell.access.to_string(),
            caching: Caching::of(&cell.cell),
            treatments: vec![Treatment::of(cell)],
            line: cell.line,
            curves: Vec::new(),
            first: cell.cell.clone(),
        }
    }
}

/// What is done over and over, and in which pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// `read`, `read_file`, `write`, `mix`.
    pub operation: String,
    /// Share of them that is written, percent, of a mix.
    pub write_percent: Option<u8>,
    /// Bytes of one, at most.
    pub block_bytes: u64,
}

/// One target read by one engine over queue depth.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name of the target.
    pub target: String,
    /// Its title, for plots.
    pub title: String,
    /// Engine that issues the reads.
    pub engine: String,
    /// What else distinguishes this curve; often empty.
    pub distinctions: Vec<Distinction>,
    /// False for the null target.
    pub storage: bool,
    /// Whether feedline started its server itself: then it clears nothing.
    pub demo: bool,
    /// Indices into [`crate::Summary::cells`], from the shallowest on.
    pub cells: Vec<usize>,
    /// Index of the first cell whose interval clears the line.
    pub clears_at: Option<usize>,
    /// What its course says; absent below two doublings of depth.
    pub shape: Option<Shape>,
    /// What latency and the top rate alone would make of it; absent without depth 1, and below four depths.
    pub model: Option<Model>,
}

/// What the course of a curve says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Under 5 % gain over the last two doublings.
    Flat {
        /// The shallowest depth that no deeper one beats by 5 %.
        from: u32,
    },
    /// The deepest point lies more than 10 % below the peak.
    Falling {
        /// Depth of the peak.
        beyond: u32,
    },
    /// Throughput grows with the depth.
    Proportional {
        /// Latency by Little's law: depth by reads per second, nanoseconds.
        latency_ns: f64,
        /// Depth that the line needs at that latency; absent without a line.
        depth_needed: Option<f64>,
    },
    /// Grows, less than the depth does, up to its deepest point.
    Rising {
        /// The deepest depth measured.
        deepest: u32,
    },
}

/// Whether a cell has no place on a curve of throughput against depth: it moves no samples, or a schedule or a training
/// job and not the depth decides what it moves.
fn is_apart(cell: &CellSummary) -> bool {
    !operation::moves_samples(&cell.cell) || !is_closed(cell)
}

/// Arranges cells as panels of curves, in the order of the scenario.
pub(crate) fn panels(cells: &[CellSummary], run: &impl Datasets, targets: &[Target]) -> Vec<Panel> {
    let (mut panels, mut curves): (Vec<Panel>, Vec<Groups>) = (Vec::new(), Vec::new());
    let mut ways = Groups::along(axis::PANEL.iter().copied());
    // Whether cold and bypassing cells share panels is decided once for the run: decided for each cell it would depend
    // on the order of the scenario.
    let joins = treatment::may_join(&cells.iter().filter(|cell| !is_apart(cell)));
    let apart = apart(cells, run);
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| !is_apart(cell)) {
        let takes = |at: usize| {
            let panel: &Panel = &panels[at];
            panel.is_way_of(run, cell) || (joins && panel.takes_in(run, cell))
        };
        let at = ways.place(run, &cell.cell, takes);
        if at == panels.len() {
            panels.push(Panel::of(cell));
            curves.push(Groups::along(others(axis::CURVE)));
        }
        panels[at].add(index, &mut curves[at], cells, apart[index], (run, targets));
    }
    for curve in panels.iter_mut().flat_map(|panel| &mut panel.curves) {
        curve.finish(cells);
    }
    panels
}

/// For each cell, what sets its curve apart: with one point for each depth, each of several numbers of threads or streams at
/// one depth is a curve.
fn apart(cells: &[CellSummary], run: &impl Datasets) -> Vec<Apart> {
    let mut along_depth: Vec<Vec<usize>> = Vec::new();
    let mut groups = Groups::along(others(axis::CURVE));
    for (index, cell) in cells.iter().enumerate() {
        let is_of = |of: usize| alike(run, &cells[along_depth[of][0]].cell, &cell.cell, axis::CURVE);
        let of = groups.place(run, &cell.cell, is_of);
        if of == along_depth.len() {
            along_depth.push(Vec::new());
        }
        along_depth[of].push(index);
    }
    let mut apart = vec![Apart { threads: false, streams: false }; cells.len()];
    for of in along_depth {
        let related: Vec<&Cell> = of.iter().map(|index| &cells[*index].cell).collect();
        let [threads, streams] = [Axis::Threads, Axis::Streams].map(|axis| is_set(run, &related, axis));
        for index in of {
            apart[index] = Apart { threads, streams };
        }
    }
    apart
}

impl Panel {
    /// Adds a cell to its curve, among those that `curves` knows.
    fn add(
        &mut self,
        index: usize,
        curves: &mut Groups,
        cells: &[CellSummary],
        apart: Apart,
        (run, targets): (&impl Datasets, &[Target]),
    ) {
        let cell = &cells[index];
        treatment::add(&mut self.treatments, cell);
        let but = apart.may_differ();
        let is_of = |curve: usize| alike(run, &cells[self.curves[curve].cells[0]].cell, &cell.cell, &but);
        let at = curves.place(run, &cell.cell, is_of);
        if let Some(curve) = self.curves.get_mut(at) {
            curve.cells.push(index);
            return;
        }
        let target = targets.iter().find(|target| target.name == cell.cell.target);
        self.curves.push(Curve {
            target: cell.cell.target.clone(),
            title: target.map_or_else(|| cell.cell.target.clone(), |target| target.title.clone()),
            engine: cell.cell.engine.clone(),
            distinctions: distinctions(&cell.cell, apart),
            storage: cell.storage,
            demo: target.is_some_and(|target| target.demo),
            cells: vec![index],
            clears_at: None,
            shape: None,
            model: None,
        });
    }
}

impl Curve {
    fn finish(&mut self, cells: &[CellSummary]) {
        self.cells.sort_by_key(|index| cells[*index].cell.queue_depth);
        self.clears_at = self.cells.iter().copied().find(|index| {
            let cell = &cells[*index];
            cell.storage
                && !self.demo
                && cell.clears()
                && cell.figures().is_some_and(crate::Figures::is_valid)
        });
        let points: Vec<Point> = self.cells.iter().filter_map(|index| Point::of(&cells[*index])).collect();
        self.shape = shape(&points);
        let cells: Vec<&CellSummary> = self.cells.iter().map(|index| &cells[*index]).collect();
        self.model = if self.storage { Model::of(&cells) } else { None };
    }
}

/// A point that says something about the storage: valid and not the client's own limit.
#[derive(Debug, Clone, Copy)]
struct Point {
    depth: u32,
    bps: f64,
    ops_per_s: f64,
    line_bps: Option<f64>,
    /// Lowest and highest rate of the interval; absent without one.
    span: Option<(f64, f64)>,
}

impl Point {
    fn of(cell: &CellSummary) -> Option<Self> {
        // A doubtful point or one that shows the client would bend the curve by something that is not the storage.
        let figures = cell.figures().filter(|figures| figures.is_valid() && !figures.is_client_limited())?;
        Some(Self {
            depth: cell.cell.queue_depth,
            bps: figures.bps.mean,
            ops_per_s: figures.ops_per_s,
            line_bps: cell.line.map(|line| line.bps),
            span: figures.bps.interval.map(|interval| (interval.low, interval.high)),
        })
    }
}

fn shape(points: &[Point]) -> Option<Shape> {
    let last = points.last()?;
    let before = points.iter().rposition(|point| point.depth.saturating_mul(SPAN_MIN) <= last.depth)?;
    let peak = points.iter().max_by(|a, b| a.bps.total_cmp(&b.bps))?;
    // Both: a fall within the intervals may be chance, and a small one that is certain is no contention.
    let lies_below = last.span.zip(peak.span).is_some_and(|(last, peak)| last.1 < peak.0);
    if last.bps < peak.bps * FALLEN_SHARE && lies_below {
        return Some(Shape::Falling { beyond: peak.depth });
    }
    // Falling is looked for before flat: a curve that falls after its peak may be flat up to it.
    if is_flat_from(points, before) {
        let from = (0..=before).find(|index| is_flat_from(points, *index)).unwrap_or(before);
        return Some(Shape::Flat { from: points[from].depth });
    }
    let base = points[before];
    let gain = last.bps / base.bps;
    if gain >= PROPORTIONAL_SHARE * f64::from(last.depth) / f64::from(base.depth) {
        return Some(Shape::Proportional {
            latency_ns: f64::from(last.depth) / last.ops_per_s * 1e9,
            depth_needed: last.line_bps.map(|line| f64::from(last.depth) * line / last.bps),
        });
    }
    // A curve that neither falls, nor is flat, nor proportional is only said to rise where its last step is more than
    // chance: else nothing is said.
    rises_at_its_end(points).then_some(Shape::Rising { deepest: last.depth })
}

/// Whether the deepest point lies above the one before for more than chance.
fn rises_at_its_end(points: &[Point]) -> bool {
    let [.., before, last] = points else { return false };
    before.span.zip(last.span).is_some_and(|(before, last)| last.0 > before.1)
}

fn is_flat_from(points: &[Point], index: usize) -> bool {
    points[index + 1..].iter().all(|point| point.bps < points[index].bps * (1.0 + FLAT_GAIN_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Asked, Builder};
    use crate::summarise;

    /// How often the run is asked while so many panels of three engines are arranged, and how many curves there are.
    fn asked(panels_wanted: u64) -> (u32, usize) {
        let mut builder = Builder::new();
        for block_bytes in 1..=panels_wanted {
            for (engine, depth) in [("io_uring", 1), ("io_uring", 8), ("pread", 1), ("mmap", 1)] {
                let name = format!("{engine}/{block_bytes}/{depth}");
                builder.cell(&name, "disk", depth);
                builder.edit_cell(&name, |cell| {
                    (cell.block_bytes, cell.engine) = (block_bytes, engine.to_owned());
                });
            }
        }
        let record = builder.record();
        let cells = summarise(&record).cells;
        let run = Asked::of(&record.run);
        let panels = panels(&cells, &run, &record.run.targets);
        assert_eq!(panels.len() as u64, panels_wanted);
        (run.times(), panels.iter().map(|panel| panel.curves.len()).sum())
    }

    #[test]
    fn cells_are_held_against_those_alone_that_may_be_of_their_panel_or_their_curve() {
        let (of_ten, curves) = asked(10);
        assert_eq!((asked(200), curves), ((20 * of_ten, 20 * curves), 30), "twenty times the work");
    }

    fn shape_of(curve: &[(u32, f64)]) -> Option<Shape> {
        let point = |(depth, bps): &(u32, f64)| Point {
            depth: *depth,
            bps: *bps,
            ops_per_s: bps / 1e5,
            line_bps: Some(1_000e5),
            span: Some((bps * 0.99, bps * 1.01)),
        };
        shape(&curve.iter().map(point).collect::<Vec<_>>())
    }

    #[test]
    fn a_curve_that_gains_under_five_percent_over_two_doublings_is_flat() {
        let curve = [(1, 1e7), (8, 6e7), (16, 9e7), (32, 10.0e7), (64, 10.2e7), (128, 10.3e7)];
        assert_eq!(shape_of(&curve), Some(Shape::Flat { from: 32 }));
        let still = [(1, 1e7), (8, 6e7), (16, 9e7), (32, 10.0e7), (64, 10.2e7), (128, 10.6e7)];
        assert_eq!(shape_of(&still), Some(Shape::Rising { deepest: 128 }));
        let by_chance = [(1, 1e7), (8, 6e7), (16, 9e7), (32, 10.0e7), (64, 10.5e7), (128, 10.6e7)];
        assert_eq!(shape_of(&by_chance), None, "the last two intervals overlap");
    }

    #[test]
    fn two_doublings_are_needed_to_say_anything() {
        assert_eq!(shape_of(&[(8, 1e7), (16, 1e7)]), None);
        assert_eq!(shape_of(&[(8, 1e7)]), None);
        assert_eq!(shape_of(&[]), None);
        assert_eq!(shape_of(&[(8, 1e7), (32, 1e7)]), Some(Shape::Flat { from: 8 }));
    }

    #[test]
    fn a_curve_in_proportion_to_depth_is_latency_bound() {
        // 16 reads in flight at 400 reads/s: 40 ms each; the line of 1,000 reads/s needs 40 in flight.
        let Some(Shape::Proportional { latency_ns, depth_needed }) =
            shape_of(&[(1, 25e5), (4, 100e5), (16, 400e5)])
        else {
            panic!("not proportional");
        };
        assert!((latency_ns - 40e6).abs() < 1.0);
        assert!((depth_needed.unwrap() - 40.0).abs() < 1e-9);
    }

    #[test]
    fn a_curve_past_its_peak_falls() {
        assert_eq!(shape_of(&[(4, 1e7), (16, 3e7), (64, 2e7)]), Some(Shape::Falling { beyond: 16 }));
    }
}
