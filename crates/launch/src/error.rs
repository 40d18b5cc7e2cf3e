//! What can go wrong before processes meet, and when they do.

use std::path::PathBuf;

/// Why the environment does not say which process this is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// A variable of a launcher holds no number.
    #[error(
        "the launcher's variable {name} holds `{value}` instead of a number\n  hint: unset it where no launcher set it"
    )]
    NoNumber {
        /// Its name.
        name: &'static str,
        /// What it holds.
        value: String,
    },
    /// Two sources of one figure differ.
    #[error(
        "{one} and {other} contradict each other: the processes would not measure together, and each would call its part the \
         whole\n  hint: start feedline by one launcher alone, and let its processes be as many as the job's"
    )]
    Contradiction {
        /// What one says: `OMPI_COMM_WORLD_SIZE=1`.
        one: String,
        /// What the other says.
        other: String,
    },
    /// A rank that is none of those that there are.
    #[error("{one} is none of the processes that {other} counts from 0\n  hint: unset what no launcher set")]
    BeyondSize {
        /// The rank.
        one: String,
        /// The size.
        other: String,
    },
}

/// Why processes do not meet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The executable is linked statically.
    #[error(
        "this feedline is linked statically and cannot open libpmix, through which the processes of a launcher meet\n  hint: \
         install the wheel or the deb, or start it with --rank, --ranks and --start-at and `feedline merge` the records"
    )]
    Static,
    /// The library cannot be opened.
    #[error(
        "cannot open PMIx's library ({tried}): {cause}\n  hint: install libpmix2, or name the launcher's own with --pmix \
         /path/to/libpmix.so.2"
    )]
    Library {
        /// Where it was looked for.
        tried: String,
        /// What the loader says.
        cause: String,
    },
    /// The library lacks a function.
    #[error("`{}` has no function {name}\n  hint: name a libpmix of version 3 or later with --pmix", library.display())]
    Function {
        /// The library.
        library: PathBuf,
        /// The function.
        name: &'static str,
    },
    /// A call failed.
    #[error(
        "{call} of PMIx failed: {cause}\n  hint: look at what the launcher said; its processes may have ended already"
    )]
    Call {
        /// Which.
        call: &'static str,
        /// PMIx's word for it.
        cause: String,
    },
    /// What another process gave does not arrive.
    #[error(
        "what rank {rank} gave does not arrive: {cause}\n  hint: look at what the launcher said; its processes may have ended \
         already"
    )]
    NotThere {
        /// Who gave it.
        rank: u32,
        /// Why.
        cause: String,
    },
    /// The launcher and its variables count different numbers of processes.
    #[error(
        "the launcher's variables count {stated} processes and PMIx counts {met}: they would not measure together, and each \
         would call its part the whole\n  hint: let --pmix name the library of the launcher that started them"
    )]
    OtherSize {
        /// By the environment.
        stated: u32,
        /// By PMIx.
        met: u32,
    },
}
