//! What several hosts counted, added up.

use std::collections::BTreeMap;

use super::merged;
use record::{
    CacheProof, Ceiling, Emulated, HistogramSum, HistogramText, Network, NfsMount, Rep, RunRecord, System,
    Trained, Usage,
};

/// Everything that the repetitions of all ranks of `record` counted; the first of them gives what is equal on all. Its outcome
/// and its seconds are not decided here.
pub(super) fn rep(of_ranks: &[&Rep], record: &RunRecord) -> Rep {
    let first = of_ranks[0];
    Rep {
        // A rate is what all moved by the longest of their windows.
        // The longest and not the mean: bytes of all by a shorter time would be a rate that nobody saw.
        window_ns: of_ranks.iter().map(|rep| rep.window_ns).max().unwrap_or(0),
        window_unix_ns: of_ranks.iter().filter_map(|rep| rep.window_unix_ns).max(),
        second_ops: Vec::new(),
        second_bytes: Vec::new(),
        counters: counts(of_ranks.iter().map(|rep| &rep.counters)),
        errors: counts(of_ranks.iter().map(|rep| &rep.errors)),
        histograms: histograms(of_ranks),
        usage: usage(of_ranks, record),
        cache: cache(of_ranks),
        granted: granted(of_ranks),
        system: system(of_ranks, record),
        emulated: emulated(of_ranks),
        trained: trained(of_ranks.iter().map(|rep| rep.trained.as_ref())),
        epochs: merged::epochs(of_ranks),
        checkpoints: merged::checkpoints(of_ranks),
        ..first.clone()
    }
}

/// What the clients of all ranks can do together: the sum of their rates, over the window of the first.
pub(super) fn ceiling(of_ranks: &[&Ceiling]) -> Ceiling {
    let first = of_ranks[0];
    let sum = |count: fn(&Ceiling) -> u64| {
        let rates = of_ranks.iter().filter(|one| one.window_ns > 0);
        // Each host measured its ceiling by itself, for as long as it took.
        rates.map(|one| count(one) as f64 * first.window_ns as f64 / one.window_ns as f64).sum::<f64>() as u64
    };
    Ceiling {
        ops: sum(|one| one.ops),
        bytes: sum(|one| one.bytes),
        cpu_ns: sum(|one| one.cpu_ns),
        trained: trained(of_ranks.iter().map(|one| one.trained.as_ref())),
        ..first.clone()
    }
}

fn counts<'a>(of_ranks: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (name, count) in of_ranks.flatten() {
        let sum = sums.entry(name.clone()).or_insert(0_u64);
        *sum = sum.saturating_add(*count);
    }
    sums
}

fn histograms(of_ranks: &[&Rep]) -> BTreeMap<String, HistogramText> {
    let names = of_ranks.iter().flat_map(|rep| rep.histograms.keys());
    names
        .map(|name| (name.clone(), added(of_ranks.iter().filter_map(|rep| rep.histograms.get(name)))))
        .collect()
}

/// The histogram of all; one that cannot be read makes the sum unreadable, which figures say.
fn added<'a>(mut texts: impl Iterator<Item = &'a HistogramText>) -> HistogramText {
    let mut sum = HistogramSum::of_repetitions();
    let is_whole = texts.all(|text| sum.add(text).is_ok());
    if is_whole { record::encode(&sum.histogram()) } else { HistogramText::new(String::new()) }
}

/// Processors of all machines. Processes of one machine may each use all of its processors, and have no more than these
/// together: counted for each, a client whose processors are all busy would look half idle.
fn cores(of_ranks: &[&Rep], record: &RunRecord) -> u32 {
    let members = record.run.team.as_ref().map_or(&[][..], |team| &team.members);
    let mut of_machines: BTreeMap<u32, u32> = BTreeMap::new();
    for rep in of_ranks {
        // Where nothing says which machine it is, each has its own.
        let machine = members.get(rep.rank as usize).map_or(rep.rank, |member| member.machine);
        let cores = of_machines.entry(machine).or_default();
        *cores = cores.saturating_add(rep.usage.cores);
    }
    // Machines of one run are of one kind.
    let online = record.env.cores_online.value().copied().filter(|_| !members.is_empty()).unwrap_or(u32::MAX);
    of_machines.into_values().map(|cores| cores.min(online)).fold(0, u32::saturating_add)
}

