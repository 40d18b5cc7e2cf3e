//! A training load as the threads of a repetition share it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backend::{Buf, Clock, Completion};
use plan::{Cell, Fetch};
use record::{Checkpoint, Trained, TrainedAccelerator};

use crate::checkpoint::SaveOrders;
use crate::decoders::{Decoders, DecodersEnd, Encoded, Whole};
use crate::fleet::{Decoding, Ended, Fleet, FleetEnd, Job, Members, Pauses, Saved, Servers, Span, Tally};
use crate::next::Next;
use crate::window::Window;

/// How long a thread with reads under way waits for these alone while others decode for it. What they have decoded
/// frees a buffer, and its queue cannot tell it so: a bell rings for those alone that rest. A read is late by at most as
/// much, which the client's part of a wait shows.
const DECODED_LATENCY_NS: u64 = 250_000;

/// The accelerators of a repetition, in groups that are each fed by threads of their own.
pub(crate) struct Train {
    groups: Vec<Group>,
    job: Job,
    /// Threads of each group.
    threads: u32,
    clock: Clock,
    decoders: Option<Decoders>,
    save_orders: Option<SaveOrders>,
}

/// How long a thread with reads under way waits for these alone while accelerators stand still for a checkpoint, whose end
/// its queue cannot tell it. Steps begin by stamps, so it delays no step; it may delay the reads of the step after.
const SAVED_LATENCY_NS: u64 = 250_000;

/// Accelerators and the threads that feed them.
#[derive(Debug)]
struct Group {
    state: Mutex<State>,
    /// Rings where a thread that rests has something to do.
    bell: Condvar,
}

#[derive(Debug)]
struct State {
    fleet: Fleet,
    /// Buffers whose samples were decoded, for each thread of the group.
    returned: Vec<Vec<Buf>>,
    /// Samples that came with reads and are being decoded, in as many hand-overs.
    decoding: u32,
    /// Threads that rest.
    resting: u32,
    /// When one of them wakes by itself for the next event; the others sleep on.
    watched_ns: u64,
}

/// What became of a job.
pub(crate) struct TrainEnd {
    pub(crate) trained: Trained,
    /// Distributions, under the names of a record.
    pub(crate) tally: Tally,
    /// Checkpoints that were due.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Whether every accelerator made all its steps.
    pub(crate) is_complete: bool,
    /// Time from the start to the end of the job.
    pub(crate) wall_ns: u64,
    /// Whether samples are decoded.
    pub(crate) decodes: bool,
    /// What the decoding threads counted, if there were any.
    pub(crate) decoders: Option<DecodersEnd>,
}

impl Train {
    /// The groups of `cell`'s threads. An engine whose threads each make one read at a time has one group for each
    /// accelerator where every reader has its thread, and otherwise one; any other engine has one for each thread,
    /// since a thread that waits for its own reads sees nothing of what others could let it do. Accelerators that wait
    /// for each other are in one group; they do for a checkpoint.
    pub(crate) fn new(
        mut job: Job,
        decoders: Option<Decoders>,
        cell: &Cell,
        cores: u32,
        clock: &Clock,
    ) -> Self {
        if !clock.runs_by_itself() {
            // Where time only passes in a wait, looking would never end.
            job.training.spin_ns = 0;
        }
        let all = job.training.accelerators;
        let reads = job.training.reads_max();
        // One group means one lock for all threads; several mean that a thread sees its own accelerators alone. What
        // cannot be split is one group: a barrier, a checkpoint, readers that share threads.
        let groups = match cell.engine.depth_per_thread_max() {
            _ if job.training.barrier || cell.job_checkpoints.is_some() => 1,
            1 if reads == Some(cell.threads) => all,
            1 => 1,
            _ => cell.threads,
        };
        let servers = match job.decoding {
            Decoding::Cost { by_reader: false, .. } => {
                let threads = job.training.decode.and_then(|decode| decode.threads);
                Some(Arc::new(Mutex::new(Servers::new(threads.unwrap_or(cores)))))
            }
            Decoding::None | Decoding::Cost { .. } | Decoding::Elsewhere => None,
        };
        let threads = (cell.threads / groups).max(1);
        let (pauses, save_orders) = cell.job_checkpoints.as_ref().map(saving).unzip();
        // For the one group that there is with checkpoints; the closure takes them on its first call.
        let mut pauses = pauses;
        let mut group = |first| {
            let members = if groups == 1 { Members::ALL } else { Members { first, stride: groups } };
            let slots = share(cell.queue_depth, groups, first);
            let mut fleet = Fleet::new(job, members, slots, servers.clone());
            if let Some(pauses) = pauses.take() {
                fleet = fleet.with_checkpoints(pauses);
            }
            let returned = (0..threads).map(|_| Vec::with_capacity(slots as usize)).collect();
            let state = Mutex::new(State { fleet, returned, decoding: 0, resting: 0, watched_ns: u64::MAX });
            Group { state, bell: Condvar::new() }
        };
        let groups = (0..groups).map(&mut group).collect();
        Self { groups, job, threads, clock: clock.clone(), decoders, save_orders }
    }

