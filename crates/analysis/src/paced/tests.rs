use record::counter;

use crate::fixture::{Builder, confirmed_at, figures};
use crate::flag::{Flag, Gravity};
use crate::{GateResult, Paced, Percentile, gate, summarise};

/// One cell paced at a share of the line, of which a share is served.
fn paced_at(of_line: f64, served: f64) -> Builder {
    let mut builder = confirmed_at(&[of_line; 3]);
    builder.pace("c", of_line, served);
    builder
}

fn paced(builder: &Builder) -> Paced {
    figures(builder, "c").paced.unwrap()
}

fn words(builder: &Builder) -> String {
    let verdict = &summarise(&builder.record()).verdicts[0];
    format!("{} {}", verdict.judgement.name(), verdict.sentence())
}

#[test]
fn an_offer_is_counted_with_what_became_of_it() {
    let found = paced(&paced_at(1.0, 0.95));
    assert_eq!((found.arrivals, found.served, found.not_issued), (27_000, 25_650, 1_350));
    assert!((found.of_line.unwrap() - 1.0).abs() < 1e-9 && found.offers_line);
    assert!((found.served_share() - 0.95).abs() < 1e-12);
}

#[test]
fn the_line_offered_and_served_feeds() {
    let feeds = "FEEDS 8 x h100 resnet50 at depth 8 (storage side, io_uring); offered 100 % of the line, constant \
                 arrivals";
    assert_eq!(words(&paced_at(1.0, 1.0)), feeds);
    assert!(words(&paced_at(1.0, 0.9995)).starts_with("FEEDS"), "99.9 % counts as all");
    let mut cut = paced_at(1.0, 1.0);
    // An offer is recorded in whole bytes per second.
    cut.edit_reps("c", |rep| {
        rep.counters.entry(counter::OFFERED_BPS.to_owned()).and_modify(|bps| *bps -= 1);
    });
    assert!(words(&cut).starts_with("FEEDS"));
}

#[test]
fn what_was_not_served_of_the_line_is_missing_from_it() {
    let starves = words(&paced_at(1.0, 0.95));
    assert!(starves.starts_with("STARVES 5.0 % short at depth 8"), "{starves}");
    assert!(words(&paced_at(1.5, 0.9)).starts_with("FEEDS"), "1.35 x the line was served");
}

#[test]
fn below_the_line_there_are_figures_and_no_verdict() {
    let summary = summarise(&paced_at(0.5, 1.0).record());
    assert!(summary.verdicts.is_empty());
    assert_eq!(summary.unjudged[0].reason, "offers 50 % of the line: no verdict");
    assert!((summary.cells[0].figures().unwrap().bps.mean / (0.5 * Builder::LINE_BPS) - 1.0).abs() < 1e-9);
    let mut gated = paced_at(0.5, 1.0);
    gated.run.gate.p99_ns = Some(1_000_000_000);
    let missed = "disk p99: offers 50 % of the line: no verdict".to_owned();
    assert_eq!(gate(&summarise(&gated.record())), GateResult::Missed(vec![missed]));
}

#[test]
fn what_was_not_served_is_slower_than_any() {
    let found = paced(&paced_at(1.0, 0.985));
    assert_eq!(found.response_p99, Percentile::NotServed);
    let Percentile::At(p50_ns) = found.response_p50 else { panic!("{found:?}") };
    assert!((p50_ns as f64 / 2e6 - 1.0).abs() < 2e-3);
    assert!(matches!(paced(&paced_at(1.0, 0.995)).response_p99, Percentile::At(_)));
}

#[test]
fn the_gate_asks_for_the_response() {
    let gated = |served, limit_ns| {
        let mut builder = paced_at(1.0, served);
        builder.run.gate.p99_ns = Some(limit_ns);
        gate(&summarise(&builder.record()))
    };
    // Service takes 1 ms, the response 2 ms.
    assert_eq!(gated(1.0, 3_000_000), GateResult::Met);
    assert!(matches!(gated(1.0, 1_500_000), GateResult::Missed(_)));
    let GateResult::Missed(words) = gated(0.98, 60_000_000_000) else { panic!("not missed") };
    assert!(words[0].contains("were not served"), "{words:?}");
}

#[test]
fn a_client_that_woke_late_cannot_say_that_storage_starves() {
    let late = |of_line, served| {
        let mut builder = paced_at(of_line, served);
        let mut lag = record::new_histogram();
        lag.record_n(300_000, 9_000).unwrap();
        builder.edit_reps("c", |rep| {
            rep.histograms.insert("lag_ns".to_owned(), record::encode(&lag));
        });
        builder
    };
    let all = figures(&late(1.0, 1.0), "c");
    assert!(matches!(all.flags[..], [Flag::LateClient { not_issued: 0, .. }]), "{:?}", all.flags);
    assert_eq!(all.flags[0].gravity(), Gravity::Informs);
    assert!(words(&late(1.0, 1.0)).starts_with("FEEDS"));
    let short = words(&late(1.0, 0.95));
    assert!(short.starts_with("UNCERTAIN the client woke late: p99 of the lag 300"), "{short}");
}

#[test]
fn what_was_not_served_is_flagged() {
    let flags = figures(&paced_at(1.0, 0.98), "c").flags;
    assert_eq!(flags.iter().map(ToString::to_string).collect::<Vec<_>>(), ["2.0 % of arrivals not served"]);
    assert_eq!(figures(&paced_at(1.0, 1.0), "c").flags, []);
}
