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

    /// What those made of a repetition that took part in it, this process first; their seconds added, where all have some.
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
        let made: Vec<Option<Made>> = self.meeting.gather(&Some(Made { rep, intervals }), self.slack)?;
        let mut reps = Vec::with_capacity(made.len());
        let mut of_ranks = Vec::with_capacity(made.len());
        let took_part = made.into_iter().zip(&self.team.members);
        for (Made { mut rep, intervals }, member) in took_part.filter_map(|(made, of)| Some((made?, of))) {
            rep.window_unix_ns = rep.window_unix_ns.map(|unix_ns| corrected_ns(unix_ns, member));
            reps.push(*rep);
            of_ranks.push(intervals);
        }
        self.state().others = reps[1..].to_vec();
        let all: Vec<&RepIntervals> = of_ranks.iter().collect();
        let seconds = record::seconds_of_all(&all);
        let first = of_ranks.first();
        let added = seconds.zip(first).map(|(seconds, first)| RepIntervals {
            seconds,
            looks: Vec::new(),
            ..first.clone()
        });
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

#[cfg(test)]
mod tests {
    use launch::Group;
    use record::{Interval, Member, Outcome, testing};

    use super::super::follow;
    use super::*;

    /// What the process of a rank made, which read so many bytes in the first second.
    fn made(rank: u32, bytes: u64) -> Made {
        let second = Interval { second: 0, ops: 1, bytes, service_ns: testing::histogram(1_000, 1) };
        let rep =
            Rep { rank, ranks: 2, window_unix_ns: Some(1_000_000), ..Rep::empty("c", Outcome::Complete) };
        let intervals = RepIntervals {
            cell: "c".to_owned(),
            role: Role::Measure,
            rep: 0,
            seconds: vec![second],
            looks: Vec::new(),
        };
        Made { rep: Box::new(rep), intervals }
    }

    /// Rank 2 takes no part: it comes to the same fences as the others, which measure alone.
    #[test]
    fn who_takes_no_part_meets_the_others_and_hands_over_nothing() {
        let member = |rank: u32| Member {
            host: format!("host-{}", rank + 1),
            machine: rank,
            clock_ahead_ns: i64::from(rank) * 1_000,
            clock_uncertainty_ns: 0,
        };
        let team = Team { launcher: "Slurm".to_owned(), members: (0..3).map(member).collect() };
        let process = |group: Arc<dyn Group>| {
            let missing = |ranks: &[u32], _: u32, _: &[String]| panic!("{ranks:?} are missing");
            let rank = group.rank();
            let meeting = Arc::new(Meeting::new(group, 300_000_000_000, missing).unwrap());
            if rank == 0 {
                let leading = Leading::new(meeting, team.clone(), Vec::new(), Slack::None);
                leading.start();
                let Made { rep, intervals } = made(0, 10);
                let (reps, seconds) = leading.made(rep, intervals).unwrap();
                return Some((reps, leading.others(), seconds.unwrap()));
            }
            if rank == 1 {
                meeting.fence(SET_UP).unwrap();
                meeting.gather(&Some(made(1, 7)), Slack::None).unwrap();
            } else {
                follow::idle(&meeting, Slack::Time(u64::MAX)).unwrap();
            }
            None
        };
        let process = &process;
        let led = std::thread::scope(|scope| {
            let members = launch::testing::group(3).into_iter();
            let threads: Vec<_> = members.map(|member| scope.spawn(move || process(member))).collect();
            threads.into_iter().find_map(|thread| thread.join().unwrap())
        });
        let (reps, others, seconds) = led.unwrap();
        let who: Vec<(u32, Option<u64>)> = reps.iter().map(|rep| (rep.rank, rep.window_unix_ns)).collect();
        assert_eq!(who, [(0, Some(1_000_000)), (1, Some(999_000))], "by the clock of rank 0");
        assert_eq!(others, reps[1..]);
        assert_eq!((seconds.seconds.len(), seconds.seconds[0].bytes), (1, 17));
    }
}
