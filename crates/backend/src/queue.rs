//! The timed seam: requests in, completions out.

use std::sync::Arc;

use dataset::{Key, Objects};
use plan::{Advice, Cache, Durability, Operation, Registered};

use crate::{Arena, Buf, Clock, OpError, Owned, QueueError, StoreError};

/// One operation on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Reads `len` bytes at `offset`, all of them: an implementation finishes short reads by itself.
    Read {
        /// Index of the object.
        object: u32,
        /// First byte.
        offset: u64,
        /// Bytes, at most the buffer's size.
        len: u32,
    },
    /// Opens an object by its name, asks its size, reads all of it in pieces ([`crate::FilePieces`]), closes it.
    ReadFile {
        /// Index of the object.
        object: u32,
        /// Bytes that it has by the plan; another size found is [`crate::ErrorKind::Changed`].
        bytes: u64,
    },
    /// Asks the size of an object by its name; one that differs from the plan's is [`crate::ErrorKind::Changed`].
    Stat {
        /// Index of the object.
        object: u32,
    },
    /// Reads the names in a folder.
    List {
        /// Index among [`Objects::folders`].
        folder: u32,
    },
    /// Asks the size of an object whose handle is known, without its name; as [`Op::Stat`] otherwise.
    GetAttr {
        /// Index of the object.
        object: u32,
    },
    /// Writes the first `len` bytes of the buffer at `offset` of an object that is there, all of them, inside its size: an
    /// implementation finishes short writes by itself. It ends when the storage has promised what
    /// [`Writes::durability`] says.
    Write {
        /// Index of the object.
        object: u32,
        /// First byte.
        offset: u64,
        /// Bytes, at most the buffer's size.
        len: u32,
    },
    /// Writes an object anew in its place, whole: whoever reads its name finds all of the old one or all of the new one. Its bytes
    /// are those of the buffer, again and again, in the pieces of [`crate::FilePieces`], each of which the implementation numbers
    /// ([`crate::FilePieces::number`]) before it hands it over; the buffer comes back with the number of the last. It ends when
    /// the storage has promised what [`Writes::durability`] says, of the bytes and of the name.
    WriteFile {
        /// Index of the object.
        object: u32,
        /// Bytes that it is to have.
        bytes: u64,
    },
    /// Makes an empty file in the folder of an object, under a name that nothing else has, gives it another, and removes it. The
    /// object itself is not touched. Nothing is promised of it.
    Names {
        /// Index of the object.
        object: u32,
    },
}

/// Phases of one operation whose ends are stamped, at most; the last phase ends with the operation.
pub const PHASE_STAMPS: usize = 3;

/// An operation and the buffer it fills.
#[derive(Debug)]
pub struct Request {
    /// The caller's own number, returned unchanged.
    pub token: u32,
    /// What to do.
    pub op: Op,
    /// Moves in, and comes back with the completion.
    pub buf: Buf,
}

/// When an operation began and ended, on the queue's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamps {
    /// Just before it was handed to the kernel (or begun, where it runs in line).
    pub begun_ns: u64,
    /// Ends of the phases that [`IoQueue::phases`] names, but for the last; 0 where a phase was not reached.
    // An array and no list: a completion is moved by value for each operation and must not allocate.
    pub phase_ns: [u64; PHASE_STAMPS],
    /// After its completion was seen; never before `begun_ns`.
    pub done_ns: u64,
}

/// An operation that ended, well or not.
#[derive(Debug)]
pub struct Completion {
    /// The request's number.
    pub token: u32,
    /// The request's buffer.
    pub buf: Buf,
    /// Bytes read or written, always all that were asked; the number of entries of a folder; 0 for a look. Or why not.
    pub result: Result<u64, OpError>,
    /// When.
    pub stamps: Stamps,
}

/// What a queue that writes is opened with besides.
#[derive(Debug, Clone, Copy)]
pub struct Writes<'a> {
    /// Proof that its objects are feedline's own.
    pub owned: &'a Owned,
    /// What a write that ended is promised to be.
    pub durability: Durability,
}

