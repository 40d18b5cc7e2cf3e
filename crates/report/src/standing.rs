//! How a run stands against its gate: by what it measured itself, and by the runs before it.

use analysis::{GateResult, RegressionResult, Summary, gate};
use serde::Serialize;

use crate::words;

/// How a run stands, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum Standing {
    None,
    Met,
    Inconclusive,
    Regressed,
    Missed,
}

impl Standing {
    /// As the exit of the run has it, with what does not hold or could not be decided, the gravest first. `past` is what the
    /// baseline of the gate made of it, where it was compared with that.
    pub(crate) fn of(summary: &Summary, past: Option<&RegressionResult>) -> (Self, Vec<String>) {
        let (own, unmet) = match gate(summary) {
            GateResult::None => (Self::None, Vec::new()),
            GateResult::Met => (Self::Met, Vec::new()),
            GateResult::Missed(unmet) => (Self::Missed, unmet),
            GateResult::Inconclusive(unmet) => (Self::Inconclusive, unmet),
        };
        let mut demands = words::gate::all(&unmet);
        let (beside, compared) = Self::beside_past(summary, past);
        if beside > own {
            demands = [compared, demands].concat();
        } else {
            demands.extend(compared);
        }
        (own.max(beside), demands)
    }

    fn beside_past(summary: &Summary, past: Option<&RegressionResult>) -> (Self, Vec<String>) {
        let asked = summary.gate.baseline.as_ref().filter(|_| !summary.gate.regression.is_empty());
        let Some(name) = asked else { return (Self::None, Vec::new()) };
        let Some(past) = past else {
            return (Self::Inconclusive, vec![format!("against the baseline {name}: not compared here")]);
        };
        let standing = match past {
            RegressionResult::Met => Self::Met,
            RegressionResult::Regressed(_) => Self::Regressed,
            RegressionResult::Inconclusive(_) => Self::Inconclusive,
        };
        (standing, words::comparison::regressions(past))
    }
}
