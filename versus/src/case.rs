//! The cases: which work both tools do, and what feedline is held to.

mod table;

pub(crate) use table::CASES;

/// One comparison.
#[derive(Debug)]
pub(crate) struct Case {
    /// Name on the command line and of the record.
    pub(crate) name: &'static str,
    /// One line that says what is read, and how.
    pub(crate) about: &'static str,
    /// What both read.
    pub(crate) data: Data,
    /// What both do.
    pub(crate) work: Work,
    /// fio's options beyond the work itself, at its best settings that keep every latency.
    pub(crate) best: &'static [&'static str],
    /// What feedline is held to.
    pub(crate) targets: &'static [Target],
}

impl Case {
    /// Against whom feedline runs: fio, and a bare loop where it is held against one; with several threads, whom it is held against
    /// alone.
    pub(crate) fn peers(&self) -> Vec<Peer> {
        if self.work.threads > 1 {
            return self.targets.iter().map(|target| target.against).collect();
        }
        let is_held = |peer: Peer| self.targets.iter().any(|target| target.against == peer);
        [Peer::Default, Peer::Best].into_iter().chain(is_held(Peer::Bare).then_some(Peer::Bare)).collect()
    }
}

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    /// One file.
    File {
        /// Its size.
        bytes: u64,
    },
    /// One file that is written over.
    Written {
        /// Its size.
        bytes: u64,
    },
    /// Many files of one size.
    Files {
        /// How many.
        count: u32,
        /// Size of each.
        bytes: u64,
    },
    /// A block device.
    Device,
    /// Nothing: feedline's null target.
    Null,
}

/// The shape of the load, in the words of both tools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    /// feedline's engine.
    pub(crate) engine: &'static str,
    /// fio's engine.
    pub(crate) peer_engine: &'static str,
    /// Bytes of one read.
    pub(crate) block_bytes: u64,
    /// Reads outstanding.
    pub(crate) queue_depth: u32,
    /// feedline's threads.
    pub(crate) threads: u32,
    /// Order of the reads.
    pub(crate) access: Access,
    /// Whether reads go past the page cache; otherwise all data is in it.
    pub(crate) direct: bool,
    /// Whether the data is written over, and how each write is kept.
    pub(crate) writes: Option<Kept>,
    /// Share of the operations that write where others read, in percent.
    pub(crate) mixed: Option<u8>,
    /// Requests that feedline hands to the kernel in one submission, where the case fixes it.
    pub(crate) submit_batch: Option<u32>,
    /// Completions that feedline waits for before it issues again, where fio's best waits for as many.
    pub(crate) complete_batch: Option<u32>,
}

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moves {
    /// From the storage.
    Reads,
    /// To it.
    Writes,
    /// Both ways at once.
    Both,
}

impl Work {
    /// Which way its bytes go.
    pub(crate) fn moves(&self) -> Moves {
        match (self.writes, self.mixed) {
            (None, _) => Moves::Reads,
            (Some(_), None) => Moves::Writes,
            (Some(_), Some(_)) => Moves::Both,
        }
    }
}

/// How a write is kept when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Nothing is promised.
    Unpromised,
    /// As `O_DSYNC` has it.
    Dsync,
}

/// Order of the reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Any block at each step.
    Random,
    /// Block after block, file after file, again and again.
    Sequential,
}

/// Whom feedline runs against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// fio with the work and nothing more.
    Default,
    /// fio with all that speeds it up and keeps every latency.
    Best,
    /// The kernel's work in a loop that measures nothing.
    Bare,
    /// feedline as a process for each of its threads, side by side: they share what the machine has them share, and no memory.
    Apart,
}

impl Peer {
    /// Name in records and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Default => "fio default",
            Self::Best => "fio best",
            Self::Bare => "bare loop",
            Self::Apart => "processes",
        }
    }
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Processor time of one read, from outside.
    CpuPerOp,
    /// Bytes per second, by each tool's own report.
    Throughput,
}

impl Measure {
    /// Name in records and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CpuPerOp => "cpu_per_op",
            Self::Throughput => "throughput",
        }
    }
}

/// What feedline's figure divided by another's must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// One, give or take this.
    Within(f64),
}

impl Bound {
    /// Whether a ratio meets the bound.
    pub(crate) fn met(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(most) => ratio <= most,
            Self::AtLeast(least) => ratio >= least,
            Self::Within(share) => (ratio - 1.0).abs() <= share,
        }
    }

    /// As it is printed: `<= 0.80`.
    pub(crate) fn text(self) -> String {
        match self {
            Self::AtMost(most) => format!("<= {most:.2}"),
            Self::AtLeast(least) => format!(">= {least:.2}"),
            Self::Within(share) => format!("{:.2} - {:.2}", 1.0 - share, 1.0 + share),
        }
    }
}

/// One thing that feedline is held to.
#[derive(Debug)]
pub(crate) struct Target {
    /// Against whom.
    pub(crate) against: Peer,
    /// What is compared.
    pub(crate) measure: Measure,
    /// What the ratio must be.
    pub(crate) bound: Bound,
}

/// Whether a case of this name is asked for: by its name or by the beginning of it; none means all.
pub(crate) fn asked_for(case: &str, names: &[String]) -> bool {
    names.is_empty() || names.iter().any(|name| case.starts_with(name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_found_by_their_beginning() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let found = CASES.iter().filter(|case| asked_for(case.name, &words));
            found.map(|case| case.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]).len(), CASES.len());
        assert_eq!(names(&["page-cache"]), ["page-cache-4k-qd32-1g", "page-cache-4k-qd32-64m"]);
        assert_eq!(names(&["mmap-128k", "device-4k-qd32"]), ["mmap-128k", "device-4k-qd32"]);
        assert!(names(&["nope"]).is_empty());
    }

    #[test]
    fn no_name_begins_another() {
        for case in CASES {
            let alike = CASES.iter().filter(|other| other.name.starts_with(case.name)).count();
            assert_eq!(alike, 1, "{}", case.name);
        }
    }

    #[test]
    fn feedline_runs_against_fio_a_bare_loop_where_one_is_held_against_it_or_itself() {
        let peers = |name: &str| CASES.iter().find(|case| case.name == name).unwrap().peers();
        assert_eq!(peers("seq-direct-1m-qd8-batch1"), [Peer::Default, Peer::Best]);
        assert_eq!(peers("files-4k-warm-pread"), [Peer::Default, Peer::Best, Peer::Bare]);
        assert_eq!(
            (peers("workers-null"), peers("workers-page-cache")),
            (vec![Peer::Apart], vec![Peer::Bare])
        );
    }

    #[test]
    fn bounds_are_inclusive() {
        assert!(Bound::AtMost(0.8).met(0.8));
        assert!(!Bound::AtMost(0.8).met(0.81));
        assert!(Bound::AtLeast(1.4).met(1.4));
        assert!(!Bound::AtLeast(1.4).met(1.39));
        assert!(Bound::Within(0.05).met(0.96) && Bound::Within(0.05).met(1.04));
        assert!(!Bound::Within(0.05).met(0.94) && !Bound::Within(0.05).met(1.06));
        assert_eq!(Bound::Within(0.05).text(), "0.95 - 1.05");
    }
}