    /// Operations of one epoch, or of one of so many `parts` of its steps; `None` where it has no end.
    pub(crate) fn ops_per_epoch(&self, parts: u64) -> Option<u64> {
        self.job.ops_per_epoch(parts)
    }

    /// Buffers that a thread needs if that is not its share of the queue depth: one for each of its readers.
    pub(crate) fn depth(&self, thread: u32) -> Option<u32> {
        let Fetch::Readers { count } = self.job.training.fetch else { return None };
        let groups = self.groups.len() as u32;
        let members = Members { first: thread, stride: groups };
        let each = count.saturating_mul(self.job.training.fetches);
        let own = members.count(self.job.training.accelerators).saturating_mul(each);
        (groups > 1 && self.threads == 1).then_some(own.max(1))
    }

    /// The part of a thread, in a job that begins with `window`.
    pub(crate) fn trainer(&self, thread: u32, window: Window) -> Trainer<'_> {
        let group = self.group(thread);
        group.state().fleet.begin(window.open_ns, window.close_ns);
        // On a virtual clock nobody else moves time on while this thread sleeps.
        let rests = self.threads > 1 && self.clock.runs_by_itself();
        Trainer { train: self, group, thread, rests, decoding: 0 }
    }

    /// The decoding threads, if samples are really decoded.
    pub(crate) fn decoders(&self) -> Option<&Decoders> {
        self.decoders.as_ref()
    }

    /// One thread that decodes, until the decoders close.
    pub(crate) fn decode(&self, decoders: &Decoders) {
        decoders.run(|encoded, is_ok| {
            // Before the lock: waiting for it is not decoding.
            let decoded_ns = self.clock.now_ns();
            let number = match &encoded {
                Encoded::Read(read) => self.number(read.thread),
                Encoded::Streamed { group, .. } => *group,
            };
            let group = &self.groups[number];
            let mut state = group.state();
            match encoded {
                Encoded::Read(read) => {
                    let decoding = Span { from_ns: read.read_ns, to_ns: decoded_ns };
                    state.fleet.decoded(read.ticket, decoding, is_ok);
                    state.returned[self.within_group(read.thread)].push(read.buf);
                }
                Encoded::Streamed { task, .. } => {
                    state.decoding -= 1;
                    state.fleet.decoded_task(task, decoded_ns, is_ok);
                    self.hand_over(number, &mut state);
                }
            }
            if state.resting > 0 {
                // Of several, only one has this buffer.
                group.bell.notify_all();
            }
        });
    }

    /// The orders of checkpoints, if any are made.
    pub(crate) fn save_orders(&self) -> Option<&SaveOrders> {
        self.save_orders.as_ref()
    }

    /// Takes what became of a checkpoint.
    pub(crate) fn saved(&self, saved: Saved) {
        // Accelerators that make checkpoints are in one group.
        let Some(group) = self.groups.first() else { return };
        let mut state = group.state();
        state.fleet.saved(saved);
        if state.resting > 0 {
            group.bell.notify_all();
        }
    }

    /// Lets no further checkpoint begin.
    pub(crate) fn stop_saving(&self) {
        self.groups.iter().for_each(|group| group.state().fleet.stop_saving());
    }

    /// Hands samples over that came with reads and are to be decoded.
    fn hand_over(&self, group: usize, state: &mut State) {
        let Some(decoders) = &self.decoders else { return };
        while let Some(task) = state.fleet.next_task() {
            state.decoding += 1;
            decoders.push(Encoded::Streamed { task, group });
        }
    }

    fn group(&self, thread: u32) -> &Group {
        &self.groups[self.number(thread)]
    }

    /// Number of a thread's group.
    fn number(&self, thread: u32) -> usize {
        thread as usize % self.groups.len()
    }

    /// Number of a thread in its group.
    fn within_group(&self, thread: u32) -> usize {
        thread as usize / self.groups.len()
    }

    /// What was counted by the end at `at_ns`, of a job that began at `start_ns`.
    pub(crate) fn into_end(self, start_ns: u64, at_ns: u64) -> TrainEnd {
        let job = self.job;
        let fleets = self.groups.into_iter().map(|group| {
            let state = group.state.into_inner().unwrap_or_else(PoisonError::into_inner);
            state.fleet.into_end(at_ns)
        });
        merge(job, fleets, self.decoders.map(Decoders::into_end), at_ns - start_ns)
    }
}

