//! Text from outside that is to be shown: names in a record, what a server says, words of a command line.

/// Whether a character does something where it is shown, and is not read: a control character, a separator of lines, or a
/// mark that turns the direction of what follows (Unicode Standard Annex 9; CVE-2021-42574).
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` on one line, with blanks in place of what [`steers`].
pub fn plain(text: &str) -> String {
    // Blanks and not nothing: two words that were apart stay apart, and a column keeps its width.
    text.chars().map(|c| if steers(c) { ' ' } else { c }).collect()
}

/// A word as it is typed: one that a shell would take apart stands in quotes.
pub fn typed_word(word: &str) -> String {
    // A list of what is safe. Of what is unsafe each shell has its own, and `~`, `!` and `#` are easily
    // forgotten.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+%@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sends_commands_to_a_terminal_or_turns_lines_around_is_blank() {
        assert_eq!(plain("a\u{1b}[2J\u{202e}b\r\n\u{9b}\u{2066}\u{200f}\u{2028}\u{7f}"), "a [2J b       ");
        assert_eq!(plain("\u{e9}t\u{e9} \u{2013} 4 \u{b5}s"), "\u{e9}t\u{e9} \u{2013} 4 \u{b5}s");
    }

    #[test]
    fn a_word_that_a_shell_would_take_apart_stands_in_quotes() {
        let words = ["a-_./:=,+%@9", "", "a b", "it's", "~", "$x"];
        assert_eq!(words.map(typed_word), ["a-_./:=,+%@9", "''", "'a b'", "'it'\\''s'", "'~'", "'$x'"]);
    }
}
