//! Registration of buffers and files with a ring: the kernel then looks neither up on every read.

use std::io;

use backend::{Arena, StoreError};
use plan::Registered;
use rustix::fd::RawFd;
use rustix::process::{Resource, getrlimit};

use super::ring::Ring;
use crate::files::FileTable;

/// Largest buffer that the kernel registers as one.
const REGISTERED_BUFFER_BYTES_MAX: usize = 1 << 30;

/// How the kernel knows the buffers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Buffers {
    /// By address, looked up for each read.
    Plain { reason: String },
    /// Registered: one for all, or one for every so many slots.
    Registered { slots_each: u32 },
}

impl Buffers {
    /// Registers all buffers of an arena as one region, or as few regions as the kernel's bound allows.
    pub(crate) fn register(ring: &Ring, arena: &Arena, registered: Registered) -> Result<Self, StoreError> {
        if registered == Registered::Off {
            return Ok(Self::Plain { reason: "not asked for".to_owned() });
        }
        // One region instead of one for each slot: 1057 against 1054 ns a read (measured), and the table
        // stays small.
        let (first, bytes) = arena.region();
        let slots_each =
            (REGISTERED_BUFFER_BYTES_MAX / arena.stride()).clamp(1, arena.slots().max(1) as usize);
        let bytes_each = slots_each * arena.stride();
        let parts: Vec<libc::iovec> = (0..bytes.div_ceil(bytes_each))
            .map(|part| libc::iovec {
                iov_base: first.wrapping_add(part * bytes_each).cast(),
                iov_len: bytes_each.min(bytes - part * bytes_each),
            })
            .collect();
        // SAFETY: the arena outlives every buffer, and an operation keeps its buffer until it has ended; the
        // kernel itself keeps the pages while the ring lives.
        match unsafe { ring.submitter().register_buffers(&parts) } {
            Ok(()) => Ok(Self::Registered { slots_each: slots_each as u32 }),
            Err(error) if registered == Registered::Auto => Ok(Self::Plain { reason: reason(&error, bytes) }),
            Err(error) => Err(unavailable("registered buffers", reason(&error, bytes), &error)),
        }
    }

    /// What was granted, in words.
    pub(crate) fn summary(&self) -> String {
        match self {
            Self::Plain { reason } => format!("not registered: {reason}"),
            Self::Registered { .. } => "registered".to_owned(),
        }
    }
}

/// How the kernel knows the files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Registration {
    /// By descriptor, looked up for each read.
    Plain { reason: String },
    /// In a table by the object's index; `known[object]` once it is in there.
    Table { known: Vec<bool> },
}

impl Registration {
    /// Makes room for every object and registers those that are open.
    pub(crate) fn register(
        ring: &Ring,
        files: &FileTable,
        registered: Registered,
    ) -> Result<Self, StoreError> {
        if registered == Registered::Off {
            return Ok(Self::Plain { reason: "not asked for".to_owned() });
        }
        let made = match files.kept() {
            Some(count) => fill_table(ring, files, count),
            None => Err(io::Error::from_raw_os_error(libc::EMFILE)),
        };
        match made {
            Ok(known) => Ok(Self::Table { known }),
            Err(error) if registered == Registered::Auto => {
                Ok(Self::Plain { reason: file_reason(&error, files) })
            }
            Err(error) => Err(unavailable("registered files", file_reason(&error, files), &error)),
        }
    }

    /// Whether `object` can be named by its index. A file opened since the ring was is registered now; where
    /// that fails the descriptor serves as well.
    pub(crate) fn knows(&mut self, ring: &Ring, object: u32, fd: RawFd) -> bool {
        let Self::Table { known } = self else { return false };
        let known = &mut known[object as usize];
        if !*known {
            *known = ring.submitter().register_files_update(object, &[fd]).is_ok();
        }
        *known
    }

    /// What was granted, in words.
    pub(crate) fn summary(&self) -> String {
        match self {
            Self::Plain { reason } => format!("not registered: {reason}"),
            Self::Table { .. } => "registered".to_owned(),
        }
    }
}

fn fill_table(ring: &Ring, files: &FileTable, count: u32) -> io::Result<Vec<bool>> {
    let open: Vec<RawFd> = (0..count).map(|object| files.kept_fd(object).unwrap_or(-1)).collect();
    // A place of -1 stays empty.
    ring.submitter().register_files(&open)?;
    Ok(open.into_iter().map(|fd| fd >= 0).collect())
}

fn reason(error: &io::Error, bytes: usize) -> String {
    // io_uring_register(2): pinned pages count against RLIMIT_MEMLOCK. More is charged than the buffers: at a
    // limit of 8 MiB exactly 8 MiB were refused, and 7 MiB in huge pages too (seen on 6.18).
    if error.raw_os_error() == Some(libc::ENOMEM) {
        format!(
            "{} MiB of buffers exceed what may be locked in memory (RLIMIT_MEMLOCK is {})",
            bytes.div_ceil(1 << 20),
            memlock()
        )
    } else {
        error.to_string()
    }
}

fn file_reason(error: &io::Error, files: &FileTable) -> String {
    match files.kept() {
        Some(_) => error.to_string(),
        None => format!("more files than may be open; {} are", files.summary()),
    }
}

/// The limit of locked memory, in words.
pub(crate) fn memlock() -> String {
    getrlimit(Resource::Memlock)
        .current
        .map_or_else(|| "unlimited".to_owned(), |bytes| format!("{} KiB", bytes / 1024))
}

/// How that limit is raised.
pub(crate) const MEMLOCK_HINT: &str = "raise it (`ulimit -l unlimited`, LimitMEMLOCK=infinity in a unit, `--ulimit memlock=-1` for a container)";

pub(crate) fn unavailable(what: &str, reason: String, error: &io::Error) -> StoreError {
    let hint = match error.raw_os_error() {
        Some(libc::ENOMEM) => format!("{MEMLOCK_HINT}, or set `registered = \"auto\"` for this target"),
        Some(libc::EMFILE) => {
            "raise the limit of open files (`ulimit -n`, LimitNOFILE=, `--ulimit nofile=`), or set `registered = \"auto\"` for this target"
                .to_owned()
        }
        _ => "set `registered = \"auto\"` for this target".to_owned(),
    };
    StoreError::Unavailable { what: what.to_owned(), reason, hint }
}
