//! The bytes of a generated object: incompressible, seeded, and known at every offset.
//!
//! Word `i` of object `o` is a hash of (seed, o, i). A block can therefore be checked wherever it was
//! read, and a reply mixed up between two requests cannot pass.

use crate::permutation::mix;

const WORD_BYTES: u64 = 8;

/// Where a block differs from what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset} of object {object} is not what was written")]
pub struct Mismatch {
    /// Index of the object.
    pub object: u32,
    /// Offset of the first differing byte.
    pub offset: u64,
}

/// The words that one object is made of, identified by their first one instead of seed and object. A server can tell it from
/// the bytes that it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stream(u64);

impl Stream {
    /// The stream of `object`.
    pub fn of(seed: u64, object: u32) -> Self {
        Self::numbered(seed, u64::from(object))
    }

    /// The stream of an object or sample whose number may pass 32 bits.
    fn numbered(seed: u64, number: u64) -> Self {
        // Hashed once more than a word: streams of neighbouring objects must not be each other's, shifted by a word.
        Self(mix(seed ^ mix(number)))
    }

    /// The stream that begins with `first`, at least 16 bytes; `None` if these are not payload. Other bytes pass with a
    /// chance of 1 in 2^64; only [`Stream::verify`] over all bytes proves the rest.
    pub fn recognise(first: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u64::from_le_bytes(first.get(at..at + 8)?.try_into().ok()?));
        // `mix` is a bijection, so that a server that is sent an object finds its stream by undoing it, without
        // knowing seed or number.
        let (begin, next) = (unmix(word(0)?), unmix(word(8)?));
        (begin.wrapping_add(1) == next).then_some(Self(begin))
    }

    /// Word `index`: also a counted source of random numbers.
    pub fn word(self, index: u64) -> u64 {
        mix(self.0.wrapping_add(index))
    }

    /// Fills `out` with the bytes from `offset` on.
    pub fn fill(self, offset: u64, out: &mut [u8]) {
        let mut index = offset / WORD_BYTES;
        let lead = (offset % WORD_BYTES) as usize;
        let mut rest = out;
        if lead != 0 {
            let word = self.word(index).to_le_bytes();
            let take = rest.len().min(WORD_BYTES as usize - lead);
            let (head, tail) = rest.split_at_mut(take);
            head.copy_from_slice(&word[lead..lead + take]);
            rest = tail;
            index += 1;
        }
        // Whole words apart from the ends: the compiler makes vectors of this loop, and filling must outrun the
        // storage that is written.
        let mut chunks = rest.chunks_exact_mut(WORD_BYTES as usize);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.word(index).to_le_bytes());
            index += 1;
        }
        let tail = chunks.into_remainder();
        let length = tail.len();
        tail.copy_from_slice(&self.word(index).to_le_bytes()[..length]);
    }

    /// Whether `data` is what lies at `offset`.
    pub fn verify(self, offset: u64, data: &[u8]) -> bool {
        self.matched(offset, data) == data.len()
    }

    /// How many bytes of `data` are what lies at `offset`, up to the first that differs.
    pub fn matched(self, offset: u64, data: &[u8]) -> usize {
        matched(offset, data, |at, out| self.fill(at, out))
    }
}

/// How many bytes of `data` are what `fill` makes from `offset` on, up to the first that differs.
fn matched(offset: u64, data: &[u8], fill: impl Fn(u64, &mut [u8])) -> usize {
    // A page at a time, on the stack: blocks have up to gigabytes, and a check must allocate nothing.
    let mut expected = [0_u8; 4096];
    let mut same = 0;
    for chunk in data.chunks(expected.len()) {
        let expected = &mut expected[..chunk.len()];
        fill(offset + same as u64, expected);
        // The whole chunk first: slices are compared by vectors, bytes one by one.
        if chunk != expected {
            return same + chunk.iter().zip(expected.iter()).take_while(|(one, other)| one == other).count();
        }
        same += chunk.len();
    }
    same
}

/// Bytes of which the last ones are zeros, where a payload is to be compressible: a page, which is less than any
/// compressor looks back.
const ZEROED_BLOCK_BYTES: u64 = 4096;

/// What generated objects or samples are filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload {
    /// Seed of the content.
    pub seed: u64,
    /// The share of every 4,096 bytes that is zeros, at its end; at 0 nothing can be compressed. At most 100.
    pub compressible_percent: u8,
}

impl Payload {
    /// Fills `out` with the bytes of object or sample `number` from `offset` on.
    pub fn fill(&self, number: u64, offset: u64, out: &mut [u8]) {
        let stream = Stream::numbered(self.seed, number);
        let words = self.words_bytes();
        // The common case, without the loop over pages.
        if words == ZEROED_BLOCK_BYTES {
            return stream.fill(offset, out);
        }
        let (mut at, mut rest) = (offset, out);
        while !rest.is_empty() {
            let within = at % ZEROED_BLOCK_BYTES;
            let is_words = within < words;
            let left = if is_words { words - within } else { ZEROED_BLOCK_BYTES - within };
            let take = left.min(rest.len() as u64);
            let (part, behind) = rest.split_at_mut(take as usize);
            if is_words {
                stream.fill(at, part);
            } else {
                part.fill(0);
            }
            (at, rest) = (at + take, behind);
        }
    }

    /// Checks that `data` is what [`Payload::fill`] writes there; else the offset of the first byte that differs.
    pub fn verify(&self, number: u64, offset: u64, data: &[u8]) -> Result<(), u64> {
        let same = matched(offset, data, |at, out| self.fill(number, at, out));
        if same == data.len() { Ok(()) } else { Err(offset + same as u64) }
    }

