use super::*;
use crate::fixture::{Builder, confirmed_at};
use crate::summarise;

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
    let GateResult::Missed(words) = gate_of(&[0.8, 0.8, 0.8], |_| {}) else { panic!("not missed") };
    assert!(words[0].starts_with("disk must FEED: 20 % short"), "{words:?}");
    assert!(matches!(gate_of(&[0.9, 1.0, 1.1], |_| {}), GateResult::Inconclusive(list) if list.len() == 1));
}

#[test]
fn a_screen_misses_a_gate_that_asks_for_a_proof() {
    let proof = |b: &mut Builder| {
        b.run.gate.evidence = "proof".to_owned();
        b.run.gate.proof = Some(record::Proof { runs: 3, span_ns: 86_400_000_000_000 });
    };
    let missed = |words: &str| GateResult::Missed(vec![words.to_owned()]);
    let words = "disk must FEED by a proof of 3 runs over 24 h: one run is a screen";
    assert_eq!(gate_of(&[1.1, 1.1, 1.1], proof), missed(words));
    let GateResult::Missed(starves) = gate_of(&[0.8, 0.8, 0.8], proof) else { panic!("not missed") };
    assert!(starves[0].contains("20 % short"), "what starves needs no proof: {starves:?}");
    // A record that does not say what a proof takes asks for one all the same.
    let bare = |b: &mut Builder| b.run.gate.evidence = "proof".to_owned();
    assert_eq!(gate_of(&[1.1, 1.1, 1.1], bare), missed("disk must FEED by a proof: one run is a screen"));
    assert_eq!(gate_of(&[1.1, 1.1, 1.1], |b| b.run.gate.evidence = "screen".to_owned()), GateResult::Met);
}

#[test]
fn a_target_without_figures_or_without_a_name_misses() {
    assert!(matches!(gate_of(&[0.0, 0.0, 0.0], |b| b.edit_reps("c", |rep| {
        rep.outcome = record::Outcome::Failed { reason: "gone".to_owned() };
    })), GateResult::Missed(list) if list[0].contains("gone")));
    let unknown = |b: &mut Builder| b.run.gate.feeds = vec!["tape".to_owned()];
    assert!(
        matches!(gate_of(&[1.1, 1.1, 1.1], unknown), GateResult::Missed(list) if list[0].contains("tape"))
    );
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
    let words = "disk must FEED: nothing was measured: io_uring: the kernel forbids it";
    let missed = GateResult::Missed(vec![words.to_owned()]);
    assert_eq!(gate_of(&[1.1, 1.1, 1.1], known), missed);
    assert_eq!(gate_of(&[1.1, 1.1, 1.1], without_its_target), missed);
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
        let GateResult::Missed(words) = gate_of(&[1.1, 1.1, 1.1], by_latency(edit)) else {
            panic!("not missed")
        };
        assert!(words[0].contains("the kernel forbids it") && words.len() == 1, "{words:?}");
    }
}

#[test]
fn latency_is_taken_from_the_confirmation() {
    // The fixture's reads take 1 ms.
    let limit = |ns| move |b: &mut Builder| b.run.gate.p99_ns = Some(ns);
    assert_eq!(gate_of(&[1.1, 1.1, 1.1], limit(2_000_000)), GateResult::Met);
    let GateResult::Missed(words) = gate_of(&[1.1, 1.1, 1.1], limit(500_000)) else { panic!("not missed") };
    assert!(words[0].starts_with("disk p99 is 1"), "{words:?}");
    let blank = |b: &mut Builder| {
        b.run.gate.p99_ns = Some(500_000);
        b.edit_reps("c", |rep| rep.histograms.clear());
    };
    assert!(matches!(gate_of(&[1.1, 1.1, 1.1], blank), GateResult::Inconclusive(_)));
}

