//! Cells whose repetitions were interleaved in one run.

use std::collections::BTreeMap;

use feed::Compared;
use record::Cell;

use super::cells::{CellDraft, Rules};
use super::effect::Samples;
use super::gaps::Gaps;
use super::{
    CellSample, Excluded, NoFigures, OneSide, RepSample, RunSample, Sampled, SideExclusions, UncomparedReason,
};
use crate::cell::metric::{Margins, Metric};
use crate::cell::operation;

/// One side of a pair of cells.
#[derive(Clone, Copy)]
pub(super) struct SideCell<'a> {
    pub(super) cell: &'a Cell,
    pub(super) sample: &'a CellSample,
}

impl<'a> SideCell<'a> {
    /// Every cell of a run that has a sample, in the order of the scenario.
    pub(super) fn all(run: &'a RunSample) -> Vec<Self> {
        let mut side_cells: Vec<(usize, Self)> = run
            .cells
            .iter()
            .filter_map(|sample| {
                Some((sample.index, Self { cell: run.run.cells.get(sample.index)?, sample }))
            })
            .collect();
        side_cells.sort_by_key(|(index, _)| *index);
        side_cells.into_iter().map(|(_, side_cell)| side_cell).collect()
    }
}

/// A cell on both sides.
pub(super) struct Pair<'a> {
    pub(super) before: SideCell<'a>,
    pub(super) after: SideCell<'a>,
    pub(super) label: String,
}

/// What calls repetitions of both sides together: their round, or their number where that finds more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Round,
    Number,
}

impl Key {
    fn of(self, rep: &RepSample) -> u32 {
        self.among(rep.rep, rep.round)
    }

    /// The key of a repetition with this number and round.
    pub(super) fn among(self, number: u32, round: u32) -> u32 {
        match self {
            Self::Round => round,
            Self::Number => number,
        }
    }

    /// The key by which most repetitions of all pairs meet, rounds where both find as many.
    pub(super) fn best(pairs: &[Pair<'_>]) -> Self {
        let met = |key: Self| -> usize {
            let common = |pair: &Pair<'_>| {
                let before: std::collections::BTreeSet<u32> =
                    pair.before.sample.reps.iter().map(|rep| key.of(rep)).collect();
                let after: std::collections::BTreeSet<u32> =
                    pair.after.sample.reps.iter().map(|rep| key.of(rep)).collect();
                before.intersection(&after).count()
            };
            pairs.iter().map(common).sum()
        };
        // Rounds where both find as many: repetitions of one round share the weather of its moment, and their
        // difference leaves it out.
        if met(Self::Round) >= met(Self::Number) { Self::Round } else { Self::Number }
    }
}

/// Repetitions decide by themselves once an interval can be had.
pub(super) fn rules(margins: &Margins, client_counts: bool) -> Rules<'_> {
    Rules { margins, samples_min: 0, sampled: Sampled::Repetition, client_counts }
}

/// The effects of pairs; `planned` repetitions of each are expected.
pub(super) fn drafts(
    pairs: &[Pair<'_>],
    names: [&str; 2],
    planned: u32,
    rules: &Rules<'_>,
    gaps: &mut Gaps,
) -> Vec<CellDraft> {
    // One key for all pairs: cells paired by different rules would not share their rounds in a headline.
    let key = Key::best(pairs);
    pairs.iter().filter_map(|pair| of_pair(pair, key, names, planned, rules, gaps)).collect()
}

fn of_pair(
    pair: &Pair<'_>,
    key: Key,
    names: [&str; 2],
    planned: u32,
    rules: &Rules<'_>,
    gaps: &mut Gaps,
) -> Option<CellDraft> {
    let cell = pair.before.cell;
    let excluded = excluded(pair, names, rules.client_counts);
    let moves_bytes = !operation::is_metadata(cell);
    let met = Compared::ALL.map(|metric| (metric, samples(pair, key, metric)));
    let mut drafts = Vec::new();
    for (metric, met) in &met {
        let samples = Samples::Paired(met.clone());
        drafts.extend(rules.draft(Metric::of(*metric, moves_bytes), samples, excluded.is_some()));
    }
    let Some(most) = drafts.iter().map(|draft| draft.effect.samples_before).max() else {
        let why = excluded.map_or(NoFigures::NeverMeet, NoFigures::Excluded);
        gaps.of(&cell.cell, UncomparedReason::NoFigures(why));
        // Lost only where there was something: a cell that failed on both sides is no regression.
        if pair.after.sample.reps.is_empty() && !pair.before.sample.reps.is_empty() {
            gaps.lose(cell, pair.after.sample);
        }
        return None;
    };
    for (metric, _) in met.iter().filter(|(_, met)| met.is_empty()) {
        let has = |side_cell: SideCell<'_>| side_cell.sample.logarithms(*metric).next().is_some();
        let alone = |name: &str| {
            let side = OneSide::Named(name.to_owned());
            UncomparedReason::OneSided { metric: *metric, side }
        };
        let reason = match (has(pair.before), has(pair.after)) {
            (true, true) => UncomparedReason::NeverTogether(*metric),
            (true, false) => alone(names[0]),
            (false, true) => alone(names[1]),
            (false, false) => continue,
        };
        gaps.of(&cell.cell, reason);
    }
    if most < planned {
        gaps.of(&cell.cell, UncomparedReason::SomeTogether { most, planned });
    }
    Some(CellDraft {
        cell: cell.cell.clone(),
        target: cell.target.clone(),
        label: pair.label.clone(),
        is_training: cell.training.is_some(),
        moves_bytes,
        falls_count: excluded.is_some()
            && pair.before.sample.excluded.is_empty()
            // A rate that is no state may have been caught at its lowest, which is no fall.
            && !pair.after.sample.unsteady,
        excluded,
        drafts,
    })
}

/// Why nothing may rest on a pair: what either side says.
fn excluded(pair: &Pair<'_>, names: [&str; 2], client_counts: bool) -> Option<Excluded> {
    let of_side = |side_cell: SideCell<'_>, name: &str| {
        let reasons = if client_counts {
            side_cell.sample.excluded_with_client()
        } else {
            side_cell.sample.excluded.clone()
        };
        SideExclusions { name: name.to_owned(), reasons }
    };
    let sides = [of_side(pair.before, names[0]), of_side(pair.after, names[1])];
    sides.iter().any(|side| !side.reasons.is_empty()).then_some(Excluded::Sides(sides))
}

/// Logarithms of the repetitions that meet; of several under one key the first.
pub(super) fn samples(pair: &Pair<'_>, key: Key, metric: Compared) -> BTreeMap<u32, (f64, f64)> {
    let by_key = |side_cell: SideCell<'_>| {
        let mut found = BTreeMap::new();
        for (rep, logarithm) in side_cell.sample.logarithms(metric) {
            // The first: a repetition that was made again had a reason, and the pair is of the moment that both
            // share.
            found.entry(key.of(rep)).or_insert(logarithm);
        }
        found
    };
    let after = by_key(pair.after);
    let met = |(key, before): (u32, f64)| Some((key, (before, *after.get(&key)?)));
    by_key(pair.before).into_iter().filter_map(met).collect()
}
