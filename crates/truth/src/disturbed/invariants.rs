//! What holds of every run, whatever the storages did.

use std::collections::{BTreeMap, BTreeSet};

use analysis::Summary;
use feed::Judgement;
use record::{Line, NotRun, Outcome, Rep, Reread, Role, RunRecord, counter};

use crate::disturbed::run::{Asked, Ran, Stage, reps};
use crate::disturbed::scene::Mode;
use crate::disturbed::witness::Log;

/// Share of failed operations from which on no verdict is given.
const ERRORS_MAX: f64 = 0.01;

/// What whole operations counted at the edges of a window may come to.
const COUNTING: f64 = 0.02;

/// All that does not hold of a run, in words.
pub(crate) fn violations(stage: &Stage<'_>, ran: &Ran, summary: &Summary) -> Vec<String> {
    let mut wrong = ran.wrongs.clone();
    wrong.extend(schedule(ran));
    for rep in ran.reps() {
        let name = format!("{} {:?} {} in order {}", rep.cell, rep.role, rep.rep, rep.order);
        if let Some(log) = ran.logs.get(&rep.order) {
            wrong.extend(counts(stage, rep, log).into_iter().map(|wrong| format!("{name}: {wrong}")));
            wrong.extend(lies(stage, rep, log).into_iter().map(|wrong| format!("{name}: {wrong}")));
        } else if counted(rep, counter::OPS) + counted(rep, counter::STARTED) > 0 {
            wrong.push(format!("{name}: operations are counted, and no queue was open"));
        }
    }
    wrong.extend(second_readings(ran));
    wrong.extend(verdicts(stage, ran, summary));
    wrong
}

/// Every repetition that was asked for is recorded once, or is listed as not run.
fn schedule(ran: &Ran) -> Vec<String> {
    let mut wrong = Vec::new();
    let counting = || ran.reps().filter(|rep| rep.outage.is_none() && rep.outcome != Outcome::Interrupted);
    let mut seen = BTreeSet::new();
    for rep in counting() {
        if !seen.insert((rep.role == Role::Confirm, &rep.cell, rep.rep)) {
            wrong.push(format!("{} {:?} {} was made twice", rep.cell, rep.role, rep.rep));
        }
    }
    let orders: Vec<u32> = ran.reps().map(|rep| rep.order).collect();
    if !orders.is_sorted_by(|one, other| one < other) {
        wrong.push(format!("orders are {orders:?}"));
    }
    for asked in &ran.asked {
        for cell in &asked.cells {
            let made = made(ran, asked, cell);
            let left: u32 = listed(asked, cell).map(|left| left.repetitions).sum();
            let planned = asked.rounds.end - asked.rounds.start;
            if made + left != planned {
                let role = asked.role;
                wrong.push(format!("{cell} {role:?}: {made} made and {left} listed of {planned}"));
            }
            if listed(asked, cell).any(|left| left.reason.is_empty()) {
                wrong.push(format!("{cell}: no reason is given for what was not run"));
            }
        }
    }
    wrong
}

fn made(ran: &Ran, asked: &Asked, cell: &str) -> u32 {
    let is_asked = |rep: &&Rep| {
        rep.cell == cell && rep.role == asked.role && asked.rounds.contains(&rep.rep) && rep.outage.is_none()
    };
    // What an earlier part left unfinished is made again, or listed.
    let counts = |rep: &&Rep| rep.outcome != Outcome::Interrupted || rep.order >= ran.begun;
    ran.reps().filter(is_asked).filter(counts).map(|rep| rep.rep).collect::<BTreeSet<_>>().len() as u32
}

fn listed<'a>(asked: &'a Asked, cell: &'a str) -> impl Iterator<Item = &'a NotRun> {
    asked.not_run.iter().filter(move |left| left.cell == cell)
}

fn counted(rep: &Rep, name: &str) -> u64 {
    rep.counters.get(name).copied().unwrap_or(0)
}

