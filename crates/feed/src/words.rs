//! The words of what a cell does, shared by plans and records.

/// An enum whose values have a word each, the same in scenarios, records and tables.
pub trait Words: Copy + PartialEq + 'static {
    /// Every value.
    const ALL: &'static [Self];

    /// The word of a value.
    fn word(self) -> &'static str;

    /// The value of a word; `None` of a word that this version does not know.
    // A search through all of them: the longest list has about a dozen words, and a record asks once for
    // each cell.
    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

/// Gives each value of an enum its word: `name`, and [`Words`].
#[macro_export]
macro_rules! words {
    ($type:ident { $($value:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// The word used in scenarios, records and tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }

        impl $crate::Words for $type {
            const ALL: &'static [Self] = &[$(Self::$value),+];

            fn word(self) -> &'static str {
                self.name()
            }
        }
    };
}

/// What is done over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Operation {
    /// Blocks are read from files that stay open.
    #[default]
    Read,
    /// A whole file is opened, looked at (`fstat`), read and closed: a sample as a `DataLoader` fetches it.
    ReadFile,
    /// A file is looked at by its name (`stat`); nothing is read.
    Stat,
    /// A folder is read entry by entry (`readdir`).
    List,
    /// The attributes of a file whose handle is known (NFS `GETATTR`): what a client asks again and again of files that
    /// it has seen.
    GetAttr,
    /// The dataset is copied to another target: objects are read whole, in blocks, and written there.
    Copy,
    /// Whole checkpoints are written one after the other.
    Checkpoint,
    /// A checkpoint is read back whole, in blocks, all its files side by side.
    Restore,
    /// Blocks of files that stay open are written over.
    Write,
    /// Some operations write over blocks of such files and the others read them, both at once.
    Mix,
    /// A whole object is written anew in its place, as savers of samples and of results write theirs.
    WriteFile,
    /// An empty file is made, given another name, and removed again, in the folder of an object.
    Names,
}

impl Operation {
    /// What a queue is asked for: a restore reads blocks as any other read does, and a queue that writes blocks reads them too.
    #[must_use]
    pub fn issued(self) -> Self {
        match self {
            Self::Restore => Self::Read,
            Self::Mix => Self::Write,
            other => other,
        }
    }

    // A restore counts: it is read back as samples are, though no line is held against it.
    /// Whether bytes are read, alone or beside others that are written.
    pub fn reads_bytes(self) -> bool {
        matches!(self, Self::Read | Self::ReadFile | Self::Restore | Self::Mix)
    }

    /// Whether bytes move between buffers of the client and the storage: only then do blocks and buffers have a size.
    pub fn moves_bytes(self) -> bool {
        self.reads_bytes() || self.writes_over()
    }

    /// Which way bytes of samples go, as a rate of them may be asked for; `None` where none go.
    pub fn flow(self) -> Option<Flow> {
        match self {
            Self::Read | Self::ReadFile => Some(Flow::Reads),
            Self::Write | Self::WriteFile => Some(Flow::Writes),
            Self::Mix => Some(Flow::Both),
            Self::Stat
            | Self::List
            | Self::GetAttr
            | Self::Names
            | Self::Copy
            | Self::Checkpoint
            | Self::Restore => None,
        }
    }

    /// Whether names and attributes alone are asked for or changed: no bytes of files move.
    pub fn is_of_names(self) -> bool {
        matches!(self, Self::Stat | Self::List | Self::GetAttr | Self::Names)
    }

    /// Whether anything is changed where the objects lie, which therefore have to be feedline's own.
    pub fn changes_storage(self) -> bool {
        self.writes_over() || self == Self::Names
    }

    /// Whether objects are written over, in place or anew.
    pub fn writes_over(self) -> bool {
        matches!(self, Self::Write | Self::Mix | Self::WriteFile)
    }

    /// Whether each operation is of a whole object, from its name on.
    pub fn is_of_whole_objects(self) -> bool {
        matches!(self, Self::ReadFile | Self::WriteFile)
    }
}

/// What of a load is reads, and what writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// All of it is reads.
    Reads,
    /// All of it is writes.
    Writes,
    /// There are reads and writes at once.
    Both,
}

