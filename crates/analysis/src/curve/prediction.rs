//! What follows from a claim, or from the settings of an emulated server, beside what was measured.

mod line;

#[cfg(test)]
mod tests;

use feed::Access;
use feed::bounds::{self, Burst, InFlight, Operation, Prediction, Settings};
use record::{Claim, ExpectBurst, ExpectFigures, ExpectTarget, RunRecord, Target};

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::training::closed_loops::is_closed;
use crate::curve::model::Model;
use crate::curve::{self, Panel};

pub use line::{InFlightAtLine, LineAsks, Transfer};

// As near as the formulas are: they leave out what a client spends between two operations, and the distribution of
// latencies.
/// A measured rate agrees with its prediction within this share of it.
const AGREES_SHARE: f64 = 0.10;

/// The predictions of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// What the scenario claims; absent where predictions rest on emulated servers alone.
    pub claim: Option<Claim>,
    /// Targets of which something follows, in the order of the scenario.
    pub targets: Vec<TargetPrediction>,
}

/// The predictions of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetPrediction {
    /// Its name.
    pub target: String,
    /// Whether feedline started its server: then formula and server agree, or do not, and no storage was judged.
    pub demo: bool,
    /// Whether the figures are those of the claim, and not of its server's own settings.
    pub of_claim: bool,
    /// Cells with figures, in the order of the scenario.
    pub cells: Vec<CellPrediction>,
    /// What the line asks of each way of reading.
    pub at_line: Vec<LineAsks>,
    /// Where the claim and the server's settings differ.
    pub differences: Vec<ClaimDifference>,
}

/// A figure that is claimed otherwise than the server was set to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClaimDifference {
    /// Which one.
    pub figure: ClaimFigure,
    /// What is claimed, in seconds, bytes per second or requests per second; absent where nothing is.
    pub claimed: Option<f64>,
    /// What the server was asked for; absent where nothing was.
    pub asked: Option<f64>,
}

/// A figure of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimFigure {
    /// Seconds to the first byte.
    FirstByte,
    /// Seconds of a look at a name.
    Metadata,
    /// Bytes per second of one connection.
    ConnectionRate,
    /// Bytes per second of all of them.
    TotalRate,
    /// Requests per second.
    Requests,
    /// Seconds of a seek.
    Seek,
}

/// One cell against its prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct CellPrediction {
    /// Index into [`crate::Summary::cells`].
    pub cell: usize,
    /// What is done over and over.
    pub operation: Operation,
    /// What follows from the settings; of what bursts, once no credits are left.
    pub predicted: Prediction,
    /// The same while credits last; absent where nothing bursts.
    pub bursting: Option<Prediction>,
    /// Operations per second that were measured, in the mean.
    pub measured_ops_per_s: f64,
    /// Bytes per second that were measured; 0 where no bytes are moved.
    pub measured_bps: f64,
    /// Whether the figures have a doubt that forbids a verdict, or are the client's own limit.
    pub is_doubtful: bool,
}

impl CellPrediction {
    /// Measured by predicted. Of what bursts each rate from the lower to the higher is as predicted, since only the storage knows
    /// how many credits were left: the nearer of both counts.
    pub fn ratio(&self) -> f64 {
        let lower = self.predicted.ops_per_s;
        let higher = self.bursting.map_or(lower, |bursting| bursting.ops_per_s).max(lower);
        self.measured_ops_per_s / self.measured_ops_per_s.clamp(lower, higher)
    }

    /// Whether it is within a tenth of the prediction.
    pub fn agrees(&self) -> bool {
        (self.ratio() - 1.0).abs() <= AGREES_SHARE
    }
}

/// The curves of a run, with what was to be expected drawn into them; predictions are `None` where nothing was said beforehand.
pub(crate) fn curves(record: &RunRecord, cells: &[CellSummary]) -> (Vec<Panel>, Option<Predictions>) {
    let mut panels = curve::panels(cells, &record.run, &record.run.targets);
    let predictions = of_run(record, cells);
    if let Some(predictions) = &predictions {
        draw(record, predictions, cells, &mut panels);
    }
    (panels, predictions)
}

fn of_run(record: &RunRecord, cells: &[CellSummary]) -> Option<Predictions> {
    let expect = record.run.expect.as_ref()?;
    let storage = record.run.targets.iter().filter(|target| target.storage);
    let predicted = storage.filter_map(|target| {
        let known = expect.targets.iter().find(|known| known.target == target.name)?;
        of_target(target, known, expect.claim.as_ref(), cells)
    });
    Some(Predictions { claim: expect.claim.clone(), targets: predicted.collect() })
}

