//! A linear coordinate with ticks of its own choice.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// plotters' own coordinates choose ticks themselves and clamp what lies outside; this one does neither.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<f64>,
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Light points are the minor grid, and there is none.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_map_linearly_in_both_directions() {
        let scale = Scale { low: 0.0, high: 4.0, ticks: Vec::new() };
        assert_eq!([0.0, 1.0, 4.0].map(|value| scale.map(&value, (100, 500))), [100, 200, 500]);
        assert_eq!([0.0, 1.0, 4.0].map(|value| scale.map(&value, (500, 100))), [500, 400, 100]);
    }
}
