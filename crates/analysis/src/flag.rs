//! The reasons to doubt a figure: what each forbids, its words, and what to do about it.

use std::fmt;

/// Share of failed reads above which no verdict is given.
const ERROR_SHARE_MAX: f64 = 0.01;

/// Reads by queue depth below which a window is no measure of a rate.
pub(crate) const TURNS_MIN: f64 = 20.0;

/// What a flag forbids a verdict to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gravity {
    /// Said beside the figure; the verdict stands.
    Informs,
    /// The storage may do more than was measured: STARVES cannot be said.
    ForbidsStarves,
    /// What was measured leaves out the bad part: FEEDS cannot be said.
    ForbidsFeeds,
    /// The figure is not what it is called: neither can be said.
    ForbidsVerdict,
}

impl Gravity {
    /// What the book calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Informs => "said",
            Self::ForbidsStarves => "no STARVES",
            Self::ForbidsFeeds => "no FEEDS",
            Self::ForbidsVerdict => "no verdict",
        }
    }
}

/// A reason to doubt the figures of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Flag {
    /// Too near to what this client can do without storage, or out of processor time.
    ClientLimited {
        /// Share of the null ceiling, 0 to 1, when above its limit.
        ceiling_share: Option<f64>,
        /// Share of the processor time its threads may use, when above its limit; kernel threads that work
        /// for this process may take it beyond 1.
        cpu_share: Option<f64>,
    },
    /// A cold cell that was not cold, or not proven so.
    NotCold {
        /// Largest share of the dataset resident before a repetition; absent when nothing could tell.
        resident: Option<f64>,
    },
    /// A warm cell that was not warm, or not proven so.
    NotWarm {
        /// Smallest share of the dataset resident before a repetition; absent when nothing could tell.
        resident: Option<f64>,
    },
    /// A cell that bypasses the page cache, with bytes in the page cache after it.
    NotBypassed {
        /// Largest share of the dataset resident after a repetition.
        resident: f64,
    },
    /// A cell whose reads drop their pages at once, with bytes in the page cache before or after it, or not proven
    /// otherwise.
    NotDropped {
        /// Largest share of the dataset resident around a repetition; absent when nothing could tell.
        resident: Option<f64>,
    },
    /// Windows too short to stand for anything.
    TooShort {
        /// How many repetitions.
        repetitions: u32,
        /// The shortest window.
        window_ns: u64,
    },
    /// So few reads for the depth that chance or the rhythm of the queue decides how many fall into a window:
    /// repetitions may then agree on a wrong rate.
    FewTurns {
        /// How many repetitions.
        repetitions: u32,
        /// The fewest reads by the queue depth.
        turns: f64,
    },
    /// The files were no longer the same after the run.
    DatasetChanged,
    /// Reads that held something else than what was written.
    WrongBytes {
        /// How many.
        found: u64,
        /// Of how many that were compared.
        checked: u64,
    },
    /// Reads that failed.
    Errors {
        /// How many.
        failed: u64,
        /// Share of all reads, 0 to 1.
        share: f64,
        /// `12 io, 3 timeout`.
        kinds: String,
    },
    /// Repetitions that failed as a whole.
    FailedRepetitions {
        /// How many.
        failed: u32,
        /// Of how many.
        made: u32,
        /// Why the first of them did.
        reason: String,
    },
    /// Repetitions that were planned and are not in the figures.
    Missing {
        /// How many.
        repetitions: u32,
        /// Why.
        reason: String,
    },
    /// Processor time went to other machines on the same host.
    Stolen {
        /// Share of the machine's processor time, 0 to 1.
        share: f64,
    },
    /// Reads that had not come back when a repetition was closed.
    Abandoned {
        /// How many.
        reads: u64,
    },
    /// The dataset was read once before the planned window was over.
    Exhausted {
        /// How many repetitions.
        repetitions: u32,
    },
    /// Latencies beyond the histogram's range.
    Clamped {
        /// How many.
        reads: u64,
    },
    /// Latency histograms that could not be read.
    NoHistogram {
        /// How many repetitions.
        repetitions: u32,
    },
    /// Files were opened while measuring.
    Opened {
        /// How many.
        files: u64,
    },
    /// A cold cell that began with names and inodes in memory: opening and looking up did not reach storage.
    NamesInMemory,
    /// Adjacent reads became one request on their way to the device.
    Merged {
        /// Mean bytes of a request of the device.
        request_bytes: u64,
        /// Bytes of a read.
        block_bytes: u64,
        /// Requests handed to the kernel in one submission; absent when the record does not say.
        submit_batch: Option<u32>,
    },
    /// The client woke late for its own schedule.
    LateClient {
        /// 99th percentile of its lateness.
        lag_p99_ns: u64,
        /// 99th percentile of the response of what it issued, the lateness included.
        response_p99_ns: u64,
        /// Arrivals that were never issued, for this reason or because the queue was full.
        not_issued: u64,
    },
    /// Arrivals that were never issued, or failed.
    NotServed {
        /// How many.
        arrivals: u64,
        /// Of all, 0 to 1.
        share: f64,
    },
    /// Another engine was asked for.
    StandsIn {
        /// Which, and why it is not there.
        asked: String,
    },
}

