use proptest::prelude::*;
use record::{Captured, Elsewhere, Line, Outcome, Run, testing};

use super::against::command_for;
use super::read_verdict::ReadVerdict;
use super::scope::{Evidence, LoadScope};
use super::*;
use crate::cell::flag::Flag;
use crate::cell::gap::{GapCause, JobGap};
use crate::cell::training::bound::Bound;
use crate::fixture::{Builder, ceiling, confirmation, confirmed_at, confirmed_job, rep};
use crate::{fixture, summarise};

fn verdict_of(builder: &Builder) -> ReadVerdict {
    fixture::reads_of(builder)
}

/// The flag that leaves a verdict open.
fn flag_of(builder: &Builder) -> Flag {
    let verdict = verdict_of(builder);
    assert_eq!(verdict.judgement, Judgement::Uncertain);
    let Cause::Flagged(flag) = verdict.cause else { panic!("{:?}", verdict.cause) };
    flag
}

#[test]
fn the_line_is_cleared_by_the_lower_bound() {
    let verdict = verdict_of(&confirmed_at(&[1.1, 1.1, 1.1]));
    assert_eq!((verdict.judgement, verdict.cause), (Judgement::Feeds, Cause::Clears { first: true }));
    let scope = verdict.scope.unwrap();
    assert_eq!(scope.load, LoadScope::Closed { outstanding: 8, accelerators: 8 });
    assert!(!scope.caches_open.is_empty() && scope.hosts_open() == 0);
    let verdict = verdict_of(&confirmed_at(&[1.0, 1.1, 1.2]));
    assert_eq!(verdict.judgement, Judgement::Uncertain, "the mean clears, the lower bound does not");
}

#[test]
fn processes_of_a_launcher_count_as_the_machines_that_they_ran_on_and_judge_nothing_where_they_broke() {
    let member =
        |machine| record::Member { host: String::new(), machine, clock_ahead_ns: 0, clock_uncertainty_ns: 0 };
    let mut builder = confirmed_at(&[1.1, 1.1, 1.1]);
    builder.run.team =
        Some(record::Team { launcher: "Slurm".to_owned(), members: [0, 0, 1].map(member).to_vec() });
    let mut record = builder.record();
    record.lines.retain(|line| !matches!(line, Line::End(_)));
    let judged = |record: &record::RunRecord| {
        let summary = summarise(record);
        (summary.verdicts, summary.unjudged.into_iter().map(|one| one.reason).collect::<Vec<_>>())
    };
    // Rank 0 was lost, so that no last line was written.
    assert_eq!(judged(&record), (Vec::new(), vec![NoVerdict::TeamBroke]));
    record.lines.push(Line::End(record::End { interrupted: true, ..record::End::default() }));
    assert_eq!(judged(&record), (Vec::new(), vec![NoVerdict::TeamBroke]));
    let said = summarise(&record).notes;
    assert!(!said.contains(&crate::summary::note::Note::Interrupted), "no signal is blamed: {said:?}");
    record.lines.pop();
    record.lines.push(Line::End(record::End::default()));
    let (verdicts, unjudged) = judged(&record);
    assert_eq!((verdicts[0].judgement(), unjudged), (Judgement::Feeds, Vec::new()));
    assert_eq!(verdicts[0].of_reads().unwrap().scope.as_ref().unwrap().hosts_measured, 2);
}

#[test]
fn starving_says_by_how_much_and_what_is_fed() {
    let verdict = verdict_of(&confirmed_at(&[0.8, 0.81, 0.79]));
    assert_eq!(verdict.judgement, Judgement::Starves);
    // The lower bound is 0.775 of the line: 6 of 8.
    assert_eq!(
        (verdict.feeds, verdict.feeds_by_division(), verdict.feeds_at_least()),
        (Some(6), Some(6), false)
    );
    assert!(matches!(verdict.cause, Cause::Short { share, shape: None } if (share - 0.2).abs() < 1e-6));
}

#[test]
fn accelerators_are_counted_only_where_the_need_names_them() {
    let mut builder = confirmed_at(&[1.1; 3]);
    let verdict = verdict_of(&builder);
    assert_eq!((verdict.feeds, verdict.feeds_by_division()), (Some(8), None), "those are confirmed");
    builder.run.need.accelerators = 0;
    assert_eq!(verdict_of(&builder).feeds, None);
}

