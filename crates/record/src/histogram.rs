//! Latency histograms as text, and back without trust in the text.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::bufread::ZlibDecoder;
pub use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Longest latency that is told apart; longer ones are counted at the end of the range.
const LATENCY_NS_MAX: u64 = 60_000_000_000;

/// Digits of the histogram of a repetition.
const REP_DIGITS: u8 = 3;

/// Digits of the histogram of one second.
const INTERVAL_DIGITS: u8 = 2;

/// Widest range that is read, one hour, and most digits: 270 KiB in memory.
const READ_NS_MAX: u64 = 3_600_000_000_000;
const READ_DIGITS_MAX: u32 = 3;

/// Counters of the largest histogram within these limits, rounded up, at 9 bytes each in V2.
const PAYLOAD_BYTES_MAX: usize = 40_000 * 9;

/// Base64 of a payload that did not compress at all stays below this.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// First bytes of HdrHistogram's V2 encoding, deflated and plain.
const DEFLATED_COOKIE: u32 = 0x1c84_9314;
const PLAIN_COOKIE: u32 = 0x1c84_9313;

/// Bytes before the counters in plain V2.
const HEADER_BYTES: usize = 40;

/// A latency histogram as text: base64 of HdrHistogram's V2-deflate encoding. 3 significant digits for a
/// repetition, 2 for one second of it; 1 ns to 60 s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HistogramText(pub String);

/// A text that holds no histogram of feedline's.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// It could only be an attack or a mistake.
    #[error("cannot decode a histogram of {bytes} bytes of text: at most {TEXT_BYTES_MAX} are read")]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// Not base64.
    #[error("cannot decode a histogram: it is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Not a deflate stream, or a cut one.
    #[error("cannot inflate a histogram: {0}")]
    Inflate(std::io::Error),
    /// Not the V2 encoding.
    #[error("cannot decode a histogram: {0}")]
    Encoding(&'static str),
    /// The V2 decoder refused it.
    #[error("cannot decode a histogram: {0}")]
    Decoder(hdrhistogram::serialization::DeserializeError),
    /// Its range or precision is none that feedline writes.
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

/// An empty histogram for a repetition: 3 significant digits, 1 ns to 60 s, 216 KiB.
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, REP_DIGITS).expect("constant bounds are valid")
}

/// An empty histogram for one second: 2 significant digits, 1 ns to 60 s.
pub fn new_interval_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, INTERVAL_DIGITS).expect("constant bounds are valid")
}

/// The text of a histogram.
///
/// # Panics
/// When one count is 2^63 or more, which no counting reaches.
pub fn encode(histogram: &Histogram<u64>) -> HistogramText {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("counts below 2^63 are written to memory");
    HistogramText(STANDARD.encode(bytes))
}

impl HistogramText {
    /// The histogram. Takes bounded memory and time whatever the text.
    pub fn decode(&self) -> Result<Histogram<u64>, HistogramError> {
        if self.0.len() > TEXT_BYTES_MAX {
            return Err(HistogramError::TooLong { bytes: self.0.len() });
        }
        let plain = inflate(&STANDARD.decode(&self.0)?)?;
        let empty = empty_like(&plain)?;
        check_counts(&plain[HEADER_BYTES..], empty.distinct_values())?;
        Deserializer::new().deserialize(&mut plain.as_slice()).map_err(HistogramError::Decoder)
    }
}

/// What is read of a histogram without keeping its counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantiles<const N: usize> {
    /// Latencies counted.
    pub count: u64,
    /// The latencies at the quantiles asked for; 0 where nothing was counted.
    pub values_ns: [u64; N],
}

