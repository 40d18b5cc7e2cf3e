//! The arithmetic that `feedline need` prints.
//!
//! Small, pure and in SI units; the names in the tests are those of the formulas' collection. An article
//! of the field got some of its own worked examples wrong; where a test says "claim Cnn" it states our
//! value, and the claim's entry in the project's collection says what the article printed.

mod caches;
mod layouts;
mod loaders;

pub use caches::{cached_bps, hits, hits_of_drawn_epoch};
pub use layouts::{
    break_even_epochs, shard_gain, shard_tail, shards, shards_per_rank, staging_s, tar_member_bytes,
};
pub use loaders::{
    ReaderRule, decoded_bps, index_bytes, reader_memory_bytes, reader_rules, readers_of_demand,
    shuffle_bytes, start_share, transfer_s,
};

const SECONDS_PER_HOUR: f64 = 3_600.0;
const HOURS_PER_WEEK: f64 = 168.0;

/// F01: samples per second that `accelerators` consume, each a batch per step.
pub fn samples_per_s(accelerators: u32, batch: u32, step_time_s: f64) -> f64 {
    f64::from(accelerators) * f64::from(batch) / step_time_s
}

/// How much of what was moved counts where `write_share` of it is to be written, 0 to 1: what reads and writes come to by the one
/// that got less of its part. NaN where nothing was moved.
// The sum alone would let more of the one stand for what the other lacks.
pub fn mixed_part(moved: f64, written: f64, write_share: f64) -> f64 {
    (written / write_share).min((moved - written) / (1.0 - write_share)) / moved
}

/// F02: bytes per second of samples as they are stored.
pub fn required_bps(samples_per_s: f64, sample_bytes: f64) -> f64 {
    samples_per_s * sample_bytes
}

/// F03: bytes per second of a token stream. `tokens_per_s` is tokens per step over step time: a rate per
/// second, not per step.
pub fn token_bps(tokens_per_s: f64, token_bytes: f64) -> f64 {
    tokens_per_s * token_bytes
}

/// F04: seconds in which a corpus of `tokens` is read once.
pub fn corpus_duration_s(tokens: f64, tokens_per_s: f64) -> f64 {
    tokens / tokens_per_s
}

/// F05: the most items per second that accelerators of `peak_flop_per_s` can train on at the share
/// `flop_utilization` of their peak. A token of a dense model costs 6 FLOP per parameter.
pub fn compute_cap_per_s(
    accelerators: u32,
    peak_flop_per_s: f64,
    flop_utilization: f64,
    flop_per_item: f64,
) -> f64 {
    f64::from(accelerators) * peak_flop_per_s * flop_utilization / flop_per_item
}

/// F06: reads per second that reach the device.
pub fn device_reads_per_s(samples_per_s: f64, reads_per_sample: f64) -> f64 {
    samples_per_s * reads_per_sample
}

/// F06: system calls per second when each sample is a file: open, stat, read, close.
pub fn system_calls_per_s(samples_per_s: f64) -> f64 {
    // What strace shows of Python's `open().read()`, less the seeks and further stats that its buffering
    // adds: a lower bound for the load on names.
    const CALLS_PER_FILE: f64 = 4.0;
    samples_per_s * CALLS_PER_FILE
}

/// F07: reads into which the kernel splits one sample, at most `read_bytes_max` each.
pub fn reads_per_sample(sample_bytes: f64, read_bytes_max: f64) -> f64 {
    (sample_bytes / read_bytes_max).ceil().max(1.0)
}

/// F12, Little's law: what is in flight on average, in the unit of the rate (requests or bytes).
pub fn in_flight(rate_per_s: f64, latency_s: f64) -> f64 {
    rate_per_s * latency_s
}

/// F19: bytes per second of a device at a queue depth: bound by latency below, by bandwidth above.
pub fn device_bps(queue_depth: f64, read_bytes: f64, latency_s: f64, device_bps_max: f64) -> f64 {
    device_bps_max.min(queue_depth * read_bytes / latency_s)
}

