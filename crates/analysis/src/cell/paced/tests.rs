use feed::Judgement;
use record::counter;

use crate::cell::flag::{Flag, Gravity};
use crate::fixture::{Builder, confirmed_at, figures};
use crate::{
    Cause, Condition, GateResult, NoVerdict, NotJudged, Paced, Percentile, ReadVerdict, WhyUnmet, gate,
    summarise,
};

/// One cell paced at a share of the line, of which a share is served.
fn paced_at(of_line: f64, served: f64) -> Builder {
    let mut builder = confirmed_at(&[of_line; 3]);
    builder.pace("c", of_line, served);
    builder
}

fn paced(builder: &Builder) -> Paced {
    figures(builder, "c").paced.unwrap()
}

fn verdict(builder: &Builder) -> ReadVerdict {
    crate::fixture::reads_of(builder)
}

/// The flag that leaves a verdict open.
fn flag(builder: &Builder) -> Flag {
    match verdict(builder).cause {
        Cause::Flagged(flag) => flag,
        other => panic!("{other:?}"),
    }
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
    let feeds = verdict(&paced_at(1.0, 1.0));
    assert_eq!(feeds.judgement, Judgement::Feeds);
    assert!(matches!(&feeds.conditions[..], [Condition::Paced { paced, .. }] if paced.keeps_up()));
    assert_eq!(verdict(&paced_at(1.0, 0.9995)).judgement, Judgement::Feeds, "99.9 % counts as all");
    let mut cut = paced_at(1.0, 1.0);
    // An offer is recorded in whole bytes per second.
    cut.edit_reps("c", |rep| {
        rep.counters.entry(counter::OFFERED_BPS.to_owned()).and_modify(|bps| *bps -= 1);
    });
    assert_eq!(verdict(&cut).judgement, Judgement::Feeds);
}

#[test]
fn what_was_not_served_of_the_line_is_missing_from_it() {
    let starves = verdict(&paced_at(1.0, 0.95));
    assert!(matches!(starves.cause, Cause::Short { share, .. } if (share - 0.05).abs() < 1e-6));
    assert_eq!(verdict(&paced_at(1.5, 0.9)).judgement, Judgement::Feeds, "1.35 x the line was served");
}

#[test]
fn below_the_line_there_are_figures_and_no_verdict() {
    let summary = summarise(&paced_at(0.5, 1.0).record());
    assert!(summary.verdicts.is_empty());
    let offers_half = |reason: &NoVerdict| matches!(reason, NoVerdict::OffersLess { of_line } if (of_line - 0.5).abs() < 1e-6);
    assert!(offers_half(&summary.unjudged[0].reason));
    assert!((summary.cells[0].figures().unwrap().bps.mean / (0.5 * Builder::LINE_BPS) - 1.0).abs() < 1e-9);
    let mut gated = paced_at(0.5, 1.0);
    gated.run.gate.p99_ns = Some(1_000_000_000);
    let GateResult::Missed(unmet) = gate(&summarise(&gated.record())) else { panic!("not missed") };
    assert!(matches!(&unmet[0].why, WhyUnmet::NotJudged(NotJudged::NoVerdict(why)) if offers_half(why)));
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
    let GateResult::Missed(unmet) = gated(0.98, 60_000_000_000) else { panic!("not missed") };
    assert_eq!(unmet[0].why, WhyUnmet::NotServed);
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
    assert!(
        matches!(all.flags[..], [Flag::LateClient { not_issued: 0, spins: false, .. }]),
        "{:?}",
        all.flags
    );
    assert_eq!(all.flags[0].gravity(), Gravity::Informs);
    assert_eq!(verdict(&late(1.0, 1.0)).judgement, Judgement::Feeds);
    assert!(matches!(flag(&late(1.0, 0.95)), Flag::LateClient { .. }));
}

#[test]
fn what_was_not_served_is_flagged() {
    let flags = figures(&paced_at(1.0, 0.98), "c").flags;
    assert!(matches!(flags[..], [Flag::NotServed { share, .. }] if (share - 0.02).abs() < 1e-3), "{flags:?}");
    assert_eq!(figures(&paced_at(1.0, 1.0), "c").flags, []);
}

/// Three times the line: all are served, most of them after the window.
fn backlog(ended: u64) -> Builder {
    let mut builder = paced_at(3.0, 1.0);
    builder.edit_reps("c", |rep| {
        rep.counters.insert(counter::OPS.to_owned(), ended);
        rep.counters.insert(counter::BYTES.to_owned(), ended * 100_000);
    });
    builder
}

