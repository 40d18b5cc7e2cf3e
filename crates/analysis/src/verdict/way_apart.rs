//! What sets ways of reading apart.

use record::AxisWords;

use crate::curve::Panel;
use crate::curve::treatment::Caching;

/// What sets one way of reading a target apart from others: what is the same is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WayApart {
    /// How samples lie.
    pub layout: Option<String>,
    /// Bytes of a sample.
    pub sample_bytes: Option<f64>,
    /// What sets their dataset apart from others of this layout and size.
    pub form: Vec<AxisWords>,
    /// What is done over and over, and bytes of one read at most.
    pub pieces: Option<(String, u64)>,
    /// Order of the reads.
    pub access: Option<String>,
    /// Caches of this client before the storage.
    pub caching: Option<Caching>,
}

impl WayApart {
    /// What `way` does not share with all of `others`.
    pub(super) fn of(way: &Panel, others: &[&Panel]) -> Self {
        let differs = |is_other: &dyn Fn(&Panel) -> bool| others.iter().any(|other| is_other(other));
        let has_other_pieces =
            |other: &Panel| (&other.operation, other.block_bytes) != (&way.operation, way.block_bytes);
        let form = way.form.iter().filter(|words| differs(&|other| !other.form.contains(words)));
        Self {
            layout: way.layout.clone().filter(|_| differs(&|other| other.layout != way.layout)),
            sample_bytes: way
                .sample_bytes
                .filter(|_| differs(&|other| other.sample_bytes != way.sample_bytes)),
            form: form.cloned().collect(),
            pieces: differs(&has_other_pieces).then(|| (way.operation.clone(), way.block_bytes)),
            access: differs(&|other| other.access != way.access).then(|| way.access.clone()),
            caching: differs(&|other| !other.is_treated_like(way)).then(|| way.caching.clone()),
        }
    }
}
