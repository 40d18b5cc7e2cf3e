//! Which block lies in which slot, and which makes room for another. Pure: slots are numbers, and time is the order of
//! calls.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use backend::Recency;
use dataset::{mix, scale};
use plan::TierPolicy;

/// What the counter of `SplitMix64` goes on by: 2^64 over the golden ratio. [`mix`] adds it too, before it mixes.
const SPLIT_MIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A block of an object, by where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    /// Index of the object.
    pub(crate) object: u32,
    /// First byte.
    pub(crate) offset: u64,
}

/// A slot that is to take a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fill {
    /// Its number.
    pub(crate) slot: u32,
    /// The block that had it before and made room.
    pub(crate) evicted: Option<Block>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// Being written: no block can be read from it yet.
    Filling(Block),
    Held(Block),
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    state: State,
    /// Reads under way: it makes room for nothing meanwhile.
    pins: u32,
}

/// The slots of a cache and the blocks in them. Every call takes constant time, but for steps past slots that are being
/// read, of which there are few.
#[derive(Debug)]
pub(crate) struct Directory {
    policy: TierPolicy,
    slots: Vec<Slot>,
    // The standard hash, which no stream of blocks can be made to collide in: a user's dataset decides the keys, and
    // 20 ns are nothing beside a read.
    blocks: HashMap<Block, u32>,
    free: Vec<u32>,
    /// Slots that hold a block.
    held: Recency,
    /// State of the draws.
    draws: u64,
}

impl Directory {
    /// An empty cache of `slots`. It asks for all memory that it will need; `seed` decides the draws of
    /// [`TierPolicy::Random`].
    pub(crate) fn new(policy: TierPolicy, slots: u32, seed: u64) -> Self {
        let empty = Slot { state: State::Free, pins: 0 };
        Self {
            policy,
            slots: vec![empty; slots as usize],
            blocks: HashMap::with_capacity(slots as usize),
            // Popped from the end: the file is filled from its beginning on.
            free: (0..slots).rev().collect(),
            held: Recency::new(slots),
            draws: seed,
        }
    }

    /// The slot of a block, which stays there until [`Directory::release`]; `None` where the cache does not have it.
    pub(crate) fn hit(&mut self, block: Block) -> Option<u32> {
        let slot = *self.blocks.get(&block)?;
        // The block may be listed while it is still being written.
        if self.slots[slot as usize].state != State::Held(block) {
            return None;
        }
        // A read of a slot may be under way in the kernel while another thread would overwrite it.
        self.slots[slot as usize].pins += 1;
        self.held.remove(slot);
        self.held.add(slot);
        Some(slot)
    }

    /// Ends a read that [`Directory::hit`] began.
    pub(crate) fn release(&mut self, slot: u32) {
        let slot = &mut self.slots[slot as usize];
        debug_assert!(slot.pins > 0, "a read ends once");
        slot.pins = slot.pins.saturating_sub(1);
    }

    /// A slot for a block that was read from below. `None` where the cache has the block already, or is getting it, and
    /// where every slot is being read or written.
    pub(crate) fn begin_fill(&mut self, block: Block) -> Option<Fill> {
        if self.blocks.contains_key(&block) {
            return None;
        }
        let fill = match self.free.pop() {
            Some(slot) => Fill { slot, evicted: None },
            None => self.evict()?,
        };
        self.slots[fill.slot as usize].state = State::Filling(block);
        // From here on, not once it is written: a second miss of the same block must not be written into a second
        // slot.
        self.blocks.insert(block, fill.slot);
        Some(fill)
    }

    /// Says that a slot holds its block now, as the one used last, or that it could not be written.
    pub(crate) fn end_fill(&mut self, slot: u32, is_written: bool) {
        let State::Filling(block) = self.slots[slot as usize].state else { return };
        if is_written {
            self.slots[slot as usize].state = State::Held(block);
            self.held.add(slot);
        } else {
            self.slots[slot as usize].state = State::Free;
            self.blocks.remove(&block);
            self.free.push(slot);
        }
    }

    /// Blocks that can be read.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.slots.iter().filter(|slot| matches!(slot.state, State::Held(_))).count()
    }

    fn evict(&mut self) -> Option<Fill> {
        let slot = match self.policy {
            TierPolicy::Lru => self.held.oldest_first().find(|slot| self.may_go(*slot))?,
            TierPolicy::Random => self.any()?,
        };
        let State::Held(block) = self.slots[slot as usize].state else { return None };
        self.held.remove(slot);
        self.blocks.remove(&block);
        Some(Fill { slot, evicted: Some(block) })
    }

    fn may_go(&self, slot: u32) -> bool {
        let Slot { state, pins } = self.slots[slot as usize];
        pins == 0 && matches!(state, State::Held(_))
    }

    /// The first slot from a random one on that may be evicted. Each has the same chance while none is in use.
    fn any(&mut self) -> Option<u32> {
        let count = self.slots.len() as u32;
        // Of a dataset larger than the cache, passed over again and again, random replacement keeps a part; LRU keeps
        // nothing.
        let first = scale(self.draw(), u64::from(count)) as u32;
        (0..count).map(|step| (first + step) % count).find(|slot| self.may_go(*slot))
    }

    /// `SplitMix64`, <https://prng.di.unimi.it/splitmix64.c>: a counter, mixed.
    fn draw(&mut self) -> u64 {
        let drawn = mix(self.draws);
        self.draws = self.draws.wrapping_add(SPLIT_MIX_STEP);
        drawn
    }
}
