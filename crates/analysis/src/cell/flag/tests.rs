use super::*;

const METHODOLOGY: &str = include_str!("../../../../../docs/src/methodology.md");

fn named(text: &str) -> String {
    text.to_owned()
}

fn late(lag_and_response_p99_ns: Option<(u64, u64)>, not_issued: u64, given_up: f64) -> Flag {
    Flag::LateClient { lag_and_response_p99_ns, not_issued, given_up, spins: false }
}

fn not_steady(slope: f64, end_of_line: Option<f64>) -> Flag {
    Flag::NotSteady { repetitions: 3, made: 5, range: 0.34, slope, end_of_line }
}

fn falling_to(end_of_line: f64) -> Flag {
    Flag::Bursts { fall: 0.35, in_windows: true, end_of_line: Some(end_of_line) }
}

/// One flag of each kind: the match makes a new kind show up here.
fn following(flag: &Flag) -> Option<Flag> {
    let next = match flag {
        Flag::ClientLimited { .. } => Flag::NotCold { resident: None },
        Flag::NotCold { .. } => Flag::NotWarm { resident: None },
        Flag::NotWarm { .. } => Flag::NotBypassed { resident: 1.0 },
        Flag::NotBypassed { .. } => Flag::NotDropped { resident: Some(1.0) },
        Flag::NotDropped { .. } => Flag::TooShort { repetitions: 1, window_ns: 1 },
        Flag::TooShort { .. } => Flag::FewTurns { repetitions: 1, turns: 1.0 },
        Flag::FewTurns { .. } => Flag::FewSteps { repetitions: 1, steps: 19 },
        Flag::FewSteps { .. } => not_steady(-0.22, None),
        Flag::NotSteady { .. } => Flag::Bursts { fall: 0.35, in_windows: true, end_of_line: None },
        Flag::Bursts { .. } => Flag::Drifts { change: -0.23, over_ns: 2_400_000_000_000 },
        Flag::Drifts { .. } => Flag::WrongBytes { found: 1, checked: 8 },
        Flag::WrongBytes { .. } => Flag::NotReread { unread: 1, of: 8, kinds: named("1 io") },
        Flag::NotReread { .. } => Flag::Errors { failed: 1, share: 1e-3, kinds: named("1 io") },
        Flag::Errors { .. } => Flag::FailedRepetitions { failed: 1, made: 2, reason: named("gone") },
        Flag::FailedRepetitions { .. } => Flag::DatasetChanged,
        Flag::DatasetChanged => Flag::NotLookedAt { reason: named("timed out") },
        Flag::NotLookedAt { .. } => Flag::Missing { repetitions: 1, reason: named("budget") },
        Flag::Missing { .. } => Flag::Exhausted { repetitions: 1 },
        Flag::Exhausted { .. } => Flag::RanOut { repetitions: 1, steps: 37, asked: Some(100) },
        Flag::RanOut { .. } => Flag::Abandoned { reads: 1 },
        Flag::Abandoned { .. } => Flag::Clamped { reads: 1 },
        Flag::Clamped { .. } => Flag::NoHistogram { repetitions: 1 },
        Flag::NoHistogram { .. } => Flag::Opened { files: 1 },
        Flag::Opened { .. } => Flag::NamesInMemory,
        Flag::NamesInMemory => {
            Flag::Merged { request_bytes: 524_288, block_bytes: 131_072, submit_batch: Some(8) }
        }
        Flag::Merged { .. } => late(Some((1, 2)), 0, 0.0),
        Flag::LateClient { .. } => Flag::OfferedLess { share: 0.5, in_steps: true },
        Flag::OfferedLess { .. } => Flag::NotFromStorage { share: 0.5, compresses: false },
        Flag::NotFromStorage { .. } => Flag::InMemory { kind: named("zram") },
        Flag::InMemory { .. } => Flag::NotServed { arrivals: 1, share: 0.1 },
        Flag::NotServed { .. } => Flag::NotEmulated {
            repetitions: 1,
            metadata: false,
            asked_ns: 15_000_000,
            achieved_ns: 20_000_000,
        },
        Flag::NotEmulated { .. } => Flag::Throttled { share: 0.02, first: Some(named("503 SlowDown")) },
        Flag::Throttled { .. } => Flag::Retried { percentile: "p99", service_ns: 2, attempt_ns: 1 },
        Flag::Retried { .. } => Flag::Recovered { operations: 1, share: 1e-3, kinds: named("1 reset") },
        Flag::Recovered { .. } => Flag::ConnectionsLost { connections: 1 },
        Flag::ConnectionsLost { .. } => {
            Flag::Unbalanced { busiest: named("192.0.2.1:2049"), share: 0.7, addresses: 2 }
        }
        Flag::Unbalanced { .. } => Flag::DelayedAck { p50_ns: 41_000_000 },
        Flag::DelayedAck { .. } => {
            Flag::NotDecoded { samples: 3, share: 1e-3, first: Some(named("not a JPEG")) }
        }
        Flag::NotDecoded { .. } => Flag::WaitsElsewhere { cause: Bound::Decode, share: 0.25 },
        Flag::WaitsElsewhere { .. } => Flag::FillsDecide { long_run: 0.97 },
        Flag::FillsDecide { .. } => Flag::LongFill { share: 0.12, first_batch_ns: 1_200_000_000 },
        Flag::LongFill { .. } => Flag::AuApart { au: 0.9, dlio_au: 0.99 },
        Flag::AuApart { .. } => Flag::NotAsPredicted { au: 0.7, predicted: 0.9 },
        Flag::NotAsPredicted { .. } => Flag::Stolen { share: 0.1 },
        Flag::Stolen { .. } => Flag::Waited { share: 0.1, crowd: None },
        Flag::Waited { .. } => Flag::OthersRead { share: 0.4, names: vec![named("tar")] },
        Flag::OthersRead { .. } => Flag::OthersWrote { share: 0.4 },
        Flag::OthersWrote { .. } => Flag::StandsIn { asked: named("io_uring") },
        Flag::StandsIn { .. } => return None,
    };
    Some(next)
}

