//! What a gate on regressions makes of comparisons.

use feed::Compared;
use record::Gate;

use super::{Because, Change, Comparison, Effect, Excluded, Lost};
use crate::cell::metric::Metric;

/// How comparisons stand against a gate on regressions.
#[derive(Debug, Clone, PartialEq)]
pub enum RegressionResult {
    /// No gated metric regressed, and for each the data can tell.
    Met,
    /// At least one did.
    Regressed(Vec<Regression>),
    /// None is known to have, and these could not be decided.
    Inconclusive(Vec<Undecided>),
}

/// A regression.
#[derive(Debug, Clone, PartialEq)]
pub enum Regression {
    /// A metric is worse beyond its margin.
    Worse {
        /// Name of the cell, or of the target of a headline.
        name: String,
        /// By how much.
        effect: Effect,
        /// What else is wrong with a cell whose fall counts all the same.
        although: Option<Excluded>,
    },
    /// A cell whose repetitions all failed.
    Lost(Lost),
}

/// Something that the data cannot tell.
#[derive(Debug, Clone, PartialEq)]
pub enum Undecided {
    /// The headline of a target.
    Headline {
        /// The target.
        target: String,
        /// Its metric.
        metric: &'static Metric,
        /// Why.
        because: Option<Because>,
    },
    /// A target on none of whose cells anything may rest.
    Target(String),
    /// A cell that was not measured.
    NotMeasured(Lost),
    /// A metric of which no cell can tell.
    Metric(Compared),
    /// Nothing was compared.
    Nothing,
    /// No run of the baseline of this name is comparable.
    NotComparable(String),
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
        let lost = |failed| comparison.lost.iter().filter(move |lost| lost.failed == failed).cloned();
        let regressed = judged.iter().filter(|(_, effect)| effect.change == Change::Regressed);
        let regressed = regressed.map(|(name, effect)| worse(name, effect, None));
        let regressed: Vec<Regression> = regressed
            .chain(collapses(comparison, is_gated))
            .chain(lost(true).map(Regression::Lost))
            .collect();
        // Before what is undecided: one regression is an answer, however little else the data can tell.
        if !regressed.is_empty() {
            return Self::Regressed(regressed);
        }
        let mut open = undecided(comparison, is_gated);
        open.extend(lost(false).map(Undecided::NotMeasured));
        for metric in Compared::ALL.into_iter().filter(|metric| is_gated(metric.name())) {
            // A metric that the gate names must be told of. One that it does not name, and that no cell has, is
            // not missed.
            let named = !gate.regression.is_empty();
            let of_metric = || judged.iter().filter(|(_, effect)| effect.metric.compared() == Some(metric));
            let has_headline =
                comparison.headlines.iter().any(|one| one.effect.metric.compared() == Some(metric));
            // One decided cell is enough: among many cells some are always too noisy to tell.
            let is_decided = of_metric().any(|(_, effect)| effect.change != Change::Inconclusive);
            if !has_headline && !is_decided && (named || of_metric().next().is_some()) {
                open.push(Undecided::Metric(metric));
            }
        }
        if judged.is_empty() && open.is_empty() {
            // A gate over an empty comparison would otherwise be met by having nothing to say.
            open.push(Undecided::Nothing);
        }
        if open.is_empty() { Self::Met } else { Self::Inconclusive(open) }
    }

    /// Of several comparisons together: the gravest counts.
    pub fn of_all(comparisons: &[Comparison], gate: &Gate) -> Self {
        let (mut regressed, mut open) = (Vec::new(), Vec::new());
        for comparison in comparisons {
            match Self::of(comparison, gate) {
                Self::Met => {}
                Self::Regressed(more) => regressed.extend(more),
                Self::Inconclusive(more) => open.extend(more),
            }
        }
        match (regressed.is_empty(), open.is_empty()) {
            (false, _) => Self::Regressed(regressed),
            (true, false) => Self::Inconclusive(open),
            (true, true) => Self::Met,
        }
    }
}