#[test]
fn a_straddling_interval_says_so() {
    let verdict = verdict_of(&confirmed_at(&[0.95, 1.0, 1.05]));
    assert_eq!(verdict.judgement, Judgement::Uncertain);
    assert!(matches!(verdict.cause, Cause::Straddles { made: 3, rounds: None, command: None, .. }));
}

#[test]
fn an_open_verdict_is_told_how_many_more_rounds_may_decide_it() {
    let judged = |most: u32, best: f64| {
        let mut builder = confirmed_at(&[0.95, 0.97, best]);
        builder.run.measure.fresh_rounds = Some(most);
        builder.run.command = vec!["feedline".to_owned(), "run".to_owned(), "a.toml".to_owned()];
        let verdict = verdict_of(&builder);
        let Cause::Straddles { rounds: Some(rounds), command, .. } = verdict.cause else {
            panic!("{:?}", verdict.cause)
        };
        (rounds, command)
    };
    for most in [3, 10, 100] {
        let (rounds, command) = judged(most, 0.995);
        let more = rounds.checked_sub(most).filter(|more| *more > 0);
        assert_eq!(command, more.map(|more| format!("feedline run a.toml --rounds +{more}")), "{most}");
    }
    assert!(judged(3, 0.995).1.is_some());
    assert_eq!(judged(12, 0.98), (12, None), "the run makes as many itself");
}

#[test]
fn a_verdict_knows_what_it_rests_on_and_whether_more_may_decide_it() {
    let verdict = |of_line: &[f64]| summarise(&confirmed_at(of_line).record()).verdicts.remove(0);
    let (decided, open) = (verdict(&[1.1; 3]), verdict(&[0.95, 1.0, 1.05]));
    assert!(decided.rests_on("c") && !decided.rests_on("d"));
    assert_eq!((decided.is_open(), open.is_open()), (false, true));
}

#[test]
fn a_suggested_command_has_each_option_once_and_none_for_display() {
    let command = |given: &str| {
        let command = given.split_whitespace().map(str::to_owned).collect();
        command_for(&Run { command, ..confirmed_at(&[1.0; 3]).run.clone() }, 12)
    };
    assert_eq!(command(""), "feedline run --rounds +12");
    let run = "feedline run a.toml --set load.threads=2 --set load.pages=huge";
    for given in [
        "feedline run a.toml --full --set load.threads=2 --no-progress --set load.pages=huge --rounds +3",
        "feedline run --rounds=+3 a.toml --set load.threads=2 --set load.pages=huge",
    ] {
        let suggested = command(given);
        assert_eq!(suggested, format!("{run} --rounds +15"), "what was added before is added again");
    }
}

#[test]
fn the_interleaved_repetitions_of_a_chosen_cell_decide_nothing() {
    let mut builder = confirmed_at(&[0.8, 0.8, 0.8]);
    builder.cell("slower", "disk", 4);
    (0..3).for_each(|number| builder.push(rep("slower", number, 0.5 * Builder::LINE_BPS)));
    builder.edit_reps("c", |rep| {
        if rep.role == record::Role::Measure {
            rep.counters.insert("bytes".to_owned(), 9_000_000_000);
        }
    });
    assert_eq!(verdict_of(&builder).judgement, Judgement::Starves);
}

#[test]
fn without_confirmation_there_is_no_verdict() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    (0..3).for_each(|number| builder.push(rep("c", number, 9e9)));
    let end = builder.end.as_mut().unwrap();
    end.not_run.push(record::NotRun { cell: "c".to_owned(), repetitions: 3, reason: "budget".to_owned() });
    let reason = |builder: &Builder| match verdict_of(builder).cause {
        Cause::NotConfirmed { reason } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(&builder).cause, GapCause::Recorded("budget".to_owned()));
    builder.end = None;
    assert_eq!(reason(&builder).cause, GapCause::RunCut);
}

#[test]
fn two_confirmations_are_too_few() {
    assert_eq!(verdict_of(&confirmed_at(&[2.0, 2.0])).cause, Cause::TooFewRepetitions { made: 2 });
}

#[test]
fn a_client_limited_cell_may_feed_but_cannot_starve() {
    let limited = |of_line: f64| {
        let mut builder = confirmed_at(&[of_line; 3]);
        builder.push_ceiling(ceiling("c", true, 1, (of_line * Builder::LINE_BPS * 1.2) as u64));
        builder
    };
    assert_eq!(verdict_of(&limited(1.5)).judgement, Judgement::Feeds);
    assert!(matches!(flag_of(&limited(0.5)), Flag::ClientLimited { ceiling_share: Some(_), .. }));
    let short = verdict_of(&limited(0.5));
    assert_eq!((short.feeds, short.feeds_at_least()), (Some(4), true));
}

