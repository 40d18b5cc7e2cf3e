//! What limits a training job.

/// What limits a training job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Each read takes long, and too few are under way: more of them would help.
    Latency,
    /// The storage, or a limit in front of it, takes no more requests per second.
    Rate,
    /// The storage moves no more bytes per second.
    Bandwidth,
    /// Opening and looking at files takes the time, not reading them.
    Metadata,
    /// Decoding cannot keep up.
    Decode,
    /// This client cannot keep up.
    Client,
    /// Other processes on this client hold its processors.
    Others,
    /// Readers that start anew take the time.
    Startup,
    /// The job, or each of its epochs, is so short that its first batches take the time.
    FirstFill,
    /// Other accelerators are waited for.
    Barrier,
    /// Checkpoints hold the accelerators.
    Checkpoint,
    /// More than one of them.
    Mixed,
}

impl Bound {
    /// All of them.
    // So long that a new one in front of the last does not compile without being named here.
    pub const ALL: [Self; Self::Mixed as usize + 1] = [
        Self::Latency,
        Self::Rate,
        Self::Bandwidth,
        Self::Metadata,
        Self::Decode,
        Self::Client,
        Self::Others,
        Self::Startup,
        Self::FirstFill,
        Self::Barrier,
        Self::Checkpoint,
        Self::Mixed,
    ];
}
