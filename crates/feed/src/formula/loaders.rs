//! What loaders hold in memory, how many readers they take, and what starting, copying and unpacking cost.

/// F31: bytes of shuffle buffers that hold `samples` of `sample_bytes` each, one for each of `readers`.
pub fn shuffle_bytes(samples: f64, sample_bytes: f64, readers: f64) -> f64 {
    samples * sample_bytes * readers
}

/// F32: bytes of an index of `samples` entries of `entry_bytes` each.
pub fn index_bytes(samples: f64, entry_bytes: f64) -> f64 {
    samples * entry_bytes
}

/// F36: seconds in which a batch of decoded samples crosses the link to an accelerator.
pub fn transfer_s(batch: u32, sample_bytes: f64, link_bps: f64) -> f64 {
    f64::from(batch) * sample_bytes / link_bps
}

/// A rule of thumb for the number of readers, and what it gives.
#[derive(Debug, Clone, PartialEq)]
pub struct ReaderRule {
    /// The rule.
    pub words: &'static str,
    /// The fewest and the most readers of a host that it gives.
    pub readers: (u32, u32),
}

/// F37: the rules that the field goes by, for a host of so many accelerators and cores. They know neither the storage nor
/// the decoding, which is why they disagree.
// `num_workers` of the first two, the third and the last is counted for the whole host there, and of the fourth for each
// accelerator, of which one or two cores are kept for the process that trains.
pub fn reader_rules(accelerators: u32, cores: u32) -> [ReaderRule; 5] {
    let kept = |each: u32| {
        let left = cores.saturating_sub(each.saturating_mul(accelerators));
        left / accelerators.max(1) * accelerators
    };
    let of_accelerators = |times: u32| accelerators.saturating_mul(times);
    let rule = |words, readers| ReaderRule { words, readers };
    [
        rule("4 x accelerators", (of_accelerators(4), of_accelerators(4))),
        rule("2 to 4 x accelerators", (of_accelerators(2), of_accelerators(4))),
        rule("max(4, cores / 2)", ((cores / 2).max(4), (cores / 2).max(4))),
        rule("cores, less 1 or 2 for each accelerator", (kept(2), kept(1))),
        rule("min(cores, 32)", (cores.min(32), cores.min(32))),
    ]
}

/// F38: readers that load `samples_per_s`, each for `sample_s` busy with one sample (Little's law).
pub fn readers_of_demand(samples_per_s: f64, sample_s: f64) -> f64 {
    // Rounded up; a product that is whole but for the last bits of a binary fraction is whole.
    (samples_per_s * sample_s - 1e-9).ceil().max(1.0)
}

/// F39: bytes of `readers` processes of `reader_bytes` each.
pub fn reader_memory_bytes(readers: f64, reader_bytes: f64) -> f64 {
    readers * reader_bytes
}

/// F41: bytes per second of samples from a link that carries them `ratio` times smaller, unpacked by `readers` at
/// `unpack_bps` each.
pub fn decoded_bps(link_bps: f64, ratio: f64, readers: u32, unpack_bps: f64) -> f64 {
    (link_bps * ratio).min(f64::from(readers) * unpack_bps)
}

/// F43: share of the time that goes by before an epoch begins.
pub fn start_share(start_s: f64, epoch_s: f64) -> f64 {
    start_s / (start_s + epoch_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() <= 1e-3, "{value} is not {expected}");
    }

    #[test]
    fn f31_shuffle_buffers() {
        assert_close(shuffle_bytes(5_000.0, 130e3, 1.0), 650e6);
        assert_close(shuffle_bytes(5_000.0, 130e3, 8.0), 5.2e9);
        assert_close(shuffle_bytes(10_000.0, 800e3, 1.0), 8e9);
        assert_close(shuffle_bytes(10_000.0, 800e3, 64.0), 512e9);
    }

    #[test]
    fn f32_an_index_of_50_million_samples() {
        assert_close(index_bytes(50e6, 80.0), 4e9);
    }

    /// Claim C94: 5 to 15 % of a step; with the article's own figures it is 1.7 % between pageable and pinned memory.
    #[test]
    fn f36_a_batch_crosses_in_milliseconds() {
        let decoded_bytes = 3.0 * 224.0 * 224.0 * 4.0;
        assert_close(64.0 * decoded_bytes, 38.535e6);
        let (pageable_s, pinned_s) =
            (transfer_s(64, decoded_bytes, 8e9), transfer_s(64, decoded_bytes, 28e9));
        assert_close(pageable_s, 0.004_817);
        assert_close(pinned_s, 0.001_376);
        assert_close(pageable_s / 0.2, 0.024_08);
        assert_close((pageable_s - pinned_s) / 0.2, 0.017_2);
    }

    /// Claim C91: 2 to 4 times the accelerators are 2 to 4 readers of one, where the article prints 4 to 8.
    #[test]
    fn f37_rules_of_thumb() {
        let of = |accelerators, cores| reader_rules(accelerators, cores).map(|rule| rule.readers);
        assert_eq!(of(8, 96), [(32, 32), (16, 32), (48, 48), (80, 88), (32, 32)]);
        // Claim C139: (160 - 16) / 8 and (60 - 6) / 3 are both 18 for each accelerator.
        assert_eq!((of(8, 160)[3].0 / 8, of(3, 60)[3].0 / 3), (18, 18));
        assert_eq!(of(1, 2), [(4, 4), (2, 4), (4, 4), (0, 1), (2, 2)]);
        assert_eq!(of(0, 8)[3], (0, 0));
    }

    #[test]
    fn f38_readers_of_a_demand() {
        assert_close(readers_of_demand(10_240.0 / 8.0, 6e-3), 8.0);
        assert_close(readers_of_demand(100.0, 0.02), 2.0);
        assert_close(readers_of_demand(1.0, 1e-6), 1.0);
    }

    #[test]
    fn f39_memory_of_readers() {
        assert_close(reader_memory_bytes(5.0, 8e9), 40e9);
    }

    #[test]
    fn f41_unpacking_binds() {
        assert_close(decoded_bps(2e9, 5.0, 8, 0.4e9), 3.2e9);
        assert_close(decoded_bps(2e9, 5.0, 32, 0.4e9), 10e9);
    }

    #[test]
    fn f43_starting_readers_for_each_epoch() {
        assert_close(start_share(10.0, 120.0), 0.076_92);
        assert_close(start_share(60.0, 125.0), 0.324_3);
    }
}
