//! Training loads: which jobs are played and who fetches for them, and the closed loops beside them.

mod job;
mod loader;
mod refused;

use std::collections::BTreeSet;

use feed::{Demand, Need};
use plan::{Decode, Fetch, Load, Training, Work};

use crate::diagnostic::Problems;
use crate::reader::Plain as _;
use crate::written::{DEPTH_MAX, Depths};

use super::amounts;
use super::limits;
use super::schedule::{List, Schedule, Series, Step};
use job::Job;

pub(super) use job::TrainingInput;
pub(super) use loader::depth as loader_depth;
pub(super) use refused::{refuse_beyond_batch, refuse_decoders, refuse_parts, refuse_uneven};

/// Readers of an accelerator where no profile names them: as many as MLPerf's files have at least.
const READERS_DEFAULT: u32 = 4;

/// PyTorch, `torch.utils.data.DataLoader`: `prefetch_factor` is 2, batches for each worker.
const PREFETCH_PER_READER: u32 = 2;

/// The deeper closed loop beside a job reads this many times as deep: it tells whether more reads in flight would help.
// Four and not two: what a doubling gains near the knee is easily lost in the noise of five repetitions.
const DEEPER: u32 = 4;

/// One job, and the reads that it has outstanding.
struct Row {
    training: Training,
    depth: u32,
}

impl Row {
    /// Depths that its readers reach: that of all batches that may be fetched, and one read for each accelerator where most
    /// readers decode.
    fn reaches(&self) -> impl Iterator<Item = u32> {
        let Training { accelerators, fetch, prefetch, decode, batch, fetches, .. } = self.training;
        // No more than a batch has samples, which is exact where each takes one read.
        let fetches = fetches.min(batch.max(1));
        let most = match fetch {
            Fetch::Readers { count } => {
                Some(accelerators.saturating_mul(count.min(prefetch.max(1))).saturating_mul(fetches))
            }
            Fetch::Shared => None,
        };
        let costs = decode.is_some_and(|decode| matches!(decode.work, Work::Cost { .. }));
        most.into_iter().chain(most.filter(|_| costs).map(|_| accelerators))
    }
}

/// Who fetches, and how far ahead.
struct Ways {
    /// Readers of an accelerator; empty where the reads are shared only.
    readers: Vec<u32>,
    /// Depths that the reads of all batches share; empty where readers read.
    shared: Vec<u32>,
    /// Reads of each reader.
    fetches: Vec<u32>,
    /// As written.
    prefetch: Option<Vec<u32>>,
    /// Readers by default.
    usual: u32,
    /// Batches that a profile's readers fetch ahead.
    ahead: Option<u32>,
}

/// Every job, and closed loops of the same reads; `None` when something was wrong, after saying why.
pub(super) fn resolve(asked: &TrainingInput<'_>, problems: &mut Problems) -> Option<Schedule> {
    let before = problems.len();
    refused::refuse_search(asked, problems);
    let job = job::resolve(asked, problems);
    let ways = Ways::of(asked);
    let (job, ways) = (job?, ways?);
    refused::refuse_threads(asked, &job, problems);
    let written = &asked.document.training;
    let depth_span = asked.document.load.queue_depth.span();
    let fetchers = ways.readers.len() + ways.shared.len();
    let lists = vec![
        List { span: written.accelerators.span(), length: job.accelerators.len(), what: "accelerators" },
        List { span: written.readers.span(), length: ways.readers.len(), what: "readers" },
        List { span: depth_span, length: ways.shared.len(), what: "depths" },
        List { span: written.fetches.span(), length: ways.fetches.len(), what: "fetches" },
        List { span: written.prefetch.span(), length: ways.ahead_count(), what: "batches ahead" },
    ];
    let lengths = [job.accelerators.len(), fetchers, ways.fetches.len(), ways.ahead_count()];
    let count = lengths.map(|length| length as u128);
    if let Some(problem) = amounts::too_many_cells(count.iter().product(), &lists) {
        problems.push(problem);
        return None;
    }
    refused::refuse_deep(asked, &job, (&ways.readers, &ways.fetches), problems);
    refused::refuse_fetches(asked, &ways.readers, problems);
    let rows = rows(&job, &ways, asked.host.cores);
    refused::refuse_steps(asked, &job, problems);
    refused::refuse_unheld(asked, &job, problems);
    refused::refuse_memory(asked, rows.iter().map(|row| &row.training), problems);
    // The loops beside a job are feedline's own idea; they may be shallower than it would like, and never
    // refuse a machine.
    let most = limits::depth_max(asked.document, asked.host).min(DEPTH_MAX as u32);
    let closed = beside(&rows, asked.need.map_or(0, |need| need.accelerators), most);
    let jobs = rows.into_iter();
    let series = jobs.map(|row| Series { load: Load::Training(row.training), depths: vec![row.depth] });
    let schedule = Schedule {
        series: series.chain([Series { load: Load::Closed, depths: closed }]).collect(),
        lists,
        auto: false,
        depth_span: depth_span.or(written.readers.span()).or(written.accelerators.span()),
        rate_span: None,
        step: Some(Step { batch: job.batch, compute_ns: job.compute_ns, caveats: job.caveats }),
    };
    (problems.len() == before).then_some(schedule)
}

