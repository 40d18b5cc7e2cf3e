//! The queue that copies from memory maps, in line: what a program does that maps its token files.
//!
//! What a read asks is copied into its buffer: touching its pages alone takes less time than reading the clock.
//! Each queue maps the files for itself, as each process of a `DataLoader` does, and unmaps them when it closes:
//! pages that are mapped are not evicted, so no mapping may reach into the next repetition.

mod fault;
mod mapping;
mod maps;
mod room;

use std::path::Path;
use std::sync::Arc;

use backend::{
    Clock, Completion, IoQueue, Op, OpError, QueueError, QueueReport, QueueSpec, Request, Stamps, StoreError,
};
use plan::{Advice, Cache};
use rustix::io::Errno;

use self::maps::{EOF, Maps};
use crate::files::{FileTable, QueueFiles};
use crate::pause::pause;

/// One thread's copies. Every request ends inside `submit`.
pub(crate) struct MmapQueue {
    files: QueueFiles,
    maps: Maps,
    advice: Advice,
    clock: Clock,
    enters: u64,
}

impl MmapQueue {
    /// A queue over the files of `table`, mapped for it alone.
    pub(crate) fn open(table: Arc<FileTable>, root: &Path, spec: &QueueSpec<'_>) -> Result<Self, StoreError> {
        let mut maps = Maps::new(spec.objects, spec.advice, table.open_max());
        let mut files = QueueFiles::new(table, 1)?;
        maps.map_ahead(&mut files).map_err(|errno| refused(root, errno))?;
        Ok(Self { files, maps, advice: spec.advice, clock: spec.clock.clone(), enters: 0 })
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

impl IoQueue for MmapQueue {
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        // The end of one copy is the beginning of the next: one reading of the clock serves both.
        let mut begun_ns = self.clock.now_ns();
        for mut request in requests.drain(..) {
            let result = self.read(&mut request);
            let done_ns = self.clock.now_ns();
            let stamps = Stamps { begun_ns, done_ns, ..Stamps::default() };
            done.push(Completion { token: request.token, buf: request.buf, result, stamps });
            begun_ns = done_ns;
        }
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, _done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let left_ns = until_ns.saturating_sub(self.clock.now_ns());
        // Nothing is ever outstanding; only time can end this wait, and none that has no end is begun.
        if min > 0 && left_ns > 0 && until_ns != u64::MAX {
            pause(left_ns);
        }
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        0
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
        }
    }

    fn close(self: Box<Self>, _until_ns: u64, _done: &mut Vec<Completion>) -> u32 {
        0
    }
}

/// Refuses what a mapping cannot do: it is the page cache, made visible.
pub(crate) fn check(cache: Cache) -> Result<(), StoreError> {
    let what = match cache {
        Cache::Cold | Cache::Warm => return Ok(()),
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
