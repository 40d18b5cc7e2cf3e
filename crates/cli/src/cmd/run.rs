//! `feedline run`: scenario, plan, prepare, execute, record, verdict.

use analysis::{GateResult, Summary};
use engine::Bench;
use plan::Plan;
use record::NotRun;

use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::load;
use crate::session::{Ready, Session};

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let ready = Ready::make(load::load(&args.input)?, &args.measure)?;
    let mut session = Session::begin(&ready, args.measure.no_redact, None)?;
    let interrupted = session.execute(|session, bench| interleave(&ready, session, bench))?;
    let summary = session.conclude()?;
    Ok(if interrupted { Exit::Interrupted } else { exit_of(&summary, args.strict) })
}

/// Runs ceilings, rounds and confirmation.
fn interleave(
    ready: &Ready,
    session: &mut Session<'_>,
    bench: &mut Bench<'_>,
) -> Result<Vec<NotRun>, Failure> {
    let (plan, progress) = (&ready.loaded.plan, &ready.progress);
    let confirming = confirming(plan);
    progress.expect(plan.cells.len() as u64 * u64::from(plan.measure.repetitions) + confirming);
    progress.phase("measuring the client's own ceiling");
    let all: Vec<usize> = (0..plan.cells.len()).collect();
    bench.ceilings(&all, &mut |event| session.take(event))?;
    progress.phase("measuring the cells, interleaved");
    let mut not_run = bench.measure(confirming, &mut |event| session.take(event))?;
    progress.phase("confirming the chosen cells with fresh repetitions");
    let chosen = session.chosen();
    not_run.extend(bench.confirm(&chosen, &mut |event| session.take(event))?);
    Ok(not_run)
}

/// Repetitions that the confirmation will make: those of one cell for each storage.
fn confirming(plan: &Plan) -> u64 {
    let storages = plan.targets.iter().filter(|target| target.config.is_storage()).count();
    storages as u64 * u64::from(plan.measure.repetitions)
}

/// The exit code of a run that came to its end. The reasons are on the page that was printed.
fn exit_of(summary: &Summary, strict: bool) -> Exit {
    if !summary.cells.iter().any(analysis::CellSummary::is_measured) {
        return Exit::Error;
    }
    match analysis::gate(summary) {
        GateResult::Missed(_) => Exit::GateMissed,
        GateResult::Inconclusive(_) if strict => Exit::Inconclusive,
        GateResult::None | GateResult::Met | GateResult::Inconclusive(_) => Exit::Ok,
    }
}
