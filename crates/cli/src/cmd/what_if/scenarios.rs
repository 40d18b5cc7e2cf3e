//! The scenarios that measure what a question reckons with.

use feed::what_if::{CacheBefore, Checkpoints, CopyFirst, Readers, Reading, Shards, State};
use feed::{CacheOrder, TierPolicy};

/// Bytes of data that a scenario has written at most: rates follow from a part as well, and disks are finite.
const WRITTEN_BYTES_MAX: f64 = 8.0 * 1_073_741_824.0;
/// Samples of a dataset that is written, at least: fewer make no epoch worth measuring.
const SAMPLE_BYTES: f64 = 131_072.0;

/// What would measure a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measured {
    /// Reads of a source, a copy of it, and reads of that.
    Copy { question: CopyFirst, need: Option<String> },
    /// Epochs through a cache tier, and without it.
    Cache { question: CacheBefore, need: Option<String> },
    /// Checkpoints that are written and read back.
    Checkpoint { question: Checkpoints },
    /// A job with few and with many readers.
    Readers { question: Readers, need: Option<String> },
    /// The same samples as files and as shards.
    Shards { question: Shards },
    /// Nothing, and why.
    None(&'static str),
}

impl Measured {
    /// The text of the scenario, or why there is none.
    pub(super) fn scenario(&self) -> Result<String, &'static str> {
        match self {
            Self::Copy { question, need } => Ok(copy(question, need.as_deref())),
            Self::Cache { question, need } => Ok(cache(question, need.as_deref())),
            Self::Checkpoint { question } => Ok(checkpoint(question)),
            Self::Readers { question, need } => Ok(readers(question, need.as_deref())),
            Self::Shards { question } => Ok(shards(question)),
            Self::None(why) => Err(why),
        }
    }
}

/// The need as it was written, else the rate against which the storages are held.
fn need_line(need: Option<&str>, bps: f64) -> String {
    match need {
        Some(need) => need_key(need),
        None => format!("need = {{ rate = \"{} B/s\" }}", bps.round().max(1.0)),
    }
}

/// A need in its short form, or as a table or a list.
fn need_key(need: &str) -> String {
    if need.starts_with(['{', '[']) {
        format!("need = {need}")
    } else {
        format!("need = \"{}\"", need.escape_default())
    }
}

/// The samples of a need have their own size; others are of 128 KiB.
fn sample_line(need: Option<&str>) -> String {
    let is_of_workload = need.is_some_and(|need| need.contains(':') || need.starts_with(['{', '[']));
    if is_of_workload { String::new() } else { format!("sample_size = \"{SAMPLE_BYTES} B\"\n") }
}

/// Bytes of what is written: all of it, or a part of at most so many bytes and a word on it.
fn written(bytes: f64, at_most: f64) -> (f64, &'static str) {
    if bytes > at_most {
        (
            at_most,
            "# A part of the dataset: what is reckoned with are rates. A larger part hides more from caches.\n",
        )
    } else {
        (bytes.max(SAMPLE_BYTES), "")
    }
}

fn copy(question: &CopyFirst, need: Option<&str>) -> String {
    let (bytes, part) = written(question.dataset_bytes, WRITTEN_BYTES_MAX);
    format!(
        r#"# Why: whether it pays to copy the dataset before the job: `feedline what-if copy` reckons with the rates of the source,
# of copying and of the copy, and this measures all three. The page of the run says after how many epochs the copy has
# paid for itself (F42); `feedline what-if copy --from RUN` takes the rates from there.
# Change both `at`: the source, which may be a path, nfs:// or s3://, and the place that it is copied to.
version = 1
title = "whether a copy pays"

{need}

[dataset]
{part}size = "{bytes:.0} B"
{sample}
[targets.source]
at = "/mnt/source/bench"

[targets.near]
at = "/mnt/near/bench"

[load]
operation = "read_file"
queue_depth = 16

[copy]
from = "source"
to = "near"
threads = 64

[measure]
duration = "10s"
repetitions = 3
"#,
        need = need_line(need, question.need_bps.unwrap_or(question.source_bps)),
        sample = sample_line(need),
    )
}

