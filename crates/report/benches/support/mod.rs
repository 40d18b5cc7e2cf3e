//! A large run that was never made: a matrix of cells with latencies as storages have them, the same on every machine.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use record::{
    AxisWords, Cell, Dataset, HistogramText, Line, Network, Rep, RepIntervals, Role, RunRecord, Target,
    counter,
};

/// Ways to read: target, engine, bytes per second at full depth, latency of a small read.
const WAYS: [(&str, &str, f64, f64); 5] = [
    ("disk", "io_uring", 6.0e9, 90e3),
    ("disk", "pread", 4.1e9, 110e3),
    ("array", "io_uring", 2.4e9, 600e3),
    ("filer", "nfs3", 1.1e9, 900e3),
    ("s3", "lean", 1.9e9, 14e6),
];
const DEPTHS: [u32; 5] = [1, 4, 16, 64, 256];
const BLOCKS: [u64; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const ACCESS: [&str; 4] = ["sequential", "shuffled_epoch", "random", "zipf"];
const CACHES: [&str; 2] = ["bypass", "cold"];
/// The window, nanoseconds.
const WINDOW_NS: u64 = 10_000_000_000;
/// Cells of one size of samples: ways x depths x blocks x orders x caches.
const ONE_SIZE: usize = 1_000;
/// Latencies drawn for one histogram: as many as give some 3 KB of text.
const DRAWS: usize = 14_000;

/// Numbers that look random and are the same everywhere (splitmix64).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Twelve uniform draws make a normal one near enough.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Latencies around `median_ns` with a tail, each counted `weight` times.
fn latencies(draws: &mut Draws, median_ns: f64, weight: u64) -> HistogramText {
    let mut histogram = record::new_histogram();
    for _ in 0..DRAWS {
        let tail = if draws.next() < 0.01 { 4.0 } else { 1.0 };
        let ns = (median_ns * tail * (0.35 * draws.normal()).exp()).max(1.0);
        histogram.record_n(ns as u64, weight).expect("within the range");
    }
    record::encode(&histogram)
}

/// A run of `cells` by `repetitions`, made from the golden record of the analysis. Beyond 1,000 cells sizes of samples differ.
pub(crate) fn run(cells: usize, repetitions: u32) -> RunRecord {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/fixtures/golden");
    let mut record = record::read_run(&golden).expect("the golden record can be read");
    record.run.format = record::Format::CURRENT;
    record.run.measure.repetitions = repetitions;
    record.run.measure.duration_ns = Some(WINDOW_NS);
    record.run.skipped.clear();
    record.run.gate = record::Gate::default();
    let like = record.lines.iter().find_map(|line| match line {
        Line::Rep(rep) => Some(rep.as_ref().clone()),
        _ => None,
    });
    let like = like.expect("the golden record has a repetition");
    record.run.targets = targets(&record.run.targets[0]);
    "disk".clone_into(&mut record.run.datasets[0].target);
    record.run.datasets[0].sample_bytes = 114_660.0;
    let sizes = u32::try_from(cells.div_ceil(ONE_SIZE)).expect("few sizes");
    let like_dataset = record.run.datasets[0].clone();
    record.run.datasets = (0..sizes)
        .map(|size| Dataset { sample_bytes: f64::from(114_660 * (size + 1)), ..like_dataset.clone() })
        .collect();
    let like_cell = record.run.cells[0].clone();
    record.run.cells = (0..sizes).flat_map(|size| matrix(&like_cell, size)).take(cells).collect();
    let end = record.lines.pop().expect("the golden record has an end");
    record.lines.retain(|line| matches!(line, Line::Ceiling(_)));
    for line in &mut record.lines {
        if let Line::Ceiling(ceiling) = line {
            ceiling.cells = record.run.cells.iter().map(|cell| cell.cell.clone()).collect();
        }
    }
    let mut draws = Draws(1);
    for round in 0..repetitions {
        for (index, cell) in record.run.cells.iter().enumerate() {
            let order = round * cells as u32 + index as u32;
            let rep = repetition(&mut draws, &like, cell, (round, order));
            record.lines.push(Line::Rep(Box::new(rep)));
        }
    }
    record.lines.push(end);
    record
}

fn targets(like: &Target) -> Vec<Target> {
    let target = |name: &str| Target {
        name: name.to_owned(),
        title: format!("the {name}"),
        at: format!("/mnt/{name}/bench"),
        ..like.clone()
    };
    ["disk", "array", "filer", "s3"].map(target).into()
}

fn matrix(like: &Cell, size: u32) -> Vec<Cell> {
    let mut all = Vec::new();
    for (access, cache) in ACCESS.iter().flat_map(|access| CACHES.map(|cache| (*access, cache))) {
        for block_bytes in BLOCKS {
            for (target, engine, ..) in WAYS {
                all.extend(DEPTHS.map(|depth| {
                    let axis = |name: &str, value: String, unit: &str| AxisWords {
                        name: name.to_owned(),
                        value,
                        unit: unit.to_owned(),
                    };
                    Cell {
                        cell: format!("{target}/{engine}/{size}/{block_bytes}B/{access}/{cache}/qd{depth}"),
                        dataset: size as usize,
                        target: target.to_owned(),
                        engine: engine.to_owned(),
                        queue_depth: depth,
                        threads: depth.min(16),
                        connections: if matches!(target, "filer" | "s3") { depth.min(16) } else { 0 },
                        block_bytes,
                        access: access.into(),
                        cache: cache.into(),
                        axes: vec![
                            axis("queue_depth", depth.to_string(), ""),
                            axis("block_size", block_bytes.to_string(), "B"),
                            axis("access", access.to_owned(), ""),
                            axis("cache", cache.to_owned(), ""),
                            axis("sample_size", (114_660 * (size + 1)).to_string(), "B"),
                        ],
                        ..like.clone()
                    }
                }));
            }
        }
    }
    all
}

fn repetition(draws: &mut Draws, like: &Rep, cell: &Cell, (round, order): (u32, u32)) -> Rep {
    let way = WAYS.iter().find(|way| way.0 == cell.target && way.1 == cell.engine);
    let (_, _, top_bps, base_ns) = *way.expect("every cell has a way");
    let block = cell.block_bytes as f64;
    let unloaded_ns = base_ns + block / top_bps * 4e9;
    let bps = top_bps.min(f64::from(cell.queue_depth) * block / unloaded_ns * 1e9);
    let bps = bps * (1.0 + 0.02 * draws.normal());
    let service_ns = f64::from(cell.queue_depth) * block / bps * 1e9;
    let ops = (bps * WINDOW_NS as f64 / 1e9 / block).max(1.0) as u64;
    let weight = (ops / DRAWS as u64).max(1);
    let names: &[(&str, f64)] = match cell.target.as_str() {
        "filer" => &[("service_ns", 1.0), ("send_ns", 0.1), ("reply_ns", 0.6), ("body_ns", 0.3)],
        "s3" => &[
            ("service_ns", 1.0),
            ("attempt_ns", 0.98),
            ("send_ns", 0.05),
            ("headers_ns", 0.5),
            ("first_byte_ns", 0.05),
            ("body_ns", 0.4),
        ],
        _ => &[("service_ns", 1.0)],
    };
    let mut rep = Rep {
        cell: cell.cell.clone(),
        role: Role::Measure,
        rep: round,
        round,
        order,
        window_start_ns: u64::from(order) * WINDOW_NS,
        window_ns: WINDOW_NS,
        histograms: names
            .iter()
            .map(|(name, share)| ((*name).to_owned(), latencies(draws, service_ns * share, weight)))
            .collect(),
        second_ops: vec![ops / 10; 10],
        second_bytes: vec![ops / 10 * cell.block_bytes; 10],
        ..like.clone()
    };
    let counts = [
        (counter::OPS, ops),
        (counter::STARTED, ops),
        (counter::BYTES, ops * cell.block_bytes),
        (counter::VERIFIED, 8),
        (counter::WARMUP_OPS, ops / 10),
    ];
    rep.counters = counts.map(|(name, count)| (name.to_owned(), count)).into();
    if cell.connections > 0 {
        over_network(&mut rep, cell, ops);
    }
    rep
}

fn over_network(rep: &mut Rep, cell: &Cell, ops: u64) {
    let delivered = ops * cell.block_bytes;
    let counts = [
        (counter::MESSAGES, ops),
        (counter::DELIVERED_BYTES, delivered),
        (counter::WIRE_RECEIVED_BYTES, delivered + ops * 600),
        (counter::WIRE_SENT_BYTES, ops * 800),
        (counter::CONNECTIONS_OPENED, u64::from(cell.connections)),
    ];
    rep.counters.extend(counts.map(|(name, count)| (name.to_owned(), count)));
    rep.system.network = Some(Network {
        interface: "eth0".to_owned(),
        speed_bps: Some(100_000_000_000),
        received_bytes: delivered,
        wall_ns: WINDOW_NS,
        ..Network::default()
    });
}

/// Writes the run as a folder; `seconds` of each repetition with their latencies where more than 0.
pub(crate) fn write(dir: &Path, run: &RunRecord, seconds: u32) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    serde_json::to_writer_pretty(File::create(dir.join(record::RUN_FILE))?, &run.run)?;
    serde_json::to_writer_pretty(File::create(dir.join(record::ENV_FILE))?, &run.env)?;
    std::fs::write(dir.join(record::SCENARIO_FILE), "version = 1\nneed = \"8xh100:resnet50\"\n")?;
    let mut cells = BufWriter::new(File::create(dir.join(record::CELLS_FILE))?);
    for line in &run.lines {
        serde_json::to_writer(&mut cells, line)?;
        cells.write_all(b"\n")?;
    }
    cells.flush()?;
    if seconds == 0 {
        return Ok(());
    }
    let mut draws = Draws(2);
    let mut intervals = BufWriter::new(File::create(dir.join(record::INTERVALS_FILE))?);
    for line in &run.lines {
        let Line::Rep(rep) = line else { continue };
        let second = |second| {
            let mut histogram = record::new_interval_histogram();
            for _ in 0..500 {
                let ns = 1e6 * (0.4 * draws.normal()).exp();
                histogram.record(ns as u64).expect("within the range");
            }
            let (ops, bytes) = (rep.counters[counter::OPS] / 10, rep.counters[counter::BYTES] / 10);
            record::Interval { second, ops, bytes, service_ns: record::encode(&histogram) }
        };
        let seconds = (0..seconds).map(second).collect();
        let rep =
            RepIntervals { cell: rep.cell.clone(), role: rep.role, rep: rep.rep, seconds, looks: Vec::new() };
        let mut member = flate2::write::GzEncoder::new(&mut intervals, flate2::Compression::fast());
        serde_json::to_writer(&mut member, &rep)?;
        member.finish()?;
    }
    intervals.flush()
}
