//! What the machine did while a cell was measured, as users of `iostat -x` expect it.

use std::mem::discriminant;

use analysis::{
    CellSummary, DeviceFigures, GpuFigures, Reconciliation, Summary, SystemFigures, Table, Traffic, View,
};

use feed::Operation;

use crate::grid::{Column, Filling, Grid, Width};
use crate::group::gravest;
use crate::number::{grouped, percent, three_digits, two_digits};
use crate::side::{Apart, SHOWN, SHOWN_MAX, of_cells, of_measured};
use crate::words;

/// What the device below and this process did, one row for each cell.
pub(crate) fn table(summary: &Summary) -> Grid {
    let cells: Vec<&CellSummary> =
        summary.cells.iter().filter(|cell| cell.system.is_some() && !is_beyond_devices(cell)).collect();
    let traffic = |of: Traffic| feed::format_bytes(of.bytes);
    let wide = |heading: &str| Column::figure(heading).only(Width::Wide);
    let is_write =
        |cell: &&CellSummary| cell.cell.operation.is_any(&[Operation::Write, Operation::WriteFile]);
    let are_writes = !cells.is_empty() && cells.iter().all(is_write);
    // The names of `iostat -x`, which who looks after storage reads every day.
    let title = format!(
        "the device below, as iostat -x counts it; {} to %util: the whole machine's; x asked, cache: this process's",
        if are_writes { "writes/s" } else { "reads/s" }
    );
    let apart = Apart::among(&cells);
    let named =
        of_measured(summary, title, &cells).column(wide("device"), |cell| Some(device(cell)?.name.clone()));
    if are_writes { written(named) } else { read(named) }
        .figure("aqu-sz", |cell| Some(three_digits(device(cell)?.queue)))
        .figure("%util", |cell| Some(percent(device(cell)?.util)))
        .column(wide("merged"), |cell| device(cell)?.merged_share.map(percent))
        .column(wide("asked"), |cell| Some(traffic(cell.system.as_ref()?.asked)))
        .column(wide("process"), |cell| cell.system.as_ref()?.process.map(traffic))
        .column(wide("device read"), |cell| Some(traffic(device(cell)?.read)))
        .figure("x asked", |cell| amplification(cell, cell.system.as_ref()?).map(three_digits))
        .figure("cache", |cell| cell.system.as_ref()?.cache_share.map(percent))
        .column(wide("busiest core"), |cell| Some(percent(cell.system.as_ref()?.cores.as_ref()?.max)))
        .metrics(Table::Device, |cell| View::of_cell(cell))
        .note(|cell| apart.words(cell))
        .foot(DeviceFigures::UTIL_CAVEAT)
        .done()
}

/// The GPUs of the machine, a row for each cell and each of them.
pub(crate) fn gpus(summary: &Summary) -> Grid {
    let of_cell = |cell: &'_ CellSummary| cell.system.iter().flat_map(|system| &system.gpus).count();
    let rows: Vec<(&CellSummary, &GpuFigures)> = summary
        .cells
        .iter()
        .filter(|cell| of_cell(cell) > 0)
        .flat_map(|cell| {
            cell.system.iter().flat_map(move |system| system.gpus.iter().map(move |gpu| (cell, gpu)))
        })
        .collect();
    let mb = |bps: Option<f64>| bps.map(|bps| grouped(bps / 1e6));
    let title = "GPUs of this machine, whoever uses them, as NVIDIA's library counts them; a cell plays accelerators, and uses none";
    of_cells(title, &rows, |(cell, _)| cell)
        .number("GPU", |(_, gpu)| gpu.index.to_string())
        .name("name", |(_, gpu)| gpu.name.clone())
        .figure("busy", |(_, gpu)| gpu.busy.map(percent))
        .figure("PCIe in MB/s", |(_, gpu)| mb(gpu.received_bps))
        .figure("PCIe out MB/s", |(_, gpu)| mb(gpu.sent_bps))
        .brief(SHOWN_MAX, SHOWN, |(cell, _)| summary.is_judged(cell))
        .done()
}

fn device(cell: &CellSummary) -> Option<&DeviceFigures> {
    cell.system.as_ref()?.device.as_ref()
}

fn read<'a>(table: Filling<'a, &'a CellSummary>) -> Filling<'a, &'a CellSummary> {
    table
        .figure("reads/s", |cell| Some(grouped(device(cell)?.reads_per_s)))
        .figure("MB/s", |cell| Some(grouped(device(cell)?.read.bps / 1e6)))
        .column(Column::figure("KiB per request").short("KiB"), |cell| {
            // KiB and not kB: requests are multiples of sectors, and 128 is seen at once.
            Some(three_digits(device(cell)?.request_bytes? / 1024.0))
        })
        .column(Column::figure("r_await ms").short("r_await"), |cell| {
            Some(two_digits(device(cell)?.read_await_ns? / 1e6))
        })
}

/// Pages that scroll have the rest in columns of their own, whatever a cell does.
fn written<'a>(table: Filling<'a, &'a CellSummary>) -> Filling<'a, &'a CellSummary> {
    let narrow = |heading: &str| Column::figure(heading).only(Width::Narrow);
    table
        .figure("writes/s", |cell| Some(grouped(device(cell)?.writes_per_s)))
        .column(narrow("MB/s"), |cell| Some(grouped(device(cell)?.write.bps / 1e6)))
        .column(narrow("w_await"), |cell| Some(two_digits(device(cell)?.write_await_ns? / 1e6)))
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

/// What does not fit among the bytes asked and read: one line for all cells of which the same kind of thing is to be
/// said, with the words of the worst. A warm cell is left out: it asks nothing of storage, and what others read from the
/// device does not slow it.
pub(crate) fn unreconciled(summary: &Summary) -> Vec<String> {
    let cells =
        summary.cells.iter().filter(|cell| cell.cell.cache != feed::Cache::Warm && !is_beyond_devices(cell));
    let found = cells.flat_map(|cell| {
        let all = cell.system.iter().flat_map(|system| &system.reconciliation);
        // By the kind alone: its numbers differ from cell to cell, and a line for each would bury the others.
        all.map(move |one| (discriminant(one), cell.cell.cell.as_str(), one))
    });
    let line = |(_, worst, names): (_, &Reconciliation, Vec<&str>)| {
        let words = words::reconciliation::device(worst)?;
        Some(match names.as_slice() {
            [one] => format!("{one}: {words}"),
            names => format!("{} cells, the most in {}: {words}", names.len(), names[0]),
        })
    };
    gravest(found, |one| one.extent()).into_iter().filter_map(line).collect()
}
