//! One record of training jobs that were played, kept on disk in the form in which a run writes it.
//!
//! The figures are invented. Set `FEEDLINE_BLESS=1` to write the fixture anew after a change here.

use std::path::{Path, PathBuf};

use analysis::{Bound, DataLoader, MeasuredDecoding, Measurement, Note, summarise};
use feed::Judgement;
use record::testing;
use record::{
    CacheProof, Ceiling, Cell, Format, Gate, Line, Measure, Rep, Role, Run, RunRecord, Target, Tool, Trained,
    TrainedAccelerator, TrainedStep, Training, Usage, counter,
};

use crate::{golden, on_disk};

const SAMPLE_BYTES: u64 = 114_660;
const ACCELERATORS: u32 = 8;
const BATCH: u32 = 400;
const COMPUTE_NS: u64 = 224_000_000;
const STEPS: u64 = 100;
const REPETITIONS: u32 = 3;
/// Spread of repetitions about their mean.
const JITTER: [f64; 3] = [-0.002, 0.003, -0.001];

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/training")
}

fn read() -> RunRecord {
    record::read_run(&dir()).expect("the golden record is readable")
}

#[test]
fn the_record_on_disk_is_the_one_built_here() {
    on_disk::assert_on_disk(&dir(), &build(), SCENARIO);
}

#[test]
fn every_job_gets_the_verdict_that_its_figures_allow() {
    let summary = summarise(&read());
    let jobs: Vec<(Judgement, &str, Option<Bound>)> = summary
        .verdicts
        .iter()
        .map(|one| {
            let played = one.of_reads().and_then(|reads| reads.played.as_ref());
            let diagnosis = played.and_then(|played| played.diagnosis.as_ref());
            (one.judgement(), one.target.as_str(), diagnosis.map(|diagnosis| diagnosis.bound))
        })
        .collect();
    let expected = [
        (Judgement::Feeds, "nvme", Some(Bound::FirstFill)),
        (Judgement::Starves, "filer", Some(Bound::Latency)),
        (Judgement::Starves, "bucket", Some(Bound::Rate)),
        (Judgement::Uncertain, "images", Some(Bound::Decode)),
    ];
    assert_eq!(jobs, expected);
}

#[test]
fn the_jobs_that_the_record_confirmed_are_those_that_would_be_chosen() {
    let expected = ["nvme/8readers", "filer/8readers", "bucket/8readers", "images/8readers"];
    assert_eq!(golden::named(&read()), expected);
}

#[test]
fn each_job_says_what_it_was_bound_by_and_what_was_foretold() {
    let summary = summarise(&read());
    let found = |name: &str| {
        let training = summary.cell(name).unwrap().figures().unwrap().training.clone().unwrap();
        let predicted =
            training.predicted.map(|predicted| (predicted.from, (predicted.au * 1e3).round() / 1e3));
        (training.diagnosis.map(|diagnosis| diagnosis.bound), predicted)
    };
    let from = |target: &str| format!("{target}/qd64");
    // 8 readers have 1/64 of the closed loop each: 0.512 s for a batch, and 22.4 s of computing. 2.33 s, in 13 rounds, where
    // fewer of them read as much less (71.9 %); four times as many move 2.8 times as much, so that they may read more.
    assert_eq!(found("nvme/8readers"), (Some(Bound::FirstFill), Some((from("nvme"), 0.978))));
    assert_eq!(found("filer/8readers"), (Some(Bound::Latency), Some((from("filer"), 0.726))));
    assert_eq!(found("bucket/8readers"), (Some(Bound::Rate), None));
    assert_eq!(found("images/8readers"), (Some(Bound::Decode), None));
}

#[test]
fn a_job_of_half_the_accelerators_is_shown_and_not_judged() {
    let summary = summarise(&read());
    let half = summary.cell("nvme/4accelerators").unwrap();
    assert!(matches!(half.measured, Measurement::Figures(_)) && !summary.is_judged(half));
    let au = half.figures().unwrap().training.as_ref().unwrap().au.mean;
    assert!((half.figures().unwrap().samples_per_s.mean / (au * 4.0 * 400.0 / 0.224) - 1.0).abs() < 1e-9);
}

#[test]
fn what_a_data_loader_would_be_given_follows_from_the_judged_job() {
    let summary = summarise(&read());
    let loader = |name: &str| DataLoader::of(&summary, summary.cell(name).unwrap());
    let filer = loader("filer/8readers").unwrap();
    assert_eq!((filer.readers, filer.judgement), (8, Some(feed::Judgement::Starves)));
    assert_eq!(filer.decoding, MeasuredDecoding::No);
    assert_eq!(loader("filer/qd64"), None);
}

#[test]
fn a_cut_record_of_jobs_keeps_what_was_measured() {
    let mut record = read();
    record.lines.truncate(record.lines.len() / 2);
    let summary = summarise(&record);
    assert!(summary.notes.contains(&Note::Cut));
    assert_eq!(summary.cells.len(), record.run.cells.len());
}

