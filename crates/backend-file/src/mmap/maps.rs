//! The files that one queue holds mapped.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use backend::{ErrorKind, OpError};
use dataset::Objects;
use plan::Advice;
use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use super::fault::Fault;
use super::mapping::Mapping;
use crate::device;
use crate::files::QueueFiles;

/// Mappings allowed where `/proc` does not say (`DEFAULT_MAX_MAP_COUNT` of linux/mm.h).
const MAPS_MAX_UNKNOWN: u64 = 65_530;

/// One queue takes at most this part of the room, so that up to as many threads can hold equally many.
const PART: u64 = 32;

/// Promised to all queues together.
static PROMISED: AtomicU64 = AtomicU64::new(0);

/// The error of a read beyond the end of its file.
pub(super) const EOF: OpError = OpError { kind: ErrorKind::Eof, code: 0 };

/// Mappings by object. Where objects are more than places, several share one place, and the one used last holds it.
/// For reads in shuffled order no rule is better, and this one needs no list and no lock.
pub(super) struct Maps {
    objects: Arc<Objects>,
    advice: Advice,
    places: Box<[Option<MapSlot>]>,
    /// Files that were mapped before the first read.
    ahead: u32,
    made: u64,
    _share: MapShare,
}

/// The object that used a place last.
struct MapSlot {
    object: u32,
    /// None after a fault: the next read maps the file anew.
    mapping: Option<Mapping>,
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
        let share = MapShare::claim(objects.count().min(most.unwrap_or(u32::MAX)));
        let places = (0..share.maps()).map(|_| None).collect();
        Self { objects: Arc::clone(objects), advice, places, ahead: 0, made: 0, _share: share }
    }

    /// Maps every file if all have room, and one otherwise, to see whether it can be done. A file that cannot be
    /// opened now is tried again by the reads that want it; an error says that mapping itself is refused.
    pub(super) fn map_ahead(&mut self, files: &mut QueueFiles) -> Result<(), Errno> {
        let all = self.objects.count() as usize <= self.places.len();
        for object in 0..self.objects.count() {
            match self.map(files, object) {
                // One is enough to see that files can be mapped. It has no place of its own, so it is
                // dropped.
                Ok(_) if !all => return Ok(()),
                Ok(mapping) => {
                    self.places[object as usize] = Some(MapSlot { object, mapping: Some(mapping) });
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
        let held = self.places[place].as_ref().filter(|held| held.object == object);
        if held.is_none_or(|held| held.mapping.is_none()) {
            // What is mapped again after a fault was there before.
            let again = held.is_some();
            // The one that was there goes first: the new one may need its address space.
            self.places[place] = again.then_some(MapSlot { object, mapping: None });
            let mapping = self.map(files, object).map_err(NotMapped::error)?;
            self.made += u64::from(!again);
            self.places[place] = Some(MapSlot { object, mapping: Some(mapping) });
        }
        self.places[place].as_ref().and_then(|held| held.mapping.as_ref()).ok_or(EOF)
    }

    /// Drops the mapping of a file, which the next read maps anew.
    pub(super) fn forget(&mut self, object: u32) {
        let place = self.place(object);
        if let Some(held) = self.places[place].as_mut().filter(|held| held.object == object) {
            held.mapping = None;
        }
    }

    /// Whether a file has fewer bytes now than `end` of a read that was copied. A cut inside a page leaves zeros up to
    /// the end of that page and raises no fault; where it is the last page, no other read of the file raises one
    /// either. So a copy that reaches into that page and ends in a zero is not believed before the file was asked.
    pub(super) fn was_cut(&self, files: &mut QueueFiles, object: u32, end: u64, last: Option<&u8>) -> bool {
        if last != Some(&0) {
            return false;
        }
        let page = rustix::param::page_size() as u64;
        let mapped = self.mapping(object).map_or(0, Mapping::bytes);
        if end <= mapped.saturating_sub(1) / page * page {
            return false;
        }
        let present = with_file(files, object, |file| device::present_bytes(file));
        // A file that can no longer be asked was there a moment ago, when its pages were copied.
        matches!(present, Ok(Ok(present)) if present < end)
    }

    fn mapping(&self, object: u32) -> Option<&Mapping> {
        let held = self.places[self.place(object)].as_ref().filter(|held| held.object == object);
        held.and_then(|held| held.mapping.as_ref())
    }

    /// What a fault means: the file has shrunk below that place, or what is there cannot be read.
    pub(super) fn meaning(&self, files: &mut QueueFiles, object: u32, fault: Fault) -> OpError {
        let page = rustix::param::page_size() as u64;
        // Faults are of whole pages: a page that begins below the file's end has failed to be read, and one
        // behind it is not there.
        let at = self.mapping(object).map_or(0, |mapping| mapping.offset_of(fault)) / page * page;
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

    /// Mappings made for a read, but for those that a fault took away.
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

/// A number of mappings that a queue may hold, given back on drop.
#[derive(Debug)]
struct MapShare(u64);

impl MapShare {
    /// As many of `wanted` as there is room for, and always one.
    fn claim(wanted: u32) -> Self {
        let all = all();
        let mut granted = 1;
        let grant = |promised: u64| {
            granted = u64::from(wanted).min(all / PART).min(all.saturating_sub(promised)).max(1);
            Some(promised + granted)
        };
        // The closure always has a value.
        let _ = PROMISED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grant);
        Self(granted)
    }

    /// The number.
    fn maps(&self) -> usize {
        self.0 as usize
    }
}

impl Drop for MapShare {
    fn drop(&mut self) {
        PROMISED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Mappings that all queues may hold; a quarter of what the kernel allows is left to stacks, heaps and buffers.
fn all() -> u64 {
    static ALL: OnceLock<u64> = OnceLock::new();
    *ALL.get_or_init(|| {
        let text = fs::read_to_string("/proc/sys/vm/max_map_count");
        let most = text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(MAPS_MAX_UNKNOWN);
        most / 4 * 3
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_room_for_what_it_wants_up_to_a_part_and_always_for_one() {
        assert_eq!(MapShare::claim(3).maps(), 3);
        let part = MapShare::claim(u32::MAX);
        assert_eq!(part.maps() as u64, (all() / PART).max(1));
        let all: Vec<MapShare> = (0..2 * PART).map(|_| MapShare::claim(u32::MAX)).collect();
        assert!(all.iter().all(|room| room.maps() >= 1));
        assert_eq!(all.last().map(MapShare::maps), Some(1), "nothing is left");
    }
}
