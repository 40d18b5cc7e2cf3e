use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;

use super::error::TEXT_BYTES_MAX;
use super::sum::HistogramSum;
use super::*;

/// The text of a plain V2 encoding.
fn deflated(plain: &[u8]) -> HistogramText {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).unwrap();
    let body = encoder.finish().unwrap();
    let mut bytes = DEFLATED_COOKIE.to_be_bytes().to_vec();
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(body);
    HistogramText::new(STANDARD.encode(bytes))
}

fn plain(digits: u32, low: u64, high: u64, counters: &[u8]) -> Vec<u8> {
    let mut bytes = PLAIN_COOKIE.to_be_bytes().to_vec();
    bytes.extend((counters.len() as u32).to_be_bytes());
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend(digits.to_be_bytes());
    bytes.extend(low.to_be_bytes());
    bytes.extend(high.to_be_bytes());
    bytes.extend(1_f64.to_be_bytes());
    bytes.extend(counters);
    bytes
}

fn refusal(text: &HistogramText) -> String {
    text.decode().unwrap_err().to_string()
}

#[test]
fn an_empty_histogram_survives() {
    for empty in [new_histogram(), new_interval_histogram()] {
        let decoded = encode(&empty).decode().unwrap();
        assert_eq!((decoded.len(), decoded.sigfig(), decoded.high()), (0, empty.sigfig(), empty.high()));
        assert_eq!(decoded, empty);
    }
}

#[test]
fn the_whole_range_of_a_repetition_fits() {
    let mut full = new_histogram();
    let mut value = 1;
    while value < LATENCY_NS_MAX {
        full.record_n(value, u64::from(u32::MAX)).unwrap();
        value = full.next_non_equivalent(value);
    }
    assert_eq!(encode(&full).decode().unwrap(), full);
}

#[test]
fn every_slot_has_its_values() {
    for (digits, full) in [(REP_DIGITS, new_histogram()), (INTERVAL_DIGITS, new_interval_histogram())] {
        for slot in [0, 1, 127, 128, 1_023, 1_024, 2_047, 2_048, 3_000, full.distinct_values() - 1] {
            let highest = value_of(slot + 1, half_of(digits)) - 1;
            assert_eq!(full.highest_equivalent(highest), highest, "{slot}");
            assert_eq!(full.next_non_equivalent(highest), highest + 1, "{slot}");
        }
    }
}

