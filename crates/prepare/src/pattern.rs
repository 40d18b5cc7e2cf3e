//! Patterns of file names, as loaders take them: braces that stand for several names, and wildcards.
//!
//! `{a,b}` and `{000..146}` are expanded to names, as `WebDataset` and shells do; of each of them `*` and `?` match within a
//! name, `**` across folders. A name without wildcards must be there, and one with them must match something.

use std::collections::BTreeMap;

/// Names that braces may stand for in all: ten times as many shards as the largest published datasets have.
const EXPANSIONS_MAX: usize = 1_000_000;

/// Bytes of those names in all.
const EXPANDED_BYTES_MAX: usize = 64 << 20;

/// Wildcard patterns among them: a name is held against each.
const GLOBS_MAX: usize = 1000;

/// Bytes of a pattern.
const PATTERN_BYTES_MAX: usize = 4096;

/// Braces inside braces.
const DEPTH_MAX: usize = 8;

/// Which files are meant, and which of them were found.
#[derive(Debug)]
pub(crate) struct Pattern {
    names: BTreeMap<String, bool>,
    globs: Vec<(Glob, bool)>,
}

/// A pattern without braces.
#[derive(Debug)]
struct Glob {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Char(char),
    /// `?`: one character of a name.
    One,
    /// `*`: any characters of a name.
    Any,
    /// `**` before a slash: any folders, or none.
    Folders,
    /// `**` elsewhere: anything.
    All,
}

impl Pattern {
    /// Parses a pattern; an error says what is wrong with it.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.len() > PATTERN_BYTES_MAX {
            return Err(format!("it has more than {PATTERN_BYTES_MAX} bytes"));
        }
        let mut pattern = Self { names: BTreeMap::new(), globs: Vec::new() };
        for name in expand(text, 0)? {
            // Brackets are no wildcards here: `[0-9]` is rare in names of shards, and braces say the same.
            if name.contains(['*', '?']) {
                pattern.globs.push((Glob::new(name), false));
            } else {
                pattern.names.insert(name, false);
            }
        }
        if pattern.globs.len() > GLOBS_MAX {
            return Err(format!("its braces make more than {GLOBS_MAX} patterns with wildcards"));
        }
        Ok(pattern)
    }

    /// Whether a file is meant; it then counts as found.
    pub(crate) fn takes(&mut self, name: &str) -> bool {
        // By a map: a hundred thousand names are looked up for each file of a listing, where patterns are tried one
        // by one.
        let named = self.names.get_mut(name).map(|found| *found = true).is_some();
        let mut matched = false;
        for (glob, found) in &mut self.globs {
            if glob.matches(name) {
                *found = true;
                matched = true;
            }
        }
        named || matched
    }

    /// The first name, or pattern, for which nothing was found.
    pub(crate) fn missing(&self) -> Option<&str> {
        let name = self.names.iter().find(|(_, found)| !**found).map(|(name, _)| name.as_str());
        name.or_else(|| self.globs.iter().find(|(_, found)| !found).map(|(glob, _)| glob.text.as_str()))
    }

    /// The folder below which everything lies that is meant; `None` where that is the root.
    pub(crate) fn folder(&self) -> Option<String> {
        let globs = self.globs.iter().map(|(glob, _)| glob.text.split(['*', '?']).next().unwrap_or_default());
        let mut fixed = self.names.keys().map(String::as_str).chain(globs);
        let first = fixed.next()?;
        let common = fixed.fold(first, |common, name| {
            let same = common.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            // Names may share the first bytes of a character and not the rest.
            &common[..(0..=same).rev().find(|end| common.is_char_boundary(*end)).unwrap_or(0)]
        });
        common.rsplit_once('/').map(|(folder, _)| folder.to_owned()).filter(|folder| !folder.is_empty())
    }
}

