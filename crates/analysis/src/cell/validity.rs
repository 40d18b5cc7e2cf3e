//! When a number may lie: what is checked.

use std::collections::{BTreeMap, BTreeSet};

use feed::{Access, Cache, Flow, Operation};
use record::{Ceiling, Cell, Measure, Outcome, Rep, counter};

use crate::cell::context::Context;
use crate::cell::counters::{counted, errors};
use crate::cell::crowd;
use crate::cell::facts::FlushedMedium;
use crate::cell::flag::{Flag, GIVEN_UP_MAX, Gravity, TURNS_MIN};
use crate::cell::latency::Merged;
use crate::cell::lines::Rereads;
use crate::cell::mix;
use crate::cell::network;
use crate::cell::operation;
use crate::cell::paced::{LAG_SHARE_MAX, Paced, in_flight};
use crate::cell::repetitions::Repetitions;
use crate::cell::repetitions::WINDOW_NS_MIN;
use crate::cell::steadiness;
use crate::cell::system::{Reconciliation, SystemFigures, is_over_its_window};

/// The engine whose reads are page faults.
const MAP: &str = "mmap";
// Each of them keeps a thread for as long as a read of the device: one for each hundred operations is where that shows in
// the mean. A few come of a program's first use of a page.
/// Page faults that read, by operation, above which this process waited for its own memory.
const FAULTS_PER_OP_MAX: f64 = 0.01;
/// The fewest of them that are worth a word.
const FAULTS_MIN: u64 = 20;
// A queue whose server has one station is twice as slow at 70 % of its capacity as at 40 %: well before its ceiling the client
// adds latency of its own.
/// Share of the null ceiling above which the client, not the storage, is being measured.
const CEILING_SHARE_MAX: f64 = 0.70;
// Threads are loaded unevenly: at 85 % of all their processors some are full, and those bound the rate.
/// Share of the processor time this process may use, from which on the client is the limit.
const CPU_SHARE_MAX: f64 = 0.85;
// The interface counts frames without preamble, gap and checksum, 24 B of each: a full wire shows 98 % with frames of 1,500 B,
// and less with smaller ones.
/// Share of the network interface's rate, from which on the client is the limit.
const NIC_SHARE_MAX: f64 = 0.90;
// Interrupts of one receive queue run on one processor. It is full while the machine, and this process, look idle.
/// Share of the windows in which one processor was busy, from which on receiving may be the limit: the kernel's part of
/// it is not in this process's time.
const CORE_SHARE_MAX: f64 = 0.95;
/// Utilization without storage below which the client has a part in it.
pub(crate) const NULL_AU_MIN: f64 = 0.999;
// Not zero: the kernel keeps pages that are mapped, locked or under write-back, and a reader such as `updatedb` may pass by. A
// hundredth cannot move a mean that is judged at a few percent.
/// Share of the dataset that may be resident before a cold repetition.
const COLD_RESIDENT_MAX: f64 = 0.01;
/// Share of the dataset that must be resident before a warm repetition.
const WARM_RESIDENT_MIN: f64 = 0.99;
// What was asked for is the plan: a window that ended at a tenth of it may have met the cache of the device, or a burst, and
// nothing else.
/// Share of the planned window below which a repetition is too short.
const WINDOW_SHARE_MIN: f64 = 0.20;
/// Share of the dataset that may be resident after a repetition that bypasses the page cache.
const BYPASSED_RESIDENT_MAX: f64 = 0.01;
/// Bytes of a page of most machines.
const PAGE_BYTES: f64 = 4096.0;
/// Share of the dataset that may be resident around a repetition whose reads drop their pages at once.
const DROPPED_RESIDENT_MAX: f64 = 0.01;
/// Bytes of a request of the device by those of a block, above which requests were merged on the way.
const MERGED_MIN: f64 = 1.05;
/// Bytes that the device read by those of this process, above which its requests are not of this process alone.
const OTHERS_MIN: f64 = 1.02;
/// Share of the bytes asked that storage was not asked for, from which on holes in the files matter.
const HOLES_MIN: f64 = 0.02;
/// Share of a dataset's bytes without storage from which on its files have holes.
const UNALLOCATED_MIN: f64 = 0.01;
// What is under way at either end of a window is counted on one side of it alone: a few hundredths of a short one.
/// Share of the bytes written that the device must have taken.
const TAKEN_MIN: f64 = 0.9;
/// Share of the flushes that writes need at the least.
// What is under way at either end of a window is counted on one side of it alone, and by other counters.
const FLUSHES_MIN: f64 = 0.5;
/// The shortest mean time of a flush by a device that turns.
// One that turns 15,000 times a minute waits 2 ms in the mean until the place to write to comes by.
const FLUSH_NS_MIN: f64 = 1e6;
// Opening costs a lookup and an inode, microseconds where they are in memory and several reads where they are not: one for each
// hundred reads is where that shows in the mean.
/// Share of reads that opened a file, from which on it is said.
const OPENED_SHARE_MIN: f64 = 0.01;
// Poisson arrivals scatter: a window of 2,000 holds 2 % more or less by chance alone. Beyond 5 % the schedule, and not chance,
// was not met.
/// What the arrivals offer by what they were to offer, below which a window holds too little of its schedule.
const REAL_SHARE_MIN: f64 = 0.95;
/// Kind of error of a read that held something else than what was written.
const CORRUPT: &str = "corrupt";
/// The same of a window that ended with its last read, and so cuts none off: the start of the threads, some tens of
/// microseconds, is below a hundredth of it. How many reads it must hold is said by [`TURNS_MIN`].
const READ_NS_MIN: u64 = 10_000_000;
// From 1 % on a note says it. A verdict is withheld only where what was stolen is as much as threads may wait for each other.
/// Share of processor time taken by the hypervisor above which it is said.
const STEAL_SHARE_MAX: f64 = 0.05;

