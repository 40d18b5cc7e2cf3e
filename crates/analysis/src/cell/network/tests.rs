use std::collections::BTreeMap;

use record::{Emulated, HistogramText, Network, counter};

use crate::cell::network::flags::core_share;
use crate::fixture::{Builder, confirmed_at, rep};
use crate::gate::{GateResult, gate};
use crate::{
    BelowKnown, CacheBelow, Cause, CellSummary, Flag, Gap, GapCause, Gravity, NotTested, Note,
    PageCacheKnown, Summary, TierKnown, WhyUnmet, WireCause, WireFinding, summarise,
};

/// A cell of three repetitions over eight connections at 1.5 times the line, each edited.
fn remote(edit: impl Fn(&mut record::Rep)) -> Builder {
    let mut builder = Builder::new();
    builder.run.format.minor = 2;
    builder.cell("c", "disk", 8);
    builder.edit_cell("c", |cell| cell.connections = 8);
    (0..3).for_each(|number| builder.push(rep("c", number, 1.5 * Builder::LINE_BPS)));
    builder.edit_reps("c", edit);
    builder
}

fn count(rep: &mut record::Rep, counts: &[(&str, u64)]) {
    rep.counters.extend(counts.iter().map(|(name, count)| ((*name).to_owned(), *count)));
}

fn by_kind(kinds: &[(&str, u64)]) -> BTreeMap<String, u64> {
    kinds.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
}

fn cell(builder: &Builder) -> CellSummary {
    summarise(&builder.record()).cells.remove(0)
}

fn flags(builder: &Builder) -> Vec<Flag> {
    cell(builder).measured.flags().to_vec()
}

fn histogram(values_ns: &[(u64, u64)]) -> HistogramText {
    let mut histogram = record::new_histogram();
    for (ns, count) in values_ns {
        histogram.record_n(*ns, *count).unwrap();
    }
    record::encode(&histogram)
}

#[test]
fn storage_that_is_not_behind_a_network_has_none_of_it() {
    let mut builder = remote(|_| {});
    builder.edit_cell("c", |cell| cell.connections = 0);
    assert_eq!(cell(&builder).network, None);
}

#[test]
fn messages_are_counted_by_all_that_was_asked() {
    // 13,500 reads in the window and 100 before it, two messages each.
    let builder = remote(|rep| count(rep, &[(counter::WARMUP_OPS, 100), (counter::MESSAGES, 27_200)]));
    let cell = cell(&builder);
    let network = cell.network.as_ref().unwrap();
    assert_eq!(network.messages_per_op, Some(2.0));
}

#[test]
fn bytes_on_the_wire_agree_or_are_explained() {
    let findings = |received: u64, wasted: u64, messages: u64| {
        let builder = remote(move |rep| {
            let counts = [
                (counter::DELIVERED_BYTES, 1_000_000_000),
                (counter::WIRE_RECEIVED_BYTES, received),
                (counter::WASTED_BYTES, wasted),
                (counter::MESSAGES, messages),
            ];
            count(rep, &counts);
        });
        cell(&builder).network.unwrap().wire.unwrap().findings()
    };
    let more = |cause| [WireFinding::More { per_byte: 1.5, cause }];
    assert_eq!(findings(1_090_000_000, 0, 10_000), []);
    assert_eq!(findings(1_500_000_000, 0, 1_000_000), more(WireCause::Headers { bytes_each: 500.0 }));
    let failures = WireCause::Failures { bytes: 1_200_000_000 };
    assert_eq!(findings(1_500_000_000, 400_000_000, 10_000), more(failures));
    assert_eq!(findings(1_500_000_000, 0, 10_000), more(WireCause::Unexplained));
    assert_eq!(findings(800_000_000, 0, 10_000), [WireFinding::Less { per_byte: 0.8 }]);
}

#[test]
fn of_writes_the_bytes_that_went_out_are_those_on_the_wire() {
    let per_byte = |operation: &'static str| {
        let mut builder = remote(|rep| {
            let counts = [
                (counter::DELIVERED_BYTES, 1_000_000_000),
                (counter::WIRE_RECEIVED_BYTES, 700_000_000),
                (counter::WIRE_SENT_BYTES, 310_000_000),
                (counter::WRITTEN_BYTES, 300_000_000),
            ];
            count(rep, &counts);
        });
        builder.edit_cell("c", |cell| cell.operation = operation.into());
        cell(&builder).network.unwrap().wire.unwrap().per_byte()
    };
    assert_eq!(["read", "write", "write_file", "mix"].map(per_byte), [0.7, 0.31, 0.31, 1.01].map(Some));
}

