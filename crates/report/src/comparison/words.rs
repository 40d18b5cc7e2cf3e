//! Changes, samples and sides in words, the same on every page.

use analysis::{
    Change, Comparison, Effect, Metric, Pairing, Ratio, Side, Uncompared, UncomparedReason, Unit,
};

/// The word of a change on a page: what must be acted on is in capitals. Another target is another storage, which is better or
/// worse than the first and did not become so.
pub(super) const fn change(change: Change, pairing: Pairing) -> &'static str {
    match (change, pairing) {
        (Change::Regressed, Pairing::Targets) => "WORSE",
        (Change::Improved, Pairing::Targets) => "BETTER",
        (Change::Unchanged, Pairing::Targets) => "alike",
        (Change::Regressed, _) => "REGRESSED",
        (Change::Improved, _) => "IMPROVED",
        (Change::Unchanged, _) => "unchanged",
        (Change::Inconclusive, _) => "inconclusive",
    }
}

/// The same at the beginning of a sentence.
pub(super) fn verdict(of: Change, pairing: Pairing) -> String {
    change(of, pairing).to_uppercase()
}

/// What a reader must see first: the gravest comes first.
pub(super) const fn gravity(change: Change) -> u8 {
    match change {
        Change::Regressed => 0,
        Change::Improved => 1,
        Change::Inconclusive => 2,
        Change::Unchanged => 3,
    }
}

/// `-14.9 %`, and `x 3.2` from a doubling on, where percent say little.
pub(super) fn ratio(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "-".to_owned(),
        // +220 % has to be reckoned into "three times"; below a doubling percent are what margins are stated in.
        2.0.. => format!("x {}", crate::number::two_digits(ratio)),
        _ => format!("{} %", signed(ratio)),
    }
}

/// A change in percent with its sign; what rounds to nothing has none.
fn signed(ratio: f64) -> String {
    let tenths = ((ratio - 1.0) * 1e3).round() / 10.0;
    // Rust writes -0.0, and a sign before nothing reads as a change.
    if tenths == 0.0 { "0.0".to_owned() } else { format!("{tenths:+.1}") }
}

/// `-14.9 % (-17.1 to -12.8)`; without its interval where the data give none.
pub(super) fn with_interval(of: &Ratio) -> String {
    let mean = ratio(of.mean);
    if !has_interval(of) {
        return mean;
    }
    // The unit is said once, at the mean; an end in times needs its own.
    let end = |end: f64| if end < 2.0 { signed(end) } else { ratio(end) };
    format!("{mean} ({} to {})", end(of.low), end(of.high))
}

/// Whether the data give an interval.
pub(super) fn has_interval(ratio: &Ratio) -> bool {
    ratio.low > 0.0 && ratio.high.is_finite()
}

/// A share in percent: `4.1 %`, `10 %`.
pub(super) fn share(share: f64) -> String {
    let percent = share * 100.0;
    // Margins are written by people, as whole percents: `10.0 %` would look measured.
    if percent >= 9.95 || (percent - percent.round()).abs() < 0.05 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// The smallest change that would have shown; `-` where nothing is known of it.
pub(super) fn detectable(effect: &Effect) -> String {
    effect.detectable.map_or_else(|| "-".to_owned(), share)
}

/// A value in the unit of its metric.
pub(super) fn value(metric: &Metric, value: f64) -> String {
    if !value.is_finite() || value < 0.0 {
        return "-".to_owned();
    }
    match metric.unit {
        Unit::BytesPerSecond => feed::format_bps(value),
        Unit::PerSecond => per_second(value),
        Unit::Nanoseconds => feed::format_duration_ns(value.round() as u64),
        Unit::Seconds => feed::format_duration_ns((value * 1e9).round() as u64),
        Unit::Bytes => feed::format_bytes(value as u64),
        Unit::Share => format!("{} %", crate::number::cut_percent(value)),
        Unit::Count => feed::format_count(value),
    }
}

/// Operations per second in short: `80.2 k/s`.
fn per_second(rate: f64) -> String {
    let short = [(1e9, " G"), (1e6, " M"), (1e3, " k")].into_iter().find(|(unit, _)| rate >= *unit);
    let (unit, prefix) = short.unwrap_or((1.0, " "));
    format!("{}{prefix}/s", crate::number::three_digits(rate / unit))
}

/// What the samples are: `paired over 10 repetitions` is said of an effect, this of the whole.
pub(super) const fn samples(pairing: Pairing) -> &'static str {
    match pairing {
        Pairing::Variants => "repetitions of two variants, interleaved and paired",
        Pairing::Targets => "repetitions of two targets, interleaved and paired",
        Pairing::Stored => "whole runs",
    }
}

