//! What can be read of a text that is not TOML: a broken line does not hide what is wrong after it.
//!
//! Statements that do not parse by themselves are replaced. The key of a broken value stays, with a value that no key
//! takes: so it is known to be written, nothing stands in for it, and the rest of the text is read as ever.

use std::ops::Range;

use toml::de::{DeTable, Error};

/// What a broken value is replaced by. No key of a scenario takes a date.
// A date is TOML, has no key that takes it, and cannot be produced by a typing mistake in any value that a
// scenario has.
const UNREADABLE: &str = "=1979-05-27";

/// Lines that one statement may take where the text is broken.
// A bracket that is never closed makes each further line a new attempt: without a bound a large file would
// take quadratic time.
const STATEMENT_LINES_MAX: usize = 1_000;

/// Broken statements that are looked at, more than are ever shown.
// A file of another kind, an image for example, breaks in each of its lines.
const BROKEN_MAX: usize = 100;

/// A text in which everything can be read but the keys that were broken.
pub(crate) struct Mended {
    pub(crate) text: String,
    /// The broken statements: what is wrong with each, and its place in the text as written.
    pub(crate) broken: Vec<(Error, Range<usize>)>,
    /// Whether the key of each was kept.
    pub(crate) keeps_keys: bool,
    /// Places in the text as written where bytes were put in, and how many.
    inserted: Vec<(usize, usize)>,
}

impl Mended {
    /// The text as it is, where it is TOML or its statements are.
    fn unbroken(text: &str) -> Self {
        Self { text: text.to_owned(), broken: Vec::new(), keeps_keys: true, inserted: Vec::new() }
    }

    /// A place of the mended text in the text as written.
    pub(crate) fn as_written(&self, range: Range<usize>) -> Range<usize> {
        self.offset(range.start)..self.offset(range.end)
    }

    fn offset(&self, mended: usize) -> usize {
        let mut before = 0;
        for (at, bytes) in &self.inserted {
            if at + before >= mended {
                break;
            }
            // Inside what was put in is where it was put in.
            before += (*bytes).min(mended - at - before);
        }
        mended - before
    }

    fn push(&mut self, text: &str, at: usize) {
        self.text.push_str(text);
        self.inserted.push((at, text.len()));
    }

    /// Takes a statement that does not parse: with its key, else without a word.
    fn push_broken(&mut self, statement: &str, at: usize) {
        let before = (self.text.len(), self.inserted.len());
        // A heading before a value: in `[load` the bracket would be taken for a list.
        for mend in [mend_table, mend_value] {
            if let Some((kept, put_in)) = mend(statement) {
                self.text.push_str(&statement[..kept]);
                self.push(put_in, at + kept);
                self.text.push_str(&blank(&statement[kept..]));
                if DeTable::parse(&self.text[before.0..]).is_ok() {
                    return;
                }
                self.text.truncate(before.0);
                self.inserted.truncate(before.1);
            }
        }
        self.keeps_keys = false;
        self.text.push_str(&blank(statement));
    }
}

/// Replaces the statements of `text` that cannot be read.
pub(crate) fn mend(text: &str) -> Mended {
    // Nearly every text is TOML, and then nothing is copied.
    if DeTable::parse(text).is_ok() {
        return Mended::unbroken(text);
    }
    let mut mended = Mended { text: String::with_capacity(text.len()), ..Mended::unbroken("") };
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        at += match statement(rest) {
            Ok(length) => {
                mended.text.push_str(&rest[..length]);
                length
            }
            Err(_) if mended.broken.len() == BROKEN_MAX => {
                mended.keeps_keys = false;
                mended.text.push_str(&blank(rest));
                rest.len()
            }
            Err((error, length)) => {
                mended.push_broken(&rest[..length], at);
                mended.broken.push((error, at..at + length));
                length
            }
        };
    }
    mended
}

/// Bytes of the first statement of a text: the fewest lines that parse. Where none do, what is wrong with its first line,
/// and its bytes up to the next that begins a statement.
fn statement(text: &str) -> Result<usize, (Error, usize)> {
    let ends = || text.match_indices('\n').map(|(at, _)| at + 1).chain([text.len()]);
    for end in ends().take(STATEMENT_LINES_MAX) {
        match DeTable::parse(&text[..end]) {
            Ok(_) => return Ok(end),
            // What goes wrong before the end does so however many lines follow.
            Err(error) if error.span().is_some_and(|span| span.end < text[..end].trim_end().len()) => break,
            Err(_) => {}
        }
    }
    // Up to the next line that looks like a statement: an unclosed string must not swallow the tables
    // behind it.
    let broken = ends().find(|end| begins_statement(&text[*end..])).unwrap_or(text.len());
    match DeTable::parse(&text[..broken]) {
        Err(error) => Err((error, broken)),
        Ok(_) => Ok(broken),
    }
}

/// Whether the first line of a text is the heading of a table, or a key and what follows it.
fn begins_statement(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim_start();
    let after_key = line[key_length(line)..].trim_start();
    let heading =
        line.strip_prefix('[').is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '['));
    heading || after_key.len() < line.len() && after_key.starts_with(['=', ':'])
}

/// Bytes of the key, or of the name of a table, at the beginning of a text.
fn key_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '"'))).unwrap_or(text.len())
}

/// How much of the heading of a table is kept, and what closes it.
fn mend_table(statement: &str) -> Option<(usize, &'static str)> {
    let name = statement.find('[')? + 1;
    let length = key_length(&statement[name..]);
    (statement[..name].trim() == "[" && length > 0).then_some((name + length, "]"))
}

/// How much of a key is kept, and the value that it is given.
fn mend_value(statement: &str) -> Option<(usize, &'static str)> {
    let first = statement.len() - statement.trim_start().len();
    let length = key_length(&statement[first..]);
    (length > 0).then_some((first + length, UNREADABLE))
}

/// As many bytes that say nothing, on as many lines.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}
