//! Latency histograms as text, and back without trust in the text.

mod error;
pub(crate) mod sum;
pub(crate) mod text;

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
pub use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use zlib_rs::{Inflate, InflateFlush, Status};

pub use error::HistogramError;
pub use text::HistogramText;

/// Longest latency that is told apart; longer ones are counted at the end of the range.
// A read that takes longer than a minute has failed for any job; the cap keeps a histogram at 216 KiB.
const LATENCY_NS_MAX: u64 = 60_000_000_000;

/// Digits of the histogram of a repetition.
// 0.1 %: a gate of a few percent must not fall on the edge of a bucket.
const REP_DIGITS: u8 = 3;

/// Digits of the histogram of one second.
// 1 % is enough for a picture over time, at a seventh of the memory, and there is one for each second.
const INTERVAL_DIGITS: u8 = 2;

/// Widest range that is read, one hour, and most digits: 270 KiB in memory.
// Wider than what is written, so that a later version may widen its range within the same format.
const READ_NS_MAX: u64 = 3_600_000_000_000;
const READ_DIGITS_MAX: u32 = 3;

/// Counters of the largest histogram within these limits, rounded up, at 9 bytes each in V2.
// Deflate turns a kilobyte into a gigabyte of zeros; the text of a record is nobody's to trust.
const PAYLOAD_BYTES_MAX: usize = 40_000 * 9;

/// First bytes of HdrHistogram's V2 encoding, deflated and plain.
const DEFLATED_COOKIE: u32 = 0x1c84_9314;
const PLAIN_COOKIE: u32 = 0x1c84_9313;

/// The longest window that deflate has, as a power of two.
const WINDOW_BITS: u8 = 15;

/// Bytes before the counters in plain V2.
const HEADER_BYTES: usize = 40;

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
    HistogramText::new(STANDARD.encode(bytes))
}

impl HistogramText {
    /// The histogram. Takes bounded memory and time whatever the text.
    pub fn decode(&self) -> Result<Histogram<u64>, HistogramError> {
        self.with_plain(decoded)
    }

    /// What `of` makes of the plain V2 encoding.
    fn with_plain<T>(
        &self,
        of: impl FnOnce(&[u8]) -> Result<T, HistogramError>,
    ) -> Result<T, HistogramError> {
        thread_local! {
            static INFLATER: RefCell<Inflater> = RefCell::new(Inflater::new());
        }
        let text = self.text()?;
        INFLATER.with_borrow_mut(|inflater| of(inflater.inflate(&text)?))
    }
}

fn decoded(plain: &[u8]) -> Result<Histogram<u64>, HistogramError> {
    let empty = empty_like(plain)?;
    for_counts(&plain[HEADER_BYTES..], empty.distinct_values(), |_, _| ())?;
    Deserializer::new().deserialize(&mut &plain[..]).map_err(HistogramError::Decoder)
}

/// What the texts of a thread are inflated with.
// One for all of them: a report reads a hundred thousand, and would make and clear its memory for each.
struct Inflater {
    state: Inflate,
    deflated: Vec<u8>,
    /// Room for the longest encoding, so that each is inflated in one go.
    plain: Vec<u8>,
}

impl Inflater {
    fn new() -> Self {
        let plain = vec![0; HEADER_BYTES + PAYLOAD_BYTES_MAX];
        Self { state: Inflate::new(true, WINDOW_BITS), deflated: Vec::new(), plain }
    }

    /// The plain V2 encoding inside the deflated one.
    fn inflate(&mut self, text: &str) -> Result<&[u8], HistogramError> {
        self.deflated.clear();
        STANDARD.decode_vec(text, &mut self.deflated)?;
        let (head, body) =
            self.deflated.split_at_checked(8).ok_or(HistogramError::Encoding("it is too short"))?;
        if be_u32(head, 0) != DEFLATED_COOKIE {
            return Err(HistogramError::Encoding("it does not begin as V2-deflate does"));
        }
        if be_u32(head, 4) as usize != body.len() {
            return Err(HistogramError::Encoding("its length is not the one it states"));
        }
        self.state.reset(true);
        match self.state.decompress(body, &mut self.plain, InflateFlush::Finish) {
            Ok(Status::StreamEnd) => Ok(&self.plain[..self.state.total_out() as usize]),
            Ok(Status::Ok | Status::BufError) => {
                Err(HistogramError::Encoding("it inflates to more than any histogram of feedline's"))
            }
            Err(cause) => Err(HistogramError::Inflate(cause.as_str())),
        }
    }
}

/// What a header says of the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds {
    digits: u32,
    low_ns: u64,
    high_ns: u64,
}

impl Bounds {
    /// Those of [`new_histogram`].
    const OF_REPETITION: Self = Self { digits: REP_DIGITS as u32, low_ns: 1, high_ns: LATENCY_NS_MAX };
    /// Those of [`new_interval_histogram`].
    const OF_SECOND: Self = Self { digits: INTERVAL_DIGITS as u32, low_ns: 1, high_ns: LATENCY_NS_MAX };