fn on_interface(received_bytes: u64, sent_bytes: u64) -> Builder {
    remote(move |rep| {
        rep.system.network = Some(Network {
            interface: "eth0".to_owned(),
            speed_bps: Some(10_000_000_000),
            received_bytes,
            sent_bytes,
            wall_ns: 1_000_000_000,
            ..Network::default()
        });
    })
}

#[test]
fn short_windows_say_all_of_the_sockets_and_nothing_of_the_interface() {
    // Sockets are counted until the last of 8 reads has ended, the interface as the window closes.
    let wire = |window_ops: u64| {
        let mut builder = on_interface((window_ops + 80) * 100_000, 0);
        builder.edit_reps("c", |rep| {
            let counts = [
                (counter::OPS, window_ops),
                (counter::BYTES, window_ops * 100_000),
                (counter::DELIVERED_BYTES, (window_ops + 8) * 100_000),
                (counter::WIRE_RECEIVED_BYTES, (window_ops + 8) * 120_000),
            ];
            count(rep, &counts);
        });
        cell(&builder).network.unwrap().wire.unwrap()
    };
    let short = wire(12);
    assert_eq!((short.per_byte(), short.interface_per_byte), (Some(1.2), None));
    assert_eq!(short.findings().len(), 1, "{:?}", short.findings());
    assert_eq!(wire(159).interface_per_byte, None, "20 turns of a queue of 8 are 160 reads");
    assert_eq!(wire(160).interface_per_byte, Some(1.5));
}

#[test]
fn loopback_is_not_compared_with_sockets() {
    let found = |interface: &'static str| {
        let mut builder = on_interface(2_000_000_000, 0);
        builder.edit_reps("c", |rep| {
            rep.system.network.as_mut().unwrap().interface = interface.to_owned();
            let bytes = rep.counters[counter::BYTES];
            count(rep, &[(counter::DELIVERED_BYTES, bytes), (counter::WIRE_RECEIVED_BYTES, bytes)]);
        });
        cell(&builder).network.unwrap().wire.unwrap().findings().len()
    };
    assert_eq!((found("lo"), found("eth0")), (0, 1));
}

#[test]
fn failed_attempts_and_connections_made_again_are_counted() {
    let builder = remote(|rep| {
        count(
            rep,
            &[
                (counter::CONNECTIONS_OPENED, 9),
                (counter::ATTEMPTS, 20_000),
                ("attempt_errors/throttled", 5),
                ("attempt_errors/timeout", 4),
                ("attempt_errors/reset", 1),
            ],
        );
    });
    let network = cell(&builder).network.unwrap();
    assert_eq!((network.connections, network.redials), (8, 3));
    let errors = by_kind(&[("reset", 3), ("throttled", 15), ("timeout", 12)]);
    assert_eq!(network.attempts.unwrap().errors, errors);
}

#[test]
fn a_failed_cell_names_the_first_failure_in_the_words_of_the_storage() {
    let builder = remote(|rep| {
        rep.counters.insert(counter::OPS.to_owned(), 0);
        rep.counters.insert(counter::BYTES.to_owned(), 0);
        rep.errors.insert("server".to_owned(), 7);
        rep.granted.insert("first_failure".to_owned(), "500 InternalError".to_owned());
    });
    let crate::Measurement::Failed { reason, .. } = cell(&builder).measured else { panic!("it has figures") };
    let cause = GapCause::AllFailed { operation: "read".into(), kinds: by_kind(&[("server", 7)]) };
    assert_eq!(reason, Gap { cause, first: Some("500 InternalError".to_owned()) });
}

/// Cells over the network and one of a memory map, which cannot bypass.
fn with_a_map(cache: &str) -> Vec<crate::Panel> {
    let mut builder = remote(|_| {});
    let disk = builder.run.targets[0].clone();
    builder.run.targets.push(record::Target { name: "local".to_owned(), ..disk });
    builder.cell("m", "local", 8);
    builder.edit_cell("m", |cell| (cell.engine, cell.cache) = ("mmap".into(), "cold".into()));
    builder.cell("n", "local", 16);
    builder.edit_cell("n", |cell| (cell.engine, cell.cache) = ("mmap".into(), cache.into()));
    (0..3).for_each(|number| builder.push(rep("m", number, 1e9)));
    summarise(&builder.record()).panels
}

