//! The record itself.

use record::testing;
use record::{
    CacheProof, Cell, Checkpoint, CheckpointOutcome, CheckpointPlan, Claim, CopyPlan, Dataset, Epoch, Expect,
    ExpectFigures, ExpectTarget, Format, Line, Measure, Mixing, Rep, Run, RunRecord, Tier, Trained,
    TrainedAccelerator, TrainedStep, Training, Usage, counter,
};

use crate::golden;

const PAYLOAD_BYTES: u64 = 130_000;
const PACKED_BYTES: u64 = 131_300;
const SAMPLES: u64 = 200_000;
const WINDOW_NS: u64 = 30_000_000_000;
const REPETITIONS: u32 = 3;
/// Spread of repetitions about their mean.
const JITTER: [f64; 3] = [0.99, 1.01, 1.0];
const CHECKPOINT_BYTES: u64 = 16_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

pub(super) const SCENARIO: &str = r#"version = 1
title = "What do shards, a cache and checkpoints do?"
need = { workload = "resnet50", accelerator = "h100", count = 8, hosts = 1 }
dataset = { samples = 200000, sample_size = "130 kB", layout = ["files", "webdataset"] }
targets.bucket = { at = "s3://bench", engine = "lean" }
targets.nvme = { at = "/mnt/nvme/bench" }
targets.vault = { at = "/mnt/vault/bench" }
"#;

pub(super) fn record() -> RunRecord {
    let mut book = Book::default();
    for (depth, files, shards) in [(8, 230.0, 2_760.0), (32, 920.0, 8_100.0), (128, 3_600.0, 9_100.0)] {
        book.read("bucket/files", ("bucket", 0), depth, files, |_| {});
        book.read("bucket/webdataset", ("bucket", 1), depth, shards, streamed);
    }
    book.through_a_tier();
    book.read("nvme/webdataset", ("nvme", 2), 128, 31_000.0, streamed);
    book.copy();
    book.checkpoints();
    book.job("bucket/train", None, 0.92);
    book.job("bucket/train-checkpoints", Some(&plan("async", Some(100))), 0.83);
    book.lines.push(Line::End(testing::end(1_900_000_000_000)));
    RunRecord {
        run: run(book.cells),
        env: golden::environment(),
        lines: book.lines,
        segments: Vec::new(),
        loss: None,
    }
}

/// 16 shards side by side, each with a buffer.
fn streamed(cell: &mut Cell) {
    cell.access = "shuffled_shards".into();
    cell.streams = Some(16);
    cell.shuffle_buffer = Some(1_000);
    cell.mixing =
        Some(Mixing { buffer_samples: 16_000, displacement: 0.62, neighbours_kept: 0.021, imbalance: 0.015 });
}

fn plan(mode: &str, every_steps: Option<u64>) -> CheckpointPlan {
    CheckpointPlan {
        label: "llama3-8b, 1/8 of it".to_owned(),
        bytes: CHECKPOINT_BYTES,
        files: 4,
        mode: mode.to_owned(),
        every_steps,
        copy_ns: if mode == "async" { SECOND_NS } else { 0 },
        durable: true,
        keep: 2,
        price_per_hour: Some(2.5),
    }
}

#[derive(Default)]
struct Book {
    cells: Vec<Cell>,
    lines: Vec<Line>,
}

impl Book {
    fn cell(
        &mut self,
        name: &str,
        (target, dataset): (&str, usize),
        depth: u32,
        edit: impl Fn(&mut Cell),
    ) -> String {
        let mut cell = Cell {
            dataset,
            engine: if target == "bucket" { "lean" } else { "io_uring" }.to_owned(),
            connections: if target == "bucket" { depth } else { 0 },
            block_bytes: if dataset == 0 { 131_072 } else { 4_194_304 },
            cache: "cold".into(),
            operation: if dataset == 0 { "read_file" } else { "read" }.into(),
            axes: vec![axis("sample_size", &PAYLOAD_BYTES.to_string(), "B")],
            ..testing::cell(&format!("{name}/qd{depth}"), target, depth)
        };
        edit(&mut cell);
        self.cells.push(cell);
        format!("{name}/qd{depth}")
    }

    /// A cell that reads so many samples per second.
    fn read(&mut self, name: &str, at: (&str, usize), depth: u32, per_s: f64, edit: impl Fn(&mut Cell)) {
        let slug = self.cell(name, at, depth, edit);
        let (sample_bytes, op_bytes) =
            if at.1 == 0 { (PAYLOAD_BYTES, PAYLOAD_BYTES) } else { (PACKED_BYTES, 4_194_304) };
        for number in 0..REPETITIONS {
            let bytes = per_s * JITTER[number as usize] * sample_bytes as f64 * WINDOW_NS as f64 / 1e9;
            self.rep(&slug, number, bytes as u64 / op_bytes, op_bytes, |_| {});
        }
    }