/// F20: bytes in flight from which a device is bound by its bandwidth.
pub fn saturating_bytes(device_bps_max: f64, latency_s: f64) -> f64 {
    device_bps_max * latency_s
}

/// F22: drives that deliver `required_bps`, each `drive_bps` times the share `derating` that is left under
/// a sustained load.
pub fn drives(required_bps: f64, drive_bps: f64, derating: f64) -> f64 {
    // Rounded up: two and a half drives are three.
    (required_bps / (drive_bps * derating)).ceil()
}

/// F23: items per second of stages in a row: those of the slowest.
pub fn pipeline_per_s(stages_per_s: &[f64]) -> f64 {
    stages_per_s.iter().copied().fold(f64::INFINITY, f64::min)
}

/// F24: share of the time in which an accelerator waits, where loading overlaps computing.
pub fn stall_fraction(load_s: f64, compute_s: f64) -> f64 {
    if load_s > compute_s { (load_s - compute_s) / load_s } else { 0.0 }
}

/// F25: utilization where loading and computing take turns.
pub fn serial_utilization(load_s: f64, compute_s: f64) -> f64 {
    compute_s / (compute_s + load_s)
}

/// F25: utilization where loading overlaps computing.
pub fn overlapped_utilization(load_s: f64, compute_s: f64) -> f64 {
    compute_s / load_s.max(compute_s)
}

/// F26: what `readers` that load ahead gain over loading and computing in turns.
pub fn reader_speed_up(readers: u32, load_s: f64, compute_s: f64) -> f64 {
    (load_s + compute_s) / (load_s / f64::from(readers)).max(compute_s)
}

/// F27: what is delivered by what is needed, in one unit; below 1 accelerators starve.
pub fn feed_ratio(delivered: f64, needed: f64) -> f64 {
    delivered / needed
}

/// F28: batches that are held ahead of one accelerator.
pub fn prefetched_batches(readers: u32, prefetch_factor: u32) -> u64 {
    u64::from(readers) * u64::from(prefetch_factor)
}

/// F29: bytes of the batches that are held ahead, of samples as they lie in memory.
pub fn prefetch_bytes(batches: u64, batch: u32, sample_bytes: f64) -> f64 {
    batches as f64 * f64::from(batch) * sample_bytes
}

/// F30: seconds without any delivery that the batches held ahead cover. F54: a batch that takes no longer, of all readers' batches ahead,
/// is not waited for, where the rate is enough.
pub fn burst_cover_s(batches: u64, step_s: f64) -> f64 {
    batches as f64 * step_s
}

/// F25 with the first fill: seconds in which an accelerator makes `steps` of `compute_s` each, whose batches come one after
/// the other, each after `batch_s`.
///
/// Nothing comes before the first batch. Then either no step waits again, or each waits for its batch.
pub fn job_s(steps: u64, batch_s: f64, compute_s: f64) -> f64 {
    // An epoch of fewer samples than a batch has no step when the rest is dropped, and takes no time.
    if steps == 0 {
        return 0.0;
    }
    // With whole batches in turn the slower side sets the pace of all steps, and the faster one is seen
    // once, at the start or at the end.
    batch_s.min(compute_s) + steps as f64 * batch_s.max(compute_s)
}

/// F46: bytes of a checkpoint of `parameters`, each kept as `bytes_per_parameter`: 2 for bf16 weights, 16 with gradients
/// and both moments of Adam in fp32.
pub fn checkpoint_bytes(parameters: f64, bytes_per_parameter: f64) -> f64 {
    parameters * bytes_per_parameter
}

/// F47: seconds in which a checkpoint is written.
pub fn checkpoint_write_s(bytes: f64, write_bps: f64) -> f64 {
    bytes / write_bps
}

/// F48: seconds in which `links` copy the state of a checkpoint side by side, each at `link_bps`.
pub fn checkpoint_copy_s(bytes: f64, links: u32, link_bps: f64) -> f64 {
    bytes / (f64::from(links.max(1)) * link_bps)
}

