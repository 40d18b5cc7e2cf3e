use proptest::prelude::*;

use super::*;
use crate::units::{format_bps, format_bytes, format_duration_ns};

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(result: Result<T, UnitError>, message: &str) {
    assert_eq!(result.expect_err("refused").to_string(), message);
}

#[test]
fn decimal_and_binary_sizes() {
    let cases: [(&str, u64); 14] = [
        ("128 KiB", 131_072),
        ("128KiB", 131_072),
        (" 1 MB ", 1_000_000),
        ("1 MiB", 1_048_576),
        ("1.5 GB", 1_500_000_000),
        ("0.5 KiB", 512),
        ("114,660 B", 114_660),
        ("0.0010 kB", 1),
        ("4 KB", 4_000),
        ("4 KiB", 4_096),
        ("007 B", 7),
        ("0.000000000000001 EB", 1_000),
        ("15 EiB", 15 << 60),
        ("18446744073709551615 B", u64::MAX),
    ];
    for (text, bytes) in cases {
        assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
    }
}

#[test]
fn an_ambiguous_size_says_what_to_write() {
    assert_refused(parse_bytes("4k"), "`k` in `4k` is not a unit of a size: write 4 KiB or 4 kB");
    assert_refused(parse_bytes("4tb"), "`tb` in `4tb` is not a unit of a size: write 4 TiB or 4 TB");
    assert_refused(parse_bytes("4 p"), "`p` in `4 p` is not a unit of a size: write 4 PiB or 4 PB");
    assert_refused(parse_bytes("4 eb"), "`eb` in `4 eb` is not a unit of a size: write 4 EiB or 4 EB");
    assert_refused(parse_bytes("2m"), "`m` in `2m` is not a unit of a size: write 2 MiB or 2 MB");
    assert_refused(
        parse_bytes("1.5 Gb"),
        "`Gb` in `1.5 Gb` is not a unit of a size: write 1.5 GiB or 1.5 GB",
    );
    assert_refused(parse_bytes("8kib"), "`kib` in `8kib` is not a unit of a size: write 8 KiB");
    assert_refused(parse_bytes("8 bytes"), "`bytes` in `8 bytes` is not a unit of a size: write 8 B");
    assert_refused(
        parse_bytes("4096"),
        "`4096` has no unit: write 4096 B, or 4096 KiB (2^10) or 4096 kB (10^3)",
    );
    assert_refused(
        parse_bytes("8 minutes"),
        "`minutes` in `8 minutes` is not a unit of a size: write 8 with one of B, kB, MB, GB, TB (powers of \
         1000), KiB, MiB, GiB, TiB (of 1024)",
    );
}

#[test]
fn a_number_that_is_none_says_so() {
    for text in [
        "nan B",
        "inf GB",
        "many",
        "1e9 B",
        "1E9B",
        "1.2.3 B",
        ".5 GB",
        "1. GB",
        "+1 B",
        "B",
        "1e-9 B",
        "1e+9 B",
        "1.0000000000000001 B",
        "1.00000000000000001 B",
    ] {
        let expected = format!(
            "`{text}` does not start with a plain number (digits, at most 15 decimals): write for example \
             128 KiB"
        );
        assert_refused(parse_bytes(text), &expected);
    }
    assert_refused(parse_bytes(" "), "an empty text is no size: write for example 128 KiB");
}

#[test]
fn signs_zeros_and_sizes_that_do_not_fit() {
    assert_refused(
        parse_bytes("-1 GB"),
        "`-1 GB` is negative, and a size is above zero: write for example 128 KiB",
    );
    assert_refused(parse_bytes("0 B"), "`0 B` is zero, and a size is above zero: write for example 128 KiB");
    assert_refused(
        parse_bytes("0.00 GB"),
        "`0.00 GB` is zero, and a size is above zero: write for example 128 KiB",
    );
    assert_refused(parse_bytes("16 EiB"), "`16 EiB` is too large: the largest size is 18 EB");
    assert_refused(
        parse_bytes("999999999999999999999999 EB"),
        "`999999999999999999999999 EB` is too large: the largest size is 18 EB",
    );
    assert_refused(
        parse_bytes("1.0001 KiB"),
        "`1.0001 KiB` is not a whole number of bytes: write 1024 B or 1025 B",
    );
    assert_refused(parse_bytes("0.4 B"), "`0.4 B` is not a whole number of bytes: write 1 B");
}

