//! Needs of writes.

use feed::{Durability, Flow, Judgement};
use record::{Device, Line, Rep, Role};

use crate::cell::flag::Flag;
use crate::fixture::{Builder, confirmation, confirmed_at, need_in_bytes, reads_of, rep};
use crate::summary::not_tested::NotTested;
use crate::verdict::NoVerdict;
use crate::{Cause, Condition, summarise};

const SECOND_NS: u64 = 1_000_000_000;

/// A need of writes, and a cell that writes, three repetitions of which reach these shares of the line.
fn written_at(of_line: &[f64]) -> Builder {
    let mut builder = confirmed_at(of_line);
    builder.run.need.writes = true;
    builder.edit_cell("c", |cell| {
        cell.operation = "write".into();
        cell.durability = Some("data".into());
    });
    builder
}

/// The device took so many bytes for each that was written, and read so many.
fn device(taken: f64, read: f64) -> impl Fn(&mut Rep) {
    move |rep| {
        let own = rep.counters["bytes"] as f64;
        rep.system.device = Some(Device {
            name: "nvme0n1".to_owned(),
            write_bytes: (own * taken) as u64,
            read_bytes: (own * read) as u64,
            wall_ns: SECOND_NS,
            ..Device::default()
        });
    }
}

#[test]
fn writes_are_held_against_a_need_of_writes_and_reads_are_not() {
    let fed = reads_of(&written_at(&[1.1, 1.11, 1.12]));
    assert_eq!(
        (fed.judgement, &fed.conditions[..]),
        (Judgement::Feeds, &[Condition::Kept(Durability::Data)][..])
    );
    assert_eq!(reads_of(&written_at(&[0.8, 0.81, 0.82])).judgement, Judgement::Starves);
    // Reads beside them that miss the line by far say nothing of it.
    let mut beside = written_at(&[1.1, 1.11, 1.12]);
    beside.cell("reads", "disk", 8);
    for number in 0..3 {
        beside.push(rep("reads", number, 0.1 * Builder::LINE_BPS));
        beside.push(confirmation("reads", number, 0.1 * Builder::LINE_BPS));
    }
    assert_eq!(reads_of(&beside).judgement, Judgement::Feeds);
    let summary = summarise(&beside.record());
    let lines: Vec<bool> = summary.cells.iter().map(|cell| cell.line.is_some()).collect();
    assert_eq!(lines, [true, false], "one line, of what is asked for");
}

#[test]
fn whole_objects_that_are_written_anew_answer_a_need_of_writes() {
    let judged = |of_line, taken, cache: &str| {
        let mut builder = written_at(&[of_line; 3]);
        builder.edit_cell("c", |cell| {
            cell.operation = "write_file".into();
            cell.cache = cache.into();
        });
        builder.edit_reps("c", |rep| {
            device(taken, 0.0)(rep);
            // Nothing of what was there before is in memory.
            rep.cache.before_bytes = Some(0);
        });
        let summary = summarise(&builder.record());
        assert!(summary.datasets[0].written_over_bytes > 0.0 && summary.datasets[0].reads == 0);
        reads_of(&builder)
    };
    for cache in ["bypass", "warm"] {
        assert_eq!(judged(1.5, 1.0, cache).judgement, Judgement::Feeds, "{cache}");
        // Names and inodes of new files have blocks of their own.
        assert_eq!(judged(0.5, 3.0, cache).judgement, Judgement::Starves, "{cache}");
        let lost = judged(1.5, 0.5, cache);
        assert!(matches!(lost.cause, Cause::Flagged(Flag::NotWritten { .. })), "{cache}: {:?}", lost.cause);
    }
}

#[test]
fn a_need_of_reads_is_not_met_by_writes() {
    let mut builder = written_at(&[1.1, 1.11, 1.12]);
    builder.run.need.writes = false;
    let summary = summarise(&builder.record());
    assert!(summary.verdicts.is_empty(), "{:?}", summary.verdicts);
    let operations = vec!["write".to_owned()];
    assert_eq!(summary.unjudged[0].reason, NoVerdict::OthersMoved { asked: Flow::Reads, operations });
}

