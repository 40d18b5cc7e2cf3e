use std::collections::VecDeque;

use dataset::Permutation;
use proptest::prelude::*;

use super::*;

fn block(number: u64) -> Block {
    Block { object: (number / 4) as u32, offset: number % 4 * 4_096 }
}

/// Reads a block as the queue does, with a cache that is filled at once; returns whether it was there.
fn read(directory: &mut Directory, number: u64) -> bool {
    if let Some(slot) = directory.hit(block(number)) {
        directory.release(slot);
        return true;
    }
    if let Some(fill) = directory.begin_fill(block(number)) {
        directory.end_fill(fill.slot, true);
    }
    false
}

/// Share of hits in each of some epochs over `blocks` with a cache of `slots`.
fn hit_shares(policy: TierPolicy, (blocks, slots): (u64, u32), order: impl Fn(u64, u64) -> u64) -> Vec<f64> {
    let mut directory = Directory::new(policy, slots, 7);
    let epoch = |epoch: u64| {
        let hits = (0..blocks).filter(|index| read(&mut directory, order(epoch, *index))).count();
        hits as f64 / blocks as f64
    };
    (0..8).map(epoch).collect()
}

#[test]
fn shuffled_epochs_hit_an_lru_cache_as_the_formula_says() {
    // Of a block at place x of an epoch and y of the next, n(1 - x + y - (1 - x)y) distinct ones lie between; the share of
    // pairs with fewer than cn is c + (1 - c) ln(1 - c).
    const BLOCKS: u64 = 20_000;
    for share in [0.25_f64, 0.5, 0.75, 0.9] {
        let shuffled = |epoch: u64, index: u64| Permutation::new(BLOCKS, 100 + epoch).at(index);
        let slots = (BLOCKS as f64 * share) as u32;
        let hits = hit_shares(TierPolicy::Lru, (BLOCKS, slots), shuffled);
        let expected = share + (1.0 - share) * (1.0 - share).ln();
        assert!(hits[0] == 0.0, "the first epoch finds nothing");
        for epoch in &hits[1..] {
            assert!((epoch - expected).abs() < 0.01, "{share}: {epoch} and not {expected}");
        }
    }
}

#[test]
fn sequential_epochs_never_hit_an_lru_cache_that_lacks_one_block_and_always_one_that_does_not() {
    let in_order = |_, index| index;
    assert_eq!(hit_shares(TierPolicy::Lru, (1_000, 999), in_order), [0.0; 8]);
    assert_eq!(hit_shares(TierPolicy::Lru, (1_000, 1_000), in_order)[1..], [1.0; 7]);
}

#[test]
fn sequential_epochs_hit_a_cache_that_drops_any_block() {
    let hits = hit_shares(TierPolicy::Random, (10_000, 5_000), |_, index| index);
    // In the long run a share h is hit where c = (h - 1) / ln h: a block survives the misses of a pass, one in each slot.
    assert!(hits[0] == 0.0);
    let settled = hits[7];
    let of_cache = (settled - 1.0) / settled.ln();
    assert!((of_cache - 0.5).abs() < 0.02, "{settled}");
}

#[test]
fn a_slot_that_is_read_makes_room_for_nothing() {
    for policy in [TierPolicy::Lru, TierPolicy::Random] {
        let mut directory = Directory::new(policy, 2, 1);
        assert!(!read(&mut directory, 0) && !read(&mut directory, 1));
        let slots = [directory.hit(block(0)).unwrap(), directory.hit(block(1)).unwrap()];
        assert_eq!(directory.begin_fill(block(2)), None, "both are being read");
        directory.release(slots[1]);
        let fill = directory.begin_fill(block(2)).unwrap();
        assert_eq!(fill, Fill { slot: slots[1], evicted: Some(block(1)) });
        assert_eq!(directory.hit(block(2)), None, "it is not written yet");
        assert_eq!(directory.begin_fill(block(2)), None, "nor written twice");
        directory.end_fill(fill.slot, false);
        assert_eq!((directory.hit(block(2)), directory.held()), (None, 1));
        assert_eq!(directory.begin_fill(block(3)), Some(Fill { slot: slots[1], evicted: None }));
    }
}

proptest! {
    #[test]
    fn an_lru_directory_holds_what_was_used_last(
        slots in 1_u32..12,
        numbers in prop::collection::vec(0_u64..20, 0..200),
    ) {
        let mut directory = Directory::new(TierPolicy::Lru, slots, 1);
        let mut model: VecDeque<u64> = VecDeque::new();
        for number in numbers {
            let place = model.iter().position(|known| *known == number);
            prop_assert_eq!(read(&mut directory, number), place.is_some());
            if let Some(place) = place {
                model.remove(place);
            } else if model.len() == slots as usize {
                model.pop_front();
            }
            model.push_back(number);
            prop_assert_eq!(directory.held(), model.len());
        }
    }

    #[test]
    fn no_slot_has_two_blocks_and_no_block_two_slots(
        slots in 1_u32..8,
        is_lru in any::<bool>(),
        steps in prop::collection::vec((0_u64..16, 0_u8..4), 0..200),
    ) {
        let policy = if is_lru { TierPolicy::Lru } else { TierPolicy::Random };
        let mut directory = Directory::new(policy, slots, 3);
        let mut content: Vec<Option<Block>> = vec![None; slots as usize];
        let (mut reading, mut filling) = (Vec::new(), Vec::new());
        for (number, step) in steps {
            match step {
                0 => if let Some(slot) = directory.hit(block(number)) {
                    prop_assert_eq!(content[slot as usize], Some(block(number)));
                    reading.push((slot, block(number)));
                },
                1 => if let Some((slot, read)) = reading.pop() {
                    prop_assert_eq!(content[slot as usize], Some(read), "what is read is not written over");
                    directory.release(slot);
                },
                2 => if let Some(fill) = directory.begin_fill(block(number)) {
                    prop_assert!(reading.iter().all(|(slot, _)| *slot != fill.slot));
                    prop_assert!(filling.iter().all(|slot| *slot != fill.slot));
                    prop_assert!(!content.contains(&Some(block(number))));
                    content[fill.slot as usize] = Some(block(number));
                    filling.push(fill.slot);
                },
                _ => if let Some(slot) = filling.pop() {
                    let is_written = number % 5 > 0;
                    if !is_written {
                        content[slot as usize] = None;
                    }
                    directory.end_fill(slot, is_written);
                },
            }
        }
    }
}
