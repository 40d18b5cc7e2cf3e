//! How well shuffle buffers mix what streams bring, found by playing a delivery.

use plan::Cell;

use crate::permutation::{Permutation, mix, scale};
use crate::{Data, Samples};

/// Samples that are played at most.
// Enough to know a share to a fifth of a percent, and played in tens of milliseconds while a plan is made.
const PLAYED_MAX: u64 = 200_000;

/// Keeps the draws of buffers apart from those of orders, which have the same seed.
const DRAWS: u64 = 0x6d69_7869_6e67_0000;

/// How well streams are mixed, in samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixing {
    /// Samples that all readers of all clients hold.
    pub buffer_samples: u64,
    /// Mean distance between where a sample lies among those played and where it is delivered, as a share of what a
    /// uniform permutation has on average, a third of their number.
    pub displacement: f64,
    /// Share of samples that are delivered next before one that also follows them in their shard.
    pub neighbours_kept: f64,
    /// By how much the reader with most shards exceeds the mean, as a share of the mean. 0 if shards differ in their numbers
    /// of blocks: readers then get equal numbers of blocks.
    pub imbalance: f64,
}

/// Part of the time in which readers that have fewer shards than others wait, where `shards` are dealt out to
/// `readers` one by one: `1 - (n/r) / ceil(n/r)` (F33).
pub fn tail_share(shards: u64, readers: u64) -> f64 {
    if shards == 0 || readers == 0 {
        return 0.0;
    }
    1.0 - shards as f64 / readers as f64 / shards.div_ceil(readers) as f64
}

/// Plays the delivery of an epoch of a streamed cell on `ranks` clients; `None` of an order that is not streamed, and
/// where there are no samples.
///
/// Every stream draws from a buffer of [`plan::Streams::shuffle_buffer`] samples as `WebDataset`'s `shuffle` does: it is
/// filled, then each further sample takes the place of one that is drawn and delivered, and in the end it is emptied by
/// draws. Streams deliver one sample each in turn. What is played is the whole dataset where it has up to 200,000
/// samples, else a prefix of its shards; where the streams alone are more shards than that, the first part of each. A
/// prefix lets a buffer look better than it is: what it holds is a larger share of what is played. Shards hold
/// samples as their places say, and where these are not known, in proportion to their bytes.
pub fn mixing(data: &Data, cell: &Cell, ranks: u32) -> Option<Mixing> {
    let streams = cell.access.streams()?;
    if data.sample_count() == 0 || data.objects().count() == 0 {
        return None;
    }
    let shards = u64::from(data.objects().count());
    let readers = u64::from(streams.count.max(1)) * u64::from(ranks.max(1));
    // A reader without a shard delivers nothing.
    let lanes = readers.min(shards);
    let buffer = u64::from(streams.shuffle_buffer);
    let begins = played(data, lanes);
    let (played, deliveries) = deliver(&begins, lanes, buffer, cell.seed);
    let mut distance = 0.0;
    let mut kept = 0_u64;
    for (at, sample) in deliveries.iter().enumerate() {
        distance += (at as f64 - *sample as f64).abs();
        let follows = deliveries.get(at + 1) == Some(&(sample + 1));
        // Across the border of two shards, samples that follow each other by number are no neighbours: their files
        // are.
        kept += u64::from(follows && begins.binary_search(&(sample + 1)).is_err());
    }
    let played = played as f64;
    // The mean of |i - j| over all pairs of n places is (n^2 - 1) / 3n.
    let uniform = (played * played - 1.0) / (3.0 * played);
    Some(Mixing {
        buffer_samples: buffer.saturating_mul(readers),
        displacement: if uniform > 0.0 { distance / played / uniform } else { 0.0 },
        neighbours_kept: kept as f64 / played,
        imbalance: imbalance(data, cell, readers),
    })
}

/// By how much the reader with most shards exceeds the mean, as a share of the mean.
fn imbalance(data: &Data, cell: &Cell, readers: u64) -> f64 {
    let objects = data.objects();
    let blocks = |object| objects.bytes(object).div_ceil(u64::from(cell.block_bytes.max(1)));
    let first = blocks(0);
    // A last shard that is short counts as one: its reader has it besides its others.
    let last = objects.count() - 1;
    let are_equal = (0..last).all(|object| blocks(object) == first) && blocks(last) <= first;
    let shards = u64::from(objects.count());
    if are_equal { 1.0 / (1.0 - tail_share(shards, readers)) - 1.0 } else { 0.0 }
}

