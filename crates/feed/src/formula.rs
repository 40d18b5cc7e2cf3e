//! The arithmetic that `feedline need` prints.
//!
//! Small, pure and in SI units; the names in the tests are those of the formulas' collection. An article
//! of the field got some of its own worked examples wrong; where a test says "claim Cnn" it states our
//! value, and the claim's entry in the project's collection says what the article printed.

/// F01: samples per second that `accelerators` consume, each a batch per step.
pub fn samples_per_s(accelerators: u32, batch: u32, step_time_s: f64) -> f64 {
    f64::from(accelerators) * f64::from(batch) / step_time_s
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
    (required_bps / (drive_bps * derating)).ceil()
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
}
