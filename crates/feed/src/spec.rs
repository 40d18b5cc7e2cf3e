//! What a scenario says of the need, and what follows from it.

mod error;
mod plausible;
mod short;

pub use error::{COUNT_MAX, NeedError};

use crate::formula;
use crate::profile::{self, Profile, UTILIZATION_DEFAULT};
use crate::units::{format_bps, format_count, format_duration_ns, format_short};
use crate::{CheckpointNeed, Demand, Flow, Need, Part, Scope};

// Records keep it as the source of a need, and reports print it beside MLPerf's rounds: it must read as a
// source.
const STATED: &str = "stated by the user";

/// A need as written, its quantities read. `count` and the rates are those of the whole job, which
/// `hosts` clients share equally.
#[derive(Debug, Clone, PartialEq)]
pub enum NeedSpec {
    /// A workload of [`crate::PROFILES`].
    Profile {
        /// `resnet50`, `unet3d`, …
        workload: String,
        /// `h100`, `a100`, `b200`, `mi355`.
        accelerator: String,
        /// Accelerators of all hosts together.
        count: u32,
        /// Clients that share them.
        hosts: u32,
        /// Where to draw the line; the profile's threshold when absent.
        utilization: Option<f64>,
    },
    /// A plain rate of one client.
    Rate {
        /// Bytes per second.
        bytes_per_s: f64,
        /// Where to draw the line; 1.00 when absent.
        utilization: Option<f64>,
    },
    /// A plain rate at which one client writes.
    WriteRate {
        /// Bytes per second.
        bytes_per_s: f64,
        /// Where to draw the line; 1.00 when absent.
        utilization: Option<f64>,
    },
    /// The user's own training step.
    Batch {
        /// Samples per step and accelerator.
        batch: u32,
        /// Seconds of one step without waiting for data.
        step_time_s: f64,
        /// Bytes of one sample as stored.
        sample_bytes: u64,
        /// Accelerators of all hosts together.
        count: u32,
        /// Clients that share them.
        hosts: u32,
        /// Where to draw the line; 0.90 when absent.
        utilization: Option<f64>,
    },
    /// A language model's token stream.
    Tokens {
        /// Tokens per second (not per step) of all hosts together.
        tokens_per_s: f64,
        /// Bytes of one stored token.
        token_bytes: f64,
        /// Clients that share the stream.
        hosts: u32,
        /// Where to draw the line; 0.90 when absent.
        utilization: Option<f64>,
    },
}

impl NeedSpec {
    /// Works out what one client has to deliver.
    ///
    /// # Errors
    /// [`NeedError`] for names that are not in the table, numbers that are zero or no numbers, accelerators
    /// that the hosts cannot share equally, and needs that no machine could have.
    pub fn resolve(&self) -> Result<Need, NeedError> {
        let mut need = match self {
            Self::Profile { workload, accelerator, count, hosts, .. } => {
                from_profile(find_profile(workload, accelerator)?, *count, *hosts)?
            }
            Self::Rate { bytes_per_s, .. } => from_rate(*bytes_per_s)?,
            Self::WriteRate { bytes_per_s, .. } => {
                let need = from_rate(*bytes_per_s)?;
                Need { label: format!("{} written", need.label), writes: true, ..need }
            }
            Self::Batch { batch, step_time_s, sample_bytes, count, hosts, .. } => {
                let step = Step { batch: *batch, time_s: *step_time_s, sample_bytes: *sample_bytes as f64 };
                from_batch(&step, *count, *hosts)?
            }
            Self::Tokens { tokens_per_s, token_bytes, hosts, .. } => {
                from_tokens(*tokens_per_s, *token_bytes, *hosts)?
            }
        };
        if let Some(utilization) = self.utilization() {
            // NaN compares false with everything and would pass both bounds.
            if utilization.is_nan() || utilization <= 0.0 || utilization > 1.0 {
                return Err(NeedError::Utilization { utilization });
            }
            need.utilization = utilization;
        }
        // Last, since a demand can only be held against hardware once it is known whole.
        plausible::check(&mut need)?;
        Ok(need)
    }

