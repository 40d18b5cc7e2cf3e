//! One repetition of one cell: page cache, threads, queues, a window.

#[cfg(test)]
mod tests;

use std::num::NonZeroU64;
use std::thread::Builder;

use backend::{Arena, Owned, QueueSpec, StoreError, Writes};
use dataset::Order;
use plan::{Cache, Durability, Limit, Operation};
use record::CacheProof;

use crate::checkpoint::{self, ClosingSaves};
use crate::decoders::Closing;
use crate::epochs::{Begun, Numbering};
use crate::error::RepError;
use crate::gate::{StartGate, joined};
use crate::job::{self, EpochSeams};
use crate::load::{Load, Tickets, Timing};
use crate::outcome::{self, LoadEnd, Measured, merge};
use crate::outstanding::Outstanding;
use crate::pace::{Offer, Paced, Pacer};
use crate::page_cache::{proof, set_cache};
use crate::progress::Publisher;
use crate::retry::{Retry, Storm};
use crate::spec::{RepSpec, asked, first_ticket, own_seed, own_tickets};
use crate::system::{Gpus, Programs, Watched};
use crate::trainer::{Train, share};
use crate::usage::{Meter, RunDelay};
use crate::window::Window;
use crate::worker::{Worker, WorkerEnd};
use crate::written::{self, Fresh};

/// A warm-up takes at most this fraction, as 1 in 8, of the reads that a cold repetition may make. A fast storage would
/// otherwise serve all of them before the window opens.
const WARMUP_PARTS: u64 = 8;

/// Runs one repetition.
pub fn run_rep(spec: &RepSpec<'_>) -> Result<Measured, RepError> {
    run(spec, EpochSeams::Kept)
}

/// Runs one repetition; a training job goes from one epoch to the next as `seams` says.
pub(crate) fn run(spec: &RepSpec<'_>, seams: EpochSeams) -> Result<Measured, RepError> {
    if spec.cell.operation() == Operation::Checkpoint {
        return checkpoint::run(spec);
    }
    let order = Order::of_part(spec.data, spec.cell, spec.part)?;
    let train = job::of_rep(spec, &order, seams)?;
    if train.as_ref().is_some_and(Train::saves) && spec.checkpoints.is_none() {
        return Err(RepError::NoDestination);
    }
    // Before the common start of several clients: emptying a cache takes each a different time.
    let before = set_cache(spec)?;
    let numbering = numbering(spec, &order, train.as_ref());
    let issue = Issue {
        order: &order,
        numbering,
        tickets: tickets(spec, &order),
        paced: paced(spec, &order),
        train,
        writing: Writing::of(spec)?,
    };
    // All processes are looked at outside the window: each takes some 20 us, of which a busy machine has thousands.
    let watched = Watched::of(spec.store);
    let programs = Programs::look(spec.clock, &watched);
    let mut gpus = Gpus::look(spec.clock);
    let (ended, emulated) = spec.counted(|| run_workers(spec, &issue));
    let (window, mut ends) = ended?;
    let gpus = gpus.since();
    let others = Programs::look(spec.clock, &watched).others_since(&programs);
    let cache = proof(spec, &before);
    // Behind the proof: what is read now may come into the page cache.
    read_again(spec, &issue, &mut ends);
    let asked = asked(spec, &order);
    let epochs = outcome::RecordedEpochs {
        numbering: has_epochs(spec.cell.operation()).then_some(numbering),
        asked: matches!(spec.limit, Limit::Epochs { .. }),
        through_kernel: is_through_kernel(spec, &cache),
        tier: spec.cell.tier.is_some(),
    };
    let load = LoadEnd { asked, paced: issue.paced, train: issue.train, epochs };
    let mut measured = merge(spec.cell, load, window, &ends, cache);
    let rep = &mut measured.rep;
    rep.emulated = emulated;
    rep.system.others = others;
    rep.system.gpus = gpus;
    rep.granted.insert("pages".to_owned(), spec.cell.pages.name().to_owned());
    Ok(measured)
}

