//! Writing quantities. Three significant digits, no trailing zeros; what is exact stays exact.

/// From which value on a unit is used, and what it stands for.
struct Step {
    from: f64,
    unit: f64,
    name: &'static str,
}

const fn step(unit: f64, name: &'static str) -> Step {
    Step { from: unit, unit, name }
}

const DECIMAL: [Step; 7] = [
    step(1.0, ""),
    step(1e3, "k"),
    step(1e6, "M"),
    step(1e9, "G"),
    step(1e12, "T"),
    step(1e15, "P"),
    step(1e18, "E"),
];

/// Seconds up to two minutes, minutes up to two hours, hours up to two days.
// Each unit begins at two of itself, since 90 s is easier to compare with 60 s than 1.5 min is.
const DURATION: [Step; 7] = [
    step(1.0, "ns"),
    step(1e3, "us"),
    step(1e6, "ms"),
    step(1e9, "s"),
    Step { from: 120e9, unit: 60e9, name: "min" },
    Step { from: 7_200e9, unit: 3_600e9, name: "h" },
    Step { from: 172_800e9, unit: 86_400e9, name: "d" },
];

const BINARY: [(u32, &str); 6] =
    [(60, "EiB"), (50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];

/// Above this many of a binary unit the number is no longer a round one.
// 123456 KiB is exact and unreadable; as 126 MB it can be compared.
const BINARY_COUNT_MAX: u64 = 9_999;

/// Below this, bytes are written out.
// Sizes of samples are compared digit by digit with those of profiles (114,660 B); three digits would call
// different sizes alike.
const PLAIN_BYTES_MAX: u64 = 999_999;

/// `128 KiB` where that is exact, `114,660 B` below a megabyte, else decimal: `275 GB`.
pub fn format_bytes(bytes: u64) -> String {
    for (shift, unit) in BINARY {
        let count = bytes >> shift;
        if (1..=BINARY_COUNT_MAX).contains(&count) && count << shift == bytes {
            return format!("{count} {unit}");
        }
    }
    if bytes <= PLAIN_BYTES_MAX {
        return format!("{} B", group_digits(bytes));
    }
    format_about_bytes(bytes as f64)
}

/// Bytes per second: `1.47 GB/s`.
pub fn format_bps(bps: f64) -> String {
    format!("{}/s", format_about_bytes(bps))
}

/// `2.5 s`, `38 min`, `812 us`.
pub fn format_duration_ns(ns: u64) -> String {
    let (number, unit) = scaled(ns as f64, &DURATION);
    format!("{number} {unit}")
}

/// The same of seconds that were worked out.
pub(crate) fn format_seconds(seconds: f64) -> String {
    format_duration_ns((seconds * 1e9).round() as u64)
}

/// A count or a rate of things: `14,286`; three significant digits below 100.
pub fn format_count(count: f64) -> String {
    if !count.is_finite() || count.abs() < 99.5 {
        return significant(count);
    }
    let digits = format!("{:.0}", count.abs());
    let sign = if count < 0.0 { "-" } else { "" };
    format!("{sign}{}", grouped(&digits))
}

/// `114,660`.
pub fn group_digits(number: u64) -> String {
    grouped(&number.to_string())
}

/// `1 cell`, `1,200 cells`.
pub fn counted_noun(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", group_digits(count))
}

/// `2 M`, `667 k`: a count too large to be read digit by digit.
pub(crate) fn format_short(count: f64) -> String {
    let (number, prefix) = scaled(count, &DECIMAL);
    if prefix.is_empty() { number } else { format!("{number} {prefix}") }
}

/// `574 kB`: bytes that were worked out, three significant digits.
pub(crate) fn format_about_bytes(bytes: f64) -> String {
    let (number, prefix) = scaled(bytes, &DECIMAL);
    format!("{number} {prefix}B")
}

/// `90 %` of 0.9.
pub(crate) fn format_percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}

/// Three significant digits without trailing zeros, never with an exponent.
pub(super) fn significant(value: f64) -> String {
    round_to_three(value).to_string()
}

