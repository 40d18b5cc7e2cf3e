//! A group of threads in place of processes, for tests of whoever meets in one.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::LaunchError;
use crate::group::Group;

/// What the members of a group share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Meetings that have ended.
    round: u64,
    /// What those who came to the present one gave.
    here: Vec<Option<Vec<u8>>>,
    /// What was given in the last one.
    given: Vec<Vec<u8>>,
    /// Who has told that it waits, and in which meeting.
    waiting: BTreeSet<(u64, u32)>,
    /// Why the group was ended.
    aborted: Option<String>,
}

/// A member of a group of threads.
pub struct Member {
    rank: u32,
    size: u32,
    shared: Arc<Shared>,
}

/// A group of so many members, one for each thread.
pub fn group(size: u32) -> Vec<Arc<Member>> {
    let shared = Arc::new(Shared::default());
    let member = |rank| Arc::new(Member { rank, size, shared: Arc::clone(&shared) });
    (0..size).map(member).collect()
}

impl Member {
    /// Why the group was ended, once it was.
    pub fn aborted(&self) -> Option<String> {
        self.state().aborted.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Group for Member {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn fence(&self) -> Result<(), LaunchError> {
        self.exchange(&[], 0..0).map(drop)
    }

    fn exchange(&self, mine: &[u8], of: Range<u32>) -> Result<Vec<Vec<u8>>, LaunchError> {
        let mut state = self.state();
        let round = state.round;
        state.here.resize(self.size as usize, None);
        state.here[self.rank as usize] = Some(mine.to_vec());
        if state.here.iter().all(Option::is_some) {
            state.given = std::mem::take(&mut state.here).into_iter().flatten().collect();
            state.round += 1;
            self.shared.changed.notify_all();
        }
        while state.round == round && state.aborted.is_none() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.round == round {
            return Err(LaunchError::Call { call: "PMIx_Fence", cause: "the group was ended".to_owned() });
        }
        Ok(state.given[of.start as usize..of.end as usize].to_vec())
    }

    fn tell_waiting(&self, meeting: u64) {
        self.state().waiting.insert((meeting, self.rank));
    }

    fn missing(&self, meeting: u64) -> Vec<u32> {
        let state = self.state();
        let is_missing = |rank: &u32| *rank != self.rank && !state.waiting.contains(&(meeting, *rank));
        (0..self.size).filter(is_missing).collect()
    }

    fn abort(&self, _code: i32, why: &str) {
        self.state().aborted.get_or_insert_with(|| why.to_owned());
        self.shared.changed.notify_all();
    }
}