fn every_kind() -> Vec<Flag> {
    let first = Flag::ClientLimited {
        ceiling_share: None,
        cpu_share: Some(1.0),
        nic_share: None,
        core_share: None,
        null_au: None,
    };
    std::iter::successors(Some(first), following).collect()
}

/// Name and effect of each row of the book's table of flags.
fn rows_of_the_book() -> Vec<(String, String)> {
    let (_, section) = METHODOLOGY.split_once("\n## Validity\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| {
        let columns: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(columns.len(), 3, "{row}");
        (columns[0].to_owned(), columns[2].to_owned())
    })
    .collect()
}

fn effect(flag: &Flag) -> String {
    match flag {
        Flag::Errors { .. } => {
            let many = Flag::Errors { failed: 1, share: 0.011, kinds: named("1 io") };
            format!("{}; above 1 %: {}", flag.gravity().name(), many.gravity().name())
        }
        Flag::LateClient { .. } => {
            let (said, forbidden) = (flag.gravity().name(), late(Some((1, 2)), 1, 0.0).gravity().name());
            assert_eq!(late(None, 1, 0.002).gravity().name(), forbidden);
            format!("{said}; with arrivals not issued, or given up: {forbidden}")
        }
        Flag::NotSteady { .. } => {
            let (falls, rises) =
                (not_steady(-0.2, Some(0.9)).gravity(), not_steady(0.2, Some(1.1)).gravity());
            format!(
                "{}; falling below the line: {}; rising above it: {}",
                flag.gravity().name(),
                falls.name(),
                rises.name()
            )
        }
        Flag::Bursts { .. } => {
            format!("{}; falling below the line: {}", flag.gravity().name(), falling_to(0.9).gravity().name())
        }
        Flag::NotDecoded { .. } => {
            let many = Flag::NotDecoded { samples: 1, share: 0.011, first: None };
            format!("{}; above 1 %: {}", flag.gravity().name(), many.gravity().name())
        }
        Flag::NotFromStorage { .. } => {
            let compressed = Flag::NotFromStorage { share: 0.5, compresses: true };
            format!("{}; where it compresses: {}", flag.gravity().name(), compressed.gravity().name())
        }
        _ => flag.gravity().name().to_owned(),
    }
}

#[test]
fn the_book_names_every_flag_with_what_it_forbids() {
    let flags: Vec<(String, String)> =
        every_kind().iter().map(|flag| (flag.name().to_owned(), effect(flag))).collect();
    assert_eq!(rows_of_the_book(), flags);
}

#[test]
fn every_flag_has_words_and_an_advice() {
    for flag in every_kind() {
        assert!(!flag.to_string().is_empty() && !flag.advice().is_empty(), "{flag:?}");
        assert!(!flag.to_string().ends_with('.'), "{flag}");
    }
}

