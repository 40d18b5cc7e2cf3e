//! What the machine allows, handed in as data: this crate asks nothing of the machine itself.

use std::collections::BTreeMap;

/// The machine on which a scenario is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
// Data and no probing, so that a scenario of another machine can be checked, tests need no disks, and the
// truth is played on a host of its own.
pub struct HostFacts {
    /// Cores that this process may use.
    pub cores: u32,
    /// Memory that this process may use, bytes.
    pub memory_bytes: u64,
    /// Files that this process may have open.
    pub open_files_max: u64,
    /// Whether io_uring can be used; if not, which limit forbids it and what to do.
    // With its reason: seccomp, a sysctl and an old kernel take different remedies.
    pub io_uring: Result<(), String>,
    /// Facts of each of [`crate::Scenario::local_paths`], under the path as written.
    pub paths: BTreeMap<String, PathFacts>,
}

/// A path under test. One that does not exist yet is looked at through its nearest existing ancestor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other")]
pub struct PathFacts {
    /// Whether the path itself exists.
    pub exists: bool,
    /// Whether it is a directory.
    pub directory: bool,
    /// Whether files can be created there.
    pub writable: bool,
    /// Type of the file system, e.g. `ext4`.
    pub file_system: String,
    /// Whether the file system is memory (tmpfs, ramfs).
    pub in_memory: bool,
    /// Bytes that the scenario's datasets may occupy there: what is free for this user, and what datasets
    /// that feedline wrote below this path occupy already. `None` when unknown.
    // Datasets that are there already count as free: a second run writes nothing, and must not be refused
    // for want of room.
    pub free_bytes: Option<u64>,
    /// Alignment of offset and length of direct I/O; `None` where there is no direct I/O.
    pub direct_align_bytes: Option<u32>,
    /// Bytes of the block device that the path is; `None` for everything else.
    pub block_device_bytes: Option<u64>,
    /// Whether buffered reads can drop their pages at once (`RWF_DONTCACHE`).
    pub dontcache: bool,
    /// Why the path cannot be used at all; a line `hint: ...` says what to do.
    pub problem: Option<String>,
}

impl PathFacts {
    /// A path that allows everything, for what is not about a machine.
    pub fn generous() -> Self {
        Self {
            exists: true,
            directory: true,
            writable: true,
            file_system: "any".to_owned(),
            in_memory: false,
            free_bytes: None,
            direct_align_bytes: Some(512),
            block_device_bytes: None,
            dontcache: true,
            problem: None,
        }
    }
}