    fn utilization(&self) -> Option<f64> {
        match self {
            Self::Profile { utilization, .. }
            | Self::Rate { utilization, .. }
            | Self::WriteRate { utilization, .. }
            | Self::Batch { utilization, .. }
            | Self::Tokens { utilization, .. } => *utilization,
        }
    }
}

/// One training step of one accelerator.
struct Step {
    batch: u32,
    time_s: f64,
    sample_bytes: f64,
}

// A profile's figures stay together: batch and step time were measured as a pair, and a batch of one's own
// with MLPerf's step time is no measurement of anything (mlcommons/storage issue 87).
fn from_profile(profile: &Profile, count: u32, hosts: u32) -> Result<Need, NeedError> {
    let step = Step { batch: profile.batch, time_s: profile.step_time_s, sample_bytes: profile.sample_bytes };
    let here = share(count, hosts)?;
    let label = format!("{here} x {} {}", profile.accelerator, profile.workload);
    let caveat = (!profile.caveat.is_empty()).then(|| profile.caveat.to_owned());
    Ok(Need {
        utilization: profile.utilization,
        provenance: Some(profile.provenance),
        source: format!("{}, {}", profile.source, profile.provenance),
        caveats: caveat.into_iter().collect(),
        readers: profile.readers,
        prefetch: profile.prefetch,
        ..from_steps(&step, count, hosts, label)?
    })
}

fn from_batch(step: &Step, count: u32, hosts: u32) -> Result<Need, NeedError> {
    above_zero("batch", f64::from(step.batch))?;
    above_zero("step_time", step.time_s)?;
    above_zero("sample_size", step.sample_bytes)?;
    let here = share(count, hosts)?;
    let label = format!("batch {} / {} s x {here}", step.batch, step.time_s);
    from_steps(step, count, hosts, label)
}

fn from_steps(step: &Step, count: u32, hosts: u32, label: String) -> Result<Need, NeedError> {
    let accelerators = share(count, hosts)?;
    let per_s = formula::samples_per_s(accelerators, step.batch, step.time_s);
    Ok(Need {
        accelerators,
        count,
        hosts,
        batch: Some(step.batch),
        step_time_s: Some(step.time_s),
        ..stated(of_hosts(label, hosts), Demand::Samples { per_s, sample_bytes: step.sample_bytes })
    })
}

// No tenth is taken off a stated rate: whoever states one has decided what must be delivered, and a line
// below it would call a shortfall FEEDS.
fn from_rate(bytes_per_s: f64) -> Result<Need, NeedError> {
    above_zero("rate", bytes_per_s)?;
    let demand = Demand::Bytes { per_s: bytes_per_s, sample_bytes: None };
    Ok(Need { utilization: 1.0, ..stated(format_bps(bytes_per_s), demand) })
}

fn from_tokens(tokens_per_s: f64, token_bytes: f64, hosts: u32) -> Result<Need, NeedError> {
    above_zero("tokens_per_second", tokens_per_s)?;
    above_zero("token_size", token_bytes)?;
    above_zero("hosts", f64::from(hosts))?;
    let caveats = plausible::check_tokens(tokens_per_s, hosts)?;
    let per_s = formula::token_bps(tokens_per_s, token_bytes) / f64::from(hosts);
    let label = of_hosts(format!("{} tokens/s", format_short(tokens_per_s)), hosts);
    // It shows at a glance whether the rate is one per second: a corpus that lasts an hour is a rate per
    // step.
    let corpus_s = formula::corpus_duration_s(plausible::CORPUS_TOKENS, tokens_per_s);
    let shared = if hosts == 1 { String::new() } else { format!(" / {hosts} hosts") };
    let source = format!(
        "{STATED}: {} tokens/s x {} B{shared}; {} tokens last {}",
        format_count(tokens_per_s),
        format_count(token_bytes),
        format_short(plausible::CORPUS_TOKENS),
        format_duration_ns((corpus_s * 1e9) as u64),
    );
    Ok(Need { hosts, source, caveats, ..stated(label, Demand::Bytes { per_s, sample_bytes: None }) })
}

