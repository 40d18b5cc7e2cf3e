//! Reasons to doubt figures of storage behind a network.

use std::ops::RangeInclusive;

use record::{Cell, HistogramText, Rep, counter};

use super::counts::{addresses, attempt_errors, busiest_core, is_remote, throttled_share};
use crate::cell::context::Context;
use crate::cell::counters::sum;
use crate::cell::flag::Flag;
use crate::cell::latency::{Latency, Merged, SERVICE};
use crate::cell::operation;

// A DEMO that is further off demonstrates another storage than the one it is named after.
/// Share of what was asked of an emulated server by which it may miss it, by the medians.
const EMULATED_APART_MAX: f64 = 0.10;

// The median of 100 lies within ten ranks of the true one with 95 %.
/// Samples below which a median says nothing of a server or of a signature.
const SAMPLES_MIN: u64 = 100;

/// A delayed acknowledgement takes 40 ms on Linux (`TCP_DELACK_MIN`, include/net/tcp.h): with Nagle's algorithm (RFC
/// 896) on the server, the last segment of each small reply waits for it. Measured so on RGW, and on s3s without
/// `TCP_NODELAY`: every read at 40 to 45 ms, whatever its size up to 64 KiB.
const DELAYED_ACK_P50_NS: RangeInclusive<u64> = 38_000_000..=48_000_000;

/// Where nine tenths of the reads lie then; a disk or a distant server spreads wider.
const DELAYED_ACK_SPREAD_NS: RangeInclusive<u64> = 36_000_000..=50_000_000;

/// Larger replies fill segments enough to be acknowledged at once.
const DELAYED_ACK_BYTES_MAX: f64 = 65_536.0;

/// Histograms in which the 40 ms show: the whole, and the phases that wait for the server.
const WAITED: [&str; 6] = ["service_ns", "attempt_ns", "headers_ns", "first_byte_ns", "reply_ns", "body_ns"];

// Connections are whole: 8 over 3 addresses give one of them 1.125 times its part by arithmetic alone.
/// What an address may have beyond its equal share of the messages.
const UNBALANCED_MIN: f64 = 1.2;

// Both percentiles come from histograms of the same operations, so that no noise of theirs makes a fifth.
/// p99 or p99.9 of whole operations by that of single attempts, from which on the difference is said.
const RETRY_COST_MIN: f64 = 1.2;

// One in 2,000: half of what lies beyond p99.9 has then waited for a back-off.
/// Share of attempts from which on throttling is said.
const THROTTLED_MIN: f64 = 0.0005;

/// Operations that another attempt recovered, by all attempts, from which on they are said.
const RECOVERED_MIN: f64 = 0.0005;

/// All flags that are of a network alone.
pub(crate) fn flags(context: &Context<'_>, used: &[&Rep], merged: &Merged<'_>) -> Vec<Flag> {
    let not_emulated = [false, true].map(|metadata| not_emulated(used, metadata));
    let others = [
        throttled(used),
        retried(used, merged),
        recovered(used),
        lost(used),
        unbalanced(used),
        delayed_ack(context.cell, context.sample_bytes, used, merged),
    ];
    not_emulated.into_iter().chain(others).flatten().collect()
}

/// The busier direction of the interface towards the storage by its rate; absent where it has none.
pub(crate) fn nic_share(used: &[&Rep]) -> Option<f64> {
    let networks = used.iter().filter_map(|rep| rep.system.network.as_ref());
    // Links are full duplex: the sum of both directions would call a link full at half of its rate.
    let (mut bits, mut possible) = ([0.0; 2], 0.0);
    for network in networks {
        // Loopback and most virtual interfaces state no rate.
        if let Some(speed_bps) = network.speed_bps {
            bits[0] += network.received_bytes as f64 * 8.0;
            bits[1] += network.sent_bytes as f64 * 8.0;
            possible += speed_bps as f64 * network.wall_ns as f64 / 1e9;
        }
    }
    (possible > 0.0).then(|| bits[0].max(bits[1]) / possible)
}

/// The busiest processor's share of the windows, for storage behind a network: receiving may keep one full. A client
/// that spins to wake in time fills one by itself.
pub(crate) fn core_share(cell: &Cell, used: &[&Rep]) -> Option<f64> {
    let spins = cell.pace.as_ref().is_some_and(|pace| pace.spin_ns > 0)
        || cell.training.as_ref().is_some_and(|job| job.spin_ns > 0);
    // On local storage the processor that works most is one that submits: its time is this process's, which the share of
    // processor time holds already.
    busiest_core(used).filter(|_| is_remote(cell, used) && !spins)
}

/// The repetition whose server is furthest from what it was asked, where that is too far.
fn not_emulated(used: &[&Rep], metadata: bool) -> Option<Flag> {
    let medians = |rep: &&Rep| {
        let emulated = rep.emulated.as_ref()?;
        let (asked, achieved) = if metadata {
            (&emulated.metadata_asked_ns, &emulated.metadata_achieved_ns)
        } else {
            (&emulated.asked_ns, &emulated.achieved_ns)
        };
        Some((median(asked.as_ref()?)?, median(achieved.as_ref()?)?))
    };
    let apart = |(asked, achieved): &(u64, u64)| asked.abs_diff(*achieved) as f64 / (*asked).max(1) as f64;
    let pairs: Vec<(u64, u64)> = used.iter().filter_map(medians).collect();
    let far = pairs.iter().filter(|pair| apart(pair) > EMULATED_APART_MAX);
    let repetitions = far.clone().count() as u32;
    let (asked_ns, achieved_ns) = *far.max_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    Some(Flag::NotEmulated { repetitions, metadata, asked_ns, achieved_ns })
}

