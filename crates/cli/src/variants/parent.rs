//! Whose turn it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use backend::Clock;
use engine::{Progress as Counters, VariantTurn, round_of_variants};
use plan::Plan;
use record::{RUN_FILE, Variant};

use super::process::Process;
use super::protocol::{Answer, Order};
use super::{Group, VariantSpec};
use crate::announce::{self, Announced};
use crate::args::{InputArgs, MeasureArgs};
use crate::exit::Failure;
use crate::progress::{Display, Progress};
use crate::{host, load, session, signals};

/// Everything that is known before a child is started.
struct Run<'a> {
    specs: &'a [VariantSpec],
    plans: Vec<Plan>,
    stop: Arc<AtomicBool>,
    progress: Progress,
}

/// Runs variants in interleaved rounds, and leaves a record of each in a folder of their own below `measure.results`.
///
/// The first variant says how often, in which order and for how long at most. Nothing is compared or printed here.
///
/// # Errors
/// A usage error, before anything is started, where a variant has a mistake or the variants have no cells to pair; an error
/// where a child cannot be started or ends too early. What the others measured until then is kept.
pub(crate) fn run(input: &InputArgs, measure: &MeasureArgs, specs: &[VariantSpec]) -> Result<Group, Failure> {
    if measure.watch {
        return Err(Failure::usage(
            "error: --watch shows what one process measures, and each variant has a process of its own\n  hint: leave out --watch",
        ));
    }
    let plans: Vec<Plan> = specs.iter().map(|spec| resolve(spec, input)).collect::<Result<_, _>>()?;
    pair(specs, &plans)?;
    let stop = signals::stop_flag_within(signals::GRACE)?;
    announce::variants(&plans, measure, &Announced::of(input, false))?;
    // From here on it waits for children alone, which end by themselves.
    signals::ended_by_itself();
    let progress = Progress::new(Display::of(measure), &Arc::new(Counters::default()));
    // One folder for the group, with a record for each variant: each can be read by itself, by older
    // versions too.
    let name = host::run_id(&host::now_utc(), &plans[0].name);
    let folder = session::writable_folder(&measure.results)?.join(&name);
    std::fs::create_dir(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let run = Run { specs, plans, stop, progress };
    let mut children = Vec::with_capacity(specs.len());
    let measured = start(&run, input, measure, (&folder, &name), &mut children)
        .and_then(|()| rounds(&run, &mut children));
    let left = match &measured {
        Ok(left) => left.clone(),
        Err(Failure::Interrupted) => Some("interrupted".to_owned()),
        Err(_) => Some("another variant ended before its time".to_owned()),
    };
    // Also after a failure: what the others measured is kept, with the reason why rounds are missing.
    let ended = end(&run, &mut children, left);
    run.progress.finish();
    drop(children);
    let records: Vec<PathBuf> = specs.iter().map(|spec| folder.join(&spec.name)).collect();
    let are_begun = records.iter().all(|record| record.join(RUN_FILE).exists());
    for end in [measured.map(drop), ended] {
        match end {
            // A child that a signal ended in a call kept what it had measured.
            Err(Failure::Interrupted) if are_begun => {}
            end => end?,
        }
    }
    Ok(Group { folder, records, interrupted: run.stop.load(Ordering::Relaxed) })
}

/// The plan of a variant; a mistake says in which.
fn resolve(spec: &VariantSpec, input: &InputArgs) -> Result<Plan, Failure> {
    let loaded = load::load(&spec.input(input)).map_err(|failure| match failure {
        Failure::Usage(text) => Failure::usage(format!("{text}\n(in variant `{}`)", spec.name)),
        other => other,
    })?;
    Ok(loaded.plan)
}

/// Refuses variants whose repetitions cannot be paired.
fn pair(specs: &[VariantSpec], plans: &[Plan]) -> Result<(), Failure> {
    let each = |value: &dyn Fn(&Plan) -> String| -> String {
        let words =
            specs.iter().zip(plans).map(|(spec, plan)| format!("`{}` has {}", spec.name, value(plan)));
        words.collect::<Vec<_>>().join(", ")
    };
    let differ = |value: fn(&Plan) -> u64| plans.iter().any(|plan| value(plan) != value(&plans[0]));
    for (spec, plan) in specs.iter().zip(plans) {
        // A search stops where the line is cleared, which may be at another depth for each variant.
        if plan.cells.iter().any(|cell| cell.auto_group.is_some()) {
            return Err(Failure::usage(format!(
                "error: variant `{}` searches its queue depth, and would measure other depths than the others\n  hint: \
                 say which depths are compared: load.queue_depth = [8, 32]",
                spec.name
            )));
        }
        if let Some(target) = plan.targets.iter().find(|target| target.has_credits()) {
            return Err(Failure::usage(format!(
                "error: target `{}` has burst credits, and each variant would begin with all of them\n  hint: compare runs of one \
                 scenario each, or give it the rate that is left without credits",
                target.name
            )));
        }
    }
    let need = |plan: &Plan| (plan.need.label.clone(), plan.need.demand, plan.need.utilization);
    if plans.iter().any(|plan| need(plan) != need(&plans[0])) {
        let needs = each(&|plan| format!("{}, line {}", plan.need.label, plan.need.at_line()));
        return Err(Failure::usage(format!(
            "error: variants are compared where the same is asked of them, and their needs differ: {needs}\n  hint: let a variant \
             change the storage or how it is read; what is needed is set for all of them with --set need=..."
        )));
    }
    if differ(|plan| plan.cells.len() as u64) {
        let cells = each(&|plan| feed::counted_noun(plan.cells.len() as u64, "cell"));
        return Err(Failure::usage(format!(
            "error: cells are compared one by one, and the variants have different numbers of them: {cells}\n  hint: let a \
             variant change values, and not how many there are; `feedline plan` lists the cells"
        )));
    }
    if differ(|plan| u64::from(plan.measure.repetitions)) {
        let repetitions = each(&|plan| feed::counted_noun(u64::from(plan.measure.repetitions), "repetition"));
        return Err(Failure::usage(format!(
            "error: repetitions are compared in pairs, and the variants have different numbers of them: {repetitions}\n  \
             hint: set measure.repetitions for all of them with --set"
        )));
    }
    Ok(())
}

/// Starts the children and lets each make its data ready, one after the other: two writers never meet on one path.
fn start(
    run: &Run<'_>,
    input: &InputArgs,
    measure: &MeasureArgs,
    (folder, group): (&Path, &str),
    children: &mut Vec<Process>,
) -> Result<(), Failure> {
    let own = std::env::current_exe().context("cannot find the program that runs")?;
    for (number, (spec, plan)) in run.specs.iter().zip(&run.plans).enumerate() {
        run.progress.phase(&format!("variant `{}`: making the datasets ready", spec.name));
        let binary = spec.binary.clone().unwrap_or_else(|| own.clone());
        let args = arguments(spec, input, measure, folder);
        let mut child = Process::start(&spec.name, binary, &args, &run.stop)?;
        let variant = Variant {
            name: spec.name.clone(),
            group: group.to_owned(),
            number: number as u32,
            settings: spec.settings(),
        };
        let begin = Order::Begin { variant, variants: run.specs.len() as u32, command: host::command() };
        let answer = child.ask(&begin, &run.stop);
        children.push(child);
        let (Answer::Ready { cells }, planned) = (answer?, plan.cells.len()) else {
            return Err(out_of_turn(spec));
        };
        // Another version may have other defaults; its cells must be the same, or pairs would be made of
        // unlike ones.
        if cells != planned {
            return Err(Failure::usage(format!(
                "error: the binary of variant `{}` makes {} of the scenario, this one {planned}\n  hint: state in the \
                 scenario what its default is for the two of them",
                spec.name,
                feed::counted_noun(cells as u64, "cell")
            )));
        }
    }
    Ok(())
}

fn arguments(spec: &VariantSpec, input: &InputArgs, measure: &MeasureArgs, folder: &Path) -> Vec<String> {
    let input = spec.input(input);
    let mut args = vec!["run".to_owned(), input.input];
    args.extend(input.need.into_iter().flat_map(|need| ["--need".to_owned(), need]));
    args.extend(input.hold.into_iter().flat_map(|hold| ["--hold".to_owned(), hold.name().to_owned()]));
    args.extend(input.budget.into_iter().flat_map(|budget| ["--budget".to_owned(), budget]));
    args.extend(input.existing.then(|| "--existing".to_owned()));
    args.extend(input.set.into_iter().flat_map(|set| ["--set".to_owned(), set]));
    args.extend(input.only.into_iter().flat_map(|target| ["--only".to_owned(), target]));
    let results = ["--results".to_owned(), folder.display().to_string()];
    args.extend(results);
    // As every version that may measure here knows it.
    args.extend(["--as-variant".to_owned(), spec.name.clone(), "--no-progress".to_owned()]);
    args.extend(measure.no_redact.then(|| "--no-redact".to_owned()));
    args
}

/// Ceilings, then round after round; says why rounds are left, if any are.
fn rounds(run: &Run<'_>, children: &mut [Process]) -> Result<Option<String>, Failure> {
    let measure = &run.plans[0].measure;
    let (cells, variants) = (run.plans[0].cells.len(), run.specs.len() as u32);
    let turns = cells as u64 * u64::from(variants);
    let clock = Clock::real();
    run.progress.expect(turns * u64::from(measure.repetitions), measure.budget_ns);
    run.progress.phase("measuring the client's own ceiling");
    for (spec, child) in run.specs.iter().zip(children.iter_mut()) {
        if run.stop.load(Ordering::Relaxed) {
            return Ok(Some("interrupted".to_owned()));
        }
        ask(spec, child, &Order::Ceilings, &run.stop)?;
    }
    run.progress.phase("measuring the variants, interleaved");
    // What a round takes, before any was made.
    let mut cost_ns = run.plans[0].measure.repetition_ns().unwrap_or(0).saturating_mul(turns);
    for round in 0..measure.repetitions {
        let begun_ns = clock.now_ns();
        if measure.budget_ns.is_some_and(|budget_ns| begun_ns.saturating_add(cost_ns) > budget_ns) {
            return Ok(Some("budget".to_owned()));
        }
        for VariantTurn { variant, turn } in
            round_of_variants(round, cells, variants, measure.cell_order, measure.seed)
        {
            if run.stop.load(Ordering::Relaxed) {
                return Ok(Some("interrupted".to_owned()));
            }
            let number = variant as usize;
            let (spec, slug) = (&run.specs[number], &run.plans[number].cells[turn.cell].slug);
            run.progress.step(format!("{}: {slug} repetition {}", spec.name, turn.rep + 1), 0.0);
            let order = Order::Turn { cell: turn.cell, rep: turn.rep, round: turn.round };
            ask(spec, &mut children[number], &order, &run.stop)?;
        }
        // The longest round so far: a budget that is exceeded is worse than a round that is left out.
        cost_ns = cost_ns.max(clock.now_ns() - begun_ns);
    }
    Ok(run.stop.load(Ordering::Relaxed).then(|| "interrupted".to_owned()))
}

fn ask(spec: &VariantSpec, child: &mut Process, order: &Order, stop: &AtomicBool) -> Result<(), Failure> {
    match child.ask(order, stop)? {
        Answer::Done => Ok(()),
        Answer::Hello { .. } | Answer::Ready { .. } => Err(out_of_turn(spec)),
    }
}

fn out_of_turn(spec: &VariantSpec) -> Failure {
    Failure::Error(anyhow::anyhow!(
        "variant `{}` answers out of turn\n  hint: with `{}:bin=PATH` name a feedline of this version",
        spec.name,
        spec.name
    ))
}

/// Lets every child end its record; the first that could not is the error.
fn end(run: &Run<'_>, children: &mut [Process], left: Option<String>) -> Result<(), Failure> {
    let order = Order::End { left };
    let mut first = Ok(());
    for (spec, child) in run.specs.iter().zip(children) {
        child.pass_on(&run.stop);
        first = first.and(ask(spec, child, &order, &run.stop));
    }
    first
}
