//! The scalars a scenario can hold: text, sizes, rates, durations, numbers.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::reader::{Plain, Written, wrong_type};

/// Gives a type that is no table its schema, under a name that no other type has there. `A | B` is the schema of what may be
/// written in the way of either.
macro_rules! schema {
    ($type:ty, $name:literal, |$generator:ident| $schema:tt) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
    ($type:ty, $name:literal, $schema:tt) => {
        schema!($type, $name, |_generator| $schema);
    };
    ($type:ty, $name:literal, $one:ty | $other:ty) => {
        schema!($type, $name, |generator| {
            "anyOf": [<$one>::json_schema(generator), <$other>::json_schema(generator)]
        });
    };
}

pub(crate) use schema;

/// What a value is to whoever resolves it.
macro_rules! plain {
    ($($type:ident: $plain:ty),+ $(,)?) => {
        $(impl Plain<$plain> for $type {
            fn plain(&self) -> $plain {
                self.0.clone()
            }
        })+
    };
}

plain!(
    Text: String, Endpoint: String, Size: u64, Duration: u64, Pause: u64, Rate: f64, Number: f64, Fraction: f64,
    Share: f64, Amount: f64, Flag: bool,
);

/// A number as `feed` reads it, for the patterns below.
// Patterns are for editors alone: they accept a little more than the reader, which says what is wrong in
// words.
macro_rules! number_and {
    ($units:literal) => {
        concat!(r"^\s*[0-9][0-9,]*(\.[0-9]+)?\s*", $units, r"\s*$")
    };
}

const SIZE_PATTERN: &str = number_and!("(B|[kKMGTPE]B|[KMGTPE]iB)");
pub(crate) const RATE_PATTERN: &str = number_and!("([kKMGTPE]?B|[KMGTPE]iB|[kKMGT]?b|[kKMGT]?bit)/s");
pub(crate) const PERCENT_PATTERN: &str = number_and!("%");
const DURATION_PATTERN: &str = number_and!("(ns|us|µs|ms|s|m|min|h|d)");

/// Words for people: not empty, one line, nothing a terminal would obey.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text(pub(crate) String);

schema!(Text, "text", { "type": "string", "pattern": "^[^\\x00-\\x1f\\x7f]+$" });

impl Written for Text {
    fn expected() -> String {
        "text in quotes".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Value::String(text) = &node.value else {
            problems.push(wrong_type::<Self>(node, path));
            return None;
        };
        let wrong = if text.trim().is_empty() {
            "this is empty"
        } else if text.contains(char::is_control) {
            "this has a line break or another control character"
        } else {
            return Some(Self(text.clone()));
        };
        problems.push(Problem::new(format!("`{path}` takes one line of text")).at(node.span, wrong));
        None
    }
}

/// A quantity above zero, written as a number with its unit. A bare number is told the smallest unit.
macro_rules! above_zero {
    ($(#[$doc:meta])* $type:ident($plain:ty), $name:literal, $pattern:ident, $unit:literal, $parse:path, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub(crate) struct $type(pub(crate) $plain);

        schema!($type, $name, { "type": "string", "pattern": $pattern });

        impl Written for $type {
            fn expected() -> String {
                $expected.to_owned()
            }

            fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
                quantity::<Self, _>(node, path, $unit, $parse, problems).map(Self)
            }
        }
    };
}

above_zero!(
    /// A number of bytes, more than zero.
    Size(u64), "size", SIZE_PATTERN, "B", feed::parse_bytes, "a size such as \"128 KiB\" or \"1.5 GB\""
);

above_zero!(
    /// Bytes per second, more than zero.
    Rate(f64), "rate", RATE_PATTERN, "B/s", feed::parse_rate_bps, "a rate such as \"2.5 GB/s\" (bytes) or \"25 Gb/s\" (bits)"
);

above_zero!(
    /// Nanoseconds, more than zero.
    Duration(u64), "duration", DURATION_PATTERN, "s", feed::parse_duration_ns, "a duration such as \"10s\", \"250ms\" or \"30m\""
);

/// Nanoseconds; zero is a choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pause(pub(crate) u64);

schema!(Pause, "pause", { "type": "string", "pattern": DURATION_PATTERN });

