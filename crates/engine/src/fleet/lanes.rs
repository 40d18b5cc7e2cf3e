//! Batches made from reads that hold several samples or parts of one: of shards that are streamed, of row groups.
//!
//! A read brings many samples or a part of one, so no read belongs to a sample. An epoch is cut into lanes,
//! one for each reader, which are as long as each other. A lane is read from its beginning to its end, and its samples
//! are counted as they come: after `j` of `R` reads, `j S / R` of the lane's `S` samples are there, rounded down, so that
//! a fraction is carried from read to read. Each batch is the next samples of its lane; it takes the reads from where
//! the one before it stopped to that which brings its last sample.

/// An epoch of which reads are no samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EpochReads {
    /// Reads of the epoch.
    pub(crate) reads: u64,
    /// Samples that they bring.
    pub(crate) samples: u64,
    /// Consecutive reads that bring their samples together, with the last of them: those of a row group if all groups
    /// have the same number, otherwise 1. The epoch is a multiple of it.
    pub(crate) together: u64,
    /// By how many reads samples arrive later than their bytes. If row groups differ in their reads, up to as many as
    /// follow in the same group.
    pub(crate) behind: u64,
}

/// Who takes the batches of an epoch, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Takers {
    pub(crate) accelerators: u32,
    /// Readers of each accelerator, at most.
    pub(crate) readers: u32,
    pub(crate) batch: u32,
    /// Whether a batch that the samples do not fill is left out.
    pub(crate) drop_last: bool,
}

/// An epoch shared out to the readers of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lanes {
    epoch: EpochReads,
    accelerators: u64,
    /// Lanes of each accelerator, which take its batches in turn.
    pub(crate) each: u64,
    batch: u64,
}

/// One lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lane {
    /// Its first read in the epoch.
    first: u64,
    reads: u64,
    samples: u64,
    together: u64,
    behind: u64,
}

/// A batch, in its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    lane: Lane,
    /// Its samples, counted from the first of the lane.
    samples: (u64, u64),
    /// Its reads, counted from the first of the lane.
    reads: (u64, u64),
}

impl Lanes {
    /// Divides `epoch` into batches for its takers. `None` if it does not hold a batch for every accelerator. A reader whose part is less than a batch would bring none, so only as many
    /// readers are used as have a batch each; if the last batch is kept, a part of one is enough.
    pub(crate) fn new(epoch: EpochReads, takers: Takers) -> Option<Self> {
        let Takers { accelerators, readers, batch, drop_last } = takers;
        let [accelerators, readers, batch] = [accelerators, readers, batch].map(u64::from);
        let of = |each| Self { epoch, accelerators, each, batch };
        let fits = |lanes: &Self| lanes.batches(drop_last) > 0;
        let is_sound = accelerators > 0 && batch > 0 && epoch.samples > 0 && epoch.reads > 0;
        // The most readers that fit, as the scenario asked for them.
        is_sound.then(|| (1..=readers.max(1)).rev().map(of).find(fits)).flatten()
    }

    /// Batches of each lane in an epoch: the whole ones that every lane has if the last is dropped, else as many as any
    /// lane begins.
    fn batches(&self, drop_last: bool) -> u64 {
        let samples = (0..self.accelerators * self.each).map(|lane| self.lane(lane).samples);
        if drop_last {
            samples.min().unwrap_or(0) / self.batch
        } else {
            samples.max().unwrap_or(0).div_ceil(self.batch)
        }
    }

    /// Batches of each accelerator in an epoch.
    pub(crate) fn steps(&self, drop_last: bool) -> u64 {
        self.batches(drop_last) * self.each
    }

    /// Reads of all lanes that `batches` batches of each make.
    pub(crate) fn reads_of(&self, batches: u64) -> u64 {
        let lanes = (0..self.accelerators * self.each).map(|lane| self.lane(lane));
        lanes.map(|lane| lane.reads_for(lane.samples.min(batches.saturating_mul(self.batch)))).sum()
    }

    /// A batch of an accelerator, by its number in the epoch.
    #[inline]
    pub(crate) fn piece(&self, accelerator: u32, number: u64) -> Piece {
        let lane = self.lane(u64::from(accelerator) * self.each + number % self.each);
        let first = lane.samples.min(number / self.each * self.batch);
        let end = lane.samples.min(first + self.batch);
        Piece { lane, samples: (first, end), reads: (lane.reads_for(first), lane.reads_for(end)) }
    }

    /// The accelerator that a read of the epoch is made for, which of its batches, and which read of that.
    #[inline]
    pub(crate) fn position(&self, read: u64) -> (u32, u64, u32) {
        let (lanes, units) = (self.accelerators * self.each, self.epoch.reads / self.epoch.together);
        // The last lane that begins at this unit or before it.
        let unit = read / self.epoch.together;
        let number = scaled(unit + 1, lanes, units, u128::div_ceil) - 1;
        let lane = self.lane(number);
        let at = read - lane.first;
        // With the reads before it, these samples are there: it is made for the batch of the next.
        let of_lane = lane.samples_after(at) / self.batch;
        let (accelerator, reader) = (number / self.each, number % self.each);
        let before = lane.reads_for(of_lane * self.batch);
        (accelerator as u32, of_lane * self.each + reader, (at - before) as u32)
    }

