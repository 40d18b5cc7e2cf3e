//! What a gate on regressions makes of comparisons: the only thing that turns one into an exit code.

use std::path::Path;

use analysis::{Comparison, RegressionResult, Undecided};
use record::Gate;
use report::words::comparison::regressions;

use crate::args::ShowArgs;
use crate::comparing::{self, Rules};
use crate::exit::{Exit, Failure};
use crate::samples::{self, Samples};
use crate::{baseline, output};

/// Demands that are named one by one.
// A regression of the storage makes every cell slower; five of them say as much as fifty.
const NAMED_MAX: usize = 5;

/// How comparisons stand against a gate: as an exit code and in words.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome(RegressionResult);

impl Outcome {
    /// Of several comparisons together.
    pub(crate) fn of_all(comparisons: &[Comparison], gate: &Gate) -> Self {
        Self(RegressionResult::of_all(comparisons, gate))
    }

    /// The exit code.
    pub(crate) fn exit(&self, strict: bool) -> Exit {
        match &self.0 {
            RegressionResult::Regressed(_) => Exit::Regressed,
            RegressionResult::Inconclusive(_) if strict => Exit::Inconclusive,
            RegressionResult::Met | RegressionResult::Inconclusive(_) => Exit::Ok,
        }
    }

    /// `gate  regressed: disk throughput by 14.9 %, the margin is 10 %`, as the last lines of a page.
    pub(crate) fn words(&self) -> String {
        let demands = regressions(&self.0);
        match &self.0 {
            RegressionResult::Met => "gate  no regression\n".to_owned(),
            RegressionResult::Regressed(_) => lines("regressed", &demands),
            RegressionResult::Inconclusive(_) => lines("inconclusive", &demands),
        }
    }
}

fn lines(word: &str, list: &[String]) -> String {
    let named = list.iter().take(NAMED_MAX).map(|demand| format!("gate  {word}: {}\n", feed::plain(demand)));
    let more = list.len().saturating_sub(NAMED_MAX) as u64;
    let rest = (more > 0).then(|| format!("gate  {word}: and {more} more\n"));
    named.chain(rest).collect()
}

/// A run that has just ended beside the baseline that its gate names.
#[derive(Debug)]
pub(crate) struct Past {
    comparison: Option<Comparison>,
    /// What the gate makes of it; absent where the gate asks for no margin.
    outcome: Option<Outcome>,
}

impl Past {
    /// Compares them; `None` where the gate names no baseline.
    ///
    /// A baseline that does not exist yet, holds too few runs or none that is comparable is inconclusive: the first nights
    /// of a gate cannot fail it, and cannot pass it silently either.
    pub(crate) fn of(folder: &Path, results: &Path, gate: &Gate) -> Result<Option<Self>, Failure> {
        let Some(name) = &gate.baseline else { return Ok(None) };
        let run = samples::read(folder)?;
        let found = baseline::find(name, results)?;
        if found.folders.is_none() {
            output::say(&format!(
                "warning: there is no baseline `{name}` yet: add runs with --add-to {name}"
            ));
        }
        let before = Samples::read(&found.folders.unwrap_or_default(), |_| true);
        before.warn();
        let (comparison, outcome) = match comparing::stored(name, &before.runs, &run, &Rules::of(gate)) {
            Ok(comparison) => {
                let outcome = RegressionResult::of(&comparison, gate);
                (Some(comparison), outcome)
            }
            Err(refusal) => {
                // The run itself is good, and its verdict stands: what cannot be compared is only said.
                output::say(&refusal.replacen("error", "warning", 1));
                (None, RegressionResult::Inconclusive(vec![Undecided::NotComparable(name.clone())]))
            }
        };
        let outcome = Some(Outcome(outcome)).filter(|_| !gate.regression.is_empty());
        Ok(Some(Self { comparison, outcome }))
    }

    /// What the gate makes of it.
    pub(crate) fn result(&self) -> Option<&RegressionResult> {
        self.outcome.as_ref().map(|outcome| &outcome.0)
    }

    /// Prints the comparison and what the gate makes of it; how the run exits by that.
    pub(crate) fn show(&self, strict: bool, show: ShowArgs) -> Result<Exit, Failure> {
        if let Some(comparison) = &self.comparison {
            show.beside(&report::comparison_terminal(comparison, output::screen()))?;
        }
        let Some(outcome) = &self.outcome else { return Ok(Exit::Ok) };
        show.beside(&outcome.words())?;
        Ok(outcome.exit(strict))
    }
}

