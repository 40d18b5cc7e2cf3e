//! `expect` as written.

use crate::diagnostic::{Problem, Problems};
use crate::table::{Keys as _, Table, missing, table};
use crate::value::{Duration, Number, Rate, Text};

table! {
    /// What is claimed of the storages under test, and its figures: what was measured is held against what follows from
    /// them.
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
        claim: Text,
        /// Who claims it, and where.
        source: Text,
        /// From a request to the first byte of its data.
        first_byte: Duration,
        /// From a request for names or attributes to its reply.
        metadata: Duration,
        /// What one connection gets, at most.
        connection_rate: Rate,
        /// What all connections get together, at most; of a disk with a head, its rate in sequence.
        total_rate: Rate,
        /// Requests a second that one prefix (S3) or the server takes, at most.
        requests_per_second: Number,
        /// How long a head takes to move, reads being served one at a time.
        seek: Duration,
    }
}

impl Table for Expect {
    const EXAMPLE: &'static str = "{ claim = \"a first byte takes 30 ms\", first_byte = \"30ms\" }";

    fn check(&self, problems: &mut Problems) {
        if self.claim.is_absent() {
            let (question, example) = (": what is claimed?", format!("expect = {}", Self::EXAMPLE));
            problems.push(missing(&self.name, "claim", question, "has figures and no words", &example));
        }
        let keys = self.keys();
        let figures: Vec<_> = keys.iter().filter(|key| !matches!(key.name, "claim" | "source")).collect();
        // A claim in words alone can be held against nothing, and would be printed as if it had been.
        if figures.iter().all(|key| key.at.is_none()) {
            let names: Vec<_> = figures.iter().map(|key| key.name).collect();
            let problem = Problem::absent("`expect` has no figure").at(self.name.span, "predicts nothing");
            problems.push(problem.help(format!("write at least one of {}", names.join(", "))));
        }
    }
}
