use super::*;
use crate::fixture::{Builder, confirmed_at};
use crate::verdict::NothingMeasured;
use crate::{Flag, Gap, GapCause, summarise};

fn unmet(requirement: Requirement, why: WhyUnmet) -> Unmet {
    Unmet::of("disk", requirement, why)
}

fn gone() -> Gap {
    GapCause::Recorded("gone".to_owned()).into()
}

fn missed(result: GateResult) -> Vec<Unmet> {
    let GateResult::Missed(list) = result else { panic!("not missed: {result:?}") };
    list
}

fn open(result: GateResult) -> Vec<Unmet> {
    let GateResult::Inconclusive(list) = result else { panic!("decided: {result:?}") };
    list
}

fn cause(unmet: &Unmet) -> &Cause {
    let WhyUnmet::Verdict(verdict) = &unmet.why else { panic!("{unmet:?}") };
    &verdict.of_reads().unwrap().cause
}

fn gate_of(of_line: &[f64], edit: impl FnOnce(&mut Builder)) -> GateResult {
    let mut builder = confirmed_at(of_line);
    builder.run.gate.feeds = vec!["disk".to_owned()];
    edit(&mut builder);
    gate(&summarise(&builder.record()))
}

#[test]
fn no_gate_decides_nothing() {
    assert_eq!(gate_of(&[0.5, 0.5, 0.5], |b| b.run.gate.feeds.clear()), GateResult::None);
}

#[test]
fn feeds_meets_starves_misses_and_doubt_is_inconclusive() {
    assert_eq!(gate_of(&[1.1, 1.1, 1.1], |_| {}), GateResult::Met);
    let starves = missed(gate_of(&[0.8, 0.8, 0.8], |_| {}));
    assert_eq!(starves[0].requirement, Requirement::Feeds);
    assert!(matches!(cause(&starves[0]), Cause::Short { .. }));
    assert_eq!(open(gate_of(&[0.9, 1.0, 1.1], |_| {})).len(), 1);
}

#[test]
fn a_screen_misses_a_gate_that_asks_for_a_proof() {
    let rules = record::Proof { runs: 3, span_ns: 86_400_000_000_000 };
    let proof = |b: &mut Builder| {
        b.run.gate.evidence = "proof".to_owned();
        b.run.gate.proof = Some(rules);
    };
    let screen = |rules| [unmet(Requirement::Proof(rules), WhyUnmet::OneRun)];
    assert_eq!(missed(gate_of(&[1.1, 1.1, 1.1], proof)), screen(Some(rules)));
    let starves = missed(gate_of(&[0.8, 0.8, 0.8], proof));
    assert!(matches!(cause(&starves[0]), Cause::Short { .. }), "what starves needs no proof");
    // A record that does not say what a proof takes asks for one all the same.
    let bare = |b: &mut Builder| b.run.gate.evidence = "proof".to_owned();
    assert_eq!(missed(gate_of(&[1.1, 1.1, 1.1], bare)), screen(None));
    assert_eq!(gate_of(&[1.1, 1.1, 1.1], |b| b.run.gate.evidence = "screen".to_owned()), GateResult::Met);
}

#[test]
fn a_target_without_figures_or_without_a_name_misses() {
    let failed = missed(gate_of(&[0.0, 0.0, 0.0], |b| {
        b.edit_reps("c", |rep| rep.outcome = record::Outcome::Failed { reason: "gone".to_owned() });
    }));
    assert!(matches!(cause(&failed[0]), Cause::AskedFailed { reason } if *reason == gone()), "{failed:?}");
    let unknown = missed(gate_of(&[1.1, 1.1, 1.1], |b| b.run.gate.feeds = vec!["tape".to_owned()]));
    assert_eq!(unknown, [Unmet::of("tape", Requirement::Feeds, WhyUnmet::NotJudged(NotJudged::NoTarget))]);
}

fn skip_all(builder: &mut Builder) {
    builder.run.cells.clear();
    builder.lines.clear();
    builder.run.skipped.push(record::Skipped {
        target: "disk".to_owned(),
        engine: "io_uring".to_owned(),
        reason: "the kernel forbids it".to_owned(),
    });
}

#[test]
fn a_target_of_which_all_was_skipped_misses_with_its_reason() {
    let known = |b: &mut Builder| skip_all(b);
    let without_its_target = |b: &mut Builder| {
        skip_all(b);
        b.run.targets.clear();
    };
    let known = missed(gate_of(&[1.1, 1.1, 1.1], known));
    let skipped = |engine: &str, reason: &str| engine == "io_uring" && reason == "the kernel forbids it";
    assert!(matches!(
        cause(&known[0]),
        Cause::NothingMeasured(NothingMeasured::Skipped { engine, reason }) if skipped(engine, reason)
    ));
    let unknown = missed(gate_of(&[1.1, 1.1, 1.1], without_its_target));
    assert!(matches!(
        &unknown[0].why,
        WhyUnmet::NotJudged(NotJudged::Skipped(one)) if skipped(&one.engine, &one.reason)
    ));
}

