//! What follows from the rounds of a case.

use std::iter;

use crate::case::{Bound, Case, Measure, Moves, Peer};
use crate::device::Counts;
use crate::duel::FEEDLINE;
use crate::figures::{Spread, per_operation_of_rounds, ratios};
use crate::net::NetCase;
use crate::record::{Figures, Pair, Ratio, Round, Run, Summary, TargetMet};

/// How far a device's own count may lie from the tool's report before the reader is told.
const DEVICE_TOLERANCE: f64 = 0.02;
/// Load average that others may cause, in processors, before the reader is told. A tool of this kind causes up to one.
const LOAD_MAX: f64 = 2.0;

/// Why a round has no cost of an operation.
const NO_FIGURE: &str =
    "the long run did no more than the short one, or cost less than ten times the noise beyond it";

/// Sums the rounds of a case up.
pub(crate) fn summarize(case: &Case, rounds: &[Round]) -> Summary {
    let peers: Vec<&str> = case.peers().into_iter().rev().map(Peer::name).collect();
    let contestants: Vec<&str> = iter::once(FEEDLINE).chain(peers.iter().rev().copied()).collect();
    let judged =
        case.targets.iter().map(|target| judge(rounds, target.against.name(), target.measure, target.bound));
    let mut summary = told(rounds, &contestants, &peers, judged.collect());
    summary.warnings.splice(0..0, device_warnings(case, rounds, &contestants));
    summary
}

/// Sums the rounds of a case over a network up.
pub(crate) fn summarize_net(case: &NetCase, rounds: &[Round]) -> Summary {
    let peers: Vec<&str> = case.peers.iter().map(|peer| peer.name()).collect();
    let contestants = [&[FEEDLINE], &peers[..]].concat();
    let judged =
        case.targets.iter().map(|target| judge(rounds, target.against.name(), target.measure, target.bound));
    told(rounds, &contestants, &peers, judged.collect())
}

fn told(rounds: &[Round], contestants: &[&str], peers: &[&str], targets: Vec<TargetMet>) -> Summary {
    let mut warnings: Vec<String> = load_warning(rounds).into_iter().collect();
    for name in contestants {
        let missing = values(rounds, name, Measure::CpuPerOp).iter().filter(|value| value.is_none()).count();
        if missing > 0 {
            let rounds = rounds.len();
            warnings
                .push(format!("{name}: {missing} of {rounds} rounds have no CPU per operation: {NO_FIGURE}"));
        }
    }
    Summary {
        figures: contestants.iter().map(|name| figures(rounds, name)).collect(),
        ratios: all_ratios(rounds, peers),
        targets,
        warnings,
    }
}

fn pairs<'a>(rounds: &'a [Round], name: &'a str) -> impl Iterator<Item = &'a Pair> {
    rounds.iter().filter_map(move |round| round.pairs.get(name))
}

fn figures(rounds: &[Round], name: &str) -> Figures {
    let long = || pairs(rounds, name).map(|pair| &pair.long);
    Figures {
        contestant: name.to_owned(),
        cpu_ns_per_op: Spread::of(values(rounds, name, Measure::CpuPerOp).into_iter().flatten()),
        ops_per_s: Spread::of(long().filter_map(|run| rate(run.ops as f64, run))),
        mb_per_s: Spread::of(long().filter_map(mb_per_s)),
        device_kib_per_request: Spread::of(long().filter_map(|run| kib_per_request(run.device?))),
    }
}

/// One value for each round, in their order.
fn values(rounds: &[Round], name: &str, measure: Measure) -> Vec<Option<f64>> {
    let pairs = rounds.iter().map(|round| round.pairs.get(name));
    match measure {
        Measure::CpuPerOp => {
            let cost = |run: &Run| ((run.usage.user_s + run.usage.system_s) * 1e9, run.ops);
            let costs = pairs.map(|pair| pair.map(|pair| [cost(&pair.short), cost(&pair.long)]));
            per_operation_of_rounds(&costs.collect::<Vec<_>>())
        }
        Measure::Throughput => pairs.map(|pair| mb_per_s(&pair?.long)).collect(),
    }
}

fn mb_per_s(run: &Run) -> Option<f64> {
    rate(run.bytes as f64 / 1e6, run)
}

