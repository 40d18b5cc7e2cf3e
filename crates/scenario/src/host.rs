//! What the machine allows, handed in as data: this crate asks nothing of the machine itself.

use std::collections::BTreeMap;

use plan::PathFacts;

/// The machine on which a scenario is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
// Data and no probing, so that a scenario of another machine can be checked, tests need no disks, and the
// truth is played on a host of its own.
pub struct HostFacts {
    /// Cores that this process may use.
    pub cores: u32,
    /// Memory that this process may use, bytes.
    pub memory_bytes: u64,
    /// Last-level cache that one processor has, bytes; `None` where the machine does not say.
    pub cache_bytes: Option<u64>,
    /// Files that this process may have open.
    pub open_files_max: u64,
    /// Whether io_uring can be used; if not, which limit forbids it and what to do.
    // With its reason: seccomp, a sysctl and an old kernel take different remedies.
    pub io_uring: Result<(), String>,
    /// Facts of each of [`crate::Scenario::local_paths`], under the path as written.
    pub paths: BTreeMap<String, PathFacts>,
    /// What [`crate::Scenario::order_file`] holds, up to one byte more than [`crate::ORDER_BYTES_MAX`]; or why it cannot be
    /// read. `None` where there is no such file.
    pub order: Option<Result<Vec<u8>, String>>,
}