fn worse(name: &str, effect: &Effect, although: Option<Excluded>) -> Regression {
    Regression::Worse { name: name.to_owned(), effect: effect.clone(), although }
}

/// Cells on which nothing may rest after, and that are worse by the whole margin all the same.
fn collapses(comparison: &Comparison, is_gated: impl Fn(&str) -> bool) -> Vec<Regression> {
    let mut found = Vec::new();
    // A storage that collapses flags itself: left out as doubtful, the worst regression would pass the gate.
    for cell in comparison.cells.iter().filter(|cell| cell.falls_count) {
        let gated = cell.effects.iter().filter(|effect| is_gated(effect.metric.word()));
        let fallen = gated.filter(|effect| effect.is_worse_beyond_margin());
        found.extend(fallen.map(|effect| worse(&cell.cell, effect, cell.excluded.clone())));
    }
    found
}

/// Targets whose headline cannot tell, or that have none although both sides have their cells.
fn undecided(comparison: &Comparison, is_gated: impl Fn(&str) -> bool) -> Vec<Undecided> {
    let open = comparison
        .headlines
        .iter()
        .filter(|one| is_gated(one.effect.metric.word()) && one.effect.change == Change::Inconclusive);
    let open = open.map(|one| Undecided::Headline {
        target: one.target.clone(),
        metric: one.effect.metric,
        because: one.effect.because,
    });
    let mut without: Vec<&str> = comparison.cells.iter().map(|cell| cell.target.as_str()).collect();
    without.retain(|target| comparison.headlines.iter().all(|one| one.target != *target));
    without.dedup();
    // Headlines are of throughput and utilization alone, so that a gate on latencies misses nothing without
    // one.
    if !is_gated(Compared::Throughput.name()) && !is_gated(Compared::Au.name()) {
        without.clear();
    }
    open.chain(without.into_iter().map(|target| Undecided::Target(target.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::flag::Flag;
    use crate::cell::gap::GapCause;
    use crate::cell::metric::Margins;
    use crate::comparison::tests::sample;
    use crate::comparison::{Exclusion, compare_variants};

    fn gone() -> Vec<Exclusion> {
        vec![Exclusion::Gap(GapCause::Recorded("gone".to_owned()).into())]
    }

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
        let few = Flag::FewTurns { repetitions: 3, turns: 4.0 };
        let RegressionResult::Regressed(found) =
            judged(|cell| cell.excluded = vec![Exclusion::Flag(few.clone())])
        else {
            panic!("not regressed")
        };
        let Regression::Worse { effect, although: Some(Excluded::Sides([_, after])), .. } = &found[0] else {
            panic!("{found:?}")
        };
        assert_eq!((effect.metric.word(), after.reasons.len()), ("throughput", 1));
        assert!((effect.ratio.mean - (-2.0_f64).exp()).abs() < 1e-9);
    }

    #[test]
    fn a_fall_within_windows_that_are_not_steady_decides_nothing() {
        let open = judged(|cell| (cell.excluded, cell.unsteady) = (gone(), true));
        assert!(matches!(open, RegressionResult::Inconclusive(_)), "{open:?}");
    }

    #[test]
    fn a_cell_that_failed_after_is_a_regression_and_one_that_was_not_measured_is_open() {
        let lose = |failed| {
            judged(|cell| {
                (cell.reps, cell.excluded, cell.failed) = (Vec::new(), gone(), failed);
            })
        };
        assert!(matches!(
            lose(true),
            RegressionResult::Regressed(found) if matches!(&found[0], Regression::Lost(one) if one.reasons == gone())
        ));
        assert!(matches!(
            lose(false),
            RegressionResult::Inconclusive(open) if open.iter().any(|one| matches!(one, Undecided::NotMeasured(_)))
        ));
    }

    #[test]
    fn a_client_that_was_the_limit_hides_changes_between_variants_and_makes_none() {
        let limited = judged(|cell| cell.client_limited = vec![Flag::NamesInMemory]);
        assert!(matches!(limited, RegressionResult::Regressed(_)), "{limited:?}");
    }
}
