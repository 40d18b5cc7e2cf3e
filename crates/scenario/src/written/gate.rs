//! `gate` as written.

use std::borrow::Cow;

use feed::Compared;
use plan::MayDiffer;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems, Span};
use crate::document::{Node, Value};
use crate::list::List;
use crate::percentage::{Percentage, Utilization};
use crate::reader::{Field, TableReader, Written, wrong_type};
use crate::value::{Duration, Text, Whole};
use crate::words::{Grade, Word};

use super::load::DEPTH_MAX;

/// Fewest runs over which anything spreads, and more than anyone keeps.
type Runs = Whole<3, 10_000>;

/// What turns the verdict, or a comparison with earlier runs, into an exit code.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
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
    pub(crate) feeds: Field<List<Text>>,
    /// Share of the demand that each of these targets must reach, in place of the need's utilization: 0.95 or `"95 %"`.
    /// Default: the need's.
    pub(crate) utilization: Field<Utilization>,
    /// Largest 99th percentile of a read's latency in the confirmation of each of these targets.
    pub(crate) p99: Field<Duration>,
    /// Queue depth, one of the run's, whose cells are held against `p99`: all of each target's, by their interleaved
    /// repetitions. Default: the cell on which the verdict rests, by its confirmation.
    pub(crate) at: Field<Whole<1, DEPTH_MAX>>,
    /// How much worse than before each metric may be: a table such as `{ throughput = "10 %", p50 = "15 %" }` of
    /// throughput, p50, p99, au and cpu (processor time by operation), or the path of a file that `feedline calibrate`
    /// wrote. Default: nothing is compared.
    pub(crate) regression: Field<Regression>,
    /// Which runs are compared with: a name, under which runs were kept by `run --add-to`, or the path of a folder of
    /// runs. Default: what the command line names.
    pub(crate) baseline: Field<Baseline>,
    /// Fewest comparable runs of the baseline: below it nothing is decided. Default: 8.
    pub(crate) runs: Field<Runs>,
    /// What may differ between the runs that are compared. Default: nothing.
    pub(crate) may_differ: Field<List<Word<MayDiffer>>>,
    /// What the FEEDS of each of these targets must rest on. Default: screen.
    pub(crate) evidence: Field<Word<Grade>>,
    /// What a proof takes, with `evidence = "proof"`; all hosts of the need in any case. Default: 3 runs over 24 hours.
    pub(crate) proof: Field<Proof>,
}

impl Gate {
    pub(super) fn read(at: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        let gate = Self {
            feeds: table.field("feeds", problems),
            utilization: table.field("utilization", problems),
            p99: table.field("p99", problems),
            at: table.field("at", problems),
            regression: table.field("regression", problems),
            baseline: table.field("baseline", problems),
            runs: table.field("runs", problems),
            may_differ: table.field("may_differ", problems),
            evidence: table.field("evidence", problems),
            proof: table.field("proof", problems),
        };
        gate.refuse_dangling(at, problems);
        gate
    }

    /// Refuses keys that say something of another key which is not there.
    fn refuse_dangling(&self, at: Span, problems: &mut Problems) {
        let (feeds, p99, regression) = (&self.feeds, &self.p99, &self.regression);
        let of_feeds = [self.utilization.key(), p99.key(), self.evidence.key()];
        let of_regression = [
            ("baseline", self.baseline.key()),
            ("runs", self.runs.key()),
            ("may_differ", self.may_differ.key()),
        ];
        let mut dangles = false;
        if feeds.is_absent() {
            for key in of_feeds {
                dangles |= key.is_some();
                problems.extend(key.map(missing_feeds));
            }
        }
        if let (true, Some(key)) = (p99.is_absent(), self.at.key()) {
            dangles = true;
            let problem = Problem::absent("`gate.at` says at which depth `gate.p99` holds, which is missing");
            problems.push(problem.at(key, "of what?").help("for example p99 = \"20ms\""));
        }
        if let Some(problem) = self.refuse_unasked_proof() {
            dangles = true;
            problems.push(problem);
        }
        if regression.is_absent() {
            for (name, key) in of_regression {
                dangles |= key.is_some();
                problems.extend(key.map(|key| missing_regression(name, key)));
            }
        }
        if feeds.is_absent() && regression.is_absent() && !dangles {
            let problem = Problem::absent("`gate` has neither `feeds` nor `regression`: what must hold?");
            problems.push(problem.at(at, "gates nothing").help(
                "for example gate = { feeds = [\"data\"] } or gate = { regression = { throughput = \"10 %\" } }",
            ));
        }
    }

