//! The plan, once all that goes into it is known.

use plan::{Cell, DatasetSpec, Gate, Measure, Plan};

use super::expect;
use super::target::Resolved;
use crate::written::Document;

/// What is done, and what for.
pub(super) struct Work {
    pub(super) need: feed::Need,
    pub(super) datasets: Vec<DatasetSpec>,
    pub(super) cells: Vec<Cell>,
    pub(super) measure: Measure,
}

impl Work {
    /// The plan of this work on these targets.
    pub(super) fn on(
        self,
        targets: Vec<Option<Resolved<'_>>>,
        (name, written): (&str, &Document),
        gate: Gate,
    ) -> Plan {
        let Self { need, datasets, cells, measure } = self;
        let (targets, skipped): (Vec<_>, Vec<_>) =
            targets.into_iter().flatten().map(Resolved::into_parts).unzip();
        Plan {
            name: name.to_owned(),
            title: written.title.given().map(|title| title.value.0.clone()),
            need,
            datasets,
            targets,
            cells,
            skipped: skipped.into_iter().flatten().collect(),
            measure,
            gate,
            expect: expect::resolve(&written.expect),
        }
    }
}
