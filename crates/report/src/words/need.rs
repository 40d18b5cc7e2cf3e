//! What is asked for, and why no line can be drawn, in words.

use analysis::NoNeed;
use feed::Flow;

/// A need of bytes, beside those of checkpoints.
pub(crate) fn name(of: Flow) -> &'static str {
    match of {
        Flow::Reads => "reads",
        Flow::Writes => "writes",
        Flow::Both => "mix",
    }
}

pub(crate) fn none(why: NoNeed) -> String {
    match why {
        NoNeed::NotStated => "the record states no need, so no line can be drawn".to_owned(),
        NoNeed::Utilization(target) => {
            format!("the record's utilization target is {target}, not within 0 to 1")
        }
        NoNeed::Checkpoint => {
            "the record's need of checkpoints has no bytes, no time or no hosts, so nothing is judged"
                .to_owned()
        }
    }
}
