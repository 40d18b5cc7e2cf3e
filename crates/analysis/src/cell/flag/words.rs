//! A reason to doubt a figure, in words.

use std::fmt;

use feed::counted_noun;

use super::{Flag, GIVEN_UP_MAX, STEPS_MIN, TURNS_MIN, percent, utilization};

impl fmt::Display for Flag {
    /// Short, for the end of a table row.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClientLimited { ceiling_share, cpu_share, nic_share, core_share, null_au } => {
                write_client(f, *ceiling_share, *null_au, [*cpu_share, *nic_share, *core_share])
            }
            Self::NotCold { resident: Some(share) } => write!(f, "not cold: {} resident", percent(*share)),
            Self::NotCold { resident: None } => f.write_str("cold not proven"),
            Self::NotWarm { resident: Some(share) } => write!(f, "not warm: {} resident", percent(*share)),
            Self::NotWarm { resident: None } => f.write_str("warm not proven"),
            Self::NotBypassed { resident } => {
                write!(f, "not bypassed: {} resident after", percent(*resident))
            }
            Self::NotDropped { resident: Some(share) } => {
                write!(f, "not dropped: {} resident", percent(*share))
            }
            Self::NotDropped { resident: None } => f.write_str("dropping at once not proven"),
            Self::FewTurns { turns, .. } => {
                write!(f, "window of {turns:.1} reads at each place of the queue: {TURNS_MIN:.0} are needed")
            }
            Self::WrongBytes { found, checked } => {
                let (found, checked) = (feed::group_digits(*found), feed::group_digits(*checked));
                write!(f, "{found} of {checked} checked reads held wrong bytes")
            }
            Self::NotReread { unread, of, kinds } => {
                let (unread, of) = (feed::group_digits(*unread), feed::group_digits(*of));
                write!(f, "{unread} of {of} reads could not be made again to compare bytes: {kinds}")
            }
            Self::Opened { files } => write_opened(f, *files),
            Self::TooShort { window_ns, .. } => {
                write!(f, "window of {} is too short", feed::format_duration_ns(*window_ns))
            }
            Self::DatasetChanged => f.write_str("the files changed during the run"),
            Self::NotLookedAt { reason } => {
                write!(f, "whether the files changed during the run is not known: {reason}")
            }
            Self::Errors { share, kinds, .. } => write!(f, "{} errors: {kinds}", percent(*share)),
            Self::FailedRepetitions { failed, made, reason } => {
                write!(f, "{failed} of {made} repetitions failed: {reason}")
            }
            Self::Missing { repetitions, reason } => {
                write!(f, "{} not run: {reason}", counted_noun(u64::from(*repetitions), "repetition"))
            }
            Self::Stolen { share } => write!(f, "{} of CPU stolen", percent(*share)),
            Self::Abandoned { reads } => write!(f, "{} abandoned", counted_noun(*reads, "read")),
            Self::Exhausted { .. } => f.write_str("dataset read once before the window ended"),
            Self::Clamped { reads } => write!(f, "{} latencies above 60 s", feed::group_digits(*reads)),
            Self::NoHistogram { repetitions } => {
                write!(f, "latencies of {} missing", counted_noun(u64::from(*repetitions), "repetition"))
            }
            Self::NamesInMemory => f.write_str(
                "names and inodes, or their blocks on the device, stayed in memory (root with access to the device \
                 drops them)",
            ),
            Self::Merged { request_bytes, block_bytes, submit_batch } => {
                write_merged(f, *request_bytes, *block_bytes, *submit_batch)
            }
            Self::LateClient { lag_and_response_p99_ns, given_up, .. } => {
                write_late(f, *lag_and_response_p99_ns, *given_up)
            }
            Self::OfferedLess { share, in_steps: true } => {
                write!(f, "the window holds too few steps: {} of the rate was offered", percent(*share))
            }
            Self::OfferedLess { share, .. } => write!(f, "{} of the rate was offered", percent(*share)),
            Self::NotFromStorage { share, compresses: true } => {
                write!(f, "{} of the bytes asked: compressed, not read from storage", percent(*share))
            }
            Self::NotFromStorage { share, .. } => {
                write!(f, "{} of the bytes asked have no storage behind them", percent(*share))
            }
            Self::InMemory { kind } => write_memory(f, kind),
            Self::NotServed { share, .. } => write!(f, "{} of arrivals not served", percent(*share)),
            Self::StandsIn { asked } => write!(f, "stands in for {asked}"),
            behind_network_or_of_training => {
                write_behind_network(f, behind_network_or_of_training)?;
                write_of_training(f, behind_network_or_of_training)
            }
        }
    }
}

