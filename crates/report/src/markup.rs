//! Text as XML and HTML take it.

/// Text that both take as text, inside of elements and of quoted attributes. Characters that XML 1.0 has no form for become
/// blanks.
pub(crate) fn text(words: &str) -> String {
    let mut safe = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            // XML 1.0 can hold these in no form, not even escaped: one in a name would make the whole file unreadable.
            c if feed::steers(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_element_or_attribute() {
        assert_eq!(
            text("</script><b a=\"'&\u{0}\u{1b}\u{ffff}\u{fc}\n"),
            "&lt;/script&gt;&lt;b a=&quot;&#39;&amp;   \u{fc}\n"
        );
    }
}
