//! `cache_tier` as written.

use schemars::JsonSchema;

use crate::diagnostic::{Problems, Span};
use crate::list::{Axis, List};
use crate::reader::{Field, TableReader};
use crate::value::{Size, Text};
use crate::words::{TierWord, Word};

/// A local cache before slower storages, which feedline keeps itself: empty as each repetition begins, filled by what is
/// read.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct CacheTier {
    /// Folder on a local disk that the cache is made in. `feedline clean` removes what is made.
    pub(crate) at: Field<Text>,
    /// Bytes that it holds, at most.
    pub(crate) capacity: Field<Size>,
    /// What makes room when it is full; none reads straight. Default: lru.
    pub(crate) policy: Field<Axis<Word<TierWord>>>,
    /// Names of the targets that are read through it. Default: all that are reached over a network.
    pub(crate) targets: Field<List<Text>>,
    /// Where the table begins.
    #[schemars(skip)]
    pub(crate) written: Option<Span>,
}

impl CacheTier {
    pub(super) fn read(at: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        Self {
            at: table.field("at", problems),
            capacity: table.field("capacity", problems),
            policy: table.field("policy", problems),
            targets: table.field("targets", problems),
            written: Some(at),
        }
    }
}
