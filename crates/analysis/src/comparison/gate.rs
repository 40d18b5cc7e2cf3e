//! What a gate on regressions makes of comparisons.

use feed::Compared;
use record::Gate;

use super::{Change, Comparison, Effect};

/// How comparisons stand against a gate on regressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegressionResult {
    /// No gated metric regressed, and for each the data can tell.
    Met,
    /// At least one did: which, in words.
    Regressed(Vec<String>),
    /// None is known to have, and these could not be decided, in words.
    Inconclusive(Vec<String>),
}

impl RegressionResult {
    /// Whether a gate judges a metric: those that it names, and all where it names none.
    pub fn is_gated(gate: &Gate, metric: &str) -> bool {
        gate.regression.is_empty() || gate.regression.iter().any(|margin| margin.metric == metric)
    }

    /// Holds one comparison against the metrics that the gate names; all count where it names none.
    ///
    /// Every headline and every cell on which something may rest can regress. A metric is undecided where the headline
    /// of a target is; without headlines, where none of its cells is decided: of many cells, some always are too noisy.
    pub fn of(comparison: &Comparison, gate: &Gate) -> Self {
        let is_gated = |metric: &str| Self::is_gated(gate, metric);
        let judged: Vec<_> =
            comparison.judged().filter(|(_, effect)| is_gated(effect.metric.word())).collect();
        let regressed = judged.iter().filter(|(_, effect)| effect.change == Change::Regressed);
        let mut regressed: Vec<String> = regressed.map(|(name, effect)| regression(name, effect)).collect();
        regressed.extend(collapses(comparison, is_gated));
        let lost = |failed| comparison.lost.iter().filter(move |lost| lost.failed == failed);
        regressed
            .extend(lost(true).map(|lost| format!("{} has no figures any more: {}", lost.cell, lost.reason)));
        if !regressed.is_empty() {
            return Self::Regressed(regressed);
        }
        let mut open: Vec<String> = undecided(comparison, is_gated);
        open.extend(lost(false).map(|lost| format!("{} was not measured: {}", lost.cell, lost.reason)));
        for metric in Compared::ALL.into_iter().filter(|metric| is_gated(metric.name())) {
            let named = !gate.regression.is_empty();
            let of_metric = || judged.iter().filter(|(_, effect)| effect.metric.compared() == Some(metric));
            let has_headline =
                comparison.headlines.iter().any(|one| one.effect.metric.compared() == Some(metric));
            let is_decided = of_metric().any(|(_, effect)| effect.change != Change::Inconclusive);
            if !has_headline && !is_decided && (named || of_metric().next().is_some()) {
                open.push(format!("{}: no cell can tell", metric.name()));
            }
        }
        if judged.is_empty() && open.is_empty() {
            open.push("nothing could be compared".to_owned());
        }
        if open.is_empty() { Self::Met } else { Self::Inconclusive(open) }
    }

    /// Of several comparisons together: the gravest counts.
    pub fn of_all(comparisons: &[Comparison], gate: &Gate) -> Self {
        let (mut regressed, mut open) = (Vec::new(), Vec::new());
        for comparison in comparisons {
            match Self::of(comparison, gate) {
                Self::Met => {}
                Self::Regressed(words) => regressed.extend(words),
                Self::Inconclusive(words) => open.extend(words),
            }
        }
        match (regressed.is_empty(), open.is_empty()) {
            (false, _) => Self::Regressed(regressed),
            (true, false) => Self::Inconclusive(open),
            (true, true) => Self::Met,
        }
    }
}

/// Cells on which nothing may rest after, and that are worse by the whole margin all the same.
fn collapses(comparison: &Comparison, is_gated: impl Fn(&str) -> bool) -> Vec<String> {
    let mut words = Vec::new();
    for cell in comparison.cells.iter().filter(|cell| cell.falls_count) {
        let worse = cell.effects.iter().filter(|effect| is_gated(effect.metric.word()));
        let worse = worse.filter(|effect| effect.is_worse_beyond_margin());
        let because = cell.excluded.as_deref().unwrap_or_default();
        words.extend(worse.map(|effect| format!("{}; {because}", regression(&cell.cell, effect))));
    }
    words
}

