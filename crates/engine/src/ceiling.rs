//! What the client can do without storage: every shape of load, run first on the null target.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use dataset::{Data, Objects, Samples};
use plan::{Cache, Cell, Fetch, Limit, Load, Numa, Operation, Pages, Share, Training};
use record::{Ceiling, Rep, counter};

use crate::error::RepError;
use crate::job::EpochSeams;
use crate::progress::Progress;
use crate::rep::{self, run_rep};
use crate::spec::RepSpec;

/// The warm-up is this part of the window, as 1 in 5: enough for the caches and the branch predictors of a loop that touches no
/// storage.
const WARMUP_PARTS: u64 = 5;

/// The window, where the run has time for it, and the least.
// A fifth of a tenth of a second still holds ten thousand operations, and many slices of the scheduler: a neighbour that takes
// some of them makes a ceiling too low, which warns of a client that is too slow.
const WINDOW_NS: u64 = 100_000_000;
const WINDOW_NS_MIN: u64 = 20_000_000;

/// Ceilings take this part of the time of the repetitions that are held against them, as 1 in 50.
const RUN_PARTS: u64 = 50;

/// How often a job is played at most if accelerators waited. Another program that took the processor for a moment
/// says nothing about what this client can do.
const PLAYS_MAX: u32 = 3;

/// Turns of the queue that a window must hold; fewer, and its ends decide the rate.
const TURNS_MIN: u64 = 20;

/// The longest window of one that holds fewer otherwise.
const LONGER_NS: u64 = 1_000_000_000;

/// Bytes that a slow machine copies in a nanosecond. A window that is too short is measured again.
const COPIED_PER_NS: u64 = 4;

/// Bytes of buffers from which on none of them is found in a cache.
// Twice the caches whose machines copies are made for, see `plan::copy_source_bytes`.
const BEYOND_CACHES_BYTES: u64 = 128 << 20;

/// Bytes of a read from which on the operation itself, some 50 to 100 ns, is below a twentieth of its copy.
const LARGE_READ_BYTES: u64 = 32 << 10;

/// Operations of one turn of a thread for which a turn of the queue, some 200 ns, is below a twentieth of them; and up to which
/// what is known of them stays in the cache of a core.
const LONG_TURN: RangeInclusive<u32> = 64..=512;

/// Steps that the window of a training job holds, and its limits: at least three steps, whatever they take.
const STEPS: u64 = 12;
const STEPS_MIN: u64 = 3;
// A small model has steps of some milliseconds, of which 0.3 s hold many. A large one takes a second for each: 3 s
// bound what its control costs the run, and three steps are played in any case.
const JOB_NS_MIN: u64 = 300_000_000;
const JOB_NS_MAX: u64 = 3_000_000_000;

/// What decides the client's own cost: cells that agree in it share a ceiling. When operations are issued does not:
/// the ceiling of a paced cell is that of a closed loop. Nor do the bytes of an operation that copies none.
// In order, those that copy come last: what they copy from is made for the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shape {
    /// A read through the page cache or a socket is copied by a processor; a direct one of a device is not.
    pub(crate) copies: bool,
    /// The target beside which threads are kept; absent where they may be anywhere.
    pub(crate) beside: Option<usize>,
    /// Absent where the next operation is found by arithmetic alone.
    dataset: Option<usize>,
    operation: Operation,
    /// What is copied and into which pages; absent where nothing is.
    copied: Option<Copied>,
    /// Absent where bytes decide the cost; of long turns, the shortest of them.
    queue_depth: Option<u32>,
    threads: u32,
    /// What is read one after the other decides how many reads a batch takes.
    streamed: bool,
    /// The job of a training load, which is played as it is.
    job: Option<JobShape>,
    /// The processes that take part: ceilings of as many are added.
    ranks: Option<u32>,
}

/// What decides the cost of copied bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Copied {
    /// Bytes of a read, where there are so few that the operation itself shows; or the block, where what is read of one follows from
    /// a table.
    read_bytes: Option<u64>,
    /// Bytes of buffers that all reads outstanding fill: which cache they are in.
    into_bytes: u64,
    pages: Pages,
}