fn rate(amount: f64, run: &Run) -> Option<f64> {
    (run.window_s > 0.0).then(|| amount / run.window_s)
}

fn kib_per_request(counts: Counts) -> Option<f64> {
    (counts.requests > 0).then(|| counts.bytes as f64 / 1024.0 / counts.requests as f64)
}

fn ratio(rounds: &[Round], against: &str, measure: Measure) -> Option<Spread> {
    let ours = values(rounds, FEEDLINE, measure);
    let theirs = values(rounds, against, measure);
    Spread::of(ratios(&ours, &theirs))
}

fn all_ratios(rounds: &[Round], peers: &[&str]) -> Vec<Ratio> {
    let mut found = Vec::new();
    for against in peers {
        for measure in [Measure::CpuPerOp, Measure::Throughput] {
            let (peer, name) = ((*against).to_owned(), measure.name().to_owned());
            found.extend(ratio(rounds, against, measure).map(|spread| Ratio {
                against: peer,
                measure: name,
                spread,
            }));
        }
    }
    found
}

fn judge(rounds: &[Round], against: &str, measure: Measure, bound: Bound) -> TargetMet {
    let ratio = ratio(rounds, against, measure).map(|ratio| ratio.median);
    TargetMet {
        against: against.to_owned(),
        measure: measure.name().to_owned(),
        bound: bound.text(),
        ratio,
        met: ratio.is_some_and(|ratio| bound.met(ratio)),
    }
}

