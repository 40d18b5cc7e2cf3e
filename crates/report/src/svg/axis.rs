//! Axes computed from what is drawn. Nothing is ever clamped to them.

use crate::number::RateUnit;

/// Ratio of the highest to the lowest peak from which a linear axis would press the lowest curve flat.
const LOG_FROM: f64 = 25.0;
/// Ticks that a rate axis aims at.
const TICKS: f64 = 6.0;

/// What an axis must hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    /// Highest value drawn.
    pub(super) high: f64,
    /// Lowest value drawn.
    pub(super) low: f64,
    /// Lowest of the peaks of curves and of the line: what must still be seen.
    pub(super) low_peak: f64,
}

impl Extent {
    /// The extent that holds both.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            high: self.high.max(other.high),
            low: self.low.min(other.low),
            low_peak: self.low_peak.min(other.low_peak),
        }
    }
}

/// A vertical axis of rates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RateAxis {
    pub(super) unit: RateUnit,
    pub(super) is_log: bool,
    /// Ends, as drawn: bytes per second, or their decimal logarithm.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Bytes per second.
    pub(super) ticks: Vec<f64>,
}

impl RateAxis {
    /// An axis that holds `extent` with room above.
    pub(super) fn of(extent: Extent) -> Self {
        let high = if extent.high > 0.0 { extent.high } else { 1.0 };
        let unit = RateUnit::for_largest(high);
        // A bound at zero has no logarithm.
        if extent.low > 0.0 && high / extent.low_peak >= LOG_FROM {
            return Self::log(extent.low, high, unit);
        }
        let step = nice_step(high / TICKS);
        let steps = (high * 1.02 / step).ceil();
        let ticks = (0..=steps as u32).map(|n| f64::from(n) * step).collect();
        Self { unit, is_log: false, low: 0.0, high: steps * step, ticks }
    }

    fn log(low: f64, high: f64, unit: RateUnit) -> Self {
        let (first, last) = ((low / 1.1).log10().floor() as i32, (high * 1.1).log10().ceil() as i32);
        let multiples: &[f64] = if last - first > 3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all: Vec<f64> = (first..=last)
            .flat_map(|decade| multiples.iter().map(move |multiple| multiple * 10_f64.powi(decade)))
            .collect();
        let below = all.iter().rposition(|tick| *tick <= low / 1.05).unwrap_or(0);
        let above = all.iter().position(|tick| *tick >= high * 1.05).unwrap_or(all.len() - 1);
        let ticks = all[below..=above].to_vec();
        let ends = (ticks[0].log10(), ticks[ticks.len() - 1].log10());
        Self { unit, is_log: true, low: ends.0, high: ends.1, ticks }
    }

    /// Where a rate is drawn.
    pub(super) fn place(&self, bps: f64) -> f64 {
        let at = if self.is_log { bps.log10() } else { bps };
        let slack = (self.high - self.low) * 1e-9;
        debug_assert!(
            at >= self.low - slack && at <= self.high + slack,
            "{bps} B/s lies outside the axis {} to {}",
            self.low,
            self.high
        );
        at
    }

    /// Ticks, as drawn.
    pub(super) fn tick_places(&self) -> Vec<f64> {
        self.ticks.iter().map(|tick| if self.is_log { tick.log10() } else { *tick }).collect()
    }

    /// The label of a tick at a drawn place.
    pub(super) fn tick_label(&self, place: f64) -> String {
        let bps = if self.is_log { 10_f64.powf(place) } else { place };
        let value = bps / self.unit.bps;
        if self.is_log {
            return plain(value, if value < 0.999 { (-value.log10()).ceil() as usize } else { 0 });
        }
        let step = self.ticks.get(1).map_or(1.0, |tick| tick / self.unit.bps);
        plain(value, (-step.log10().floor()).max(0.0) as usize)
    }
}

fn plain(value: f64, decimals: usize) -> String {
    let decimals = decimals.min(6);
    if value >= 1e5 { format!("{value:.0e}") } else { format!("{value:.decimals$}") }
}

/// The next of 1, 2, 2.5 and 5 times a power of ten; 2.5 only where it needs no further decimal than 5.
pub(super) fn nice_step(rough: f64) -> f64 {
    let decade = 10_f64.powf(rough.log10().floor());
    let multiples = [1.0, 2.0, 5.0, 10.0];
    multiples
        .into_iter()
        .map(|multiple| multiple * decade)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * decade)
}

/// Points of a curve that is computed.
const MODEL_STEPS: u32 = 64;