fn of_target(
    target: &Target,
    known: &ExpectTarget,
    claim: Option<&Claim>,
    cells: &[CellSummary],
) -> Option<TargetPrediction> {
    // The claim is what was said of a storage; how a server was set matters where nothing was claimed.
    let figures = claim.map(|claim| &claim.figures).or(known.emulated.as_ref())?;
    let settings = settings(figures, known.prefixes);
    let of_target = cells.iter().enumerate().filter(|(_, cell)| cell.cell.target == target.name);
    let cells: Vec<(&CellSummary, CellPrediction)> =
        of_target.filter_map(|(index, cell)| Some((cell, of_cell(index, cell, &settings, known)?))).collect();
    let differences = claim.zip(known.emulated.as_ref());
    Some(TargetPrediction {
        target: target.name.clone(),
        demo: target.demo,
        of_claim: claim.is_some(),
        at_line: line::asks(&settings, cells.iter().map(|(cell, one)| (*cell, &one.operation))),
        cells: cells.into_iter().map(|(_, cell)| cell).collect(),
        differences: differences.map_or_else(Vec::new, |(claim, own)| differing(&claim.figures, own)),
    })
}

fn of_cell(
    index: usize,
    cell: &CellSummary,
    settings: &Settings,
    way: &ExpectTarget,
) -> Option<CellPrediction> {
    // What a schedule offers, a training job takes, or a cache serves, is no measure of what storage could do.
    if !is_closed(cell) || cell.cell.tier.is_some() {
        return None;
    }
    let measured = Measured::of(cell)?;
    let operation = operation(cell, measured.bytes_per_op, way)?;
    let in_flight = InFlight {
        operations: cell.cell.queue_depth,
        connections: cell.cell.connections,
        one_at_a_time: way.one_at_a_time,
    };
    Some(CellPrediction {
        cell: index,
        operation,
        predicted: bounds::predict(settings, &operation, in_flight)?,
        bursting: settings.bursting().and_then(|settings| bounds::predict(&settings, &operation, in_flight)),
        measured_ops_per_s: measured.ops_per_s,
        measured_bps: measured.bps,
        is_doubtful: measured.is_doubtful,
    })
}

struct Measured {
    ops_per_s: f64,
    bps: f64,
    bytes_per_op: f64,
    is_doubtful: bool,
}

impl Measured {
    fn of(cell: &CellSummary) -> Option<Self> {
        match &cell.measured {
            Measurement::Figures(figures) if figures.ops > 0 => Some(Self {
                ops_per_s: figures.ops_per_s,
                bps: figures.bps.mean,
                bytes_per_op: figures.bytes as f64 / figures.ops as f64,
                is_doubtful: !figures.is_valid() || figures.is_client_limited(),
            }),
            Measurement::Operations(operations) => Some(Self {
                ops_per_s: operations.ops_per_s.mean,
                bps: 0.0,
                bytes_per_op: 0.0,
                is_doubtful: operations.flags.iter().any(|flag| {
                    flag.is_client_limit() || flag.gravity() == crate::cell::flag::Gravity::ForbidsVerdict
                }),
            }),
            Measurement::Figures(_) | Measurement::Failed { .. } | Measurement::NotRun { .. } => None,
        }
    }
}

/// What a cell does over and over; `None` for what no formula covers: listings, whose requests follow from the names
/// that they find, and files in parts.
fn operation(cell: &CellSummary, bytes: f64, way: &ExpectTarget) -> Option<Operation> {
    let sample_bytes = cell.sample_bytes.unwrap_or(bytes);
    let blocks = (sample_bytes / cell.cell.block_bytes.max(1) as f64).ceil().max(1.0);
    let is_file = cell.reads_whole_files();
    let moves = match cell.cell.access.known() {
        Some(Access::Random) => 1.0,
        // How far its files lie apart is nobody's to say.
        Some(Access::List) => return None,
        Some(Access::ShuffledEpoch) => {
            if is_file {
                1.0
            } else {
                1.0 / blocks
            }
        }
        _ => 0.0,
    };
    match cell.cell.operation.known() {
        Some(feed::Operation::Read) => Some(Operation { bytes, reads: 1.0, lookups: 0.0, moves }),
        Some(feed::Operation::ReadFile) if !way.in_parts => Some(Operation {
            bytes,
            // Where a connection has one request at a time, a whole object is one request.
            reads: if way.one_at_a_time { 1.0 } else { blocks },
            lookups: f64::from(way.lookups_per_file),
            moves,
        }),
        Some(feed::Operation::Stat | feed::Operation::GetAttr) => {
            Some(Operation { lookups: 1.0, ..Operation::default() })
        }
        _ => None,
    }
}

