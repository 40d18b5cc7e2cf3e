//! Epochs inside a repetition: which tickets belong to which, and what each worker counted of them.
//!
//! The number of a ticket alone tells its epoch, so an operation costs one comparison when it is issued and one when it
//! ends. Everything else is computed and kept once for each epoch.

#[cfg(test)]
mod tests;

use record::Epoch;

/// Epochs of a repetition that are kept one by one; what comes later is counted in the repetition alone. A small dataset
/// is passed a million times in ten seconds.
pub(crate) const EPOCHS_KEPT: u16 = 256;

/// How the tickets of a repetition fall into epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbering {
    /// First ticket of the repetition, which begins its first epoch.
    pub(crate) first_ticket: u64,
    /// Tickets from the beginning of one epoch to that of the next, at least 1.
    pub(crate) tickets: u64,
    /// Operations of a whole epoch: fewer than its tickets where a job drops a rest.
    pub(crate) ops: u64,
}

impl Numbering {
    /// The epoch of a ticket; all that are not kept have the number behind the last.
    fn epoch(&self, ticket: u64) -> u16 {
        let epoch = ticket.saturating_sub(self.first_ticket) / self.tickets.max(1);
        epoch.min(u64::from(EPOCHS_KEPT)) as u16
    }
}

/// The epochs that one worker has begun.
#[derive(Debug)]
pub(crate) struct Begun {
    numbering: Numbering,
    /// The epoch of the last ticket, and the first ticket of that.
    current: u16,
    current_first: u64,
    /// When it issued the first operation of each; `None` for an epoch of which it had none.
    at_ns: Vec<Option<u64>>,
}

impl Begun {
    /// None yet.
    pub(crate) fn new(numbering: Numbering) -> Self {
        Self { numbering, current: 0, current_first: numbering.first_ticket, at_ns: Vec::new() }
    }

    /// Whether `ticket` is of the same epoch as the one before it.
    #[inline]
    pub(crate) fn stays(&self, ticket: u64) -> bool {
        // One comparison for both ends of the epoch: a ticket before its first becomes a very large number.
        ticket.wrapping_sub(self.current_first) < self.numbering.tickets && !self.at_ns.is_empty()
    }

    /// Goes to the epoch of `ticket`, issued at `now_ns`; returns its number where this worker begins it.
    #[cold]
    pub(crate) fn go_to(&mut self, ticket: u64, now_ns: u64) -> Option<u16> {
        let Numbering { first_ticket, tickets, .. } = self.numbering;
        let number = ticket.saturating_sub(first_ticket) / tickets.max(1);
        self.current = self.numbering.epoch(ticket);
        self.current_first = first_ticket + number * tickets;
        if self.current == EPOCHS_KEPT {
            // Nothing is kept of what follows, so it is all one.
            self.numbering.tickets = u64::MAX;
            return None;
        }
        let index = usize::from(self.current);
        if self.at_ns.len() <= index {
            self.at_ns.resize(index + 1, None);
        }
        // Workers take tickets in blocks and may come back to an epoch after they began the next.
        let is_new = self.at_ns[index].is_none();
        self.at_ns[index] = self.at_ns[index].or(Some(now_ns));
        is_new.then_some(self.current)
    }

    /// The epoch of the last ticket; [`EPOCHS_KEPT`] for all that are not kept.
    #[inline]
    pub(crate) fn current(&self) -> u16 {
        self.current
    }

    /// When it issued the first operation of each epoch.
    pub(crate) fn into_times(self) -> Vec<Option<u64>> {
        self.at_ns
    }
}

/// What one worker counted of one epoch, inside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EpochCount {
    /// Operations that ended, well or not.
    pub(crate) ended: u64,
    /// Those that ended well.
    pub(crate) ops: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Those of them that a cache tier served.
    pub(crate) tier_bytes: u64,
    /// When the first ended.
    pub(crate) first_ns: u64,
    /// When the last ended.
    pub(crate) last_ns: u64,
}

impl EpochCount {
    pub(crate) const NONE: Self =
        Self { ended: 0, ops: 0, bytes: 0, tier_bytes: 0, first_ns: u64::MAX, last_ns: 0 };

    /// Nothing but operations that ended at this time, to be filled in.
    pub(crate) fn at(done_ns: u64) -> Self {
        Self { first_ns: done_ns, last_ns: done_ns, ..Self::NONE }
    }

    fn add(&mut self, other: &Self) {
        self.ended += other.ended;
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.tier_bytes += other.tier_bytes;
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
    }
}

/// Adds operations that ended inside the window at one time to their epoch.
pub(crate) fn count(counts: &mut Vec<EpochCount>, epoch: u16, added: &EpochCount) {
    if epoch >= EPOCHS_KEPT {
        return;
    }
    let index = usize::from(epoch);
    if counts.len() <= index {
        counts.resize(index + 1, EpochCount::NONE);
    }
    counts[index].add(added);
}

/// What is known of epochs besides the workers' counts.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// When the first batch of each was ready, where a job is trained.
    pub(crate) first_batch_ns: Vec<Option<u64>>,
    /// What storage delivered from each to the next, where that is known.
    pub(crate) storage_bytes: Vec<Option<u64>>,
    /// Whether there is a cache tier.
    pub(crate) tier: bool,
}

/// The epochs of a repetition whose window opened at `open_ns`, of what each worker has begun and counted. None where the
/// window saw no whole one, unless they were `asked` for.
pub(crate) fn merge<'a>(
    numbering: Numbering,
    asked: bool,
    open_ns: u64,
    workers: impl Iterator<Item = (&'a [Option<u64>], &'a [EpochCount])>,
    around: &Around,
) -> Vec<Epoch> {
    let mut begun_ns: Vec<Option<u64>> = Vec::new();
    let mut counts: Vec<EpochCount> = Vec::new();
    for (begun, counted) in workers {
        begun_ns.resize(begun_ns.len().max(begun.len()), None);
        for (first, own) in begun_ns.iter_mut().zip(begun) {
            *first = first.iter().chain(own).min().copied();
        }
        counts.resize(counts.len().max(counted.len()), EpochCount::NONE);
        for (sum, own) in counts.iter_mut().zip(counted) {
            sum.add(own);
        }
    }
    let known = |of: &[Option<u64>], index: usize| of.get(index).copied().flatten();
    let since = |ns: u64| ns.saturating_sub(open_ns);
    let epoch = |(index, count): (usize, &EpochCount)| {
        (count.ended > 0).then(|| Epoch {
            epoch: index as u64,
            begun_ns: known(&begun_ns, index).map_or(0, since),
            first_ns: since(count.first_ns),
            first_batch_ns: known(&around.first_batch_ns, index).map(since),
            ended_ns: since(count.last_ns),
            ops: count.ops,
            bytes: count.bytes,
            storage_bytes: known(&around.storage_bytes, index),
            tier_bytes: around.tier.then_some(count.tier_bytes),
            complete: count.ended == numbering.ops,
        })
    };
    let epochs: Vec<Epoch> = counts.iter().enumerate().filter_map(epoch).collect();
    // Parts of an epoch alone say less than the repetition does, and would be a table of one row in most records.
    if asked || epochs.iter().any(|epoch| epoch.complete) { epochs } else { Vec::new() }
}