/// How busy the client was.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ClientShares {
    /// Of the null ceiling; absent without one.
    pub(crate) ceiling: Option<f64>,
    /// Of the processor time its threads may use; absent when it was not taken.
    pub(crate) cpu: Option<f64>,
    /// Of the rate of the network interface; absent where it has none.
    pub(crate) nic: Option<f64>,
    /// Of the busiest processor, whoever kept it so; absent for storage that is not behind a network.
    pub(crate) core: Option<f64>,
    /// Utilization that the same training job reaches without storage; absent without one.
    pub(crate) null_au: Option<f64>,
}

impl ClientShares {
    /// Those that others on the machine do not explain: who finds no processor comes near to a ceiling that was measured
    /// beside the same others, and finds every core busy.
    fn own(self) -> Self {
        // The other two stay: processor time counts this process alone, and no crowd on the processors fills an interface.
        Self { ceiling: None, core: None, null_au: None, ..self }
    }
}

/// Share of the null ceiling: reads per second for direct reads, bytes per second where each read is copied.
///
/// Of several ceilings of one cell the lowest decides.
pub(crate) fn ceiling_share(ops_per_s: f64, bps: f64, ceilings: &[&Ceiling]) -> Option<f64> {
    ceilings
        .iter()
        .filter(|ceiling| is_known(ceiling))
        .map(|ceiling| {
            let (rate, count) = if ceiling.copies { (bps, ceiling.bytes) } else { (ops_per_s, ceiling.ops) };
            rate / (count as f64 / (ceiling.window_ns as f64 / 1e9))
        })
        .filter(|share| share.is_finite())
        // The lowest ceiling gives the highest share. A control that had a good moment must not hide a client that was near its
        // limit.
        .reduce(f64::max)
}

/// Whether a ceiling was measured at all: one without a read says nothing.
pub(crate) fn is_known(ceiling: &Ceiling) -> bool {
    ceiling.window_ns > 0 && ceiling.ops > 0
}

