//! The arithmetic behind a need, as text.

mod checkpoint;

use crate::sheet::Sheet;
use crate::units::{
    format_about_bytes, format_bps, format_bytes, format_count, format_percent, format_seconds, group_digits,
};
use crate::{Flow, Need, formula};

/// The largest read into which the kernel splits a buffered stream: its default read-ahead.
// `read_ahead_kb` is 128 for block devices unless a distribution or a udev rule says otherwise. A loader
// that reads through the page cache shows the device reads of this size, whatever it asks for.
const READ_BYTES_MAX: f64 = 131_072.0;

/// Nobody reads less than this alone: smaller samples come many to a block.
// Below a page the arithmetic of reads by sample would promise rates that no device serves: the kernel
// fetches a page at least, and token files are read in long runs anyway.
const PAGE_BYTES: f64 = 4_096.0;

/// Example latencies of one read, and the kind of storage that has them.
// Orders of magnitude, so that a reader sees how the depth that is needed grows with distance. They enter
// no verdict: what a storage really takes is measured.
const LATENCIES: [(f64, &str); 3] = [
    (100e-6, "local NVMe drive"),
    (1e-3, "NFS in the same hall"),
    (30e-3, "object store in the same region"),
];

/// An example drive: PCIe 4.0 x4 by its data sheet, its latency for a small random read, and the share of
/// the bandwidth that is left when reads are random and sustained.
const DRIVE_BPS: f64 = 7e9;
const DRIVE_LATENCY_S: f64 = 82e-6;
// Data sheets quote reads in sequence from a fresh drive. Seven tenths is a planning margin and not a
// measured value, which is why the line spells the multiplication out.
const DRIVE_DERATING: f64 = 0.7;

impl Need {
    /// The arithmetic from accelerators to bytes per second, requests, depth and drives: several lines,
    /// without a final newline.
    pub fn explain(&self) -> String {
        explain(self)
    }
}

fn explain(need: &Need) -> String {
    let mut text = Sheet::titled(&format!("{} ({})", need.label, need.source));
    if need.asks_rate() {
        let rates = Rates::of(need);
        explain_rates(need, &rates, &mut text);
        if let Some(write_bps) = need.write_bps {
            explain_writes(need, write_bps, &rates, &mut text);
        }
        // Of what reads ask of a device; how a device takes writes, alone or beside them, no data sheet says.
        if need.flow() == Flow::Reads {
            explain_requests(&rates, &mut text);
            explain_depth(&rates, &mut text);
            explain_drives(&rates, &mut text);
        }
    }
    if let Some(of) = &need.checkpoint {
        checkpoint::explain(need, of, &mut text);
    }
    for caveat in &need.caveats {
        text.section("caveat", caveat);
    }
    text.to_string()
}

fn explain_writes(need: &Need, write_bps: f64, rates: &Rates, text: &mut Sheet) {
    text.section("and writes", "");
    text.row("bytes/s", &format_bps(write_bps));
    text.row("line", &format!("{}: {}", need.at_line(), format_bps(write_bps * need.utilization)));
    let both = rates.bps + write_bps;
    let sum = format!("{} + {} = {}", format_bps(rates.bps), format_bps(write_bps), format_bps(both));
    text.row("at once", &format!("{sum}, of which {} is written", format_percent(write_bps / both)));
}

/// What the sections share.
struct Rates {
    bps: f64,
    line_bps: f64,
    samples: Option<Samples>,
    reads: Reads,
}

struct Samples {
    per_s: f64,
    line_per_s: f64,
    bytes: f64,
}

/// The reads that reach a device.
struct Reads {
    bytes: f64,
    per_s: f64,
    /// How many make one sample; `None` when a read holds many samples or there are none.
    per_sample: Option<f64>,
}

impl Rates {
    fn of(need: &Need) -> Self {
        let samples = need.sample_bytes().map(|bytes| Samples {
            per_s: need.demand_samples_per_s(bytes),
            line_per_s: need.line_samples_per_s(bytes),
            bytes,
        });
        // A demand in bytes is the same for any sample size.
        let any_bytes = samples.as_ref().map_or(1.0, |samples| samples.bytes);
        let bps = need.demand_bps(any_bytes);
        let reads = samples
            .as_ref()
            .filter(|samples| samples.bytes >= PAGE_BYTES)
            .map_or_else(|| Reads::of_blocks(bps), Reads::of_samples);
        Self { bps, line_bps: need.line_bps(any_bytes), samples, reads }
    }
}

impl Reads {
    fn of_samples(samples: &Samples) -> Self {
        let per_sample = formula::reads_per_sample(samples.bytes, READ_BYTES_MAX);
        Self {
            bytes: samples.bytes / per_sample,
            per_s: formula::device_reads_per_s(samples.per_s, per_sample),
            per_sample: Some(per_sample),
        }
    }