#[test]
fn a_skipped_target_does_not_slip_past_a_demand_on_latency_alone() {
    let by_latency = |edit: fn(&mut Builder)| {
        move |b: &mut Builder| {
            b.run.gate.feeds.clear();
            b.run.gate.p99_ns = Some(2_000_000);
            skip_all(b);
            edit(b);
        }
    };
    for edit in [|_: &mut Builder| {}, |b: &mut Builder| b.run.targets.clear()] {
        assert_eq!(missed(gate_of(&[1.1, 1.1, 1.1], by_latency(edit))).len(), 1);
    }
}

#[test]
fn latency_is_taken_from_the_confirmation() {
    // The fixture's reads take 1 ms.
    let limit = |ns| move |b: &mut Builder| b.run.gate.p99_ns = Some(ns);
    assert_eq!(gate_of(&[1.1, 1.1, 1.1], limit(2_000_000)), GateResult::Met);
    let late = missed(gate_of(&[1.1, 1.1, 1.1], limit(500_000)));
    assert_eq!(late[0].requirement, Requirement::P99 { limit_ns: 500_000, at: None });
    assert!(matches!(late[0].why, WhyUnmet::TooLate(p99_ns) if p99_ns / 1_000 == 1_000), "{late:?}");
    let blank = |b: &mut Builder| {
        b.run.gate.p99_ns = Some(500_000);
        b.edit_reps("c", |rep| rep.histograms.clear());
    };
    assert!(matches!(gate_of(&[1.1, 1.1, 1.1], blank), GateResult::Inconclusive(_)));
}

#[test]
fn reads_that_failed_are_later_than_any_that_ended() {
    let with = |slow: u64, failed: u64| {
        gate_of(&[1.1; 3], |b| {
            b.run.gate.p99_ns = Some(2_000_000);
            b.edit_reps("c", |rep| {
                let mut service = record::new_histogram();
                service.record_n(1_000_000, 10_000 - slow - failed).unwrap();
                service.record_n(9_000_000, slow).unwrap();
                rep.histograms.insert("service_ns".to_owned(), record::encode(&service));
                if failed > 0 {
                    rep.errors.insert("timeout".to_owned(), failed);
                }
            });
        })
    };
    assert_eq!(with(50, 0), GateResult::Met);
    assert_eq!(with(0, 90), GateResult::Met);
    // 140 of 10,000 are beyond the limit, 50 of the 9,910 that ended.
    let late = missed(with(50, 90));
    assert!(
        matches!(late[0].why, WhyUnmet::TooLateWithFailed(p99_ns) if p99_ns / 1_000_000 == 9),
        "{late:?}"
    );
}

#[test]
fn a_share_of_the_demand_stands_in_for_the_utilization_of_the_need() {
    // The line is 90 % of the demand, so that 1.05 of it is 94.5 %.
    let share = |share| move |b: &mut Builder| b.run.gate.utilization = Some(share);
    let of_line = [1.05, 1.05, 1.05];
    assert_eq!(gate_of(&of_line, share(0.945)), GateResult::Met);
    let below = missed(gate_of(&of_line, share(0.95)));
    assert_eq!(below[0].requirement, Requirement::Utilization(0.95));
    assert!(
        matches!(below[0].why, WhyUnmet::Reached(low, high) if low <= high && (high - 0.945).abs() < 1e-3)
    );
    assert_eq!(gate_of(&[0.8, 0.8, 0.8], share(0.7)), GateResult::Met);
    let straddles = open(gate_of(&[0.9, 1.0, 1.1], share(0.9)));
    // The interval is 0.9 of the demand with 4.3027 times 0.09 by the root of 3 on both sides.
    let half = 4.302_7 * 0.09 / 3.0_f64.sqrt();
    let is_near = |found: f64, expected: f64| (found - expected).abs() < 1e-3;
    assert!(matches!(
        straddles[0].why,
        WhyUnmet::Reached(low, high) if is_near(low, 0.9 - half) && is_near(high, 0.9 + half)
    ));
}

#[test]
fn a_share_of_the_demand_is_not_decided_by_what_a_verdict_may_not_rest_on() {
    let warm = |b: &mut Builder| {
        b.run.gate.utilization = Some(0.5);
        b.edit_reps("c", |rep| rep.cache.after_bytes = Some(rep.cache.total_bytes));
    };
    let why = WhyUnmet::Flagged(Flag::NotBypassed { resident: 1.0 });
    assert_eq!(open(gate_of(&[1.1; 3], warm)), [unmet(Requirement::Utilization(0.5), why)]);
    let fails = |b: &mut Builder| {
        b.run.gate.utilization = Some(0.5);
        b.edit_reps("c", |rep| rep.outcome = record::Outcome::Failed { reason: "gone".to_owned() });
    };
    let failed = missed(gate_of(&[1.1; 3], fails));
    assert!(matches!(cause(&failed[0]), Cause::AskedFailed { reason } if *reason == gone()));
}