#[test]
fn commas_group_thousands_or_are_refused() {
    assert_eq!(parse_bytes("1,234,567 B"), Ok(1_234_567));
    let refused = |text: &str, write: &str| {
        assert_refused(
            parse_bytes(text),
            &format!("`{text}` has a comma that does not group thousands: write {write}"),
        );
    };
    refused("1,5 GB", "1.5 GB");
    refused("1,23,456 B", "123456 B");
    refused(",5 GB", ".5 GB");
}

#[test]
fn what_is_repeated_is_short_and_has_no_control_characters() {
    let error = parse_bytes(&format!("1 \u{1b}[31m{}", "x".repeat(100))).expect_err("refused").to_string();
    assert!(!error.contains('\u{1b}') && error.len() < 400, "{error}");
}

#[test]
fn rates_in_bytes_and_in_bits() {
    let cases = [
        ("2.5 GB/s", 2.5e9),
        ("800MiB/s", 838_860_800.0),
        ("25 Gb/s", 3.125e9),
        ("100 Gbit/s", 12.5e9),
        ("4 KB/s", 4e3),
        ("8 Kb/s", 1e3),
        ("8 Kbit/s", 1e3),
        ("8 b/s", 1.0),
        ("0.1 GB/s", 1e8),
        ("1,000 kB/s", 1e6),
    ];
    for (text, bps) in cases {
        assert_eq!(parse_rate_bps(text), Ok(bps), "{text}");
    }
}

#[test]
fn a_wrong_rate_says_what_to_write() {
    let unit = |unit: &str, write: &str| {
        assert_refused(
            parse_rate_bps(&format!("25 {unit}")),
            &format!("`{unit}` in `25 {unit}` is not a unit of a rate: write {write}"),
        );
    };
    unit("GB", "25 GB/s");
    unit("Gb", "25 Gb/s");
    unit("Gbps", "25 Gb/s");
    unit("GBps", "25 GB/s");
    unit("gb/s", "25 GB/s, or 25 Gb/s for bits");
    unit("GB/S", "25 GB/s");
    unit("G/s", "25 GB/s, or 25 Gb/s for bits");
    unit("Gib/s", "25 GiB/s");
    unit("GB/sec", "25 GB/s");
    unit("GB/h", "25 with one of kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s, or in bits kb/s, Mb/s, Gb/s");
    assert_refused(parse_rate_bps("25"), "`25` has no unit: write 25 GB/s, 25 MB/s, or 25 Gb/s for bits");
    assert_refused(parse_rate_bps("20 EB/s"), "`20 EB/s` is too large: the largest rate is 18 EB/s");
    assert_refused(
        parse_rate_bps("-1 GB/s"),
        "`-1 GB/s` is negative, and a rate is above zero: write for example 2.5 GB/s",
    );
}

#[test]
fn durations() {
    let cases: [(&str, u64); 10] = [
        ("10s", 10_000_000_000),
        ("250ms", 250_000_000),
        ("30m", 1_800_000_000_000),
        ("30 min", 1_800_000_000_000),
        ("2h", 7_200_000_000_000),
        ("1us", 1_000),
        ("1 \u{b5}s", 1_000),
        ("1 \u{3bc}s", 1_000),
        ("7 ns", 7),
        ("1.5 d", 129_600_000_000_000),
    ];
    for (text, ns) in cases {
        assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
    }
}

#[test]
fn a_wrong_duration_says_what_to_write() {
    let unit = |unit: &str, write: &str| {
        assert_refused(
            parse_duration_ns(&format!("5 {unit}")),
            &format!("`{unit}` in `5 {unit}` is not a unit of a duration: write {write}"),
        );
    };
    unit("sec", "5s");
    unit("Minutes", "5m");
    unit("S", "5s");
    unit("MS", "5ms");
    unit("h30m", "one number in one unit, for example 90m for an hour and a half");
    unit("weeks", "5 with one of ns, us, ms, s, m (minutes), h, d");
    assert_refused(parse_duration_ns("10"), "`10` has no unit: write 10s, 10ms, or 10m for minutes");
    assert_refused(parse_duration_ns("0.5 ns"), "`0.5 ns` is not a whole number of nanoseconds: write 1 ns");
    assert!(matches!(parse_duration_ns("0s"), Err(UnitError::Zero { .. })));
    assert_refused(
        parse_duration_ns("300000 d"),
        "`300000 d` is too large: the largest duration is 213,000 d",
    );
}

