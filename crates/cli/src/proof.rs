//! `feedline run --proof`: one of the runs that a proof takes, and what they prove together.

use std::path::{Path, PathBuf};

use analysis::{ProvingRun, Summary};
use plan::{Evidence, Plan};
use record::{Proof, RunRecord};

use crate::args::RunArgs;
use crate::cmd;
use crate::exit::{Exit, Failure};
use crate::{host, output, samples};

/// Runs and time that a proof takes where the gate does not say.
const RULES: Proof = Proof { runs: 3, span_ns: 24 * 3_600_000_000_000 };

const NS_PER_S: u64 = 1_000_000_000;

/// What a proof takes, and where its runs lie.
pub(crate) struct Asked {
    rules: Proof,
    results: PathBuf,
}

impl Asked {
    /// Says, before anything is measured, how many runs there are of those that the proof takes, and what each costs.
    pub(crate) fn announce(plan: &Plan, results: &Path) -> Result<Self, Failure> {
        let rules = match plan.gate.evidence {
            Evidence::Proof { runs, span_ns } => Proof { runs, span_ns },
            Evidence::Screen => RULES,
        };
        let asked = Self { rules, results: results.to_owned() };
        let there: Vec<RunRecord> =
            asked.records()?.into_iter().filter(|record| record.run.scenario == plan.name).collect();
        let made = there.len() as u32;
        let left = rules.runs.saturating_sub(made).max(1);
        output::say(&format!(
            "proof: {} over {}; {made} of this scenario there, this is the next; {} to make, each {}; each {}{}",
            feed::counted_noun(u64::from(rules.runs), "run"),
            feed::format_duration_ns(rules.span_ns),
            feed::counted_noun(u64::from(left), "run"),
            cmd::plan::time(plan),
            cmd::plan::bytes(plan),
            there.last().map(last_read).unwrap_or_default(),
        ));
        let first = there.iter().filter_map(|record| host::unix_ns(&record.run.started)).min();
        let last = first.unwrap_or_else(unix_now_ns).saturating_add(rules.span_ns);
        output::say(&format!(
            "proof: the last of them has to end after {}",
            host::rfc3339_utc(last / NS_PER_S)
        ));
        Ok(asked)
    }

    /// Adds up the runs that prove one thing with `summary`'s, and says what they prove. Where the gate asks for a proof it
    /// is held against it in place of the one run.
    pub(crate) fn add_up(&self, summary: &Summary, args: &RunArgs) -> Result<Exit, Failure> {
        let records = self.records()?;
        let Some(own) = records.iter().find(|record| record.run.run_id == summary.head.run_id) else {
            return Err(anyhow::anyhow!("the record of this run cannot be read again").into());
        };
        let together: Vec<&RunRecord> =
            records.iter().filter(|record| analysis::prove_together(&own.run, &record.run)).collect();
        let summaries: Vec<Summary> = together.iter().map(|record| analysis::summarise(record)).collect();
        let runs = together.iter().zip(&summaries).filter(|(_, summary)| !summary.head.interrupted);
        let runs: Vec<ProvingRun<'_>> = runs
            .filter_map(|(record, summary)| {
                let began = host::unix_ns(&record.run.started)?;
                let ended = began.saturating_add(summary.head.elapsed_ns?);
                Some(ProvingRun { between_unix_ns: (began, ended), summary })
            })
            .collect();
        let proofs = analysis::proofs(&runs, self.rules);
        let width = proofs.iter().map(|proof| proof.target.chars().count()).max().unwrap_or(0);
        for proof in &proofs {
            let word = proof.judgement.name();
            args.show.beside(&format!("{word:<9} {:<width$} {}\n", proof.target, proof.sentence()))?;
        }
        let mut alone = summary.clone();
        let asks_for_proof = !std::mem::take(&mut alone.gate.evidence).is_empty();
        let of_one = cmd::run::exit_of(&alone, args.strict);
        let is_proven = |target: &String| proofs.iter().any(|proof| proof.target == *target && proof.feeds());
        let lacks_proof = asks_for_proof && !summary.gate.feeds.iter().all(is_proven);
        Ok(if lacks_proof { Exit::GateMissed } else { of_one })
    }

    /// Every run in the folder of results that can be read; none where there is no such folder yet.
    fn records(&self) -> Result<Vec<RunRecord>, Failure> {
        if !self.results.is_dir() {
            return Ok(Vec::new());
        }
        let folders = samples::below(&self.results)?;
        Ok(folders.iter().filter_map(|folder| record::read_run(folder).ok()).collect())
    }
}

/// `; the last of them read 214 GB`.
fn last_read(record: &RunRecord) -> String {
    let verdicts = analysis::summarise(record).verdicts;
    let read: u64 = verdicts.iter().filter_map(|verdict| Some(verdict.scope.as_ref()?.bytes_read)).sum();
    format!("; the last of them read {}", feed::format_bytes(read))
}

fn unix_now_ns() -> u64 {
    host::unix_time().as_nanos() as u64
}
