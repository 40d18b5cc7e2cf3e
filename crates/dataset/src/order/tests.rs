//! What every order says of itself, and holds.

use std::sync::Arc;

use plan::{DatasetSpec, Distribution, Engine};
use proptest::prelude::*;

use super::*;
use crate::objects::Listed;
use crate::{Key, Objects};

pub(super) fn uniform(count: u32, bytes: u64) -> Objects {
    Objects::uniform(Key::new("d").unwrap(), count, bytes)
}

pub(super) fn listed(sizes: &[u64]) -> Objects {
    let mut listed = Listed::default();
    for (i, bytes) in sizes.iter().enumerate() {
        listed.push(&Key::new(format!("f{i}")).unwrap(), *bytes);
    }
    Objects::Listed(listed)
}

pub(super) fn epoch(order: &Order, number: u64) -> Vec<ReadSpan> {
    let n = order.tickets_per_epoch();
    (number * n..(number + 1) * n).map(|ticket| order.at(ticket)).collect()
}

/// Sorted spans must tile every object exactly.
fn assert_covers_once(objects: &Objects, spans: &[ReadSpan]) {
    let mut spans = spans.to_vec();
    spans.sort_by_key(|span| (span.object, span.offset));
    let mut next = (0, 0);
    for span in spans {
        assert_eq!((span.object, span.offset), next);
        let end = span.offset + span.len;
        next = if end == objects.bytes(span.object) { (span.object + 1, 0) } else { (span.object, end) };
    }
    assert_eq!(next, (objects.count(), 0));
}

proptest! {
    #[test]
    fn sequential_and_shuffled_epochs_read_every_byte_once(
        count in 1_u32..40, bytes in 1_u64..3_000, block in 1_u32..1_000, seed: u64, number in 0_u64..3,
    ) {
        let objects = uniform(count, bytes);
        for access in [Access::Sequential, Access::ShuffledEpoch] {
            let order = Order::new(&objects, access, block, seed).unwrap();
            assert_covers_once(&objects, &epoch(&order, number));
        }
    }

    #[test]
    fn listed_files_of_any_size_are_covered_once(
        sizes in prop::collection::vec(1_u64..5_000, 1..30), block in 1_u32..2_000, seed: u64,
    ) {
        let objects = listed(&sizes);
        for access in [Access::Sequential, Access::ShuffledEpoch] {
            let order = Order::new(&objects, access, block, seed).unwrap();
            assert_covers_once(&objects, &epoch(&order, 1));
        }
    }

    #[test]
    fn random_reads_stay_inside(count in 1_u32..40, bytes in 1_u64..3_000, block in 1_u32..1_000, ticket: u64) {
        let objects = uniform(count, bytes);
        let span = Order::new(&objects, Access::Random, block, 7).unwrap().at(ticket);
        prop_assert!(span.object < count && span.len > 0);
        prop_assert!(span.offset + span.len <= bytes);
    }
}

#[test]
fn random_reads_of_a_cold_cell_cover_every_block_once() {
    for objects in [uniform(20, 95), listed(&[95, 7, 400])] {
        let order = of_cell(&objects, Task::Read, Access::Random, Cache::Cold);
        assert_covers_once(&objects, &epoch(&order, 0));
        assert_ne!(epoch(&order, 0), epoch(&order, 1));
    }
}

fn of_cell(objects: &Objects, task: Task, access: Access, cache: Cache) -> Order {
    let cell = Cell { task, access, cache, ..Cell::plain(Engine::Null, 10, 1) };
    Order::of_cell(&Data::files(Arc::new(objects.clone()), None), &cell).unwrap()
}

const EACH_ONCE: [(Access, Cache); 3] =
    [(Access::Sequential, Cache::Warm), (Access::ShuffledEpoch, Cache::Warm), (Access::Random, Cache::Cold)];

/// Files of a mean of 4 GiB: more than 32 bits count.
fn spread() -> Objects {
    let spec = DatasetSpec::Generate(plan::Generate {
        samples: 500,
        sample_bytes: 4 << 30,
        distribution: Distribution::LogNormal { stdev_bytes: 1 << 30 },
        files_per_folder: 10,
        seed: 1,
        ..plan::Generate::NONE
    });
    Objects::generated(Key::new("d").unwrap(), &spec).unwrap()
}

#[test]
fn whole_files_come_once_an_epoch_with_their_sizes() {
    for objects in [uniform(30, 6 << 30), listed(&[5 << 30, 1, 4 << 30, 77, 11]), spread()] {
        let whole = |object| ReadSpan { object, offset: 0, len: objects.bytes(object) };
        let expected: Vec<_> = (0..objects.count()).map(whole).collect();
        for task in [Task::ReadFile, Task::Stat, Task::GetAttr] {
            for (access, cache) in EACH_ONCE {
                let order = of_cell(&objects, task.clone(), access, cache);
                let [first, second] = [0, 1].map(|number| epoch(&order, number));
                assert_eq!(first == second, access == Access::Sequential);
                for mut spans in [first, second] {
                    spans.sort_by_key(|span| span.object);
                    assert_eq!(spans, expected);
                }
            }
        }
    }
}

