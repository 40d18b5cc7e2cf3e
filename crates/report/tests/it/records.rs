//! The golden record of `analysis`, and what tests make of it.

use std::path::Path;

use analysis::{Summary, summarise};
use record::testing::fact;
use record::{Cell, Emulated, Emulation, Line, Network, RunRecord, Target, counter};

pub(crate) fn golden() -> RunRecord {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/fixtures/golden");
    record::read_run(&dir).expect("the golden record is readable")
}

pub(crate) fn golden_summary() -> Summary {
    summarise(&golden())
}

/// The record with its rates, and its need, multiplied.
pub(crate) fn scaled(factor: f64) -> RunRecord {
    let mut record = golden();
    scale_need(&mut record, factor);
    scale_reps(&mut record, |_| true, factor);
    record
}

/// The record with names longer than a page is wide, one of them hostile.
pub(crate) fn with_long_names() -> RunRecord {
    let mut record = golden();
    let long = "a-storage-whose-name-is-longer-than-the-page-is-wide-".repeat(3) + "\u{1b}[31m\u{e9}";
    for cell in &mut record.run.cells {
        cell.target = cell.target.replace("filer", &long);
    }
    record.run.targets[1].name = long;
    record.run.scenario = "x".repeat(200);
    record.run.title = Some("y".repeat(200));
    record.run.need.label = "z ".repeat(100);
    record
}

/// Multiplies what the accelerators need.
pub(crate) fn scale_need(record: &mut RunRecord, factor: f64) {
    record.run.need.samples_per_s = record.run.need.samples_per_s.map(|rate| rate * factor);
}

/// Multiplies the rates of the cells that `of` names.
pub(crate) fn scale_reps(record: &mut RunRecord, of: impl Fn(&str) -> bool, factor: f64) {
    for line in &mut record.lines {
        if let Line::Rep(rep) = line
            && of(&rep.cell)
        {
            for name in [counter::OPS, counter::BYTES] {
                rep.counters
                    .entry(name.to_owned())
                    .and_modify(|count| *count = (*count as f64 * factor).max(1.0) as u64);
            }
        }
    }
}

/// The record with every cell read in further ways, each at a share of the rates.
pub(crate) fn in_ways(ways: &[(&str, &str, u64, f64)]) -> RunRecord {
    let mut record = golden();
    let (cells, lines) = (record.run.cells.clone(), record.lines.clone());
    for (access, cache, block_bytes, share) in ways {
        let suffix = format!("/{access}/{cache}/{block_bytes}");
        record.run.cells.extend(cells.iter().map(|cell| Cell {
            cell: format!("{}{suffix}", cell.cell),
            access: (*access).into(),
            cache: (*cache).into(),
            block_bytes: *block_bytes,
            ..cell.clone()
        }));
        for line in &lines {
            if let Line::Rep(rep) = line
                && rep.role == record::Role::Measure
            {
                let mut rep = rep.clone();
                rep.cell = format!("{}{suffix}", rep.cell);
                record.lines.push(Line::Rep(rep));
            }
        }
        scale_reps(&mut record, |cell| cell.ends_with(&suffix), *share);
    }
    record
}

/// The golden record's fastest target under further names, each at a share of its rates.
pub(crate) fn with_targets(shares: &[f64]) -> RunRecord {
    let mut record = golden();
    let (cells, lines) = (record.run.cells.clone(), record.lines.clone());
    for (number, share) in shares.iter().enumerate() {
        let name = format!("store{number}");
        record.run.targets.push(Target {
            name: name.clone(),
            title: format!("store number {number}"),
            ..record.run.targets[0].clone()
        });
        let of_nvme = |cell: &str| cell.starts_with("nvme/io_uring/").then(|| cell.replace("nvme", &name));
        record.run.cells.extend(cells.iter().filter_map(|cell| {
            Some(Cell { cell: of_nvme(&cell.cell)?, target: name.clone(), ..cell.clone() })
        }));
        for line in &lines {
            if let Line::Rep(rep) = line
                && let Some(cell) = of_nvme(&rep.cell)
            {
                record.lines.push(Line::Rep(Box::new(record::Rep { cell, ..rep.as_ref().clone() })));
            }
        }
        scale_reps(&mut record, |cell| cell.starts_with(&name), *share);
    }
    record
}

/// The record with one depth for each curve.
pub(crate) fn at_one_depth(depth: u32) -> RunRecord {
    let mut record = golden();
    record.run.cells.retain(|cell| cell.queue_depth == depth);
    let names: Vec<String> = record.run.cells.iter().map(|cell| cell.cell.clone()).collect();
    record.lines.retain(|line| !matches!(line, Line::Rep(rep) if !names.contains(&rep.cell)));
    record
}

