use analysis::{CacheBelow, Evidence, Gap, GapCause, Pieces, Shape, WayApart};
use feed::{Flow, Interval, Judgement};

use super::*;

fn recorded(reason: &str) -> Gap {
    GapCause::Recorded(reason.to_owned()).into()
}

/// A verdict on a closed loop at depth 8, whose load is one of 8 accelerators.
fn verdict(judgement: Judgement, cause: Cause) -> ReadVerdict {
    ReadVerdict {
        asked: feed::Flow::Reads,
        judgement,
        scope: Some(Scope {
            hosts_measured: 1,
            hosts_needed: 1,
            caches_open: vec![CacheBelow::Device],
            caches_excluded: Vec::new(),
            under_load_ns: 1,
            bytes_read: 1,
            rounds: 3,
            load: LoadScope::Closed { outstanding: 8, accelerators: 8 },
            evidence: Evidence::Screen,
            extrapolated: false,
        }),
        changed: None,
        cell: Some("c".to_owned()),
        engine: Some("io_uring".to_owned()),
        queue_depth: Some(8),
        form: Vec::new(),
        played: None,
        conditions: Vec::new(),
        need: "8 x h100 resnet50".to_owned(),
        samples_per_s: None,
        line_samples_per_s: Some(9_000.0),
        feeds: None,
        unreached: Vec::new(),
        clears: None,
        slow: None,
        alone: Vec::new(),
        cause,
    }
}

fn of_job(judgement: Judgement, cause: Cause, au: f64) -> ReadVerdict {
    let played = Played { au, target: 0.9, readers: Some(8), fetches: 1, prefetch: 8, diagnosis: None };
    let conditions = vec![Condition::WholeFiles { names_dropped: false }];
    ReadVerdict { played: Some(played), conditions, ..verdict(judgement, cause) }
}

fn apart() -> WayApart {
    WayApart {
        sample_bytes: Some(2_048.0),
        pieces: Some(Pieces { operation: "read_file".to_owned(), write_percent: None, block_bytes: 131_072 }),
        ..WayApart::default()
    }
}

#[test]
fn what_feeds_says_from_where_on_and_what_that_takes_of_a_loader() {
    let feeds = verdict(Judgement::Feeds, Cause::Clears { first: true });
    let loader = "8 outstanding take 1 worker for each of 8 accelerators with blocking reads";
    assert_eq!(
        sentence(&feeds),
        format!("8 x h100 resnet50 from depth 8 (io_uring); {loader}; screen, cache open")
    );
    assert_eq!(reasons(&feeds), ["clears from depth 8 (io_uring)", loader]);
    let later = sentence(&verdict(Judgement::Feeds, Cause::Clears { first: false }));
    assert!(later.starts_with("8 x h100 resnet50 at depth 8 (io_uring)"), "{later}");
}

#[test]
fn what_starves_says_by_how_much_why_and_what_else_would_clear() {
    let cause = Cause::Short { share: 0.2, shape: Some(Shape::Flat { from: 4 }) };
    let clears = Some(ClearsOtherwise { apart: apart(), queue_depth: 2, more: 1 });
    let starves = ReadVerdict { feeds: Some(6), clears, ..verdict(Judgement::Starves, cause) };
    assert_eq!(
        sentence(&starves),
        "20 % short at depth 8 (io_uring); feeds 6 by division; flat from 4: bandwidth-bound; not confirmed: clears at \
         2 KiB samples, files in 128 KiB pieces, depth 2, and in 1 other way; screen, cache open"
    );
}

#[test]
fn an_open_verdict_says_what_would_decide_it() {
    let open = |rounds, command: Option<&str>| {
        let command = command.map(str::to_owned);
        let interval = Interval { low: 8_730.0, mean: 9_000.0, high: 9_360.0 };
        let cause = Cause::Straddles { made: 3, rounds, most: 12, command };
        sentence(&ReadVerdict { samples_per_s: Some(interval), ..verdict(Judgement::Uncertain, cause) })
    };
    let head = "interval straddles the line at depth 8 (io_uring): 97 to 104 % of it; ";
    let said = [
        (open(None, None), "no number of rounds that pays would decide (3 rounds made)"),
        (open(Some(9), None), "about 9 of 12 rounds would decide (3 rounds fitted)"),
        (open(Some(20), Some("feedline run")), "about 20 rounds would decide (3 rounds made): feedline run"),
    ];
    for (words, expected) in said {
        assert_eq!(words, format!("{head}{expected}; screen, cache open"));
    }
}

