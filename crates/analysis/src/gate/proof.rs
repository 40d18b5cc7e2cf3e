//! What several runs of one scenario prove together.
//!
//! The run is the sample: runs prove FEEDS, or STARVES, where every one of them says so. One that does not leaves it open,
//! whatever the others say, so adding runs never turns doubt into FEEDS.

use feed::Judgement;
use record::Run;

use crate::gate::GateResult;
use crate::summary::Summary;
use crate::verdict::Verdict;
use crate::verdict::scope::Evidence;
use crate::verdict::tiers::CacheBelow;

/// One run among those of a proof.
#[derive(Debug, Clone, Copy)]
pub struct ProvingRun<'a> {
    /// Nanoseconds since 1970 at its start and at its end.
    pub between_unix_ns: (u64, u64),
    /// What it says.
    pub summary: &'a Summary,
}

/// What runs say of one target together.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// Name of the target.
    pub target: String,
    /// What every run says; UNCERTAIN where they differ.
    pub judgement: Judgement,
    /// A proof where nothing is lacking.
    pub evidence: Evidence,
    /// Runs that say anything of it.
    pub runs: u32,
    /// From the start of the first to the end of the last.
    pub span_ns: u64,
    /// What is lacking; empty for a proof.
    pub lacks: Vec<Lack>,
}

/// What runs lack of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// So many more runs.
    Runs(u32),
    /// So much more time between the first and the last, nanoseconds.
    Span(u64),
    /// So many hosts that did not measure.
    Hosts(u32),
    /// A cache that may have served reads.
    Cache(CacheBelow),
    /// A profile that was measured.
    MeasuredProfile,
    /// A word of so many runs, which say UNCERTAIN.
    Word(usize),
    /// Runs that agree.
    Agreement,
    /// The demands of the gate, which so many runs miss or leave open.
    Gate(usize),
}

impl Proof {
    /// Whether it proves that the target feeds.
    pub fn feeds(&self) -> bool {
        self.judgement == Judgement::Feeds && matches!(self.evidence, Evidence::Proof { .. })
    }
}

/// Whether runs may prove one thing: the same scenario, bytes, need and places, each whole and of one process or merged.
pub fn prove_together(a: &Run, b: &Run) -> bool {
    let is_whole = |run: &Run| run.variant.is_none() && run.size.is_none();
    let places =
        |run: &Run| run.targets.iter().map(|one| (one.name.clone(), one.at.clone())).collect::<Vec<_>>();
    is_whole(a)
        && is_whole(b)
        && (&a.scenario, &a.plan_hash, a.ranks) == (&b.scenario, &b.plan_hash, b.ranks)
        && a.need.is_same(&b.need)
        && places(a) == places(b)
}