impl Flow {
    /// Of a need that is of writes alone, or has some beside its reads.
    // A storage that can do each by itself need not do both together: the peak is what has to be fed.
    pub fn of_need(writes_alone: bool, writes_beside: bool) -> Self {
        match (writes_alone, writes_beside) {
            (true, _) => Self::Writes,
            (false, true) => Self::Both,
            (false, false) => Self::Reads,
        }
    }
}

words!(Operation {
    Read = "read",
    ReadFile = "read_file",
    Stat = "stat",
    List = "list",
    GetAttr = "getattr",
    Copy = "copy",
    Checkpoint = "checkpoint",
    Restore = "restore",
    Write = "write",
    Mix = "mix",
    WriteFile = "write_file",
    Names = "names",
});

/// What a storage has promised of a write when it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Durability {
    /// Nothing: it may hold the bytes in memory and lose them with its power.
    None,
    /// The bytes are kept, and whatever is needed to find them again (`O_DSYNC`; `DATA_SYNC` of NFS; of a whole file `fdatasync`, and
    /// `fsync` of its folder once it lies there).
    #[default]
    Data,
    /// The bytes are kept, and all that is known of the file (`O_SYNC`; `FILE_SYNC` of NFS).
    Full,
}

words!(Durability { None = "none", Data = "data", Full = "full" });

/// Order in which blocks are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Files in order, blocks in order, again and again.
    Sequential,
    /// Any block of the dataset at each step, with replacement.
    Random,
    /// Every sample exactly once per epoch, in an order drawn anew each epoch; blocks of a sample in order.
    ShuffledEpoch,
    /// Shards in an order drawn anew each epoch, several of them side by side, each from its beginning to its end.
    ShuffledShards,
    /// As [`Access::ShuffledShards`], but each stream draws its next shard with replacement.
    ResampledShards,
    /// Runs of samples that follow each other; every run once per epoch, in an order drawn anew each epoch.
    Neighbours,
    /// The files that a list names, in its order, again and again.
    List,
}

impl Access {
    /// Whether whole objects are read from their beginning to their end, and not sample by sample.
    pub fn streams(self) -> bool {
        matches!(self, Self::ShuffledShards | Self::ResampledShards)
    }

    /// Whether samples are fetched by their index, and not as they lie.
    pub fn is_by_index(self) -> bool {
        matches!(self, Self::Random | Self::ShuffledEpoch | Self::Neighbours | Self::List)
    }
}

words!(Access {
    Sequential = "sequential",
    Random = "random",
    ShuffledEpoch = "shuffled_epoch",
    ShuffledShards = "shuffled_shards",
    ResampledShards = "resampled_shards",
    Neighbours = "neighbours",
    List = "list",
});

/// What an order means to a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheOrder {
    /// The same in each epoch.
    Same,
    /// A new permutation in each epoch, of samples, of runs of them or of shards.
    Permuted,
    /// Drawn with replacement.
    Drawn,
}

impl CacheOrder {
    /// What this order of reads means to a cache.
    pub fn of(access: Access) -> Self {
        match access {
            Access::Sequential | Access::List => Self::Same,
            Access::ShuffledEpoch | Access::ShuffledShards | Access::Neighbours => Self::Permuted,
            Access::Random | Access::ResampledShards => Self::Drawn,
        }
    }
}

/// Which block of a full cache makes room for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TierPolicy {
    /// The one that was read longest ago.
    Lru,
    /// Any, with equal probability.
    // What a cache without bookkeeping does. With data read in the same order each epoch it hits where LRU
    // misses every time, which is worth seeing.
    Random,
}

words!(TierPolicy { Lru = "lru", Random = "random" });

/// Treatment of the client's page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cache {
    /// Evicted before each repetition, proven so, and no byte read twice.
    Cold,
    /// Read in full before each repetition, proven resident.
    Warm,
    /// Direct I/O: the page cache takes no part.
    Bypass,
    /// Buffered reads whose pages the kernel drops at once (`RWF_DONTCACHE`), from an empty cache.
    DontCache,
    /// Evicted before each repetition and proven so; what is read again may come from memory, as in a job's later
    /// epochs.
    ColdStart,
}

/// What comes from a cache of this client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
// Ordered, since comparisons ask which of two cells could have had more from memory.
pub enum FromMemory {
    /// Nothing.
    Nothing,
    /// What is read again.
    Later,
    /// Everything.
    All,
}