impl Flag {
    /// What this flag forbids.
    pub fn gravity(&self) -> Gravity {
        match self {
            Self::ClientLimited { .. } => Gravity::ForbidsStarves,
            Self::FailedRepetitions { .. } => Gravity::ForbidsFeeds,
            Self::NotCold { .. }
            | Self::NotWarm { .. }
            | Self::NotBypassed { .. }
            | Self::NotDropped { .. }
            | Self::TooShort { .. }
            | Self::FewTurns { .. }
            | Self::DatasetChanged
            | Self::WrongBytes { .. } => Gravity::ForbidsVerdict,
            Self::LateClient { not_issued, .. } if *not_issued > 0 => Gravity::ForbidsStarves,
            Self::Errors { share, .. } if *share > ERROR_SHARE_MAX => Gravity::ForbidsVerdict,
            Self::Errors { .. }
            | Self::Missing { .. }
            | Self::Stolen { .. }
            | Self::Abandoned { .. }
            | Self::Exhausted { .. }
            | Self::Clamped { .. }
            | Self::NoHistogram { .. }
            | Self::Opened { .. }
            | Self::NamesInMemory
            | Self::Merged { .. }
            | Self::LateClient { .. }
            | Self::NotServed { .. }
            | Self::StandsIn { .. } => Gravity::Informs,
        }
    }

    /// What the book calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ClientLimited { .. } => "client-limited",
            Self::NotCold { .. } => "not cold",
            Self::NotWarm { .. } => "not warm",
            Self::NotBypassed { .. } => "not bypassed",
            Self::NotDropped { .. } => "not dropped",
            Self::TooShort { .. } => "too short",
            Self::FewTurns { .. } => "few queue turns",
            Self::DatasetChanged => "changed",
            Self::WrongBytes { .. } => "wrong bytes",
            Self::Errors { .. } => "failed reads",
            Self::FailedRepetitions { .. } => "failed repetitions",
            Self::Missing { .. } => "missing repetitions",
            Self::Stolen { .. } => "stolen",
            Self::Abandoned { .. } => "abandoned",
            Self::Exhausted { .. } => "exhausted",
            Self::Clamped { .. } => "clamped",
            Self::NoHistogram { .. } => "no histogram",
            Self::Opened { .. } => "opened",
            Self::NamesInMemory => "names in memory",
            Self::Merged { .. } => "merged",
            Self::LateClient { .. } => "late client",
            Self::NotServed { .. } => "not served",
            Self::StandsIn { .. } => "stands in",
        }
    }

    /// Whether this is the client's own limit.
    pub fn is_client_limit(&self) -> bool {
        matches!(self, Self::ClientLimited { .. })
    }

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::ClientLimited { ceiling_share: None, .. } => {
                "give the client more processors, larger blocks or fewer threads"
            }
            Self::ClientLimited { .. } => "use larger blocks, more threads or more processors",
            Self::NotCold { resident: None } => {
                "use load.cache = \"bypass\", or a file system whose residency the kernel reports"
            }
            Self::NotCold { .. } => "stop what else reads these files, or use load.cache = \"bypass\"",
            Self::NotWarm { .. } => "use a dataset that fits into memory, or load.cache = \"bypass\"",
            Self::NotBypassed { .. } => {
                "this file system serves direct I/O from the page cache; use load.cache = \"cold\""
            }
            Self::NotDropped { .. } => {
                "stop what else reads these files, or use load.cache = \"bypass\" or \"cold\""
            }
            Self::FewTurns { .. } => {
                "use a longer measure.duration, a smaller load.block_size or a shallower load.queue_depth"
            }
            Self::WrongBytes { .. } => {
                "trust no figure of this storage; look for what corrupts or rewrites its files"
            }
            Self::Opened { .. } => "raise `ulimit -n`, or use fewer files, to measure reads alone",
            Self::NamesInMemory => {
                "run as root, which alone may drop names and inodes, or take opening as served from memory"
            }
            Self::Merged { .. } => {
                "use a smaller load.submit_batch, or larger blocks, to give the device its depth"
            }
            Self::LateClient { .. } => {
                "use load.spin, fewer arrivals per second, or a client with idle processors"
            }
            Self::NotServed { .. } => {
                "the storage does not keep up, or load.queue_depth is too small for this rate"
            }
            Self::TooShort { .. } => "use a longer measure.duration, or a larger dataset for a cold cell",
            Self::DatasetChanged => "leave the files alone during a run, and run again",
            Self::Errors { .. } => "look for the first error in cells.jsonl and in the kernel's log",
            Self::FailedRepetitions { .. } => "remove the cause and run again",
            Self::Missing { .. } => "raise measure.budget or run fewer cells",
            Self::Stolen { .. } => "measure on a machine whose processors are not shared",
            Self::Abandoned { .. } => "the storage stalled at the end; look at the tail of the latencies",
            Self::Exhausted { .. } => "use a larger dataset for a full window",
            Self::Clamped { .. } => "reads took longer than 60 s; p99.9 is a lower bound",
            Self::NoHistogram { .. } => "latencies are of the other repetitions alone",
            Self::StandsIn { .. } => "see the reason; compare it with no figure of the engine asked for",
        }
    }
}

