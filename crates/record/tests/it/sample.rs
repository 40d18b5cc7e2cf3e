//! A small run of every kind of line.

use std::collections::BTreeMap;
use std::path::Path;

use record::testing;
use record::{
    AxisWords, CacheProof, Captured, Ceiling, Cell, Checkpoint, CheckpointNeed, CheckpointOutcome,
    CheckpointPlan, CopyPlan, Dataset, Device, Emulated, Emulation, End, Environment, Epoch, Expect,
    ExpectBurst, ExpectFigures, ExpectTarget, Fact, Gate, Gpu, Interval, Limit, Line, LoadAverage, Look,
    Margin, Measure, Memory, Mixing, Need, NeedPart, Network, NfsMount, NotLookedAt, NotRun, OtherProgram,
    Outage, Outcome, Pace, Proof, Redactor, Rep, RepIntervals, Reread, Role, Run, RunWriter, Segment,
    Skipped, System, Target, Tier, Tool, Trained, TrainedAccelerator, TrainedStep, Training, Usage, Variant,
    counter, encode, new_histogram, new_interval_histogram,
};

pub(crate) const SCENARIO: &str = "version = 1\ntargets.data = { at = \"/mnt/data/bench\" }\n";

/// Writes the sample run to `dir`.
pub(crate) fn write(dir: &Path) {
    let mut writer = RunWriter::create(dir, &run(), SCENARIO, &environment(), Redactor::default()).unwrap();
    for line in &lines() {
        writer.append(line).unwrap();
    }
    for rep in &intervals() {
        writer.append_intervals(rep).unwrap();
    }
}

/// Goes on with the sample in `dir`.
pub(crate) fn gone_on(dir: &Path) -> RunWriter {
    let mut writer = RunWriter::reopen(dir, Redactor::default()).unwrap();
    writer.go_on(&segment()).unwrap();
    writer
}

/// How the sample was gone on with.
pub(crate) fn segment() -> Segment {
    Segment {
        started: "2026-11-24T11:28:34Z".to_owned(),
        at_ns: 3_422_040_550,
        command: ["feedline", "run", "--resume", "results/sample"].map(str::to_owned).into(),
        env: environment(),
        tool: Some(run().tool),
    }
}

pub(crate) fn run() -> Run {
    let like = testing::run("sample");
    Run {
        tool: Tool { commit: Some("c0ffee".to_owned()), ..like.tool },
        command: vec!["feedline".to_owned(), "run".to_owned(), "sample.toml".to_owned()],
        title: Some("A sample".to_owned()),
        plan_hash: "7c1e09".to_owned(),
        need: need(),
        datasets: vec![dataset()],
        targets: vec![Target {
            name: "data".to_owned(),
            title: "Local disk".to_owned(),
            about: Some("one drive".to_owned()),
            at: "/mnt/data/bench".to_owned(),
            storage: true,
            demo: true,
            about_published: false,
            server_memory_bytes: Some(137_438_953_472),
            emulation: Some(Emulation {
                profile: Some("s3-like".to_owned()),
                settings: vec![Fact { name: "first_byte".to_owned(), value: "15 ms".to_owned() }],
            }),
            facts: vec![Fact { name: "file system".to_owned(), value: "ext4".to_owned() }],
        }],
        cells: vec![cell(), training_cell()],
        skipped: vec![Skipped {
            target: "data".to_owned(),
            engine: "pread".to_owned(),
            reason: "not asked for".to_owned(),
        }],
        measure: Measure {
            warmup_ns: 500_000_000,
            steps: Some(250),
            fresh_rounds: Some(2),
            budget_ns: Some(60_000_000_000),
            seed: u64::MAX,
            ..testing::measure(2)
        },
        gate: gate(),
        expect: Some(expect()),
        variant: Some(Variant {
            name: "base".to_owned(),
            group: "20261121T044123Z-sample-3f9a".to_owned(),
            number: 0,
            settings: vec!["load.cache=cold".to_owned()],
        }),
        ..like
    }
}

