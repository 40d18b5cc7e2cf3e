//! The error of damaged JPEG data.

use crate::error::DecodeError;

pub(super) const FORMAT: &str = "JPEG";

pub(super) fn malformed(reason: &str) -> DecodeError {
    DecodeError::Malformed { format: FORMAT, reason: reason.trim_end().to_owned() }
}
