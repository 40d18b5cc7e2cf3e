//! What a comparison keeps of a run.

use std::collections::BTreeMap;

use feed::Compared;
use record::{Cell, Measure, Rep, Role, RunRecord, counter};

use super::why::Exclusion;
use crate::cell;
use crate::cell::by_repetition::Point;
use crate::cell::context::Context;
use crate::cell::counters;
use crate::cell::figures::{self, Figures};
use crate::cell::flag::{Flag, Gravity};
use crate::cell::gap::{Gap, GapCause};
use crate::cell::in_parts::in_parts;
use crate::cell::interval::mean;
use crate::cell::latency::Merged;
use crate::cell::lines::Lines;
use crate::cell::need;
use crate::cell::operation;
use crate::cell::operations::Operations;
use crate::cell::ranks;
use crate::cell::repetitions::Repetitions;
use crate::cell::steadiness;
use crate::cell::validity;

/// What a comparison needs of a run: small enough to keep hundreds of.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSample {
    /// The head of the run: what must be equal is read from it.
    pub run: record::Run,
    /// The machine.
    pub env: record::Environment,
    /// Its cells in the order of the scenario.
    pub cells: Vec<CellSample>,
}

/// The repetitions of one cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellSample {
    /// Index into the cells of the run.
    pub index: usize,
    /// Interleaved repetitions that make a point, by their number.
    pub reps: Vec<RepSample>,
    /// Why nothing may rest on them, or why there are none; empty where something may.
    pub excluded: Vec<Exclusion>,
    /// Whether repetitions were made and none makes a point.
    pub failed: bool,
    /// Whether what excludes it is that its rate is no state.
    pub unsteady: bool,
    /// How the client was the limit, where it was: variants share it, so that it hides changes between them and makes none.
    pub client_limited: Vec<Flag>,
    /// How throughput changed over the run, where it did: repetitions that were interleaved share it, runs do not.
    pub drift: Option<Flag>,
}

/// One repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct RepSample {
    /// Its number among those of the cell.
    pub rep: u32,
    /// Round of interleaving.
    pub round: u32,
    /// By metric, base units; absent where it does not apply or rests on too few operations.
    pub values: BTreeMap<Compared, f64>,
}

impl RunSample {
    /// What a comparison needs of a record. Never fails: a cell without figures says why.
    pub fn of(record: &RunRecord) -> Self {
        let folded = ranks::fold_ranks(record);
        let record = folded.as_ref();
        let lines = Lines::of(record);
        // A search tries a value once.
        // Else every cell of a search would be flagged for repetitions that nobody planned.
        let tried = Measure { repetitions: 1, ..record.run.measure.clone() };
        let measure = if record.run.size.is_some() { &tried } else { &record.run.measure };
        let of_cell = |(index, cell): &(usize, &Cell)| {
            let reps = Repetitions::of(lines.of_cell(&cell.cell), cell, Role::Measure, &record.run.measure);
            cell_sample(record, &lines, measure, *index, &reps)
        };
        let numbered: Vec<(usize, &Cell)> = record.run.cells.iter().enumerate().collect();
        let mut cells = in_parts(&numbered, of_cell);
        let measured = cells.iter().filter(|cell| !cell.reps.is_empty()).map(|cell| cell.index);
        let of_storage = measured.filter_map(|index| Some((index, record.run.cells.get(index)?)));
        let of_storage = of_storage.filter(|(_, cell)| cell::is_storage(&record.run, cell));
        for (index, flag) in steadiness::changes(&lines, of_storage.collect::<Vec<_>>().into_iter()) {
            cells[index].drift = Some(flag);
        }
        Self { run: record.run.clone(), env: record.env.clone(), cells }
    }
}

impl CellSample {
    /// Why nothing may rest on it where the client matters.
    pub(super) fn excluded_with_client(&self) -> Vec<Exclusion> {
        // Where both sides are other storages, or other days, the client may have been the limit on one side
        // alone.
        let limits = self.client_limited.iter().cloned().map(Exclusion::Flag);
        self.excluded.iter().cloned().chain(limits).collect()
    }