/// All flags of a cell's repetitions in one role, gravest first.
pub(crate) fn flags(
    context: &Context<'_>,
    reps: &Repetitions<'_>,
    client: ClientShares,
    histograms: &Merged<'_>,
) -> Vec<Flag> {
    let (cell, storage) = (context.cell, context.storage);
    let used = reps.used.as_slice();
    // Failed repetitions make no point, but their errors and wrong bytes are the storage's all the same.
    let all: Vec<&Rep> = used.iter().chain(&reps.failed).copied().collect();
    let waited = crowd::waited(cell, used).filter(|_| storage);
    // Crowded-out threads come near their ceiling because it was measured beside the same crowd. Calling that client-limited
    // would blame this process for its neighbours.
    let client = if waited.as_ref().is_some_and(Flag::is_crowd) { client.own() } else { client };
    let mut flags: Vec<Flag> = [
        client_limited(storage, client),
        waited,
        cache(cell, storage, used),
        wrong_bytes(&all),
        too_short(used, cell, context.measure),
        one_sided(used, cell),
        few_turns(used, cell),
        steadiness::within_windows(context, used),
        read_errors(cell, &all),
        failed_repetitions(reps),
        stolen(cell, used, context.cores_online),
        faulted(cell, storage, used),
        abandoned(&all),
        exhausted(used),
        clamped(used),
        opened(cell, used),
        names_in_memory(cell, storage, used),
        in_memory(context),
        flushed(context, used),
        merged(cell, used),
        cell.stands_in_for.clone().map(|asked| Flag::StandsIn { asked }),
    ]
    .into_iter()
    .flatten()
    .collect();
    flags.extend(network::flags(context, used, histograms));
    flags.sort_by_key(|flag| flag.gravity() == Gravity::Informs);
    flags
}

fn client_limited(storage: bool, client: ClientShares) -> Option<Flag> {
    let ceiling_share = client.ceiling.filter(|share| *share > CEILING_SHARE_MAX);
    let cpu_share = client.cpu.filter(|share| *share >= CPU_SHARE_MAX);
    // The null target is the client's limit by design.
    let nic_share = client.nic.filter(|share| *share >= NIC_SHARE_MAX);
    let core_share = client.core.filter(|share| *share >= CORE_SHARE_MAX);
    // The control runs first batch excluded, so that a good client reaches 1 but for the granularity of its own clock.
    let null_au = client.null_au.filter(|au| *au < NULL_AU_MIN);
    let is_limited = [ceiling_share, cpu_share, nic_share, core_share, null_au].iter().any(Option::is_some);
    (storage && is_limited).then_some(Flag::ClientLimited {
        ceiling_share,
        cpu_share,
        nic_share,
        core_share,
        null_au,
    })
}

fn cache(cell: &Cell, storage: bool, used: &[&Rep]) -> Option<Flag> {
    // The null target has no bytes that a cache could hold, and names say nothing of pages.
    if !storage || !(operation::reads_bytes(cell) || operation::writes_over(cell)) {
        return None;
    }
    let shares: Option<Vec<f64>> = used.iter().map(|rep| resident_before(rep)).collect();
    match cell.cache.known() {
        Some(Cache::Cold | Cache::ColdStart) => {
            let resident = shares.and_then(|shares| shares.into_iter().reduce(f64::max));
            resident.is_none_or(|share| share > COLD_RESIDENT_MAX).then_some(Flag::NotCold { resident })
        }
        // What is written anew finds nothing of what was there before.
        Some(Cache::Warm) if cell.operation == Operation::WriteFile => None,
        Some(Cache::Warm) => {
            // The worst repetition, and not the mean: one that was cold shares its rate with the others.
            let resident = shares.and_then(|shares| shares.into_iter().reduce(f64::min));
            resident.is_none_or(|share| share < WARM_RESIDENT_MIN).then_some(Flag::NotWarm { resident })
        }
        Some(Cache::Bypass) => {
            // Where nobody can tell there is no flag: a mount without `cachestat` would else never be judged with direct reads.
            // The notes say that it is not proven.
            let resident = used.iter().filter_map(|rep| left_after(rep)).reduce(f64::max)?;
            let allowed =
                BYPASSED_RESIDENT_MAX + used.iter().map(|rep| ends_left(cell, rep)).fold(0.0, f64::max);
            (resident > allowed).then_some(Flag::NotBypassed { resident })
        }
        Some(Cache::DontCache) => {
            let around = |rep: &&Rep| Some(left(rep, rep.cache.before_bytes)?.max(left_after(rep)?));
            let shares: Option<Vec<f64>> = used.iter().map(around).collect();
            let resident = shares.and_then(|shares| shares.into_iter().reduce(f64::max));
            resident.is_none_or(|share| share > DROPPED_RESIDENT_MAX).then_some(Flag::NotDropped { resident })
        }
        _ => None,
    }
}

