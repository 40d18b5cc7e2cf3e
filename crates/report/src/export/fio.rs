//! What `fio --output-format=json` would have written: one job for each cell, so that scripts made for fio work.

use std::collections::BTreeMap;

use analysis::{CellSummary, Distribution, Summary, distributions};
use feed::Durability;
use record::{Cell, RunRecord, Word};
use serde::{Serialize, Serializer};

use super::{Export, gap};
use crate::words::operation::noun;

/// Percentiles that fio lists by default, in its spelling.
const PERCENTILES: [(&str, f64); 17] = [
    ("1.000000", 0.01),
    ("5.000000", 0.05),
    ("10.000000", 0.10),
    ("20.000000", 0.20),
    ("30.000000", 0.30),
    ("40.000000", 0.40),
    ("50.000000", 0.50),
    ("60.000000", 0.60),
    ("70.000000", 0.70),
    ("80.000000", 0.80),
    ("90.000000", 0.90),
    ("95.000000", 0.95),
    ("99.000000", 0.99),
    ("99.500000", 0.995),
    ("99.900000", 0.999),
    ("99.950000", 0.9995),
    ("99.990000", 0.9999),
];

/// Upper ends of fio's coarse buckets within a power of a thousand.
const BUCKETS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000];

/// The interleaved repetitions of each cell as one fio job named like the cell, as far as fio has a word for it.
pub fn fio(record: &RunRecord, summary: &Summary) -> Export {
    let document = Document {
        // Scripts look for the key; the value says that it is not fio.
        fio_version: format!("feedline-{}", summary.head.tool.version),
        time: &record.run.started,
        global_options: BTreeMap::new(),
        feedline_run: &record.run.run_id,
        // Of the interleaved repetitions: fio has no word for rounds that decide.
        jobs: distributions(record).filter(|one| !mixes(one.cell)).map(|one| job(&one)).collect(),
    };
    let text = serde_json::to_string_pretty(&document).unwrap_or_default() + "\n";
    let mixed =
        |cell: &CellSummary| format!("{}: reads and writes at once are no job of this form", cell.cell.cell);
    let mixed = summary.cells.iter().filter(|cell| mixes(&cell.cell)).map(mixed);
    Export { text, gaps: summary.cells.iter().filter_map(gap).chain(mixed).collect() }
}

/// Whether a cell reads and writes at once: a job of fio has a histogram for each, and this form one for both.
fn mixes(cell: &Cell) -> bool {
    cell.write_percent.is_some()
}

/// Scripts show buckets and percentiles in the order of the file, so they keep that of fio.
struct Ordered<V>(Vec<(String, V)>);

impl<V: Serialize> Serialize for Ordered<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "fio version")]
    fio_version: String,
    time: &'a str,
    #[serde(rename = "global options")]
    global_options: BTreeMap<String, String>,
    #[serde(rename = "feedline run")]
    feedline_run: &'a str,
    jobs: Vec<Job>,
}

