//! Order in which a cell reads, with what makes it.

/// Order in which the blocks of a cell are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Files in order, blocks in order, again and again.
    Sequential,
    /// Any block of the dataset at each step, with replacement.
    Random,
    /// Every sample exactly once per epoch, in an order drawn anew each epoch; blocks of a sample in order.
    ShuffledEpoch,
    /// Shards in an order drawn anew each epoch, several of them side by side, each from its beginning to its end.
    ShuffledShards(Streams),
    /// As [`Access::ShuffledShards`], but each stream draws its next shard with replacement.
    ResampledShards(Streams),
    /// Runs of samples that follow each other; every run once per epoch, in an order drawn anew each epoch.
    Neighbours {
        /// Samples of a run.
        run_length: u32,
    },
    /// The files that [`crate::FileOrder`] names, in its order, again and again.
    List,
}

/// Shards that are read side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Streams {
    /// How many.
    pub count: u32,
    /// Samples that the reader of a stream holds and draws from; 0 where it delivers them as they come.
    // It changes which samples meet in a batch and no read at all, and is kept for what is said of mixing.
    pub shuffle_buffer: u32,
}

impl Streams {
    /// So many streams, whose readers deliver samples as they come.
    pub const fn of(count: u32) -> Self {
        Self { count, shuffle_buffer: 0 }
    }
}

impl Access {
    /// The order alone.
    pub fn order(self) -> feed::Access {
        match self {
            Self::Sequential => feed::Access::Sequential,
            Self::Random => feed::Access::Random,
            Self::ShuffledEpoch => feed::Access::ShuffledEpoch,
            Self::ShuffledShards(_) => feed::Access::ShuffledShards,
            Self::ResampledShards(_) => feed::Access::ResampledShards,
            Self::Neighbours { .. } => feed::Access::Neighbours,
            Self::List => feed::Access::List,
        }
    }

    /// The word used in scenarios, records and tables.
    pub fn name(self) -> &'static str {
        self.order().name()
    }

    /// The shards that are read side by side, where whole objects are read from their beginning to their end, and not
    /// sample by sample.
    pub fn streams(self) -> Option<Streams> {
        match self {
            Self::ShuffledShards(streams) | Self::ResampledShards(streams) => Some(streams),
            // `neighbours` reads in runs and is no stream: each run is found by index.
            Self::Sequential | Self::Random | Self::ShuffledEpoch | Self::Neighbours { .. } | Self::List => {
                None
            }
        }
    }

    /// Whether samples are fetched by their index, and not as they lie.
    pub fn is_by_index(self) -> bool {
        self.order().is_by_index()
    }
}