#[test]
fn storage_read_in_the_only_way_it_has_shares_one_panel() {
    let panels = with_a_map("cold");
    assert_eq!(panels.len(), 1);
    let treatments = panels[0].treatments.iter();
    let treatments: Vec<_> =
        treatments.map(|one| (one.caching.page_cache.as_str(), one.engines[0].as_str())).collect();
    assert_eq!(treatments, [("bypass", "io_uring"), ("cold", "mmap")]);
    assert_eq!(with_a_map("bypass").len(), 2, "a target read in both ways asks a question of its own");
    assert_eq!(with_a_map("warm").len(), 2, "what the client kept is no storage");
}

#[test]
fn what_the_user_says_of_a_target_is_shown_where_it_may_be_published() {
    let about = |published, minor| {
        let mut builder = remote(|_| {});
        builder.run.format.minor = minor;
        builder.run.targets[0].about = Some("a filer".to_owned());
        builder.run.targets[0].about_published = published;
        summarise(&builder.record()).targets[0].about.clone()
    };
    assert_eq!(about(true, 2).as_deref(), Some("a filer"));
    assert_eq!((about(false, 2), about(true, 1)), (None, None));
}

#[test]
fn a_full_interface_is_the_clients_limit_in_either_direction() {
    for (received, sent) in [(1_130_000_000, 0), (0, 1_130_000_000)] {
        let flags = flags(&on_interface(received, sent));
        let expected = Flag::ClientLimited {
            ceiling_share: None,
            cpu_share: None,
            nic_share: Some(0.904),
            core_share: None,
            null_au: None,
        };
        assert!(flags.contains(&expected), "{flags:?}");
    }
    assert!(!flags(&on_interface(1_120_000_000, 1_000)).iter().any(Flag::is_client_limit));
    assert_eq!(cell(&on_interface(1_000_000_000, 5)).network.unwrap().nic_share, Some(0.8));
}

#[test]
fn refused_attempts_are_a_share_of_all_with_the_words_of_the_storage() {
    let builder = remote(|rep| {
        count(
            rep,
            &[(counter::ATTEMPTS, 20_000), ("attempt_errors/throttled", 420), ("attempt_errors/reset", 3)],
        );
        rep.granted.insert("first_failure".to_owned(), "503 SlowDown".to_owned());
    });
    let flags = flags(&builder);
    let throttled = Flag::Throttled { share: 0.021, first: Some("503 SlowDown".to_owned()) };
    assert!(flags.contains(&throttled), "{flags:?}");
    assert_eq!(throttled.gravity(), Gravity::Informs);
    let attempts = cell(&builder).network.unwrap().attempts.unwrap();
    assert_eq!((attempts.count, attempts.errors["reset"]), (60_000, 9));
    // Without further attempts the failed operations themselves are counted.
    let failed = remote(|rep| {
        rep.errors.insert("throttled".to_owned(), 135);
    });
    let of_operations =
        |flag: &Flag| matches!(flag, Flag::Throttled { share, first: None } if (share - 0.01).abs() < 1e-3);
    assert!(self::flags(&failed).iter().any(of_operations));
}

#[test]
fn what_retrying_cost_is_said_by_both_percentiles() {
    let builder = remote(|rep| {
        count(rep, &[(counter::ATTEMPTS, 13_700), (counter::RECOVERED, 200)]);
        rep.histograms.insert("service_ns".to_owned(), histogram(&[(1_000_000, 13_300), (90_000_000, 200)]));
        rep.histograms.insert("attempt_ns".to_owned(), histogram(&[(1_000_000, 13_700)]));
    });
    let flags = flags(&builder);
    assert!(is_retried(&flags[0], "p99"), "{flags:?}");
    assert!(cell(&builder).network.unwrap().attempts.unwrap().is_flagged, "the flag says it");
}