impl HistogramText {
    /// What `value_at_quantile` says of the decoded histogram, several times faster: a histogram takes 216 KiB, of which a
    /// repetition fills little. Comparing runs reads thousands.
    pub fn quantiles<const N: usize>(&self, at: [f64; N]) -> Result<Quantiles<N>, HistogramError> {
        if self.0.len() > TEXT_BYTES_MAX {
            return Err(HistogramError::TooLong { bytes: self.0.len() });
        }
        let plain = inflate(&STANDARD.decode(&self.0)?)?;
        if !is_of_repetition(&plain) {
            let histogram = self.decode()?;
            let values_ns = at.map(|quantile| histogram.value_at_quantile(quantile));
            return Ok(Quantiles { count: histogram.len(), values_ns });
        }
        let counters = &plain[HEADER_BYTES..];
        let mut count = 0;
        walk(counters, REP_SLOTS, |_, counted| count += counted)?;
        let ranks = at.map(|quantile| ((quantile.min(1.0) * count as f64).ceil() as u64).max(1));
        let (mut seen, mut values_ns) = (0, [0; N]);
        walk(counters, REP_SLOTS, |slot, counted| {
            for (value_ns, rank) in values_ns.iter_mut().zip(ranks) {
                if seen < rank && rank <= seen + counted {
                    *value_ns = highest_of_slot(slot);
                }
            }
            seen += counted;
        })?;
        Ok(Quantiles { count, values_ns })
    }
}

/// Counters of [`new_histogram`]: 1,024 for each doubling of the latency, and as many for the first of all.
const REP_SLOTS: usize = 27 << REP_HALF_BITS;

/// Half of the counters that tell 3 digits apart, as a power of two.
const REP_HALF_BITS: u32 = 10;

/// Whether a plain encoding has the header of [`new_histogram`].
fn is_of_repetition(plain: &[u8]) -> bool {
    plain.len() >= HEADER_BYTES
        && be_u32(plain, 0) == PLAIN_COOKIE
        && be_u32(plain, 4) as usize == plain.len() - HEADER_BYTES
        && be_u32(plain, 12) == u32::from(REP_DIGITS)
        && (be_u64(plain, 16), be_u64(plain, 24)) == (1, LATENCY_NS_MAX)
}

/// The highest latency that is counted in a slot of [`new_histogram`].
fn highest_of_slot(slot: u64) -> u64 {
    let half = 1 << REP_HALF_BITS;
    let doublings = (slot >> REP_HALF_BITS).saturating_sub(1);
    let within = if slot < half { slot } else { (slot & (half - 1)) + half };
    (within << doublings) + ((1 << doublings) - 1)
}

/// The plain V2 encoding inside the deflated one.
fn inflate(bytes: &[u8]) -> Result<Vec<u8>, HistogramError> {
    let (head, body) = bytes.split_at_checked(8).ok_or(HistogramError::Encoding("it is too short"))?;
    if be_u32(head, 0) != DEFLATED_COOKIE {
        return Err(HistogramError::Encoding("it does not begin as V2-deflate does"));
    }
    if be_u32(head, 4) as usize != body.len() {
        return Err(HistogramError::Encoding("its length is not the one it states"));
    }
    let mut plain = Vec::new();
    let most = HEADER_BYTES + PAYLOAD_BYTES_MAX;
    ZlibDecoder::new(body).take(most as u64 + 1).read_to_end(&mut plain).map_err(HistogramError::Inflate)?;
    if plain.len() > most {
        return Err(HistogramError::Encoding("it inflates to more than any histogram of feedline's"));
    }
    Ok(plain)
}

/// An empty histogram with the bounds that the header states, once they are known to be small.
fn empty_like(plain: &[u8]) -> Result<Histogram<u64>, HistogramError> {
    if plain.len() < HEADER_BYTES || be_u32(plain, 0) != PLAIN_COOKIE {
        return Err(HistogramError::Encoding("it does not hold a V2 header"));
    }
    if be_u32(plain, 4) as usize != plain.len() - HEADER_BYTES {
        return Err(HistogramError::Encoding("its counters are not as long as it states"));
    }
    let (digits, low_ns, high_ns) = (be_u32(plain, 12), be_u64(plain, 16), be_u64(plain, 24));
    let refused = HistogramError::Bounds { digits, low_ns, high_ns };
    if digits > READ_DIGITS_MAX || high_ns > READ_NS_MAX {
        return Err(refused);
    }
    Histogram::new_with_bounds(low_ns, high_ns, digits as u8).map_err(|_| refused)
}

