//! The job itself: its accelerators, their step, and what happens to a sample on its way.

use feed::{Demand, Need, Provenance};
use plan::{Decode, Fetch, Training, Work};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::written::{self, ACCELERATORS_MAX, Document};

use super::super::dataset::Datasets;

/// How far the rate of a job may be from a need in bytes per second before it is remarked on: both are round numbers.
// Rounding to three digits moves each of both by up to half a percent.
const RATES_APART: f64 = 0.01;

/// A scenario whose `load.mode` is `training`, written at `mode`, as far as it is resolved.
pub(in super::super) struct TrainingInput<'a> {
    pub(in super::super) document: &'a Document,
    pub(in super::super) mode: Span,
    pub(in super::super) need: Option<&'a Need>,
    pub(in super::super) datasets: Option<&'a Datasets>,
    pub(in super::super) host: &'a HostFacts,
}

/// What all jobs of a scenario share, and how many accelerators they have.
pub(super) struct Job {
    pub(super) accelerators: Vec<u32>,
    pub(super) batch: u32,
    pub(super) compute_ns: u64,
    pub(super) decode: Option<Decode>,
    pub(super) caveats: Vec<String>,
    barrier: bool,
    pub(super) drop_last: bool,
    startup_ns: u64,
    spin_ns: u64,
    price_per_hour: Option<f64>,
    threshold: f64,
}

impl Job {
    /// The job with this number of accelerators and this way to fetch.
    pub(super) fn training(
        &self,
        accelerators: u32,
        fetch: Fetch,
        prefetch: u32,
        decode: Option<Decode>,
    ) -> Training {
        Training {
            accelerators,
            batch: self.batch,
            compute_ns: self.compute_ns,
            fetch,
            fetches: 1,
            prefetch,
            barrier: self.barrier,
            decode,
            drop_last: self.drop_last,
            startup_ns: self.startup_ns,
            spin_ns: self.spin_ns,
            threshold: self.threshold,
            price_per_hour: self.price_per_hour,
        }
    }

    /// The most accelerators.
    pub(super) fn largest(&self) -> u32 {
        self.accelerators.iter().copied().max().unwrap_or(0)
    }

    /// The fewest accelerators.
    pub(super) fn smallest(&self) -> u32 {
        self.accelerators.iter().copied().min().unwrap_or(0)
    }
}

/// The job; `None` when a part of it is missing or wrong, after saying why.
pub(super) fn resolve(asked: &TrainingInput<'_>, problems: &mut Problems) -> Option<Job> {
    let written = &asked.document.training;
    let need = asked.need?;
    let known = refuse_missing(asked, need, problems);
    let accelerators = accelerators(asked, need, problems);
    let batch = written.batch.value_or(need.batch.unwrap_or(0))?;
    let compute_ns = written.compute_time.value_or(need.step_time_s.map_or(0, nanoseconds))?;
    let mut job = Job {
        accelerators: accelerators?,
        batch,
        compute_ns,
        decode: written.decode.resolved(decode)?,
        caveats: Vec::new(),
        // Off by default: with it one slow batch stops every accelerator, and the storage is judged by its
        // tails. DLIO has it; whoever compares with DLIO sets it.
        barrier: written.barrier.value_or(false)?,
        // Not PyTorch's default but MLPerf's, whose utilization is what jobs here are compared by.
        drop_last: written.drop_last.value_or(true)?,
        startup_ns: written.startup.value_or(0)?,
        spin_ns: asked.document.load.spin.value_or(0)?,
        price_per_hour: written.price.optional()?,
        // One threshold for line and job, so that they cannot disagree about what is fed.
        threshold: need.utilization,
    };
    if !known {
        return None;
    }
    job.caveats = restated(&job, need).into_iter().chain(apart(&job, need, asked)).collect();
    Some(job)
}

/// A step time of a need, which is above zero.
pub(super) fn nanoseconds(seconds: f64) -> u64 {
    ((seconds * 1e9).round() as u64).max(1)
}