/// What a queue is opened with.
#[derive(Debug)]
pub struct QueueSpec<'a> {
    /// Requests outstanding at once; the arena has a buffer for each.
    pub depth: u32,
    /// Requests handed to the kernel in one submission, at most.
    pub submit_batch: u32,
    /// Bytes of one read, at most: a whole file is read, or written, in pieces of this size, whatever a buffer has room for. No
    /// more than a buffer of the arena has.
    pub block_bytes: u32,
    /// Connections of this queue; 0 where the storage has none.
    pub connections: u32,
    /// Treatment of the page cache: `Bypass` reads directly or fails.
    pub cache: Cache,
    /// The one kind of operation that will be asked; any other is refused, but that a queue which writes blocks reads them too.
    pub operation: Operation,
    /// What its writes may write, and how well; absent of other operations.
    pub writes: Option<Writes<'a>>,
    /// What the kernel is told of how the files are read; a queue that cannot tell it fails to open.
    pub advice: Advice,
    /// Kernel registration of buffers and files.
    pub registered: Registered,
    /// Names and sizes behind the object indices.
    pub objects: &'a Arc<Objects>,
    /// The buffers.
    pub arena: &'a Arc<Arena>,
    /// Where stamps come from.
    pub clock: &'a Clock,
}

impl QueueSpec<'_> {
    /// What its writes are promised to be, for a store that keeps what is written.
    ///
    /// # Errors
    /// [`StoreError::NotOwned`] where one of the objects is not proven to be feedline's own.
    pub fn may_write(&self) -> Result<Durability, StoreError> {
        let Some(Writes { owned, durability }) = self.writes else {
            // Of files that lie in no folder of feedline's own any will do: without proof none may be touched.
            let folder = self.objects.own_folder().cloned().unwrap_or_else(|| self.objects.key(0));
            return Err(StoreError::NotOwned { folder });
        };
        // By the folders and not by the objects, of which there may be millions.
        let mut folders = self.objects.folders().into_iter();
        let is_owned = |folder: &Key| folder == owned.folder() || owned.covers(folder);
        match folders.find(|folder| !folder.as_ref().is_some_and(is_owned)) {
            Some(folder) => {
                Err(StoreError::NotOwned { folder: folder.unwrap_or_else(|| self.objects.key(0)) })
            }
            None => Ok(durability),
        }
    }
}

/// What a queue was granted and what it counted; goes into the record as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueReport {
    /// Name and value: `buffers` → `registered`, or why not.
    pub granted: Vec<(&'static str, String)>,
    /// Reads that the kernel answered in part and that were finished by another.
    pub short_reads: u64,
    /// Files opened after the queue was.
    pub opens: u64,
    /// Calls into the kernel to submit or to wait.
    pub enters: u64,
    /// Whatever else was counted, under the names that a record has it by: connections opened, bytes on the wire.
    // Names are not an enum of this crate: a backend counts what its protocol has, and the record takes any name.
    pub counted: Vec<(String, u64)>,
    /// The first failure as the storage put it (an S3 error code and message); never holds a secret.
    pub first_failure: Option<String>,
}

/// One thread's queue. Opened on the thread that uses it, and not `Send`.
///
/// The slice form (many requests to one call) was measured against one call per request: 10 against 16 ns
/// per operation on the null queue, and indistinguishable on a device; an async trait costs 95 to 290 ns.
// Used as `dyn`: one worker loop for every backend costs nothing that could be told from a generic one on a device,
// and 4 ns on the null queue. Not `Send`: `io_uring` registers the thread that made the ring (SINGLE_ISSUER), and a
// runtime is cheapest where nothing is shared.
pub trait IoQueue {
    /// Takes requests from the front of `requests` until it is full; those left were not taken. Operations
    /// that end at once, by their nature or by an error, go to `done`. An `Err` means that the queue is broken.
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError>;

    /// Hands over what was submitted and returns when at least `min` operations have ended since the call,
    /// or `until_ns` has come, whichever is first. `min = 0` only looks. Also drives the transport. What `submit`
    /// ended does not count: with nothing in flight it lets the time until `until_ns` pass, and returns at once
    /// where that is `u64::MAX`, for nothing could end such a wait.
    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError>;

    /// Requests taken and not yet returned.
    fn in_flight(&self) -> u32;

    /// Whether the operation of `buffer` ([`Buf::slot`]) that ended last was served by a cache of feedline's own before the
    /// storage.
    fn was_cached(&self, buffer: u32) -> bool {
        let _ = buffer;
        false
    }

    /// Names of the phases of an operation, as histograms of a record are called (`open_ns`); none for an
    /// operation that is one call. At most [`PHASE_STAMPS`] + 1.
    fn phases(&self) -> &'static [&'static str] {
        &[]
    }

    /// What was granted and counted so far.
    fn report(&self) -> QueueReport;

    /// Waits for outstanding operations until `until_ns`. Returns how many it had to abandon; their buffers are leaked, since
    /// the kernel may still write to them.
    fn close(self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32;
}