fn dataset() -> Dataset {
    Dataset {
        bytes: 13_107_200,
        sample_bytes: 114_660.5,
        fingerprint: "ab12".to_owned(),
        layout: "webdataset".to_owned(),
        samples: Some(114),
        packing: vec![testing::fact("shard_size", "128 KiB")],
        ..testing::dataset("data", 100, 131_072)
    }
}

fn expect() -> Expect {
    let figures = ExpectFigures {
        requests_per_s: Some(300.0),
        request_burst: Some(ExpectBurst { per_s: 3000.0, credits: 5_400_000.0 }),
        ..ExpectFigures::default()
    };
    let target = ExpectTarget {
        target: "data".to_owned(),
        prefixes: 1,
        one_at_a_time: false,
        lookups_per_file: 1,
        in_parts: false,
        emulated: Some(figures),
    };
    Expect { claim: None, targets: vec![target] }
}

fn gate() -> Gate {
    Gate {
        feeds: vec!["data".to_owned()],
        p99_ns: Some(5_000_000),
        utilization: Some(0.95),
        at_depth: Some(32),
        regression: vec![Margin { metric: "throughput".to_owned(), share: 0.1 }],
        baseline: Some("nightly".to_owned()),
        runs: Some(12),
        may_differ: vec!["host".to_owned(), "kernel".to_owned()],
        evidence: "proof".to_owned(),
        proof: Some(Proof { runs: 3, span_ns: 86_400_000_000_000 }),
    }
}

fn need() -> Need {
    Need {
        caveats: vec!["storage side only".to_owned()],
        count: Some(8),
        hold: "samples".to_owned(),
        scope: "host".to_owned(),
        provenance: "measured".to_owned(),
        loader_depth: Some(64),
        checkpoint: Some(CheckpointNeed {
            label: "llama3-8b".to_owned(),
            bytes: 112_742_891_520,
            host_bytes: 112_742_891_520,
            hosts: 1,
            within_ns: 60_000_000_000,
            every_ns: Some(1_800_000_000_000),
            restore_within_ns: Some(300_000_000_000),
            kind: "async".to_owned(),
            beside_others: true,
        }),
        writes: true,
        write_bytes_per_s: Some(250e6),
        parts: vec![
            NeedPart { label: "8 x h100 resnet50".to_owned(), bytes_per_s: 1.638e9 },
            NeedPart { label: "1 GB/s".to_owned(), bytes_per_s: 1e9 },
        ],
        ..testing::need(100_000.0 / 7.0, 114_660.0)
    }
}

fn cell() -> Cell {
    Cell {
        stands_in_for: Some("nothing".to_owned()),
        threads: 4,
        connections: 8,
        retries: 2,
        cache: "cold".into(),
        durability: Some("data".into()),
        write_percent: Some(30),
        auto_group: Some(0),
        axes: vec![AxisWords {
            name: "block_size".to_owned(),
            value: "131072".to_owned(),
            unit: "B".to_owned(),
        }],
        operation: "read_file".into(),
        pace: Some(Pace {
            rate_bps: None,
            of_line: Some(1.1),
            arrivals: "batch".to_owned(),
            batch_samples: Some(3_200),
            spin_ns: 60_000,
        }),
        submit_batch: Some(8),
        ..testing::cell("data-io_uring-qd32", "data", 32)
    }
}

