//! What the line asks of each way of reading a target, by its settings.

use feed::bounds::{self, InFlight, Operation, Settings};

use crate::cell::cell_summary::CellSummary;

/// One sentence for each kind and size of read, in the order of the cells.
pub(super) fn words<'a>(
    settings: &Settings,
    cells: impl Iterator<Item = (&'a CellSummary, &'a Operation)>,
) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for (cell, operation) in cells {
        let Some(line) = cell.line.filter(|_| operation.bytes > 0.0) else { continue };
        let words = Asked { settings, operation, line_bps: line.bps }.words(cell);
        if !said.contains(&words) {
            said.push(words);
        }
    }
    said
}

/// A rate asked of one way of reading.
struct Asked<'a> {
    settings: &'a Settings,
    operation: &'a Operation,
    line_bps: f64,
}

impl Asked<'_> {
    /// `read 130 kB: the line asks for 9,216/s: 290 in flight, 37.7 MB; 14 connections at their full rate; 2 prefixes;
    /// 4.6 % of a read's time moves bytes, half of it at 2.7 MB; …`.
    fn words(&self, cell: &CellSummary) -> String {
        let bytes = self.operation.bytes;
        let asked = format!(
            "{} {}: the line asks for {}/s",
            cell.cell.operation,
            feed::format_bytes(bytes.round() as u64),
            feed::format_count(self.ops_per_s())
        );
        let parts =
            [self.in_flight(), self.connections(), self.prefixes(), self.efficiency(), self.crossover()];
        let parts: Vec<String> = parts.into_iter().flatten().chain(self.unreachable()).collect();
        if parts.is_empty() { asked } else { format!("{asked}: {}", parts.join("; ")) }
    }

    fn ops_per_s(&self) -> f64 {
        self.line_bps / self.operation.bytes
    }

    /// F12 and F13.
    fn in_flight(&self) -> Option<String> {
        let alone_s = self.settings.operation_s(self.operation);
        let requests = bounds::requests_in_flight(self.ops_per_s(), alone_s).ceil();
        let held = bounds::bytes_in_flight(self.line_bps, alone_s);
        (alone_s > 0.0).then(|| {
            format!("{} in flight, {}", feed::format_count(requests), feed::format_bytes(held.round() as u64))
        })
    }

    /// F14.
    fn connections(&self) -> Option<String> {
        let connections = bounds::streams(self.line_bps, self.settings.connection_bps?);
        let noun = if connections > 1.0 { "connections" } else { "connection" };
        Some(format!("at least {} {noun}", feed::format_count(connections)))
    }

    /// F15.
    fn prefixes(&self) -> Option<String> {
        let requests = self.operation.reads + self.operation.lookups;
        let needed = bounds::prefixes(self.ops_per_s() * requests, self.settings.requests_per_s?);
        let noun = if needed > 1.0 { "prefixes" } else { "prefix" };
        Some(format!("{} {noun}", feed::format_count(needed)))
    }

    /// F17.
    fn efficiency(&self) -> Option<String> {
        let (latency_s, bps) = (self.settings.first_byte_s?, self.settings.connection_bps?);
        let share = bounds::transfer_efficiency(latency_s, self.operation.bytes, bps);
        let half = bounds::half_point_bytes(latency_s, bps);
        Some(format!(
            "bytes move in {:.1} % of a read's time, in half of it at {}",
            share * 100.0,
            feed::format_bytes(half.round() as u64)
        ))
    }

    /// F16, for all prefixes together.
    fn crossover(&self) -> Option<String> {
        let per_s = self.settings.requests_per_s? * f64::from(self.settings.prefixes.max(1));
        let bytes = bounds::crossover_bytes(self.settings.total_bps?, per_s);
        Some(format!("requests bind below {}, bandwidth above", feed::format_bytes(bytes.round() as u64)))
    }

    /// The lowest limit, where the line lies above it: no depth helps.
    fn unreachable(&self) -> Option<String> {
        let limits = self.settings.limits(self.operation, InFlight::of(u32::MAX));
        let (ops_per_s, bound) = limits.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (ops_per_s < self.ops_per_s()).then(|| {
            let bps = feed::format_bps(ops_per_s * self.operation.bytes);
            format!("not reached at any depth: {} at {bps}", bound.words())
        })
    }
}
