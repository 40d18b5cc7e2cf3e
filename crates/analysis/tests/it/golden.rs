//! One record with every kind of ending, kept on disk in the form in which a run writes it.
//!
//! The figures are invented. Set `FEEDLINE_BLESS=1` to write the fixture anew after a change here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use record::{
    CacheProof, Captured, Ceiling, Cell, Dataset, End, Environment, Fact, Format, Gate, Line, Measure, Need,
    NotRun, Outcome, Rep, Role, Run, RunRecord, Skipped, Target, Tool, Usage, counter,
};

const SAMPLE_BYTES: u64 = 114_660;
const WINDOW_NS: u64 = 2_000_000_000;
const REPETITIONS: u32 = 5;
/// Spread of repetitions about their mean.
const JITTER: [f64; 5] = [0.955, 1.030, 1.000, 0.985, 1.030];
/// Wider still, so that an interval about the line straddles it.
const WIDE: [f64; 5] = [0.93, 1.08, 1.00, 0.96, 1.03];

pub(crate) fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden")
}

pub(crate) fn read() -> RunRecord {
    record::read_run(&dir()).expect("the golden record is readable")
}

#[test]
fn the_record_on_disk_is_the_one_built_here() {
    let built = build();
    if std::env::var_os("FEEDLINE_BLESS").is_some() {
        let _ = std::fs::remove_dir_all(dir());
        let redactor = record::Redactor::new(Vec::new());
        let mut writer =
            record::RunWriter::create(&dir(), &built.run, SCENARIO, &built.env, redactor).unwrap();
        for line in &built.lines {
            writer.append(line).unwrap();
        }
    }
    assert_eq!(read(), built);
}

const SCENARIO: &str = r#"version = 1
title = "Which store for the cluster?"
need = { workload = "resnet50", accelerator = "h100", count = 8, hosts = 1 }
dataset = { samples = 200000 }
load = { queue_depth = "auto", access = "shuffled_epoch", cache = "bypass" }
targets.nvme = { at = "/mnt/nvme/bench", engine = ["io_uring", "pread"] }
targets.filer = { at = "/mnt/filer/bench", engine = ["io_uring", "pread"] }
targets.array = { at = "/mnt/array/bench", engine = ["io_uring", "pread"], on_unavailable = "skip" }
targets.null = { at = "null:" }
measure = { duration = "2s", repetitions = 5 }
gate = { feeds = ["nvme"], p99 = "20ms" }
"#;

fn build() -> RunRecord {
    let mut book = Book::default();
    nvme(&mut book);
    filer(&mut book);
    array(&mut book);
    book.curve("null", "null", &[(128, 31.0)], 0.2);
    let mut lines = vec![ceiling(&book.cells)];
    lines.extend(book.lines);
    lines.push(Line::End(End {
        interrupted: false,
        elapsed_ns: 1_310_000_000_000,
        not_run: book.not_run,
        changed: Vec::new(),
    }));
    RunRecord { run: run(book.cells), env: environment(), lines, loss: None }
}

/// FEEDS through io_uring; pread runs out of processor.
fn nvme(book: &mut Book) {
    book.curve("nvme", "io_uring", &[(8, 1.28), (32, 4.10), (128, 6.32)], 1.0);
    book.not_run("nvme", "io_uring", 512, "auto: the line is cleared at a shallower depth");
    book.curve("nvme", "pread", &[(8, 1.17), (32, 2.35)], 4.0);
    book.curve("nvme", "pread", &[(128, 2.52)], 15.5);
    book.confirm("nvme/io_uring/qd32", 4.08, &JITTER);
}

/// STARVES, flat from 32; one cell fails.
fn filer(book: &mut Book) {
    book.curve("filer", "io_uring", &[(8, 0.71), (32, 1.19), (128, 1.21), (512, 1.20)], 0.5);
    book.curve("filer", "pread", &[(8, 0.62), (32, 1.10)], 0.7);
    book.fails(
        "filer",
        "pread",
        128,
        "cannot open 128 files: the limit of open files is 64; raise `ulimit -n`",
    );
    book.confirm("filer/io_uring/qd128", 1.20, &JITTER);
}

/// UNCERTAIN: the interval straddles the line. Some reads fail.
fn array(book: &mut Book) {
    book.curve("array", "io_uring", &[(8, 0.34), (32, 0.92), (128, 1.46)], 0.6);
    book.errors("array/io_uring/qd128", 120);
    book.confirm("array/io_uring/qd128", 1.48, &WIDE);
}

#[derive(Default)]
struct Book {
    cells: Vec<Cell>,
    lines: Vec<Line>,
    not_run: Vec<NotRun>,
}