fn median(text: &HistogramText) -> Option<u64> {
    let histogram = text.decode().ok().filter(|histogram| histogram.len() >= SAMPLES_MIN)?;
    Some(histogram.value_at_quantile(0.5))
}

fn throttled(used: &[&Rep]) -> Option<Flag> {
    let share = throttled_share(used);
    let is_throttled = |rep: &&&Rep| {
        // The first failure of a repetition need not be a refusal; only one of a repetition that was refused may be one.
        rep.errors.contains_key("throttled")
            || rep.counters.contains_key(&format!("{}throttled", counter::ATTEMPT_ERRORS))
    };
    let first = used.iter().filter(is_throttled).find_map(|rep| rep.granted.get("first_failure")).cloned();
    (share >= THROTTLED_MIN).then_some(Flag::Throttled { share, first })
}

fn retried(used: &[&Rep], merged: &Merged<'_>) -> Option<Flag> {
    // Without one, operations and attempts differ by what the client does between them, which is no retry.
    if sum(used, counter::RECOVERED) == 0 {
        return None;
    }
    let [service, attempt] =
        [SERVICE, "attempt_ns"].map(|name| Latency::of_histogram(&merged.named(name), 0));
    let percentiles = [("p99", service.p99_ns, attempt.p99_ns), ("p99.9", service.p999_ns, attempt.p999_ns)];
    let costs = |service_ns: u64, attempt_ns: u64| service_ns as f64 >= RETRY_COST_MIN * attempt_ns as f64;
    // p99 first: where retries are rarer than one in a hundred it does not move, and only p99.9 shows what they cost.
    percentiles.into_iter().find_map(|(percentile, service_ns, attempt_ns)| {
        let (service_ns, attempt_ns) = service_ns.zip(attempt_ns).filter(|(of, by)| costs(*of, *by))?;
        Some(Flag::Retried { percentile, service_ns, attempt_ns })
    })
}

/// Failures that the figures do not show, since another attempt made them good.
pub(super) fn recovered(used: &[&Rep]) -> Option<Flag> {
    let (operations, attempts) = (sum(used, counter::RECOVERED), sum(used, counter::ATTEMPTS));
    let share = operations as f64 / attempts as f64;
    let kinds = || attempt_errors(used);
    (attempts > 0 && share >= RECOVERED_MIN).then(|| Flag::Recovered { operations, share, kinds: kinds() })
}

fn lost(used: &[&Rep]) -> Option<Flag> {
    let connections = sum(used, counter::CONNECTIONS_LOST);
    (connections > 0).then_some(Flag::ConnectionsLost { connections })
}

fn unbalanced(used: &[&Rep]) -> Option<Flag> {
    let addresses = addresses(used);
    let total: u64 = addresses.iter().map(|(_, messages)| messages).sum();
    let (busiest, messages) = addresses.iter().max_by_key(|(_, messages)| *messages)?;
    let share = *messages as f64 / total.max(1) as f64;
    (share * addresses.len() as f64 > UNBALANCED_MIN).then(|| Flag::Unbalanced {
        busiest: busiest.clone(),
        share,
        addresses: addresses.len() as u32,
    })
}

/// The signature of Nagle's algorithm against delayed acknowledgements.
fn delayed_ack(cell: &Cell, sample_bytes: f64, used: &[&Rep], merged: &Merged<'_>) -> Option<Flag> {
    let bytes = if operation::is_of_whole_objects(cell) { sample_bytes } else { cell.block_bytes as f64 };
    let is_small = !operation::is_metadata(cell) && bytes <= DELAYED_ACK_BYTES_MAX;
    // Of a kernel mount the pauses are the kernel's connection's, which feedline can set no option of.
    if cell.connections == 0 || !is_small || asked_for_it(used) {
        return None;
    }
    // Which part waits depends on where the server cuts its reply: between headers and body, or before the last segment.
    WAITED.into_iter().find_map(|name| {
        let histogram = merged.named(name);
        let [p10, p50, p90] = [0.1, 0.5, 0.9].map(|quantile| histogram.value_at_quantile(quantile));
        // The timer of the kernel makes the pause, so all reads have the same. A slow disk with this median spreads wide.
        let is_narrow = DELAYED_ACK_SPREAD_NS.contains(&p10) && DELAYED_ACK_SPREAD_NS.contains(&p90);
        let shows = histogram.len() >= SAMPLES_MIN && DELAYED_ACK_P50_NS.contains(&p50) && is_narrow;
        shows.then_some(Flag::DelayedAck { p50_ns: p50 })
    })
}

/// A server that was asked to take as long does nothing strange.
fn asked_for_it(used: &[&Rep]) -> bool {
    let asked = used.iter().filter_map(|rep| median(rep.emulated.as_ref()?.asked_ns.as_ref()?));
    asked.into_iter().any(|ns| DELAYED_ACK_SPREAD_NS.contains(&ns))
}
