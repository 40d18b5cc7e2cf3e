//! `emulate` as written: a server that feedline starts, and what it is to be like.

use std::borrow::Cow;

use plan::{Delay, Emulation, Faults};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::reader::{Field, TableReader, Written, wrong_type};
use crate::value::{Duration, Number, Rate, Seed, Share};

/// A server on this machine in place of the one at the address. Everything that is not asked for is left as fast as
/// it goes.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct Emulate {
    /// What the other keys start from: s3-like (AWS's own figures), nfs-1gbe-like (a link of 1 Gb/s) or hdd-like (one
    /// rotating disk). Default: none, as fast as it goes.
    pub(crate) profile: Field<Profile>,
    /// From a request to the first byte of its data: a duration, or a table of two.
    pub(crate) first_byte: Field<Wait>,
    /// From a request for names or attributes to its reply: a duration, or a table of two.
    pub(crate) metadata: Field<Wait>,
    /// Requests a second that one prefix (S3) or the server (NFS) takes; those beyond are refused at once.
    pub(crate) requests_per_second: Field<Number>,
    /// What one connection gets, at most.
    pub(crate) connection_rate: Field<Rate>,
    /// What all connections get together, at most.
    pub(crate) total_rate: Field<Rate>,
    /// A head that moves: time of a move, before each read that does not follow the one before it. Reads are then
    /// served one at a time.
    pub(crate) seek: Field<Duration>,
    /// Shares of requests that end badly. Default: none.
    pub(crate) faults: Field<FaultsTable>,
    /// Seed of every draw. Default: 0.
    pub(crate) seed: Field<Seed>,
}

impl Written for Emulate {
    fn expected() -> String {
        "a table such as { profile = \"s3-like\" }".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let mut table = TableReader::open(node, path.to_owned(), &Self::expected(), problems)?;
        let emulate = Self {
            profile: table.field("profile", problems),
            first_byte: table.field("first_byte", problems),
            metadata: table.field("metadata", problems),
            requests_per_second: table.field("requests_per_second", problems),
            connection_rate: table.field("connection_rate", problems),
            total_rate: table.field("total_rate", problems),
            seek: table.field("seek", problems),
            faults: table.field("faults", problems),
            seed: table.field("seed", problems),
        };
        table.finish(problems);
        Some(emulate)
    }
}

impl Emulate {
    /// In plain types, what is written over what the profile says; `None` when something in it was wrong.
    pub(crate) fn resolved(&self) -> Option<Emulation> {
        let base = match &self.profile {
            Field::Wrong(_) => return None,
            profile => profile.given().and_then(|profile| plan::profile(profile.value.0)),
        };
        let base = base.unwrap_or_default();
        Some(Emulation {
            profile: base.profile,
            seed: self.seed.value_or(base.seed)?,
            first_byte: over(&self.first_byte, base.first_byte, |wait| wait.0)?,
            metadata: over(&self.metadata, base.metadata, |wait| wait.0)?,
            requests_per_s: over(&self.requests_per_second, base.requests_per_s, |number| number.0)?,
            connection_bps: over(&self.connection_rate, base.connection_bps, |rate| rate.0)?,
            total_bps: over(&self.total_rate, base.total_bps, |rate| rate.0)?,
            seek_ns: over(&self.seek, base.seek_ns, |seek| seek.0)?,
            faults: match &self.faults {
                Field::Absent => base.faults,
                Field::Wrong(_) => return None,
                Field::Given(faults) => faults.value.resolved()?,
            },
        })
    }
}

/// What was written, else what the profile says; `None` when it was wrong.
#[expect(clippy::option_option, reason = "absent and wrong differ")]
fn over<T, U>(field: &Field<T>, base: Option<U>, value: impl Fn(&T) -> U) -> Option<Option<U>> {
    match field {
        Field::Absent => Some(base),
        Field::Wrong(_) => None,
        Field::Given(entry) => Some(Some(value(&entry.value))),
    }
}

/// Name of a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Profile(&'static str);

impl Profile {
    fn names() -> Vec<&'static str> {
        plan::profiles().iter().map(|profile| profile.name).collect()
    }
}

impl Written for Profile {
    fn expected() -> String {
        format!("one of \"{}\"", Self::names().join("\", \""))
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Value::String(text) = &node.value else {
            problems.push(wrong_type::<Self>(node, path));
            return None;
        };
        let found = Self::names().into_iter().find(|name| name == text);
        if found.is_none() {
            let problem = Problem::new(format!("`{path}` takes {}", Self::expected()));
            problems.push(problem.at(node.span, "no profile has this name"));
        }
        found.map(Self)
    }
}

impl JsonSchema for Profile {
    fn schema_name() -> Cow<'static, str> {
        "emulation_profile".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": Self::names() })
    }
}

/// How long a reply takes: always as long, any length between two, or skewed as a service's are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wait(pub(crate) Delay);

