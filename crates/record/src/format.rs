//! Version of the record, and the names of its files.

use serde::{Deserialize, Serialize};

/// What was planned; present only once the run directory is complete enough to be read.
pub const RUN_FILE: &str = "run.json";
/// The scenario as it was run.
pub const SCENARIO_FILE: &str = "scenario.toml";
/// The machine.
pub const ENV_FILE: &str = "env.json";
/// One line per ceiling and repetition, and a last one.
pub const CELLS_FILE: &str = "cells.jsonl";
/// When a run was gone on with; absent from a run that was made in one.
pub const SEGMENTS_FILE: &str = "segments.jsonl";
/// Seconds of each repetition, one gzip member per repetition.
pub const INTERVALS_FILE: &str = "intervals.jsonl.gz";

/// Version of the record format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// A newer major is refused.
    pub major: u32,
    /// A newer minor only adds fields; unknown fields are ignored.
    pub minor: u32,
}

/// A record that this version cannot understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "written by a newer feedline, format {found}; this one reads up to {readable}: upgrade\n  \
     hint: install the version of feedline that `tool.version` in run.json names, or a later one"
)]
pub struct FormatError {
    /// Major version of the record.
    pub found: u32,
    /// Newest major version that is read.
    pub readable: u32,
}

impl Format {
    /// What is written today. A field added later raises `minor` and carries a serde default, so that every
    /// older record is read for ever; a new kind of line, role or outcome raises `major`.
    pub const CURRENT: Self = Self { major: 1, minor: 17 };

    /// Refuses a newer major.
    pub fn check_readable(self) -> Result<(), FormatError> {
        let readable = Self::CURRENT.major;
        if self.major > readable { Err(FormatError { found: self.major, readable }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_newer_major_is_refused_and_the_sentence_says_what_to_do() {
        let current = Format::CURRENT;
        assert_eq!(current.check_readable(), Ok(()));
        assert_eq!(Format { minor: current.minor + 7, ..current }.check_readable(), Ok(()));
        assert_eq!(Format { major: 0, minor: 9 }.check_readable(), Ok(()));
        let refusal = Format { major: 2, minor: 0 }.check_readable().unwrap_err().to_string();
        let sentence = "written by a newer feedline, format 2; this one reads up to 1: upgrade\n  hint: ";
        assert!(refusal.starts_with(sentence), "{refusal}");
    }
}