/// Walks the counters once: none lies beyond the range and their sum is a `u64`. The decoder of the
/// library negates the smallest `i64` and saturates its total, so it is handed neither.
fn check_counts(counters: &[u8], slots: usize) -> Result<(), HistogramError> {
    walk(counters, slots, |_, _| ())
}

/// The same, and tells each slot that counted anything, in their order.
fn walk(mut counters: &[u8], slots: usize, mut each: impl FnMut(u64, u64)) -> Result<(), HistogramError> {
    let (mut slot, mut total) = (0_u64, 0_u64);
    while !counters.is_empty() {
        let (encoded, used) = varint(counters).ok_or(HistogramError::Encoding("a counter is cut"))?;
        let value = (encoded >> 1).cast_signed() ^ -(encoded & 1).cast_signed();
        let (step, count) = if value < 0 { (value.unsigned_abs(), 0) } else { (1, value.cast_unsigned()) };
        total = total.checked_add(count).ok_or(HistogramError::Encoding("its counts overflow"))?;
        let next = slot
            .checked_add(step)
            .filter(|next| *next <= slots as u64)
            .ok_or(HistogramError::Encoding("it holds more counters than its range has"))?;
        if count > 0 {
            each(slot, count);
        }
        slot = next;
        counters = &counters[used..];
    }
    Ok(())
}

/// One number of V2's LEB128: seven bits a byte, but the ninth byte is taken whole.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(8).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    bytes.get(8).map(|byte| (value | u64::from(*byte) << 56, 9))
}