fn grouped(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// From here on an exponent is shorter than a number with the largest prefix.
// Products of absurd needs come here before they are refused; three hundred digits would hide the message
// that refuses them.
const BEYOND_PREFIXES: f64 = 1e24;

fn scaled(value: f64, steps: &[Step]) -> (String, &'static str) {
    let rounded = round_to_three(value);
    if rounded.abs() >= BEYOND_PREFIXES && rounded.is_finite() {
        return (format!("{rounded:e}"), steps[0].name);
    }
    let fits = |step: &&Step| rounded.is_finite() && rounded.abs() >= step.from;
    let step = steps.iter().rev().find(fits).unwrap_or(&steps[0]);
    (significant(value / step.unit), step.name)
}

fn round_to_three(value: f64) -> f64 {
    // Decimal rounding by the formatter is exact, which scaling by powers of ten is not.
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes() {
        let cases = [
            (0, "0 B"),
            (999, "999 B"),
            (1_024, "1 KiB"),
            (131_072, "128 KiB"),
            (4_000, "4,000 B"),
            (114_660, "114,660 B"),
            (999_999, "999,999 B"),
            (1_000_000, "1 MB"),
            (1_048_576, "1 MiB"),
            (1_572_864, "1536 KiB"),
            (256 << 30, "256 GiB"),
            (275_184_000_000, "275 GB"),
            (999_600_000, "1 GB"),
            (1_000_000_000_000, "1 TB"),
            (u64::MAX, "18.4 EB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(format_bytes(bytes), text);
        }
    }

    #[test]
    fn rates() {
        let cases = [
            (1.4737e9, "1.47 GB/s"),
            (2.5e9, "2.5 GB/s"),
            (31e9, "31 GB/s"),
            (999.7e6, "1 GB/s"),
            (20_833.0, "20.8 kB/s"),
            (0.5, "0.5 B/s"),
            (0.0, "0 B/s"),
            (f64::INFINITY, "inf B/s"),
            (f64::NAN, "NaN B/s"),
        ];
        for (bps, text) in cases {
            assert_eq!(format_bps(bps), text);
        }
    }

    #[test]
    fn durations() {
        let cases = [
            (0, "0 ns"),
            (812, "812 ns"),
            (812_000, "812 us"),
            (999_960, "1 ms"),
            (2_500_000_000, "2.5 s"),
            (90_000_000_000, "90 s"),
            (2_280_000_000_000, "38 min"),
            (7_200_000_000_000, "2 h"),
            (3_000_000_000_000_000, "34.7 d"),
        ];
        for (ns, text) in cases {
            assert_eq!(format_duration_ns(ns), text);
        }
    }

    #[test]
    fn counts() {
        let cases = [
            (14_285.7, "14,286"),
            (999.6, "1,000"),
            (99.6, "100"),
            (99.4, "99.4"),
            (22.26, "22.3"),
            (0.159_43, "0.159"),
            (0.0, "0"),
            (-14_285.7, "-14,286"),
            (f64::NAN, "NaN"),
        ];
        for (count, text) in cases {
            assert_eq!(format_count(count), text);
        }
        assert_eq!(group_digits(0), "0");
        assert_eq!(group_digits(999), "999");
        assert_eq!(group_digits(1_000), "1,000");
        assert_eq!(group_digits(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn shorthand_and_shares() {
        assert_eq!(format_short(2e6), "2 M");
        assert_eq!(format_short(666_667.0), "667 k");
        assert_eq!(format_short(12.0), "12");
        assert_eq!(format_short(1e300), "1e300");
        assert_eq!(format_about_bytes(574_000.0), "574 kB");
        assert_eq!(format_percent(0.9), "90 %");
        assert_eq!(format_percent(0.925), "92.5 %");
    }

    #[test]
    fn one_of_a_thing_is_no_plural() {
        let written = [0, 1, 1_200].map(|count| counted_noun(count, "cell"));
        assert_eq!(written, ["0 cells", "1 cell", "1,200 cells"]);
    }

    proptest! {
        #[test]
        fn grouping_only_adds_commas(number: u64) {
            let text = group_digits(number);
            prop_assert_eq!(text.replace(',', ""), number.to_string());
            prop_assert!(text.split(',').skip(1).all(|group| group.len() == 3));
        }

        #[test]
        fn no_figure_panics(value: f64, count: u64) {
            let texts =
                [format_bps(value), format_count(value), format_bytes(count), format_duration_ns(count)];
            for text in texts {
                prop_assert!(!text.is_empty());
            }
        }
    }
}
