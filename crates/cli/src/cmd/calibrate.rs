//! `feedline calibrate`: how small a regression this machine can tell from noise.

use std::path::{Path, PathBuf};

use analysis::{Calibration, RUNS_MIN, RunSample};
use clap::Args;
use feed::MayDiffer;
use record::{Format, Thresholds};

use crate::args::{Hold, InputArgs, MeasureArgs};
use crate::cmd::compare::may_differ;
use crate::exit::{Exit, Failure};
use crate::samples::{self, Samples};
use crate::variants::{self, VariantSpec};
use crate::{baseline, comparing, files, launched, load, output};

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Scenario file (*.toml), or with --need a path, to measure twice at once as two variants that are the same
    #[arg(required_unless_present = "from_history", conflicts_with = "from_history")]
    scenario: Option<String>,
    /// What the accelerators need, e.g. 8xh100:resnet50; then the input may be a path
    #[arg(long, conflicts_with = "from_history")]
    need: Option<String>,
    /// What stays of a workload's need where samples are not of its size: samples or bytes per second
    #[arg(long, value_enum, conflicts_with = "from_history")]
    hold: Option<Hold>,
    /// Override a key of the scenario, e.g. --set load.threads=2
    #[arg(long = "set", value_name = "KEY=VALUE", conflicts_with = "from_history")]
    set: Vec<String>,
    /// Measure nothing: take the noise between stored runs, of a folder of runs or of a baseline
    #[arg(long, value_name = "FOLDER|NAME")]
    from_history: Option<String>,
    /// With --from-history: fewest comparable runs [default: 8]
    #[arg(long, requires = "from_history", value_parser = clap::value_parser!(u32).range(2..=1000))]
    runs: Option<u32>,
    /// With --from-history: what may differ between the runs
    #[arg(long, value_parser = may_differ(), value_delimiter = ',', requires = "from_history")]
    may_differ: Vec<MayDiffer>,
    /// File for the margins [default: calibration-SCENARIO.json in the results]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Overwrite that file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    measure: MeasureArgs,
}

pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<Exit, Failure> {
    let calibration = match &args.from_history {
        Some(name) => from_history(args, name)?,
        None => from_a_run(args, args.scenario.as_deref().unwrap_or_default())?,
    };
    output::print_as_is(report::calibration_terminal(&calibration, output::screen()))?;
    // No file at all: margins of nothing would let every regression pass.
    if calibration.noise.is_empty() {
        return Ok(Exit::Error);
    }
    let path = path(args, &calibration.scenario);
    write(&path, &thresholds(&calibration), args.force)?;
    let path = path.display();
    output::print(&format!(
        "wrote {path}; a gate reads it: regression = \"{path}\", or compare --margins {path}\n"
    ))?;
    Ok(Exit::Ok)
}

/// Where the margins of a scenario go.
fn path(args: &CalibrateArgs, scenario: &str) -> PathBuf {
    let name = format!("calibration-{}.json", record::plain_name(scenario));
    args.output.clone().unwrap_or_else(|| args.measure.results.join(name))
}

/// Measures the scenario as two variants that are the same; returns the folder with their records. The one place where
/// that is asked for.
fn run_twice(input: &InputArgs, measure: &MeasureArgs) -> Result<PathBuf, Failure> {
    // Two variants that differ in nothing (A/A): whatever differs between their records is noise.
    let specs = VariantSpec::read(&["a:".to_owned(), "b:".to_owned()])?;
    let group = variants::run(input, measure, &specs)?;
    if group.interrupted { Err(Failure::Interrupted) } else { Ok(group.folder) }
}

fn from_a_run(args: &CalibrateArgs, scenario: &str) -> Result<Calibration, Failure> {
    launched::refuse("calibrate", None)?;
    let (need, set) = (args.need.clone(), args.set.clone());
    let input = InputArgs { input: scenario.to_owned(), need, hold: args.hold, set, ..InputArgs::default() };
    // Before anything is measured.
    // Found before the run, which takes its time.
    refuse_existing(&path(args, &load::load(&input)?.plan.name), args.force)?;
    from_variants(&samples::group(&run_twice(&input, &args.measure)?)?)
}

fn from_variants(variants: &[RunSample]) -> Result<Calibration, Failure> {
    let [a, b] = variants else {
        let found = feed::counted_noun(variants.len() as u64, "variant");
        return Err(Failure::Error(anyhow::anyhow!(
            "{found} were measured, and noise is between two\n  hint: calibrate again; the records of this time are kept"
        )));
    };
    analysis::calibrate(a, b)
        .map_err(|why| Failure::usage(comparing::refused(&a.run.run_id, &b.run.run_id, &why)))
}

