use proptest::prelude::*;
use record::{Epoch, Tier};

use crate::fixture::{Builder, rep};
use crate::{CellEpochs, EpochNote, summarise};

const BYTES: u64 = 1_000_000_000;

fn epoch(epoch: u64, begun_ns: u64, ended_ns: u64) -> Epoch {
    Epoch {
        epoch,
        begun_ns,
        first_ns: begun_ns + 5_000_000,
        first_batch_ns: None,
        ended_ns,
        ops: 10_000,
        bytes: BYTES,
        storage_bytes: Some(BYTES),
        tier_bytes: None,
        complete: true,
    }
}

/// A cell that made two epochs of 500 ms and 400 ms, 10 ms apart, in each of three repetitions.
fn two(edit: impl Fn(&mut Epoch)) -> Builder {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.edit_cell("c", |cell| cell.cache = "cold_start".into());
    for number in 0..3 {
        let mut one = rep("c", number, 2e9);
        one.epochs = vec![epoch(0, 0, 500_000_000), epoch(1, 510_000_000, 910_000_000)];
        one.epochs.iter_mut().for_each(&edit);
        builder.push(one);
    }
    builder
}

fn figures(builder: &Builder) -> CellEpochs {
    summarise(&builder.record()).epochs[0].clone()
}

fn tier(builder: &mut Builder, access: &str, policy: &str, share: f64) {
    builder.edit_cell("c", |cell| {
        cell.access = access.into();
        let capacity_bytes = (share * BYTES as f64) as u64;
        cell.tier = Some(Tier { at: "/cache".to_owned(), capacity_bytes, policy: policy.to_owned() });
    });
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}

#[test]
fn a_record_without_epochs_has_none() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.push(rep("c", 0, 1e9));
    assert!(summarise(&builder.record()).epochs.is_empty());
}

#[test]
fn a_pass_is_its_bytes_by_the_time_from_its_first_operation_to_the_end_of_its_last() {
    let found = figures(&two(|_| {}));
    let rates: Vec<f64> = found.epochs.iter().map(|epoch| epoch.bps.mean).collect();
    assert!(is_near(rates[0], 2e9) && is_near(rates[1], 2.5e9), "{rates:?}");
    assert_eq!(found.epochs[0].gap_s, None);
    assert!(is_near(found.epochs[1].gap_s.unwrap().mean, 0.01));
    assert!(is_near(found.epochs[1].first_s.mean, 0.005) && found.epochs[0].bps.interval.is_some());
}

#[test]
fn one_epoch_alone_has_its_figures_and_no_gap() {
    let mut builder = two(|_| {});
    builder.edit_reps("c", |rep| rep.epochs.truncate(1));
    let found = figures(&builder);
    assert_eq!((found.epochs.len(), found.epochs[0].gap_s), (1, None));
}

#[test]
fn reads_past_the_page_cache_have_no_share_of_it() {
    for storage_bytes in [BYTES / 4, 2 * BYTES] {
        let mut builder = two(|one| one.storage_bytes = Some(storage_bytes));
        builder.edit_cell("c", |cell| cell.cache = "bypass".into());
        let found = figures(&builder);
        assert!(found.epochs.iter().all(|epoch| epoch.cache_share.is_none()));
        assert_eq!(found.notes, []);
    }
}

#[test]
fn a_checkpoint_that_is_read_back_is_no_epoch() {
    let mut builder = two(|_| {});
    builder.edit_cell("c", |cell| cell.operation = "restore".into());
    assert!(summarise(&builder.record()).epochs.is_empty());
}

#[test]
fn passes_that_are_under_way_together_say_why_each_is_slower_than_the_cell() {
    let begun = |begun_ns: u64| {
        figures(&two(|one| {
            if one.epoch == 1 {
                one.begun_ns = begun_ns;
            }
        }))
        .notes
    };
    assert_eq!(begun(490_000_000), [], "2 % of it are no news");
    let notes = begun(100_000_000);
    assert!(matches!(notes[..], [EpochNote::Overlap { share }] if (share - 0.49).abs() < 0.005), "{notes:?}");
}

#[test]
fn what_storage_was_not_asked_for_came_from_a_cache() {
    let share = |bytes: Option<u64>| {
        let found = figures(&two(|one| one.storage_bytes = bytes));
        found.epochs[0].cache_share.map(|rate| rate.mean)
    };
    assert_eq!(share(Some(0)), Some(1.0));
    assert_eq!(share(Some(BYTES / 4)), Some(0.75));
    assert_eq!(share(None), None);
}