#[test]
fn failed_reads_above_one_percent_leave_it_open() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.edit_reps("c", |rep| {
        rep.errors.insert("io".to_owned(), 300);
    });
    assert!(matches!(flag_of(&builder), Flag::Errors { share, .. } if (share - 0.016).abs() < 1e-3));
    let verdict = verdict_of(&builder);
    assert_eq!(verdict.feeds, None, "a flag that forbids a verdict forbids a number too");
    assert!(!verdict.feeds_at_least() && !verdict.has_failed() && !verdict.is_demo());
}

#[test]
fn a_cold_cell_that_is_not_proven_cold_leaves_it_open() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.edit_cell("c", |cell| cell.cache = "cold".into());
    builder.edit_reps("c", |rep| rep.cache.before_bytes = None);
    assert_eq!(flag_of(&builder), Flag::NotCold { resident: None });
}

#[test]
fn a_failed_confirmation_leaves_feeds_open_and_starves_standing() {
    let failing = |of_line: f64| {
        let mut builder = confirmed_at(&[of_line; 3]);
        let mut failed = confirmation("c", 3, 1e9);
        failed.outcome = Outcome::Failed { reason: "file is gone".to_owned() };
        builder.push(failed);
        verdict_of(&builder).judgement
    };
    assert_eq!(failing(2.0), Judgement::Uncertain);
    assert_eq!(failing(0.5), Judgement::Starves);
}

#[test]
fn a_warm_verdict_says_that_it_is_the_page_caches() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.edit_cell("c", |cell| cell.cache = "warm".into());
    builder.edit_reps("c", |rep| rep.cache.before_bytes = Some(rep.cache.total_bytes));
    assert_eq!(verdict_of(&builder).conditions, [Condition::Warm]);
}

#[test]
fn a_target_read_in_several_ways_names_the_way() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.cell("d", "disk", 8);
    builder.edit_cell("d", |cell| cell.access = "sequential".into());
    let conditions = verdict_of(&builder).conditions;
    let [Condition::OneOfSeveral(panel)] = &conditions[..] else { panic!("{conditions:?}") };
    assert_eq!((panel.sample_bytes, panel.access.as_str()), (Some(100_000.0), "shuffled_epoch"));
}

#[test]
fn nothing_measured_and_no_line_are_causes() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.end.as_mut().unwrap().not_run.push(record::NotRun {
        cell: "c".to_owned(),
        repetitions: 3,
        reason: "budget".to_owned(),
    });
    let cause = Cause::NothingMeasured(NothingMeasured::Cell(GapCause::Recorded("budget".to_owned()).into()));
    assert_eq!(verdict_of(&builder).cause, cause);

    let mut builder = confirmed_at(&[2.0; 3]);
    builder.run.need.samples_per_s = None;
    assert!(matches!(verdict_of(&builder).cause, Cause::NoLine(NoLine::NoNeed(_))));
}

#[test]
fn the_null_target_has_a_ceiling_and_no_verdict() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.run.targets[0].storage = false;
    let summary = summarise(&builder.record());
    assert_eq!(summary.verdicts, []);
    assert_eq!(summary.ceilings[0].fastest.unwrap().queue_depth, 8);
}

#[test]
fn variants_are_compared_and_not_judged() {
    let mut builder = confirmed_at(&[1.1; 3]);
    let (name, group) = ("a".to_owned(), "g".to_owned());
    builder.run.variant = Some(record::Variant { name, group, number: 0, settings: Vec::new() });
    let summary = summarise(&builder.record());
    let unjudged = Unjudged { target: "disk".to_owned(), reason: NoVerdict::Variant };
    assert_eq!((summary.verdicts, summary.unjudged), (Vec::new(), vec![unjudged]));
}

#[test]
fn an_older_choice_keeps_its_verdict() {
    // Today's rule would confirm the shallower cell; the record confirmed the deeper one.
    let mut builder = confirmed_at(&[1.2; 3]);
    builder.cell("shallow", "disk", 4);
    (0..3).for_each(|number| builder.push(rep("shallow", number, 1.2 * Builder::LINE_BPS)));
    let verdict = verdict_of(&builder);
    assert_eq!((verdict.judgement, verdict.queue_depth), (Judgement::Feeds, Some(8)));
}