/// A need of reads and writes at once, and a mix with this share of writes that reaches these shares of its line; of what it
/// moves, `written` is the share that was written.
fn mixed_at(of_line: &[f64], write_percent: u8, written: f64) -> Builder {
    let mut builder = confirmed_at(of_line);
    builder.run.need = need_in_bytes(0.7 * Builder::LINE_BPS);
    builder.run.need.utilization = 1.0;
    builder.run.need.write_bytes_per_s = Some(0.3 * Builder::LINE_BPS);
    builder.edit_cell("c", |cell| {
        cell.operation = "mix".into();
        cell.durability = Some("data".into());
        cell.write_percent = Some(write_percent);
    });
    builder.edit_reps("c", |rep| {
        let bytes = rep.counters["bytes"] as f64 * written;
        rep.counters.insert("written_bytes".to_owned(), bytes as u64);
    });
    builder
}

#[test]
fn a_need_of_both_is_judged_by_what_does_both_at_once() {
    let judged = |of_line: f64, percent, written| {
        let reads = reads_of(&mixed_at(&[of_line, of_line + 0.01, of_line + 0.02], percent, written));
        (reads.judgement, reads.conditions)
    };
    let (judgement, conditions) = judged(1.1, 30, 0.3);
    assert_eq!(judgement, Judgement::Feeds);
    let [Condition::Mixed { read_bps, write_bps }, Condition::Kept(Durability::Data)] = conditions[..] else {
        panic!("{conditions:?}")
    };
    assert!((read_bps / write_bps - 7.0 / 3.0).abs() < 1e-3, "{read_bps} {write_bps}");
    assert_eq!(judged(0.9, 30, 0.3).0, Judgement::Starves);
    // Of a tenth that is written the writes need the whole to be three times as much.
    assert_eq!(judged(1.1, 10, 0.1).0, Judgement::Starves);
    assert_eq!(judged(3.1, 10, 0.1).0, Judgement::Feeds);
    // More reads than were to be are no writes.
    assert_eq!(judged(1.1, 30, 0.2).0, Judgement::Starves);
}

#[test]
fn of_several_shares_the_one_that_the_need_has_is_judged() {
    let mut builder = mixed_at(&[1.1, 1.11, 1.12], 30, 0.3);
    // Of the whole that is asked for a half is not written: it would have to be faster, and is not.
    builder.cell("half", "disk", 8);
    builder.edit_cell("half", |cell| {
        cell.operation = "mix".into();
        cell.durability = Some("data".into());
        cell.write_percent = Some(50);
    });
    for number in 0..3 {
        let mut one = rep("half", number, 1.2 * Builder::LINE_BPS);
        one.counters.insert("written_bytes".to_owned(), one.counters["bytes"] / 2);
        builder.push(one);
    }
    let reads = reads_of(&builder);
    assert_eq!((reads.judgement, reads.cell.as_deref()), (Judgement::Feeds, Some("c")));
    assert!(matches!(reads.unreached[..], [crate::Unreached::Otherwise { .. }]), "{:?}", reads.unreached);
    // And it is the one to be measured afresh.
    builder.lines.retain(|line| matches!(line, Line::Rep(rep) if rep.role == Role::Measure));
    let summary = summarise(&builder.record());
    assert_eq!(crate::choose_cell(&summary, "disk").unwrap().cell.cell, "c");
}

#[test]
fn reads_alone_and_writes_alone_do_not_answer_a_need_of_both() {
    for operation in ["read", "write"] {
        let mut builder = mixed_at(&[5.0; 3], 30, 0.3);
        builder.edit_cell("c", |cell| {
            cell.operation = operation.into();
            cell.write_percent = None;
        });
        let summary = summarise(&builder.record());
        assert!(summary.verdicts.is_empty(), "{operation}: {:?}", summary.verdicts);
        assert!(summary.cells.iter().all(|cell| cell.line.is_none()));
    }
    let mut damaged = mixed_at(&[5.0; 3], 30, 0.3);
    damaged.edit_cell("c", |cell| cell.write_percent = None);
    assert!(summarise(&damaged.record()).verdicts.is_empty(), "a mix of unknown shares");
}

