//! What became of checkpoints, in words.

use analysis::Outcomes;

/// `12 whole, 1 overrun, 1 failed (no space left)`.
pub(crate) fn outcomes(of: &Outcomes) -> String {
    let reason = of.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let rest =
        [(of.overrun, "overrun", ""), (of.unfinished, "unfinished", ""), (of.failed, "failed", &reason)];
    // Whole ones are told even if there are none; of the others only those that occurred.
    let rest = rest.into_iter().filter(|(count, ..)| *count > 0);
    let rest = rest.map(|(count, what, why)| format!("{count} {what}{why}"));
    std::iter::once(format!("{} whole", of.complete)).chain(rest).collect::<Vec<_>>().join(", ")
}