impl Copied {
    /// By `cell`, which finds by arithmetic what it reads of `data`; `None` where no sizes are known.
    fn of(cell: &Cell, data: &Data) -> Option<Self> {
        let is_whole = cell.operation().is_of_whole_objects();
        let objects_bytes = data.objects().bytes_max();
        let by_index = cell.access.is_by_index() && !is_whole;
        let bytes = if by_index { data.unit_bytes_max()? } else { objects_bytes };
        let block_bytes = u64::from(cell.block_bytes.max(1));
        let reads = if is_whole { 1 } else { bytes.div_ceil(block_bytes).max(1) };
        let read_bytes = bytes / reads;
        let is_small = read_bytes < LARGE_READ_BYTES;
        let into_bytes = u64::from(cell.queue_depth) * block_bytes.min(bytes);
        Some(Self { read_bytes: is_small.then_some(read_bytes), into_bytes, pages: cell.pages })
    }

    /// By a cell whose reads are of any size up to a block.
    fn of_blocks(cell: &Cell) -> Self {
        let block_bytes = u64::from(cell.block_bytes);
        let into_bytes = u64::from(cell.queue_depth) * block_bytes;
        Self { read_bytes: Some(block_bytes), into_bytes, pages: cell.pages }
    }

    /// The same, as far as it decides the cost.
    fn deciding(self) -> Self {
        let most = if self.read_bytes.is_none() { BEYOND_CACHES_BYTES } else { u64::MAX };
        Self { into_bytes: self.into_bytes.min(most), ..self }
    }
}

/// What decides what a training job asks of the client that fetches for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct JobShape {
    accelerators: u32,
    batch: u32,
    compute_ns: u64,
    /// `None` where the reads share the queue.
    readers: Option<u32>,
    fetches: u32,
    prefetch: u32,
    barrier: bool,
}

impl JobShape {
    fn of(training: &Training) -> Self {
        let readers = match training.fetch {
            Fetch::Readers { count } => Some(count),
            Fetch::Shared => None,
        };
        let Training { accelerators, batch, compute_ns, fetches, prefetch, barrier, .. } = *training;
        Self { accelerators, batch, compute_ns, readers, fetches, prefetch, barrier }
    }
}

impl Shape {
    /// Of a cell that reads `data`.
    pub(crate) fn of(cell: &Cell, data: &Data) -> Self {
        let copies = cell.copies();
        // How many reads a batch of a job takes follows from the sizes of samples and blocks.
        let is_job = matches!(cell.load, Load::Training(_));
        let by_arithmetic = matches!(**data.objects(), Objects::Uniform { .. })
            && matches!(data.samples(), Samples::Objects | Samples::Even(_));
        let has_sizes = !is_job && by_arithmetic;
        let sized = || Copied::of(cell, data).filter(|_| has_sizes);
        let copied =
            (copies || is_job).then(|| sized().unwrap_or_else(|| Copied::of_blocks(cell)).deciding());
        let turn = cell.queue_depth.div_ceil(cell.threads.max(1));
        let queue_depth = match copied {
            Some(Copied { read_bytes: None, .. }) => None,
            None if LONG_TURN.contains(&turn) => Some(LONG_TURN.start() * cell.threads),
            _ => Some(cell.queue_depth),
        };
        Self {
            copies,
            beside: (cell.numa == Numa::Device).then_some(cell.target),
            dataset: (!has_sizes).then_some(cell.dataset),
            operation: cell.operation(),
            copied,
            queue_depth,
            threads: cell.threads,
            streamed: cell.access.streams().is_some(),
            job: match &cell.load {
                Load::Training(training) => Some(JobShape::of(training)),
                Load::Closed | Load::Paced(_) => None,
            },
            ranks: cell.ranks,
        }
    }
}

/// The shapes of cells, each with the indices of those that share it.
pub(crate) fn shapes<'a>(
    cells: impl Iterator<Item = (usize, &'a Cell, &'a Data)>,
) -> BTreeMap<Shape, Vec<usize>> {
    let mut shapes: BTreeMap<Shape, Vec<usize>> = BTreeMap::new();
    for (index, cell, data) in cells {
        shapes.entry(Shape::of(cell, data)).or_default().push(index);
    }
    shapes
}

