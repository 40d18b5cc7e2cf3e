//! Records of storages that are made of arithmetic: a latency, a top rate, and a tail.

use record::{
    AxisWords, Cell, Interval, Line, RecordedIntervals, Rep, RepIntervals, Role, RunRecord, Target, counter,
};

use crate::records;

/// A storage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Store {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Time of a read without a queue.
    pub(crate) latency_ns: f64,
    pub(crate) top_bps: f64,
    /// How much longer the slowest in a thousand takes.
    pub(crate) tail: f64,
}

pub(crate) const STORES: [Store; 3] = [
    Store { name: "nvme", title: "local NVMe", latency_ns: 90e3, top_bps: 6.4e9, tail: 8.0 },
    Store { name: "filer", title: "filer over NFS", latency_ns: 800e3, top_bps: 2.1e9, tail: 20.0 },
    Store { name: "s3", title: "object store", latency_ns: 14e6, top_bps: 1.9e9, tail: 6.0 },
];

/// What a record is made of.
#[derive(Debug, Clone)]
pub(crate) struct Made<'a> {
    pub(crate) stores: &'a [Store],
    pub(crate) depths: &'a [u32],
    /// Bytes of a read; samples are as large.
    pub(crate) sizes: &'a [u64],
    pub(crate) reps: u32,
    pub(crate) seconds: u32,
    /// Operations of a repetition at most, so that a test stays quick.
    pub(crate) ops_max: u64,
    /// What its noise follows from.
    pub(crate) seed: u64,
}

impl Made<'_> {
    pub(crate) const USUAL: Made<'static> = Made {
        stores: &STORES,
        depths: &[1, 4, 16, 64, 256],
        sizes: &[114_660],
        reps: 5,
        seconds: 12,
        ops_max: u64::MAX,
        seed: 0,
    };
}

/// A number in 0 to 1 that follows from what it is of alone.
fn noise(of: &[u64]) -> f64 {
    let mix = |state: u64, value: &u64| {
        let mixed = (state ^ value.wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 27)
    };
    let state = of.iter().fold(0x94d0_49bb_1331_11eb, mix).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state >> 11) as f64 / (1_u64 << 53) as f64
}

/// Latencies around `typical_ns`, of which the slowest take `tail` times as long.
fn latencies(
    mut into: record::Histogram<u64>,
    typical_ns: f64,
    tail: f64,
    ops: u64,
) -> record::Histogram<u64> {
    let steps = 400;
    let mut left = ops;
    for step in 0..steps {
        let q = (f64::from(step) + 0.5) / f64::from(steps);
        let nines = -(1.0 - q).log10();
        let ns = typical_ns * (0.82 + 0.25 * q + 0.02 * (tail - 1.0) * nines.powi(2));
        let count = (ops / steps as u64).min(left);
        left -= count;
        into.record_n((ns as u64).clamp(1, 59_000_000_000), count).unwrap();
    }
    // The slowest in a thousand, and one in ten thousand.
    for (share, times) in [(0.001, 0.6), (0.0001, 1.0)] {
        let count = (ops as f64 * share) as u64;
        into.record_n(((typical_ns * tail * times) as u64).clamp(1, 59_000_000_000), count).unwrap();
    }
    into.record_n((typical_ns as u64).clamp(1, 59_000_000_000), left).unwrap();
    into
}

