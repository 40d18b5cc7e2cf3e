use feed::Judgement;
use record::{Checkpoint, CheckpointOutcome, CheckpointPlan, Rep, Role, counter};

use super::Verdict;
use super::checkpoint_verdict::{CheckpointCause, CheckpointPart, CheckpointVerdict, Doubt};
use crate::fixture::{Builder, cell_of_job, checkpoint_need, confirmed_at, job_rep, rep};
use crate::{Cause, Flag, Gap, GapCause, NoVerdict, Stall, next_look, summarise};

const SECOND_NS: u64 = 1_000_000_000;
/// What a host writes, within ten seconds.
const BYTES: u64 = 1_000_000_000;
const WITHIN_S: u64 = 10;

fn plan() -> CheckpointPlan {
    CheckpointPlan {
        label: "1 GB".to_owned(),
        bytes: BYTES,
        files: 4,
        mode: "sync".to_owned(),
        every_steps: None,
        copy_ns: 0,
        durable: true,
        keep: 2,
        price_per_hour: None,
    }
}

fn save(took_s: f64, outcome: CheckpointOutcome) -> Checkpoint {
    Checkpoint {
        step: 0,
        due_ns: 0,
        begun_ns: 0,
        stall_ns: 0,
        write_ns: (took_s * 1e9) as u64,
        publish_ns: 0,
        bytes: BYTES,
        outcome,
    }
}

/// Adds a cell that writes, whose saves take so many seconds, one in each repetition, measured and measured afresh.
fn writing(builder: &mut Builder, took_s: &[f64]) {
    let mut need = checkpoint_need(BYTES, WITHIN_S);
    need.kind
        .clone_from(&builder.run.need.checkpoint.as_ref().map_or(need.kind.clone(), |of| of.kind.clone()));
    builder.run.need.checkpoint = Some(need);
    builder.cell("w", "disk", 4);
    builder.edit_cell("w", |cell| (cell.operation, cell.checkpoint) = ("checkpoint".into(), Some(plan())));
    for role in [Role::Measure, Role::Confirm] {
        for (number, took_s) in took_s.iter().enumerate() {
            let checkpoints = vec![save(*took_s, CheckpointOutcome::Complete)];
            builder.push(Rep { role, checkpoints, ..rep("w", number as u32, 1e9) });
        }
    }
}

/// Adds a cell that restores in so many seconds, of which each may take ten.
fn restoring(builder: &mut Builder, took_s: &[f64]) {
    builder.run.need.checkpoint.as_mut().unwrap().restore_within_ns = Some(WITHIN_S * SECOND_NS);
    builder.cell("r", "disk", 4);
    builder.edit_cell("r", |cell| (cell.operation, cell.checkpoint) = ("restore".into(), Some(plan())));
    for role in [Role::Measure, Role::Confirm] {
        for (number, took_s) in took_s.iter().enumerate() {
            builder.push(Rep { role, ..rep("r", number as u32, BYTES as f64 / took_s) });
        }
    }
}

/// A need of checkpoints alone.
fn alone(took_s: &[f64]) -> Builder {
    let mut builder = Builder::new();
    (builder.run.need.samples_per_s, builder.run.need.sample_bytes) = (None, None);
    builder.run.need.accelerators = 0;
    writing(&mut builder, took_s);
    builder
}

fn verdict(builder: &Builder) -> Verdict {
    summarise(&builder.record()).verdicts[0].clone()
}

fn write(builder: &Builder) -> CheckpointVerdict {
    verdict(builder).checkpoints[0].clone()
}

fn doubt(builder: &Builder) -> Doubt {
    let write = write(builder);
    assert_eq!(write.judgement, Judgement::Uncertain);
    let CheckpointCause::Doubted(doubt) = write.cause else { panic!("{:?}", write.cause) };
    doubt
}

