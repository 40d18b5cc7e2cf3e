//! What sets ways of reading apart.

use record::AxisWords;

use crate::curve::treatment::Caching;
use crate::curve::{Panel, Pieces};

/// What sets one way of reading a target apart from others: what is the same is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WayApart {
    /// How samples lie.
    pub layout: Option<String>,
    /// Bytes of a sample, where they do not follow from the form.
    pub sample_bytes: Option<f64>,
    /// What sets their dataset apart from others of this layout and size; the whole of it.
    pub form: Vec<AxisWords>,
    /// What is done over and over, and in which pieces.
    pub pieces: Option<Pieces>,
    /// Order of the reads.
    pub access: Option<String>,
    /// Caches of this client before the storage.
    pub caching: Option<Caching>,
    /// Reads of each reader of the job that is played.
    pub fetches: Option<u32>,
}

fn fetches(way: &Panel) -> Option<u32> {
    way.first.training.as_ref().map(|job| job.fetches)
}

impl WayApart {
    /// What `way` does not share with all of `others`.
    pub(super) fn of(way: &Panel, others: &[&Panel]) -> Self {
        let differs = |is_other: &dyn Fn(&Panel) -> bool| others.iter().any(|other| is_other(other));
        // What a form stores for a sample follows from the form, and is no other sample.
        let is_of_other_samples = |other: &Panel| {
            let follows = other.form != way.form && other.asks_for_samples_of(way);
            other.sample_bytes != way.sample_bytes && !follows
        };
        // The whole form: a part of it would be another.
        let is_other_form = differs(&|other| other.form != way.form);
        Self {
            layout: way.layout.clone().filter(|_| differs(&|other| other.layout != way.layout)),
            sample_bytes: way.sample_bytes.filter(|_| differs(&is_of_other_samples)),
            form: if is_other_form { way.form.clone() } else { Vec::new() },
            pieces: differs(&|other| other.pieces != way.pieces).then(|| way.pieces.clone()),
            access: differs(&|other| other.access != way.access).then(|| way.access.clone()),
            caching: differs(&|other| !other.is_treated_like(way)).then(|| way.caching.clone()),
            fetches: fetches(way).filter(|_| differs(&|other| fetches(other) != fetches(way))),
        }
    }
}
