//! What the machine does second by second while a window is open, looked at by a thread of its own.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use backend::Clock;
use record::{Look, System};

use crate::system::{Live, Watched};

/// Time between two looks, and the part of a window, as 1 in so many, that it is at least: seconds for the first hour, and some
/// fifteen thousand looks in a day.
const EACH_NS: u64 = 1_000_000_000;
const PARTS: u64 = 3_600;

/// A thread that looks at the machine from when the window opens until it closes.
// Not a worker: a look takes some 100 us, more on machines of many processors, and would be in the latency of a read.
#[derive(Debug)]
pub(crate) struct Course {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    opened_ns: Option<u64>,
    is_closed: bool,
    is_done: bool,
    looks: Vec<Look>,
}

impl Course {
    /// A thread that waits for the window. `None` on a virtual clock, whose time no machine shares, and where the system refuses one
    /// more thread.
    pub(crate) fn begin(clock: &Clock, watched: &Watched) -> Option<Self> {
        if !clock.runs_by_itself() {
            return None;
        }
        let shared = Arc::<Shared>::default();
        let live = Live::below(watched);
        let follow = {
            let (shared, clock) = (Arc::clone(&shared), clock.clone());
            move || shared.follow(live, &clock)
        };
        let thread = Builder::new().name("machine".to_owned()).spawn(follow).ok()?;
        Some(Self { shared, thread: Some(thread) })
    }

    /// Begins to look: the window opened at `opened_ns`.
    pub(crate) fn open(&self, opened_ns: u64) {
        self.shared.state().opened_ns = Some(opened_ns);
        self.shared.changed.notify_all();
    }

    /// Takes the last look, without waiting for it.
    pub(crate) fn close(&self) {
        self.shared.state().is_closed = true;
        self.shared.changed.notify_all();
    }

    /// What was seen. Waits for the last look.
    pub(crate) fn looks(&self) -> Vec<Look> {
        self.close();
        let wait = self.shared.changed.wait_while(self.shared.state(), |state| !state.is_done);
        wait.unwrap_or_else(PoisonError::into_inner).looks.clone()
    }
}

impl Drop for Course {
    fn drop(&mut self) {
        self.close();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn follow(&self, mut live: Live, clock: &Clock) {
        // However it ends: the end of a repetition waits for it.
        let _done = Done(self);
        if let Some(opened_ns) = self.opened_ns() {
            live.begin();
            let mut last_ns = clock.now_ns();
            loop {
                let since_ns = last_ns.saturating_sub(opened_ns);
                let due_ns = last_ns + (since_ns / PARTS).max(EACH_NS);
                let is_over = self.is_closed_by(due_ns, clock);
                let now_ns = clock.now_ns();
                let span_ns = now_ns.saturating_sub(last_ns).max(1);
                let system = nameless(live.look(span_ns));
                last_ns = now_ns;
                let (at_ns, resident_bytes) = (now_ns.saturating_sub(opened_ns), live.resident_bytes());
                self.state().looks.push(Look { at_ns, span_ns, resident_bytes, system });
                if is_over {
                    break;
                }
            }
        }
    }

    /// When the window opened; `None` where it closed before.
    fn opened_ns(&self) -> Option<u64> {
        let is_neither = |state: &mut State| state.opened_ns.is_none() && !state.is_closed;
        let state = self.changed.wait_while(self.state(), is_neither);
        state.unwrap_or_else(PoisonError::into_inner).opened_ns
    }

    /// Waits until `due_ns`, at most until the window closes; returns whether it did.
    fn is_closed_by(&self, due_ns: u64, clock: &Clock) -> bool {
        let wait = Duration::from_nanos(due_ns.saturating_sub(clock.now_ns()));
        let state = self.changed.wait_timeout_while(self.state(), wait, |state| !state.is_closed);
        state.unwrap_or_else(PoisonError::into_inner).0.is_closed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Done<'a>(&'a Shared);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.state().is_done = true;
        self.0.changed.notify_all();
    }
}

/// The line of the repetition names device and interface, once.
fn nameless(mut system: System) -> System {
    let device = system.device.iter_mut().map(|device| &mut device.name);
    let interface = system.network.iter_mut().map(|network| &mut network.interface);
    device.chain(interface).for_each(String::clear);
    system
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(clock: &Clock) -> Option<Course> {
        Course::begin(clock, &Watched::default())
    }

    #[test]
    fn the_last_look_is_that_of_the_end() {
        let clock = Clock::real();
        let course = course(&clock).unwrap();
        let opened_ns = clock.now_ns();
        course.open(opened_ns);
        let looks = course.looks();
        let elapsed_ns = clock.now_ns() - opened_ns;
        assert!(!looks.is_empty() && looks.is_sorted_by_key(|look| look.at_ns));
        assert!(looks.iter().all(|look| look.at_ns <= elapsed_ns && look.resident_bytes > Some(0)));
        // A second asking gets the same.
        assert_eq!(course.looks(), looks);
    }

    #[test]
    fn nothing_is_seen_of_a_window_that_never_opened_nor_in_virtual_time() {
        assert_eq!(course(&Clock::real()).unwrap().looks(), []);
        assert!(course(&Clock::simulated()).is_none());
    }
}
