//! The need on the command line.

use super::NeedSpec;
use super::error::{COUNT_MAX, NeedError};
use crate::units::parse_rate_bps;

impl NeedSpec {
    /// Reads the short form of the command line: `8xh100:resnet50`, `h100:resnet50` for one accelerator, or
    /// a rate such as `2.5 GB/s`.
    ///
    /// # Errors
    /// [`NeedError`] when the text has neither form; names are checked by [`NeedSpec::resolve`].
    pub fn parse_short(text: &str) -> Result<Self, NeedError> {
        parse(text)
    }
}

fn parse(text: &str) -> Result<NeedSpec, NeedError> {
    let text = text.trim();
    if is_rate(text) {
        return Ok(NeedSpec::Rate { bytes_per_s: parse_rate_bps(text)?, utilization: None });
    }
    // The text may come from a pipe or a copied page; control characters in it must not reach the terminal.
    let shape = || NeedError::Shape { text: text.escape_debug().to_string() };
    let (counted, workload) = text.split_once(':').ok_or_else(shape)?;
    let (count, accelerator) = split_count(counted.trim()).ok_or_else(shape)?;
    let workload = workload.trim();
    if !is_name(accelerator) || !is_name(workload) {
        return Err(shape());
    }
    Ok(NeedSpec::Profile {
        workload: workload.to_owned(),
        accelerator: accelerator.to_owned(),
        count: parse_count(count)?,
        // Several hosts need the table form, where it also says whether a verdict is about one host or all.
        hosts: 1,
        utilization: None,
    })
}

/// Whether a rate was meant; `2.5 GB` counts, so that the error can say what is missing.
// A digit in front decides, since no accelerator begins with one. `x`, its typographic form and `:` belong
// to counts and workloads alone.
fn is_rate(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && !text.contains([':', 'x', '\u{d7}'])
}

/// `8 x h100` into `8` and `h100`; a name alone counts once.
fn split_count(counted: &str) -> Option<(&str, &str)> {
    let digits = counted.find(|c: char| !c.is_ascii_digit()).unwrap_or(counted.len());
    if digits == 0 {
        return Some(("1", counted));
    }
    let (count, rest) = counted.split_at(digits);
    // "8h100" is refused: whether it is eight of them or a name that begins with a digit is a guess.
    let accelerator = rest.trim_start().strip_prefix(['x', '\u{d7}'])?;
    Some((count, accelerator.trim_start()))
}

fn parse_count(count: &str) -> Result<u32, NeedError> {
    match count.parse() {
        Ok(count) if (1..=COUNT_MAX).contains(&count) => Ok(count),
        _ => Err(NeedError::Count { count: count.to_owned() }),
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.')
}