/// The record with one curve alone, from depth 1 on, that reaches its top rate late.
pub(crate) fn by_depth() -> RunRecord {
    let mut record = golden();
    let name = "array/io_uring/qd8";
    let (cell, reps): (Vec<Cell>, Vec<record::Rep>) = (
        record.run.cells.iter().filter(|cell| cell.cell == name).cloned().collect(),
        record
            .lines
            .iter()
            .filter_map(|line| match line {
                Line::Rep(rep) if rep.cell == name => Some(rep.as_ref().clone()),
                _ => None,
            })
            .collect(),
    );
    record.run.cells.clear();
    record.lines.retain(|line| !matches!(line, Line::Rep(_)));
    // Reads of 114,660 bytes in 0.1 ms, and no more than 6.4 GB/s.
    for (depth, gbps) in [(1, 1.14), (2, 2.2), (4, 4.0), (8, 5.6), (16, 6.2), (32, 6.4)] {
        let of_depth = format!("array/io_uring/qd{depth}/d");
        record.run.cells.push(Cell { cell: of_depth.clone(), queue_depth: depth, ..cell[0].clone() });
        for rep in &reps {
            let mut rep = record::Rep { cell: of_depth.clone(), ..rep.clone() };
            let ops = (gbps * 1e9 * rep.window_ns as f64 / 1e9 / 114_660.0) as u64;
            rep.counters.insert(counter::OPS.to_owned(), ops);
            rep.counters.insert(counter::BYTES.to_owned(), ops * 114_660);
            let mut service = record::new_histogram();
            service.record_n((f64::from(depth) * rep.window_ns as f64 / ops as f64) as u64, ops).unwrap();
            rep.histograms.insert("service_ns".to_owned(), record::encode(&service));
            record.lines.push(Line::Rep(Box::new(rep)));
        }
    }
    record
}

/// Storages behind a network: the curves of the fastest target of the golden record under other names and engines,
/// each with what a network counts. The last is a server that feedline started.
pub(crate) fn networks() -> RunRecord {
    let stores = [
        ("filer2", "filer, user space", "nfs3", 0.33),
        ("s3", "object store", "lean", 0.40),
        ("s3", "object store", "sdk", 0.24),
        ("mount", "filer, mounted", "io_uring", 0.29),
        ("lab", "emulated store", "lean", 0.60),
    ];
    let mut record = golden();
    record.run.format = record::Format::CURRENT;
    record.run.gate = record::Gate { feeds: vec!["lab".to_owned()], p99_ns: None, ..record::Gate::default() };
    let (cells, lines) = (record.run.cells.clone(), record.lines.clone());
    let of_nvme = |cell: &str| cell.starts_with("nvme/io_uring/");
    let kept = |cell: &str| cell.starts_with("nvme/");
    record.run.targets.retain(|target| target.name == "nvme");
    record.run.cells.retain(|cell| kept(&cell.cell));
    record.run.skipped.clear();
    record.lines.retain(|line| match line {
        Line::Rep(rep) => kept(&rep.cell),
        Line::Ceiling(_) | Line::End(_) => true,
    });
    for (name, title, engine, share) in stores {
        let renamed = |cell: &str| cell.replace("nvme/io_uring", &format!("{name}/{engine}"));
        let is_mount = name == "mount";
        if record.run.targets.iter().all(|target| target.name != name) {
            record.run.targets.push(network_target(name, title, &record.run.targets[0]));
        }
        record.run.cells.extend(cells.iter().filter(|cell| of_nvme(&cell.cell)).map(|cell| Cell {
            cell: renamed(&cell.cell),
            target: name.to_owned(),
            engine: engine.to_owned(),
            connections: if is_mount { 0 } else { cell.queue_depth.min(16) },
            retries: if engine == "nfs3" || is_mount { 0 } else { 2 },
            ..cell.clone()
        }));
        for line in &lines {
            if let Line::Rep(rep) = line
                && of_nvme(&rep.cell)
            {
                let mut rep = rep.as_ref().clone();
                rep.cell = renamed(&rep.cell);
                scale_rep(&mut rep, share);
                over_network(&mut rep, name);
                record.lines.push(Line::Rep(Box::new(rep)));
            }
        }
    }
    let last = record.lines.iter().position(|line| matches!(line, Line::End(_)));
    let end = record.lines.remove(last.expect("the golden record has an end"));
    record.lines.push(end);
    record
}

fn network_target(name: &str, title: &str, like: &Target) -> Target {
    let (at, facts) = match name {
        "filer2" => (
            "nfs://filer/export/bench",
            vec![
                fact("file_system", "nfs, version 3 in user space"),
                fact("server_addresses", "2"),
                fact("rtmax_bytes", "1048576"),
            ],
        ),
        "mount" => (
            "/mnt/filer/bench",
            vec![
                fact("file_system", "nfs4"),
                fact("nfs_server", "filer"),
                fact("nfs_version", "4.1"),
                fact("nfs_rsize_bytes", "1048576"),
                fact("nfs_nconnect", "8"),
            ],
        ),
        "s3" => ("s3://train/bench", vec![fact("file_system", "s3"), fact("tls", "yes")]),
        _ => ("s3://demo/bench", vec![fact("file_system", "s3"), fact("tls", "no")]),
    };
    let demo = name == "lab";
    Target {
        name: name.to_owned(),
        title: title.to_owned(),
        at: at.to_owned(),
        facts,
        demo,
        about: Some(format!("what is said of {name}")).filter(|_| name != "mount"),
        about_published: name != "s3",
        server_memory_bytes: (name == "filer2").then_some(4 << 30),
        emulation: demo.then(|| Emulation {
            profile: Some("s3-like".to_owned()),
            settings: vec![fact("first_byte", "15 ms")],
        }),
        ..like.clone()
    }
}