impl Group {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of one thread in a training load.
pub(crate) struct Trainer<'a> {
    train: &'a Train,
    group: &'a Group,
    thread: u32,
    /// Whether other threads may give it something to do.
    rests: bool,
    /// Buffers of this thread whose samples are being decoded.
    decoding: u32,
}

impl Trainer<'_> {
    /// Folds in what happened by `now_ns`, and adds buffers that are free again to `free`. Returns when to look again if
    /// nothing completes before.
    pub(crate) fn look(&mut self, now_ns: u64, free: &mut Vec<Buf>) -> u64 {
        let mut state = self.group.state();
        state.fleet.advance(now_ns);
        self.train.hand_over(self.train.number(self.thread), &mut state);
        self.ring(&state);
        let mut look_ns = state.fleet.look_ns();
        if state.fleet.is_held() {
            look_ns = look_ns.min(now_ns + SAVED_LATENCY_NS);
        }
        if state.decoding > 0 {
            look_ns = look_ns.min(now_ns + DECODED_LATENCY_NS);
        }
        if self.decoding == 0 {
            return look_ns;
        }
        let returned = &mut state.returned[self.train.within_group(self.thread)];
        self.decoding -= returned.len() as u32;
        free.append(returned);
        if self.decoding == 0 { look_ns } else { look_ns.min(now_ns + DECODED_LATENCY_NS) }
    }

    /// What to do at `now_ns` with a free buffer.
    #[inline]
    pub(crate) fn next(&self, now_ns: u64) -> Next {
        let mut state = self.group.state();
        let next = state.fleet.next(now_ns);
        self.train.hand_over(self.train.number(self.thread), &mut state);
        if next == Next::Finished {
            self.group.bell.notify_all();
        } else {
            self.ring(&state);
        }
        next
    }

    /// Wakes a thread that rests, where there is something to issue or something happens before any of them wakes up.
    /// The woken thread does the same for the next.
    #[inline]
    fn ring(&self, state: &State) {
        if state.resting > 0 && (state.fleet.may_issue() || state.fleet.event_ns() < state.watched_ns) {
            // Where samples are decoded, one that is woken may have no buffer free.
            if self.train.decoders.is_some() {
                self.group.bell.notify_all();
            } else {
                self.group.bell.notify_one();
            }
        }
    }

    /// Takes an operation that ended for good. Returns whether its sample is to be decoded.
    #[inline]
    pub(crate) fn done(&self, completion: &Completion, issued: Issued) -> bool {
        let mut state = self.group.state();
        let is_handed_over = state.fleet.done(&Ended {
            ticket: issued.ticket,
            intended_ns: issued.intended_ns,
            begun_ns: issued.begun_ns,
            done_ns: completion.stamps.done_ns,
            is_ok: completion.result.is_ok(),
        });
        self.train.hand_over(self.train.number(self.thread), &mut state);
        is_handed_over
    }

    /// Hands a sample over to be decoded. Its buffer comes back by [`Trainer::look`].
    pub(crate) fn decode(&mut self, completion: Completion, ticket: u64) {
        let Completion { buf, result, stamps, .. } = completion;
        if let (Some(decoders), Ok(bytes)) = (&self.train.decoders, result) {
            self.decoding += 1;
            let thread = self.thread;
            let (bytes, read_ns) = (bytes as usize, stamps.done_ns);
            decoders.push(Encoded::Read(Whole { buf, bytes, ticket, read_ns, thread }));
        }
    }

    /// Ends the window, where it is still open.
    pub(crate) fn close(&self, at_ns: u64) {
        self.group.state().fleet.close(at_ns);
    }

    /// Whether a thread with nothing under way rests here and not in its queue.
    pub(crate) fn rests(&self) -> bool {
        self.rests || self.decoding > 0 || self.group.state().decoding > 0
    }

    /// Rests until there may be something to do, or `until_ns`. One thread of those that rest also wakes up when the
    /// next thing happens: all of them at once would be a herd, of which most find nothing left.
    pub(crate) fn rest(&self, until_ns: u64, has_buffer: bool) {
        let mut state = self.group.state();
        let now_ns = self.train.clock.now_ns();
        state.fleet.advance(now_ns);
        self.train.hand_over(self.train.number(self.thread), &mut state);
        // Looked at under the lock that is let go of by the wait itself: what happens in between cannot be missed.
        let has_more = !state.returned[self.train.within_group(self.thread)].is_empty();
        if has_more || state.fleet.is_over(now_ns) || (has_buffer && state.fleet.may_issue()) {
            return;
        }
        let (event_ns, look_ns) = (state.fleet.event_ns(), state.fleet.look_ns());
        let watches = event_ns < state.watched_ns;
        let until_ns = if watches { until_ns.min(look_ns) } else { until_ns };
        if watches {
            state.watched_ns = event_ns;
        }
        state.resting += 1;
        // A condition variable and not the queue's wait: nothing is under way there that could end it.
        let left = Duration::from_nanos(until_ns.saturating_sub(now_ns));
        // Woken in vain, it comes back.
        let mut state = match self.group.bell.wait_timeout(state, left) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
        state.resting -= 1;
        // Still as the one that watches, so that no other does, and without the lock, which others need to go on.
        if watches && (look_ns..event_ns).contains(&self.train.clock.now_ns()) {
            drop(state);
            while self.train.clock.now_ns() < event_ns {
                std::hint::spin_loop();
            }
            state = self.group.state();
        }
        if watches && state.watched_ns == event_ns {
            state.watched_ns = u64::MAX;
            if state.resting > 0 {
                self.group.bell.notify_one();
            }
        }
    }
}