impl fmt::Display for Flag {
    /// Short, for the end of a table row.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClientLimited { ceiling_share, cpu_share } => write_client(f, *ceiling_share, *cpu_share),
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
                write!(f, "window of {turns:.1} queue turns: {TURNS_MIN:.0} are needed")
            }
            Self::WrongBytes { found, checked } => {
                let (found, checked) = (feed::group_digits(*found), feed::group_digits(*checked));
                write!(f, "{found} of {checked} checked reads held wrong bytes")
            }
            Self::Opened { files } => write!(
                f,
                "{} opened inside the windows, because not all could be held",
                counted_noun(*files, "file")
            ),
            Self::TooShort { window_ns, .. } => {
                write!(f, "window of {} is too short", feed::format_duration_ns(*window_ns))
            }
            Self::DatasetChanged => f.write_str("the files changed during the run"),
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
                let repetitions = counted_noun(u64::from(*repetitions), "repetition");
                write!(f, "latencies of {repetitions} missing")
            }
            Self::NamesInMemory => {
                f.write_str("names and inodes were in memory and could not be dropped (root only)")
            }
            Self::Merged { request_bytes, block_bytes, submit_batch } => {
                write_merged(f, *request_bytes, *block_bytes, *submit_batch)
            }
            Self::LateClient { lag_p99_ns, response_p99_ns, .. } => write!(
                f,
                "the client woke late: p99 of the lag {}, of the response {}",
                feed::format_duration_ns(*lag_p99_ns),
                feed::format_duration_ns(*response_p99_ns)
            ),
            Self::NotServed { share, .. } => write!(f, "{} of arrivals not served", percent(*share)),
            Self::StandsIn { asked } => write!(f, "stands in for {asked}"),
        }
    }
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

fn write_client(f: &mut fmt::Formatter<'_>, ceiling: Option<f64>, cpu: Option<f64>) -> fmt::Result {
    f.write_str("CLIENT-LIMITED")?;
    if let Some(share) = ceiling {
        write!(f, ", {} of ceiling", percent(share))?;
    }
    if let Some(share) = cpu {
        // A kernel thread that works for this process may add to what its own threads can use.
        write!(f, ", CPU {}", percent(share.min(1.0)))?;
    }
    Ok(())
}

/// `1 cell`, `1,200 cells`.
pub(crate) fn counted_noun(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", feed::group_digits(count))
}

/// `97 %`, and one digit more below 10.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value <= 0.0 {
        "0 %".to_owned()
    } else if value < 0.05 {
        "under 0.1 %".to_owned()
    } else if value < 9.95 {
        format!("{value:.1} %")
    } else {
        format!("{value:.0} %")
    }
}

#[cfg(test)]
mod tests;