/// Which of the cells that share `shape` its ceiling is measured on: the costliest, for which it is lowest.
// Cells of one shape differ by less than a ceiling resolves. Held against one that is too low, a client is doubted too early;
// against one that is too high, a storage would answer for it.
pub(crate) fn costliest<'a>(
    shape: Shape,
    cells: &[usize],
    of: impl Fn(usize) -> (&'a Cell, &'a Data),
) -> usize {
    let cheap = |index: &usize| {
        let (cell, data) = of(*index);
        if shape.queue_depth.is_some() {
            // A turn of the queue costs more for each operation where there are few.
            return (0, cell.queue_depth, cell.block_bytes);
        }
        // More bytes are further away; of as many, the deepest queue has most operations.
        let into_bytes = Copied::of(cell, data).map_or(0, |copied| copied.into_bytes);
        (u64::MAX - into_bytes, u32::MAX - cell.queue_depth, cell.block_bytes)
    };
    cells.iter().copied().min_by_key(cheap).unwrap_or_default()
}

/// How long the ceilings of so many shapes are measured each, for repetitions that take `run_ns` as planned.
pub(crate) fn window_ns(run_ns: Option<u64>, shapes: u64) -> u64 {
    // Where the storage decides how long they take, they may take hours.
    let each_ns = run_ns.map_or(u64::MAX, |run_ns| run_ns / RUN_PARTS / shapes.max(1));
    let window_ns = each_ns / (WARMUP_PARTS + 1) * WARMUP_PARTS;
    window_ns.clamp(WINDOW_NS_MIN, WINDOW_NS)
}

