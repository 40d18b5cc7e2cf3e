//! The way to storage behind a network: connections, messages, bytes on the wire, what waiting cost.

use std::mem::discriminant;

use analysis::{CellSummary, NetworkFigures, Summary, WireFinding};
use record::Target;

use crate::grid::{Column, Grid, Width};
use crate::group::{distinct, gravest};
use crate::number::{latency, percent, three_digits, two_digits};
use crate::side::{Apart, of_measured};
use crate::words;

/// Facts of a target that a head names, and how they are told.
// Those that change how fast a network is; all others are looked up in the table of targets.
const FACTS: [(&str, &str); 3] = [("tls", "TLS"), ("nfs_version", "NFS"), ("nfs_nconnect", "nconnect")];

/// The cells whose way to the storage was counted.
fn cells(summary: &Summary) -> Vec<&CellSummary> {
    summary.cells.iter().filter(|cell| cell.network.is_some()).collect()
}

fn way(cell: &CellSummary) -> Option<&NetworkFigures> {
    cell.network.as_ref()
}

/// What was counted of the way, one row for each cell.
pub(crate) fn table(summary: &Summary) -> Grid {
    let cells = cells(summary);
    let mount = |cell: &CellSummary| way(cell)?.mount;
    let connections = |cell: &CellSummary| {
        let own = way(cell)?.connections;
        // Of a mount the connections are the kernel's, and feedline has none of its own.
        Some(mount(cell).map_or(own, |mount| mount.connections).to_string())
    };
    let messages = |cell: &CellSummary| {
        let own = way(cell)?.messages_per_op;
        // feedline counts messages of its own clients; of a mount the kernel tells how many READs it sent.
        own.or(mount(cell).map(|mount| mount.reads_per_op)).map(two_digits)
    };
    let wire = |cell: &CellSummary| Some(format!("{:.2}", way(cell)?.wire?.per_byte()?));
    let attempts = |cell: &CellSummary| latency(way(cell)?.attempts.as_ref()?.latency.p99_ns);
    let core = Column::figure("busiest core").only(Width::Wide);
    let apart = Apart::among(&cells);
    let mut grid = of_measured(summary, "", &cells)
        .figure("conn", |cell| connections(cell))
        .figure("msg/op", |cell| messages(cell))
        .figure("wire", |cell| wire(cell))
        .figure("NIC", |cell| way(cell)?.nic_share.map(percent))
        .figure("ops/wait", |cell| way(cell)?.ops_per_wait.map(three_digits))
        .figure("CPU us", |cell| way(cell)?.cpu_ns_per_op.map(|ns| three_digits(ns / 1e3)))
        .figure("p99 try", |cell| attempts(cell))
        .figure("p99 op", |cell| latency(service_p99_ns(cell)))
        .column(core, |cell| way(cell)?.busiest_core.map(percent))
        .note(|cell| way(cell).map(|network| note(network, apart.words(cell))).unwrap_or_default())
        .done()
        .without_unknown();
    // Last: the title explains the columns that are left, and no others.
    grid.title = format!("the way to the storage: {}", explained(&grid.columns));
    grid
}

fn service_p99_ns(cell: &CellSummary) -> Option<u64> {
    let of_reads = cell.figures().map(|figures| figures.latency.p99_ns);
    of_reads.or(cell.operations().map(|operations| operations.latency.p99_ns))?
}

/// What the columns hold.
fn explained(columns: &[Column]) -> String {
    let has = |name: &str| columns.iter().any(|column| column.heading == name);
    let parts = [
        (true, "connections, messages and processor time per operation"),
        (has("wire"), "bytes on the wire per byte"),
        (has("p99 try"), "p99 of one attempt and of the operation, ms"),
        // Where attempts were counted one sentence tells of both.
        (has("p99 op") && !has("p99 try"), "p99 of the operation, ms"),
    ];
    parts.iter().filter(|(is_said, _)| *is_said).map(|(_, words)| *words).collect::<Vec<_>>().join(", ")
}

/// What tells a cell apart, what the kernel's client counted, and what went wrong on the way.
fn note(network: &NetworkFigures, apart: String) -> String {
    let parts = [apart, mount_words(network)].into_iter().filter(|part| !part.is_empty());
    let wrong =
        words::network::failed(network, |_| true).into_iter().chain(words::network::redialled(network));
    let wrong = wrong.chain(words::network::retransmitted(network));
    parts.chain(wrong).collect::<Vec<_>>().join("; ")
}