/// Where the samples of each shard that is played begin among all of these, and where the last ends.
fn played(data: &Data, lanes: u64) -> Vec<u64> {
    // Every stream gets its first shard, or what is played would have fewer streams than the job has.
    let each_max = (PLAYED_MAX / lanes).max(1);
    let mut begins = vec![0];
    let mut end = 0_u64;
    for (shard, samples) in (0_u64..).zip(samples_of_shards(data)) {
        if shard >= lanes && end.saturating_add(samples) > PLAYED_MAX {
            break;
        }
        end += if shard < lanes { samples.min(each_max) } else { samples };
        begins.push(end);
    }
    begins
}

/// Samples of each shard in turn.
fn samples_of_shards(data: &Data) -> Box<dyn Iterator<Item = u64> + '_> {
    let objects = data.objects();
    match data.samples() {
        Samples::Objects => Box::new((0..objects.count()).map(|_| 1)),
        Samples::Even(even) => Box::new((0..objects.count()).map(|object| even.in_object(object))),
        Samples::Indexed(index) if index.is_of_single_samples() => {
            let mut counts = vec![0; objects.count() as usize];
            (0..index.units()).flat_map(|unit| index.extents(unit)).for_each(|part| {
                counts[part.object as usize] += 1;
            });
            Box::new(counts.into_iter())
        }
        Samples::Indexed(_) | Samples::Streamed { .. } => {
            // The best guess without an index: samples of one dataset are of one kind, so shards of more bytes hold
            // more of them.
            let per_byte = data.sample_count() as f64 / objects.total_bytes().max(1) as f64;
            let share = move |object| (objects.bytes(object) as f64 * per_byte).round().max(1.0) as u64;
            Box::new((0..objects.count()).map(share))
        }
    }
}

/// One stream: the shards that it has yet to read, and its buffer.
struct Lane {
    /// Place of its next shard in the permutation.
    next: u64,
    /// What is left of the shard that it reads.
    rest: std::ops::Range<u64>,
    held: Vec<u64>,
}

