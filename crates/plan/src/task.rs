//! What a cell does over and over.

use feed::{Durability, Operation};

use crate::{Checkpoint, Copy};

/// What a cell does over and over, with what that takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// Blocks are read from files that stay open.
    Read,
    /// A whole file is opened, looked at, read and closed.
    ReadFile,
    /// A file is looked at by its name.
    Stat,
    /// A folder is read entry by entry.
    List,
    /// The attributes of a file whose handle is known.
    GetAttr,
    /// The dataset is copied to another target.
    Copy(Copy),
    /// Whole checkpoints are written one after the other.
    Checkpoint(Checkpoint),
    /// A checkpoint is read back whole.
    Restore(Checkpoint),
    /// Blocks of files that stay open are written over, each with what its storage is to promise of it.
    Write(Durability),
}

impl Task {
    /// The task of an operation that takes nothing besides; `None` of copies and checkpoints.
    pub fn plain(operation: Operation) -> Option<Self> {
        match operation {
            Operation::Read => Some(Self::Read),
            Operation::ReadFile => Some(Self::ReadFile),
            Operation::Stat => Some(Self::Stat),
            Operation::List => Some(Self::List),
            Operation::GetAttr => Some(Self::GetAttr),
            // These need a place to write to, which a load has no key for; a write, what it is to be kept by.
            Operation::Copy | Operation::Checkpoint | Operation::Restore | Operation::Write => None,
        }
    }

    /// The operation alone.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Read => Operation::Read,
            Self::ReadFile => Operation::ReadFile,
            Self::Stat => Operation::Stat,
            Self::List => Operation::List,
            Self::GetAttr => Operation::GetAttr,
            Self::Copy(_) => Operation::Copy,
            Self::Checkpoint(_) => Operation::Checkpoint,
            Self::Restore(_) => Operation::Restore,
            Self::Write(_) => Operation::Write,
        }
    }

    /// How the dataset is copied, of a cell that does.
    pub fn copy(&self) -> Option<Copy> {
        match self {
            Self::Copy(copy) => Some(*copy),
            _ => None,
        }
    }

    /// What the storage promises of each write, of a cell that writes blocks.
    pub fn durability(&self) -> Option<Durability> {
        match self {
            Self::Write(durability) => Some(*durability),
            _ => None,
        }
    }
}
