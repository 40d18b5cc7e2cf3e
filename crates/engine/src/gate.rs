//! Threads open their queues by themselves (a ring belongs to its thread), then start together or not at all.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use backend::Clock;

use crate::error::RepError;

/// Where the threads of a repetition meet.
pub(crate) struct StartGate {
    threads: u32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: u32,
    start_ns: Option<u64>,
    failure: Option<RepError>,
}

impl StartGate {
    pub(crate) fn new(threads: u32) -> Self {
        Self { threads, state: Mutex::default(), changed: Condvar::new() }
    }

    /// A thread's promise to arrive. A thread that ends without arriving does not keep the others waiting.
    pub(crate) fn promise(&self) -> Promise<'_> {
        Promise { gate: self, kept: false }
    }

    /// Starts `threads` threads that work on their number each. Where the system refuses one, none of them passes the gate.
    pub(crate) fn start<'scope, T: Send + 'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        name: &str,
        threads: u32,
        work: impl Fn(u32) -> T + Copy + Send + 'scope,
    ) -> Vec<ScopedJoinHandle<'scope, T>> {
        let mut started = Vec::with_capacity(threads as usize);
        for index in 0..threads {
            match Builder::new().name(format!("{name}-{index}")).spawn_scoped(scope, move || work(index)) {
                Ok(thread) => started.push(thread),
                Err(source) => {
                    self.fail(RepError::Threads { threads, source });
                    break;
                }
            }
        }
        started
    }

    /// Lets no thread start, whether it has arrived or not.
    pub(crate) fn fail(&self, error: RepError) {
        self.state().failure.get_or_insert(error);
        self.changed.notify_all();
    }

    /// When it opened, or why it never did.
    pub(crate) fn outcome(self) -> Result<u64, RepError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (state.failure, state.start_ns) {
            (Some(error), _) => Err(error),
            (None, Some(start_ns)) => Ok(start_ns),
            (None, None) => Err(RepError::NotStarted),
        }
    }

    fn arrive(&self, clock: &Clock) -> Option<u64> {
        let mut state = self.state();
        state.ready += 1;
        if state.ready == self.threads && state.failure.is_none() {
            // Taken once, by the last to arrive: all windows follow from one time.
            state.start_ns = Some(clock.now_ns());
            self.changed.notify_all();
        }
        while state.start_ns.is_none() && state.failure.is_none() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.failure.is_some() { None } else { state.start_ns }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What those threads returned that passed the gate. A panic of a thread goes on here, after the other threads have ended.
pub(crate) fn joined<T>(threads: Vec<ScopedJoinHandle<'_, Option<T>>>) -> Vec<T> {
    let join = |thread: ScopedJoinHandle<'_, Option<T>>| {
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    threads.into_iter().filter_map(join).collect()
}

/// See [`StartGate::promise`].
pub(crate) struct Promise<'a> {
    gate: &'a StartGate,
    kept: bool,
}

impl Promise<'_> {
    /// Waits for the others; when all are there, what was opened and the time of the start. `None` when any of
    /// the threads could not open what it needs.
    pub(crate) fn keep<T>(mut self, opened: Result<T, RepError>, clock: &Clock) -> Option<(T, u64)> {
        // From here on the thread is counted, or has said why not; the drop below is for those that panic before.
        self.kept = true;
        match opened {
            Ok(opened) => self.gate.arrive(clock).map(|start_ns| (opened, start_ns)),
            Err(error) => {
                self.gate.fail(error);
                None
            }
        }
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.gate.fail(RepError::NotStarted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn together(
        threads: u32,
        opens: impl Fn(u32) -> Result<u32, RepError> + Sync,
    ) -> Vec<Option<(u32, u64)>> {
        let gate = StartGate::new(threads);
        let clock = Clock::simulated();
        clock.advance_to(7);
        let (gate, clock, opens) = (&gate, &clock, &opens);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads)
                .map(|index| scope.spawn(move || gate.promise().keep(opens(index), clock)))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn all_start_at_one_time_or_none_does() {
        assert_eq!(together(3, Ok), [Some((0, 7)), Some((1, 7)), Some((2, 7))]);
        let one_fails = |index| if index == 1 { Err(RepError::NotStarted) } else { Ok(index) };
        assert_eq!(together(3, one_fails), [None, None, None]);
    }

    #[test]
    fn a_thread_that_never_arrives_keeps_nobody_waiting() {
        let gate = StartGate::new(2);
        let clock = Clock::simulated();
        let arrived = std::thread::scope(|scope| {
            let waits = scope.spawn(|| gate.promise().keep(Ok(()), &clock));
            drop(gate.promise());
            waits.join().unwrap()
        });
        assert_eq!(arrived, None);
        assert!(gate.outcome().is_err());
    }
}