/// Measures the ceiling of the shape that `spec` and the named cells share, on the null target that `spec` has for its storage.
// The cell's engine does not matter here: what it costs to reach a storage is the storage's part, by the definition of the ceiling.
pub(crate) fn measure(
    shape: Shape,
    spec: &RepSpec<'_>,
    window_ns: u64,
    cells: Vec<String>,
) -> Result<Ceiling, RepError> {
    let rep = match spec.cell.load {
        Load::Training(training) => played(training, spec)?,
        Load::Closed | Load::Paced(_) => closed(spec, window_ns)?,
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
fn closed(spec: &RepSpec<'_>, window_ns: u64) -> Result<Rep, RepError> {
    let cell = null_cell(spec.cell, Load::Closed);
    // Reads of no storage are nobody's progress.
    let unseen = Progress::default();
    let run = |duration_ns| {
        let limit = Limit::Duration { duration_ns };
        let warmup_ns = window_ns / WARMUP_PARTS;
        let spec = RepSpec { warmup_ns, ..null_spec(spec, &cell, limit, &unseen) };
        run_rep(&spec).map(|measured| measured.rep)
    };
    // Deep queues of large copied reads turn slowly: at 512 x 16 MiB one turn takes about a second.
    let turn_bytes = u64::from(cell.queue_depth) * u64::from(cell.block_bytes);
    let turns_ns = if spec.cell.copies() { TURNS_MIN * turn_bytes / COPIED_PER_NS } else { 0 };
    let first_ns = window_ns.max(turns_ns.min(LONGER_NS));
    let rep = run(first_ns)?;
    let turns = rep.counters[counter::OPS] / u64::from(cell.queue_depth.max(1));
    if turns < TURNS_MIN && first_ns < LONGER_NS {
        return run((first_ns * (TURNS_MIN + 1).div_ceil(turns.max(1))).min(LONGER_NS));
    }
    Ok(rep)
}

/// The cell's job for some steps, without decoding, start of readers and ends of epochs. Their cost is known, and is
/// not a limit of this client.
fn played(training: Training, spec: &RepSpec<'_>) -> Result<Rep, RepError> {
    let cell = null_cell(spec.cell, Load::Training(Training { decode: None, startup_ns: 0, ..training }));
    let duration_ns = training.compute_ns.saturating_mul(STEPS).clamp(JOB_NS_MIN, JOB_NS_MAX);
    let duration_ns = duration_ns.max(training.compute_ns.saturating_mul(STEPS_MIN));
    let unseen = Progress::default();
    let limit = Limit::Duration { duration_ns };
    let spec = null_spec(spec, &cell, limit, &unseen);
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

fn null_spec<'a>(spec: &RepSpec<'a>, cell: &'a Cell, limit: Limit, progress: &'a Progress) -> RepSpec<'a> {
    RepSpec {
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
    use std::sync::Arc;

    use dataset::{Key, Listed};
    use plan::{Access, Engine};

    use super::*;

    const KIB: u32 = 1 << 10;

    fn files(bytes: u64) -> Data {
        Data::files(Arc::new(Objects::uniform(Key::new("d").unwrap(), 9, bytes)), None)
    }

    fn listed() -> Data {
        let mut listed = Listed::default();
        listed.push(&Key::new("a").unwrap(), 1 << 20);
        Data::files(Arc::new(Objects::Listed(listed)), None)
    }

    fn direct(block_bytes: u32, depth: u32) -> Cell {
        Cell { cache: Cache::Bypass, ..Cell::plain(Engine::Null, block_bytes, depth) }
    }

    fn warm(block_bytes: u32, depth: u32) -> Cell {
        Cell { cache: Cache::Warm, ..direct(block_bytes, depth) }
    }

    #[test]
    fn cells_that_copy_nothing_share_a_ceiling_whatever_they_read() {
        let cell = direct(4_096, 8);
        let other = Cell { block_bytes: 1 << 20, pages: Pages::Huge, dataset: 1, ..cell.clone() };
        assert_eq!(Shape::of(&cell, &files(7)), Shape::of(&other, &files(1 << 30)));
        assert_ne!(Shape::of(&cell, &files(7)), Shape::of(&direct(4_096, 9), &files(7)));
        assert_ne!(
            Shape::of(&cell, &listed()),
            Shape::of(&other, &listed()),
            "places are looked up in a table"
        );
    }

    #[test]
    fn long_turns_of_a_queue_share_a_ceiling_which_is_that_of_the_shortest() {
        let of = |depth, threads| Shape::of(&Cell { threads, ..direct(4_096, depth) }, &files(7));
        assert!([100, 128, 512].iter().all(|depth| of(*depth, 1) == of(64, 1)));
        assert_eq!(of(1_024, 2), of(128, 2));
        for (depth, threads) in [(63, 1), (513, 1), (128, 2), (64, 2)] {
            assert_ne!(of(depth, threads), of(64, 1), "{depth} by {threads}");
        }
        let all = [direct(8 * KIB, 512), direct(64 * KIB, 64), direct(4 * KIB, 64), direct(4 * KIB, 128)];
        let data = files(7);
        let costliest = |cells: &[usize]| costliest(of(64, 1), cells, |index| (&all[index], &data));
        assert_eq!((costliest(&[0, 1, 2, 3]), costliest(&[0, 3])), (2, 3));
    }

    #[test]
    fn small_reads_that_copy_have_a_ceiling_for_each_size() {
        let cell = warm(4_096, 8);
        let alike = Cell { seed: 3, dataset: 1, ..cell.clone() };
        assert_eq!(Shape::of(&cell, &files(4_096)), Shape::of(&alike, &files(1 << 20)), "blocks of 4 KiB");
        assert_ne!(
            Shape::of(&cell, &files(4_096)),
            Shape::of(&alike, &files(4_097)),
            "each second of one byte"
        );
        for other in [
            warm(8_192, 8),
            warm(8_192, 4),
            warm(4_096, 16),
            Cell { pages: Pages::Huge, ..cell.clone() },
            Cell { cache: Cache::Bypass, ..cell.clone() },
        ] {
            assert_ne!(Shape::of(&cell, &files(1 << 20)), Shape::of(&other, &files(1 << 20)), "{other:?}");
        }
        assert_ne!(Shape::of(&cell, &listed()), Shape::of(&alike, &listed()), "sizes are those of a table");
        let job =
            |block_bytes| Cell { load: Load::Training(Training::plain(1, 1, 10)), ..direct(block_bytes, 8) };
        assert_ne!(Shape::of(&job(4_096), &files(7)), Shape::of(&job(8_192), &files(7)));
    }

    #[test]
    fn large_reads_into_as_many_bytes_of_buffers_share_a_ceiling_which_is_that_of_most_reads() {
        let of = |cell: &Cell| Shape::of(cell, &files(1 << 20));
        let cell = warm(128 * KIB, 64);
        for alike in [warm(256 * KIB, 32), warm(1_024 * KIB, 8), warm(2_048 * KIB, 8), warm(32 * KIB, 256)] {
            assert_eq!(of(&cell), of(&alike), "{alike:?}");
        }
        for other in [
            warm(128 * KIB, 32),
            warm(16 * KIB, 512),
            Cell { threads: 2, ..cell.clone() },
            Cell { pages: Pages::Huge, ..cell.clone() },
        ] {
            assert_ne!(of(&cell), of(&other), "{other:?}");
        }
        let tables = [&cell, &warm(256 * KIB, 32)].map(|cell| Shape::of(cell, &listed()));
        assert_ne!(tables[0], tables[1], "sizes are those of a table");
        let all = [warm(1_024 * KIB, 8), warm(32 * KIB, 256), cell.clone()];
        let data = files(1 << 20);
        let costliest = |cells: &[usize]| costliest(of(&cell), cells, |index| (&all[index], &data));
        assert_eq!((costliest(&[0, 1, 2]), costliest(&[0, 2])), (1, 2));
    }

    #[test]
    fn buffers_that_no_cache_holds_share_a_ceiling_which_is_that_of_most_bytes() {
        let of = |cell: &Cell| Shape::of(cell, &files(1 << 20));
        let all = [(1_024, 128), (1_024, 512), (512, 512), (256, 512)];
        let all = all.map(|(block_kib, depth)| warm(block_kib * KIB, depth));
        assert!(all.iter().all(|cell| of(cell) == of(&all[0])));
        assert_ne!(of(&warm(1_024 * KIB, 127)), of(&all[0]));
        assert_ne!(of(&warm(16 * KIB, 8_192)), of(&warm(16 * KIB, 16_384)), "the reads are small");
        let data = files(1 << 20);
        assert_eq!(costliest(of(&all[0]), &[0, 1, 2, 3], |index| (&all[index], &data)), 1);
        assert_eq!(costliest(of(&all[0]), &[0, 3], |index| (&all[index], &data)), 3, "most reads");
    }

    #[test]
    fn a_thousand_cells_have_a_ceiling_for_each_cost_and_those_that_copy_come_last() {
        let blocks = (1..=25).map(|blocks| blocks * 16 * KIB);
        let mut cells = Vec::new();
        for (block, depth) in blocks.flat_map(|block| (0..10).map(move |power| (block, 1 << power))) {
            for access in [Access::ShuffledEpoch, Access::Random] {
                cells.push(Cell { access, ..direct(block, depth) });
                cells.push(Cell { access, ..warm(block, depth) });
            }
        }
        let data = files(64 << 20);
        let shapes = shapes(cells.iter().enumerate().map(|(index, cell)| (index, cell, &data)));
        let copying: Vec<bool> = shapes.keys().map(|shape| shape.copies).collect();
        let direct = copying.iter().filter(|copies| !**copies).count();
        // Of 10 and 250.
        assert_eq!((cells.len(), direct, copying.len() - direct), (1_000, 7, 142));
        assert!(copying.is_sorted());
        assert_eq!(shapes.values().map(Vec::len).sum::<usize>(), 1_000);
    }

    #[test]
    fn ceilings_take_a_fiftieth_of_the_run_as_far_as_they_can() {
        let ms = 1_000_000;
        assert_eq!(window_ns(None, 500), WINDOW_NS);
        // 2 % of an hour are 72 s, of which each has 144 ms.
        assert_eq!(window_ns(Some(3_600_000 * ms), 500), WINDOW_NS);
        assert_eq!(window_ns(Some(1_500_000 * ms), 500), 50 * ms, "and 10 ms to warm up");
        assert_eq!(window_ns(Some(1_000 * ms), 500), WINDOW_NS_MIN);
    }
}
