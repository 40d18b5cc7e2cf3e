//! `feedline compare`: holds runs, variants or targets against each other.

mod args;
mod shift;

use std::path::Path;

use analysis::{Comparison, RunSample};
use record::Gate;
use report::export::{JOB_SUMMARY_BYTES_MAX, MARKDOWN_BYTES_MIN};

use crate::comparing::{self, Rules, are_of_one_group, variant_name};
use crate::exit::{Exit, Failure};
use crate::regression::Outcome;
use crate::samples::{self, Samples};
use crate::{baseline, output};
use args::{By, CompareFormat, no_pair, no_such};

pub(crate) use args::{CompareArgs, may_differ};

/// How long a Markdown page may be. One that has no room for what is said of the rest says nothing.
pub(crate) fn markdown_bytes(asked: Option<usize>) -> Result<usize, Failure> {
    match asked {
        None => Ok(JOB_SUMMARY_BYTES_MAX),
        Some(bytes) if bytes >= MARKDOWN_BYTES_MIN => Ok(bytes),
        Some(bytes) => Err(Failure::usage(format!(
            "error: --max-bytes {bytes} is too small\n  hint: at least {MARKDOWN_BYTES_MIN}"
        ))),
    }
}

pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    if args.format == CompareFormat::Svg {
        output::print_as_is(shift::svg(args)?)?;
        return Ok(Exit::Ok);
    }
    if args.max_bytes.is_some() && args.format != CompareFormat::Markdown {
        return Err(Failure::usage(
            "error: --max-bytes does nothing without --format markdown\n  hint: add --format markdown, or leave it out",
        ));
    }
    let bytes_max = markdown_bytes(args.max_bytes)?;
    let Compared { comparisons, gate, gated } = compared(args)?;
    let outcome = (gated || args.gate).then(|| Outcome::of_all(&comparisons, &gate));
    if args.strict && outcome.is_none() {
        return Err(Failure::usage(
            "error: --strict does nothing without a gate\n  hint: add --gate, or leave out --strict",
        ));
    }
    let gate_words = outcome.as_ref().map(Outcome::words).unwrap_or_default();
    let pages: Vec<String> = match args.format {
        CompareFormat::Terminal | CompareFormat::Svg => {
            comparisons.iter().map(|one| report::comparison_terminal(one, output::screen())).collect()
        }
        CompareFormat::Markdown => {
            // The gate's lines come last and must fit: a page that is cut there would hide what failed.
            let room = bytes_max.saturating_sub(gate_words.len() + comparisons.len() + 10);
            let each = room / comparisons.len().max(1);
            comparisons.iter().map(|one| report::comparison_markdown(one, each)).collect()
        }
    };
    output::print_as_is(pages.join("\n"))?;
    if !gate_words.is_empty() {
        let fence = if args.format == CompareFormat::Markdown { "\n```\n" } else { "" };
        output::print(&format!("{fence}{gate_words}{}", fence.trim_start()))?;
    }
    Ok(outcome.map_or(Exit::Ok, |outcome| outcome.exit(args.strict)))
}

/// Comparisons, and the gate that they are held against.
struct Compared {
    comparisons: Vec<Comparison>,
    gate: Gate,
    /// Whether the record itself asks that a regression fails.
    gated: bool,
}

fn compared(args: &CompareArgs) -> Result<Compared, Failure> {
    let folder = samples::folder_of(&args.inputs[0], &args.results)?;
    let names = &args.inputs[1..];
    match (args.by, &args.baseline, names) {
        (Some(By::Target), _, _) => by_target(args, &samples::read(&folder)?, names),
        (Some(By::Variant), _, _) => by_variant(args, &folder, names),
        (None, Some(name), []) => with_baseline(args, name, &samples::read(&folder)?),
        (None, None, []) if !samples::is_run(&folder) => by_variant(args, &folder, names),
        (None, None, [after]) => {
            two_runs(args, &samples::read(&folder)?, &samples::folder_of(after, &args.results)?)
        }
        (None, None, []) => Err(Failure::usage(
            "error: nothing to compare this run with\n  \
             hint: name a second run, a --baseline, or compare its own targets with --by target",
        )),
        _ => Err(Failure::usage(
            "error: too many runs\n  \
             hint: name two runs, or one run and a --baseline; names of targets need --by target",
        )),
    }
}

fn two_runs(args: &CompareArgs, before: &RunSample, after: &Path) -> Result<Compared, Failure> {
    let after = samples::read(after)?;
    if before.run.run_id == after.run.run_id && variant_name(&before.run) == variant_name(&after.run) {
        return Err(Failure::usage(format!(
            "error: both are the same run, `{}`: there is nothing to compare\n  \
             hint: name another run, or compare its own targets with --by target",
            after.run.run_id
        )));
    }
    // Two variants of one run are pairs of repetitions, whichever way they are named; compared as stored
    // runs they would lose that.
    if are_of_one_group(&before.run, &after.run) {
        return of_variants(args, &[before.clone(), after]);
    }
    stored(args, &before.run.run_id, std::slice::from_ref(before), &after)
}

