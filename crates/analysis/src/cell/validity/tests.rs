use std::collections::BTreeMap;

use record::{CacheProof, Reread};

use super::*;
use crate::cell::gap::GapCause;
use crate::fixture::{Builder, ceiling, figures, rep};

fn flags_of(edit: impl FnOnce(&mut Builder)) -> Vec<Flag> {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    for number in 0..3 {
        builder.push(rep("c", number, 1e9));
    }
    edit(&mut builder);
    figures(&builder, "c").flags
}

fn flags_of_reps(edit: impl Fn(&mut Rep)) -> Vec<Flag> {
    flags_of(|builder| builder.edit_reps("c", edit))
}

fn cached(cache: &str, before: Option<u64>) -> Vec<Flag> {
    resident(cache, before, None)
}

fn resident(cache: &str, before: Option<u64>, after: Option<u64>) -> Vec<Flag> {
    flags_of(|builder| {
        builder.edit_cell("c", |cell| cell.cache = cache.into());
        builder.edit_reps("c", |rep| {
            rep.cache = CacheProof {
                method: "mincore".to_owned(),
                total_bytes: 1_000,
                before_bytes: before,
                after_bytes: after,
                names_dropped: None,
            };
        });
    })
}

fn by_kind(kinds: &[(&str, u64)]) -> BTreeMap<String, u64> {
    kinds.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
}

#[test]
fn a_clean_cell_has_no_flag() {
    assert_eq!(flags_of(|_| {}), []);
}

#[test]
fn reads_above_seventy_percent_of_the_ceiling_are_the_clients() {
    // 10,000 reads/s against ceilings just above and just below 10,000 / 0.7.
    assert_eq!(flags_of(|b| b.push_ceiling(ceiling("c", false, 14_290, 1))), []);
    let limited = flags_of(|b| b.push_ceiling(ceiling("c", false, 14_280, 1)));
    assert!(
        matches!(limited[..], [Flag::ClientLimited { ceiling_share: Some(share), cpu_share: None, .. }] if share > 0.7)
    );
}

#[test]
fn copies_are_compared_in_bytes_and_other_cells_not_at_all() {
    assert_eq!(flags_of(|b| b.push_ceiling(ceiling("c", true, 1, 1_450_000_000))), []);
    assert!(flags_of(|b| b.push_ceiling(ceiling("c", true, 1, 1_400_000_000)))[0].is_client_limit());
    assert_eq!(flags_of(|b| b.push_ceiling(ceiling("another", true, 1, 1))), []);
}

#[test]
fn a_busy_client_is_limited_from_85_percent_of_its_cores() {
    let busy = |ns| move |rep: &mut Rep| rep.usage.cpu_user_ns = ns;
    assert_eq!(flags_of_reps(busy(6_790_000_000)), []);
    let limited = flags_of_reps(busy(6_800_000_000));
    assert_eq!(
        limited,
        [Flag::ClientLimited {
            ceiling_share: None,
            cpu_share: Some(0.85),
            nic_share: None,
            core_share: None,
            null_au: None,
        }]
    );
}

#[test]
fn the_null_target_is_not_flagged_for_being_the_ceiling() {
    let flags = flags_of(|b| {
        b.run.targets[0].storage = false;
        b.push_ceiling(ceiling("c", false, 1, 1));
    });
    assert_eq!(flags, []);
}

#[test]
fn cold_means_at_most_one_percent_resident_and_known_so() {
    assert_eq!(cached("cold", Some(10)), []);
    assert_eq!(cached("cold", Some(11)), [Flag::NotCold { resident: Some(0.011) }]);
    assert_eq!(cached("cold_start", Some(11)), [Flag::NotCold { resident: Some(0.011) }]);
    assert_eq!(cached("cold", None), [Flag::NotCold { resident: None }]);
}

#[test]
fn a_restore_and_the_source_of_a_copy_must_be_cold_where_that_is_asked() {
    let flags = |operation: &'static str, resident| {
        flags_of(|b| {
            b.edit_cell("c", |cell| {
                (cell.operation, cell.cache) = (operation.into(), "cold".into());
            });
            b.edit_reps("c", |rep| {
                (rep.cache.total_bytes, rep.cache.before_bytes) = (1_000, resident);
            });
        })
    };
    for operation in ["restore", "copy"] {
        assert_eq!(flags(operation, Some(0)), []);
        assert_eq!(flags(operation, Some(900)), [Flag::NotCold { resident: Some(0.9) }], "{operation}");
        assert_eq!(flags(operation, None), [Flag::NotCold { resident: None }], "{operation}");
    }
    assert_eq!(flags("checkpoint", None), [], "it reads nothing");
}

