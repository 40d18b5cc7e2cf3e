//! The training job that is played, as far as the names of its cells do not say it.

use feed::{counted_noun, format_bytes, format_duration_ns, group_digits};
use plan::{Load, Plan, Streams, Training, Work};

/// `batch 400, 224 ms a step; jpeg decoded by 8 threads; each step begun together`; `None` where no job is played. What a list varies
/// is in the names of the cells.
pub(super) fn words(plan: &Plan) -> Option<String> {
    let (cell, job) = plan.cells.iter().find_map(|cell| match &cell.load {
        Load::Training(training) => Some((cell, training)),
        Load::Closed | Load::Paced(_) => None,
    })?;
    let step =
        format!("batch {}, {} a step", group_digits(job.batch.into()), format_duration_ns(job.compute_ns));
    let together = job.barrier.then(|| "each step begun together".to_owned());
    let starts = (job.startup_ns > 0)
        .then(|| format!("readers take {} to start in each epoch", format_duration_ns(job.startup_ns)));
    let rest = (!job.drop_last).then(|| "the rest of an epoch is a smaller batch".to_owned());
    let buffer = cell.access.streams().filter(|streams| streams.shuffle_buffer > 0);
    let parts =
        [Some(step), decoding(job), starts, together, rest, buffer.map(|streams| held(plan, cell, streams))];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// `each sample decoded for 4 ms by 8 threads, which burn it`.
fn decoding(job: &Training) -> Option<String> {
    let decode = job.decode?;
    let by = match decode.threads {
        Some(threads) => format!("by {}", counted_noun(threads.into(), "thread")),
        None => "by who reads it".to_owned(),
    };
    Some(match decode.work {
        Work::Cost { per_sample_ns } => {
            format!(
                "a sample is decoded in {} {by}, which takes no processor",
                format_duration_ns(per_sample_ns)
            )
        }
        Work::Processor { per_sample_ns } => {
            format!("a sample burns {} of a processor {by}", format_duration_ns(per_sample_ns))
        }
        work => format!("a sample is decoded ({}) {by}", work.name()),
    })
}

/// What the readers of streams hold to draw from, which no read is made for.
fn held(plan: &Plan, cell: &plan::Cell, Streams { count, shuffle_buffer }: Streams) -> String {
    let samples = u64::from(count) * u64::from(shuffle_buffer);
    let bytes = match plan.dataset(cell) {
        plan::DatasetSpec::Generate(generate) => {
            Some(samples.min(generate.samples).saturating_mul(generate.sample_bytes))
        }
        plan::DatasetSpec::Existing(existing) => {
            existing.sample_bytes.map(|bytes| samples.saturating_mul(bytes))
        }
    };
    let bytes = bytes.map(|bytes| format!(", {} as stored", format_bytes(bytes))).unwrap_or_default();
    format!("{} held to shuffle{bytes}", counted_noun(samples, "sample"))
}