impl Book {
    fn cell(&mut self, target: &str, engine: &str, queue_depth: u32) -> String {
        let name = format!("{target}/{engine}/qd{queue_depth}");
        self.cells.push(Cell {
            cell: name.clone(),
            target: target.to_owned(),
            dataset: 0,
            engine: engine.to_owned(),
            stands_in_for: None,
            queue_depth,
            threads: if engine == "pread" { queue_depth } else { 4 },
            block_bytes: 131_072,
            access: "shuffled_epoch".to_owned(),
            cache: "bypass".to_owned(),
            operation: "read".to_owned(),
            pace: None,
            submit_batch: None,
            auto_group: None,
            axes: Vec::new(),
        });
        name
    }

    /// Cells at these depths and gigabytes per second; `cpu_s` of processor time per second.
    fn curve(&mut self, target: &str, engine: &str, points: &[(u32, f64)], cpu_s: f64) {
        for (depth, gbps) in points {
            let name = self.cell(target, engine, *depth);
            for number in 0..REPETITIONS {
                let mut rep = self.rep(&name, Role::Measure, number, gbps * JITTER[number as usize], *depth);
                rep.usage.cpu_system_ns = (cpu_s * WINDOW_NS as f64) as u64;
                self.lines.push(Line::Rep(Box::new(rep)));
            }
        }
    }

    fn confirm(&mut self, name: &str, gbps: f64, spread: &[f64; 5]) {
        let depth =
            self.cells.iter().find(|cell| cell.cell == name).expect("a cell of this book").queue_depth;
        for number in 0..REPETITIONS {
            let rep = self.rep(name, Role::Confirm, number, gbps * spread[number as usize], depth);
            self.lines.push(Line::Rep(Box::new(rep)));
        }
    }

    fn not_run(&mut self, target: &str, engine: &str, depth: u32, reason: &str) {
        let cell = self.cell(target, engine, depth);
        self.not_run.push(NotRun { cell, repetitions: REPETITIONS, reason: reason.to_owned() });
    }

    fn fails(&mut self, target: &str, engine: &str, depth: u32, reason: &str) {
        let name = self.cell(target, engine, depth);
        for number in 0..REPETITIONS {
            let mut rep = self.rep(&name, Role::Measure, number, 0.0, depth);
            rep.outcome = Outcome::Failed { reason: reason.to_owned() };
            rep.window_ns = 0;
            rep.histograms.clear();
            self.lines.push(Line::Rep(Box::new(rep)));
        }
    }

    fn errors(&mut self, name: &str, count: u64) {
        for line in &mut self.lines {
            if let Line::Rep(rep) = line
                && rep.cell == name
            {
                rep.errors.insert("timeout".to_owned(), count / 2);
                rep.errors.insert("io".to_owned(), count / 2);
            }
        }
    }

    fn rep(&self, cell: &str, role: Role, number: u32, gbps: f64, depth: u32) -> Rep {
        let order = self.lines.len() as u32;
        let ops = (gbps * 1e9 * WINDOW_NS as f64 / 1e9 / SAMPLE_BYTES as f64).round() as u64;
        let counters = [
            (counter::OPS, ops),
            (counter::BYTES, ops * SAMPLE_BYTES),
            (counter::STARTED, ops),
            (counter::WARMUP_OPS, ops / 4),
            (counter::VERIFIED, 8),
        ];
        // The residency of the filer's files is not known.
        let resident_bytes = (!cell.starts_with("filer")).then_some(0);
        Rep {
            cell: cell.to_owned(),
            role,
            rep: number,
            round: number,
            order,
            rank: 0,
            ranks: 1,
            variant: "base".to_owned(),
            outcome: Outcome::Complete,
            window_start_ns: u64::from(order) * 2_600_000_000,
            window_ns: WINDOW_NS,
            counters: counters.map(|(name, value)| (name.to_owned(), value)).into(),
            errors: BTreeMap::new(),
            histograms: BTreeMap::from([("service_ns".to_owned(), service(ops, depth))]),
            usage: Usage {
                cpu_user_ns: 100_000_000,
                cpu_system_ns: 900_000_000,
                wall_ns: WINDOW_NS,
                cores: 16,
                steal_ns: Some(0),
                ..Usage::default()
            },
            cache: CacheProof {
                method: if resident_bytes.is_some() { "mincore" } else { "none" }.to_owned(),
                total_bytes: 200_000 * SAMPLE_BYTES,
                before_bytes: resident_bytes,
                after_bytes: resident_bytes,
                names_dropped: None,
            },
            granted: BTreeMap::new(),
            system: record::System::default(),
        }
    }
}

