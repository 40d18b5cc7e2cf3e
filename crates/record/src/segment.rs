//! `segments.jsonl`: the times at which a run that was interrupted was gone on with.

use serde::{Deserialize, Serialize};

use crate::Environment;

/// One time at which a run was gone on with, by a process of its own. The first is `run.json` and `env.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// When, RFC 3339 UTC.
    pub started: String,
    /// The same on the run's clock, which stands still between two segments, nanoseconds.
    pub at_ns: u64,
    /// Command line, redacted.
    pub command: Vec<String>,
    /// The machine as it was then.
    pub env: Environment,
}