#[test]
fn a_share_of_the_demand_stands_in_for_the_utilization_of_the_need() {
    // The line is 90 % of the demand, so that 1.05 of it is 94.5 %.
    let share = |share| move |b: &mut Builder| b.run.gate.utilization = Some(share);
    let of_line = [1.05, 1.05, 1.05];
    assert_eq!(gate_of(&of_line, share(0.945)), GateResult::Met);
    let missed =
        GateResult::Missed(vec!["disk must reach 95 % of the demand: 94.5 to 94.5 % of it".to_owned()]);
    assert_eq!(gate_of(&of_line, share(0.95)), missed);
    assert_eq!(gate_of(&[0.8, 0.8, 0.8], share(0.7)), GateResult::Met);
    let GateResult::Inconclusive(words) = gate_of(&[0.9, 1.0, 1.1], share(0.9)) else { panic!("decided") };
    // The interval is 0.9 of the demand with 4.3027 times 0.09 by the root of 3 on both sides.
    assert_eq!(words, ["disk must reach 90 % of the demand: 67.6 to 112.4 % of it"]);
}

#[test]
fn a_share_of_the_demand_is_not_decided_by_what_a_verdict_may_not_rest_on() {
    let warm = |b: &mut Builder| {
        b.run.gate.utilization = Some(0.5);
        b.edit_reps("c", |rep| rep.cache.after_bytes = Some(rep.cache.total_bytes));
    };
    let words = "disk must reach 50 % of the demand: not decided: not bypassed: 100 % resident after";
    assert_eq!(gate_of(&[1.1; 3], warm), GateResult::Inconclusive(vec![words.to_owned()]));
    let gone = |b: &mut Builder| {
        b.run.gate.utilization = Some(0.5);
        b.edit_reps("c", |rep| rep.outcome = record::Outcome::Failed { reason: "gone".to_owned() });
    };
    assert!(matches!(gate_of(&[1.1; 3], gone), GateResult::Missed(list) if list[0].contains("gone")));
}

#[test]
fn arrivals_that_offer_less_than_the_share_do_not_miss_it() {
    let paced = |share| {
        move |b: &mut Builder| {
            b.run.gate.utilization = Some(share);
            b.pace("c", 1.0, 1.0);
        }
    };
    let words = "disk must reach 95 % of the demand: not decided: 90 % of it was offered";
    assert_eq!(gate_of(&[1.0; 3], paced(0.95)), GateResult::Inconclusive(vec![words.to_owned()]));
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
    let GateResult::Missed(words) = gate_of(&[1.1; 3], at_depth_32([2_000_000, 3_000_000], 2_500_000)) else {
        panic!("not missed")
    };
    assert_eq!(words, ["disk p99 at depth 32 (y) is 3 ms, the gate allows 2.5 ms"]);
    let missed = gate_of(&[1.1; 3], at_depth_32([2_000_000, 3_000_000], 500_000));
    assert!(matches!(missed, GateResult::Missed(list) if list.len() == 2));
}

#[test]
fn a_depth_that_was_not_measured_misses_and_one_in_doubt_is_not_decided() {
    let nowhere = |b: &mut Builder| (b.run.gate.at_depth, b.run.gate.p99_ns) = (Some(64), Some(9_000_000));
    let words = "disk p99 against 9 ms: no read was measured at depth 64";
    assert_eq!(gate_of(&[1.1; 3], nowhere), GateResult::Missed(vec![words.to_owned()]));
    let with = |edit: fn(&mut record::Rep)| {
        gate_of(&[1.1; 3], |b| {
            at_depth_32([1_000_000; 2], 9_000_000)(b);
            b.edit_reps("x", edit);
        })
    };
    let GateResult::Inconclusive(words) = with(|rep| rep.histograms.clear()) else { panic!("decided") };
    assert_eq!(words, ["disk p99 at depth 32 (x) against 9 ms: fewer than 1,000 reads were measured"]);
    let GateResult::Inconclusive(words) = with(|rep| rep.cache.after_bytes = Some(rep.cache.total_bytes))
    else {
        panic!("decided")
    };
    assert!(words[0].ends_with("against 9 ms: not decided: not bypassed: 100 % resident after"), "{words:?}");
    let failed = with(|rep| rep.outcome = record::Outcome::Failed { reason: "gone".to_owned() });
    assert_eq!(failed, GateResult::Missed(vec!["disk p99 at depth 32 (x) against 9 ms: gone".to_owned()]));
}
