//! Checkpoints: what is written, how often, and who waits for it.

/// What a checkpoint is, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// What it is of: `llama3-8b, 1/64 of it`, or the size as it was written.
    pub label: String,
    /// Files that it is made of, written side by side.
    pub files: u32,
    /// Bytes of each file.
    pub file_bytes: u64,
    /// Index into [`crate::Plan::targets`] of the storage that it is written to.
    pub to: usize,
    /// Whether it counts once it is durable, its names included.
    pub durable: bool,
    /// Checkpoints that are kept; older ones are removed.
    pub keep: u32,
    /// Bytes of one write call.
    pub block_bytes: u32,
}

/// The checkpoints that are made beside a training job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCheckpoints {
    /// What each of them is.
    pub checkpoint: Checkpoint,
    /// Who waits for it.
    pub mode: Saving,
    /// Steps of each accelerator between two.
    pub every_steps: u64,
}

/// Who waits for a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Saving {
    /// Accelerators stand still until it is whole.
    Sync,
    /// Accelerators stand still while their state is copied; it is written beside the steps that follow.
    Async {
        /// Time of the copy.
        copy_ns: u64,
    },
}

impl Saving {
    /// The word used in scenarios, records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Async { .. } => "async",
        }
    }

    /// Time in which accelerators copy their state, where that is all they wait for.
    pub fn copy_ns(self) -> u64 {
        match self {
            Self::Sync => 0,
            Self::Async { copy_ns } => copy_ns,
        }
    }
}

impl Checkpoint {
    /// Bytes of one checkpoint.
    pub fn bytes(&self) -> u64 {
        // What is written in the end: a scale such as 1/64 has been applied, and rounded to whole files.
        self.file_bytes.saturating_mul(u64::from(self.files))
    }

    /// Bytes on a disk while the next one is written beside those that are kept.
    pub fn disk_bytes(&self) -> u64 {
        // The oldest is removed only once the new one is whole: a crash in between must leave one that can
        // be restored.
        crate::disk_bytes(u64::from(self.files) * (u64::from(self.keep) + 1), self.file_bytes)
    }

    /// The files of a checkpoint as a dataset of its own: what a restore reads.
    pub fn restored(&self, seed: u64) -> crate::generate::Generate {
        crate::generate::Generate {
            samples: u64::from(self.files),
            sample_bytes: self.file_bytes,
            seed,
            // As other checkpoints, it lies where checkpoints were asked for.
            beside_others: true,
            ..crate::generate::Generate::NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            label: "64 MB".to_owned(),
            files: 4,
            file_bytes: 16_000_000,
            to: 0,
            durable: true,
            keep: 2,
            block_bytes: 8 << 20,
        }
    }

    #[test]
    fn the_one_being_written_needs_room_beside_those_that_are_kept() {
        let room = checkpoint().disk_bytes();
        assert!(room >= 3 * checkpoint().bytes() && room < 3 * checkpoint().bytes() + 12 * 8192, "{room}");
        assert_eq!(Checkpoint { file_bytes: u64::MAX, ..checkpoint() }.bytes(), u64::MAX);
    }

    #[test]
    fn accelerators_copy_their_state_only_where_nothing_else_holds_them() {
        assert_eq!((Saving::Async { copy_ns: 7 }.copy_ns(), Saving::Sync.copy_ns()), (7, 0));
    }
}