#[test]
fn percentages() {
    assert_eq!(parse_percent("10 %"), Ok(0.1));
    assert_eq!(parse_percent("2.5%"), Ok(0.025));
    assert_eq!(parse_percent("150 %"), Ok(1.5));
    assert_refused(parse_percent("10"), "`10` has no unit: write 10 %");
    assert_refused(parse_percent("0.1"), "`0.1` has no unit: write 10 %");
    assert_refused(parse_percent("10 pct"), "`pct` in `10 pct` is not a unit of a percentage: write 10 %");
    assert_refused(
        parse_percent("-3 %"),
        "`-3 %` is negative, and a percentage is above zero: write for example 10 %",
    );
}

proptest! {
    #[test]
    fn bytes_written_exactly_are_read_back(count in 1..=9_999u64, shift in 0..=5u32) {
        let bytes = count << (10 * shift);
        prop_assert_eq!(parse_bytes(&format_bytes(bytes)), Ok(bytes));
    }

    #[test]
    fn bytes_below_a_megabyte_are_read_back(bytes in 1..1_000_000u64) {
        prop_assert_eq!(parse_bytes(&format_bytes(bytes)), Ok(bytes));
    }

    #[test]
    fn any_size_is_read_back_to_three_digits(bytes in 1..=u64::MAX / 2) {
        let read = parse_bytes(&format_bytes(bytes)).expect("what was written") as f64;
        prop_assert!((read / bytes as f64 - 1.0).abs() <= 0.005_001);
    }

    #[test]
    fn rates_of_three_digits_are_read_back(digits in 1..=999u32, exponent in 0..=15i32) {
        let bps = f64::from(digits) * 10f64.powi(exponent);
        let read = parse_rate_bps(&format_bps(bps)).expect("what was written");
        prop_assert!((read / bps - 1.0).abs() < 1e-12);
    }

    #[test]
    fn durations_of_three_digits_are_read_back(digits in 1..=119u64, unit in 0..DURATION_UNITS.len()) {
        let ns = digits * DURATION_UNITS[unit].1;
        let read = parse_duration_ns(&format_duration_ns(ns)).expect("what was written");
        // 119 h is 4.96 d: three digits of the unit it is written in.
        prop_assert!((read as f64 / ns as f64 - 1.0).abs() <= 0.005_001);
        if ns < 120_000_000_000 {
            prop_assert_eq!(read, ns);
        }
    }

    #[test]
    fn whole_units_are_what_they_say(number in 1..1_000_000u64, unit in 0..BYTE_UNITS.len(), space in " ?") {
        let (name, factor) = BYTE_UNITS[unit];
        let bytes = u128::from(number) * u128::from(factor);
        let read = parse_bytes(&format!("{number}{space}{name}"));
        if let Ok(bytes) = u64::try_from(bytes) {
            prop_assert_eq!(read, Ok(bytes));
        } else {
            let too_large = matches!(read, Err(UnitError::TooLarge { .. }));
            prop_assert!(too_large, "{:?}", read);
        }
    }

    #[test]
    fn no_text_panics_and_every_error_fits_one_line(text in "\\PC*|-?[0-9.,]{0,45} ?[A-Za-z/%]{0,6}") {
        let errors = [
            parse_bytes(&text).err(),
            parse_rate_bps(&text).err(),
            parse_duration_ns(&text).err(),
            parse_percent(&text).err(),
        ];
        for error in errors.into_iter().flatten() {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }

    #[test]
    fn what_is_read_is_above_zero(text in "[0-9.,]{1,12} ?(k|M|G|Ki|Mi)?[Bb](/s)?") {
        prop_assert_ne!(parse_bytes(&text), Ok(0));
        if let Ok(bps) = parse_rate_bps(&text) {
            prop_assert!(bps.is_finite() && bps > 0.0);
        }
    }
}
