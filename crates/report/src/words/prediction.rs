//! What follows from a claim, beside what was measured.

use analysis::{CellPrediction, ClaimDifference, ClaimFigure, LineAsks, TargetPrediction};
use feed::{format_bps, format_bytes, format_count, format_duration_ns};

/// From this ratio on a rate is told in times the prediction.
// As changes are told: below a doubling percent are easier to compare.
const TIMES: f64 = 2.0;

/// What a comparison with the prediction is worth.
pub(crate) const fn heading(of: &TargetPrediction) -> &'static str {
    // An emulated server that does what it was asked shows that formula and server agree, and no more.
    if of.demo { "self-consistency, not proof" } else { "the claim against this storage" }
}

/// `agrees`, `38 % below`, `2.4 x the prediction`.
pub(crate) fn difference(of: &CellPrediction) -> String {
    let ratio = of.ratio();
    match ratio {
        _ if of.agrees() => "agrees".to_owned(),
        TIMES.. => format!("{ratio:.1} x the prediction"),
        1.0.. => format!("{:.0} % above", (ratio - 1.0) * 100.0),
        _ => format!("{:.0} % below", (1.0 - ratio) * 100.0),
    }
}

/// `read 130 kB: the line asks for 9,216/s: 290 in flight, 37.7 MB; at least 14 connections; 2 prefixes; …`.
pub(crate) fn asks(of: &LineAsks) -> String {
    let bytes = |bytes: f64| format_bytes(bytes.round() as u64);
    let in_flight =
        of.in_flight.map(|held| format!("{} in flight, {}", format_count(held.requests), bytes(held.bytes)));
    let connections =
        of.connections.map(|count| format!("at least {}", counted(count, "connection", "connections")));
    let prefixes = of.prefixes.map(|count| counted(count, "prefix", "prefixes"));
    let transfer = of.transfer.map(|transfer| {
        let (share, half) = (transfer.share * 100.0, bytes(transfer.half_bytes));
        format!("bytes move in {share:.1} % of a read's time, in half of it at {half}")
    });
    let crossover =
        of.crossover_bytes.map(|size| format!("requests bind below {}, bandwidth above", bytes(size)));
    let until =
        of.bursts_to_bps.map(|bps| format!(" once its credits are spent, and {} before", format_bps(bps)));
    let unreachable = of.unreachable.map(|(bound, bps)| {
        let until = until.unwrap_or_default();
        format!("not reached at any depth: {} at {}{until}", bound.words(), format_bps(bps))
    });
    let parts = [in_flight, connections, prefixes, transfer, crossover, unreachable];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let asked =
        format!("{} {}: the line asks for {}/s", of.operation, bytes(of.bytes), format_count(of.ops_per_s));
    if parts.is_empty() { asked } else { format!("{asked}: {}", parts.join("; ")) }
}

fn counted(count: f64, one: &str, several: &str) -> String {
    format!("{} {}", format_count(count), if count > 1.0 { several } else { one })
}

/// `first byte: 30 ms claimed, 10 ms asked of the server`.
pub(crate) fn claim_difference(of: &ClaimDifference) -> String {
    let (name, write): (&str, fn(f64) -> String) = match of.figure {
        ClaimFigure::FirstByte => ("first byte", seconds),
        ClaimFigure::Metadata => ("metadata", seconds),
        ClaimFigure::ConnectionRate => ("connection rate", format_bps),
        ClaimFigure::TotalRate => ("total rate", format_bps),
        ClaimFigure::Requests => ("requests", per_second),
        ClaimFigure::Seek => ("seek", seconds),
    };
    let [claimed, asked] = [of.claimed, of.asked].map(|one| one.map_or_else(|| "nothing".to_owned(), write));
    format!("{name}: {claimed} claimed, {asked} asked of the server")
}

fn seconds(value: f64) -> String {
    format_duration_ns((value * 1e9).round() as u64)
}

fn per_second(value: f64) -> String {
    format!("{}/s", format_count(value))
}

#[cfg(test)]
mod tests {
    use analysis::{InFlightAtLine, Transfer};
    use feed::bounds::Bound;

    use super::*;

    #[test]
    fn the_line_asks_for_depth_connections_and_prefixes() {
        let of = LineAsks {
            operation: "read".to_owned(),
            bytes: 100e3,
            ops_per_s: 9_000.0,
            in_flight: Some(InFlightAtLine { requests: 280.0, bytes: 28e6 }),
            connections: Some(10.0),
            prefixes: Some(1.0),
            transfer: Some(Transfer { share: 0.0357, half_bytes: 2.7e6 }),
            crossover_bytes: None,
            unreachable: Some((Bound::RequestRate, 550e6)),
            bursts_to_bps: None,
        };
        assert_eq!(
            asks(&of),
            "read 100,000 B: the line asks for 9,000/s: 280 in flight, 28 MB; at least 10 connections; 1 prefix; \
             bytes move in 3.6 % of a read's time, in half of it at 2.7 MB; not reached at any depth: \
             request-rate-bound at 550 MB/s"
        );
        let bursts = asks(&LineAsks { bursts_to_bps: Some(5.5e9), ..of });
        assert!(
            bursts
                .ends_with("request-rate-bound at 550 MB/s once its credits are spent, and 5.5 GB/s before"),
            "{bursts}"
        );
    }

    #[test]
    fn what_is_claimed_and_what_the_server_was_asked_for_stand_side_by_side() {
        let of = |figure, claimed, asked| claim_difference(&ClaimDifference { figure, claimed, asked });
        assert_eq!(
            of(ClaimFigure::FirstByte, Some(0.030), Some(0.010)),
            "first byte: 30 ms claimed, 10 ms asked of the server"
        );
        assert_eq!(
            of(ClaimFigure::Seek, None, Some(0.005)),
            "seek: nothing claimed, 5 ms asked of the server"
        );
    }
}