/// Whether attempts again made 90 ms of what took 1 ms.
fn is_retried(flag: &Flag, at: &str) -> bool {
    let ms = |ns: u64, ms: f64| (ns as f64 / 1e6 / ms - 1.0).abs() < 0.01;
    matches!(flag, Flag::Retried { percentile, service_ns, attempt_ns }
        if *percentile == at && ms(*service_ns, 90.0) && ms(*attempt_ns, 1.0))
}

#[test]
fn p999_shows_what_retrying_cost_where_p99_does_not() {
    let retried = |slow_ns: u64| {
        let builder = remote(move |rep| {
            count(rep, &[(counter::ATTEMPTS, 13_520), (counter::RECOVERED, 20)]);
            let service = histogram(&[(1_000_000, 13_480), (slow_ns, 20)]);
            rep.histograms.insert("service_ns".to_owned(), service);
            rep.histograms.insert("attempt_ns".to_owned(), histogram(&[(1_000_000, 13_520)]));
        });
        flags(&builder).into_iter().find(|flag| matches!(flag, Flag::Retried { .. }))
    };
    assert!(is_retried(&retried(90_000_000).unwrap(), "p99.9"));
    assert_eq!(retried(1_100_000), None);
}

#[test]
fn failures_that_another_attempt_made_good_are_said_with_their_kinds() {
    let of = |recovered| {
        let builder = remote(move |rep| {
            count(
                rep,
                &[
                    (counter::ATTEMPTS, 20_000),
                    (counter::RECOVERED, recovered),
                    ("attempt_errors/timeout", recovered - 1),
                    ("attempt_errors/reset", 1),
                ],
            );
        });
        let cell = cell(&builder);
        let flag = cell.measured.flags().iter().find(|flag| matches!(flag, Flag::Recovered { .. })).cloned();
        let attempts = cell.network.unwrap().attempts.unwrap();
        assert_eq!(attempts.is_flagged, flag.is_some());
        (flag, attempts.recovered, attempts.errors)
    };
    let kinds = |timeouts| by_kind(&[("reset", 3), ("timeout", timeouts)]);
    let flag = Flag::Recovered { operations: 30, share: 0.0005, kinds: kinds(27) };
    assert_eq!(of(10), (Some(flag), 30, kinds(27)));
    assert_eq!(of(9), (None, 27, kinds(24)), "too few for a flag");
}

#[test]
fn a_processor_that_is_full_is_the_clients_limit_behind_a_network_alone() {
    let busy = |ns: u64, edit: fn(&mut record::Cell)| {
        let mut builder = remote(move |rep| {
            // The kernel need not receive on the same processor in all repetitions.
            rep.system.core_busy_ns = vec![100_000_000; 4];
            rep.system.core_busy_ns[rep.rep as usize] = ns;
        });
        builder.edit_cell("c", edit);
        flags(&builder).into_iter().find(Flag::is_client_limit)
    };
    let flag = busy(950_000_000, |_| {});
    let is_full = |share: f64| (share - 0.95).abs() < 1e-9;
    assert!(
        matches!(flag, Some(Flag::ClientLimited { core_share: Some(share), cpu_share: None, .. }) if is_full(share)),
        "{flag:?}"
    );
    assert_eq!(busy(940_000_000, |_| {}), None);
    assert_eq!(busy(1_000_000_000, |cell| cell.connections = 0), None);
}

#[test]
fn a_client_that_spins_fills_a_processor_by_itself() {
    let limited = |spin_ns| {
        let mut builder = remote(|rep| rep.system.core_busy_ns = vec![1_000_000_000]);
        builder.pace("c", 1.0, 1.0);
        builder.edit_cell("c", |cell| cell.pace.as_mut().unwrap().spin_ns = spin_ns);
        flags(&builder).iter().any(Flag::is_client_limit)
    };
    assert_eq!((limited(0), limited(1_000)), (true, false));
    let share_of_job = |spin_ns| {
        let mut builder = remote(|rep| rep.system.core_busy_ns = vec![1_000_000_000]);
        builder.edit_cell("c", |cell| {
            cell.training = Some(record::Training { spin_ns, ..record::testing::training(1, 1, 1_000_000) });
        });
        let record = builder.record();
        let reps = record.lines.iter().filter_map(|line| match line {
            record::Line::Rep(rep) => Some(rep.as_ref()),
            _ => None,
        });
        core_share(&record.run.cells[0], &reps.collect::<Vec<_>>())
    };
    assert_eq!((share_of_job(0), share_of_job(1_000)), (Some(1.0), None));
}