/// Why a run must not be added to a baseline: it is worse than the runs there in any metric. A run that is not comparable
/// begins a series of its own.
pub(crate) fn from_baseline(folder: &Path, results: &Path, name: &str) -> Result<Option<String>, Failure> {
    let run = samples::read(folder)?;
    let before = Samples::read(&baseline::find(name, results)?.folders.unwrap_or_default(), |_| true);
    // Without the gate's own margins: a baseline that drifts by less than them each night would drift for
    // ever.
    let rules = Rules { margins: Vec::new(), ..Rules::of(&run.run.gate) };
    let Ok(comparison) = comparing::stored(name, &before.runs, &run, &rules) else { return Ok(None) };
    let found = RegressionResult::of(&comparison, &Gate::default());
    let first = regressions(&found).into_iter().next();
    let is_worse = matches!(found, RegressionResult::Regressed(_));
    Ok(first.filter(|_| is_worse).map(|words| format!("it is worse than the runs there: {words}")))
}

#[cfg(test)]
mod tests {
    use analysis::{
        CellComparison, Change, Effect, Excluded, Exclusion, GapCause, Headline, Metric, Pairing, Ratio, Side,
    };
    use feed::Compared;

    use super::*;

    fn effect(metric: Compared, change: Change) -> Effect {
        Effect {
            metric: Metric::of(metric, true),
            before: 1e9,
            after: 8e8,
            ratio: Ratio { low: 0.78, mean: 0.8, high: 0.82 },
            samples_before: 8,
            samples_after: 1,
            detectable: Some(0.04),
            margin: 0.1,
            change,
            because: None,
        }
    }

