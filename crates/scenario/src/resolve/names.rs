//! What a cell is called, and what distinguishes it: one combination of what a scenario lists.

use plan::{
    Access, Advice, Axis, Cache, Cell, Codec, Durability, Engine, Fetch, Layout, Load, Numa, Operation,
    Pages, Registered, Streams, Tier, Training,
};

use super::block::{Block, Sample};
use super::connections::Connections;
use super::engine::Lane;
use super::forms::{Choice, Form};
use super::pace;
use super::target::Resolved;

/// The name of a cell and its coordinates. They are made together, so that every kind of cell says a coordinate in the
/// same words. Records keep both: what a name left out in one version stays left out.
#[derive(Debug, Default)]
pub(super) struct Name {
    // Not one list of pairs: engines that stand in and depths have a word that is not their coordinate's
    // value.
    words: Vec<String>,
    axes: Vec<Axis>,
}

impl Name {
    /// A word of the name that is no coordinate by itself.
    pub(super) fn word(mut self, word: impl Into<String>) -> Self {
        self.words.push(word.into());
        self
    }

    /// A coordinate that the name does not say.
    pub(super) fn axis(
        mut self,
        name: &'static str,
        value: &(impl ToString + ?Sized),
        unit: &'static str,
    ) -> Self {
        self.axes.push(Axis { name, value: value.to_string(), unit });
        self
    }

    /// A coordinate that is its own word in the name.
    pub(super) fn both(self, name: &'static str, word: &str) -> Self {
        self.word(word).axis(name, word, "")
    }

    /// Adds what only some cells have.
    fn with<T>(self, value: Option<T>, say: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => say(self, value),
            None => self,
        }
    }

    /// A layout, by its word alone.
    pub(super) fn layout_word(self, layout: Option<Layout>) -> Self {
        self.with(layout, |name, layout| name.word(layout.name()))
    }

    /// The size of samples, and what else sets their dataset apart.
    pub(super) fn sample(self, sample: Sample) -> Self {
        let sized = match sample.bytes {
            Some(bytes) => self.word(format!("{bytes}B")).axis("sample_size", &bytes, "B"),
            None => self.both("sample_size", "existing"),
        };
        sized.form(sample.form)
    }

    fn form(self, form: Form) -> Self {
        self.with(form.shard_bytes.and_then(Choice::said), |name, bytes| {
            name.word(format!("shards-{}", compact_bytes(bytes))).axis("shard_size", &bytes, "B")
        })
        .with(form.members.and_then(Choice::said), |name, members| {
            name.word(format!("members-{members}")).axis("members", &members, "")
        })
        .with(form.codec.and_then(Choice::said).map(Codec::name), |name, codec| {
            name.word(format!("codec-{codec}")).axis("codec", codec, "")
        })
        .with(form.compressible_percent.and_then(Choice::said), |name, percent| {
            name.word(format!("compressible-{percent}%")).axis("compressibility", &percent, "%")
        })
    }

    /// The size of blocks.
    pub(super) fn block(self, bytes: u32) -> Self {
        self.word(compact_bytes(u64::from(bytes))).axis("block_size", &bytes, "B")
    }

    /// Treatment of the page cache.
    pub(super) fn cache(self, cache: Cache) -> Self {
        self.both("cache", cache.name())
    }

    /// Reads or writes outstanding, and the threads that share them.
    pub(super) fn depth(self, depth: u32, threads: u32) -> Self {
        self.word(format!("qd{depth}")).axis("queue_depth", &depth, "").axis("threads", &threads, "")
    }

    /// A plain cell of this name, by one of a target's engines.
    pub(super) fn cell(self, of: Of<'_>, block_bytes: u32, depth: u32) -> Cell {
        let Of { resolved, index, lane, seed } = of;
        Cell {
            slug: self.words.join("/"),
            target: index,
            stands_in_for: lane.stands_in_for.clone(),
            registered: if lane.engine == Engine::IoUring { resolved.registered } else { Registered::Off },
            advice: lane.advice,
            retries: resolved.network.as_ref().map_or(0, |network| network.retries),
            seed,
            axes: self.axes,
            ..Cell::plain(lane.engine, block_bytes, depth)
        }
    }
}

/// One combination, before it becomes a cell.
// Apart from the cell, which has a name: the name is made of these, and what a cell adds follows from them.
pub(super) struct Point<'a> {
    pub(super) lane: &'a Lane,
    pub(super) operation: Operation,
    pub(super) dataset: usize,
    pub(super) sample: Sample,
    /// How samples lie, where the name says it.
    pub(super) layout: Option<Layout>,
    pub(super) block: Block,
    /// Pages of the buffers, where the name says them.
    pub(super) pages: Option<Pages>,
    /// Where threads run, where the name says it.
    pub(super) numa: Option<Numa>,
    /// What is promised of a write, where the name says it.
    pub(super) durability: Option<Durability>,
    /// Share of the blocks that are written, of a mix.
    pub(super) write_percent: Option<u8>,
    pub(super) access: Access,
    pub(super) cache: Cache,
    /// Advice to the kernel, where the name says it.
    pub(super) fadvise: Option<Advice>,
    pub(super) tier: Option<&'a Tier>,
    pub(super) load: Load,
    /// `None` where there is no network.
    pub(super) connections: Option<Connections>,
    pub(super) depth: u32,
}