#[test]
fn folders_come_once_an_epoch() {
    let mut files = Listed::default();
    for name in ["a/1", "a/2", "a/b/3", "a.bin", "c/4"] {
        files.push(&Key::new(name).unwrap(), 3);
    }
    for (objects, folders) in [(uniform(12_345, 9), 13), (spread(), 50), (Objects::Listed(files), 4)] {
        for (access, cache) in EACH_ONCE {
            let order = of_cell(&objects, Task::List, access, cache);
            for number in 0..3 {
                let mut numbers: Vec<_> = epoch(&order, number).iter().map(|span| span.object).collect();
                numbers.sort_unstable();
                assert_eq!(numbers, (0..folders).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn shuffled_files_of_different_sizes_are_read_block_after_block() {
    let sizes: Vec<u64> = (1..=100).map(|number| number * 7 % 95 + 1).collect();
    let objects = listed(&sizes);
    let order = Order::new(&objects, Access::ShuffledEpoch, 10, 3).unwrap();
    let files = |number| {
        let spans = epoch(&order, number);
        for pair in spans.windows(2) {
            let end = pair[0].offset + pair[0].len;
            let whole = end == objects.bytes(pair[0].object);
            assert_eq!(pair[1].offset, if whole { 0 } else { end }, "after {:?}", pair[0]);
            assert_eq!(pair[0].object != pair[1].object, whole);
        }
        spans.iter().filter(|span| span.offset == 0).map(|span| span.object).collect::<Vec<_>>()
    };
    assert_eq!(files(0).len(), 100);
    assert_ne!(files(0), files(1));
    assert_ne!(files(0), (0..100).collect::<Vec<_>>());
}

#[test]
fn each_epoch_is_shuffled_anew_and_blocks_of_a_sample_stay_in_order() {
    let order = Order::new(&uniform(100, 30), Access::ShuffledEpoch, 10, 3).unwrap();
    let samples = |number| -> Vec<u32> { epoch(&order, number).chunks(3).map(|c| c[0].object).collect() };
    assert_ne!(samples(0), samples(1));
    assert_ne!(samples(0), (0..100).collect::<Vec<_>>());
    for chunk in epoch(&order, 0).chunks(3) {
        assert!(chunk.iter().all(|span| span.object == chunk[0].object));
        assert_eq!(chunk.iter().map(|span| span.offset).collect::<Vec<_>>(), [0, 10, 20]);
    }
}

/// Chi-square over 64 equal cells: 63 degrees of freedom, mean 63, standard deviation 11.2.
#[test]
fn random_reads_are_uniform() {
    let order = Order::new(&uniform(64, 1), Access::Random, 1, 11).unwrap();
    let mut hits = [0_f64; 64];
    for ticket in 0..64_000 {
        hits[order.at(ticket).object as usize] += 1.0;
    }
    let chi_square: f64 = hits.iter().map(|h| (h - 1000.0).powi(2) / 1000.0).sum();
    assert!((20.0..130.0).contains(&chi_square), "{chi_square}");
}

#[test]
fn nothing_to_read_is_an_error() {
    assert_eq!(Order::new(&uniform(0, 1), Access::Random, 1, 0).unwrap_err(), OrderError::Empty);
    assert_eq!(Order::new(&uniform(1, 1), Access::Random, 0, 0).unwrap_err(), OrderError::ZeroBlock);
}

/// Files of some sizes, and a list of them by their numbers.
fn by_list(sizes: &[u64], list: &[usize]) -> Data {
    let mut index = crate::Index::default();
    for object in list {
        index.push(1, &[crate::Extent { object: *object as u32, offset: 0, bytes: sizes[*object] }]);
    }
    Data::new(Arc::new(listed(sizes)), crate::Samples::Indexed(index), None).unwrap()
}

proptest! {
    #[test]
    fn a_list_is_read_as_it_stands_and_from_its_beginning_again(
        sizes in prop::collection::vec(1_u64..5_000, 1..20),
        list in prop::collection::vec(any::<prop::sample::Index>(), 1..50),
        block in 1_u32..2_000, seed: u64, begins: u64, whole: bool,
    ) {
        let list: Vec<usize> = list.iter().map(|one| one.index(sizes.len())).collect();
        let data = by_list(&sizes, &list);
        let task = if whole { Task::ReadFile } else { Task::Read };
        let cell = Cell { access: Access::List, seed, task, ..Cell::plain(Engine::Null, block, 1) };
        let order = Order::of_cell(&data, &cell).unwrap();
        let block = if whole { u64::MAX } else { u64::from(block) };
        let expected: Vec<ReadSpan> = list
            .iter()
            .flat_map(|object| {
                let bytes = sizes[*object];
                (0..bytes.div_ceil(block)).map(move |number| {
                    let offset = number * block;
                    ReadSpan { object: *object as u32, offset, len: block.min(bytes - offset) }
                })
            })
            .collect();
        prop_assert_eq!(order.tickets_per_epoch(), expected.len() as u64);
        prop_assert_eq!(order.bytes_per_epoch(), expected.iter().map(|span| span.len).sum::<u64>());
        let begins = begins % (1 << 40);
        for ticket in begins..begins + 2 * expected.len() as u64 {
            prop_assert_eq!(order.at(ticket), expected[(ticket % expected.len() as u64) as usize]);
        }
    }

    #[test]
    fn the_hash_depends_on_the_order_of_a_list(
        list in prop::collection::vec(0_usize..6, 1..40), (from, to) in (0_usize..40, 0_usize..40),
    ) {
        let sizes = [1_000; 6];
        let mut other = list.clone();
        other.swap(from % list.len(), to % list.len());
        let cell = Cell { access: Access::List, ..Cell::plain(Engine::Null, 100, 1) };
        let hash = |list: &[usize]| crate::plan_hash(&by_list(&sizes, list), &cell);
        prop_assert_eq!(hash(&list) == hash(&other), list == other);
        let longer = [&list[..], &list[..1]].concat();
        prop_assert_ne!(hash(&list), hash(&longer));
    }
}
