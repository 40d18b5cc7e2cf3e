//! What a reader must know of epochs, in words.

use analysis::{EpochNote, Held};
use feed::{CacheOrder, counted_noun};

pub(crate) fn words(note: &EpochNote) -> String {
    match note {
        EpochNote::Amplified { factor } => format!(
            "storage delivered up to {:.0} % of what was asked (pages and read-ahead): no cache share then",
            factor * 100.0
        ),
        EpochNote::Cut { epochs } => {
            format!("{} cut by the end of the window", counted_noun(*epochs, "epoch"))
        }
        EpochNote::Overlap { share } => format!(
            "passes overlap, by up to {:.0} % of their time: reads of two or more are under way together, and the rate of \
             the cell is above that of a pass",
            share * 100.0
        ),
        EpochNote::Held(cache) => held(cache),
        EpochNote::Skipped { share } => format!(
            "the tier did not keep {:.0} % of what it missed, for it was still writing what came before: what is expected \
             of a cache that keeps all it reads does not hold",
            share * 100.0
        ),
        EpochNote::LeftOut { epochs } => format!("{epochs} further epochs are not shown"),
    }
}

fn held(cache: &Held) -> String {
    let order = match cache.order {
        CacheOrder::Same => "in the same order each time",
        CacheOrder::Permuted => "in a new order each time",
        CacheOrder::Drawn => "drawn independently",
    };
    let holds = format!("a cache of {:.0} % of the data, read {order}", cache.share * 100.0);
    let Some(hits) = cache.hits_of(u64::MAX) else {
        return format!("{holds}: nothing is foretold for the policy {}", cache.policy);
    };
    let serves = format!("{holds}, serves {:.1} % of each epoch once it is full", hits * 100.0);
    match (cache.order, cache.policy.as_str()) {
        (CacheOrder::Drawn, _) => format!("{serves} (F44)"),
        (_, "random") => format!(
            "{serves} where any held sample is dropped, each as likely; F44 for the least recently used does not apply"
        ),
        _ => format!("{serves} where the least recently used is dropped (F44)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_says_what_it_is_expected_to_serve() {
        let said = |order, policy: &str| {
            words(&EpochNote::Held(Held { share: 0.5, policy: policy.to_owned(), order }))
        };
        assert_eq!(
            said(CacheOrder::Drawn, "lru"),
            "a cache of 50 % of the data, read drawn independently, serves 50.0 % of each epoch once it is full (F44)"
        );
        assert_eq!(
            said(CacheOrder::Same, "lru"),
            "a cache of 50 % of the data, read in the same order each time, serves 0.0 % of each epoch once it is full \
             where the least recently used is dropped (F44)"
        );
        assert_eq!(
            said(CacheOrder::Permuted, "clock"),
            "a cache of 50 % of the data, read in a new order each time: nothing is foretold for the policy clock"
        );
    }
}
