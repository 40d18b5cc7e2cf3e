//! `feedline run`: scenario, plan, prepare, execute, record, verdict.

use std::sync::Arc;
use std::time::Duration;

use analysis::{CellSummary, Measurement, Summary};
use clap::Args;
use engine::Bench;
use launch::{Group, Launcher};
use record::NotRun;

use crate::announce::Announced;
use crate::args::{InputArgs, MeasureArgs, RankArgs, ShowArgs, TeamArgs};
use crate::claim::Claim;
use crate::comparing::Rules;
use crate::conclusion::Conclusion;
use crate::exit::{Exit, Failure};
use crate::launched::{self, Launched};
use crate::regression::{self, Outcome, Past};
use crate::resume::Interrupted;
use crate::session::{Ready, RunKind, Session};
use crate::slots::Slots;
use crate::team::asked::Asked;
use crate::variants::{self, VariantSpec};
use crate::{baseline, cmd, load, output, proof, resume, rounds, samples, session, team};

#[derive(Debug, Args)]
#[command(mut_arg("results", |results| results.short('o')))]
#[expect(clippy::struct_excessive_bools, reason = "flags that are independent of each other")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    /// Show what would be done, as `feedline plan` does; runs nothing
    #[arg(long, conflicts_with_all = ["variant", "as_variant", "proof", "rounds", "rank", "start_at", "full", "json", "watch"])]
    pub(crate) dry_run: bool,
    /// Go on with a run that was interrupted, and make only the repetitions that are missing: `run --resume results/RUN`. With
    /// --rounds, add rounds to one that came to its end, with --only to the targets named. The scenario, the data, the machine
    /// and feedline must be what they were
    // Whatever would change what is measured: the run that is gone on with has been asked already.
    // Processes that meet do not go on with a run, and hosts in slots neither.
    #[arg(long, conflicts_with_all = ["variant", "as_variant", "rank", "start_at", "pmix", "patience", "dry_run", "set", "need", "hold", "budget", "add_to", "proof", "existing", "no_redact"])]
    pub(crate) resume: bool,
    /// With --resume, go on even where the machine, its kernel, its limits or feedline is another; all verdicts are then
    /// UNCERTAIN
    #[arg(long, requires = "resume")]
    pub(crate) anyway: bool,
    /// Exit with 5 when a gated target is UNCERTAIN, or when a gate on regressions cannot be decided
    #[arg(long)]
    pub(crate) strict: bool,
    /// Make the next of the runs that a proof takes, and add up those that are there: three or more of this scenario over a
    /// day or what `gate.proof` says
    #[arg(long, conflicts_with_all = ["variant", "as_variant", "rank"])]
    pub(crate) proof: bool,
    /// Plan so many more rounds of fresh repetitions than 28, e.g. --rounds +12; with --resume, make so many more of those that
    /// the run planned
    #[arg(long, value_name = "+N", allow_hyphen_values = true, conflicts_with_all = ["variant", "as_variant", "rank"])]
    pub(crate) rounds: Option<More>,
    /// Compare variants of the scenario, interleaved: a name, and a key that it changes; `NAME:` changes nothing,
    /// `NAME:bin=PATH` runs another feedline. Two or more; the first is what the others are compared with
    #[arg(long, value_name = "NAME:KEY=VALUE", conflicts_with_all = ["rank", "ranks", "start_at", "pmix", "patience", "full", "json"])]
    pub(crate) variant: Vec<String>,
    /// With --variant, leave the comparison to `feedline compare`
    #[arg(long, requires = "variant")]
    pub(crate) no_compare: bool,
    /// Measure as this variant, by orders on standard input
    // For a parent process alone: its orders come on standard input.
    #[arg(long, hide = true, conflicts_with_all = ["variant", "rank", "pmix", "patience"])]
    pub(crate) as_variant: Option<String>,
    /// Add the run to a baseline, unless it was interrupted or regressed
    #[arg(long, value_name = "NAME", conflicts_with_all = ["variant", "as_variant", "rank"])]
    pub(crate) add_to: Option<String>,
    #[command(flatten)]
    pub(crate) ranks: RankArgs,
    #[command(flatten)]
    pub(crate) team: TeamArgs,
}

/// A number to add, written with its sign: `+12`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct More(pub(crate) u32);

impl std::str::FromStr for More {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The sign is asked for because `--rounds 12` reads as twelve rounds in all.
        let number = text.strip_prefix('+').and_then(|digits| digits.parse::<u16>().ok());
        let number = number.filter(|number| *number > 0);
        number.map(|number| Self(number.into())).ok_or_else(|| "write how many more, such as +12".to_owned())
    }
}

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    if args.dry_run {
        return cmd::plan::plan(&args.input);
    }
    if !args.variant.is_empty() {
        launched::refuse("run --variant", None)?;
    }
    if let Some(name) = &args.as_variant {
        return variants::follow(&args.input, &args.measure, name);
    }
    if !args.variant.is_empty() {
        return run_variants(args);
    }
    once(args, None)
}