#[test]
fn the_record_of_one_of_several_processes_judges_nothing() {
    let mut builder = confirmed_at(&[1.1; 3]);
    (builder.run.rank, builder.run.ranks, builder.run.need.hosts) = (1, 4, 4);
    let summary = summarise(&builder.record());
    assert_eq!(summary.verdicts.len(), 0);
    assert_eq!(summary.unjudged[0].reason, NoVerdict::OneOfSeveral { rank: 1, ranks: 4 });
}

#[test]
fn one_host_that_is_fed_does_not_stand_for_many() {
    let judged = |share: f64, scope: &str| {
        let mut builder = confirmed_at(&[share; 3]);
        (builder.run.need.hosts, builder.run.need.scope) = (64, scope.to_owned());
        verdict_of(&builder)
    };
    let open = judged(1.1, "job");
    assert_eq!((open.judgement, open.cause), (Judgement::Uncertain, Cause::HostsOpen { hosts: 63 }));
    assert_eq!((open.feeds, open.scope.unwrap().hosts_open()), (None, 63));
    assert_eq!(judged(0.8, "job").judgement, Judgement::Starves, "many are given even less");
    assert_eq!(judged(1.1, "host").judgement, Judgement::Feeds);
}

#[test]
fn a_depth_beyond_the_reach_of_the_loader_feeds_nothing() {
    let judged = |share: f64, reach: u32| {
        let mut builder = confirmed_at(&[share; 3]);
        (builder.run.need.loader_depth, builder.run.need.hosts) = (Some(reach), 64);
        let verdict = verdict_of(&builder);
        (verdict.judgement, verdict.cause)
    };
    assert_eq!(judged(1.1, 7), (Judgement::Uncertain, Cause::BeyondLoader { reach: 7 }));
    assert_eq!(judged(1.1, 8).1, Cause::HostsOpen { hosts: 63 });
    assert_eq!(judged(0.8, 7).0, Judgement::Starves);
}

/// Cells of these depths, each interleaved at one share of the line, and then fresh at others.
fn fresh(cells: &[(u32, f64, &[f64])]) -> Builder {
    let mut builder = Builder::new();
    builder.run.measure.fresh_rounds = Some(3);
    for (depth, measured, shares) in cells {
        let name = format!("c{depth}");
        builder.cell(&name, "disk", *depth);
        (0..3).for_each(|number| builder.push(rep(&name, number, measured * Builder::LINE_BPS)));
        for (number, share) in (0..).zip(*shares) {
            builder.push(confirmation(&name, number, share * Builder::LINE_BPS));
        }
    }
    builder
}

#[test]
fn one_candidate_that_feeds_is_enough_and_an_open_one_is_the_first_that_is_no_worse() {
    let judged = |shallow: &[f64], deep: &[f64]| {
        let verdict = verdict_of(&fresh(&[(4, 1.1, shallow), (8, 0.4, &[0.4; 3]), (32, 1.5, deep)]));
        (verdict.judgement, verdict.queue_depth)
    };
    assert_eq!(judged(&[0.9, 1.0, 1.1], &[1.5; 3]), (Judgement::Feeds, Some(32)));
    assert_eq!(judged(&[0.5; 3], &[0.9, 1.0, 1.1]), (Judgement::Uncertain, Some(32)));
    assert_eq!(judged(&[0.9, 1.0, 1.1], &[0.91, 1.01, 1.11]), (Judgement::Uncertain, Some(4)));
    assert_eq!(judged(&[0.8, 0.9, 1.1], &[0.9, 1.0, 1.1]), (Judgement::Uncertain, Some(32)));
    assert_eq!(judged(&[0.5; 3], &[0.6; 3]), (Judgement::Starves, Some(32)));
}

#[test]
fn a_control_at_the_line_takes_starves_back() {
    let judged = |control: f64| {
        let verdict = verdict_of(&fresh(&[(4, 1.1, &[0.8; 3]), (8, control, &[control; 3])]));
        (verdict.judgement, verdict.cause)
    };
    let (judgement, cause) = judged(1.05);
    assert_eq!(judgement, Judgement::Uncertain);
    assert!(
        matches!(cause, Cause::OthersAbove { queue_depth: 8, share } if (share - 1.05).abs() < 1e-6),
        "{cause:?}"
    );
    assert_eq!(judged(0.9).0, Judgement::Starves);
}

