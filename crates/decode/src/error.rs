//! Why a sample could not be decoded.

/// Why a sample could not be decoded, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The sample is empty.
    #[error("cannot decode an empty sample; write the dataset again, or leave empty objects out of it")]
    Empty,
    /// The sample does not begin like its format.
    #[error("the sample is not {format}: {reason}; choose the decode work that the dataset was written for")]
    Foreign {
        /// The format that was expected.
        format: &'static str,
        /// How its first bytes differ.
        reason: String,
    },
    /// The sample ends before its format says so.
    #[error("the {format} sample is cut off; compare its size with the original and write it again")]
    Truncated {
        /// The format.
        format: &'static str,
    },
    /// Bytes follow the end of the data.
    #[error(
        "{trailing_bytes} bytes follow the end of the {format} data; store one sample in each object, without padding"
    )]
    Trailing {
        /// The format.
        format: &'static str,
        /// Bytes after the end.
        trailing_bytes: u64,
    },
    /// What came out is not what was put in.
    #[error(
        "the {format} sample is damaged: its {what} is {stored:#x}, its data have {found:#x}; \
         check the storage, and write it again"
    )]
    Mismatch {
        /// The format.
        format: &'static str,
        /// What was compared.
        what: &'static str,
        /// The value in the sample.
        stored: u64,
        /// The value of the data that came out.
        found: u64,
    },
    /// The bytes break the rules of their format.
    #[error("the {format} sample is damaged: {reason}; check the storage, and write it again")]
    Malformed {
        /// The format.
        format: &'static str,
        /// The rule, in the decoder's words.
        reason: String,
    },
    /// A sound sample that uses what this decoder lacks.
    #[error("the {format} sample needs what is not supported: {reason}; write it again without that")]
    Unsupported {
        /// The format.
        format: &'static str,
        /// What it needs.
        reason: String,
    },
    /// More comes out than a sample may hold.
    #[error(
        "the {format} sample would become more than {limit_bytes} bytes, the limit for one of its size; \
         split it, or take it out if it is not yours"
    )]
    TooLarge {
        /// The format.
        format: &'static str,
        /// What may come out of a sample of this size.
        limit_bytes: u64,
    },
}
