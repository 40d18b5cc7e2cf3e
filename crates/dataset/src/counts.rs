//! Many small numbers, and the sums before each of them, in little more than a byte for each.

use crate::parts::in_parts;

/// Numbers that share one width. A number that needs more widens these alone.
const PART: u64 = 1 << 16;

/// Numbers to a sum that is kept. The rest of a sum is added up, which takes as long as finding its place in memory.
const RUN: u64 = 128;

/// Numbers by their places, with the sums before them.
// A sum of 8 bytes for each made 0.8 GB of the blocks of 10^8 files.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    parts: Vec<Part>,
    /// The sum of all numbers before each run.
    runs: Vec<u64>,
    len: u64,
    total: u64,
}

/// Numbers in as many bytes as the largest of them needs.
#[derive(Debug, Clone)]
enum Part {
    One(Box<[u8]>),
    Two(Box<[u16]>),
    Four(Box<[u32]>),
    Eight(Box<[u64]>),
}

impl Counts {
    /// So many numbers, each a function of its place. Their sum fits 64 bits.
    pub(crate) fn of(len: u64, count: impl Fn(u64) -> u64 + Sync) -> Self {
        let parts: Vec<Part> =
            in_parts(len, PART, |places| Part::of(&places.map(&count).collect::<Vec<_>>()));
        let mut runs = Vec::with_capacity(len.div_ceil(RUN) as usize);
        let mut total = 0;
        for part in &parts {
            for first in (0..part.len()).step_by(RUN as usize) {
                runs.push(total);
                total += part.sum(first, (first + RUN as usize).min(part.len()));
            }
        }
        Self { parts, runs, len, total }
    }

    /// How many.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The sum of all.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The sum of those before a place, which may be behind the last.
    #[inline]
    pub(crate) fn before(&self, place: u64) -> u64 {
        if place >= self.len {
            return self.total;
        }
        let (part, within) = ((place / PART) as usize, (place % PART) as usize);
        let run_begins = within - within % RUN as usize;
        self.runs[(place / RUN) as usize] + self.parts[part].sum(run_begins, within)
    }

    /// The place whose number covers `index` where all stand one behind the other, and how far into it that is. `index` is below
    /// the sum of all.
    #[inline]
    pub(crate) fn find(&self, index: u64) -> (u64, u64) {
        let run = self.runs.partition_point(|before| *before <= index) as u64 - 1;
        let first = run * RUN;
        let part = &self.parts[(first / PART) as usize];
        let (skipped, rest) = part.skip((first % PART) as usize, index - self.runs[run as usize]);
        (first + skipped, rest)
    }
}

impl Part {
    fn of(numbers: &[u64]) -> Self {
        fn narrow<T: TryFrom<u64>>(numbers: &[u64]) -> Option<Box<[T]>> {
            numbers.iter().map(|number| T::try_from(*number).ok()).collect()
        }
        (narrow(numbers).map(Self::One))
            .or_else(|| narrow(numbers).map(Self::Two))
            .or_else(|| narrow(numbers).map(Self::Four))
            .unwrap_or_else(|| Self::Eight(numbers.into()))
    }

    fn len(&self) -> usize {
        match self {
            Self::One(numbers) => numbers.len(),
            Self::Two(numbers) => numbers.len(),
            Self::Four(numbers) => numbers.len(),
            Self::Eight(numbers) => numbers.len(),
        }
    }

    /// The sum of the numbers from `first` on to before `end`, which lie in one run.
    #[inline]
    fn sum(&self, first: usize, end: usize) -> u64 {
        match self {
            Self::One(numbers) => sum_of_bytes(&numbers[first..end]),
            Self::Two(numbers) => {
                numbers[first..end].iter().map(|number| u32::from(*number)).sum::<u32>().into()
            }
            Self::Four(numbers) => numbers[first..end].iter().map(|number| u64::from(*number)).sum(),
            Self::Eight(numbers) => numbers[first..end].iter().sum(),
        }
    }

    /// How many numbers from `first` on `index` lies behind, and how far it reaches into the next.
    #[inline]
    fn skip(&self, first: usize, index: u64) -> (u64, u64) {
        fn skipped<T: Copy + Into<u64>>(numbers: &[T], mut index: u64) -> (u64, u64) {
            let mut passed = 0;
            for number in numbers {
                let number: u64 = (*number).into();
                if index < number {
                    break;
                }
                index -= number;
                passed += 1;
            }
            (passed, index)
        }
        match self {
            Self::One(numbers) => skipped(&numbers[first..], index),
            Self::Two(numbers) => skipped(&numbers[first..], index),
            Self::Four(numbers) => skipped(&numbers[first..], index),
            Self::Eight(numbers) => skipped(&numbers[first..], index),
        }
    }
}

/// The sum of the bytes of a run, eight at a time: four sums of 16 bits, which a run of [`RUN`] does not fill.
// A ticket of a shuffled epoch asks for two dozen such sums; added up one by one they took most of its time.
#[inline]
fn sum_of_bytes(bytes: &[u8]) -> u64 {
    const LOW: u64 = 0x00ff_00ff_00ff_00ff;
    let (eights, rest) = bytes.as_chunks::<8>();
    let sums = eights.iter().map(|eight| u64::from_le_bytes(*eight));
    let sums = sums.fold(0_u64, |sums, eight| sums + (eight & LOW) + (eight >> 8 & LOW));
    let [a, b, c, d] = [0, 16, 32, 48].map(|shift| sums >> shift & 0xffff);
    a + b + c + d + rest.iter().map(|byte| u64::from(*byte)).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the sums are by a table of all of them.
    fn assert_sums(numbers: &[u64]) {
        let counts = Counts::of(numbers.len() as u64, |place| numbers[place as usize]);
        let mut before = 0;
        for (place, number) in (0..).zip(numbers) {
            assert_eq!(counts.before(place), before, "before {place}");
            for index in [0, number / 2, number.saturating_sub(1)] {
                if index < *number {
                    assert_eq!(counts.find(before + index), (place, index), "{place}");
                }
            }
            before += number;
        }
        assert_eq!((counts.len(), counts.total()), (numbers.len() as u64, before));
        assert_eq!(counts.before(counts.len()), before);
    }

    proptest! {
        #[test]
        fn sums_are_those_of_a_table(
            numbers in prop::collection::vec(
                prop_oneof![8 => 0..6_u64, 2 => 0..300_u64, 1 => 0..1_u64 << 20, 1 => 0..1_u64 << 40], 0..700,
            ),
        ) {
            assert_sums(&numbers);
        }
    }

    #[test]
    fn parts_of_every_width_stand_one_behind_the_other() {
        // The largest of each width and the smallest of the next, on either side of where parts and runs end.
        let wide = [255, 256, 65_535, 65_536, u64::from(u32::MAX), 1 << 32];
        let number = |place: u64| match place % PART {
            at if at == place / PART => wide[(place / PART) as usize % wide.len()],
            at => at % 3,
        };
        for len in [PART - 1, PART, PART + 1, 6 * PART + RUN + 1] {
            assert_sums(&(0..len).map(number).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_run_of_the_largest_bytes_is_added_up() {
        for len in 0..=RUN as usize {
            assert_eq!(sum_of_bytes(&vec![255; len]), 255 * len as u64);
        }
    }

    #[test]
    fn small_numbers_take_little_more_than_a_byte() {
        let counts = Counts::of(1_000_000, |place| 1 + place % 200);
        assert!(counts.parts.iter().all(|part| matches!(part, Part::One(_))));
        assert_eq!(counts.runs.len(), 7_813);
    }
}
