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
    /// Some operations write over such blocks, and the others read them.
    Mix(Mix),
    /// Whole objects are written anew in their places, each with what its storage is to promise of it.
    WriteFile(Durability),
    /// An empty file is made, given another name, and removed again.
    Names,
}

/// Reads and writes of one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// Share of the operations that write, 1 to 99 %.
    pub write_percent: u8,
    /// What the storage is to promise of each write.
    pub durability: Durability,
}

impl Mix {
    /// Share of the bytes that are written, above 0 and below 1.
    pub fn write_share(self) -> f64 {
        f64::from(self.write_percent) / 100.0
    }

    /// How much of what was moved counts, 0 to 1: [`feed::formula::mixed_part`].
    pub fn part(self, moved: f64, written: f64) -> f64 {
        feed::formula::mixed_part(moved, written, self.write_share())
    }

    /// Whether the operation of this ticket writes.
    ///
    /// By the number and not by the place: so any operations that follow each other hold the share as nearly as so many can, in
    /// whatever order they go through the data, and none of it is only ever read or only ever written.
    #[inline]
    pub fn writes(self, ticket: u64) -> bool {
        // Multiples of the golden section, whole numbers dropped, lie as evenly as any: 2^64 over it.
        const SECTION: u64 = 0x9E37_79B9_7F4A_7C15;
        u128::from(ticket.wrapping_mul(SECTION)) * 100 < u128::from(self.write_percent) << 64
    }
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
            Operation::Names => Some(Self::Names),
            // These need a place to write to, which a load has no key for; a write, what it is to be kept by.
            Operation::Copy
            | Operation::Checkpoint
            | Operation::Restore
            | Operation::Write
            | Operation::Mix
            | Operation::WriteFile => None,
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
            Self::Names => Operation::Names,
            Self::Copy(_) => Operation::Copy,
            Self::Checkpoint(_) => Operation::Checkpoint,
            Self::Restore(_) => Operation::Restore,
            Self::Write(_) => Operation::Write,
            Self::Mix(_) => Operation::Mix,
            Self::WriteFile(_) => Operation::WriteFile,
        }
    }

    /// How the dataset is copied, of a cell that does.
    pub fn copy(&self) -> Option<Copy> {
        match self {
            Self::Copy(copy) => Some(*copy),
            _ => None,
        }
    }

    /// What the storage promises of each write, of a cell that writes over objects.
    pub fn durability(&self) -> Option<Durability> {
        match self {
            Self::Write(durability) | Self::WriteFile(durability) => Some(*durability),
            Self::Mix(mix) => Some(mix.durability),
            _ => None,
        }
    }

    /// Which blocks are written over and which are read, of a cell that does both.
    pub fn mix(&self) -> Option<Mix> {
        match self {
            Self::Mix(mix) => Some(*mix),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_holds_its_share_wherever_one_looks() {
        for write_percent in [1, 20, 30, 50, 99] {
            let mix = Mix { write_percent, durability: Durability::Data };
            for (first, count) in [(0, 100), (12_345, 1_000), (u64::from(u32::MAX), 10_000)] {
                let written = (first..first + count).filter(|ticket| mix.writes(*ticket)).count() as u64;
                let expected = u64::from(write_percent) * count / 100;
                assert!(written.abs_diff(expected) <= 3, "{written} of {expected} from {first} on");
            }
        }
        let mix = Mix { write_percent: 50, durability: Durability::Data };
        let longest = (0..1_000).scan(0, |run, ticket| {
            *run = if mix.writes(ticket) { *run + 1 } else { 0 };
            Some(*run)
        });
        assert!(longest.max() <= Some(2), "half of them write, and never three in a row");
    }
}