#[test]
fn read_ahead_is_no_negative_share_and_is_said() {
    let found = figures(&two(|one| one.storage_bytes = Some(2 * BYTES)));
    assert_eq!(found.epochs[0].cache_share.map(|rate| rate.mean), Some(0.0));
    assert_eq!(found.notes, [EpochNote::Amplified { factor: 2.0 }]);
}

#[test]
fn a_pass_that_one_repetition_made_whole_is_not_mixed_with_those_that_were_cut() {
    let mut builder = two(|_| {});
    builder.edit_reps("c", |rep| {
        if rep.rep > 0 {
            (rep.epochs[1].complete, rep.epochs[1].bytes) = (false, 1_000);
        }
    });
    let found = figures(&builder);
    assert_eq!((found.epochs[1].repetitions, found.epochs[1].complete), (1, true));
    assert!(is_near(found.epochs[1].bps.mean, 2.5e9));
}

#[test]
fn the_hits_of_a_tier_stand_beside_what_its_order_and_policy_foretell() {
    let predicted = |access: &str, policy: &str, share: f64| {
        let mut builder = two(|one| one.tier_bytes = Some(BYTES / 5));
        tier(&mut builder, access, policy, share);
        let found = figures(&builder);
        assert!(found.epochs[1].tier_hits.is_some_and(|rate| is_near(rate.mean, 0.2)));
        (found.epochs[0].predicted_hits, found.epochs[1].predicted_hits)
    };
    assert_eq!(predicted("sequential", "lru", 0.5), (Some(0.0), Some(0.0)));
    assert_eq!(predicted("sequential", "lru", 2.0), (Some(0.0), Some(1.0)));
    assert_eq!(predicted("random", "lru", 0.5), (None, Some(0.5)));
    let lru = feed::formula::hits(feed::CacheOrder::Permuted, feed::TierPolicy::Lru, 0.5);
    assert_eq!(predicted("shuffled_shards", "lru", 0.5), (Some(0.0), Some(lru)));
    let random = feed::formula::hits(feed::CacheOrder::Permuted, feed::TierPolicy::Random, 0.5);
    assert_eq!(predicted("shuffled_epoch", "random", 0.5), (Some(0.0), Some(random)));
    assert_eq!(predicted("shuffled_epoch", "clock", 0.5), (None, None));
}

#[test]
fn a_tier_that_had_no_time_to_keep_what_it_missed_says_so() {
    let of = |skipped: u64| {
        let mut builder = two(|one| one.tier_bytes = Some(BYTES / 5));
        tier(&mut builder, "shuffled_epoch", "lru", 0.5);
        builder.edit_reps("c", |rep| {
            rep.counters.insert(record::counter::TIER_MISSES.to_owned(), 1_000);
            rep.counters.insert(record::counter::TIER_SKIPPED.to_owned(), skipped);
        });
        figures(&builder).notes
    };
    assert!(of(430).contains(&EpochNote::Skipped { share: 0.43 }), "{:?}", of(430));
    assert!(!of(9).iter().any(|note| matches!(note, EpochNote::Skipped { .. })));
}

#[test]
fn a_page_cache_of_unknown_size_foretells_nothing() {
    let found = figures(&two(|_| {}));
    assert_eq!(found.notes, []);
    assert!(found.epochs.iter().all(|epoch| epoch.predicted_hits.is_none()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_a_record_claims_no_figure_is_not_a_number(
        times in prop::collection::vec(any::<u64>(), 4),
        bytes in prop::collection::vec(any::<u64>(), 4),
        number in any::<u64>()
    ) {
        let builder = two(|one| {
            (one.begun_ns, one.first_ns, one.ended_ns) = (times[0], times[1], times[2]);
            (one.first_batch_ns, one.bytes) = (Some(times[3]), bytes[0]);
            (one.storage_bytes, one.tier_bytes) = (Some(bytes[1]), Some(bytes[2]));
            one.epoch = one.epoch.saturating_add(number);
        });
        for epoch in summarise(&builder.record()).epochs.iter().flat_map(|one| &one.epochs) {
            let shares = [epoch.cache_share, epoch.tier_hits, epoch.first_batch_s, epoch.gap_s].into_iter().flatten();
            let means = shares.map(|rate| rate.mean).chain([epoch.bps.mean, epoch.first_s.mean]);
            prop_assert!(means.into_iter().all(f64::is_finite), "{epoch:?}");
        }
    }
}