#[test]
fn hostile_sizes_are_refused_before_memory_is_taken() {
    assert!(refusal(&HistogramText::new("A".repeat(TEXT_BYTES_MAX + 4))).contains("at most"));
    assert!(refusal(&deflated(&vec![0; 50_000_000])).contains("inflates to more"));
    assert!(refusal(&deflated(&plain(5, 1, u64::MAX, &[]))).contains("5 digits"));
    assert!(refusal(&deflated(&plain(3, 0, 100, &[]))).contains("from 0 ns"));
    let mut long = plain(3, 1, 100, &[]);
    long[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(refusal(&deflated(&long)).contains("as long as it states"));
}

#[test]
fn hostile_counters_are_refused() {
    let smallest_i64 = [0xff; 9];
    assert!(refusal(&deflated(&plain(3, 1, 100, &smallest_i64))).contains("more counters"));
    let largest_i64 = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert!(deflated(&plain(3, 1, 100, &largest_i64)).decode().is_ok());
    assert!(refusal(&deflated(&plain(3, 1, 100, &largest_i64.repeat(3)))).contains("overflow"));
    assert!(refusal(&deflated(&plain(3, 1, 100, &[0x80]))).contains("cut"));
}

#[test]
fn every_prefix_of_an_encoding_is_refused() {
    let mut histogram = new_histogram();
    histogram.record_n(120_000, 7).unwrap();
    let bytes = STANDARD.decode(encode(&histogram).text().unwrap().as_bytes()).unwrap();
    for cut in 0..bytes.len() {
        assert!(HistogramText::new(STANDARD.encode(&bytes[..cut])).decode().is_err(), "cut at {cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn counts_and_quantiles_survive(
        counts in prop::collection::vec((1..LATENCY_NS_MAX, 1..1_000_000_u64), 0..200),
        seconds in any::<bool>(),
    ) {
        let mut histogram = if seconds { new_interval_histogram() } else { new_histogram() };
        for (latency_ns, count) in counts {
            histogram.record_n(latency_ns, count).unwrap();
        }
        let decoded = encode(&histogram).decode().unwrap();
        prop_assert_eq!(decoded.len(), histogram.len());
        for quantile in [0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0] {
            prop_assert_eq!(decoded.value_at_quantile(quantile), histogram.value_at_quantile(quantile));
        }
        prop_assert_eq!(decoded, histogram);
    }

    #[test]
    fn a_sum_says_what_the_histogram_of_all_says(
        counts in prop::collection::vec(
            prop::collection::vec((prop_oneof![0..5_000_u64, 0..=LATENCY_NS_MAX], 1..1_000_000_u64), 0..60),
            0..5,
        ),
        seconds in any::<[bool; 2]>(),
    ) {
        let new = |seconds| if seconds { new_interval_histogram() } else { new_histogram() };
        let mut sum = if seconds[0] { HistogramSum::of_seconds() } else { HistogramSum::of_repetitions() };
        let mut whole = new(seconds[0]);
        for (number, counts) in counts.into_iter().enumerate() {
            let mut one = new(seconds[number % 2]);
            for (latency_ns, count) in counts {
                one.record_n(latency_ns, count).unwrap();
            }
            let text = encode(&one);
            sum.add(&text).unwrap();
            whole.add(text.decode().unwrap()).unwrap();
        }
        prop_assert_eq!((sum.len(), sum.is_empty()), (whole.len(), whole.is_empty()));
        prop_assert_eq!((sum.max(), sum.mean().to_bits()), (whole.max(), whole.mean().to_bits()));
        // Of an empty one the library has none, and of zeros a minimum of its own.
        prop_assert!(whole.is_empty() || sum.min() == whole.min(), "{} {}", sum.min(), whole.min());
        let at = [0.0, 1e-9, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0];
        let values: Vec<u64> = sum.values_at_quantiles(at).collect();
        prop_assert_eq!(&values, &at.map(|quantile| whole.value_at_quantile(quantile)));
        prop_assert_eq!(values, at.map(|quantile| sum.value_at_quantile(quantile)));
        let recorded = whole.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
        prop_assert_eq!(sum.recorded().collect::<Vec<_>>(), recorded.collect::<Vec<_>>());
        prop_assert_eq!(sum.histogram(), whole);
    }

    #[test]
    fn what_cannot_be_decoded_is_not_added_either(
        digits in 0..5_u32,
        low in 0..3_u64,
        high in prop_oneof![Just(LATENCY_NS_MAX), any::<u64>().prop_map(|high| high >> 20)],
        counters in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let text = deflated(&plain(digits, low, high, &counters));
        let mut before = new_histogram();
        before.record_n(5, 3).unwrap();
        let mut sum = HistogramSum::of_repetitions();
        sum.add(&encode(&before)).unwrap();
        let added = sum.add(&text).is_ok();
        let mut other = before;
        let expected = text.decode().is_ok_and(|decoded| other.add(decoded).is_ok());
        prop_assert_eq!(added, expected);
        prop_assert_eq!(sum.histogram(), other);
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        prop_assert!(HistogramText::new(text).decode().is_err());
    }

    #[test]
    fn arbitrary_counters_never_panic(
        digits in 0..5_u32,
        low in 0..10_u64,
        high in any::<u64>().prop_map(|high| high >> 20),
        counters in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        if let Ok(histogram) = deflated(&plain(digits, low, high, &counters)).decode() {
            prop_assert!(histogram.value_at_quantile(0.5) <= histogram.max());
        }
    }

    #[test]
    fn a_damaged_encoding_never_panics(at in 0..100_usize, byte in any::<u8>()) {
        let mut histogram = new_histogram();
        histogram.record_n(120_000, 7).unwrap();
        let mut bytes = STANDARD.decode(encode(&histogram).text().unwrap().as_bytes()).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        let text = HistogramText::new(STANDARD.encode(bytes));
        prop_assert_eq!(text.decode().is_ok(), HistogramSum::of_repetitions().add(&text).is_ok());
    }
}