fn be_u32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn be_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from(be_u32(bytes, at)) << 32 | u64::from(be_u32(bytes, at + 4))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use proptest::prelude::*;

    use super::*;

    /// The text of a plain V2 encoding.
    fn deflated(plain: &[u8]) -> HistogramText {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(plain).unwrap();
        let body = encoder.finish().unwrap();
        let mut bytes = DEFLATED_COOKIE.to_be_bytes().to_vec();
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend(body);
        HistogramText(STANDARD.encode(bytes))
    }

    fn plain(digits: u32, low: u64, high: u64, counters: &[u8]) -> Vec<u8> {
        let mut bytes = PLAIN_COOKIE.to_be_bytes().to_vec();
        bytes.extend((counters.len() as u32).to_be_bytes());
        bytes.extend(0_u32.to_be_bytes());
        bytes.extend(digits.to_be_bytes());
        bytes.extend(low.to_be_bytes());
        bytes.extend(high.to_be_bytes());
        bytes.extend(1_f64.to_be_bytes());
        bytes.extend(counters);
        bytes
    }

    fn refusal(text: &HistogramText) -> String {
        text.decode().unwrap_err().to_string()
    }

    #[test]
    fn an_empty_histogram_survives() {
        for empty in [new_histogram(), new_interval_histogram()] {
            let decoded = encode(&empty).decode().unwrap();
            assert_eq!((decoded.len(), decoded.sigfig(), decoded.high()), (0, empty.sigfig(), empty.high()));
            assert_eq!(decoded, empty);
        }
    }

    #[test]
    fn the_whole_range_of_a_repetition_fits() {
        let mut full = new_histogram();
        let mut value = 1;
        while value < LATENCY_NS_MAX {
            full.record_n(value, u64::from(u32::MAX)).unwrap();
            value = full.next_non_equivalent(value);
        }
        assert_eq!(encode(&full).decode().unwrap(), full);
    }

    #[test]
    fn a_repetition_has_as_many_counters_as_are_walked() {
        let full = new_histogram();
        assert_eq!(full.distinct_values(), REP_SLOTS);
        for slot in [0, 1, 1_023, 1_024, 2_047, 2_048, 5_000, REP_SLOTS as u64 - 1] {
            let highest = highest_of_slot(slot);
            assert_eq!(full.highest_equivalent(highest), highest, "{slot}");
            assert_eq!(full.next_non_equivalent(highest), highest + 1, "{slot}");
        }
    }

    #[test]
    fn hostile_sizes_are_refused_before_memory_is_taken() {
        assert!(refusal(&HistogramText("A".repeat(TEXT_BYTES_MAX + 4))).contains("at most"));
        assert!(refusal(&deflated(&vec![0; 50_000_000])).contains("inflates to more"));
        assert!(refusal(&deflated(&plain(5, 1, u64::MAX, &[]))).contains("5 digits"));
        assert!(refusal(&deflated(&plain(3, 0, 100, &[]))).contains("from 0 ns"));
        let mut long = plain(3, 1, 100, &[]);
        long[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(refusal(&deflated(&long)).contains("as long as it states"));
    }

    #[test]
    fn hostile_counters_are_refused() {
        let smallest_i64 = [0xff; 9];
        assert!(refusal(&deflated(&plain(3, 1, 100, &smallest_i64))).contains("more counters"));
        let largest_i64 = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert!(deflated(&plain(3, 1, 100, &largest_i64)).decode().is_ok());
        assert!(refusal(&deflated(&plain(3, 1, 100, &largest_i64.repeat(3)))).contains("overflow"));
        assert!(refusal(&deflated(&plain(3, 1, 100, &[0x80]))).contains("cut"));
    }

    #[test]
    fn every_prefix_of_an_encoding_is_refused() {
        let mut histogram = new_histogram();
        histogram.record_n(120_000, 7).unwrap();
        let bytes = STANDARD.decode(encode(&histogram).0).unwrap();
        for cut in 0..bytes.len() {
            assert!(HistogramText(STANDARD.encode(&bytes[..cut])).decode().is_err(), "cut at {cut}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn counts_and_quantiles_survive(
            counts in prop::collection::vec((1..LATENCY_NS_MAX, 1..1_000_000_u64), 0..200),
            seconds in any::<bool>(),
        ) {
            let mut histogram = if seconds { new_interval_histogram() } else { new_histogram() };
            for (latency_ns, count) in counts {
                histogram.record_n(latency_ns, count).unwrap();
            }
            let decoded = encode(&histogram).decode().unwrap();
            prop_assert_eq!(decoded.len(), histogram.len());
            for quantile in [0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0] {
                prop_assert_eq!(decoded.value_at_quantile(quantile), histogram.value_at_quantile(quantile));
            }
            let at = [1e-9, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0];
            let quick = encode(&histogram).quantiles(at).unwrap();
            prop_assert_eq!(quick.count, histogram.len());
            prop_assert_eq!(quick.values_ns, at.map(|quantile| histogram.value_at_quantile(quantile)));
            prop_assert_eq!(decoded, histogram);
        }

        #[test]
        fn arbitrary_text_never_panics(text in any::<String>()) {
            prop_assert!(HistogramText(text).decode().is_err());
        }

        #[test]
        fn arbitrary_counters_never_panic(
            digits in 0..5_u32,
            low in 0..10_u64,
            high in any::<u64>().prop_map(|high| high >> 20),
            counters in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            if let Ok(histogram) = deflated(&plain(digits, low, high, &counters)).decode() {
                prop_assert!(histogram.value_at_quantile(0.5) <= histogram.max());
            }
        }

        #[test]
        fn a_damaged_encoding_never_panics(at in 0..100_usize, byte in any::<u8>()) {
            let mut histogram = new_histogram();
            histogram.record_n(120_000, 7).unwrap();
            let mut bytes = STANDARD.decode(encode(&histogram).0).unwrap();
            let at = at % bytes.len();
            bytes[at] = byte;
            let text = HistogramText(STANDARD.encode(bytes));
            prop_assert_eq!(text.decode().is_ok(), text.quantiles([0.5]).is_ok());
        }
    }
}