const SCENARIO: &str = r#"version = 1
title = "Will it keep eight accelerators busy?"
need = { workload = "resnet50", accelerator = "h100", count = 8, hosts = 1 }
load = { mode = "training" }
training = { readers = 8, prefetch = 8, steps = 100 }
"#;

fn build() -> RunRecord {
    let mut book = Book::default();
    book.job("nvme", 0.961, |one| one.first_batch_ns = one.wait_ns * 4 / 5);
    book.closed("nvme", 64, 50_000.0);
    book.closed("nvme", 256, 140_000.0);
    book.half();
    book.job("filer", 0.713, |_| {});
    book.closed("filer", 64, 11_000.0);
    book.closed("filer", 256, 31_000.0);
    book.job("bucket", 0.620, |_| {});
    book.throttle("bucket/8readers");
    book.job("images", 0.700, |one| {
        one.decode_ns = one.wait_ns * 28 / 30;
        one.storage_ns = one.wait_ns - one.decode_ns;
    });
    let decoded = |cell: &mut Cell| {
        cell.training = Some(Training { decode: Some("zstd".to_owned()), ..job(ACCELERATORS) });
    };
    book.edit("images/8readers", decoded);
    let mut lines: Vec<Line> =
        book.cells.iter().filter(|cell| cell.training.is_some()).map(control).collect();
    lines.extend(book.lines);
    lines.push(Line::End(testing::end(1_100_000_000_000)));
    RunRecord { run: run(book.cells), env: golden::environment(), lines, segments: Vec::new(), loss: None }
}

#[derive(Default)]
struct Book {
    cells: Vec<Cell>,
    lines: Vec<Line>,
}

impl Book {
    /// A job at this utilization whose accelerators otherwise wait for the storage, measured and confirmed.
    fn job(&mut self, target: &str, au: f64, edit: fn(&mut TrainedAccelerator)) {
        let name = format!("{target}/8readers");
        self.cells.push(Cell { training: Some(job(ACCELERATORS)), ..cell(&name, target, 64) });
        for role in [Role::Measure, Role::Confirm] {
            self.play(&name, role, ACCELERATORS, au, edit);
        }
    }

    fn half(&mut self) {
        let name = "nvme/4accelerators";
        self.cells.push(Cell { training: Some(job(4)), ..cell(name, "nvme", 32) });
        self.play(name, Role::Measure, 4, 0.985, |_| {});
    }

    fn play(
        &mut self,
        name: &str,
        role: Role,
        accelerators: u32,
        au: f64,
        edit: fn(&mut TrainedAccelerator),
    ) {
        for (number, jitter) in (0..REPETITIONS).zip(JITTER) {
            let mut trained = trained(accelerators, au + jitter);
            trained.accelerators.iter_mut().for_each(edit);
            let wall_ns = trained.accelerators[0].wall_ns;
            let samples = STEPS * u64::from(accelerators) * u64::from(BATCH);
            let steps = STEPS * u64::from(accelerators);
            let mut rep = self.rep(name, role, number, samples, wall_ns);
            // 62 of 64 reads in flight where accelerators wait, in the mean.
            let latency_ns = (62.0 * wall_ns as f64 / samples as f64) as u64;
            let waited_ns = trained.accelerators[0].wait_ns / STEPS;
            for (name, count, ns) in [
                ("service_ns", samples, latency_ns),
                ("wait_ns", steps, waited_ns),
                ("fetch_ns", steps, latency_ns * u64::from(BATCH)),
                ("lag_ns", steps, 62_000),
            ] {
                rep.histograms.insert(name.to_owned(), golden::spread(count, ns));
            }
            rep.trained = Some(trained);
            self.lines.push(Line::Rep(Box::new(rep)));
        }
    }

    fn closed(&mut self, target: &str, depth: u32, samples_per_s: f64) {
        let name = format!("{target}/qd{depth}");
        self.cells.push(cell(&name, target, depth));
        for (number, jitter) in (0..REPETITIONS).zip(JITTER) {
            let reads = (samples_per_s * (1.0 + jitter) * 2.0) as u64;
            let mut rep = self.rep(&name, Role::Measure, number, reads, 2_000_000_000);
            let latency_ns = (f64::from(depth) * 2e9 / reads as f64) as u64;
            rep.histograms.insert("service_ns".to_owned(), golden::spread(reads, latency_ns));
            self.lines.push(Line::Rep(Box::new(rep)));
        }
    }

    fn edit(&mut self, name: &str, edit: fn(&mut Cell)) {
        self.cells.iter_mut().filter(|cell| cell.cell == name).for_each(edit);
    }

    /// Behind S3: 3 % of the attempts are refused.
    fn throttle(&mut self, name: &str) {
        self.edit(name, |cell| {
            (cell.connections, cell.retries) = (64, 10);
            (cell.engine, cell.cache) = ("lean".into(), "bypass".into());
        });
        for line in &mut self.lines {
            if let Line::Rep(rep) = line
                && rep.cell == name
            {
                let attempts = rep.counters[counter::OPS] * 100 / 97;
                rep.counters.insert(counter::ATTEMPTS.to_owned(), attempts);
                let refused = format!("{}throttled", counter::ATTEMPT_ERRORS);
                rep.counters.insert(refused, attempts - rep.counters[counter::OPS]);
                rep.cache.names_dropped = None;
            }
        }
    }