/// What is issued, and when: shared by the workers of a repetition.
struct Issue<'a> {
    order: &'a Order,
    numbering: Numbering,
    tickets: Tickets,
    /// The arrivals of a paced load.
    paced: Option<Paced>,
    /// The job of a training load.
    train: Option<Train>,
    /// What is written over, and with what.
    writing: Option<Writing>,
}

/// What a repetition that changes its storage needs.
struct Writing {
    fresh: Fresh,
    durability: Durability,
    /// Absent where nothing is kept of what is written, and so nothing has to be feedline's own.
    owned: Option<Owned>,
}

impl Writing {
    fn of(spec: &RepSpec<'_>) -> Result<Option<Self>, RepError> {
        if !spec.cell.operation().changes_storage() {
            return Ok(None);
        }
        let durability = spec.cell.task.durability().unwrap_or(Durability::None);
        let owned = match spec.data.objects().own_folder() {
            // Claimed before each repetition: the folder may have been replaced by another's.
            Some(folder) => match Owned::claim(&**spec.store, folder) {
                Ok(owned) => Some(owned),
                // A store without markers keeps nothing. Every other refuses a queue that brings no proof.
                Err(StoreError::NotOwned { .. }) => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        Ok(Some(Self { fresh: Fresh::new(spec.data.compressible_percent()), durability, owned }))
    }

    fn allowed(&self) -> Option<Writes<'_>> {
        self.owned.as_ref().map(|owned| Writes { owned, durability: self.durability })
    }
}

/// Whether passes over the data are told apart: those of what is read alone.
fn has_epochs(operation: Operation) -> bool {
    operation.reads_bytes() && !operation.writes_over()
}

/// Looks whether the storage has kept what was written last.
fn read_again(spec: &RepSpec<'_>, issue: &Issue<'_>, ends: &mut [WorkerEnd]) {
    // What another process has written since cannot be told from what was lost.
    let is_alone = spec.part.of == 1;
    if let Some(Writing { fresh, .. }) = issue.writing.as_ref().filter(|_| spec.verify && is_alone) {
        let mut again = written::Again::of(spec, issue.order, fresh);
        // One of each worker after the other: where time ends it, none was left out.
        for number in 0..written::REREAD_PER_WORKER {
            for end in &mut *ends {
                if let Some(kept) = end.written.get(number) {
                    again.read(kept, &mut end.recorder);
                }
            }
        }
    }
}

/// The tickets of this repetition. A cold one gets a single epoch over its part of the data: a second would be served
/// from memory.
fn tickets(spec: &RepSpec<'_>, order: &Order) -> Tickets {
    // `ColdStart` begins cold and may go on from what it has read: its later epochs are to be warm.
    let cold = (spec.cell.cache == Cache::Cold).then(|| own_tickets(spec, order));
    let count = asked(spec, order).into_iter().chain(cold).min();
    let first = first_ticket(spec, order);
    let tickets = Tickets::new(first, count);
    match (cold, spec.cell.load) {
        (Some(once), plan::Load::Closed) => tickets.opening_with(first.saturating_add(once / WARMUP_PARTS)),
        _ => tickets,
    }
}

/// How the tickets of this repetition fall into epochs. The part that a cold client may read counts as a whole epoch.
fn numbering(spec: &RepSpec<'_>, order: &Order, train: Option<&Train>) -> Numbering {
    let tickets = order.tickets_per_epoch();
    // An order that is a client's own has nothing to be shared out.
    let parts = if order.is_part() { 1 } else { spec.part.of };
    let is_cold = spec.cell.cache == Cache::Cold;
    // An epoch is whole when so many operations have ended, wherever they were issued.
    let ops = match train {
        None if is_cold => own_tickets(spec, order),
        None => tickets,
        Some(train) => {
            let share = if is_cold { u64::from(parts).max(1) } else { 1 };
            train.ops_per_epoch(share).unwrap_or(tickets)
        }
    };
    Numbering { first_ticket: first_ticket(spec, order), tickets, ops }
}

/// Whether the reads of this process go through the kernel, which then counts them. With a cache tier its count would
/// hold the reads of both storages.
fn is_through_kernel(spec: &RepSpec<'_>, cache: &CacheProof) -> bool {
    if spec.cell.tier.is_some() {
        return false;
    }
    // Where the kernel has a page cache for the objects, or a device or an NFS mount of its own below them, reads
    // show in its counters; a user-space client's do not.
    matches!(cache.method.as_str(), "cachestat" | "mincore")
        || spec.store.block_device().is_some()
        || spec.store.nfs_mount_point().is_some()
}

/// The arrivals of this repetition, if the load is paced. They differ between repetitions and are the same in each run.
fn paced(spec: &RepSpec<'_>, order: &Order) -> Option<Paced> {
    let plan::Load::Paced(pace) = spec.cell.load else { return None };
    let window_ns = match spec.limit {
        Limit::Duration { duration_ns } => Some(duration_ns),
        Limit::Bytes { .. } | Limit::Epochs { .. } | Limit::Steps { .. } => None,
    };
    let offer = Offer {
        line_bps: spec.line_bps,
        sample_bytes: spec.sample_bytes,
        // The mean: a rate in bytes stands for operations of this size, and files differ.
        op_bytes: order.bytes_per_epoch() as f64 / order.tickets_per_epoch() as f64,
        warmup_ns: spec.warmup_ns,
        window_ns,
        seed: own_seed(spec),
    };
    Some(Paced::new(&pace, &offer))
}

/// The window of a repetition that begins at `start_ns`.
fn window(spec: &RepSpec<'_>, start_ns: u64) -> Window {
    // A job begins with its first fill, which counts.
    let trains = matches!(spec.cell.load, plan::Load::Training(_));
    let open_ns = if trains { start_ns } else { start_ns + spec.warmup_ns };
    let close_ns = match spec.limit {
        Limit::Duration { duration_ns } => open_ns + duration_ns,
        Limit::Steps { otherwise_ns, .. } if !trains => open_ns + otherwise_ns,
        Limit::Steps { .. } | Limit::Bytes { .. } | Limit::Epochs { .. } => u64::MAX,
    };
    Window { open_ns, close_ns }
}

/// Opens a queue on each thread, starts them together, and brings back what each counted.
fn run_workers(spec: &RepSpec<'_>, issue: &Issue<'_>) -> Result<(Window, Vec<WorkerEnd>), RepError> {
    let threads = spec.cell.threads;
    let gate = StartGate::new(threads);
    let ends = std::thread::scope(|scope| {
        let decoders = issue.train.as_ref().and_then(Train::decoders);
        // Made before the threads: a scope waits for all of them, and decoders wait for more until they are closed.
        let _closing = Closing(decoders);
        let saves = issue.train.as_ref().filter(|train| train.saves());
        let _closing_saves = ClosingSaves(saves);
        if let Some(train) = saves {
            let save = move || train.save(spec);
            if let Err(source) = Builder::new().name("checkpoints".to_owned()).spawn_scoped(scope, save) {
                gate.fail(RepError::Threads { threads: 1, source });
            }
        }
        for (train, decoders) in issue.train.iter().zip(decoders) {
            gate.start(scope, "decoder", decoders.threads, |_| train.decode(decoders));
        }
        // Last: with the last worker the gate opens, and what feeds it must be there.
        joined(gate.start(scope, "worker", threads, |index| work(spec, issue, index, &gate)))
    });
    gate.outcome().map(|start_ns| (window(spec, start_ns).opened_by(issue.tickets.opened_ns()), ends))
}

fn work(spec: &RepSpec<'_>, issue: &Issue<'_>, index: u32, gate: &StartGate) -> Option<WorkerEnd> {
    let promise = gate.promise();
    // One thread reads the process's counters: they are those of all threads, and a second reading would only cost.
    let meter = (index == 0).then(|| Meter::new(spec.cores, spec.clock, &Watched::of(spec.store)));
    let [depth, connections] =
        [spec.cell.queue_depth, spec.cell.connections].map(|count| share(count, spec.cell.threads, index));
    let own = issue.train.as_ref().and_then(|train| train.depth(index));
    // Connections that follow the depth, one or several for each read, follow what a thread's own readers make of it.
    let each = spec.cell.connections / spec.cell.queue_depth.max(1);
    let follows = spec.cell.connections == each * spec.cell.queue_depth;
    let connections = own.filter(|_| each > 0 && follows).map_or(connections, |own| own * each);
    let depth = own.unwrap_or(depth);
    let opened = open(spec, (depth, connections), issue.writing.as_ref().and_then(Writing::allowed));
    let opened = opened.map(|opened| filled(opened, issue, index));
    let ((queue, free), start_ns) = promise.keep(opened, spec.clock)?;
    let window = window(spec, start_ns);
    let timing = timing(spec, issue, index, depth, window);
    // Workers that fail together must not try again together.
    let seed = own_seed(spec) ^ u64::from(index).rotate_left(48);
    let worker = Worker {
        retry: Retry::new(spec.cell.retries, depth as usize, seed),
        // An open loop offers what it offers: pausing it would hide the overload that it is there to show.
        storm: (!matches!(timing, Timing::Paced(_))).then(|| Storm::new(depth as usize, seed)),
        queue,
        free,
        fresh: issue.writing.as_ref().map(|writing| writing.fresh),
        reads: issue.order.cursor(),
        load: Load::new(&issue.tickets, window.close_ns, timing),
        cell: spec.cell,
        window,
        clock: spec.clock,
        stop: spec.stop,
        publisher: Publisher::new(spec.progress),
        // The null target's bytes are those of nothing. Those that a mix reads may be what it wrote.
        data: (spec.verify && spec.cell.task.mix().is_none()).then_some(spec.data),
        meter,
        delay: RunDelay::of_this_thread(spec.clock),
        begun: Begun::new(issue.numbering),
        slots: vec![Outstanding::FREE; depth as usize],
        ends_if_away: spec.ends_if_away,
    };
    Some(worker.run())
}

/// When a thread issues, and how sharp its timers are for that.
fn timing<'a>(
    spec: &RepSpec<'_>,
    issue: &'a Issue<'_>,
    thread: u32,
    depth: u32,
    window: Window,
) -> Timing<'a> {
    if let Some(paced) = &issue.paced {
        sharpen_timers();
        let pacer = Pacer::new(paced, window, depth, spec.clock.runs_by_itself()).of(spec.cell.operation());
        return Timing::Paced(Box::new(pacer));
    }
    let Some(train) = &issue.train else { return Timing::AtOnce };
    sharpen_timers();
    Timing::Trained(train.trainer(thread, window))
}