#[test]
fn a_mix_of_a_share_that_cannot_be_is_told_from_none() {
    for percent in [None, Some(0), Some(100), Some(200)] {
        let mut damaged = mixed_at(&[5.0; 3], 30, 0.3);
        damaged.edit_cell("c", |cell| cell.write_percent = percent);
        let summary = summarise(&damaged.record());
        assert_eq!(summary.unjudged[0].reason, NoVerdict::NoShare { percent });
    }
}

#[test]
fn a_mix_that_does_not_say_what_it_wrote_is_no_measurement() {
    for written in [None, Some(u64::MAX)] {
        let mut damaged = mixed_at(&[5.0; 3], 30, 0.3);
        damaged.edit_reps("c", |rep| {
            rep.counters.remove("written_bytes");
            rep.counters.extend(written.map(|bytes| ("written_bytes".to_owned(), bytes)));
        });
        let verdict = reads_of(&damaged);
        assert_eq!(verdict.judgement, Judgement::Uncertain, "{written:?}: {:?}", verdict.cause);
    }
}

#[test]
fn a_window_into_which_no_write_fell_is_too_short_and_no_failure() {
    for (written, part) in [(0.0, "writes"), (1.0, "reads")] {
        for of_line in [0.5, 1.5] {
            let verdict = reads_of(&mixed_at(&[of_line; 3], 30, written));
            assert!(!verdict.has_failed(), "{part}: {:?}", verdict.cause);
            assert_eq!(verdict.judgement, Judgement::Uncertain, "{part} at {of_line}: {:?}", verdict.cause);
        }
    }
}

#[test]
fn a_paced_mix_counts_by_the_part_that_lacks_most_too() {
    let judged = |written| {
        let mut builder = mixed_at(&[1.0; 3], 30, written);
        builder.pace("c", 1.0, 1.0);
        summarise(&builder.record()).cells[0].figures().unwrap().of_line.unwrap()
    };
    assert!((judged(0.3) - 1.0).abs() < 1e-3);
    assert!(judged(0.2) < 0.7, "a third of the writes is missing");
}

#[test]
fn the_device_of_a_mix_is_held_against_both_its_parts() {
    let judged = |of_line, taken, read| {
        let mut builder = mixed_at(&[of_line; 3], 30, 0.3);
        builder.edit_reps("c", |rep| {
            device(taken, read)(rep);
            rep.system.process_read_bytes = Some(rep.counters["bytes"] / 10 * 7);
            rep.usage.wall_ns = SECOND_NS;
        });
        let reads = reads_of(&builder);
        (reads.judgement, reads.cause)
    };
    assert_eq!(judged(1.5, 0.3, 0.7).0, Judgement::Feeds);
    let lost = judged(1.5, 0.1, 0.7);
    assert!(matches!(lost.1, Cause::Flagged(Flag::NotWritten { .. })), "{lost:?}");
    assert_eq!(judged(0.5, 0.3, 0.7).0, Judgement::Starves);
    let crowded = judged(0.5, 0.3, 1.4);
    assert!(matches!(crowded.1, Cause::Flagged(Flag::OthersRead { .. })), "{crowded:?}");
}

#[test]
fn what_a_mix_moves_is_told_as_read_and_as_written() {
    let data = &summarise(&mixed_at(&[1.1, 1.11, 1.12], 30, 0.3).record()).datasets[0];
    let read = data.reads_per_byte.unwrap() * data.dataset.bytes as f64;
    assert!((read / data.written_over_bytes - 7.0 / 3.0).abs() < 1e-3, "{data:?}");
    assert!(data.reads > 0 && data.written_bytes == 0);
}