/// `disk throughput -14.9 %, the margin is 10.0 %`.
fn regression(name: &str, effect: &Effect) -> String {
    let change = (effect.ratio.mean - 1.0) * 100.0;
    let margin = effect.margin * 100.0;
    format!("{name} {} {change:+.1} %, the margin is {margin:.1} %", effect.metric.word())
}

/// Targets whose headline cannot tell, or that have none although both sides have their cells.
fn undecided(comparison: &Comparison, is_gated: impl Fn(&str) -> bool) -> Vec<String> {
    let open = comparison
        .headlines
        .iter()
        .filter(|one| is_gated(one.effect.metric.word()) && one.effect.change == Change::Inconclusive);
    let mut words: Vec<String> = open
        .map(|one| {
            let because = one.effect.because.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("{} {}{because}", one.target, one.effect.metric.word())
        })
        .collect();
    let mut without: Vec<&str> = comparison.cells.iter().map(|cell| cell.target.as_str()).collect();
    without.retain(|target| comparison.headlines.iter().all(|one| one.target != *target));
    without.dedup();
    if is_gated(Compared::Throughput.name()) || is_gated(Compared::Au.name()) {
        words.extend(without.iter().map(|target| format!("{target}: nothing may rest on any of its cells")));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::metric::Margins;
    use crate::comparison::compare_variants;
    use crate::comparison::tests::sample;

    fn judged(edit: impl Fn(&mut crate::CellSample)) -> RegressionResult {
        let run = |id, logs: [f64; 3]| {
            // Throughput and AU fall, the others rise.
            let rep = |log: f64| [log, -log, -log, log, -log].map(f64::exp);
            sample(id, &[logs.map(rep).to_vec()])
        };
        let before = run("a", [0.0, 0.01, -0.01]);
        let mut after = run("b", [-2.0, -1.99, -2.01]);
        edit(&mut after.cells[0]);
        let comparison = compare_variants(&before, &after, &Margins::INTERLEAVED).unwrap();
        RegressionResult::of(&comparison, &Gate::default())
    }

    #[test]
    fn a_collapse_that_leaves_too_little_to_rest_on_is_a_regression_all_the_same() {
        let RegressionResult::Regressed(words) = judged(|cell| cell.excluded = Some("few turns".to_owned()))
        else {
            panic!("not regressed")
        };
        assert!(words[0].contains("throughput -86.5 %") && words[0].ends_with("; b: few turns"), "{words:?}");
    }

    #[test]
    fn a_fall_within_windows_that_are_not_steady_decides_nothing() {
        let open = judged(|cell| (cell.excluded, cell.unsteady) = (Some("not steady".to_owned()), true));
        assert!(matches!(open, RegressionResult::Inconclusive(_)), "{open:?}");
    }

    #[test]
    fn a_cell_that_failed_after_is_a_regression_and_one_that_was_not_measured_is_open() {
        let lose = |failed| {
            judged(|cell| {
                (cell.reps, cell.excluded, cell.failed) = (Vec::new(), Some("gone".to_owned()), failed);
            })
        };
        assert!(
            matches!(lose(true), RegressionResult::Regressed(words) if words[0].contains("any more: gone"))
        );
        assert!(
            matches!(lose(false), RegressionResult::Inconclusive(words) if words[0].contains("not measured"))
        );
    }

    #[test]
    fn a_client_that_was_the_limit_hides_changes_between_variants_and_makes_none() {
        let limited = judged(|cell| cell.client_limited = Some("CPU 97 %".to_owned()));
        assert!(matches!(limited, RegressionResult::Regressed(_)), "{limited:?}");
    }
}
