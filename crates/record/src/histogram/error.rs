//! What is wrong with the text of a histogram.

/// Base64 of a payload that did not compress at all stays below this.
pub(super) const TEXT_BYTES_MAX: usize = 1 << 20;

/// A text that holds no histogram of feedline's.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// It could only be an attack or a mistake.
    #[error("cannot decode a histogram of {bytes} bytes of text: at most {TEXT_BYTES_MAX} are read")]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// The record's file refused.
    #[error("cannot read a histogram from its record: {0}")]
    File(std::io::Error),
    /// The record's file holds something else than when it was read.
    #[error(
        "cannot read a histogram from its record: the file was changed after it was read\n  hint: run the command again"
    )]
    Changed,
    /// Not base64.
    #[error("cannot decode a histogram: it is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Not a deflate stream, or a cut one.
    #[error("cannot inflate a histogram: {0}")]
    Inflate(&'static str),
    /// Not the V2 encoding.
    #[error("cannot decode a histogram: {0}")]
    Encoding(&'static str),
    /// The V2 decoder refused it.
    #[error("cannot decode a histogram: {0}")]
    Decoder(hdrhistogram::serialization::DeserializeError),
    /// feedline writes no histogram of this range or precision.
    #[error("cannot decode a histogram of {digits} digits from {low_ns} ns to {high_ns} ns")]
    Bounds {
        /// Significant digits.
        digits: u32,
        /// Smallest latency told apart.
        low_ns: u64,
        /// Largest latency told apart.
        high_ns: u64,
    },
}
