//! The rate of an open loop, in bytes or as a share of the feed line.

use plan::Rate;

use crate::diagnostic::Problems;
use crate::document::Node;
use crate::reader::{Plain, Written};
use crate::value::{PERCENT_PATTERN, RATE_PATTERN, quantity, schema};

/// The whole line, as a word.
const LINE: &str = "line";

/// How much an open loop offers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Offered(pub(crate) Rate);

impl Default for Offered {
    fn default() -> Self {
        // The line by default: below it a load says nothing of the line, and above it latency is that of an
        // overload.
        Self(Rate::OfLine { share: 1.0 })
    }
}

impl Plain<Rate> for Offered {
    fn plain(&self) -> Rate {
        self.0
    }
}

schema!(Offered, "offered_rate", {
    "anyOf": [
        { "const": LINE, "description": "The line at the utilization target." },
        { "type": "string", "pattern": PERCENT_PATTERN },
        { "type": "string", "pattern": RATE_PATTERN },
    ]
});

impl Written for Offered {
    fn expected() -> String {
        "\"line\", a share of the line such as \"80 %\", or a rate such as \"2.5 GB/s\"".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        quantity::<Self, _>(node, path, "%", parse, problems).map(Self)
    }
}

fn parse(text: &str) -> Result<Rate, feed::UnitError> {
    if text.trim() == LINE {
        return Ok(Offered::default().0);
    }
    // Before the rate: `80 %/s` is then refused as a percentage, which is what it looks like.
    if text.contains('%') {
        return feed::parse_percent(text).map(|share| Rate::OfLine { share });
    }
    feed::parse_rate_bps(text).map(|per_s| Rate::Bytes { per_s })
}
