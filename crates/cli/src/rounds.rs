//! What one process makes that decides by itself: ceilings, interleaved rounds, and fresh repetitions until the verdicts are
//! decided. Others may make the same with it.

use engine::Bench;
use plan::Plan;
use record::NotRun;

use crate::cost;
use crate::exit::Failure;
use crate::session::{Ready, Session};

/// Runs ceilings, rounds and confirmation.
pub(crate) fn interleave(
    ready: &Ready,
    session: &mut Session<'_>,
    bench: &mut Bench<'_>,
) -> Result<Vec<NotRun>, Failure> {
    let (plan, progress) = (&ready.loaded.plan, &ready.progress);
    let confirming = confirming(plan);
    progress.expect(cost::repetitions(plan, plan.measure.repetitions), plan.measure.budget_ns);
    ceilings(ready, session, bench)?;
    progress.phase("measuring the cells, interleaved");
    let mut not_run = bench.measure(confirming, &mut |event| session.take(event))?;
    not_run.extend(confirm(ready, session, bench, confirming)?);
    Ok(not_run)
}

/// Runs fresh repetitions from look to look; so many of them are expected already.
pub(crate) fn confirm(
    ready: &Ready,
    session: &mut Session<'_>,
    bench: &mut Bench<'_>,
    mut expected: u64,
) -> Result<Vec<NotRun>, Failure> {
    while let Some((cells, rounds)) = session.next_look()? {
        ready.progress.phase(&format!(
            "measuring afresh until the verdict is decided: {}",
            named(&ready.loaded.plan, &cells)
        ));
        // Looks are planned within the most rounds: how many of them are made is known only after each.
        let more = cells.len() as u64 * u64::from(rounds.end - rounds.start);
        ready.progress.add(more.saturating_sub(expected));
        expected = expected.saturating_sub(more);
        let left = bench.confirm(&cells, rounds, &mut |event| session.take(event))?;
        if !left.is_empty() {
            return Ok(left);
        }
    }
    Ok(Vec::new())
}

/// Measures what the client can do without storage, for the shapes of all cells.
pub(crate) fn ceilings(
    ready: &Ready,
    session: &mut Session<'_>,
    bench: &mut Bench<'_>,
) -> Result<(), Failure> {
    ready.progress.phase("measuring the client's own ceiling");
    ceilings_of(&session.without_ceiling(), session, bench)
}

/// The same for the shapes of these cells.
pub(crate) fn ceilings_of(
    cells: &[usize],
    session: &mut Session<'_>,
    bench: &mut Bench<'_>,
) -> Result<(), Failure> {
    session.begin_ceilings(cells)?;
    bench.ceilings(cells, &mut |event| session.take(event))?;
    session.end_ceilings()
}

/// The targets of cells, in the order of the plan.
fn named(plan: &Plan, cells: &[usize]) -> String {
    let is_open = |target: usize| cells.iter().any(|cell| plan.cells[*cell].target == target);
    let open = plan.targets.iter().enumerate().filter(|(index, _)| is_open(*index));
    let named: Vec<&str> = open.map(|(_, target)| &*target.name).collect();
    named.join(", ")
}

/// Fresh repetitions up to the first look.
fn confirming(plan: &Plan) -> u64 {
    cost::fresh_cells(plan) * u64::from(plan.measure.repetitions)
}