    #[inline]
    fn lane(&self, number: u64) -> Lane {
        let EpochReads { reads, samples, together, behind } = self.epoch;
        let lanes = self.accelerators * self.each;
        // In whole groups of reads that belong together: a lane that began inside a row group would have samples
        // without their first reads.
        let begins = |lane| scaled(reads / together, lane, lanes, u128::div_euclid) * together;
        let samples_before = |read| scaled(read, samples, reads, u128::div_euclid);
        let (first, end) = (begins(number), begins(number + 1));
        let samples = samples_before(end) - samples_before(first);
        Lane { first, reads: end - first, samples, together, behind }
    }
}

impl Lane {
    /// Samples that are there after the first `reads`.
    fn samples_after(&self, reads: u64) -> u64 {
        if reads >= self.reads {
            return self.samples;
        }
        let whole = (reads / self.together * self.together).saturating_sub(self.behind);
        scaled(whole, self.samples, self.reads, u128::div_euclid)
    }

    /// The fewest reads after which the first `samples` are there.
    fn reads_for(&self, samples: u64) -> u64 {
        if samples == 0 {
            return 0;
        }
        // Rounded up, where `samples_after` rounds down: the sample is there once all of its read is.
        let bytes = scaled(samples, self.reads, self.samples, u128::div_ceil);
        (bytes + self.behind).next_multiple_of(self.together).min(self.reads)
    }
}

impl Piece {
    /// Samples of the batch; fewer than others have at the end of an epoch, perhaps none.
    pub(crate) fn samples(&self) -> u32 {
        (self.samples.1 - self.samples.0) as u32
    }

    /// Its number of reads; 0 if earlier batches bring all of its samples.
    pub(crate) fn reads(&self) -> u32 {
        (self.reads.1 - self.reads.0) as u32
    }

    /// The place of one of its reads in the epoch.
    pub(crate) fn read(&self, number: u32) -> u64 {
        self.lane.first + self.reads.0 + u64::from(number)
    }

    /// How many of its samples earlier reads have brought.
    pub(crate) fn carried(&self) -> u32 {
        (self.lane.samples_after(self.reads.0).min(self.samples.1) - self.samples.0) as u32
    }

    /// How many of its samples one of its reads brings.
    pub(crate) fn brought(&self, number: u32) -> u32 {
        let after = |reads| self.lane.samples_after(reads).clamp(self.samples.0, self.samples.1);
        let before = self.reads.0 + u64::from(number);
        (after(before + 1) - after(before)) as u32
    }
}

