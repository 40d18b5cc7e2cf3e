//! Cells with their samples, decided together, and the headline of each target.

use feed::Compared;
use record::Target;

use super::effect::{Draft, Samples, settle};
use super::gaps::Gaps;
use super::{Because, CellComparison, Excluded, Headline, Sampled, Uncompared};
use crate::cell::metric::{Margins, Metric};

/// A cell whose effects are not decided yet.
#[derive(Debug)]
pub(super) struct CellDraft {
    /// Its name in the record before.
    pub(super) cell: String,
    /// Name of its target before.
    pub(super) target: String,
    /// What tells it from its neighbours.
    pub(super) label: String,
    /// Whether it plays a training job.
    pub(super) is_training: bool,
    /// Whether it moves bytes.
    pub(super) moves_bytes: bool,
    /// Why nothing may rest on it.
    pub(super) excluded: Option<Excluded>,
    /// Whether a fall counts all the same.
    pub(super) falls_count: bool,
    /// Its effects.
    pub(super) drafts: Vec<Draft>,
}

/// What is needed to decide.
pub(super) struct Rules<'a> {
    /// Changes up to these are no regression.
    pub(super) margins: &'a Margins,
    /// Fewest samples before, below which all is inconclusive.
    pub(super) samples_min: u32,
    /// What a sample is.
    pub(super) sampled: Sampled,
    /// Whether a client that was the limit excludes a cell.
    pub(super) client_counts: bool,
}

impl Rules<'_> {
    /// The effect on a metric, still open, unless nothing may rest on its cell.
    pub(super) fn draft(
        &self,
        metric: &'static Metric,
        samples: Samples,
        is_excluded: bool,
    ) -> Option<Draft> {
        let (runs, wanted) = (samples.count() as u32, self.samples_min);
        let few = (runs < wanted).then_some(Because::FewRuns { runs, wanted });
        let blocked = is_excluded.then_some(Because::Excluded).or(few);
        Draft::of(metric, samples, self.margins, blocked)
    }
}

/// Decides all cells together, and the headlines of their targets together.
pub(super) fn decided(
    mut cells: Vec<CellDraft>,
    targets: &[Target],
    rules: &Rules<'_>,
    gaps: &mut Gaps,
) -> (Vec<CellComparison>, Vec<Headline>) {
    settle(&mut cells.iter_mut().flat_map(|cell| &mut cell.drafts).collect::<Vec<_>>());
    let headlines = headlines(&cells, targets, rules, gaps);
    let compared = |cell: CellDraft| CellComparison {
        cell: cell.cell,
        target: cell.target,
        label: cell.label,
        effects: cell.drafts.into_iter().map(|draft| draft.effect).collect(),
        excluded: cell.excluded,
        falls_count: cell.falls_count,
    };
    (cells.into_iter().map(compared).collect(), headlines)
}

fn headlines(cells: &[CellDraft], targets: &[Target], rules: &Rules<'_>, gaps: &mut Gaps) -> Vec<Headline> {
    let mut found: Vec<(&str, u32, Draft)> = Vec::new();
    for target in targets {
        let all: Vec<&CellDraft> = cells.iter().filter(|cell| cell.target == target.name).collect();
        let name = target.name.as_str();
        if let Some((count, draft)) = headline(name, &all, rules, gaps) {
            found.push((name, count, draft));
        } else if !all.is_empty() {
            gaps.found.push(Uncompared::NoHeadline { target: name.to_owned() });
        }
    }
    settle(&mut found.iter_mut().map(|(_, _, draft)| draft).collect::<Vec<_>>());
    let said = |(target, cells, draft): (&str, u32, Draft)| Headline {
        target: target.to_owned(),
        cells,
        effect: draft.effect,
    };
    found.into_iter().map(said).collect()
}

/// The geometric mean of the cells of a target, by the samples that all of them have: cells of one round share its
/// weather, so their mean has the spread of rounds, not that of cells.
fn headline(target: &str, all: &[&CellDraft], rules: &Rules<'_>, gaps: &mut Gaps) -> Option<(u32, Draft)> {
    let mut included: Vec<&CellDraft> = all.iter().copied().filter(|cell| cell.excluded.is_none()).collect();
    // Lookups have a rate of another kind than reads.
    let moves_bytes = included.iter().any(|cell| cell.moves_bytes);
    included.retain(|cell| cell.moves_bytes == moves_bytes);
    let is_training = included.iter().all(|cell| cell.is_training);
    let compared = if is_training { Compared::Au } else { Compared::Throughput };
    let metric = Metric::of(compared, moves_bytes);
    let drafts = included.iter().flat_map(|cell| &cell.drafts).filter(|draft| draft.effect.metric == metric);
    let samples: Vec<&Samples> = drafts.map(|draft| &draft.samples).collect();
    let most = samples.iter().map(|samples| samples.count()).max()?;
    let (target, sampled) = (target.to_owned(), rules.sampled);
    let Some(together) = Samples::together(&samples) else {
        gaps.found.push(Uncompared::NothingInCommon { target, sampled });
        return None;
    };
    let count = together.count();
    if count < most {
        gaps.found.push(Uncompared::SomeInCommon { target, sampled, samples: count, most });
    }
    Some((samples.len() as u32, rules.draft(metric, together, false)?))
}
