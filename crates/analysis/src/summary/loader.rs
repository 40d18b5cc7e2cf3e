//! What a PyTorch `DataLoader` would be given to read as a training cell did.

use feed::{Judgement, formula};

use crate::cell::cell_summary::CellSummary;
use crate::cell::training::predicted::{COPY, STATED_COST};
use crate::summary::Summary;

/// What each accelerator's `DataLoader` would be given.
#[derive(Debug, Clone, PartialEq)]
pub struct DataLoader {
    /// Readers of each accelerator.
    pub readers: u32,
    /// Reads that each of them has under way, at most.
    pub fetches: u32,
    /// Batches that are fetched ahead; 0 where they are fetched once they are waited for.
    pub prefetch: u32,
    /// How long readers took to start before each epoch.
    pub startup_ns: u64,
    /// How far decoding was measured.
    pub decoding: MeasuredDecoding,
    /// What the verdict says whose reads are judged by the cell; absent where none does.
    pub judgement: Option<Judgement>,
    /// Bytes of samples, as stored, that are held ahead on this client; absent where their size is not known.
    pub ahead_bytes: Option<u64>,
}

/// How far decoding was measured with the reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredDecoding {
    /// Nothing was decoded.
    No,
    /// A stated time stood for it.
    StatedCost,
    /// Samples were decoded.
    Yes,
}

impl DataLoader {
    /// `None` for a cell that plays no job, and for one whose reads share a depth: no `DataLoader` reads so.
    pub fn of(summary: &Summary, cell: &CellSummary) -> Option<Self> {
        let job = cell.cell.training.as_ref()?;
        // Reads that share a depth are no `num_workers`: any number would be invented.
        let readers = job.readers.filter(|readers| *readers > 0)?;
        let batches = u64::from(job.accelerators) * u64::from(job.prefetch);
        let ahead_bytes = |bytes: f64| formula::prefetch_bytes(batches, job.batch, bytes).round() as u64;
        let rests = |cells: Option<&str>| cells == Some(cell.cell.cell.as_str());
        // The words that go with the arguments: settings that starve the job must not read like a recommendation.
        let verdict = summary.verdicts.iter().find(|one| rests(one.cell()));
        Some(Self {
            readers,
            fetches: job.fetches,
            prefetch: job.prefetch,
            startup_ns: job.startup_ns,
            decoding: match job.decode.as_deref() {
                None | Some(COPY) => MeasuredDecoding::No,
                Some(STATED_COST) => MeasuredDecoding::StatedCost,
                Some(_) => MeasuredDecoding::Yes,
            },
            judgement: verdict.and_then(|verdict| verdict.of_reads()).map(|reads| reads.judgement),
            ahead_bytes: cell.sample_bytes.map(ahead_bytes),
        })
    }
}