/// `number * by / of`, rounded by `divide`.
#[inline]
fn scaled(number: u64, by: u64, of: u64, divide: impl Fn(u128, u128) -> u128) -> u64 {
    divide(u128::from(number) * u128::from(by), u128::from(of.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EPOCH: EpochReads = EpochReads { reads: 100, samples: 915, together: 1, behind: 0 };

    fn lanes(epoch: EpochReads, (accelerators, readers): (u32, u32), batch: u32, drop_last: bool) -> Lanes {
        Lanes::new(epoch, Takers { accelerators, readers, batch, drop_last }).unwrap()
    }

    fn pieces(lanes: &Lanes, numbers: std::ops::Range<u64>) -> Vec<(u32, u32, u32)> {
        let pieces = numbers.map(|number| lanes.piece(0, number));
        pieces.map(|piece| (piece.samples(), piece.reads(), piece.carried())).collect()
    }

    #[test]
    fn a_batch_takes_reads_until_its_last_sample_is_there_and_leaves_the_rest_to_the_next() {
        // 9.15 samples a read: 32 are there after four (36), 64 after seven (64), 96 after eleven (100).
        let lanes = lanes(EPOCH, (1, 1), 32, true);
        assert_eq!(lanes.steps(true), 28);
        assert_eq!(pieces(&lanes, 0..4), [(32, 4, 0), (32, 3, 4), (32, 4, 0), (32, 3, 4)]);
        let piece = lanes.piece(0, 1);
        assert_eq!([0, 1, 2].map(|read| piece.brought(read)), [9, 9, 10]);
        assert_eq!(piece.read(2), 6);
    }

    #[test]
    fn a_read_of_many_batches_is_that_of_the_first_alone() {
        let lanes = lanes(EPOCH, (1, 1), 3, true);
        // 9 after the first, 18 after the second, 27 after the third; 36 after the fourth.
        let expected = [(3, 1, 0), (3, 0, 3), (3, 0, 3), (3, 1, 0), (3, 0, 3), (3, 0, 3)];
        assert_eq!(pieces(&lanes, 0..6), expected);
    }

    #[test]
    fn what_is_left_at_the_end_is_dropped_or_a_smaller_batch() {
        // Two readers: 457 and 458 samples in 50 reads each.
        assert_eq!(lanes(EPOCH, (1, 2), 100, true).steps(true), 8);
        let kept = lanes(EPOCH, (1, 2), 100, false);
        assert_eq!(kept.steps(false), 10);
        let last = [kept.piece(0, 8), kept.piece(0, 9)];
        assert_eq!(last.map(|piece| piece.samples()), [57, 58]);
        assert_eq!(kept.reads_of(5), 100);
    }

    #[test]
    fn as_few_read_as_have_a_batch_each() {
        assert_eq!(lanes(EPOCH, (2, 8), 200, true).each, 2);
        assert_eq!(lanes(EPOCH, (2, 8), 457, true).each, 1);
        let takers = Takers { accelerators: 2, readers: 8, batch: 458, drop_last: true };
        assert_eq!(Lanes::new(EPOCH, takers), None);
        assert_eq!(lanes(EPOCH, (2, 8), 458, false).each, 8);
    }

    #[test]
    fn samples_of_a_row_group_come_with_its_last_read() {
        // Ten groups of four reads and 30 samples.
        let lanes = lanes(EpochReads { reads: 40, samples: 300, together: 4, behind: 0 }, (1, 2), 20, true);
        assert_eq!(pieces(&lanes, 0..2), [(20, 4, 0), (20, 4, 0)]);
        assert_eq!(
            pieces(&lanes, 2..8),
            [(20, 4, 10), (20, 4, 10), (20, 0, 20), (20, 0, 20), (20, 4, 0), (20, 4, 0)]
        );
        // The second begins with the sixth group.
        assert_eq!(
            (lanes.piece(0, 1).read(0), lanes.piece(0, 1).brought(2), lanes.piece(0, 1).brought(3)),
            (20, 0, 20)
        );
    }

    #[test]
    fn samples_of_groups_that_differ_come_no_earlier_than_the_group_can_end() {
        let epoch = EpochReads { reads: 40, samples: 400, together: 1, behind: 3 };
        let lanes = lanes(epoch, (1, 1), 10, true);
        assert_eq!((lanes.piece(0, 0).reads(), lanes.piece(0, 1).reads()), (4, 1));
        assert_eq!((lanes.piece(0, 36).reads(), lanes.piece(0, 37).reads()), (1, 0));
        assert_eq!(lanes.reads_of(40), 40);
    }

    fn epochs() -> impl Strategy<Value = EpochReads> {
        (1_u64..400, 1_u64..2_000, 1_u64..6, 0_u64..5).prop_map(|(reads, samples, together, behind)| {
            let behind = if together == 1 { behind } else { 0 };
            EpochReads { reads: reads * together, samples, together, behind }
        })
    }

    proptest! {
        #[test]
        fn no_read_and_no_sample_of_a_pass_is_lost_or_counted_twice(
            epoch in epochs(), accelerators in 1_u32..5, readers in 1_u32..6, batch in 1_u32..70, drop_last: bool,
        ) {
            let Some(lanes) = Lanes::new(epoch, Takers { accelerators, readers, batch, drop_last }) else {
                prop_assert!(drop_last);
                return Ok(());
            };
            let steps = lanes.steps(drop_last);
            let mut made = vec![false; epoch.reads as usize];
            let mut all = 0;
            for accelerator in 0..accelerators {
                for number in 0..steps {
                    let piece = lanes.piece(accelerator, number);
                    let brought: u32 = (0..piece.reads()).map(|read| piece.brought(read)).sum();
                    prop_assert_eq!(piece.carried() + brought, piece.samples());
                    prop_assert!(!drop_last || piece.samples() == batch);
                    all += u64::from(piece.samples());
                    for read in 0..piece.reads() {
                        let at = piece.read(read);
                        prop_assert!(!std::mem::replace(&mut made[at as usize], true));
                        prop_assert_eq!(lanes.position(at), (accelerator, number, read));
                    }
                }
            }
            prop_assert_eq!(made.iter().filter(|made| **made).count() as u64, lanes.reads_of(steps / lanes.each));
            if drop_last {
                prop_assert_eq!(all, steps * u64::from(accelerators * batch));
            } else {
                prop_assert_eq!(all, epoch.samples);
            }
        }

        #[test]
        fn a_sample_is_there_when_its_bytes_are_and_not_before(
            epoch in epochs(), readers in 1_u32..6, batch in 1_u32..70,
        ) {
            let lanes = lanes(epoch, (1, readers), batch, false);
            for number in 0..lanes.steps(false) {
                let piece = lanes.piece(0, number);
                let Lane { reads, samples, .. } = piece.lane;
                if piece.samples() == 0 {
                    continue;
                }
                // The reads up to its end hold as large a part of the lane as its samples are, and one read fewer is too few.
                let held = |count: u64| count * samples >= piece.samples.1 * reads;
                prop_assert!(held(piece.reads.1));
                let is_least = epoch.together == 1 && epoch.behind == 0;
                prop_assert!(!is_least || !held(piece.reads.1 - 1));
            }
        }
    }
}