/// What is found in a change of throughput.
fn write_unsteady(f: &mut fmt::Formatter<'_>, flag: &Flag) -> fmt::Result {
    match flag {
        Flag::NotSteady { repetitions, made, range, slope, .. } => {
            let sign = if *slope < 0.0 { "-" } else { "" };
            let (range, slope) = (percent(*range), percent(slope.abs()));
            write!(f, "not steady: range {range}, slope {sign}{slope} in {repetitions} of {made} windows")
        }
        Flag::Bursts { fall, in_windows: true, .. } => {
            write!(f, "throughput falls by {} within every window, as burst credits do", percent(*fall))
        }
        Flag::Bursts { fall, .. } => {
            write!(f, "throughput fell by {} at once during the run, as burst credits do", percent(*fall))
        }
        Flag::Drifts { change, over_ns } => {
            let verb = if *change < 0.0 { "fell" } else { "rose" };
            let over = feed::format_duration_ns(*over_ns);
            write!(f, "drifts: throughput {verb} by {} over {over}", percent(change.abs()))
        }
        of_the_machine => write_crowd(f, of_the_machine),
    }
}

/// What others did on this machine.
fn write_crowd(f: &mut fmt::Formatter<'_>, flag: &Flag) -> fmt::Result {
    let (Flag::Waited { share, .. } | Flag::OthersRead { share, .. } | Flag::OthersWrote { share }) = flag
    else {
        return Ok(());
    };
    let share = percent(*share);
    match flag {
        Flag::Waited { crowd: Some(crowd), .. } if crowd.is_of_others() => write!(
            f,
            "own threads waited for a processor {share} of the time: other processes held {:.1} of {} cores{}",
            crowd.others_cores,
            crowd.cores,
            named(&crowd.names)
        ),
        Flag::Waited { crowd: Some(crowd), .. } => write!(
            f,
            "own threads waited for a processor {share} of the time: this process used {:.1} of {} cores, all others \
             {:.1}",
            crowd.own_cores, crowd.cores, crowd.others_cores
        ),
        Flag::OthersRead { names, .. } => {
            write!(f, "others read {share} of what the device delivered{}", named(names))
        }
        Flag::OthersWrote { .. } => {
            write!(f, "{share} of the bytes that the device moved were written by others")
        }
        _ => write!(f, "own threads waited for a processor {share} of the time"),
    }
}