/// What a cell is of: a target, by its index, in one of its ways.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    pub(super) resolved: &'a Resolved<'a>,
    pub(super) index: usize,
    pub(super) lane: &'a Lane,
    pub(super) seed: u64,
}

/// The name of a cell that reads: stable, unique and readable. What every cell has in common with a plain closed loop of
/// reads is left out.
pub(super) fn of_reads(resolved: &Resolved<'_>, point: &Point<'_>, threads: u32) -> Name {
    // Plain reads came first, and records of theirs have names without the operation.
    let operation = (point.operation != Operation::Read).then(|| point.operation.name());
    // Said even where it is normal: maps had the coordinate from their first record on.
    let advice = (point.lane.engine == Engine::Mmap).then(|| point.lane.advice.name());
    // Connections by default follow the depth, and say nothing of their own.
    let connections = point.connections.and_then(|connections| connections.written);
    Name::default()
        .both("target", &resolved.target.name)
        .both("engine", &engine_word(point.lane))
        .with(advice, |name, advice| name.word(format!("madvise-{advice}")).axis("madvise", advice, ""))
        .with(operation, |name, operation| name.both("operation", operation))
        .with(point.layout, |name, layout| name.both("layout", layout.name()))
        .sample(point.sample)
        .with(point.operation.moves_bytes().then_some(point.block.bytes), Name::block)
        .with(point.pages.map(Pages::name), |name, pages| {
            name.word(format!("{pages}-pages")).axis("pages", pages, "")
        })
        .with(point.numa.map(Numa::name), |name, numa| {
            name.word(format!("numa-{numa}")).axis("numa", numa, "")
        })
        .with(point.write_percent, |name, percent| {
            name.word(format!("write-{percent}%")).axis("mix", &percent, "%")
        })
        .with(point.durability.map(Durability::name), |name, durability| {
            name.word(format!("kept-{durability}")).axis("durability", durability, "")
        })
        .order(point)
        .cache(point.cache)
        .with(point.fadvise.map(Advice::name), |name, advice| {
            name.word(format!("fadvise-{advice}")).axis("fadvise", advice, "")
        })
        .with(tier(resolved, point), |name, policy| {
            name.word(format!("tier-{policy}")).axis("cache_tier", policy, "")
        })
        .load(point.load)
        .with(connections, |name, number| name.word(format!("c{number}")).axis("connections", &number, ""))
        .depth(point.depth, threads)
}

impl Name {
    /// `shuffled_epoch`, or `shuffled_shards-s16` where shards are streamed.
    fn order(self, point: &Point<'_>) -> Self {
        let order = point.access.name();
        match point.access.streams() {
            None => self.both("access", order),
            // The shuffle buffer is no part of the name: it changes no read.
            Some(Streams { count, .. }) => {
                let name = self.word(format!("{order}-s{count}"));
                name.axis("access", order, "").axis("streams", &count, "")
            }
        }
    }

    /// `paced-80%`, `a8-r4-p8`, `a8-shared-p8`; nothing of a closed loop.
    fn load(self, load: Load) -> Self {
        match load {
            Load::Closed => self,
            Load::Paced(pace) => {
                let (word, (value, unit)) = pace::rate_words(pace.rate);
                self.word(format!("paced-{word}")).axis("rate", &value, unit)
            }
            Load::Training(Training { accelerators, fetch, fetches, prefetch, .. }) => {
                // `a8-r4-p8`: each number after its letter, since names of jobs are long enough to be
                // folded in tables.
                let (word, readers) = match fetch {
                    Fetch::Readers { count } => (format!("r{count}"), count.to_string()),
                    Fetch::Shared => (fetch.name().to_owned(), fetch.name().to_owned()),
                };
                // Where each reads one after the other, as in all jobs before there were others, nothing is said.
                let several = (fetches > 1).then_some(fetches);
                let times = several.map_or_else(String::new, |fetches| format!("x{fetches}"));
                self.word(format!("a{accelerators}-{word}{times}-p{prefetch}"))
                    .axis("accelerators", &accelerators, "")
                    .axis("readers", &readers, "")
                    .with(several, |name, fetches| name.axis("fetches", &fetches, ""))
                    .axis("prefetch", &prefetch, "")
            }
        }
    }
}

fn engine_word(lane: &Lane) -> String {
    match lane.stands_in_for.as_deref().and_then(|reason| reason.split(':').next()) {
        // In the name, so that no baseline of one engine is compared with its stand-in.
        Some(missing) => format!("{}(for {missing})", lane.engine),
        None => lane.engine.to_string(),
    }
}

/// Policy of the cache that a target is read through, or that there is none where others have one.
fn tier(resolved: &Resolved<'_>, point: &Point<'_>) -> Option<&'static str> {
    let is_asked = resolved.tiers.iter().any(Option::is_some);
    // Where any target has a cache the others say that they have none, so that their cells can be told
    // apart in one table.
    is_asked.then(|| point.tier.map_or("none", |tier| tier.policy.name()))
}

/// `128KiB` where that is exact, else bytes: different sizes never look the same.
fn compact_bytes(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = units.into_iter().find(|(shift, _)| bytes.trailing_zeros() >= *shift);
    whole.map_or_else(|| format!("{bytes}B"), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}