    fn rep(&self, cell: &str, role: Role, number: u32, reads: u64, window_ns: u64) -> Rep {
        let order = self.lines.len() as u32;
        let counters = [
            (counter::OPS, reads),
            (counter::BYTES, reads * SAMPLE_BYTES),
            (counter::STARTED, reads),
            (counter::VERIFIED, 8),
        ];
        let rep = testing::rep(cell, number, window_ns);
        Rep {
            role,
            order,
            window_start_ns: u64::from(order) * 40_000_000_000,
            counters: testing::counts(counters),
            usage: Usage {
                cpu_user_ns: window_ns / 20,
                cpu_system_ns: window_ns / 2,
                cores: 16,
                steal_ns: Some(0),
                ..rep.usage
            },
            cache: CacheProof {
                names_dropped: Some(true),
                ..testing::nothing_resident("cachestat", 1_300_000 * SAMPLE_BYTES)
            },
            ..rep
        }
    }
}

fn cell(name: &str, target: &str, queue_depth: u32) -> Cell {
    Cell {
        threads: 4,
        cache: "cold".into(),
        operation: "read_file".into(),
        ..testing::cell(name, target, queue_depth)
    }
}

fn job(accelerators: u32) -> Training {
    Training { price_per_hour: Some(3.0), ..testing::training(accelerators, BATCH, COMPUTE_NS) }
}

/// Accelerators that all wait for the storage for what is left of this utilization.
fn trained(accelerators: u32, au: f64) -> Trained {
    let compute_ns = STEPS * COMPUTE_NS;
    let wall_ns = (compute_ns as f64 / au).round() as u64;
    let wait_ns = wall_ns - compute_ns;
    let first_batch_ns = wait_ns / 10;
    let one = TrainedAccelerator {
        steps: STEPS,
        wall_ns,
        compute_ns,
        wait_ns,
        first_batch_ns,
        late: if au > 0.9 { 3 } else { STEPS - 1 },
        storage_ns: wait_ns,
        measured_compute_ns: compute_ns - COMPUTE_NS,
        measured_wall_ns: wall_ns - COMPUTE_NS - first_batch_ns,
        ..TrainedAccelerator::default()
    };
    let pause_ns = (wait_ns - first_batch_ns) / (STEPS - 1);
    let step = |index: u64| {
        let start_ns = first_batch_ns + index * (COMPUTE_NS + pause_ns);
        TrainedStep { ready_ns: start_ns, start_ns, end_ns: start_ns + COMPUTE_NS }
    };
    let steps = STEPS * u64::from(accelerators);
    Trained {
        accelerators: vec![one; accelerators as usize],
        occupancy: if au > 0.9 {
            vec![steps / 50, steps / 20, steps - steps / 50 - steps / 20]
        } else {
            vec![steps]
        },
        timeline: (0..12).map(step).collect(),
        ..Trained::default()
    }
}

/// The same job on the null target.
fn control(cell: &Cell) -> Line {
    let accelerators = cell.training.as_ref().map_or(0, |job| job.accelerators);
    let samples = STEPS * u64::from(accelerators) * u64::from(BATCH);
    let trained = trained(accelerators, 0.9998);
    Line::Ceiling(Ceiling {
        copies: true,
        window_ns: trained.accelerators[0].wall_ns,
        cpu_ns: 1_900_000_000,
        trained: Some(trained),
        ..testing::ceiling(vec![cell.cell.clone()], samples, samples * SAMPLE_BYTES)
    })
}

fn run(cells: Vec<Cell>) -> Run {
    let target = |name: &str, title: &str, kind: &str| -> Target { golden::target(name, title, true, kind) };
    let like = testing::run("eight-busy");
    Run {
        format: Format { major: 1, minor: 3 },
        run_id: "20261122T044123Z-eight-busy-3f9a".to_owned(),
        started: "2026-11-22T04:41:23Z".to_owned(),
        tool: Tool { commit: None, ..like.tool },
        title: Some("Will it keep eight accelerators busy?".to_owned()),
        plan_hash: "5e1c09d4b6a3f0e25c1d9a7e8b4f6032".to_owned(),
        need: testing::need(f64::from(ACCELERATORS * BATCH) / 0.224, SAMPLE_BYTES as f64),
        datasets: vec![testing::dataset("nvme", 1_300_000, SAMPLE_BYTES)],
        targets: vec![
            target("nvme", "local NVMe", "ext4"),
            target("filer", "filer", "nfs4"),
            target("bucket", "bucket", "s3"),
            target("images", "images", "ext4"),
        ],
        cells,
        measure: Measure { duration_ns: None, steps: Some(STEPS), ..testing::measure(REPETITIONS) },
        gate: Gate { feeds: vec!["nvme".to_owned()], ..Gate::default() },
        ..like
    }
}
