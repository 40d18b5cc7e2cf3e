//! Local files behind the seams of `backend`: a file system, local or mounted, read through `io_uring`, `pread` or
//! memory maps; and block devices, which are only ever read.
//!
//! Listing, writing, removing and the page cache are the same for all engines ([`FileStore`]); only the
//! queues differ. Deliberately absent: SQPOLL (it needs a core of its own) and IOPOLL. Files that are read in
//! blocks are opened before anything is measured, or, where they are more than may be open, by the thread that
//! reads them.

mod advice;
mod cache;
mod descriptors;
mod device;
mod diskstats;
mod facts;
mod failure;
mod file_system;
mod files;
mod inline;
mod kept;
mod listing;
mod lustre;
mod mmap;
mod mounts;
mod pread;
mod probe;
mod recent;
mod residency;
mod span;
mod store;
mod tree;
mod uring;
mod whole;
mod write;

pub use probe::probe_path;
pub use store::FileStore;
pub use uring::probe_io_uring;
