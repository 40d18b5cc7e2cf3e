//! What limits a training job, in words.

use analysis::Bound;

/// `latency-bound`.
pub(crate) fn words(bound: Bound) -> &'static str {
    match bound {
        Bound::Latency => "latency-bound",
        Bound::Rate => "rate-bound",
        Bound::Bandwidth => "bandwidth-bound",
        Bound::Metadata => "metadata-bound",
        Bound::Decode => "decode-bound",
        Bound::Client => "client-bound",
        Bound::Others => "bound by other processes on this client",
        Bound::Startup => "bound by reader start-up",
        Bound::FirstFill => "bound by the first fill",
        Bound::Barrier => "bound by the slowest accelerator",
        Bound::Checkpoint => "bound by checkpoints",
        Bound::Mixed => "mixed",
    }
}
