//! Texts of a service, before they are shown; and hashes of short ones.

/// Fewer characters of a secret than this give nothing away.
const TELLING: usize = 5;

/// A text of a service without the characters that would move the cursor of a terminal.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A text without a secret, nor the beginning of one that was cut off with the text.
pub fn hidden(text: &str, secret: &str) -> String {
    let mut text = text.replace(secret, "(hidden)");
    let cut =
        // The longest first: a text that was cut off may end in any part of a secret.
        (TELLING..secret.len()).rev().find(|len| secret.get(..*len).is_some_and(|part| text.ends_with(part)));
    if let Some(cut) = cut {
        text.truncate(text.len() - cut);
        text.push_str("(hidden)");
    }
    text
}

/// FNV-1a of 64 bits (<https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>). Of a listing's token: its place, as
/// [`backend_net::Trail`] takes it.
pub fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
