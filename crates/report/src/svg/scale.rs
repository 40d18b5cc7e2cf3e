//! Scales: from values to places, with ticks. They are computed from what is drawn, and nothing is clamped to them.

use crate::number::RateUnit;

// On a linear scale a curve at a twenty-fifth of the height is a line on the axis; a logarithm hides that the highest
// is twice the next, so it is not the rule.
/// Ratio of the highest to the lowest peak from which a linear scale would press the lowest curve flat.
const LOG_FROM: f64 = 25.0;
/// Ticks that a scale of rates aims at.
const TICKS: f64 = 6.0;

/// How values are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spread {
    Linear,
    Log2,
    Log10,
    /// Shares of a whole, spread toward it: 90 %, 99 % and 99.9 % are equally far from each other.
    Nines,
    /// Numbered names; without grid lines.
    Names,
}

impl Spread {
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear | Self::Names => value,
            Self::Log2 => value.max(0.0).log2(),
            Self::Log10 => value.max(0.0).log10(),
            Self::Nines => nines_of(value),
        }
    }
}

/// What a scale must hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    /// Lowest and highest value drawn.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Lowest of the peaks of curves and of the lines across: what must still be seen.
    pub(super) low_peak: f64,
}

impl Extent {
    /// Of no value.
    pub(super) const EMPTY: Self =
        Self { low: f64::INFINITY, high: f64::NEG_INFINITY, low_peak: f64::INFINITY };

    /// The extent that holds both.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            low_peak: self.low_peak.min(other.low_peak),
        }
    }

    /// Also from `value` on: where bars stand, or what is judged is how flat a course is.
    pub(super) fn from(self, value: f64) -> Self {
        Self { low: self.low.min(value), ..self }
    }

    /// Whether it holds nothing.
    pub(super) fn is_empty(self) -> bool {
        self.low > self.high
    }
}

/// A scale with its ticks and what it shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    spread: Spread,
    /// Ends as places: logarithms where the spread is one.
    low: f64,
    high: f64,
    /// Values with their labels.
    pub(super) ticks: Vec<(f64, String)>,
    pub(super) words: String,
}

impl Scale {
    fn new(spread: Spread, (low, high): (f64, f64), ticks: Vec<(f64, String)>, words: &str) -> Self {
        let (low, high) = (spread.place(low), spread.place(high));
        // A tick at the end itself may lie outside by the last bits of its logarithm.
        let slack = (high - low) * 1e-9;
        // What has no logarithm stands at the lower end.
        let is_inside = |place: f64| place.is_infinite() || (low - slack..=high + slack).contains(&place);
        let ticks = ticks.into_iter().filter(|tick| is_inside(spread.place(tick.0)));
        Self { spread, low, high, ticks: ticks.collect(), words: words.to_owned() }
    }

    /// Where a value stands between the ends, 0 to 1. Infinities, and 0 where it has no logarithm, stand at the ends.
    pub(super) fn share(&self, value: f64) -> f64 {
        let place = if value.is_infinite() { value } else { self.spread.place(value) };
        if place.is_infinite() {
            return if place > 0.0 { 1.0 } else { 0.0 };
        }
        // A value outside is a mistake of the description. A release build draws it, which is better than no
        // report.
        let slack = (self.high - self.low) * 1e-9;
        debug_assert!(
            place >= self.low - slack && place <= self.high + slack,
            "{value} lies outside of {self:?}"
        );
        (place - self.low) / (self.high - self.low)
    }

    /// The value at a share of the way from the lower end to the upper.
    pub(super) fn at(&self, share: f64) -> f64 {
        let place = self.low + (self.high - self.low) * share;
        match self.spread {
            Spread::Linear | Spread::Names => place,
            Spread::Log2 => place.exp2(),
            Spread::Log10 => 10_f64.powf(place),
            Spread::Nines => 1.0 - 10_f64.powf(-place),
        }
    }

    /// Whether lines are drawn at its ticks.
    pub(super) fn has_grid(&self) -> bool {
        self.spread != Spread::Names
    }

    /// The same with neither labels nor words: those of the panel below hold for it.
    pub(super) fn unlabelled(mut self) -> Self {
        self.ticks.iter_mut().for_each(|tick| tick.1.clear());
        self.words.clear();
        self
    }

