//! `expect` as written.

use schemars::JsonSchema;

use crate::diagnostic::{Problem, Problems, Span};
use crate::reader::{Field, TableReader};
use crate::value::{Duration, Number, Rate, Text};

/// What is claimed of the storages under test, and its figures: what was measured is held against what follows from
/// them.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(extend("required" = ["claim"]))]
#[schemars(extend("anyOf" = [
    { "required": ["first_byte"] },
    { "required": ["metadata"] },
    { "required": ["connection_rate"] },
    { "required": ["total_rate"] },
    { "required": ["requests_per_second"] },
    { "required": ["seek"] },
]))]
pub(crate) struct Expect {
    /// The claim in words; printed with the prediction.
    pub(crate) claim: Field<Text>,
    /// Who claims it, and where.
    pub(crate) source: Field<Text>,
    /// From a request to the first byte of its data.
    pub(crate) first_byte: Field<Duration>,
    /// From a request for names or attributes to its reply.
    pub(crate) metadata: Field<Duration>,
    /// What one connection gets, at most.
    pub(crate) connection_rate: Field<Rate>,
    /// What all connections get together, at most; of a disk with a head, its rate in sequence.
    pub(crate) total_rate: Field<Rate>,
    /// Requests a second that one prefix (S3) or the server takes, at most.
    pub(crate) requests_per_second: Field<Number>,
    /// How long a head takes to move, reads being served one at a time.
    pub(crate) seek: Field<Duration>,
}

impl Expect {
    pub(super) fn read(at: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        let expect = Self {
            claim: table.field("claim", problems),
            source: table.field("source", problems),
            first_byte: table.field("first_byte", problems),
            metadata: table.field("metadata", problems),
            connection_rate: table.field("connection_rate", problems),
            total_rate: table.field("total_rate", problems),
            requests_per_second: table.field("requests_per_second", problems),
            seek: table.field("seek", problems),
        };
        if expect.claim.is_absent() {
            problems.push(
                Problem::absent("`expect.claim` is missing: what is claimed?")
                    .at(at, "has figures and no words")
                    .help("for example expect = { claim = \"a first byte takes 30 ms\", first_byte = \"30ms\" }"),
            );
        }
        if !expect.has_figures() {
            problems.push(Problem::absent("`expect` has no figure").at(at, "predicts nothing").help(
                "write at least one of first_byte, metadata, connection_rate, total_rate, \
                     requests_per_second, seek",
            ));
        }
        expect
    }

    fn has_figures(&self) -> bool {
        let keys = [
            self.first_byte.key(),
            self.metadata.key(),
            self.connection_rate.key(),
            self.total_rate.key(),
            self.requests_per_second.key(),
            self.seek.key(),
        ];
        keys.iter().any(Option::is_some)
    }
}
