//! Shares that are written as percentages.

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::reader::{Plain, Written, wrong_type};
use crate::value::{Fraction, PERCENT_PATTERN, quantity, schema};

/// More than nothing, at most all of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Percentage(pub(crate) f64);

schema!(Percentage, "percentage", { "type": "string", "pattern": PERCENT_PATTERN });

impl Written for Percentage {
    fn expected() -> String {
        "a percentage above 0 and up to 100, e.g. \"10 %\"".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        // 0.1 may be a tenth or a tenth of a percent. It is refused with the percentage that it would be,
        // and not read.
        if let Some(number) = share_in_digits(&node.value) {
            let written = format!("\"{} %\"", (number * 1e4).round() / 100.0);
            problems
                .push(wrong_type::<Self>(node, path).help(format!("{number} as a percentage: {written}")));
            return None;
        }
        let share = quantity::<Self, _>(node, path, "%", feed::parse_percent, problems)?;
        if share <= 1.0 {
            return Some(Self(share));
        }
        let problem = Problem::new(format!("`{path}` takes {}", Self::expected()));
        problems.push(problem.at(node.span, "this is more than all of it"));
        None
    }
}

/// Whole percents of something, from none of it to all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WholePercent(pub(crate) u8);

schema!(WholePercent, "whole_percent", { "type": "string", "pattern": r"^\s*[0-9]{1,3}(\.0+)?\s*%\s*$" });

impl Written for WholePercent {
    fn expected() -> String {
        "whole percents from 0 to 100, e.g. \"50 %\"".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        whole::<Self>(node, path, problems).map(Self)
    }
}

impl Plain<u8> for WholePercent {
    fn plain(&self) -> u8 {
        self.0
    }
}

/// Whole percents of something of which the rest is something else: neither none of it nor all. Both are read, for the table
/// says what to write instead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PartPercent(pub(crate) u8);

schema!(PartPercent, "part_percent", { "type": "string", "pattern": r"^\s*[1-9][0-9]?(\.0+)?\s*%\s*$" });

impl Written for PartPercent {
    fn expected() -> String {
        "whole percents from 1 to 99, e.g. \"30 %\"".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        whole::<Self>(node, path, problems).map(Self)
    }
}

impl Plain<u8> for PartPercent {
    fn plain(&self) -> u8 {
        self.0
    }
}

/// Whole percents, from none to all.
fn whole<T: Written>(node: &Node, path: &str, problems: &mut Problems) -> Option<u8> {
    // As of other percentages; a fraction of a percent would be refused again.
    if let Some(number) = share_in_digits(&node.value) {
        let percents = (number * 1e4).round() / 100.0;
        let written = if is_whole(percents) {
            format!("{number} as a percentage: \"{percents} %\"")
        } else {
            format!("{number} as a percentage is {percents} %; write a whole one")
        };
        problems.push(wrong_type::<T>(node, path).help(written));
        return None;
    }
    let or_zero = |text: &str| match feed::parse_percent(text) {
        Err(feed::UnitError::Zero { .. }) => Ok(0.0),
        parsed => parsed,
    };
    let percents = quantity::<T, _>(node, path, "%", or_zero, problems)? * 100.0;
    let wrong = match percents {
        percents if percents > 100.0 => "this is more than all of it",
        percents if !is_whole(percents) => "this has a fraction",
        _ => return Some(percents.round() as u8),
    };
    problems.push(Problem::new(format!("`{path}` takes {}", T::expected())).at(node.span, wrong));
    None
}

fn is_whole(percents: f64) -> bool {
    // 0.29 x 100 is 28.999999999999996 in binary.
    (percents - percents.round()).abs() <= 1e-9
}

/// A number that is meant as a share of one, not as percents.
fn share_in_digits(value: &Value) -> Option<f64> {
    let Value::Float(digits) = value else { return None };
    digits.parse().ok().filter(|number| (0.0..=1.0).contains(number))
}

/// A utilization, as a number or as a percentage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Utilization(pub(crate) f64);

schema!(Utilization, "utilization", Fraction | Percentage);

// Both forms, because the field uses both: MLPerf's files write 0.90, its rules 90 %.
impl Written for Utilization {
    fn expected() -> String {
        "a number above 0 and up to 1, or a percentage, e.g. 0.95 or \"95 %\"".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match node.value {
            Value::String(_) => Percentage::read(node, path, problems).map(|share| Self(share.0)),
            _ => Fraction::read(node, path, problems).map(|share| Self(share.0)),
        }
    }
}
