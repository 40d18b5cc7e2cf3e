//! What the machine did while a cell was measured, as users of `iostat -x` expect it.

use std::mem::discriminant;

use analysis::{CellSummary, DeviceFigures, Reconciliation, Summary, SystemFigures, Traffic};

use crate::grid::{Grid, GridRow};
use crate::number::{grouped, percent, three_digits, two_digits};
use crate::side::{Shown, apart, names};

/// The columns that matter first, for a terminal.
pub(crate) fn compact(summary: &Summary) -> Grid {
    let columns = ["reads/s", "MB/s", "KiB", "r_await", "aqu-sz", "%util", "x asked", "cache"];
    let figures = |cell: &CellSummary, system: &SystemFigures| {
        let mut row = reads(system.device.as_ref()).to_vec();
        row.push(of(amplification(cell, system), three_digits));
        row.push(of(system.cache_share, percent));
        row
    };
    grid(summary, false, &columns, figures)
}

/// Every column, for Markdown.
pub(crate) fn whole(summary: &Summary) -> Grid {
    let columns = [
        "device",
        "reads/s",
        "MB/s",
        "KiB per request",
        "r_await ms",
        "aqu-sz",
        "%util",
        "merged",
        "asked",
        "process",
        "device read",
        "x asked",
        "cache",
        "busiest core",
    ];
    let figures = |cell: &CellSummary, system: &SystemFigures| {
        let device = system.device.as_ref();
        let bytes = |traffic: Traffic| feed::format_bytes(traffic.bytes);
        let mut row = vec![of(device, |device| device.name.clone())];
        row.extend(reads(device));
        row.extend([
            of(device.and_then(|device| device.merged_share), percent),
            bytes(system.asked),
            of(system.process, bytes),
            of(device, |device| bytes(device.read)),
            of(amplification(cell, system), three_digits),
            of(system.cache_share, percent),
            of(system.cores.as_ref(), |cores| percent(cores.max)),
        ]);
        row
    };
    grid(summary, true, &columns, figures)
}

/// What both tables say of the device: reads/s, MB/s, KiB of a request, r_await, aqu-sz, %util.
fn reads(device: Option<&DeviceFigures>) -> [String; 6] {
    [
        of(device, |device| grouped(device.reads_per_s)),
        of(device, |device| megabytes(device.read.bps)),
        of(device.and_then(|device| device.request_bytes), |bytes| three_digits(bytes / 1024.0)),
        of(device.and_then(|device| device.read_await_ns), |ns| two_digits(ns / 1e6)),
        of(device, |device| three_digits(device.queue)),
        of(device, |device| percent(device.util)),
    ]
}

/// Bytes read by byte asked: this process's where the kernel counts them, else the device's. A warm cell asks nothing
/// of storage, so that what its device read was for others.
fn amplification(cell: &CellSummary, system: &SystemFigures) -> Option<f64> {
    if cell.cell.cache == feed::Cache::Warm {
        return system.process_amplification;
    }
    let uncounted = [Reconciliation::NotCounted, Reconciliation::NothingCounted];
    let is_counted = !system.reconciliation.iter().any(|one| uncounted.contains(one));
    system.process_amplification.filter(|_| is_counted).or(system.device_amplification)
}

/// Whether a cell's storage is behind a network, with no block device of this machine below it.
fn is_beyond_devices(cell: &CellSummary) -> bool {
    cell.network.is_some() && cell.system.as_ref().is_none_or(|system| system.device.is_none())
}

fn megabytes(bps: f64) -> String {
    grouped(bps / 1e6)
}

fn of<T>(known: Option<T>, write: impl FnOnce(T) -> String) -> String {
    known.map_or_else(|| "-".to_owned(), write)
}

fn grid(
    summary: &Summary,
    all: bool,
    columns: &[&str],
    figures: impl Fn(&CellSummary, &SystemFigures) -> Vec<String>,
) -> Grid {
    let shown = Shown::of(summary, all, |cell| cell.system.is_some() && !is_beyond_devices(cell));
    let row = |cell: &CellSummary| {
        let system = cell.system.as_ref()?;
        let note = if all { cell.cell.cell.clone() } else { apart(cell, &shown.of_kind) };
        Some(GridRow { names: names(cell), figures: figures(cell, system), note })
    };
    Grid {
        title: format!(
            "the device below, as iostat -x counts it{}; reads/s to %util: the whole machine's; x asked, cache: this \
             process's",
            shown.words()
        ),
        names: vec!["target", "engine", "QD"],
        figures: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows: shown.cells.iter().copied().filter_map(row).collect(),
        foot: String::new(),
    }
}

/// What does not fit among the bytes asked and read: one line for all cells of which the same kind of thing is to be
/// said, with the words of the worst. A warm cell asks nothing of storage: what others read is nothing to it, and
/// that the page cache served is its name.
pub(crate) fn unreconciled(summary: &Summary, all: bool) -> Vec<String> {
    let mut said: Vec<(&Reconciliation, Vec<&str>)> = Vec::new();
    let shown = Shown::of(summary, all, |cell| {
        cell.system.is_some() && cell.cell.cache != feed::Cache::Warm && !is_beyond_devices(cell)
    });
    for cell in shown.cells {
        let found = cell.system.iter().flat_map(|system| &system.reconciliation);
        for one in found.filter(|one| !one.agrees()) {
            match said.iter_mut().find(|(known, _)| discriminant(*known) == discriminant(one)) {
                Some((worst, cells)) if one.extent() > worst.extent() => {
                    *worst = one;
                    cells.insert(0, &cell.cell.cell);
                }
                Some((_, cells)) => cells.push(&cell.cell.cell),
                None => said.push((one, vec![&cell.cell.cell])),
            }
        }
    }
    let line = |(worst, cells): (&Reconciliation, Vec<&str>)| match cells.as_slice() {
        [one] => format!("{one}: {}", worst.sentence()),
        cells => format!("{} cells, the most in {}: {}", cells.len(), cells[0], worst.sentence()),
    };
    said.into_iter().map(line).collect()
}

/// What `%util` does not say.
pub(crate) fn caveat() -> &'static str {
    DeviceFigures::UTIL_CAVEAT
}
