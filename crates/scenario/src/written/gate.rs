//! `gate` as written.

use plan::MayDiffer;

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::list::List;
use crate::only::Only::{Bounded, Compared, Gated, Proven, Trained};
use crate::percentage::{Percentage, Utilization};
use crate::reader::{Written, wrong_type};
use crate::table::{Keys as _, Table, table};
use crate::value::{Duration, Text, Whole, schema};
use crate::words::{Grade, Word};

use super::load::DEPTH_MAX;

/// Fewest runs over which anything spreads, and more than anyone keeps.
type Runs = Whole<3, 10_000>;

table! {
    /// What turns the verdict, or a comparison with earlier runs, into an exit code.
    #[schemars(extend("anyOf" = [{ "required": ["feeds"] }, { "required": ["regression"] }]))]
    #[schemars(extend("dependencies" = {
        "utilization": ["feeds"],
        "p99": ["feeds"],
        "evidence": ["feeds"],
        "proof": ["evidence"],
        "at": ["p99"],
        "baseline": ["regression"],
        "runs": ["regression"],
        "may_differ": ["regression"],
    }))]
    pub(crate) struct Gate {
        /// Targets that must FEED. A gate has this key or `regression`, or both.
        feeds: List<Text>,
        /// Share of the demand that each of these targets must reach, in place of the need's utilization: 0.95 or `"95 %"`.
        /// Default: the need's.
        utilization: Utilization => [Gated],
        /// Largest 99th percentile of a read's latency in the confirmation of each of these targets.
        p99: Duration => [Gated],
        /// Queue depth, one of the run's, whose cells are held against `p99`: all of each target's, by their interleaved
        /// repetitions. Default: the cell on which the verdict rests, by its confirmation.
        at: Whole<1, DEPTH_MAX> => [Bounded],
        /// How much worse than before each metric may be: a table such as `{ throughput = "10 %", p50 = "15 %" }` of
        /// throughput, p50, p99, au and cpu (processor time by operation), or the path of a file that `feedline calibrate`
        /// wrote. Default: nothing is compared.
        regression: Regression,
        /// Which runs are compared with: a name, under which runs were kept by `run --add-to`, or the path of a folder of
        /// runs. Default: what the command line names.
        baseline: Baseline => [Compared],
        /// Fewest comparable runs of the baseline: below it nothing is decided. Default: 8.
        runs: Runs => [Compared],
        /// What may differ between the runs that are compared. Default: nothing.
        may_differ: List<Word<MayDiffer>> => [Compared],
        /// What the FEEDS of each of these targets must rest on. Default: screen.
        evidence: Word<Grade> => [Gated],
        /// What a proof takes, with `evidence = "proof"`; all hosts of the need in any case. Default: 3 runs over 24 hours.
        proof: Proof => [Proven],
    }
}

impl Table for Gate {
    const EXAMPLE: &'static str = "{ feeds = [\"data\"] }";

    fn check(&self, problems: &mut Problems) {
        if self.keys().iter().all(|key| key.at.is_none()) {
            let problem = Problem::absent("`gate` has neither `feeds` nor `regression`: what must hold?");
            problems.push(problem.at(self.name.span, "gates nothing").help(
                "for example gate = { feeds = [\"data\"] } or gate = { regression = { throughput = \"10 %\" } }",
            ));
        }
    }
}

/// A table of margins, or a file of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Regression {
    /// By metric.
    Table(Box<Margins>),
    /// Path of what a calibration wrote.
    File(String),
}

impl Written for Regression {
    fn expected() -> String {
        format!("{}, or the path of a calibration file", Margins::expected())
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Table(_) => Margins::read(node, path, problems).map(|table| Self::Table(Box::new(table))),
            // `regression = "10 %"` is what somebody writes who wants one number for all, and 10 % of p99
            // is within its noise.
            Value::String(text) if text.contains('%') => {
                let problem = Problem::new(format!("`{path}` takes {}", Self::expected()));
                let problem = problem.at(node.span, "of which metric?");
                problems.push(problem.help(format!("for example {{ throughput = \"{text}\" }}")));
                None
            }
            Value::String(_) => Text::read(node, path, problems).map(|text| Self::File(text.0)),
            _ => {
                problems.push(wrong_type::<Self>(node, path));
                None
            }
        }
    }
}

schema!(Regression, "regression", |generator| {
    "anyOf": [Margins::json_schema(generator), { "type": "string", "pattern": "^[^\\x00-\\x1f\\x7f%]+$" }]
});

table! {
    /// How much worse each metric may be, as a share of what it was.
    #[schemars(extend("minProperties" = 1))]
    pub(crate) struct Margins {
        /// Bytes per second, or operations per second where no bytes are moved.
        throughput: Percentage,
        /// Median latency.
        p50: Percentage,
        /// 99th percentile of latency.
        p99: Percentage,
        /// Accelerator utilization, with `load.mode = "training"`.
        au: Percentage => [Trained],
        /// Processor time of the client by operation.
        cpu: Percentage,
    }
}

impl Table for Margins {
    const EXAMPLE: &'static str = "{ throughput = \"10 %\" }";

    fn check(&self, problems: &mut Problems) {
        let path = &self.name.text;
        if self.keys().iter().all(|key| key.at.is_none()) {
            let problem = Problem::absent(format!("`{path}` names no metric")).at(self.name.span, "is empty");
            problems.push(problem.help(format!("`{path}` takes {}", Regression::expected())));
        }
    }
}

table! {
    /// What a proof takes.
    pub(crate) struct Proof {
        /// Fewest runs. Default: 3.
        runs: Whole<2, 10_000>,
        /// Shortest time from the start of the first run to the end of the last. Default: 24h.
        span: Duration,
    }
}

impl Table for Proof {
    const EXAMPLE: &'static str = "{ runs = 3, span = \"24h\" }";
}

/// The name of kept runs, or a path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Baseline(pub(crate) String);

impl Written for Baseline {
    fn expected() -> String {
        "a name such as \"nightly\", or the path of a folder of runs such as \"results/nightly/\"".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let text = Text::read(node, path, problems)?.0;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        // A slash decides between a name and a path, and no file is looked for: what is there now says
        // nothing of the machine that gates.
        let wrong = if text.contains('/') {
            return Some(Self(text));
        // A name becomes a file; hidden ones and `..` are no names.
        } else if text.starts_with('.') {
            "a name does not begin with a dot, and a path has a /"
        } else if !text.chars().all(is_plain) {
            "a name has letters, digits, `-`, `_` and `.`, and a path has a /"
        } else {
            return Some(Self(text));
        };
        problems.push(Problem::new(format!("`{path}` takes {}", Self::expected())).at(node.span, wrong));
        None
    }
}

schema!(Baseline, "baseline", {
    "type": "string", "pattern": "^([A-Za-z0-9_-][A-Za-z0-9._-]*|[^\\x00-\\x1f\\x7f]*/[^\\x00-\\x1f\\x7f]*)$"
});
