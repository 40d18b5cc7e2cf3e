//! An open loop: what was offered, what of it was served, and how long it took from the intended time on.
//!
//! An arrival that was not served counts as slower than any that was: percentiles of the response are over all
//! arrivals, and one whose rank falls among those not served has no value.

use record::{Outcome, Rep, counter};

use crate::cell::context::Context;
use crate::cell::counters::counted;
use crate::cell::counters::per_s;
use crate::cell::latency::{Merged, Percentile, SERVICE, enough, merged, percentile, quantile};

/// Name of the histogram in a repetition: intended start to completion.
pub(crate) const RESPONSE: &str = "response_ns";

// A Poisson schedule always has an arrival under way as the window closes. Counting it as lost would put every paced rate just
// below the line that it offers.
/// The same of the reads and of the writes of a mix.
const KINDS: [&str; 2] = ["response_read_ns", "response_write_ns"];

/// Share of arrivals from which on all count as served.
const ALL_SERVED: f64 = 0.999;

/// An offer is recorded in whole bytes per second, and the line is not one: this much below it still is the line.
const OFFER_STEP_BPS: f64 = 1.0;

/// Keeps a rate that is the line itself from falling below it by the rounding of its own mean.
const ROUNDING: f64 = 1e-9;

// Without a bound, a storage that takes a second for each read has the arrivals of a second in flight, and a shortfall of that
// size would pass for edges.
/// Share of the arrivals that may still be in flight as the window closes without missing from the rate.
const IN_FLIGHT_MAX: f64 = 0.01;

// The response holds the lag: up to a tenth of its p99, the storage still is what is waited for.
/// Share of the response's p99 above which the client's own lateness is part of what was measured.
pub(crate) const LAG_SHARE_MAX: f64 = 0.10;

/// What a paced load offered and got, over the repetitions used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paced {
    /// Bytes per second offered.
    pub offered_bps: f64,
    /// The same by the line; absent without a line.
    pub of_line: Option<f64>,
    /// Whether it offers the line or more; below it nothing can be said of the line.
    pub offers_line: bool,
    /// Operations that were to begin in the windows.
    pub arrivals: u64,
    /// Those of them that were issued and ended well.
    pub served: u64,
    /// Share of what was offered that the rate counts: of what was served, no more than what ended inside the
    /// windows and what was in flight as they closed. 0 to 1.
    pub kept_share: f64,
    /// Bytes per second of the arrivals themselves by what was to be offered; 1 where that is not known.
    pub real_share: f64,
    /// Those of them that were never issued.
    pub not_issued: u64,
    /// Those of the latter that were due while the client was away although it had room for them.
    pub given_up: u64,
    /// Median from the intended time to the end, over all arrivals.
    pub response_p50: Percentile,
    /// 99th percentile of the same.
    pub response_p99: Percentile,
    /// The response of reads and of writes; absent of a load that does one of them, and where they were not recorded apart.
    pub kinds: Option<[KindResponse; 2]>,
    /// 99th percentile of the response of those that were issued; absent below 1,000.
    pub issued_p99_ns: Option<u64>,
    /// 99th percentile of what the client, not a full queue, was late by; absent below 1,000 arrivals.
    pub lag_p99_ns: Option<u64>,
}

/// How long reads took from the intended time on, or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindResponse {
    /// Those that were issued and ended well.
    pub served: u64,
    /// 99th percentile, as if every arrival that was not served had been of this kind: nobody knows which it was.
    pub p99: Percentile,
}

impl Paced {
    /// Absent for a closed loop, and where no arrival was counted.
    pub(crate) fn of(context: &Context<'_>, used: &[&Rep], merged: &Merged<'_>) -> Option<Self> {
        context.cell.pace.as_ref()?;
        let sum = |name| used.iter().map(|rep| counted(rep, name)).fold(0, u64::saturating_add);
        let (arrivals, served) = (sum(counter::ARRIVALS), sum(counter::SERVED));
        if arrivals == 0 {
            return None;
        }
        let offered_bps = sum(counter::OFFERED_BPS) as f64 / used.len() as f64;
        let line_bps = context.line_bps();
        let (response, lag) = (merged.named(RESPONSE), merged.named("lag_ns"));
        Some(Self {
            offered_bps,
            of_line: line_bps.map(|line| offered_bps / line),
            offers_line: line_bps.is_some_and(|line| offers(offered_bps, line)),
            arrivals,
            served,
            kept_share: kept(context, used),
            real_share: real_share(used).unwrap_or(1.0),
            not_issued: sum(counter::NOT_ISSUED),
            given_up: sum(counter::GIVEN_UP),
            response_p50: percentile(&response, arrivals, served, 0.50),
            response_p99: percentile(&response, arrivals, served, 0.99),
            kinds: kinds(merged, arrivals.saturating_sub(served)),
            issued_p99_ns: quantile(&response, 0.99),
            lag_p99_ns: quantile(&lag, 0.99),
        })
    }

