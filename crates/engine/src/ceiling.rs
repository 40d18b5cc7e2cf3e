//! What the client can do without storage: every shape of load, run first on the null target.

use std::sync::Arc;

use backend::SharedStore;
use backend::null::NullStore;
use dataset::{Data, Objects, Samples};
use plan::{Cache, Cell, Fetch, Limit, Load, Operation, Pages, Share, Training};
use record::{Ceiling, Rep, counter};

use crate::error::RepError;
use crate::job::EpochSeams;
use crate::progress::Progress;
use crate::rep::{self, run_rep};
use crate::spec::RepSpec;

// A fifth of the window: enough for the caches and the branch predictors of a loop that touches no storage.
const WARMUP_NS: u64 = 20_000_000;
const WINDOW_NS: u64 = 100_000_000;

/// How often a job is played at most if accelerators waited. Another program that took the processor for a moment
/// says nothing about what this client can do.
const PLAYS_MAX: u32 = 3;

/// Turns of the queue that a window must hold; fewer, and its ends decide the rate.
const TURNS_MIN: u64 = 20;

/// How much longer the window is when the first one held fewer.
const LONGER: u64 = 10;

/// Steps that the window of a training job holds, and its limits: at least three steps, whatever they take.
const STEPS: u64 = 12;
const STEPS_MIN: u64 = 3;
// A small model has steps of some milliseconds, of which 0.3 s hold many. A large one takes a second for each: 3 s
// bound what its control costs the run, and three steps are played in any case.
const JOB_NS_MIN: u64 = 300_000_000;
const JOB_NS_MAX: u64 = 3_000_000_000;

/// What decides the client's own cost: cells that agree in it share a ceiling. When operations are issued does not:
/// the ceiling of a paced cell is that of a closed loop. Nor do the bytes of an operation that copies none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shape {
    /// Absent where the next operation is found by arithmetic alone, and no byte is touched.
    dataset: Option<usize>,
    operation: Operation,
    /// What is copied and into which pages; absent where nothing is.
    copied: Option<(u32, Pages)>,
    queue_depth: u32,
    threads: u32,
    /// What is read one after the other decides how many reads a batch takes.
    streamed: bool,
    /// A read through the page cache or a socket is copied by a processor; a direct one of a device is not.
    pub(crate) copies: bool,
    /// The job of a training load, which is played as it is.
    job: Option<JobShape>,
    /// The processes that take part: ceilings of as many are added.
    ranks: Option<u32>,
}

/// What decides what a training job asks of the client that fetches for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct JobShape {
    accelerators: u32,
    batch: u32,
    compute_ns: u64,
    /// `None` where the reads share the queue.
    readers: Option<u32>,
    prefetch: u32,
    barrier: bool,
}

impl JobShape {
    fn of(training: &Training) -> Self {
        let readers = match training.fetch {
            Fetch::Readers { count } => Some(count),
            Fetch::Shared => None,
        };
        let Training { accelerators, batch, compute_ns, prefetch, barrier, .. } = *training;
        Self { accelerators, batch, compute_ns, readers, prefetch, barrier }
    }
}

impl Shape {
    /// Of a cell that reads `data`.
    pub(crate) fn of(cell: &Cell, data: &Data) -> Self {
        let copies = (cell.cache != Cache::Bypass || cell.connections > 0) && cell.operation().reads_bytes();
        // How many reads a batch of a job takes follows from the sizes of samples and blocks.
        let is_job = matches!(cell.load, Load::Training(_));
        let by_arithmetic = matches!(**data.objects(), Objects::Uniform { .. })
            && matches!(data.samples(), Samples::Objects | Samples::Even(_));
        Self {
            dataset: (copies || is_job || !by_arithmetic).then_some(cell.dataset),
            operation: cell.operation(),
            copied: (copies || is_job).then_some((cell.block_bytes, cell.pages)),
            queue_depth: cell.queue_depth,
            threads: cell.threads,
            streamed: cell.access.streams().is_some(),
            copies,
            job: match &cell.load {
                Load::Training(training) => Some(JobShape::of(training)),
                Load::Closed | Load::Paced(_) => None,
            },
            ranks: cell.ranks,
        }
    }
}

/// Measures the ceiling of the shape that `spec` and the named cells share.
pub(crate) fn measure(shape: Shape, spec: &RepSpec<'_>, cells: Vec<String>) -> Result<Ceiling, RepError> {
    // The cell's engine does not matter here: what it costs to reach a storage is the storage's part, by the
    // definition of the ceiling.
    let store: SharedStore = Arc::new(NullStore { copies: shape.copies });
    let rep = match spec.cell.load {
        Load::Training(training) => played(training, &store, spec)?,
        Load::Closed | Load::Paced(_) => closed(&store, spec)?,
    };
    let count = |name: &str| rep.counters.get(name).copied().unwrap_or(0);
    Ok(Ceiling {
        cells,
        copies: shape.copies,
        ops: count(counter::OPS),
        bytes: count(counter::BYTES),
        window_ns: rep.window_ns,
        cpu_ns: rep.usage.cpu_user_ns + rep.usage.cpu_system_ns,
        trained: rep.trained,
    })
}

