//! How runs, variants and targets are compared: the rules, and the message where they must not be compared.

use std::path::Path;

use analysis::{Comparison, Margins, NotComparable, RUNS_MIN, RunSample};
use feed::{Compared, MayDiffer, Words as _};
use record::{Gate, Margin, Run, Thresholds};
use report::words::comparison::refusal;

use crate::exit::Failure;
use crate::output;
use feed::plain;

/// Rules of a comparison that a scenario or a command line adds.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Margins that replace default ones; of several for one metric the last counts.
    pub(crate) margins: Vec<Margin>,
    /// What may differ between stored runs.
    pub(crate) may_differ: Vec<MayDiffer>,
    /// Fewest stored runs from which anything is decided.
    pub(crate) runs_min: u32,
}

impl Rules {
    /// The rules that a scenario states.
    pub(crate) fn of(gate: &Gate) -> Self {
        Self {
            margins: gate.regression.clone(),
            may_differ: gate.may_differ.iter().filter_map(|name| MayDiffer::of_word(name)).collect(),
            runs_min: gate.runs.unwrap_or(RUNS_MIN),
        }
    }

    /// A metric that a later version named is left out.
    fn on_top_of(&self, base: Margins) -> Margins {
        let known = |margin: &Margin| Some((Compared::of_name(&margin.metric)?, margin.share));
        self.margins
            .iter()
            .filter_map(known)
            .fold(base, |margins, (metric, share)| margins.with(metric, share))
    }
}

/// Compares a run with stored ones, which are called `name`.
///
/// # Errors
/// The whole refusal, with its hint, where none of them is comparable. So do the others here.
pub(crate) fn stored(
    name: &str,
    before: &[RunSample],
    after: &RunSample,
    rules: &Rules,
) -> Result<Comparison, String> {
    // Stored runs differ by the day, interleaved variants by the minute: their default margins differ too.
    let margins = rules.on_top_of(Margins::STORED);
    analysis::compare_stored(name, before, after, rules.runs_min, &rules.may_differ, &margins)
        .map_err(|why| refused(name, &after.run.run_id, &why))
}

/// Compares every later variant of a run with the first.
pub(crate) fn variants(variants: &[RunSample], rules: &Rules) -> Result<Vec<Comparison>, String> {
    let Some((first, later)) = variants.split_first() else { return Ok(Vec::new()) };
    let margins = rules.on_top_of(Margins::INTERLEAVED);
    let against_first = |other: &RunSample| {
        analysis::compare_variants(first, other, &margins)
            .map_err(|why| refused(variant_name(&first.run), variant_name(&other.run), &why))
    };
    later.iter().map(against_first).collect()
}

/// Compares every later target of a run with the first.
pub(crate) fn targets(run: &RunSample, names: &[&str], rules: &Rules) -> Result<Vec<Comparison>, String> {
    let Some((first, later)) = names.split_first() else { return Ok(Vec::new()) };
    let margins = rules.on_top_of(Margins::INTERLEAVED);
    let against_first = |other: &&str| {
        analysis::compare_targets(run, first, other, &margins).map_err(|why| refused(first, other, &why))
    };
    later.iter().map(against_first).collect()
}

/// Whether two records are of variants that were interleaved with each other.
pub(crate) fn are_of_one_group(one: &Run, other: &Run) -> bool {
    matches!((&one.variant, &other.variant), (Some(one), Some(other)) if one.group == other.group)
}

/// The name of the variant that a record holds.
pub(crate) fn variant_name(run: &Run) -> &str {
    run.variant.as_ref().map_or("", |variant| &variant.name)
}

/// The margins of a calibration file, which hold for one scenario alone; a gate that names the file has these.
pub(crate) fn calibrated(path: &Path, scenario: &str, stored: bool) -> Result<Vec<Margin>, Failure> {
    let read = Thresholds::read(path)?;
    // Noise is that of a load: margins of large sequential reads would pass any regression of small ones.
    if read.scenario != scenario {
        return Err(Failure::usage(format!(
            "error: the margins in `{}` are for the scenario `{}`, and this run is of `{}`\n  \
             hint: make some with `feedline calibrate`",
            path.display(),
            plain(&read.scenario),
            plain(scenario)
        )));
    }
    // A warning and no refusal: such margins are too wide or too narrow, and still better than a guess.
    if read.stored != stored {
        let of = |stored| if stored { "stored runs" } else { "interleaved repetitions" };
        let (from, to) = (of(read.stored), of(stored));
        output::say(&format!("warning: `{}` was made from {from}, and {to} are compared", path.display()));
    }
    let unknown = read.margins.iter().find(|margin| Compared::of_name(&margin.metric).is_none());
    match unknown {
        None => Ok(read.margins),
        Some(margin) => Err(Failure::usage(format!(
            "error: `{}` has a margin for `{}`, which is no metric\n  hint: make it again with `feedline calibrate`",
            path.display(),
            plain(&margin.metric)
        ))),
    }
}

/// A refusal with every difference, and what the user may declare.
pub(crate) fn refused(before: &str, after: &str, why: &NotComparable) -> String {
    format!("error: {} and {} must not be compared; {}", plain(before), plain(after), refusal(why))
}