    fn rep(&mut self, cell: &str, number: u32, ops: u64, op_bytes: u64, edit: impl Fn(&mut Rep)) {
        let order = self.lines.len() as u32;
        let (seconds, bytes) = (WINDOW_NS / SECOND_NS, ops * op_bytes);
        let rep = testing::rep(cell, number, WINDOW_NS);
        let mut rep = Rep {
            order,
            window_start_ns: u64::from(order) * (WINDOW_NS + SECOND_NS),
            second_ops: vec![ops / seconds; seconds as usize],
            second_bytes: vec![bytes / seconds; seconds as usize],
            counters: testing::counts([(counter::OPS, ops), (counter::BYTES, bytes), (counter::VERIFIED, 8)]),
            histograms: [("service_ns".to_owned(), golden::spread(ops, 30_000_000))].into(),
            usage: Usage { cpu_user_ns: SECOND_NS, cores: 16, ..rep.usage },
            cache: CacheProof {
                names_dropped: Some(true),
                ..testing::nothing_resident("cachestat", SAMPLES * PACKED_BYTES)
            },
            ..rep
        };
        edit(&mut rep);
        self.lines.push(Line::Rep(Box::new(rep)));
    }

    /// Four epochs and the beginning of a fifth through a cache of half of the data.
    fn through_a_tier(&mut self) {
        let slug = self.cell("bucket/tier", ("bucket", 1), 128, |cell| {
            streamed(cell);
            cell.tier = Some(Tier {
                at: "/mnt/nvme/cache".to_owned(),
                capacity_bytes: SAMPLES * PACKED_BYTES / 2,
                policy: "lru".to_owned(),
            });
        });
        for number in 0..REPETITIONS {
            let scale = JITTER[number as usize];
            let ops = (9_000.0 * scale * PACKED_BYTES as f64 * 30.0 / 4_194_304.0) as u64;
            self.rep(&slug, number, ops, 4_194_304, |rep| rep.epochs = epochs(scale));
        }
    }

    fn copy(&mut self) {
        let slug = self.cell("bucket/copy", ("bucket", 1), 64, |cell| {
            cell.operation = "copy".into();
            cell.access = "sequential".into();
            cell.copy = Some(CopyPlan { to: "nvme".to_owned(), layout: None });
        });
        for number in 0..REPETITIONS {
            let ops = (2e9 * JITTER[number as usize] * 30.0 / 4_194_304.0) as u64;
            self.rep(&slug, number, ops, 4_194_304, |_| {});
        }
    }

    fn checkpoints(&mut self) {
        let slug = self.cell("vault/checkpoint", ("vault", 3), 4, |cell| {
            (cell.operation, cell.checkpoint) = ("checkpoint".into(), Some(plan("sync", None)));
        });
        for number in 0..REPETITIONS {
            let scale = 1.0 / JITTER[number as usize];
            self.rep(&slug, number, 3 * CHECKPOINT_BYTES / 4_194_304, 4_194_304, |rep| {
                let one = |step: u64| written(step, step * 9 * SECOND_NS, scale, CheckpointOutcome::Complete);
                rep.checkpoints = (0..3).map(one).collect();
            });
        }
        let slug = self.cell("vault/restore", ("vault", 3), 4, |cell| {
            (cell.operation, cell.checkpoint) = ("restore".into(), Some(plan("sync", None)));
        });
        for number in 0..REPETITIONS {
            let ops = (4e9 * JITTER[number as usize] * 30.0 / 4_194_304.0) as u64;
            self.rep(&slug, number, ops, 4_194_304, |_| {});
        }
    }

    /// A job, and one that makes a checkpoint every ten seconds: the second is due while the first is written.
    fn job(&mut self, name: &str, checkpoint: Option<&CheckpointPlan>, au: f64) {
        let slug = self.cell(name, ("bucket", 1), 128, |cell| {
            streamed(cell);
            cell.training = Some(training());
            cell.checkpoint = checkpoint.cloned();
            if checkpoint.is_some() {
                cell.axes.push(axis("checkpoint.mode", "async", ""));
            }
        });
        for number in 0..REPETITIONS {
            let au = au * JITTER[number as usize];
            let ops = (14_286.0 * au * PACKED_BYTES as f64 * 30.0 / 4_194_304.0) as u64;
            self.rep(&slug, number, ops, 4_194_304, |rep| {
                rep.trained = Some(trained(au));
                if checkpoint.is_some() {
                    beside(rep);
                }
            });
        }
    }
}

/// A checkpoint of 8 s, the last of them until it is durable.
fn written(step: u64, due_ns: u64, scale: f64, outcome: CheckpointOutcome) -> Checkpoint {
    let ns = |seconds: f64| (seconds * scale * 1e9) as u64;
    Checkpoint {
        step,
        due_ns,
        begun_ns: due_ns,
        stall_ns: ns(8.0),
        write_ns: ns(7.0),
        publish_ns: ns(1.0),
        bytes: CHECKPOINT_BYTES,
        outcome,
    }
}