#[test]
fn a_share_that_a_narrower_test_reaches_is_not_decided() {
    let of_many = |share| {
        move |b: &mut Builder| {
            b.run.gate.utilization = Some(share);
            (b.run.need.hosts, b.run.need.scope) = (64, "job".to_owned());
        }
    };
    let one_host = open(gate_of(&[1.1; 3], of_many(0.9)));
    assert_eq!(cause(&one_host[0]), &Cause::HostsOpen { hosts: 63 });
    // Below the line of the need as well, whose verdict is that it starves.
    let lower = open(gate_of(&[0.8; 3], of_many(0.7)));
    assert_eq!(cause(&lower[0]), &Cause::HostsOpen { hosts: 63 });
    assert_eq!(missed(gate_of(&[0.8; 3], of_many(0.9))).len(), 1, "many are given even less");
    let beyond = |b: &mut Builder| {
        b.run.gate.utilization = Some(0.9);
        b.run.need.loader_depth = Some(7);
    };
    let beyond = open(gate_of(&[1.1; 3], beyond));
    assert_eq!(cause(&beyond[0]), &Cause::BeyondLoader { reach: 7 });
}

#[test]
fn arrivals_that_offer_less_than_the_share_do_not_miss_it() {
    let paced = |share| {
        move |b: &mut Builder| {
            b.run.gate.utilization = Some(share);
            b.pace("c", 1.0, 1.0);
        }
    };
    let less = open(gate_of(&[1.0; 3], paced(0.95)));
    assert!(matches!(less[0].why, WhyUnmet::Offered(share) if (share - 0.9).abs() < 1e-9), "{less:?}");
    assert_eq!(gate_of(&[1.0; 3], paced(0.9)), GateResult::Met);
}

/// Two cells more at depth 32, whose reads take so long in the mean.
fn at_depth_32(latencies_ns: [u64; 2], limit_ns: u64) -> impl FnOnce(&mut Builder) {
    move |b: &mut Builder| {
        (b.run.gate.at_depth, b.run.gate.p99_ns) = (Some(32), Some(limit_ns));
        for (name, latency_ns) in ["x", "y"].into_iter().zip(latencies_ns) {
            b.cell(name, "disk", 32);
            for number in 0..3 {
                let mut one = crate::fixture::rep(name, number, 0.5e9);
                let mut service = record::new_histogram();
                service.record_n(latency_ns, 1_000).unwrap();
                one.histograms.insert("service_ns".to_owned(), record::encode(&service));
                b.push(one);
            }
        }
    }
}

#[test]
fn latency_at_a_depth_is_that_of_every_cell_of_it() {
    // The chosen cell is at depth 8 and takes 1 ms.
    assert_eq!(gate_of(&[1.1; 3], at_depth_32([2_000_000, 3_000_000], 3_100_000)), GateResult::Met);
    let late = missed(gate_of(&[1.1; 3], at_depth_32([2_000_000, 3_000_000], 2_500_000)));
    let at = Some(AtDepth { queue_depth: 32, cell: Some("y".to_owned()) });
    assert_eq!(late[0].requirement, Requirement::P99 { limit_ns: 2_500_000, at });
    assert!(matches!(late[0].why, WhyUnmet::TooLate(p99_ns) if p99_ns / 1_000 == 3_000), "{late:?}");
    assert_eq!(missed(gate_of(&[1.1; 3], at_depth_32([2_000_000, 3_000_000], 500_000))).len(), 2);
}

#[test]
fn a_depth_that_was_not_measured_misses_and_one_in_doubt_is_not_decided() {
    let nowhere = |b: &mut Builder| (b.run.gate.at_depth, b.run.gate.p99_ns) = (Some(64), Some(9_000_000));
    let p99 = |cell: Option<&str>, queue_depth| {
        let at = Some(AtDepth { queue_depth, cell: cell.map(str::to_owned) });
        Requirement::P99 { limit_ns: 9_000_000, at }
    };
    assert_eq!(missed(gate_of(&[1.1; 3], nowhere)), [unmet(p99(None, 64), WhyUnmet::NothingAtDepth)]);
    let with = |edit: fn(&mut record::Rep)| {
        gate_of(&[1.1; 3], |b| {
            at_depth_32([1_000_000; 2], 9_000_000)(b);
            b.edit_reps("x", edit);
        })
    };
    let of_x = |why| [unmet(p99(Some("x"), 32), why)];
    assert_eq!(open(with(|rep| rep.histograms.clear())), of_x(WhyUnmet::FewReads));
    let resident = Flag::NotBypassed { resident: 1.0 };
    let cached = with(|rep| rep.cache.after_bytes = Some(rep.cache.total_bytes));
    assert_eq!(open(cached), of_x(WhyUnmet::Flagged(resident)));
    let failed = with(|rep| rep.outcome = record::Outcome::Failed { reason: "gone".to_owned() });
    assert_eq!(missed(failed), of_x(WhyUnmet::Unmeasured(gone())));
}