#[test]
fn warm_means_at_least_99_percent_resident_and_known_so() {
    assert_eq!(cached("warm", Some(990)), []);
    assert_eq!(cached("warm", Some(989)), [Flag::NotWarm { resident: Some(0.989) }]);
    assert_eq!(cached("warm", None), [Flag::NotWarm { resident: None }]);
}

#[test]
fn bypassed_means_at_most_one_percent_resident_after() {
    assert_eq!(resident("bypass", Some(0), Some(10)), []);
    let flags = resident("bypass", Some(0), Some(11));
    assert_eq!(flags, [Flag::NotBypassed { resident: 0.011 }]);
    assert_eq!(flags[0].gravity(), Gravity::ForbidsVerdict);
    assert_eq!(resident("bypass", Some(0), None), [], "unknown is not known to be wrong");
    assert_eq!(resident("cold", Some(0), Some(1_000)), [], "a cold cell fills the page cache");
    let null = flags_of(|b| {
        b.run.targets[0].storage = false;
        b.edit_reps("c", |rep| rep.cache.after_bytes = Some(rep.cache.total_bytes));
    });
    assert_eq!(null, []);
}

#[test]
fn one_wrong_byte_in_a_checked_read_forbids_a_verdict() {
    let wrong = |found| {
        flags_of_reps(move |rep| {
            if rep.rep == 0 {
                rep.errors.insert("corrupt".to_owned(), found);
            }
        })
    };
    assert_eq!(wrong(1), [Flag::WrongBytes { found: 1, checked: 24 }]);
    let flags = flags_of_reps(|rep| {
        rep.errors.insert("corrupt".to_owned(), 8);
        rep.errors.insert("io".to_owned(), 1);
    });
    assert_eq!(flags[0], Flag::WrongBytes { found: 24, checked: 24 });
    assert_eq!(flags[0].gravity(), Gravity::ForbidsVerdict);
    assert!(
        matches!(&flags[1], Flag::Errors { kinds, .. } if *kinds == by_kind(&[("io", 3)])),
        "wrong bytes are told once"
    );
}

#[test]
fn a_window_of_few_reads_for_its_depth_forbids_a_verdict() {
    let reads = |ops| {
        flags_of_reps(move |rep| {
            rep.counters.insert(counter::OPS.to_owned(), ops);
        })
    };
    assert_eq!(reads(160), [], "20 x depth 8");
    let flags = reads(159);
    assert!(matches!(flags[..], [Flag::FewTurns { repetitions: 3, turns }] if turns < 20.0), "{flags:?}");
    assert_eq!(flags[0].gravity(), Gravity::ForbidsVerdict);
    assert_eq!(reads(12), [Flag::FewTurns { repetitions: 3, turns: 1.5 }]);
}

#[test]
fn files_opened_while_measuring_are_told_from_one_percent_of_the_reads() {
    let opening = |opens| {
        flags_of_reps(move |rep| {
            rep.counters.insert(counter::OPENS.to_owned(), opens);
        })
    };
    assert_eq!(opening(99), []);
    let flags = opening(100);
    assert_eq!(flags, [Flag::Opened { files: 300 }]);
    assert_eq!(flags[0].gravity(), Gravity::Informs);
}

#[test]
fn the_threads_of_a_cell_bound_its_processors() {
    let of_threads = |threads| {
        flags_of(|b| {
            b.edit_cell("c", |cell| cell.threads = threads);
            b.edit_reps("c", |rep| rep.usage.cpu_user_ns = 900_000_000);
        })
    };
    assert!(of_threads(1)[0].is_client_limit(), "one thread has one processor of eight");
    assert_eq!(of_threads(2), []);
}

