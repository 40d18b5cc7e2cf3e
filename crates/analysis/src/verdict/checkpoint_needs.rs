//! The checkpoints of a need against the times that they may take.

use feed::{CheckpointNeed, Judgement, SaveKind, judge_time};
use record::{Role, Target};

use super::against::wrong_bytes;
use super::checkpoint_verdict::{CheckpointCause, CheckpointPart, CheckpointVerdict, Doubt};
use super::source::Source;
use crate::cell;
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::checkpoints::Timed;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::fresh::{Saving, saves_as_asked};
use crate::cell::looks;
use crate::cell::repetitions::Repetitions;
use crate::verdict::scope::Scope;

/// Each part that the need asks for of a target, whose reads are judged by the cell of this name.
pub(super) fn of_target(source: &Source<'_>, target: &Target, reads: Option<&str>) -> Vec<CheckpointVerdict> {
    let Some(need) = source.cells.need.as_ref().ok().and_then(|need| need.checkpoint.as_ref()) else {
        return Vec::new();
    };
    let reads = reads.and_then(|name| source.cells.all.iter().find(|cell| cell.cell.cell == name));
    let saving = Saving::of(&source.cells, &target.name, reads);
    let asked = Asked { source, target, need };
    let within_s = |ns: u64| ns as f64 / 1e9;
    let writes = saving.writes.map(|cell| asked.judge(CheckpointPart::Write, cell, within_s(need.within_ns)));
    let restores = saving.restores.zip(need.restore_within_ns);
    let restores = restores.map(|(cell, ns)| asked.judge(CheckpointPart::Restore, cell, within_s(ns)));
    writes.into_iter().chain(restores).collect()
}

/// What is asked of one target.
#[derive(Clone, Copy)]
struct Asked<'a> {
    source: &'a Source<'a>,
    target: &'a Target,
    need: &'a CheckpointNeed,
}