#[test]
fn saves_are_judged_by_the_whole_interval_of_their_time() {
    let judged = |took_s: &[f64]| (verdict(&alone(took_s)).judgement(), write(&alone(took_s)).cause);
    assert_eq!(judged(&[8.0, 8.1, 8.2]), (Judgement::Feeds, CheckpointCause::InTime));
    assert_eq!(judged(&[12.0, 12.1, 12.2]), (Judgement::Starves, CheckpointCause::Late));
    let (judgement, cause) = judged(&[8.0, 9.0, 9.9]);
    assert_eq!(judgement, Judgement::Uncertain);
    assert!(matches!(cause, CheckpointCause::Straddles { made: 3, .. }), "{cause:?}");
    assert_eq!(judged(&[8.0, 8.1]).1, CheckpointCause::TooFewRepetitions { made: 2 });
    let write = write(&alone(&[8.0; 3]));
    assert_eq!((write.line_bps(), write.has_failed(), write.is_open()), (1e8, false, false));
}

#[test]
fn a_need_of_checkpoints_alone_has_no_line_for_reads_and_no_verdict_on_them() {
    let summary = summarise(&alone(&[8.0, 8.1, 8.2]).record());
    assert_eq!((summary.verdicts[0].of_reads(), summary.unjudged.len()), (None, 0));
    assert!(crate::lines(&summary).is_empty());
    let mut elsewhere = alone(&[8.0, 8.1, 8.2]);
    elsewhere.run.cells.clear();
    assert_eq!(summarise(&elsewhere.record()).unjudged[0].reason, NoVerdict::NothingAsked);
}

#[test]
fn each_doubt_forbids_feeds_and_none_takes_back_starves() {
    let in_time = || alone(&[8.0, 8.1, 8.2]);
    let mut small = in_time();
    small.edit_cell("w", |cell| cell.checkpoint.as_mut().unwrap().bytes = BYTES / 2);
    assert_eq!(doubt(&small), Doubt::OtherSize { bytes: BYTES / 2, of: BYTES });
    let mut kept = in_time();
    kept.edit_cell("w", |cell| cell.checkpoint.as_mut().unwrap().durable = false);
    assert_eq!(doubt(&kept), Doubt::NotDurable);
    let mut lost = in_time();
    let failed = CheckpointOutcome::Failed { reason: "no space".to_owned() };
    lost.edit_reps("w", |rep| rep.checkpoints.push(save(1.0, failed.clone())));
    assert_eq!(doubt(&lost), Doubt::Lost { count: 6, reason: Some("no space".to_owned()) });
    let mut hosts = in_time();
    hosts.run.need.checkpoint.as_mut().unwrap().hosts = 64;
    assert_eq!(doubt(&hosts), Doubt::HostsOpen { hosts: 63 });
    hosts.run.need.scope = "host".to_owned();
    assert_eq!(write(&hosts).judgement, Judgement::Feeds);
    let mut ranks = in_time();
    ranks.run.ranks = 2;
    ranks.edit_reps("w", |rep| (rep.ranks, rep.window_unix_ns) = (2, Some(SECOND_NS)));
    for line in ranks.lines.clone() {
        let record::Line::Rep(rep) = line else { continue };
        ranks.push(Rep { rank: 1, ..*rep });
    }
    assert_eq!(doubt(&ranks), Doubt::SeveralRanks { ranks: 2 });
    let late = || alone(&[12.0, 12.1, 12.2]);
    for edit in [
        |cell: &mut record::Cell| cell.checkpoint.as_mut().unwrap().bytes = BYTES / 2,
        |cell: &mut record::Cell| cell.checkpoint.as_mut().unwrap().durable = false,
    ] {
        let mut builder = late();
        builder.edit_cell("w", edit);
        assert_eq!(write(&builder).judgement, Judgement::Starves);
    }
}

#[test]
fn a_larger_checkpoint_than_is_asked_for_may_feed_and_cannot_starve() {
    let of = |took_s: &[f64], bytes: u64| {
        let mut builder = alone(took_s);
        builder.edit_cell("w", |cell| cell.checkpoint.as_mut().unwrap().bytes = bytes);
        builder
    };
    assert_eq!(write(&of(&[8.0, 8.1, 8.2], 2 * BYTES)).judgement, Judgement::Feeds);
    assert_eq!(doubt(&of(&[12.0, 12.1, 12.2], 2 * BYTES)), Doubt::OtherSize { bytes: 2 * BYTES, of: BYTES });
    // Four files of one size are three bytes more at most.
    assert_eq!(write(&of(&[12.0, 12.1, 12.2], BYTES + 3)).judgement, Judgement::Starves);
}