impl Need {
    /// A need of checkpoints alone, without any reads.
    pub fn of_checkpoints(checkpoint: CheckpointNeed) -> Self {
        Self {
            utilization: 1.0,
            hosts: checkpoint.hosts,
            ..stated(of_hosts(checkpoint.words(), checkpoint.hosts), Demand::Nothing)
        }
        .with_checkpoints(checkpoint)
    }

    /// The same need of reads with so many bytes per second that this client writes at the same time.
    ///
    /// # Errors
    /// [`NeedError`] for a rate that is zero or no number, and for a sum that no machine could have.
    pub fn with_writes(self, bytes_per_s: f64) -> Result<Self, NeedError> {
        above_zero("write_rate", bytes_per_s)?;
        // A rate alone could be taken for one that is written too.
        let read = if self.accelerators > 0 { "" } else { " read" };
        let label = format!("{}{read} and {} written", self.label, format_bps(bytes_per_s));
        let caveats = self.caveats_of_no_host();
        let mut need = Self { label, write_bps: Some(bytes_per_s), caveats, ..self };
        plausible::check_host(&mut need)?;
        Ok(need)
    }

    /// Several needs at once, as one: all that is read is added up, and all that is written. `None` of none.
    ///
    /// They are taken to have one utilization, to be of as many hosts where they are of several, and to ask for checkpoints once.
    ///
    /// # Errors
    /// [`NeedError`] for a sum that no machine could have.
    pub fn together(needs: Vec<Self>) -> Result<Option<Self>, NeedError> {
        let rates = needs.iter().filter(|need| need.asks_rate());
        let part = |need: &Self| Part {
            label: need.label.clone(),
            bytes_per_s: need.read_bps() + need.written_bps(),
        };
        let parts: Vec<Part> = rates.map(part).collect();
        let mut needs = needs.into_iter();
        let sum = needs.next().map(|first| needs.try_fold(first, Self::beside)).transpose()?;
        let of_several = |sum: Self| {
            let is_told_apart = parts.len() > 1 && sum.flow() != Flow::Both;
            if is_told_apart { Self { parts, ..sum } } else { sum }
        };
        Ok(sum.map(of_several))
    }

    fn beside(self, other: Self) -> Result<Self, NeedError> {
        let label = format!("{} and {}", self.label, other.label);
        let (read_bps, write_bps) =
            (self.read_bps() + other.read_bps(), self.written_bps() + other.written_bps());
        // What reads knows its samples and accelerators; what asks for no rate knows no utilization.
        let knows = |need: &Self| (need.read_bps() > 0.0, need.asks_rate());
        let (one, other) = if knows(&self) < knows(&other) { (other, self) } else { (self, other) };
        let caveats = [one.caveats_of_no_host(), other.caveats_of_no_host()].concat();
        let own = if other.read_bps() > 0.0 { one.of_several_jobs(read_bps) } else { one };
        let is_same = own.source == other.source || !other.asks_rate();
        let saves = |of: &Self, others: &Self| {
            let checkpoint = of.checkpoint.clone()?;
            let beside_others = checkpoint.beside_others || others.asks_rate();
            Some(CheckpointNeed { beside_others, ..checkpoint })
        };
        let checkpoint = saves(&own, &other).or_else(|| saves(&other, &own));
        let mut sum = Self {
            label,
            demand: match own.demand {
                Demand::Bytes { .. } if read_bps == 0.0 => {
                    Demand::Bytes { per_s: write_bps, sample_bytes: None }
                }
                demand => demand,
            },
            hosts: own.hosts.max(other.hosts),
            provenance: own.provenance.max(other.provenance),
            source: if is_same { own.source } else { format!("{}; {}", own.source, other.source) },
            caveats,
            // The narrower one: what is said of a host is no word on the cluster.
            scope: if other.scope == Scope::Host { Scope::Host } else { own.scope },
            checkpoint,
            write_bps: (read_bps > 0.0 && write_bps > 0.0).then_some(write_bps),
            ..own
        };
        plausible::check_host(&mut sum)?;
        Ok(sum)
    }

