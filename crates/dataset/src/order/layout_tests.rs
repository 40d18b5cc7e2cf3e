//! Orders over every layout: each block of each unit once per epoch, in the order that is said.

use std::collections::BTreeSet;
use std::sync::Arc;

use plan::Engine;
use proptest::prelude::*;

use super::tests::{epoch, listed, uniform};
use super::*;
use crate::{Even, Extent, Index, Samples};

/// A dataset whose samples lie in objects of up to so many bytes, in every way that there is.
fn layouts() -> impl Strategy<Value = Data> {
    prop_oneof![files(), evens(), indexed(1), indexed(4)]
}

fn files() -> impl Strategy<Value = Data> {
    prop::collection::vec(1_u64..200, 1..30).prop_map(|sizes| Data::files(Arc::new(listed(&sizes)), None))
}

fn evens() -> impl Strategy<Value = Data> {
    (1_u32..6, 1_u32..8, 0_u64..20, 1_u64..60, 0_u64..10, 0_u64..5).prop_map(
        |(objects, per_object, first_byte, bytes, padding, less)| {
            let stride_bytes = bytes + padding;
            let count = (u64::from(objects) * u64::from(per_object)).saturating_sub(less).max(1);
            let object_bytes = first_byte + stride_bytes * u64::from(per_object);
            let even = Even { count, per_object, first_byte, stride_bytes, bytes };
            Data::new(Arc::new(uniform(objects, object_bytes)), Samples::Even(even), None).unwrap()
        },
    )
}

/// Units of up to so many parts, one behind the other in objects of 10,000 bytes.
fn indexed(parts: usize) -> impl Strategy<Value = Data> {
    let unit = (1_u64..5, prop::collection::vec(1_u64..60, 1..=parts));
    prop::collection::vec(unit, 1..40).prop_map(|units| {
        let mut index = Index::default();
        for (number, (samples, sizes)) in (0_u64..).zip(units) {
            let object = (number / 10) as u32;
            let mut offset = number % 10 * 300;
            let mut place = |bytes| {
                offset += bytes + 1;
                Extent { object, offset: offset - bytes - 1, bytes }
            };
            let extents: Vec<Extent> = sizes.into_iter().map(&mut place).collect();
            index.push(samples, &extents);
        }
        Data::new(Arc::new(uniform(4, 10_000)), Samples::Indexed(index), None).unwrap()
    })
}

fn extents(data: &Data, unit: u64) -> Vec<Extent> {
    match data.samples() {
        Samples::Objects => {
            let object = unit as u32;
            vec![Extent { object, offset: 0, bytes: data.objects().bytes(object) }]
        }
        Samples::Even(even) => vec![even.extent(unit)],
        Samples::Indexed(index) => index.extents(unit).collect(),
        Samples::Streamed { .. } => Vec::new(),
    }
}

/// The reads of each unit, in the order of its parts.
fn units(data: &Data, block_bytes: u64) -> Vec<Vec<ReadSpan>> {
    let reads = |extent: Extent| {
        (0..extent.bytes.div_ceil(block_bytes)).map(move |block| ReadSpan {
            object: extent.object,
            offset: extent.offset + block * block_bytes,
            len: block_bytes.min(extent.bytes - block * block_bytes),
        })
    };
    (0..data.units().unwrap()).map(|unit| extents(data, unit).into_iter().flat_map(reads).collect()).collect()
}

const ONE_STREAM: Access = Access::ShuffledShards(Streams::of(1));

fn order(data: &Data, access: Access, block_bytes: u32, seed: u64) -> Order {
    let cell = Cell { access, seed, ..Cell::plain(Engine::Null, block_bytes, 1) };
    Order::of_cell(data, &cell).unwrap()
}

