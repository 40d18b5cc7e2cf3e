//! A claim, and what is known of it.

use super::sources;

/// Folder under which the scenario of a claim is named on a command line, `claims/c03`.
pub(super) const FOLDER: &str = "claims/";

/// A number that articles about feeding accelerators give.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    /// Its number in the project's collection.
    pub(crate) id: &'static str,
    /// What is said.
    pub(crate) says: &'static str,
    /// Whether it holds.
    pub(crate) stands: Stands,
    /// What follows from it, or was measured.
    pub(crate) known: &'static str,
    /// The formula, or its number.
    pub(crate) formula: &'static str,
    /// How anyone settles it.
    pub(crate) settled: Settled,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// As it is said.
    Holds,
    /// Under a condition that it leaves out.
    HoldsIf(&'static str),
    /// Not as it is said.
    DoesNotHold,
    /// Not on the machine of the book's record.
    NotHere,
    /// Nobody can tell without this.
    Without(&'static str),
}

/// How a claim is settled.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Settled {
    /// By a run of this scenario.
    Run(&'static Scenario),
    /// By runs of these, of which each has one cause.
    Each(&'static [Scenario]),
    /// By arithmetic: words of a command line, and what its answer must show.
    Sum {
        /// The words behind `feedline`, as a shell takes them.
        words: &'static str,
        /// The figure.
        shows: &'static str,
    },
    /// By equations that anyone can check, `2048 / 5000 = 0.41`, parted by `; `.
    ByHand(&'static str),
    /// By what only its owner has; what to do there.
    OnOnesOwn(&'static str),
}

/// A scenario that comes with the executable.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// Its file, below the folder of scenarios.
    pub(crate) file: &'static str,
    /// What stands in it.
    pub(crate) text: &'static str,
}

impl Scenario {
    /// As it is named on a command line: its path without its ending.
    pub(crate) fn name(&self) -> &'static str {
        self.file.strip_suffix(".toml").unwrap_or(self.file)
    }
}

impl Claim {
    /// Where it is made: the articles, by their numbers in the project's collection, and the lines of their texts.
    pub(crate) fn source(&self) -> &'static str {
        sources::of(self.id)
    }

    /// Where the book shows what the scenario of its own kind measured, on the page of all of them; `None` of others.
    pub(crate) fn measured(&self) -> Option<&'static str> {
        let Settled::Run(scenario) = self.settled else { return None };
        let (number, _) = scenario.file.strip_prefix(FOLDER)?.split_once('-')?;
        Some(number)
    }

    /// What settles it: a command, equations, or what to do.
    pub(crate) fn how(&self) -> String {
        match self.settled {
            Settled::Run(_) => format!("feedline run {FOLDER}{}", self.id.to_lowercase()),
            Settled::Each(scenarios) => format!("feedline run {}", scenarios[0].name()),
            Settled::Sum { words, .. } => format!("feedline {words}"),
            Settled::ByHand(how) | Settled::OnOnesOwn(how) => how.to_owned(),
        }
    }
}

impl Stands {
    /// `holds`, `holds if …`.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Holds => "holds".to_owned(),
            Self::HoldsIf(condition) => format!("holds if {condition}"),
            Self::DoesNotHold => "does not hold".to_owned(),
            Self::NotHere => "does not hold here".to_owned(),
            Self::Without(what) => format!("cannot be settled without {what}"),
        }
    }
}
