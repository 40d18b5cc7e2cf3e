//! Which backends and engines exist and what each can do, as plain data.
//!
//! A new backend adds a variant here, its keys in `scenario`, its crate, and one arm in
//! `cli/src/open.rs`; no other code may match on these names (a test holds that).

use std::fmt;
use std::path::PathBuf;

use crate::{AzureConfig, Charged, NfsConfig, Operation, Route, S3Config};

/// Which backend serves a target, and its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum BackendConfig {
    /// Answers at once without storage: the client's own ceiling.
    Null,
    /// A local path: a file system, local or mounted.
    File {
        /// The folder under test. feedline writes only into a marked folder below it.
        root: PathBuf,
        /// Files that are held open at most, where blocks of them are read: the size of a loader's cache of handles. As many as the
        /// process may have where absent.
        open_files: Option<u32>,
    },
    /// A block device as a whole, only ever read.
    Device {
        /// The device's node.
        path: PathBuf,
    },
    /// A folder on an NFS server.
    Nfs(NfsConfig),
    /// A bucket.
    S3(S3Config),
    /// A container of Azure Blob Storage.
    Azure(AzureConfig),
}

/// How a backend issues its reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// No storage at all.
    Null,
    /// Linux `io_uring`, one ring per thread.
    IoUring,
    /// One blocking call at a time per thread (`pread`, `open`, `stat`); the queue depth is the number of
    /// threads.
    Pread,
    /// A memory map, copied from by one thread for each read outstanding.
    Mmap,
    /// NFS version 3 over sockets of our own.
    Nfs3,
    /// Objects over HTTP (S3, Azure Blob Storage) and sockets of our own.
    Lean,
    /// S3 by the AWS SDK.
    Sdk,
}

impl Engine {
    /// Reads that one thread can keep outstanding.
    pub fn depth_per_thread_max(self) -> u32 {
        match self {
            // The bound of `load.queue_depth`, so that no engine but the blocking ones ever cuts a depth.
            Self::Null | Self::IoUring | Self::Nfs3 | Self::Lean | Self::Sdk => 4096,
            Self::Pread | Self::Mmap => 1,
        }
    }

    /// Whether it reads through open files, of which the kernel can be told how they are read (`posix_fadvise`).
    pub fn takes_file_advice(self) -> bool {
        match self {
            Self::IoUring | Self::Pread => true,
            Self::Null | Self::Mmap | Self::Nfs3 | Self::Lean | Self::Sdk => false,
        }
    }

    /// What this engine can do over and over. The ring of Linux reads no folders.
    pub fn operations(self) -> &'static [Operation] {
        match self {
            Self::Null | Self::Pread => &[
                Operation::Read,
                Operation::ReadFile,
                Operation::Stat,
                Operation::List,
                Operation::Write,
                Operation::Mix,
                Operation::WriteFile,
                Operation::Names,
            ],
            // An object is replaced whole: there is no block of it to write.
            Self::Lean | Self::Sdk => &[
                Operation::Read,
                Operation::ReadFile,
                Operation::Stat,
                Operation::List,
                Operation::WriteFile,
            ],
            // There is no getdents in io_uring. A list through it would be a blocking call on the thread
            // that reaps completions. Creation, synchronization and renaming have entries, which the kernel hands to
            // threads of its own: they would be what `pread` does, and cost more.
            Self::IoUring => {
                &[Operation::Read, Operation::ReadFile, Operation::Stat, Operation::Write, Operation::Mix]
            }
            // Whole files through maps would measure mmap and munmap, which few loaders do for each sample.
            Self::Mmap => &[Operation::Read],
            Self::Nfs3 => &[
                Operation::Read,
                Operation::ReadFile,
                Operation::Stat,
                Operation::GetAttr,
                Operation::List,
                Operation::Write,
                Operation::Mix,
                Operation::WriteFile,
                Operation::Names,
            ],
        }
    }
}