#[test]
fn stolen_time_is_a_share_of_the_whole_machine() {
    let stolen = |online: record::Captured<u32>| {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.push(rep("c", 0, 1e9));
        builder.edit_reps("c", |rep| rep.usage.steal_ns = Some(1_600_000_000));
        let mut record = builder.record();
        record.env.cores_online = online;
        let summary = crate::summarise(&record);
        let flags = &summary.cells[0].figures().unwrap().flags;
        flags.iter().find(|flag| matches!(flag, Flag::Stolen { .. })).cloned()
    };
    assert_eq!(stolen(record::Captured::Value(32)), None, "5 % of 32 processors");
    assert_eq!(stolen(record::Captured::Value(16)), Some(Flag::Stolen { share: 0.1 }));
    assert_eq!(stolen(record::Captured::default()), Some(Flag::Stolen { share: 0.2 }));
}

#[test]
fn a_window_is_too_short_below_a_fifth_of_the_plan_or_a_tenth_of_a_second() {
    let window = |ns| move |rep: &mut Rep| rep.window_ns = ns;
    assert_eq!(flags_of_reps(window(200_000_000)), []);
    let short = flags_of_reps(window(199_999_999));
    assert_eq!(short, [Flag::TooShort { repetitions: 3, window_ns: 199_999_999 }]);
}

/// What was to be read was read: however fast that was, it is what the storage gives.
#[test]
fn a_window_that_ended_with_its_reads_is_too_short_below_a_hundredth_of_a_second() {
    let by_epochs = |ns| {
        flags_of(move |builder: &mut Builder| {
            builder.run.measure.duration_ns = None;
            builder.edit_reps("c", move |rep| rep.window_ns = ns);
        })
    };
    assert_eq!(by_epochs(10_000_000), []);
    assert!(matches!(by_epochs(9_999_999)[..], [Flag::TooShort { .. }]));
    let read_whole = |ns| {
        flags_of_reps(move |rep| {
            rep.window_ns = ns;
            rep.outcome = Outcome::Exhausted;
        })
    };
    assert_eq!(read_whole(10_000_000), [Flag::Exhausted { repetitions: 3 }]);
    assert!(matches!(read_whole(9_999_999)[..], [Flag::TooShort { .. }, Flag::Exhausted { .. }]));
}

#[test]
fn failed_reads_are_told_by_kind_and_forbid_a_verdict_above_one_percent() {
    let failing = |count| {
        flags_of_reps(move |rep| {
            rep.errors = by_kind(&[("io", count), ("timeout", 1)]);
        })
    };
    let few = failing(9);
    assert!(
        matches!(&few[0], Flag::Errors { failed: 30, kinds, .. } if *kinds == by_kind(&[("io", 27), ("timeout", 3)])),
        "{few:?}"
    );
    assert_eq!(few[0].gravity(), Gravity::Informs);
    assert_eq!(failing(110)[0].gravity(), Gravity::ForbidsVerdict);
}

/// Few writes that fail are a small share of all, and may be most of what is written.
#[test]
fn what_fails_of_a_mix_may_all_be_of_its_rarer_kind() {
    let failing = |write_percent: u8| {
        let flags = flags_of(|builder| {
            builder.edit_cell("c", |cell| {
                (cell.operation, cell.write_percent) = ("mix".into(), Some(write_percent));
            });
            builder.edit_reps("c", |rep| {
                let written = rep.counters[counter::BYTES] / 100 * u64::from(write_percent);
                rep.counters.insert(counter::WRITTEN_BYTES.to_owned(), written);
                rep.errors = by_kind(&[("io", 5)]);
            });
        });
        let errors = flags.into_iter().find(|flag| matches!(flag, Flag::Errors { .. })).unwrap();
        let gravity = errors.gravity();
        let Flag::Errors { share, of_rarer, .. } = errors else { unreachable!() };
        (share, of_rarer.unwrap(), gravity)
    };
    let (share, of_writes, gravity) = failing(2);
    assert!(share < 0.01 && of_writes > 0.02, "{share} {of_writes}");
    assert_eq!(gravity, Gravity::ForbidsVerdict);
    assert_eq!(failing(98).2, Gravity::ForbidsVerdict);
    assert_eq!(failing(50).2, Gravity::Informs);
}

#[test]
fn a_failed_repetition_is_told_and_forbids_feeds() {
    let flags = flags_of(|b| {
        let mut failed = rep("c", 3, 1e9);
        failed.outcome = Outcome::Failed { reason: "file is gone".to_owned() };
        b.push(failed);
    });
    let reason = GapCause::Recorded("file is gone".to_owned()).into();
    assert_eq!(flags[0], Flag::FailedRepetitions { failed: 1, made: 4, reason });
    assert_eq!(flags[0].gravity(), Gravity::ForbidsFeeds);
}

