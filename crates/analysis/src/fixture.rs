//! Small records for tests: one disk, and cells whose figures are easy to reckon.

use std::cell::Cell as Counter;
use std::ops::{Deref, DerefMut};

use record::testing::{self, Book};
use record::{
    Ceiling, Cell, Dataset, Datasets, Format, Measure, Need, Rep, Role, Run, Target, Tool, Usage, counter,
};

mod training;

use crate::{Figures, ReadVerdict};

pub(crate) use training::{DEMAND, cell_of_job, confirmed_job, job, job_rep, null_control, trained};

/// Bytes of a sample and of a read.
const SAMPLE_BYTES: u64 = 100_000;

pub(crate) fn need_in_samples(per_s: f64) -> Need {
    testing::need(per_s, SAMPLE_BYTES as f64)
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

/// One host that writes so many bytes within so many seconds.
pub(crate) fn checkpoint_need(bytes: u64, within_s: u64) -> record::CheckpointNeed {
    record::CheckpointNeed {
        label: feed::format_bytes(bytes),
        bytes,
        host_bytes: bytes,
        hosts: 1,
        within_ns: within_s * 1_000_000_000,
        every_ns: None,
        restore_within_ns: None,
        kind: "sync".to_owned(),
        beside_others: false,
    }
}

/// A run that counts how often it is asked for a dataset, as it is wherever two cells are held against each other.
pub(crate) struct Asked<'a>(&'a Run, Counter<u32>);

impl<'a> Asked<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        Self(run, Counter::new(0))
    }

    pub(crate) fn times(&self) -> u32 {
        self.1.get()
    }
}

impl Datasets for Asked<'_> {
    fn dataset(&self, index: usize) -> Option<&Dataset> {
        self.1.set(self.1.get() + 1);
        self.0.dataset(index)
    }
}

/// A record under construction: a [`Book`] whose cells are of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Builder(Book);

impl Deref for Builder {
    type Target = Book;

    fn deref(&self) -> &Book {
        &self.0
    }
}

impl DerefMut for Builder {
    fn deref_mut(&mut self) -> &mut Book {
        &mut self.0
    }
}

impl Builder {
    /// The line of the need, for the samples of the dataset.
    pub(crate) const LINE_BPS: f64 = 0.9e9;

    /// 10,000 samples per second of 100 kB at 90 %, one disk, no cells.
    pub(crate) fn new() -> Self {
        Self(Book::new(run(), 60_000_000_000))
    }

    pub(crate) fn cell(&mut self, name: &str, target: &str, queue_depth: u32) {
        let cell = testing::cell(name, target, queue_depth);
        self.run.cells.push(Cell { block_bytes: SAMPLE_BYTES, ..cell });
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
}

fn run() -> Run {
    Run {
        format: Format { major: 1, minor: 0 },
        tool: Tool { commit: None, ..testing::run("unit").tool },
        plan_hash: "7c1e09aa".to_owned(),
        need: need_in_samples(10_000.0),
        datasets: vec![Dataset {
            fingerprint: "f".to_owned(),
            ..testing::dataset("disk", 10_000, SAMPLE_BYTES)
        }],
        targets: vec![Target { at: "/data".to_owned(), ..testing::target("disk") }],
        measure: Measure { duration_ns: Some(1_000_000_000), ..testing::measure(3) },
        ..testing::run("unit")
    }
}

/// A team with a process on each of so many hosts.
pub(crate) fn team(ranks: u32) -> record::Team {
    let member = |rank: u32| record::Member {
        host: format!("host-{}", rank + 1),
        machine: rank,
        clock_ahead_ns: 0,
        clock_uncertainty_ns: 10_000,
    };
    record::Team { launcher: "Slurm".to_owned(), members: (0..ranks).map(member).collect() }
}

/// One repetition over one second at `bps`, each read taking 1 ms.
pub(crate) fn rep(cell: &str, number: u32, bps: f64) -> Rep {
    let bytes = bps.round() as u64;
    let ops = bytes / SAMPLE_BYTES;
    let mut rep = testing::rep(cell, number, 1_000_000_000);
    rep.counters = testing::counts([(counter::OPS, ops), (counter::BYTES, bytes), (counter::VERIFIED, 8)]);
    rep.histograms.insert("service_ns".to_owned(), testing::histogram(1_000_000, ops));
    rep.usage = Usage { cores: 8, ..rep.usage };
    rep.cache = testing::nothing_resident("mincore", 1_000_000_000);
    rep
}

/// A fresh repetition of a chosen cell.
pub(crate) fn confirmation(cell: &str, number: u32, bps: f64) -> Rep {
    // After all of the interleaved ones.
    Rep { role: Role::Confirm, order: 1_000 + number, ..rep(cell, number, bps) }
}

/// What the client does in one second without storage.
pub(crate) fn ceiling(cell: &str, copies: bool, ops: u64, bytes: u64) -> Ceiling {
    Ceiling { copies, ..testing::ceiling(vec![cell.to_owned()], ops, bytes) }
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

/// What is said of the reads of the first target.
pub(crate) fn reads_of(builder: &Builder) -> ReadVerdict {
    crate::summarise(&builder.record()).verdicts[0].of_reads().cloned().unwrap()
}

/// The figures of a measured cell.
pub(crate) fn figures(builder: &Builder, cell: &str) -> Figures {
    crate::summarise(&builder.record()).cell(cell).and_then(|cell| cell.figures().cloned()).unwrap()
}