/// `nightly (8 runs, 2026-11-01 to 2026-11-20)`; the name alone for a run, a variant or a target.
pub(super) fn side(side: &Side) -> String {
    let name = &side.name;
    match side.run_ids.as_slice() {
        [] => format!("{name} (no runs)"),
        [_] => name.clone(),
        [first, .., last] => {
            let count = feed::counted_noun(side.run_ids.len() as u64, "run");
            match (day(first), day(last)) {
                (Some(from), Some(to)) => format!("{name} ({count}, {from} to {to})"),
                _ => format!("{name} ({count})"),
            }
        }
    }
}

/// The day of a run, from its name: `20261121T044123Z-...` began on 2026-11-21.
pub(super) fn day(run_id: &str) -> Option<String> {
    // From the name and not the record: sides hold names of runs alone, hundreds of them.
    let digits = run_id.get(..8).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..]))
}

/// `throughput -14.9 % (-17.1 to -12.8) over 5 cells; margin 10 %; a change of 4.1 % shows four times in five`.
pub(super) fn headline(effect: &Effect, cells: u32) -> String {
    let metric = effect.metric.word();
    let over = feed::counted_noun(u64::from(cells), "cell");
    let mut words =
        format!("{metric} {} over {over}; margin {}", with_interval(&effect.ratio), share(effect.margin));
    if let Some(least) = effect.detectable {
        words.extend([format!("; a change of {} shows four times in five", share(least))]);
    }
    if let Some(because) = effect.because.and_then(crate::words::comparison::because) {
        words.push_str("; ");
        words.push_str(&because);
    }
    words
}

/// The one sentence that stands where a comparison has no headline.
pub(super) fn nothing(comparison: &Comparison) -> &'static str {
    let is_of_both = |gap: &Uncompared| {
        use UncomparedReason::{NeverTogether, NoFigures, OneSided, RunsLeftOut, SomeTogether};
        let Uncompared::Of { reason, .. } = gap else { return false };
        matches!(
            reason,
            NeverTogether(_) | NoFigures(_) | OneSided { .. } | RunsLeftOut(_) | SomeTogether { .. }
        )
    };
    if comparison.cells.is_empty() && !comparison.gaps.iter().any(is_of_both) {
        "the two sides have no cell in common"
    } else {
        "nothing may rest on any cell that both sides have"
    }
}

#[cfg(test)]
mod tests {
    use feed::Compared;

    use super::*;

    #[test]
    fn a_change_has_its_sign_and_its_interval() {
        let of = |low, mean, high| with_interval(&Ratio { low, mean, high });
        assert_eq!(of(0.829, 0.851, 0.872), "-14.9 % (-17.1 to -12.8)");
        assert_eq!(of(0.9999, 1.00001, 1.012), "0.0 % (0.0 to +1.2)");
        assert_eq!(of(0.0, 1.5, f64::INFINITY), "+50.0 %");
        assert_eq!(of(1.5, 3.21, 6.9), "x 3.2 (+50.0 to x 6.9)");
        assert_eq!(of(0.0, f64::NAN, f64::INFINITY), "-");
    }

    #[test]
    fn values_have_the_unit_of_their_metric() {
        let of = |compared, moves_bytes, number| value(Metric::of(compared, moves_bytes), number);
        assert_eq!(of(Compared::Throughput, true, 4.1e9), "4.1 GB/s");
        assert_eq!(of(Compared::Throughput, false, 80_200.0), "80.2 k/s");
        assert_eq!(of(Compared::P99, true, 3_140_000.0), "3.14 ms");
        assert_eq!(of(Compared::Au, true, 0.8996), "89.9 %");
        assert_eq!(of(Compared::Cpu, true, f64::NAN), "-");
    }

    #[test]
    fn a_history_says_how_many_runs_and_when() {
        let runs = ["20261101T010203Z-nightly-0000", "20261120T010203Z-nightly-0001"].map(str::to_owned);
        let of = |runs: &[String]| side(&Side { name: "nightly".to_owned(), run_ids: runs.to_vec() });
        assert_eq!(of(&runs), "nightly (2 runs, 2026-11-01 to 2026-11-20)");
        assert_eq!(of(&runs[..1]), "nightly");
        assert_eq!(of(&[]), "nightly (no runs)");
        assert_eq!(of(&["é".repeat(9), "x".to_owned()]), "nightly (2 runs)");
    }

    #[test]
    fn a_share_has_a_decimal_only_below_ten_percent() {
        assert_eq!([0.1, 0.05, 0.041, 0.157, 0.0999].map(share), ["10 %", "5 %", "4.1 %", "16 %", "10 %"]);
    }
}