#[test]
fn a_flag_is_said_of_the_cell_with_what_to_do_and_wrong_bytes_of_the_target() {
    let flagged = |flag: Flag| sentence(&verdict(Judgement::Uncertain, Cause::Flagged(flag)));
    let cached = flagged(Flag::NotBypassed { resident: 1.0 });
    assert!(cached.starts_with("not bypassed: 100 % resident after at depth 8 (io_uring); "), "{cached}");
    assert_eq!(
        flagged(Flag::WrongBytes { found: 3, checked: 8 }),
        "3 of 8 checked reads held wrong bytes; trust no figure of this storage; look for what corrupts or rewrites its \
         files; screen, cache open"
    );
}

#[test]
fn a_job_says_its_utilization_and_its_target() {
    let fed = of_job(Judgement::Feeds, Cause::Clears { first: true }, 0.961);
    let ways = "files opened one by one, names possibly in memory; screen, cache open";
    assert_eq!(
        sentence(&fed),
        format!("8 x h100 resnet50 with 8 readers, prefetch 8: AU 96.1 % (target 90 %), io_uring; {ways}")
    );
    assert_eq!(reasons(&fed)[0], "with 8 readers, prefetch 8: AU 96.1 % (target 90 %), io_uring");
    let short = |au| sentence(&of_job(Judgement::Starves, Cause::Short { share: 0.1, shape: None }, au));
    assert_eq!(
        short(0.713),
        format!("AU 71.3 % of the 90 % it needs with 8 readers, prefetch 8 (io_uring); {ways}")
    );
    assert!(short(0.899_9).starts_with("AU 89.99 % of the 90.00 % it needs with 8 readers"), "just below");
    let demo = of_job(Judgement::Uncertain, Cause::Demo { of_line: Some(1.0) }, 0.95);
    assert!(sentence(&demo).starts_with("AU 95.0 % with 8 readers, prefetch 8 (io_uring); played by"));
}

#[test]
fn every_other_cause_is_a_clause() {
    let said = [
        (
            Cause::HostsOpen { hosts: 7 },
            "this host is fed at depth 8 (io_uring); 7 more were not tested; 8 outstanding take 1 worker for each of 8 \
             accelerators with blocking reads",
        ),
        (
            Cause::NotInStep { least_au: 0.84 },
            "fed at depth 8 (io_uring) if one process is always the slowest; slow in turn, as they may be, the GPUs are 84.0 % \
             busy",
        ),
        (
            Cause::SavesTooOften { without_au: 0.951 },
            "short at depth 8 (io_uring) with saves more often than the need has them; without any AU 95.1 %",
        ),
        (
            Cause::BeyondLoader { reach: 4 },
            "clears at depth 8 (io_uring), and the stated loader has 4 reads outstanding at most",
        ),
        (
            Cause::OthersAbove { queue_depth: 16, share: 1.02 },
            "short at depth 8 (io_uring), but depth 16 stood at 102 % of the line",
        ),
        (
            Cause::Changed { bps: (1.56e9, 1.19e9) },
            "the storage changed across the line at depth 8 (io_uring): 1.56 GB/s, then 1.19 GB/s",
        ),
        (
            Cause::TooFewRepetitions { made: 2 },
            "too few repetitions at depth 8 (io_uring): 2 of the 3 that an interval needs",
        ),
        (Cause::AskedFailed { reason: recorded("gone") }, "what was asked for failed: gone"),
        (Cause::NotConfirmed { reason: recorded("budget") }, "not confirmed at depth 8 (io_uring): budget"),
        (Cause::NothingMeasured(NothingMeasured::NotPlanned), "nothing was measured: no cell was planned"),
        (
            Cause::NoLine(NoLine::NoSampleSize),
            "measured at depth 8 (io_uring), not judged: the size of a sample is not known",
        ),
    ];
    for (cause, expected) in said {
        assert_eq!(
            sentence(&verdict(Judgement::Uncertain, cause)),
            format!("{expected}; screen, cache open")
        );
    }
}

