//! `checkpoint` as written.

use feed::{CheckpointModel, SaveKind};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::list::Axis;
use crate::only::Only::SavedByJob;
use crate::reader::{Written, wrong_type};
use crate::table::{Table, table};
use crate::value::{Count, Flag, Pause, Rate, Size, Text, Whole, schema};
use crate::words::Word;

/// Most files of a checkpoint on one client.
// Two for each accelerator that one client can play are 8,192; the rest is room for checkpoints that are
// cut smaller.
pub(crate) const FILES_MAX: u64 = 65_536;

/// Most checkpoints that are kept.
const KEEP_MAX: u64 = 100;

table! {
    /// Checkpoints: written one after the other, read back, and beside a training job. Each target on which feedline may write
    /// gets cells of its own for them.
    #[schemars(extend("not" = { "required": ["model", "size"] }))]
    pub(crate) struct Checkpoint {
        /// A model whose checkpoint, with the state of its optimizer, is written: this client's part of it, which is that of
        /// one process for each of the need's accelerators.
        model: Word<CheckpointModel>,
        /// Bytes that this client writes, where no model says it. Default of both, where `need.checkpoint` asks for
        /// checkpoints: what it asks of one host, or the largest power of two of it for which a path has room.
        size: Size,
        /// The part of it that is written, as `"1/64"` or a number; every result says so. Default: all of it.
        scale: Scale,
        /// Files that it is made of, all of one size, written side by side (64 at a time at most). Default: of a model, one
        /// with its weights and one with the optimizer's state for each process; of a size, one for each accelerator.
        files: Whole<1, FILES_MAX>,
        /// Steps of each accelerator between two checkpoints of a training job. None is due after the last step. Default: a
        /// quarter of the steps that a repetition can hold, at most 100.
        every: Count => [SavedByJob],
        /// Who waits for the checkpoint of a training job. Each is measured beside the same job without any. Default: both.
        mode: Axis<Word<SaveKind>> => [SavedByJob],
        /// Time in which accelerators copy their state before an asynchronous write. Default: what the copy takes at
        /// `copy_bandwidth`.
        copy_time: Pause => [SavedByJob],
        /// Bytes per second at which one accelerator copies its state to the memory of its host, all of them side by side.
        /// Default: 25 GB/s, about what pinned copies reach over PCIe 4.0 x16, which carries 31.5 GB/s.
        copy_bandwidth: Rate => [SavedByJob],
        /// Whether a checkpoint counts once it outlives a power cut: its files written back (`fsync`, `COMMIT`) and their
        /// names too. Only on a path can it be false. Default: true.
        durable: Flag,
        /// Checkpoints that are kept while others are written; older ones are removed. All of them are removed in the end.
        /// Default: 2.
        keep: Whole<1, KEEP_MAX>,
        /// Whether a checkpoint is also read back, from a cold cache, all its files side by side. Default: true.
        restore: Flag,
        /// Bytes of one write call, and of one read of a restore; at most 64 MiB. Default: 8 MiB.
        block_size: Size,
        /// Name of the target that checkpoints are written to. Default: each target for itself.
        to: Text,
    }
}

impl Table for Checkpoint {
    const EXAMPLE: &'static str = "{ model = \"llama3-8b\", scale = \"1/64\" }";

    fn check(&self, problems: &mut Problems) {
        // Neither wins: the size might be that of the model on other accelerators.
        if let (Some(model), Some(size)) = (self.model.key(), self.size.key()) {
            problems.push(
                Problem::new("`checkpoint.model` and `checkpoint.size` both say how much is written")
                    .at(model, "remove this")
                    .at(size, "or this"),
            );
        }
    }
}

/// A part of something, as a fraction or a number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    /// Above 0 and at most 1.
    pub(crate) share: f64,
    /// As it was written.
    pub(crate) words: String,
}

schema!(Scale, "scale", { "anyOf": [
    { "type": "string", "pattern": "^\\s*[0-9]+\\s*/\\s*[0-9]+\\s*$" },
    { "type": "number", "exclusiveMinimum": 0, "maximum": 1 },
] });

impl Written for Scale {
    fn expected() -> String {
        "a part such as \"1/64\" or 0.05, above 0 and at most 1".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let (share, words) = match &node.value {
            // A fraction stays as it is written, since `1/64 of it` is what a report has to say, and
            // 0.015625 is nothing that anybody meant.
            Value::String(text) => (fraction(text), text.split_whitespace().collect()),
            Value::Float(digits) | Value::Integer { digits, radix: 10 } => {
                (digits.parse().ok(), digits.clone())
            }
            _ => {
                problems.push(wrong_type::<Self>(node, path));
                return None;
            }
        };
        let share = share.filter(|share: &f64| *share > 0.0 && *share <= 1.0);
        if share.is_none() {
            let problem = Problem::new(format!("`{path}` takes {}", Self::expected()));
            problems.push(problem.at(node.span, "this is not such a part"));
        }
        share.map(|share| Self { share, words })
    }
}

fn fraction(text: &str) -> Option<f64> {
    let (part, whole) = text.split_once('/')?;
    let [part, whole] = [part, whole].map(|number| number.trim().parse::<u32>().ok());
    Some(f64::from(part?) / f64::from(whole.filter(|whole| *whole > 0)?))
}