#[test]
fn writes_that_the_device_did_not_take_feed_nothing() {
    let judged = |of_line, taken| {
        let mut builder = written_at(&[of_line; 3]);
        builder.edit_reps("c", device(taken, 0.0));
        reads_of(&builder)
    };
    assert_eq!(judged(1.5, 1.0).judgement, Judgement::Feeds);
    assert_eq!(judged(1.5, 0.91).judgement, Judgement::Feeds);
    let lost = judged(1.5, 0.5);
    assert_eq!(lost.judgement, Judgement::Uncertain);
    assert!(matches!(lost.cause, Cause::Flagged(Flag::NotWritten { .. })), "{:?}", lost.cause);
    assert_eq!(judged(0.5, 0.5).judgement, Judgement::Starves, "they would have been slower");
}

/// Writes on a device of which the record says these facts, with so many flushes of so many nanoseconds in each repetition.
fn flushed(of_line: f64, facts: [(&str, &str); 3], flushes: Option<u64>, flush_ns: u64) -> Builder {
    let mut builder = written_at(&[of_line; 3]);
    builder.run.targets[0].facts.extend(facts.map(|(name, value)| record::testing::fact(name, value)));
    builder.edit_reps("c", |rep| {
        device(1.0, 0.0)(rep);
        let device = rep.system.device.as_mut().unwrap();
        device.flushes = flushes;
        device.flush_ns = flushes.map(|count| count * flush_ns);
    });
    builder
}

const TURNS: [(&str, &str); 3] =
    [("device_write_cache", "write back"), ("device_fua", "0"), ("device_rotational", "1")];

#[test]
fn writes_that_no_flush_can_have_kept_feed_nothing() {
    let builder = written_at(&[1.5; 3]);
    let (ops, depth) = (builder.record().lines.iter().find_map(ops).unwrap(), 8);
    let needed = ops / depth;
    let judged = |of_line, facts, flushes| reads_of(&flushed(of_line, facts, flushes, 5_000_000));
    assert_eq!(judged(1.5, TURNS, Some(needed)).judgement, Judgement::Feeds);
    assert_eq!(
        judged(1.5, TURNS, Some(needed * 6 / 10)).judgement,
        Judgement::Feeds,
        "at the ends of windows"
    );
    for flushes in [0, needed * 4 / 10] {
        let lost = judged(1.5, TURNS, Some(flushes));
        assert_eq!(lost.judgement, Judgement::Uncertain);
        assert!(matches!(lost.cause, Cause::Flagged(Flag::NotFlushed { .. })), "{:?}", lost.cause);
        assert_eq!(
            judged(0.5, TURNS, Some(flushes)).judgement,
            Judgement::Starves,
            "they would have been slower"
        );
    }
    // What cannot be known is not held against it: a device that counts none, one without a cache, one that can go past it.
    assert_eq!(judged(1.5, TURNS, None).judgement, Judgement::Feeds);
    let [_, fua, turns] = TURNS;
    let through = [("device_write_cache", "write through"), fua, turns];
    assert_eq!(judged(1.5, through, Some(0)).judgement, Judgement::Feeds);
    let past = [TURNS[0], ("device_fua", "1"), turns];
    assert_eq!(judged(1.5, past, Some(0)).judgement, Judgement::Feeds);
    // Flushes of a part of the window say nothing of all of it.
    let mut short = flushed(1.5, TURNS, Some(needed * 4 / 10), 5_000_000);
    short.edit_reps("c", |rep| rep.system.device.as_mut().unwrap().wall_ns = SECOND_NS * 4 / 10);
    assert_eq!(reads_of(&short).judgement, Judgement::Feeds);
    // Nothing was promised.
    let mut unpromised = flushed(1.5, TURNS, Some(0), 1);
    unpromised.edit_cell("c", |cell| cell.durability = Some("none".into()));
    assert_eq!(reads_of(&unpromised).judgement, Judgement::Feeds);
}

/// Operations of a repetition.
fn ops(line: &record::Line) -> Option<u64> {
    match line {
        record::Line::Rep(rep) => rep.counters.get("ops").copied(),
        _ => None,
    }
}