#[test]
fn one_late_save_among_many_leaves_it_open_whenever_it_was_made() {
    let mut builder = alone(&[5.0, 5.1, 5.2]);
    builder.edit_reps("w", |rep| {
        if rep.role == Role::Measure && rep.rep == 0 {
            rep.checkpoints.push(save(11.0, CheckpointOutcome::Complete));
        }
    });
    assert_eq!(doubt(&builder), Doubt::SomeLate { late: 1, made: 7 });
}

#[test]
fn saves_that_all_failed_are_judged_as_failed() {
    let mut builder = alone(&[8.0, 8.1, 8.2]);
    builder.edit_reps("w", |rep| {
        rep.outcome = record::Outcome::Failed { reason: "no space".to_owned() };
        rep.checkpoints = vec![save(1.0, CheckpointOutcome::Failed { reason: "no space".to_owned() })];
    });
    let verdict = verdict(&builder);
    let reason: Gap = GapCause::Recorded("no space".to_owned()).into();
    assert_eq!(verdict.checkpoints[0].cause, CheckpointCause::AskedFailed { reason });
    assert!(verdict.has_failed() && verdict.judgement() == Judgement::Uncertain);
}

#[test]
fn the_gravest_need_decides_and_reads_keep_their_own_word() {
    use Judgement::{Feeds, Starves};
    let judged = |of_line: f64, took_s: f64| {
        let mut builder = confirmed_at(&[of_line; 3]);
        writing(&mut builder, &[took_s, took_s * 1.01, took_s * 1.02]);
        let verdict = verdict(&builder);
        (verdict.of_reads().unwrap().judgement, verdict.checkpoints[0].judgement, verdict.judgement())
    };
    assert_eq!(judged(1.1, 8.0), (Feeds, Feeds, Feeds));
    assert_eq!(judged(1.1, 12.0), (Feeds, Starves, Starves));
    assert_eq!(judged(0.8, 8.0), (Starves, Feeds, Starves));
}

#[test]
fn a_restore_is_a_need_of_its_own_and_one_from_the_page_cache_is_none() {
    let mut builder = alone(&[8.0, 8.1, 8.2]);
    restoring(&mut builder, &[5.0, 5.1, 5.2]);
    let parts = |builder: &Builder| {
        let all = verdict(builder).checkpoints;
        all.iter().map(|one| (one.part, one.judgement)).collect::<Vec<_>>()
    };
    let (write, restore) = (CheckpointPart::Write, CheckpointPart::Restore);
    assert_eq!(parts(&builder), [(write, Judgement::Feeds), (restore, Judgement::Feeds)]);
    let time = verdict(&builder).checkpoints[1].timed.clone().unwrap().time_s.unwrap();
    assert!((time.mean - 5.1).abs() < 0.01, "{time:?}");
    // A checkpoint with holes is not restored, however fast the rest of it came.
    let mut holes = builder.clone();
    holes.edit_reps("r", |rep| {
        if rep.role == Role::Confirm && rep.rep == 1 {
            rep.errors.insert("io".to_owned(), 1);
        }
    });
    let lost = CheckpointCause::Doubted(Doubt::Lost { count: 1, reason: Some("io".to_owned()) });
    assert_eq!(verdict(&holes).checkpoints[1].cause, lost);
    let mut late = alone(&[8.0, 8.1, 8.2]);
    restoring(&mut late, &[15.0, 15.1, 15.2]);
    assert_eq!(parts(&late)[1], (restore, Judgement::Starves));
    builder.edit_cell("r", |cell| cell.cache = "cold".into());
    builder.edit_reps("r", |rep| {
        (rep.cache.total_bytes, rep.cache.before_bytes) = (BYTES, Some(BYTES));
    });
    let judged = verdict(&builder).checkpoints[1].clone();
    assert_eq!(judged.judgement, Judgement::Uncertain);
    assert!(matches!(judged.cause, CheckpointCause::Flagged(_)), "{:?}", judged.cause);
}