// Dirty pages cannot be dropped, so that `cold` writes back first; the engine proves the result and does
// not trust the call.
impl Cache {
    /// What comes from the page cache under this treatment.
    pub fn lets_come(self) -> FromMemory {
        match self {
            Self::Warm => FromMemory::All,
            Self::ColdStart => FromMemory::Later,
            Self::Cold | Self::Bypass | Self::DontCache => FromMemory::Nothing,
        }
    }

    /// Whether nothing is in memory as a repetition begins.
    pub fn starts_cold(self) -> bool {
        matches!(self, Self::Cold | Self::ColdStart)
    }
}

words!(Cache {
    Cold = "cold",
    Warm = "warm",
    Bypass = "bypass",
    DontCache = "dontcache",
    ColdStart = "cold_start",
});

/// Pages that buffers are made of. A direct read of a device is described to it page by page, so that large blocks in
/// small pages cost more, and are split once the device runs out of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Pages {
    /// Those of the kernel's own size, 4 KiB on most machines: what the memory of a loader is made of.
    #[default]
    Base,
    /// Transparent huge pages, all of them.
    Huge,
}

words!(Pages { Base = "base", Huge = "huge" });

/// Where the threads of a load run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Numa {
    /// Where the kernel lets them: what a loader's do that nobody places.
    #[default]
    Any,
    /// On the NUMA node of the device that the storage is, or of the interface towards it.
    Device,
}

words!(Numa { Any = "any", Device = "device" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_of_one_value_alone() {
        for operation in Operation::ALL {
            assert_eq!(Operation::of_word(operation.word()), Some(*operation));
        }
        assert_eq!(Operation::of_word("reads"), None);
    }

    /// Letters of what an operation does: reads bytes, moves them, writes over objects, changes storage, is of names, is of whole objects.
    fn does(operation: Operation) -> String {
        let all = [
            ('r', operation.reads_bytes()),
            ('m', operation.moves_bytes()),
            ('w', operation.writes_over()),
            ('c', operation.changes_storage()),
            ('n', operation.is_of_names()),
            ('f', operation.is_of_whole_objects()),
        ];
        all.into_iter().filter_map(|(letter, does)| does.then_some(letter)).collect()
    }

    #[test]
    fn what_each_operation_does_and_is_asked_for_as() {
        use Operation as Op;
        let expected = [
            (Op::Read, "rm", Op::Read, Some(Flow::Reads)),
            (Op::ReadFile, "rmf", Op::ReadFile, Some(Flow::Reads)),
            (Op::Stat, "n", Op::Stat, None),
            (Op::List, "n", Op::List, None),
            (Op::GetAttr, "n", Op::GetAttr, None),
            // Queues of their own move its bytes.
            (Op::Copy, "", Op::Copy, None),
            (Op::Checkpoint, "", Op::Checkpoint, None),
            (Op::Restore, "rm", Op::Read, None),
            (Op::Write, "mwc", Op::Write, Some(Flow::Writes)),
            (Op::Mix, "rmwc", Op::Write, Some(Flow::Both)),
            (Op::WriteFile, "mwcf", Op::WriteFile, Some(Flow::Writes)),
            (Op::Names, "cn", Op::Names, None),
        ];
        assert_eq!(expected.map(|(operation, ..)| operation), Op::ALL);
        for (operation, letters, issued, flow) in expected {
            assert_eq!((does(operation).as_str(), operation.issued()), (letters, issued), "{operation:?}");
            assert_eq!(operation.flow(), flow, "{operation:?}");
        }
    }

    #[test]
    fn orders_stream_or_go_by_index_and_two_caches_begin_empty() {
        let streams: Vec<_> = Access::ALL.iter().filter(|access| access.streams()).collect();
        assert_eq!(streams, [&Access::ShuffledShards, &Access::ResampledShards]);
        let by_index: Vec<_> = Access::ALL.iter().filter(|access| access.is_by_index()).collect();
        assert_eq!(by_index, [&Access::Random, &Access::ShuffledEpoch, &Access::Neighbours, &Access::List]);
        let cold: Vec<_> = Cache::ALL.iter().filter(|cache| cache.starts_cold()).collect();
        assert_eq!(cold, [&Cache::Cold, &Cache::ColdStart]);
    }
}
