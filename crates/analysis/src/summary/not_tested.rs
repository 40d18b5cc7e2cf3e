//! What verdicts may not cover.

use crate::verdict::tiers::CacheBelow;

/// Something that the verdicts do not cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotTested {
    /// More hosts than this one.
    Hosts {
        /// So many at once.
        hosts: u32,
    },
    /// Caches below the client that may have served what was read.
    CachesBelow {
        /// Each with the targets that it lies below; none where it may lie below any.
        caches: Vec<(CacheBelow, Vec<String>)>,
        /// Whether bytes were read again; else they were written just before they were read once.
        read_again: bool,
    },
    /// Writes that are kept: of those that were made nothing was promised.
    Kept {
        /// Targets that may hold in memory alone what was written.
        targets: Vec<String>,
    },
    /// What lies below a loop device.
    BackingFile {
        /// The file.
        path: String,
    },
    /// How much the network interface can take: its rate is not known.
    InterfaceRate,
    /// A server on another machine than the client.
    RemoteServer {
        /// The target whose server runs on this one.
        target: String,
    },
    /// What a job does while a server is away.
    Outage {
        /// Targets whose server was.
        targets: Vec<String>,
    },
    /// What storage does beyond the limit of this client.
    BeyondClient {
        /// Cells that were limited by it.
        cells: usize,
    },
    /// Cells that failed.
    FailedCells {
        /// How many.
        cells: usize,
    },
    /// Cells that the budget left no time for.
    LeftOut {
        /// How many.
        cells: usize,
        /// Of so many.
        all: usize,
        /// Targets that were measured in none of theirs.
        targets: Vec<String>,
    },
    /// Whether what was read before the interruption holds the same bytes at a second reading.
    SecondReading,
    /// Burst credits and slow changes, which show after longer than any target was under load.
    Later {
        /// The longest time that one was.
        under_load_ns: u64,
    },
    /// What writes take once flash has no erased blocks left.
    SteadyFlash,
    /// Opening a file for each sample.
    Opening {
        /// Reads that opened theirs all the same.
        opens: u64,
    },
    /// Opening files whose names are not in memory.
    OpeningByNewNames,
    /// Decoding.
    Decode {
        /// Whether a stated time stands for it.
        cost: bool,
        /// Whether a checksum does.
        checksum: bool,
    },
}