fn training_cell() -> Cell {
    Cell {
        cell: "data-io_uring-4readers".to_owned(),
        pace: None,
        ranks: Some(3),
        training: Some(Training {
            readers: Some(4),
            fetches: 2,
            prefetch: 6,
            barrier: true,
            decode: Some("cost".to_owned()),
            decode_cost_ns: Some(150_000),
            decode_threads: Some(3),
            drop_last: false,
            startup_ns: 40_000_000,
            spin_ns: 60_000,
            price_per_hour: Some(2.5),
            ..testing::training(2, 32, 7_000_000)
        }),
        streams: Some(4),
        shuffle_buffer: Some(100),
        run_length: Some(16),
        mixing: Some(Mixing {
            buffer_samples: 800,
            displacement: 0.62,
            neighbours_kept: 0.021,
            imbalance: 0.015,
        }),
        checkpoint: Some(CheckpointPlan {
            label: "llama3-8b, 1/64 of it".to_owned(),
            bytes: 16_000_000,
            files: 4,
            mode: "async".to_owned(),
            every_steps: Some(100),
            copy_ns: 5_000_000,
            durable: true,
            keep: 2,
            price_per_hour: Some(2.5),
        }),
        tier: Some(Tier {
            at: "/mnt/data/cache".to_owned(),
            capacity_bytes: 6_553_600,
            policy: "lru".to_owned(),
        }),
        copy: Some(CopyPlan { to: "data".to_owned(), layout: Some("tfrecord".to_owned()) }),
        ..cell()
    }
}

/// One whole pass, and one that the end of the window cut.
fn epochs() -> Vec<Epoch> {
    let whole = Epoch {
        epoch: 0,
        begun_ns: 1_000,
        first_ns: 81_000,
        first_batch_ns: Some(45_000_000),
        ended_ns: 900_000_000,
        ops: 100,
        bytes: 13_107_200,
        storage_bytes: Some(13_107_200),
        tier_bytes: Some(0),
        complete: true,
    };
    let cut = Epoch {
        epoch: 1,
        begun_ns: 901_000_000,
        first_ns: 901_080_000,
        first_batch_ns: None,
        ended_ns: 1_700_000_000,
        storage_bytes: None,
        complete: false,
        ..whole.clone()
    };
    vec![whole, cut]
}

/// One of each outcome.
fn checkpoints() -> Vec<Checkpoint> {
    let failed = CheckpointOutcome::Failed { reason: "no space left on device".to_owned() };
    let outcomes =
        [CheckpointOutcome::Complete, CheckpointOutcome::Overrun, failed, CheckpointOutcome::Unfinished];
    let one = |(number, outcome): (u64, CheckpointOutcome)| Checkpoint {
        step: 100 * number,
        due_ns: 400_000_000 * number,
        begun_ns: 400_000_000 * number + 5_000_000,
        stall_ns: 5_000_000,
        write_ns: 60_000_000,
        publish_ns: 20_000_000,
        bytes: 16_000_000,
        outcome,
    };
    (1..).zip(outcomes).map(one).collect()
}

pub(crate) fn environment() -> Environment {
    Environment {
        machine: Captured::Value("5f2c9a01".to_owned()),
        kernel: Captured::Value("6.1.0".to_owned()),
        cores_online: Captured::Value(8),
        numa_nodes: Captured::Value(BTreeMap::from([(0, "0-3".to_owned()), (1, "4-7".to_owned())])),
        processors_allowed: Captured::Value("0-2".to_owned()),
        cgroup_cpu_cores: Captured::Value(Limit::At(2.5)),
        open_files_max: Captured::Value(Limit::Unlimited),
        governor: Captured::Unavailable("cannot read the frequency governor".to_owned()),
        mitigations: Captured::Value(BTreeMap::from([("spectre_v2".to_owned(), "Retpolines".to_owned())])),
        load_average: Captured::Value(LoadAverage {
            one_minute: 0.1,
            five_minutes: 0.2,
            fifteen_minutes: 0.3,
        }),
        ..Environment::default()
    }
}