/// Makes one run, or what is missing of one that was interrupted, or the rounds that are added to one.
pub(crate) fn once(args: &RunArgs, interrupted: Option<Interrupted>) -> Result<Exit, Failure> {
    match launched::of(&args.ranks, &args.team)? {
        Launched::Alone => alone(args, &RankArgs::default(), interrupted),
        Launched::Slots(_) if args.proof || args.add_to.is_some() || args.rounds.is_some() => {
            Err(Failure::usage(
                "error: --proof, --add-to and --rounds are for a run of one process\n  hint: leave them out",
            ))
        }
        Launched::Slots(ranks) => alone(args, &ranks, interrupted),
        Launched::Team(group, launcher) => together(args, group, launcher),
    }
}

/// Makes a run with the other processes of a launcher.
fn together(args: &RunArgs, group: Arc<dyn Group>, launcher: Launcher) -> Result<Exit, Failure> {
    let one_alone = [
        (args.proof, "--proof", "make each of its runs by itself"),
        (args.add_to.is_some(), "--add-to", "baselines are of one process"),
        (args.measure.watch, "--watch", "it shows one of them"),
    ];
    if let Some((_, option, why)) = one_alone.into_iter().find(|(is_asked, ..)| *is_asked) {
        let said = format!(
            "error: {option} is not for several processes of a launcher yet: {why}\n  hint: leave it out"
        );
        return Err(launched::once_for_all(&*group, &said));
    }
    let results = &args.measure.results;
    let load = || {
        let mut loaded = load::load(&args.input)?.with_margins(true)?;
        if let Some(name) = &loaded.plan.gate.baseline {
            baseline::expect(name, results, None)?;
        }
        loaded.plan.measure.fresh_rounds += args.rounds.map_or(0, |More(rounds)| rounds);
        Ok(loaded)
    };
    let judge = |concluded: &Conclusion| {
        let compared = shown_past(args, concluded.past.as_ref())?;
        Ok(Exit::of_run(&concluded.summary, args.strict).or(compared))
    };
    team::run::run(&Asked {
        input: &args.input,
        measure: &args.measure,
        show: args.show,
        team: &args.team,
        group,
        launcher,
        size: None,
        load: &load,
        make: &rounds::interleave,
        past: Some(results),
        judge: &judge,
    })
}

/// Makes a run by this process alone, or in its slots beside others.
fn alone(args: &RunArgs, ranks: &RankArgs, interrupted: Option<Interrupted>) -> Result<Exit, Failure> {
    let mut loaded = load::load(&args.input)?.with_margins(true)?;
    if let Some(interrupted) = &interrupted {
        let redactor = session::redactor(args.measure.no_redact);
        resume::refuse_other_scenario(interrupted, &loaded.text, &redactor)?;
    }
    if let Some(name) = &loaded.plan.gate.baseline {
        baseline::expect(name, &args.measure.results, args.add_to.as_deref())?;
    }
    let slots = Slots::of(ranks, &loaded.plan)?;
    if let Some(late) = slots.as_ref().and_then(Slots::late_by) {
        return Err(too_late(ranks.start_at.as_deref(), late));
    }
    let measure = &mut loaded.plan.measure;
    match &slots {
        // Hosts that do not talk cannot agree on a further round.
        Some(_) => measure.fresh_rounds = measure.repetitions,
        None => measure.fresh_rounds += args.rounds.map_or(0, |More(rounds)| rounds),
    }
    // Announced before anything is opened: a proof takes several such runs, and who sees what each costs
    // may stop here.
    let asked = args.proof.then(|| proof::ProofPlan::announce(&loaded.plan, &args.measure.results));
    let claim = slots.as_ref().map_or(Claim::Alone, |slots| Claim::WithItsOthers(slots.name()));
    let time = interrupted.as_ref().and_then(|of| of.time_of_more(&loaded.plan));
    let announced = Announced { time, ..Announced::of(&args.input, false) };
    let ready = Ready::make(loaded, &args.measure, &announced, &claim)?;
    if let Some(name) = &args.add_to {
        baseline::prepare(&args.measure.results, name)?;
    }
    let keep_names = args.measure.no_redact;
    let is_added_to = interrupted.as_ref().is_some_and(|of| of.more.is_some());
    let mut session = match interrupted {
        Some(interrupted) => Session::go_on(&ready, keep_names, args.show, interrupted)?,
        None => Session::begin(&ready, keep_names, RunKind { slots, show: args.show, ..RunKind::default() })?,
    };
    if let Some(asked) = &asked {
        asked.count(session.run_id())?;
    }
    let mut late = None;
    let interrupted = session.execute(|session, bench| match &slots {
        None if is_added_to => rounds::confirm(&ready, session, bench, 0),
        None => rounds::interleave(&ready, session, bench),
        Some(slots) => by_timetable(&ready, slots, session, bench, &mut late),
    })?;
    if let Some(late) = late {
        return Err(too_late(ranks.start_at.as_deref(), late));
    }
    // One rank is no whole run, and has no past of its own.
    let results = slots.is_none().then_some(args.measure.results.as_path());
    let Conclusion { summary, proofs, past } = session.conclude(args.show, asked.as_ref(), results)?;
    if interrupted {
        return Ok(Exit::Interrupted);
    }
    if slots.is_some() {
        return Ok(Exit::of_measuring(&summary));
    }
    let verdict = match asked {
        Some(_) => proof::exit_of(&summary, &proofs, args.strict),
        None => Exit::of_run(&summary, args.strict),
    };
    let compared = shown_past(args, past.as_ref())?;
    add_to_baseline(args, &summary, (verdict, compared))?;
    Ok(verdict.or(compared))
}

