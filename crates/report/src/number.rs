//! Figures as short numbers.

use analysis::{Rate, Unit};

/// A unit in which all rates of one table or axis are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RateUnit {
    pub(crate) name: &'static str,
    pub(crate) bps: f64,
}

const UNITS: [RateUnit; 5] = [
    RateUnit { name: "TB/s", bps: 1e12 },
    RateUnit { name: "GB/s", bps: 1e9 },
    RateUnit { name: "MB/s", bps: 1e6 },
    RateUnit { name: "kB/s", bps: 1e3 },
    RateUnit { name: "B/s", bps: 1.0 },
];

impl RateUnit {
    /// The unit in which the largest of a set of rates has one to three digits before the point; from
    /// 0.5 of a unit on it is that unit, so that 0.92 GB/s is not written as 920 MB/s.
    pub(crate) fn for_largest(bps: f64) -> Self {
        // From half a unit on: 0.92 GB/s beside 4.1 GB/s is read at once, and 920 MB/s is not.
        UNITS.into_iter().find(|unit| bps >= 0.5 * unit.bps).unwrap_or(UNITS[4])
    }

    /// The figure alone; what is far below the unit has its own.
    pub(crate) fn write(self, bps: f64) -> String {
        if self.suits(bps) { three_digits(bps / self.bps) } else { self.said(bps) }
    }

    /// The figure with its unit.
    pub(crate) fn said(self, bps: f64) -> String {
        let own = if self.suits(bps) { self } else { Self::for_largest(bps) };
        format!("{} {}", three_digits(bps / own.bps), own.name)
    }

    // Below a hundredth of the unit two digits would be lost behind zeros.
    fn suits(self, bps: f64) -> bool {
        bps <= 0.0 || bps >= 0.0095 * self.bps
    }
}

/// `4.10`, `31.5`, `278`; two digits below one: `0.92`, `0.051`.
pub(crate) fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{value:.1e}"),
        // The limits lie half a last digit below the powers of ten, where rounding would add a digit.
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.095 => format!("{value:.2}"),
        _ => below_a_tenth(value),
    }
}

/// Three digits, and from a thousand on all of them: `35,758`.
pub(crate) fn grouped(value: f64) -> String {
    if (999.5..1e9).contains(&value) { feed::group_digits(value.round() as u64) } else { three_digits(value) }
}

/// `0.8`, `3.1`, `31`, `180`: what a latency is good for.
pub(crate) fn two_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{value:.1e}"),
        // Two digits: the third of a latency differs from run to run.
        v if v >= 9.95 => format!("{value:.0}"),
        v if v >= 0.95 => format!("{value:.1}"),
        v if v >= 0.095 => format!("{value:.2}"),
        _ => below_a_tenth(value),
    }
}

fn below_a_tenth(value: f64) -> String {
    match value.abs() {
        v if v >= 0.0095 => format!("{value:.3}"),
        v if v >= 0.000_95 => format!("{value:.4}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.1e}"),
    }
}

/// Nanoseconds as milliseconds; `-` for what was not measured often enough.
pub(crate) fn milliseconds(ns: Option<u64>) -> String {
    ns.map_or_else(|| "-".to_owned(), |ns| two_digits(ns as f64 / 1e6))
}

/// The same of a figure that stands in a column.
pub(crate) fn latency(ns: Option<u64>) -> Option<String> {
    ns.map(|ns| milliseconds(Some(ns)))
}

/// A value as a column writes it whose heading names the unit: milliseconds, MB/s; bytes name their own.
pub(crate) fn in_column(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Nanoseconds => two_digits(value / 1e6),
        Unit::Seconds => two_digits(value),
        Unit::BytesPerSecond => grouped(value / 1e6),
        Unit::PerSecond | Unit::Count => grouped(value),
        Unit::Bytes => feed::format_bytes(value as u64),
        Unit::Share => percent(value),
    }
}

/// `3.94 - 4.26`, the 95 % interval of a rate; absent where it was measured too seldom.
pub(crate) fn interval(rate: &Rate, write: impl Fn(f64) -> String) -> Option<String> {
    rate.interval.map(|interval| format!("{} - {}", write(interval.low), write(interval.high)))
}

/// How many times, as a reader says it: `0.40`, `2.7`, `19`, `11,000,000`.
pub(crate) fn times(factor: f64) -> String {
    if factor < 99.5 { two_digits(factor) } else { feed::group_digits(factor.round() as u64) }
}

