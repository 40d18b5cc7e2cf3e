//! Mistakes of a scenario as data, and their rendering with file, line and caret.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::hint::{in_flags, in_overrides};

/// A text that is read, and the name under which mistakes in it are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// A path for a file; any words for a text that is not one.
    pub name: String,
    /// TOML.
    pub text: String,
}

/// A place in one of the texts of a scenario.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// Index of the text: 0 is the scenario, the others are overrides.
    pub(crate) source: usize,
    /// First byte.
    pub(crate) start: usize,
    /// Past the last byte.
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn new(source: usize, range: Range<usize>) -> Self {
        Self { source, start: range.start, end: range.end }
    }
}

/// One mistake: what is wrong, where, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    message: String,
    labels: Vec<Label>,
    helps: Vec<String>,
    // A key that seems to be missing may merely stand behind the line that could not be read.
    absence: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Label {
    span: Span,
    text: String,
    primary: bool,
}

impl Problem {
    /// A mistake; `message` is a lowercase fragment.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), labels: Vec::new(), helps: Vec::new(), absence: false }
    }

    /// Something that is not there: not reported on a text with syntax errors, where it may merely be
    /// past the error.
    pub(crate) fn absent(message: impl Into<String>) -> Self {
        Self { absence: true, ..Self::new(message) }
    }

    /// Where it is wrong.
    pub(crate) fn at(self, span: Span, text: impl Into<String>) -> Self {
        self.label(span, text.into(), true)
    }

    /// What it is in conflict with.
    pub(crate) fn also(self, span: Span, text: impl Into<String>) -> Self {
        self.label(span, text.into(), false)
    }

    /// What it is in conflict with, where that was written rather than chosen by default.
    pub(crate) fn also_if(self, span: Option<Span>, text: impl Into<String>) -> Self {
        match span {
            Some(span) => self.also(span, text),
            None => self,
        }
    }

    /// What to write instead.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.helps.push(help.into());
        self
    }

    fn label(mut self, span: Span, text: String, primary: bool) -> Self {
        self.labels.push(Label { span, text, primary });
        self
    }

    fn position(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }

    fn touches(&self, place: Span) -> bool {
        self.labels.iter().any(|label| {
            label.span.source == place.source
                && label.span.start <= place.end
                && place.start <= label.span.end
        })
    }

    fn render(&self, sources: &[Source]) -> String {
        let mut group = Group::with_title(Level::ERROR.primary_title(self.message.as_str()));
        let by_flags = sources[0].name == COMMAND_LINE;
        let by_override = self.position().is_some_and(|span| span.source > 0);
        if self.labels.is_empty() && !by_flags {
            group = group.element(Origin::path(sources[0].name.as_str()));
        }
        // Diagnostics end in logs of CI, and an address with a password may be the very mistake.
        let shown: Vec<String> = sources.iter().map(|source| without_secrets(&source.text)).collect();
        for (index, source) in sources.iter().enumerate() {
            let labels: Vec<_> = self.labels.iter().filter(|label| label.span.source == index).collect();
            if by_flags && index == 0 {
                // Nobody wrote that text.
                let notes =
                    labels.into_iter().map(|label| label.text.as_str()).filter(|text| !text.is_empty());
                group = group.elements(notes.map(|text| Level::NOTE.message(text)));
            } else if !labels.is_empty() {
                let snippet = Snippet::source(shown[index].as_str()).path(source.name.as_str());
                let annotations = labels.into_iter().map(|label| {
                    let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                    kind.span(clamp(label.span, &source.text)).label(label.text.as_str())
                });
                group = group.element(snippet.annotations(annotations));
            }
        }
        let helps = self.helps.iter().map(|help| match (by_flags, by_override) {
            (true, _) => in_flags(help),
            (_, true) => in_overrides(help),
            _ => help.clone(),
        });
        let helps = helps.map(|help| Level::HELP.message(help));
        // No colour: the text goes into files and tests as it is, and the caret shows enough.
        Renderer::plain().render(&[group.elements(helps)])
    }
}

