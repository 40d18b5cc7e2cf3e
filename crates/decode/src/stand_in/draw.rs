//! Random numbers that a seed decides alone.

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `end`, which is below 2^32 and not 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        // The high bits by multiplication: no division, and the bias is below 2^-32 of `end`.
        ((self.word() >> 32) * end) >> 32
    }
}
