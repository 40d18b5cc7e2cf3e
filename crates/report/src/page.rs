//! A page as data: what is said of a run, in sections of a few kinds of blocks.
//!
//! It is built once, by [`crate::sections`], and written by the terminal, Markdown and HTML, which know nothing of runs. So
//! nothing can be said on one of them that is not so on another; what differs is how much room they have.

use analysis::Summary;
use record::Environment;

use crate::grid::Grid;
use crate::plot::Plot;

/// What the page shows of one run.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// Figures, verdicts and notes.
    pub summary: &'a Summary,
    /// Its plots, in order.
    pub plots: &'a [Plot],
    /// The scenario as it was run.
    pub scenario: &'a str,
    /// The machine.
    pub environment: &'a Environment,
}

/// Everything that is said of one run.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    /// Its title, or its scenario.
    pub(crate) title: String,
    /// What tells it from other runs of the same title.
    pub(crate) run: String,
    /// When and where it was measured.
    pub(crate) subtitle: String,
    /// What measured it.
    pub(crate) tool: String,
    /// In their order, none of them empty.
    pub(crate) sections: Vec<Section<'a>>,
}

impl<'a> Document<'a> {
    /// The blocks of the section of that name.
    pub(crate) fn blocks(&self, id: &str) -> impl Iterator<Item = &Block<'a>> {
        self.sections.iter().filter(move |section| section.id == id).flat_map(|section| &section.blocks)
    }
}

/// Which pages have room for a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
// Three and no number of priority: each page asks one question of a section, and answers it alike for all.
pub(crate) enum Room {
    /// What the run was made for: first on a page, and last on a terminal, where the end is what is seen.
    Answer,
    /// What a reader of a terminal may need too.
    Detail,
    /// What is looked up.
    PageOnly,
}

/// A part of a page with a heading of its own.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// Its name in a link.
    // Links from outside and from stored pages use it, so that it stays when a title changes.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) room: Room,
    /// Whether a page that scrolls shows its title alone until it is asked for.
    pub(crate) is_folded: bool,
    /// In their order, none of them empty.
    pub(crate) blocks: Vec<Block<'a>>,
}

/// Something that is said.
#[derive(Debug)]
pub(crate) enum Block<'a> {
    Verdicts(Vec<Verdict>),
    Facts(Facts),
    Grid(Grid),
    Lines(Lines),
    Folds(Vec<Fold>),
    Plot(&'a Plot),
    /// Text that is kept letter by letter.
    Code(String),
}

impl Block<'_> {
    pub(crate) fn grids(grids: impl IntoIterator<Item = Grid>) -> Vec<Self> {
        grids.into_iter().map(Self::Grid).collect()
    }

    /// Facts about the run.
    pub(crate) fn facts(facts: Vec<Fact>) -> Self {
        Self::Facts(Facts { about: String::new(), facts })
    }

    /// Sentences, each of which a terminal begins with `lead`.
    pub(crate) fn lines(lead: &'static str, sentences: Vec<String>) -> Self {
        Self::Lines(Lines { lead, sentences, is_run_on: false })
    }

    /// Whether there is nothing to say.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Verdicts(verdicts) => verdicts.is_empty(),
            Self::Facts(facts) => facts.facts.is_empty(),
            Self::Grid(grid) => grid.rows.is_empty(),
            Self::Lines(lines) => lines.sentences.is_empty(),
            Self::Folds(folds) => folds.is_empty(),
            Self::Plot(_) => false,
            // A scenario may be nothing but line breaks, where a run was made by flags.
            Self::Code(text) => text.trim().is_empty(),
        }
    }
}

/// How much of an answer a verdict is; the most comes first on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    Judged,
    Unjudged,
    /// What this client can do without storage.
    Ceiling,
}

/// What is said of one target.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) weight: Weight,
    /// `FEEDS`.
    pub(crate) word: &'static str,
    pub(crate) target: String,
    /// Why, the main reason first.
    pub(crate) sentences: Vec<String>,
}

/// Facts by name.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Whom all of them are about, where they are not about the run.
    pub(crate) about: String,
    pub(crate) facts: Vec<Fact>,
}

/// A name and a value.
#[derive(Debug)]
pub(crate) struct Fact {
    /// Empty where the value belongs to the fact before.
    pub(crate) name: &'static str,
    /// The value, or why it is not known.
    // A page greys out what is not known; text alone could not be told from a value.
    pub(crate) value: Result<String, String>,
}

impl Fact {
    pub(crate) fn new(name: &'static str, value: impl Into<String>) -> Self {
        Self { name, value: Ok(value.into()) }
    }

    /// What to write of it.
    pub(crate) fn words(&self) -> String {
        match &self.value {
            Ok(value) => value.clone(),
            Err(reason) => format!("not known: {reason}"),
        }
    }
}

/// Sentences of one kind.
#[derive(Debug)]
pub(crate) struct Lines {
    /// What a terminal writes before each, having no headings; empty below a table that they belong to.
    pub(crate) lead: &'static str,
    pub(crate) sentences: Vec<String>,
    /// Whether a terminal writes them as one sentence.
    pub(crate) is_run_on: bool,
}

/// A sentence, and the lines behind it that few will read.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) sentence: String,
    pub(crate) lines: Vec<String>,
}
