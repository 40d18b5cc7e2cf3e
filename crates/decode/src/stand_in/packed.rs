//! Data that become about half as large by compression, and the length of them whose encoding has a given size.

use super::draw::Draw;

/// Larger samples repeat one part, as archives of several members or frames are laid out: decoding one is the same work,
/// and making one takes no longer than making a part.
const PART_BYTES_MAX: u64 = 1 << 20;

/// Plain bytes for each encoded one that are made at most; what is drawn below stays under 3.
const PLAIN_RATIO_MAX: usize = 4;

// Each try is a linear step towards the target, since the data are alike throughout; three are usual.
const TRIES: usize = 6;

/// A sample of about `target` bytes that `encode` made.
pub(super) fn sample(target: u64, seed: u64, encode: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let parts = target.div_ceil(PART_BYTES_MAX).max(1);
    let part = part((target / parts) as usize, seed, encode);
    part.repeat(parts as usize)
}

/// The plain data are the same for any length, so each try encodes more or fewer of the same bytes.
fn part(target: usize, seed: u64, encode: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let plain = compressible(PLAIN_RATIO_MAX * target + 64, seed);
    let mut length = 2 * target;
    let mut best = encode(&plain[..length]);
    let mut last = best.len();
    for _ in 0..TRIES {
        // Within half a percent: closer than samples of one dataset are to each other.
        if best.len().abs_diff(target) * 200 <= target {
            break;
        }
        length = (length * target / last.max(1)).clamp(1, plain.len());
        let tried = encode(&plain[..length]);
        last = tried.len();
        if last.abs_diff(target) < best.len().abs_diff(target) {
            best = tried;
        }
    }
    best
}

/// Runs of literals of five to six bits each, and copies of what came up to 32 KiB before: a quarter of all runs.
fn compressible(length: usize, seed: u64) -> Vec<u8> {
    let mut draw = Draw::new(seed);
    let mut data = Vec::with_capacity(length + 80);
    while data.len() < length {
        // Matches of 16 to 79 bytes, as in arrays of numbers and annotations; longer ones would make unpacking a
        // copy, shorter ones would be no matches.
        let run = 16 + draw.below(64) as usize;
        if data.len() > 128 && draw.below(4) == 0 {
            let reach = (data.len() - run).min((32 << 10) - run);
            let from = data.len() - run - draw.below(reach as u64 + 1) as usize;
            data.extend_from_within(from..from + run);
        } else {
            data.extend((0..run).map(|_| {
                let word = draw.word();
                (32 + (word & 31) + (word >> 32 & 31)) as u8
            }));
        }
    }
    data.truncate(length);
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_data_are_the_beginning_of_longer_data_of_the_same_seed() {
        let long = compressible(10_000, 3);
        assert_eq!(compressible(777, 3), long[..777]);
        assert_ne!(compressible(777, 4), long[..777]);
    }
}
