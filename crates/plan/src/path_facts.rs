//! What a path allows, as plain data.

/// A path under test. One that does not exist yet is looked at through its nearest existing ancestor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other")]
pub struct PathFacts {
    /// Whether the path itself exists.
    pub exists: bool,
    /// Whether what was looked at is a directory.
    pub directory: bool,
    /// Whether files can be created there.
    pub writable: bool,
    /// `ext4`, `xfs`, `nfs`, `tmpfs`, …; `unknown` when it could not be asked.
    pub file_system: String,
    /// Whether the file system is memory (tmpfs, ramfs).
    pub in_memory: bool,
    /// Bytes that may be written there: what is free for an unprivileged user. Where a scenario is resolved, what datasets
    /// that feedline wrote below this path occupy counts as free too. `None` when unknown.
    // A second run writes nothing, and must not be refused for want of room.
    pub free_bytes: Option<u64>,
    /// Alignment of offset and length of direct I/O; `None` where there is none, or where it could not be found out.
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