/// The record with its seconds.
pub(crate) fn made(of: &Made<'_>) -> (RunRecord, RecordedIntervals) {
    let mut record = records::golden();
    let template = record.run.cells[0].clone();
    let rep = record.lines.iter().find_map(|line| match line {
        Line::Rep(rep) => Some(rep.as_ref().clone()),
        _ => None,
    });
    let rep = rep.expect("the golden record has repetitions");
    let end = record.lines.pop().expect("the golden record has an end");
    record.lines.clear();
    record.run.cells.clear();
    record.run.skipped.clear();
    record.run.measure.repetitions = of.reps;
    let target = record.run.targets[0].clone();
    let dataset = record.run.datasets[0].clone();
    record.run.targets = of
        .stores
        .iter()
        .map(|store| Target { name: store.name.to_owned(), title: store.title.to_owned(), ..target.clone() })
        .collect();
    record.run.datasets = of
        .sizes
        .iter()
        .map(|size| record::Dataset { sample_bytes: *size as f64, ..dataset.clone() })
        .collect();
    record.run.command =
        "feedline run compare.toml --need 8xh100:resnet50".split(' ').map(str::to_owned).collect();
    let mut kept = RecordedIntervals::default();
    let mut order = 0;
    for (number, store) in (0_u64..).zip(of.stores) {
        for (dataset, size) in of.sizes.iter().enumerate() {
            for depth in of.depths {
                let name = format!("{}/io_uring/{size}/qd{depth}", store.name);
                record.run.cells.push(cell(&template, store, (&name, *depth), (dataset, *size)));
                let is_deepest = of.depths.last() == Some(depth);
                for repetition in 0..of.reps {
                    order += 1;
                    let key = [of.seed, number, *size, u64::from(*depth), u64::from(repetition)];
                    let (rep, seconds) = repetition_of(of, store, (*depth, *size), (&rep, &name, &key));
                    kept.reps.push(seconds);
                    let mut rep = Rep { rep: repetition, round: repetition, order, ..rep };
                    record.lines.push(Line::Rep(Box::new(rep.clone())));
                    if is_deepest && dataset == 0 {
                        rep.role = Role::Confirm;
                        record.lines.push(Line::Rep(Box::new(rep)));
                    }
                }
            }
        }
    }
    record.lines.push(end);
    (record, kept)
}

fn cell(template: &Cell, store: &Store, (name, depth): (&str, u32), (dataset, size): (usize, u64)) -> Cell {
    Cell {
        cell: name.to_owned(),
        target: store.name.to_owned(),
        engine: "io_uring".to_owned(),
        dataset,
        queue_depth: depth,
        block_bytes: size,
        axes: vec![AxisWords {
            name: "queue_depth".to_owned(),
            value: depth.to_string(),
            unit: String::new(),
        }],
        ..template.clone()
    }
}

fn repetition_of(
    of: &Made<'_>,
    store: &Store,
    (depth, size): (u32, u64),
    (template, name, key): (&Rep, &str, &[u64]),
) -> (Rep, RepIntervals) {
    let service_ns = store.latency_ns + size as f64 / store.top_bps * 1e9;
    let most = store.top_bps / size as f64;
    // The harder the storage is driven, the longer the queue: a soft minimum of both bounds.
    let asked = f64::from(depth) / service_ns * 1e9;
    let ops_per_s = 1.0 / ((1.0 / asked).powi(3) + (1.0 / most).powi(3)).cbrt();
    let typical_ns = f64::from(depth) / ops_per_s * 1e9;
    let mut second_ops = Vec::new();
    let mut seconds = Vec::new();
    for second in 0..of.seconds {
        let of_second = [key, &[u64::from(second)]].concat();
        let wobble = 1.0 + 0.06 * (noise(&of_second) - 0.5) - 0.004 * f64::from(second);
        let stalls = store.name == "filer" && second % 9 == 5;
        let ops = (ops_per_s * wobble * if stalls { 0.55 } else { 1.0 }) as u64;
        let ops = ops.clamp(1, (of.ops_max / u64::from(of.seconds)).max(1));
        second_ops.push(ops);
        let slower = if stalls { 3.0 } else { 1.0 };
        let service_ns = latencies(record::new_interval_histogram(), typical_ns * slower, store.tail, ops);
        seconds.push(Interval { second, ops, bytes: ops * size, service_ns: record::encode(&service_ns) });
    }
    let ops = second_ops.iter().sum::<u64>();
    let jitter = 1.0 + 0.03 * (noise(key) - 0.5);
    let service = latencies(record::new_histogram(), typical_ns * jitter, store.tail, ops);
    let mut rep = Rep {
        cell: name.to_owned(),
        role: Role::Measure,
        window_ns: u64::from(of.seconds) * 1_000_000_000,
        second_bytes: second_ops.iter().map(|ops| ops * size).collect(),
        second_ops,
        ..template.clone()
    };
    let counters = [(counter::OPS, ops), (counter::BYTES, ops * size), (counter::STARTED, ops)];
    rep.counters.extend(counters.map(|(name, count)| (name.to_owned(), count)));
    rep.histograms.insert("service_ns".to_owned(), record::encode(&service));
    let number = key.last().copied().unwrap_or_default() as u32;
    (
        rep,
        RepIntervals { cell: name.to_owned(), role: Role::Measure, rep: number, seconds, looks: Vec::new() },
    )
}