#[test]
fn other_ways_below_the_line_are_cut_and_not_rounded() {
    let way = |of_line, depths| unreached(&Unreached::Otherwise { apart: apart(), of_line, depths });
    let at = "2 KiB samples, files in 128 KiB pieces";
    assert_eq!(way((0.605, 0.605), (8, 8)), format!("not at {at}: 60 % of its line"));
    assert_eq!(way((0.365, 0.805), (8, 32)), format!("not at {at} (depths 8-32: 36 to 80 % of its line)"));
    assert_eq!(
        way((0.057, 1.009), (8, 8)),
        format!("not proven at {at} (depth 8: 5.7 to 100 % of its line)")
    );
    assert_eq!(unreached(&Unreached::More(2)), "and 2 more");
}

#[test]
fn checkpoints_say_what_they_cost_the_job() {
    let plan = CheckpointPlan {
        label: "llama3-8b, 1/64 of it".to_owned(),
        bytes: 1 << 30,
        files: 1,
        mode: "sync".to_owned(),
        every_steps: Some(20),
        copy_ns: 0,
        durable: true,
        keep: 1,
        price_per_hour: None,
    };
    let with = "with sync checkpoints every 20 steps (llama3-8b, 1/64 of it)";
    let missed = Unreached::WithCheckpoints { plan: plan.clone(), au: 0.899_6 };
    assert_eq!(unreached(&missed), format!("not {with}: AU 89.9 %"));
    let judged = Unreached::JudgedWithCheckpoints { plan, without_au: Some(0.95) };
    assert_eq!(unreached(&judged), format!("judged {with}; without them AU 95.0 %"));
}

#[test]
fn a_scope_says_what_is_open() {
    let mut of = verdict(Judgement::Feeds, Cause::Clears { first: true }).scope.unwrap();
    (of.hosts_needed, of.extrapolated) = (64, true);
    assert_eq!(scope(&of), "screen, 1 of 64 hosts, cache open, extrapolated profile");
}

#[test]
fn what_no_verdict_can_rest_on_says_why() {
    let said = [
        (
            NoVerdict::TeamBroke,
            "the processes that measured together did not come to the end together: nothing is judged",
        ),
        (NoVerdict::OffersLess { of_line: 0.8 }, "offers 80 % of the line: no verdict"),
        (
            NoVerdict::OtherJob { played: 4, named: 0 },
            "jobs of up to 4 accelerators were played, the need names none: no verdict",
        ),
        (
            NoVerdict::OthersMoved {
                asked: Flow::Reads,
                operations: vec!["checkpoint".to_owned(), "restore".to_owned()],
            },
            "no sample was read (checkpoint, restore): not judged against the line",
        ),
        (
            NoVerdict::NoShare { percent: Some(200) },
            "the record's share of writes is 200 %: not judged against the line",
        ),
        (
            NoVerdict::NoShare { percent: None },
            "the record does not say what share was written: not judged against the line",
        ),
    ];
    for (why, expected) in said {
        assert_eq!(no_verdict(&why), expected);
    }
}

#[test]
fn what_was_offered_and_not_served_is_never_told_as_all() {
    let paced = |of_line, kept_share, response_p99| Condition::Paced {
        arrivals: "constant".to_owned(),
        paced: analysis::Paced {
            offered_bps: 1.0,
            of_line: Some(of_line),
            offers_line: true,
            arrivals: 1_000,
            served: 1_000,
            kept_share,
            real_share: 1.0,
            not_issued: 0,
            given_up: 0,
            response_p50: Percentile::Unknown,
            response_p99,
            kinds: None,
            issued_p99_ns: None,
            lag_p99_ns: None,
        },
    };
    assert_eq!(
        condition(&paced(3.0, 0.9985, Percentile::NotServed)),
        "served 99.8 % of 300 % of the line, constant arrivals; response p99 not served"
    );
    let all = condition(&paced(20_000.0, 1.0, Percentile::Unknown));
    assert_eq!(all, "offered 20,000 x of the line, constant arrivals");
}