/// Lets this thread's waits end on time: by default the kernel may add 50 us to each, to wake several at once.
fn sharpen_timers() {
    // Where it is refused, the lag of the arrivals shows it.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// What was opened, with the buffers filled that a thread writes from.
fn filled((queue, mut free): Opened, issue: &Issue<'_>, index: u32) -> Opened {
    if let Some(Writing { fresh, .. }) = &issue.writing {
        for buf in &mut free {
            fresh.fill(index, buf);
        }
    }
    (queue, free)
}

type Opened = (Box<dyn backend::IoQueue>, Vec<backend::Buf>);

/// Opens a queue of this depth over the storage of `spec`, for the operation of its cell.
pub(crate) fn open(
    spec: &RepSpec<'_>,
    (depth, connections): (u32, u32),
    writes: Option<Writes<'_>>,
) -> Result<Opened, RepError> {
    let arena = Arena::of_pages(depth, spec.cell.block_bytes, spec.cell.pages)?;
    let queue = spec.store.open_queue(&QueueSpec {
        depth,
        submit_batch: spec.cell.submit_batch,
        connections,
        block_bytes: spec.cell.block_bytes,
        cache: spec.cell.cache,
        operation: spec.cell.operation().issued(),
        writes,
        advice: spec.cell.advice,
        registered: spec.cell.registered,
        objects: spec.data.objects(),
        arena: &arena,
        clock: spec.clock,
    })?;
    Ok((queue, arena.buffers()))
}
