//! Sizes, rates, durations and percentages, with their units.
//!
//! Strict: MB is 10^6 and MiB is 2^20 (KB is kB), capital B is bytes and small b bits, a number without a unit or with
//! an ambiguous one is refused, and the error says what to write instead. Zero is refused too, as
//! [`UnitError::Zero`]: who accepts it matches on that.

mod error;
mod format;
mod number;
mod parse;

pub use error::{Quantity, UnitError};
pub use format::{counted_noun, format_bps, format_bytes, format_count, format_duration_ns, group_digits};
pub(crate) use format::{format_about_bytes, format_percent, format_seconds, format_short};
pub use parse::{parse_bytes, parse_duration_ns, parse_percent, parse_rate_bps};
