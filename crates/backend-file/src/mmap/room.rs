//! The process's mappings, shared out among the queues that hold files mapped.

use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the kernel allows where it does not say (`DEFAULT_MAX_MAP_COUNT` of linux/mm.h).
const MAPS_MAX_UNKNOWN: u64 = 65_530;

/// No queue takes more than this part of the room: as many threads then hold equally many.
const PART: u64 = 32;

/// Promised to all queues together.
static PROMISED: AtomicU64 = AtomicU64::new(0);

/// A number of mappings that a queue may hold, given back on drop.
#[derive(Debug)]
pub(super) struct Room(u64);

impl Room {
    /// As many of `wanted` as there is room for, and always one.
    pub(super) fn claim(wanted: u32) -> Self {
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
    pub(super) fn maps(&self) -> usize {
        self.0 as usize
    }
}

impl Drop for Room {
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
        assert_eq!(Room::claim(3).maps(), 3);
        let part = Room::claim(u32::MAX);
        assert_eq!(part.maps() as u64, (all() / PART).max(1));
        let all: Vec<Room> = (0..2 * PART).map(|_| Room::claim(u32::MAX)).collect();
        assert!(all.iter().all(|room| room.maps() >= 1));
        assert_eq!(all.last().map(Room::maps), Some(1), "nothing is left");
    }
}
