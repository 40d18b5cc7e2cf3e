//! What a cache before a storage serves of several epochs. The cache holds the share `c` of the data, 0 to 1.

use crate::words::{CacheOrder, TierPolicy};

/// F44: hits of a full cache, from the second epoch on, by the order of the reads and by what it drops.
pub fn hits(order: CacheOrder, policy: TierPolicy, c: f64) -> f64 {
    match (order, policy) {
        (CacheOrder::Drawn, _) => hits_of_draws(c),
        // The worst case of LRU: a loop that is longer than the cache evicts each sample just before it comes round again,
        // so that a cache of 99 % serves nothing.
        (CacheOrder::Same, TierPolicy::Lru) => hits_in_order_lru(c),
        (CacheOrder::Same, TierPolicy::Random) => hits_in_order_random(c),
        (CacheOrder::Permuted, TierPolicy::Lru) => hits_of_permutations_lru(c),
        (CacheOrder::Permuted, TierPolicy::Random) => hits_of_permutations_random(c),
    }
}

/// F44: hits of reads drawn independently, whatever is dropped: what is held.
fn hits_of_draws(c: f64) -> f64 {
    c.clamp(0.0, 1.0)
}

/// F44: hits of the draws of epoch `epoch`, counted from 1, where the cache was empty before the first and as many are drawn as
/// there are data.
///
/// Derived here. With `n` draws of `n` data a datum is among none of `t n` draws with the chance `(1 - 1/n)^(t n)`, nearly `exp(-t)`.
/// So after `t` epochs `1 - exp(-t)` of the data were read, a cache that has room holds them, and a draw misses with
/// `exp(-t)`. From `t = -ln(1 - c)` on the cache is full, holds `c`, and a draw misses with `1 - c`, whatever is dropped. The misses of an epoch
/// are the integral over it: where all fits, `exp(-(k - 1)) - exp(-k)` of epoch `k`, 63.2 % of the first and 23.3 % of the second.
pub fn hits_of_drawn_epoch(c: f64, epoch: u32) -> f64 {
    let c = c.clamp(0.0, 1.0);
    let full_at = -(-c).ln_1p();
    let (begun, ended) = (f64::from(epoch.max(1) - 1), f64::from(epoch.max(1)));
    let filled = ended.min(full_at).max(begun);
    // Of a cache that holds all there is no time when it is full, and no product of nothing and infinity.
    let after = if ended > filled { (1.0 - c) * (ended - filled) } else { 0.0 };
    1.0 - ((-begun).exp() - (-filled).exp() + after)
}

/// F44: hits from the second epoch on where data are read in the same order each time and the least recently used are
/// dropped: none unless all fit, because what comes next was dropped last.
fn hits_in_order_lru(c: f64) -> f64 {
    if c >= 1.0 { 1.0 } else { 0.0 }
}

