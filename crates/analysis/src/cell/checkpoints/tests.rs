use feed::Flow;
use proptest::prelude::*;
use record::{Checkpoint, CheckpointOutcome, CheckpointPlan, Rep, Role};

use crate::fixture::{Builder, cell_of_job, job_rep, rep};
use crate::{Checkpoints, NoVerdict, Outcomes, Stall, Unreached, summarise};

const BYTES: u64 = 1_000_000_000;

fn plan() -> CheckpointPlan {
    CheckpointPlan {
        label: "1 GB".to_owned(),
        bytes: BYTES,
        files: 1,
        mode: "sync".to_owned(),
        every_steps: Some(10),
        copy_ns: 0,
        durable: true,
        keep: 1,
        price_per_hour: Some(3.0),
    }
}

/// Due at a number of seconds, 400 ms of writing and 100 ms of publishing.
fn checkpoint(step: u64, outcome: CheckpointOutcome) -> Checkpoint {
    Checkpoint {
        step,
        due_ns: step * 2_000_000_000,
        begun_ns: step * 2_000_000_000,
        stall_ns: 500_000_000,
        write_ns: 400_000_000,
        publish_ns: 100_000_000,
        bytes: BYTES,
        outcome,
    }
}

fn failed() -> CheckpointOutcome {
    CheckpointOutcome::Failed { reason: "no space".to_owned() }
}

fn writing(outcomes: &[CheckpointOutcome]) -> Builder {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 4);
    builder.edit_cell("c", |cell| {
        (cell.operation, cell.checkpoint) = ("checkpoint".into(), Some(plan()));
    });
    for number in 0..3 {
        let mut one = rep("c", number, 2e9);
        let numbered = (0..).zip(outcomes.iter().cloned());
        one.checkpoints = numbered.map(|(step, outcome)| checkpoint(step, outcome)).collect();
        builder.push(one);
    }
    builder
}

fn found(builder: &Builder) -> Checkpoints {
    summarise(&builder.record()).checkpoints
}

fn is_near(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-9)
}

/// A job with a checkpoint at 0 s and 2 s, and the same without.
fn training(outcomes: &[CheckpointOutcome]) -> Builder {
    let mut builder = Builder::new();
    for (name, stall) in [("plain", 0.05), ("made", 0.15)] {
        builder.cell(name, "disk", 64);
        builder.edit_cell(name, cell_of_job);
        for number in 0..3 {
            let mut one = job_rep(name, number, Stall { storage: stall, ..Stall::default() }, 64.0);
            one.second_bytes = vec![100, 200, 50, 200, 200, 200, 200, 200, 200, 200];
            if name == "made" {
                let numbered = (0..).zip(outcomes.iter().cloned());
                one.checkpoints = numbered.map(|(step, outcome)| checkpoint(step, outcome)).collect();
            }
            builder.push(one);
        }
    }
    builder.edit_cell("made", |cell| {
        cell.checkpoint = Some(plan());
        let (name, value) = ("checkpoint.every".to_owned(), "10".to_owned());
        cell.axes.push(record::AxisWords { name, value, unit: String::new() });
    });
    builder
}

#[test]
fn a_verdict_on_a_job_with_checkpoints_says_so_and_what_it_is_without() {
    let builder = training(&[CheckpointOutcome::Complete]);
    let verdict = crate::fixture::reads_of(&builder);
    assert_eq!(verdict.cell.as_deref(), Some("made"), "the harder job is judged");
    let is_so = |one: &Unreached| matches!(one, Unreached::JudgedWithCheckpoints { plan, without_au: Some(_) } if plan.label == "1 GB");
    assert!(verdict.unreached.iter().any(is_so), "{:?}", verdict.unreached);
}

#[test]
fn a_job_that_checkpoints_keep_from_its_utilization_is_told_beside_the_verdict_on_another() {
    let told = |utilization: f64| {
        let mut builder = training(&[CheckpointOutcome::Complete]);
        builder.run.need.utilization = utilization;
        // What was confirmed is judged: here the job without them.
        for number in 0..3 {
            let stall = Stall { storage: 0.05, ..Stall::default() };
            let confirmed = job_rep("plain", number, stall, 64.0);
            builder.push(Rep { role: Role::Confirm, ..confirmed });
        }
        crate::fixture::reads_of(&builder).unreached
    };
    assert!(matches!(&told(0.95)[..], [Unreached::WithCheckpoints { .. }]), "{:?}", told(0.95));
    assert!(told(0.1).is_empty(), "{:?}", told(0.1));
    let au = found(&training(&[CheckpointOutcome::Complete])).jobs[0].au.unwrap().mean;
    assert!(told(au).is_empty(), "the target itself is enough");
}

#[test]
fn a_rate_is_bytes_by_writing_and_publishing_of_those_that_are_whole() {
    let found = found(&writing(&[CheckpointOutcome::Complete, failed(), CheckpointOutcome::Overrun]));
    let written = &found.writes[0].written;
    assert!(is_near(written.bps.map(|rate| rate.mean), 2e9) && is_near(written.publish_share, 0.2));
    assert!(is_near(written.checkpoint_s.map(|rate| rate.mean), 0.5) && is_near(written.longest_s, 0.5));
    let reason = Some("no space".to_owned());
    let expected = Outcomes { complete: 3, overrun: 3, unfinished: 0, failed: 3, reason };
    assert_eq!(written.outcomes, expected);
}