/// What a repetition counted is what passed through its queue.
fn counts(stage: &Stage<'_>, rep: &Rep, log: &Log) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut same = |what: &str, recorded: u64, seen: u64| {
        if recorded != seen {
            wrong.push(format!("{what}: {recorded} recorded, {seen} seen"));
        }
    };
    let Some(abandoned) = log.abandoned.map(u64::from) else {
        return vec!["its queue was not closed".to_owned()];
    };
    same("abandoned", counted(rep, counter::ABANDONED), abandoned);
    let well = counted(rep, counter::STARTED) + counted(rep, counter::WARMUP_OPS);
    same("ended well", well, log.ended_well);
    if !log.is_broken {
        same("begun", log.begun, log.ended() + abandoned);
    }
    // A verification makes an error of an operation that ended well.
    let recorded: BTreeMap<&str, u64> = rep
        .errors
        .iter()
        .filter(|(kind, _)| *kind != "corrupt")
        .map(|(kind, count)| (kind.as_str(), *count))
        .collect();
    if stage.scene.retries {
        let attempts = |kind: &str| counted(rep, &format!("{}{kind}", counter::ATTEMPT_ERRORS));
        for (kind, count) in &recorded {
            let seen = log.failed.get(kind).copied().unwrap_or(0);
            if *count > seen || attempts(kind) > seen {
                wrong.push(format!("{kind}: {count} recorded, {} attempts, {seen} seen", attempts(kind)));
            }
        }
        if counted(rep, counter::ATTEMPTS) > log.ended() {
            wrong.push(format!("{} attempts of {}", counted(rep, counter::ATTEMPTS), log.ended()));
        }
    } else if recorded != log.failed {
        wrong.push(format!("errors {recorded:?} recorded, {:?} seen", log.failed));
    }
    if rep.outcome == Outcome::Complete && log.ended_well == 0 && rep.errors.is_empty() && abandoned == 0 {
        wrong.push("it is complete, and nothing came of it".to_owned());
    }
    wrong
}

/// No buffer is lost on the way: a closed loop that is not held up hands over as many as it has each time.
fn is_held_up(stage: &Stage<'_>, rep: &Rep) -> bool {
    const TRANSIENT: [&str; 6] = ["throttled", "server", "reset", "connect", "truncated", "timeout"];
    let is_closed = matches!(stage.scene.mode, Mode::Closed | Mode::Auto);
    !is_closed || TRANSIENT.iter().any(|kind| rep.errors.contains_key(*kind)) || stage.scene.retries
}

/// Bytes that cannot be right are noticed, and right ones are not accused.
fn lies(stage: &Stage<'_>, rep: &Rep, log: &Log) -> Vec<String> {
    let mut wrong = Vec::new();
    let found = rep.errors.get("corrupt").copied().unwrap_or(0);
    let verified = counted(rep, counter::VERIFIED);
    if found > log.lies {
        wrong.push(format!("{found} lies found of {}", log.lies));
    }
    // What is looked at without a warm-up is what the last reads left in their buffers.
    let has_last = log.failed.is_empty() && log.abandoned == Some(0) && !log.is_broken;
    if stage.scene.is_checked && log.ended_well > 0 && verified == 0 && has_last {
        wrong.push(format!("none of {} reads was looked at", log.ended_well));
    }
    if verified > 0 && log.lies == log.begun && found == 0 {
        wrong.push("all that was read was wrong, and none was found".to_owned());
    }
    if log.unfilled > 0
        && !is_held_up(stage, rep)
        && !log.is_broken
        && rep.outcome == Outcome::Complete
        && has_time(stage)
    {
        wrong.push(format!("{} times fewer than {} operations were under way", log.unfilled, log.depth));
    }
    wrong
}

/// Whether repetitions end with time, and not with the data.
fn has_time(stage: &Stage<'_>) -> bool {
    matches!(stage.plan.measure.limit, plan::Limit::Duration { .. })
}

/// The second reading accuses those alone that brought wrong bytes.
fn second_readings(ran: &Ran) -> Vec<String> {
    let Some(Line::End(end)) = ran.record.lines.last() else { return Vec::new() };
    let of = |again: &Reread| {
        let log = ran.logs.get(&again.order)?;
        let all = log.lies == log.begun && again.wrong < again.checked;
        let none = log.lies == 0 && again.wrong > 0;
        (all || none).then(|| format!("order {}: {again:?} of {log:?}", again.order))
    };
    end.reread.iter().filter_map(of).collect()
}

/// No FEEDS from what failed, lied or was too slow.
fn verdicts(stage: &Stage<'_>, ran: &Ran, summary: &Summary) -> Vec<String> {
    let mut wrong = Vec::new();
    for target in &stage.plan.targets {
        if !summary.verdicts.iter().any(|verdict| verdict.target == target.name) {
            wrong.push(format!("{} has no verdict", target.name));
        }
    }
    for verdict in summary.verdicts.iter().filter(|verdict| verdict.judgement() == Judgement::Feeds) {
        let Some(cell) = verdict.cell() else {
            wrong.push(format!("{} feeds by no cell", verdict.target));
            continue;
        };
        let fresh: Vec<&Rep> = ran
            .reps()
            .filter(|rep| rep.cell == cell && rep.role == Role::Confirm && rep.outage.is_none())
            .collect();
        wrong.extend(
            feeding(stage, ran, &fresh).into_iter().map(|why| format!("{cell} is said to feed: {why}")),
        );
    }
    wrong
}

