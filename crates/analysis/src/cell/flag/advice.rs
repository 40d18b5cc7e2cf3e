//! What to do about a reason to doubt a figure.

use super::Flag;
use crate::cell::training::Bound;

impl Flag {
    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::ClientLimited { null_au: Some(_), .. } => {
                "use more processors, or fewer accelerators on this client"
            }
            Self::ClientLimited { nic_share: Some(_), .. } => {
                "the network interface is full: use a faster one, or several clients"
            }
            Self::ClientLimited { ceiling_share: None, cpu_share: None, .. } => {
                "one processor is full: spread receiving over several (RSS, RPS), or use several clients"
            }
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
            Self::NotDropped { resident: Some(_) } => {
                "read-ahead left pages that no read used: read more, or larger blocks"
            }
            Self::NotDropped { .. } => "use load.cache = \"bypass\" or \"cold\"",
            Self::FewTurns { .. } => {
                "use a longer measure.duration, a smaller load.block_size or a shallower load.queue_depth"
            }
            Self::WrongBytes { .. } => {
                "trust no figure of this storage; look for what corrupts or rewrites its files"
            }
            Self::NotReread { .. } => {
                "run again once the storage answers, to know that its bytes came as they lie"
            }
            Self::Opened { .. } => "raise `ulimit -n`, or use fewer files, to measure reads alone",
            Self::NamesInMemory => {
                "run as root with access to the device, or take opening as served from memory"
            }
            Self::Merged { .. } => {
                "use a smaller load.submit_batch, or larger blocks, to give the device its depth"
            }
            Self::LateClient { spins: true, .. } => {
                "use fewer arrivals per second, or a client with idle processors"
            }
            Self::LateClient { .. } => {
                "use load.spin, fewer arrivals per second, or a client with idle processors"
            }
            Self::OfferedLess { in_steps: true, .. } => "make measure.duration at least 20 steps",
            Self::OfferedLess { .. } => "use a longer measure.duration",
            Self::NotFromStorage { .. } => {
                "use files whose bytes are all on storage, or take these as served without it"
            }
            Self::InMemory { .. } => "use a device that is not memory",
            Self::NotServed { .. } => {
                "the storage does not keep up, or load.queue_depth is too small for this rate"
            }
            Self::TooShort { .. } => "use a longer measure.duration, or a larger dataset for a cold cell",
            Self::DatasetChanged => "leave the files alone during a run, and run again",
            Self::NotLookedAt { .. } => "run again once the storage answers",
            Self::Errors { .. } => "look for the first error in cells.jsonl and in the kernel's log",
            Self::FailedRepetitions { .. } => "remove the cause and run again",
            Self::Missing { .. } => "raise measure.budget or run fewer cells",
            Self::Stolen { .. } => "measure on a machine whose processors are not shared",
            Self::Abandoned { .. } => "the storage stalled at the end; look at the tail of the latencies",
            Self::Exhausted { .. } => "use a larger dataset for a full window",
            Self::Clamped { .. } => "reads took longer than 60 s; p99.9 is a lower bound",
            Self::NoHistogram { .. } => "latencies are of the other repetitions alone",
            Self::StandsIn { .. } => "see the reason; compare it with no figure of the engine asked for",
            behind_network_or_of_training => behind_network_or_of_training.advice_behind_network(),
        }
    }

    /// What to do about what is found in a training job alone.
    fn advice_of_training(&self) -> &'static str {
        match self {
            Self::FewSteps { .. } => "let the job make more steps, or measure for longer",
            Self::RanOut { .. } => "use a larger dataset for all steps",
            Self::NotDecoded { .. } => {
                "look at first_decode_failure in cells.jsonl; give training.decode what the files hold"
            }
            Self::WaitsElsewhere { cause: Bound::Decode, .. } => {
                "storage is not judged by it: use faster decoding, more threads for it, or none"
            }
            Self::WaitsElsewhere { cause: Bound::Startup, .. } => {
                "storage is not judged by it: use longer epochs, or no time for readers to start"
            }
            Self::WaitsElsewhere { cause: Bound::Others, .. } => {
                "storage is not judged by it: stop what else runs on this machine, and measure again"
            }
            Self::WaitsElsewhere { .. } => {
                "storage is not judged by it: use more processors, or fewer accelerators on this client"
            }
            Self::FillsDecide { .. } => {
                "storage is not judged by it: use a larger dataset and more steps, so that fills are a smaller part"
            }
            Self::LongFill { .. } => "let the job make more steps: the first fill comes once",
            Self::AuApart { .. } => {
                "compare figures of one definition alone; DLIO leaves out first steps and the time of checkpoints"
            }
            Self::NotAsPredicted { .. } => {
                "look at how many reads were in flight, and at caches that one of both cells may have met"
            }
            of_a_change => of_a_change.advice_of_change(),
        }
    }

    /// What to do about a change of throughput.
    fn advice_of_change(&self) -> &'static str {
        match self {
            Self::NotSteady { .. } => {
                "use a longer measure.warmup and measure.duration, and a machine that does nothing else"
            }
            Self::Bursts { .. } => {
                "use a measure.warmup that spends the credits, or a measure.duration that outlasts them"
            }
            Self::Drifts { .. } => {
                "look for what changed during the run: other users, heat, a device that fills or recovers"
            }
            Self::Waited { .. } if self.is_crowd() => {
                "storage is not judged by it: stop what else runs on this machine, and measure again"
            }
            Self::Waited { .. } => "give the client more processors, or fewer threads",
            Self::OthersWrote { .. } => {
                "storage is not judged by it: stop what else writes to this device, and measure again"
            }
            Self::OthersRead { .. } => {
                "storage is not judged by it: stop what else reads from this device, and measure again"
            }
            _ => "",
        }
    }

    /// What to do about what is found behind a network alone.
    fn advice_behind_network(&self) -> &'static str {
        match self {
            Self::NotEmulated { .. } => {
                "use fewer requests a second, longer delays, or a machine with idle processors for the server"
            }
            Self::Throttled { .. } => {
                "spread objects over more prefixes, use fewer requests outstanding, or ask for a higher limit"
            }
            Self::Retried { .. } => "compare both percentiles: the difference is waiting, not the storage",
            Self::Recovered { .. } => {
                "look for what failed in the server's log: an application that does not try again would have failed"
            }
            Self::ConnectionsLost { .. } => {
                "look for time-outs and limits of connections on the server and between"
            }
            Self::Unbalanced { .. } => {
                "use connections in multiples of the addresses, or look at how the name is resolved"
            }
            Self::DelayedAck { .. } => {
                "set TCP_NODELAY on the server, or read more than 64 KiB at once; a packet capture shows the pauses"
            }
            of_training => of_training.advice_of_training(),
        }
    }
}
