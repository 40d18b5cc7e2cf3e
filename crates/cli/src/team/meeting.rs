//! Where the processes of a launcher meet: all make the same calls in the same order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use backend::Clock;
use launch::{Group, LaunchError};
use plan::Share;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::packed::{pack, unpack};
use super::watchdog::{OnMissing, Watchdog};
use crate::exit::{Exit, Failure};

/// How often a process that works says so to those that wait for it.
const TICK: Duration = Duration::from_secs(1);

/// Page caches are set and queues opened in about the same time, and on no machine in three times that of another.
pub(super) const SET_UP: Slack = Slack::Own(3);

/// How much longer than the patience the others may take, by what this process took itself since the last meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slack {
    /// No longer: all take the same time.
    None,
    /// So many times as long as this process took: the others' share may be harder.
    Own(u64),
    /// So many nanoseconds, where this process had nothing to do itself; `u64::MAX` is without end.
    Time(u64),
}

/// The processes of a launcher, as one of them sees them.
pub(crate) struct Meeting {
    group: Arc<dyn Group>,
    watchdog: Watchdog,
    clock: Clock,
    patience_ns: u64,
    /// When the last meeting ended, on the clock.
    met_ns: AtomicU64,
    hosts: Arc<OnceLock<Vec<String>>>,
}

impl Meeting {
    /// The processes of `group`, which wait for `patience_ns` for one that does not come. `on_missing` is told then which do
    /// not, how often it was told so of this wait before, and what all are called.
    pub(crate) fn new(
        group: Arc<dyn Group>,
        patience_ns: u64,
        on_missing: impl Fn(&[u32], u32, &[String]) + Send + 'static,
    ) -> std::io::Result<Self> {
        let clock = Clock::real();
        let hosts = Arc::new(OnceLock::new());
        let named = Arc::clone(&hosts);
        let on_missing: OnMissing = Box::new(move |missing, asked| {
            on_missing(missing, asked, named.get().map_or(&[], Vec::as_slice));
        });
        let watchdog = Watchdog::start(Arc::clone(&group), clock.clone(), patience_ns, on_missing)?;
        Ok(Self { group, watchdog, clock, patience_ns, met_ns: AtomicU64::new(0), hosts })
    }

    /// This process among them.
    pub(crate) fn share(&self) -> Share {
        Share { index: self.group.rank(), of: self.group.size() }
    }

    /// Whether this is rank 0, which decides.
    pub(crate) fn leads(&self) -> bool {
        self.group.rank() == 0
    }

    /// What the hosts are called, from now on, in messages.
    pub(super) fn call_hosts(&self, hosts: Vec<String>) {
        // Said once: a later call would change nothing.
        let _ = self.hosts.set(hosts);
    }

    /// `rank 2 on node7`.
    pub(super) fn named(&self, rank: u32) -> String {
        named(rank, self.hosts.get().map_or(&[], Vec::as_slice))
    }

    /// Ends all processes.
    pub(super) fn abort(&self, code: i32, why: &str) {
        self.group.abort(code, why);
    }

    /// Waits until all are here.
    pub(crate) fn fence(&self, slack: Slack) -> Result<(), Failure> {
        self.meet(slack, |group| group.fence())
    }

    /// What each of them says, to all.
    pub(super) fn all<T: Serialize + DeserializeOwned>(
        &self,
        mine: &T,
        slack: Slack,
    ) -> Result<Vec<T>, Failure> {
        let mine = pack(mine)?;
        let said = self.meet(slack, |group| group.exchange(&mine, 0..group.size()))?;
        Ok(said.iter().enumerate().map(|(rank, bytes)| unpack(bytes, rank)).collect::<Result<_, _>>()?)
    }

    /// What each of them says, to rank 0; nothing to the others.
    pub(super) fn gather<T: Serialize + DeserializeOwned>(
        &self,
        mine: &T,
        slack: Slack,
    ) -> Result<Vec<T>, Failure> {
        let mine = pack(mine)?;
        let of = if self.leads() { 0..self.group.size() } else { 0..0 };
        let said = self.meet(slack, |group| group.exchange(&mine, of))?;
        Ok(said.iter().enumerate().map(|(rank, bytes)| unpack(bytes, rank)).collect::<Result<_, _>>()?)
    }

    /// What rank 0 says, to all.
    pub(super) fn tell<T: Serialize + DeserializeOwned>(&self, mine: Option<&T>) -> Result<T, Failure> {
        let mine = mine.map_or(Ok(Vec::new()), pack)?;
        let said = self.meet(Slack::None, |group| group.exchange(&mine, 0..1))?;
        Ok(unpack(&said[0], 0)?)
    }

