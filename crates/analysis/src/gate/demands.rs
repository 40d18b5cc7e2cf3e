//! The gate of a run demand by demand: what a test report shows one line each of.

use record::Gate;

use crate::gate::{GateResult, gate};
use crate::summary::Summary;

/// One demand of a gate on one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// Name of the target.
    pub target: String,
    /// What is demanded: `feeds`, `p99`.
    pub what: &'static str,
    /// What became of it; never [`GateResult::None`].
    pub result: GateResult,
}

/// Every demand that the gate makes on a target, in the order of the gate. What [`gate`] says of the whole gate follows
/// from these: missed where one is, else inconclusive where one is.
pub fn demands(summary: &Summary) -> Vec<Demand> {
    let asked = &summary.gate;
    let feeds = asked.feeds.iter().map(|target| Demand {
        target: target.clone(),
        what: "feeds",
        result: gate(&Summary {
            gate: Gate { feeds: vec![target.clone()], p99_ns: None, ..asked.clone() },
            ..of_target(summary, target)
        }),
    });
    let latency = limited(summary).into_iter().map(|target| Demand {
        result: gate(&Summary {
            gate: Gate { feeds: Vec::new(), ..asked.clone() },
            ..of_target(summary, &target)
        }),
        target,
        what: "p99",
    });
    feeds.chain(latency).filter(|demand| demand.result != GateResult::None).collect()
}

/// Targets whose latency is limited: the gated ones that have a verdict, or all where none is named.
fn limited(summary: &Summary) -> Vec<String> {
    if summary.gate.p99_ns.is_none() {
        return Vec::new();
    }
    let named = &summary.gate.feeds;
    let judged = summary.verdicts.iter().map(|verdict| &verdict.target);
    let unjudged = summary.unjudged.iter().map(|one| &one.target);
    let skipped = summary.skipped.iter().map(|one| &one.target);
    let absent = skipped.filter(|name| summary.targets.iter().all(|one| one.name != **name));
    let mut targets: Vec<String> = Vec::new();
    let others = unjudged.chain(absent).filter(|_| named.is_empty());
    for target in judged.filter(|name| named.is_empty() || named.contains(name)).chain(others) {
        if !targets.contains(target) {
            targets.push(target.clone());
        }
    }
    targets
}

/// What the summary says of one target alone.
fn of_target(summary: &Summary, target: &str) -> Summary {
    let mut one = Summary { panels: Vec::new(), predictions: None, ..summary.clone() };
    one.verdicts.retain(|verdict| verdict.target == target);
    one.unjudged.retain(|unjudged| unjudged.target == target);
    one.skipped.retain(|skipped| skipped.target == target);
    one.cells.retain(|cell| cell.cell.target == target);
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::confirmed_at;
    use crate::summarise;

    fn demands_at(of_line: f64, edit: impl FnOnce(&mut Gate)) -> Vec<Demand> {
        let mut builder = confirmed_at(&[of_line; 3]);
        edit(&mut builder.run.gate);
        demands(&summarise(&builder.record()))
    }

    #[test]
    fn without_a_gate_nothing_is_demanded() {
        assert_eq!(demands_at(0.5, |_| {}), []);
    }

    #[test]
    fn each_demand_has_a_result_of_its_own() {
        let both = |gate: &mut Gate| {
            gate.feeds = vec!["disk".to_owned()];
            gate.p99_ns = Some(500_000);
        };
        let found = demands_at(1.1, both);
        assert_eq!((found[0].what, &found[0].result), ("feeds", &GateResult::Met));
        assert_eq!(found[1].what, "p99");
        assert!(matches!(&found[1].result, GateResult::Missed(words) if words[0].starts_with("disk p99")));
    }

    #[test]
    fn a_target_that_is_not_there_misses_what_is_demanded_of_it() {
        let found = demands_at(1.1, |gate| gate.feeds = vec!["tape".to_owned()]);
        assert!(matches!(&found[0].result, GateResult::Missed(words) if words[0].contains("tape")));
    }

    #[test]
    fn a_limit_on_latency_alone_is_one_for_every_target() {
        let found = demands_at(1.1, |gate| gate.p99_ns = Some(2_000_000));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].target.as_str(), &found[0].result), ("disk", &GateResult::Met));
    }
}
