//! What the line asks of each way of reading a target, by its settings.

use feed::bounds::{self, Bound, InFlight, Operation, Settings};

use crate::cell::cell_summary::CellSummary;

/// What the line asks of one kind and size of read.
#[derive(Debug, Clone, PartialEq)]
pub struct LineAsks {
    /// What is done over and over: `read`, `read_file`.
    pub operation: String,
    /// Bytes of one.
    pub bytes: f64,
    /// How many a second.
    pub ops_per_s: f64,
    /// What has to be in flight (F12, F13); absent where an operation takes no time of its own.
    pub in_flight: Option<InFlightAtLine>,
    /// Connections at their full rate, at least (F14).
    pub connections: Option<f64>,
    /// Prefixes that take as many requests (F15).
    pub prefixes: Option<f64>,
    /// How much of the time of a read moves bytes (F17).
    pub transfer: Option<Transfer>,
    /// Size of an operation below which requests bind and above which bandwidth does, for all prefixes together (F16).
    pub crossover_bytes: Option<f64>,
    /// The lowest limit and the bytes per second at it, where the line lies above: no depth helps.
    pub unreachable: Option<(Bound, f64)>,
    /// The same while credits last, where the storage has any: it may be above the line.
    pub bursts_to_bps: Option<f64>,
}

/// What has to be in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InFlightAtLine {
    /// Requests.
    pub requests: f64,
    /// Their bytes.
    pub bytes: f64,
}

/// How much of the time of a read moves bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Share of the time, 0 to 1.
    pub share: f64,
    /// Size of a read of which half the time does.
    pub half_bytes: f64,
}

/// One for each kind and size of read, in the order of the cells.
pub(super) fn asks<'a>(
    settings: &Settings,
    cells: impl Iterator<Item = (&'a CellSummary, &'a Operation)>,
) -> Vec<LineAsks> {
    let mut asks: Vec<LineAsks> = Vec::new();
    for (cell, operation) in cells {
        // A look at a name moves no bytes, and the line is in bytes.
        let Some(line) = cell.line.filter(|_| operation.bytes > 0.0) else { continue };
        let one = LineAsks::of(cell, settings, operation, line.bps);
        if !asks.contains(&one) {
            asks.push(one);
        }
    }
    asks
}

impl LineAsks {
    fn of(cell: &CellSummary, settings: &Settings, operation: &Operation, line_bps: f64) -> Self {
        let bytes = operation.bytes;
        let ops_per_s = line_bps / bytes;
        let alone_s = settings.operation_s(operation);
        let held = || InFlightAtLine {
            requests: bounds::requests_in_flight(ops_per_s, alone_s).ceil(),
            bytes: bounds::bytes_in_flight(line_bps, alone_s),
        };
        let transfer = |(latency_s, bps)| Transfer {
            share: bounds::transfer_efficiency(latency_s, bytes, bps),
            half_bytes: bounds::half_point_bytes(latency_s, bps),
        };
        let requests_per_s = ops_per_s * (operation.reads + operation.lookups);
        // A limit on requests is one of each prefix (S3), while the bandwidth is one of all.
        let of_prefixes = |per_s: f64| per_s * f64::from(settings.prefixes.max(1));
        // At the greatest depth the latency binds nothing, and what is left is what no depth can raise.
        let lowest = |settings: &Settings| {
            settings.limits(operation, InFlight::of(u32::MAX)).min_by(|a, b| a.0.total_cmp(&b.0))
        };
        Self {
            operation: cell.cell.operation.to_string(),
            bytes,
            ops_per_s,
            in_flight: (alone_s > 0.0).then(held),
            connections: settings.connection_bps.map(|bps| bounds::streams(line_bps, bps)),
            // Where a storage has none there is nothing to spread over more of.
            prefixes: settings
                .requests_per_s
                .filter(|_| settings.prefixes > 0)
                .map(|per_s| bounds::prefixes(requests_per_s, per_s)),
            transfer: settings.first_byte_s.zip(settings.connection_bps).map(transfer),
            crossover_bytes: settings
                .total_bps
                .zip(settings.requests_per_s)
                .map(|(bps, per_s)| bounds::crossover_bytes(bps, of_prefixes(per_s))),
            unreachable: lowest(settings)
                .filter(|(limit, _)| *limit < ops_per_s)
                .map(|(limit, bound)| (bound, limit * bytes)),
            bursts_to_bps: settings
                .bursting()
                .and_then(|bursting| lowest(&bursting))
                .map(|(limit, _)| limit * bytes),
        }
    }
}