/// Shows how a run stands beside the baseline of its gate; how it exits by that.
fn shown_past(args: &RunArgs, past: Option<&Past>) -> Result<Exit, Failure> {
    past.map_or(Ok(Exit::Ok), |past| past.show(args.strict, args.show))
}

/// Adds a run to the baseline that the command line names, where it may be a measure of others.
fn add_to_baseline(
    args: &RunArgs,
    summary: &Summary,
    (verdict, compared): (Exit, Exit),
) -> Result<(), Failure> {
    let results = &args.measure.results;
    let folder = results.join(&summary.head.run_id);
    let Some(name) = &args.add_to else { return Ok(()) };
    let regressed = (compared == Exit::Regressed).then(|| "it regressed".to_owned());
    // A baseline is a measure of others; a run that measured nothing would widen it without end.
    let nothing = (verdict == Exit::Error).then(|| "nothing was measured".to_owned());
    let reason = match regressed.or(nothing).or_else(|| without_figures(summary)) {
        None => regression::from_baseline(&folder, results, name)?,
        reason => reason,
    };
    match reason {
        None => {
            baseline::add(results, name, &folder)?;
            output::say(&format!("added to the baseline {name}"));
        }
        Some(reason) => output::say(&format!("not added to the baseline {name}: {reason}")),
    }
    Ok(())
}

/// Why a run with holes is no measure of others.
fn without_figures(summary: &Summary) -> Option<String> {
    let failed = |cell: &&CellSummary| matches!(cell.measured, Measurement::Failed { .. });
    let failed = summary.cells.iter().filter(failed).count() as u64;
    (failed > 0).then(|| format!("{} failed", feed::counted_noun(failed, "cell")))
}

/// Runs ceilings, and what every rank runs in its slots: ranks that do not talk cannot agree on a choice, so every cell is
/// confirmed. `late` says by how much the first slot was missed, if it was; nothing is measured then.
fn by_timetable(
    ready: &Ready,
    slots: &Slots,
    session: &mut Session<'_>,
    bench: &mut Bench<'_>,
    late: &mut Option<Duration>,
) -> Result<Vec<NotRun>, Failure> {
    let (plan, progress) = (&ready.loaded.plan, &ready.progress);
    let cells = plan.cells.len() as u64;
    progress.expect(2 * cells * u64::from(plan.measure.repetitions), None);
    rounds::ceilings(ready, session, bench)?;
    *late = slots.late_by();
    if late.is_some() {
        let of_cell = |cell: &plan::Cell| NotRun {
            cell: cell.slug.clone(),
            repetitions: plan.measure.repetitions,
            reason: "this rank was not ready at the time to start".to_owned(),
        };
        return Ok(plan.cells.iter().map(of_cell).collect());
    }
    progress.phase("measuring the cells, each repetition in its slot");
    let mut not_run = bench.measure(0, &mut |event| session.take(event))?;
    progress.phase("confirming all cells with fresh repetitions");
    let all: Vec<usize> = (0..plan.cells.len()).collect();
    let fresh = 0..plan.measure.repetitions;
    not_run.extend(bench.confirm(&all, fresh, &mut |event| session.take(event))?);
    Ok(not_run)
}

fn too_late(start_at: Option<&str>, late: Duration) -> Failure {
    Failure::Error(anyhow::anyhow!(
        "this rank is {:.1} s late: all were to start at {}\n  hint: choose a later --start-at for all ranks; `feedline \
         prepare` makes the datasets ready beforehand",
        late.as_secs_f64(),
        start_at.unwrap_or_default(),
    ))
}

/// Compares variants; nothing is judged.
fn run_variants(args: &RunArgs) -> Result<Exit, Failure> {
    load::load(&args.input)?.with_margins(false)?;
    let specs = VariantSpec::read(&args.variant)?;
    let group = variants::run(&args.input, &args.measure, &specs)?;
    variants::announce(&group)?;
    if group.interrupted {
        return Ok(Exit::Interrupted);
    }
    let measured = samples::group(&group.folder)?;
    // The first says what the others are held to.
    let gate = measured.first().map(|first| first.run.gate.clone()).unwrap_or_default();
    let comparisons =
        if args.no_compare { Vec::new() } else { variants::compare(&measured, &Rules::of(&gate))? };
    if !variants::all_are_measured(&measured) {
        return Ok(Exit::Error);
    }
    if gate.regression.is_empty() || comparisons.is_empty() {
        return Ok(Exit::Ok);
    }
    let outcome = Outcome::of_all(&comparisons, &gate);
    output::print(&outcome.words())?;
    Ok(outcome.exit(args.strict))
}
