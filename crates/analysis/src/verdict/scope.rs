//! What a verdict is about: no word of it goes beyond this.

use feed::Provenance;
use record::{Rep, Run, Segment, Target};

use crate::cell::cell_summary::CellSummary;
use crate::verdict::source::Source;
use crate::verdict::tiers::{self, CacheBelow};

/// How much a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// One run.
    Screen,
    /// Several runs over a time, of all hosts, with the caches below the client excluded.
    Proof {
        /// How many runs.
        runs: u32,
    },
}

impl Evidence {
    /// The word printed beside a verdict.
    pub fn name(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Proof { .. } => "proof",
        }
    }
}

/// What a verdict is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    /// Hosts that measured at the same time.
    pub hosts_measured: u32,
    /// Hosts that are asked about: those of the need, or the one that measures.
    pub hosts_needed: u32,
    /// Caches between this client's own memory and the storage that may have served what was read, or may hold in memory alone
    /// what was written.
    pub caches_open: Vec<CacheBelow>,
    /// Caches there that cannot have served them.
    pub caches_excluded: Vec<CacheBelow>,
    /// The longest that the target was under load, nanoseconds: the windows of its repetitions, less the pauses between them, in
    /// which others were measured. What a storage grants for a time comes back in them.
    pub under_load_ns: u64,
    /// Bytes read from it in them.
    pub bytes_read: u64,
    /// Rounds of fresh repetitions.
    pub rounds: u32,
    /// Load of the deciding cell.
    pub load: LoadScope,
    /// How much it rests on.
    pub evidence: Evidence,
    /// Whether the need comes from a profile that nobody measured: then no number of runs makes a proof.
    pub extrapolated: bool,
}

/// The load that a verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadScope {
    /// A closed loop.
    Closed {
        /// Reads outstanding in the whole client.
        outstanding: u32,
        /// Accelerators behind it; 0 where the need names none.
        accelerators: u32,
    },
    /// Arrivals by a schedule.
    Paced,
    /// A training job.
    Training,
}

impl LoadScope {
    fn of(cell: &CellSummary, accelerators: u32) -> Self {
        if cell.cell.training.is_some() {
            Self::Training
        } else if cell.cell.pace.is_some() {
            Self::Paced
        } else {
            // Workers that write are no readers.
            let reads = cell.cell.write_percent.is_none();
            Self::Closed {
                outstanding: cell.cell.queue_depth,
                accelerators: if reads { accelerators } else { 0 },
            }
        }
    }

    /// Workers of each accelerator that keep as many reads outstanding, each blocked by one; absent for other loads, and
    /// where the need names no accelerators.
    pub fn workers_per_accelerator(self) -> Option<u32> {
        match self {
            Self::Closed { outstanding, accelerators } if accelerators > 0 => {
                // Rounded up: half a worker reads nothing.
                Some(outstanding.div_ceil(accelerators))
            }
            _ => None,
        }
    }
}

/// The longest that a target was under load, less the time in which it rested before: what a second of load takes of burst credits, a
/// second of rest is taken to bring back. Between the parts of a run that was interrupted all of them come back.
fn under_load_ns(run: &Run, segments: &[Segment], mut reps: Vec<&Rep>) -> u64 {
    reps.sort_by_key(|rep| rep.window_start_ns);
    let part = |rep: &Rep| segments.partition_point(|segment| segment.at_ns <= rep.window_start_ns);
    let (mut longest_ns, mut spent_ns) = (0_u64, 0_u64);
    let mut before: Option<&Rep> = None;
    for rep in reps {
        if let Some(before) = before {
            // A warm-up reads as its window does.
            let rested_ns = rep
                .window_start_ns
                .saturating_sub(run.measure.warmup_ns)
                .saturating_sub(before.window_start_ns.saturating_add(before.window_ns));
            spent_ns = if part(before) == part(rep) { spent_ns.saturating_sub(rested_ns) } else { 0 };
        }
        spent_ns = spent_ns.saturating_add(rep.window_ns);
        longest_ns = longest_ns.max(spent_ns);
        before = Some(rep);
    }
    longest_ns
}

impl Scope {
    /// That of a verdict on `target` that rests on `cell`.
    pub(crate) fn of(source: &Source<'_>, target: &Target, cell: &CellSummary) -> Self {
        let (run, lines) = (&source.record.run, source.lines);
        let need = source.cells.need.as_ref().ok();
        let (caches_open, caches_excluded) =
            tiers::caches_of(source.record, &source.cells, target, &cell.cell);
        let of_target = run.cells.iter().filter(|one| one.target == target.name);
        let reps = || of_target.clone().flat_map(|one| lines.of_cell(&one.cell));
        // Fresh rounds alone: the interleaved ones chose the cell, and no verdict rests on them.
        let fresh = lines.of_cell(&cell.cell.cell).iter().filter(|rep| rep.role == record::Role::Confirm);
        Self {
            // Processes that share a machine are one host, however many they are.
            hosts_measured: run.team.as_ref().map_or(run.ranks, record::Team::machines).max(1),
            hosts_needed: if need.is_some_and(|need| need.scope == feed::Scope::Host) {
                1
            } else {
                run.need.hosts.max(1)
            },
            caches_open,
            caches_excluded,
            under_load_ns: under_load_ns(run, &source.record.segments, reps().copied().collect()),
            bytes_read: reps()
                .map(|rep| crate::cell::counters::counted(rep, record::counter::BYTES))
                .fold(0, u64::saturating_add),
            rounds: fresh.map(|rep| rep.rep + 1).max().unwrap_or(0),
            load: LoadScope::of(cell, run.need.accelerators),
            // One run is a screen, whatever it measured. Proofs are made from several runs, elsewhere.
            evidence: Evidence::Screen,
            extrapolated: need.and_then(|need| need.provenance) == Some(Provenance::Extrapolated),
        }
    }

    /// Hosts of the need that did not measure.
    pub fn hosts_open(&self) -> u32 {
        self.hosts_needed.saturating_sub(self.hosts_measured)
    }
}
