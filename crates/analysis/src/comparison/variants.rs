//! Two variants of one run.

use super::cells::decided;
use super::gaps::Gaps;
use super::label::Labels;
use super::paired::{self, Pair, SideCell};
use super::{Comparison, ComparisonNote, NotComparable, Pairing, RunSample, Side, comparable};
use crate::cell::metric::Margins;

/// Compares two variants whose repetitions were interleaved; cells are paired by their place in the scenario.
///
/// # Errors
/// When they are no variants of one run, or when machine, need or the number of cells differ.
pub fn compare_variants(
    before: &RunSample,
    after: &RunSample,
    margins: &Margins,
) -> Result<Comparison, NotComparable> {
    comparable::variants(before, after)?;
    let mut gaps = Gaps::default();
    let pairs = pairs(before, after);
    let names = [name(before), name(after)];
    // A variant may set the repetitions, and the longer plan is what was asked for.
    let planned = before.run.measure.repetitions.max(after.run.measure.repetitions);
    // The client does not exclude: both variants share it, so that it hides a change and makes none.
    let rules = paired::rules(margins, false);
    let drafts = paired::drafts(&pairs, [&names[0], &names[1]], planned, &rules, &mut gaps);
    let (cells, headlines) = decided(drafts, &before.run.targets, &rules, &mut gaps);
    let [before_name, after_name] = names;
    Ok(Comparison {
        pairing: Pairing::Variants,
        scenario: before.run.scenario.clone(),
        before: Side { name: before_name, run_ids: vec![before.run.run_id.clone()] },
        after: Side { name: after_name, run_ids: vec![after.run.run_id.clone()] },
        cells,
        headlines,
        gaps: gaps.found,
        lost: gaps.lost,
        notes: notes(before, after, &pairs),
    })
}

/// Cells of equal places that both sides have.
pub(super) fn pairs<'a>(before: &'a RunSample, after: &'a RunSample) -> Vec<Pair<'a>> {
    let labels = Labels::of(&before.run.cells);
    let others = SideCell::all(after);
    let paired = |one: SideCell<'a>| {
        // By place and not by name: what a variant sets may be part of a cell's name.
        let other = others.iter().find(|other| other.sample.index == one.sample.index)?;
        Some(Pair { before: one, after: *other, label: labels.label(one.cell) })
    };
    SideCell::all(before).into_iter().filter_map(paired).collect()
}

fn name(sample: &RunSample) -> String {
    sample.run.variant.as_ref().map_or_else(|| sample.run.run_id.clone(), |variant| variant.name.clone())
}

/// What the variants set, and what else differs between them.
fn notes(before: &RunSample, after: &RunSample, pairs: &[Pair<'_>]) -> Vec<ComparisonNote> {
    let is_limited = |side_cell: SideCell<'_>| !side_cell.sample.client_limited.is_empty();
    let cells = pairs.iter().filter(|pair| is_limited(pair.before) || is_limited(pair.after)).count();
    let limited = (cells > 0).then_some(ComparisonNote::ClientLimited { cells });
    let settings = [before, after].into_iter().filter_map(|sample| {
        let settings = sample.run.variant.as_ref().map(|variant| variant.settings.clone())?;
        (!settings.is_empty()).then(|| ComparisonNote::Settings { name: name(sample), settings })
    });
    let (one, other) = (&before.run.tool, &after.run.tool);
    let is_same =
        // Two binaries are a usual pair of variants; that one of them is a debug build explains everything
        // else.
        (&one.version, &one.profile, &one.commit) == (&other.version, &other.profile, &other.commit);
    let tools = || ComparisonNote::Tools { before: one.clone(), after: other.clone() };
    limited.into_iter().chain(settings).chain((!is_same).then(tools)).collect()
}