#[test]
fn what_only_informs_is_told() {
    type Edit = fn(&mut Rep);
    let cases: [(Edit, Flag); 3] = [
        (
            |rep| {
                rep.counters.insert(counter::ABANDONED.to_owned(), 2);
            },
            Flag::Abandoned { reads: 6 },
        ),
        (|rep| rep.outcome = Outcome::Exhausted, Flag::Exhausted { repetitions: 3 }),
        (
            |rep| {
                rep.counters.insert(counter::CLAMPED.to_owned(), 1);
            },
            Flag::Clamped { reads: 3 },
        ),
    ];
    for (edit, expected) in cases {
        let flags = flags_of_reps(edit);
        assert_eq!(flags, [expected]);
        assert_eq!(flags[0].gravity(), Gravity::Informs);
    }
    assert_eq!(flags_of_reps(|rep| rep.usage.steal_ns = Some(400_000_000)), [], "5 % is allowed");
}

#[test]
fn missing_repetitions_carry_the_reason_of_the_record() {
    let flags = flags_of(|b| {
        b.run.measure.repetitions = 5;
        let not_run = record::NotRun { cell: "c".to_owned(), repetitions: 2, reason: "budget".to_owned() };
        b.end.as_mut().unwrap().not_run.push(not_run);
    });
    let reason = GapCause::Recorded("budget".to_owned()).into();
    assert_eq!(flags[0], Flag::Missing { repetitions: 2, reason });
}

fn flags_of_second_reading(rank: u32, wrong: u64, unread: u64) -> Vec<Flag> {
    flags_of(|b| {
        let order = b.lines.iter().find_map(order).unwrap();
        let unread = (unread > 0).then(|| ("permission".to_owned(), unread)).into_iter().collect();
        let reread = Reread { rank, order, checked: 60, wrong, summed: 0, unread };
        b.end.as_mut().unwrap().reread.push(reread);
    })
}

#[test]
fn other_bytes_in_a_second_reading_forbid_a_verdict() {
    let flags = flags_of_second_reading(0, 1, 0);
    assert_eq!(flags, [Flag::WrongBytes { found: 1, checked: 60 }]);
    assert_eq!(flags[0].gravity(), Gravity::ForbidsVerdict);
    assert_eq!(flags_of_second_reading(0, 0, 0), [], "nothing wrong");
    assert_eq!(flags_of_second_reading(1, 1, 1), [], "another rank's");
}

#[test]
fn what_a_part_of_a_run_found_of_its_bytes_holds_after_it_was_gone_on_with() {
    let flags = flags_of(|b| {
        let order = b.lines.iter().find_map(order).unwrap();
        let end = b.end.as_mut().unwrap();
        let reread = Reread { rank: 0, order, checked: 60, wrong: 1, summed: 0, unread: BTreeMap::new() };
        let interrupted = record::End { interrupted: true, reread: vec![reread], ..end.clone() };
        b.lines.push(record::Line::End(interrupted));
    });
    assert_eq!(flags, [Flag::WrongBytes { found: 1, checked: 60 }]);
}

#[test]
fn reads_that_cannot_be_made_again_are_said() {
    let flags = flags_of_second_reading(0, 0, 4);
    assert_eq!(flags, [Flag::NotReread { unread: 4, of: 64, kinds: by_kind(&[("permission", 4)]) }]);
    assert_eq!(flags[0].gravity(), Gravity::Informs);
    assert_eq!(flags_of_second_reading(0, 1, 4).len(), 2);
}

fn order(line: &record::Line) -> Option<u32> {
    if let record::Line::Rep(rep) = line { Some(rep.order) } else { None }
}

#[test]
fn a_dataset_that_changed_during_the_run_forbids_a_verdict() {
    let flags = flags_of(|b| b.end.as_mut().unwrap().changed.push(0));
    assert_eq!(flags, [Flag::DatasetChanged]);
    assert_eq!(flags[0].gravity(), Gravity::ForbidsVerdict);
    assert_eq!(flags_of(|b| b.end.as_mut().unwrap().changed.push(1)), []);
    let unknown = record::NotLookedAt { dataset: 0, reason: "it timed out\n  hint: wait".to_owned() };
    let flags = flags_of(|b| b.end.as_mut().unwrap().not_looked_at.push(unknown.clone()));
    assert_eq!(flags, [Flag::NotLookedAt { reason: "it timed out".to_owned() }]);
}