#[test]
fn the_fresh_repetitions_of_a_control_say_what_it_reaches() {
    // Below the line as it was measured first.
    let verdict = verdict_of(&fresh(&[(4, 1.1, &[0.8; 3]), (8, 0.9, &[1.05; 3])]));
    assert!(matches!(verdict.cause, Cause::OthersAbove { queue_depth: 8, .. }), "{:?}", verdict.cause);
}

#[test]
fn another_cell_read_alike_takes_starves_back_where_it_may_reach_the_line() {
    // Depths 1 and 32 are candidates, 2 is the control, and 16 was not measured afresh.
    let with = |shares: [f64; 3], edit: &dyn Fn(&mut Builder)| {
        let mut builder = fresh(&[(1, 1.2, &[0.8; 3]), (2, 0.4, &[0.4; 3]), (32, 1.5, &[0.9; 3])]);
        builder.cell("c16", "disk", 16);
        for (number, share) in (0..).zip(shares) {
            builder.push(rep("c16", number, share * Builder::LINE_BPS));
        }
        edit(&mut builder);
        let verdict = verdict_of(&builder);
        match verdict.cause {
            Cause::OthersAbove { queue_depth, .. } => (verdict.judgement, queue_depth),
            _ => (verdict.judgement, 0),
        }
    };
    let as_it_is = |_: &mut Builder| ();
    let doubtful = |builder: &mut Builder| builder.doubt("c16");
    let in_blocks = |builder: &mut Builder| builder.edit_cell("c16", |cell| cell.block_bytes /= 2);
    let within_8 = |builder: &mut Builder| builder.run.need.loader_depth = Some(8);
    let (open, starves) = ((Judgement::Uncertain, 16), (Judgement::Starves, 0));
    assert_eq!(with([1.05; 3], &as_it_is), open);
    assert_eq!(with([0.95; 3], &as_it_is), starves);
    // Its upper bound alone reaches the line: enough for a cell of which nobody knows what it does without its doubt.
    assert_eq!(with([0.7, 0.9, 1.1], &as_it_is), starves);
    assert_eq!(with([0.7, 0.9, 1.1], &doubtful), open);
    assert_eq!(with([0.5; 3], &doubtful), starves);
    // Another question, and a depth that the job never has.
    assert_eq!(with([1.05; 3], &in_blocks), starves);
    assert_eq!(with([1.05; 3], &within_8), starves);
}

#[test]
fn what_failed_is_judged_where_it_would_have_been_judged_had_it_worked() {
    let with = |edit: &dyn Fn(&mut record::Cell)| {
        let mut builder = confirmed_at(&[1.1, 1.11, 1.12]);
        builder.cell("failed", "disk", 8);
        builder.push(record::Rep {
            outcome: Outcome::Failed { reason: "gone".to_owned() },
            ..rep("failed", 0, 0.0)
        });
        builder.edit_cell("failed", edit);
        let cause = verdict_of(&builder).cause;
        matches!(cause, Cause::AskedFailed { .. })
    };
    assert!(!with(&|cell| cell.queue_depth = 16), "a depth among others");
    assert!(!with(&|cell| cell.cache = "warm".into()), "nobody would judge by what memory gives");
    assert!(with(&|cell| cell.block_bytes /= 2), "blocks of another size, as good as those that were read");
}

#[test]
fn others_above_the_line_say_nothing_in_records_that_knew_no_candidates() {
    let mut builder =
        fresh(&[(1, 1.2, &[]), (2, 1.2, &[]), (3, 1.2, &[]), (4, 1.2, &[]), (8, 0.8, &[0.8; 3])]);
    assert_eq!(verdict_of(&builder).judgement, Judgement::Uncertain);
    builder.run.measure.fresh_rounds = None;
    assert_eq!(verdict_of(&builder).judgement, Judgement::Starves);
}

#[test]
fn a_scope_counts_what_the_target_was_put_to_and_fresh_rounds() {
    let mut builder = confirmed_at(&[1.0; 3]);
    builder.push(rep("c", 3, Builder::LINE_BPS));
    builder.run.targets.push(record::testing::target("elsewhere"));
    builder.cell("other", "elsewhere", 8);
    builder.push(rep("other", 0, 1e9));
    let scope = verdict_of(&builder).scope.unwrap();
    assert_eq!((scope.bytes_read, scope.under_load_ns), (6_300_000_000, 7_000_000_000));
    assert_eq!((scope.rounds, scope.evidence.name(), scope.extrapolated), (3, "screen", false));
    assert_eq!(Evidence::Proof { runs: 3 }.name(), "proof");
    builder.run.need.provenance = "extrapolated".to_owned();
    assert!(verdict_of(&builder).scope.unwrap().extrapolated);
}

