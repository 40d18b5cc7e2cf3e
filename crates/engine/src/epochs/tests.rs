use super::*;

const NUMBERING: Numbering = Numbering { first_ticket: 70, tickets: 10, ops: 8 };

/// Operations that ended at one time: all, those that ended well, their bytes, and those of a cache tier.
fn ended(done_ns: u64, [ended, ops, bytes, tier_bytes]: [u64; 4]) -> EpochCount {
    EpochCount { ended, ops, bytes, tier_bytes, ..EpochCount::at(done_ns) }
}

#[test]
fn tickets_fall_into_epochs_from_where_the_repetition_begins() {
    let mut begun = Begun::new(NUMBERING);
    let issue = |begun: &mut Begun, ticket: u64, now_ns: u64| {
        let entered = if begun.stays(ticket) { None } else { begun.go_to(ticket, now_ns) };
        (entered, begun.current())
    };
    assert_eq!(issue(&mut begun, 72, 5), (Some(0), 0));
    assert_eq!(issue(&mut begun, 79, 6), (None, 0));
    assert_eq!(issue(&mut begun, 90, 7), (Some(2), 2), "another worker has all of the epoch between");
    assert_eq!(issue(&mut begun, 78, 8), (None, 0), "back to one that it has begun");
    assert_eq!(issue(&mut begun, 99, 9), (None, 2));
    assert_eq!(begun.into_times(), [Some(5), None, Some(7)]);
}

#[test]
fn epochs_beyond_those_kept_are_one() {
    let mut begun = Begun::new(NUMBERING);
    let last = 70 + u64::from(EPOCHS_KEPT) * 10;
    assert_eq!(begun.go_to(last - 1, 1), Some(EPOCHS_KEPT - 1));
    assert_eq!(begun.go_to(last, 2), None);
    assert!(begun.stays(last + 1_000_000));
    assert_eq!(begun.current(), EPOCHS_KEPT);
    let mut counts = Vec::new();
    count(&mut counts, EPOCHS_KEPT, &ended(1, [1, 1, 1, 0]));
    assert!(counts.is_empty());
}

#[test]
fn workers_add_up_and_the_first_to_begin_says_when() {
    let (mut one, mut two) = (Vec::new(), Vec::new());
    count(&mut one, 0, &ended(40, [3, 3, 30, 0]));
    count(&mut one, 0, &ended(60, [1, 0, 0, 0]));
    count(&mut two, 0, &ended(50, [4, 4, 40, 20]));
    count(&mut two, 1, &ended(90, [1, 1, 10, 0]));
    let begun = [vec![Some(35)], vec![Some(20), Some(80)]];
    let workers = || begun.iter().map(Vec::as_slice).zip([one.as_slice(), two.as_slice()]);
    let around =
        Around { first_batch_ns: vec![Some(70)], storage_bytes: vec![Some(4_096), None], tier: true };
    let epochs = merge(NUMBERING, false, 30, workers(), &around);
    let first = Epoch {
        epoch: 0,
        begun_ns: 0,
        first_ns: 10,
        first_batch_ns: Some(40),
        ended_ns: 30,
        ops: 7,
        bytes: 70,
        storage_bytes: Some(4_096),
        tier_bytes: Some(20),
        complete: true,
    };
    assert_eq!(epochs[0], first, "one of eight failed, and the window opened after it had begun");
    assert_eq!((epochs.len(), epochs[1].begun_ns, epochs[1].complete), (2, 50, false));
    let none_whole = Numbering { ops: 9, ..NUMBERING };
    assert_eq!(merge(none_whole, false, 30, workers(), &around), []);
    assert_eq!(merge(none_whole, true, 30, workers(), &around).len(), 2);
}
