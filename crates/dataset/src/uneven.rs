//! Files of different numbers of blocks, in order and in shuffled epochs.
//!
//! An epoch's order is drawn without a table of its own, so that any ticket of any epoch can be asked at any time
//! and nothing is built while reads are timed. Files stand in places, drawn once. Each epoch turns the ring of
//! places by a random number, cuts it into halves, those into halves and so on, and tosses a coin for every cut:
//! which half comes first. Sums of blocks between places are differences of sums before them, so a ticket finds its file
//! in as many steps as there are cuts above it.
//!
//! What this gives: the first epoch is as random as the places are; in every epoch every file is equally likely at
//! every position. What it does not: of the files of an epoch about one in five is followed by the same file as in
//! the epoch before, where in a shuffle without memory hardly any is. Places have nothing to do with names, so files
//! that follow each other do not lie beside each other on storage.

use crate::counts::Counts;
use crate::permutation::{Permutation, mix, scale};

/// Keeps the places apart from the draws of epochs, which have the same seed.
const PLACES: u64 = 0x706c_6163_6573_0000;

/// Files by their numbers of blocks.
#[derive(Debug, Clone)]
pub(crate) struct Uneven {
    /// Which file stands at a place; its number is its place when there is none.
    places: Option<Permutation>,
    /// Blocks of the file at each place.
    blocks: Counts,
}

/// A block of a file.
pub(crate) struct Located {
    pub(crate) file: u64,
    pub(crate) block: u64,
}

/// Places beside each other on the ring, which are together in an epoch.
#[derive(Debug, Clone, Copy)]
struct Arc {
    low: u64,
    high: u64,
    /// Blocks of the files before `low`, and before `high`.
    before_low: u64,
    before_high: u64,
    /// The block of the epoch that is their first.
    begins: u64,
}

impl Arc {
    fn blocks(&self) -> u64 {
        self.before_high - self.before_low
    }

    /// Whether block `index` of the epoch is one of theirs.
    fn holds(&self, index: u64) -> bool {
        index.wrapping_sub(self.begins) < self.blocks()
    }
}

/// The way to the place that was found last, from the whole ring on. The next ticket of a worker shares most of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Way {
    /// Of the epoch.
    seed: u64,
    /// Each within the one before it; none where nothing was found yet.
    arcs: Vec<Arc>,
}

impl Way {
    /// A way in `units`, with room for the longest.
    pub(crate) fn of(units: &Uneven) -> Self {
        // Each cut leaves at most half and a place, and the ring itself is the first.
        let longest = units.files().next_power_of_two().ilog2() as usize + 2;
        Self { seed: 0, arcs: Vec::with_capacity(longest) }
    }
}

impl Uneven {
    /// So many files in the order of their numbers; `blocks` says of how many blocks each is.
    pub(crate) fn in_order(files: u64, blocks: impl Fn(u64) -> u64 + Sync) -> Self {
        Self { places: None, blocks: Counts::of(files, blocks) }
    }

    /// The same in places drawn by `seed`.
    pub(crate) fn shuffled(files: u64, blocks: impl Fn(u64) -> u64 + Sync, seed: u64) -> Self {
        let places = Permutation::new(files, mix(seed ^ PLACES));
        Self { places: Some(places), blocks: Counts::of(files, |place| blocks(places.at(place))) }
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.blocks.total()
    }

    /// Number of files.
    pub(crate) fn files(&self) -> u64 {
        self.blocks.len()
    }

    /// Blocks of the files before a place.
    pub(crate) fn blocks_before(&self, place: u64) -> u64 {
        self.blocks.before(place)
    }

    /// Block `index` of all, in the order of the places.
    pub(crate) fn at(&self, index: u64) -> Located {
        let (place, block) = self.blocks.find(index);
        Located { file: self.file(place), block }
    }

    /// Block `index` of the epoch drawn by `seed`: the blocks of a file follow each other, the files are shuffled.
    pub(crate) fn at_shuffled(&self, seed: u64, index: u64) -> Located {
        let found = self.descend(seed, self.ring(seed), index, |_| ());
        Located { file: self.file(found.low % self.files()), block: index - found.begins }
    }

    /// The same, found from where `way` led last.
    pub(crate) fn at_shuffled_after(&self, way: &mut Way, seed: u64, index: u64) -> Located {
        if way.seed != seed {
            way.seed = seed;
            way.arcs.clear();
        }
        while way.arcs.last().is_some_and(|arc| !arc.holds(index)) {
            way.arcs.pop();
        }
        let from = way.arcs.last().copied().unwrap_or_else(|| {
            let ring = self.ring(seed);
            way.arcs.push(ring);
            ring
        });
        let found = self.descend(seed, from, index, |arc| way.arcs.push(arc));
        Located { file: self.file(found.low % self.files()), block: index - found.begins }
    }

    /// All places. The ring is turned first, so that the cuts fall elsewhere in each epoch.
    fn ring(&self, seed: u64) -> Arc {
        let (low, files) = (scale(mix(seed), self.files()), self.files());
        Arc {
            low,
            high: low + files,
            before_low: self.before(low),
            before_high: self.before(low + files),
            begins: 0,
        }
    }