/// Windows of 1 s with warm-ups of a second before them.
#[test]
fn a_pause_takes_as_much_from_the_time_under_load() {
    let under_load_s = |starts_s: &[u64]| {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.run.measure.warmup_ns = 1_000_000_000;
        for (number, start_s) in (0..).zip(starts_s) {
            let window_start_ns = start_s * 1_000_000_000;
            builder.push(record::Rep { window_start_ns, ..rep("c", number, 1e9) });
        }
        summarise(&builder.record()).verdicts[0].scopes().next().unwrap().under_load_ns / 1_000_000_000
    };
    assert_eq!(under_load_s(&[1, 3, 5, 7]), 4, "one after the other");
    assert_eq!(under_load_s(&[1, 4, 7, 10]), 1, "in turn with another target");
    assert_eq!(under_load_s(&[1, 3, 5, 17, 19]), 3, "before a long pause");
}

#[test]
fn each_part_of_a_run_is_under_load_for_itself() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    for (number, start_s) in [(0, 0), (1, 15), (2, 25)] {
        let window_start_ns = start_s * 1_000_000_000;
        builder.push(record::Rep { window_start_ns, ..rep("c", number, 1e9) });
    }
    let mut record = builder.record();
    for at_s in [10, 20] {
        let segment = testing::segment(&record, at_s * 1_000_000_000);
        record.segments.push(segment);
    }
    let verdict = summarise(&record).verdicts.remove(0);
    assert_eq!(verdict.scopes().next().unwrap().under_load_ns, 1_000_000_000);
}

#[test]
fn a_run_that_was_gone_on_with_elsewhere_judges_nothing() {
    for of_line in [0.5, 1.5] {
        let mut record = confirmed_at(&[of_line, of_line + 0.01, of_line + 0.02]).record();
        let gone_on = |record: &mut record::RunRecord, edit: &dyn Fn(&mut record::Segment)| {
            let mut segment = testing::segment(record, 0);
            edit(&mut segment);
            record.segments.push(segment);
            summarise(record).verdicts[0].of_reads().unwrap().clone()
        };
        assert_ne!(gone_on(&mut record, &|_| ()).judgement, Judgement::Uncertain, "where all is as it was");
        let of_kernel =
            |segment: &mut record::Segment| segment.env.kernel = Captured::Value("2.6.32".to_owned());
        let of_tool = |segment: &mut record::Segment| {
            segment.tool.as_mut().unwrap().profile = "another".to_owned();
        };
        let (one, both) = (vec![Elsewhere::Kernel], vec![Elsewhere::Tool, Elsewhere::Kernel]);
        for (edit, what) in [(of_kernel as fn(&mut record::Segment), one), (of_tool, both)] {
            let told = gone_on(&mut record, &edit);
            assert_eq!(told.judgement, Judgement::Uncertain);
            assert_eq!(told.cause, Cause::Flagged(Flag::GoneOnElsewhere(what)), "{of_line}");
        }
        let both = Flag::GoneOnElsewhere(vec![Elsewhere::Tool, Elsewhere::Kernel]);
        let back = gone_on(&mut record, &|_| ());
        assert_eq!((back.judgement, back.cause), (Judgement::Uncertain, Cause::Flagged(both)), "{of_line}");
    }
}

#[test]
fn outstanding_reads_are_divided_among_accelerators_and_half_a_worker_is_one() {
    let workers =
        |outstanding, accelerators| LoadScope::Closed { outstanding, accelerators }.workers_per_accelerator();
    assert_eq!([workers(16, 8), workers(17, 8), workers(4, 8)], [Some(2), Some(3), Some(1)]);
    assert_eq!([workers(16, 0), LoadScope::Training.workers_per_accelerator()], [None; 2]);
}