    /// Works, as the others do, until all have ended. Meanwhile each says every second that it is there, however long its
    /// work takes.
    pub(super) fn working<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let (ended, ends) = channel::<()>();
        thread::scope(|scope| {
            let ticks = scope.spawn(move || {
                loop {
                    let is_done = ends.recv_timeout(TICK) == Err(RecvTimeoutError::Disconnected);
                    let done = self.all(&is_done, Slack::None)?;
                    if done.iter().all(|is_done| *is_done) {
                        return Ok(());
                    }
                }
            });
            let made = work();
            drop(ended);
            match ticks.join() {
                Ok(ticked) => ticked.map(|()| made),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    fn meet<T>(
        &self,
        slack: Slack,
        meet: impl FnOnce(&dyn Group) -> Result<T, LaunchError>,
    ) -> Result<T, Failure> {
        let own_ns = self.clock.now_ns().saturating_sub(self.met_ns.load(Ordering::Relaxed));
        let slack_ns = match slack {
            Slack::None => 0,
            Slack::Own(times) => own_ns.saturating_mul(times),
            Slack::Time(ns) => ns,
        };
        let wait = self.watchdog.wait(self.patience_ns.saturating_add(slack_ns));
        let met = meet(&*self.group);
        drop(wait);
        self.met_ns.store(self.clock.now_ns(), Ordering::Relaxed);
        // What fails here fails for all, most often since one of them has ended all and said why.
        met.map_err(|error| if self.leads() { error.into() } else { Failure::Said(Exit::Error) })
    }
}

/// Works at rank 0, while the others wait for what it will tell. `wait` tells them every second to go on waiting.
pub(super) fn thinking<T>(
    wait: impl Fn() -> Result<(), Failure> + Send,
    work: impl FnOnce() -> T,
) -> Result<T, Failure> {
    let (ended, ends) = channel::<()>();
    thread::scope(|scope| {
        let ticks = scope.spawn(move || {
            while ends.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                wait()?;
            }
            Ok(())
        });
        let made = work();
        drop(ended);
        match ticks.join() {
            Ok(ticked) => ticked.map(|()| made),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// `rank 2 on node7`; without the host where that is not known yet.
pub(super) fn named(rank: u32, hosts: &[String]) -> String {
    match hosts.get(rank as usize) {
        Some(host) => format!("rank {rank} on {host}"),
        None => format!("rank {rank}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Runs `each` in a thread for every member of a group of so many.
    pub(crate) fn meetings<T: Send>(size: u32, each: impl Fn(&Meeting) -> T + Sync) -> Vec<T> {
        thread::scope(|scope| {
            let each = &each;
            let start = |member| {
                scope.spawn(move || {
                    // Five minutes: a busy machine is no hang.
                    let missing = |ranks: &[u32], _: u32, _: &[String]| panic!("{ranks:?} are missing");
                    each(&Meeting::new(member, 300_000_000_000, missing).unwrap())
                })
            };
            let threads: Vec<_> = launch::testing::group(size)
                .into_iter()
                .map(|member| start(member as Arc<dyn Group>))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn what_is_said_arrives_where_it_is_meant_for() {
        let said = meetings(3, |meeting| {
            let own = meeting.share().index;
            let all = meeting.all(&own, Slack::None).unwrap();
            let gathered = meeting.gather(&(own * 10), Slack::Own(2)).unwrap();
            let told = meeting.tell(meeting.leads().then_some(&"go".to_owned())).unwrap();
            meeting.fence(Slack::None).unwrap();
            (all, gathered, told)
        });
        for (rank, (all, gathered, told)) in said.into_iter().enumerate() {
            assert_eq!((all, told), (vec![0, 1, 2], "go".to_owned()));
            assert_eq!(gathered, if rank == 0 { vec![0, 10, 20] } else { Vec::new() });
        }
    }

    #[test]
    fn all_wait_for_the_one_that_works_longest() {
        let (begin, begun) = channel::<()>();
        let begun = std::sync::Mutex::new(begun);
        let begin = std::sync::Mutex::new(Some(begin));
        let made = meetings(3, |meeting| {
            let own = meeting.share().index;
            let made = meeting.working(|| {
                if own == 1 {
                    // Until rank 2 has worked.
                    let _ = begun.lock().unwrap().recv();
                } else if own == 2 {
                    drop(begin.lock().unwrap().take());
                }
                own
            });
            made.unwrap()
        });
        assert_eq!(made, [0, 1, 2]);
    }
}