    /// The ticks whose labels have room on an axis `length_px` long: the deepest of depths is kept, else the first.
    pub(super) fn ticks_within(&self, length_px: f64) -> Vec<(f64, &str)> {
        // 3.5 pixels are half a letter of the labels: no font is asked, since the reader has another one.
        let half = |words: &str| words.chars().count() as f64 * 3.5 + 5.0;
        let mut kept: Vec<(f64, &str)> = Vec::new();
        let fits = |kept: &[(f64, &str)], tick: &(f64, String)| {
            kept.last().is_none_or(|(last, words)| {
                let apart = (self.share(tick.0) - self.share(*last)).abs() * length_px;
                apart >= half(&tick.1) + half(words) || tick.1.is_empty()
            })
        };
        let mut ticks: Vec<&(f64, String)> = self.ticks.iter().collect();
        // The deepest depth is where curves end and is asked for by name; of the others every second will do.
        if self.spread == Spread::Log2 {
            ticks.reverse();
        }
        for tick in ticks {
            if fits(&kept, tick) {
                kept.push((tick.0, &tick.1));
            }
        }
        kept
    }

    /// Linear from zero to just `high`, with about `aim` ticks at nice steps.
    pub(super) fn linear(high: f64, aim: f64, words: &str) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let step = nice_step(high / aim);
        let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
        let ticks = (0..=(high / step + 1e-9).floor() as u32).map(|n| {
            let value = f64::from(n) * step;
            (value, format!("{value:.decimals$}"))
        });
        Self::new(Spread::Linear, (0.0, high), ticks.collect(), words)
    }

    /// Shares from 0 to 100 %, wider only where what is drawn is, with a tick at each `step`.
    pub(super) fn percents(extent: Extent, step: f64, words: &str) -> Self {
        let low = if extent.low < 0.0 { extent.low - 0.02 } else { 0.0 };
        let high = if extent.high > 0.99 { extent.high.max(1.0) + 0.02 } else { 1.0 };
        let (first, last) = ((low / step).ceil() as i32, (high / step).floor() as i32);
        let tick = |n: i32| (f64::from(n) * step, format!("{:.0}", f64::from(n) * step * 100.0));
        Self::new(Spread::Linear, (low, high), (first..=last).map(tick).collect(), words)
    }

    /// Values between two ends with ticks of its own.
    pub(super) fn between(low: f64, high: f64, ticks: Vec<(f64, String)>, words: &str) -> Self {
        Self::new(Spread::Linear, (low, high), ticks, words)
    }

    /// Names in turn, the number of each being its value.
    pub(super) fn names(names: Vec<String>, words: &str) -> Self {
        let high = names.len().max(1) as f64 - 0.5;
        let ticks = names.into_iter().enumerate().map(|(number, name)| (number as f64, name));
        Self::new(Spread::Names, (-0.5, high), ticks.collect(), words)
    }

    /// The same from the top down, so that the first stands above: its value is 0, that of the next -1.
    pub(super) fn rows(names: Vec<String>, words: &str) -> Self {
        let low = 0.5 - names.len().max(1) as f64;
        let ticks = names.into_iter().enumerate().map(|(number, name)| (-(number as f64), name));
        Self::new(Spread::Names, (low, 0.5), ticks.collect(), words)
    }

    /// Counts by their binary logarithm, a tick at each, with a little room at both ends.
    pub(super) fn counts(counts: impl IntoIterator<Item = u32>, words: &str) -> Self {
        let mut counts: Vec<u32> = counts.into_iter().map(|count| count.max(1)).collect();
        counts.sort_unstable();
        counts.dedup();
        let place = |count: Option<&u32>| f64::from(count.copied().unwrap_or(1)).log2();
        let (first, last) = (place(counts.first()), place(counts.last()));
        // Points at the ends would be cut in half by the frame.
        let room = ((last - first) * 0.04).max(if counts.len() < 2 { 1.0 } else { 0.12 });
        let ticks = counts.into_iter().map(|count| (f64::from(count), count.to_string())).collect();
        Self::new(Spread::Log2, ((first - room).exp2(), (last + room).exp2()), ticks, words)
    }

    /// Quantiles, spread toward the whole, up to `last`.
    pub(super) fn quantiles(last: f64, words: &str) -> Self {
        let of = |nines: usize| {
            let words = match nines {
                1 => "90 %".to_owned(),
                2 => "99 %".to_owned(),
                _ => format!("99.{} %", "9".repeat(nines - 2)),
            };
            (1.0 - 10_f64.powi(-(nines as i32)), words)
        };
        let first = [(0.0, "0 %".to_owned()), (0.5, "50 %".to_owned())];
        let ticks = first.into_iter().chain((1..=nines_of(last).floor() as usize).map(of)).collect();
        Self::new(Spread::Nines, (0.0, last.max(0.2)), ticks, words)
    }

    /// Decades that hold both values, which are above 0, and end at ticks.
    pub(super) fn decades(low: f64, high: f64, words: &str, label: impl Fn(f64) -> String) -> Self {
        debug_assert!(low > 0.0 && high >= low && high.is_finite(), "{low} to {high} has no logarithms");
        let (first, last) = ((low / 1.05).log10().floor() as i32, (high * 1.05).log10().ceil() as i32);
        // Ten labels below each other are the most that a plot of usual height has room for.
        let every = if last - first > 9 { 2 } else { 1 };
        // Within a few decades 1, 2 and 5 are labelled, for a decade alone is a coarse ruler.
        let multiples: &[f64] = if (high / low).log10() > 3.2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let of_decade = |decade: i32| multiples.iter().map(move |multiple| multiple * 10_f64.powi(decade));
        let all: Vec<f64> = (first..=last + every).step_by(every as usize).flat_map(of_decade).collect();
        // Ends at ticks: a curve that leaves the last tick cannot be read off.
        let below = all.iter().rposition(|tick| *tick <= low / 1.02).unwrap_or(0);
        let above = all.iter().position(|tick| *tick >= high * 1.02).unwrap_or(all.len() - 1);
        let ticks = all[below..=above].iter().map(|tick| (*tick, label(*tick))).collect();
        Self::new(Spread::Log10, (all[below], all[above]), ticks, words)
    }

    /// Logarithms between two values that are above 0, with ticks of its own.
    pub(super) fn logarithms(low: f64, high: f64, ticks: Vec<(f64, String)>, words: &str) -> Self {
        Self::new(Spread::Log10, (low, high), ticks, words)
    }

    /// Times in nanoseconds, by decades.
    pub(super) fn times(extent: Extent, words: &str) -> Self {
        Self::decades(extent.low.max(1.0), extent.high.max(extent.low).max(1.0), words, duration)
    }

    /// Rates in bytes per second: linear from zero, or by decades where a linear scale would press the lowest flat.
    pub(super) fn rates(extent: Extent, words: &str) -> (Self, RateUnit) {
        let high = if extent.high > 0.0 { extent.high } else { 1.0 };
        let unit = RateUnit::for_largest(high);
        let named = if words.is_empty() { unit.name.to_owned() } else { format!("{words}, {}", unit.name) };
        // A bound at zero has no logarithm.
        if extent.low > 0.0 && high / extent.low_peak >= LOG_FROM {
            let label = |bps: f64| {
                let value = bps / unit.bps;
                plain(value, if value < 0.999 { (-value.log10()).ceil() as usize } else { 0 })
            };
            return (Self::decades(extent.low, high, &format!("{named}, log scale"), label), unit);
        }
        let step = nice_step(high / TICKS);
        // From zero: a rate is compared by height, and a cut axis turns two percent into half.
        let steps = (high * 1.02 / step).ceil();
        let decimals = (-(step / unit.bps).log10().floor()).max(0.0) as usize;
        let tick = |n: u32| (f64::from(n) * step, plain(f64::from(n) * step / unit.bps, decimals));
        let ticks = (0..=steps as u32).map(tick).collect();
        (Self::new(Spread::Linear, (0.0, steps * step), ticks, &named), unit)
    }
}

