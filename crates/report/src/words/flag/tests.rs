use analysis::{GapCause, Gravity, SlowBy, SlowRank, SlowRanks};

use super::*;

const METHODOLOGY: &str = include_str!("../../../../../docs/src/methodology.md");

fn named(text: &str) -> String {
    text.to_owned()
}

fn one(kind: &str) -> BTreeMap<String, u64> {
    [(named(kind), 1)].into_iter().collect()
}

fn recorded(reason: &str) -> analysis::Gap {
    GapCause::Recorded(named(reason)).into()
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

fn slow_rank() -> SlowRanks {
    let one = SlowRank { rank: 1, host: Some(named("host-2")), by: SlowBy::Rate, of_others: 0.25 };
    SlowRanks { slow: vec![one], ranks: 4 }
}

fn hosts_below() -> Flag {
    Flag::HostsBelow { hosts: vec![named("host-2"), named("host-4")], of: 4, least: 0.444 }
}

fn failed_reads() -> Flag {
    Flag::Errors { failed: 1, share: 1e-3, of_rarer: None, kinds: one("io") }
}

fn elsewhere() -> Flag {
    Flag::GoneOnElsewhere(vec![record::Elsewhere::Tool, record::Elsewhere::Kernel])
}

fn not_looked_at() -> Flag {
    Flag::NotLookedAt { reason: named("timed out") }
}

/// What the book calls it, and a flag of the next kind: the match makes a new kind show up here.
fn name_and_next(flag: &Flag) -> (&'static str, Option<Flag>) {
    let (name, next) = match flag {
        Flag::ClientLimited { .. } => ("client-limited", Flag::NotCold { resident: None }),
        Flag::NotCold { .. } => ("not cold", Flag::NotWarm { resident: None }),
        Flag::NotWarm { .. } => ("not warm", Flag::NotBypassed { resident: 1.0 }),
        Flag::NotBypassed { .. } => ("not bypassed", Flag::NotWritten { share: 0.5 }),
        Flag::NotWritten { .. } => ("not written", Flag::NotFlushed { flushes: 3, writes: 12_000 }),
        Flag::NotFlushed { .. } => ("not flushed", Flag::FlushedAtOnce { mean_ns: 15_000.0 }),
        Flag::FlushedAtOnce { .. } => ("flushed at once", Flag::NotDropped { resident: Some(1.0) }),
        Flag::NotDropped { .. } => ("not dropped", Flag::TooShort { repetitions: 1, window_ns: 1 }),
        Flag::TooShort { .. } => ("too short", Flag::OneSided { kind: Flow::Writes, repetitions: 1 }),
        Flag::OneSided { .. } => ("one-sided", Flag::FewTurns { repetitions: 1, turns: 1.0 }),
        Flag::FewTurns { .. } => ("few reads for its depth", Flag::FewSteps { repetitions: 1, steps: 19 }),
        Flag::FewSteps { .. } => ("few steps", not_steady(-0.22, None)),
        Flag::NotSteady { .. } => {
            ("not steady", Flag::Bursts { fall: 0.35, in_windows: true, end_of_line: None })
        }
        Flag::Bursts { .. } => ("bursts", Flag::Drifts { change: -0.23, over_ns: 2_400_000_000_000 }),
        Flag::Drifts { .. } => ("drifts", Flag::WrongBytes { found: 1, checked: 8 }),
        Flag::WrongBytes { .. } => ("wrong bytes", Flag::NotReread { unread: 1, of: 8, kinds: one("io") }),
        Flag::NotReread { .. } => ("not read again", failed_reads()),
        Flag::Errors { .. } => {
            ("failed reads", Flag::FailedRepetitions { failed: 1, made: 2, reason: recorded("gone") })
        }
        Flag::FailedRepetitions { .. } => ("failed repetitions", Flag::DatasetChanged),
        Flag::DatasetChanged => ("changed", elsewhere()),
        Flag::GoneOnElsewhere(_) => ("gone on with elsewhere", not_looked_at()),
        Flag::NotLookedAt { .. } => {
            ("not looked at again", Flag::Missing { repetitions: 1, reason: recorded("budget") })
        }
        Flag::Missing { .. } => ("missing repetitions", Flag::Exhausted { repetitions: 1 }),
        Flag::Exhausted { .. } => ("exhausted", Flag::RanOut { repetitions: 1, steps: 37, asked: Some(100) }),
        Flag::RanOut { .. } => ("ran out", Flag::Abandoned { reads: 1 }),
        Flag::Abandoned { .. } => ("abandoned", Flag::Clamped { reads: 1 }),
        Flag::Clamped { .. } => ("clamped", Flag::NoHistogram { repetitions: 1 }),
        Flag::NoHistogram { .. } => ("no histogram", Flag::Opened { files: 1 }),
        Flag::Opened { .. } => ("opened", Flag::NamesInMemory),
        Flag::NamesInMemory => (
            "names in memory",
            Flag::Merged { request_bytes: 524_288, block_bytes: 131_072, submit_batch: Some(8) },
        ),
        Flag::Merged { .. } => ("merged", late(Some((1, 2)), 0, 0.0)),
        Flag::LateClient { .. } => ("late client", Flag::OfferedLess { share: 0.5, in_steps: true }),
        Flag::OfferedLess { .. } => ("offered less", Flag::NotFromStorage { share: 0.5, compresses: false }),
        Flag::NotFromStorage { .. } => ("not from storage", Flag::InMemory { kind: named("zram") }),
        Flag::InMemory { .. } => ("memory", Flag::NotServed { arrivals: 1, share: 0.1 }),
        Flag::NotServed { .. } => (
            "not served",
            Flag::NotEmulated {
                repetitions: 1,
                metadata: false,
                asked_ns: 15_000_000,
                achieved_ns: 20_000_000,
            },
        ),
        Flag::NotEmulated { .. } => {
            ("not emulated", Flag::Throttled { share: 0.02, first: Some(named("503 SlowDown")) })
        }
        Flag::Throttled { .. } => {
            ("throttled", Flag::Retried { percentile: "p99", service_ns: 2, attempt_ns: 1 })
        }
        Flag::Retried { .. } => {
            ("retried", Flag::Recovered { operations: 1, share: 1e-3, kinds: one("reset") })
        }
        Flag::Recovered { .. } => ("recovered", Flag::ConnectionsLost { connections: 1 }),
        Flag::ConnectionsLost { .. } => (
            "lost connections",
            Flag::Unbalanced { busiest: named("192.0.2.1:2049"), share: 0.7, addresses: 2 },
        ),
        Flag::Unbalanced { .. } => ("unbalanced", Flag::SlowRanks(slow_rank())),
        Flag::SlowRanks(_) => ("slow processes", Flag::DelayedAck { p50_ns: 41_000_000 }),
        Flag::DelayedAck { .. } => (
            "delayed acknowledgement",
            Flag::NotDecoded { samples: 3, share: 1e-3, first: Some(named("not a JPEG")) },
        ),
        Flag::NotDecoded { .. } => {
            ("not decoded", Flag::WaitsElsewhere { cause: Bound::Decode, share: 0.25 })
        }
        Flag::WaitsElsewhere { .. } => ("waits elsewhere", Flag::FillsDecide { long_run: 0.97 }),
        Flag::FillsDecide { .. } => {
            ("fills decide", Flag::LongFill { share: 0.12, first_batch_ns: 1_200_000_000 })
        }
        Flag::LongFill { .. } => ("long first fill", Flag::AuApart { au: 0.9, dlio_au: 0.99 }),
        Flag::AuApart { .. } => ("definitions apart", Flag::NotAsPredicted { au: 0.7, predicted: 0.9 }),
        Flag::NotAsPredicted { .. } => {
            ("not as predicted", Flag::SavesFailed { saves: 2, reason: named("no space") })
        }
        Flag::SavesFailed { .. } => ("failed saves", hosts_below()),
        Flag::HostsBelow { .. } => ("hosts below", Flag::Stolen { share: 0.1 }),
        Flag::Stolen { .. } => ("stolen", Flag::Waited { share: 0.1, crowd: None }),
        Flag::Waited { .. } => {
            ("waited for a processor", Flag::OthersRead { share: 0.4, names: vec![named("tar")] })
        }
        Flag::OthersRead { .. } => ("others read", Flag::OthersWrote { share: 0.4 }),
        Flag::OthersWrote { .. } => ("others wrote", Flag::Faulted { faults: 340, per_op: 0.02 }),
        Flag::Faulted { .. } => ("waited for its own memory", Flag::StandsIn { asked: named("io_uring") }),
        Flag::StandsIn { .. } => return ("stands in", None),
    };
    (name, Some(next))
}

fn every_kind() -> Vec<Flag> {
    let first = Flag::ClientLimited {
        ceiling_share: None,
        cpu_share: Some(1.0),
        nic_share: None,
        core_share: None,
        null_au: None,
    };
    std::iter::successors(Some(first), |flag| name_and_next(flag).1).collect()
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

/// What the book calls what a flag forbids.
fn forbids(gravity: Gravity) -> &'static str {
    match gravity {
        Gravity::Informs => "said",
        Gravity::ForbidsStarves => "no STARVES",
        Gravity::ForbidsFeeds => "no FEEDS",
        Gravity::ForbidsVerdict => "no verdict",
    }
}

fn effect(flag: &Flag) -> String {
    match flag {
        Flag::Errors { .. } => {
            let many = Flag::Errors { failed: 1, share: 0.011, of_rarer: None, kinds: one("io") };
            format!("{}; above 1 %: {}", forbids(flag.gravity()), forbids(many.gravity()))
        }
        Flag::LateClient { .. } => {
            let (said, forbidden) = (forbids(flag.gravity()), forbids(late(Some((1, 2)), 1, 0.0).gravity()));
            assert_eq!(forbids(late(None, 1, 0.002).gravity()), forbidden);
            format!("{said}; with arrivals not issued, or given up: {forbidden}")
        }
        Flag::NotSteady { .. } => {
            let (falls, rises) =
                (not_steady(-0.2, Some(0.9)).gravity(), not_steady(0.2, Some(1.1)).gravity());
            format!(
                "{}; falling below the line: {}; rising above it: {}",
                forbids(flag.gravity()),
                forbids(falls),
                forbids(rises)
            )
        }
        Flag::Bursts { .. } => {
            format!(
                "{}; falling below the line: {}",
                forbids(flag.gravity()),
                forbids(falling_to(0.9).gravity())
            )
        }
        Flag::NotDecoded { .. } => {
            let many = Flag::NotDecoded { samples: 1, share: 0.011, first: None };
            format!("{}; above 1 %: {}", forbids(flag.gravity()), forbids(many.gravity()))
        }
        Flag::NotFromStorage { .. } => {
            let compressed = Flag::NotFromStorage { share: 0.5, compresses: true };
            format!("{}; where it compresses: {}", forbids(flag.gravity()), forbids(compressed.gravity()))
        }
        _ => forbids(flag.gravity()).to_owned(),
    }
}

#[test]
fn the_book_names_every_flag_with_what_it_forbids() {
    let flags: Vec<(String, String)> =
        every_kind().iter().map(|flag| (name_and_next(flag).0.to_owned(), effect(flag))).collect();
    assert_eq!(rows_of_the_book(), flags);
}

#[test]
fn every_flag_says_what_was_found_and_what_to_do() {
    let said: Vec<String> = every_kind().iter().map(words).collect();
    let expected = [
        "CLIENT-LIMITED, CPU 100 %",
        "cold not proven",
        "warm not proven",
        "not bypassed: 100 % resident after",
        "the device took 50 % of what was written",
        "the device was flushed 3 times for 12,000 writes that were to be kept",
        "a flush took 15 us in the mean, and the device says that it turns: a hypervisor or a cache with a battery answers for it, or \
         nothing is kept",
        "not dropped: 100 % resident",
        "window of 1 ns is too short",
        "window too short: no write fell into it",
        "window of 1.0 reads at each place of the queue: 20 are needed",
        "19 steps of an accelerator: 20 are needed",
        "not steady in 3 of 5 windows: range 34 %, slope -22 % at worst",
        "throughput falls by 35 % within every window, as burst credits do",
        "drifts: throughput fell by 23 % over 40 min",
        "1 of 8 checked reads held wrong bytes",
        "1 of 8 reads could not be made again to compare bytes: 1 io",
        "0.1 % errors: 1 io",
        "1 of 2 repetitions failed: gone",
        "the files changed during the run",
        "feedline itself, the kernel changed as the run was gone on with",
        "whether the files changed during the run is not known: timed out",
        "1 repetition not run: budget",
        "dataset read once before the window ended",
        "dataset read once after 37 of 100 steps",
        "1 read abandoned",
        "1 latency above 60 s",
        "latencies of 1 repetition missing",
        "1 file opened inside the windows, because not all could be held",
        NAMES_IN_MEMORY,
        "requests were merged: 512 KiB per device request for blocks of 128 KiB; submit_batch 8",
        "the client woke late: p99 of the lag 1 ns, of the response 2 ns",
        "the window holds too few steps: 50 % of the rate was offered",
        "50 % of the bytes asked have no storage behind them",
        "the device is memory (zram)",
        "10 % of arrivals not served",
        "not as emulated: delays of 20 ms (p50) where 15 ms were asked",
        "2.0 % throttled (503 SlowDown)",
        "retries: p99 2 ns of operations, 1 ns of attempts",
        "1 recovered by another attempt, 0.1 % of all (failed: 1 reset)",
        "1 connection lost",
        "192.0.2.1:2049 had 70 % of the messages, of 2 addresses",
        "slow of 4 processes: rank 1 on host-2 at 25 % of the others' rate",
        "small reads at 41 ms throughout: Nagle's algorithm against delayed ACK on the server",
        "3 samples not decoded, 0.1 % of all (the first: not a JPEG)",
        "not the storage: decode-bound for 25 % of the time",
        "short epochs: without their fills AU 97.0 % is foretold",
        "first batch after 1.2 s, 12 % of the job",
        "AU 99.0 % as DLIO counts it",
        "AU 90.0 % foretold by closed-loop reads",
        "2 saves failed: no space",
        "of 4 hosts host-2, host-4 had less than its part of the line, the least 44 %",
        "10 % of CPU stolen",
        "own threads waited for a processor 10 % of the time",
        "others read 40 % of what the device delivered (tar)",
        "40 % of the bytes that the device moved were written by others",
        "own memory was read from storage: 340 page faults, 0.02 for each operation",
        "stands in for io_uring",
    ];
    assert_eq!(said, expected);
    for flag in every_kind() {
        assert!(!advice(&flag).is_empty(), "{flag:?}");
    }
}

#[test]
fn a_client_says_all_that_is_above_its_limit_and_what_to_do_about_the_first() {
    let limited = |ceiling_share, cpu_share, core_share, null_au| {
        let flag = Flag::ClientLimited { ceiling_share, cpu_share, nic_share: None, core_share, null_au };
        (words(&flag), advice(&flag))
    };
    let all = limited(Some(0.704), Some(1.2), Some(0.95), Some(0.982));
    let said = "CLIENT-LIMITED, AU 98.2 % without storage, 70 % of ceiling, CPU 100 %, busiest core 95 %";
    assert_eq!(all, (said.to_owned(), "use more processors, or fewer accelerators on this client"));
    let core = limited(None, None, Some(0.95), None);
    assert!(core.1.starts_with("one processor is full"), "{core:?}");
    let ceiling = limited(Some(0.8), Some(0.9), None, None);
    assert_eq!(ceiling.1, "use larger blocks, more threads or more processors");
}

#[test]
fn errors_of_a_mix_say_how_many_they_may_be_of_its_rarer_kind() {
    let of_mix = Flag::Errors { failed: 1, share: 1e-3, of_rarer: Some(0.024), kinds: one("io") };
    assert_eq!(words(&of_mix), "0.1 % errors (up to 2.4 % of its rarer kind): 1 io");
}

#[test]
fn who_held_the_processors_is_said() {
    let waited = |own_cores| {
        let crowd =
            Crowd { own_cores, others_cores: 1.84, cores: 8, names: vec![named("stress"), named("tar")] };
        Flag::Waited { share: 0.25, crowd: Some(crowd) }
    };
    let time = "own threads waited for a processor 25 % of the time";
    let others = waited(0.1);
    assert_eq!(words(&others), format!("{time}: other processes held 1.8 of 8 cores (stress, tar)"));
    assert_eq!(advice(&others), STOP_OTHERS);
    let own = waited(6.16);
    assert_eq!(words(&own), format!("{time}: this process used 6.2 of 8 cores, all others 1.8"));
    assert_eq!(advice(&own), "give the client more processors, or fewer threads");
}

#[test]
fn a_late_client_says_what_it_was_late_by() {
    let lagging = "the client woke late: p99 of the lag 1 ns, of the response 2 ns";
    assert_eq!(words(&late(Some((1, 2)), 0, 0.0005)), lagging);
    let away = "the client woke late: 0.2 % of arrivals were due while it was away";
    assert_eq!(words(&late(None, 0, 0.002)), away);
    assert!(words(&late(Some((1, 2)), 0, 0.002)).ends_with("; 0.2 % of arrivals were due while it was away"));
    assert!(advice(&late(None, 0, 0.002)).contains("load.spin"));
    let spinning =
        Flag::LateClient { lag_and_response_p99_ns: None, not_issued: 0, given_up: 0.1, spins: true };
    assert!(!advice(&spinning).contains("load.spin"));
}

#[test]
fn a_change_says_which_way_and_when() {
    let during = Flag::Bursts { fall: 0.35, in_windows: false, end_of_line: None };
    assert_eq!(words(&during), "throughput fell by 35 % at once during the run, as burst credits do");
    let risen = Flag::Drifts { change: 0.5, over_ns: 60_000_000_000 };
    assert!(words(&risen).starts_with("drifts: throughput rose by 50 % over "), "{risen:?}");
}
