//! The record of one case: what ran, what it used, what follows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::device::Counts;
use crate::figures::Spread;
use crate::host::Host;
use crate::process::Usage;

/// Raised when a field changes its meaning.
const FORMAT: u32 = 1;

/// One case, as it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Version of this format.
    pub(crate) format: u32,
    /// Name of the case.
    pub(crate) case: String,
    /// What is read, and how.
    pub(crate) about: String,
    /// A look that is not to be kept.
    pub(crate) quick: bool,
    /// When it began, seconds since 1970.
    pub(crate) begun_unix_s: i64,
    /// Length of the short and the long run of each pair.
    pub(crate) lengths: Lengths,
    /// The machine.
    pub(crate) host: Host,
    /// The device below the data.
    pub(crate) device: Option<DeviceFacts>,
    /// Who ran.
    pub(crate) contestants: Vec<Contestant>,
    /// The rounds, as they were made.
    pub(crate) rounds: Vec<Round>,
    /// What follows from them.
    pub(crate) summary: Summary,
}

/// Lengths of the two runs of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lengths {
    /// Of the short one.
    pub(crate) short_s: f64,
    /// Of the long one.
    pub(crate) long_s: f64,
}

/// A block device and the settings that shape its requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeviceFacts {
    /// Its name.
    pub(crate) name: String,
    /// Settings of its queue.
    pub(crate) queue: BTreeMap<String, String>,
}

/// A tool in one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contestant {
    /// `feedline`, `fio default`, `fio best`.
    pub(crate) name: String,
    /// What the tool says of itself.
    pub(crate) version: String,
    /// The command line of the long run, variables of the environment first. The short run differs in its length alone.
    pub(crate) command: Vec<String>,
    /// The scenario of the long run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scenario: Option<String>,
    /// What really ran, where it is not plain from the command line.
    pub(crate) variant: Vec<String>,
}

/// One round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// Its number, from 1.
    pub(crate) number: u32,
    /// Load average over the minute before it.
    pub(crate) load_average: Option<f64>,
    /// In which order the contestants ran.
    pub(crate) order: Vec<String>,
    /// What each did.
    pub(crate) pairs: BTreeMap<String, Pair>,
}

/// A short and a long run, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pair {
    /// The short one.
    pub(crate) short: Run,
    /// The long one.
    pub(crate) long: Run,
}

/// One run of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// What it used, from outside.
    pub(crate) usage: Usage,
    /// Operations, by its own report.
    pub(crate) ops: u64,
    /// Bytes of its window, by its own report.
    pub(crate) bytes: u64,
    /// Length of its window, by its own report.
    pub(crate) window_s: f64,
    /// What the device read meanwhile, or wrote where the case writes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) device: Option<Counts>,
}

/// What follows from the rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// For each contestant, in their order.
    pub(crate) figures: Vec<Figures>,
    /// feedline's figures divided by the others'.
    pub(crate) ratios: Vec<Ratio>,
    /// What feedline is held to.
    pub(crate) targets: Vec<TargetMet>,
    /// What a reader must know.
    pub(crate) warnings: Vec<String>,
}

/// What one contestant did, over rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Who.
    pub(crate) contestant: String,
    /// Processor time of one operation, nanoseconds.
    pub(crate) cpu_ns_per_op: Option<Spread>,
    /// Operations per second of the long run's window.
    pub(crate) ops_per_s: Option<Spread>,
    /// Throughput of the long run's window, 10^6 bytes per second.
    pub(crate) mb_per_s: Option<Spread>,
    /// Size of the requests that the device saw, KiB.
    pub(crate) device_kib_per_request: Option<Spread>,
}

/// feedline's figure divided by another's, in each round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratio {
    /// The other.
    pub(crate) against: String,
    /// `cpu_per_op` (less is better) or `throughput` (more is better).
    pub(crate) measure: String,
    /// The ratios.
    pub(crate) spread: Spread,
}

/// Whether feedline did what it is held to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TargetMet {
    /// The other.
    pub(crate) against: String,
    /// What is compared.
    pub(crate) measure: String,
    /// What the median of the ratios must be.
    pub(crate) bound: String,
    /// What it is; none where it could not be told.
    pub(crate) ratio: Option<f64>,
    /// Whether it is met.
    pub(crate) met: bool,
}

impl Record {
    /// The version that is written.
    pub(crate) const FORMAT: u32 = FORMAT;

    /// Writes the record below `folder`, a quick one under a name of its own.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let suffix = if self.quick { "quick.json" } else { "json" };
        let path = folder.join(format!("{}.{suffix}", self.case));
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Reads a record.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let unread = || format!("{} is no record of versus", path.display());
        let value: serde_json::Value = serde_json::from_str(&text).with_context(unread)?;
        let format = value["format"].as_u64().unwrap_or(0);
        ensure!(
            format <= u64::from(FORMAT),
            "{} is of format {format}, this versus reads up to {FORMAT}\n  hint: take a newer versus",
            path.display(),
        );
        serde_json::from_value(value).with_context(unread)
    }
}
