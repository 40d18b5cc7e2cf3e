//! Small records built by hand, for tests.

use std::collections::BTreeMap;

use record::{
    CacheProof, Ceiling, Cell, Dataset, End, Environment, Format, Gate, Line, Measure, Need, Outcome, Rep,
    Role, Run, RunRecord, Target, Tool, Usage, counter,
};

mod training;

use crate::Figures;

pub(crate) use training::{DEMAND, cell_of_job, confirmed_job, job, job_rep, null_control, trained};

/// Bytes of a sample and of a read.
const SAMPLE_BYTES: u64 = 100_000;

pub(crate) fn need_in_samples(per_s: f64) -> Need {
    Need {
        label: "8 x h100 resnet50".to_owned(),
        samples_per_s: Some(per_s),
        sample_bytes: Some(SAMPLE_BYTES as f64),
        bytes_per_s: None,
        utilization: 0.9,
        accelerators: 8,
        hosts: 1,
        source: "MLPerf Storage 2.0, measured".to_owned(),
        ..Need::default()
    }
}

pub(crate) fn need_in_bytes(per_s: f64) -> Need {
    Need {
        label: "1 MB/s".to_owned(),
        samples_per_s: None,
        sample_bytes: None,
        bytes_per_s: Some(per_s),
        accelerators: 0,
        source: "stated by the user".to_owned(),
        ..need_in_samples(0.0)
    }
}

/// A record under construction.
#[derive(Debug, Clone)]
pub(crate) struct Builder {
    pub(crate) run: Run,
    pub(crate) lines: Vec<Line>,
    pub(crate) end: Option<End>,
}

impl Builder {
    /// The line of the need, for the samples of the dataset.
    pub(crate) const LINE_BPS: f64 = 0.9e9;

    /// 10,000 samples per second of 100 kB at 90 %, one disk, no cells.
    pub(crate) fn new() -> Self {
        Self {
            run: run(),
            lines: Vec::new(),
            end: Some(End {
                interrupted: false,
                elapsed_ns: 60_000_000_000,
                not_run: Vec::new(),
                changed: Vec::new(),
                reread: Vec::new(),
            }),
        }
    }

    pub(crate) fn cell(&mut self, name: &str, target: &str, queue_depth: u32) {
        self.run.cells.push(Cell {
            cell: name.to_owned(),
            target: target.to_owned(),
            dataset: 0,
            engine: "io_uring".to_owned(),
            stands_in_for: None,
            queue_depth,
            threads: 8,
            connections: 0,
            retries: 0,
            block_bytes: SAMPLE_BYTES,
            access: "shuffled_epoch".to_owned(),
            cache: "bypass".to_owned(),
            auto_group: None,
            axes: Vec::new(),
            operation: "read".to_owned(),
            pace: None,
            training: None,
            submit_batch: None,
            complete_batch: None,
            pages: None,
            streams: None,
            shuffle_buffer: None,
            run_length: None,
            mixing: None,
            checkpoint: None,
            tier: None,
            copy: None,
        });
    }

    /// Makes a cell and its repetitions paced at a share of the line, of which a share is served.
    pub(crate) fn pace(&mut self, name: &str, of_line: f64, served: f64) {
        self.edit_cell(name, |cell| {
            cell.pace = Some(record::Pace {
                rate_bps: None,
                of_line: Some(of_line),
                arrivals: "constant".to_owned(),
                batch_samples: None,
                spin_ns: 0,
            });
        });
        let offered_bps = of_line * Self::LINE_BPS;
        let arrivals = (offered_bps / SAMPLE_BYTES as f64) as u64;
        let issued = (arrivals as f64 * served).round() as u64;
        let mut response = record::new_histogram();
        response.record_n(2_000_000, issued).unwrap();
        let mut lag = record::new_histogram();
        lag.record_n(20_000, issued).unwrap();
        self.edit_reps(name, |rep| {
            let counters = [
                (counter::ARRIVALS, arrivals),
                (counter::SERVED, issued),
                (counter::NOT_ISSUED, arrivals - issued),
                (counter::OFFERED_BPS, offered_bps as u64),
                (counter::OPS, issued),
                (counter::BYTES, issued * SAMPLE_BYTES),
            ];
            rep.counters.extend(counters.map(|(name, count)| (name.to_owned(), count)));
            for (name, histogram) in [("response_ns", &response), ("lag_ns", &lag)] {
                rep.histograms.insert(name.to_owned(), record::encode(histogram));
            }
        });
    }

    pub(crate) fn push(&mut self, rep: Rep) {
        self.lines.push(Line::Rep(Box::new(rep)));
    }

    pub(crate) fn push_ceiling(&mut self, ceiling: Ceiling) {
        self.lines.push(Line::Ceiling(ceiling));
    }

    pub(crate) fn edit_reps(&mut self, cell: &str, edit: impl Fn(&mut Rep)) {
        for line in &mut self.lines {
            if let Line::Rep(rep) = line
                && rep.cell == cell
            {
                edit(rep);
            }
        }
    }