    /// Cells of one target by their effects; a headline of `headline` where there is one.
    fn comparison(headline: Option<Change>, cells: &[(Compared, Change, bool)]) -> Comparison {
        let side = || Side { name: "side".to_owned(), run_ids: Vec::new() };
        let cell = |(index, (metric, change, excluded)): (usize, &(Compared, Change, bool))| CellComparison {
            cell: format!("cell {index}"),
            target: "disk".to_owned(),
            label: "pread".to_owned(),
            effects: vec![effect(*metric, *change)],
            excluded: excluded.then(|| Excluded::After(vec![Exclusion::Gap(GapCause::Interrupted.into())])),
            falls_count: false,
        };
        let headline = headline.map(|change| Headline {
            target: "disk".to_owned(),
            cells: 1,
            effect: effect(Compared::Throughput, change),
        });
        Comparison {
            pairing: Pairing::Stored,
            scenario: "nightly".to_owned(),
            before: side(),
            after: side(),
            cells: cells.iter().enumerate().map(cell).collect(),
            headlines: headline.into_iter().collect(),
            lost: Vec::new(),
            gaps: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn gate(metrics: &[Compared]) -> Gate {
        let margin = |metric: &Compared| record::Margin { metric: metric.name().to_owned(), share: 0.1 };
        Gate { regression: metrics.iter().map(margin).collect(), ..Gate::default() }
    }

    fn exits(comparison: &Comparison, metrics: &[Compared]) -> (Exit, Exit) {
        let outcome = Outcome(RegressionResult::of(comparison, &gate(metrics)));
        (outcome.exit(false), outcome.exit(true))
    }

    use Change::{Improved, Inconclusive, Regressed, Unchanged};
    use Compared::{P50, P99, Throughput};

    #[test]
    fn a_headline_or_a_cell_that_regressed_is_four() {
        let four = (Exit::Regressed, Exit::Regressed);
        assert_eq!(exits(&comparison(Some(Regressed), &[]), &[]), four);
        assert_eq!(exits(&comparison(Some(Unchanged), &[(P99, Regressed, false)]), &[]), four);
        assert_eq!(exits(&comparison(Some(Inconclusive), &[(P99, Regressed, false)]), &[P99]), four);
    }

    #[test]
    fn a_metric_that_the_gate_does_not_name_decides_nothing() {
        let by_p99 = comparison(Some(Unchanged), &[(P99, Regressed, false)]);
        assert_eq!(exits(&by_p99, &[Throughput]), (Exit::Ok, Exit::Ok));
    }

    #[test]
    fn an_excluded_cell_never_counts_and_excluded_cells_alone_are_inconclusive() {
        let beside = comparison(Some(Improved), &[(Throughput, Regressed, true)]);
        assert_eq!(exits(&beside, &[]), (Exit::Ok, Exit::Ok));
        let alone = comparison(None, &[(Throughput, Regressed, true)]);
        assert_eq!(exits(&alone, &[]), (Exit::Ok, Exit::Inconclusive));
        assert_eq!(exits(&alone, &[Throughput]), (Exit::Ok, Exit::Inconclusive));
    }

    #[test]
    fn nothing_compared_is_inconclusive_and_says_so() {
        let nothing = comparison(None, &[]);
        assert_eq!(
            Outcome(RegressionResult::of(&nothing, &gate(&[]))).words(),
            "gate  inconclusive: nothing could be compared\n"
        );
        assert_eq!(exits(&nothing, &[]), (Exit::Ok, Exit::Inconclusive));
        assert_eq!(exits(&nothing, &[P50]), (Exit::Ok, Exit::Inconclusive));
    }

    #[test]
    fn a_gated_metric_without_a_figure_does_not_pass() {
        let by_throughput = comparison(Some(Unchanged), &[(Throughput, Unchanged, false)]);
        assert_eq!(exits(&by_throughput, &[Throughput, P99]), (Exit::Ok, Exit::Inconclusive));
        assert_eq!(exits(&by_throughput, &[]), (Exit::Ok, Exit::Ok));
    }

    #[test]
    fn one_decided_cell_decides_a_metric_without_a_headline() {
        let cells = [(P50, Inconclusive, false), (P50, Unchanged, false)];
        assert_eq!(exits(&comparison(Some(Unchanged), &cells), &[P50]), (Exit::Ok, Exit::Ok));
        assert_eq!(exits(&comparison(Some(Unchanged), &cells[..1]), &[P50]), (Exit::Ok, Exit::Inconclusive));
    }

    #[test]
    fn the_gravest_of_several_comparisons_counts() {
        let all = [comparison(Some(Unchanged), &[]), comparison(Some(Inconclusive), &[])];
        assert_eq!(Outcome::of_all(&all, &gate(&[])).exit(true), Exit::Inconclusive);
        let all = [comparison(Some(Inconclusive), &[]), comparison(Some(Regressed), &[])];
        let outcome = Outcome::of_all(&all, &gate(&[]));
        assert_eq!(outcome.exit(true), Exit::Regressed);
        assert_eq!(outcome.words(), "gate  regressed: disk throughput -20.0 %, the margin is 10.0 %\n");
        assert_eq!(Outcome::of_all(&all[..0], &gate(&[])), Outcome(RegressionResult::Met));
    }

    #[test]
    fn many_regressions_are_counted_and_not_all_listed() {
        let cells = [(P99, Regressed, false); 9];
        let words = Outcome(RegressionResult::of(&comparison(None, &cells), &gate(&[]))).words();
        assert_eq!(words.lines().count(), NAMED_MAX + 1);
        assert!(words.ends_with("gate  regressed: and 4 more\n"), "{words}");
    }

    /// The golden record under another name, with all its rates multiplied.
    fn store(results: &Path, name: &str, factor: f64) {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/fixtures/golden");
        let read = |file: &str| std::fs::read_to_string(golden.join(file)).unwrap();
        let write = |file: &str, text: String| std::fs::write(results.join(name).join(file), text).unwrap();
        std::fs::create_dir(results.join(name)).unwrap();
        let mut run: serde_json::Value = serde_json::from_str(&read("run.json")).unwrap();
        run["run_id"] = name.into();
        write("run.json", run.to_string());
        write("env.json", read("env.json"));
        let quickened = |line: &str| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            for counter in ["ops", "bytes"] {
                if let Some(count) = line["counters"][counter].as_f64() {
                    line["counters"][counter] = ((count * factor) as u64).into();
                }
            }
            [line.to_string(), "\n".to_owned()]
        };
        write("cells.jsonl", read("cells.jsonl").lines().flat_map(quickened).collect());
    }

    #[test]
    fn a_run_is_held_against_the_baseline_of_its_gate() {
        let results = tempfile::tempdir().unwrap();
        let results = results.path();
        let show = ShowArgs { full: false, json: false };
        let after = |run: &str, gate: &Gate| {
            let past = Past::of(&results.join(run), results, gate).unwrap()?;
            Some(past.show(true, show).unwrap())
        };
        for (number, factor) in [1.0, 1.01, 0.99, 1.004, 0.985, 1.009, 0.996, 1.003].iter().enumerate() {
            let name = format!("run-{number}");
            store(results, &name, *factor);
            baseline::add(results, "nightly", &results.join(&name)).unwrap();
        }
        store(results, "slow", 0.8);
        let gate = Gate { baseline: Some("nightly".to_owned()), ..gate(&[Throughput]) };
        assert_eq!(after("slow", &gate), Some(Exit::Regressed));
        let runs = Some(9);
        assert_eq!(after("slow", &Gate { runs, ..gate.clone() }), Some(Exit::Inconclusive));
        let weekly = Some("weekly".to_owned());
        assert_eq!(after("slow", &Gate { baseline: weekly, ..gate.clone() }), Some(Exit::Inconclusive));
        // Without margins the comparison is shown and decides nothing; without a baseline there is none.
        assert_eq!(after("slow", &Gate { regression: Vec::new(), ..gate.clone() }), Some(Exit::Ok));
        assert_eq!(after("slow", &Gate { baseline: None, ..gate }), None);
    }
}
