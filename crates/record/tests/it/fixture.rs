//! Records of older formats are read for ever. One committed directory for each format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use feed::Durability;
use record::{
    Captured, CheckpointOutcome, End, Environment, Format, Gate, Line, NotLookedAt, Outage, Outcome, Rep,
    Reread, Run, Segment, System, counter, read_intervals, read_run,
};

use crate::sample;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
#[ignore = "writes tests/fixtures/v1_1, which is committed and never changed"]
fn write_v1_1() {
    sample::write(&fixture("v1_1"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_2, which is committed and never changed"]
fn write_v1_2() {
    sample::write(&fixture("v1_2"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_3, which is committed and never changed"]
fn write_v1_3() {
    sample::write(&fixture("v1_3"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_4, which is committed and never changed"]
fn write_v1_4() {
    sample::write(&fixture("v1_4"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_5, which is committed and never changed"]
fn write_v1_5() {
    sample::write(&fixture("v1_5"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_6, which is committed and never changed"]
fn write_v1_6() {
    sample::write(&fixture("v1_6"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_7, which is committed and never changed"]
fn write_v1_7() {
    sample::write(&fixture("v1_7"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_8, which is committed and never changed"]
fn write_v1_8() {
    sample::write(&fixture("v1_8"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_9, which is committed and never changed"]
fn write_v1_9() {
    let folder = fixture("v1_9");
    sample::write(&folder);
    let mut writer = sample::gone_on(&folder);
    writer.append(sample::lines().last().unwrap()).unwrap();
}

#[test]
#[ignore = "writes tests/fixtures/v1_10, which is committed and never changed"]
fn write_v1_10() {
    sample::write(&fixture("v1_10"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_11, which is committed and never changed"]
fn write_v1_11() {
    sample::write(&fixture("v1_11"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_12, which is committed and never changed"]
fn write_v1_12() {
    sample::write(&fixture("v1_12"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_13, which is committed and never changed"]
fn write_v1_13() {
    sample::write(&fixture("v1_13"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_14, which is committed and never changed"]
fn write_v1_14() {
    sample::write(&fixture("v1_14"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_15, which is committed and never changed"]
fn write_v1_15() {
    sample::write(&fixture("v1_15"));
}

#[test]
#[ignore = "writes tests/fixtures/v1_16, which is committed and never changed"]
fn write_v1_16() {
    let folder = fixture("v1_16");
    sample::write(&folder);
    let mut writer = sample::gone_on(&folder);
    writer.append(sample::lines().last().unwrap()).unwrap();
}

#[test]
#[ignore = "writes tests/fixtures/v1_17, which is committed and never changed"]
fn write_v1_17() {
    sample::write(&fixture("v1_17"));
}

#[test]
fn numa_nodes_in_format_1_17_are_read() {
    let record = read_run(&fixture("v1_17")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 17 }));
    assert_eq!(record.env.numa_nodes.value().unwrap()[&1], "4-7");
    assert_eq!(record.env.processors_allowed, Captured::Value("0-2".to_owned()));
    let older = read_run(&fixture("v1_16")).unwrap().env;
    assert_eq!((older.numa_nodes, older.processors_allowed), (Captured::default(), Captured::default()));
}

#[test]
fn needs_of_a_sum_in_format_1_16_are_read() {
    let record = read_run(&fixture("v1_16")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 16 }));
    assert_eq!(record.segments[0].tool.as_ref(), Some(&record.run.tool));
    assert!(record.segments[0].elsewhere(&record.run, &record.env).is_empty());
    let need = &record.run.need;
    assert_eq!(need.parts.iter().map(|part| part.bytes_per_s).collect::<Vec<_>>(), [1.638e9, 1e9]);
    let older = read_run(&fixture("v1_15")).unwrap().run.need;
    assert!(older.parts.is_empty() && older.is_same(need) && need.is_same(&older));
    let mut other = need.clone();
    other.parts[0].bytes_per_s = 1.0;
    assert!(!other.is_same(need) && other.is_same(&older));
}

#[test]
fn flushes_of_a_device_in_format_1_15_are_read() {
    let record = read_run(&fixture("v1_15")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 15 }));
    let flushes = |name: &str| {
        let record = read_run(&fixture(name)).unwrap();
        let device = record.lines.into_iter().find_map(|line| match line {
            Line::Rep(rep) => rep.system.device,
            _ => None,
        });
        device.map(|device| (device.flushes, device.flush_ns))
    };
    assert_eq!(flushes("v1_15"), Some((Some(11), Some(7_000_000))));
    assert_eq!(flushes("v1_14"), Some((None, None)));
}

#[test]
fn looks_at_the_machine_in_format_1_14_are_read() {
    let record = read_run(&fixture("v1_14")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 14 }));
    let looks = |name: &str| read_intervals(&fixture(name)).unwrap().reps.swap_remove(0).looks;
    let seen: Vec<u64> = looks("v1_14").iter().map(|look| look.at_ns).collect();
    assert_eq!(seen, [1_000_000_000, 1_700_000_000]);
    assert_eq!(looks("v1_14")[0].resident_bytes, Some(36_868_096));
    assert_eq!(looks("v1_14")[0].system.core_busy_ns, [1_500_000_000, 20_000_000]);
    assert_eq!(looks("v1_13"), []);
}

#[test]
fn reads_of_each_reader_and_gpus_in_format_1_13_are_read() {
    let record = read_run(&fixture("v1_13")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 13 }));
    let fetches = |run: &Run| run.cells[1].training.as_ref().unwrap().fetches;
    assert_eq!((fetches(&record.run), fetches(&read_run(&fixture("v1_12")).unwrap().run)), (2, 1));
    let gpus = record.lines.iter().find_map(|line| match line {
        Line::Rep(rep) => rep.system.gpus.first(),
        _ => None,
    });
    assert_eq!(gpus.unwrap().busy_permille, Some(617));
}

#[test]
fn writes_bursts_and_hosts_in_format_1_12_are_read() {
    let record = read_run(&fixture("v1_12")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 12 }));
    assert!(record.run.need.writes);
    assert_eq!(record.run.cells[0].durability, Some(Durability::Data.into()));
    let spins = |run: &Run| run.cells[1].training.as_ref().unwrap().spin_ns;
    assert_eq!(spins(&record.run), 60_000);
    let burst = record.run.expect.unwrap().targets[0].emulated.unwrap().request_burst.unwrap();
    assert_eq!((burst.per_s, burst.credits), (3000.0, 5_400_000.0));
    assert_eq!([0, 1].map(|cell| record.run.cells[cell].ranks), [None, Some(3)]);
    let before = read_run(&fixture("v1_11")).unwrap().run;
    assert_eq!((before.need.writes, &before.cells[0].durability, spins(&before)), (false, &None, 0));
}

#[test]
fn what_checkpoints_ask_for_in_format_1_11_is_read() {
    let record = read_run(&fixture("v1_11")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 11 }));
    let need = record.run.need.checkpoint.unwrap();
    assert_eq!(
        (need.label.as_str(), need.within_ns, need.kind.as_str()),
        ("llama3-8b", 60_000_000_000, "async")
    );
    assert_eq!(read_run(&fixture("v1_10")).unwrap().run.need.checkpoint, None);
}

/// The outage of the repetition that met one.
fn outage(name: &str) -> Option<Outage> {
    let lines = read_run(&fixture(name)).unwrap().lines;
    lines.iter().find_map(|line| if let Line::Rep(rep) = line { rep.outage } else { None })
}

#[test]
fn a_process_that_was_away_in_format_1_10_is_read() {
    let record = read_run(&fixture("v1_10")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 10 }));
    assert_eq!(outage("v1_10"), Some(Outage { away_ns: 2_100_000_000, suspended: true }));
}

#[test]
fn a_run_that_was_gone_on_with_in_format_1_9_is_read() {
    let record = read_run(&fixture("v1_9")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 9 }));
    // Which feedline went on with it was not said, nor where processors are.
    let now = sample::segment();
    let env =
        Environment { numa_nodes: Captured::default(), processors_allowed: Captured::default(), ..now.env };
    assert_eq!(record.segments, [Segment { tool: None, env, ..now }]);
    let ends = record.lines.iter().filter(|line| matches!(line, Line::End(_))).count();
    assert_eq!((ends, read_run(&fixture("v1_8")).unwrap().segments.len()), (2, 0));
}

#[test]
fn outages_and_a_last_look_that_failed_in_format_1_8_are_read() {
    let record = read_run(&fixture("v1_8")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 8 }));
    assert_eq!(outage("v1_8"), Some(Outage { away_ns: 2_100_000_000, suspended: false }));
    let not_looked_at = NotLookedAt { dataset: 0, reason: "timed out".to_owned() };
    assert!(matches!(record.lines.last(), Some(Line::End(end)) if end.not_looked_at == [not_looked_at]));
}

#[test]
fn what_a_second_reading_found_in_format_1_7_is_read() {
    let record = read_run(&fixture("v1_7")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 7 }));
    let again = reread("v1_7");
    assert_eq!((again.checked, again.wrong, again.summed), (64, 1, 60));
    assert_eq!(again.unread, BTreeMap::from([("permission".to_owned(), 2)]));
    let old = reread("v1_6");
    assert_eq!((old.checked, old.wrong, old.summed, old.unread.len()), (64, 1, 0, 0));
}

/// What was found of the only repetition that a last line speaks of.
fn reread(name: &str) -> Reread {
    match read_run(&fixture(name)).unwrap().lines.pop() {
        Some(Line::End(End { mut reread, .. })) if reread.len() == 1 => reread.remove(0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_verdicts_of_format_1_6_rest_on_is_read() {
    let record = read_run(&fixture("v1_6")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 6 }));
    let run = &record.run;
    assert_eq!(run.measure.fresh_rounds, Some(2));
    assert_eq!((run.gate.evidence.as_str(), run.gate.proof.map(|proof| proof.runs)), ("proof", Some(3)));
    let job = run.cells.iter().find_map(|cell| cell.training.as_ref()).unwrap();
    assert!(!job.drop_last);
    let old = read_run(&fixture("v1_5")).unwrap();
    assert_eq!((old.run.measure.fresh_rounds, old.run.gate.evidence.as_str()), (None, ""));
}

#[test]
fn layouts_tiers_and_copies_of_format_1_5_are_read() {
    let record = read_run(&fixture("v1_5")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 5 }));
    let dataset = &record.run.datasets[0];
    assert_eq!((dataset.layout.as_str(), dataset.samples), ("webdataset", Some(114)));
    assert_eq!(dataset.packing[0].value, "128 KiB");
    let cell = &record.run.cells[1];
    assert_eq!((cell.streams, cell.shuffle_buffer, cell.run_length), (Some(4), Some(100), Some(16)));
    let mixing = cell.mixing.unwrap();
    assert_eq!((mixing.buffer_samples, mixing.displacement, mixing.imbalance), (800, 0.62, 0.015));
    let plan = cell.checkpoint.as_ref().unwrap();
    assert_eq!((plan.bytes, plan.files, plan.mode.as_str(), plan.keep), (16_000_000, 4, "async", 2));
    assert_eq!((plan.every_steps, plan.copy_ns, plan.durable), (Some(100), 5_000_000, true));
    let tier = cell.tier.as_ref().unwrap();
    assert_eq!((tier.capacity_bytes, tier.policy.as_str()), (6_553_600, "lru"));
    let copy = cell.copy.as_ref().unwrap();
    assert_eq!((copy.to.as_str(), copy.layout.as_deref()), ("data", Some("tfrecord")));
}

#[test]
fn epochs_and_checkpoints_of_format_1_5_are_read() {
    let all = reps("v1_5");
    let of_job: Vec<&Rep> = all.iter().filter(|rep| !rep.epochs.is_empty()).collect();
    assert_eq!((all.len(), of_job.len()), (5, 1));
    let [whole, cut] = of_job[0].epochs.as_slice() else { panic!("two epochs") };
    assert_eq!((whole.bytes, whole.storage_bytes, whole.complete), (13_107_200, Some(13_107_200), true));
    assert_eq!((cut.storage_bytes, cut.tier_bytes, cut.complete), (None, Some(0), false));
    let outcomes: Vec<&CheckpointOutcome> = of_job[0].checkpoints.iter().map(|one| &one.outcome).collect();
    assert_eq!(outcomes[..2], [&CheckpointOutcome::Complete, &CheckpointOutcome::Overrun]);
    assert!(matches!(outcomes[2], CheckpointOutcome::Failed { reason } if reason.contains("no space")));
    assert_eq!((outcomes[3], of_job[0].checkpoints[3].step), (&CheckpointOutcome::Unfinished, 400));
}

#[test]
fn what_format_1_4_does_not_hold_is_absent() {
    let record = read_run(&fixture("v1_4")).unwrap();
    let (dataset, cell) = (&record.run.datasets[0], &record.run.cells[0]);
    assert_eq!((dataset.layout.as_str(), dataset.samples, dataset.packing.len()), ("files", None, 0));
    assert_eq!(
        (cell.streams, cell.mixing, &cell.checkpoint, &cell.tier, &cell.copy),
        (None, None, &None, &None, &None)
    );
    assert!(reps("v1_4").iter().all(|rep| rep.epochs.is_empty() && rep.checkpoints.is_empty()));
}

#[test]
fn gates_and_variants_of_format_1_4_are_read() {
    let record = read_run(&fixture("v1_4")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 4 }));
    let gate = record.run.gate;
    assert_eq!((gate.utilization, gate.at_depth, gate.runs), (Some(0.95), Some(32), Some(12)));
    assert_eq!((gate.regression[0].metric.as_str(), gate.regression[0].share), ("throughput", 0.1));
    assert_eq!(
        (gate.baseline.as_deref(), gate.may_differ.as_slice()),
        (Some("nightly"), &["host", "kernel"].map(str::to_owned)[..])
    );
    let variant = record.run.variant.unwrap();
    assert_eq!((variant.name.as_str(), variant.number, variant.settings.len()), ("base", 0, 1));
    assert_eq!(variant.group, "20261121T044123Z-sample-3f9a");
    assert_eq!(record.env.machine, Captured::Value("5f2c9a01".to_owned()));
}

#[test]
fn seconds_and_clocks_of_format_1_4_are_read() {
    let reps = reps("v1_4");
    assert_eq!(reps.len(), 5);
    for rep in reps {
        let since_1970 = rep.window_unix_ns.unwrap();
        assert_eq!(since_1970 - rep.window_start_ns, 1_795_236_084_000_000_000);
        assert_eq!(rep.second_ops.iter().sum::<u64>(), rep.counters[counter::OPS]);
        assert_eq!(rep.second_bytes.iter().sum::<u64>(), rep.counters[counter::BYTES]);
    }
}

#[test]
fn what_format_1_3_does_not_hold_is_unknown() {
    let record = read_run(&fixture("v1_3")).unwrap();
    let gate = Gate { feeds: vec!["data".to_owned()], p99_ns: Some(5_000_000), ..Gate::default() };
    assert_eq!((record.run.gate, record.run.variant), (gate, None));
    assert!(matches!(record.env.machine, Captured::Unavailable(_)));
    for rep in reps("v1_3") {
        assert_eq!((rep.window_unix_ns, rep.second_ops.len() + rep.second_bytes.len()), (None, 0));
    }
}

#[test]
fn training_jobs_of_format_1_3_are_read() {
    let record = read_run(&fixture("v1_3")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 3 }));
    assert_eq!((record.run.measure.steps, &record.run.cells[0].training), (Some(250), &None));
    let job = record.run.cells[1].training.as_ref().unwrap();
    assert_eq!((job.accelerators, job.batch, job.compute_ns, job.prefetch), (2, 32, 7_000_000, 6));
    assert_eq!((job.fetch.as_str(), job.readers, job.barrier), ("readers", Some(4), true));
    assert_eq!((job.decode.as_deref(), job.decode_cost_ns), (Some("cost"), Some(150_000)));
    assert_eq!((job.decode_threads, job.startup_ns), (Some(3), 40_000_000));
    assert_eq!((job.threshold, job.price_per_hour), (0.9, Some(2.5)));
}

#[test]
fn what_became_of_a_training_job_of_format_1_3_is_read() {
    let all = reps("v1_3");
    let (with, without): (Vec<&Rep>, Vec<&Rep>) = all.iter().partition(|rep| rep.trained.is_some());
    assert_eq!((with.len(), without.len()), (1, 4));
    let trained = with[0].trained.as_ref().unwrap();
    for one in &trained.accelerators {
        assert_eq!(one.compute_ns + one.wait_ns + one.barrier_ns, one.wall_ns);
        assert_eq!(one.storage_ns + one.decode_ns + one.client_ns + one.startup_ns, one.wait_ns);
    }
    let second = trained.accelerators[1];
    assert_eq!((second.steps, second.late, second.lost_samples), (250, 17, 1));
    assert_eq!((second.measured_compute_ns, second.measured_wall_ns), (1_743_100_000, 1_900_000_000));
    assert_eq!((trained.occupancy.as_slice(), trained.timeline[1].end_ns), (&[34, 66, 400][..], 59_000_000));
    assert_eq!((trained.decode_failures, trained.ran_out), (1, true));
    let lines = read_run(&fixture("v1_3")).unwrap().lines;
    let is_control = |line: &Line| matches!(line, Line::Ceiling(ceiling) if ceiling.trained.is_some());
    assert_eq!(lines.iter().filter(|line| is_control(line)).count(), 1);
}

#[test]
fn what_format_1_2_does_not_hold_is_unknown() {
    let record = read_run(&fixture("v1_2")).unwrap();
    assert_eq!((record.run.measure.steps, &record.run.cells[0].training), (None, &None));
    assert!(reps("v1_2").iter().all(|rep| rep.trained.is_none()));
}

#[test]
fn format_1_2_is_read() {
    let record = read_run(&fixture("v1_2")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 2 }));
    let target = &record.run.targets[0];
    assert_eq!((target.demo, target.about_published), (true, false));
    assert_eq!(target.server_memory_bytes, Some(137_438_953_472));
    assert_eq!(target.emulation.as_ref().unwrap().settings[0].value, "15 ms");
    assert_eq!((record.run.cells[0].connections, record.run.cells[0].retries), (8, 2));
}

#[test]
fn figures_of_networks_and_servers_of_format_1_2_are_read() {
    for rep in reps("v1_2") {
        let network = rep.system.network.unwrap();
        assert_eq!((network.interface.as_str(), network.speed_bps), ("eth0", Some(25_000_000_000)));
        assert_eq!((network.received_bytes, network.tcp_retransmitted), (66_000_000, Some(17)));
        let mount = rep.system.nfs_mount.unwrap();
        assert_eq!((mount.reads, mount.read_transmissions, mount.connections), (500, 501, 4));
        let emulated = rep.emulated.unwrap();
        assert_eq!((emulated.requests, emulated.throttled, emulated.faults["reset"]), (500, 3, 2));
        assert_eq!(emulated.sent_bytes, 0, "not counted yet");
        assert_eq!(emulated.asked_ns.unwrap().decode().unwrap().len(), 500);
    }
}

#[test]
fn what_format_1_1_does_not_hold_is_unknown() {
    let record = read_run(&fixture("v1_1")).unwrap();
    let (target, cell) = (&record.run.targets[0], &record.run.cells[0]);
    assert!(!target.demo && target.about_published && target.emulation.is_none());
    assert_eq!((cell.connections, cell.retries, target.server_memory_bytes), (0, 0, None));
    for rep in reps("v1_1") {
        assert!(rep.emulated.is_none() && rep.system.network.is_none() && rep.system.nfs_mount.is_none());
    }
}

fn reps(name: &str) -> Vec<Rep> {
    let lines = read_run(&fixture(name)).unwrap().lines;
    lines.into_iter().filter_map(|line| if let Line::Rep(rep) = line { Some(*rep) } else { None }).collect()
}

#[test]
fn format_1_0_is_read() {
    let record = read_run(&fixture("v1")).unwrap();
    assert_eq!(record.loss, None);
    assert_eq!(record.run.format, Format { major: 1, minor: 0 });
    assert_eq!(record.run.run_id, "20261121T044123Z-sample-3f9a");
    assert_eq!(record.run.need.samples_per_s, Some(100_000.0 / 7.0));
    assert_eq!(record.run.measure.seed, u64::MAX);
    assert_eq!(record.env.cores_online, Captured::Value(8));
    assert_eq!(record.lines.len(), 6);
    assert!(matches!(&record.lines[0], Line::Ceiling(ceiling) if ceiling.ops == 1_000_000));
    assert!(
        matches!(&record.lines[5], Line::End(end) if end.not_run[0].repetitions == 3 && end.changed == [0])
    );
}

#[test]
fn histograms_of_format_1_0_hold_what_was_counted() {
    let reps = reps("v1");
    assert_eq!(reps.len(), 4);
    assert!(matches!(&reps[3].outcome, Outcome::Failed { reason } if reason.contains("ended early")));
    for rep in reps {
        let latencies = rep.histograms["service_ns"].decode().unwrap();
        assert_eq!(latencies.len(), rep.counters[counter::OPS]);
        // Read 250 of 500, each 997 ns slower than the one before, from 80 us.
        assert!(latencies.equivalent(latencies.value_at_quantile(0.5), 80_000 + 249 * 997));
    }
}

#[test]
fn what_format_1_0_does_not_hold_is_unknown() {
    let record = read_run(&fixture("v1")).unwrap();
    let cell = &record.run.cells[0];
    assert_eq!((cell.operation.as_str(), &cell.pace, cell.submit_batch), ("read", &None, None));
    for rep in reps("v1") {
        assert_eq!((rep.system, rep.cache.names_dropped), (System::default(), None));
    }
}

#[test]
fn format_1_1_is_read() {
    let record = read_run(&fixture("v1_1")).unwrap();
    assert_eq!((record.loss, record.run.format), (None, Format { major: 1, minor: 1 }));
    let cell = &record.run.cells[0];
    assert_eq!((cell.operation.as_str(), cell.submit_batch), ("read_file", Some(8)));
    let pace = cell.pace.as_ref().unwrap();
    assert_eq!((pace.rate_bps, pace.of_line, pace.batch_samples), (None, Some(1.1), Some(3_200)));
    assert_eq!((pace.arrivals.as_str(), pace.spin_ns), ("batch", 60_000));
}

#[test]
fn system_figures_of_format_1_1_are_read() {
    for rep in reps("v1_1") {
        let system = rep.system;
        let device = system.device.unwrap();
        assert_eq!((device.name.as_str(), device.reads, device.read_bytes), ("nvme0n1", 1_000, 65_540_096));
        assert_eq!((device.weighted_ns, device.wall_ns), (60_000_000_000, 2_000_000_100));
        assert_eq!(system.process_read_bytes, Some(65_536_000));
        assert_eq!(system.core_busy_ns, [1_500_000_000, 20_000_000]);
        assert_eq!(system.memory_before.unwrap().cached_bytes, 500_000_000);
        assert_eq!(system.memory_after.unwrap().dirty_bytes, 4_096);
        assert_eq!(rep.cache.names_dropped, Some(true));
    }
}

#[test]
fn intervals_of_format_1_0_are_read() {
    let intervals = read_intervals(&fixture("v1")).unwrap();
    assert_eq!((intervals.reps.len(), intervals.loss), (3, None));
    for second in intervals.reps.iter().flat_map(|rep| &rep.seconds) {
        assert_eq!(second.service_ns.decode().unwrap().len(), second.ops);
    }
}