#[test]
fn of_checkpoints_that_all_failed_there_is_no_rate() {
    let found = found(&writing(&[failed()]));
    let written = &found.writes[0].written;
    assert_eq!((written.bps, written.publish_share, written.longest_s), (None, None, None));
    assert_eq!(written.outcomes.failed, 3);
}

#[test]
fn a_cell_that_writes_is_on_no_curve_and_has_no_verdict() {
    let summary = summarise(&writing(&[CheckpointOutcome::Complete]).record());
    assert!(summary.panels.is_empty() && summary.verdicts.is_empty());
    let operations = vec!["checkpoint".to_owned()];
    assert_eq!(summary.unjudged[0].reason, NoVerdict::OthersMoved { asked: Flow::Reads, operations });
    assert_eq!(crate::next_look(&writing(&[CheckpointOutcome::Complete]).record()), None);
}

#[test]
fn a_restore_takes_the_bytes_of_a_checkpoint_by_the_rate() {
    let mut builder = writing(&[]);
    builder.edit_cell("c", |cell| cell.operation = "restore".into());
    let found = found(&builder);
    assert!(found.writes.is_empty() && is_near(found.restores[0].restore_s, 0.5));
}

#[test]
fn a_job_is_held_against_the_same_without_checkpoints() {
    let found = found(&training(&[CheckpointOutcome::Complete, CheckpointOutcome::Complete]));
    let job = &found.jobs[0];
    assert!(is_near(job.without.map(|one| one.au.mean), 0.95) && is_near(job.au.map(|au| au.mean), 0.85));
    assert!(is_near(job.stall_s, 0.5) && is_near(job.interval_s, 2.0) && is_near(job.overhead, 0.25));
    let cost = job.cost.unwrap();
    // 8 accelerators for half a second; 3 for an hour; 1,800 in an hour, 168 hours.
    assert!((cost.gpu_hours - 8.0 * 0.5 / 3_600.0).abs() < 1e-12);
    assert!(is_near(cost.price_per_week, 8.0 * 0.5 / 3_600.0 * 3.0 * 1_800.0 * 168.0));
}

#[test]
fn reads_are_told_apart_by_the_seconds_that_overlap_a_checkpoint() {
    let found = found(&training(&[CheckpointOutcome::Complete, CheckpointOutcome::Complete]));
    let beside = found.jobs[0].beside.unwrap();
    assert!((beside.during_bps - 75.0).abs() < 1e-9 && is_near(beside.apart_bps, 200.0), "{beside:?}");
    assert!(is_near(beside.mixed_bps, 2e9 + 75.0));
}

#[test]
fn what_is_not_made_durable_is_no_load_that_a_storage_was_seen_to_take() {
    let mut builder = training(&[CheckpointOutcome::Complete, CheckpointOutcome::Complete]);
    builder.edit_cell("made", |cell| {
        cell.checkpoint.iter_mut().for_each(|plan| plan.durable = false);
    });
    let beside = found(&builder).jobs[0].beside.unwrap();
    assert_eq!((beside.write_bps, beside.mixed_bps), (None, None));
}

#[test]
fn an_overrun_and_an_unfinished_one_stand_in_the_picture() {
    let found = found(&training(&[CheckpointOutcome::Unfinished, CheckpointOutcome::Overrun]));
    let timeline = found.jobs[0].timeline.as_ref().unwrap();
    let words: Vec<&str> = timeline.spans.iter().map(|span| span.outcome).collect();
    assert_eq!(words, ["unfinished", "overrun"]);
    let (cut, left_out) = (&timeline.spans[0], &timeline.spans[1]);
    assert!((cut.durable_s - timeline.window_s).abs() < 1e-9);
    assert!((left_out.durable_s - left_out.begun_s).abs() < 1e-9);
    assert_eq!(found.jobs[0].written.bps, None);
}

#[test]
fn one_checkpoint_has_no_interval_and_so_no_overhead() {
    let found = found(&training(&[CheckpointOutcome::Complete]));
    let job = &found.jobs[0];
    assert_eq!((job.interval_s, job.overhead), (None, None));
    assert_eq!(job.cost.and_then(|cost| cost.price_per_week), None);
}

#[test]
fn a_job_with_checkpoints_has_its_verdict_as_any_other() {
    let summary = summarise(&training(&[CheckpointOutcome::Complete]).record());
    assert_eq!(summary.verdicts.len(), 1);
    assert!(summary.cell("made").unwrap().line.is_some());
}

#[test]
fn a_record_without_checkpoints_has_none() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.push(rep("c", 0, 1e9));
    assert!(found(&builder).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn whatever_a_record_claims_no_figure_is_not_a_number(ns in prop::collection::vec(any::<u64>(), 6)) {
        let mut builder = training(&[CheckpointOutcome::Complete, failed(), CheckpointOutcome::Unfinished]);
        builder.edit_reps("made", |rep| {
            for one in &mut rep.checkpoints {
                (one.due_ns, one.begun_ns, one.stall_ns) = (ns[0], ns[1], ns[2]);
                (one.write_ns, one.publish_ns, one.bytes) = (ns[3], ns[4], ns[5]);
            }
        });
        let found = found(&builder);
        let job = &found.jobs[0];
        let rates = [job.written.bps, job.written.checkpoint_s, job.stall_share].into_iter().flatten();
        let all = rates.map(|rate| rate.mean).chain([job.stall_s, job.interval_s, job.overhead].into_iter().flatten());
        prop_assert!(all.into_iter().all(f64::is_finite), "{job:?}");
        let spans = job.timeline.iter().flat_map(|one| &one.spans);
        for span in spans {
            prop_assert!(span.begun_s <= span.durable_s, "{span:?}");
        }
    }
}