#[test]
fn reads_that_drop_their_pages_leave_nothing_before_or_after() {
    assert_eq!(resident("dontcache", Some(10), Some(10)), []);
    let kept = resident("dontcache", Some(0), Some(11));
    assert_eq!(kept, [Flag::NotDropped { resident: Some(0.011) }]);
    assert_eq!(kept[0].gravity(), Gravity::ForbidsVerdict);
    let there_before = resident("dontcache", Some(500), Some(0));
    assert_eq!(there_before, [Flag::NotDropped { resident: Some(0.5) }]);
    assert_eq!(resident("dontcache", Some(0), None), [Flag::NotDropped { resident: None }]);
}

#[test]
fn names_in_memory_are_told_of_cold_cells_that_ask_for_names() {
    let flags = |operation: &str, cache: &str, dropped| {
        flags_of(|builder| {
            builder.edit_cell("c", |cell| {
                (cell.operation, cell.cache) = (operation.into(), cache.into());
            });
            builder.edit_reps("c", |rep| rep.cache.names_dropped = dropped);
        })
    };
    assert_eq!(flags("read_file", "cold", Some(false)), [Flag::NamesInMemory]);
    assert_eq!(Flag::NamesInMemory.gravity(), Gravity::Informs);
    assert_eq!(flags("read_file", "cold", Some(true)), []);
    assert_eq!(flags("read_file", "cold", None), []);
    assert_eq!(flags("read_file", "bypass", Some(false)), [], "it asks for no cold names");
    assert_eq!(flags("read", "cold", Some(false)), [], "its files are held open");
}

#[test]
fn opening_is_what_a_cell_of_whole_files_asks_for() {
    let opening = |operation: &str| {
        flags_of(|builder| {
            builder.edit_cell("c", |cell| cell.operation = operation.into());
            builder.edit_reps("c", |rep| {
                rep.counters.insert(counter::OPENS.to_owned(), 10_000);
            });
        })
    };
    assert_eq!(opening("read"), [Flag::Opened { files: 30_000 }]);
    assert_eq!(opening("read_file"), []);
}

#[test]
fn sequential_direct_reads_that_reach_the_device_as_one_are_told() {
    // Blocks of 100 kB in requests of 400 kB.
    let merged = |access: &str, request_bytes: u64| {
        flags_of(|builder| {
            builder.edit_cell("c", |cell| {
                (cell.access, cell.submit_batch) = (access.into(), Some(8));
            });
            builder.edit_reps("c", |rep| {
                let device =
                    record::Device { reads: 100, read_bytes: 100 * request_bytes, ..Default::default() };
                rep.system.device = Some(device);
            });
        })
    };
    let flags = merged("sequential", 400_000);
    let expected = Flag::Merged { request_bytes: 400_000, block_bytes: 100_000, submit_batch: Some(8) };
    assert_eq!(flags, [expected]);
    assert_eq!(merged("sequential", 105_000), []);
    assert_eq!(merged("random", 400_000), [], "what lies apart is not merged, others may have read");
}

