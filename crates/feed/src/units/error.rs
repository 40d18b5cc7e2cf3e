//! What is wrong with a written quantity, and what to write instead.

use std::fmt;

/// What a text was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes.
    Size,
    /// Bytes per second.
    Rate,
    /// Nanoseconds.
    Duration,
    /// A share of one.
    Percentage,
}

impl Quantity {
    /// A text that parses.
    pub fn example(self) -> &'static str {
        match self {
            Self::Size => "128 KiB",
            Self::Rate => "2.5 GB/s",
            Self::Duration => "10s",
            Self::Percentage => "10 %",
        }
    }

    pub(super) fn largest(self) -> &'static str {
        match self {
            Self::Size => "18 EB",
            Self::Rate => "18 EB/s",
            Self::Duration => "213,000 d",
            Self::Percentage => "10^20 %",
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => "size",
            Self::Rate => "rate",
            Self::Duration => "duration",
            Self::Percentage => "percentage",
        })
    }
}

/// Why a text is not a quantity. Each message is one line that ends with what to write, so that it fits
/// into a diagnostic of the file that holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Nothing was written.
    #[error("an empty text is no {quantity}: write for example {}", quantity.example())]
    Empty {
        /// What was expected.
        quantity: Quantity,
    },
    /// There is no plain decimal number in front: `nan`, `inf`, `1e9 B`, `1.2.3 s`, `many`.
    #[error(
        "`{text}` does not start with a plain number (digits, at most 15 decimals): write for example {}",
        quantity.example()
    )]
    NotANumber {
        /// As written.
        text: String,
        /// What was expected.
        quantity: Quantity,
    },
    /// A comma that is not a thousands separator.
    #[error("`{text}` has a comma that does not group thousands: write {write}")]
    Comma {
        /// As written.
        text: String,
        /// What was probably meant.
        write: String,
    },
    /// Below zero.
    #[error("`{text}` is negative, and a {quantity} is above zero: write for example {}", quantity.example())]
    Negative {
        /// As written.
        text: String,
        /// What was expected.
        quantity: Quantity,
    },
    /// Zero.
    #[error("`{text}` is zero, and a {quantity} is above zero: write for example {}", quantity.example())]
    Zero {
        /// As written.
        text: String,
        /// What was expected.
        quantity: Quantity,
    },
    /// A number alone.
    #[error("`{text}` has no unit: write {write}")]
    NoUnit {
        /// As written.
        text: String,
        /// The same number with the likely units.
        write: String,
    },
    /// A unit that does not exist or could mean two things.
    #[error("`{unit}` in `{text}` is not a unit of a {quantity}: write {write}")]
    UnknownUnit {
        /// As written.
        text: String,
        /// The part taken for the unit.
        unit: String,
        /// What was expected.
        quantity: Quantity,
        /// The same number with the units that were probably meant.
        write: String,
    },
    /// A fraction of the smallest unit.
    #[error("`{text}` is not a whole number of {base}: write {write}")]
    NotWhole {
        /// As written.
        text: String,
        /// `bytes` or `nanoseconds`.
        base: &'static str,
        /// The next smaller and larger whole numbers.
        write: String,
    },
    /// More than 64 bits hold.
    #[error("`{text}` is too large: the largest {quantity} is {}", quantity.largest())]
    TooLarge {
        /// As written.
        text: String,
        /// What was expected.
        quantity: Quantity,
    },
}