#[test]
fn an_address_with_more_than_its_part_is_named() {
    let to = |a, b| {
        let builder = remote(move |rep| {
            count(rep, &[("messages_to/192.0.2.1:2049", a), ("messages_to/192.0.2.2:2049", b)]);
        });
        flags(&builder)
    };
    assert_eq!(to(1_100, 900), []);
    let busiest = "192.0.2.1:2049".to_owned();
    assert_eq!(to(1_300, 700), [Flag::Unbalanced { busiest, share: 0.65, addresses: 2 }]);
}

#[test]
fn lost_connections_and_redials_are_said() {
    let builder =
        remote(|rep| count(rep, &[(counter::CONNECTIONS_OPENED, 11), (counter::CONNECTIONS_LOST, 3)]));
    assert_eq!(flags(&builder), [Flag::ConnectionsLost { connections: 9 }]);
    assert_eq!(cell(&builder).network.unwrap().redials, 9);
}

fn small_reads(values_ns: &'static [(u64, u64)], block_bytes: u64, asked_ns: Option<u64>) -> Vec<Flag> {
    let mut builder = remote(|rep| {
        rep.histograms.insert("service_ns".to_owned(), histogram(values_ns));
        rep.emulated = asked_ns.map(|ns| Emulated {
            asked_ns: Some(histogram(&[(ns, 500)])),
            achieved_ns: Some(histogram(&[(ns, 500)])),
            ..Emulated::default()
        });
    });
    builder.edit_cell("c", |cell| cell.block_bytes = block_bytes);
    flags(&builder).into_iter().filter(|flag| matches!(flag, Flag::DelayedAck { .. })).collect()
}

#[test]
fn small_reads_that_all_take_forty_milliseconds_carry_a_signature() {
    const NARROW: &[(u64, u64)] = &[(1_000_000, 5), (41_000_000, 100), (44_000_000, 10)];
    const WIDE: &[(u64, u64)] = &[(20_000_000, 40), (41_000_000, 60), (80_000_000, 40)];
    let found = small_reads(NARROW, 65_536, None);
    assert_eq!(found.len(), 1);
    assert!(small_reads(NARROW, 65_537, None).is_empty(), "too large for it");
    assert!(small_reads(NARROW, 4_096, Some(41_000_000)).is_empty(), "a server asked to be so slow");
    assert!(small_reads(&[(41_000_000, 30)], 4_096, None).is_empty(), "90 reads are too few");
    assert!(small_reads(WIDE, 4_096, None).is_empty(), "a slow server spreads wider");
}

fn emulated(asked_ns: u64, achieved_ns: u64, samples: u64) -> Option<Flag> {
    let builder = remote(move |rep| {
        rep.emulated = Some(Emulated {
            asked_ns: Some(histogram(&[(asked_ns, samples)])),
            achieved_ns: Some(histogram(&[(achieved_ns, samples)])),
            ..Emulated::default()
        });
    });
    flags(&builder).into_iter().find(|flag| matches!(flag, Flag::NotEmulated { .. }))
}

#[test]
fn a_server_that_missed_what_it_was_asked_makes_its_figures_invalid() {
    let flag = emulated(15_000_000, 17_000_000, 100).unwrap();
    assert_eq!(flag.gravity(), Gravity::ForbidsVerdict);
    let is_apart = |flag: &Flag, of_names| {
        matches!(flag, Flag::NotEmulated { repetitions: 3, metadata, asked_ns, achieved_ns }
            if *metadata == of_names && asked_ns != achieved_ns)
    };
    assert!(is_apart(&flag, false), "{flag:?}");
    assert_eq!(emulated(15_000_000, 16_000_000, 100), None);
    assert_eq!(emulated(15_000_000, 30_000_000, 99), None, "too few to say");
    let metadata = remote(|rep| {
        rep.emulated = Some(Emulated {
            metadata_asked_ns: Some(histogram(&[(1_000_000, 200)])),
            metadata_achieved_ns: Some(histogram(&[(500_000, 200)])),
            ..Emulated::default()
        });
    });
    assert!(flags(&metadata).iter().any(|flag| is_apart(flag, true)));
}

