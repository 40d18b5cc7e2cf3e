//! What rank 0 does for all: it tells the others what to make, and takes what they made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::Turn;
use record::{Ceiling, End, Rep, RepIntervals, Role, Run, Team};

use super::clocks::corrected_ns;
use super::meeting::{Meeting, SET_UP, Slack, thinking};
use super::order::{Made, Order};
use crate::exit::Failure;

/// The processes of a launcher, led by this one.
pub(crate) struct Leading {
    meeting: Arc<Meeting>,
    team: Team,
    /// Names that are hidden in the record, of all of them.
    secrets: Vec<(String, String)>,
    /// How long the others may take for what this process has made already.
    slack: Slack,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What the others made of the last repetition.
    others: Vec<Rep>,
    /// Why a fence failed, from a place that returns nothing.
    failed: Option<Failure>,
}

impl Leading {
    pub(super) fn new(
        meeting: Arc<Meeting>,
        team: Team,
        secrets: Vec<(String, String)>,
        slack: Slack,
    ) -> Self {
        Self { meeting, team, secrets, slack, state: Mutex::default() }
    }

    /// The head of the record of all, from this process's.
    pub(crate) fn head(&self, own: Run) -> Run {
        record::head_of_all(&Run { team: Some(self.team.clone()), ..own })
    }

    /// The names to hide.
    pub(crate) fn secrets(&self) -> Vec<(String, String)> {
        self.secrets.clone()
    }

    /// This process among them.
    pub(crate) fn share(&self) -> plan::Share {
        self.meeting.share()
    }

    /// Tells the others to make a repetition.
    pub(crate) fn repeat(&self, turn: Turn, role: Role) -> Result<(), Failure> {
        self.order(&Order::repeat(turn, role))
    }

    /// Waits for the others before the threads of a repetition start.
    pub(crate) fn start(&self) {
        if let Err(failure) = self.meeting.fence(SET_UP) {
            self.state().failed.get_or_insert(failure);
        }
    }

    /// What all made of a repetition, this process first; their seconds added, where all have some.
    ///
    /// # Errors
    /// What the launcher refuses.
    pub(crate) fn made(
        &self,
        rep: Box<Rep>,
        intervals: RepIntervals,
    ) -> Result<(Vec<Rep>, Option<RepIntervals>), Failure> {
        if let Some(failure) = self.state().failed.take() {
            return Err(failure);
        }
        let made = self.meeting.gather(&Made { rep, intervals }, self.slack)?;
        let mut reps = Vec::with_capacity(made.len());
        let mut of_ranks = Vec::with_capacity(made.len());
        for (Made { mut rep, intervals }, member) in made.into_iter().zip(&self.team.members) {
            rep.window_unix_ns = rep.window_unix_ns.map(|unix_ns| corrected_ns(unix_ns, member));
            reps.push(*rep);
            of_ranks.push(intervals);
        }
        self.state().others = reps[1..].to_vec();
        let all: Vec<&RepIntervals> = of_ranks.iter().collect();
        let seconds = record::seconds_of_all(&all);
        let first = of_ranks.first();
        let added = seconds.zip(first).map(|(seconds, first)| RepIntervals { seconds, ..first.clone() });
        Ok((reps, added))
    }

    /// What the others made of the repetition that was handed over last.
    pub(crate) fn others(&self) -> Vec<Rep> {
        self.state().others.clone()
    }

    /// Tells the others to measure ceilings.
    pub(crate) fn ceilings(&self, cells: &[usize]) -> Result<(), Failure> {
        self.order(&Order::Ceilings { cells: cells.to_vec() })
    }

    /// The ceilings that the others measured.
    pub(crate) fn ceilings_made(&self) -> Result<Vec<Ceiling>, Failure> {
        // Each measures by itself, and some on machines that are busier.
        let made: Vec<Vec<Ceiling>> = self.meeting.gather(&Vec::new(), Slack::Own(9))?;
        Ok(made.into_iter().flatten().collect())
    }

    /// Works while the others wait for the next order.
    pub(crate) fn thinking<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        thinking(|| self.order(&Order::Wait), work)
    }

    /// Tells the others to end; `work` is this process's last look, and the end is that of all.
    pub(crate) fn end(&self, work: impl FnOnce() -> End) -> Result<End, Failure> {
        self.order(&Order::End)?;
        let end = self.meeting.working(work)?;
        Ok(record::end_of_all(self.meeting.gather(&end, Slack::None)?))
    }

    fn order(&self, order: &Order) -> Result<(), Failure> {
        self.meeting.tell(Some(order)).map(drop)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
