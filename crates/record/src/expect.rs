//! What was said of the storages beforehand: against it a report holds what was measured.

use serde::{Deserialize, Serialize};

/// Claims and settings of a run, as plain figures. Absent from a run without either, and before format 1.2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expect {
    /// What the scenario says of every storage; absent where only emulated servers say what they are.
    #[serde(default)]
    pub claim: Option<Claim>,
    /// Each target: how operations reach it, and what its server was asked to be like.
    pub targets: Vec<ExpectTarget>,
}

/// A claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// In words.
    pub words: String,
    /// Who claims it, and where.
    #[serde(default)]
    pub source: Option<String>,
    /// Its figures.
    pub figures: ExpectFigures,
}

/// One target, as far as a prediction depends on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectTarget {
    /// Its name.
    pub target: String,
    /// Prefixes over which its objects are spread; 0, or 1 in older records, where it has none.
    pub prefixes: u32,
    /// Whether a connection has one request at a time.
    pub one_at_a_time: bool,
    /// Requests for names or attributes before those for the data of a whole file.
    pub lookups_per_file: u32,
    /// Whether a whole file is fetched in parts over several connections at once.
    pub in_parts: bool,
    /// What its server was asked to be like, delays by their means; absent where feedline started none.
    #[serde(default)]
    pub emulated: Option<ExpectFigures>,
}

/// What bounds a storage. What is absent was not said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExpectFigures {
    /// Seconds from a request to the first byte of its data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_s: Option<f64>,
    /// Seconds from a request for names or attributes to its reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_s: Option<f64>,
    /// Bytes per second of one connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_bps: Option<f64>,
    /// Bytes per second of all connections together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bps: Option<f64>,
    /// Requests per second of one prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_s: Option<f64>,
    /// What `total_bps` bursts to, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_burst: Option<ExpectBurst>,
    /// What `requests_per_s` bursts to, in requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_burst: Option<ExpectBurst>,
    /// Seconds in which a head moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seek_s: Option<f64>,
}

/// What a limit gives above its rate until credits are spent, which come back at that rate. Since format 1.12.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExpectBurst {
    /// Units per second while credits last.
    pub per_s: f64,
    /// Units that are saved up, at most; all of them as the run begins.
    pub credits: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_expected_survives_writing_and_reading() {
        let figures = ExpectFigures { first_byte_s: Some(0.030), ..ExpectFigures::default() };
        let expect = Expect {
            claim: Some(Claim { words: "30 ms".to_owned(), source: None, figures }),
            targets: vec![ExpectTarget {
                target: "bucket".to_owned(),
                prefixes: 4,
                one_at_a_time: true,
                lookups_per_file: 0,
                in_parts: false,
                emulated: None,
            }],
        };
        let text = serde_json::to_string(&expect).unwrap();
        assert!(text.contains("\"figures\":{\"first_byte_s\":0.03}"), "{text}");
        assert_eq!(serde_json::from_str::<Expect>(&text).unwrap(), expect);
    }

    #[test]
    fn figures_that_a_later_version_adds_are_passed_over() {
        let figures: ExpectFigures = serde_json::from_str("{\"seek_s\":0.01,\"weather\":3}").unwrap();
        assert_eq!(figures, ExpectFigures { seek_s: Some(0.01), ..ExpectFigures::default() });
    }
}
