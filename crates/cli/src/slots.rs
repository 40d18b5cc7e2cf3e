//! Repetitions of several hosts at one time: each host computes the same timetable, and the hosts do not talk.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plan::{Limit, Plan, Share};
use rustix::time::Timespec;

use crate::args::RankArgs;
use crate::exit::Failure;
use crate::host;

const NS_PER_S: u64 = 1_000_000_000;

/// Time in a slot for what a repetition takes beside warm-up and window: setting the page cache, opening, reporting.
// Evicting tens of gigabytes and opening thousands of files take a few seconds; a rank that takes longer is
// seen by the times of its windows.
const SLACK_DEFAULT_NS: u64 = 5 * NS_PER_S;

/// Between two looks at whether a signal came.
// Short enough to end soon after a signal, long enough to cost nothing.
const LOOK_NS: u64 = 20_000_000;

/// When the repetitions of this rank begin, and which rank it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slots {
    /// This process among those of the run.
    pub(crate) rank: Share,
    /// Beginning of the first slot, nanoseconds since 1970.
    pub(crate) begin_unix_ns: u64,
    /// Length of each.
    pub(crate) slot_ns: u64,
    /// The part of it that is left for what is not measured.
    slack_ns: u64,
    /// Whether the command line says so.
    slack_is_stated: bool,
}

impl Slots {
    /// The timetable that a command line asks for; `None` for a run of one process.
    ///
    /// # Errors
    /// A usage error for times that cannot be read, a rank out of range, and a plan whose repetitions have no length, or
    /// no order, that all ranks know beforehand.
    pub(crate) fn of(args: &RankArgs, plan: &Plan) -> Result<Option<Self>, Failure> {
        let (Some(rank), Some(ranks), Some(start_at)) = (args.rank, args.ranks, &args.start_at) else {
            return Ok(None);
        };
        if rank >= ranks {
            return Err(Failure::usage(format!(
                "error: there is no rank {rank} among {ranks}\n  hint: ranks are numbered from 0 to {}",
                ranks - 1
            )));
        }
        if let Some(said) = slowed(plan) {
            return Err(Failure::usage(said));
        }
        let begin_unix_ns = host::unix_ns(start_at).ok_or_else(|| {
            Failure::usage(format!(
                "error: --start-at `{start_at}` is no time\n  hint: write 2026-11-21T04:41:23Z, or seconds since 1970, the \
                 same on every host: date +%s"
            ))
        })?;
        let slack_ns = match &args.slack {
            None => SLACK_DEFAULT_NS,
            Some(text) => feed::units::parse_duration_ns(text).map_err(|error| {
                Failure::usage(format!("error: --slack: {error}\n  hint: write --slack 5s"))
            })?,
        };
        let window_ns = fixed_window_ns(plan)?;
        // Equal slots: no host has to know how long another one's repetition took.
        let slot_ns = plan.measure.warmup_ns + window_ns + slack_ns;
        Ok(Some(Self {
            rank: Share { index: rank, of: ranks },
            begin_unix_ns,
            slot_ns,
            slack_ns,
            slack_is_stated: args.slack.is_some(),
        }))
    }

    /// What all ranks of the run call it, and no other run.
    pub(crate) fn name(&self) -> String {
        format!("{} ranks at {}", self.rank.of, self.begin_unix_ns)
    }

    /// The options that the command line left to a default, for the record.
    pub(crate) fn unsaid(&self) -> Vec<String> {
        if self.slack_is_stated {
            return Vec::new();
        }
        // Merging needs the same slots, and a default may change with a version.
        vec!["--slack".to_owned(), format!("{}s", self.slack_ns / NS_PER_S)]
    }

    /// Waits until the slot of a repetition begins, or until a signal comes. A rank that is late does not wait: the times
    /// of its windows show it.
    pub(crate) fn wait(&self, repetition: u32, stop: &AtomicBool) {
        let begins = self.begins_unix_ns(repetition);
        while !stop.load(Ordering::Relaxed) {
            // By the time of day, looked at again each time: NTP may move it while a rank waits.
            let left_ns = begins.saturating_sub(host::unix_now_ns()).min(LOOK_NS);
            if left_ns == 0 {
                return;
            }
            // Cut short by a signal it only looks earlier.
            let _ = rustix::thread::nanosleep(&Timespec { tv_sec: 0, tv_nsec: left_ns.cast_signed() });
        }
    }

    /// How long ago the first slot began; `None` before it begins.
    pub(crate) fn late_by(&self) -> Option<Duration> {
        host::unix_now_ns().checked_sub(self.begin_unix_ns).filter(|ns| *ns > 0).map(Duration::from_nanos)
    }

    fn begins_unix_ns(&self, repetition: u32) -> u64 {
        self.begin_unix_ns.saturating_add(self.slot_ns.saturating_mul(u64::from(repetition)))
    }
}

/// Why several processes do not measure a path that is slowed down: each would slow down itself alone, so that all of them
/// together were faster than declared. `None` where no path is.
pub(crate) fn slowed(plan: &Plan) -> Option<String> {
    let target = plan.targets.iter().find(|target| target.is_slowed_here())?;
    Some(format!(
        "error: target `{}` is a path that is slowed down for one process, and several measure\n  hint: measure it with one, or \
         play an nfs:// or s3:// target, whose server they share",
        target.name
    ))
}

/// Length of the window of every repetition.
fn fixed_window_ns(plan: &Plan) -> Result<u64, Failure> {
    let refused = |what: &str, hint: &str| {
        Err(Failure::usage(format!("error: ranks follow a timetable, and {what}\n  hint: {hint}")))
    };
    let Limit::Duration { duration_ns } = plan.measure.limit else {
        return refused(
            "repetitions that do not end after a time have no place in it",
            "write measure.duration instead of bytes, epochs or steps",
        );
    };
    if plan.measure.budget_ns.is_some() {
        return refused(
            "a budget would end it on one host earlier than on another",
            "remove measure.budget, or give fewer repetitions",
        );
    }
    if plan.cells.iter().any(|cell| cell.auto_group.is_some()) {
        return refused(
            "a search for the queue depth may go on longer on one host than on another",
            "say which depths are measured: load.queue_depth = [8, 32]",
        );
    }
    Ok(duration_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_each_other_and_a_signal_ends_the_wait_for_one() {
        let slots = Slots {
            rank: Share { index: 0, of: 2 },
            begin_unix_ns: 1_000,
            slot_ns: 50,
            slack_ns: 10,
            slack_is_stated: true,
        };
        assert_eq!([0, 1, 7].map(|n| slots.begins_unix_ns(n)), [1_000, 1_050, 1_350]);
        assert!(slots.late_by().is_some());
        let never = Slots { begin_unix_ns: u64::MAX, ..slots };
        assert_eq!(never.late_by(), None);
        never.wait(3, &AtomicBool::new(true));
    }
}
