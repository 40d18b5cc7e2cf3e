//! Failures by their kind.

use std::collections::BTreeMap;

use feed::group_digits;

/// `12 io, 3 timeout`, in the words of the record.
pub(crate) fn errors(kinds: &BTreeMap<String, u64>) -> String {
    let parts = kinds.iter().map(|(kind, count)| format!("{} {kind}", group_digits(*count)));
    parts.collect::<Vec<_>>().join(", ")
}

/// `3 reset, 12 timed out`: what became of attempts, of those kinds that are asked for.
pub(crate) fn attempts(kinds: &BTreeMap<String, u64>, of: impl Fn(&str) -> bool) -> String {
    // Attempts of some kinds are flags of their own, which would be told twice.
    let kinds = kinds.iter().filter(|(kind, count)| **count > 0 && of(kind));
    let parts = kinds.map(|(kind, count)| format!("{} {}", group_digits(*count), attempt(kind)));
    parts.collect::<Vec<_>>().join(", ")
}

fn attempt(kind: &str) -> &str {
    match kind {
        "timeout" => "timed out",
        "connect" => "not connected",
        "truncated" => "cut short",
        "server" => "failed by the server",
        "redirect" => "redirected",
        "not_found" => "not found",
        // The word of a newer version stands as it is.
        other => other,
    }
}
