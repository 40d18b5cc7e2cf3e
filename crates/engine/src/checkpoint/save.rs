//! Writes one checkpoint: its files side by side, each under a temporary name until it is whole.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use backend::{Clock, ErrorKind, StoreError};
use plan::Checkpoint;
use record::CheckpointOutcome;

use super::destination::Destination;
use crate::fleet::Saved;
use crate::progress::Progress;

/// Files that are written at once, at most: each takes a thread, and no storage is known to need more of one client.
const THREADS_MAX: u32 = 64;

/// The writing of checkpoints, and what may end it early.
pub(super) struct Writing<'a> {
    pub(super) to: &'a Destination,
    pub(super) plan: &'a Checkpoint,
    pub(super) clock: &'a Clock,
    /// Asked before every block: whether to give up.
    pub(super) stops: &'a (dyn Fn() -> bool + Sync),
    pub(super) progress: &'a Progress,
}

/// When a file of a checkpoint was written, and when it lay under its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit stands last in a name")]
pub(super) struct FileTimes {
    pub(super) begun_ns: u64,
    pub(super) written_ns: u64,
    pub(super) published_ns: u64,
}

/// What became of a checkpoint.
pub(super) struct Written {
    pub(super) saved: Saved,
    /// Files that lie under their names.
    pub(super) files: Vec<FileTimes>,
    /// The kind of the failure, if it failed.
    pub(super) error: Option<&'static str>,
}

/// Why a file was given up.
enum GivenUp {
    Stopped,
    Failed { kind: &'static str, reason: String },
}

/// What the threads of one checkpoint share.
struct Shared<'a> {
    writing: &'a Writing<'a>,
    /// Number of its first object.
    first: u32,
    next: AtomicU32,
    is_given_up: AtomicBool,
    ends: Mutex<Ends>,
}

#[derive(Default)]
struct Ends {
    files: Vec<FileTimes>,
    bytes: u64,
    given_up: Option<GivenUp>,
}

impl Writing<'_> {
    /// Writes the checkpoint whose place is `slot` among those that lie there at once.
    pub(super) fn save(&self, slot: u32) -> Written {
        let begun_ns = self.clock.now_ns();
        let shared = Shared {
            writing: self,
            first: slot * self.plan.files,
            next: AtomicU32::new(0),
            is_given_up: AtomicBool::new(false),
            ends: Mutex::default(),
        };
        thread::scope(|scope| {
            for number in 0..self.plan.files.min(THREADS_MAX) {
                let work = || shared.work();
                if let Err(error) =
                    thread::Builder::new().name(format!("writer-{number}")).spawn_scoped(scope, work)
                {
                    let reason = format!("cannot start a thread that writes: {error}");
                    shared.give_up(GivenUp::Failed { kind: ErrorKind::Other.name(), reason });
                }
            }
        });
        let ended_ns = self.clock.now_ns();
        let Ends { files, bytes, given_up } =
            shared.ends.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (outcome, error) = match given_up {
            None => (CheckpointOutcome::Complete, None),
            Some(GivenUp::Stopped) => (CheckpointOutcome::Unfinished, None),
            Some(GivenUp::Failed { kind, reason }) => (CheckpointOutcome::Failed { reason }, Some(kind)),
        };
        let written_ns = files.iter().map(|file| file.written_ns).max().unwrap_or(ended_ns);
        // Threads are started one after the other; the checkpoint begins with the first that writes.
        let begun_ns = files.iter().map(|file| file.begun_ns).min().unwrap_or(begun_ns);
        let published_ns = files.iter().map(|file| file.published_ns).max();
        let ended_ns = published_ns.filter(|_| outcome == CheckpointOutcome::Complete).unwrap_or(ended_ns);
        Written { saved: Saved { begun_ns, written_ns, ended_ns, bytes, outcome }, files, error }
    }

    /// Removes the files of the checkpoint at `slot`, if there are any.
    pub(super) fn remove(&self, slot: u32) -> Result<(), StoreError> {
        let first = slot * self.plan.files;
        (first..first + self.plan.files)
            .try_for_each(|object| self.to.store.remove(&self.to.owned, &self.to.objects.key(object)))
    }
}

impl Shared<'_> {
    /// One thread: files in order, until none is left or one was given up.
    fn work(&self) {
        while !self.is_given_up.load(Ordering::Relaxed) {
            let file = self.next.fetch_add(1, Ordering::Relaxed);
            if file >= self.writing.plan.files {
                break;
            }
            match self.write(file) {
                Ok(times) => self.ends().files.push(times),
                Err(given_up) => self.give_up(given_up),
            }
        }
    }

    fn write(&self, file: u32) -> Result<FileTimes, GivenUp> {
        let Writing { to, plan, clock, stops, progress } = *self.writing;
        let begun_ns = clock.now_ns();
        let mut writer = to.store.create(&to.owned, &to.objects.key(self.first + file))?;
        let mut offset = 0;
        while offset < plan.file_bytes {
            // Before each block: a checkpoint may take minutes, and a writer that is dropped leaves nothing behind.
            if stops() || self.is_given_up.load(Ordering::Relaxed) {
                return Err(GivenUp::Stopped);
            }
            let length = u64::from(plan.block_bytes.max(1)).min(plan.file_bytes - offset);
            writer.write(to.content.piece(self.first + file, offset, length as usize))?;
            offset += length;
            progress.add(0, length);
            // One lock for a block of megabytes, shared by at most 64 threads: not the path of small reads.
            self.ends().bytes += length;
        }
        let written_ns = clock.now_ns();
        writer.finish_with(plan.durable)?;
        progress.add(1, 0);
        Ok(FileTimes { begun_ns, written_ns, published_ns: clock.now_ns() })
    }

    /// Ends the checkpoint. A failure is kept in preference to the files that were given up because of it.
    fn give_up(&self, given_up: GivenUp) {
        self.is_given_up.store(true, Ordering::Relaxed);
        let mut ends = self.ends();
        if !matches!(ends.given_up, Some(GivenUp::Failed { .. })) {
            ends.given_up = Some(given_up);
        }
    }

    fn ends(&self) -> std::sync::MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<StoreError> for GivenUp {
    fn from(error: StoreError) -> Self {
        Self::Failed { kind: kind(&error), reason: error.to_string() }
    }
}

/// The word under which a record counts a failure of a store.
pub(super) fn kind(error: &StoreError) -> &'static str {
    match error {
        // No read ends so, and there is no kind of it: a full disk is the one failure of a checkpoint that a user mends.
        StoreError::Full { .. } => "full",
        error => error.kind().name(),
    }
}