fn demo() -> Builder {
    let mut builder = confirmed_at(&[1.5, 1.5, 1.5]);
    builder.run.targets[0].demo = true;
    builder
}

#[test]
fn a_demo_is_shown_and_never_judged() {
    let verdict = summarise(&demo().record()).verdicts.remove(0);
    assert_eq!(verdict.word(), "DEMO");
    let verdict = verdict.reads.unwrap();
    assert_eq!(verdict.feeds, None);
    assert!(matches!(verdict.cause, Cause::Demo { of_line: Some(share) } if (share - 1.5).abs() < 1e-6));
    let mut short = demo();
    short.edit_reps("c", |rep| {
        rep.counters.insert(counter::BYTES.to_owned(), 100_000_000);
    });
    assert_eq!(summarise(&short.record()).verdicts[0].word(), "DEMO");
}

#[test]
fn no_gate_passes_or_fails_on_a_demo() {
    for (feeds, p99_ns) in
        [(vec!["disk".to_owned()], None), (Vec::new(), Some(1)), (Vec::new(), Some(u64::MAX))]
    {
        let mut builder = demo();
        (builder.run.gate.feeds, builder.run.gate.p99_ns) = (feeds, p99_ns);
        let GateResult::Inconclusive(unmet) = gate(&summarise(&builder.record())) else {
            panic!("it decided")
        };
        assert_eq!(unmet[0].why, WhyUnmet::Demo);
    }
}

fn of_user_space(server_memory_bytes: Option<u64>) -> Summary {
    let mut builder = remote(|rep| rep.cache.method = "user_space".to_owned());
    builder.run.targets[0].server_memory_bytes = server_memory_bytes;
    summarise(&builder.record())
}

#[test]
fn the_clients_page_cache_takes_no_part_and_the_servers_is_excluded_by_its_size_alone() {
    let summary = of_user_space(None);
    assert_eq!(summary.tiers[0].known, TierKnown::PageCache(PageCacheKnown::UserSpace));
    let caches = vec![(CacheBelow::Server, vec!["disk".to_owned()])];
    let open = NotTested::CachesBelow { caches };
    assert!(summary.not_tested.contains(&open), "{:?}", summary.not_tested);
    // The dataset holds 1 GB.
    assert!(of_user_space(Some(400_000_000)).not_tested.contains(&open));
    let excluded = of_user_space(Some(300_000_000));
    assert!(
        !excluded.not_tested.iter().any(|one| matches!(one, NotTested::CachesBelow { .. })),
        "{:?}",
        excluded.not_tested
    );
    assert!(matches!(
        excluded.tiers[1].known,
        TierKnown::Below {
            cache: CacheBelow::Server,
            known: BelowKnown::Excluded { memory_bytes: 300_000_000, .. }
        }
    ));
}

#[test]
fn engines_of_one_target_are_compared_at_the_depths_chosen_for_each() {
    let mut builder = remote(|_| {});
    builder.cell("d", "disk", 16);
    builder.edit_cell("d", |cell| (cell.engine, cell.connections) = ("other".to_owned(), 16));
    (0..3).for_each(|number| builder.push(rep("d", number, 0.6 * Builder::LINE_BPS)));
    let notes = summarise(&builder.record()).notes;
    let beside = notes.iter().find_map(|note| match note {
        Note::Engine(beside) => {
            Some((beside.other.queue_depth, beside.best.queue_depth, &beside.best.engine))
        }
        _ => None,
    });
    assert_eq!(beside, Some((16, 8, &"io_uring".to_owned())), "{notes:?}");
}

#[test]
fn the_kernels_client_says_its_reads() {
    let mut builder = remote(|rep| {
        rep.system.nfs_mount = Some(record::NfsMount {
            reads: 27_000,
            read_transmissions: 27_003,
            read_ns: 54_000_000_000,
            connections: 8,
            ..record::NfsMount::default()
        });
    });
    builder.edit_cell("c", |cell| cell.connections = 0);
    let network = cell(&builder).network.unwrap();
    let mount = network.mount.unwrap();
    assert_eq!((network.connections, mount.connections), (0, 8));
    assert_eq!((mount.reads_per_op, mount.read_ns, mount.retransmitted), (2.0, Some(2e6), 9));
    assert_eq!(BTreeMap::from_iter(network.addresses).len(), 0);
}
