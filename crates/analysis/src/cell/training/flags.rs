//! When figures of a training job may lie.

use record::{Rep, Trained, counter};

use crate::cell::context::Context;
use crate::cell::counters::{failed_saves, sum};
use crate::cell::crowd;
use crate::cell::flag::{Flag, STEPS_MIN};
use crate::cell::training::bound::Bound;
use crate::cell::training::figures::{demand_samples_per_s, share};
use crate::cell::training::{GAP_MAX, Stall, TrainingFigures};

/// Kind of error of a sample that could not be decoded, where the engine counts it among the errors.
const DECODE_ERROR: &str = "decode";

// DLIO leaves first steps out; up to a twentieth of the job both definitions agree within the gap that is reported.
/// Share of a job that its first fill may take before it is said.
const FILL_MAX: f64 = 0.05;

/// All flags that are of a training job alone.
pub(crate) fn flags(context: &Context<'_>, used: &[&Rep], figures: &TrainingFigures) -> Vec<Flag> {
    let all = [
        few_steps(used),
        ran_out(context, used),
        not_decoded(used),
        waits_elsewhere(context, used, figures),
        long_fill(used, figures),
        definitions_apart(figures),
        saves_failed(used),
    ];
    all.into_iter().flatten().collect()
}

fn saves_failed(used: &[&Rep]) -> Option<Flag> {
    let reasons = failed_saves(used);
    Some(Flag::SavesFailed { saves: reasons.len() as u64, reason: reasons.into_iter().next()? })
}

fn jobs<'a>(used: &'a [&'a Rep]) -> impl Iterator<Item = &'a Trained> {
    used.iter().filter_map(|rep| rep.trained.as_ref())
}

fn fewest_steps(trained: &Trained) -> u64 {
    trained.accelerators.iter().map(|one| one.steps).min().unwrap_or(0)
}

fn few_steps(used: &[&Rep]) -> Option<Flag> {
    let few: Vec<u64> = jobs(used).map(fewest_steps).filter(|steps| *steps < STEPS_MIN).collect();
    let steps = few.iter().copied().min()?;
    Some(Flag::FewSteps { repetitions: few.len() as u32, steps })
}

fn ran_out(context: &Context<'_>, used: &[&Rep]) -> Option<Flag> {
    let short: Vec<u64> = jobs(used).filter(|trained| trained.ran_out).map(fewest_steps).collect();
    let steps = short.iter().copied().min()?;
    Some(Flag::RanOut { repetitions: short.len() as u32, steps, asked: context.measure.steps })
}

/// Those that are not among the failed reads already.
fn not_decoded(used: &[&Rep]) -> Option<Flag> {
    let failed = jobs(used).map(|trained| trained.decode_failures).fold(0, u64::saturating_add);
    // Readers that decode count the failure as one of the read: said twice, one cause would look like two.
    let told: u64 = used.iter().filter_map(|rep| rep.errors.get(DECODE_ERROR)).sum();
    let samples = failed.saturating_sub(told);
    let first = used.iter().find_map(|rep| rep.granted.get("first_decode_failure")).cloned();
    let share = samples as f64 / (sum(used, counter::OPS).max(samples)) as f64;
    (samples > 0).then_some(Flag::NotDecoded { samples, share, first })
}

/// Whether the job would reach its line, were it not for decoding, the client and starting readers: the storage then
/// starves nobody, for all that was measured. What accelerators waited for each other counts as what they waited for
/// themselves.
fn waits_elsewhere(context: &Context<'_>, used: &[&Rep], figures: &TrainingFigures) -> Option<Flag> {
    let job = context.cell.training.as_ref()?;
    // The cell's own line, which may be asked at another utilization than the job's threshold.
    let target = context.line_samples_per_s.filter(|_| context.storage)? / demand_samples_per_s(job)?;
    let Stall { storage, decode, client, startup, barrier, checkpoint } = figures.stall;
    let own = decode + client + startup;
    let share = own + barrier * own / (own + storage);
    // Readers that fetch ahead fetch while accelerators compute, too: all that they do is faster by what falls away of it,
    // and not the waiting alone.
    let of_fetching = if job.prefetch > 0 { storage / (storage + decode + client) } else { 1.0 };
    // Whatever falls away, computing stays, and so do checkpoints, which are the storage's too: it is what takes them.
    let left = (1.0 - share).min((1.0 - startup) * of_fetching).max(figures.au.mean + checkpoint);
    let of_client = if crowd::holds_processors(context.cell, used) { Bound::Others } else { Bound::Client };
    let causes = [(decode, Bound::Decode), (client, of_client), (startup, Bound::Startup)];
    let cause = causes.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?.1;
    // Only where it turns the verdict: a job that would miss its line anyway starves for the storage, whoever else is slow too.
    let is_short = own > 0.0 && figures.au.mean < target && figures.au.mean >= target * left;
    is_short.then_some(Flag::WaitsElsewhere { cause, share })
}

fn long_fill(used: &[&Rep], figures: &TrainingFigures) -> Option<Flag> {
    let fills = jobs(used).map(|trained| share(trained, |one| one.first_batch_ns));
    let share = fills.reduce(f64::max).filter(|share| *share > FILL_MAX)?;
    Some(Flag::LongFill { share, first_batch_ns: figures.first_batch_ns })
}

fn definitions_apart(figures: &TrainingFigures) -> Option<Flag> {
    let (au, dlio_au) = (figures.au.mean, figures.dlio_au?);
    ((au - dlio_au).abs() > GAP_MAX).then_some(Flag::AuApart { au, dlio_au })
}