/// Shares of reads, and their latency by the mean.
const SHARES: [(f64, f64); 4] = [(0.9, 0.9), (0.089, 1.7), (0.0105, 3.2), (0.0005, 9.0)];

/// Latencies that agree with Little's law in the mean: nine in ten at 0.9 of it, the rest slower.
fn service(ops: u64, depth: u32) -> record::HistogramText {
    let mut histogram = record::new_histogram();
    let mean_ns = f64::from(depth) * WINDOW_NS as f64 / ops.max(1) as f64;
    let shares = if ops == 0 { &[][..] } else { &SHARES[..] };
    for (share, by_mean) in shares {
        histogram.record_n((mean_ns * by_mean) as u64, (ops as f64 * share) as u64).expect("below 60 s");
    }
    record::encode(&histogram)
}

/// The client moves 31.5 GB/s without storage.
fn ceiling(cells: &[Cell]) -> Line {
    let ops = (31.5e9 / SAMPLE_BYTES as f64) as u64;
    Line::Ceiling(Ceiling {
        cells: cells.iter().map(|cell| cell.cell.clone()).collect(),
        copies: false,
        ops,
        bytes: ops * SAMPLE_BYTES,
        window_ns: 1_000_000_000,
        cpu_ns: 400_000_000,
    })
}

fn target(name: &str, title: &str, storage: bool, file_system: &str) -> Target {
    Target {
        name: name.to_owned(),
        title: title.to_owned(),
        about: None,
        at: if storage { format!("/mnt/{name}/bench") } else { "null:".to_owned() },
        storage,
        facts: vec![Fact { name: "file_system".to_owned(), value: file_system.to_owned() }],
    }
}

fn run(cells: Vec<Cell>) -> Run {
    Run {
        format: Format { major: 1, minor: 0 },
        run_id: "20261121T044123Z-three-stores-3f9a".to_owned(),
        started: "2026-11-21T04:41:23Z".to_owned(),
        tool: Tool {
            version: "0.1.0".to_owned(),
            commit: Some("7c1e09a".to_owned()),
            profile: "release".to_owned(),
        },
        command: ["feedline", "run", "scenarios/three-stores.toml"].map(str::to_owned).into(),
        scenario: "three-stores".to_owned(),
        title: Some("Which store for the cluster?".to_owned()),
        plan_hash: "7c1e09d4b6a3f0e25c1d9a7e8b4f6032".to_owned(),
        need: Need {
            label: "8 x h100 resnet50".to_owned(),
            samples_per_s: Some(14_285.714_285_714),
            sample_bytes: Some(SAMPLE_BYTES as f64),
            bytes_per_s: None,
            utilization: 0.9,
            accelerators: 8,
            hosts: 1,
            source: "MLPerf Storage 2.0, measured".to_owned(),
            caveats: Vec::new(),
        },
        datasets: vec![Dataset {
            source: "generate".to_owned(),
            target: "nvme".to_owned(),
            files: 200_000,
            bytes: 200_000 * SAMPLE_BYTES,
            sample_bytes: SAMPLE_BYTES as f64,
            fingerprint: "b1946ac92492d2347c6235b4d2611184".to_owned(),
        }],
        targets: vec![
            target("nvme", "local NVMe", true, "ext4"),
            target("filer", "filer", true, "nfs4"),
            target("array", "array", true, "xfs"),
            target("null", "null", false, "none"),
        ],
        cells,
        skipped: vec![Skipped {
            target: "array".to_owned(),
            engine: "pread".to_owned(),
            reason: "128 threads exceed the limit of 64 processes; raise `ulimit -u`".to_owned(),
        }],
        measure: Measure {
            warmup_ns: 500_000_000,
            duration_ns: Some(WINDOW_NS),
            repetitions: REPETITIONS,
            budget_ns: None,
            seed: 1,
        },
        gate: Gate { feeds: vec!["nvme".to_owned()], p99_ns: Some(20_000_000) },
        rank: 0,
        ranks: 1,
        redacted: true,
    }
}

fn environment() -> Environment {
    Environment {
        kernel: Captured::Value("6.12.4".to_owned()),
        architecture: Captured::Value("x86_64".to_owned()),
        cpu_model: Captured::Value("AMD EPYC 9354".to_owned()),
        cores_online: Captured::Value(32),
        cores_usable: Captured::Value(16),
        memory_bytes: Captured::Value(256 << 30),
        virtualization: Captured::Value("none".to_owned()),
        ..Environment::default()
    }
}
