//! What packing samples, and copying them nearer, gain and cost.

/// F18: by how much one stream of shards of `samples_per_shard` samples outruns one stream of files: each file waits
/// `first_byte_s` for itself, each shard once for all of its samples.
pub fn shard_gain(first_byte_s: f64, sample_bytes: f64, connection_bps: f64, samples_per_shard: f64) -> f64 {
    let sample_s = sample_bytes / connection_bps;
    (first_byte_s + sample_s) / (first_byte_s / samples_per_shard + sample_s)
}

/// F34: shards of `shard_bytes` that a dataset fills; the last may be smaller.
pub fn shards(dataset_bytes: f64, shard_bytes: f64) -> f64 {
    (dataset_bytes / shard_bytes).ceil()
}

/// F35: bytes that a member of `bytes` takes in a tar shard: a header of 512 B before it, and padding to whole blocks.
pub fn tar_member_bytes(bytes: f64) -> f64 {
    const BLOCK_BYTES: f64 = 512.0;
    BLOCK_BYTES + (bytes / BLOCK_BYTES).ceil() * BLOCK_BYTES
}

/// F33: shards of the largest share where `shards` are dealt to `ranks` in turn.
pub fn shards_per_rank(shards: u64, ranks: u64) -> u64 {
    shards.div_ceil(ranks.max(1))
}

/// F33: share of an epoch that the mean rank has nothing left to read in, because the largest share takes longer; 0
/// without a shard.
pub fn shard_tail(shards: u64, ranks: u64) -> f64 {
    match shards_per_rank(shards, ranks) {
        0 => 0.0,
        // Ranks that have read their share wait for the largest one at each barrier; with many shards a
        // rank the difference drowns, which is why loaders ask for more shards than readers.
        most => 1.0 - shards as f64 / ranks.max(1) as f64 / most as f64,
    }
}

/// F42: seconds in which a dataset is copied.
pub fn staging_s(dataset_bytes: f64, staging_bps: f64) -> f64 {
    dataset_bytes / staging_bps
}

/// F42: epochs after which a copy has paid for itself; absent where an epoch of the copy takes no less time.
pub fn break_even_epochs(staging_s: f64, source_epoch_s: f64, copy_epoch_s: f64) -> Option<f64> {
    let gain_s = source_epoch_s - copy_epoch_s;
    // None and not infinity: an infinite number of epochs would sort and plot as if it were one.
    (gain_s > 0.0).then(|| staging_s / gain_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(value: f64, expected: f64, tolerance: f64) {
        assert!((value / expected - 1.0).abs() <= tolerance, "{value} is not {expected}");
    }

    #[test]
    fn f18_shards_of_a_gigabyte_against_files_of_130_kilobytes() {
        for (first_byte_s, gain) in [(0.010, 7.9), (0.030, 21.7), (0.100, 69.6)] {
            assert_close(shard_gain(first_byte_s, 130e3, 90e6, 7_692.0), gain, 0.005);
        }
        assert_close(shard_gain(0.030, 130e3, 90e6, 1.0), 1.0, 1e-12);
    }

    #[test]
    fn f33_50_000_shards_over_256_ranks() {
        assert_eq!(shards_per_rank(50_000, 256), 196);
        assert_eq!((50_000 % 256, 256 - 50_000 % 256), (80, 176), "ranks with 196, with 195");
        assert_close(shard_tail(50_000, 256), 0.0035, 0.02);
        assert!(shard_tail(0, 8) == 0.0 && shard_tail(8, 8) == 0.0 && shard_tail(8, 0) == 0.0);
    }

    #[test]
    fn f34_4_terabytes_in_shards_of_100_to_500_megabytes() {
        assert_close(shards(4e12, 100e6), 40_000.0, 1e-9);
        assert_close(shards(4e12, 500e6), 8_000.0, 1e-9);
        assert_close(shards(4e12, 100e6) / 64.0, 625.0, 1e-9);
        assert!((shards(10.0, 4.0) - 3.0).abs() < 1e-9, "the last one is smaller");
    }

    #[test]
    fn f35_members_of_a_tar_shard() {
        assert_close(1_000.0 * 130e3, 130e6, 1e-9);
        // 130,000 B are 253.9 blocks, and the header is one more.
        assert_close(tar_member_bytes(130e3), 255.0 * 512.0, 1e-9);
        assert_close(tar_member_bytes(512.0), 1_024.0, 1e-9);
    }

    #[test]
    fn f42_a_copy_of_imagenet_pays_within_its_first_epoch() {
        let bytes = 1.28e6 * 130e3;
        assert_close(bytes, 166.4e9, 1e-9);
        let copied_s = staging_s(bytes, 2e9);
        assert_close(copied_s, 83.2, 1e-9);
        assert_close(break_even_epochs(copied_s, staging_s(bytes, 0.5e9), 125.0).unwrap(), 0.40, 0.01);
    }

    #[test]
    fn f42_a_copy_that_is_no_faster_never_pays() {
        assert_eq!(break_even_epochs(83.2, 125.0, 125.0), None);
        assert_eq!(break_even_epochs(83.2, 100.0, 125.0), None);
    }
}