/// Checkpoints beside reads, which move less meanwhile.
fn beside(rep: &mut Rep) {
    let one = |step: u64| {
        let due_ns = step * 10 * SECOND_NS - 9 * SECOND_NS;
        let outcome = CheckpointOutcome::Complete;
        Checkpoint {
            begun_ns: due_ns + SECOND_NS,
            stall_ns: SECOND_NS,
            ..written(step, due_ns, 0.75, outcome)
        }
    };
    rep.checkpoints = (1..=3).map(one).collect();
    let due_ns = 26 * SECOND_NS;
    let overrun = Checkpoint {
        stall_ns: 0,
        write_ns: 0,
        publish_ns: 0,
        bytes: 0,
        ..written(4, due_ns, 1.0, CheckpointOutcome::Overrun)
    };
    rep.checkpoints.push(overrun);
    for (second, bytes) in rep.second_bytes.iter_mut().enumerate() {
        let since = (second as u64 + 9) % 10;
        if (1..=6).contains(&since) {
            *bytes = *bytes * 11 / 20;
        }
    }
}

fn training() -> Training {
    Training { readers: Some(16), prefetch: 4, ..testing::training(8, 400, 224_000_000) }
}

fn trained(au: f64) -> Trained {
    let steps = 100;
    let compute_ns = steps * 224_000_000;
    let wall_ns = (compute_ns as f64 / au) as u64;
    let wait_ns = wall_ns - compute_ns;
    let one = TrainedAccelerator {
        steps,
        wall_ns,
        compute_ns,
        wait_ns,
        first_batch_ns: 400_000_000,
        late: 40,
        storage_ns: wait_ns,
        measured_compute_ns: compute_ns,
        measured_wall_ns: wall_ns,
        ..TrainedAccelerator::default()
    };
    Trained {
        accelerators: vec![one; 8],
        occupancy: vec![320, 480],
        timeline: vec![TrainedStep { ready_ns: 400_000_000, start_ns: 400_000_000, end_ns: 624_000_000 }],
        ..Trained::default()
    }
}

/// Passes of 200,000 samples, of which the tier serves more from the second on.
fn epochs(scale: f64) -> Vec<Epoch> {
    let bytes = SAMPLES * PACKED_BYTES;
    let mut begun_ns = 0;
    let epoch = |epoch: u64| {
        let (seconds, hits) = if epoch == 0 { (7.6, 0.0) } else { (6.6, 0.155 + 0.005 * epoch as f64) };
        let complete = epoch < 4;
        let part = if complete { 1.0 } else { 0.2 };
        let ended_ns = begun_ns + (seconds * part / scale * 1e9) as u64;
        let read = (bytes as f64 * part) as u64;
        let tier = (read as f64 * hits * scale) as u64;
        let one = Epoch {
            epoch,
            begun_ns,
            first_ns: begun_ns + 42_000_000,
            first_batch_ns: None,
            ended_ns,
            ops: read / 4_194_304,
            bytes: read,
            storage_bytes: Some(read - tier),
            tier_bytes: Some(tier),
            complete,
        };
        begun_ns = ended_ns + 60_000_000;
        one
    };
    (0..5).map(epoch).collect()
}

fn axis(name: &str, value: &str, unit: &str) -> record::AxisWords {
    record::AxisWords { name: name.to_owned(), value: value.to_owned(), unit: unit.to_owned() }
}

fn dataset(target: &str, layout: &str) -> Dataset {
    if layout == "files" {
        return testing::dataset(target, SAMPLES, PAYLOAD_BYTES);
    }
    Dataset {
        files: 100,
        layout: layout.to_owned(),
        samples: Some(SAMPLES),
        packing: vec![testing::fact("shard_size", "262 MB"), testing::fact("codec", "none")],
        ..testing::dataset(target, SAMPLES, PACKED_BYTES)
    }
}

fn run(cells: Vec<Cell>) -> Run {
    Run {
        format: Format { major: 1, minor: 5 },
        run_id: "20261122T101523Z-stored-3f9a".to_owned(),
        started: "2026-11-22T10:15:23Z".to_owned(),
        title: Some("What do shards, a cache and checkpoints do?".to_owned()),
        need: testing::need(14_285.714_285_714, PAYLOAD_BYTES as f64),
        datasets: vec![
            dataset("bucket", "files"),
            dataset("bucket", "webdataset"),
            dataset("nvme", "webdataset"),
            dataset("vault", "files"),
        ],
        targets: vec![
            golden::target("bucket", "object store", true, "s3"),
            golden::target("nvme", "local NVMe", true, "ext4"),
            golden::target("vault", "vault", true, "xfs"),
        ],
        cells,
        measure: Measure { duration_ns: Some(WINDOW_NS), ..testing::measure(REPETITIONS) },
        expect: Some(expect()),
        ..testing::run("stored")
    }
}

fn expect() -> Expect {
    Expect {
        claim: Some(Claim {
            words: "30 ms to the first byte, 90 MB/s for each connection".to_owned(),
            source: None,
            figures: ExpectFigures {
                first_byte_s: Some(0.030),
                connection_bps: Some(90e6),
                ..ExpectFigures::default()
            },
        }),
        targets: vec![ExpectTarget {
            target: "bucket".to_owned(),
            prefixes: 1,
            one_at_a_time: true,
            lookups_per_file: 0,
            in_parts: false,
            emulated: None,
        }],
    }
}
