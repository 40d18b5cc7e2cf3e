//! Shards side by side: complete, in order, no more open than said, and apart on several clients.

use std::collections::BTreeMap;
use std::sync::Arc;

use plan::{Engine, Fetch, Load, Training};
use proptest::prelude::*;

use super::tests::{epoch, listed, uniform};
use super::*;

fn cell(access: fn(Streams) -> Access, streams: u32, seed: u64) -> Cell {
    Cell { access: access(Streams::of(streams)), seed, ..Cell::plain(Engine::Null, 10, 1) }
}

fn of(objects: &Objects, cell: &Cell, part: Share) -> Order {
    Order::of_part(&Data::files(Arc::new(objects.clone()), None), cell, part).unwrap()
}

/// A cell of a training job with so many readers.
fn trained(readers: u32, seed: u64) -> Cell {
    let training = Training { fetch: Fetch::Readers { count: readers }, ..Training::plain(1, 7, 1) };
    Cell { load: Load::Training(training), ..cell(Access::ShuffledShards, readers, seed) }
}

fn sorted(mut spans: Vec<ReadSpan>) -> Vec<ReadSpan> {
    spans.sort_by_key(|span| (span.object, span.offset));
    spans
}

/// All blocks of all objects.
fn all(objects: &Objects) -> Vec<ReadSpan> {
    epoch(&Order::new(objects, Access::Sequential, 10, 0).unwrap(), 0)
}

/// Shards that have begun and not ended at each read, at most; of every shard the blocks come in order.
fn open_max(objects: &Objects, spans: &[ReadSpan]) -> usize {
    let mut next: BTreeMap<u32, u64> = BTreeMap::new();
    let mut most = 0;
    for span in spans {
        let at = next.entry(span.object).or_insert(0);
        assert_eq!(*at, span.offset, "the blocks of a shard come in order");
        *at += span.len;
        most = most.max(next.len());
        if next[&span.object] == objects.bytes(span.object) {
            next.remove(&span.object);
        }
    }
    assert!(next.is_empty());
    most
}

proptest! {
    #[test]
    fn equal_shards_are_read_once_each_in_order_and_no_more_than_the_streams_at_once(
        shards in 1_u32..40, bytes in 1_u64..200, streams in 0_u32..12, seed: u64, number in 0_u64..3,
    ) {
        let objects = uniform(shards, bytes);
        let spans = epoch(&of(&objects, &cell(Access::ShuffledShards, streams, seed), Share::WHOLE), number);
        prop_assert!(open_max(&objects, &spans) <= streams.max(1) as usize);
        prop_assert_eq!(sorted(spans), all(&objects));
    }

    #[test]
    fn a_short_last_shard_is_read_behind_the_others_by_one_of_the_clients(
        shards in 3_usize..20, bytes in 20_u64..200, short in 1_u64..10, streams in 1_u32..8,
        ranks in 1_u32..4, resampled: bool, seed: u64, number in 0_u64..3,
    ) {
        let mut sizes = vec![bytes; shards];
        sizes.push(short);
        let objects = listed(&sizes);
        let access = if resampled { Access::ResampledShards as fn(_) -> _ } else { Access::ShuffledShards };
        let cell = cell(access, streams, seed);
        let parts: Vec<Vec<ReadSpan>> =
            (0..ranks).map(|index| epoch(&of(&objects, &cell, Share { index, of: ranks }), number)).collect();
        for (rank, part) in (0..).zip(&parts) {
            let at = part.iter().position(|span| span.object == shards as u32);
            let expected = (shards as u32 % ranks == rank).then(|| part.len() - 1);
            prop_assert_eq!(at, expected);
            prop_assert!(resampled || open_max(&objects, part) <= streams as usize);
        }
        prop_assert!(resampled || sorted(parts.concat()) == all(&objects));
    }

    #[test]
    fn unlike_shards_are_read_once_each_whatever_the_streams(
        sizes in prop::collection::vec(1_u64..300, 1..30), streams in 1_u32..12, seed: u64, number in 0_u64..3,
    ) {
        let objects = listed(&sizes);
        let spans = epoch(&of(&objects, &cell(Access::ShuffledShards, streams, seed), Share::WHOLE), number);
        prop_assert_eq!(sorted(spans), all(&objects));
    }

    #[test]
    fn every_stream_of_unlike_shards_reads_on_in_order(
        sizes in prop::collection::vec(1_u64..300, 1..30), streams in 1_u32..12, seed: u64,
    ) {
        let objects = listed(&sizes);
        let order = of(&objects, &cell(Access::ShuffledShards, streams, seed), Share::WHOLE);
        prop_assume!(matches!(order.blocks.numbers, Numbers::Uneven(_)));
        let width = u64::from(streams).min(sizes.len() as u64);
        let each = order.tickets_per_epoch() / width;
        for stream in 0..width {
            let spans: Vec<ReadSpan> = (0..each).map(|turn| order.at(turn * width + stream)).collect();
            for pair in spans.windows(2) {
                let end = pair[0].offset + pair[0].len;
                let whole = end == objects.bytes(pair[0].object);
                prop_assert_eq!(pair[1].offset, if whole { 0 } else { end });
                prop_assert!(whole || pair[0].object == pair[1].object);
            }
        }
    }

    #[test]
    fn clients_read_shards_of_their_own_and_together_all(
        sizes in prop::collection::vec(30_u64..300, 8..40), uniform_bytes in prop::option::of(1_u64..300),
        streams in 1_u32..6, ranks in 1_u32..8, seed: u64, number in 0_u64..3,
    ) {
        let objects = match uniform_bytes {
            Some(bytes) => uniform(sizes.len() as u32, bytes),
            None => listed(&sizes),
        };
        let cell = cell(Access::ShuffledShards, streams, seed);
        let parts: Vec<Vec<ReadSpan>> =
            (0..ranks).map(|index| epoch(&of(&objects, &cell, Share { index, of: ranks }), number)).collect();
        prop_assert_eq!(sorted(parts.concat()), all(&objects));
        prop_assume!(!matches!(of(&objects, &cell, Share { index: 0, of: ranks }).blocks.numbers, Numbers::Short { .. }));
        let per_shard = all(&objects).len() / sizes.len();
        let [fewest, most] = [parts.iter().map(Vec::len).min(), parts.iter().map(Vec::len).max()];
        let apart = most.unwrap_or(0) - fewest.unwrap_or(0);
        let allowed = if uniform_bytes.is_some() { per_shard } else { 1 };
        prop_assert!(apart <= allowed);
    }

    #[test]
    fn the_shards_of_a_training_job_lie_end_to_end_whatever_its_readers(
        shards in 1_u32..40, sizes in prop::option::of(prop::collection::vec(1_u64..110, 2..40)),
        readers in 1_u32..6, seed: u64, number in 0_u64..3,
    ) {
        let objects = sizes.map_or_else(|| uniform(shards, 55), |sizes| listed(&sizes));
        let spans = epoch(&of(&objects, &trained(readers, seed), Share::WHOLE), number);
        prop_assert_eq!(open_max(&objects, &spans), 1);
        prop_assert_eq!(sorted(spans), all(&objects));
    }

    #[test]
    fn resampled_shards_are_read_whole_by_each_stream(
        shards in 1_u32..20, bytes in 1_u64..100, streams in 1_u32..6, seed: u64, number in 0_u64..3,
    ) {
        let objects = uniform(shards, bytes);
        let order = of(&objects, &cell(Access::ResampledShards, streams, seed), Share::WHOLE);
        prop_assert_eq!(order.tickets_per_epoch(), u64::from(shards) * bytes.div_ceil(10));
        let width = streams.min(shards) as usize;
        let spans = epoch(&order, number);
        let in_rows = shards as usize / width * width * bytes.div_ceil(10) as usize;
        for stream in 0..width {
            let own: Vec<ReadSpan> = spans[..in_rows].iter().skip(stream).step_by(width).copied().collect();
            for shard in own.chunks(bytes.div_ceil(10) as usize) {
                prop_assert!(shard.iter().all(|span| span.object == shard[0].object));
                prop_assert!(shard.iter().map(|span| span.offset).eq((0..bytes).step_by(10)));
            }
        }
    }
}