/// F49: share of the time in which checkpoints keep accelerators from computing.
pub fn checkpoint_overhead(blocked_s: f64, interval_s: f64) -> f64 {
    blocked_s / interval_s
}

/// F50: hours of accelerators that one checkpoint costs while all of them stand still for `blocked_s`.
pub fn checkpoint_hours(accelerators: u32, blocked_s: f64) -> f64 {
    f64::from(accelerators) * blocked_s / SECONDS_PER_HOUR
}

/// F50: what checkpoints cost in a week, where each costs `price` and one is made every `interval_s`.
pub fn checkpoints_per_week_price(price: f64, interval_s: f64) -> f64 {
    price * (SECONDS_PER_HOUR / interval_s) * HOURS_PER_WEEK
}

/// F51: hours of accelerators that a span of `hours` loses.
pub fn idle_hours(accelerators: u32, hours: f64, utilization: f64) -> f64 {
    f64::from(accelerators) * hours * (1.0 - utilization)
}

/// F52: extra time of the same job at the lower of two utilizations, as a share.
pub fn extra_time(higher_utilization: f64, lower_utilization: f64) -> f64 {
    higher_utilization / lower_utilization - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: f64 = 1024.0;

    /// Equal within a relative `tolerance`.
    fn close(value: f64, expected: f64, tolerance: f64) -> bool {
        (value / expected - 1.0).abs() <= tolerance
    }

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!(close(value, expected, 1e-3), "{value} is not {expected}");
    }

    #[test]
    fn a_mix_is_moved_as_far_as_the_part_that_got_least() {
        // 10 of which 3 are written: as asked, too few, too many; and a sixth of what was to be read.
        for (moved, written, write_share, part) in
            [(10.0, 3.0, 0.3, 1.0), (10.0, 3.0, 0.5, 0.6), (10.0, 7.0, 0.5, 0.6), (10.0, 9.0, 0.4, 1.0 / 6.0)]
        {
            assert_close(mixed_part(moved, written, write_share), part);
        }
        assert!(mixed_part(0.0, 0.0, 0.3).is_nan());
    }

    #[test]
    fn f01_sample_rate() {
        assert_close(samples_per_s(8, 256, 0.2), 10_240.0);
    }

    #[test]
    fn f02_required_bandwidth() {
        assert_close(required_bps(10_240.0, 130e3), 1.3312e9);
    }

    /// Claim C42: the article prints 838 MB/s, a hundred times too much.
    #[test]
    fn f02_of_sequences_is_8_megabytes_per_second() {
        assert_close(required_bps(samples_per_s(512, 4, 2.0), 8192.0), 8.388_608e6);
    }

    /// Claim C77: the article prints 667 M tokens/s and 1.3 GB/s, a thousand times too much.
    #[test]
    fn f03_token_bandwidth_is_about_a_megabyte_per_second() {
        let tokens_per_s = 2e6 / 3.0;
        assert_close(tokens_per_s, 666_667.0);
        assert_close(token_bps(tokens_per_s, 2.0), 1.333e6);
        assert_close(token_bps(tokens_per_s, 2.0) / 64.0, 20.83e3);
    }

    /// Claim C25: the article makes about 2 GB/s of a step of 512 x 4096 tokens. It is 4.19 MB per step;
    /// at one step per second, 4.19 MB/s.
    #[test]
    fn f03_of_a_language_model_step_is_4_megabytes() {
        assert_close(token_bps(512.0 * 4096.0, 2.0), 4.194e6);
    }

    #[test]
    fn f04_corpus_duration() {
        let days = |seconds: f64| seconds / 86_400.0;
        assert_close(days(corpus_duration_s(2e12, 2e6 / 3.0)), 34.72);
        // What claim C77's rate would mean: the same corpus in 50 minutes.
        assert_close(corpus_duration_s(2e12, 667e6) / 60.0, 49.98);
    }

    #[test]
    fn f05_compute_cap() {
        const H100_FLOP_PER_S: f64 = 0.989e15;
        assert_close(compute_cap_per_s(512, H100_FLOP_PER_S, 0.4, 6.0 * 7e9), 4.82e6);
        let vit_l_flop_per_image = 3.0 * 2.0 * 304e6 * 197.0;
        assert_close(vit_l_flop_per_image, 359.3e9);
        assert_close(compute_cap_per_s(4, H100_FLOP_PER_S, 1.0, vit_l_flop_per_image), 11_010.0);
    }

    #[test]
    fn f06_reads_and_system_calls() {
        assert_close(device_reads_per_s(10_240.0, 1.0), 10_240.0);
        assert_close(system_calls_per_s(10_240.0), 40_960.0);
    }

    #[test]
    fn f07_reads_per_sample() {
        let read_ahead_bytes = 128.0 * KIB;
        assert_close(reads_per_sample(130_000.0, read_ahead_bytes), 1.0);
        assert_close(reads_per_sample(150_000.0, read_ahead_bytes), 2.0);
        assert_close(reads_per_sample(131_072.0, read_ahead_bytes), 1.0);
        assert_close(reads_per_sample(160.0, read_ahead_bytes), 1.0);
    }

    #[test]
    fn f12_littles_law() {
        let latency_s = 0.030 + 130e3 / 90e6;
        assert_close(in_flight(10_240.0, latency_s), 321.99);
        assert_close(in_flight(5_500.0, 0.03), 165.0);
    }

    #[test]
    fn f19_device_throughput_against_depth() {
        let (drive_bps, latency_s) = (7e9, 82e-6);
        assert!(close(device_bps(1.0, 4.0 * KIB, latency_s, drive_bps), 50e6, 0.01));
        assert!(close(device_bps(32.0, 4.0 * KIB, latency_s, drive_bps), 1.60e9, 0.01));
        assert_close(device_bps(1_000.0, 4.0 * KIB, latency_s, drive_bps), drive_bps);
    }

    #[test]
    fn f20_saturation() {
        assert_close(saturating_bytes(7e9, 82e-6), 574e3);
        assert!(close(saturating_bytes(7e9, 82e-6) / (4.0 * KIB), 140.0, 0.01));
        assert!(close(saturating_bytes(7e9, 100e-6) / (128.0 * KIB), 5.3, 0.01));
    }

    #[test]
    fn f22_drives() {
        assert_close(drives(1.3312e9, 7e9, 0.7), 1.0);
        assert_close(drives(1.3312e9, 0.5e9, 1.0), 3.0);
    }

    #[test]
    fn f23_the_slowest_stage_sets_the_pace() {
        let disk_per_s = 2.34e9 / 130e3;
        assert_close(disk_per_s, 18_000.0);
        assert_close(pipeline_per_s(&[disk_per_s, 12_000.0, 10_240.0]), 10_240.0);
    }

    #[test]
    fn f24_stall_fraction() {
        assert_close(stall_fraction(0.150, 0.100), 1.0 / 3.0);
        assert!(stall_fraction(0.1, 0.1) == 0.0 && stall_fraction(0.0, 0.1) == 0.0);
    }

    /// Claim C145: waits of 98.9 % are still 62.5 % once 1,400 s have become 40 s.
    #[test]
    fn f24_of_a_run_that_was_made_35_times_as_fast() {
        assert_close(stall_fraction(1_400.0, 15.0), 0.989);
        assert_close(stall_fraction(40.0, 15.0), 0.625);
    }

    #[test]
    fn f25_utilization_in_turns_and_overlapped() {
        assert_close(serial_utilization(0.6, 0.4), 0.4);
        assert_close(serial_utilization(1.5, 0.5), 0.25);
        assert_close(overlapped_utilization(0.6, 0.4), 2.0 / 3.0);
        assert_close(overlapped_utilization(0.1, 0.4), 1.0);
    }

    #[test]
    fn f26_reader_speed_up() {
        assert_close(reader_speed_up(1, 1.0, 1.0), 2.0);
        assert_close(reader_speed_up(2, 2.0, 1.0), 3.0);
        assert_close(reader_speed_up(2, 3.0, 0.5), 7.0 / 3.0);
    }

    #[test]
    fn f27_feed_ratio() {
        assert!(close(feed_ratio(0.35e9, 1.3312e9), 0.26, 0.02));
    }

    /// Claims of F29: 1 reader with 4 batches ahead holds 0.617 GB, 8 of them 4.93 GB; the article prints 5 and 40.
    #[test]
    fn f28_to_f30_batches_held_ahead() {
        assert_eq!(prefetched_batches(8, 2), 16);
        let decoded_bytes = 3.0 * 224.0 * 224.0 * 4.0;
        assert_close(prefetch_bytes(prefetched_batches(1, 4), 256, decoded_bytes), 0.6166e9);
        assert_close(prefetch_bytes(prefetched_batches(8, 4), 256, decoded_bytes), 4.933e9);
        assert_close(prefetch_bytes(16, 256, decoded_bytes), 2.466e9);
        assert_close(burst_cover_s(16, 0.2), 3.2);
        // F54: a fetch of 10 ms is hidden. Whether 320 of them are is a matter of the rate.
        assert!(burst_cover_s(16, 0.2) > 0.010);
    }

    /// Half the rate that the job takes: 50 % in the long run, and the last step once more with the first fill.
    #[test]
    fn f25_with_the_first_fill_over_100_steps_at_half_the_rate() {
        let utilization = |batch_s| 100.0 / job_s(100, batch_s, 1.0);
        assert_close(utilization(2.0), 0.497_512);
        assert_close(utilization(1.0), 100.0 / 101.0);
        assert_close(utilization(0.5), 100.0 / 100.5);
        assert!(job_s(0, 4.0, 1.0) == 0.0);
    }

    #[test]
    fn f46_and_f47_size_and_time_of_a_checkpoint() {
        assert_close(checkpoint_bytes(70e9, 2.0), 140e9);
        assert_close(checkpoint_bytes(70e9, 16.0), 1.12e12);
        assert_close(checkpoint_write_s(140e9, 10e9), 14.0);
        assert_close(checkpoint_write_s(1.12e12, 10e9), 112.0);
    }

    #[test]
    fn f48_and_f49_what_accelerators_wait_for() {
        assert!(close(checkpoint_copy_s(1.12e12, 1_024, 28e9), 0.039, 0.01));
        assert_close(checkpoint_copy_s(1.12e12, 1, 28e9), 40.0);
        assert_close(checkpoint_copy_s(1.12e12, 8, 28e9), 5.0);
        assert!(close(checkpoint_overhead(15.0, 3_600.0), 0.004_17, 0.001));
        assert!(close(checkpoint_overhead(30.0, 3_600.0), 0.008_33, 0.001));
        assert!(close(checkpoint_overhead(60.0, 900.0), 0.066_7, 0.001));
    }

    #[test]
    fn f50_price_of_a_checkpoint() {
        assert!(close(checkpoint_hours(512, 30.0), 4.267, 0.001));
        assert_close(checkpoint_hours(512, 30.0) * 3.0, 12.80);
        let price = checkpoint_hours(512, 60.0) * 3.0;
        assert_close(price, 25.60);
        assert_close(price * 4.0, 102.40);
        assert!(close(checkpoints_per_week_price(price, 900.0), 17_203.0, 0.001));
    }

    #[test]
    fn f51_idle_cost() {
        assert_close(idle_hours(1, 720.0, 0.7) * 10.0, 2_160.0);
        assert_close(idle_hours(100, 720.0, 0.7) * 10.0, 216_000.0);
        assert_close(idle_hours(8, 720.0, 0.3) * 3.0, 12_096.0);
    }

    #[test]
    fn f52_extra_time() {
        assert_close(extra_time(0.95, 0.80), 0.1875);
    }
}