/// One line of each kind, role and outcome.
pub(crate) fn lines() -> Vec<Line> {
    let failed = Outcome::Failed { reason: "the file ended early; prepare the dataset again".to_owned() };
    let outcomes = [Outcome::Complete, Outcome::Exhausted, Outcome::Interrupted, failed];
    let reps = (0_u32..).zip(outcomes).map(|(order, outcome)| Line::Rep(Box::new(rep(order, outcome))));
    let ceiling = Line::Ceiling(Ceiling {
        copies: true,
        window_ns: 2_000_000_000,
        cpu_ns: 1_900_000_000,
        ..testing::ceiling(vec![cell().cell], 1_000_000, 131_072_000_000)
    });
    let of_job = Rep {
        cell: training_cell().cell,
        trained: Some(trained()),
        granted: BTreeMap::from([("first_decode_failure".to_owned(), "the stream ended early".to_owned())]),
        epochs: epochs(),
        checkpoints: checkpoints(),
        outage: Some(Outage { away_ns: 2_100_000_000, suspended: true }),
        ..rep(4, Outcome::Complete)
    };
    let null_control = Line::Ceiling(Ceiling {
        copies: true,
        window_ns: 1_760_000_000,
        cpu_ns: 300_000_000,
        trained: Some(Trained { decode_failures: 0, ran_out: false, ..trained() }),
        ..testing::ceiling(vec![training_cell().cell], 16_000, 1_834_560_000)
    });
    let of_job = [null_control, Line::Rep(Box::new(of_job))];
    let end = Line::End(End {
        interrupted: true,
        not_run: vec![NotRun { cell: cell().cell, repetitions: 3, reason: "interrupted".to_owned() }],
        changed: vec![0],
        not_looked_at: vec![NotLookedAt { dataset: 0, reason: "timed out".to_owned() }],
        reread: vec![Reread {
            rank: 0,
            order: 1,
            checked: 64,
            wrong: 1,
            summed: 60,
            unread: BTreeMap::from([("permission".to_owned(), 2)]),
        }],
        ..testing::end(9_000_000_000)
    });
    [ceiling].into_iter().chain(reps).chain(of_job).chain([end]).collect()
}

/// Two accelerators, the second a little worse.
fn trained() -> Trained {
    let accelerator = |wait_ns| TrainedAccelerator {
        steps: 250,
        wall_ns: 1_750_000_000 + wait_ns + 1_000_000,
        compute_ns: 1_750_000_000,
        wait_ns,
        barrier_ns: 1_000_000,
        checkpoint_ns: 0,
        first_batch_ns: 45_000_000,
        late: 17,
        storage_ns: wait_ns - 43_000_000,
        decode_ns: 2_000_000,
        client_ns: 1_000_000,
        startup_ns: 40_000_000,
        lost_samples: 1,
        excluded_wait_ns: 0,
        excluded_compute_ns: 0,
        measured_compute_ns: 1_743_100_000,
        measured_wall_ns: 1_900_000_000,
    };
    let step = |start_ns| TrainedStep { ready_ns: start_ns - 3, start_ns, end_ns: start_ns + 7_000_000 };
    Trained {
        accelerators: vec![accelerator(190_000_000), accelerator(195_000_000)],
        occupancy: vec![34, 66, 400],
        timeline: vec![step(45_000_000), step(52_000_000)],
        decode_failures: 1,
        decode_cpu_ns: 0,
        ran_out: true,
    }
}

fn rep(order: u32, outcome: Outcome) -> Rep {
    let mut service_ns = new_histogram();
    for read in 0..500 {
        service_ns.record(80_000 + read * 997).unwrap();
    }
    let ops = service_ns.len();
    let rep = testing::rep(&cell().cell, order / 2, 2_000_000_000);
    Rep {
        role: if order.is_multiple_of(2) { Role::Measure } else { Role::Confirm },
        round: order,
        order,
        outcome,
        window_start_ns: 1_000_000_000 * u64::from(order),
        window_unix_ns: Some(1_795_236_084_000_000_000 + 1_000_000_000 * u64::from(order)),
        second_ops: vec![ops - 240, 240],
        second_bytes: vec![(ops - 240) * cell().block_bytes, 240 * cell().block_bytes],
        counters: testing::counts([(counter::OPS, ops), (counter::BYTES, ops * cell().block_bytes)]),
        errors: testing::counts([("eof", 1)]),
        histograms: [("service_ns".to_owned(), encode(&service_ns))].into(),
        usage: Usage { cpu_user_ns: 5, cpu_system_ns: 7, cores: 4, steal_ns: Some(0), ..Usage::default() },
        cache: CacheProof {
            after_bytes: None,
            names_dropped: Some(true),
            ..testing::nothing_resident("cachestat", 13_107_200)
        },
        granted: [("registered".to_owned(), "buffers and files".to_owned())].into(),
        system: system(),
        emulated: Some(emulated()),
        ..rep
    }
}

