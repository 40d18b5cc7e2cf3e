//! A process that makes what rank 0 tells it.

use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::PoisonError;

use backend::Clock;
use engine::{Bench, BenchSettings, Event, Turn};
use plan::Share;
use record::{Ceiling, End};

use super::begin;
use super::meeting::{Meeting, SET_UP, Slack};
use super::order::{Made, Order};
use crate::exit::Failure;
use crate::session::{self, Ready};
use crate::suspended::Suspensions;
use crate::{host, signals};

/// Makes what rank 0 tells this process, until it tells it to end. `searches` says whether these are repetitions of a search.
///
/// # Errors
/// What the launcher refuses.
pub(super) fn follow(ready: &Ready, meeting: &Meeting, searches: bool) -> Result<(), Failure> {
    let Ready { loaded, data, stores, stop, counters, cores, checkpoints, .. } = ready;
    let plan = &loaded.plan;
    let setups = session::setups(plan, (data, checkpoints), stores);
    let clock = Clock::real();
    let settings = BenchSettings {
        measure: plan.measure.clone(),
        cores: *cores,
        copy_source_bytes: host::copy_source_bytes(),
        rank: meeting.share(),
        searches,
        variant: "base".to_owned(),
        variants: Share::WHOLE,
        began_unix_ns: Some(host::unix_now_ns().saturating_sub(clock.now_ns())),
    };
    let failed: Mutex<Option<Failure>> = Mutex::default();
    let start = |_| {
        if let Err(failure) = meeting.fence(SET_UP) {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        }
    };
    let mut bench = Bench::new(&plan.cells, &setups, settings, &clock, stop, counters);
    bench.start_by(&start);
    let suspensions = Suspensions::heard()?;
    let suspended = || suspensions.any_since();
    bench.notice(&suspended);
    loop {
        match meeting.tell(None)? {
            Order::Wait => {}
            Order::Ceilings { cells } => {
                let takes_part = |cell: &usize| plan.cells[*cell].part_of(meeting.share()).is_some();
                // Those that take part watch each other: of how long a job's ceiling takes this process knows nothing.
                let slack = if cells.iter().any(takes_part) { Slack::Own(9) } else { Slack::Time(u64::MAX) };
                meeting.gather(&ceilings(&bench, &cells), slack)?;
            }
            Order::Repeat { cell, .. } if plan.cells[cell].part_of(meeting.share()).is_none() => {
                bench.sit_out();
                idle(meeting, begin::idle(plan))?;
            }
            Order::Repeat { cell, rep, round, again, role } => {
                let mut made = Vec::new();
                let Ok(()) = bench.once(Turn { cell, rep, round, again }, role, &mut |event| {
                    if let Event::Rep(rep, mut intervals) = event {
                        // Nobody adds up those of several machines.
                        intervals.looks.clear();
                        made.push(Made { rep, intervals });
                    }
                    Ok::<(), Infallible>(())
                });
                if let Some(failure) = failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
                    return Err(failure);
                }
                let Some(made) = made.pop() else { unreachable!("what is begun is handed over") };
                meeting.gather(&Some(made), begin::slack(plan))?;
            }
            Order::End => break,
        }
    }
    let end = meeting.working(|| {
        let (changed, not_looked_at) = session::last_look(plan, data, stores, *cores);
        let reread = session::reread(&bench, plan, (data, &changed), stores);
        End { elapsed_ns: clock.now_ns(), changed, not_looked_at, reread, ..End::default() }
    })?;
    meeting.gather(&end, Slack::None)?;
    signals::ended_by_itself();
    Ok(())
}

/// Meets those that make a repetition in which this process takes no part, and hands over nothing. `slack` is what they may take for
/// it.
pub(super) fn idle(meeting: &Meeting, slack: Slack) -> Result<(), Failure> {
    // A page cache may be filled before it, which takes as long as it takes.
    meeting.fence(Slack::Time(u64::MAX))?;
    meeting.gather(&None::<Made>, slack).map(drop)
}

fn ceilings(bench: &Bench<'_>, cells: &[usize]) -> Vec<Ceiling> {
    let mut measured = Vec::new();
    let Ok(()) = bench.ceilings(cells, &mut |event| {
        if let Event::Ceiling(ceiling) = event {
            measured.push(ceiling);
        }
        Ok::<(), Infallible>(())
    });
    measured
}
