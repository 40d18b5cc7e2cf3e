//! What a cache of known size is expected to serve of each epoch (F44).

use feed::{Access, formula};
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
    pub order: Order,
}

/// What an order means to a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The same in each epoch.
    Same,
    /// A new permutation in each epoch, of samples, of runs of them or of shards.
    Permuted,
    /// Drawn with replacement.
    Drawn,
}

impl Order {
    fn of(access: Access) -> Self {
        match access {
            Access::Sequential | Access::List => Self::Same,
            Access::ShuffledEpoch | Access::ShuffledShards | Access::Neighbours => Self::Permuted,
            Access::Random | Access::ResampledShards => Self::Drawn,
        }
    }
}

impl Held {
    pub(super) fn of(cell: &Cell, dataset: Option<&Dataset>) -> Option<Self> {
        // A list that names files again hits within one pass, by how far apart they stand: no formula knows.
        let dataset = dataset.filter(|dataset| dataset.bytes > 0 && !samples::are_read_again(dataset))?;
        let tier = cell.tier.as_ref()?;
        Some(Self {
            share: (tier.capacity_bytes as f64 / dataset.bytes as f64).min(1.0),
            policy: tier.policy.clone(),
            order: Order::of(cell.access.known()?),
        })
    }

    /// Share of the bytes of an epoch that it should serve, once it is full; absent for a policy that no formula covers, and
    /// for draws into a cache that is still filling.
    pub fn hits_of(&self, epoch: u64) -> Option<f64> {
        match (self.order, self.policy.as_str()) {
            // Draws may come back to what the same epoch has read already.
            // In the first epoch the cache fills while draws repeat, and no closed form says how far both are.
            (Order::Drawn, _) => (epoch > 0).then(|| formula::hits_of_draws(self.share)),
            // Each sample comes once, so that nothing is found that was not there before.
            (_, "lru" | "random") if epoch == 0 => Some(0.0),
            // The worst case of LRU: a loop that is longer than the cache evicts each sample just before it comes round again,
            // so that a cache of 99 % serves nothing.
            (Order::Same, "lru") => Some(formula::hits_in_order_lru(self.share)),
            (Order::Same, "random") => Some(formula::hits_in_order_random(self.share)),
            (Order::Permuted, "lru") => Some(formula::hits_of_permutations_lru(self.share)),
            (Order::Permuted, "random") => Some(formula::hits_of_permutations_random(self.share)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use record::testing;

    use super::*;

    #[test]
    fn what_a_cache_serves_of_a_list_is_known_where_each_file_comes_once() {
        let tier = record::Tier { at: "/c".to_owned(), capacity_bytes: 500, policy: "lru".to_owned() };
        let cell = Cell { access: Access::List.into(), tier: Some(tier), ..testing::cell("c", "disk", 1) };
        let held = |samples| Held::of(&cell, Some(&Dataset { samples, ..testing::dataset("disk", 10, 100) }));
        assert_eq!(held(Some(10)).map(|held| held.order), Some(Order::Same));
        assert_eq!(held(Some(11)), None);
    }
}
