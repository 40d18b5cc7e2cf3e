//! The golden record of `analysis`, and what tests make of it.

use std::path::Path;

use analysis::{Summary, summarise};
use record::{Cell, Line, RunRecord, Target, counter};

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
            access: (*access).to_owned(),
            cache: (*cache).to_owned(),
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