fn with_baseline(args: &CompareArgs, name: &str, run: &RunSample) -> Result<Compared, Failure> {
    let found = baseline::find(name, &args.results)?;
    let folders = found.folders.ok_or_else(|| baseline::missing(name, &args.results))?;
    let before = Samples::read(&folders, |_| true);
    before.warn();
    if before.runs.is_empty() && !folders.is_empty() {
        return Err(Failure::usage(format!(
            "error: `{name}` is no baseline: nothing that it names can be read as a run\n  hint: a baseline is a folder of \
             runs, or a text file with the folder of a run on each line"
        )));
    }
    stored(args, &found.name, &before.runs, run)
}

fn stored(
    args: &CompareArgs,
    name: &str,
    before: &[RunSample],
    run: &RunSample,
) -> Result<Compared, Failure> {
    let (rules, gate) = rules(args, true, run)?;
    let comparison = comparing::stored(name, before, run, &rules).map_err(Failure::usage)?;
    Ok(Compared { comparisons: vec![comparison], gate, gated: !run.run.gate.regression.is_empty() })
}

fn by_variant(args: &CompareArgs, folder: &Path, names: &[String]) -> Result<Compared, Failure> {
    let mut variants = samples::group(folder)?;
    if variants.len() < 2 {
        return Err(Failure::usage(format!(
            "error: `{}` holds {} that could be compared\n  \
             hint: name the folder of a `run --variant`, or the folder of a run",
            folder.display(),
            feed::counted_noun(variants.len() as u64, "variant")
        )));
    }
    if !names.is_empty() {
        variants = chosen(&variants, names)?;
    }
    of_variants(args, &variants)
}

/// The variants of these names, in this order.
fn chosen(variants: &[RunSample], names: &[String]) -> Result<Vec<RunSample>, Failure> {
    let known: Vec<&str> = variants.iter().map(|sample| variant_name(&sample.run)).collect();
    let find = |name: &String| {
        let found = variants.iter().find(|sample| variant_name(&sample.run) == name);
        found.cloned().ok_or_else(|| no_such("variant", name, &known))
    };
    let chosen: Vec<RunSample> = names.iter().map(find).collect::<Result<_, _>>()?;
    if chosen.len() == 2 { Ok(chosen) } else { Err(no_pair("variants", &known)) }
}

/// The first against each other.
fn of_variants(args: &CompareArgs, variants: &[RunSample]) -> Result<Compared, Failure> {
    refuse_of_stored(args)?;
    let first = &variants[0];
    let (rules, gate) = rules(args, false, first)?;
    let comparisons = comparing::variants(variants, &rules).map_err(Failure::usage)?;
    Ok(Compared { comparisons, gate, gated: !first.run.gate.regression.is_empty() })
}

fn by_target(args: &CompareArgs, run: &RunSample, names: &[String]) -> Result<Compared, Failure> {
    let storages = run.run.targets.iter().filter(|target| target.storage);
    let known: Vec<&str> = storages.map(|target| target.name.as_str()).collect();
    let named: Vec<&str> = names.iter().map(String::as_str).collect();
    if let Some(name) = named.iter().find(|name| run.run.targets.iter().all(|target| target.name != **name)) {
        return Err(no_such("target", name, &known));
    }
    if args.gate {
        return Err(Failure::usage(
            "error: a gate on regressions holds a storage against its own past, and no storage against another\n  \
             hint: leave out --gate; `gate.feeds` of a scenario holds each target against the need",
        ));
    }
    let chosen = if named.is_empty() { &known } else { &named };
    if chosen.len() < 2 || chosen.iter().skip(1).any(|name| name == &chosen[0]) {
        return Err(no_pair("targets", &known));
    }
    refuse_of_stored(args)?;
    let (rules, gate) = rules(args, false, run)?;
    let comparisons = comparing::targets(run, chosen, &rules).map_err(Failure::usage)?;
    Ok(Compared { comparisons, gate, gated: false })
}

/// Refuses what is about runs that were stored: one run is compared with itself.
fn refuse_of_stored(args: &CompareArgs) -> Result<(), Failure> {
    let given = [("--runs", args.runs.is_some()), ("--may-differ", !args.may_differ.is_empty())];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!(
            "error: {option} does nothing here: what is compared was measured by one run\n  hint: leave out {option}, or compare \
             stored runs"
        ))),
    }
}

/// What holds for the comparison, and the metrics that count: of the run's gate, of a calibration, and of the command line,
/// each on top of the former.
fn rules(args: &CompareArgs, stored: bool, run: &RunSample) -> Result<(Rules, Gate), Failure> {
    let mut rules = Rules::of(&run.run.gate);
    let mut counted = rules.margins.clone();
    let mut asked = match &args.margins_file {
        Some(path) => comparing::calibrated(path, &run.run.scenario, stored)?,
        None => Vec::new(),
    };
    asked.extend(args.margins.iter().cloned());
    if args.gate {
        counted.extend(asked.iter().cloned());
    }
    // Behind the gate's own, as the last margin of a metric counts.
    rules.margins.extend(asked);
    rules.may_differ.extend(&args.may_differ);
    rules.runs_min = args.runs.unwrap_or(rules.runs_min);
    Ok((rules, Gate { regression: counted, ..Gate::default() }))
}