/// ` (stress-ng, tar)`.
fn named(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

/// What is found in a training job alone, and in changes of throughput.
fn write_of_training(f: &mut fmt::Formatter<'_>, flag: &Flag) -> fmt::Result {
    match flag {
        Flag::FewSteps { steps, .. } => {
            write!(f, "{} of an accelerator: {STEPS_MIN} are needed", counted_noun(*steps, "step"))
        }
        Flag::RanOut { steps, asked, .. } => {
            let asked = asked.map(|asked| format!(" of {}", feed::group_digits(asked))).unwrap_or_default();
            let steps = feed::group_digits(*steps);
            write!(f, "dataset read once after {steps}{asked} steps")
        }
        Flag::NotDecoded { samples, share, first } => {
            let first = first.as_ref().map(|words| format!(" (the first: {words})")).unwrap_or_default();
            let samples = counted_noun(*samples, "sample");
            write!(f, "{samples} not decoded, {} of all{first}", percent(*share))
        }
        Flag::WaitsElsewhere { cause, share } => {
            write!(f, "not the storage: {} for {} of the time", cause.words(), percent(*share))
        }
        Flag::FillsDecide { long_run } => {
            write!(f, "short epochs: without their fills AU {} is foretold", utilization(*long_run))
        }
        Flag::LongFill { share, first_batch_ns } => write!(
            f,
            "first batch after {}, {} of the job",
            feed::format_duration_ns(*first_batch_ns),
            percent(*share)
        ),
        Flag::AuApart { dlio_au, .. } => write!(f, "AU {} as DLIO counts it", utilization(*dlio_au)),
        Flag::NotAsPredicted { predicted, .. } => {
            write!(f, "AU {} foretold by closed-loop reads", utilization(*predicted))
        }
        of_a_change => write_unsteady(f, of_a_change),
    }
}

fn write_opened(f: &mut fmt::Formatter<'_>, files: u64) -> fmt::Result {
    let files = counted_noun(files, "file");
    write!(f, "{files} opened inside the windows, because not all could be held")
}

/// What is found behind a network alone.
fn write_behind_network(f: &mut fmt::Formatter<'_>, flag: &Flag) -> fmt::Result {
    match flag {
        Flag::NotEmulated { metadata, asked_ns, achieved_ns, .. } => {
            write_not_emulated(f, *metadata, (*asked_ns, *achieved_ns))
        }
        Flag::Throttled { share, first } => f.write_str(&throttled_words(*share, first.as_deref())),
        Flag::Retried { percentile, service_ns, attempt_ns } => write!(
            f,
            "retries: {percentile} {} of operations, {} of attempts",
            feed::format_duration_ns(*service_ns),
            feed::format_duration_ns(*attempt_ns)
        ),
        Flag::Recovered { operations, share, kinds } => write_recovered(f, *operations, *share, kinds),
        Flag::ConnectionsLost { connections } => {
            write!(f, "{} lost", counted_noun(*connections, "connection"))
        }
        Flag::Unbalanced { busiest, share, addresses } => {
            write!(f, "{busiest} had {} of the messages, of {addresses} addresses", percent(*share))
        }
        Flag::DelayedAck { p50_ns } => write!(
            f,
            "small reads at {} throughout: Nagle's algorithm against delayed ACK on the server",
            feed::format_duration_ns(*p50_ns)
        ),
        _ => Ok(()),
    }
}

fn write_not_emulated(
    f: &mut fmt::Formatter<'_>,
    metadata: bool,
    (asked_ns, achieved_ns): (u64, u64),
) -> fmt::Result {
    let of = if metadata { " of names and attributes" } else { "" };
    let (asked, achieved) = (feed::format_duration_ns(asked_ns), feed::format_duration_ns(achieved_ns));
    write!(f, "not as emulated: delays{of} of {achieved} (p50) where {asked} were asked")
}

fn write_recovered(f: &mut fmt::Formatter<'_>, operations: u64, share: f64, kinds: &str) -> fmt::Result {
    let (operations, share) = (feed::group_digits(operations), percent(share));
    write!(f, "{operations} recovered by another attempt, {share} of all")?;
    if kinds.is_empty() { Ok(()) } else { write!(f, " (failed: {kinds})") }
}

fn write_memory(f: &mut fmt::Formatter<'_>, kind: &str) -> fmt::Result {
    f.write_str("the device is memory")?;
    if kind.is_empty() { Ok(()) } else { write!(f, " ({kind})") }
}

fn write_merged(
    f: &mut fmt::Formatter<'_>,
    request_bytes: u64,
    block_bytes: u64,
    submit_batch: Option<u32>,
) -> fmt::Result {
    let batch = submit_batch.map(|batch| format!("; submit_batch {batch}")).unwrap_or_default();
    write!(
        f,
        "requests were merged: {:.0} KiB per device request for blocks of {}{batch}",
        request_bytes as f64 / 1024.0,
        feed::format_bytes(block_bytes)
    )
}

fn write_late(f: &mut fmt::Formatter<'_>, p99_ns: Option<(u64, u64)>, given_up: f64) -> fmt::Result {
    f.write_str("the client woke late: ")?;
    if let Some((lag, response)) = p99_ns {
        let (lag, response) = (feed::format_duration_ns(lag), feed::format_duration_ns(response));
        write!(f, "p99 of the lag {lag}, of the response {response}")?;
    }
    let away = given_up > GIVEN_UP_MAX;
    let join = if p99_ns.is_some() && away { "; " } else { "" };
    if away {
        write!(f, "{join}{} of arrivals were due while it was away", percent(given_up))
    } else {
        Ok(())
    }
}

fn write_client(
    f: &mut fmt::Formatter<'_>,
    ceiling: Option<f64>,
    null_au: Option<f64>,
    shares: [Option<f64>; 3],
) -> fmt::Result {
    f.write_str("CLIENT-LIMITED")?;
    if let Some(au) = null_au {
        write!(f, ", AU {} without storage", utilization(au))?;
    }
    if let Some(share) = ceiling {
        write!(f, ", {} of ceiling", percent(share))?;
    }
    for (name, share) in ["CPU", "NIC", "busiest core"].into_iter().zip(shares) {
        if let Some(share) = share {
            // A kernel thread that works for this process may add to what its own threads can use.
            write!(f, ", {name} {}", percent(share.min(1.0)))?;
        }
    }
    Ok(())
}

/// `2.1 % throttled`, for the flag.
fn throttled_words(share: f64, first: Option<&str>) -> String {
    let first = first.map(|words| format!(" ({words})")).unwrap_or_default();
    format!("{} throttled{first}", percent(share))
}