    fn stated(plain: &[u8]) -> Result<Self, HistogramError> {
        if plain.len() < HEADER_BYTES || be_u32(plain, 0) != PLAIN_COOKIE {
            return Err(HistogramError::Encoding("it does not hold a V2 header"));
        }
        if be_u32(plain, 4) as usize != plain.len() - HEADER_BYTES {
            return Err(HistogramError::Encoding("its counters are not as long as it states"));
        }
        Ok(Self { digits: be_u32(plain, 12), low_ns: be_u64(plain, 16), high_ns: be_u64(plain, 24) })
    }
}

/// An empty histogram with the bounds that the header states, once they are known to be small.
fn empty_like(plain: &[u8]) -> Result<Histogram<u64>, HistogramError> {
    let Bounds { digits, low_ns, high_ns } = Bounds::stated(plain)?;
    let refused = HistogramError::Bounds { digits, low_ns, high_ns };
    if digits > READ_DIGITS_MAX || high_ns > READ_NS_MAX {
        return Err(refused);
    }
    Histogram::new_with_bounds(low_ns, high_ns, digits as u8).map_err(|_| refused)
}

/// Whether the slots of an encoding are those of these bounds, told apart from 1 ns on, and nothing in its header asks the
/// decoder for more than to fill them.
fn is_like(plain: &[u8], bounds: Bounds) -> bool {
    let no_offset_ratio_one = |plain: &[u8]| be_u32(plain, 8) == 0 && be_u64(plain, 32) == 1.0_f64.to_bits();
    Bounds::stated(plain).is_ok_and(|stated| {
        stated == bounds
            && stated.low_ns == 1
            && stated.digits <= READ_DIGITS_MAX
            && no_offset_ratio_one(plain)
    })
}

/// Half of the smallest power of two that tells 10^digits values apart twice over, as HdrHistogram has it.
fn half_of(digits: u8) -> u64 {
    (2 * 10_u64.pow(digits.into())).next_power_of_two() / 2
}

/// The smallest value of a slot of a histogram from 1 ns on: two runs of `half` values one apart, then runs of as many,
/// each twice as far apart as the one before.
#[inline]
fn value_of(slot: usize, half: u64) -> u64 {
    let slot = slot as u64;
    // A power of two: a division would be most of what a report takes to reckon means.
    match slot >> half.ilog2() {
        0 | 1 => slot,
        run => (slot & (half - 1) | half) << (run - 1),
    }
}

/// Walks the counters once and hands on each with its slot, and for zeros side by side the last of them: none lies beyond the range
/// and their sum is a `u64`. The decoder of the library negates the smallest `i64` and saturates its total, so it is handed neither.
#[inline]
fn for_counts(
    mut counters: &[u8],
    slots: usize,
    mut each: impl FnMut(usize, u64),
) -> Result<(), HistogramError> {
    let (mut end, mut total) = (0, 0_u64);
    while let Some((encoded, used)) = varint(counters) {
        // ZigZag: an odd number is so many zeros, less one. By arithmetic, since the processor cannot foretell which is which.
        let zeros = encoded & 1;
        let count = (encoded >> 1) & zeros.wrapping_sub(1);
        end += 1 + (encoded >> 1) * zeros;
        if end > slots as u64 {
            return Err(HistogramError::Encoding("it holds more counters than its range has"));
        }
        total = total.checked_add(count).ok_or(HistogramError::Encoding("its counts overflow"))?;
        each(end as usize - 1, count);
        counters = &counters[used..];
    }
    if !counters.is_empty() {
        return Err(HistogramError::Encoding("a counter is cut"));
    }
    Ok(())
}

/// One number of V2's LEB128: seven bits a byte, but the ninth byte is taken whole.
#[inline]
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    // All bytes of a number at once: their count is what a processor cannot foretell.
    if let Some(word) = bytes.first_chunk().copied().map(u64::from_le_bytes) {
        let ends = !word & 0x8080_8080_8080_8080;
        if ends != 0 {
            return Some((sevens(word & (ends ^ (ends - 1))), ends.trailing_zeros() as usize / 8 + 1));
        }
    }
    let mut value = 0;
    for (index, byte) in bytes.iter().take(8).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    bytes.get(8).map(|byte| (value | u64::from(*byte) << 56, 9))
}

/// The low seven bits of each byte side by side.
#[inline]
fn sevens(bytes: u64) -> u64 {
    let pairs = (bytes & 0x007f_007f_007f_007f) | (bytes & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    (fours & 0x0fff_ffff) | (fours & 0x0fff_ffff_0000_0000) >> 4
}

fn be_u32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn be_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from(be_u32(bytes, at)) << 32 | u64::from(be_u32(bytes, at + 4))
}

#[cfg(test)]
mod tests;