#[test]
fn saves_of_one_job_feed_no_storage_that_others_use_meanwhile() {
    let mut builder = confirmed_at(&[1.1; 3]);
    writing(&mut builder, &[8.0, 8.1, 8.2]);
    builder.run.need.checkpoint.as_mut().unwrap().beside_others = true;
    assert_eq!(doubt(&builder), Doubt::Apart { others: true });
    builder.run.need.checkpoint.as_mut().unwrap().beside_others = false;
    assert_eq!(write(&builder).judgement, Judgement::Feeds, "a job that stands still meanwhile");
}

#[test]
fn asynchronous_saves_are_judged_beside_the_reads_and_apart_from_them_say_so() {
    let mut builder = confirmed_at(&[1.1; 3]);
    builder.run.need.checkpoint =
        Some(record::CheckpointNeed { kind: "async".to_owned(), ..checkpoint_need(BYTES, WITHIN_S) });
    writing(&mut builder, &[8.0, 8.1, 8.2]);
    assert_eq!(doubt(&builder), Doubt::Apart { others: false });
    let beside = job(0.95, "async");
    let write = write(&beside);
    assert!(write.is_beside_reads && write.cell == "made", "{write:?}");
    assert_eq!((write.judgement, write.timed.unwrap().made), (Judgement::Feeds, 6));
}

/// A job whose utilization with asynchronous saves every second is `au`, and 95 % without; saves beside it take 4 s, alone 12 s.
fn job(au: f64, kind: &str) -> Builder {
    let mut builder = Builder::new();
    builder.run.need.checkpoint =
        Some(record::CheckpointNeed { kind: kind.to_owned(), ..checkpoint_need(BYTES, WITHIN_S) });
    writing(&mut builder, &[12.0, 12.1, 12.2]);
    for (name, au) in [("plain", 0.95), ("made", au)] {
        builder.cell(name, "disk", 64);
        builder.edit_cell(name, cell_of_job);
        for role in [Role::Measure, Role::Confirm] {
            for number in 0..3 {
                let stall = Stall { storage: 1.0 - au, ..Stall::default() };
                let mut one = Rep { role, ..job_rep(name, number, stall, 64.0) };
                if name == "made" {
                    one.checkpoints = vec![save(4.0 + f64::from(number) / 10.0, CheckpointOutcome::Complete)];
                }
                builder.push(one);
            }
        }
    }
    builder.edit_cell("made", |cell| {
        cell.checkpoint = Some(CheckpointPlan { mode: "async".to_owned(), every_steps: Some(2), ..plan() });
        let (name, value) = ("checkpoint.every".to_owned(), "2".to_owned());
        cell.axes.push(record::AxisWords { name, value, unit: String::new() });
    });
    builder
}

#[test]
fn a_job_that_saves_too_often_starves_nobody_where_it_is_fed_without() {
    let reads = |builder: &Builder| verdict(builder).reads.unwrap();
    assert_eq!(reads(&job(0.95, "async")).judgement, Judgement::Feeds);
    let slowed = reads(&job(0.7, "async"));
    assert_eq!((slowed.judgement, slowed.cell.as_deref()), (Judgement::Uncertain, Some("made")));
    assert!(matches!(slowed.cause, Cause::SavesTooOften { .. }), "{:?}", slowed.cause);
    // Every two steps are as rare as the need has them, and then the job starves.
    let mut rare = job(0.7, "async");
    rare.run.need.checkpoint.as_mut().unwrap().every_ns = Some(200_000_000);
    assert_eq!(reads(&rare).judgement, Judgement::Starves);
    rare.run.need.checkpoint.as_mut().unwrap().every_ns = Some(200_000_001);
    assert_eq!(reads(&rare).judgement, Judgement::Uncertain);
    // Where accelerators stand still, saves alone are what is judged.
    let sync = job(0.7, "sync");
    assert_eq!(reads(&sync).cell.as_deref(), Some("plain"));
    assert_eq!((write(&sync).cell.as_str(), write(&sync).judgement), ("w", Judgement::Starves));
}

