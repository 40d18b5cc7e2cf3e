//! How a utilization follows from reads in closed loops, in words.

use analysis::{NotPredicted, PredictedAu};
use feed::{format_count, format_duration_ns, group_digits};
use record::Training;

use super::share::utilization;

/// Of a job, from which the words have what is said besides the loop.
pub(crate) fn how(predicted: &PredictedAu, job: &Training) -> String {
    format!(
        "a closed loop at depth {} moves {} samples/s of the {} that the job takes{}: AU {} in the long run, {} over {} \
         steps with the first fill{}",
        predicted.depth,
        format_count(predicted.samples_per_s),
        format_count(predicted.demand_samples_per_s),
        besides(job),
        utilization(predicted.long_run),
        utilization(predicted.au),
        group_digits(predicted.steps),
        start(job.startup_ns, predicted.epochs)
    )
}

fn start(startup_ns: u64, epochs: u64) -> String {
    let of_each = if epochs == 1 { String::new() } else { format!(" of each of {epochs} epochs") };
    let startup =
        (startup_ns > 0).then(|| format!(" and {} for readers to start", format_duration_ns(startup_ns)));
    of_each + &startup.unwrap_or_default()
}

/// Why not all of the rate is the job's.
fn besides(job: &Training) -> String {
    let readers = match job.readers {
        // First: without prefetch readers wait while the accelerators compute, however many there are.
        _ if job.prefetch == 0 => ", and without prefetch reading and computing take turns".to_owned(),
        // A reader works on a batch of its own, so that no more of them work than batches are asked for.
        Some(readers) if job.prefetch < readers => {
            format!(", of which prefetch {0} lets {0} of {readers} readers work", job.prefetch)
        }
        _ => String::new(),
    };
    let decode = job.decode_cost_ns.filter(|ns| *ns > 0).map(format_duration_ns);
    let decode = decode.map(|cost| format!(", and decoding a sample takes {cost}"));
    readers + &decode.unwrap_or_default()
}

/// Why nothing is foretold of a job.
pub(crate) fn not_predicted(why: &NotPredicted) -> String {
    match why {
        NotPredicted::Decoding { work } => format!("no closed loop says how long decoding by {work} takes"),
        NotPredicted::SeveralReads => {
            "readers that have several reads under way wait for the last of each batch, which no closed loop tells".to_owned()
        }
        NotPredicted::UnevenBatches => {
            "the last batches of an epoch have fewer samples than the others".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_says_what_it_follows_from() {
        let words = |readers, prefetch, startup_ns, epochs| {
            let predicted = PredictedAu {
                au: 0.294,
                long_run: 0.5,
                from: "closed64".to_owned(),
                depth: 64,
                samples_per_s: 5_000.0,
                demand_samples_per_s: 10_000.0,
                epochs,
                steps: 100,
            };
            let job =
                Training { readers, prefetch, startup_ns, ..record::testing::training(4, 250, 100_000_000) };
            how(&predicted, &job)
        };
        let loops = "a closed loop at depth 64 moves 5,000 samples/s of the 10,000 that the job takes";
        let au = ": AU 50.0 % in the long run, 29.4 % over 100 steps with the first fill";
        assert_eq!(words(Some(8), 8, 0, 10), format!("{loops}{au} of each of 10 epochs"));
        assert_eq!(
            words(Some(8), 4, 2_000_000_000, 1),
            format!("{loops}, of which prefetch 4 lets 4 of 8 readers work{au} and 2 s for readers to start")
        );
        assert_eq!(
            words(None, 0, 0, 1),
            format!("{loops}, and without prefetch reading and computing take turns{au}")
        );
    }
}
