//! What is said of the way to storage behind a network.

use analysis::NetworkFigures;
use feed::{counted_noun, format_bytes, group_digits};
use record::Cell;

use super::kinds;

/// Messages of one operation from which on it is said that there are several.
const SEVERAL_MIN: f64 = 1.2;

/// Share of the bytes on the wire from which on those of failed operations are said.
// A thousandth is seen in no rate.
const WASTED_MIN: f64 = 0.001;

/// What a row says of it, in a few words: how many connections, what an operation took, what was made good.
pub(crate) fn row(network: &NetworkFigures, cell: &Cell) -> Vec<String> {
    let is_flagged = network.attempts.as_ref().is_some_and(|attempts| attempts.is_flagged);
    let connections = u64::from(network.connections);
    let recovered = network.attempts.as_ref().map_or(0, |attempts| attempts.recovered);
    let wasted = network.wire.filter(|wire| wire.wasted_share() >= WASTED_MIN);
    let timeouts = network.mount.map_or(0, |mount| mount.timeouts);
    let parts = [
        (connections > 0).then(|| counted_noun(connections, "connection")),
        network.mount.map(|mount| format!("nconnect={}", mount.connections)),
        messages(network, cell),
        (recovered > 0 && !is_flagged)
            .then(|| format!("{} recovered by another attempt", group_digits(recovered))),
        wasted.map(|wire| format!("{} wasted on failures", format_bytes(wire.wasted_bytes))),
        // Throttled attempts are a flag of their own, and the flag of recovered ones names all kinds.
        failed(network, |kind| kind != "throttled" && !is_flagged),
        redialled(network),
        (timeouts > 0).then(|| format!("{} timed out", counted_noun(timeouts, "READ"))),
    ];
    parts.into_iter().flatten().collect()
}

/// `attempts failed: 12 timed out, 3 reset`, of those kinds that are asked for.
pub(crate) fn failed(network: &NetworkFigures, of: impl Fn(&str) -> bool) -> Option<String> {
    let kinds = kinds::attempts(&network.attempts.as_ref()?.errors, of);
    (!kinds.is_empty()).then(|| format!("attempts failed: {kinds}"))
}

/// `12 TCP segments sent again`: of the whole machine.
pub(crate) fn retransmitted(network: &NetworkFigures) -> Option<String> {
    let segments = network.retransmitted.filter(|segments| *segments > 0)?;
    Some(format!("{} sent again", counted_noun(segments, "TCP segment")))
}

/// `3 connections made again`.
pub(crate) fn redialled(network: &NetworkFigures) -> Option<String> {
    let redials = network.redials;
    (redials > 0).then(|| format!("{} made again", counted_noun(redials, "connection")))
}

/// `each block takes 2.0 messages, of 64 KiB of data`, where one alone does not do.
fn messages(network: &NetworkFigures, cell: &Cell) -> Option<String> {
    let count = network.messages_per_op.filter(|count| *count >= SEVERAL_MIN)?;
    // A block has no part in these: their messages are requests for names, or of a whole file.
    if cell.operation.known().is_some_and(|one| one.is_of_names() || one.is_of_whole_objects()) {
        return Some(format!("{count:.1} messages each"));
    }
    let each = format_bytes((cell.block_bytes as f64 / count.round()).round() as u64);
    Some(format!("each block takes {count:.1} messages, of {each} of data"))
}