    pub(crate) fn edit_cell(&mut self, name: &str, edit: impl Fn(&mut Cell)) {
        self.run.cells.iter_mut().filter(|cell| cell.cell == name).for_each(edit);
    }

    pub(crate) fn record(&self) -> RunRecord {
        let mut lines = self.lines.clone();
        lines.extend(self.end.clone().map(Line::End));
        RunRecord { run: self.run.clone(), env: Environment::default(), lines, loss: None }
    }
}

fn run() -> Run {
    Run {
        format: Format { major: 1, minor: 0 },
        run_id: "20261121T044123Z-unit-0001".to_owned(),
        started: "2026-11-21T04:41:23Z".to_owned(),
        tool: Tool { version: "0.1.0".to_owned(), commit: None, profile: "release".to_owned() },
        command: vec!["feedline".to_owned(), "run".to_owned(), "unit.toml".to_owned()],
        scenario: "unit".to_owned(),
        title: None,
        plan_hash: "7c1e09aa".to_owned(),
        need: need_in_samples(10_000.0),
        datasets: vec![Dataset {
            source: "generate".to_owned(),
            target: "disk".to_owned(),
            files: 10_000,
            bytes: 1_000_000_000,
            sample_bytes: SAMPLE_BYTES as f64,
            fingerprint: "f".to_owned(),
            empty_files: 0,
            unallocated_bytes: 0,
            lognormal_stdev_bytes: None,
            layout: "files".to_owned(),
            samples: None,
            packing: Vec::new(),
        }],
        targets: vec![Target {
            name: "disk".to_owned(),
            title: "disk".to_owned(),
            about: None,
            at: "/data".to_owned(),
            storage: true,
            demo: false,
            about_published: true,
            server_memory_bytes: None,
            emulation: None,
            facts: Vec::new(),
        }],
        cells: Vec::new(),
        skipped: Vec::new(),
        measure: Measure {
            warmup_ns: 0,
            duration_ns: Some(1_000_000_000),
            steps: None,
            epochs: None,
            bytes: None,
            repetitions: 3,
            fresh_rounds: None,
            budget_ns: None,
            seed: 1,
        },
        gate: Gate::default(),
        expect: None,
        size: None,
        variant: None,
        rank: 0,
        ranks: 1,
        redacted: true,
    }
}

/// One repetition over one second at `bps`, each read taking 1 ms.
pub(crate) fn rep(cell: &str, number: u32, bps: f64) -> Rep {
    let bytes = bps.round() as u64;
    let ops = bytes / SAMPLE_BYTES;
    let mut service = record::new_histogram();
    service.record_n(1_000_000, ops).unwrap();
    Rep {
        cell: cell.to_owned(),
        role: Role::Measure,
        rep: number,
        round: number,
        order: number,
        rank: 0,
        ranks: 1,
        variant: "base".to_owned(),
        outcome: Outcome::Complete,
        window_start_ns: 0,
        window_ns: 1_000_000_000,
        window_unix_ns: None,
        second_ops: Vec::new(),
        second_bytes: Vec::new(),
        counters: [(counter::OPS, ops), (counter::BYTES, bytes), (counter::VERIFIED, 8)]
            .map(|(name, count)| (name.to_owned(), count))
            .into(),
        errors: BTreeMap::new(),
        histograms: BTreeMap::from([("service_ns".to_owned(), record::encode(&service))]),
        usage: Usage { wall_ns: 1_000_000_000, cores: 8, ..Usage::default() },
        cache: CacheProof {
            method: "mincore".to_owned(),
            total_bytes: 1_000_000_000,
            before_bytes: Some(0),
            after_bytes: Some(0),
            names_dropped: None,
        },
        granted: BTreeMap::new(),
        system: record::System::default(),
        emulated: None,
        trained: None,
        epochs: Vec::new(),
        checkpoints: Vec::new(),
    }
}

/// A fresh repetition of a chosen cell.
pub(crate) fn confirmation(cell: &str, number: u32, bps: f64) -> Rep {
    // After all of the interleaved ones.
    Rep { role: Role::Confirm, order: 1_000 + number, ..rep(cell, number, bps) }
}

/// What the client does in one second without storage.
pub(crate) fn ceiling(cell: &str, copies: bool, ops: u64, bytes: u64) -> Ceiling {
    Ceiling {
        cells: vec![cell.to_owned()],
        copies,
        ops,
        bytes,
        window_ns: 1_000_000_000,
        cpu_ns: 0,
        trained: None,
    }
}

/// One cell `c` at depth 8, measured and confirmed at these shares of the line.
pub(crate) fn confirmed_at(of_line: &[f64]) -> Builder {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    for (number, share) in of_line.iter().enumerate() {
        builder.push(rep("c", number as u32, share * Builder::LINE_BPS));
        builder.push(confirmation("c", number as u32, share * Builder::LINE_BPS));
    }
    builder
}

/// The figures of a measured cell.
pub(crate) fn figures(builder: &Builder, cell: &str) -> Figures {
    crate::summarise(&builder.record()).cell(cell).and_then(|cell| cell.figures().cloned()).unwrap()
}