/// Why nothing can be fed by these repetitions.
fn feeding(stage: &Stage<'_>, ran: &Ran, fresh: &[&Rep]) -> Vec<String> {
    let mut why = Vec::new();
    if fresh.is_empty() {
        why.push("nothing was made afresh".to_owned());
    }
    let failed: u64 = fresh.iter().flat_map(|rep| rep.errors.values()).sum();
    let well: u64 = fresh.iter().filter_map(|rep| ran.logs.get(&rep.order)).map(|log| log.ended_well).sum();
    if failed as f64 > ERRORS_MAX * (failed + well) as f64 {
        why.push(format!("{failed} of {} operations failed", failed + well));
    }
    if fresh.iter().any(|rep| rep.errors.contains_key("corrupt")) {
        why.push("wrong bytes were found".to_owned());
    }
    if fresh.iter().all(|rep| matches!(rep.outcome, Outcome::Failed { .. })) {
        why.push("all repetitions failed".to_owned());
    }
    // What is offered differs by chance, and a job is not judged by its bytes.
    if !matches!(stage.scene.mode, Mode::Closed | Mode::Auto) {
        return why;
    }
    let line_bps = line_bps(&ran.record);
    let bps: Vec<f64> = fresh
        .iter()
        .filter(|rep| rep.window_ns > 0)
        .map(|rep| counted(rep, counter::BYTES) as f64 / rep.window_ns as f64 * 1e9)
        .collect();
    let mean = bps.iter().sum::<f64>() / bps.len() as f64;
    if mean < line_bps * (1.0 - COUNTING) {
        why.push(format!("{mean:.0} B/s for a line of {line_bps:.0} B/s"));
    }
    why
}

/// Bytes per second of the line, from what the record says of the need and the data.
fn line_bps(record: &RunRecord) -> f64 {
    let need = &record.run.need;
    let sample_bytes = record.run.datasets.first().map_or(0.0, |data| data.sample_bytes);
    need.samples_per_s.unwrap_or(0.0) * need.utilization * sample_bytes
}

/// All that was made before a run was broken off is in its place as it is gone on with.
pub(crate) fn passed_over(left: &RunRecord, resumed: &Ran) -> Vec<String> {
    let before = reps(left).filter(|rep| rep.outcome != Outcome::Interrupted).count();
    let passed = resumed.passed_over;
    let wrong =
        (before != passed).then(|| format!("gone on with: {passed} passed over of {before} made before"));
    wrong.into_iter().collect()
}

/// Where nothing goes wrong, a run that was gone on with is the undisturbed one, but for the repetition that was under way:
/// it reads other samples.
pub(crate) fn is_undisturbed(stage: &Stage<'_>, whole: &Ran, left: &RunRecord, resumed: &Ran) -> Vec<String> {
    // Arrivals follow from the samples, so that figures differ a little, and with them what is chosen by them.
    let is_exact = matches!(stage.scene.mode, Mode::Closed | Mode::Auto);
    // Time that was spent before it was broken off is spent.
    if stage.plan.measure.budget_ns.is_some() {
        return Vec::new();
    }
    let under_way = reps(left).filter(|rep| rep.outcome != Outcome::Interrupted).count();
    let counting =
        |rep: &&Rep| rep.outcome != Outcome::Interrupted && (is_exact || rep.role == Role::Measure);
    let whole: Vec<&Rep> = whole.reps().filter(counting).collect();
    let resumed: Vec<&Rep> = resumed.reps().filter(counting).collect();
    if whole.len() != resumed.len() {
        return vec![format!("gone on with: {} repetitions instead of {}", resumed.len(), whole.len())];
    }
    let differs = |at: &usize| {
        let (one, other) = (whole[*at], resumed[*at]);
        let key = |rep: &Rep| (rep.cell.clone(), rep.rep, rep.round);
        key(one) != key(other) || (*at != under_way && timeless(one) != timeless(other))
    };
    let differing = (0..whole.len()).find(differs);
    let said = differing
        .map(|at| format!("gone on with: another repetition {at}: {:?}\n{:?}", whole[at], resumed[at]));
    said.into_iter().collect()
}

/// A repetition without what depends on when it was made.
fn timeless(rep: &Rep) -> Rep {
    Rep { order: 0, window_start_ns: 0, ..rep.clone() }
}
