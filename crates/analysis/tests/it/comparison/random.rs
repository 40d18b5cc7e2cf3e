//! Numbers by chance, drawn anew in every run of the tests and repeatable all the same.

use std::hash::{BuildHasher, RandomState};

/// SplitMix64: small, and good enough for a simulation.
pub(super) struct Random(u64);

impl Random {
    /// Seeded by `FEEDLINE_SEED`, else by the system; says what repeats it.
    #[expect(clippy::print_stdout, reason = "a test that fails has to say what repeats it")]
    pub(super) fn drawn() -> Self {
        let given = std::env::var("FEEDLINE_SEED").ok().and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().hash_one("feedline"));
        println!("to repeat this: FEEDLINE_SEED={seed}");
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Even over 0 to 1, neither included.
    pub(super) fn even(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Normal with mean 0 and spread 1 (Box and Muller).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.even().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.even()).cos()
    }

    /// Puts items in any order (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
    }
}