#[test]
fn a_flush_that_is_quicker_than_a_turn_is_said() {
    let said = |facts, flush_ns| {
        let summary = summarise(&flushed(1.5, facts, Some(1_000_000), flush_ns).record());
        summary.cells[0].flags().into_iter().any(|flag| matches!(flag, Flag::FlushedAtOnce { .. }))
    };
    assert!(said(TURNS, 15_000) && !said(TURNS, 4_000_000));
    assert!(!said([TURNS[0], TURNS[1], ("device_rotational", "0")], 15_000), "flash may be as quick");
    assert_eq!(reads_of(&flushed(1.5, TURNS, Some(1_000_000), 15_000)).judgement, Judgement::Feeds);
}

#[test]
fn others_that_read_meanwhile_forbid_starves_alone() {
    let judged = |of_line, read| {
        let mut builder = written_at(&[of_line; 3]);
        builder.edit_reps("c", device(1.0, read));
        reads_of(&builder)
    };
    assert_eq!(judged(0.5, 0.1).judgement, Judgement::Starves, "9.1 % of what the device moved");
    let crowded = judged(0.5, 0.5);
    assert_eq!(crowded.judgement, Judgement::Uncertain);
    assert!(matches!(crowded.cause, Cause::Flagged(Flag::OthersRead { .. })), "{:?}", crowded.cause);
    assert_eq!(judged(1.5, 0.5).judgement, Judgement::Feeds);
}

#[test]
fn others_that_write_meanwhile_forbid_starves_alone() {
    let judged = |of_line, taken, cache: &str| {
        let mut builder = written_at(&[of_line; 3]);
        builder.edit_cell("c", |cell| {
            cell.block_bytes = 1 << 20;
            cell.cache = cache.into();
        });
        builder.edit_reps("c", |rep| {
            device(taken, 0.0)(rep);
            let is_warm = cache == "warm";
            rep.cache.before_bytes = Some(if is_warm { rep.cache.total_bytes } else { 0 });
        });
        reads_of(&builder)
    };
    assert_eq!(judged(0.5, 1.12, "bypass").judgement, Judgement::Starves, "a journal, and 8 % of others");
    let crowded = judged(0.5, 1.64, "bypass");
    assert_eq!(crowded.judgement, Judgement::Uncertain);
    let Cause::Flagged(Flag::OthersWrote { share }) = crowded.cause else { panic!("{:?}", crowded.cause) };
    assert!((share - 0.37).abs() < 5e-3, "{share}");
    assert_eq!(judged(1.5, 1.64, "bypass").judgement, Judgement::Feeds);
    assert_eq!(judged(0.5, 1.64, "warm").judgement, Judgement::Starves, "whole pages for parts of them");
}

#[test]
fn small_writes_are_not_taken_for_those_of_others() {
    let mut builder = written_at(&[0.5; 3]);
    builder.edit_cell("c", |cell| cell.block_bytes = 4096);
    // A journal of 16 KiB for each.
    builder.edit_reps("c", device(5.0, 0.3));
    assert_eq!(reads_of(&builder).judgement, Judgement::Starves);
}

#[test]
fn the_device_is_held_against_the_repetitions_in_which_it_was_counted() {
    let mut builder = written_at(&[1.5; 3]);
    builder.edit_reps("c", |rep| {
        device(1.0, 0.0)(rep);
        rep.system.device = rep.system.device.take().filter(|_| rep.rep > 0);
    });
    assert_eq!(reads_of(&builder).judgement, Judgement::Feeds);
}

