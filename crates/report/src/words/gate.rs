//! Demands of a gate that are not known to hold.

use analysis::{AtDepth, NotJudged, Requirement, Unmet, WhyUnmet};
use feed::{counted_noun, format_duration_ns, group_digits};

use super::share::percent;
use super::{flag, gap, read_verdict, verdict};

/// What is said of a server that feedline started, whatever is asked of it.
const DEMO: &str = "not decided: a demo cannot be judged, its server was started by feedline";

/// Each in a sentence.
pub(crate) fn all(of: &[Unmet]) -> Vec<String> {
    of.iter().map(unmet).collect()
}

/// `disk must FEED: 20 % short at depth 8 (io_uring)`, `disk p99 is 3 ms, the gate allows 2.5 ms`.
fn unmet(of: &Unmet) -> String {
    let target = &of.target;
    match &of.requirement {
        Requirement::Feeds => format!("{target} must FEED: {}", why(&of.why)),
        Requirement::Proof(rules) => {
            let takes = rules.map(|rules| {
                let runs = counted_noun(rules.runs.into(), "run");
                format!(" of {runs} over {}", format_duration_ns(rules.span_ns))
            });
            format!("{target} must FEED by a proof{}: {}", takes.unwrap_or_default(), why(&of.why))
        }
        Requirement::Utilization(share) => {
            format!("{target} must reach {} of the demand: {}", percent(*share), why(&of.why))
        }
        Requirement::P99 { limit_ns, at } => {
            late(target, at.as_ref(), &format_duration_ns(*limit_ns), &of.why)
        }
    }
}

/// A limit on latency that is not known to be kept.
fn late(target: &str, at: Option<&AtDepth>, limit: &str, of: &WhyUnmet) -> String {
    let place = match at {
        None => format!("{target} p99"),
        Some(AtDepth { queue_depth, cell: None }) => format!("{target} p99 at depth {queue_depth}"),
        Some(AtDepth { queue_depth, cell: Some(cell) }) => {
            format!("{target} p99 at depth {queue_depth} ({cell})")
        }
    };
    match (of, at) {
        // Without the limit: no latency was held against it.
        (WhyUnmet::NotJudged(_), _) => format!("{place}: {}", why(of)),
        (WhyUnmet::NothingAtDepth, Some(at)) => {
            format!("{target} p99 against {limit}: no read was measured at depth {}", at.queue_depth)
        }
        // Beyond the limit for certain: an arrival that was never served waited longer than any limit.
        (WhyUnmet::NotServed, _) => format!("{place} is beyond {limit}: {}", why(of)),
        (WhyUnmet::TooLate(_) | WhyUnmet::TooLateWithFailed(_), _) => {
            format!("{place} is {}, the gate allows {limit}", why(of))
        }
        _ => format!("{place} against {limit}: {}", why(of)),
    }
}

fn why(of: &WhyUnmet) -> String {
    match of {
        WhyUnmet::Demo => DEMO.to_owned(),
        WhyUnmet::NotJudged(NotJudged::NoVerdict(reason)) => read_verdict::no_verdict(reason),
        WhyUnmet::NotJudged(NotJudged::Skipped(one)) => read_verdict::skipped(&one.engine, &one.reason),
        WhyUnmet::NotJudged(NotJudged::NoTarget) => "the run has no such storage target".to_owned(),
        WhyUnmet::Verdict(of) => verdict::sentence(of),
        WhyUnmet::Flagged(of) => format!("not decided: {}", flag::words(of)),
        WhyUnmet::OneRun => "one run is a screen".to_owned(),
        WhyUnmet::Offered(share) => format!("not decided: {} of it was offered", percent(*share)),
        // With a digit: an end at 99.6 % of what is asked must not read as 100.
        WhyUnmet::Reached(low, high) => format!("{:.1} to {:.1} % of it", low * 100.0, high * 100.0),
        WhyUnmet::TooFewRepetitions => "too few repetitions".to_owned(),
        WhyUnmet::NothingAtDepth => "no read was measured at that depth".to_owned(),
        WhyUnmet::Unmeasured(reason) => gap::words(reason),
        WhyUnmet::NoBytes => "no bytes were read".to_owned(),
        WhyUnmet::NotServed => "more than 1 % of what was asked for was not served".to_owned(),
        WhyUnmet::TooLate(p99_ns) => format_duration_ns(*p99_ns),
        WhyUnmet::TooLateWithFailed(p99_ns) => {
            format!(
                "{} where each that failed counts as later than any that ended",
                format_duration_ns(*p99_ns)
            )
        }
        WhyUnmet::FewReads => "fewer than 1,000 reads were measured".to_owned(),
        WhyUnmet::FewOfKind { kind, count } => {
            format!("{} {kind} were measured, 1,000 are needed", group_digits(*count))
        }
        WhyUnmet::ResponsesTogether => {
            "not decided: the response times of reads and of writes were not recorded apart".to_owned()
        }
        WhyUnmet::NotServedOfKind(kind) => {
            format!("not decided: what was not served may be more than 1 % of the {kind}")
        }
    }
}

