//! Records for tests: each type of a record with plain values, and a [`Book`] that collects cells and lines.
//!
//! A test writes the fields that it is about and takes the rest from here: `Cell { threads: 2, ..testing::cell(…) }`. So a
//! new field of the record changes this file and the tests of that field.

use std::collections::BTreeMap;

use feed::{Access, Cache, Operation};

use crate::{
    AxisWords, CacheProof, Ceiling, Cell, Dataset, End, Environment, Fact, Format, Gate, HistogramText, Line,
    Measure, Need, Outcome, Rep, Run, RunRecord, Segment, Target, Tool, Training, Usage, encode,
    new_histogram,
};

/// A record under construction.
#[derive(Debug, Clone)]
pub struct Book {
    /// The head, with its cells.
    pub run: Run,
    /// The machine; nothing of it was captured unless a test says so.
    pub env: Environment,
    /// Ceilings and repetitions, in the order of the run.
    pub lines: Vec<Line>,
    /// The last line; absent from a record that was cut.
    pub end: Option<End>,
}

impl Book {
    /// A book without cells, whose run ended by itself after so much time.
    pub fn new(run: Run, elapsed_ns: u64) -> Self {
        Self { run, env: Environment::default(), lines: Vec::new(), end: Some(end(elapsed_ns)) }
    }

    /// Appends a repetition.
    pub fn push(&mut self, rep: Rep) {
        self.lines.push(Line::Rep(Box::new(rep)));
    }

    /// Appends a ceiling.
    pub fn push_ceiling(&mut self, ceiling: Ceiling) {
        self.lines.push(Line::Ceiling(ceiling));
    }

    /// Changes the cell of this name.
    pub fn edit_cell(&mut self, name: &str, edit: impl Fn(&mut Cell)) {
        self.run.cells.iter_mut().filter(|cell| cell.cell == name).for_each(edit);
    }

    /// Changes all repetitions of a cell.
    pub fn edit_reps(&mut self, cell: &str, edit: impl Fn(&mut Rep)) {
        for line in &mut self.lines {
            if let Line::Rep(rep) = line
                && rep.cell == cell
            {
                edit(rep);
            }
        }
    }

    /// Lets so many reads of a cell fail that no verdict may rest on it.
    pub fn doubt(&mut self, cell: &str) {
        self.edit_reps(cell, |rep| {
            rep.errors.insert("io".to_owned(), 100_000);
        });
    }

    /// The record as it stands.
    pub fn record(&self) -> RunRecord {
        let mut lines = self.lines.clone();
        lines.extend(self.end.clone().map(Line::End));
        RunRecord { run: self.run.clone(), env: self.env.clone(), lines, segments: Vec::new(), loss: None }
    }
}

/// That `record` was gone on with at this time of its clock, where all was as it began.
pub fn segment(record: &RunRecord, at_ns: u64) -> Segment {
    Segment {
        started: "2026-11-24T11:28:34Z".to_owned(),
        at_ns,
        command: Vec::new(),
        env: record.env.clone(),
        tool: Some(record.run.tool.clone()),
    }
}

/// The head of a run of this scenario in the present format: no target, no dataset, no cell, no gate.
pub fn run(scenario: &str) -> Run {
    Run {
        format: Format::CURRENT,
        run_id: format!("20261121T044123Z-{scenario}-3f9a"),
        started: "2026-11-21T04:41:23Z".to_owned(),
        tool: Tool {
            version: "0.1.0".to_owned(),
            commit: Some("7c1e09a".to_owned()),
            profile: "release".to_owned(),
        },
        command: ["feedline", "run", &format!("scenarios/{scenario}.toml")].map(str::to_owned).into(),
        scenario: scenario.to_owned(),
        title: None,
        plan_hash: "7c1e09d4b6a3f0e25c1d9a7e8b4f6032".to_owned(),
        need: Need::default(),
        datasets: Vec::new(),
        targets: Vec::new(),
        cells: Vec::new(),
        skipped: Vec::new(),
        measure: measure(3),
        gate: Gate::default(),
        expect: None,
        size: None,
        variant: None,
        team: None,
        rank: 0,
        ranks: 1,
        redacted: true,
    }
}

/// What 8 H100 take of `ResNet-50`, at so many samples per second of so many bytes, with the line at 90 %.
pub fn need(samples_per_s: f64, sample_bytes: f64) -> Need {
    Need {
        label: "8 x h100 resnet50".to_owned(),
        samples_per_s: Some(samples_per_s),
        sample_bytes: Some(sample_bytes),
        utilization: 0.9,
        accelerators: 8,
        hosts: 1,
        source: "MLPerf Storage 2.0, measured".to_owned(),
        ..Need::default()
    }
}