prop_compose! {
    /// Up to four cells with up to five repetitions of either role, some failed or interrupted.
    fn records()(
        shares in prop::collection::vec(prop::collection::vec((0.2..2.0_f64, 0..10_u8, any::<bool>()), 0..6), 1..4)
    ) -> Builder {
        let mut builder = Builder::new();
        let mut order = 0;
        for (index, reps) in shares.iter().enumerate() {
            let name = format!("c{index}");
            builder.cell(&name, "disk", 1 << index);
            for (number, (share, fate, confirms)) in reps.iter().enumerate() {
                let make = if *confirms { confirmation } else { rep };
                let mut one = make(&name, number as u32, share * Builder::LINE_BPS);
                one.order = order;
                order += 1;
                match fate {
                    0 => one.outcome = Outcome::Failed { reason: "drawn".to_owned() },
                    1 => one.outcome = Outcome::Interrupted,
                    2 => one.window_ns = 0,
                    _ => {}
                }
                builder.push(one);
            }
        }
        builder
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn feeds_never_with_the_lower_bound_below_the_line(builder in records()) {
        let verdict = verdict_of(&builder);
        if verdict.judgement == Judgement::Feeds {
            let interval = verdict.samples_per_s.unwrap();
            prop_assert!(interval.low >= verdict.line_samples_per_s.unwrap());
            prop_assert!(verdict.feeds.unwrap() >= 8);
        }
        if verdict.judgement == Judgement::Starves {
            prop_assert!(verdict.samples_per_s.unwrap().high < verdict.line_samples_per_s.unwrap());
            prop_assert!(verdict.feeds.unwrap() < 8);
        }
    }

    #[test]
    fn interleaved_repetitions_alone_never_make_a_verdict(mut builder in records()) {
        builder.lines.retain(|line| !matches!(line, Line::Rep(rep) if rep.role == record::Role::Confirm));
        prop_assert_eq!(verdict_of(&builder).judgement, Judgement::Uncertain);
    }

    #[test]
    fn the_order_of_lines_does_not_matter((builder, shuffled) in records().prop_flat_map(|builder| {
        let lines = Just(builder.lines.clone()).prop_shuffle();
        let like = builder.clone();
        let shuffled = move |lines| {
            let mut builder = like.clone();
            builder.lines = lines;
            builder
        };
        (Just(builder), lines.prop_map(shuffled))
    })) {
        prop_assert_eq!(summarise(&builder.record()), summarise(&shuffled.record()));
    }
}

#[test]
fn wrong_bytes_in_any_cell_of_a_target_leave_it_open() {
    let mut builder = confirmed_at(&[1.1, 1.1, 1.1]);
    assert_eq!(verdict_of(&builder).judgement, Judgement::Feeds);
    builder.cell("other", "disk", 64);
    let mut wrong = rep("other", 0, 1e9);
    wrong.errors.insert("corrupt".to_owned(), 3);
    builder.push(wrong);
    assert_eq!(flag_of(&builder), Flag::WrongBytes { found: 3, checked: 8 });
    let both = {
        let mut builder = builder.clone();
        builder.cell("more", "disk", 32);
        let mut wrong = rep("more", 0, 1e9);
        wrong.errors.insert("corrupt".to_owned(), 2);
        builder.push(wrong);
        builder
    };
    assert_eq!(flag_of(&both), Flag::WrongBytes { found: 5, checked: 16 }, "of all its cells");
    builder.edit_cell("other", |cell| cell.target = "elsewhere".to_owned());
    assert_eq!(verdict_of(&builder).judgement, Judgement::Feeds);
}

#[test]
fn bytes_in_the_page_cache_and_few_reads_leave_a_verdict_open() {
    let mut cached = confirmed_at(&[1.1, 1.1, 1.1]);
    cached.edit_reps("c", |rep| rep.cache.after_bytes = Some(rep.cache.total_bytes));
    assert_eq!(flag_of(&cached), Flag::NotBypassed { resident: 1.0 });
    let mut few = confirmed_at(&[0.5, 0.5, 0.5]);
    few.edit_cell("c", |cell| cell.queue_depth = 1_024);
    assert!(matches!(flag_of(&few), Flag::FewTurns { .. }));
}

#[test]
fn a_job_that_is_fed_has_its_utilization_and_its_target() {
    let verdict = verdict_of(&confirmed_job(&[0.960, 0.961, 0.962]));
    assert_eq!(verdict.judgement, Judgement::Feeds);
    let played = verdict.played.unwrap();
    assert!((played.au - 0.961).abs() < 1e-4 && (played.target - 0.9).abs() < 1e-9);
    assert_eq!((played.readers, played.prefetch), (Some(8), 8));
    assert_eq!(verdict.conditions, [Condition::WholeFiles { names_dropped: false }]);
}

#[test]
fn a_job_that_starves_says_why() {
    let verdict = verdict_of(&confirmed_job(&[0.712, 0.713, 0.714]));
    assert_eq!((verdict.judgement, verdict.feeds), (Judgement::Starves, None));
    assert_eq!(verdict.played.unwrap().diagnosis.unwrap().bound, Bound::Latency);
}

#[test]
fn a_job_at_the_target_by_chance_stays_open() {
    let verdict = verdict_of(&confirmed_job(&[0.88, 0.90, 0.92]));
    assert!(matches!(verdict.cause, Cause::Straddles { made: 3, rounds: None, .. }), "{:?}", verdict.cause);
}

#[test]
fn a_job_is_fed_exactly_where_its_utilization_reaches_the_target() {
    for (au, judgement) in [(0.9, Judgement::Feeds), (0.899_9, Judgement::Starves)] {
        assert_eq!(verdict_of(&confirmed_job(&[au; 3])).judgement, judgement, "{au}");
    }
}

#[test]
fn a_job_of_a_demo_is_shown_with_its_utilization() {
    let mut builder = confirmed_job(&[0.95; 3]);
    builder.run.targets[0].demo = true;
    let verdict = verdict_of(&builder);
    assert!(verdict.is_demo() && (verdict.played.unwrap().au - 0.95).abs() < 1e-4);
}

#[test]
fn a_job_of_other_accelerators_alone_has_no_verdict() {
    let mut builder = confirmed_job(&[0.95; 3]);
    builder.edit_cell("c", |cell| cell.training.as_mut().unwrap().accelerators = 4);
    let summary = summarise(&builder.record());
    assert!(summary.verdicts.is_empty());
    assert_eq!(summary.unjudged[0].reason, NoVerdict::OtherJob { played: 4, named: 8 });
}

#[test]
fn a_job_that_failed_altogether_is_judged_as_failed() {
    let mut builder = confirmed_job(&[0.95; 3]);
    builder.edit_reps("c", |rep| rep.trained = None);
    builder.lines.retain(|line| matches!(line, Line::Rep(rep) if rep.role == record::Role::Measure));
    let summary = summarise(&builder.record());
    assert!(summary.unjudged.is_empty());
    assert!(
        matches!(&summary.verdicts[0].of_reads().unwrap().cause, Cause::AskedFailed { reason } if reason.cause == GapCause::Job(JobGap::NotRecorded))
    );
}

#[test]
fn a_verdict_on_huge_pages_says_so() {
    let conditions = |pages: Option<&str>| {
        let mut builder = confirmed_at(&[1.5; 3]);
        builder.edit_cell("c", |cell| cell.pages = pages.map(Into::into));
        verdict_of(&builder).conditions
    };
    assert_eq!(conditions(Some("huge")), [Condition::HugePages]);
    assert!(conditions(Some("base")).is_empty() && conditions(None).is_empty());
}

#[test]
fn a_verdict_on_threads_beside_the_device_says_so() {
    let conditions = |value: &str| {
        let mut builder = confirmed_at(&[1.5; 3]);
        builder.edit_cell("c", |cell| cell.axes.push(testing::words("numa", value)));
        verdict_of(&builder).conditions
    };
    assert_eq!(conditions("device"), [Condition::BesideDevice]);
    assert!(conditions("any").is_empty());
}

#[test]
fn a_cell_is_the_first_to_clear_where_the_deeper_ones_stand_at_the_line_too() {
    let with_deeper = |share: f64| {
        let mut builder = confirmed_at(&[1.1, 1.1, 1.1]);
        builder.cell("deeper", "disk", 16);
        (0..3).for_each(|number| builder.push(rep("deeper", number, share * Builder::LINE_BPS)));
        verdict_of(&builder).cause
    };
    assert_eq!(with_deeper(1.05), Cause::Clears { first: true });
    assert_eq!(with_deeper(0.9), Cause::Clears { first: false });
    let mut shallower = confirmed_at(&[1.1; 3]);
    shallower.cell("shallower", "disk", 4);
    (0..3).for_each(|number| shallower.push(rep("shallower", number, 0.5 * Builder::LINE_BPS)));
    assert_eq!(verdict_of(&shallower).cause, Cause::Clears { first: true });
}