#[test]
fn what_a_deep_queue_serves_after_the_window_is_no_rate() {
    // 27,000 arrivals a second; 8,000 end in it, 8 more are in flight at 1 ms each.
    let builder = backlog(8_000);
    let found = paced(&builder);
    assert!((found.served_share() - 1.0).abs() < 1e-12 && !found.keeps_up(), "{found:?}");
    let expected = 8_008.0 / 27_000.0 * 3.0 * Builder::LINE_BPS;
    assert!((figures(&builder, "c").bps.mean / expected - 1.0).abs() < 1e-6);
    let short = verdict(&builder);
    assert!(
        matches!(short.cause, Cause::Short { share, .. } if (share - 0.11).abs() < 5e-3),
        "{:?}",
        short.cause
    );
    let [Condition::Paced { arrivals, paced }] = &short.conditions[..] else {
        panic!("{:?}", short.conditions)
    };
    assert_eq!((arrivals.as_str(), paced.of_line.map(f64::round)), ("constant", Some(3.0)));
    assert!((paced.kept_share - 0.297).abs() < 1e-3);
}

#[test]
fn what_is_in_flight_as_the_window_closes_is_no_shortfall() {
    let at_line = |ended: u64, service_ns: u64| {
        let mut builder = paced_at(1.0, 1.0);
        let mut service = record::new_histogram();
        service.record_n(service_ns, 9_000).unwrap();
        builder.edit_reps("c", |rep| {
            rep.counters.insert(counter::OPS.to_owned(), ended);
            rep.histograms.insert("service_ns".to_owned(), record::encode(&service));
        });
        paced(&builder)
    };
    assert!(at_line(8_920, 10_000_000).keeps_up(), "90 in flight");
    assert!(!at_line(8_920, 1_000_000).keeps_up(), "9 in flight");
    assert!(!at_line(8_800, 100_000_000).keeps_up(), "no more than 1 % of the arrivals");
}

#[test]
fn an_exhausted_repetition_moved_no_more_than_its_bytes() {
    let mut builder = paced_at(1.0, 1.0);
    builder.edit_reps("c", |rep| {
        rep.outcome = record::Outcome::Exhausted;
        rep.counters.insert(counter::BYTES.to_owned(), 450_000_000);
    });
    assert!((figures(&builder, "c").bps.mean - 450e6).abs() < 1.0);
}

#[test]
fn a_batch_whose_steps_do_not_fit_offers_less_than_it_says() {
    let offering = |share: f64| {
        let mut builder = paced_at(1.0, 1.0);
        let arrivals = (9_000.0 * share) as u64;
        builder.edit_cell("c", |cell| cell.pace.as_mut().unwrap().arrivals = "batch".to_owned());
        builder.edit_reps("c", |rep| {
            for name in [counter::ARRIVALS, counter::SERVED, counter::OPS] {
                rep.counters.insert(name.to_owned(), arrivals);
            }
            rep.counters.insert(counter::BYTES.to_owned(), arrivals * 100_000);
        });
        builder
    };
    assert_eq!(verdict(&offering(0.96)).judgement, Judgement::Feeds);
    assert!(matches!(flag(&offering(0.5)), Flag::OfferedLess { .. }));
}

#[test]
fn arrivals_given_up_are_the_clients_and_forbid_starves() {
    let away = |given_up: u64, spin_ns: u64| {
        let mut builder = paced_at(1.0, 0.95);
        builder.edit_cell("c", |cell| cell.pace.as_mut().unwrap().spin_ns = spin_ns);
        builder.edit_reps("c", |rep| {
            rep.counters.insert(counter::GIVEN_UP.to_owned(), given_up);
        });
        builder
    };
    assert_eq!(verdict(&away(9, 0)).judgement, Judgement::Starves, "a thousandth of 9,000");
    assert!(matches!(flag(&away(10, 0)), Flag::LateClient { spins: false, .. }));
    assert!(matches!(flag(&away(10, 60_000)), Flag::LateClient { spins: true, .. }));
}

#[test]
fn a_window_of_few_arrivals_for_what_is_in_flight_forbids_a_verdict() {
    let mut builder = paced_at(1.0, 1.0);
    let mut service = record::new_histogram();
    // 9,000 reads a second of 60 ms: 540 in flight.
    service.record_n(60_000_000, 9_000).unwrap();
    builder.edit_reps("c", |rep| {
        rep.histograms.insert("service_ns".to_owned(), record::encode(&service));
    });
    assert!(matches!(figures(&builder, "c").flags[..], [Flag::FewTurns { turns, .. }] if turns < 17.0));
    assert_eq!(figures(&paced_at(1.0, 1.0), "c").flags, []);
}

#[test]
fn a_paced_verdict_says_how_the_target_was_read() {
    let mut warm = paced_at(1.0, 1.0);
    warm.edit_cell("c", |cell| cell.cache = "warm".into());
    warm.edit_reps("c", |rep| rep.cache.before_bytes = Some(rep.cache.total_bytes));
    let read = |builder: &Builder| verdict(builder).conditions[1..].to_vec();
    assert_eq!(read(&warm), [Condition::Warm]);
    let mut files = paced_at(1.0, 1.0);
    files.edit_cell("c", |cell| cell.operation = "read_file".into());
    assert_eq!(read(&files), [Condition::WholeFiles { names_dropped: false }]);
    let mut other = paced_at(1.0, 1.0);
    other.cell("d", "disk", 8);
    other.edit_cell("d", |cell| cell.access = "random".into());
    assert!(matches!(&read(&other)[..], [Condition::OneOfSeveral(_)]));
}