    /// Bytes of every block that are not zeros.
    fn words_bytes(&self) -> u64 {
        let percent = u64::from(self.compressible_percent.min(100));
        ZEROED_BLOCK_BYTES - ZEROED_BLOCK_BYTES * percent / 100
    }
}

/// Fills `out` with the bytes of `object` from `offset` on.
pub fn fill(seed: u64, object: u32, offset: u64, out: &mut [u8]) {
    Stream::of(seed, object).fill(offset, out);
}

/// Checks that `data` is what [`fill`] writes there.
pub fn verify(seed: u64, object: u32, offset: u64, data: &[u8]) -> Result<(), Mismatch> {
    let payload = Payload { seed, compressible_percent: 0 };
    payload.verify(u64::from(object), offset, data).map_err(|offset| Mismatch { object, offset })
}

/// What [`mix`] makes into `value`: each of its steps undone, in reverse. The factors are the inverses of its own
/// modulo 2^64.
fn unmix(value: u64) -> u64 {
    let value = value ^ (value >> 31) ^ (value >> 62);
    let value = value.wrapping_mul(0x3196_42b2_d24d_8ec3);
    let value = value ^ (value >> 27) ^ (value >> 54);
    let value = value.wrapping_mul(0x96de_1b17_3f11_9089);
    let value = value ^ (value >> 30) ^ (value >> 60);
    value.wrapping_sub(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_window_equals_the_same_window_of_the_whole(
            seed: u64, object: u32, offset in 0_u64..100, length in 0_usize..200,
        ) {
            let mut whole = vec![0; 300];
            fill(seed, object, 0, &mut whole);
            let mut window = vec![0; length];
            fill(seed, object, offset, &mut window);
            prop_assert_eq!(&window[..], &whole[offset as usize..offset as usize + length]);
            prop_assert!(verify(seed, object, offset, &window).is_ok());
        }
    }

    proptest! {
        #[test]
        fn mixing_is_undone(value: u64) {
            prop_assert_eq!(unmix(mix(value)), value);
        }

        #[test]
        fn an_object_is_recognised_by_its_first_bytes_and_from_any_word_on(
            seed: u64, object: u32, words in 0_u64..1000, length in 16_usize..200,
        ) {
            let mut part = vec![0; length];
            fill(seed, object, words * 8, &mut part);
            let stream = Stream::recognise(&part).expect("it is payload");
            prop_assert!(stream.verify(0, &part));
            prop_assert_eq!(stream.word(7), Stream::of(seed, object).word(words + 7));
            let wrong = length / 2;
            part[wrong] ^= 1;
            prop_assert_eq!(stream.matched(0, &part), wrong);
        }
    }

    proptest! {
        #[test]
        fn a_compressible_payload_ends_each_page_with_its_share_of_zeros(
            seed: u64, number: u64, percent in 0_u8..=100, offset in 0_usize..9_000, length in 0_usize..9_000,
        ) {
            let payload = Payload { seed, compressible_percent: percent };
            let mut whole = vec![1; 18_000];
            payload.fill(number, 0, &mut whole);
            let mut window = vec![1; length];
            payload.fill(number, offset as u64, &mut window);
            prop_assert_eq!(&window[..], &whole[offset..offset + length]);
            prop_assert_eq!(payload.verify(number, offset as u64, &window), Ok(()));
            let mut plain = vec![1; 18_000];
            Payload { compressible_percent: 0, ..payload }.fill(number, 0, &mut plain);
            let zeros = 4_096 * usize::from(percent) / 100;
            for (block, plain) in whole.chunks_exact(4_096).zip(plain.chunks_exact(4_096)) {
                prop_assert_eq!(&block[..4_096 - zeros], &plain[..4_096 - zeros]);
                prop_assert!(block[4_096 - zeros..].iter().all(|byte| *byte == 0));
            }
        }

        #[test]
        fn a_payload_that_nothing_compresses_is_the_plain_one(seed: u64, object: u32, offset in 0_u64..9_000) {
            let mut plain = vec![0; 5_000];
            fill(seed, object, offset, &mut plain);
            let payload = Payload { seed, compressible_percent: 0 };
            prop_assert_eq!(payload.verify(u64::from(object), offset, &plain), Ok(()));
        }
    }

    #[test]
    fn foreign_bytes_are_not_recognised() {
        assert_eq!(Stream::recognise(&[0; 16]), None);
        assert_eq!(Stream::recognise(b"{\"format\":1,\"note\":\"\"}"), None);
        assert_eq!(Stream::recognise(&[7; 15]), None);
    }

    #[test]
    fn a_flipped_byte_and_a_foreign_object_are_found() {
        let mut data = vec![0; 10_000];
        fill(1, 2, 40, &mut data);
        data[5_000] ^= 1;
        assert_eq!(verify(1, 2, 40, &data), Err(Mismatch { object: 2, offset: 5_040 }));
        fill(1, 3, 40, &mut data);
        assert!(verify(1, 2, 40, &data).is_err());
    }

    /// Of 64 KiB of random bytes every value occurs about 256 times (standard deviation 16).
    #[test]
    fn bytes_are_spread_evenly() {
        let mut data = vec![0; 65_536];
        fill(9, 0, 0, &mut data);
        let mut counts = [0_i32; 256];
        for byte in data {
            counts[byte as usize] += 1;
        }
        assert!(counts.iter().all(|count| (*count - 256).abs() < 100), "{counts:?}");
    }
}
