//! A reason to doubt a figure, in words, and what to do about it.

use std::collections::BTreeMap;

use analysis::{Bound, CellSummary, Crowd, Flag, GIVEN_UP_MAX, Measurement, STEPS_MIN, TURNS_MIN};
use feed::{Flow, counted_noun, format_bytes, format_duration_ns, group_digits};
use record::Elsewhere;

use super::share::{percent, utilization};
use super::{bound, gap, kinds, slow_ranks};

/// Reasons to doubt a cell with their words; those of the fresh repetitions that the others do not have say so, and stand
/// last.
pub(crate) fn doubts(cell: &CellSummary) -> Vec<(&Flag, String)> {
    let said: Vec<(&Flag, String)> = cell.measured.flags().iter().map(|flag| (flag, words(flag))).collect();
    let fresh = cell.confirmed.iter().flat_map(Measurement::flags).map(|flag| (flag, words(flag)));
    let new = fresh.filter(|(_, words)| said.iter().all(|(_, known)| known != words));
    let new: Vec<_> = new.map(|(flag, words)| (flag, format!("confirmation: {words}"))).collect();
    said.into_iter().chain(new).collect()
}

/// Short, for the end of a table row.
pub(crate) fn words(flag: &Flag) -> String {
    let count = |number: &u32, noun: &str| counted_noun((*number).into(), noun);
    match flag {
        Flag::ClientLimited { ceiling_share, cpu_share, nic_share, core_share, null_au } => {
            client_limited(*ceiling_share, *null_au, [*cpu_share, *nic_share, *core_share])
        }
        Flag::NotCold { resident } => not_as_asked("cold", "cold", *resident),
        Flag::NotWarm { resident } => not_as_asked("warm", "warm", *resident),
        Flag::NotBypassed { resident } => format!("not bypassed: {} resident after", percent(*resident)),
        Flag::NotWritten { share } => format!("the device took {} of what was written", percent(*share)),
        Flag::NotFlushed { flushes, writes } => not_flushed(*flushes, *writes),
        Flag::FlushedAtOnce { mean_ns } => flushed_at_once(*mean_ns),
        Flag::NotDropped { resident } => not_as_asked("dropped", "dropping at once", *resident),
        Flag::TooShort { window_ns, .. } => {
            format!("window of {} is too short", format_duration_ns(*window_ns))
        }
        Flag::OneSided { kind, .. } => one_sided(*kind),
        Flag::FewTurns { turns, .. } => few_turns(*turns),
        Flag::FewSteps { steps, .. } => {
            format!("{} of an accelerator: {STEPS_MIN} are needed", counted_noun(*steps, "step"))
        }
        Flag::NotSteady { repetitions, made, range, slope, .. } => {
            not_steady((*repetitions, *made), *range, *slope)
        }
        Flag::Bursts { fall, in_windows, .. } => bursts(*fall, *in_windows),
        Flag::Drifts { change, over_ns } => drifts(*change, *over_ns),
        Flag::DatasetChanged => "the files changed during the run".to_owned(),
        Flag::GoneOnElsewhere(what) => gone_on_elsewhere(what),
        Flag::NotLookedAt { reason } => {
            format!("whether the files changed during the run is not known: {reason}")
        }
        Flag::WrongBytes { found, checked } => {
            format!("{} of {} checked reads held wrong bytes", group_digits(*found), group_digits(*checked))
        }
        Flag::NotReread { unread, of, kinds } => not_reread(*unread, *of, kinds),
        Flag::Errors { share, of_rarer, kinds, .. } => errors(*share, *of_rarer, kinds),
        Flag::FailedRepetitions { failed, made, reason } => {
            format!("{failed} of {made} repetitions failed: {}", gap::words(reason))
        }
        Flag::Missing { repetitions, reason } => {
            format!("{} not run: {}", count(repetitions, "repetition"), gap::words(reason))
        }
        Flag::Stolen { share } => format!("{} of CPU stolen", percent(*share)),
        Flag::Waited { share, crowd } => waited(*share, crowd.as_ref()),
        Flag::OthersRead { share, names } => {
            format!("others read {} of what the device delivered{}", percent(*share), named(names))
        }
        Flag::OthersWrote { share } => {
            format!("{} of the bytes that the device moved were written by others", percent(*share))
        }
        Flag::Faulted { faults, per_op } => faulted(*faults, *per_op),
        Flag::Abandoned { reads } => format!("{} abandoned", counted_noun(*reads, "read")),
        Flag::Exhausted { .. } => "dataset read once before the window ended".to_owned(),
        Flag::RanOut { steps, asked, .. } => ran_out(*steps, *asked),
        Flag::Clamped { reads } => clamped(*reads),
        Flag::NoHistogram { repetitions } => {
            format!("latencies of {} missing", count(repetitions, "repetition"))
        }
        Flag::Opened { files } => opened(*files),
        Flag::NamesInMemory => NAMES_IN_MEMORY.to_owned(),
        Flag::Merged { request_bytes, block_bytes, submit_batch } => {
            merged(*request_bytes, *block_bytes, *submit_batch)
        }
        Flag::LateClient { lag_and_response_p99_ns, given_up, .. } => {
            late(*lag_and_response_p99_ns, *given_up)
        }
        Flag::OfferedLess { share, in_steps } => offered_less(*share, *in_steps),
        Flag::NotFromStorage { share, compresses } => not_from_storage(*share, *compresses),
        Flag::InMemory { kind } => format!("the device is memory{}", in_brackets(Some(kind))),
        Flag::NotServed { share, .. } => format!("{} of arrivals not served", percent(*share)),
        Flag::NotEmulated { metadata, asked_ns, achieved_ns, .. } => {
            not_emulated(*metadata, *asked_ns, *achieved_ns)
        }
        Flag::Throttled { share, first } => {
            format!("{} throttled{}", percent(*share), in_brackets(first.as_ref()))
        }
        Flag::Retried { percentile, service_ns, attempt_ns } => retried(percentile, *service_ns, *attempt_ns),
        Flag::Recovered { operations, share, kinds } => recovered(*operations, *share, kinds),
        Flag::ConnectionsLost { connections } => format!("{} lost", counted_noun(*connections, "connection")),
        Flag::Unbalanced { busiest, share, addresses } => {
            format!("{busiest} had {} of the messages, of {addresses} addresses", percent(*share))
        }
        Flag::SlowRanks(of) => slow_ranks::words(of),
        Flag::DelayedAck { p50_ns } => delayed_ack(*p50_ns),
        Flag::NotDecoded { samples, share, first } => not_decoded(*samples, *share, first.as_deref()),
        Flag::WaitsElsewhere { cause, share } => waited_elsewhere(*cause, *share),
        Flag::FillsDecide { long_run } => {
            format!("short epochs: without their fills AU {} is foretold", utilization(*long_run))
        }
        Flag::LongFill { share, first_batch_ns } => long_fill(*share, *first_batch_ns),
        Flag::AuApart { dlio_au, .. } => format!("AU {} as DLIO counts it", utilization(*dlio_au)),
        Flag::NotAsPredicted { predicted, .. } => {
            format!("AU {} foretold by closed-loop reads", utilization(*predicted))
        }
        Flag::SavesFailed { saves, reason } => format!("{} failed: {reason}", counted_noun(*saves, "save")),
        Flag::HostsBelow { hosts, of, least } => hosts_below(hosts, *of, *least),
        Flag::StandsIn { asked } => format!("stands in for {asked}"),
    }
}

