//! Notices that a process does not come where the others wait for it.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use backend::Clock;
use launch::Group;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// How long this process waits before it tells the others that it does: most waits are shorter.
const TELL_AFTER_NS: u64 = 300_000_000;

/// What is done where processes are missing, by their ranks, and how often this wait has asked before. It does not return where it
/// ends this process.
pub(super) type OnMissing = Box<dyn Fn(&[u32], u32) + Send>;

/// A thread that looks at how long this process has been waiting for the others.
pub(super) struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    clock: Clock,
}

#[derive(Default)]
struct State {
    waiting: Option<Waiting>,
    /// Meetings so far; all processes count alike.
    meetings: u64,
    is_over: bool,
}

/// A wait for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Waiting {
    meeting: u64,
    since_ns: u64,
    allowed_ns: u64,
    is_told: bool,
    /// How often it has been asked who is missing.
    asked: u32,
}

/// What is to be done about a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Nothing,
    Tell,
    Ask,
}

impl Waiting {
    fn act(&self, now_ns: u64) -> Act {
        let waited_ns = now_ns.saturating_sub(self.since_ns);
        if !self.is_told && waited_ns >= TELL_AFTER_NS.min(self.allowed_ns) {
            Act::Tell
        } else if self.is_told && waited_ns >= self.allowed_ns {
            Act::Ask
        } else {
            Act::Nothing
        }
    }
}

impl Watchdog {
    /// Watches this process's waits for the others of `group`.
    pub(super) fn start(
        group: Arc<dyn Group>,
        clock: Clock,
        patience_ns: u64,
        on_missing: OnMissing,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), clock });
        let watched = Arc::clone(&shared);
        let watch = move || watched.watch(&*group, patience_ns, &on_missing);
        let thread = thread::Builder::new().name("watchdog".to_owned()).spawn(watch)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// A wait begins that may take so long; it ends with the value.
    pub(super) fn wait(&self, allowed_ns: u64) -> Wait<'_> {
        let mut state = self.shared.state();
        let since_ns = self.shared.clock.now_ns();
        state.waiting =
            Some(Waiting { meeting: state.meetings, since_ns, allowed_ns, is_told: false, asked: 0 });
        state.meetings += 1;
        drop(state);
        self.shared.changed.notify_all();
        Wait(&self.shared)
    }
}

/// A wait for the others, until this is dropped.
pub(super) struct Wait<'a>(&'a Shared);

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.0.state().waiting = None;
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A watchdog that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, group: &dyn Group, patience_ns: u64, on_missing: &OnMissing) {
        let mut state = self.state();
        while !state.is_over {
            let Some(waiting) = state.waiting else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            match waiting.act(self.clock.now_ns()) {
                Act::Nothing => {
                    let waited = self.changed.wait_timeout(state, LOOK);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                Act::Tell => {
                    drop(state);
                    group.tell_waiting(waiting.meeting);
                    state = self.state();
                    state.edit(waiting.meeting, |waiting| waiting.is_told = true);
                }
                Act::Ask => {
                    drop(state);
                    let missing = group.missing(waiting.meeting);
                    // The last one may have come while the others were asked.
                    if !missing.is_empty() && self.state().is_in(waiting.meeting) {
                        on_missing(&missing, waiting.asked);
                    }
                    let more_ns = self.clock.now_ns().saturating_sub(waiting.since_ns) + patience_ns;
                    state = self.state();
                    state.edit(waiting.meeting, |waiting| {
                        waiting.allowed_ns = more_ns;
                        waiting.asked += 1;
                    });
                }
            }
        }
    }
}

impl State {
    fn is_in(&self, meeting: u64) -> bool {
        self.waiting.is_some_and(|waiting| waiting.meeting == meeting)
    }

    /// Changes the present wait, where it is still this one.
    fn edit(&mut self, meeting: u64, edit: impl FnOnce(&mut Waiting)) {
        if let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.meeting == meeting) {
            edit(waiting);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_wait_is_told_of_and_then_asked_about() {
        let waiting =
            Waiting { meeting: 3, since_ns: 1_000, allowed_ns: 6_000_000_000, is_told: false, asked: 0 };
        assert_eq!(waiting.act(1_000), Act::Nothing);
        assert_eq!(waiting.act(1_000 + TELL_AFTER_NS), Act::Tell);
        let told = Waiting { is_told: true, ..waiting };
        assert_eq!(told.act(1_000 + TELL_AFTER_NS), Act::Nothing);
        assert_eq!(told.act(6_000_001_000), Act::Ask);
        // Nobody is asked about whom nothing was told to.
        assert_eq!(waiting.act(9_000_000_000), Act::Tell);
    }

    #[test]
    fn who_does_not_come_is_named() {
        let members = launch::testing::group(3);
        let (send, missing) = channel();
        let on_missing = move |ranks: &[u32], _| send.send(ranks.to_vec()).unwrap();
        let group: Arc<dyn Group> = Arc::clone(&members[0]) as Arc<dyn Group>;
        let watchdog = Watchdog::start(group, Clock::real(), 1, Box::new(on_missing)).unwrap();
        // Meeting 0 is the first of each; rank 1 is there, rank 2 is not.
        members[1].tell_waiting(0);
        let wait = watchdog.wait(1);
        assert_eq!(missing.recv().unwrap(), [2]);
        drop(wait);
        drop(watchdog);
    }

    #[test]
    fn nobody_is_missing_where_all_wait() {
        let members = launch::testing::group(2);
        let (send, missing) = channel();
        let on_missing = move |ranks: &[u32], _| send.send(ranks.to_vec()).unwrap();
        let group: Arc<dyn Group> = Arc::clone(&members[0]) as Arc<dyn Group>;
        let watchdog = Watchdog::start(group, Clock::real(), 1, Box::new(on_missing)).unwrap();
        members[1].tell_waiting(0);
        members[1].tell_waiting(1);
        let first = watchdog.wait(1);
        // Until it has told of itself, it has not asked.
        while !members[1].missing(0).is_empty() {
            thread::yield_now();
        }
        drop(first);
        drop(watchdog);
        assert_eq!(missing.try_iter().count(), 0);
    }
}