fn scale_rep(rep: &mut record::Rep, factor: f64) {
    for name in [counter::OPS, counter::BYTES, counter::STARTED, counter::WARMUP_OPS] {
        rep.counters.entry(name.to_owned()).and_modify(|count| *count = (*count as f64 * factor) as u64);
    }
}

/// What a network counts of a repetition.
fn over_network(rep: &mut record::Rep, name: &str) {
    let ops = rep.counters[counter::OPS] + rep.counters[counter::WARMUP_OPS];
    let bytes = rep.counters[counter::BYTES];
    let wall_ns = rep.window_ns;
    rep.system = record::System {
        network: Some(Network {
            interface: "eth0".to_owned(),
            speed_bps: Some(25_000_000_000),
            received_bytes: bytes + bytes / 25,
            sent_bytes: bytes / 100,
            wall_ns,
            tcp_retransmitted: (name == "filer2").then_some(4),
            ..Network::default()
        }),
        core_busy_ns: if name == "filer2" { vec![wall_ns / 4, wall_ns / 2] } else { Vec::new() },
        ..record::System::default()
    };
    if name == "mount" {
        rep.system.nfs_mount = Some(record::NfsMount {
            reads: rep.counters[counter::OPS],
            read_transmissions: rep.counters[counter::OPS] + 3,
            read_received_bytes: bytes,
            read_ns: rep.counters[counter::OPS] * 9_800_000,
            connections: 8,
            ..record::NfsMount::default()
        });
        return;
    }
    "user_space".clone_into(&mut rep.cache.method);
    let delivered = ops * 114_660;
    let per_op = if name == "filer2" { 2 } else { 1 };
    let mut counts = vec![
        (counter::ENTERS, ops / 3),
        (counter::CONNECTIONS_OPENED, connections_opened(&rep.cell, name)),
        (counter::MESSAGES, ops * per_op),
        (counter::DELIVERED_BYTES, delivered),
        (counter::WIRE_RECEIVED_BYTES, delivered + ops * 600),
        (counter::WIRE_SENT_BYTES, ops * 800),
    ];
    if name == "filer2" {
        counts.push(("messages_to/192.0.2.1:2049", ops * 2 * 7 / 10));
        counts.push(("messages_to/192.0.2.2:2049", ops * 2 * 3 / 10));
    }
    let service = rep.histograms["service_ns"].clone();
    if name == "s3" {
        let started = rep.counters[counter::STARTED];
        let refused = started * 21 / 1_000;
        counts.push((counter::ATTEMPTS, started + refused));
        counts.push((counter::RECOVERED, refused));
        counts.push(("attempt_errors/throttled", refused));
        counts.push(("attempt_errors/reset", 1));
        counts.push((counter::CONNECTIONS_LOST, 1));
        rep.granted.insert("first_failure".to_owned(), "503 SlowDown: reduce your request rate".to_owned());
        rep.histograms.insert("attempt_ns".to_owned(), shortened(&service, 2));
    }
    if name == "lab" {
        rep.emulated = Some(Emulated {
            requests: ops,
            asked_ns: Some(shortened(&service, 1)),
            achieved_ns: Some(shortened(&service, 1)),
            ..Emulated::default()
        });
    }
    let phases: &[(&str, u64)] = if name == "filer2" {
        &[("send_ns", 40), ("reply_ns", 2), ("body_ns", 3)]
    } else {
        &[("send_ns", 40), ("headers_ns", 2), ("first_byte_ns", 20), ("body_ns", 3)]
    };
    for (phase, part) in phases {
        rep.histograms.insert((*phase).to_owned(), shortened(&service, *part));
    }
    rep.counters.extend(counts.into_iter().map(|(name, count)| (name.to_owned(), count)));
}

/// As many as were planned, and on the object store one more for the one that was lost.
fn connections_opened(cell: &str, name: &str) -> u64 {
    let planned = if cell.ends_with("/qd8") { 8 } else { 16 };
    planned + u64::from(name == "s3")
}

/// A histogram with each value divided.
fn shortened(text: &record::HistogramText, by: u64) -> record::HistogramText {
    let mut parts = record::new_histogram();
    for step in text.decode().expect("a histogram of the golden record").iter_recorded() {
        let ns = (step.value_iterated_to() / by).max(1);
        parts.record_n(ns, step.count_at_value()).expect("shorter than what is recorded");
    }
    record::encode(&parts)
}
