//! How much may come out of one sample, so that a hostile one takes neither the memory nor the time of the run.

use crate::error::DecodeError;

/// Bytes that at most come out of one sample.
pub const OUT_BYTES_MAX: u64 = 1 << 30;

/// Bytes that come out of a sample of any size without suspicion: they take a fraction of a second.
pub const FREE_BYTES: u64 = 64 << 20;

/// Bytes that at most come out for each that goes in, beyond [`FREE_BYTES`]. Images and arrays stay below 30; masks that
/// are almost empty reach some hundreds, and are small.
pub const RATIO_MAX: u64 = 256;

/// Counts what comes out of one sample.
pub(crate) struct Allowance {
    format: &'static str,
    out_bytes: u64,
    limit_bytes: u64,
}

impl Allowance {
    /// For a sample of `encoded` bytes.
    pub(crate) fn new(format: &'static str, encoded: usize) -> Self {
        // The larger of the two: a small sample may expand a lot (an empty mask), a large one may not.
        let by_ratio = (encoded as u64).saturating_mul(RATIO_MAX).max(FREE_BYTES);
        Self { format, out_bytes: 0, limit_bytes: by_ratio.min(OUT_BYTES_MAX) }
    }

    /// The same with a lower limit.
    pub(crate) fn at_most(self, limit_bytes: u64) -> Self {
        Self { limit_bytes: self.limit_bytes.min(limit_bytes), ..self }
    }

    /// Counts `bytes` more.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), DecodeError> {
        // What has come out is in a buffer that is used again, so the first buffer past the limit costs nothing that
        // stays.
        self.expect(bytes)?;
        self.out_bytes += bytes;
        Ok(())
    }

    /// Whether `bytes` more may come, as a header announces.
    pub(crate) fn expect(&self, bytes: u64) -> Result<(), DecodeError> {
        if self.out_bytes.saturating_add(bytes) > self.limit_bytes {
            return Err(DecodeError::TooLarge { format: self.format, limit_bytes: self.limit_bytes });
        }
        Ok(())
    }

    /// Bytes that came out so far.
    pub(crate) fn out_bytes(&self) -> u64 {
        self.out_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_sample_may_become_64_mib_a_larger_one_256_times_its_size_and_none_more_than_1_gib() {
        let limit = |encoded| Allowance::new("test", encoded).limit_bytes;
        assert_eq!(limit(1), 64 << 20);
        assert_eq!(limit(1 << 20), 256 << 20);
        assert_eq!(limit(1 << 30), 1 << 30);
        assert_eq!(limit(usize::MAX), 1 << 30);
    }

    #[test]
    fn the_byte_beyond_the_limit_is_refused_and_not_counted() {
        let mut allowance = Allowance::new("test", 1).at_most(10);
        assert_eq!(allowance.take(10), Ok(()));
        assert_eq!(allowance.take(1), Err(DecodeError::TooLarge { format: "test", limit_bytes: 10 }));
        assert!(allowance.expect(u64::MAX).is_err());
        assert_eq!(allowance.out_bytes(), 10);
    }
}