/// F44: hits where each epoch is a new permutation and the least recently used are dropped: `c + (1 - c) ln(1 - c)`.
// Well below `c`: an item is a hit only if less than the share `c` was read since its last turn, and half
// of all turns lie more than an epoch apart.
fn hits_of_permutations_lru(c: f64) -> f64 {
    match c {
        1.0.. => 1.0,
        _ if c > 0.0 => (c + (1.0 - c) * (-c).ln_1p()).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

/// Hits where each epoch is a new permutation and any held one is dropped, each as likely:
/// `-c ln(1 - c (1 - exp(-1/c)))`.
///
/// Derived here. Let `M(v)` be the misses in the part `v` of an epoch, by the number of data. One read at `u` in the
/// epoch before is held after it and survives each later miss with the chance `1 - 1/(c n)`, so it is still there at `v`
/// with `exp(-(M(1) - M(u) + M(v)) / c)`. With `x = exp(M / c)` the mean over `u` gives `c x' = x - A` for a constant
/// `A`, hence `x = A + (1 - A) exp(v / c)`; putting that into the mean gives `A = c`, and the misses of an epoch are
/// `M(1) = c ln(c + (1 - c) exp(1 / c))`. The test counts the same in a simulation.
fn hits_of_permutations_random(c: f64) -> f64 {
    let c = c.clamp(0.0, 1.0);
    (-c * (-c * (1.0 - (-1.0 / c).exp())).ln_1p()).clamp(0.0, 1.0)
}

/// Steps after which the fixed point of [`hits_in_order_random`] is taken as found.
// Each step comes nearer by the factor h / c, which tends to one as `c` does: without a bound a cache that
// holds nearly all would take for ever.
const STEPS: usize = 10_000;

/// Hits where data are read in the same order each time and any held one is dropped, each as likely: the smallest `h`
/// with `h = exp(-(1 - h) / c)`, for between two reads of one lie the misses of a whole epoch.
fn hits_in_order_random(c: f64) -> f64 {
    if c <= 0.0 || c.is_nan() {
        return 0.0;
    }
    if c >= 1.0 {
        return 1.0;
    }
    // From below, since h = 1 solves the equation too and is not what a cache smaller than the data does.
    let mut hits = 0.0_f64;
    for _ in 0..STEPS {
        let next = (-(1.0 - hits) / c).exp();
        if (next - hits).abs() < 1e-12 {
            break;
        }
        hits = next;
    }
    hits
}

/// F45: bytes per second with the share `hits` of the bytes from a cache.
pub fn cached_bps(hits: f64, storage_bps: f64, cache_bps: f64) -> f64 {
    // Harmonic, as times add up and rates do not: half the bytes from a cache that is infinitely fast only
    // double the rate.
    1.0 / ((1.0 - hits) / storage_bps + hits / cache_bps)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn assert_close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
    }

    #[test]
    fn f44_hits_of_a_permutation_by_the_share_that_fits() {
        for (c, hits) in [(0.25, 0.034), (0.5, 0.153), (0.75, 0.403), (0.9, 0.670), (1.0, 1.0), (0.0, 0.0)] {
            assert_close(hits_of_permutations_lru(c), hits, 0.001);
        }
        assert!(hits_in_order_lru(0.999) < 1e-12 && hits_in_order_lru(1.0) > 1.0 - 1e-12);
        assert_close(hits_of_draws(0.3), 0.3, 1e-12);
    }

    #[test]
    fn f44_hits_of_draws_while_the_cache_fills() {
        // All fits: 1 - (1 - 1/e), 1 - (1/e - 1/e^2), and so on to all.
        for (epoch, hits) in [(1, 0.3679), (2, 0.7675), (3, 0.9145), (40, 1.0)] {
            assert_close(hits_of_drawn_epoch(1.0, epoch), hits, 1e-4);
        }
        // Half fits: full after 0.693 epochs, until when 0.5 missed; then 0.307 x 0.5 do.
        assert_close(hits_of_drawn_epoch(0.5, 1), 0.3466, 1e-4);
        assert_close(hits_of_drawn_epoch(0.5, 2), 0.5, 1e-12);
        // 0.9 are held after 2.303 epochs.
        assert_close(hits_of_drawn_epoch(0.9, 3), 1.0 - (0.135_34 - 0.1 + 0.069_74), 1e-4);
        assert_close(hits_of_drawn_epoch(0.9, 4), 0.9, 1e-12);
        assert_close(hits_of_drawn_epoch(0.0, 1), 0.0, 1e-12);
    }

    #[test]
    fn draws_hit_as_often_as_a_simulation_counts() {
        const DATA: usize = 20_000;
        for c in [0.5, 0.9, 1.0] {
            let (mut draws, mut held) = (Draws(0x9e37_79b9_7f4a_7c15), Vec::new());
            let mut is_held = vec![false; DATA];
            for epoch in 1..=3 {
                let mut hits = 0_u32;
                for one in (0..DATA).map(|_| draws.below(DATA)).collect::<Vec<_>>() {
                    if is_held[one] {
                        hits += 1;
                        continue;
                    }
                    if held.len() as f64 >= c * DATA as f64 {
                        let dropped = held.swap_remove(draws.below(held.len()));
                        is_held[dropped] = false;
                    }
                    held.push(one);
                    is_held[one] = true;
                }
                assert_close(hits_of_drawn_epoch(c, epoch), f64::from(hits) / DATA as f64, 0.01);
            }
        }
    }

    #[test]
    fn f45_half_from_memory() {
        assert_close(cached_bps(0.5, 2e9, 10e9), 3.33e9, 0.01e9);
        assert_close(cached_bps(0.0, 2e9, 10e9), 2e9, 1.0);
    }

    /// Numbers that look random and are the same each time (xorshift).
    struct Draws(u64);

    impl Draws {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            ((self.0 >> 11) % end as u64) as usize
        }
    }

    /// Hits of a cache that drops any held one, counted over epochs after the first ones.
    fn simulated(c: f64, permuted: bool) -> f64 {
        const DATA: usize = 4_000;
        let (mut draws, mut order) = (Draws(0x9e37_79b9_7f4a_7c15), (0..DATA).collect::<Vec<usize>>());
        let held_max = (c * DATA as f64) as usize;
        let (mut held, mut place): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), vec![None; DATA]);
        let (mut hits, mut reads) = (0_u64, 0_u64);
        for epoch in 0..60 {
            if permuted {
                (1..DATA).rev().for_each(|last| order.swap(last, draws.below(last + 1)));
            }
            for one in &order {
                let counts = u64::from(epoch >= 30);
                reads += counts;
                if place[*one].is_some() {
                    hits += counts;
                } else if held.len() < held_max {
                    place[*one] = Some(held.len());
                    held.push(*one);
                } else {
                    let at = draws.below(held_max);
                    place[held[at]] = None;
                    (held[at], place[*one]) = (*one, Some(at));
                }
            }
        }
        hits as f64 / reads as f64
    }

    #[test]
    fn what_random_dropping_leaves_is_what_a_simulation_counts() {
        for c in [0.25, 0.5, 0.75, 0.9] {
            assert_close(hits_of_permutations_random(c), simulated(c, true), 0.01);
            assert_close(hits_in_order_random(c), simulated(c, false), 0.01);
        }
    }

    proptest! {
        #[test]
        fn hits_are_a_share_that_is_at_most_what_is_held(c in -0.5..1.5_f64) {
            let held = hits_of_draws(c);
            let drawn: Vec<f64> = (1..=50).map(|epoch| hits_of_drawn_epoch(c, epoch)).collect();
            prop_assert!(drawn.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9), "{c}: {drawn:?}");
            prop_assert!(drawn[0] >= 0.0 && drawn[49] <= held + 1e-9, "{c}: {drawn:?}");
            let in_order = [hits_in_order_lru(c), hits_in_order_random(c)];
            let permuted = [hits_of_permutations_lru(c), hits_of_permutations_random(c)];
            for hits in in_order.into_iter().chain(permuted) {
                prop_assert!((0.0..=1.0).contains(&hits) && hits <= held + 1e-9, "{c}: {hits}");
            }
        }
    }
}