/// What `runs` prove of each storage target by `rules`.
pub fn proofs(runs: &[ProvingRun<'_>], rules: record::Proof) -> Vec<Proof> {
    let mut targets: Vec<&str> = Vec::new();
    let judged = runs.iter().flat_map(|run| &run.summary.verdicts).filter(|verdict| !verdict.demo);
    for verdict in judged {
        if !targets.contains(&verdict.target.as_str()) {
            targets.push(&verdict.target);
        }
    }
    targets.into_iter().map(|target| of_target(runs, target, rules)).collect()
}

fn of_target(runs: &[ProvingRun<'_>], target: &str, rules: record::Proof) -> Proof {
    let verdict_of = |run: &ProvingRun<'_>| -> Option<Verdict> {
        run.summary.verdicts.iter().find(|verdict| verdict.target == target && !verdict.demo).cloned()
    };
    let said: Vec<(&ProvingRun<'_>, Verdict)> =
        runs.iter().filter_map(|run| Some((run, verdict_of(run)?))).collect();
    // From the first start to the last end: what matters is how different the times of day were, not how long was
    // measured.
    let first = said.iter().map(|(run, _)| run.between_unix_ns.0).min().unwrap_or(0);
    let last = said.iter().map(|(run, _)| run.between_unix_ns.1).max().unwrap_or(0);
    let span_ns = last.saturating_sub(first);
    // All and not most: runs that disagree show that something matters which the scenario does not fix.
    let all = |word: Judgement| said.iter().all(|(_, verdict)| verdict.judgement() == word);
    let judgement = [Judgement::Feeds, Judgement::Starves].into_iter().find(|word| all(*word));
    let made = said.len() as u32;
    let mut lacks = Vec::new();
    lacks.extend((made < rules.runs).then(|| Lack::Runs(rules.runs - made)));
    lacks.extend((span_ns < rules.span_ns).then(|| Lack::Span(rules.span_ns - span_ns)));
    lacks.extend(open(said.iter().map(|(_, verdict)| verdict)));
    if judgement.is_none() {
        let open = said.iter().filter(|(_, verdict)| verdict.judgement() == Judgement::Uncertain).count();
        lacks.push(if open > 0 { Lack::Word(open) } else { Lack::Agreement });
    }
    if let Some(last) = runs.last().filter(|_| judgement == Some(Judgement::Feeds)) {
        let unmet = said.iter().filter(|(run, _)| !meets(run.summary, &last.summary.gate, target)).count();
        lacks.extend((unmet > 0).then_some(Lack::Gate(unmet)));
    }
    let evidence = if lacks.is_empty() { Evidence::Proof { runs: made } } else { Evidence::Screen };
    let judgement = judgement.unwrap_or(Judgement::Uncertain);
    Proof { target: target.to_owned(), judgement, evidence, runs: made, span_ns, lacks }
}

/// Whether one run meets what the gate of the last one demands of a target, but for the proof that no single run is.
fn meets(summary: &Summary, gate: &record::Gate, target: &str) -> bool {
    let gate = record::Gate { evidence: String::new(), ..gate.clone() };
    let mut demands = super::demands(&Summary { gate, ..summary.clone() }).into_iter();
    demands.all(|demand| demand.target != target || demand.result == GateResult::Met)
}

/// What the scopes of verdicts leave open, each once.
fn open<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Vec<Lack> {
    let mut open = Vec::new();
    // Of all parts: a restore that may have come from a cache is no proof, however well the reads are proven.
    for scope in verdicts.flat_map(Verdict::scopes) {
        let hosts = Some(scope.hosts_open()).filter(|hosts| *hosts > 0).map(Lack::Hosts);
        let caches = scope.caches_open.iter().copied().map(Lack::Cache);
        let profile = scope.extrapolated.then_some(Lack::MeasuredProfile);
        for lack in hosts.into_iter().chain(caches).chain(profile) {
            if !open.contains(&lack) {
                open.push(lack);
            }
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::confirmed_at;
    use crate::summarise;

    const HOUR_NS: u64 = 3_600_000_000_000;
    const RULES: record::Proof = record::Proof { runs: 3, span_ns: 24 * HOUR_NS };

    /// A run at a share of the line, behind a memory of which the dataset is 10 times as large.
    fn summary(of_line: f64) -> Summary {
        let mut builder = confirmed_at(&[of_line; 3]);
        builder.run.format.minor = 6;
        builder.run.targets[0].server_memory_bytes = Some(100_000_000);
        summarise(&builder.record())
    }

    fn proof(runs: &[(u64, f64)]) -> Proof {
        let summaries: Vec<Summary> = runs.iter().map(|(_, of_line)| summary(*of_line)).collect();
        let between = |hours: u64| (hours * HOUR_NS, (hours + 1) * HOUR_NS);
        let runs: Vec<ProvingRun<'_>> = runs
            .iter()
            .zip(&summaries)
            .map(|((hours, _), summary)| ProvingRun { between_unix_ns: between(*hours), summary })
            .collect();
        proofs(&runs, RULES).remove(0)
    }

    #[test]
    fn three_runs_over_a_day_that_agree_are_a_proof() {
        let proven = proof(&[(0, 1.5), (12, 1.4), (24, 1.6)]);
        assert!(proven.feeds());
        assert_eq!((proven.runs, proven.span_ns), (3, 25 * HOUR_NS));
        assert_eq!(proof(&[(0, 0.5), (12, 0.4), (24, 0.6)]).judgement, Judgement::Starves);
    }

    #[test]
    fn fewer_runs_less_time_and_runs_that_differ_are_a_screen() {
        let few = proof(&[(0, 1.5), (8, 1.5)]);
        assert!(!few.feeds());
        assert_eq!(few.lacks, [Lack::Runs(1), Lack::Span(15 * HOUR_NS)]);
        let apart = proof(&[(0, 1.5), (12, 1.5), (24, 0.5)]);
        assert_eq!((apart.judgement, apart.evidence), (Judgement::Uncertain, Evidence::Screen));
        assert_eq!(apart.lacks, [Lack::Agreement]);
    }

    #[test]
    fn each_run_has_to_meet_what_the_gate_of_the_last_one_demands() {
        // The line is 90 % of the demand, and the fixture's reads take 1 ms.
        let mut runs = [1.05, 1.06, 1.5].map(summary);
        let at = |hours: u64| (hours * HOUR_NS, (hours + 1) * HOUR_NS);
        let proven = |runs: &[Summary; 3]| {
            let runs: Vec<ProvingRun<'_>> = [0, 12, 24]
                .into_iter()
                .zip(runs)
                .map(|(hours, summary)| ProvingRun { between_unix_ns: at(hours), summary })
                .collect();
            proofs(&runs, RULES).remove(0)
        };
        runs[2].gate.feeds = vec!["disk".to_owned()];
        runs[2].gate.evidence = "proof".to_owned();
        assert!(proven(&runs).feeds());
        runs[2].gate.utilization = Some(0.95);
        assert_eq!(proven(&runs).lacks, [Lack::Gate(1)]);
        runs[2].gate.p99_ns = Some(500_000);
        assert_eq!((proven(&runs).judgement, proven(&runs).feeds()), (Judgement::Feeds, false));
        assert_eq!(proven(&runs).lacks, [Lack::Gate(3)]);
    }

    #[test]
    fn an_open_cache_is_no_proof() {
        let open = summarise(&confirmed_at(&[1.5; 3]).record());
        let at =
            |hours: u64| ProvingRun { between_unix_ns: (hours * HOUR_NS, hours * HOUR_NS), summary: &open };
        let found = proofs(&[at(0), at(12), at(25)], RULES).remove(0);
        assert!(!found.feeds());
        assert!(matches!(found.lacks[0], Lack::Cache(_)), "{:?}", found.lacks);
    }
}