/// The units in the order in which they are read, each from its first to its last block without a gap.
fn in_turn(spans: &[ReadSpan], units: &[Vec<ReadSpan>]) -> Vec<usize> {
    let mut rest = spans;
    let mut found = Vec::new();
    while let Some(first) = rest.first() {
        let unit = units.iter().position(|unit| unit[0] == *first).expect("a unit begins here");
        assert_eq!(&rest[..units[unit].len()], &units[unit][..]);
        rest = &rest[units[unit].len()..];
        found.push(unit);
    }
    found
}

proptest! {
    #[test]
    fn a_cursor_reads_what_its_order_reads_wherever_its_tickets_go(
        data in layouts(), block in 1_u32..70, seed: u64,
        asked in prop::collection::vec((any::<prop::sample::Index>(), 1_u64..40), 1..8),
    ) {
        for access in [Access::Sequential, Access::ShuffledEpoch, Access::Random, Access::List, ONE_STREAM] {
            let order = order(&data, access, block, seed);
            let mut cursor = order.cursor();
            for (first, more) in &asked {
                let first = first.index(3 * order.tickets_per_epoch() as usize) as u64;
                for ticket in first..first + more {
                    prop_assert_eq!(cursor.at(ticket), order.at(ticket), "{:?} {}", access, ticket);
                }
            }
        }
    }

    #[test]
    fn a_shuffled_epoch_reads_every_unit_once_from_its_first_to_its_last_block(
        data in layouts(), block_bytes in 1_u32..70, seed: u64, number in 0_u64..4,
    ) {
        let units = units(&data, u64::from(block_bytes));
        let order = order(&data, Access::ShuffledEpoch, block_bytes, seed);
        let mut found = in_turn(&epoch(&order, number), &units);
        found.sort_unstable();
        prop_assert_eq!(found, (0..units.len()).collect::<Vec<_>>());
    }

    #[test]
    fn neighbours_are_whole_runs_that_follow_each_other_each_once(
        data in layouts(), block_bytes in 1_u32..70, run_length in 1_u32..9, seed: u64, number in 0_u64..4,
    ) {
        let units = units(&data, u64::from(block_bytes));
        let order = order(&data, Access::Neighbours { run_length }, block_bytes, seed);
        let found = in_turn(&epoch(&order, number), &units);
        let length = run_length as usize;
        let mut runs = BTreeSet::new();
        let mut rest = &found[..];
        while let Some(first) = rest.first() {
            prop_assert_eq!(first % length, 0);
            let run: Vec<usize> = (*first..units.len().min(first + length)).collect();
            prop_assert_eq!(&rest[..run.len()], &run[..]);
            prop_assert!(runs.insert(*first));
            rest = &rest[run.len()..];
        }
        prop_assert_eq!(runs.len(), units.len().div_ceil(length));
    }

    #[test]
    fn random_draws_are_blocks_of_units_and_of_a_cold_cell_each_once(
        data in layouts(), block_bytes in 1_u32..70, seed: u64, ticket: u64,
    ) {
        let blocks: Vec<ReadSpan> = units(&data, u64::from(block_bytes)).concat();
        let random = order(&data, Access::Random, block_bytes, seed);
        prop_assert!(blocks.contains(&random.at(ticket)));
        let cell = Cell {
            access: Access::Random, seed, cache: Cache::Cold, ..Cell::plain(Engine::Null, block_bytes, 1)
        };
        let mut spans = epoch(&Order::of_cell(&data, &cell).unwrap(), 1);
        let mut blocks = blocks;
        let place = |span: &ReadSpan| (span.object, span.offset);
        spans.sort_by_key(place);
        blocks.sort_by_key(place);
        prop_assert_eq!(spans, blocks);
    }

    #[test]
    fn bytes_of_an_epoch_are_those_of_its_reads(
        data in layouts(), block_bytes in 1_u32..70, seed: u64,
    ) {
        for access in [Access::Sequential, Access::ShuffledEpoch, Access::Neighbours { run_length: 2 }, ONE_STREAM] {
            let order = order(&data, access, block_bytes, seed);
            let read: u64 = epoch(&order, 1).iter().map(|span| span.len).sum();
            prop_assert_eq!((order.bytes_per_epoch(), data.read_bytes(access)), (read, read));
            let samples = data.sample_bytes(access) * data.sample_count() as f64;
            prop_assert!((samples - read as f64).abs() < 1e-6);
        }
    }
}