#[test]
fn saves_beside_a_job_are_no_better_than_where_they_were_made_and_whether_it_ended() {
    use Judgement::{Feeds, Uncertain};
    let made = |edit: fn(&mut Builder)| {
        let mut builder = job(0.95, "async");
        edit(&mut builder);
        (write(&builder).judgement, verdict(&builder).reads.unwrap().judgement)
    };
    assert_eq!(made(|_| {}), (Feeds, Feeds));
    let in_memory =
        made(|builder| builder.run.targets[0].facts.push(record::testing::fact("medium", "memory")));
    assert_eq!(in_memory, (Uncertain, Uncertain));
    let cut_short = made(|builder| {
        builder.edit_reps("made", |rep| {
            if rep.role == Role::Confirm && rep.rep == 2 {
                rep.outcome = record::Outcome::Failed { reason: "gone".to_owned() };
                rep.checkpoints.clear();
            }
        });
        let last = Rep { role: Role::Confirm, ..job_rep("made", 3, Stall::default(), 64.0) };
        let checkpoints = vec![save(4.1, CheckpointOutcome::Complete)];
        builder.push(Rep { checkpoints, ..last });
    });
    assert_eq!(cut_short.0, Uncertain);
}

#[test]
fn reads_beside_saves_that_failed_do_not_feed() {
    let mut builder = job(0.95, "async");
    let reads = |builder: &Builder| verdict(builder).reads.unwrap();
    assert_eq!(reads(&builder).judgement, Judgement::Feeds);
    builder.edit_reps("made", |rep| {
        rep.checkpoints = vec![save(1.0, CheckpointOutcome::Failed { reason: "no space".to_owned() })];
    });
    let failed = Flag::SavesFailed { saves: 3, reason: "no space".to_owned() };
    assert_eq!(
        (reads(&builder).judgement, reads(&builder).cause),
        (Judgement::Uncertain, Cause::Flagged(failed))
    );
}

#[test]
fn saves_say_what_they_take_of_a_job_that_waits_for_them() {
    let mut builder = alone(&[9.0, 9.0, 9.0]);
    builder.run.need.checkpoint.as_mut().unwrap().every_ns = Some(900 * SECOND_NS);
    let (low, high) = write(&builder).lost_share.unwrap();
    assert!((low - 0.01).abs() < 1e-9 && (high - 0.01).abs() < 1e-9);
    let mut small = builder.clone();
    small.edit_cell("w", |cell| cell.checkpoint.as_mut().unwrap().bytes = BYTES / 2);
    assert_eq!(write(&small).lost_share, None);
    builder.run.need.checkpoint.as_mut().unwrap().kind = "async".to_owned();
    assert_eq!(write(&builder).lost_share, None);
}

#[test]
fn cells_of_checkpoints_are_measured_afresh_until_they_are_decided() {
    let mut builder = alone(&[8.0, 9.0, 9.9]);
    builder.run.measure.fresh_rounds = Some(28);
    assert_eq!(next_look(&builder.record()).unwrap().cells, ["w"]);
    let mut decided = alone(&[8.0, 8.0, 8.0]);
    decided.run.measure.fresh_rounds = Some(28);
    assert_eq!(next_look(&decided.record()), None);
    let mut first = confirmed_at(&[1.1; 3]);
    writing(&mut first, &[8.0, 8.0, 8.0]);
    let measured = first.record();
    let lines = measured
        .lines
        .iter()
        .filter(|line| !matches!(line, record::Line::Rep(rep) if rep.role == Role::Confirm));
    let measured = record::RunRecord { lines: lines.cloned().collect(), ..measured.clone() };
    assert_eq!(next_look(&measured).unwrap().cells, ["c", "w"]);
}

#[test]
fn what_an_older_record_wrote_is_shown_and_not_judged() {
    let mut builder = confirmed_at(&[1.1; 3]);
    writing(&mut builder, &[12.0, 12.0, 12.0]);
    builder.run.need.checkpoint = None;
    assert_eq!((verdict(&builder).judgement(), verdict(&builder).checkpoints.len()), (Judgement::Feeds, 0));
    let ops = builder
        .record()
        .lines
        .iter()
        .any(|line| matches!(line, record::Line::Rep(rep) if rep.counters.contains_key(counter::OPS)));
    assert!(ops, "the saves are there");
}