/// A time in nanoseconds as the label of a tick.
pub(super) fn duration(ns: f64) -> String {
    feed::format_duration_ns(ns.round() as u64)
}

fn plain(value: f64, decimals: usize) -> String {
    let decimals = decimals.min(6);
    if value >= 1e5 { format!("{value:.0e}") } else { format!("{value:.decimals$}") }
}

/// The next of 1, 2, 5 and 10 times a power of ten.
fn nice_step(rough: f64) -> f64 {
    let decade = 10_f64.powf(rough.log10().floor());
    let multiples = [1.0, 2.0, 5.0, 10.0];
    let mut steps = multiples.into_iter().map(|multiple| multiple * decade);
    steps.find(|step| *step >= rough).unwrap_or(10.0 * decade)
}

/// The place of a quantile: 0 for 0, 1 for 90 %, 2 for 99 %.
fn nines_of(q: f64) -> f64 {
    // Twelve nines are more than any histogram has samples for, and the whole would be at infinity.
    -(1.0 - q).max(1e-12).log10()
}

/// A share of the whole that is never rounded up: `99.97 %`, `99.9998 %`.
pub(super) fn quantile_words(q: f64) -> String {
    let decimals = nines_of(q).floor().clamp(0.0, 9.0) as usize;
    let scale = 10_f64.powi(decimals as i32);
    // 99.9998 % is not 100 %, which no quantile is.
    let cut = (q * 100.0 * scale + 1e-6).floor() / scale;
    let words = format!("{cut:.decimals$}");
    let words = if words.contains('.') { words.trim_end_matches('0').trim_end_matches('.') } else { &words };
    format!("{words} %")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rates(low: f64, low_peak: f64, high: f64) -> Scale {
        Scale::rates(Extent { low, high, low_peak }, "").0
    }

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    fn assert_shares(scale: &Scale, expected: &[(f64, f64)]) {
        for (value, share) in expected {
            assert!((scale.share(*value) - share).abs() < 1e-9, "{value} in {scale:?}");
        }
    }

    #[test]
    fn linear_rates_start_at_zero_and_end_above_the_highest_value() {
        let scale = rates(0.3e9, 1e9, 6.4e9);
        assert_eq!(labels(&scale), ["0", "2", "4", "6", "8"]);
        assert_eq!(scale.words, "GB/s");
        assert_shares(&scale, &[(0.0, 0.0), (4e9, 0.5), (8e9, 1.0)]);
    }

    #[test]
    fn labels_carry_the_decimals_of_the_step() {
        assert_eq!(labels(&rates(0.1e9, 0.5e9, 1.1e9))[..3], ["0.0", "0.2", "0.4"]);
        assert_eq!(labels(&rates(1.0, 2.0, 3.0)).last().unwrap(), &"3.5");
    }

    #[test]
    fn curves_far_apart_get_a_logarithmic_scale() {
        let scale = rates(2e6, 40e6, 6e9);
        assert_eq!(labels(&scale), ["0.001", "0.01", "0.1", "1", "10"]);
        assert!(scale.share(2e6) > 0.0 && scale.share(6e9) < 1.0);
        assert!(!rates(0.0, 1e6, 6e9).words.contains("log"), "a bound at zero has no logarithm");
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "lies outside of")]
    fn a_value_outside_is_a_mistake_and_not_clamped() {
        rates(0.0, 1e9, 1e9).share(9e9);
    }

    #[test]
    fn what_has_no_end_ends_with_the_scale() {
        let scale = Scale::times(Extent { low: 1e3, high: 1e6, low_peak: 1e3 }, "");
        assert_shares(&scale, &[(0.0, 0.0), (f64::NEG_INFINITY, 0.0), (f64::INFINITY, 1.0)]);
    }

    #[test]
    fn depths_leave_each_other_room_and_the_deepest_is_told() {
        let scale = Scale::counts((0..13).map(|n| 1 << n), "");
        assert_eq!(scale.ticks_within(1_000.0).len(), 13);
        let few = scale.ticks_within(240.0);
        assert!(few.len() < 10 && few[0].1 == "4096", "{few:?}");
        assert!((Scale::counts([32], "").share(32.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn percentiles_are_spread_toward_the_whole() {
        let scale = Scale::quantiles(0.9995, "");
        assert_eq!(labels(&scale), ["0 %", "50 %", "90 %", "99 %", "99.9 %"]);
        assert!((scale.share(0.99) - 2.0 * scale.share(0.9)).abs() < 1e-9);
        assert_eq!(labels(&Scale::quantiles(0.3, "")), ["0 %"]);
    }

    #[test]
    fn a_last_percentile_is_cut_and_not_rounded() {
        let words = [0.5, 0.99, 0.999_79, 0.999_999, 0.0].map(quantile_words);
        assert_eq!(words, ["50 %", "99 %", "99.979 %", "99.9999 %", "0 %"]);
    }

    #[test]
    fn times_are_told_in_their_units() {
        let scale = Scale::times(Extent { low: 80_000.0, high: 3e6, low_peak: 80_000.0 }, "");
        assert_eq!(labels(&scale), ["50 us", "100 us", "200 us", "500 us", "1 ms", "2 ms", "5 ms"]);
        let few = scale.ticks_within(150.0);
        assert!(few.len() < 6 && few[0].1 == "50 us", "{few:?}");
    }

    #[test]
    fn rows_are_named_from_the_top_down() {
        let scale = Scale::rows(["a", "b"].map(str::to_owned).into(), "");
        assert_shares(&scale, &[(0.0, 0.75), (-1.0, 0.25)]);
        assert!(!scale.has_grid());
    }

    proptest! {
        #[test]
        fn decades_hold_both_ends(low in 1e-9..1e12_f64, factor in 1.0..1e9_f64) {
            let high = low * factor;
            let scale = Scale::decades(low, high, "", |value| format!("{value}"));
            prop_assert!(scale.share(low) > 0.0 && scale.share(high) < 1.0, "{scale:?}");
            prop_assert!(scale.ticks.len() >= 2 && scale.ticks.len() < 20, "{}", scale.ticks.len());
            prop_assert!((scale.at(scale.share(low)) / low - 1.0).abs() < 1e-6);
        }
    }
}
