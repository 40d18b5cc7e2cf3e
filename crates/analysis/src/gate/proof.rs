//! What several runs of one scenario prove together.
//!
//! The run is the sample: runs prove FEEDS, or STARVES, where every one of them says so. One that does not leaves it open,
//! whatever the others say, so adding runs never turns doubt into FEEDS.

use feed::{Judgement, counted_noun};
use record::Run;

use crate::summary::Summary;
use crate::verdict::Verdict;
use crate::verdict::scope::Evidence;

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
    /// What is lacking, in words; empty for a proof.
    pub lacks: Vec<String>,
}

impl Proof {
    /// Whether it proves that the target feeds.
    pub fn feeds(&self) -> bool {
        self.judgement == Judgement::Feeds && matches!(self.evidence, Evidence::Proof { .. })
    }

    /// `proof: 3 runs over 26 h`, `screen: 2 runs over 9 h; lacks 1 run, 15 h more`.
    pub fn sentence(&self) -> String {
        let runs = counted_noun(u64::from(self.runs), "run");
        let made =
            format!("{}: {runs} over {}", self.evidence.name(), feed::format_duration_ns(self.span_ns));
        if self.lacks.is_empty() { made } else { format!("{made}; lacks {}", self.lacks.join(", ")) }
    }
}

/// Whether runs may prove one thing: the same scenario, bytes, need and places, each whole and of one process or merged.
pub fn prove_together(a: &Run, b: &Run) -> bool {
    let is_whole = |run: &Run| run.variant.is_none() && run.size.is_none();
    let places =
        |run: &Run| run.targets.iter().map(|one| (one.name.clone(), one.at.clone())).collect::<Vec<_>>();
    is_whole(a)
        && is_whole(b)
        && (&a.scenario, &a.plan_hash, &a.need, a.ranks) == (&b.scenario, &b.plan_hash, &b.need, b.ranks)
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
    let first = said.iter().map(|(run, _)| run.between_unix_ns.0).min().unwrap_or(0);
    let last = said.iter().map(|(run, _)| run.between_unix_ns.1).max().unwrap_or(0);
    let span_ns = last.saturating_sub(first);
    let all = |word: Judgement| said.iter().all(|(_, verdict)| verdict.judgement == word);
    let judgement = [Judgement::Feeds, Judgement::Starves].into_iter().find(|word| all(*word));
    let made = said.len() as u32;
    let mut lacks = Vec::new();
    if made < rules.runs {
        lacks.push(format!("{} more", counted_noun(u64::from(rules.runs - made), "run")));
    }
    if span_ns < rules.span_ns {
        lacks.push(format!(
            "{} more between the first and the last",
            feed::format_duration_ns(rules.span_ns - span_ns)
        ));
    }
    lacks.extend(open(said.iter().map(|(_, verdict)| verdict)));
    if judgement.is_none() {
        let apart = said.iter().filter(|(_, verdict)| verdict.judgement == Judgement::Uncertain).count();
        let words = if apart > 0 {
            format!("a word of {}", counted_noun(apart as u64, "run"))
        } else {
            "runs that agree".to_owned()
        };
        lacks.push(words);
    }
    let evidence = if lacks.is_empty() { Evidence::Proof { runs: made } } else { Evidence::Screen };
    let judgement = judgement.unwrap_or(Judgement::Uncertain);
    Proof { target: target.to_owned(), judgement, evidence, runs: made, span_ns, lacks }
}

/// What the scopes of verdicts leave open, each once.
fn open<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for scope in verdicts.filter_map(|verdict| verdict.scope.as_ref()) {
        let hosts = scope.hosts_open();
        let hosts = (hosts > 0).then(|| counted_noun(u64::from(hosts), "host"));
        let caches = scope
            .caches_open
            .iter()
            .map(|cache| format!("{cache} excluded (server_memory, and a dataset 3 times as large)"));
        let profile = scope.extrapolated.then(|| "a profile that was measured".to_owned());
        for words in hosts.into_iter().chain(caches).chain(profile) {
            if !open.contains(&words) {
                open.push(words);
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
        assert_eq!(proven.sentence(), "proof: 3 runs over 25 h");
        assert_eq!(proof(&[(0, 0.5), (12, 0.4), (24, 0.6)]).judgement, Judgement::Starves);
    }

    #[test]
    fn fewer_runs_less_time_and_runs_that_differ_are_a_screen() {
        let few = proof(&[(0, 1.5), (8, 1.5)]);
        assert!(!few.feeds());
        assert_eq!(
            few.sentence(),
            "screen: 2 runs over 9 h; lacks 1 run more, 15 h more between the first and the last"
        );
        let apart = proof(&[(0, 1.5), (12, 1.5), (24, 0.5)]);
        assert_eq!((apart.judgement, apart.evidence), (Judgement::Uncertain, Evidence::Screen));
        assert!(apart.sentence().ends_with("lacks runs that agree"), "{}", apart.sentence());
    }

    #[test]
    fn an_open_cache_is_no_proof() {
        let open = summarise(&confirmed_at(&[1.5; 3]).record());
        let at =
            |hours: u64| ProvingRun { between_unix_ns: (hours * HOUR_NS, hours * HOUR_NS), summary: &open };
        let found = proofs(&[at(0), at(12), at(25)], RULES).remove(0);
        assert!(!found.feeds());
        assert!(found.lacks[0].contains("cache excluded"), "{:?}", found.lacks);
    }
}