/// Processors and their time are those of all hosts; of waits and of stolen time the host that had most decides, because
/// the time they are held against is that of one.
fn usage(of_ranks: &[&Rep], record: &RunRecord) -> Usage {
    let all = || of_ranks.iter().map(|rep| &rep.usage);
    let sum = |of: fn(&Usage) -> u64| all().map(of).fold(0, u64::saturating_add);
    let worst = |of: fn(&Usage) -> Option<u64>| {
        all().map(of).collect::<Option<Vec<u64>>>().and_then(|values| values.into_iter().max())
    };
    Usage {
        cpu_user_ns: sum(|usage| usage.cpu_user_ns),
        cpu_system_ns: sum(|usage| usage.cpu_system_ns),
        wall_ns: all().map(|usage| usage.wall_ns).max().unwrap_or(0),
        cores: cores(of_ranks, record),
        voluntary_switches: sum(|usage| usage.voluntary_switches),
        involuntary_switches: sum(|usage| usage.involuntary_switches),
        minor_faults: sum(|usage| usage.minor_faults),
        major_faults: sum(|usage| usage.major_faults),
        steal_ns: worst(|usage| usage.steal_ns),
        // Held against the time of all threads of all hosts.
        waited_ns: all().map(|usage| usage.waited_ns).fold(Some(0), plus),
        psi_cpu_some_ns: worst(|usage| usage.psi_cpu_some_ns),
        psi_io_some_ns: worst(|usage| usage.psi_io_some_ns),
        psi_memory_some_ns: worst(|usage| usage.psi_memory_some_ns),
    }
}

/// Each host has a page cache of its own, and may hold the whole dataset there.
fn cache(of_ranks: &[&Rep]) -> CacheProof {
    let all = || of_ranks.iter().map(|rep| &rep.cache);
    let first = &of_ranks[0].cache.method;
    let names: Vec<Option<bool>> = all().map(|cache| cache.names_dropped).collect();
    CacheProof {
        method: if all().all(|cache| cache.method == *first) { first.clone() } else { "none".to_owned() },
        total_bytes: all().map(|cache| cache.total_bytes).fold(0, u64::saturating_add),
        before_bytes: all().map(|cache| cache.before_bytes).fold(Some(0), plus),
        after_bytes: all().map(|cache| cache.after_bytes).fold(Some(0), plus),
        names_dropped: if names.contains(&Some(false)) {
            Some(false)
        } else {
            names.iter().all(|dropped| *dropped == Some(true)).then_some(true)
        },
    }
}

/// A sum that is known where all parts are.
fn plus(sum: Option<u64>, part: Option<u64>) -> Option<u64> {
    Some(sum?.saturating_add(part?))
}

/// What was granted to all alike, and with its rank what was not.
fn granted(of_ranks: &[&Rep]) -> BTreeMap<String, String> {
    let names = of_ranks.iter().flat_map(|rep| rep.granted.keys());
    let words = |name: &String| {
        let first = of_ranks[0].granted.get(name);
        if let Some(value) = first
            && of_ranks.iter().all(|rep| rep.granted.get(name) == first)
        {
            return value.clone();
        }
        let each = of_ranks.iter().filter_map(|rep| Some((rep.granted.get(name)?, rep.rank)));
        let each: Vec<String> = each.map(|(value, rank)| format!("{value} (rank {rank})")).collect();
        each.join(", ")
    };
    names.map(|name| (name.clone(), words(name))).collect()
}

/// What the processes read, and what their networks carried. Block devices, processors and memory are those of one host
/// each, and mean nothing added up; the device of the one machine that all of them ran on is that of all.
fn system(of_ranks: &[&Rep], record: &RunRecord) -> System {
    let shares_device = record.run.team.as_ref().is_some_and(|team| team.machines() == 1);
    let first = of_ranks.first().filter(|_| shares_device);
    let all = || of_ranks.iter().map(|rep| &rep.system);
    let networks: Option<Vec<&Network>> = all().map(|system| system.network.as_ref()).collect();
    let mounts: Option<Vec<&NfsMount>> = all().map(|system| system.nfs_mount.as_ref()).collect();
    System {
        process_read_bytes: all().map(|system| system.process_read_bytes).fold(Some(0), plus),
        network: networks.map(|of_ranks| network(&of_ranks)),
        nfs_mount: mounts.map(|of_ranks| mount(&of_ranks)),
        device: first.and_then(|rep| rep.system.device.clone()),
        ..System::default()
    }
}