#[test]
fn epochs_of_units_differ() {
    let even = Even { count: 100, per_object: 10, first_byte: 5, stride_bytes: 30, bytes: 25 };
    let data = Data::new(Arc::new(uniform(10, 305)), Samples::Even(even), None).unwrap();
    for access in [Access::ShuffledEpoch, Access::Neighbours { run_length: 3 }] {
        let order = order(&data, access, 10, 1);
        let orders: Vec<Vec<ReadSpan>> = (0..3).map(|number| epoch(&order, number)).collect();
        assert!(orders[0] != orders[1] && orders[1] != orders[2] && orders[0] != orders[2]);
    }
}

/// The short run of 103 units in runs of 10 comes to each of 11 places 100 times in 1,100 epochs, +- 4 sigma.
#[test]
fn a_short_run_comes_anywhere() {
    let data = Data::files(Arc::new(uniform(103, 1)), None);
    let order = order(&data, Access::Neighbours { run_length: 10 }, 1, 1);
    let mut counts = [0_i32; 11];
    for number in 0..1_100 {
        let at = epoch(&order, number).iter().position(|span| span.object == 100).unwrap();
        counts[at / 10] += 1;
    }
    assert!(counts.iter().all(|count| (*count - 100).abs() < 40), "{counts:?}");
}

#[test]
fn samples_at_equal_distances_take_no_memory_however_many() {
    let even = Even { count: 10_000_000, per_object: 10_000, first_byte: 128, stride_bytes: 150, bytes: 150 };
    let data = Data::new(Arc::new(uniform(1_000, 1_500_128)), Samples::Even(even), None).unwrap();
    for access in [Access::ShuffledEpoch, Access::Neighbours { run_length: 16 }, Access::Random, ONE_STREAM] {
        let order = order(&data, access, 100, 1);
        // Nothing in it has parts elsewhere but tables of unlike units, of which there are none.
        assert!(matches!(order.blocks.numbers, Numbers::Even { .. }), "{access:?}");
        assert!(size_of_val(&order) < 400);
        assert!(order.at(u64::MAX / 2).len > 0);
    }
    assert_eq!(order(&data, Access::ShuffledEpoch, 100, 1).tickets_per_epoch(), 20_000_000);
}

#[test]
fn a_copy_of_an_index_shares_its_table() {
    let mut index = Index::default();
    for unit in 0..1_000 {
        index.push(1, &[Extent { object: 0, offset: unit * 10, bytes: 10 }]);
    }
    let data = Data::new(Arc::new(uniform(1, 10_000)), Samples::Indexed(index.clone()), None).unwrap();
    let kept = order(&data, Access::ShuffledEpoch, 10, 1);
    assert!(matches!(kept.blocks.numbers, Numbers::Even { units: 1_000, per_unit: 1 }));
    assert_eq!(index, index.clone());
}

#[test]
fn data_that_can_only_be_streamed_are_not_read_by_index() {
    let data = Data::new(Arc::new(uniform(10, 100)), Samples::Streamed { count: 50 }, None).unwrap();
    let of = |access| Order::of_cell(&data, &Cell { access, ..Cell::plain(Engine::Null, 10, 1) });
    for access in [Access::Random, Access::ShuffledEpoch, Access::Neighbours { run_length: 1 }] {
        assert_eq!(of(access).unwrap_err(), OrderError::NotIndexed { access: access.name() });
    }
    for access in [Access::Sequential, ONE_STREAM, Access::ResampledShards(Streams::of(1))] {
        assert_eq!(of(access).unwrap().tickets_per_epoch(), 100);
    }
    let whole = Cell { task: Task::ReadFile, ..Cell::plain(Engine::Null, 10, 1) };
    assert_eq!(Order::of_cell(&data, &whole).unwrap().tickets_per_epoch(), 10);
}