/// So many equal files that feedline wrote.
pub fn dataset(target: &str, files: u64, file_bytes: u64) -> Dataset {
    Dataset {
        source: "generate".to_owned(),
        target: target.to_owned(),
        files,
        bytes: files * file_bytes,
        sample_bytes: file_bytes as f64,
        fingerprint: "b1946ac92492d2347c6235b4d2611184".to_owned(),
        empty_files: 0,
        unallocated_bytes: 0,
        lognormal_stdev_bytes: None,
        layout: "files".to_owned(),
        samples: None,
        packing: Vec::new(),
    }
}

/// A storage of which nothing was probed, titled by its name.
pub fn target(name: &str) -> Target {
    Target {
        name: name.to_owned(),
        title: name.to_owned(),
        about: None,
        at: format!("/mnt/{name}/bench"),
        storage: true,
        demo: false,
        about_published: true,
        server_memory_bytes: None,
        emulation: None,
        facts: Vec::new(),
    }
}

/// A fact in words.
pub fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.to_owned(), value: value.to_owned() }
}

/// A closed loop of 128 KiB reads through `io_uring` by 8 threads, past the page cache, in a shuffled epoch.
pub fn cell(name: &str, target: &str, queue_depth: u32) -> Cell {
    Cell {
        cell: name.to_owned(),
        target: target.to_owned(),
        dataset: 0,
        engine: "io_uring".to_owned(),
        stands_in_for: None,
        queue_depth,
        threads: 8,
        connections: 0,
        retries: 0,
        block_bytes: 131_072,
        access: Access::ShuffledEpoch.into(),
        cache: Cache::Bypass.into(),
        operation: Operation::Read.into(),
        pace: None,
        training: None,
        streams: None,
        shuffle_buffer: None,
        run_length: None,
        mixing: None,
        checkpoint: None,
        tier: None,
        copy: None,
        submit_batch: None,
        complete_batch: None,
        pages: None,
        durability: None,
        write_percent: None,
        ranks: None,
        auto_group: None,
        axes: Vec::new(),
    }
}

/// A job of batches read by 8 readers for each accelerator, 8 batches ahead, that decodes nothing and waits for nobody.
pub fn training(accelerators: u32, batch: u32, compute_ns: u64) -> Training {
    Training {
        accelerators,
        batch,
        compute_ns,
        fetch: "readers".to_owned(),
        readers: Some(8),
        fetches: 1,
        prefetch: 8,
        barrier: false,
        decode: None,
        decode_cost_ns: None,
        decode_threads: None,
        drop_last: true,
        startup_ns: 0,
        spin_ns: 0,
        threshold: 0.9,
        price_per_hour: None,
    }
}

/// A window of two seconds without a warm-up, so many times.
pub fn measure(repetitions: u32) -> Measure {
    Measure {
        warmup_ns: 0,
        duration_ns: Some(2_000_000_000),
        steps: None,
        epochs: None,
        bytes: None,
        repetitions,
        fresh_rounds: None,
        budget_ns: None,
        seed: 1,
    }
}

/// A complete repetition in a round of its own that counted nothing in its window; its round and its order are its number.
pub fn rep(cell: &str, number: u32, window_ns: u64) -> Rep {
    Rep {
        rep: number,
        round: number,
        order: number,
        window_ns,
        usage: Usage { wall_ns: window_ns, ..Usage::default() },
        ..Rep::empty(cell, Outcome::Complete)
    }
}

/// Page-cache residency of 0 before and after, proven by this method.
pub fn nothing_resident(method: &str, total_bytes: u64) -> CacheProof {
    CacheProof {
        method: method.to_owned(),
        total_bytes,
        before_bytes: Some(0),
        after_bytes: Some(0),
        names_dropped: None,
    }
}

/// Counts by name, as [`Rep::counters`] has them.
pub fn counts<const N: usize>(counts: [(&str, u64); N]) -> BTreeMap<String, u64> {
    counts.map(|(name, count)| (name.to_owned(), count)).into()
}

/// A histogram of so many values, all alike.
///
/// # Panics
/// Where the value is beyond the histogram's range.
pub fn histogram(ns: u64, count: u64) -> HistogramText {
    let mut values = new_histogram();
    values.record_n(ns, count).expect("a value within the histogram's range");
    encode(&values)
}

/// What this client does without storage in one second, for these cells.
pub fn ceiling(cells: Vec<String>, ops: u64, bytes: u64) -> Ceiling {
    Ceiling { cells, copies: false, ops, bytes, window_ns: 1_000_000_000, cpu_ns: 0, trained: None }
}

/// The end of a run that came to it, with all that was planned.
pub fn end(elapsed_ns: u64) -> End {
    End { elapsed_ns, ..End::default() }
}

/// What a scenario says of a cell along an axis, as a word without a unit.
pub fn words(name: &str, value: &str) -> AxisWords {
    AxisWords { name: name.to_owned(), value: value.to_owned(), unit: String::new() }
}