fn gone_on_elsewhere(what: &[Elsewhere]) -> String {
    let what: Vec<&str> = what.iter().map(|one| one.name()).collect();
    format!("{} changed as the run was gone on with", what.join(", "))
}

fn few_turns(turns: f64) -> String {
    format!("window of {turns:.1} reads at each place of the queue: {TURNS_MIN:.0} are needed")
}

fn errors(share: f64, of_rarer: Option<f64>, kinds: &BTreeMap<String, u64>) -> String {
    let of_rarer = of_rarer.map(|share| format!(" (up to {} of its rarer kind)", percent(share)));
    format!("{} errors{}: {}", percent(share), of_rarer.unwrap_or_default(), kinds::errors(kinds))
}

fn waited_elsewhere(cause: Bound, share: f64) -> String {
    format!("not the storage: {} for {} of the time", bound::words(cause), percent(share))
}

/// Hosts that are named one by one.
const HOSTS_NAMED_MAX: usize = 4;

fn hosts_below(hosts: &[String], of: u32, least: f64) -> String {
    let named = hosts.iter().take(HOSTS_NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = hosts.len().saturating_sub(HOSTS_NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let each = if hosts.len() > 1 { ", the least" } else { "" };
    format!("of {of} hosts {named}{more} had less than its part of the line{each} {}", percent(least))
}

const NAMES_IN_MEMORY: &str = "names and inodes, or their blocks on the device, stayed in memory (root with access to \
                               the device drops them)";

fn client_limited(ceiling: Option<f64>, null_au: Option<f64>, shares: [Option<f64>; 3]) -> String {
    let au = null_au.map(|au| format!("AU {} without storage", utilization(au)));
    let ceiling = ceiling.map(|share| format!("{} of ceiling", percent(share)));
    // A kernel thread that works for this process may add to what its own threads can use.
    let share = |(name, share): (&str, Option<f64>)| Some(format!("{name} {}", percent(share?.min(1.0))));
    let shares = ["CPU", "NIC", "busiest core"].into_iter().zip(shares).filter_map(share);
    let parts = au.into_iter().chain(ceiling).chain(shares);
    std::iter::once("CLIENT-LIMITED".to_owned()).chain(parts).collect::<Vec<_>>().join(", ")
}

/// Of a state of the page cache, and of what brings it about.
fn not_as_asked(state: &str, proven: &str, resident: Option<f64>) -> String {
    match resident {
        Some(share) => format!("not {state}: {} resident", percent(share)),
        // Unknown and wrong are told apart: the one is mended by another file system, the other by stopping a
        // reader.
        None => format!("{proven} not proven"),
    }
}

fn sign(change: f64) -> &'static str {
    if change < 0.0 { "-" } else { "" }
}

fn bursts(fall: f64, in_windows: bool) -> String {
    let fall = percent(fall);
    if in_windows {
        format!("throughput falls by {fall} within every window, as burst credits do")
    } else {
        format!("throughput fell by {fall} at once during the run, as burst credits do")
    }
}

fn drifts(change: f64, over_ns: u64) -> String {
    let verb = if change < 0.0 { "fell" } else { "rose" };
    format!("drifts: throughput {verb} by {} over {}", percent(change.abs()), format_duration_ns(over_ns))
}

fn not_reread(unread: u64, of: u64, kinds: &BTreeMap<String, u64>) -> String {
    let (unread, of, kinds) = (group_digits(unread), group_digits(of), kinds::errors(kinds));
    format!("{unread} of {of} reads could not be made again to compare bytes: {kinds}")
}

fn waited(share: f64, crowd: Option<&Crowd>) -> String {
    let waited = format!("own threads waited for a processor {} of the time", percent(share));
    let Some(Crowd { own_cores, others_cores, cores, names }) = crowd else { return waited };
    // Others are blamed only where they used more than this process: its own threads wait for each other too.
    if crowd.is_some_and(Crowd::is_of_others) {
        format!("{waited}: other processes held {others_cores:.1} of {cores} cores{}", named(names))
    } else {
        format!("{waited}: this process used {own_cores:.1} of {cores} cores, all others {others_cores:.1}")
    }
}

fn faulted(faults: u64, per_op: f64) -> String {
    let faults = counted_noun(faults, "page fault");
    format!("own memory was read from storage: {faults}, {per_op:.2} for each operation")
}

/// ` (stress-ng, tar)`.
fn named(names: &[String]) -> String {
    in_brackets(Some(&names.join(", ")))
}

/// Nothing of what is not known, or empty.
fn in_brackets(words: Option<&String>) -> String {
    words.filter(|words| !words.is_empty()).map(|words| format!(" ({words})")).unwrap_or_default()
}

fn ran_out(steps: u64, asked: Option<u64>) -> String {
    let asked = asked.map(|asked| format!(" of {}", group_digits(asked))).unwrap_or_default();
    format!("dataset read once after {}{asked} steps", group_digits(steps))
}

fn clamped(reads: u64) -> String {
    let latencies = if reads == 1 { "latency" } else { "latencies" };
    format!("{} {latencies} above 60 s", group_digits(reads))
}

fn opened(files: u64) -> String {
    format!("{} opened inside the windows, because not all could be held", counted_noun(files, "file"))
}

fn merged(request_bytes: u64, block_bytes: u64, submit_batch: Option<u32>) -> String {
    let batch = submit_batch.map(|batch| format!("; submit_batch {batch}")).unwrap_or_default();
    format!(
        "requests were merged: {:.0} KiB per device request for blocks of {}{batch}",
        // KiB with no fraction: the device's requests are whole sectors.
        request_bytes as f64 / 1024.0,
        format_bytes(block_bytes)
    )
}

fn late(p99_ns: Option<(u64, u64)>, given_up: f64) -> String {
    let lag = p99_ns.map(|(lag, response)| {
        let (lag, response) = (format_duration_ns(lag), format_duration_ns(response));
        format!("p99 of the lag {lag}, of the response {response}")
    });
    let is_away = given_up > GIVEN_UP_MAX;
    let away = is_away.then(|| format!("{} of arrivals were due while it was away", percent(given_up)));
    let parts: Vec<String> = lag.into_iter().chain(away).collect();
    format!("the client woke late: {}", parts.join("; "))
}

fn offered_less(share: f64, in_steps: bool) -> String {
    // A step is many arrivals at once, and a short window holds a few of them more or less by chance.
    let few = if in_steps { "the window holds too few steps: " } else { "" };
    format!("{few}{} of the rate was offered", percent(share))
}

fn not_from_storage(share: f64, compresses: bool) -> String {
    let share = percent(share);
    if compresses {
        format!("{share} of the bytes asked: compressed, not read from storage")
    } else {
        format!("{share} of the bytes asked have no storage behind them")
    }
}

fn not_emulated(metadata: bool, asked_ns: u64, achieved_ns: u64) -> String {
    let of = if metadata { " of names and attributes" } else { "" };
    let (asked, achieved) = (format_duration_ns(asked_ns), format_duration_ns(achieved_ns));
    format!("not as emulated: delays{of} of {achieved} (p50) where {asked} were asked")
}

fn retried(percentile: &str, service_ns: u64, attempt_ns: u64) -> String {
    let (service, attempt) = (format_duration_ns(service_ns), format_duration_ns(attempt_ns));
    format!("retries: {percentile} {service} of operations, {attempt} of attempts")
}

fn recovered(operations: u64, share: f64, failed: &BTreeMap<String, u64>) -> String {
    let failed = kinds::attempts(failed, |_| true);
    let failed = if failed.is_empty() { failed } else { format!(" (failed: {failed})") };
    let operations = group_digits(operations);
    format!("{operations} recovered by another attempt, {} of all{failed}", percent(share))
}

fn delayed_ack(p50_ns: u64) -> String {
    format!(
        "small reads at {} throughout: Nagle's algorithm against delayed ACK on the server",
        format_duration_ns(p50_ns)
    )
}

fn not_decoded(samples: u64, share: f64, first: Option<&str>) -> String {
    let first = first.map(|words| format!(" (the first: {words})")).unwrap_or_default();
    format!("{} not decoded, {} of all{first}", counted_noun(samples, "sample"), percent(share))
}

fn not_flushed(flushes: u64, writes: u64) -> String {
    let (flushes, writes) = (counted_noun(flushes, "time"), counted_noun(writes, "write"));
    format!("the device was flushed {flushes} for {writes} that were to be kept")
}

fn flushed_at_once(mean_ns: f64) -> String {
    format!(
        "a flush took {} in the mean, and the device says that it turns: a hypervisor or a cache with a battery answers for it, or \
         nothing is kept",
        format_duration_ns(mean_ns.round() as u64)
    )
}

/// The windows count that are beyond either bound; each figure is of the window where it is worst.
fn not_steady((repetitions, made): (u32, u32), range: f64, slope: f64) -> String {
    let (range, sign, slope) = (percent(range), sign(slope), percent(slope.abs()));
    format!("not steady in {repetitions} of {made} windows: range {range}, slope {sign}{slope} at worst")
}

fn long_fill(share: f64, first_batch_ns: u64) -> String {
    format!("first batch after {}, {} of the job", format_duration_ns(first_batch_ns), percent(share))
}

/// What to do about it.
pub(crate) fn advice(flag: &Flag) -> &'static str {
    match flag {
        Flag::ClientLimited { ceiling_share, cpu_share, nic_share, null_au, .. } => {
            of_client([null_au, nic_share, ceiling_share, cpu_share])
        }
        Flag::NotCold { resident: None } => {
            "use load.cache = \"bypass\", or a file system whose residency the kernel reports"
        }
        Flag::NotCold { .. } => "stop what else reads these files, or use load.cache = \"bypass\"",
        Flag::NotWarm { .. } => "use a dataset that fits into memory, or load.cache = \"bypass\"",
        Flag::NotBypassed { .. } => SERVED_FROM_CACHE,
        Flag::NotWritten { .. } => NOT_HONOURED,
        Flag::NotFlushed { .. } => NO_BARRIER,
        Flag::FlushedAtOnce { .. } => WHO_ANSWERS,
        Flag::NotDropped { resident: None } => "use load.cache = \"bypass\" or \"cold\"",
        Flag::NotDropped { .. } => "read-ahead left pages that no read used: read more, or larger blocks",
        Flag::TooShort { .. } => "use a longer measure.duration, or a larger dataset for a cold cell",
        Flag::OneSided { .. } => "use a longer measure.duration, or a smaller load.block_size",
        Flag::FewTurns { .. } => {
            "use a longer measure.duration, a smaller load.block_size or a shallower load.queue_depth"
        }
        Flag::FewSteps { .. } => "let the job make more steps, or measure for longer",
        Flag::NotSteady { .. } => {
            "use a longer measure.warmup and measure.duration, and a machine that does nothing else"
        }
        Flag::Bursts { .. } => {
            "use a measure.warmup that spends the credits, or a measure.duration that outlasts them"
        }
        Flag::Drifts { .. } => {
            "look for what changed during the run: other users, heat, a device that fills or recovers"
        }
        Flag::DatasetChanged => "leave the files alone during a run, and run again",
        Flag::GoneOnElsewhere(_) => "run it anew: what two clients measured is no figure of either",
        Flag::NotLookedAt { .. } => "run again once the storage answers",
        Flag::WrongBytes { .. } => {
            "trust no figure of this storage; look for what corrupts or rewrites its files"
        }
        Flag::NotReread { .. } => {
            "run again once the storage answers, to know that its bytes came as they lie"
        }
        Flag::Errors { .. } => "look for the first error in cells.jsonl and in the kernel's log",
        Flag::FailedRepetitions { .. } => "remove the cause and run again",
        Flag::Missing { .. } => "raise measure.budget or run fewer cells",
        Flag::Stolen { .. } => "measure on a machine whose processors are not shared",
        Flag::Waited { .. } if flag.is_crowd() => STOP_OTHERS,
        Flag::Waited { .. } => "give the client more processors, or fewer threads",
        Flag::OthersRead { .. } => STOP_READERS,
        Flag::OthersWrote { .. } => STOP_WRITERS,
        Flag::Faulted { .. } => ENOUGH_MEMORY,
        Flag::Abandoned { .. } => "the storage stalled at the end; look at the tail of the latencies",
        Flag::Exhausted { .. } => "use a larger dataset for a full window",
        Flag::RanOut { .. } => "use a larger dataset for all steps",
        Flag::Clamped { .. } => "reads took longer than 60 s; p99.9 is a lower bound",
        Flag::NoHistogram { .. } => "latencies are of the other repetitions alone",
        Flag::Opened { .. } => "raise `ulimit -n`, or use fewer files, to measure reads alone",
        Flag::NamesInMemory => "run as root with access to the device, or take opening as served from memory",
        Flag::Merged { .. } => {
            "use a smaller load.submit_batch, or larger blocks, to give the device its depth"
        }
        Flag::LateClient { spins: true, .. } => {
            "use fewer arrivals per second, or a client with idle processors"
        }
        Flag::LateClient { .. } => {
            "use load.spin, fewer arrivals per second, or a client with idle processors"
        }
        Flag::OfferedLess { in_steps: true, .. } => "make measure.duration at least 20 steps",
        Flag::OfferedLess { .. } => "use a longer measure.duration",
        Flag::NotFromStorage { .. } => {
            "use files whose bytes are all on storage, or take these as served without it"
        }
        Flag::InMemory { .. } => "use a device that is not memory",
        Flag::NotServed { .. } => {
            "the storage does not keep up, or load.queue_depth is too small for this rate"
        }
        Flag::NotEmulated { .. } => SLOWER_SERVER,
        Flag::Throttled { .. } => FEWER_REQUESTS,
        Flag::Retried { .. } => "compare both percentiles: the difference is waiting, not the storage",
        Flag::Recovered { .. } => SERVER_LOG,
        Flag::ConnectionsLost { .. } => {
            "look for time-outs and limits of connections on the server and between"
        }
        Flag::Unbalanced { .. } => EVEN_CONNECTIONS,
        Flag::SlowRanks(_) => SLOW_HOSTS,
        Flag::DelayedAck { .. } => NO_DELAY,
        Flag::NotDecoded { .. } => DECODED_BY_ITS_FORMAT,
        Flag::WaitsElsewhere { cause, .. } => waits_elsewhere(*cause),
        Flag::FillsDecide { .. } => LONGER_EPOCHS,
        Flag::LongFill { .. } => "let the job make more steps: the first fill comes once",
        Flag::AuApart { .. } => {
            "compare figures of one definition alone; DLIO leaves out first steps and the time of checkpoints"
        }
        Flag::NotAsPredicted { .. } => IN_FLIGHT_OR_CACHED,
        Flag::SavesFailed { .. } => "let the job save: its reads were judged without what saves cost them",
        Flag::HostsBelow { .. } => "look for what sets those hosts apart, such as their links or mounts",
        Flag::StandsIn { .. } => "see the reason; compare it with no figure of the engine asked for",
    }
}

