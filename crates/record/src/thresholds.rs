//! A calibration at rest: margins that gates read.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::reader::{self, ReadError};
use crate::{Format, Margin};

/// How much worse each metric may be on a machine whose noise was measured, and from what that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// Version of the record.
    pub format: Format,
    /// Scenario that was measured; the margins hold for it alone.
    pub scenario: String,
    /// Whether they are for stored runs; for interleaved repetitions otherwise.
    pub stored: bool,
    /// Margins, one for each metric that was measured.
    pub margins: Vec<Margin>,
    /// Runs that they rest on, oldest first.
    pub from: Vec<String>,
    /// Samples that a later comparison is expected to have: repetitions, or runs of the baseline.
    pub samples: u32,
}

impl Thresholds {
    /// Reads the file that `feedline calibrate` wrote.
    ///
    /// # Errors
    /// [`ReadError`] where the file is missing, cannot be read, holds something else, was written by a newer feedline, or
    /// states a margin that is not above zero.
    // The format is checked as a record's is: a calibration outlives the version that wrote it.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let text = reader::read_head(path, "make one with `feedline calibrate`")?;
        let read: Self = reader::parse_of_known_format(path, &text)?;
        let wrong = read.margins.iter().find(|margin| !(margin.share > 0.0 && margin.share.is_finite()));
        wrong.map_or(Ok(()), |margin| {
            let cause = format!("the margin of {} is {}, and must be above 0", margin.metric, margin.share);
            Err(ReadError::content(path, &cause))
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Thresholds {
        Thresholds {
            format: Format::CURRENT,
            scenario: "nightly".to_owned(),
            stored: true,
            margins: vec![Margin { metric: "throughput".to_owned(), share: 0.083 }],
            from: vec!["20261121T044123Z-nightly-3f9a".to_owned()],
            samples: 8,
        }
    }

    fn read(text: &str) -> Result<Thresholds, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        std::fs::write(&path, text).unwrap();
        Thresholds::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn thresholds_survive_writing_and_reading() {
        assert_eq!(read(&serde_json::to_string(&example()).unwrap()), Ok(example()));
    }

    #[test]
    fn what_is_no_calibration_is_refused_with_what_is_wrong() {
        let mut zero = example();
        zero.margins[0].share = 0.0;
        assert!(read(&serde_json::to_string(&zero).unwrap()).unwrap_err().contains("must be above 0"));
        let mut newer = example();
        newer.format.major = 2;
        assert!(read(&serde_json::to_string(&newer).unwrap()).unwrap_err().contains("newer feedline"));
        assert!(read("").unwrap_err().contains("empty"));
        assert!(read("{\"format\":{\"major\":1,\"minor\":4}}").unwrap_err().contains("scenario"));
        let missing = Thresholds::read(Path::new("no/such.json")).unwrap_err().to_string();
        assert!(missing.contains("feedline calibrate"), "{missing}");
    }
}
