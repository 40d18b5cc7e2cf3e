//! Copies from memory maps, in line: what a program does that maps its token files.
//!
//! What a read asks is copied into its buffer: touching its pages alone takes less time than reading the clock.
//! Each queue maps the files for itself, as each process of a `DataLoader` does, and unmaps them when it closes:
//! pages that are mapped are not evicted, so no mapping may reach into the next repetition.

mod fault;
mod mapping;
mod maps;

use std::path::Path;
use std::sync::Arc;

use backend::{Op, OpError, PHASE_STAMPS, QueueReport, QueueSpec, Request, StoreError};
use plan::{Advice, Cache};
use rustix::io::Errno;

use self::maps::{EOF, Maps};
use crate::files::{FileTable, QueueFiles};
use crate::inline::Serve;

/// One thread's copies.
pub(crate) struct MapCopies {
    files: QueueFiles,
    maps: Maps,
    advice: Advice,
    enters: u64,
}

impl MapCopies {
    /// Copies of the files of `table`, mapped for them alone.
    pub(crate) fn open(table: Arc<FileTable>, root: &Path, spec: &QueueSpec<'_>) -> Result<Self, StoreError> {
        // Unmapped when the queue closes. POSIX_FADV_DONTNEED on a file that is mapped and touched drops
        // nothing and reports success (measured: 65,536 of 65,536 pages stayed), so cold repetitions would be
        // warm.
        let mut maps = Maps::new(spec.objects, spec.advice, table.open_max());
        let mut files = QueueFiles::new(table, 1)?;
        maps.map_ahead(&mut files).map_err(|errno| refused(root, errno))?;
        Ok(Self { files, maps, advice: spec.advice, enters: 0 })
    }

    fn read(&mut self, request: &mut Request) -> Result<u64, OpError> {
        let Op::Read { object, offset, len } = request.op else {
            return Err(OpError::from_errno(libc::EOPNOTSUPP));
        };
        let room = request.buf.as_mut_slice().get_mut(..len as usize);
        let room = room.ok_or(OpError::from_errno(libc::EINVAL))?;
        let mapping = self.maps.get(&mut self.files, object)?;
        if offset.saturating_add(u64::from(len)) > mapping.bytes() {
            // The file was shorter when it was mapped; whether it still is, the next read finds out.
            self.maps.forget(object);
            return Err(EOF);
        }
        // One call for the whole block. Without it a cold block of 128 KiB is 32 major faults in a row: 0.3
        // thousand reads a second against 2.9 (measured, one thread).
        if self.advice == Advice::WillNeed {
            self.enters += 1;
            mapping.will_need(offset, len);
        }
        mapping.copy(offset, room).map_err(|fault| {
            let error = self.maps.meaning(&mut self.files, object, fault);
            self.maps.forget(object);
            error
        })?;
        if self.maps.was_cut(&mut self.files, object, offset + u64::from(len), room.last()) {
            self.maps.forget(object);
            return Err(EOF);
        }
        Ok(u64::from(len))
    }
}

impl Serve for MapCopies {
    fn serve(&mut self, request: &mut Request, _phase_ns: &mut [u64; PHASE_STAMPS]) -> Result<u64, OpError> {
        self.read(request)
    }

    fn report(&self) -> QueueReport {
        QueueReport {
            granted: vec![
                ("open_files", self.files.table().summary()),
                ("maps", self.maps.summary()),
                ("advice", self.advice.name().to_owned()),
            ],
            short_reads: 0,
            opens: self.maps.made(),
            enters: self.enters,
            ..QueueReport::default()
        }
    }
}

/// Refuses what a mapping cannot do: it is the page cache, made visible.
pub(crate) fn check(cache: Cache) -> Result<(), StoreError> {
    let what = match cache {
        Cache::Cold | Cache::Warm | Cache::ColdStart => return Ok(()),
        Cache::Bypass => "direct I/O",
        Cache::DontCache => "reading without keeping pages",
    };
    Err(StoreError::Unavailable {
        what: what.to_owned(),
        reason: "a memory map shows pages of the page cache".to_owned(),
        hint: "set `load.cache = \"cold\"` or `\"warm\"` for this target, or another engine".to_owned(),
    })
}

fn refused(root: &Path, errno: Errno) -> StoreError {
    let hint = match errno {
        Errno::NOMEM => {
            "give the process more address space (`ulimit -v unlimited`), or raise vm.max_map_count (sysctl)"
        }
        _ => "set `engine = \"pread\"` for this target: this file system allows no memory maps",
    };
    StoreError::Unavailable {
        what: "a memory map".to_owned(),
        reason: format!("mapping a file below `{}` failed: {}", root.display(), std::io::Error::from(errno)),
        hint: hint.to_owned(),
    }
}