/// What is known of an operation from when it was issued.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Issued {
    pub(crate) ticket: u64,
    /// When it was to be issued.
    pub(crate) intended_ns: u64,
    /// When its first attempt began.
    pub(crate) begun_ns: u64,
}

/// The part of a count, such as the queue depth, that falls to one of `parts`; the first take the remainder.
pub(crate) fn share(count: u32, parts: u32, index: u32) -> u32 {
    count / parts + u32::from(index < count % parts)
}

/// When a fleet makes checkpoints, and the orders for the thread that writes them.
fn saving(plan: &plan::JobCheckpoints) -> (Pauses, SaveOrders) {
    let (orders, taken) = std::sync::mpsc::channel();
    (Pauses::new(plan.every_steps, plan.mode, orders), SaveOrders::new(taken))
}

/// Adds up the groups of a job whose window was open for `open_ns`.
fn merge(
    job: Job,
    fleets: impl Iterator<Item = FleetEnd>,
    decoders: Option<DecodersEnd>,
    open_ns: u64,
) -> TrainEnd {
    let mut accelerators = Vec::new();
    let mut tally = Tally::new(job.training.prefetch.max(1) as usize);
    let mut checkpoints = Vec::new();
    let mut is_complete = true;
    for mut fleet in fleets {
        accelerators.append(&mut fleet.accelerators);
        is_complete &= fleet.is_complete;
        // Counters of one job may be added; utilization is per accelerator and is never averaged here.
        tally.add(&mut fleet.tally);
        checkpoints.append(&mut fleet.checkpoints);
    }
    accelerators.sort_by_key(|(number, _)| *number);
    let stated = |(_, counts): (u32, TrainedAccelerator)| TrainedAccelerator {
        lost_samples: job.lost_samples(counts.lost_samples),
        ..counts
    };
    let accelerators: Vec<_> = accelerators.into_iter().map(stated).collect();
    let trained = Trained {
        accelerators,
        occupancy: std::mem::take(&mut tally.occupancy),
        timeline: std::mem::take(&mut tally.timeline),
        decode_failures: tally.decode_failures,
        decode_cpu_ns: decoders.as_ref().map_or(0, |end| end.cpu_ns),
        ran_out: is_complete && job.steps.run_out,
    };
    let longest_ns = trained.accelerators.iter().map(|counts| counts.wall_ns).max();
    // A complete job ends with its slowest accelerator, which may be well before the last worker noticed.
    let wall_ns = if is_complete { longest_ns.unwrap_or(open_ns) } else { open_ns };
    let decodes = job.decoding != Decoding::None;
    TrainEnd { trained, tally, checkpoints, is_complete, wall_ns, decodes, decoders }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_depth_is_shared_out_without_remainder() {
        let shares: Vec<u32> = (0..3).map(|index| share(8, 3, index)).collect();
        assert_eq!(shares, [3, 3, 2]);
    }
}