fn cache(question: &CacheBefore, need: Option<&str>) -> String {
    let (bytes, part) = written(question.dataset_bytes, WRITTEN_BYTES_MAX);
    // As large a part of what is written as it was of all.
    let capacity = (question.cache_bytes / question.dataset_bytes).min(1.0) * bytes;
    // Less than a sample holds nothing.
    let capacity = capacity.max(SAMPLE_BYTES);
    let policy = match question.policy {
        TierPolicy::Lru => "lru",
        TierPolicy::Random => "random",
    };
    let access = match question.order {
        CacheOrder::Permuted => "shuffled_epoch",
        CacheOrder::Same => "sequential",
        CacheOrder::Drawn => "random",
    };
    format!(
        r#"# Why: what a cache before the storage gives to later epochs: `feedline what-if cache` reckons with hits that follow from
# its size (F44) and with two rates (F45). This reads the same data four times, straight and through a cache of the same
# part of them, and its page tells the hits of each epoch beside those that are expected.
# Change `at` of the storage, and of the cache: a folder on the local drive.
version = 1
title = "a cache before the storage"

{need}

[dataset]
{part}size = "{bytes:.0} B"
{sample}
[targets.source]
at = "/mnt/source/bench"

[cache_tier]
at = "/mnt/cache/bench"
capacity = "{capacity:.0} B"
policy = ["none", "{policy}"]
targets = ["source"]

[load]
access = "{access}"
queue_depth = 16

[measure]
epochs = 4
repetitions = 3
"#,
        need = need_line(need, question.need_bps.unwrap_or(question.source_bps)),
        sample = sample_line(need),
    )
}

fn checkpoint(question: &Checkpoints) -> String {
    let all = match question.state {
        State::Bytes(bytes) => bytes,
        State::Parameters { count, bytes_each } => count * bytes_each,
    };
    let bytes = all.clamp(1.0, WRITTEN_BYTES_MAX);
    let part =
        if bytes < all { "# A part of the checkpoint: what is reckoned with is the rate.\n" } else { "" };
    format!(
        r#"# Why: what checkpoints cost: `feedline what-if checkpoint` reckons with the rate at which they are written (F47), and this
# measures it, until they are durable, and reads them back. `feedline what-if checkpoint --from RUN` takes it from there.
# Change `at`: the place that checkpoints are written to.
version = 1
title = "checkpoints, written and read back"

# What is read beside does not matter here.
need = {{ rate = "1 MB/s" }}

[dataset]
size = "64 MiB"

[targets.disk]
at = "/mnt/checkpoints/bench"

[load]
queue_depth = 1

[checkpoint]
{part}size = "{bytes:.0} B"
files = 8

[measure]
duration = "10s"
repetitions = 3
"#
    )
}

fn readers(question: &Readers, need: Option<&str>) -> String {
    let need = match need {
        Some(need) => need_key(need),
        None => format!(
            "need = {{ batch = {}, step_time = \"{}ns\", sample_size = \"{SAMPLE_BYTES} B\", count = {} }}",
            question.batch,
            (question.step_s * 1e9).round(),
            question.accelerators
        ),
    };
    // A stated cost takes its time as the arithmetic has it; real decoding has its own.
    let decode = if question.decode_s > 0.0 {
        format!("decode = {{ cost = \"{}ns\" }}\n", (question.decode_s * 1e9).round())
    } else {
        String::new()
    };
    // A minute of them, as far as that makes enough for an interval and no more than are needed.
    let steps = (60.0 / question.step_s).clamp(20.0, 200.0).round();
    let why = match question.reading {
        Reading::Sample { .. } => "the time of one read",
        Reading::Measured(_) => "what closed loops of the storage measured",
    };
    format!(
        r#"# Why: how many readers keep the accelerators busy: `feedline what-if readers` reckons with {why}, and
# this plays the job with few and with many of them.
# Change `at`, and `sample_size` where the need names none. `feedline size FILE --find readers` finds the fewest.
version = 1
title = "readers of a training job"

{need}

[dataset]
size = "{WRITTEN_BYTES_MAX:.0} B"

[targets.storage]
at = "/mnt/data/bench"

[load]
mode = "training"

[training]
readers = [1, 2, 4, 8, 16]
steps = {steps}
{decode}
[measure]
repetitions = 3
"#
    )
}