/// The text with stars for users, passwords and signatures of URLs, as long as they are: what is shown ends in logs.
fn without_secrets(text: &str) -> String {
    let mut shown = text.to_owned();
    for (at, scheme) in text.match_indices("://") {
        let start = at + scheme.len();
        let url = &text[start..];
        let url = &url[..url.find(|c: char| c.is_whitespace() || "\"'".contains(c)).unwrap_or(url.len())];
        if let Some(length) = url.rfind('@') {
            // As many stars as letters: places in the text are byte offsets, and labels point at them.
            shown.replace_range(start..start + length, &"*".repeat(length));
        }
        let query = url.find('?').map_or(url.len(), |at| at + 1);
        let mut field = start + query;
        for text in url[query..].split('&') {
            // `sig` of Azure, `X-Amz-Signature` of S3: whoever has one of those reads the bucket.
            let value = text.find('=').map(|at| at + 1).filter(|at| is_signature(&text[..at - 1]));
            if let Some(value) = value {
                shown.replace_range(field + value..field + text.len(), &"*".repeat(text.len() - value));
            }
            field += text.len() + 1;
        }
    }
    shown
}

fn is_signature(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "sig" || name.ends_with("signature")
}

/// Name under which mistakes of a scenario made from the command line are shown.
pub(crate) const COMMAND_LINE: &str = "command line";

/// A range that the renderer can take: inside the text, on character boundaries.
// The renderer takes ranges inside the text and between characters alone; spans of the parser may end
// behind it.
fn clamp(span: Span, text: &str) -> Range<usize> {
    let start = boundary_before(text, span.start);
    let end = span.end.min(text.len());
    let end = (end..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    start..end.max(start)
}

/// The last place up to byte `at` where a character begins or the text ends.
pub(crate) fn boundary_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Where the mistakes of a scenario are gathered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        self.list.push(problem);
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.list.extend(problems);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Leaves out what may be a consequence of syntax errors: absences, and anything said of the `places`
    /// that could not be read.
    pub(crate) fn without_consequences(mut self, places: &[Span]) -> Self {
        let touched = |problem: &Problem| places.iter().any(|place| problem.touches(*place));
        self.list.retain(|problem| !problem.absence && !touched(problem));
        self
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.list.extend(other.list);
    }

    /// The mistakes in the order of the text, each once: two targets may run into the same one.
    pub(crate) fn into_diagnostics(mut self, sources: Arc<[Source]>) -> Diagnostics {
        // A person mends a file from its top; the order in which the parts of it were resolved is nothing
        // to them.
        self.list.sort_by_key(Problem::position);
        self.list.dedup();
        Diagnostics { sources, problems: self.list }
    }
}

/// Mistakes shown: a person mends the first ones, and a file of another kind has one in each line.
const SHOWN_MAX: usize = 100;

/// Every mistake found in a scenario.
///
/// Displays as a person reads it: each mistake with file, line, caret and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    sources: Arc<[Source]>,
    problems: Vec<Problem>,
}

impl Diagnostics {
    /// How many mistakes there are; at least one.
    #[expect(clippy::len_without_is_empty, reason = "there are no diagnostics without a mistake")]
    pub fn len(&self) -> usize {
        self.problems.len()
    }

    /// What is wrong, without the places, in the order of the text.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(|problem| problem.message.as_str())
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        for problem in self.problems.iter().take(SHOWN_MAX) {
            writeln!(f, "{}\n", problem.render(&self.sources))?;
        }
        if count > SHOWN_MAX {
            writeln!(f, "and {} more\n", count - SHOWN_MAX)?;
        }
        let mistakes = if count == 1 { "mistake" } else { "mistakes" };
        write!(f, "{}: {count} {mistakes}", self.sources[0].name)
    }
}

impl std::error::Error for Diagnostics {}