/// Every name that braces stand for.
fn expand(text: &str, depth: usize) -> Result<Vec<String>, String> {
    if depth > DEPTH_MAX {
        return Err(format!("its braces lie more than {DEPTH_MAX} deep"));
    }
    let Some(open) = text.find(['{', '}']) else { return Ok(vec![text.to_owned()]) };
    let close = closing(text, open)?;
    let (before, inside, after) = (&text[..open], &text[open + 1..close], &text[close + 1..]);
    let middles = if let Some(numbers) = range(inside)? { numbers } else { alternatives(inside, depth)? };
    // Braces that follow are no deeper, and every pair of them halves what is left of the text.
    let tails = expand(after, depth)?;
    let bytes = middles.iter().map(String::len).max().unwrap_or(0)
        + tails.iter().map(String::len).max().unwrap_or(0)
        + before.len();
    let count = middles.len().saturating_mul(tails.len());
    // Before the names are made: `{0..9}` written ten times over is 110 bytes and ten thousand million names.
    limit(count, count.saturating_mul(bytes))?;
    Ok(middles
        .iter()
        .flat_map(|middle| tails.iter().map(move |tail| format!("{before}{middle}{tail}")))
        .collect())
}

/// What a list in braces stands for.
fn alternatives(inside: &str, depth: usize) -> Result<Vec<String>, String> {
    let parts = split(inside);
    if parts.len() < 2 {
        return Err(format!("`{{{inside}}}` is no list like {{a,b}} and no range like {{0..9}}"));
    }
    let mut all: Vec<String> = Vec::new();
    for part in parts {
        all.extend(expand(part, depth + 1)?);
        limit(all.len(), all.iter().map(String::len).sum())?;
    }
    Ok(all)
}

fn limit(count: usize, bytes: usize) -> Result<(), String> {
    if count > EXPANSIONS_MAX || bytes > EXPANDED_BYTES_MAX {
        return Err(format!(
            "its braces stand for more than {EXPANSIONS_MAX} names, or for longer ones than fit"
        ));
    }
    Ok(())
}

/// Where the brace at `open` is closed.
fn closing(text: &str, open: usize) -> Result<usize, String> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => break,
            b'}' if depth == 1 => return Ok(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    Err("its braces do not match".to_owned())
}

/// Parts between commas outside inner braces.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_i64, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// The numbers of a range such as `000..146`, padded as written; `None` if the text is not a range.
fn range(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some((first, last)) = text.split_once("..") else { return Ok(None) };
    let digits =
        // Eighteen digits fit 64 bits whatever they are.
        |text: &str| !text.is_empty() && text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(first) || !digits(last) {
        return Err(format!("`{{{text}}}` is no range of numbers"));
    }
    let parsed = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
    let (from, to) = (parsed(first)?, parsed(last)?);
    if from > to {
        return Err(format!("`{{{text}}}` counts backwards"));
    }
    // As shells and WebDataset do it: a leading zero on either side asks for padding.
    let width = if first.starts_with('0') || last.starts_with('0') { first.len().max(last.len()) } else { 0 };
    let count = usize::try_from(to - from).unwrap_or(usize::MAX).saturating_add(1);
    limit(count, count.saturating_mul(last.len()))?;
    Ok(Some((from..=to).map(|number| format!("{number:0width$}")).collect()))
}

impl Glob {
    fn new(text: String) -> Self {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some(next) = rest.chars().next() {
            let at_name = parts.is_empty()
                || parts.last() == Some(&Part::Char('/'))
                || parts.last() == Some(&Part::Folders);
            let (part, taken) = match next {
                '*' if rest.starts_with("**/") && at_name => (Part::Folders, 3),
                '*' if rest.starts_with("**") => (Part::All, 2),
                '*' => (Part::Any, 1),
                '?' => (Part::One, 1),
                other => (Part::Char(other), other.len_utf8()),
            };
            parts.push(part);
            rest = &rest[taken..];
        }
        Self { text, parts }
    }

    /// Follows all ways through the pattern at once: as many steps as the name has characters, whatever the wildcards.
    fn matches(&self, name: &str) -> bool {
        let mut at = vec![false; self.parts.len() + 1];
        at[0] = true;
        self.skip(&mut at, true);
        for next in name.chars() {
            let mut after = vec![false; at.len()];
            for (place, part) in self.parts.iter().enumerate().filter(|(place, _)| at[*place]) {
                match part {
                    Part::Char(wanted) => after[place + 1] |= *wanted == next,
                    Part::One => after[place + 1] |= next != '/',
                    Part::Any => after[place] |= next != '/',
                    Part::Folders | Part::All => after[place] = true,
                }
            }
            self.skip(&mut after, next == '/');
            at = after;
        }
        at[self.parts.len()]
    }