/// Refuses a job that neither the scenario nor the need describes; whether all is known.
fn refuse_missing(asked: &TrainingInput<'_>, need: &Need, problems: &mut Problems) -> bool {
    let written = &asked.document.training;
    let missing: Vec<_> = [
        ("accelerators", written.accelerators.is_absent() && need.accelerators == 0),
        ("batch", written.batch.is_absent() && need.batch.is_none()),
        ("compute_time", written.compute_time.is_absent() && need.step_time_s.is_none()),
    ]
    .into_iter()
    .filter(|(_, missing)| *missing)
    .map(|(key, _)| format!("`training.{key}`"))
    .collect();
    if missing.is_empty() {
        return true;
    }
    let message = match missing.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last} are missing", rest.join(", ")),
        _ => format!("{} is missing", missing.concat()),
    };
    let message = format!("{message}: the need does not say what a step is");
    let problem = Problem::absent(message)
        .at(asked.mode, "plays a job")
        .also_if(asked.document.need.span(), "does not")
        .help("for example training = { accelerators = 8, batch = 400, compute_time = \"224ms\" }");
    problems.push(problem);
    false
}

fn accelerators(asked: &TrainingInput<'_>, need: &Need, problems: &mut Problems) -> Option<Vec<u32>> {
    if let Some(written) = asked.document.training.accelerators.optional()? {
        return Some(written);
    }
    if u64::from(need.accelerators) > ACCELERATORS_MAX {
        let message = format!(
            "{} accelerators; one client plays at most {}",
            feed::group_digits(u64::from(need.accelerators)),
            feed::group_digits(ACCELERATORS_MAX)
        );
        let problem = Problem::new(message).at(asked.mode, "plays all of this client's");
        let problem = problem.also_if(asked.document.need.span(), "this many");
        problems
            .push(problem.help(
                "write training.accelerators, or need.hosts, which share the accelerators of the need",
            ));
        return None;
    }
    Some(vec![need.accelerators])
}

/// What decoding is; `None` when it was wrong.
pub(super) fn decode(written: &written::Decode) -> Option<Decode> {
    let table = match written {
        written::Decode::Work(word) => return Some(Decode { work: word.0, threads: None }),
        written::Decode::Table(table) => table,
    };
    let work = match (table.with.given(), table.cost.given(), table.cpu.given()) {
        (Some(with), None, None) => with.value.0,
        (None, Some(cost), None) => Work::Cost { per_sample_ns: cost.value.0 },
        (None, None, Some(cpu)) => Work::Processor { per_sample_ns: cpu.value.0 },
        _ => return None,
    };
    Some(Decode { work, threads: table.threads.optional()? })
}

/// The caveat of a step that is not the need's.
fn restated(job: &Job, need: &Need) -> Option<String> {
    let (batch, step_ns) = (need.batch?, need.step_time_s.map(nanoseconds)?);
    let duration = feed::format_duration_ns;
    let found = match need.provenance {
        None | Some(Provenance::Vendor) => "stated",
        Some(Provenance::Measured) => "measured",
        Some(Provenance::Extrapolated) => "extrapolated",
    };
    match (job.batch == batch, job.compute_ns == step_ns) {
        (true, true) => None,
        (false, true) => {
            Some(format!("batch {} with the step time {found} at batch {batch}: a guess", job.batch))
        }
        (true, false) => Some(format!(
            "a step time of {} with batch {batch}, for which {} were {found}: a guess",
            duration(job.compute_ns),
            duration(step_ns)
        )),
        (false, false) => Some(format!(
            "batch {} and a step time of {} are the scenario's own, in place of {batch} and {}",
            job.batch,
            duration(job.compute_ns),
            duration(step_ns)
        )),
    }
}

/// The caveat of a need in bytes that differs from what the job takes: its verdict is not that of the utilization.
fn apart(job: &Job, need: &Need, asked: &TrainingInput<'_>) -> Option<String> {
    let Demand::Bytes { per_s, sample_bytes: None } = need.demand else { return None };
    let sample_bytes = asked.datasets?.samples.first()?.bytes? as f64;
    let accelerators = job.largest();
    let samples_per_s = feed::formula::samples_per_s(accelerators, job.batch, job.compute_ns as f64 / 1e9);
    let job_bps = feed::formula::required_bps(samples_per_s, sample_bytes);
    ((job_bps / per_s - 1.0).abs() > RATES_APART).then(|| {
        format!(
            "a job of {} takes {} at full use, the need is {}",
            feed::counted_noun(u64::from(accelerators), "accelerator"),
            feed::format_bps(job_bps),
            feed::format_bps(per_s)
        )
    })
}
