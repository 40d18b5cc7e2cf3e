//! What a repetition is to do.

use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Clock, SharedStore};
use dataset::{Data, Order};
use plan::{Cell, Limit, Share};

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
    /// The feed line, bytes per second: what the rate of a paced load may be a share of.
    pub line_bps: f64,
    /// Number among all repetitions of the cell: each reads on in another epoch.
    pub epoch: u64,
    /// This client among those that read the same data at the same time: each begins a pass at
    /// another place, so that none reads what another has just brought into a cache that they share.
    pub part: Share,
    /// Holds the start back, once the cache is set, where several clients start at one time.
    pub wait: Option<&'a (dyn Fn() + Sync)>,
    /// Processors this process may use.
    pub cores: u32,
    /// The run's clock.
    pub clock: &'a Clock,
    /// Set by a signal.
    pub stop: &'a AtomicBool,
    /// Where workers publish.
    pub progress: &'a Progress,
}

impl RepSpec<'_> {
    /// Whether a signal ends the run.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Tickets of this client's part of a pass.
pub(crate) fn own_tickets(spec: &RepSpec<'_>, order: &Order) -> u64 {
    let Share { index: part, of: parts } = spec.part;
    debug_assert!(part < parts, "a client is one of those that share the data");
    part_begins(spec, order, part + 1) - part_begins(spec, order, part)
}

/// Where this repetition reads on.
pub(crate) fn first_ticket(spec: &RepSpec<'_>, order: &Order) -> u64 {
    spec.epoch.wrapping_mul(order.tickets_per_epoch()) % (u64::MAX / 4)
        + part_begins(spec, order, spec.part.index)
}

/// Where in a pass the part of a client begins: with a file or a unit of one, as far as each is as many reads. A pass
/// that is this client's alone is all of it.
fn part_begins(spec: &RepSpec<'_>, order: &Order, part: u32) -> u64 {
    let per_epoch = order.tickets_per_epoch();
    if order.is_part() {
        return if part > spec.part.index { per_epoch } else { 0 };
    }
    let per_unit = order.reads_per_unit().unwrap_or(1).max(1);
    let before = u128::from(per_epoch / per_unit) * u128::from(part) / u128::from(spec.part.of.max(1));
    before as u64 * per_unit
}

/// Seed of what a repetition draws: other arrivals and back-offs in each, and on each client.
pub(crate) fn own_seed(spec: &RepSpec<'_>) -> u64 {
    spec.cell.seed ^ spec.epoch.rotate_left(32) ^ u64::from(spec.part.index).rotate_left(16)
}

/// Reads that the limit asks for; `None` where time ends the window. Bytes are counted in reads of mean size.
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