/// `278 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", feed::group_digits((share * 100.0).round() as u64))
}

// (1 - 0.066) * 1000 is 933.9999999999999 in binary: cut as it stands, 93.4 % would be 93.3 %.
/// Keeps a share that is a tenth of a percent itself from being cut below it by its own rounding, in tenths.
const CUT_SLACK: f64 = 1e-6;

/// Percent with one decimal, cut and not rounded: a utilization of 89.96 % has not reached 90.
pub(crate) fn cut_percent(share: f64) -> String {
    format!("{:.1}", (share * 1e3 + CUT_SLACK).floor() / 10.0)
}

/// A part of a whole: `0 %`, `<0.1 %`, `4.2 %`.
pub(crate) fn part(share: f64) -> String {
    match share {
        // Nothing and almost nothing are told apart: a stall of a thousandth is a stall.
        0.0 => "0 %".to_owned(),
        ..0.0005 => "<0.1 %".to_owned(),
        _ => format!("{:.1} %", share * 100.0),
    }
}

/// A share of the line: `278 %`, and `17,665 x` from 10,000 % on.
pub(crate) fn of_line(share: f64) -> String {
    in_times(share).unwrap_or_else(|| percent(share))
}

/// A share of the line that is told in times, since its percents are too many: `17,665 x`, `2e7 x`.
pub(crate) fn in_times(share: f64) -> Option<String> {
    match share {
        ..100.0 => None,
        ..1e6 => Some(format!("{} x", feed::group_digits(share.round() as u64))),
        _ => Some(format!("{share:.0e} x")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_where_there_are_three() {
        let written = [4.1, 31.49, 277.7, 0.923, 0.0512, 0.004_21, 0.000_05, 0.0, 9.996, 99.96, 2.5e7]
            .map(three_digits);
        assert_eq!(
            written,
            ["4.10", "31.5", "278", "0.92", "0.051", "0.0042", "5.0e-5", "0", "10.0", "100", "2.5e7"]
        );
    }

    #[test]
    fn counts_per_second_are_grouped_from_a_thousand_on() {
        assert_eq!([999.4, 999.6, 35_757.8, 1e10].map(grouped), ["999", "1,000", "35,758", "1.0e10"]);
    }

    #[test]
    fn two_digits_for_latencies() {
        let written = [Some(800_000), Some(3_140_000), Some(31_400_000), Some(9_960_000), Some(12_300), None]
            .map(milliseconds);
        assert_eq!(written, ["0.80", "3.1", "31", "10", "0.012", "-"]);
    }

    #[test]
    fn factors_as_a_reader_says_them() {
        assert_eq!([0.4, 2.71, 19.2, 99.7, 1.1e7].map(times), ["0.40", "2.7", "19", "100", "11,000,000"]);
    }

    #[test]
    fn a_utilization_is_cut_and_a_part_of_one_is_never_nothing() {
        let cut = [0.718, 0.8996, 0.9999, 1.0, 0.0, -0.012].map(cut_percent);
        assert_eq!(cut, ["71.8", "89.9", "99.9", "100.0", "0.0", "-1.2"]);
        assert_eq!([0.0, 0.0002, 0.0421, 1.0].map(part), ["0 %", "<0.1 %", "4.2 %", "100.0 %"]);
    }

    #[test]
    fn a_share_of_the_line_is_told_in_times_from_ten_thousand_percent_on() {
        let written = [0.8, 99.99, 100.0, 17_665.4, 2e7].map(of_line);
        assert_eq!(written, ["80 %", "9,999 %", "100 x", "17,665 x", "2e7 x"]);
    }

    #[test]
    fn a_rate_far_below_its_unit_has_its_own() {
        let unit = RateUnit::for_largest(31e9);
        let written = [31e9, 9.6e6, 0.86e6, 0.0].map(|bps| unit.write(bps));
        assert_eq!(written, ["31.0", "0.010", "0.86 MB/s", "0"]);
        assert_eq!([31e9, 0.86e6].map(|bps| unit.said(bps)), ["31.0 GB/s", "0.86 MB/s"]);
    }

    #[test]
    fn the_unit_follows_the_largest_rate() {
        let names = [31e9, 0.92e9, 0.4e9, 1e3, 3.0, 0.0].map(|bps| RateUnit::for_largest(bps).name);
        assert_eq!(names, ["GB/s", "GB/s", "MB/s", "kB/s", "B/s", "B/s"]);
    }
}
