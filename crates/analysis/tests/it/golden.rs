//! One invented record with every kind of ending, on disk as a run writes it; `FEEDLINE_BLESS=1` writes it anew.

use std::path::{Path, PathBuf};

use analysis::Summary;
use feed::Judgement;
use record::testing;
use record::{
    CacheProof, Captured, Ceiling, Cell, End, Environment, Format, Gate, Line, Measure, NotRun, Outcome, Rep,
    Role, Run, RunRecord, Skipped, Target, Usage, counter,
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

/// The cell that a verdict on each storage target would name.
pub(crate) fn named(record: &RunRecord) -> Vec<String> {
    let summary = analysis::summarise(record);
    let storage = summary.targets.iter().filter(|target| target.storage);
    let named = storage.filter_map(|target| analysis::choose_cell(&summary, &target.name));
    named.map(|cell| cell.cell.cell.clone()).collect()
}

/// Every verdict of a record with the target and the depth that it is about.
pub(crate) fn judged(summary: &Summary) -> Vec<(Judgement, &str, u32)> {
    let verdicts = summary.verdicts.iter();
    verdicts
        .map(|one| {
            (
                one.judgement(),
                one.target.as_str(),
                one.of_reads().and_then(|reads| reads.queue_depth).unwrap_or(0),
            )
        })
        .collect()
}

#[test]
fn the_record_on_disk_is_the_one_built_here() {
    crate::on_disk::assert_on_disk(&dir(), &build(), SCENARIO);
}

const SCENARIO: &str = r#"version = 1
title = "Which store for the cluster?"
need = { workload = "resnet50", accelerator = "h100", count = 8, hosts = 1 }
dataset = { samples = 200000 }
load = { queue_depth = "auto", access = "shuffled_epoch", cache = "bypass" }
targets.nvme = { at = "/mnt/nvme/bench", engine = ["io_uring", "pread"] }
targets.filer = { at = "/mnt/filer/bench", engine = ["io_uring", "pread"] }
targets.array = { at = "/mnt/array/bench", engine = ["io_uring", "pread"], on_unavailable = "skip" }
targets.tree = { at = "/mnt/tree/bench", engine = ["io_uring", "pread"] }
targets.stream = { at = "/mnt/stream/bench" }
targets.null = { at = "null:" }
measure = { duration = "2s", repetitions = 5 }
gate = { feeds = ["nvme"], p99 = "20ms" }
"#;

fn build() -> RunRecord {
    let mut book = Book::default();
    nvme(&mut book);
    filer(&mut book);
    array(&mut book);
    tree(&mut book);
    stream(&mut book);
    book.curve("null", "null", &[(128, 31.0)], 0.2);
    let mut lines = vec![ceiling(&book.cells)];
    lines.extend(book.lines.into_iter().map(|line| match line {
        Line::Rep(rep) => Line::Rep(Box::new(with_system(*rep))),
        other => other,
    }));
    lines.push(Line::End(End { not_run: book.not_run, ..testing::end(1_310_000_000_000) }));
    RunRecord { run: run(book.cells), env: environment(), lines, segments: Vec::new(), loss: None }
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

/// FEEDS by whole files, whose names could not be dropped; and names looked up by themselves.
fn tree(book: &mut Book) {
    book.curve("tree", "io_uring", &[(32, 1.90)], 1.5);
    book.confirm("tree/io_uring/qd32", 1.92, &JITTER);
    book.edit(
        "tree/io_uring/qd32",
        |cell| file_cell(cell, "read_file"),
        |rep| {
            rep.cache.names_dropped = Some(false);
            // A ring checks the size while it reads.
            for (name, ns) in [("open_ns", 45_000), ("read_ns", 1_700_000), ("close_ns", 1_500)] {
                rep.histograms.insert(name.to_owned(), spread(rep.counters[counter::OPS], ns));
            }
        },
    );
    book.curve("tree", "pread", &[(16, 9.20)], 1.2);
    book.edit(
        "tree/pread/qd16",
        |cell| file_cell(cell, "stat"),
        |rep| {
            rep.cache.names_dropped = Some(false);
            rep.counters.remove(counter::BYTES);
        },
    );
}

fn file_cell(cell: &mut Cell, operation: &str) {
    (cell.operation, cell.cache) = (operation.into(), "cold".into());
}

/// STARVES at the pace of the line: one arrival in fifty is not served.
fn stream(book: &mut Book) {
    book.curve("stream", "io_uring", &[(64, LINE_GBPS)], 0.8);
    book.confirm("stream/io_uring/qd64", LINE_GBPS, &[1.0; 5]);
    let pace = |cell: &mut Cell| {
        cell.pace = Some(record::Pace {
            rate_bps: None,
            of_line: Some(1.0),
            arrivals: "poisson".to_owned(),
            batch_samples: None,
            spin_ns: 0,
        });
    };
    book.edit("stream/io_uring/qd64", pace, |rep| {
        let arrivals = (LINE_GBPS * WINDOW_NS as f64 / SAMPLE_BYTES as f64) as u64;
        let served = arrivals - arrivals / 50;
        let counters = [
            (counter::OPS, served),
            (counter::BYTES, served * SAMPLE_BYTES),
            (counter::ARRIVALS, arrivals),
            (counter::SERVED, served),
            (counter::NOT_ISSUED, arrivals - served),
            (counter::OFFERED_BPS, (LINE_GBPS * 1e9) as u64),
        ];
        rep.counters.extend(counters.map(|(name, value)| (name.to_owned(), value)));
        for (name, ns) in [("service_ns", 2_600_000), ("response_ns", 3_900_000), ("lag_ns", 58_000)] {
            rep.histograms.insert(name.to_owned(), spread(served, ns));
        }
    });
}

/// What the kernel counted while the local disks were read: whole pages, some merging, and once a neighbour.
fn with_system(mut rep: Rep) -> Rep {
    let device = match rep.cell.split('/').next() {
        Some("nvme") => "nvme0n1",
        Some("tree" | "stream") => "vdb",
        _ => return rep,
    };
    let (ops, asked) = (rep.counters[counter::OPS], rep.counters.get(counter::BYTES).copied().unwrap_or(0));
    // 114,660 bytes lie on 28 pages of 4 KiB; looking a name up reads one block of inodes in sixteen times.
    let read_bytes = if asked > 0 { ops * 28 * 4_096 } else { ops / 16 * 4_096 };
    let neighbour = if rep.cell == "nvme/pread/qd128" { read_bytes / 4 } else { 0 };
    let requests = if asked > 0 { ops } else { ops / 16 };
    let await_ns = 250_000 + 1_000 * u64::from(rep.order % 7);
    rep.system = record::System {
        process_read_bytes: Some(read_bytes),
        device: Some(record::Device {
            name: device.to_owned(),
            reads: requests,
            reads_merged: requests / 200,
            read_bytes: read_bytes + neighbour,
            read_ns: requests * await_ns,
            busy_ns: WINDOW_NS - WINDOW_NS / 50,
            weighted_ns: requests * await_ns,
            wall_ns: WINDOW_NS,
            ..record::Device::default()
        }),
        core_busy_ns: vec![WINDOW_NS / 4, WINDOW_NS / 10, WINDOW_NS / 2, WINDOW_NS / 20],
        ..record::System::default()
    };
    rep.usage.psi_cpu_some_ns = Some(WINDOW_NS / 30);
    rep.usage.psi_memory_some_ns = Some(0);
    rep
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
            engine: engine.to_owned(),
            threads: if engine == "pread" { queue_depth } else { 4 },
            ..testing::cell(&name, target, queue_depth)
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

    /// Changes a cell and its repetitions.
    fn edit(&mut self, name: &str, cell: impl Fn(&mut Cell), rep: impl Fn(&mut Rep)) {
        self.cells.iter_mut().filter(|one| one.cell == name).for_each(cell);
        for line in &mut self.lines {
            if let Line::Rep(one) = line
                && one.cell == name
            {
                rep(one);
            }
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
        let cache = CacheProof {
            before_bytes: resident_bytes,
            after_bytes: resident_bytes,
            ..testing::nothing_resident(
                if resident_bytes.is_some() { "mincore" } else { "none" },
                200_000 * SAMPLE_BYTES,
            )
        };
        let rep = testing::rep(cell, number, WINDOW_NS);
        Rep {
            role,
            order,
            window_start_ns: u64::from(order) * 2_600_000_000,
            counters: testing::counts(counters),
            histograms: [("service_ns".to_owned(), service(ops, depth))].into(),
            usage: Usage {
                cpu_user_ns: 100_000_000,
                cpu_system_ns: 900_000_000,
                cores: 16,
                steal_ns: Some(0),
                ..rep.usage
            },
            cache,
            ..rep
        }
    }
}

/// The line of the need, gigabytes per second.
const LINE_GBPS: f64 = 14_285.714_285_714 * 0.9 * SAMPLE_BYTES as f64 / 1e9;

/// Shares of reads, and their latency by the mean.
const SHARES: [(f64, f64); 4] = [(0.9, 0.9), (0.089, 1.7), (0.0105, 3.2), (0.0005, 9.0)];

/// Latencies that agree with Little's law in the mean.
fn service(ops: u64, depth: u32) -> record::HistogramText {
    spread(ops, (f64::from(depth) * WINDOW_NS as f64 / ops.max(1) as f64) as u64)
}

/// Latencies about a mean: nine in ten at 0.9 of it, the rest slower.
pub(crate) fn spread(ops: u64, mean_ns: u64) -> record::HistogramText {
    let mut histogram = record::new_histogram();
    let mean_ns = mean_ns as f64;
    let shares = if ops == 0 { &[][..] } else { &SHARES[..] };
    for (share, by_mean) in shares {
        histogram.record_n((mean_ns * by_mean) as u64, (ops as f64 * share) as u64).expect("below 60 s");
    }
    record::encode(&histogram)
}

/// The client moves 31.5 GB/s without storage.
fn ceiling(cells: &[Cell]) -> Line {
    let ops = (31.5e9 / SAMPLE_BYTES as f64) as u64;
    let cells = cells.iter().map(|cell| cell.cell.clone()).collect();
    Line::Ceiling(Ceiling { cpu_ns: 400_000_000, ..testing::ceiling(cells, ops, ops * SAMPLE_BYTES) })
}

pub(crate) fn target(name: &str, title: &str, storage: bool, file_system: &str) -> Target {
    let like = testing::target(name);
    Target {
        title: title.to_owned(),
        at: if storage { like.at } else { "null:".to_owned() },
        storage,
        facts: vec![testing::fact("file_system", file_system)],
        ..like
    }
}

fn on_virtual_disk(mut target: Target) -> Target {
    let facts = [("device", "vdb"), ("device_model", "QEMU HARDDISK")];
    target.facts.extend(facts.map(|(name, value)| testing::fact(name, value)));
    target
}

fn run(cells: Vec<Cell>) -> Run {
    Run {
        format: Format { major: 1, minor: 1 },
        title: Some("Which store for the cluster?".to_owned()),
        need: testing::need(14_285.714_285_714, SAMPLE_BYTES as f64),
        datasets: vec![testing::dataset("nvme", 200_000, SAMPLE_BYTES)],
        targets: vec![
            target("nvme", "local NVMe", true, "ext4"),
            target("filer", "filer", true, "nfs4"),
            target("array", "array", true, "xfs"),
            on_virtual_disk(target("tree", "tree of files", true, "ext4")),
            on_virtual_disk(target("stream", "stream", true, "ext4")),
            target("null", "null", false, "none"),
        ],
        cells,
        skipped: vec![Skipped {
            target: "array".to_owned(),
            engine: "pread".to_owned(),
            reason: "128 threads exceed the limit of 64 processes; raise `ulimit -u`".to_owned(),
        }],
        measure: Measure { warmup_ns: 500_000_000, ..testing::measure(REPETITIONS) },
        gate: Gate { feeds: vec!["nvme".to_owned()], p99_ns: Some(20_000_000), ..Gate::default() },
        ..testing::run("three-stores")
    }
}

pub(crate) fn environment() -> Environment {
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