    /// The place below `arc` that holds block `index` of the epoch; what is passed on the way there is handed to `pass`.
    fn descend(&self, seed: u64, mut arc: Arc, index: u64, mut pass: impl FnMut(Arc)) -> Arc {
        while arc.high - arc.low > 1 {
            let middle = arc.low.midpoint(arc.high);
            let before_middle = self.before(middle);
            // The coin of a cut is a hash of where it is made: every ticket of the epoch that passes it sees the same
            // side, without a table.
            let swapped = mix(seed ^ mix(middle)) & 1 == 1;
            let first_half = Arc { high: middle, before_high: before_middle, ..arc };
            let second_half = Arc { low: middle, before_low: before_middle, ..arc };
            let (leading, following) =
                if swapped { (second_half, first_half) } else { (first_half, second_half) };
            arc = if leading.holds(index) {
                leading
            } else {
                Arc { begins: arc.begins + leading.blocks(), ..following }
            };
            pass(arc);
        }
        arc
    }

    fn file(&self, place: u64) -> u64 {
        self.places.map_or(place, |places| places.at(place))
    }

    /// Blocks before a place, for places counted on around the ring.
    fn before(&self, place: u64) -> u64 {
        match place.checked_sub(self.files()) {
            Some(place) => self.blocks() + self.blocks_before(place),
            None => self.blocks_before(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn shuffled(blocks: &[u64], seed: u64) -> Uneven {
        Uneven::shuffled(blocks.len() as u64, |file| blocks[file as usize], seed)
    }

    /// The files of an epoch, in the order in which they are opened.
    fn epoch(files: &Uneven, seed: u64) -> Vec<u64> {
        let blocks = (0..files.blocks()).map(|index| files.at_shuffled(seed, index));
        blocks.filter(|located| located.block == 0).map(|located| located.file).collect()
    }

    proptest! {
        #[test]
        fn a_way_leads_where_the_whole_way_does(
            blocks in prop::collection::vec(0_u64..9, 1..60), seed: u64,
            asked in prop::collection::vec((0_u64..3, any::<prop::sample::Index>(), 1_u64..12), 1..20),
        ) {
            let files = shuffled(&blocks, seed);
            prop_assume!(files.blocks() > 0);
            let mut way = Way::default();
            for (epoch, index, more) in asked {
                let first = index.index(files.blocks() as usize) as u64;
                for index in first..(first + more).min(files.blocks()) {
                    let [found, whole] =
                        [files.at_shuffled_after(&mut way, epoch, index), files.at_shuffled(epoch, index)];
                    prop_assert_eq!((found.file, found.block), (whole.file, whole.block));
                }
            }
        }

        #[test]
        fn an_epoch_reads_every_file_once_from_its_first_to_its_last_block(
            blocks in prop::collection::vec(1_u64..9, 1..60), seed: u64, epoch_seed: u64,
        ) {
            let files = shuffled(&blocks, seed);
            prop_assert_eq!(files.blocks(), blocks.iter().sum::<u64>());
            let mut seen = vec![false; blocks.len()];
            let mut index = 0;
            while index < files.blocks() {
                let file = files.at_shuffled(epoch_seed, index).file;
                prop_assert!(!seen[file as usize]);
                seen[file as usize] = true;
                for block in 0..blocks[file as usize] {
                    let located = files.at_shuffled(epoch_seed, index);
                    prop_assert_eq!((located.file, located.block), (file, block));
                    index += 1;
                }
            }
            prop_assert!(seen.into_iter().all(|seen| seen));
        }

        #[test]
        fn blocks_in_order_follow_the_files(blocks in prop::collection::vec(1_u64..9, 1..60)) {
            let files = Uneven::in_order(blocks.len() as u64, |file| blocks[file as usize]);
            let expected = (0_u64..).zip(&blocks).flat_map(|(file, n)| (0..*n).map(move |block| (file, block)));
            for (index, expected) in (0..files.blocks()).zip(expected) {
                let located = files.at(index);
                prop_assert_eq!((located.file, located.block), expected);
            }
        }
    }

    /// Over 6,000 epochs each of 20 files comes to each of 20 positions 300 times, with a standard deviation of 16.9.
    #[test]
    fn every_file_is_equally_likely_at_every_position() {
        let blocks: Vec<u64> = (1..=20).collect();
        let files = shuffled(&blocks, 1);
        let mut counts = vec![[0_i32; 20]; 20];
        for number in 0..6_000 {
            for (position, file) in epoch(&files, mix(number)).into_iter().enumerate() {
                counts[file as usize][position] += 1;
            }
        }
        let chi_square: f64 =
            counts.iter().flatten().map(|count| f64::from(count - 300).powi(2) / 300.0).sum();
        // 400 counts, each with a variance of 0.95 of its mean: 380 are expected. The counts of an epoch hang together,
        // hence the wide bounds.
        assert!((250.0..520.0).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn few_files_are_followed_by_the_same_file_in_the_next_epoch() {
        let blocks: Vec<u64> = (0..10_000).map(|file| 1 + file % 7).collect();
        let files = shuffled(&blocks, 1);
        let pairs = |seed| -> BTreeSet<(u64, u64)> {
            epoch(&files, seed).windows(2).map(|pair| (pair[0], pair[1])).collect()
        };
        let kept = pairs(1).intersection(&pairs(2)).count();
        assert!(kept < 2_500, "{kept} of 10,000");
    }

    #[test]
    fn epochs_and_seeds_have_orders_of_their_own() {
        let blocks: Vec<u64> = (0..1_000).map(|file| 1 + file % 7).collect();
        let agreeing = |a: &[u64], b: &[u64]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        let files = shuffled(&blocks, 1);
        let first = epoch(&files, 1);
        let sorted: Vec<u64> = (0..1_000).collect();
        for other in [&epoch(&files, 2), &epoch(&shuffled(&blocks, 2), 1), &sorted] {
            assert!(agreeing(&first, other) < 30, "about 1 of 1,000 is expected by chance");
        }
    }
}