/// Share of the dataset resident before a repetition; `None` when nothing could tell.
pub(crate) fn resident_before(rep: &Rep) -> Option<f64> {
    resident(rep, rep.cache.before_bytes)
}

/// Bytes resident after a repetition whose reads leave nothing, by what they could have left; `None` when nothing
/// could tell.
pub(crate) fn left_after(rep: &Rep) -> Option<f64> {
    left(rep, rep.cache.after_bytes)
}

/// Share of what a repetition wrote that may be resident because files were cut off at their ends: the kernel clears the rest of
/// the last page in memory.
fn ends_left(cell: &Cell, rep: &Rep) -> f64 {
    let (ops, bytes) = (counted(rep, counter::OPS) as f64, counted(rep, counter::BYTES) as f64);
    if cell.operation == Operation::WriteFile { PAGE_BYTES * ops / bytes.max(1.0) } else { 0.0 }
}

/// A repetition that read a small part of its dataset can leave no more than that: the dataset would hide it.
fn left(rep: &Rep, bytes: Option<u64>) -> Option<f64> {
    let by_dataset = resident(rep, bytes)?;
    let (ops, read) = (counted(rep, counter::OPS) as f64, counted(rep, counter::BYTES) as f64);
    // The warm-up counts no bytes. Its reads are of the same sizes, so that their mean stands for them.
    let read = read + counted(rep, counter::WARMUP_OPS) as f64 * read / ops;
    let total = rep.cache.total_bytes as f64;
    let is_part = read > 0.0 && read < total;
    Some(if is_part { (by_dataset * total / read).min(1.0) } else { by_dataset })
}

fn resident(rep: &Rep, bytes: Option<u64>) -> Option<f64> {
    let total = rep.cache.total_bytes;
    bytes.filter(|_| total > 0).map(|bytes| bytes as f64 / total as f64)
}

/// Only the first reads of each thread are compared, so a single wrong one stands for many.
fn wrong_bytes(all: &[&Rep]) -> Option<Flag> {
    let found: u64 = all.iter().filter_map(|rep| rep.errors.get(CORRUPT)).sum();
    let checked: u64 = all.iter().map(|rep| counted(rep, counter::VERIFIED)).sum();
    (found > 0).then(|| Flag::WrongBytes { found, checked: checked.max(found) })
}

/// What a second reading says of the reads of these repetitions: those that brought other bytes, and those that could
/// not be made again.
pub(crate) fn second_reading(rereads: &Rereads<'_>, used: &[&Rep]) -> Vec<Flag> {
    // By rank and place in the run, and not by cell: a repetition that was made again reads an epoch of its own, and what was
    // wrong in the dropped one says nothing of its bytes.
    let places: BTreeSet<(u32, u32)> = used.iter().map(|rep| (rep.rank, rep.order)).collect();
    let (mut found, mut checked, mut kinds) = (0, 0, BTreeMap::new());
    for again in places.iter().filter_map(|place| rereads.get(place)).flatten() {
        found += again.wrong;
        checked += again.checked;
        for (kind, reads) in &again.unread {
            *kinds.entry(kind.clone()).or_insert(0) += reads;
        }
    }
    let unread: u64 = kinds.values().sum();
    let wrong = (found > 0).then_some(Flag::WrongBytes { found, checked });
    let lost = (unread > 0).then(|| Flag::NotReread { unread, of: checked + unread, kinds });
    wrong.into_iter().chain(lost).collect()
}