    /// Share of the arrivals that were served, 0 to 1.
    pub fn served_share(&self) -> f64 {
        self.served as f64 / self.arrivals as f64
    }

    /// Whether the rate counts all that was offered.
    pub fn keeps_up(&self) -> bool {
        self.kept_share >= ALL_SERVED
    }

    /// Arrivals that were not served: never issued, or failed.
    pub fn not_served(&self) -> u64 {
        self.arrivals.saturating_sub(self.served)
    }
}

fn kinds(merged: &Merged<'_>, not_served: u64) -> Option<[KindResponse; 2]> {
    let of_kind = |name| {
        let response = merged.named(name);
        let served = response.len();
        let arrivals = served.saturating_add(not_served);
        let p99 = if enough(served, 0.99) {
            percentile(&response, arrivals, served, 0.99)
        } else {
            Percentile::Unknown
        };
        KindResponse { served, p99 }
    };
    Some(KINDS.map(of_kind)).filter(|kinds| kinds.iter().any(|kind| kind.served > 0))
}

fn offers(offered_bps: f64, line_bps: f64) -> bool {
    offered_bps + OFFER_STEP_BPS >= line_bps
}

/// Bytes per second of one repetition: what was offered, by the share of it that kept up.
///
/// A repetition whose dataset was read once ended with its tickets: it moved no more than its bytes by its window.
pub(crate) fn rate_bps(context: &Context<'_>, rep: &Rep) -> f64 {
    let offered_bps = counted(rep, counter::OFFERED_BPS) as f64;
    // `rate = "line"` asks for the line itself. Its offer is a whole number of bytes and would else fall short of it by less
    // than one.
    let at_line = context.line_bps().filter(|line| offers(offered_bps, *line) && offered_bps <= *line);
    let offered_bps = at_line.map_or(offered_bps, |line| line * (1.0 + ROUNDING));
    let share = share_of(context, rep);
    let rate_bps = if share >= ALL_SERVED { offered_bps } else { offered_bps * share };
    if rep.outcome == Outcome::Exhausted { rate_bps.min(per_s(rep, counter::BYTES)) } else { rate_bps }
}

/// Share of the arrivals of one repetition that kept up: served, and ended inside the window or in flight as it
/// closed. A deep queue that only grows is emptied after the window, which is no rate.
fn share_of(context: &Context<'_>, rep: &Rep) -> f64 {
    let count = |name| counted(rep, name) as f64;
    let arrivals = count(counter::ARRIVALS).max(1.0);
    let depth = f64::from(context.cell.queue_depth);
    let slack = in_flight(rep).unwrap_or(depth).min(IN_FLIGHT_MAX * arrivals);
    (count(counter::SERVED) / arrivals).min((count(counter::OPS) + slack) / arrivals)
}

/// Reads in flight in the mean, by Little's law; `None` where their latencies cannot be read.
pub(crate) fn in_flight(rep: &Rep) -> Option<f64> {
    let (service, unreadable) = merged(&[rep], SERVICE);
    let in_flight = per_s(rep, counter::OPS) * service.mean() / 1e9;
    (unreadable == 0 && !service.is_empty() && in_flight.is_finite()).then_some(in_flight)
}

fn kept(context: &Context<'_>, used: &[&Rep]) -> f64 {
    let arrivals = |rep: &Rep| counted(rep, counter::ARRIVALS) as f64;
    let kept: f64 = used.iter().map(|rep| share_of(context, rep) * arrivals(rep)).sum();
    kept / used.iter().map(|rep| arrivals(rep)).sum::<f64>()
}

/// What the arrivals offered by what they were to offer. A window of few steps of a batch may hold one less; where
/// the tickets ran out the window is no measure of it.
fn real_share(used: &[&Rep]) -> Option<f64> {
    let whole: Vec<&Rep> = used.iter().copied().filter(|rep| rep.outcome != Outcome::Exhausted).collect();
    let sum = |name| whole.iter().map(|rep| counted(rep, name) as f64).sum::<f64>();
    let seconds = |rep: &&Rep| rep.window_ns as f64 / 1e9;
    let meant: f64 = whole.iter().map(|rep| counted(rep, counter::OFFERED_BPS) as f64 * seconds(rep)).sum();
    let real = sum(counter::ARRIVALS) * sum(counter::BYTES) / sum(counter::OPS) / meant;
    real.is_finite().then_some(real)
}

#[cfg(test)]
mod tests;
