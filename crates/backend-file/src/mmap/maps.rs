//! The files that one queue holds mapped.

use std::sync::Arc;

use backend::{ErrorKind, OpError};
use dataset::Objects;
use plan::Advice;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use super::fault::Fault;
use super::mapping::Mapping;
use super::room::Room;
use crate::device;
use crate::files::QueueFiles;

/// What a read finds that goes beyond its file.
pub(super) const EOF: OpError = OpError { kind: ErrorKind::Eof, code: 0 };

/// Mappings by object. Where there are more objects than places, an object has one place that it shares with
/// others, and the one used last has it: for reads in shuffled order that is as good as any other rule, and it
/// costs no list and no lock.
pub(super) struct Maps {
    objects: Arc<Objects>,
    advice: Advice,
    places: Box<[Option<(u32, Mapping)>]>,
    /// Files that were mapped before the first read.
    ahead: u32,
    made: u64,
    _room: Room,
}

/// Why a file is not mapped.
pub(super) enum NotMapped {
    /// It cannot be opened, or holds nothing.
    File(OpError),
    /// It was opened, and mapping it is refused.
    Map(Errno),
}

impl NotMapped {
    fn error(self) -> OpError {
        match self {
            Self::File(error) => error,
            Self::Map(errno) => OpError::from_errno(errno.raw_os_error()),
        }
    }
}

impl Maps {
    /// Room for as many mappings as the limits allow, none of them made.
    pub(super) fn new(objects: &Arc<Objects>, advice: Advice, most: Option<u32>) -> Self {
        let room = Room::claim(objects.count().min(most.unwrap_or(u32::MAX)));
        let places = (0..room.maps()).map(|_| None).collect();
        Self { objects: Arc::clone(objects), advice, places, ahead: 0, made: 0, _room: room }
    }

    /// Maps every file if all have room, and one otherwise, to see whether it can be done. A file that cannot be
    /// opened now is tried again by the reads that want it; an error says that mapping itself is refused.
    pub(super) fn map_ahead(&mut self, files: &mut QueueFiles) -> Result<(), Errno> {
        let all = self.objects.count() as usize <= self.places.len();
        for object in 0..self.objects.count() {
            match self.map(files, object) {
                Ok(_) if !all => return Ok(()),
                Ok(mapping) => {
                    self.places[object as usize] = Some((object, mapping));
                    self.ahead += 1;
                }
                Err(NotMapped::Map(errno)) => return Err(errno),
                Err(NotMapped::File(_)) => {}
            }
        }
        Ok(())
    }

    /// The mapping of a file: the one that is there, or a new one.
    #[inline]
    pub(super) fn get(&mut self, files: &mut QueueFiles, object: u32) -> Result<&Mapping, OpError> {
        let place = self.place(object);
        if self.places[place].as_ref().is_none_or(|(held, _)| *held != object) {
            // The one that was there goes first: the new one may need its address space.
            self.places[place] = None;
            let mapping = self.map(files, object).map_err(NotMapped::error)?;
            self.made += 1;
            self.places[place] = Some((object, mapping));
        }
        self.places[place].as_ref().map(|(_, mapping)| mapping).ok_or(EOF)
    }

    /// Drops the mapping of a file, which the next read maps anew.
    pub(super) fn forget(&mut self, object: u32) {
        let place = self.place(object);
        self.places[place] = None;
    }

    /// What a fault means: the file has shrunk below that place, or what is there cannot be read.
    pub(super) fn meaning(&self, files: &mut QueueFiles, object: u32, fault: Fault) -> OpError {
        let page = rustix::param::page_size() as u64;
        let mapping = self.places[self.place(object)].as_ref();
        let at = mapping.map_or(0, |(_, mapping)| mapping.offset_of(fault)) / page * page;
        match with_file(files, object, |file| device::present_bytes(file)) {
            Ok(Ok(present)) if at >= present => EOF,
            Ok(_) => OpError::from_errno(libc::EIO),
            Err(error) => error,
        }
    }

    /// How many files are held mapped, in words.
    pub(super) fn summary(&self) -> String {
        let (count, places) = (self.objects.count(), self.places.len());
        match self.ahead {
            ahead if ahead == count => format!("all {count}, mapped ahead"),
            ahead if count as usize <= places => {
                format!("{ahead} of {count}, mapped ahead; the others failed to open")
            }
            _ => format!("up to {places} of {count} (vm.max_map_count)"),
        }
    }

    /// Mappings made for a read.
    pub(super) fn made(&self) -> u64 {
        self.made
    }

    fn place(&self, object: u32) -> usize {
        object as usize % self.places.len()
    }

    fn map(&self, files: &mut QueueFiles, object: u32) -> Result<Mapping, NotMapped> {
        let wanted = self.objects.bytes(object);
        let mapped = with_file(files, object, |file| match device::present_bytes(file) {
            Ok(present) if present.min(wanted) > 0 => {
                Mapping::new(file, present.min(wanted), self.advice).map_err(NotMapped::Map)
            }
            Ok(_) => Err(NotMapped::File(EOF)),
            Err(errno) => Err(NotMapped::File(OpError::from_errno(errno.raw_os_error()))),
        });
        mapped.map_err(NotMapped::File)?
    }
}

fn with_file<T>(
    files: &mut QueueFiles,
    object: u32,
    act: impl FnOnce(BorrowedFd<'_>) -> T,
) -> Result<T, OpError> {
    let in_use = match files.pin(object) {
        Some(in_use) => in_use,
        None => files.open(object)?,
    };
    // SAFETY: a file in use stays open until it is unpinned, below.
    let result = act(unsafe { BorrowedFd::borrow_raw(in_use.fd) });
    files.unpin(in_use);
    Ok(result)
}