/// Where a case goes past the page cache, the device must have read, or written, what a tool says that it did. Taken between the
/// short and the long run, so that what both read besides (names, checks) cancels.
fn device_warnings(case: &Case, rounds: &[Round], contestants: &[&str]) -> Vec<String> {
    if !case.work.direct {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    let did = match case.work.moves() {
        Moves::Reads => "read",
        Moves::Writes => "wrote",
        Moves::Both => "moved",
    };
    for name in contestants {
        let shares: Vec<f64> =
            pairs(rounds, name).filter_map(|pair| device_share(pair, case.work.block_bytes)).collect();
        let Some(share) = Spread::of(shares) else {
            warnings.push(format!("{name}: what the device {did} is not known"));
            continue;
        };
        if (share.median - 1.0).abs() > DEVICE_TOLERANCE {
            warnings.push(format!(
                "{name}: the device {did} {:.1} % of the bytes that it reports, for it or for others",
                share.median * 100.0
            ));
        }
    }
    warnings
}

fn device_share(pair: &Pair, block_bytes: u64) -> Option<f64> {
    let moved = pair.long.device?.bytes.checked_sub(pair.short.device?.bytes)?;
    let reported = pair.long.ops.checked_sub(pair.short.ops).filter(|more| *more > 0)? * block_bytes;
    Some(moved as f64 / reported as f64)
}

fn load_warning(rounds: &[Round]) -> Option<String> {
    let most = rounds.iter().filter_map(|round| round.load_average).max_by(f64::total_cmp)?;
    (most > LOAD_MAX).then(|| format!("the machine was busy: load average up to {most:.1}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::case::CASES;
    use crate::process::Usage;

    fn case(name: &str) -> &'static Case {
        CASES.iter().find(|case| case.name == name).unwrap()
    }

    /// A run that starts up in 0.2 s and then takes `ns` for each of `ops` reads of 4 KiB, in one second.
    fn run(ops: u64, ns: f64, device_share: f64) -> Run {
        let bytes = ops * 4096;
        Run {
            usage: Usage { user_s: 0.2, system_s: ops as f64 * ns / 1e9, wall_s: 2.0 },
            ops,
            bytes,
            window_s: 1.0,
            device: Some(Counts {
                requests: ops,
                merged: 0,
                bytes: (bytes as f64 * device_share) as u64 + 77_000,
            }),
        }
    }

    fn pair(ns: f64, long_ops: u64, device_share: f64) -> Pair {
        Pair { short: run(100_000, ns, device_share), long: run(long_ops, ns, device_share) }
    }

    fn rounds(load: f64, device_share: f64) -> Vec<Round> {
        let round = |(number, slower): (u32, f64)| Round {
            number,
            load_average: Some(load),
            order: Vec::new(),
            pairs: BTreeMap::from([
                (FEEDLINE.to_owned(), pair(700.0 * slower, 600_000, device_share)),
                ("fio default".to_owned(), pair(1400.0 * slower, 300_000, 1.0)),
                ("fio best".to_owned(), pair(1000.0 * slower, 500_000, 1.0)),
                ("bare loop".to_owned(), pair(680.0 * slower, 610_000, 1.0)),
            ]),
        };
        // The machine slows down: the median of each contestant drifts, the ratio of a round does not.
        [(1, 1.0), (2, 1.5), (3, 2.0)].map(round).to_vec()
    }

    #[test]
    fn figures_ratios_and_targets() {
        let summary = summarize(case("direct-4k-qd32"), &rounds(0.1, 1.0));
        let ours = summary.figures[0].cpu_ns_per_op.unwrap();
        assert!((ours.median - 1050.0).abs() < 1e-6 && (ours.min - 700.0).abs() < 1e-6, "{ours:?}");
        assert!((summary.figures[0].ops_per_s.unwrap().median - 600_000.0).abs() < 1e-6);
        assert!((summary.figures[2].mb_per_s.unwrap().median - 2048.0).abs() < 1e-9);
        let told: Vec<(&str, &str, String)> = summary
            .ratios
            .iter()
            .map(|ratio| (&*ratio.against, &*ratio.measure, format!("{:.3}", ratio.spread.median)))
            .collect();
        assert_eq!(
            told,
            [
                ("fio best", "cpu_per_op", "0.700".to_owned()),
                ("fio best", "throughput", "1.200".to_owned()),
                ("fio default", "cpu_per_op", "0.500".to_owned()),
                ("fio default", "throughput", "2.000".to_owned()),
            ]
        );
        assert!(summary.targets.iter().all(|target| target.met), "{:?}", summary.targets);
        assert_eq!(summary.warnings, [""; 0]);
    }

    #[test]
    fn a_missed_target_says_so() {
        let summary = summarize(case("seq-direct-128k-qd8-batch1"), &rounds(0.1, 1.0));
        let met: Vec<bool> = summary.targets.iter().map(|target| target.met).collect();
        assert_eq!(met, [true, true]);
        let mut slow = rounds(0.1, 1.0);
        for round in &mut slow {
            round.pairs.insert(FEEDLINE.to_owned(), pair(700.0, 400_000, 1.0));
        }
        let summary = summarize(case("seq-direct-128k-qd8-batch1"), &slow);
        let met: Vec<bool> = summary.targets.iter().map(|target| target.met).collect();
        assert_eq!(met, [false, false]);
    }

    #[test]
    fn what_a_reader_must_know() {
        let warned = summarize(case("direct-4k-qd32"), &rounds(7.5, 0.9)).warnings;
        assert_eq!(
            warned,
            [
                "feedline: the device read 90.0 % of the bytes that it reports, for it or for others",
                "the machine was busy: load average up to 7.5"
            ]
        );
        let warned = summarize(case("write-direct-4k-qd32"), &rounds(0.1, 0.9)).warnings;
        assert_eq!(
            warned,
            ["feedline: the device wrote 90.0 % of the bytes that it reports, for it or for others"]
        );
        let mut unknown = rounds(0.1, 1.0);
        for pair in unknown.iter_mut().flat_map(|round| round.pairs.values_mut()) {
            pair.long.device = None;
            pair.long.ops = 1;
        }
        let warned = summarize(case("direct-4k-qd32"), &unknown).warnings;
        assert!(warned.contains(&"fio best: what the device read is not known".to_owned()), "{warned:?}");
        assert!(
            warned.contains(&format!("feedline: 3 of 3 rounds have no CPU per operation: {NO_FIGURE}")),
            "{warned:?}"
        );
    }

    /// What the page cache serves no device reads.
    #[test]
    fn warm_cases_ask_no_device() {
        let summary = summarize(case("page-cache-4k-qd32-1g"), &rounds(0.1, 0.0));
        assert_eq!(summary.warnings, [""; 0]);
    }

    #[test]
    fn without_a_figure_a_target_is_not_met() {
        let summary = summarize(case("direct-4k-qd32"), &[]);
        assert!(summary.targets.iter().all(|target| !target.met && target.ratio.is_none()));
        assert!(summary.ratios.is_empty());
    }
}