/// Each of 20 shards is drawn 1,000 times of 20,000, with a standard deviation of 31.
#[test]
fn resampling_draws_every_shard_about_as_often_and_some_twice_in_an_epoch() {
    let sizes: Vec<u64> = (1..=20).map(|number| number % 5 * 10 + 10).collect();
    for objects in [uniform(20, 30), listed(&sizes)] {
        let order = of(&objects, &cell(Access::ResampledShards, 4, 3), Share::WHOLE);
        let mut counts = [0_i32; 20];
        let mut missing = 0;
        for number in 0..1_000 {
            let begun: Vec<u32> = epoch(&order, number)
                .iter()
                .filter(|span| span.offset == 0)
                .map(|span| span.object)
                .collect();
            for shard in &begun {
                counts[*shard as usize] += 1;
            }
            missing += (0..20).filter(|shard| !begun.contains(shard)).count();
        }
        assert!(counts.iter().all(|count| (*count - 1_000).abs() < 160), "{counts:?}");
        // Of draws with replacement, (1 - 1/20)^20 = 36 % of the shards are missing in an epoch.
        assert!((6_000..8_200).contains(&missing), "{missing} of 20,000");
    }
}

#[test]
fn a_cold_cell_draws_no_shard_twice() {
    let objects = uniform(20, 30);
    let cold = Cell { cache: Cache::Cold, ..cell(Access::ResampledShards, 4, 3) };
    assert_eq!(sorted(epoch(&of(&objects, &cold, Share::WHOLE), 2)), all(&objects));
}

#[test]
fn epochs_of_shards_differ() {
    for objects in [uniform(50, 30), listed(&(1..50).collect::<Vec<_>>())] {
        for access in [Access::ShuffledShards as fn(_) -> _, Access::ResampledShards] {
            let order = of(&objects, &cell(access, 4, 3), Share::WHOLE);
            assert_ne!(epoch(&order, 0), epoch(&order, 1));
            assert_ne!(epoch(&order, 1), epoch(&order, 2));
        }
    }
}

#[test]
fn a_client_without_a_shard_is_told_so() {
    let data = Data::files(Arc::new(uniform(3, 30)), None);
    let cell = cell(Access::ShuffledShards, 4, 3);
    let of = |index| Order::of_part(&data, &cell, Share { index, of: 4 });
    assert_eq!(of(3).unwrap_err(), OrderError::FewShards { shards: 3, ranks: 4 });
    assert_eq!(of(2).unwrap().tickets_per_epoch(), 3);
    let stated = OrderError::FewShards { shards: 3, ranks: 4 }.to_string();
    assert!(stated.contains("\n  hint: write smaller shards"), "{stated}");
}