/// A horizontal axis of queue depths, drawn by their binary logarithm.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DepthAxis {
    pub(super) low: f64,
    pub(super) high: f64,
    depths: Vec<u32>,
}

impl DepthAxis {
    /// An axis that holds `depths`, which are sorted and not empty, with a little room at both ends.
    pub(super) fn of(depths: Vec<u32>) -> Self {
        let place = |depth: Option<&u32>| f64::from(depth.copied().unwrap_or(1).max(1)).log2();
        let (first, last) = (place(depths.first()), place(depths.last()));
        let room = ((last - first) * 0.04).max(if depths.len() == 1 { 1.0 } else { 0.12 });
        Self { low: first - room, high: last + room, depths }
    }

    /// Where a depth is drawn.
    pub(super) fn place(&self, depth: u32) -> f64 {
        let at = f64::from(depth.max(1)).log2();
        debug_assert!(at >= self.low && at <= self.high, "depth {depth} lies outside the axis");
        at
    }

    /// Places evenly spread over the depths up to `deepest`.
    pub(super) fn steps_to(deepest: u32) -> impl Iterator<Item = f64> {
        let last = f64::from(deepest.max(1)).log2();
        (0..=MODEL_STEPS).map(move |step| last * f64::from(step) / f64::from(MODEL_STEPS))
    }

    /// Places of the ticks that leave each label its room, given the axis' length; the deepest has one.
    pub(super) fn tick_places(&self, length_px: f64) -> Vec<f64> {
        let px = |place: f64| (place - self.low) / (self.high - self.low) * length_px;
        let mut kept: Vec<f64> = Vec::new();
        for depth in self.depths.iter().rev() {
            let place = self.place(*depth);
            let label_px = 12.0 + 7.0 * depth.to_string().len() as f64;
            if kept.last().is_none_or(|last| px(*last) - px(place) >= label_px) {
                kept.push(place);
            }
        }
        kept.reverse();
        kept
    }

    /// The label of a tick at a drawn place.
    pub(super) fn tick_label(place: f64) -> String {
        format!("{:.0}", place.exp2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, low_peak: f64, high: f64) -> RateAxis {
        RateAxis::of(Extent { high, low, low_peak })
    }

    fn labels(axis: &RateAxis) -> Vec<String> {
        axis.tick_places().into_iter().map(|place| axis.tick_label(place)).collect()
    }

    #[test]
    fn a_linear_axis_starts_at_zero_and_ends_above_the_highest_value() {
        let axis = axis(0.3e9, 1e9, 6.4e9);
        assert!(!axis.is_log);
        assert_eq!(labels(&axis), ["0", "2", "4", "6", "8"]);
        assert_eq!(axis.unit.name, "GB/s");
    }

    #[test]
    fn labels_carry_the_decimals_of_the_step() {
        assert_eq!(labels(&axis(0.1e9, 0.5e9, 1.1e9))[..3], ["0.0", "0.2", "0.4"]);
        assert_eq!(labels(&axis(1.0, 2.0, 3.0)).last().unwrap(), "3.5");
    }

    #[test]
    fn curves_far_apart_get_a_logarithmic_axis() {
        let axis = axis(2e6, 40e6, 6e9);
        assert!(axis.is_log);
        assert!(axis.place(2e6) > axis.low && axis.place(6e9) < axis.high);
        assert_eq!(labels(&axis), ["0.001", "0.01", "0.1", "1", "10"]);
    }

    #[test]
    fn a_bound_at_zero_keeps_the_axis_linear() {
        assert!(!axis(0.0, 1e6, 6e9).is_log);
    }

    #[test]
    #[should_panic(expected = "outside the axis")]
    fn a_value_outside_is_a_mistake_and_not_clamped() {
        axis(0.0, 1e9, 1e9).place(9e9);
    }

    #[test]
    fn depth_labels_leave_each_other_room() {
        let axis = DepthAxis::of((0..13).map(|n| 1 << n).collect());
        let all = axis.tick_places(1_000.0);
        assert_eq!(all.len(), 13);
        let few: Vec<String> = axis.tick_places(240.0).into_iter().map(DepthAxis::tick_label).collect();
        assert!(few.len() < 10 && few.last().unwrap() == "4096", "{few:?}");
    }

    #[test]
    fn one_depth_stands_in_the_middle() {
        let axis = DepthAxis::of(vec![32]);
        assert!((axis.place(32) - f64::midpoint(axis.low, axis.high)).abs() < 1e-12);
    }
}
