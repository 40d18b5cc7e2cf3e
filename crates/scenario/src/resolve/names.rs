//! What a cell is called, and what distinguishes it.

use plan::{Axis, Engine, Fetch, Load, Operation, Training};

use super::cells::Point;
use super::engine::Lane;
use super::pace;
use super::target::Resolved;

/// Stable, unique and readable. What every cell has in common with a plain closed loop of reads is left out.
pub(super) fn slug(resolved: &Resolved<'_>, point: &Point<'_>) -> String {
    let sample = point.sample.bytes.map_or_else(|| "existing".to_owned(), |bytes| format!("{bytes}B"));
    let block = compact_bytes(u64::from(point.block.bytes));
    let parts = [
        Some(resolved.target.name.clone()),
        Some(engine_word(point.lane)),
        advice(point).map(|advice| format!("madvise-{advice}")),
        (point.operation != Operation::Read).then(|| point.operation.name().to_owned()),
        point.layout.map(|layout| layout.name().to_owned()),
        Some(sample),
        point.operation.reads_bytes().then_some(block),
        pages(point).map(|pages| format!("{pages}-pages")),
        Some(access(point)),
        Some(point.cache.name().to_owned()),
        tier(resolved, point).map(|policy| format!("tier-{policy}")),
        rate(point).map(|(word, _)| format!("paced-{word}")),
        job(point).map(|job| job.word()),
        connections(point).map(|connections| format!("c{connections}")),
        Some(format!("qd{}", point.depth)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

/// The coordinates of a cell, in a fixed order.
pub(super) fn axes(resolved: &Resolved<'_>, point: &Point<'_>, threads: u32) -> Vec<Axis> {
    let axis = |name, value: String, unit| Axis { name, value, unit };
    let sample = match point.sample.bytes {
        Some(bytes) => axis("sample_size", bytes.to_string(), "B"),
        None => axis("sample_size", "existing".to_owned(), ""),
    };
    let operation = (point.operation != Operation::Read).then(|| point.operation.name().to_owned());
    let block = point.operation.reads_bytes().then(|| point.block.bytes.to_string());
    let axes = [
        Some(axis("target", resolved.target.name.clone(), "")),
        Some(axis("engine", engine_word(point.lane), "")),
        advice(point).map(|advice| axis("madvise", advice.to_owned(), "")),
        operation.map(|operation| axis("operation", operation, "")),
        point.layout.map(|layout| axis("layout", layout.name().to_owned(), "")),
        Some(sample),
        block.map(|bytes| axis("block_size", bytes, "B")),
        pages(point).map(|pages| axis("pages", pages.to_owned(), "")),
        Some(axis("access", point.access.name().to_owned(), "")),
        streams(point).map(|streams| axis("streams", streams.to_string(), "")),
        Some(axis("cache", point.cache.name().to_owned(), "")),
        tier(resolved, point).map(|policy| axis("cache_tier", policy.to_owned(), "")),
        rate(point).map(|(_, (value, unit))| axis("rate", value, unit)),
        job(point).map(|job| axis("accelerators", job.accelerators.to_string(), "")),
        job(point).map(|job| axis("readers", job.readers(), "")),
        job(point).map(|job| axis("prefetch", job.prefetch.to_string(), "")),
        connections(point).map(|connections| axis("connections", connections.to_string(), "")),
        Some(axis("queue_depth", point.depth.to_string(), "")),
        Some(axis("threads", threads.to_string(), "")),
    ];
    axes.into_iter().flatten().collect()
}

/// Pages of the buffers, where they are an axis or not those of a loader.
fn pages(point: &Point<'_>) -> Option<&'static str> {
    let (pages, is_said) = point.pages;
    is_said.then(|| pages.name())
}

/// `shuffled_epoch`, or `shuffled_shards-s16`.
fn access(point: &Point<'_>) -> String {
    let name = point.access.name();
    streams(point).map_or_else(|| name.to_owned(), |streams| format!("{name}-s{streams}"))
}

/// Shards side by side, where they are streamed.
fn streams(point: &Point<'_>) -> Option<u32> {
    Some(point.streams).filter(|streams| *streams > 0)
}

fn engine_word(lane: &Lane) -> String {
    match lane.stands_in_for.as_deref().and_then(|reason| reason.split(':').next()) {
        Some(missing) => format!("{}(for {missing})", lane.engine),
        None => lane.engine.to_string(),
    }
}

fn advice(point: &Point<'_>) -> Option<&'static str> {
    (point.lane.engine == Engine::Mmap).then(|| point.lane.advice.name())
}

/// Connections as written: by default they follow the depth, and say nothing of their own.
fn connections(point: &Point<'_>) -> Option<u32> {
    point.connections?.written
}

/// Policy of the cache that a target is read through, or that there is none where others have one.
fn tier(resolved: &Resolved<'_>, point: &Point<'_>) -> Option<&'static str> {
    let is_asked = resolved.tiers.iter().any(Option::is_some);
    is_asked.then(|| point.tier.map_or("none", |tier| tier.policy.name()))
}

fn rate(point: &Point<'_>) -> Option<(String, (String, &'static str))> {
    match point.load {
        Load::Closed | Load::Training(_) => None,
        Load::Paced(pace) => Some(pace::rate_words(pace.rate)),
    }
}

/// What distinguishes one training job of a scenario from another.
struct Job {
    accelerators: u32,
    fetch: Fetch,
    prefetch: u32,
}

impl Job {
    /// `a8-r4-p8`, or `a8-shared-p8`.
    fn word(&self) -> String {
        let fetch = match self.fetch {
            Fetch::Readers { count } => format!("r{count}"),
            Fetch::Shared => self.fetch.name().to_owned(),
        };
        format!("a{}-{fetch}-p{}", self.accelerators, self.prefetch)
    }

    /// Readers of each accelerator, or that there are none.
    fn readers(&self) -> String {
        match self.fetch {
            Fetch::Readers { count } => count.to_string(),
            Fetch::Shared => self.fetch.name().to_owned(),
        }
    }
}

fn job(point: &Point<'_>) -> Option<Job> {
    match point.load {
        Load::Closed | Load::Paced(_) => None,
        Load::Training(Training { accelerators, fetch, prefetch, .. }) => {
            Some(Job { accelerators, fetch, prefetch })
        }
    }
}

/// `128KiB` where that is exact, else bytes: different sizes never look the same.
pub(super) fn compact_bytes(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = units.into_iter().find(|(shift, _)| bytes.trailing_zeros() >= *shift);
    whole.map_or_else(|| format!("{bytes}B"), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}
