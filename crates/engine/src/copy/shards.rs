//! Which samples go into which shard: as many in a row as reach its size.

use std::ops::Range;

use dataset::Objects;
use plan::Packing;

/// What is to be made: the objects as they are, or shards of them.
pub(super) enum Work {
    Objects(u32),
    Shards(Packing, Shards),
}

impl Work {
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Objects(count) => *count,
            Self::Shards(_, shards) => shards.count(),
        }
    }
}

/// Shards of samples that are objects, in order.
#[derive(Debug)]
pub(super) struct Shards {
    /// Where the samples of each end.
    ends: Vec<u32>,
}

impl Shards {
    /// The first `count` objects in shards of about `shard_bytes`.
    pub(super) fn of(objects: &Objects, count: u32, shard_bytes: u64) -> Self {
        let mut ends = Vec::new();
        let mut bytes = 0_u64;
        for object in 0..count {
            bytes = bytes.saturating_add(objects.bytes(object));
            // A shard ends with the sample that reaches its size, as WebDataset's `ShardWriter` does it.
            if bytes >= shard_bytes || object + 1 == count {
                ends.push(object + 1);
                bytes = 0;
            }
        }
        Self { ends }
    }

    pub(super) fn count(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Samples of all shards.
    pub(super) fn samples(&self) -> u32 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The samples of one.
    pub(super) fn range(&self, shard: u32) -> Range<u32> {
        let shard = shard as usize;
        let begin = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin..self.ends[shard]
    }
}

#[cfg(test)]
mod tests {
    use dataset::Key;

    use super::*;

    #[test]
    fn every_sample_lies_in_one_shard_in_order() {
        let objects = Objects::uniform(Key::new("d").unwrap(), 10, 100);
        let shards = Shards::of(&objects, 10, 250);
        let ranges: Vec<_> = (0..shards.count()).map(|shard| shards.range(shard)).collect();
        assert_eq!(ranges, [0..3, 3..6, 6..9, 9..10]);
        assert_eq!(shards.samples(), 10);
        assert_eq!(Shards::of(&objects, 4, 1).count(), 4, "a shard holds at least one");
    }
}