    /// What was remarked on, without what was of the host: it carries more than this part.
    fn caveats_of_no_host(&self) -> Vec<String> {
        let of_host = plausible::host_caveats(self);
        self.caveats.iter().filter(|caveat| !of_host.contains(caveat)).cloned().collect()
    }

    /// What is left of a job where others read beside it: bytes, and nothing of samples, steps and accelerators.
    // "Six of eight are fed" says nothing of two jobs.
    fn of_several_jobs(self, read_bps: f64) -> Self {
        Self {
            demand: Demand::Bytes { per_s: read_bps, sample_bytes: None },
            accelerators: 0,
            count: 0,
            batch: None,
            step_time_s: None,
            readers: None,
            prefetch: None,
            hold: None,
            ..self
        }
    }

    /// Bytes per second that are read at a utilization of 1.00, of samples as the workload has them.
    fn read_bps(&self) -> f64 {
        let reads = self.asks_rate() && !self.writes;
        if reads { self.demand_bps(self.sample_bytes().unwrap_or(1.0)) } else { 0.0 }
    }

    /// Bytes per second that are written.
    fn written_bps(&self) -> f64 {
        let alone = if self.writes { self.demand_bps(1.0) } else { 0.0 };
        alone + self.write_bps.unwrap_or(0.0)
    }

    /// The same need with checkpoints beside its reads.
    #[must_use]
    pub fn with_checkpoints(self, checkpoint: CheckpointNeed) -> Self {
        Self { checkpoint: Some(checkpoint), ..self }
    }
}

/// A need of one client that names no accelerators.
pub(crate) fn stated(label: String, demand: Demand) -> Need {
    Need {
        label,
        demand,
        utilization: UTILIZATION_DEFAULT,
        accelerators: 0,
        count: 0,
        hosts: 1,
        provenance: None,
        source: STATED.to_owned(),
        caveats: Vec::new(),
        batch: None,
        step_time_s: None,
        readers: None,
        prefetch: None,
        hold: None,
        scope: Scope::Cluster,
        loader_depth: None,
        checkpoint: None,
        writes: false,
        write_bps: None,
        parts: Vec::new(),
    }
}

fn of_hosts(label: String, hosts: u32) -> String {
    if hosts == 1 { label } else { format!("{label}, one of {hosts} hosts") }
}

fn share(count: u32, hosts: u32) -> Result<u32, NeedError> {
    above_zero("count", f64::from(count))?;
    above_zero("hosts", f64::from(hosts))?;
    // Rounding would draw a line that is too low for some of the hosts.
    if count.is_multiple_of(hosts) { Ok(count / hosts) } else { Err(NeedError::Hosts { count, hosts }) }
}

// Finite too: an infinite step time would make a need of nothing, which everything feeds.
fn above_zero(key: &'static str, value: f64) -> Result<(), NeedError> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(NeedError::NotAboveZero { key, value }) }
}

fn find_profile(workload: &str, accelerator: &str) -> Result<&'static Profile, NeedError> {
    if let Some(profile) = profile::find(workload, accelerator) {
        return Ok(profile);
    }
    let (workloads, accelerators) = (profile::workloads(), profile::accelerators());
    if workloads.contains(&accelerator) && accelerators.contains(&workload) {
        return Err(NeedError::Swapped {
            workload: workload.to_owned(),
            accelerator: accelerator.to_owned(),
        });
    }
    if !workloads.contains(&workload) {
        return Err(NeedError::unknown_workload(workload, &workloads));
    }
    Err(NeedError::NoProfile {
        workload: workload.to_owned(),
        accelerator: accelerator.to_owned(),
        known: profile::accelerators_of(workload).join(", "),
    })
}

#[cfg(test)]
mod tests;