#[cfg(test)]
mod tests {
    use analysis::NoVerdict;

    use super::*;

    fn words(requirement: Requirement, why: WhyUnmet) -> String {
        unmet(&Unmet { target: "disk".to_owned(), requirement, why })
    }

    #[test]
    fn a_demand_that_is_not_met_says_what_was_asked_and_why_it_is_not() {
        let rules = record::Proof { runs: 3, span_ns: 86_400_000_000_000 };
        let said = [
            (
                Requirement::Feeds,
                WhyUnmet::NotJudged(NotJudged::NoTarget),
                "must FEED: the run has no such storage target",
            ),
            (
                Requirement::Proof(Some(rules)),
                WhyUnmet::OneRun,
                "must FEED by a proof of 3 runs over 24 h: one run is a screen",
            ),
            (Requirement::Proof(None), WhyUnmet::OneRun, "must FEED by a proof: one run is a screen"),
            (
                Requirement::Utilization(0.9),
                WhyUnmet::Reached(0.676, 1.124),
                "must reach 90 % of the demand: 67.6 to 112.4 % of it",
            ),
            (
                Requirement::Utilization(0.95),
                WhyUnmet::Offered(0.9),
                "must reach 95 % of the demand: not decided: 90 % of it was offered",
            ),
        ];
        for (requirement, why, expected) in said {
            assert_eq!(words(requirement, why), format!("disk {expected}"));
        }
    }

    #[test]
    fn a_limit_on_latency_names_the_place_where_it_is_not_kept() {
        let p99 = |cell: Option<&str>| Requirement::P99 {
            limit_ns: 2_500_000,
            at: Some(AtDepth { queue_depth: 32, cell: cell.map(str::to_owned) }),
        };
        let chosen = Requirement::P99 { limit_ns: 2_500_000, at: None };
        let said = [
            (chosen.clone(), WhyUnmet::TooLate(3_000_000), "p99 is 3 ms, the gate allows 2.5 ms"),
            (
                chosen.clone(),
                WhyUnmet::NotServed,
                "p99 is beyond 2.5 ms: more than 1 % of what was asked for was not served",
            ),
            (
                chosen.clone(),
                WhyUnmet::TooLateWithFailed(3_000_000),
                "p99 is 3 ms where each that failed counts as later than any that ended, the gate allows 2.5 ms",
            ),
            (
                chosen,
                WhyUnmet::NotJudged(NotJudged::NoVerdict(NoVerdict::Variant)),
                "p99: one of several variants, which are compared and not judged",
            ),
            (
                p99(Some("y")),
                WhyUnmet::TooLate(3_000_000),
                "p99 at depth 32 (y) is 3 ms, the gate allows 2.5 ms",
            ),
            (p99(None), WhyUnmet::NothingAtDepth, "p99 against 2.5 ms: no read was measured at depth 32"),
            (
                p99(None),
                WhyUnmet::FewReads,
                "p99 at depth 32 against 2.5 ms: fewer than 1,000 reads were measured",
            ),
            (
                p99(None),
                WhyUnmet::FewOfKind { kind: "writes", count: 812 },
                "p99 at depth 32 against 2.5 ms: 812 writes were measured, 1,000 are needed",
            ),
            (
                p99(None),
                WhyUnmet::ResponsesTogether,
                "p99 at depth 32 against 2.5 ms: not decided: the response times of reads and of writes were not \
                 recorded apart",
            ),
        ];
        for (requirement, why, expected) in said {
            assert_eq!(words(requirement, why), format!("disk {expected}"));
        }
    }
}