impl Written for Pause {
    fn expected() -> String {
        "a duration such as \"2s\", \"250ms\" or \"0s\"".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let or_zero = |text: &str| match feed::parse_duration_ns(text) {
            // Zero needs no unit that fits: "0s" and "0ms" are the same.
            Err(feed::UnitError::Zero { .. }) => Ok(0),
            parsed => parsed,
        };
        quantity::<Self, _>(node, path, "s", or_zero, problems).map(Self)
    }
}

/// A whole number within bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Whole<const MIN: u64, const MAX: u64>(pub(crate) u64);

impl<const MIN: u64, const MAX: u64> JsonSchema for Whole<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("whole_{MIN}_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

impl<const MIN: u64, const MAX: u64> Written for Whole<MIN, MAX> {
    fn expected() -> String {
        if MIN == MAX {
            return format!("the number {MIN}");
        }
        format!("a whole number from {} to {}", feed::group_digits(MIN), feed::group_digits(MAX))
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Value::Integer { digits, radix } = &node.value else {
            problems.push(unquoted(wrong_type::<Self>(node, path), node));
            return None;
        };
        // 128 bits, so that a number beyond 64 is called too large and not unreadable.
        let number = i128::from_str_radix(digits, *radix).ok();
        let within = number.and_then(|number| u64::try_from(number).ok()).filter(|n| (MIN..=MAX).contains(n));
        if within.is_none() {
            let wrong = match number {
                Some(number) if number < i128::from(MIN) => "this is too small",
                _ => "this is too large",
            };
            let message = format!("`{path}` takes {}", Self::expected());
            problems.push(Problem::new(message).at(node.span, wrong));
        }
        within.map(Self)
    }
}

impl<const MIN: u64, const MAX: u64> Plain<u64> for Whole<MIN, MAX> {
    fn plain(&self) -> u64 {
        self.0
    }
}

impl<const MIN: u64, const MAX: u64> Plain<u32> for Whole<MIN, MAX> {
    fn plain(&self) -> u32 {
        // At compile time: a bound that is raised beyond 32 bits would otherwise cut numbers in silence.
        const { assert!(MAX <= u32::MAX as u64, "more than a number of the plan holds") };
        self.0 as u32
    }
}

/// A number that counts things: at least one, and no more than anybody has of them.
// A thousand million: more batches or files than anybody has, and a message that says so in place of an
// overflow further on.
pub(crate) type Count = Whole<1, 1_000_000_000>;

/// A seed; the bound is that of TOML's integers.
pub(crate) type Seed = Whole<0, { i64::MAX as u64 }>;

/// A number, more than zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number(pub(crate) f64);

schema!(Number, "number", { "type": "number", "exclusiveMinimum": 0 });

impl Written for Number {
    fn expected() -> String {
        "a number above zero, e.g. 2e6".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let number = number::<Self>(node, path, problems)?;
        if number <= 0.0 {
            let problem = Problem::new(format!("`{path}` takes {}", Self::expected()));
            problems.push(problem.at(node.span, "this is not above zero"));
            return None;
        }
        Some(Self(number))
    }
}

/// A share of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fraction(pub(crate) f64);

schema!(Fraction, "fraction", { "type": "number", "exclusiveMinimum": 0, "maximum": 1 });

impl Written for Fraction {
    fn expected() -> String {
        "a number above 0 and up to 1, e.g. 0.9".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let number = number::<Self>(node, path, problems)?;
        if number > 0.0 && number <= 1.0 {
            return Some(Self(number));
        }
        let mut problem =
            Problem::new(format!("`{path}` takes {}", Self::expected())).at(node.span, "this is outside");
        // 95 is written for 95 % more often than for a utilization of 95.
        if number > 1.0 && number <= 100.0 {
            problem = problem.help(format!("{number} % is written {}", number / 100.0));
        }
        problems.push(problem);
        None
    }
}

/// A number from zero to `MAX`, which may be infinite: written with what it may be.
macro_rules! from_zero {
    ($(#[$doc:meta])* $type:ident, $name:literal, $max:expr, $schema:tt, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub(crate) struct $type(pub(crate) f64);

        schema!($type, $name, $schema);

        impl Written for $type {
            fn expected() -> String {
                $expected.to_owned()
            }

            fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
                let number = number::<Self>(node, path, problems)?;
                if (0.0..=$max).contains(&number) {
                    return Some(Self(number));
                }
                let problem = Problem::new(format!("`{path}` takes {}", Self::expected()));
                problems.push(problem.at(node.span, "this is outside"));
                None
            }
        }
    };
}

from_zero!(
    /// A share of requests; none is a choice.
    Share, "share", 1.0, { "type": "number", "minimum": 0, "maximum": 1 }, "a number from 0 to 1, e.g. 0.01"
);
from_zero!(
    /// An amount of money; nothing is a choice.
    Amount, "amount", f64::MAX, { "type": "number", "minimum": 0 }, "an amount such as 0.0004"
);

/// A base URL.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Endpoint(pub(crate) String);

schema!(Endpoint, "endpoint", {
    "type": "string", "pattern": "^https?://[^\\s/?#@%]+(/[^\\s?#@%]*)?$"
});

impl Written for Endpoint {
    fn expected() -> String {
        "a URL such as \"https://s3.example.com:9000\"".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Value::String(text) = &node.value else {
            problems.push(wrong_type::<Self>(node, path));
            return None;
        };
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let wrong = match rest {
            None => "begins with https:// or http://",
            // A scenario is committed and shared; keys in it would be too.
            Some(rest) if rest.contains('@') => "holds no user and no keys: those come from the environment",
            Some(rest) if rest.is_empty() || rest.starts_with('/') => "which host?",
            Some(rest)
                if rest.contains(|c: char| "?#%".contains(c) || c.is_whitespace() || c.is_control()) =>
            {
                "has no options, and nothing to decode"
            }
            // `https://host/` and `https://host` are one endpoint, and one baseline.
            Some(_) => return Some(Self(text.trim_end_matches('/').to_owned())),
        };
        problems.push(Problem::new(format!("`{path}` takes {}", Self::expected())).at(node.span, wrong));
        None
    }
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Flag(pub(crate) bool);

schema!(Flag, "flag", { "type": "boolean" });

impl Written for Flag {
    fn expected() -> String {
        "true or false".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        if let Value::Boolean(flag) = node.value {
            return Some(Self(flag));
        }
        problems.push(wrong_type::<Self>(node, path));
        None
    }
}

/// A quoted number with a unit. A bare number is told how to carry `unit`, the smallest one.
pub(crate) fn quantity<T: Written, Q>(
    node: &Node,
    path: &str,
    unit: &str,
    parse: impl Fn(&str) -> Result<Q, feed::UnitError>,
    problems: &mut Problems,
) -> Option<Q> {
    let problem = match &node.value {
        Value::String(text) => match parse(text) {
            Ok(quantity) => return Some(quantity),
            Err(error) => {
                Problem::new(format!("`{path}` takes {}", T::expected())).at(node.span, error.to_string())
            }
        },
        // A bare number is refused and not taken for bytes or seconds: GB and GiB differ by 7 %, and nobody
        // sees afterwards which was meant.
        Value::Integer { digits, radix: 10 } | Value::Float(digits) if !digits.starts_with('-') => {
            wrong_type::<T>(node, path).help(format!("with its unit: \"{digits} {unit}\""))
        }
        _ => wrong_type::<T>(node, path),
    };
    problems.push(problem);
    None
}

/// Splits the text of an error into what went wrong and what to do about it.
pub(crate) fn split_hint(text: &str) -> (String, Option<String>) {
    // Errors of other crates end with a hint by convention; a diagnostic has a place of its own for it.
    match text.split_once("hint:") {
        Some((cause, hint)) => (cause.trim().to_owned(), Some(hint.trim().to_owned())),
        None => (text.trim().to_owned(), None),
    }
}

fn number<T: Written>(node: &Node, path: &str, problems: &mut Problems) -> Option<f64> {
    let number = match &node.value {
        Value::Integer { digits, radix } => i128::from_str_radix(digits, *radix).ok().map(|n| n as f64),
        Value::Float(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => {
            problems.push(unquoted(wrong_type::<T>(node, path), node));
            return None;
        }
    };
    if number.is_none() {
        let problem = Problem::new(format!("`{path}` takes {}", T::expected()));
        problems.push(problem.at(node.span, "this is not a finite number"));
    }
    number
}

fn unquoted(problem: Problem, node: &Node) -> Problem {
    match &node.value {
        Value::String(text) if text.trim().parse::<f64>().is_ok() => {
            problem.help(format!("without the quotes: {}", text.trim()))
        }
        _ => problem,
    }
}