/// A gate on the latency of a mix, of which so many reads and writes took a time each.
fn gate_of_mix(limit_ns: u64, kinds: [(u64, u64); 2], edit: impl FnOnce(&mut Builder)) -> GateResult {
    gate_of(&[1.1; 3], |b| {
        b.run.gate.p99_ns = Some(limit_ns);
        b.run.need = crate::fixture::need_in_bytes(0.7 * Builder::LINE_BPS);
        b.run.need.utilization = 1.0;
        b.run.need.write_bytes_per_s = Some(0.3 * Builder::LINE_BPS);
        b.edit_cell("c", |cell| {
            cell.operation = "mix".into();
            cell.write_percent = Some(30);
        });
        edit(b);
        b.edit_reps("c", |rep| {
            let written = rep.counters["bytes"] / 10 * 3;
            rep.counters.insert("written_bytes".to_owned(), written);
            for (name, (count, ns)) in ["service_read_ns", "service_write_ns"].into_iter().zip(kinds) {
                let mut histogram = record::new_histogram();
                histogram.record_n(ns, count).unwrap();
                rep.histograms.insert(name.to_owned(), record::encode(&histogram));
            }
        });
    })
}

#[test]
fn a_limit_on_latency_holds_for_reads_and_for_writes() {
    let mixed = |writes, ns| gate_of_mix(2_500_000, [(10_000, 1_000_000), (writes, ns)], |_| {});
    assert_eq!(mixed(5_000, 2_000_000), GateResult::Met);
    assert!(matches!(missed(mixed(5_000, 9_000_000))[0].why, WhyUnmet::TooLate(_)));
    // Three repetitions of 100.
    let few = WhyUnmet::FewOfKind { kind: "writes", count: 300 };
    assert_eq!(open(mixed(100, 2_000_000))[0].why, few);
}

#[test]
fn responses_of_reads_and_writes_together_decide_no_gate() {
    let paced = |b: &mut Builder| b.pace("c", 1.0, 1.0);
    let found = open(gate_of_mix(2_500_000, [(10_000, 1_000_000), (5_000, 1_000_000)], paced));
    let p99 = found.iter().find(|one| matches!(one.requirement, Requirement::P99 { .. })).unwrap();
    assert_eq!(p99.why, WhyUnmet::ResponsesTogether);
    // Recorded apart they do: no read is late, and a tenth of what is written is.
    let apart = |write_ns: u64| {
        let apart = move |b: &mut Builder| {
            b.pace("c", 1.0, 1.0);
            b.edit_reps("c", |rep| {
                for (name, ns) in [("response_read_ns", 1_000_000), ("response_write_ns", write_ns)] {
                    rep.histograms.insert(name.to_owned(), record::testing::histogram(ns, 4_000));
                }
            });
        };
        gate_of_mix(2_500_000, [(10_000, 1_000_000), (5_000, 1_000_000)], apart)
    };
    let is_late = |result: GateResult| matches!(result, GateResult::Missed(_));
    assert_eq!([1_000_000, 9_000_000].map(|ns| is_late(apart(ns))), [false, true]);
}

fn demands_at(of_line: f64, edit: impl FnOnce(&mut record::Gate)) -> Vec<Demand> {
    let mut builder = confirmed_at(&[of_line; 3]);
    edit(&mut builder.run.gate);
    demands(&summarise(&builder.record()))
}

#[test]
fn each_demand_has_a_result_of_its_own() {
    assert_eq!(demands_at(0.5, |_| {}), []);
    let found = demands_at(1.1, |gate| {
        gate.feeds = vec!["disk".to_owned()];
        gate.p99_ns = Some(500_000);
    });
    let [feeds, p99] = &found[..] else { panic!("{found:?}") };
    assert_eq!((feeds.what, &feeds.result), ("feeds", &GateResult::Met));
    assert!(matches!((p99.what, &p99.result), ("p99", GateResult::Missed(list)) if list.len() == 1));
}

#[test]
fn a_limit_on_latency_alone_is_one_for_every_target() {
    let found = demands_at(1.1, |gate| gate.p99_ns = Some(2_000_000));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].target.as_str(), &found[0].result), ("disk", &GateResult::Met));
}