fn too_short(used: &[&Rep], cell: &Cell, measure: &Measure) -> Option<Flag> {
    let is_short = |rep: &&&Rep| rep.window_ns < window_ns_min(rep, cell, measure);
    let short: Vec<u64> = used.iter().filter(is_short).map(|rep| rep.window_ns).collect();
    let window_ns = short.iter().copied().min()?;
    Some(Flag::TooShort { repetitions: short.len() as u32, window_ns })
}

/// The shortest window that stands for something. How long a number of reads takes is their result; that of a cold
/// repetition is its data, which is read once.
fn window_ns_min(rep: &Rep, cell: &Cell, measure: &Measure) -> u64 {
    let is_job = cell.training.is_some();
    if operation::is_transfer(cell) || (is_job && measure.steps.is_some()) {
        return WINDOW_NS_MIN;
    }
    match measure.duration_ns {
        _ if rep.outcome == Outcome::Exhausted && !is_job => READ_NS_MIN,
        // Without a planned duration the window ended because its reads did. A fast disk would else be refused its verdict for
        // being fast.
        None if !is_job => READ_NS_MIN,
        planned => WINDOW_NS_MIN.max((planned.unwrap_or(0) as f64 * WINDOW_SHARE_MIN) as u64),
    }
}

/// What the one part of a mix got in windows that hold nothing of the other says nothing of both.
fn one_sided(used: &[&Rep], cell: &Cell) -> Option<Flag> {
    mix::share(cell)?;
    let without = |kind: Flow| {
        let moved = |rep: &Rep| {
            let written = mix::written_bytes(cell, rep).unwrap_or(0);
            if kind == Flow::Writes { written } else { counted(rep, counter::BYTES) - written }
        };
        // Of operations that failed the errors say enough.
        let repetitions = used.iter().filter(|rep| errors(rep) == 0 && moved(rep) == 0).count() as u32;
        (repetitions > 0).then_some(Flag::OneSided { kind, repetitions })
    };
    without(Flow::Writes).or_else(|| without(Flow::Reads))
}

fn few_turns(used: &[&Rep], cell: &Cell) -> Option<Flag> {
    // A job that waits for nothing leaves its queue empty: its steps are what counts. A transfer ends with its bytes.
    if cell.training.is_some() || operation::is_transfer(cell) {
        return None;
    }
    let few: Vec<f64> = used.iter().map(|rep| turns(rep, cell)).filter(|turns| *turns < TURNS_MIN).collect();
    let fewest = few.iter().copied().reduce(f64::min)?;
    Some(Flag::FewTurns { repetitions: few.len() as u32, turns: fewest })
}

/// An open loop fills no queue of its own: what it keeps in flight is what its reads take, and turns are arrivals by
/// that.
fn turns(rep: &Rep, cell: &Cell) -> f64 {
    // A closed loop always has `queue_depth` reads outstanding: as many fall into the window by chance at either end. Below 20
    // turns that is more than 5 % of the count.
    if cell.pace.is_none() {
        return counted(rep, counter::OPS) as f64 / f64::from(cell.queue_depth.max(1));
    }
    counted(rep, counter::ARRIVALS) as f64 / in_flight(rep).unwrap_or(1.0).max(1.0)
}

/// Reads that failed; those that held wrong bytes are a flag of their own.
fn read_errors(cell: &Cell, all: &[&Rep]) -> Option<Flag> {
    let mut kinds = BTreeMap::new();
    for (kind, count) in all.iter().flat_map(|rep| &rep.errors).filter(|(kind, _)| *kind != CORRUPT) {
        *kinds.entry(kind.clone()).or_insert(0) += count;
    }
    let failed: u64 = kinds.values().sum();
    let good: u64 = all.iter().map(|rep| counted(rep, counter::OPS)).sum();
    let of = |good: f64| failed as f64 / (failed as f64 + good);
    // Blocks of a mix are of one size: their bytes are shared out as they are themselves.
    let of_rarer = mix::share(cell).map(|written| of(good as f64 * written.min(1.0 - written)));
    (failed > 0).then(|| Flag::Errors { failed, share: of(good as f64), of_rarer, kinds })
}