impl Ways {
    /// `None` when a key was wrong.
    fn of(asked: &TrainingInput<'_>) -> Option<Self> {
        let (written, load) = (&asked.document.training, &asked.document.load);
        let profile = asked.need.and_then(|need| Some((need.readers?, need.prefetch?)));
        let usual = profile.map_or(READERS_DEFAULT, |(readers, _)| readers);
        let shared: Vec<u32> = match load.queue_depth.entry()?.map(|entry| &entry.value) {
            Some(Depths::Listed(axis)) => axis.plain(),
            // A search is refused already.
            Some(Depths::Auto) | None => Vec::new(),
        };
        let readers = written.readers.value_or(if shared.is_empty() { vec![usual] } else { Vec::new() })?;
        let prefetch = written.prefetch.optional()?;
        let fetches = written.fetches.value_or(vec![1])?;
        Some(Self { readers, shared, fetches, prefetch, usual, ahead: profile.map(|(_, ahead)| ahead) })
    }

    /// Readers of an accelerator, with the reads of each.
    fn reading(&self) -> impl Iterator<Item = (u32, u32)> {
        self.readers.iter().flat_map(|count| self.fetches.iter().map(|fetches| (*count, *fetches)))
    }

    fn ahead_count(&self) -> usize {
        self.prefetch.as_ref().map_or(1, Vec::len)
    }

    /// Batches ahead of an accelerator that `readers` fetch for. DLIO's PyTorch loader gives each of them as many as
    /// reach its `prefetch_size` (`data_loader/torch_data_loader.py`: `prefetch_factor = ceil(prefetch_size /
    /// read_threads)`).
    fn prefetch(&self, readers: u32) -> Vec<u32> {
        let unwritten = || match self.ahead {
            // Rounded up for each reader, as PyTorch's loader can only be told a number for each.
            Some(ahead) => readers * ahead.div_ceil(readers),
            None => readers * PREFETCH_PER_READER,
        };
        self.prefetch.clone().unwrap_or_else(|| vec![unwritten()])
    }
}

/// Every job, in the order of the keys: accelerators, readers and then shared reads, batches ahead, depths.
fn rows(job: &Job, ways: &Ways, cores: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    for accelerators in job.accelerators.iter().copied() {
        for (count, fetches) in ways.reading() {
            let of = |prefetch| {
                let training = job.training(accelerators, Fetch::Readers { count }, prefetch, job.decode);
                let training = Training { fetches, ..training };
                Row { training, depth: training.reads_max().unwrap_or(1) }
            };
            rows.extend(ways.prefetch(count).into_iter().map(of));
        }
        let decode = job.decode.map(|decode| by_threads(decode, accelerators, ways.usual, cores));
        for prefetch in ways.prefetch(ways.usual).into_iter().filter(|_| !ways.shared.is_empty()) {
            let training = job.training(accelerators, Fetch::Shared, prefetch, decode);
            rows.extend(ways.shared.iter().map(|depth| Row { training, depth: *depth }));
        }
    }
    rows
}

/// Where reads are shared, threads of their own decode: as many as there would be readers, and for real work at most one
/// for each core.
fn by_threads(decode: Decode, accelerators: u32, readers: u32, cores: u32) -> Decode {
    let readers = accelerators.saturating_mul(readers).min(DEPTH_MAX as u32);
    let usual = match decode.work {
        Work::Cost { .. } => readers,
        Work::Processor { .. }
        | Work::Checksum
        | Work::Copy
        | Work::Gzip
        | Work::Zstd
        | Work::Jpeg
        | Work::Png => readers.min(cores.max(1)),
    };
    Decode { threads: decode.threads.or(Some(usual)), ..decode }
}

/// Depths of the closed loops beside the jobs that are judged: those with the need's accelerators, else those with the
/// most. They are the depths of the jobs, the depths that these reach, and deeper ones up to `depth_max`; no machine is
/// refused for the deeper ones, since the scenario did not ask for them.
fn beside(rows: &[Row], accelerators: u32, depth_max: u32) -> Vec<u32> {
    let most = rows.iter().map(|row| row.training.accelerators).max();
    let needed = rows.iter().map(|row| row.training.accelerators).find(|number| *number == accelerators);
    let judged = rows.iter().filter(|row| Some(row.training.accelerators) == needed.or(most));
    let deeper = |depth: u32| depth.saturating_mul(DEEPER).min(depth_max).max(depth);
    let depths = judged.flat_map(|row| row.reaches().chain([row.depth, deeper(row.depth)]));
    depths.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The need restated for the job's step, so that the line is reached where the utilization is. A need stated in bytes
/// stays, and so do bytes that are held.
pub(super) fn restated(mut need: Need, step: &Step) -> Need {
    need.caveats.extend(step.caveats.iter().cloned());
    if let Demand::Samples { per_s, .. } = &mut need.demand {
        let known = (need.batch, need.step_time_s.map(job::nanoseconds));
        // The same step restated would only exchange the label of a profile for one of the user's.
        if known != (Some(step.batch), Some(step.compute_ns)) {
            let step_time_s = step.compute_ns as f64 / 1e9;
            *per_s = feed::formula::samples_per_s(need.accelerators, step.batch, step_time_s);
            (need.batch, need.step_time_s) = (Some(step.batch), Some(step_time_s));
        }
    }
    need
}
