//! Axes that several plots have: shares toward the whole, times and rates by decades, seconds.

use super::axis::{Extent, RateAxis, nice_step};
use super::chart::Axis;

/// The place of a quantile: 0 for 0, 1 for 90 %, 2 for 99 %.
pub(super) fn nines_of(q: f64) -> f64 {
    -(1.0 - q).max(1e-12).log10()
}

/// Quantiles spread toward the whole, up to the place `last`.
pub(super) fn nines(last: f64, words: &str) -> Axis {
    let of = |nines: usize| {
        let words = match nines {
            1 => "90 %".to_owned(),
            2 => "99 %".to_owned(),
            _ => format!("99.{} %", "9".repeat(nines - 2)),
        };
        (nines as f64, words)
    };
    let first = [(0.0, "0 %".to_owned()), (nines_of(0.5), "50 %".to_owned())];
    let ticks = first.into_iter().filter(|tick| tick.0 <= last).chain((1..=last.floor() as usize).map(of));
    Axis { low: 0.0, high: last, ticks: ticks.collect(), words: words.to_owned() }
}

/// A share of the whole that is never rounded up: `99.97 %`, `99.9998 %`.
pub(super) fn quantile_words(q: f64) -> String {
    let decimals = nines_of(q).floor().clamp(0.0, 9.0) as usize;
    let scale = 10_f64.powi(decimals as i32);
    let cut = (q * 100.0 * scale + 1e-6).floor() / scale;
    let words = format!("{cut:.decimals$}");
    let words = if words.contains('.') { words.trim_end_matches('0').trim_end_matches('.') } else { &words };
    format!("{words} %")
}

/// Multiples of a decade that have a tick, by the decades that an axis spans.
fn multiples(decades: f64) -> &'static [f64] {
    if decades > 3.2 { &[1.0] } else { &[1.0, 2.0, 5.0] }
}

/// An axis of decimal logarithms that holds both values, which are above 0, and ends at ticks.
pub(super) fn decades(low: f64, high: f64, words: &str, label: impl Fn(f64) -> String) -> Axis {
    debug_assert!(low > 0.0 && high >= low && high.is_finite(), "{low} to {high} has no logarithms");
    let (first, last) = ((low / 1.05).log10().floor() as i32, (high * 1.05).log10().ceil() as i32);
    let every = if last - first > 9 { 2 } else { 1 };
    let of_decade = |decade: i32| {
        let multiples = multiples((high / low).log10());
        multiples.iter().map(move |multiple| multiple * 10_f64.powi(decade))
    };
    let all: Vec<f64> = (first..=last + every).step_by(every as usize).flat_map(of_decade).collect();
    let below = all.iter().rposition(|tick| *tick <= low / 1.02).unwrap_or(0);
    let above = all.iter().position(|tick| *tick >= high * 1.02).unwrap_or(all.len() - 1);
    let ticks: Vec<(f64, String)> =
        all[below..=above].iter().map(|tick| (tick.log10(), label(*tick))).collect();
    Axis { low: ticks[0].0, high: ticks[ticks.len() - 1].0, ticks, words: words.to_owned() }
}

/// An axis of times in nanoseconds, by decades.
pub(super) fn times(low_ns: f64, high_ns: f64, words: &str) -> Axis {
    decades(low_ns.max(1.0), high_ns.max(low_ns).max(1.0), words, |ns| {
        feed::format_duration_ns(ns.round() as u64)
    })
}

/// An axis of rates: linear from zero, or by decades where a linear one would press the lowest flat.
pub(super) fn rates(extent: Extent, words: &str) -> (Axis, RateAxis) {
    let rates = RateAxis::of(extent);
    let ticks = rates.tick_places().into_iter().map(|place| (place, rates.tick_label(place))).collect();
    let scale = if rates.is_log { ", log scale" } else { "" };
    let words = format!("{words}, {}{scale}", rates.unit.name);
    (Axis { low: rates.low, high: rates.high, ticks, words }, rates)
}

/// A linear axis from zero to just `high`, with ticks at nice steps.
pub(super) fn linear(high: f64, aim: f64, words: &str) -> Axis {
    let high = if high > 0.0 { high } else { 1.0 };
    let step = nice_step(high / aim);
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    let ticks = (0..=(high / step + 1e-9).floor() as u32).map(|n| {
        let value = f64::from(n) * step;
        (value, format!("{value:.decimals$}"))
    });
    Axis { low: 0.0, high, ticks: ticks.collect(), words: words.to_owned() }
}

/// Without the ticks whose labels would touch, of `letters` pixels each, on an axis that is `length_px` long. The first
/// is kept.
pub(super) fn thinned(mut axis: Axis, length_px: f64) -> Axis {
    let px = |place: f64| (place - axis.low) / (axis.high - axis.low) * length_px;
    let half = |words: &str| words.chars().count() as f64 * 3.5 + 5.0;
    let mut end = f64::NEG_INFINITY;
    let mut kept = Vec::new();
    for (place, words) in &axis.ticks {
        if px(*place) - half(words) >= end {
            end = px(*place) + half(words);
            kept.push((*place, words.clone()));
        }
    }
    axis.ticks = kept;
    axis
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn percentiles_are_spread_toward_the_whole() {
        let places = [0.0, 0.9, 0.99].map(nines_of);
        assert!(places.iter().zip([0.0, 1.0, 2.0]).all(|(place, expected)| (place - expected).abs() < 1e-9));
        assert_eq!(labels(&nines(3.3, "")), ["0 %", "50 %", "90 %", "99 %", "99.9 %"]);
        assert_eq!(labels(&nines(0.2, "")), ["0 %"]);
    }

    #[test]
    fn a_last_percentile_is_cut_and_not_rounded() {
        let words = [0.5, 0.99, 0.999_79, 0.999_999, 0.0].map(quantile_words);
        assert_eq!(words, ["50 %", "99 %", "99.979 %", "99.9999 %", "0 %"]);
    }

    #[test]
    fn times_are_told_in_their_units() {
        let axis = times(80_000.0, 3e6, "");
        assert_eq!(labels(&axis), ["50 us", "100 us", "200 us", "500 us", "1 ms", "2 ms", "5 ms"]);
    }

    #[test]
    fn ticks_that_would_touch_are_left_out() {
        let axis = thinned(times(1e3, 1e10, ""), 200.0);
        assert!(axis.ticks.len() < 8 && axis.ticks.len() > 1, "{axis:?}");
    }

    proptest! {
        #[test]
        fn an_axis_of_decades_holds_both_ends(low in 1e-9..1e12_f64, factor in 1.0..1e9_f64) {
            let high = low * factor;
            let axis = decades(low, high, "", |value| format!("{value}"));
            prop_assert!(axis.low < low.log10() && axis.high > high.log10(), "{axis:?}");
            prop_assert!(axis.ticks.len() >= 2 && axis.ticks.len() < 20, "{}", axis.ticks.len());
        }
    }
}