fn settings(figures: &ExpectFigures, prefixes: u32) -> Settings {
    Settings {
        first_byte_s: figures.first_byte_s,
        metadata_s: figures.metadata_s,
        connection_bps: figures.connection_bps,
        total_bps: figures.total_bps,
        requests_per_s: figures.requests_per_s,
        byte_burst: figures.byte_burst.map(burst),
        request_burst: figures.request_burst.map(burst),
        prefixes,
        seek_s: figures.seek_s,
    }
}

fn burst(ExpectBurst { per_s, credits }: ExpectBurst) -> Burst {
    Burst { per_s, credits }
}

/// Relative difference below which two figures are one.
const SAME: f64 = 1e-6;

/// The figures that are two, or of which one side alone says anything.
fn differing(claim: &ExpectFigures, server: &ExpectFigures) -> Vec<ClaimDifference> {
    let figures = [
        (ClaimFigure::FirstByte, claim.first_byte_s, server.first_byte_s),
        (ClaimFigure::Metadata, claim.metadata_s, server.metadata_s),
        (ClaimFigure::ConnectionRate, claim.connection_bps, server.connection_bps),
        (ClaimFigure::TotalRate, claim.total_bps, server.total_bps),
        (ClaimFigure::Requests, claim.requests_per_s, server.requests_per_s),
        (ClaimFigure::Seek, claim.seek_s, server.seek_s),
    ];
    let differ = |one: &ClaimDifference| match (one.claimed, one.asked) {
        (Some(claim), Some(server)) => (claim / server - 1.0).abs() > SAME,
        (claim, server) => claim.is_some() != server.is_some(),
    };
    let figures = figures.into_iter();
    figures
        .map(|(figure, claimed, asked)| ClaimDifference { figure, claimed, asked })
        .filter(differ)
        .collect()
}

/// Puts the predicted course into the curves in place of the one from measured values.
fn draw(record: &RunRecord, predictions: &Predictions, cells: &[CellSummary], panels: &mut [Panel]) {
    let Some(expect) = &record.run.expect else { return };
    for curve in panels.iter_mut().flat_map(|panel| &mut panel.curves) {
        let known = expect.targets.iter().find(|known| known.target == curve.target);
        let of_target = predictions.targets.iter().find(|of| of.target == curve.target);
        let deepest = of_target.and_then(|of| {
            // In the order of the scenario, as the cells of the run are.
            let of_cell = |index| of.cells.binary_search_by_key(index, |one| one.cell).ok();
            let of_curve = curve.cells.iter().filter_map(of_cell).map(|at| &of.cells[at]);
            of_curve.max_by_key(|one| (cells[one.cell].cell.queue_depth, one.cell))
        });
        let Some(((known, figures), deepest)) = known
            .and_then(|known| {
                let claimed = predictions.claim.as_ref().map(|claim| claim.figures);
                Some((known, claimed.or(known.emulated)?))
            })
            .zip(deepest)
        else {
            continue;
        };
        let cell = &cells[deepest.cell].cell;
        curve.model = Some(course(&settings(&figures, known.prefixes), deepest, cell, known));
    }
}

/// The smaller of what latency and what the limits leave, over the depth.
fn course(settings: &Settings, of: &CellPrediction, cell: &record::Cell, way: &ExpectTarget) -> Model {
    let alone_s = settings.operation_s(&of.operation);
    let connections = cell.connections;
    let in_flight = InFlight { operations: cell.queue_depth, connections, one_at_a_time: way.one_at_a_time };
    // No curve is drawn through measured points: a prediction that was fitted to them would agree with anything.
    let limits = settings.limits(&of.operation, in_flight).map(|(ops_per_s, _)| ops_per_s);
    let waiting = (way.one_at_a_time && connections > 0).then(|| f64::from(connections) / alone_s);
    let highest_ops_per_s = limits.chain(waiting).fold(f64::INFINITY, f64::min);
    Model {
        latency_ns: alone_s * 1e9,
        read_bytes: of.operation.bytes,
        highest_bps: highest_ops_per_s * of.operation.bytes,
        deepest: cell.queue_depth,
        is_predicted: true,
    }
}