/// How many samples are played, and the samples in the order of their delivery.
fn deliver(begins: &[u64], lanes: u64, buffer: u64, seed: u64) -> (u64, Vec<u64>) {
    let shards = begins.len() as u64 - 1;
    let total = begins.last().copied().unwrap_or(0);
    let order = Permutation::new(shards, mix(seed));
    let lane = |next| Lane { next, rest: 0..0, held: Vec::new() };
    let mut all: Vec<Lane> = (0..lanes.min(shards)).map(lane).collect();
    let mut deliveries = Vec::with_capacity(total as usize);
    let read = |lane: &mut Lane| loop {
        if let Some(sample) = lane.rest.next() {
            return Some(sample);
        }
        if lane.next >= shards {
            return None;
        }
        let shard = order.at(lane.next) as usize;
        lane.rest = begins[shard]..begins[shard + 1];
        lane.next += lanes;
    };
    let mut draws = 0_u64;
    while (deliveries.len() as u64) < total {
        // A stream that has ended is not asked again: there may be as many as shards.
        all.retain_mut(|lane| {
            while (lane.held.len() as u64) < buffer.max(1) {
                let Some(sample) = read(lane) else { break };
                lane.held.push(sample);
            }
            if lane.held.is_empty() {
                return false;
            }
            draws += 1;
            let drawn = scale(mix(seed ^ DRAWS ^ mix(draws)), lane.held.len() as u64);
            // The order within a buffer has no meaning, since draws are uniform; closing the gap costs nothing this
            // way.
            deliveries.push(lane.held.swap_remove(drawn as usize));
            true
        });
    }
    (total, deliveries)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plan::{Access, Engine, Streams};

    use super::*;
    use crate::{Even, Key, Objects};

    fn data(shards: u32, per_object: u32) -> Data {
        let objects = Objects::uniform(Key::new("d").unwrap(), shards, u64::from(per_object) * 100);
        let count = u64::from(shards) * u64::from(per_object);
        let even = Even { count, per_object, first_byte: 0, stride_bytes: 100, bytes: 100 };
        Data::new(Arc::new(objects), Samples::Even(even), None).unwrap()
    }

    fn cell(streams: u32, shuffle_buffer: u32) -> Cell {
        let access = Access::ShuffledShards(Streams { count: streams, shuffle_buffer });
        Cell { access, ..Cell::plain(Engine::Null, 100, 1) }
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    /// Row groups that claim all the rows there can be.
    #[test]
    fn counts_that_nobody_has_overflow_nothing() {
        let mut index = crate::Index::default();
        for object in 0..4 {
            index.push(i64::MAX as u64, &[crate::Extent { object, offset: 0, bytes: 1 << object }]);
        }
        assert_eq!(index.samples(), u64::MAX);
        let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 4, 8));
        let data = Data::new(objects, Samples::Indexed(index), None).unwrap();
        let mixed = mixing(&data, &cell(2, u32::MAX), u32::MAX).unwrap();
        assert!(mixed.displacement.is_finite() && mixed.buffer_samples > 0, "{mixed:?}");
    }

    #[test]
    fn a_stream_that_is_far_longer_than_the_others_is_played_alone_in_the_end() {
        let lanes = 60_000_u64;
        let mut begins: Vec<u64> = (0..=lanes).collect();
        begins.push(lanes + 60_000);
        let (total, samples) = deliver(&begins, lanes, 1, 3);
        assert_eq!((total, samples.len()), (120_000, 120_000));
    }

    #[test]
    fn every_sample_is_delivered_once() {
        for (lanes, buffer) in [(1, 0), (1, 7), (3, 20), (10, 1_000)] {
            let begins: Vec<u64> = (0..=10).map(|shard| shard * 50).collect();
            let (total, mut samples) = deliver(&begins, lanes, buffer, 3);
            samples.sort_unstable();
            assert_eq!((total, samples), (500, (0..500).collect()));
        }
    }

    #[test]
    fn one_shard_without_a_buffer_is_not_mixed_and_a_buffer_of_all_is() {
        let none = mixing(&data(1, 10_000), &cell(1, 0), 1).unwrap();
        assert_eq!((none.displacement, none.buffer_samples, none.imbalance), (0.0, 0, 0.0));
        assert_near(none.neighbours_kept, 0.9999);
        let whole = mixing(&data(1, 10_000), &cell(1, 10_000), 1).unwrap();
        // A uniform permutation has 1, with a standard error of about 0.007; of its samples one is expected to keep its
        // neighbour.
        assert!((whole.displacement - 1.0).abs() < 0.03, "{whole:?}");
        assert!(whole.neighbours_kept < 0.001, "{whole:?}");
    }

    #[test]
    fn a_larger_buffer_and_more_streams_mix_better() {
        let data = data(100, 1_000);
        let kept = |streams, buffer| mixing(&data, &cell(streams, buffer), 1).unwrap().neighbours_kept;
        assert_near(kept(1, 0), 0.999);
        assert!(kept(1, 100) < 0.02 && kept(1, 1_000) < kept(1, 100));
        // Samples of several shards come in turn.
        assert_near(kept(4, 0), 0.0);
        let one = mixing(&data, &cell(2, 50), 1).unwrap();
        let four = mixing(&data, &cell(2, 50), 4).unwrap();
        assert_eq!((one.buffer_samples, four.buffer_samples), (100, 400));
    }

    #[test]
    fn a_large_dataset_is_played_in_part() {
        let begins = played(&data(1_000, 10_000), 8);
        assert_eq!((begins.len() - 1, begins.last()), (20, Some(&200_000)));
        let begins = played(&data(1_000, 10_000), 100);
        assert_eq!((begins.len() - 1, begins.last()), (100, Some(&200_000)));
    }

    #[test]
    fn imbalance_is_that_of_shards_dealt_out_one_by_one() {
        // 50,000 shards on 256 readers: 80 have 196, the others 195.
        assert!((tail_share(50_000, 256) - 0.003_507).abs() < 1e-6);
        assert_eq!((tail_share(8, 4), tail_share(0, 4), tail_share(4, 0)), (0.0, 0.0, 0.0));
        let of =
            |shards, streams, ranks| mixing(&data(shards, 10), &cell(streams, 0), ranks).unwrap().imbalance;
        // 10 shards on 4 readers: 3 against a mean of 2.5.
        assert_near(of(10, 2, 2), 0.2);
        assert_near(of(12, 2, 2), 0.0);
    }

    #[test]
    fn what_is_not_streamed_has_no_mixing() {
        let cell = Cell { access: Access::ShuffledEpoch, ..cell(1, 10) };
        assert_eq!(mixing(&data(2, 10), &cell, 1), None);
    }

    #[test]
    fn samples_of_unknown_places_are_shared_out_by_bytes() {
        let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 10, 1_000));
        let data = Data::new(objects, Samples::Streamed { count: 500 }, None).unwrap();
        assert_eq!(samples_of_shards(&data).collect::<Vec<_>>(), [50; 10]);
    }
}
