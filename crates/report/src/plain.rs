//! Plain text for a terminal: ASCII alone, no control characters, folded at a width.

/// `text` with everything but printable ASCII replaced, so that a name in a record can neither break the
/// columns nor send commands to a terminal.
pub(crate) fn ascii(text: &str) -> String {
    // ASCII alone, whatever the locale: pages are piped into logs and mail, where the width of any other letter is not
    // known.
    let replace = |c: char| match c {
        // Quotes and dashes come with titles that were written in a word processor, and have an equal in ASCII.
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{2010}'..='\u{2015}' => '-',
        c if c.is_ascii_graphic() || c == ' ' => c,
        c if c.is_whitespace() => ' ',
        _ => '?',
    };
    text.chars().map(replace).collect()
}

/// At most `width` characters of `text`, with `..` where some are missing.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let keep = width.saturating_sub(2);
    // Two dots and no ellipsis, which is no ASCII.
    text.chars().take(keep).chain("..".chars()).take(width).collect()
}

/// Folds `text` at blanks into lines of at most `width` characters; a longer word is cut, and a number
/// stays with its unit.
pub(crate) fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in unbroken(text) {
        let mut word: Vec<char> = word.chars().collect();
        if !line.is_empty() && line.chars().count() + 1 + word.len() > width {
            lines.push(std::mem::take(&mut line));
        }
        // A path has no blank to fold at, and a longer line would be cut by the terminal.
        while word.len() > width {
            lines.push(word.drain(..width).collect());
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The words of `text`, with `1.64 GB/s` and `90 %` as one.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut after_number = false;
    for word in text.split_whitespace() {
        // Only letters and percent: `8 -> 16` and `3 (rounds)` may break after the number.
        let is_unit = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%');
        match words.last_mut() {
            Some(number) if after_number && is_unit => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        after_number = word.ends_with(|c: char| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
    }
    words
}

/// Says at its first use what AU is.
pub(crate) fn spell_out<'a>(sentences: impl IntoIterator<Item = &'a mut String>) {
    let is_used = |sentence: &&mut String| sentence.starts_with("AU ") || sentence.contains(" AU ");
    // Once: the reader knows it afterwards, and lines are short.
    if let Some(first) = sentences.into_iter().find(is_used) {
        *first = first.replacen("AU ", "accelerator utilization (AU) ", 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_ascii_passes() {
        assert_eq!(ascii("a\u{1b}[31mb\té\u{2013}c\n"), "a?[31mb ?-c ");
    }

    #[test]
    fn folding_keeps_every_word_and_the_width() {
        assert_eq!(folded("one two three", 7), ["one two", "three"]);
        assert_eq!(folded("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(folded("", 4), [""]);
        assert_eq!(folded("at most 1.64 GB/s, 90 %", 12), ["at most", "1.64 GB/s,", "90 %"]);
    }

    #[test]
    fn a_short_word_is_spelt_out_once() {
        let mut said = ["no job", "half: AU 70 %", "AU 99.7 %, AU 3 %"].map(str::to_owned);
        spell_out(&mut said);
        assert_eq!(said, ["no job", "half: accelerator utilization (AU) 70 %", "AU 99.7 %, AU 3 %"]);
    }

    #[test]
    fn a_long_name_is_marked_where_it_is_cut() {
        assert_eq!(shortened("a-very-long-name", 8), "a-very..");
        assert_eq!(shortened("short", 8), "short");
    }
}