    fn of_blocks(bps: f64) -> Self {
        Self { bytes: READ_BYTES_MAX, per_s: bps / READ_BYTES_MAX, per_sample: None }
    }
}

fn explain_rates(need: &Need, rates: &Rates, text: &mut Sheet) {
    text.section("need", "");
    let bps = format_bps(rates.bps);
    let idle = need.idle_at_line().map(|idle| format!(" ({idle})")).unwrap_or_default();
    let line_at = format!("{}{idle}", need.at_line());
    let line_bps = format_bps(rates.line_bps);
    let Some(samples) = &rates.samples else {
        text.row("bytes/s", &bps);
        text.row("line", &format!("{line_at}: {line_bps}"));
        return;
    };
    let per_s = format_count(samples.per_s);
    text.row("samples/s", &format!("{}{per_s}", step_arithmetic(need)));
    // The product is printed with its factors: wrong units are the most frequent mistake in such sums, and
    // a reader can check a multiplication, but not a result.
    text.row("bytes/s", &format!("samples/s x sample = {per_s} x {} = {bps}", bytes(samples.bytes)));
    text.row("line", &format!("{line_at}: {} samples/s = {line_bps}", format_count(samples.line_per_s)));
}

/// `accelerators x batch / step time = 8 x 400 / 0.224 s = `; empty where the need names no step.
fn step_arithmetic(need: &Need) -> String {
    let (Some(batch), Some(step_time_s)) = (need.batch, need.step_time_s) else {
        return String::new();
    };
    let accelerators = group_digits(u64::from(need.accelerators));
    let batch = group_digits(u64::from(batch));
    format!("accelerators x batch / step time = {accelerators} x {batch} / {step_time_s} s = ")
}

fn explain_requests(rates: &Rates, text: &mut Sheet) {
    let per_s = format_count(rates.reads.per_s);
    let read_max = bytes(READ_BYTES_MAX);
    text.section("requests", "");
    match (&rates.samples, rates.reads.per_sample) {
        (Some(samples), Some(per_sample)) => {
            let split = format!("ceil({} / {read_max}) = {}", bytes(samples.bytes), format_count(per_sample));
            text.row("reads", &format!("{split} per sample: {per_s} reads/s"));
            let calls_per_s = format_count(formula::system_calls_per_s(samples.per_s));
            text.row(
                "calls",
                &format!("open, stat, read, close: {calls_per_s} calls/s if each sample is a file"),
            );
        }
        (Some(_), None) => {
            text.row("reads", &format!("of {read_max}, a sample being smaller than a page: {per_s} reads/s"));
        }
        (None, _) => text.row("reads", &format!("of {read_max}: {per_s} reads/s")),
    }
}

fn explain_depth(rates: &Rates, text: &mut Sheet) {
    text.section("in flight", "rate x latency (Little's law)");
    for (latency_s, storage) in LATENCIES {
        let reads = format_count(formula::in_flight(rates.reads.per_s, latency_s));
        let in_flight = format_about_bytes(formula::in_flight(rates.bps, latency_s));
        text.row(&format_seconds(latency_s), &format!("{reads} reads, {in_flight}: {storage}"));
    }
}

fn explain_drives(rates: &Rates, text: &mut Sheet) {
    let (drive, latency) = (format_bps(DRIVE_BPS), format_seconds(DRIVE_LATENCY_S));
    text.section("drives", &format!("for example of {drive}, {latency} per read"));

    let required = format_bps(rates.bps);
    let derating = format_percent(DRIVE_DERATING);
    let number = format_count(formula::drives(rates.bps, DRIVE_BPS, DRIVE_DERATING));
    text.row("number", &format!("ceil({required} / ({drive} x {derating})) = {number}"));

    let saturating_bytes = formula::saturating_bytes(DRIVE_BPS, DRIVE_LATENCY_S);
    let depth = format_count((saturating_bytes / rates.reads.bytes).ceil());
    let (in_flight, read) = (format_about_bytes(saturating_bytes), bytes(rates.reads.bytes));
    text.row(
        "depth",
        &format!("{drive} x {latency} = {in_flight} in flight fill one: {depth} reads of {read}"),
    );

    let alone_bps = formula::device_bps(1.0, rates.reads.bytes, DRIVE_LATENCY_S, DRIVE_BPS);
    text.row("", &format!("one read at a time gets {} of it", format_bps(alone_bps)));
}

/// The size of one thing, as it is.
// A mean sample size such as 114,660.07 B is no whole number of bytes, and below a thousand the fraction is
// what tells 0.5 B a token from 1 B.
fn bytes(bytes: f64) -> String {
    if bytes < 1_000.0 { format!("{} B", format_count(bytes)) } else { format_bytes(bytes.round() as u64) }
}

#[cfg(test)]
mod tests;