fn shards(question: &Shards) -> String {
    // It is written twice, and holds a sample at least.
    let (bytes, part) = written(question.dataset_bytes, WRITTEN_BYTES_MAX / 2.0);
    let bytes = bytes.max(question.sample_bytes);
    let shard = question.shard_bytes.min(bytes);
    format!(
        r#"# Why: what shards gain over files: `feedline what-if shards` reckons with the time to the first byte and with the rate of one
# stream (F18). This reads the same samples as files, in a new order each epoch, and as streams of tar shards.
# Change `at`: a path, nfs:// or s3://.
version = 1
title = "files or shards"

need = {{ rate = "100 MB/s" }}

[dataset]
layout = ["files", "webdataset"]
{part}size = "{bytes:.0} B"
sample_size = "{sample:.0} B"
shard_size = "{shard:.0} B"

[targets.storage]
at = "/mnt/data/bench"

[load]
queue_depth = [1, 16]
cache = "bypass"

[measure]
duration = "5s"
repetitions = 3
"#,
        sample = question.sample_bytes,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every scenario is one, for small and for absurdly large questions.
    #[test]
    fn what_is_written_resolves() {
        for bytes in [200e3, 166.4e9, 1e15] {
            for need in [None, Some("8xh100:resnet50"), Some("2.5 GB/s")] {
                let need = need.map(str::to_owned);
                for measured in questions(bytes, need.as_ref()) {
                    let text = measured.scenario().unwrap();
                    scenario::check_shape(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                }
            }
        }
        assert_eq!(Measured::None("why").scenario(), Err("why"));
    }

    fn questions(bytes: f64, need: Option<&String>) -> Vec<Measured> {
        let copy = CopyFirst {
            dataset_bytes: bytes,
            source_bps: 1.5e9,
            copying_bps: 1e9,
            copy_bps: 2e9,
            need_bps: None,
            epochs: None,
        };
        let cache = |order, policy| CacheBefore {
            dataset_bytes: bytes,
            cache_bytes: bytes / 2.0,
            source_bps: 1e9,
            cache_bps: 2e9,
            order,
            policy,
            need_bps: Some(1.5e9),
            epochs: None,
        };
        let checkpoints = Checkpoints {
            state: State::Parameters { count: bytes, bytes_each: 16.0 },
            write_bps: 1e9,
            interval_s: 900.0,
            copied_over: None,
            accelerators: 8,
            price: None,
        };
        let readers = Readers {
            accelerators: 8,
            batch: 256,
            step_s: 0.2,
            reading: Reading::Sample { read_s: 0.001 },
            decode_s: 0.002,
            prefetch: 2,
            cores: None,
            utilization: 0.9,
        };
        let shards =
            Shards { dataset_bytes: bytes, sample_bytes: 100e3, shard_bytes: 100e6, ranks: 1, stream: None };
        let need_of = || need.cloned();
        let mut all = vec![
            Measured::Copy { question: copy, need: need_of() },
            Measured::Checkpoint { question: checkpoints },
            Measured::Shards { question: shards },
        ];
        // A rate has no steps, and is refused as a job before.
        let of_job = need_of().filter(|need| need.contains(':'));
        all.push(Measured::Readers { question: readers, need: of_job });
        for order in [CacheOrder::Permuted, CacheOrder::Same, CacheOrder::Drawn] {
            for policy in [TierPolicy::Lru, TierPolicy::Random] {
                all.push(Measured::Cache { question: cache(order, policy), need: need_of() });
            }
        }
        all
    }
}