    /// Why it is no sample of a run, for comparisons of runs.
    pub(super) fn excluded_as_run(&self) -> Vec<Exclusion> {
        let excluded = self.excluded_with_client();
        if !excluded.is_empty() {
            return excluded;
        }
        self.drift.iter().cloned().map(Exclusion::Flag).collect()
    }

    /// Logarithms of one metric by repetition; what is no positive number has none.
    pub(super) fn logarithms(&self, metric: Compared) -> impl Iterator<Item = (&RepSample, f64)> {
        self.reps.iter().filter_map(move |rep| Some((rep, rep.logarithm(metric)?)))
    }

    /// Logarithm of the geometric mean over the repetitions: what a run is as a sample.
    pub(super) fn logarithm(&self, metric: Compared) -> Option<f64> {
        mean(&self.logarithms(metric).map(|(_, logarithm)| logarithm).collect::<Vec<_>>())
    }
}

impl RepSample {
    fn logarithm(&self, metric: Compared) -> Option<f64> {
        self.values.get(&metric).filter(|value| need::positive(**value)).map(|value| value.ln())
    }
}

fn cell_sample(
    record: &RunRecord,
    lines: &Lines<'_>,
    measure: &Measure,
    index: usize,
    reps: &Repetitions<'_>,
) -> CellSample {
    let cell = &record.run.cells[index];
    let nothing = |gap: Gap, failed| CellSample {
        index,
        excluded: vec![Exclusion::Gap(gap)],
        failed,
        ..CellSample::default()
    };
    let Some(context) = cell::context(record, lines, cell, measure) else {
        return nothing(GapCause::NoSampleSize.into(), false);
    };
    if reps.used.is_empty() {
        let gap = reps.gaps.first().cloned();
        let failed = gap.is_some();
        return nothing(gap.unwrap_or_else(|| lines.not_made(reps, &cell.cell)), failed);
    }
    let doubts = doubts(&context, reps, lines);
    // An unsteady rate informs where it is judged against a line; compared with another it is no figure.
    let grave = |flag: &Flag| flag.gravity() != Gravity::Informs || flag.is_unsteady();
    let (limits, others): (Vec<Flag>, Vec<Flag>) =
        doubts.into_iter().filter(grave).partition(Flag::is_client_limit);
    CellSample {
        index,
        reps: reps.used.iter().map(|rep| rep_sample(&context, rep)).collect(),
        failed: false,
        unsteady: others.iter().any(Flag::is_unsteady),
        excluded: others.into_iter().map(Exclusion::Flag).collect(),
        client_limited: limits,
        // Filled in for all cells together: a drift is one of the run, seen over its cells.
        drift: None,
    }
}

/// Reasons to doubt a cell's repetitions. Those of a closed loop that reads need no histogram.
fn doubts(context: &Context<'_>, reps: &Repetitions<'_>, lines: &Lines<'_>) -> Vec<Flag> {
    let cell = context.cell;
    let mut flags = if operation::is_metadata(cell) {
        Operations::of(context, reps).map(|operations| operations.flags).unwrap_or_default()
    } else if cell.pace.is_some() || cell.training.is_some() {
        Figures::of(context, reps).map(|figures| figures.flags).unwrap_or_default()
    } else {
        // By counters alone: hundreds of runs are read for a baseline, and unpacking histograms is most of the
        // time.
        let rate = |of: fn(&Rep) -> f64| mean(&reps.used.iter().map(|rep| of(rep)).collect::<Vec<_>>());
        let ops_per_s = rate(|rep| counters::per_s(rep, counter::OPS)).unwrap_or(0.0);
        let bps = rate(|rep| counters::per_s(rep, counter::BYTES)).unwrap_or(0.0);
        let client = figures::client_shares(context, &reps.used, ops_per_s, bps);
        validity::flags(context, reps, client, &Merged::of(&reps.used))
    };
    cell::add_flags_of_run(&mut flags, context, reps, lines);
    flags
}

fn rep_sample(context: &Context<'_>, rep: &Rep) -> RepSample {
    let values = Point::of(context, rep).view().compared().collect();
    RepSample { rep: rep.rep, round: rep.round, values }
}

#[cfg(test)]
mod tests;