#[test]
fn a_late_client_says_what_it_was_late_by() {
    let words = "the client woke late: p99 of the lag 1 ns, of the response 2 ns";
    assert_eq!(late(Some((1, 2)), 0, 0.0005).to_string(), words);
    let away = "the client woke late: 0.2 % of arrivals were due while it was away";
    assert_eq!(late(None, 0, 0.002).to_string(), away);
    assert!(
        late(Some((1, 2)), 0, 0.002).to_string().ends_with("; 0.2 % of arrivals were due while it was away")
    );
    assert!(late(None, 0, 0.002).advice().contains("load.spin"));
    let spinning =
        Flag::LateClient { lag_and_response_p99_ns: None, not_issued: 0, given_up: 0.1, spins: true };
    assert!(!spinning.advice().contains("load.spin"));
}

#[test]
fn flags_of_a_training_job_say_what_was_found_and_what_to_do() {
    let said: Vec<String> = every_kind()
        .iter()
        .filter(|flag| {
            matches!(
                flag,
                Flag::FewSteps { .. }
                    | Flag::RanOut { .. }
                    | Flag::NotDecoded { .. }
                    | Flag::WaitsElsewhere { .. }
                    | Flag::FillsDecide { .. }
                    | Flag::LongFill { .. }
                    | Flag::AuApart { .. }
                    | Flag::NotAsPredicted { .. }
            )
        })
        .map(ToString::to_string)
        .collect();
    let expected = [
        "19 steps of an accelerator: 20 are needed",
        "dataset read once after 37 of 100 steps",
        "3 samples not decoded, 0.1 % of all (the first: not a JPEG)",
        "not the storage: decode-bound for 25 % of the time",
        "short epochs: without their fills AU 97.0 % is foretold",
        "first batch after 1.2 s, 12 % of the job",
        "AU 99.0 % as DLIO counts it",
        "AU 90.0 % foretold by closed-loop reads",
    ];
    assert_eq!(said, expected);
    let slow = Flag::ClientLimited {
        ceiling_share: None,
        cpu_share: None,
        nic_share: None,
        core_share: None,
        null_au: Some(0.982),
    };
    assert_eq!(slow.to_string(), "CLIENT-LIMITED, AU 98.2 % without storage");
    assert!(slow.is_client_limit() && slow.advice().contains("fewer accelerators"));
}

#[test]
fn a_utilization_is_cut_near_the_whole() {
    let written = [0.5, 0.961_4, 0.998_9, 0.999, 0.999_8, 0.999_999, 1.0].map(utilization);
    assert_eq!(written, ["50.0 %", "96.1 %", "99.9 %", "99.90 %", "99.98 %", "99.99 %", "100.0 %"]);
}

#[test]
fn a_change_within_windows_forbids_only_what_its_end_contradicts() {
    let forbids = |slope, end| not_steady(slope, Some(end)).gravity();
    assert_eq!(forbids(-0.2, 0.99), Gravity::ForbidsFeeds);
    assert_eq!(forbids(-0.2, 1.0), Gravity::Informs);
    assert_eq!(forbids(0.2, 1.0), Gravity::ForbidsStarves);
    assert_eq!(forbids(0.2, 0.99), Gravity::Informs);
    assert_eq!((forbids(-0.05, 0.9), forbids(0.05, 1.1)), (Gravity::Informs, Gravity::Informs));
    assert_eq!(
        (falling_to(1.2).gravity(), falling_to(0.2).gravity()),
        (Gravity::Informs, Gravity::ForbidsFeeds)
    );
}

#[test]
fn changes_of_throughput_say_how_much_and_what_to_do() {
    let said: Vec<String> =
        every_kind().iter().filter(|flag| flag.is_unsteady()).map(ToString::to_string).collect();
    let expected = [
        "not steady: range 34 %, slope -22 % in 3 of 5 windows",
        "throughput falls by 35 % within every window, as burst credits do",
        "drifts: throughput fell by 23 % over 40 min",
    ];
    assert_eq!(said, expected);
    let during = Flag::Bursts { fall: 0.35, in_windows: false, end_of_line: None };
    assert_eq!(during.to_string(), "throughput fell by 35 % at once during the run, as burst credits do");
    let risen = Flag::Drifts { change: 0.5, over_ns: 60_000_000_000 };
    assert!(risen.to_string().starts_with("drifts: throughput rose by 50 % over "), "{risen}");
}
