//! What is said of the training job of each target below its table: waits by cause, prediction, diagnosis, cost, and
//! how to set up the same in PyTorch.

use analysis::{Bound, DataLoader, Diagnosis, GAP_MAX, Idle, PredictedAu, Summary};

use super::tables::causes;
use super::{Job, judged};
use crate::number::{cut_percent, grouped, part};
use crate::page::{Fact, Facts};
use crate::words;

/// What is said of the chosen job of each target.
pub(crate) fn facts(summary: &Summary) -> Vec<Facts> {
    judged(summary).iter().map(|job| of_job(summary, job)).collect()
}

fn of_job(summary: &Summary, job: &Job<'_>) -> Facts {
    let training = job.training;
    let form = words::form::of_cell(&job.cell.cell);
    let job_words = [job.settings(), job.way()].into_iter().chain(form).collect::<Vec<_>>().join("; ");
    let mut said = vec![("job", job_words), ("stall", stalled(job)), ("AU", utilization(job))];
    if let Some(diagnosis) = &training.diagnosis {
        said.push(("why", reasons(diagnosis)));
        said.push(("do", words::diagnosis::advice(diagnosis)));
    }
    // Behind the reasons: what it costs follows from them.
    let bound = training.diagnosis.as_ref().map(|diagnosis| diagnosis.bound);
    said.extend(idle(training.idle, bound).map(|words| ("idle", words)));
    let loader = DataLoader::of(summary, job.cell);
    said.extend(loader.iter().flat_map(words::loader::arguments).map(|words| ("torch", words)));
    let facts = said.into_iter().map(|(name, words)| Fact::new(name, words)).collect();
    Facts { about: job.cell.cell.target.clone(), facts }
}

/// `20.1 % waiting for storage, 3.2 % for decode`.
fn stalled(job: &Job<'_>) -> String {
    let waited = causes(&job.training.stall).into_iter().filter(|(_, share)| *share > 0.0);
    let waited: Vec<String> = waited.map(|(cause, share)| format!("{cause} {}", part(share))).collect();
    if waited.is_empty() {
        return "none of the time was waited".to_owned();
    }
    format!("{} of the time", waited.join(", "))
}

/// `71.8 % measured; predicted 74.0 %: a closed loop at depth 64 ...; 99.9 % without storage`.
fn utilization(job: &Job<'_>) -> String {
    let training = job.training;
    let au = training.au.mean;
    let mut parts = vec![format!("{} % measured", cut_percent(au))];
    parts.extend(training.predicted.as_ref().map(|predicted| predicted_words(job, predicted, au)));
    let not_predicted = training.not_predicted.as_ref().map(words::predicted::not_predicted);
    parts.extend(not_predicted.map(|why| format!("not predicted: {why}")));
    // Said only where it differs by more than both would by chance: two figures of one thing confuse.
    let dlio = training.dlio_au.filter(|dlio| (dlio - au).abs() > GAP_MAX);
    parts.extend(
        dlio.map(|dlio| {
            format!("DLIO, which leaves out first steps of epochs, says {} %", cut_percent(dlio))
        }),
    );
    parts.extend(training.null_au.map(|null| format!("{} % without storage", cut_percent(null))));
    parts.join("; ")
}

fn predicted_words(job: &Job<'_>, predicted: &PredictedAu, au: f64) -> String {
    let gap = (predicted.au - au) * 100.0;
    let side = if gap > 0.0 { "above" } else { "below" };
    let gap = (gap.abs() > GAP_MAX * 100.0).then(|| format!(", {:.1} points {side}", gap.abs()));
    let how = words::predicted::how(predicted, job.plan);
    format!("predicted {} %{}: {how}", cut_percent(predicted.au), gap.unwrap_or_default())
}

/// `latency-bound: ...; ...`.
fn reasons(diagnosis: &Diagnosis) -> String {
    let bound = words::bound::words(diagnosis.bound);
    let symptoms: Vec<String> = diagnosis.symptoms.iter().map(words::diagnosis::symptom).collect();
    if symptoms.is_empty() { bound.to_owned() } else { format!("{bound}: {}", symptoms.join("; ")) }
}

/// `4.1 GPU-hours a day, 12.3 in your currency`; nothing where none is lost, or where the cause does not go on so for a day.
fn idle(idle: Idle, bound: Option<Bound>) -> Option<String> {
    // Checkpoints follow each other as the window has room for them, and a job fills its loader once: neither carries over to a day.
    if matches!(bound, Some(Bound::Checkpoint | Bound::FirstFill)) || idle.gpu_hours_per_day <= 0.0 {
        return None;
    }
    let hours = grouped(idle.gpu_hours_per_day);
    let price = idle.price_per_day.map(|price| format!(", {} in your currency", grouped(price)));
    Some(format!("{hours} GPU-hours a day{}", price.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_costs_what_the_user_says_and_nothing_where_none_is_lost() {
        let cost = |gpu_hours_per_day, price_per_day| idle(Idle { gpu_hours_per_day, price_per_day }, None);
        assert_eq!(cost(4.12, None).as_deref(), Some("4.12 GPU-hours a day"));
        assert_eq!(
            cost(54.1, Some(1_622.4)).as_deref(),
            Some("54.1 GPU-hours a day, 1,622 in your currency")
        );
        assert_eq!(cost(0.0, Some(0.0)), None);
        let lost = Idle { gpu_hours_per_day: 51.7, price_per_day: None };
        for bound in Bound::ALL {
            let carries_over = !matches!(bound, Bound::Checkpoint | Bound::FirstFill);
            assert_eq!(idle(lost, Some(bound)).is_some(), carries_over, "{bound:?}");
        }
    }
}
