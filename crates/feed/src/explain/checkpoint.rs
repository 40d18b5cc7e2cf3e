//! What checkpoints ask of a storage, as text.

use crate::formula;
use crate::sheet::Sheet;
use crate::units::{
    format_bps, format_bytes, format_duration_ns, format_percent, format_seconds, group_digits,
};
use crate::{CheckpointNeed, Need, SaveKind};

/// PCIe 4.0 x16 carries 31.5 GB/s; pinned copies to the host's memory reach about four fifths of it.
const LINK_BPS: f64 = 25e9;

/// Adds the lines for writing, for restoring and for the job's time (F46 to F50).
pub(super) fn explain(need: &Need, of: &CheckpointNeed, text: &mut Sheet) {
    text.section("checkpoint", &format!("{}, {}", of.label, of.kind.name()));
    let host = format_bytes(of.host_bytes);
    if of.hosts > 1 {
        let hosts = group_digits(u64::from(of.hosts));
        text.row(
            "bytes",
            &format!("{} by {hosts} hosts; {host} by the one with most", format_bytes(of.bytes)),
        );
    }
    let within = format_duration_ns(of.within_ns);
    let write = format_bps(of.write_bps());
    let all =
        if of.hosts > 1 { format!("; all hosts {}", format_bps(of.job_write_bps())) } else { String::new() };
    text.row("write", &format!("bytes / time = {host} / {within} = {write}{all}"));
    if let Some((bps, ns)) = of.restore_bps().zip(of.restore_within_ns) {
        let (within, bps) = (format_duration_ns(ns), format_bps(bps));
        text.row("restore", &format!("bytes / time = {host} / {within} = {bps}"));
    }
    explain_time(need, of, text);
}

/// What checkpoints at the line take of the job's time.
fn explain_time(need: &Need, of: &CheckpointNeed, text: &mut Sheet) {
    // The accelerators that are named are those of another job.
    let (accelerators, count) = if of.beside_others { (0, 0) } else { (need.accelerators, need.count) };
    // Of a copy nothing is known where no accelerators are named.
    if of.kind == SaveKind::Async && accelerators == 0 {
        return;
    }
    let blocked_s = of.blocked_s(accelerators, LINK_BPS);
    let blocked = format_seconds(blocked_s);
    if of.kind == SaveKind::Async {
        let (host, links) = (format_bytes(of.host_bytes), accelerators);
        let each = format_bps(LINK_BPS);
        text.row("copy", &format!("{host} / ({links} links x {each}) = {blocked}"));
    }
    if let (Some(overhead), Some(every_ns)) = (of.overhead(blocked_s), of.every_ns) {
        let (every, overhead) = (format_duration_ns(every_ns), format_percent(overhead));
        text.row("stopped", &format!("{blocked} every {every} = {overhead} of the time"));
        let busy = of.busy_share(need.utilization, blocked_s).filter(|_| accelerators > 0);
        if let Some(busy) = busy {
            let at_line = format_percent(need.utilization);
            text.row("busy", &format!("{at_line} x (100 % - {overhead}) = {}", format_percent(busy)));
        }
    }
    if count > 0 {
        let hours = formula::checkpoint_hours(count, blocked_s);
        let count = group_digits(u64::from(count));
        text.row("cost", &format!("{count} accelerators x {blocked} = {hours:.3} hours of one for each"));
    }
}
