//! What a cache of known size is expected to serve of each epoch (F44).

use feed::{CacheOrder, TierPolicy, Words as _, formula};
use record::{Cell, Dataset};

use crate::cell::samples;

/// A cache before the storage, and what it should serve.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Share of the dataset that it holds, at most 1.
    pub share: f64,
    /// What is dropped when it is full: `lru`, `random`.
    pub policy: String,
    /// Order of the reads, as far as it matters.
    pub order: CacheOrder,
}

impl Held {
    pub(super) fn of(cell: &Cell, dataset: Option<&Dataset>) -> Option<Self> {
        // A list that names files again hits within one pass, by how far apart they stand: no formula knows.
        let dataset = dataset.filter(|dataset| dataset.bytes > 0 && !samples::are_read_again(dataset))?;
        let tier = cell.tier.as_ref()?;
        Some(Self {
            share: (tier.capacity_bytes as f64 / dataset.bytes as f64).min(1.0),
            policy: tier.policy.clone(),
            order: CacheOrder::of(cell.access.known()?),
        })
    }

    /// Share of the bytes of an epoch that it should serve, once it is full; absent for a policy that no formula covers, and
    /// for draws into a cache that is still filling.
    pub fn hits_of(&self, epoch: u64) -> Option<f64> {
        let policy = TierPolicy::of_word(&self.policy);
        match (self.order, epoch) {
            // Draws may come back to what the same epoch has read already: in the first epoch the cache fills while draws
            // repeat, and no closed form says how far both are.
            (CacheOrder::Drawn, 0) => None,
            // Each sample comes once, so that nothing is found that was not there before.
            (_, 0) => policy.map(|_| 0.0),
            // After so many epochs of draws this share of the dataset was read: a cache of more is not full yet.
            (CacheOrder::Drawn, epochs) if 1.0 - (-(epochs as f64)).exp() < self.share => None,
            // Of draws it does not matter what is dropped, so that any policy will do.
            (CacheOrder::Drawn, _) => Some(formula::hits(self.order, TierPolicy::Random, self.share)),
            _ => policy.map(|policy| formula::hits(self.order, policy, self.share)),
        }
    }
}

#[cfg(test)]
mod tests {
    use record::testing;

    use super::*;

    #[test]
    fn draws_fill_a_cache_by_what_they_have_not_drawn_yet() {
        let held = |share| Held { share, policy: "lru".to_owned(), order: CacheOrder::Drawn };
        // One epoch of draws reads 63 % of the dataset, two 86 %.
        assert_eq!([0, 1, 2].map(|epoch| held(0.6).hits_of(epoch)), [None, Some(0.6), Some(0.6)]);
        assert_eq!([1, 2, 3].map(|epoch| held(0.8).hits_of(epoch)), [None, Some(0.8), Some(0.8)]);
        assert_eq!([1, 2, 9].map(|epoch| held(1.0).hits_of(epoch)), [None, None, None]);
    }

    #[test]
    fn what_a_cache_serves_of_a_list_is_known_where_each_file_comes_once() {
        use feed::Access;

        let tier = record::Tier { at: "/c".to_owned(), capacity_bytes: 500, policy: "lru".to_owned() };
        let cell = Cell { access: Access::List.into(), tier: Some(tier), ..testing::cell("c", "disk", 1) };
        let held = |samples| Held::of(&cell, Some(&Dataset { samples, ..testing::dataset("disk", 10, 100) }));
        assert_eq!(held(Some(10)).map(|held| held.order), Some(CacheOrder::Same));
        assert_eq!(held(Some(11)), None);
    }
}
