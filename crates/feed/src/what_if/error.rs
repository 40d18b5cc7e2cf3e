//! Why a question has no answer.

/// What is wrong with the figures of a question.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WhatIfError {
    /// Zero, negative, or not a finite number.
    #[error(
        "{name} is {value}, and the arithmetic takes a number above zero\n  hint: state what is really there"
    )]
    NotAboveZero {
        /// What the figure is of.
        name: &'static str,
        /// Its value, in bytes and seconds.
        value: f64,
    },
    /// No share of one.
    #[error("{name} is {value}, which is no share of the whole\n  hint: write for example 0.9 or \"90 %\"")]
    NotAShare {
        /// What the figure is of.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Figures that exclude each other.
    #[error("impossible: {why}\n  hint: {hint}")]
    Impossible {
        /// The arithmetic that shows it.
        why: String,
        /// What would make it possible.
        hint: String,
    },
}

/// Refuses figures that no arithmetic bears.
pub(super) fn above_zero(figures: &[(&'static str, f64)]) -> Result<(), WhatIfError> {
    match figures.iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
        Some(&(name, value)) => Err(WhatIfError::NotAboveZero { name, value }),
        None => Ok(()),
    }
}

/// Refuses what is no share above zero and at most one.
pub(super) fn a_share(name: &'static str, value: f64) -> Result<(), WhatIfError> {
    // NaN is in no range.
    if value > 0.0 && value <= 1.0 { Ok(()) } else { Err(WhatIfError::NotAShare { name, value }) }
}
