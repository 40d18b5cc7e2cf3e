//! What the client can do without storage: every shape of load, run first on the null target.

use std::sync::Arc;

use backend::SharedStore;
use backend::null::NullStore;
use plan::{Cache, Cell, Limit, Load, Operation};
use record::{Ceiling, counter};

use crate::error::RepError;
use crate::progress::Progress;
use crate::rep::{RepSpec, run_rep};

const WARMUP_NS: u64 = 20_000_000;
const WINDOW_NS: u64 = 100_000_000;

/// Turns of the queue that a window must hold; fewer, and its ends decide the rate.
const TURNS_MIN: u64 = 20;

/// How much longer the window is when the first one held fewer.
const LONGER: u64 = 10;

/// What decides the client's own cost: cells that agree in it share a ceiling. When operations are issued does not:
/// the ceiling of a paced cell is that of a closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shape {
    dataset: usize,
    operation: Operation,
    block_bytes: u32,
    queue_depth: u32,
    threads: u32,
    /// A read through the page cache or a socket is copied by a processor; a direct one of a device is not.
    copies: bool,
}

impl Shape {
    pub(crate) fn of(cell: &Cell) -> Self {
        Self {
            dataset: cell.dataset,
            operation: cell.operation,
            block_bytes: cell.block_bytes,
            queue_depth: cell.queue_depth,
            threads: cell.threads,
            copies: (cell.cache != Cache::Bypass || cell.connections > 0) && cell.operation.reads_bytes(),
        }
    }
}

/// Measures the ceiling of the shape that `spec` and the named cells share.
pub(crate) fn measure(shape: Shape, spec: &RepSpec<'_>, cells: Vec<String>) -> Result<Ceiling, RepError> {
    let store: SharedStore = Arc::new(NullStore { copies: shape.copies });
    let cell = Cell { cache: Cache::Bypass, load: Load::Closed, retries: 0, ..spec.cell.clone() };
    // Reads of no storage are nobody's progress.
    let unseen = Progress::default();
    let run = |duration_ns| {
        let limit = Limit::Duration { duration_ns };
        run_rep(&RepSpec {
            store: &store,
            server: None,
            verify_seed: None,
            warmup_ns: WARMUP_NS,
            limit,
            epoch: 0,
            cell: &cell,
            progress: &unseen,
            ..*spec
        })
    };
    let mut rep = run(WINDOW_NS)?;
    if rep.counters[counter::OPS] < TURNS_MIN * u64::from(cell.queue_depth) {
        rep = run(WINDOW_NS * LONGER)?;
    }
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