const IN_FLIGHT_OR_CACHED: &str =
    "look at how many reads were in flight, and at caches that one of both cells may have met";
const DECODED_BY_ITS_FORMAT: &str =
    "look at first_decode_failure in cells.jsonl; give training.decode what the files hold";
const LONGER_EPOCHS: &str =
    "storage is not judged by it: use a larger dataset and more steps, so that fills are a smaller part";
const SERVED_FROM_CACHE: &str = "this file system serves direct I/O from the page cache; use load.cache = \"cold\", or for writes \
                                 \"warm\" with load.durability = \"data\"";
const NOT_HONOURED: &str = "something between holds what is said to be kept: look for a cache without a battery, or O_DIRECT that \
                            is not honoured";
const NO_BARRIER: &str = "look for a file system that is mounted without barriers (nobarrier, barrier=0), or one that flushes nothing";
const WHO_ANSWERS: &str =
    "ask who answers a flush: until that is known, trust no write to outlive a power cut";
const STOP_OTHERS: &str =
    "storage is not judged by it: stop what else runs on this machine, and measure again";
const STOP_READERS: &str =
    "storage is not judged by it: stop what else reads from this device, and measure again";
const STOP_WRITERS: &str =
    "storage is not judged by it: stop what else writes to this device, and measure again";