/// What the kernel's own client counted.
fn mount_words(network: &NetworkFigures) -> String {
    let Some(mount) = &network.mount else { return String::new() };
    let mut words = Vec::new();
    words.extend(mount.read_ns.map(|ns| {
        format!("the kernel's READs took {} in the mean", feed::format_duration_ns(ns.round() as u64))
    }));
    if mount.retransmitted > 0 {
        words.push(format!("{} sent again", feed::group_digits(mount.retransmitted)));
    }
    if mount.timeouts > 0 {
        words.push(format!("{} timed out", feed::group_digits(mount.timeouts)));
    }
    words.join(", ")
}

/// Counts of bytes that do not agree: one line for each target and kind of finding, with the words of the worst cell.
pub(crate) fn unreconciled(summary: &Summary) -> Vec<String> {
    let of_cell = |cell: &&'_ CellSummary| {
        let wire = way(cell).and_then(|network| network.wire);
        // A mount has no count of the wire that is its own.
        wire.map(|wire| wire.findings()).unwrap_or_default()
    };
    let cells = cells(summary);
    let found = cells.iter().flat_map(|cell| {
        let (target, name) = (cell.cell.target.as_str(), cell.cell.cell.as_str());
        of_cell(cell).into_iter().map(move |found| ((target, discriminant(&found)), name, found))
    });
    let line = |((target, _), worst, names): (_, WireFinding, Vec<&str>)| {
        let words = words::reconciliation::wire(&worst);
        match names.as_slice() {
            [one] => format!("{one}: {words}"),
            names => format!("{} cells of {target}, the most in {}: {words}", names.len(), names[0]),
        }
    };
    gravest(found, WireFinding::extent).into_iter().map(line).collect()
}

/// Whether a target is behind a network as far as the record knows.
pub(crate) fn is_remote(summary: &Summary, target: &Target) -> bool {
    summary
        .cells
        .iter()
        // By its cells and not by its address: a mounted NFS export has the path of a folder.
        .any(|cell| cell.cell.target == target.name && (cell.cell.connections > 0 || cell.network.is_some()))
}

/// How a target behind a network is reached: `8 to 64 connections, 2 addresses, TLS 1.3`; empty for others.
pub(crate) fn place(summary: &Summary, target: &Target) -> String {
    if !is_remote(summary, target) {
        return String::new();
    }
    let fact =
        |name: &str| target.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str());
    // S3 lists the addresses of its endpoint, NFS says how many it uses.
    let listed = fact("endpoint_addresses").map(|list| list.split_whitespace().count() as u64);
    let addresses = fact("server_addresses").and_then(|count| count.parse().ok()).or(listed);
    let addresses =
        addresses.filter(|count| *count > 1).map(|count| format!("{} addresses", feed::group_digits(count)));
    let facts = FACTS.iter().filter_map(|(name, words)| Some(format!("{words} {}", fact(name)?)));
    connections(summary, target).into_iter().chain(addresses).chain(facts).collect::<Vec<_>>().join(", ")
}

/// `1 to 32 connections`; absent where feedline has none of its own.
fn connections(summary: &Summary, target: &Target) -> Option<String> {
    let of_target = summary.cells.iter().filter(|cell| cell.cell.target == target.name);
    let connections = of_target.map(|cell| cell.cell.connections).filter(|connections| *connections > 0);
    // Cells of a target may differ in them, as depths do.
    let (least, most) = (connections.clone().min()?, connections.max()?);
    let most_words = feed::counted_noun(u64::from(most), "connection");
    Some(if least == most { most_words } else { format!("{least} to {most_words}") })
}

fn engines<'a>(summary: &'a Summary, target: &Target) -> Vec<&'a str> {
    let of_target = summary.cells.iter().filter(|cell| cell.cell.target == target.name);
    distinct(of_target.map(|cell| cell.cell.engine.as_str()))
}

/// All that is known of a target behind a network, for the table of targets: engines, connections, attempts, and each fact
/// with its bytes readable. The client that was opened first is one of the engines.
pub(crate) fn facts(summary: &Summary, target: &Target) -> Vec<String> {
    let of_target = summary.cells.iter().filter(|cell| cell.cell.target == target.name);
    let retries = of_target.map(|cell| cell.cell.retries).max().filter(|retries| *retries > 0);
    let retries = retries
        .map(|retries| format!("at most {}", feed::counted_noun(u64::from(retries), "further attempt")));
    let facts = target.facts.iter().filter(|fact| fact.name != "client").map(|fact| {
        let bytes = fact.name.strip_suffix("_bytes").zip(fact.value.parse().ok());
        match bytes {
            Some((name, bytes)) => format!("{} {}", name.replace('_', " "), feed::format_bytes(bytes)),
            None => format!("{} {}", fact.name.replace('_', " "), fact.value),
        }
    });
    let engines = engines(summary, target).join(", ");
    std::iter::once(format!("engine {engines}"))
        .chain(connections(summary, target))
        .chain(retries)
        .chain(facts)
        .collect()
}