#[derive(Serialize)]
struct Job {
    jobname: String,
    groupid: u32,
    error: u32,
    #[serde(rename = "job options")]
    options: Ordered<String>,
    /// Of the two objects that fio has for what a job reads and what it writes, the one that the cell has figures for.
    #[serde(flatten)]
    moved: Moved,
    #[serde(rename = "job_runtime")]
    runtime_ms: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    latency_ns: Ordered<f64>,
    latency_us: Ordered<f64>,
    latency_ms: Ordered<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Moved {
    Read(Direction),
    Write(Direction),
}

#[derive(Serialize)]
struct Direction {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    clat_ns: Latencies,
    lat_ns: Latencies,
    iops_mean: f64,
    iops_stddev: f64,
}

#[derive(Serialize)]
struct Latencies {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: u64,
    percentile: Ordered<u64>,
}

fn job(one: &Distribution<'_>) -> Job {
    let seconds = one.window_ns as f64 / 1e9;
    let per_s = |count: u64| finite(count as f64 / seconds);
    let bytes_per_s = per_s(one.bytes);
    let (user, system) = one.cpu_shares;
    let direction = Direction {
        io_bytes: one.bytes,
        io_kbytes: one.bytes / 1_024,
        bw_bytes: bytes_per_s.round() as u64,
        bw: (bytes_per_s / 1_024.0).round() as u64,
        iops: per_s(one.ops),
        runtime: one.window_ns / 1_000_000,
        total_ios: one.ops,
        clat_ns: latencies(one),
        lat_ns: latencies(one),
        iops_mean: per_s(one.ops),
        iops_stddev: finite(one.ops_per_s_stddev),
    };
    Job {
        jobname: one.cell.cell.clone(),
        groupid: 0,
        error: 0,
        options: options(one.cell),
        moved: if writes(one.cell) { Moved::Write(direction) } else { Moved::Read(direction) },
        runtime_ms: one.window_ns / 1_000_000,
        usr_cpu: finite(user * 100.0),
        sys_cpu: finite(system * 100.0),
        latency_ns: buckets(one, 1, false),
        latency_us: buckets(one, 1_000, false),
        latency_ms: buckets(one, 1_000_000, true),
    }
}

fn writes(cell: &Cell) -> bool {
    noun(&cell.operation) == "write"
}

fn options(cell: &Cell) -> Ordered<String> {
    let order = match (cell.access == feed::Access::Sequential, writes(cell)) {
        (true, false) => "read",
        (true, true) => "write",
        (false, false) => "randread",
        (false, true) => "randwrite",
    };
    let mut options = vec![
        ("name", cell.cell.clone()),
        ("ioengine", cell.engine.clone()),
        ("rw", order.to_owned()),
        ("bs", cell.block_bytes.to_string()),
        ("iodepth", cell.queue_depth.to_string()),
        // The depth is that of the whole client: threads would be counted again as jobs.
        ("numjobs", "1".to_owned()),
        ("direct", u32::from(cell.cache == feed::Cache::Bypass).to_string()),
    ];
    if let Some(flag) = cell.durability.as_ref().and_then(sync) {
        options.push(("sync", flag.to_owned()));
    }
    Ordered(options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// What fio's `sync` says of the same promise; nothing is its default.
fn sync(durability: &Word<Durability>) -> Option<&'static str> {
    match durability.known()? {
        Durability::None => None,
        Durability::Data => Some("dsync"),
        Durability::Full => Some("sync"),
    }
}

fn latencies(one: &Distribution<'_>) -> Latencies {
    let service = &one.service;
    let known = PERCENTILES.into_iter().filter_map(|(name, q)| Some((name.to_owned(), one.service_ns(q)?)));
    Latencies {
        min: if service.is_empty() { 0 } else { service.min() },
        max: service.max(),
        mean: finite(service.mean()),
        stddev: finite(service.stdev()),
        count: service.len(),
        percentile: Ordered(known.collect()),
    }
}

/// Shares of the operations in percent, each up to its bucket's end; the last power of a thousand goes on to the longest.
fn buckets(one: &Distribution<'_>, unit_ns: u64, last: bool) -> Ordered<f64> {
    let total = one.service.len().max(1) as f64;
    // Differences of one course of counts, so that a value on the edge of two buckets is counted once.
    let below = |ns: u64| if ns == 0 { 0 } else { one.service.count_between(0, ns - 1) };
    let share = |low: u64, high: u64| below(high).saturating_sub(below(low)) as f64 / total * 100.0;
    let mut shares = Vec::new();
    let mut from = if unit_ns == 1 { 0 } else { unit_ns };
    for end in BUCKETS {
        shares.push((end.to_string(), share(from, end * unit_ns)));
        from = end * unit_ns;
    }
    if last {
        shares.push(("2000".to_owned(), share(from, 2 * from)));
        shares.push((">=2000".to_owned(), share(2 * from, u64::MAX)));
    }
    Ordered(shares)
}

fn finite(value: f64) -> f64 {
    // fio writes 0 for what it has not measured, and its scripts know no null.
    if value.is_finite() { value } else { 0.0 }
}