fn network(of_ranks: &[&Network]) -> Network {
    let sum = |of: fn(&Network) -> u64| of_ranks.iter().map(|one| of(one)).fold(0, u64::saturating_add);
    let known = |of: fn(&Network) -> Option<u64>| of_ranks.iter().map(|one| of(one)).fold(Some(0), plus);
    Network {
        interface: of_ranks[0].interface.clone(),
        speed_bps: known(|one| one.speed_bps),
        received_bytes: sum(|one| one.received_bytes),
        sent_bytes: sum(|one| one.sent_bytes),
        dropped: sum(|one| one.dropped),
        tcp_retransmitted: known(|one| one.tcp_retransmitted),
        wall_ns: of_ranks.iter().map(|one| one.wall_ns).max().unwrap_or(0),
    }
}

fn mount(of_ranks: &[&NfsMount]) -> NfsMount {
    let sum = |of: fn(&NfsMount) -> u64| of_ranks.iter().map(|one| of(one)).fold(0, u64::saturating_add);
    NfsMount {
        reads: sum(|one| one.reads),
        read_transmissions: sum(|one| one.read_transmissions),
        read_timeouts: sum(|one| one.read_timeouts),
        read_received_bytes: sum(|one| one.read_received_bytes),
        read_ns: sum(|one| one.read_ns),
        connections: of_ranks.iter().map(|one| one.connections).fold(0, u32::saturating_add),
    }
}

fn emulated(of_ranks: &[&Rep]) -> Option<Emulated> {
    let all: Vec<&Emulated> = of_ranks.iter().map(|rep| rep.emulated.as_ref()).collect::<Option<_>>()?;
    let sum = |of: fn(&Emulated) -> u64| all.iter().map(|one| of(one)).fold(0, u64::saturating_add);
    let histogram = |of: fn(&Emulated) -> Option<&HistogramText>| {
        let texts: Vec<&HistogramText> = all.iter().filter_map(|one| of(one)).collect();
        (!texts.is_empty()).then(|| added(texts.into_iter()))
    };
    Some(Emulated {
        requests: sum(|one| one.requests),
        throttled: sum(|one| one.throttled),
        faults: counts(all.iter().map(|one| &one.faults)),
        asked_ns: histogram(|one| one.asked_ns.as_ref()),
        achieved_ns: histogram(|one| one.achieved_ns.as_ref()),
        metadata_asked_ns: histogram(|one| one.metadata_asked_ns.as_ref()),
        metadata_achieved_ns: histogram(|one| one.metadata_achieved_ns.as_ref()),
        cpu_ns: sum(|one| one.cpu_ns),
        sent_bytes: sum(|one| one.sent_bytes),
    })
}

/// The jobs of all ranks as one: their accelerators side by side, the timeline of the first.
fn trained<'a>(of_ranks: impl Iterator<Item = Option<&'a Trained>>) -> Option<Trained> {
    let all: Vec<&Trained> = of_ranks.collect::<Option<_>>()?;
    let depths = all.iter().map(|one| one.occupancy.len()).max().unwrap_or(0);
    let begun_with = |ready: usize| {
        all.iter().filter_map(|one| one.occupancy.get(ready)).fold(0_u64, |sum, n| sum.saturating_add(*n))
    };
    let sum = |of: fn(&Trained) -> u64| all.iter().map(|one| of(one)).fold(0, u64::saturating_add);
    Some(Trained {
        accelerators: all.iter().flat_map(|one| one.accelerators.iter().copied()).collect(),
        occupancy: (0..depths).map(begun_with).collect(),
        timeline: all.first().map(|one| one.timeline.clone()).unwrap_or_default(),
        decode_failures: sum(|one| one.decode_failures),
        decode_cpu_ns: sum(|one| one.decode_cpu_ns),
        ran_out: all.iter().any(|one| one.ran_out),
    })
}
