//! How feedline ends, for scripts and CI.

use std::fmt;
use std::process::ExitCode;

use analysis::{CellSummary, GateResult, Summary, Verdict};

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done. A verdict without a gate is no failure.
    Ok = 0,
    /// The run could not be made.
    Error = 1,
    /// The command line or the scenario is wrong.
    // clap's own code for a wrong command line.
    Usage = 2,
    /// A gated target does not meet its gate.
    GateMissed = 3,
    /// A gated metric is worse than before by more than its margin.
    Regressed = 4,
    /// With `--strict`: a gated target is UNCERTAIN, or a comparison cannot tell.
    Inconclusive = 5,
    /// A signal ended it; what was measured is kept.
    // 128 and the number of SIGINT, as shells report it.
    Interrupted = 130,
}

impl Exit {
    /// The code of a run that came to its end. The reasons are on the page that was printed.
    pub(crate) fn of_run(summary: &Summary, strict: bool) -> Self {
        if Self::of_measuring(summary) == Self::Error {
            return Self::Error;
        }
        match analysis::gate(summary) {
            GateResult::Missed(_) => Self::GateMissed,
            // After a gate that was missed, which is the more exact answer, and before one that is open.
            _ if summary.verdicts.iter().any(Verdict::has_failed) => Self::Error,
            GateResult::Inconclusive(_) if strict => Self::Inconclusive,
            GateResult::None | GateResult::Met | GateResult::Inconclusive(_) => Self::Ok,
        }
    }

    /// The code of what a run measured, whatever is judged of it: all there is of one of several processes, whose merged record is
    /// judged.
    pub(crate) fn of_measuring(summary: &Summary) -> Self {
        if summary.cells.iter().any(CellSummary::is_measured) { Self::Ok } else { Self::Error }
    }

    /// The code of a run that several gates decide: the lowest except 0. A gate that is missed is graver than a regression,
    /// and a regression than what cannot be decided.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Ok, code) | (code, Self::Ok) => code,
            (one, other) if (one as u8) <= other as u8 => one,
            (_, other) => other,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a verb ended without doing what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong command line or scenario; the text is complete.
    Usage(String),
    /// Anything else.
    Error(anyhow::Error),
    /// A signal came before there was anything to keep.
    Interrupted,
    /// Another process of the run, or this one, has said already why.
    Said(Exit),
}

impl Failure {
    /// A mistake of the user's, in words.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::Usage(message.to_string())
    }

    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Error(_) => Exit::Error,
            Self::Interrupted => Exit::Interrupted,
            Self::Said(exit) => *exit,
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// The error and its causes, without causes that its text repeats already.
fn chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said.as_str() {
        "" => cause,
        // Causes are often part of the message above them, and the same words three times hide the hint.
        text if text.contains(&cause) => said,
        text => format!("{text}: {cause}"),
    })
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => write!(f, "{message}"),
            Self::Error(error) => write!(f, "error: {}", chain(error)),
            Self::Said(_) => Ok(()),
            Self::Interrupted => write!(
                f,
                "interrupted before anything was measured; data that are written are kept, and the same command goes on with them"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_gates_the_graver_code_counts() {
        let [ok, missed, regressed, open] = [Exit::Ok, Exit::GateMissed, Exit::Regressed, Exit::Inconclusive];
        for (one, other, code) in
            [(ok, ok, ok), (ok, open, open), (missed, regressed, missed), (open, regressed, regressed)]
        {
            assert_eq!((one.or(other), other.or(one)), (code, code));
        }
    }
}