impl Asked<'_> {
    fn judge(&self, part: CheckpointPart, cell: &CellSummary, within_s: f64) -> CheckpointVerdict {
        let timed = self.timed(part, cell, within_s);
        let measured_bytes = cell.cell.checkpoint.as_ref().map_or(0, |plan| plan.bytes);
        let (judgement, cause) = match self.unmeasured(cell) {
            Some(cause) => (Judgement::Uncertain, cause),
            None => self.judged(part, cell, timed.as_ref(), (within_s, measured_bytes)),
        };
        let interval = timed.as_ref().and_then(|timed| timed.time_s).and_then(|time| time.interval);
        // What a smaller checkpoint takes of a job is nobody's loss.
        let is_whole = measured_bytes >= self.need.host_bytes;
        let stops = part == CheckpointPart::Write && self.need.kind == SaveKind::Sync && is_whole;
        let lost = |seconds: f64| self.need.overhead(seconds.max(0.0));
        CheckpointVerdict {
            part,
            judgement,
            label: self.need.label.clone(),
            within_s,
            host_bytes: self.need.host_bytes,
            measured_bytes,
            cell: cell.cell.cell.clone(),
            is_beside_reads: cell.cell.training.is_some(),
            lost_share: interval.filter(|_| stops).and_then(|one| lost(one.low).zip(lost(one.high))),
            timed,
            scope: self.scope(part, cell),
            cause,
        }
    }

    /// Times of the fresh repetitions of `cell`; `None` where it has none.
    fn timed(&self, part: CheckpointPart, cell: &CellSummary, within_s: f64) -> Option<Timed> {
        let Source { record, lines, .. } = self.source;
        let measure = &record.run.measure;
        let all = lines.of_cell(&cell.cell.cell);
        let reps = Repetitions::of(all, &cell.cell, Role::Confirm, measure);
        if reps.is_empty() {
            return None;
        }
        let error = cell::error_of_fresh(record, &cell.cell, &reps);
        // What failed or was late counts of all repetitions, whether they make a point or not: it was asked for as well.
        match part {
            CheckpointPart::Write => {
                let all = Timed::of_saves(all, within_s, error);
                let fresh = Timed::of_saves(&reps.used, within_s, error);
                Some(Timed { time_s: fresh.time_s, repetitions: fresh.repetitions, ..all })
            }
            CheckpointPart::Restore => {
                let context = cell::context(record, lines, &cell.cell, measure)?;
                let context = crate::cell::context::Context { error, ..context };
                let bytes = cell.cell.checkpoint.as_ref()?.bytes;
                Some(Timed::of_restores(&context, (&reps.used, all), bytes, within_s))
            }
        }
    }

    /// Why nothing can be judged: a server of feedline's own, or nothing that was measured again.
    fn unmeasured(&self, cell: &CellSummary) -> Option<CheckpointCause> {
        if let Measurement::Failed { reason, .. } = &cell.measured {
            return Some(CheckpointCause::AskedFailed { reason: reason.clone() });
        }
        if self.target.demo {
            return Some(CheckpointCause::Demo);
        }
        match &cell.confirmed {
            Some(Measurement::Figures(_)) => None,
            Some(Measurement::Failed { reason, .. }) => {
                Some(CheckpointCause::AskedFailed { reason: reason.clone() })
            }
            Some(Measurement::NotRun { reason }) => {
                Some(CheckpointCause::NotConfirmed { reason: reason.clone() })
            }
            Some(Measurement::Operations(_)) | None => {
                let reason = self.source.lines.not_run(&cell.cell.cell);
                Some(CheckpointCause::NotConfirmed { reason })
            }
        }
    }

    /// What the times say, and what keeps them from saying more than their interval does.
    fn judged(
        &self,
        part: CheckpointPart,
        cell: &CellSummary,
        timed: Option<&Timed>,
        (within_s, bytes): (f64, u64),
    ) -> (Judgement, CheckpointCause) {
        let uncertain = |cause| (Judgement::Uncertain, cause);
        let ranks = self.source.record.run.ranks;
        if ranks > 1 {
            return uncertain(CheckpointCause::Doubted(Doubt::SeveralRanks { ranks }));
        }
        let flag = |gravity| forbidding(part, cell, gravity).map(CheckpointCause::Flagged);
        let wrong = wrong_bytes(self.source.cells, &self.target.name).map(CheckpointCause::Flagged);
        if let Some(cause) = wrong.or_else(|| flag(Gravity::ForbidsVerdict)) {
            return uncertain(cause);
        }
        let interval = timed.and_then(|timed| Some((timed, timed.time_s?.interval?)));
        let Some((timed, interval)) = interval else {
            // Without any time at all, failures are what there is to say.
            let made = timed.map_or(0, |timed| timed.repetitions);
            let lost = timed.and_then(lost).map(CheckpointCause::Doubted);
            return uncertain(lost.unwrap_or(CheckpointCause::TooFewRepetitions { made }));
        };
        match judge_time(interval, within_s) {
            Judgement::Feeds => {
                let doubt = self.doubt(part, cell, timed, bytes).map(CheckpointCause::Doubted);
                match flag(Gravity::ForbidsFeeds).or(doubt) {
                    Some(cause) => uncertain(cause),
                    None => (Judgement::Feeds, CheckpointCause::InTime),
                }
            }
            Judgement::Starves => {
                // A larger one than has to be written may be late where the other is not.
                let other = (bytes > self.need.host_bytes).then(|| self.other_size(bytes));
                match flag(Gravity::ForbidsStarves).or(other.filter(|_| !self.is_rounded(cell, bytes))) {
                    Some(cause) => uncertain(cause),
                    None => (Judgement::Starves, CheckpointCause::Late),
                }
            }
            Judgement::Uncertain => uncertain(CheckpointCause::Straddles {
                made: timed.repetitions,
                rounds: looks::rounds_to_decide(interval, within_s, timed.repetitions),
            }),
        }
    }

    /// What forbids FEEDS beside the flags; hosts last, since they are open whatever this one does.
    fn doubt(&self, part: CheckpointPart, cell: &CellSummary, timed: &Timed, bytes: u64) -> Option<Doubt> {
        let of = self.need.host_bytes;
        let is_written = part == CheckpointPart::Write;
        let durable = cell.cell.checkpoint.as_ref().is_some_and(|plan| plan.durable);
        let need = self.source.cells.need.as_ref().ok();
        let is_apart = need.is_some_and(feed::Need::asks_rate)
            && !saves_as_asked(self.need, cell)
            && (self.need.beside_others || (is_written && self.need.kind == SaveKind::Async));
        let hosts = self.scope(part, cell).hosts_open();
        let late = Doubt::SomeLate { late: timed.late, made: timed.made };
        lost(timed)
            .or_else(|| (is_written && !durable).then_some(Doubt::NotDurable))
            .or_else(|| (bytes < of).then_some(Doubt::OtherSize { bytes, of }))
            .or_else(|| (timed.cut > 0).then_some(Doubt::Cut { saves: timed.cut }))
            .or_else(|| (timed.late > 0).then_some(late))
            .or_else(|| is_apart.then_some(Doubt::Apart { others: self.need.beside_others }))
            .or_else(|| (hosts > 0).then_some(Doubt::HostsOpen { hosts }))
    }

    fn other_size(&self, bytes: u64) -> CheckpointCause {
        CheckpointCause::Doubted(Doubt::OtherSize { bytes, of: self.need.host_bytes })
    }

    /// Whether a checkpoint is larger only for its files being of one size.
    fn is_rounded(&self, cell: &CellSummary, bytes: u64) -> bool {
        let files = cell.cell.checkpoint.as_ref().map_or(0, |plan| plan.files);
        bytes - self.need.host_bytes < u64::from(files)
    }

    /// Of what is written, no cache below the client is open: it was durable.
    fn scope(&self, part: CheckpointPart, cell: &CellSummary) -> Scope {
        let scope = Scope::of(self.source, self.target, cell);
        let need = self.source.cells.need.as_ref().ok();
        let is_of_host = need.is_some_and(|need| need.scope == feed::Scope::Host);
        let scope = Scope { hosts_needed: if is_of_host { 1 } else { self.need.hosts }, ..scope };
        match part {
            CheckpointPart::Write => Scope { caches_open: Vec::new(), caches_excluded: Vec::new(), ..scope },
            CheckpointPart::Restore => scope,
        }
    }
}