/// The cell's reads in a closed loop, for long enough.
fn closed(store: &SharedStore, spec: &RepSpec<'_>) -> Result<Rep, RepError> {
    let cell = null_cell(spec.cell, Load::Closed);
    // Reads of no storage are nobody's progress.
    let unseen = Progress::default();
    let run = |duration_ns| {
        let limit = Limit::Duration { duration_ns };
        let spec = RepSpec { warmup_ns: WARMUP_NS, ..null_spec(spec, store, &cell, limit, &unseen) };
        run_rep(&spec).map(|measured| measured.rep)
    };
    let rep = run(WINDOW_NS)?;
    // Deep queues of large copied reads turn slowly: at 512 x 16 MiB one turn takes about a second.
    if rep.counters[counter::OPS] < TURNS_MIN * u64::from(cell.queue_depth) {
        return run(WINDOW_NS * LONGER);
    }
    Ok(rep)
}

/// The cell's job for some steps, without decoding, start of readers and ends of epochs. Their cost is known, and is
/// not a limit of this client.
fn played(training: Training, store: &SharedStore, spec: &RepSpec<'_>) -> Result<Rep, RepError> {
    let cell = null_cell(spec.cell, Load::Training(Training { decode: None, startup_ns: 0, ..training }));
    let duration_ns = training.compute_ns.saturating_mul(STEPS).clamp(JOB_NS_MIN, JOB_NS_MAX);
    let duration_ns = duration_ns.max(training.compute_ns.saturating_mul(STEPS_MIN));
    let unseen = Progress::default();
    let limit = Limit::Duration { duration_ns };
    let spec = null_spec(spec, store, &cell, limit, &unseen);
    let play = || rep::run(&spec, EpochSeams::None).map(|measured| measured.rep);
    // The best of up to three, unlike everywhere else: the question is what the client can do, and a neighbour's
    // burst of work can only make that look worse.
    let mut best = play()?;
    for _ in 1..PLAYS_MAX {
        let waited = lost_ns(&best);
        if waited == 0 {
            break;
        }
        let again = play()?;
        if lost_ns(&again) < waited {
            best = again;
        }
    }
    Ok(best)
}

/// Time that accelerators waited, first batches left out.
fn lost_ns(rep: &Rep) -> u64 {
    let accelerators = rep.trained.iter().flat_map(|trained| &trained.accelerators);
    accelerators.map(|one| one.wait_ns.saturating_sub(one.first_batch_ns)).sum()
}

fn null_cell(cell: &Cell, load: Load) -> Cell {
    // No page cache to set, nothing that fails, and no checkpoint, which would be written to real storage.
    Cell { cache: Cache::Bypass, load, retries: 0, job_checkpoints: None, ..cell.clone() }
}

fn null_spec<'a>(
    spec: &RepSpec<'a>,
    store: &'a SharedStore,
    cell: &'a Cell,
    limit: Limit,
    progress: &'a Progress,
) -> RepSpec<'a> {
    RepSpec {
        store,
        server: None,
        checkpoints: None,
        verify: false,
        warmup_ns: 0,
        limit,
        epoch: 0,
        part: Share::WHOLE,
        wait: None,
        cell,
        progress,
        ..*spec
    }
}

#[cfg(test)]
mod tests {
    use dataset::{Key, Listed};
    use plan::Engine;

    use super::*;

    fn files(bytes: u64) -> Data {
        Data::files(Arc::new(Objects::uniform(Key::new("d").unwrap(), 9, bytes)), None)
    }

    #[test]
    fn cells_that_copy_nothing_share_a_ceiling_whatever_they_read() {
        let cell = Cell { cache: Cache::Bypass, ..Cell::plain(Engine::Null, 4_096, 8) };
        let other = Cell { block_bytes: 1 << 20, pages: Pages::Huge, dataset: 1, ..cell.clone() };
        assert_eq!(Shape::of(&cell, &files(7)), Shape::of(&other, &files(1 << 30)));
        let deeper = Cell { queue_depth: 9, ..cell.clone() };
        assert_ne!(Shape::of(&cell, &files(7)), Shape::of(&deeper, &files(7)));
        let mut listed = Listed::default();
        listed.push(&Key::new("a").unwrap(), 7);
        let listed = Data::files(Arc::new(Objects::Listed(listed)), None);
        assert_ne!(Shape::of(&cell, &listed), Shape::of(&other, &listed), "places are looked up in a table");
    }

    #[test]
    fn what_copies_has_a_ceiling_for_each_size() {
        let cell = Cell { cache: Cache::Warm, ..Cell::plain(Engine::Null, 4_096, 8) };
        let alike = Cell { seed: 3, ..cell.clone() };
        assert_eq!(Shape::of(&cell, &files(7)), Shape::of(&alike, &files(7)));
        for other in [
            Cell { block_bytes: 8_192, ..cell.clone() },
            Cell { pages: Pages::Huge, ..cell.clone() },
            Cell { dataset: 1, ..cell.clone() },
            Cell { cache: Cache::Bypass, ..cell.clone() },
        ] {
            assert_ne!(Shape::of(&cell, &files(7)), Shape::of(&other, &files(7)), "{other:?}");
        }
        let job = |block_bytes| Cell {
            cache: Cache::Bypass,
            load: Load::Training(Training::plain(1, 1, 10)),
            ..Cell::plain(Engine::Null, block_bytes, 8)
        };
        assert_ne!(Shape::of(&job(4_096), &files(7)), Shape::of(&job(8_192), &files(7)));
    }
}
