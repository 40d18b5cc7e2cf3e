//! `need.checkpoint` as written.

use feed::{CheckpointModel, SaveKind};

use crate::diagnostic::{Problem, Problems};
use crate::table::{Table, missing, table};
use crate::value::{Duration, Size, Whole};
use crate::words::Word;

table! {
    /// What checkpoints of the job ask of the storage, beside its reads or alone.
    #[schemars(extend("required" = ["within"]))]
    #[schemars(extend("oneOf" = [{ "required": ["model"] }, { "required": ["bytes"] }]))]
    pub(crate) struct CheckpointNeed {
        /// A model whose checkpoint is written, with the state of its optimizer: all hosts together.
        model: Word<CheckpointModel>,
        /// Bytes of one checkpoint of all hosts together, where no model says it.
        bytes: Size,
        /// Time from when a checkpoint is due until it is durable.
        within: Duration,
        /// Time from one due checkpoint to the next. Default: not known, and nothing is said of the time that a job loses.
        every: Duration,
        /// Hosts that write it together; this client is the one of them that writes most. Default: those of the need, else 1.
        hosts: Whole<1, { feed::COUNT_MAX as u64 }>,
        /// Time in which a checkpoint is read back, on every host its own. Default: not asked for.
        restore_within: Duration,
        /// Who waits while one is written. Default: sync.
        kind: Word<SaveKind>,
    }
}

impl Table for CheckpointNeed {
    const EXAMPLE: &'static str = "{ model = \"llama3-70b\", within = \"30s\", every = \"30m\", hosts = 64 }";

    fn check(&self, problems: &mut Problems) {
        match (self.model.key(), self.bytes.key()) {
            (None, None) => {
                let problem = Problem::absent(
                    "`need.checkpoint` has neither a model nor bytes: how much must be written?",
                );
                let problem = problem.at(self.name.span, "says nothing of its size");
                problems.push(problem.help(format!("for example checkpoint = {}", Self::EXAMPLE)));
            }
            (Some(model), Some(bytes)) => {
                let problem = Problem::new(
                    "`need.checkpoint.model` and `need.checkpoint.bytes` both say how much must be written",
                );
                problems.push(problem.at(model, "remove this").at(bytes, "or this"));
            }
            _ => {}
        }
        if self.within.is_absent() {
            let question = ": how long may a checkpoint take?";
            problems.push(missing(&self.name, "within", question, "says no time", Self::EXAMPLE));
        }
    }
}