const ENOUGH_MEMORY: &str = "storage is not judged by it: this process was swapped out, or its program dropped from memory; \
                             stop what else needs memory, or lower load.queue_depth and load.block_size";
const SLOWER_SERVER: &str =
    "use fewer requests a second, longer delays, or a machine with idle processors for the server";
const FEWER_REQUESTS: &str =
    "spread objects over more prefixes, use fewer requests outstanding, or ask for a higher limit";
const SERVER_LOG: &str =
    "look for what failed in the server's log: an application that does not try again would have failed";
const EVEN_CONNECTIONS: &str =
    "use connections in multiples of the addresses, or look at how the name is resolved";
const SLOW_HOSTS: &str =
    "look at the link, the mount and the processors of these hosts: a job in step is as slow as the slowest";
const NO_DELAY: &str =
    "set TCP_NODELAY on the server, or read more than 64 KiB at once; a packet capture shows the pauses";

fn one_sided(kind: Flow) -> String {
    let kind = if kind == Flow::Writes { "write" } else { "read" };
    format!("window too short: no {kind} fell into it")
}

/// By what of this client is above its limit: utilization without storage, interface, ceiling, processor time. Where none
/// of them is, one processor alone is.
fn of_client(limits: [&Option<f64>; 4]) -> &'static str {
    match limits.map(Option::is_some) {
        [true, ..] => "use more processors, or fewer accelerators on this client",
        [_, true, ..] => "the network interface is full: use a faster one, or several clients",
        [_, _, true, _] => "use larger blocks, more threads or more processors",
        [.., true] => "give the client more processors, larger blocks or fewer threads",
        _ => "one processor is full: spread receiving over several (RSS, RPS), or use several clients",
    }
}

/// Where most of what accelerators waited for is not the storage's.
fn waits_elsewhere(cause: Bound) -> &'static str {
    match cause {
        Bound::Decode => "storage is not judged by it: use faster decoding, more threads for it, or none",
        Bound::Startup => "storage is not judged by it: use longer epochs, or no time for readers to start",
        Bound::Others => STOP_OTHERS,
        _ => "storage is not judged by it: use more processors, or fewer accelerators on this client",
    }
}

#[cfg(test)]
#[path = "flag/tests.rs"]
mod tests;