#[test]
fn cold_names_of_which_nothing_was_read_were_in_memory() {
    let looked_up = |operation: &str, read_bytes: [u64; 3]| {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.edit_cell("c", |cell| {
            (cell.operation, cell.cache) = (operation.into(), "cold".into());
        });
        for (number, bytes) in read_bytes.into_iter().enumerate() {
            let mut one = rep("c", number as u32, 1e9);
            one.cache.names_dropped = Some(true);
            one.system.process_read_bytes = Some(bytes);
            builder.push(one);
        }
        crate::summarise(&builder.record()).cells[0].flags().into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(looked_up("stat", [0, 0, 0]), [Flag::NamesInMemory]);
    assert_eq!(looked_up("list", [0, 0, 0]), [Flag::NamesInMemory]);
    assert_eq!(looked_up("stat", [0, 4_096, 0]), []);
    assert_eq!(looked_up("names", [0, 0, 0]), [], "they are made, and none is looked up");
    assert!(
        !looked_up("read_file", [0, 0, 0]).contains(&Flag::NamesInMemory),
        "its bytes tell by themselves"
    );
}

#[test]
fn what_is_left_is_compared_with_what_was_read() {
    // 5 MB of a dataset of 1 GB were read, 1 MB of it in the warm-up.
    let left_by = |operation: &str, cache: &str, after: u64| {
        flags_of(|builder| {
            builder.edit_cell("c", |cell| (cell.operation, cell.cache) = (operation.into(), cache.into()));
            builder.edit_reps("c", |rep| {
                for (name, count) in
                    [(counter::OPS, 400), (counter::BYTES, 4_000_000), (counter::WARMUP_OPS, 100)]
                {
                    rep.counters.insert(name.to_owned(), count);
                }
                rep.cache.after_bytes = Some(after);
            });
        })
    };
    let left = |cache, after| left_by("read", cache, after);
    // 500 files of 10,000 B were cut off at their ends, a page of each in memory.
    assert_eq!(left_by("write_file", "bypass", 500 * 4096), []);
    assert_eq!(left_by("write_file", "bypass", 2_500_000), [Flag::NotBypassed { resident: 0.5 }]);
    assert_eq!(left("dontcache", 50_000), []);
    assert_eq!(left("dontcache", 2_500_000), [Flag::NotDropped { resident: Some(0.5) }]);
    assert_eq!(left("bypass", 2_500_000), [Flag::NotBypassed { resident: 0.5 }]);
    assert_eq!(left("bypass", 900_000_000), [Flag::NotBypassed { resident: 1.0 }]);
}

#[test]
fn bytes_without_storage_behind_them_forbid_a_verdict() {
    let holes = |unallocated: u64, read: u64, cache: &str, file_system: &str| {
        flags_of(|builder| {
            builder.run.datasets[0].unallocated_bytes = unallocated;
            builder.run.targets[0].facts =
                vec![record::Fact { name: "file_system".to_owned(), value: file_system.to_owned() }];
            builder.edit_cell("c", |cell| cell.cache = cache.into());
            builder.edit_reps("c", |rep| {
                rep.system.process_read_bytes = Some(read);
                rep.cache.before_bytes = Some(if cache == "warm" { 1_000_000_000 } else { 0 });
            });
        })
    };
    let flags = holes(500_000_000, 500_000_000, "bypass", "ext4");
    assert_eq!(flags, [Flag::NotFromStorage { share: 0.5, compresses: false }]);
    assert_eq!(flags[0].gravity(), Gravity::ForbidsVerdict);
    assert_eq!(holes(500_000_000, 500_000_000, "cold", "btrfs")[0].gravity(), Gravity::Informs);
    assert_eq!(holes(5_000_000, 500_000_000, "cold", "ext4"), [], "its files are whole");
    assert_eq!(holes(500_000_000, 990_000_000, "dontcache", "ext4"), [], "all was read from storage");
    assert_eq!(holes(500_000_000, 0, "warm", "ext4"), []);
    let uncounted = Flag::NotFromStorage { share: 0.25, compresses: false };
    assert_eq!(holes(250_000_000, 0, "cold", "fuse.any"), [uncounted], "its holes are all that is known");
}

#[test]
fn faults_that_read_are_memory_that_was_missing_but_through_a_map() {
    let faults = |each: u64, engine: &str| {
        flags_of(|builder| {
            builder.edit_cell("c", |cell| cell.engine = engine.to_owned());
            builder.edit_reps("c", |rep| rep.usage.major_faults = each);
        })
    };
    // Three repetitions of 10,000 reads each.
    assert_eq!(faults(100, "pread"), [], "one for a hundred reads");
    let flags = faults(101, "pread");
    assert!(matches!(flags[..], [Flag::Faulted { faults: 303, per_op }] if per_op > 0.01), "{flags:?}");
    assert_eq!(flags[0].gravity(), Gravity::ForbidsStarves);
    assert_eq!(faults(101, "mmap"), []);
    // Of few operations a fault or two are nothing.
    let few = flags_of_reps(|rep| {
        rep.usage.major_faults = 6;
        rep.counters.insert(counter::OPS.to_owned(), 200);
    });
    assert!(!few.iter().any(|flag| matches!(flag, Flag::Faulted { .. })), "{few:?}");
}
