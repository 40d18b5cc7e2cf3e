//! Something that a reader must know of a run.

use crate::cell::need::NoNeed;
use crate::cell::ranks::{Ranks, TeamFacts};
use crate::summary::compared::EngineBeside;
use crate::summary::pressure::Pressures;
use crate::summary::soak::Soak;

/// Something that a reader must know of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// A build that is no release measured it: the client is slow.
    Build {
        /// Its profile, `debug`.
        profile: String,
    },
    /// The record has no last line.
    Cut,
    /// A signal ended the run.
    Interrupted,
    /// The run was gone on with: it was interrupted, or ended with a verdict left open.
    GoneOn {
        /// What was measured by then.
        at_ns: u64,
        /// When it was gone on with, RFC 3339 UTC.
        started: String,
        /// Whether it had come to its end, and rounds were added.
        adds_rounds: bool,
    },
    /// The record is damaged.
    Damaged {
        /// How.
        loss: String,
    },
    /// The kernel's clock is read by a system call, which is part of each latency.
    SlowClock {
        /// Which clock.
        source: String,
    },
    /// No line can be drawn.
    NoNeed(NoNeed),
    /// Storage that is memory.
    InMemory {
        /// Its target.
        target: String,
        /// What the kernel calls such a file system.
        file_system: String,
    },
    /// Files of the user's that hold nothing, and were left out.
    EmptyFiles {
        /// Target that they lie on.
        target: String,
        /// How many.
        files: u64,
    },
    /// A file of the user's holds many samples in a format that no layout reads, and is read as one.
    ReadWhole {
        /// Target that it lies on.
        target: String,
        /// Which file, and its format.
        what: String,
    },
    /// Bytes of a dataset without storage allocated for them.
    Unallocated {
        /// Target that it lies on.
        target: String,
        /// Share of its bytes, 0 to 1.
        share: f64,
    },
    /// Direct reads that the page cache may have served for all that is known.
    DirectNotProven {
        /// Their targets.
        targets: Vec<String>,
    },
    /// Of a target whose content is known, no read was compared with it.
    Unchecked {
        /// Which.
        target: String,
    },
    /// Nobody can tell whether the client limits these cells: no read ended in the window of their ceiling.
    CeilingUnknown {
        /// Their names.
        cells: Vec<String>,
    },
    /// Cells have fewer connections than were asked for, since they have no more requests under way.
    FewerConnections {
        /// Their target.
        target: String,
        /// How many were asked for.
        asked: u32,
    },
    /// Repetitions of cells that the head of the record does not have.
    Strays {
        /// How many.
        repetitions: usize,
    },
    /// A server did not answer.
    Away {
        /// Its target.
        target: String,
        /// How long; 0 where the record does not say.
        away_ns: u64,
        /// Repetitions that met it.
        met: Met,
    },
    /// This process was stopped, or its machine suspended.
    Suspended {
        /// Target that was being measured.
        target: String,
        /// Repetitions that met it.
        met: Met,
    },
    /// What became of a rate over many minutes.
    Soak(Soak),
    /// The server of a target runs on this machine.
    LocalServer {
        /// Which.
        target: String,
    },
    /// Another engine beside that of the cell that would be judged.
    Engine(EngineBeside),
    /// What the machine was short of.
    Pressure(Pressures),
    /// Repetitions of other variants, which are not in these figures.
    OtherVariants {
        /// How many.
        repetitions: usize,
    },
    /// Lines of the record that have the same repetition as another, and count no more.
    Twice {
        /// How many.
        lines: usize,
    },
    /// What the source of the need says of it.
    Caveat(String),
    /// Several processes measured together, or this one is one of several.
    Ranks(Ranks),
    /// Processes of one launcher measured together.
    Team(TeamFacts),
}

/// Repetitions that something kept from their storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Met {
    /// How many.
    pub repetitions: usize,
    /// Of these, how many were made again and are in no figure.
    pub made_again: usize,
}