feed::words!(Engine {
    Null = "null",
    IoUring = "io_uring",
    Pread = "pread",
    Mmap = "mmap",
    Nfs3 = "nfs3",
    Lean = "lean",
    Sdk = "sdk",
});

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a backend statically supports; what the machine at hand supports is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Engines, the default first.
    pub engines: &'static [Engine],
    /// Whether feedline can write a dataset there.
    pub writable: bool,
    /// Whether it is reached over connections of feedline's own: their number is a setting, and the page cache of
    /// this machine takes no part.
    pub network: bool,
}

// io_uring comes first, since it alone keeps reads outstanding from one thread. pread is what a loader's
// worker does, and is measured where somebody asks for it.
const FILE_ENGINES: &[Engine] = &[Engine::IoUring, Engine::Pread, Engine::Mmap];

impl BackendConfig {
    /// What this backend can do.
    pub fn capabilities(&self) -> Capabilities {
        match self {
            Self::Null => Capabilities { engines: &[Engine::Null], writable: false, network: false },
            Self::File { .. } => Capabilities { engines: FILE_ENGINES, writable: true, network: false },
            // Never written, whoever owns it: a marker that proves ownership has no place on a raw device.
            Self::Device { .. } => Capabilities { engines: FILE_ENGINES, writable: false, network: false },
            Self::Nfs(_) => Capabilities { engines: &[Engine::Nfs3], writable: true, network: true },
            Self::S3(_) => {
                Capabilities { engines: &[Engine::Lean, Engine::Sdk], writable: true, network: true }
            }
            Self::Azure(_) => Capabilities { engines: &[Engine::Lean], writable: true, network: true },
        }
    }

    /// Settings that differ from the plainest, as name and value, for people. None of them is a secret.
    pub fn words(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::File { open_files: Some(files), .. } => vec![("open files", files.to_string())],
            Self::Null | Self::File { .. } | Self::Device { .. } => Vec::new(),
            Self::Nfs(config) => config.words(),
            Self::S3(config) => config.words(),
            Self::Azure(config) => config.words(),
        }
    }

    /// Requests that each operation makes, where requests are what a service charges for.
    pub fn charged(&self) -> Option<Charged> {
        match self {
            Self::Null | Self::File { .. } | Self::Device { .. } | Self::Nfs(_) => None,
            Self::S3(config) => {
                Some(Charged { part_bytes: config.part_bytes, head: config.head, prefixes: config.prefixes })
            }
            Self::Azure(config) => {
                Some(Charged { part_bytes: config.part_bytes, head: config.head, prefixes: 1 })
            }
        }
    }

    /// Bytes of the largest object that one request writes; `None` where objects are written in pieces.
    pub fn put_bytes_max(&self) -> Option<u64> {
        match self {
            Self::Null | Self::File { .. } | Self::Device { .. } | Self::Nfs(_) => None,
            Self::S3(_) => Some(crate::S3_PUT_BYTES_MAX),
            Self::Azure(_) => Some(crate::AZURE_PUT_BYTES_MAX),
        }
    }

    /// How operations reach the storage.
    pub(crate) fn route(&self) -> Route {
        let plain = Route { prefixes: 0, one_at_a_time: false, lookups_per_file: 1, in_parts: false };
        match self {
            // HTTP/1.1 without pipelining: a connection carries one request at a time, while NFS numbers
            // its calls and has many under way.
            Self::S3(s3) => Route {
                prefixes: s3.prefixes.max(1),
                one_at_a_time: true,
                lookups_per_file: u32::from(s3.head),
                in_parts: s3.part_bytes.is_some(),
            },
            Self::Azure(azure) => Route {
                one_at_a_time: true,
                lookups_per_file: u32::from(azure.head),
                in_parts: azure.part_bytes.is_some(),
                ..plain
            },
            Self::Nfs(_) | Self::File { .. } => plain,
            Self::Null | Self::Device { .. } => Route { lookups_per_file: 0, ..plain },
        }
    }

    /// Whether one of two targets lies in the other, by their addresses: links and mounts are not followed.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (Some((a, path_a)), Some((b, path_b))) = (self.place(), other.place()) else { return false };
        // By components and not by letters: /mnt/ab does not lie in /mnt/a.
        a == b && (lies_within(&path_a, &path_b) || lies_within(&path_b, &path_a))
    }

    /// The storage that it lies on, and its path there; `None` of what has no folders.
    fn place(&self) -> Option<([String; 2], String)> {
        let [kind, server, path] = match self {
            Self::Null | Self::Device { .. } => return None,
            Self::File { root, .. } => {
                // A relative path may lie anywhere, and is compared with other relative ones alone.
                ["path".to_owned(), root.is_absolute().to_string(), root.to_string_lossy().into_owned()]
            }
            Self::Nfs(config) => {
                // The port belongs to the server: two NFS servers on one host are how tests and emulated
                // ones run.
                let server = format!("{} {:?}", config.host, config.nfs_port);
                ["nfs".to_owned(), server, config.path.clone()]
            }
            Self::S3(config) => {
                let server = format!("{} {:?}", config.bucket, config.endpoint);
                ["s3".to_owned(), server, config.prefix.clone()]
            }
            Self::Azure(config) => {
                let server = format!("{} {:?}", config.container, config.endpoint);
                ["azure".to_owned(), server, config.prefix.clone()]
            }
        };
        Some(([kind, server], path))
    }

    /// Whether the target is storage at all; a verdict is given only on storage.
    pub fn is_storage(&self) -> bool {
        !matches!(self, Self::Null)
    }
}

