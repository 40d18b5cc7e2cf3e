//! What was measured, sorted.

use std::collections::{BTreeMap, BTreeSet};

use record::{Ceiling, Elsewhere, End, Line, Rep, Reread, RunRecord};

use crate::cell::gap::{Gap, GapCause};
use crate::cell::repetitions::{self, OfRecord, Repetitions};

/// The lines of a record by kind.
pub(crate) struct Lines<'a> {
    /// Sorted by cell.
    pub(crate) reps: Vec<&'a Rep>,
    /// Repetitions of other variants than the one summarised.
    pub(crate) other_variants: usize,
    /// Lines that have the same repetition as another.
    pub(crate) twice: usize,
    /// Repetitions that met an outage, and whether another was made in their place.
    pub(crate) met_outages: Vec<(&'a Rep, bool)>,
    pub(crate) ceilings: Vec<&'a Ceiling>,
    /// Those of each cell: several cells share one, and a cell may have several.
    by_cell: BTreeMap<&'a str, Vec<&'a Ceiling>>,
    pub(crate) end: Option<&'a End>,
    /// Why repetitions of a cell were not made, as the end of the run says.
    not_run: BTreeMap<&'a str, &'a str>,
    /// That of each part of the run, in order: what was found of its repetitions then holds for them whatever came later.
    pub(crate) ends: Vec<&'a End>,
    /// What was another as the run was gone on with than as it began, in the order of [`Elsewhere`].
    pub(crate) elsewhere: Vec<Elsewhere>,
    /// What each of them says of reads that were made again.
    pub(crate) rereads: Vec<Rereads<'a>>,
}

/// Reads that were made again after a part of the run, by the rank and the place in the run of their repetition.
pub(crate) type Rereads<'a> = BTreeMap<(u32, u32), Vec<&'a Reread>>;

impl<'a> Lines<'a> {
    pub(crate) fn of(record: &'a RunRecord) -> Self {
        let OfRecord { reps, other_variants, twice, met_outages } = repetitions::of_record(record);
        let ceilings = record.lines.iter().filter_map(|line| match line {
            Line::Ceiling(ceiling) => Some(ceiling),
            _ => None,
        });
        let ends = record.lines.iter().filter_map(|line| match line {
            Line::End(end) => Some(end),
            _ => None,
        });
        let ends: Vec<&End> = ends.collect();
        let ceilings: Vec<&Ceiling> = ceilings.collect();
        let mut by_cell: BTreeMap<&str, Vec<&Ceiling>> = BTreeMap::new();
        for (ceiling, cell) in ceilings.iter().flat_map(|one| one.cells.iter().map(move |cell| (*one, cell)))
        {
            by_cell.entry(cell).or_default().push(ceiling);
        }
        // That of an earlier segment is none: what stands behind it was measured later.
        // A run that was gone on with has an end for each part. One that was cut again has an old end in its middle, which
        // would call it complete.
        let is_ended = record.segments.is_empty() || matches!(record.lines.last(), Some(Line::End(_)));
        let end = ends.last().copied().filter(|_| is_ended);
        let mut not_run = BTreeMap::new();
        for entry in end.into_iter().flat_map(|end| &end.not_run) {
            not_run.entry(entry.cell.as_str()).or_insert(entry.reason.as_str());
        }
        let rereads = ends.iter().map(|end| rereads(end)).collect();
        // Of the whole run, whoever made a repetition: two clients are compared wherever its cells are, and ceilings of
        // one hold for repetitions of both.
        let elsewhere: BTreeSet<Elsewhere> =
            record.segments.iter().flat_map(|one| one.elsewhere(&record.run, &record.env)).collect();
        Self {
            reps,
            other_variants,
            twice,
            met_outages,
            ceilings,
            by_cell,
            end,
            not_run,
            ends,
            elsewhere: elsewhere.into_iter().collect(),
            rereads,
        }
    }

    /// The repetitions of a cell, found without looking at those of others.
    pub(crate) fn of_cell(&self, cell: &str) -> &[&'a Rep] {
        repetitions::of_cell(&self.reps, cell)
    }

    /// What the client did without storage in the place of a cell.
    pub(crate) fn ceilings_of(&self, cell: &str) -> &[&'a Ceiling] {
        self.by_cell.get(cell).map_or(&[], Vec::as_slice)
    }

    /// Why repetitions of `cell` were not made.
    pub(crate) fn not_run(&self, cell: &str) -> Gap {
        if self.end.is_none() {
            return GapCause::RunCut.into();
        }
        let known = self.not_run.get(cell);
        known.map_or(GapCause::NotRecorded, |reason| GapCause::Recorded((*reason).to_owned())).into()
    }

    /// Why repetitions of `cell` are not among `reps`: they were interrupted, or not made.
    pub(crate) fn not_made(&self, reps: &Repetitions<'_>, cell: &str) -> Gap {
        if reps.cut > 0 { GapCause::Interrupted.into() } else { self.not_run(cell) }
    }
}

fn rereads(end: &End) -> Rereads<'_> {
    let mut found = Rereads::new();
    for again in &end.reread {
        found.entry((again.rank, again.order)).or_default().push(again);
    }
    found
}
