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

/// Fills `out` with the bytes of `object` from `offset` on.
pub fn fill(seed: u64, object: u32, offset: u64, out: &mut [u8]) {
    let stream = mix(seed ^ mix(u64::from(object)));
    let mut index = offset / WORD_BYTES;
    let lead = (offset % WORD_BYTES) as usize;
    let mut rest = out;
    if lead != 0 {
        let word = word(stream, index);
        let take = rest.len().min(WORD_BYTES as usize - lead);
        let (head, tail) = rest.split_at_mut(take);
        head.copy_from_slice(&word[lead..lead + take]);
        rest = tail;
        index += 1;
    }
    let mut chunks = rest.chunks_exact_mut(WORD_BYTES as usize);
    for chunk in &mut chunks {
        chunk.copy_from_slice(&word(stream, index));
        index += 1;
    }
    let tail = chunks.into_remainder();
    let length = tail.len();
    tail.copy_from_slice(&word(stream, index)[..length]);
}

/// Checks that `data` is what [`fill`] writes there.
pub fn verify(seed: u64, object: u32, offset: u64, data: &[u8]) -> Result<(), Mismatch> {
    let mut expected = [0_u8; 4096];
    for (number, chunk) in data.chunks(expected.len()).enumerate() {
        let at = offset + (number * expected.len()) as u64;
        let expected = &mut expected[..chunk.len()];
        fill(seed, object, at, expected);
        if let Some(wrong) = chunk.iter().zip(expected.iter()).position(|(a, b)| a != b) {
            return Err(Mismatch { object, offset: at + wrong as u64 });
        }
    }
    Ok(())
}

fn word(stream: u64, index: u64) -> [u8; 8] {
    mix(stream.wrapping_add(index)).to_le_bytes()
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