    /// Wildcards that may stand for nothing are passed; folders end where a name begins.
    fn skip(&self, at: &mut [bool], name_begins: bool) {
        for (place, part) in self.parts.iter().enumerate() {
            let passes = match part {
                Part::Any | Part::All => true,
                Part::Folders => name_begins,
                Part::Char(_) | Part::One => false,
            };
            if at[place] && passes {
                at[place + 1] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken<'a>(pattern: &str, names: &[&'a str]) -> Vec<&'a str> {
        let mut pattern = Pattern::new(pattern).unwrap();
        names.iter().copied().filter(|name| pattern.takes(name)).collect()
    }

    #[test]
    fn braces_stand_for_names() {
        let of = |text| expand(text, 0).unwrap();
        assert_eq!(of("train-{000008..000011}.tar").len(), 4);
        assert_eq!(of("a{8..10}"), ["a8", "a9", "a10"]);
        assert_eq!(of("a{08..10}"), ["a08", "a09", "a10"]);
        assert_eq!(
            of("{a,b}/{0..1}.{x,}"),
            ["a/0.x", "a/0.", "a/1.x", "a/1.", "b/0.x", "b/0.", "b/1.x", "b/1."]
        );
        assert_eq!(of("{a{1,2},b}"), ["a1", "a2", "b"]);
    }

    #[test]
    fn wildcards_match_within_a_name_and_two_stars_across_folders() {
        let names = ["a.tar", "b.tar.gz", "x/a.tar", "x/y/a.tar", "xa.tar", "ü.tar"];
        assert_eq!(taken("*.tar", &names), ["a.tar", "xa.tar", "ü.tar"]);
        assert_eq!(taken("?.tar", &names), ["a.tar", "ü.tar"]);
        assert_eq!(taken("**/*.tar", &names), ["a.tar", "x/a.tar", "x/y/a.tar", "xa.tar", "ü.tar"]);
        assert_eq!(taken("x/**/a.tar", &names), ["x/a.tar", "x/y/a.tar"]);
        assert_eq!(taken("**/a.tar", &names), ["a.tar", "x/a.tar", "x/y/a.tar"]);
        assert_eq!(taken("x/**", &names), ["x/a.tar", "x/y/a.tar"]);
        assert_eq!(taken("*/a.tar", &names), ["x/a.tar"]);
        assert_eq!(taken("{a,x/a}.tar", &names), ["a.tar", "x/a.tar"]);
    }

    #[test]
    fn what_was_not_found_is_named() {
        let mut pattern = Pattern::new("s-{0..2}.tar").unwrap();
        assert!(pattern.takes("s-0.tar") && pattern.takes("s-2.tar") && !pattern.takes("s-3.tar"));
        assert_eq!(pattern.missing(), Some("s-1.tar"));
        assert!(pattern.takes("s-1.tar"));
        assert_eq!(pattern.missing(), None);
        assert_eq!(Pattern::new("*.tar").unwrap().missing(), Some("*.tar"));
    }

    #[test]
    fn what_lies_elsewhere_need_not_be_listed() {
        let folder = |text| Pattern::new(text).unwrap().folder();
        assert_eq!(folder("a/b/s-{0..9}.tar").as_deref(), Some("a/b"));
        assert_eq!(folder("a/{b,c}/x.tar").as_deref(), Some("a"));
        assert_eq!(folder("a/*/x.tar").as_deref(), Some("a"));
        assert_eq!(folder("x{0..9}.tar"), None);
        assert_eq!(folder("**/x.tar"), None);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_at_once() {
        let deep = format!("{}{}", "{a,".repeat(10), "}".repeat(10));
        let many = "{0..9}".repeat(30);
        for text in [
            "{",
            "}",
            "a}b{",
            "{a",
            "{a}",
            "{}",
            "{1..x}",
            "{9..1}",
            "{0..99999999999}",
            "{0..99999999999999999999}",
            &deep,
            &many,
            &"x".repeat(5000),
            "{0..2000}/*",
        ] {
            assert!(Pattern::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_more_time_than_a_short_one() {
        let pattern = format!("{}b", "*a".repeat(200));
        assert!(taken(&pattern, &[&"a".repeat(2000)]).is_empty());
    }
}
