//! `feedline run --proof`: one of the runs that a proof takes, and what they prove together.

use std::path::{Path, PathBuf};

use analysis::{Proof, ProvingRun, Summary};
use plan::{Evidence, Plan};
use record::{Proof as Rules, RunRecord};

use crate::exit::{Exit, Failure};
use crate::{cost, host, output, samples};

/// Runs and time that a proof takes where the gate does not say.
// As a gate has them that asks for a proof and says no more; `--proof` works without a gate.
const RULES: Rules = Rules { runs: 3, span_ns: 24 * 3_600_000_000_000 };

const NS_PER_S: u64 = 1_000_000_000;

/// What a proof takes, and where its runs lie.
pub(crate) struct ProofPlan {
    rules: Rules,
    results: PathBuf,
}

/// A run that counts towards a proof.
struct Counted {
    between_unix_ns: (u64, u64),
    summary: Summary,
}

impl ProofPlan {
    /// Says, before anything is written or measured, how many runs the proof takes and what each costs.
    pub(crate) fn announce(plan: &Plan, results: &Path) -> Self {
        let rules = match plan.gate.evidence {
            Evidence::Proof { runs, span_ns } => Rules { runs, span_ns },
            Evidence::Screen => RULES,
        };
        output::say(&format!(
            "proof: {} over {}; each {}; each {}",
            feed::counted_noun(u64::from(rules.runs), "run"),
            feed::format_duration_ns(rules.span_ns),
            cost::time(plan),
            cost::bytes(plan),
        ));
        Self { rules, results: results.to_owned() }
    }

    /// Says, before anything is measured, how many runs in the folder count towards one proof with this one, which has
    /// begun.
    pub(crate) fn count(&self, run_id: &str) -> Result<(), Failure> {
        let there = self.runs_with(run_id)?;
        // At least this one, which is not over: with enough runs there the span may still be too short.
        let left = self.rules.runs.saturating_sub(there.len() as u32).max(1);
        output::say(&format!(
            "proof: {} of this plan there, this is the next; {} to make{}",
            there.len(),
            feed::counted_noun(u64::from(left), "run"),
            there.last().map(last_read).unwrap_or_default(),
        ));
        let first = there.iter().map(|run| run.between_unix_ns.0).min();
        let last = first.unwrap_or_else(host::unix_now_ns).saturating_add(self.rules.span_ns);
        output::say(&format!(
            "proof: the last of them has to end after {}",
            host::rfc3339_utc(last / NS_PER_S)
        ));
        Ok(())
    }

    /// The proofs of `summary`'s run and of the runs that count together with it.
    pub(crate) fn add_up(&self, summary: &Summary) -> Result<Vec<Proof>, Failure> {
        let counted = self.runs_with(&summary.head.run_id)?;
        let runs: Vec<ProvingRun<'_>> = counted
            .iter()
            .map(|run| ProvingRun { between_unix_ns: run.between_unix_ns, summary: &run.summary })
            .collect();
        Ok(analysis::proofs(&runs, self.rules))
    }

    /// The runs that count towards one proof with the run of this name, in the order in which they began; only those that
    /// came to their end.
    fn runs_with(&self, run_id: &str) -> Result<Vec<Counted>, Failure> {
        let folders = if self.results.is_dir() { samples::below(&self.results)? } else { Vec::new() };
        // A run that cannot be read proves nothing, and must not keep the others from it. One at a time: each holds a file open, and
        // a run that is left out for want of files may be the one that starves.
        let read = || folders.iter().rev().filter_map(|folder| record::read_run(folder).ok());
        // From the folder and not from memory: what is proven has to follow from what is stored. It began last, and stands last.
        let Some(own) = read().map(|record| record.run).find(|run| run.run_id == run_id) else {
            return Err(anyhow::anyhow!("the record of this run cannot be read again").into());
        };
        let together = read().filter(|record| analysis::prove_together(&own, &record.run));
        let mut runs: Vec<Counted> = together.filter_map(|record| counted(&record)).collect();
        runs.sort_by_key(|run| run.between_unix_ns.0);
        Ok(runs)
    }
}

/// The exit code of a run of a proof. Where the gate asks for a proof, the gate is held against what the runs prove
/// together.
pub(crate) fn exit_of(summary: &Summary, proofs: &[Proof], strict: bool) -> Exit {
    if Exit::of_measuring(summary) == Exit::Error {
        return Exit::Error;
    }
    let mut alone = summary.clone();
    // The gate is asked once more as if one run were enough, for its other demands: latency, failed
    // targets.
    let asks_for_proof = !std::mem::take(&mut alone.gate.evidence).is_empty();
    let is_proven = |target: &String| proofs.iter().any(|proof| proof.target == *target && proof.feeds());
    if asks_for_proof && !summary.gate.feeds.iter().all(is_proven) {
        return Exit::GateMissed;
    }
    Exit::of_run(&alone, strict)
}

/// A run that came to its end.
fn counted(record: &RunRecord) -> Option<Counted> {
    let summary = analysis::summarise(record);
    // An interrupted run has figures for some cells, which is enough to look at and not to prove.
    let began = host::unix_ns(&record.run.started).filter(|_| !summary.head.interrupted)?;
    let ended = began.saturating_add(summary.head.elapsed_ns?);
    Some(Counted { between_unix_ns: (began, ended), summary })
}

/// `; the last of them read 214 GB`.
fn last_read(run: &Counted) -> String {
    let read: u64 =
        run.summary.verdicts.iter().filter_map(|verdict| Some(verdict.scopes().next()?.bytes_read)).sum();
    format!("; the last of them read {}", feed::format_bytes(read))
}