fn system() -> System {
    let memory = Memory { available_bytes: 8_000_000_000, cached_bytes: 500_000_000, dirty_bytes: 4_096 };
    System {
        process_read_bytes: Some(65_536_000),
        device: Some(Device {
            name: "nvme0n1".to_owned(),
            reads: 1_000,
            reads_merged: 7,
            read_bytes: 65_540_096,
            read_ns: 90_000_000,
            writes: 3,
            write_bytes: 12_288,
            write_ns: 200_000,
            busy_ns: 1_900_000_000,
            weighted_ns: 60_000_000_000,
            flushes: Some(11),
            flush_ns: Some(7_000_000),
            wall_ns: 2_000_000_100,
        }),
        core_busy_ns: vec![1_500_000_000, 20_000_000],
        memory_before: Some(memory),
        memory_after: Some(Memory { cached_bytes: 565_536_000, ..memory }),
        network: Some(Network {
            interface: "eth0".to_owned(),
            speed_bps: Some(25_000_000_000),
            received_bytes: 66_000_000,
            sent_bytes: 900_000,
            dropped: 2,
            tcp_retransmitted: Some(17),
            wall_ns: 2_000_000_100,
        }),
        gpus: vec![Gpu {
            index: 0,
            name: "NVIDIA H100 80GB HBM3".to_owned(),
            busy_permille: Some(617),
            received_bytes: Some(66_100_000),
            sent_bytes: None,
            wall_ns: 2_000_000_100,
        }],
        nfs_mount: Some(NfsMount {
            reads: 500,
            read_transmissions: 501,
            read_timeouts: 1,
            read_received_bytes: 65_600_000,
            read_ns: 90_000_000,
            connections: 4,
        }),
        others: vec![OtherProgram {
            name: "tar".to_owned(),
            cpu_ns: 900_000_000,
            read_bytes: Some(4_000_000),
        }],
    }
}

fn emulated() -> Emulated {
    let mut asked_ns = new_histogram();
    asked_ns.record_n(15_000_000, 500).unwrap();
    Emulated {
        requests: 500,
        throttled: 3,
        faults: BTreeMap::from([("reset".to_owned(), 2)]),
        asked_ns: Some(encode(&asked_ns)),
        achieved_ns: Some(encode(&asked_ns)),
        metadata_asked_ns: None,
        metadata_achieved_ns: None,
        cpu_ns: 700_000_000,
        sent_bytes: 65_536_000,
    }
}

pub(crate) fn intervals() -> Vec<RepIntervals> {
    let second = |second: u32| {
        let mut service_ns = new_interval_histogram();
        for read in 0..50 {
            service_ns.record(90_000 + read * 1_009).unwrap();
        }
        let ops = service_ns.len();
        Interval { second, ops, bytes: ops * cell().block_bytes, service_ns: encode(&service_ns) }
    };
    let look = |at_ns| {
        let device = system().device.map(|device| Device { name: String::new(), ..device });
        let network = system().network.map(|network| Network { interface: String::new(), ..network });
        Look {
            at_ns,
            span_ns: 1_000_000_000,
            resident_bytes: Some(36_868_096),
            system: System { device, network, others: Vec::new(), gpus: Vec::new(), ..system() },
        }
    };
    let rep = |rep| RepIntervals {
        cell: cell().cell,
        role: Role::Confirm,
        rep,
        seconds: vec![second(0), second(1)],
        looks: vec![look(1_000_000_000), look(1_700_000_000)],
    };
    vec![rep(0), rep(1), rep(2)]
}