    /// Refuses what a proof takes where none is asked for.
    fn refuse_unasked_proof(&self) -> Option<Problem> {
        let key = self.proof.key()?;
        let asked = match &self.evidence {
            Field::Absent => false,
            Field::Wrong(_) => true,
            Field::Given(evidence) => evidence.value.0 == Grade::Proof,
        };
        let problem = Problem::absent("`gate.proof` says what a proof takes, and none is asked for");
        let problem = problem.at(key, "proves nothing").also_if(self.evidence.span(), "asks for less");
        (!asked).then(|| problem.help("write evidence = \"proof\", or remove it"))
    }
}

fn missing_feeds(key: Span) -> Problem {
    Problem::absent("`gate.feeds` is missing: which targets must feed?")
        .at(key, "holds for the targets in `feeds`")
        .help("for example gate = { feeds = [\"data\"] }")
}

fn missing_regression(name: &str, key: Span) -> Problem {
    Problem::absent(format!("`gate.{name}` is of a comparison, and `gate.regression` is missing"))
        .at(key, "compares nothing")
        .help("for example regression = { throughput = \"10 %\" }")
}

/// A table of margins, or a file of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Regression {
    /// How much worse each metric may be, as a share of what it was; in the order of [`Compared::ALL`].
    Table(Vec<(Compared, Field<Percentage>)>),
    /// Path of what a calibration wrote.
    File(String),
}

impl Written for Regression {
    fn expected() -> String {
        "a table such as { throughput = \"10 %\" }, or the path of a calibration file".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Table(of_metrics) => {
                let mut table = TableReader::open(node, path.to_owned(), "", problems)?;
                let margins = Compared::ALL.map(|metric| (metric, table.field(metric.name(), problems)));
                table.finish(problems);
                if of_metrics.entries.is_empty() {
                    let problem =
                        Problem::absent(format!("`{path}` names no metric")).at(node.span, "is empty");
                    problems.push(problem.help(format!("`{path}` takes {}", Self::expected())));
                    return None;
                }
                Some(Self::Table(margins.into()))
            }
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

impl JsonSchema for Regression {
    fn schema_name() -> Cow<'static, str> {
        "regression".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let margin = |metric: Compared| {
            let mut schema = Percentage::json_schema(generator);
            schema.insert("description".to_owned(), metric.meaning().into());
            (metric.name().to_owned(), schema.to_value())
        };
        let margins: serde_json::Map<String, serde_json::Value> =
            Compared::ALL.map(margin).into_iter().collect();
        let table = json_schema!({
            "additionalProperties": false,
            "description": "How much worse each metric may be, as a share of what it was.",
            "minProperties": 1,
            "properties": margins,
            "type": "object"
        });
        json_schema!({ "anyOf": [table, { "type": "string", "pattern": "^[^\\x00-\\x1f\\x7f%]+$" }] })
    }
}

/// What a proof takes.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct Proof {
    /// Fewest runs. Default: 3.
    pub(crate) runs: Field<Whole<2, 10_000>>,
    /// Shortest time from the start of the first run to the end of the last. Default: 24h.
    pub(crate) span: Field<Duration>,
}

impl Written for Proof {
    fn expected() -> String {
        "a table such as { runs = 3, span = \"24h\" }".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        if !matches!(node.value, Value::Table(_)) {
            problems.push(wrong_type::<Self>(node, path));
            return None;
        }
        let mut table = TableReader::open(node, path.to_owned(), "", problems)?;
        let proof = Self { runs: table.field("runs", problems), span: table.field("span", problems) };
        table.finish(problems);
        Some(proof)
    }
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
        let wrong = if text.contains('/') {
            return Some(Self(text));
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

impl JsonSchema for Baseline {
    fn schema_name() -> Cow<'static, str> {
        "baseline".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let pattern = "^([A-Za-z0-9_-][A-Za-z0-9._-]*|[^\\x00-\\x1f\\x7f]*/[^\\x00-\\x1f\\x7f]*)$";
        json_schema!({ "type": "string", "pattern": pattern })
    }
}