fn from_history(args: &CalibrateArgs, name: &str) -> Result<Calibration, Failure> {
    let results = &args.measure.results;
    let found = baseline::find(name, results)?;
    let folders = found.folders.ok_or_else(|| baseline::missing(name, results))?;
    // Variants of one run share its hour, and would make the noise between runs look small.
    let stored = Samples::read(&folders, |sample| sample.run.variant.is_none());
    stored.warn();
    let scenario = one_scenario(&stored.runs, name)?;
    refuse_existing(&path(args, scenario), args.force)?;
    let runs_min = args.runs.unwrap_or(RUNS_MIN);
    analysis::calibrate_history(&stored.runs, runs_min, &args.may_differ)
        .map_err(|why| Failure::usage(comparing::refused("the runs", "each other", &why)))
}

/// The scenario of the runs. Refuses no runs at all, and runs of several scenarios.
fn one_scenario<'a>(runs: &'a [RunSample], name: &str) -> Result<&'a str, Failure> {
    let mut scenarios: Vec<&str> = runs.iter().map(|sample| sample.run.scenario.as_str()).collect();
    scenarios.sort_unstable();
    scenarios.dedup();
    match scenarios.as_slice() {
        [one] => Ok(one),
        [] => Err(Failure::usage(format!(
            "error: `{name}` holds no run that can be read\n  hint: name a folder of runs, such as results"
        ))),
        several => Err(Failure::usage(format!(
            "error: `{name}` holds runs of several scenarios: {}\n  \
             hint: name a baseline, or a folder with runs of one scenario",
            feed::plain(&several.join(", "))
        ))),
    }
}

/// What gates need of a calibration.
fn thresholds(calibration: &Calibration) -> Thresholds {
    // A margin of zero would call the next run's last digit a regression.
    let usable = calibration.noise.iter().filter(|noise| noise.margin > 0.0 && noise.margin.is_finite());
    Thresholds {
        format: Format::CURRENT,
        scenario: calibration.scenario.clone(),
        stored: calibration.stored,
        margins: usable
            .map(|noise| record::Margin { metric: noise.metric.name().to_owned(), share: noise.margin })
            .collect(),
        from: calibration.run_ids.clone(),
        samples: calibration.samples,
    }
}

fn refuse_existing(path: &Path, force: bool) -> Result<(), Failure> {
    if force || !path.exists() {
        return Ok(());
    }
    Err(Failure::Error(anyhow::anyhow!(
        "`{}` exists and gates may rest on it\n  hint: overwrite it with --force, or name another with -o",
        path.display()
    )))
}

fn write(path: &Path, thresholds: &Thresholds, force: bool) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(thresholds)? + "\n";
    if force { files::write(path, text.as_bytes()) } else { files::write_new(path, text.as_bytes()) }
}

#[cfg(test)]
mod tests {
    use analysis::Noise;
    use feed::Compared;

    use super::*;

    fn calibration() -> Calibration {
        let noise =
            |metric, margin| Noise { metric, spread: 0.03, samples: 8, margin, smallest: 2.0 * margin };
        Calibration {
            scenario: "nightly".to_owned(),
            stored: true,
            run_ids: vec!["a".to_owned()],
            samples: 8,
            noise: vec![noise(Compared::Throughput, 0.08), noise(Compared::P99, f64::INFINITY)],
            notes: Vec::new(),
        }
    }

    #[test]
    fn thresholds_are_written_once_unless_forced_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/calibration.json");
        let mut one = thresholds(&calibration());
        write(&path, &one, false).unwrap();
        assert_eq!(Thresholds::read(&path).unwrap(), one);
        assert!(write(&path, &one, false).is_err());
        assert!(refuse_existing(&path, false).unwrap_err().to_string().contains("--force"));
        refuse_existing(&path, true).unwrap();
        one.samples = 9;
        write(&path, &one, true).unwrap();
        assert_eq!(Thresholds::read(&path).unwrap().samples, 9);
    }

    #[test]
    fn a_margin_that_is_no_number_is_not_written() {
        let margins = thresholds(&calibration()).margins;
        assert_eq!(margins, [record::Margin { metric: "throughput".to_owned(), share: 0.08 }]);
    }
}