fn failed_repetitions(reps: &Repetitions<'_>) -> Option<Flag> {
    let reason = reps.gaps.first()?.clone();
    let failed = reps.failed.len() as u32;
    Some(Flag::FailedRepetitions { failed, made: failed + reps.used.len() as u32, reason })
}

fn stolen(cell: &Cell, used: &[&Rep], cores_online: Option<u32>) -> Option<Flag> {
    // One stolen processor of 64 is 1.6 % of the machine and all that a single busy thread has: both views are needed.
    let of_machine = crowd::stolen_from_machine(used.iter().copied(), cores_online);
    let share = of_machine.into_iter().chain(crowd::stolen_from_threads(cell, used)).reduce(f64::max)?;
    (share > STEAL_SHARE_MAX).then_some(Flag::Stolen { share })
}

/// Processor time that the threads of a cell could have had.
pub(crate) fn available_ns(rep: &Rep, threads: u32) -> f64 {
    rep.usage.wall_ns as f64 * f64::from(rep.usage.cores.min(threads.max(1)))
}

/// Whether this process waited for its own memory. Through a map, faults that read are the reads.
fn faulted(cell: &Cell, storage: bool, used: &[&Rep]) -> Option<Flag> {
    if !storage || cell.engine == MAP {
        return None;
    }
    let faults = used.iter().map(|rep| rep.usage.major_faults).fold(0, u64::saturating_add);
    let operations: u64 = used.iter().map(|rep| counted(rep, counter::OPS)).sum();
    let per_op = faults as f64 / operations.max(1) as f64;
    (faults >= FAULTS_MIN && per_op > FAULTS_PER_OP_MAX).then_some(Flag::Faulted { faults, per_op })
}

fn abandoned(all: &[&Rep]) -> Option<Flag> {
    let reads = all.iter().map(|rep| counted(rep, counter::ABANDONED)).sum();
    (reads > 0).then_some(Flag::Abandoned { reads })
}

/// Where the dataset ended a training job, its steps say so.
fn exhausted(used: &[&Rep]) -> Option<Flag> {
    let ran_out = |rep: &Rep| rep.trained.as_ref().is_some_and(|trained| trained.ran_out);
    let is_exhausted = |rep: &&&Rep| rep.outcome == Outcome::Exhausted && !ran_out(rep);
    let repetitions = used.iter().filter(is_exhausted).count() as u32;
    (repetitions > 0).then_some(Flag::Exhausted { repetitions })
}

fn clamped(used: &[&Rep]) -> Option<Flag> {
    let reads = used.iter().map(|rep| counted(rep, counter::CLAMPED)).sum();
    (reads > 0).then_some(Flag::Clamped { reads })
}

/// Opening a file costs the storage too: the figure is then not of reads alone. Where whole files are read or written, that
/// is what was asked for.
fn opened(cell: &Cell, used: &[&Rep]) -> Option<Flag> {
    if operation::is_metadata(cell) || operation::is_of_whole_objects(cell) || operation::is_transfer(cell) {
        return None;
    }
    let sum = |name| used.iter().map(|rep| counted(rep, name)).sum::<u64>();
    let (files, reads) = (sum(counter::OPENS), sum(counter::OPS));
    (files > 0 && files as f64 >= OPENED_SHARE_MIN * reads as f64).then_some(Flag::Opened { files })
}

fn names_in_memory(cell: &Cell, storage: bool, used: &[&Rep]) -> Option<Flag> {
    // Names that were dropped, and of which nothing was read from storage, were somewhere in memory all the same.
    // After `drop_caches` a hypervisor, or the device, may still hold the blocks of inodes; a cold lookup that makes the kernel
    // read nothing met one of them, or nothing was dropped.
    let looks_up = operation::touches_names(cell) && !operation::is_whole_file(cell);
    let read_nothing = looks_up
        && cell.cache == Cache::Cold
        && used.iter().all(|rep| rep.system.process_read_bytes == Some(0));
    let kept = names_dropped(cell, used) == Some(false) || read_nothing;
    (storage && kept).then_some(Flag::NamesInMemory)
}

