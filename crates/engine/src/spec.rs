//! What a repetition is to do.

use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Clock, SharedStore};
use dataset::{Data, Order};
use plan::{Cell, Limit, Share};
use record::Emulated;

use crate::checkpoint::Destination;
use crate::progress::Progress;
use crate::server::Server;

/// Everything that a repetition needs.
pub struct RepSpec<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Its storage, opened for its engine.
    pub store: &'a SharedStore,
    /// The server behind it, where feedline started that.
    pub server: Option<&'a dyn Server>,
    /// Its dataset.
    pub data: &'a Data,
    /// Where checkpoints go, where the cell makes any.
    pub checkpoints: Option<&'a Destination>,
    /// Whether what was read is checked, where it can be.
    pub verify: bool,
    /// Time before the window opens.
    pub warmup_ns: u64,
    /// What ends the window.
    pub limit: Limit,
    /// Bytes of one training sample: the unit of a batch of arrivals.
    pub sample_bytes: f64,
    /// The feed line in bytes per second, of which the rate of a paced load may be a share.
    pub line_bps: f64,
    /// Number among all repetitions of the cell: each reads on in another epoch.
    pub epoch: u64,
    /// This client among those that read the same data at the same time. Each begins an epoch at another place, so that
    /// none finds data in a shared cache that another has just read.
    pub part: Share,
    /// Holds the start back, once the cache is set, where several clients start at one time.
    pub wait: Option<&'a (dyn Fn() + Sync)>,
    /// Whether it ends once it finds no server: it is then made again.
    pub ends_if_away: bool,
    /// Processors this process may use.
    pub cores: u32,
    /// The run's clock.
    pub clock: &'a Clock,
    /// Set by a signal.
    pub stop: &'a AtomicBool,
    /// Where workers publish.
    pub progress: &'a Progress,
}

/// The signal and the progress of a repetition that nothing ends early and nobody watches.
static NEVER: AtomicBool = AtomicBool::new(false);
static UNSEEN: Progress = Progress::new();

impl<'a> RepSpec<'a> {
    /// A repetition by itself, of one client with one processor, without a warm-up: what tests and benchmarks start from.
    pub fn plain(
        cell: &'a Cell,
        store: &'a SharedStore,
        data: &'a Data,
        limit: Limit,
        clock: &'a Clock,
    ) -> Self {
        Self {
            cell,
            store,
            server: None,
            data,
            checkpoints: None,
            verify: true,
            warmup_ns: 0,
            limit,
            sample_bytes: data.objects().mean_bytes(),
            line_bps: 1e9,
            epoch: 0,
            part: Share::WHOLE,
            wait: None,
            ends_if_away: false,
            cores: 1,
            clock,
            stop: &NEVER,
            progress: &UNSEEN,
        }
    }

    /// Does `work` from the common start of several clients on, and returns what the server counted meanwhile, where feedline
    /// started that.
    pub(crate) fn counted<T>(&self, work: impl FnOnce() -> T) -> (T, Option<Emulated>) {
        if let Some(wait) = self.wait {
            wait();
        }
        if let Some(server) = self.server {
            server.begin();
        }
        let ended = work();
        // A server that counts for one repetition is told of its end however that came.
        (ended, self.server.map(Server::end))
    }

    /// Whether a signal ends the run.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Tickets of this client's part of an epoch.
pub(crate) fn own_tickets(spec: &RepSpec<'_>, order: &Order) -> u64 {
    let Share { index: part, of: parts } = spec.part;
    debug_assert!(part < parts, "a client is one of those that share the data");
    part_begins(spec, order, part + 1) - part_begins(spec, order, part)
}

/// Where this repetition reads on.
pub(crate) fn first_ticket(spec: &RepSpec<'_>, order: &Order) -> u64 {
    // A quarter of all numbers: whatever is added for a part and for the operations of a window does not wrap.
    spec.epoch.wrapping_mul(order.tickets_per_epoch()) % (u64::MAX / 4)
        + part_begins(spec, order, spec.part.index)
}

/// Where in an epoch the part of a client begins: at the first read of a file or unit where all have the same number of
/// reads, else at any read. An order of which this client has an epoch of its own is not shared out.
fn part_begins(spec: &RepSpec<'_>, order: &Order, part: u32) -> u64 {
    let per_epoch = order.tickets_per_epoch();
    if order.is_part() {
        return if part > spec.part.index { per_epoch } else { 0 };
    }
    // Where files differ in their reads, a part may begin inside one: there is no place in a shuffled epoch at which
    // every part would begin with a file.
    let per_unit = order.reads_per_unit().unwrap_or(1).max(1);
    // By proportion and not by equal parts: the remainder is spread, and together the parts are the whole.
    let before = u128::from(per_epoch / per_unit) * u128::from(part) / u128::from(spec.part.of.max(1));
    before as u64 * per_unit
}

/// Seed of the arrivals and back-offs of a repetition, which differ between repetitions and clients.
pub(crate) fn own_seed(spec: &RepSpec<'_>) -> u64 {
    // Shifted apart: two small numbers that are only combined would meet again in other repetitions.
    spec.cell.seed ^ spec.epoch.rotate_left(32) ^ u64::from(spec.part.index).rotate_left(16)
}

/// Reads that the limit asks for; `None` if time ends the window. A limit in bytes counts reads of mean size.
pub(crate) fn asked(spec: &RepSpec<'_>, order: &Order) -> Option<u64> {
    let per_epoch = order.tickets_per_epoch();
    match spec.limit {
        Limit::Duration { .. } | Limit::Steps { .. } => None,
        Limit::Bytes { bytes } => {
            let reads = u128::from(bytes) * u128::from(per_epoch);
            Some(reads.div_ceil(u128::from(order.bytes_per_epoch()).max(1)).max(1) as u64)
        }
        Limit::Epochs { epochs } => Some(epochs.saturating_mul(per_epoch)),
    }
}
