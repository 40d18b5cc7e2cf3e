//! Random numbers that are the same on every machine.

/// A generator: `splitmix64` (Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
// Fifteen lines in place of a dependency whose streams may change with its version, and every seed of the
// book with them.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// Uniform in 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits are what a double holds; more would round up to 1.
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform about 1, by a share either way.
    pub(crate) fn beside_one(&mut self, share: f64) -> f64 {
        1.0 + share * (2.0 * self.unit() - 1.0)
    }

    /// Uniform in the logarithm.
    pub(crate) fn log_between(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.between(libm::log(low), libm::log(high)))
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        // The bias of the remainder is below 2^-59 for lists of this length.
        of[(self.next() % of.len() as u64) as usize]
    }

    /// Log-normal of mean 1.
    pub(crate) fn log_normal(&mut self, sigma: f64) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        let normal = radius * libm::cos(std::f64::consts::TAU * self.unit());
        // The last term keeps the mean at 1: without it noise alone would make a storage faster.
        libm::exp(sigma * normal - sigma * sigma / 2.0)
    }
}
