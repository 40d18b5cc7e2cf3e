//! An open loop: what was offered, what of it was served, and how long it took from the intended time on.
//!
//! An arrival that was not served counts as slower than any that was: percentiles of the response are over all
//! arrivals, and one whose rank falls among those not served has no value.

use hdrhistogram::Histogram;
use record::{Rep, counter};

use crate::figures::Context;
use crate::latency::{enough, merged};
use crate::repetitions::counted;

/// Share of arrivals from which on all count as served.
const ALL_SERVED: f64 = 0.999;

/// An offer is recorded in whole bytes per second, and the line is not one: this much below it still is the line.
const OFFER_STEP_BPS: f64 = 1.0;

/// Keeps a rate that is the line itself from falling below it by the rounding of its own mean.
const ROUNDING: f64 = 1e-9;

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
    /// Those of them that were never issued.
    pub not_issued: u64,
    /// Median from the intended time to the end, over all arrivals.
    pub response_p50: Percentile,
    /// 99th percentile of the same.
    pub response_p99: Percentile,
    /// 99th percentile of the response of those that were issued; absent below 1,000.
    pub issued_p99_ns: Option<u64>,
    /// 99th percentile of what the client, not a full queue, was late by; absent below 1,000 arrivals.
    pub lag_p99_ns: Option<u64>,
}

/// A percentile over all arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Percentile {
    /// Too few arrivals, or no histogram.
    Unknown,
    /// Its value, nanoseconds.
    At(u64),
    /// Its rank falls among the arrivals that were not served.
    NotServed,
}

impl Paced {
    /// Absent for a closed loop, and where no arrival was counted.
    pub(crate) fn of(context: &Context<'_>, used: &[&Rep]) -> Option<Self> {
        context.cell.pace.as_ref()?;
        let sum = |name| used.iter().map(|rep| counted(rep, name)).fold(0, u64::saturating_add);
        let (arrivals, served) = (sum(counter::ARRIVALS), sum(counter::SERVED));
        if arrivals == 0 {
            return None;
        }
        let offered_bps = sum(counter::OFFERED_BPS) as f64 / used.len() as f64;
        let line_bps = context.line_bps();
        let response = merged(used, "response_ns").0;
        let lag = merged(used, "lag_ns").0;
        Some(Self {
            offered_bps,
            of_line: line_bps.map(|line| offered_bps / line),
            offers_line: line_bps.is_some_and(|line| offers(offered_bps, line)),
            arrivals,
            served,
            not_issued: sum(counter::NOT_ISSUED),
            response_p50: percentile(&response, arrivals, served, 0.50),
            response_p99: percentile(&response, arrivals, served, 0.99),
            issued_p99_ns: quantile(&response, 0.99),
            lag_p99_ns: quantile(&lag, 0.99),
        })
    }

    /// Share of the arrivals that were served, 0 to 1.
    pub fn served_share(&self) -> f64 {
        self.served as f64 / self.arrivals as f64
    }

    /// Arrivals that were not served: never issued, or failed.
    pub fn not_served(&self) -> u64 {
        self.arrivals.saturating_sub(self.served)
    }
}

fn offers(offered_bps: f64, line_bps: f64) -> bool {
    offered_bps + OFFER_STEP_BPS >= line_bps
}

/// Bytes per second of one repetition: what was offered, by the share of it that was served.
pub(crate) fn rate_bps(context: &Context<'_>, rep: &Rep) -> f64 {
    let offered_bps = counted(rep, counter::OFFERED_BPS) as f64;
    let at_line = context.line_bps().filter(|line| offers(offered_bps, *line) && offered_bps <= *line);
    let offered_bps = at_line.map_or(offered_bps, |line| line * (1.0 + ROUNDING));
    let share = counted(rep, counter::SERVED) as f64 / counted(rep, counter::ARRIVALS).max(1) as f64;
    if share >= ALL_SERVED { offered_bps } else { offered_bps * share }
}

/// Quantile `q` over `arrivals`, of which the histogram holds the issued ones and `served` ended well.
fn percentile(response: &Histogram<u64>, arrivals: u64, served: u64, q: f64) -> Percentile {
    if response.is_empty() || !enough(arrivals, q) {
        return Percentile::Unknown;
    }
    let rank = (q * arrivals as f64).ceil();
    if rank > served.min(response.len()) as f64 {
        return Percentile::NotServed;
    }
    Percentile::At(response.value_at_quantile(rank / response.len() as f64))
}

fn quantile(histogram: &Histogram<u64>, q: f64) -> Option<u64> {
    enough(histogram.len(), q).then(|| histogram.value_at_quantile(q))
}

#[cfg(test)]
mod tests;