impl Written for Wait {
    fn expected() -> String {
        "a duration such as \"20ms\", { from = \"10ms\", to = \"30ms\" } or { p50 = \"20ms\", p99 = \"90ms\" }".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::String(_) => {
                Duration::read(node, path, problems).map(|Duration(ns)| Self(Delay::Constant { ns }))
            }
            Value::Table(_) => {
                let mut table = TableReader::open(node, path.to_owned(), "", problems)?;
                let between = Between {
                    from: table.field("from", problems),
                    to: table.field("to", problems),
                    p50: table.field("p50", problems),
                    p99: table.field("p99", problems),
                };
                table.finish(problems);
                between.delay(node, path, problems).map(Self)
            }
            _ => {
                problems.push(wrong_type::<Self>(node, path));
                None
            }
        }
    }
}

impl JsonSchema for Wait {
    fn schema_name() -> Cow<'static, str> {
        "wait".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (constant, between) = (Duration::json_schema(generator), Between::json_schema(generator));
        json_schema!({ "anyOf": [constant, between] })
    }
}

/// A spread of lengths, by its ends or by two of its percentiles.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["from", "to"] }, { "required": ["p50", "p99"] }]))]
struct Between {
    /// The shortest; with `to`, any length between the two is equally likely.
    from: Field<Duration>,
    /// The longest.
    to: Field<Duration>,
    /// Median; with `p99`, the lengths are lognormal.
    p50: Field<Duration>,
    /// 99th percentile, no less than the median.
    p99: Field<Duration>,
}

impl Between {
    fn delay(&self, node: &Node, path: &str, problems: &mut Problems) -> Option<Delay> {
        let Self { from, to, p50, p99 } = self;
        if [from, to, p50, p99].iter().any(|field| matches!(field, Field::Wrong(_))) {
            return None;
        }
        let ns = |field: &Field<Duration>| field.given().map(|entry| entry.value.0);
        let (delay, low, high) = match [ns(from), ns(to), ns(p50), ns(p99)] {
            [Some(from_ns), Some(to_ns), None, None] => (Delay::Uniform { from_ns, to_ns }, from_ns, to_ns),
            [None, None, Some(p50_ns), Some(p99_ns)] => (Delay::LogNormal { p50_ns, p99_ns }, p50_ns, p99_ns),
            _ => {
                let problem = Problem::new(format!("`{path}` takes {}", Wait::expected()));
                problems.push(problem.at(node.span, "takes `from` and `to`, or `p50` and `p99`"));
                return None;
            }
        };
        if low > high {
            let problem = Problem::new(format!("`{path}` ends before it begins"));
            problems.push(problem.at(node.span, "write the smaller one first"));
        }
        (low <= high).then_some(delay)
    }
}

/// Shares of requests, 0 to 1, that end badly; at most one befalls a request.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct FaultsTable {
    /// The connection is reset in the middle of the data.
    reset: Field<Share>,
    /// 500 InternalError, or NFS3ERR_SERVERFAULT.
    server_error: Field<Share>,
    /// No answer for two minutes.
    stall: Field<Share>,
    /// The body ends before its length (S3), or a read answers fewer bytes than it says (NFS).
    truncated: Field<Share>,
    /// 503 SlowDown, or NFS3ERR_JUKEBOX.
    slow_down: Field<Share>,
    /// 404 NoSuchKey, or NFS3ERR_STALE.
    stale: Field<Share>,
}

impl Written for FaultsTable {
    fn expected() -> String {
        "a table such as { reset = 0.01, slow_down = 0.02 }".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let mut table = TableReader::open(node, path.to_owned(), &Self::expected(), problems)?;
        let faults = Self {
            reset: table.field("reset", problems),
            server_error: table.field("server_error", problems),
            stall: table.field("stall", problems),
            truncated: table.field("truncated", problems),
            slow_down: table.field("slow_down", problems),
            stale: table.field("stale", problems),
        };
        table.finish(problems);
        let total = faults.resolved().map_or(0.0, |faults| {
            faults.reset
                + faults.server_error
                + faults.stall
                + faults.truncated
                + faults.slow_down
                + faults.stale
        });
        if total > 1.0 {
            let problem = Problem::new(format!("the shares of `{path}` come to more than 1"));
            problems.push(problem.at(node.span, "one fault befalls a request, at most"));
            return None;
        }
        Some(faults)
    }
}

impl FaultsTable {
    fn resolved(&self) -> Option<Faults> {
        Some(Faults {
            reset: self.reset.value_or(0.0)?,
            server_error: self.server_error.value_or(0.0)?,
            stall: self.stall.value_or(0.0)?,
            truncated: self.truncated.value_or(0.0)?,
            slow_down: self.slow_down.value_or(0.0)?,
            stale: self.stale.value_or(0.0)?,
        })
    }
}