/// Whether a path is that of a folder, or of something in it, as both are written: links and mounts are not followed, and of
/// a relative and an absolute path neither is known to lie in the other.
pub fn lies_within(path: &str, folder: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect()
    };
    path.starts_with('/') == folder.starts_with('/') && parts(path).starts_with(&parts(folder))
}

/// Whether buffers and files are registered with the kernel (`io_uring` only).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Registered {
    /// Register where the limits allow it and record what was granted.
    #[default]
    Auto,
    /// Fail when anything could not be registered.
    Required,
    /// Do not register.
    Off,
}

// Registration is no axis: what was granted depends on limits of the machine, and stands in the record of
// each repetition.
feed::words!(Registered { Auto = "auto", Required = "required", Off = "off" });

/// What the kernel is told of how a mapping (`madvise`) or an open file (`posix_fadvise`) is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Advice {
    /// Nothing: the kernel reads ahead as it sees fit.
    #[default]
    Normal,
    /// `MADV_RANDOM`: a fault reads its own page and nothing else. `POSIX_FADV_RANDOM`: a read reads its own pages.
    Random,
    /// `MADV_SEQUENTIAL`: read ahead aggressively. `POSIX_FADV_SEQUENTIAL`: read ahead twice as far.
    Sequential,
    /// `MADV_RANDOM` for the mapping, and `MADV_WILLNEED` for each block just before it is copied. No advice of a file.
    WillNeed,
}

feed::words!(Advice {
    Normal = "normal",
    Random = "random",
    Sequential = "sequential",
    WillNeed = "willneed",
});

/// What happens when an engine cannot be had on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUnavailable {
    /// The run ends with an error that names the limit.
    #[default]
    Fail,
    /// The cells are left out; the record says so.
    Skip,
    /// Another engine takes its place, as cells of their own that say so.
    Use(Engine),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Addresses, NfsConfig};

    fn folder(root: &str) -> BackendConfig {
        BackendConfig::File { root: PathBuf::from(root), open_files: None }
    }

    fn export(host: &str, path: &str) -> BackendConfig {
        BackendConfig::Nfs(NfsConfig {
            host: host.to_owned(),
            nfs_port: None,
            mount_port: None,
            path: path.to_owned(),
            addresses: Addresses::First,
        })
    }

    #[test]
    fn targets_overlap_where_one_lies_in_the_other_on_one_storage() {
        for (a, b, expected) in [
            (folder("/mnt/a"), folder("/mnt/a/./b/"), true),
            (folder("/mnt/a"), folder("/mnt/ab"), false),
            (folder("mnt/a"), folder("/mnt/a"), false),
            (export("filer", "/e"), export("filer", "/e/f"), true),
            (export("filer", "/e"), export("other", "/e/f"), false),
            (export("filer", "/e"), folder("/e"), false),
            (BackendConfig::Null, BackendConfig::Null, false),
        ] {
            assert_eq!((a.overlaps(&b), b.overlaps(&a)), (expected, expected), "{a:?} and {b:?}");
        }
    }
}
