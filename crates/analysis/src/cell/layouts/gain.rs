//! What a packed layout gains over files, measured and by F18.

use feed::formula::shard_gain;
use record::axis::{self, Places, alike, others};
use record::{ExpectFigures, ExpectTarget, RunRecord};

use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::cell::operation;
use crate::cell::rate::Rate;
use crate::cell::samples::{FILES, payload, samples};
use crate::cell::training::closed_loops::is_closed;

/// A packed cell against files at the same depth.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutGain {
    /// Name of the target.
    pub target: String,
    /// Layout of the packed cell.
    pub layout: String,
    /// Bytes of a sample before it was packed; absent for data that were there before.
    pub payload_bytes: Option<f64>,
    /// Reads outstanding in both.
    pub queue_depth: u32,
    /// Index of the packed cell into [`crate::Summary::cells`].
    pub packed: usize,
    /// Index of the fastest cell that reads files at that depth.
    pub files: usize,
    /// Samples per second of the packed cell.
    pub samples_per_s: Rate,
    /// Samples per second of the files.
    pub files_samples_per_s: Rate,
    /// The one by the other, by their means.
    pub gain: f64,
    /// What F18 says of it; absent where latency or rate of a connection are not known.
    pub predicted: Option<PredictedGain>,
    /// Whether either has a doubt that forbids a verdict, or is the client's own limit.
    pub is_doubtful: bool,
}

/// The gain that follows from the latency of a request and the rate of a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedGain {
    /// Samples per second of one stream of shards by those of one stream of files. Limits that all streams share are not
    /// in it.
    pub gain: f64,
    /// Samples that one request brings.
    pub samples_per_request: f64,
    /// Seconds from a request to its first byte.
    pub first_byte_s: f64,
    /// Bytes per second of one connection.
    pub connection_bps: f64,
    /// Whether the figures are claimed; else they are what an emulated server was asked to be like.
    pub of_claim: bool,
}

/// Every packed cell that has files of the same samples beside it.
pub(super) fn of_cells(record: &RunRecord, cells: &[CellSummary]) -> Vec<LayoutGain> {
    let layout =
        |cell: &CellSummary| record.run.datasets.get(cell.cell.dataset).map(|one| one.layout.as_str());
    let is_read = |cell: &CellSummary| {
        cell.storage && is_closed(cell) && operation::reads_samples(&cell.cell) && cell.figures().is_some()
    };
    let read = || cells.iter().enumerate().filter(|(_, cell)| is_read(cell));
    let files =
        read().filter(|(_, cell)| layout(cell) == Some(FILES)).map(|(index, cell)| (index, &cell.cell));
    let files = Places::of(&record.run, files, others(axis::LAYOUTS));
    let packed = read().filter(|(_, cell)| layout(cell).is_some_and(|layout| layout != FILES));
    packed.map(|(index, _)| index).filter_map(|index| of_cell(record, cells, index, &files)).collect()
}

fn of_cell(record: &RunRecord, cells: &[CellSummary], packed: usize, files: &Places) -> Option<LayoutGain> {
    let cell = &cells[packed];
    let rate = |index: &usize| cells[*index].figures().map_or(0.0, |figures| figures.samples_per_s.mean);
    let beside = files
        .beside(&record.run, &cell.cell)
        .iter()
        .copied()
        .filter(|index| is_alike(record, cell, &cells[*index]));
    // Against the fastest files: anything else would credit packing with what a better setting of files gains as well.
    let files = beside.max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let (of_packed, of_files) = (cell.figures()?, cells[files].figures()?);
    if of_files.samples_per_s.mean <= 0.0 {
        return None;
    }
    let is_doubtful = |figures: &Figures| !figures.is_valid() || figures.is_client_limited();
    Some(LayoutGain {
        target: cell.cell.target.clone(),
        layout: record.run.datasets.get(cell.cell.dataset)?.layout.clone(),
        payload_bytes: payload(&cell.cell),
        queue_depth: cell.cell.queue_depth,
        packed,
        files,
        samples_per_s: of_packed.samples_per_s,
        files_samples_per_s: of_files.samples_per_s,
        gain: of_packed.samples_per_s.mean / of_files.samples_per_s.mean,
        predicted: predicted(record, cell, &cells[files]),
        is_doubtful: is_doubtful(of_packed) || is_doubtful(of_files),
    })
}

/// Whether the same samples are read at one depth of one target, both from storage or both from memory.
fn is_alike(record: &RunRecord, packed: &CellSummary, files: &CellSummary) -> bool {
    let (a, b) = (&packed.cell, &files.cell);
    let datasets = &record.run.datasets;
    let same_samples = match (payload(a), payload(b), datasets.get(a.dataset), datasets.get(b.dataset)) {
        // By the payload where the scenario gives it, as padding and headers make the stored sizes differ by design.
        (Some(a), Some(b), ..) => (a / b - 1.0).abs() < 1e-9,
        (_, _, Some(a), Some(b)) => samples(a) == samples(b),
        _ => false,
    };
    same_samples && alike(&record.run, a, b, axis::LAYOUTS)
}

fn predicted(record: &RunRecord, packed: &CellSummary, files: &CellSummary) -> Option<PredictedGain> {
    let expect = record.run.expect.as_ref()?;
    let way = expect.targets.iter().find(|known| known.target == packed.cell.target)?;
    // A claim is somebody's word on this storage, and comes before what an emulated server was asked to be like.
    let claim = expect.claim.as_ref().map(|claim| claim.figures);
    let figures: ExpectFigures = claim.or(way.emulated)?;
    let (first_byte_s, connection_bps) = (figures.first_byte_s?, figures.connection_bps?);
    let sample_bytes = files.sample_bytes?;
    let samples_per_request = samples_per_request(packed, way)?;
    let gain = shard_gain(first_byte_s, sample_bytes, connection_bps, samples_per_request);
    gain.is_finite().then_some(PredictedGain {
        gain,
        samples_per_request,
        first_byte_s,
        connection_bps,
        of_claim: claim.is_some(),
    })
}

/// Samples that one request of the storage brings: what an operation reads, or a block of it where the object is fetched in
/// blocks.
fn samples_per_request(cell: &CellSummary, way: &ExpectTarget) -> Option<f64> {
    let figures = cell.figures().filter(|figures| figures.ops > 0)?;
    let of_op = figures.bytes as f64 / figures.ops as f64;
    // S3 gets an object in one request, NFS in as many READs as blocks: F18 counts round trips.
    let is_whole = cell.reads_whole_files() && way.one_at_a_time;
    let bytes = if is_whole { of_op } else { of_op.min(cell.cell.block_bytes as f64) };
    Some((bytes / cell.sample_bytes?).max(1.0))
}