/// Storage that is memory says nothing of storage.
fn in_memory(context: &Context<'_>) -> Option<Flag> {
    let kind = context.memory_device.filter(|_| context.storage)?;
    // `zram0` and `zram1` are one kind of thing, and a reader knows it by that name.
    Some(Flag::InMemory { kind: kind.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned() })
}

/// Bytes that were asked, and that the kernel did not read for them although nothing of them was in memory. Where
/// nothing counts what is read, the holes of the files are all that is known.
pub(crate) fn not_from_storage(context: &Context<'_>, system: Option<&SystemFigures>) -> Option<Flag> {
    let system = system?;
    let is_uncounted = system.reconciliation.contains(&Reconciliation::NothingCounted);
    // On FUSE the kernel counts none of these reads as this process's: there its share from a cache would be all, which is no
    // finding.
    let cache_share = system.cache_share.or_else(|| is_uncounted.then_some(context.unallocated_share));
    let reaches =
        context.storage && context.cell.cache.is_any(&[Cache::Cold, Cache::Bypass, Cache::DontCache]);
    let share = cache_share.filter(|share| *share > HOLES_MIN)?;
    let is_told = reaches && context.unallocated_share > UNALLOCATED_MIN;
    is_told.then_some(Flag::NotFromStorage { share, compresses: context.compresses })
}

/// Writes of which the device below took less than was written: what is said to be kept lies somewhere else.
pub(crate) fn not_written(context: &Context<'_>, system: Option<&SystemFigures>) -> Option<Flag> {
    let system = system.filter(|_| context.storage && operation::writes_over(context.cell))?;
    // Who compresses writes less, and means to.
    let device = system.device.as_ref().filter(|_| !context.compresses)?;
    // By rates, and of the repetitions that have both: each is counted over a span of its own.
    let share = device.write.bps / system.written_beside_device.bps;
    (share < TAKEN_MIN).then_some(Flag::NotWritten { share })
}

/// Writes that were to be kept on a device whose cache only a flush empties: whether it made as many as they need, and in times that
/// it can have.
fn flushed(context: &Context<'_>, used: &[&Rep]) -> Option<Flag> {
    let is_kept = operation::writes_over(context.cell) && operation::is_kept(context.cell);
    // Each machine has a device of its own, and one of them is recorded.
    let is_told = context.storage && is_kept && used.iter().all(|rep| rep.ranks == 1);
    let medium = context.flushed_medium.filter(|_| is_told)?;
    // A device that is read before or after the window counts others' flushes, or misses those of the cell.
    let seen = used.iter().copied().filter(|rep| is_over_its_window(rep));
    let seen: Vec<(&Rep, &record::Device)> =
        seen.filter_map(|rep| Some((rep, rep.system.device.as_ref()?))).collect();
    let sum = |of: &dyn Fn(&Rep, &record::Device) -> Option<u64>| {
        seen.iter().map(|(rep, device)| of(rep, device)).sum::<Option<u64>>()
    };
    let (flushes, flush_ns) = (sum(&|_, device| device.flushes)?, sum(&|_, device| device.flush_ns)?);
    let writes = sum(&|rep, _| Some(kept_writes(context.cell, rep)))?;
    let (wall_ns, window_ns) = (sum(&|_, device| Some(device.wall_ns))?, sum(&|rep, _| Some(rep.window_ns))?);
    // One flush keeps all writes that had ended on the device when it began, which are no more than were outstanding.
    let needed = writes as f64 / f64::from(context.cell.queue_depth.max(1));
    if (flushes as f64 / wall_ns as f64) < FLUSHES_MIN * needed / window_ns as f64 {
        return Some(Flag::NotFlushed { flushes, writes });
    }
    let mean_ns = flush_ns as f64 / flushes as f64;
    (medium == FlushedMedium::Turns && flushes > 0 && mean_ns < FLUSH_NS_MIN)
        .then_some(Flag::FlushedAtOnce { mean_ns })
}

