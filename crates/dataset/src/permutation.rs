//! A seeded permutation of `0..n` in constant memory.
//!
//! A four-round Feistel network over the smallest even number of bits that holds `n`, walked until the
//! value falls inside (cycle walking: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
//! The domain is at most four times `n`, so the network is walked at most four times on average.

/// A bijection on `0..n`.
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// A permutation of `0..n`, drawn by `seed`.
    pub fn new(n: u64, seed: u64) -> Self {
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        // Two halves of equal width: a Feistel round swaps them.
        let half_bits = bits.div_ceil(2).max(1);
        // Four rounds are the fewest that make a strong pseudo-random permutation (Luby and Rackoff, 1988); nothing
        // here has to resist more than that.
        let keys = [1, 2, 3, 4].map(|round| mix(seed ^ mix(round)));
        Self { n, half_bits, keys }
    }

    /// The image of `index`, which must be below `n`.
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.n);
        let mut value = index;
        loop {
            // Walking ends: the network permutes the larger domain, and the cycle of a value inside `0..n` comes back
            // to such a value.
            value = self.encipher(value);
            if value < self.n {
                return value;
            }
        }
    }

    fn encipher(&self, value: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        (left << self.half_bits) | right
    }
}

/// The finaliser of `splitmix64` (Steele, Lea and Flood, 2014): every output bit depends on every input bit.
pub fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Maps a uniform 64-bit value onto `0..n` by its high bits (Lemire's multiply-shift; bias below 2^-20 for n < 2^44).
pub fn scale(value: u64, n: u64) -> u64 {
    ((u128::from(value) * u128::from(n)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_index_is_hit_exactly_once(n in 1_u64..5_000, seed: u64) {
            let permutation = Permutation::new(n, seed);
            let mut seen = vec![false; n as usize];
            for index in 0..n {
                let image = permutation.at(index) as usize;
                prop_assert!(!seen[image]);
                seen[image] = true;
            }
        }

        #[test]
        fn large_domains_stay_inside(n in (1_u64 << 40)..(1_u64 << 44), seed: u64, index: u64) {
            prop_assert!(Permutation::new(n, seed).at(index % n) < n);
        }
    }

    #[test]
    fn two_seeds_give_two_orders() {
        let order = |seed| (0..1_000).map(|i| Permutation::new(1_000, seed).at(i)).collect::<Vec<_>>();
        let (a, b) = (order(1), order(2));
        let fixed = a.iter().zip(&b).filter(|(x, y)| x == y).count();
        assert!(fixed < 20, "{fixed} of 1000 positions agree; about 1 is expected by chance");
    }
}