#[test]
fn writes_of_which_nothing_is_promised_stand_in_for_none_that_are_kept() {
    let judged = |of_line, taken, loose: f64| {
        let mut builder = written_at(&[of_line; 3]);
        builder.edit_reps("c", device(taken, 0.0));
        builder.cell("loose", "disk", 8);
        builder.edit_cell("loose", |cell| {
            cell.operation = "write".into();
            cell.durability = Some("none".into());
        });
        for number in 0..3 {
            builder.push(rep("loose", number, loose * Builder::LINE_BPS));
        }
        let verdict = reads_of(&builder);
        (verdict.judgement, verdict.conditions)
    };
    let kept = Condition::Kept(Durability::Data);
    let of = |judgement, (found, conditions): (Judgement, Vec<Condition>)| {
        assert_eq!(found, judgement);
        assert!(conditions.contains(&kept), "{conditions:?}");
    };
    of(Judgement::Starves, judged(0.8, 1.0, 1.5));
    of(Judgement::Uncertain, judged(1.5, 0.5, 1.5));
    of(Judgement::Feeds, judged(1.5, 1.0, 0.5));
}

#[test]
fn what_a_short_run_of_writes_leaves_open_is_flash_and_no_decoding() {
    let summary = summarise(&written_at(&[1.1, 1.11, 1.12]).record());
    assert!(summary.not_tested.contains(&NotTested::SteadyFlash));
    let of_reads = |one: &NotTested| matches!(one, NotTested::Opening { .. } | NotTested::Decode { .. });
    assert!(!summary.not_tested.iter().any(of_reads), "{:?}", summary.not_tested);
    assert!(summary.datasets[0].written_over_bytes > 0.0 && summary.datasets[0].reads == 0);
}

#[test]
fn a_mix_leaves_open_what_reads_do_and_flash_too() {
    let found = summarise(&mixed_at(&[1.1, 1.11, 1.12], 30, 0.3).record()).not_tested;
    let no_decode = NotTested::Decode { cost: false, checksum: false };
    for one in [NotTested::SteadyFlash, NotTested::Opening { opens: 0 }, no_decode] {
        assert!(found.contains(&one), "{one:?}: {found:?}");
    }
}

/// Whether `cache open` stands in the row of the verdict, and whether OPEN names a cache.
fn caches(builder: &Builder) -> (bool, bool) {
    let summary = summarise(&builder.record());
    let in_row = summary.verdicts[0].scopes().any(|scope| !scope.caches_open.is_empty());
    (in_row, summary.not_tested.iter().any(|one| matches!(one, NotTested::CachesBelow { .. })))
}

#[test]
fn a_cache_stands_in_the_row_of_a_verdict_where_it_is_said_to_be_open() {
    let of_format = |mut builder: Builder| {
        builder.run.format.minor = 12;
        builder
    };
    let mut writes = of_format(written_at(&[1.1, 1.11, 1.12]));
    assert_eq!(caches(&writes), (false, false), "no cache serves writes that are kept");
    // Reads beside them, again and again, of which the verdict says nothing.
    writes.cell("reads", "disk", 8);
    (0..3).for_each(|number| writes.push(rep("reads", number, Builder::LINE_BPS)));
    assert_eq!(caches(&writes), (false, false));
    assert_eq!(caches(&of_format(mixed_at(&[1.1, 1.11, 1.12], 30, 0.3))), (true, true));
    assert_eq!(caches(&of_format(confirmed_at(&[1.1, 1.11, 1.12]))), (true, true));
    // Read once each, of data that were just written.
    let mut once = of_format(mixed_at(&[1.1], 30, 0.3));
    once.lines.truncate(1);
    assert_eq!(caches(&once), (true, true));
}

#[test]
fn of_writes_of_which_nothing_is_promised_it_is_open_whether_they_are_kept() {
    let with = |durability: &'static str| {
        let mut builder = written_at(&[1.1, 1.11, 1.12]);
        builder.run.format.minor = 12;
        builder.edit_cell("c", |cell| cell.durability = Some(durability.into()));
        let found = summarise(&builder.record());
        let is_open = !found.verdicts[0].scopes().all(|scope| scope.caches_open.is_empty());
        (is_open, found.not_tested.contains(&NotTested::Kept { targets: vec!["disk".to_owned()] }))
    };
    assert_eq!(["none", "data"].map(with), [(true, true), (false, false)]);
}