/// Writes of a repetition that ended well; those of a mix by their share of its bytes.
fn kept_writes(cell: &Cell, rep: &Rep) -> u64 {
    match crate::cell::mix::share(cell) {
        None => counted(rep, counter::OPS),
        Some(_) => counted(rep, counter::WRITTEN_BYTES) / cell.block_bytes.max(1),
    }
}

/// Reads that lie side by side and are submitted together reach the device as one: it then sees larger requests and
/// a shallower queue than the cell says.
fn merged(cell: &Cell, used: &[&Rep]) -> Option<Flag> {
    let is_asked = cell.cache == Cache::Bypass && cell.access == Access::Sequential;
    // The device counts requests of everybody: a backup that reads a megabyte at a time would pass for merging.
    let own = |rep: &&&Rep| !others_read(rep);
    let devices =
        || used.iter().filter(own).filter_map(|rep| rep.system.device.as_ref()).filter(|_| is_asked);
    let sum = |of: fn(&record::Device) -> u64| devices().map(of).fold(0, u64::saturating_add);
    let (bytes, requests) = (sum(|device| device.read_bytes), sum(|device| device.reads));
    let request_bytes = bytes as f64 / requests as f64;
    (requests > 0 && request_bytes > MERGED_MIN * cell.block_bytes as f64).then_some(Flag::Merged {
        request_bytes: request_bytes.round() as u64,
        block_bytes: cell.block_bytes,
        submit_batch: cell.submit_batch,
    })
}

/// Whether the device's requests are those of other processes too, whose size says nothing of this cell.
fn others_read(rep: &Rep) -> bool {
    let both = rep.system.process_read_bytes.zip(rep.system.device.as_ref());
    both.is_some_and(|(own, device)| device.read_bytes as f64 > OTHERS_MIN * own as f64)
}

/// What may be wrong with an open loop.
pub(crate) fn paced(paced: &Paced, cell: &Cell) -> Vec<Flag> {
    let pace = cell.pace.as_ref();
    let in_steps = pace.is_some_and(|pace| pace.arrivals == "batch");
    let offered_less = (paced.real_share < REAL_SHARE_MIN)
        .then_some(Flag::OfferedLess { share: paced.real_share, in_steps });
    let not_served = paced.not_served();
    let share = not_served as f64 / paced.arrivals as f64;
    let short = (not_served > 0).then_some(Flag::NotServed { arrivals: not_served, share });
    let spins = pace.is_some_and(|pace| pace.spin_ns > 0);
    offered_less.into_iter().chain(late_client(paced, spins)).chain(short).collect()
}

fn late_client(paced: &Paced, spins: bool) -> Option<Flag> {
    let both = paced.lag_p99_ns.zip(paced.issued_p99_ns);
    let late = both.filter(|(lag, response)| *lag as f64 > LAG_SHARE_MAX * *response as f64);
    let given_up = paced.given_up as f64 / paced.arrivals as f64;
    (late.is_some() || given_up > GIVEN_UP_MAX).then_some(Flag::LateClient {
        lag_and_response_p99_ns: late,
        not_issued: paced.not_issued,
        given_up,
        spins,
    })
}

/// What every repetition says, or one that did not drop them; absent where that is not known of some, and for cells
/// that ask for no cold names.
pub(crate) fn names_dropped(cell: &Cell, used: &[&Rep]) -> Option<bool> {
    if !operation::touches_names(cell)
        || !cell.cache.known().is_some_and(Cache::starts_cold)
        || used.is_empty()
    {
        return None;
    }
    // One repetition that began with names in memory makes the mean of all a mixture.
    if used.iter().any(|rep| rep.cache.names_dropped == Some(false)) {
        return Some(false);
    }
    used.iter().all(|rep| rep.cache.names_dropped == Some(true)).then_some(true)
}

#[cfg(test)]
mod tests;