fn lost(timed: &Timed) -> Option<Doubt> {
    (timed.failed > 0).then(|| Doubt::Lost { count: timed.failed, reason: timed.reason.clone() })
}

/// The first doubt of this gravity in the figures of the fresh repetitions.
fn forbidding(part: CheckpointPart, cell: &CellSummary, gravity: Gravity) -> Option<Flag> {
    let figures = cell.confirmed.as_ref().and_then(Measurement::figures)?;
    let is_of_saves = |flag: &Flag| cell.cell.training.is_none() || concerns_saves(flag);
    // Saves are counted and timed one by one: those that failed are known, and no window cuts one.
    let is_counted = |flag: &Flag| {
        part == CheckpointPart::Write && matches!(flag, Flag::Errors { .. } | Flag::TooShort { .. })
    };
    let mut flags = figures.flags.iter().filter(|flag| is_of_saves(flag) && !is_counted(flag));
    flags.find(|flag| flag.gravity() == gravity).cloned()
}

/// Whether a flag of a job is as true of what it saves: where it is, and whether all of the job ended. What is wrong with its
/// reads is said of its reads.
fn concerns_saves(flag: &Flag) -> bool {
    // A client that was held up was so for its saves too.
    flag.gravity() == Gravity::ForbidsStarves
        || matches!(
            flag,
            Flag::InMemory { .. }
                | Flag::GoneOnElsewhere(_)
                | Flag::NotEmulated { .. }
                | Flag::NotWritten { .. }
                | Flag::NotFlushed { .. }
                | Flag::FailedRepetitions { .. }
        )
}
