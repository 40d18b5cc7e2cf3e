//! The files used last, for datasets of more files than may be open.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use backend::Recency;
use rustix::fd::RawFd;

use crate::descriptors::Held;

/// A bounded set of open files. A file in use is pinned; of the others the least recently used gives way.
#[derive(Debug)]
pub(crate) struct Recent(Mutex<OpenFiles>);

/// A file in use: its number, and the place to give back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InUse {
    pub(crate) fd: RawFd,
    pub(crate) place: u32,
}

#[derive(Debug)]
struct OpenFiles {
    all: Vec<OpenFile>,
    unused: Vec<u32>,
    by_object: HashMap<u32, u32>,
    /// Files that are open and not in use.
    idle: Recency,
}

#[derive(Debug)]
struct OpenFile {
    object: u32,
    file: Option<Held>,
    pins: u32,
}

impl Recent {
    /// Room for `capacity` files.
    pub(crate) fn new(capacity: u32) -> Self {
        let place = |_| OpenFile { object: 0, file: None, pins: 0 };
        Self(Mutex::new(OpenFiles {
            all: (0..capacity).map(place).collect(),
            unused: (0..capacity).rev().collect(),
            // Twice the room: the map then cleans up after removals in place and never grows.
            by_object: HashMap::with_capacity(2 * capacity as usize),
            idle: Recency::new(capacity),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, OpenFiles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pins the file of `object` if it is open.
    pub(crate) fn pin(&self, object: u32) -> Option<InUse> {
        self.lock().pin(object)
    }

    /// Makes room for one file, closing the least recently used; `None` when every file is in use.
    pub(crate) fn make_room(&self) -> Option<u32> {
        let (place, closed) = self.lock().make_room()?;
        // Closed after the lock is released.
        drop(closed);
        Some(place)
    }

    /// Puts a file into the room made for it and pins it. Another thread may have opened the same file
    /// meanwhile; then that one is used, and the room is free again.
    pub(crate) fn put(&self, place: u32, object: u32, file: Held) -> InUse {
        // The caller opened the file without the lock: an open may be a round trip to a server.
        let mut places = self.lock();
        if let Some(in_use) = places.pin(object) {
            places.unused.push(place);
            drop(places);
            drop(file);
            return in_use;
        }
        places.by_object.insert(object, place);
        let fd = file.raw();
        let entry = &mut places.all[place as usize];
        (entry.object, entry.file, entry.pins) = (object, Some(file), 1);
        InUse { fd, place }
    }

    /// Gives back room for which no file could be opened.
    pub(crate) fn give_up(&self, place: u32) {
        self.lock().unused.push(place);
    }

    /// Ends one use of a file, which stays open.
    pub(crate) fn unpin(&self, place: u32) {
        self.lock().unpin(place);
    }
}

impl OpenFiles {
    fn pin(&mut self, object: u32) -> Option<InUse> {
        let place = *self.by_object.get(&object)?;
        // A file in use is in no list, so `make_room` cannot close it.
        if self.all[place as usize].pins == 0 {
            self.idle.remove(place);
        }
        let entry = &mut self.all[place as usize];
        entry.pins += 1;
        entry.file.as_ref().map(|file| InUse { fd: file.raw(), place })
    }

    fn unpin(&mut self, place: u32) {
        let entry = &mut self.all[place as usize];
        entry.pins -= 1;
        if entry.pins == 0 {
            self.idle.add(place);
        }
    }

    fn make_room(&mut self) -> Option<(u32, Option<Held>)> {
        if let Some(place) = self.unused.pop() {
            return Some((place, None));
        }
        let place = self.idle.oldest_first().next()?;
        self.idle.remove(place);
        let entry = &mut self.all[place as usize];
        self.by_object.remove(&entry.object);
        Some((place, entry.file.take()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_file() -> Held {
        Held::new(std::fs::File::open("/dev/null").unwrap().into())
    }

    fn open(recent: &Recent, object: u32) -> InUse {
        let place = recent.make_room().expect("there is room");
        recent.put(place, object, some_file())
    }

    #[test]
    fn the_least_recently_used_file_gives_way() {
        let recent = Recent::new(3);
        for object in [1, 2, 3] {
            let in_use = open(&recent, object);
            recent.unpin(in_use.place);
        }
        let used_again = recent.pin(1).unwrap();
        recent.unpin(used_again.place);
        open(&recent, 4);
        assert!(recent.pin(2).is_none(), "2 was used longest ago");
        assert!(recent.pin(1).is_some() && recent.pin(3).is_some() && recent.pin(4).is_some());
    }

    #[test]
    fn files_in_use_stay_and_room_returns_with_them() {
        let recent = Recent::new(2);
        let first = open(&recent, 1);
        let again = recent.pin(1).unwrap();
        open(&recent, 2);
        assert!(recent.make_room().is_none(), "both are in use");
        recent.unpin(first.place);
        assert!(recent.make_room().is_none(), "1 is in use once more");
        recent.unpin(again.place);
        assert!(recent.make_room().is_some());
    }

    #[test]
    fn a_file_opened_twice_at_once_is_held_once() {
        let recent = Recent::new(2);
        let (mine, theirs) = (recent.make_room().unwrap(), recent.make_room().unwrap());
        let used = recent.put(mine, 7, some_file());
        assert_eq!(recent.put(theirs, 7, some_file()), used);
        assert!(recent.make_room().is_some(), "the second place is free again");
    }

    #[test]
    fn room_given_up_is_room() {
        let recent = Recent::new(1);
        let place = recent.make_room().unwrap();
        assert!(recent.make_room().is_none());
        recent.give_up(place);
        assert!(recent.make_room().is_some());
    }
}
