//! How many connections a cell has to a server.

use plan::{Charged, Operation, PARTS_AT_ONCE_MAX};

use crate::diagnostic::Span;
use crate::list::Item;

/// Connections to an NFS server by default: as many as `nconnect=4`, from which a server that answers each connection
/// in series gains most (1.2 to 1.5 times as much from NFS-Ganesha).
const NFS_CONNECTIONS: u32 = 4;

/// Connections for the parts of whole objects by default, unless the depth alone is more: at the 85 to 90 MB/s that a
/// connection to S3 gives (AWS, Performance design patterns for Amazon S3) enough for 160 Gb/s, and a quarter of the files
/// that a process may have open where nobody raised the limit.
const PART_CONNECTIONS_MAX: u32 = 256;

/// How the cells of a target use its network.
#[derive(Debug, Clone)]
pub(super) struct Network {
    /// Connections as written.
    pub(super) connections: Option<Vec<Item<u32>>>,
    /// How operations become requests; `None` where they share connections.
    pub(super) charged: Option<Charged>,
    pub(super) retries: u32,
}

/// Connections of one cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Connections {
    /// As written.
    pub(super) written: Option<u32>,
    /// What a cell may use of them at most.
    pub(super) most: u32,
    /// What it has when nothing is written.
    pub(super) default: u32,
}

impl Network {
    /// Lengths of the axis.
    pub(super) fn count(&self) -> usize {
        self.connections.as_ref().map_or(1, Vec::len)
    }

    /// Where the axis was written.
    pub(super) fn span(&self) -> Option<Span> {
        self.connections.as_ref()?.first().map(|item| item.span)
    }

    /// Connections as written.
    pub(super) fn listed(&self) -> impl Iterator<Item = Item<u32>> {
        self.connections.iter().flatten().copied()
    }

    /// The fewest connections as written.
    pub(super) fn fewest(&self) -> Option<Item<u32>> {
        self.listed().min_by_key(|item| item.value)
    }

    /// Connections of the cell at `index` of the axis.
    pub(super) fn at(
        &self,
        index: usize,
        depth: u32,
        operation: Operation,
        sample_bytes: Option<u64>,
    ) -> Connections {
        let written = self.connections.as_ref().map(|listed| listed[index].value);
        let Some(charged) = self.charged else {
            // NFS has many calls under way on one connection, so that none of them can be idle by
            // arithmetic.
            return Connections { written, most: u32::MAX, default: depth.min(NFS_CONNECTIONS) };
        };
        let at_once = u64::from(PARTS_AT_ONCE_MAX);
        let parts = match (operation, charged.part_bytes, sample_bytes) {
            (Operation::ReadFile, Some(part), Some(sample)) => sample.div_ceil(part).clamp(1, at_once),
            // The size of the user's objects is not known here. Who cuts them has large ones.
            (Operation::ReadFile, Some(_), None) => at_once,
            _ => 1,
        };
        let most = depth.saturating_mul(parts as u32);
        Connections { written, most, default: most.min(PART_CONNECTIONS_MAX.max(depth)) }
    }
}

impl Connections {
    /// What a cell of `threads` threads has: at least one for each.
    pub(super) fn of(self, threads: u32) -> u32 {
        self.written.unwrap_or(self.default).min(self.most).max(threads)
    }
}
