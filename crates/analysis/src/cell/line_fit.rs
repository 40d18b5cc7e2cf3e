//! The least-squares line through points.

/// A line through the middle of its points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LineFit {
    /// Mean abscissa.
    pub(crate) x: f64,
    /// Mean ordinate.
    pub(crate) y: f64,
    /// Change of the ordinate by that of the abscissa; 0 where all points have one abscissa.
    pub(crate) slope: f64,
    /// Sum of the squared distances from the mean abscissa.
    pub(crate) spread: f64,
}

impl LineFit {
    /// `None` without points.
    pub(crate) fn of(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Self> {
        let (count, x_sum, y_sum) =
            // The means first, then sums about them: abscissas are seconds of a run and ordinates 10^9 bytes, and products of
            // raw sums cancel.
            points.clone().fold((0.0, 0.0, 0.0), |(n, x_sum, y_sum), (x, y)| (n + 1.0, x_sum + x, y_sum + y));
        if count <= 0.0 {
            return None;
        }
        let (x, y) = (x_sum / count, y_sum / count);
        let (with, spread) = points.fold((0.0, 0.0), |(with, spread), point| {
            let from_middle = point.0 - x;
            (with + from_middle * (point.1 - y), spread + from_middle * from_middle)
        });
        let slope = if spread > 0.0 { with / spread } else { 0.0 };
        Some(Self { x, y, slope, spread })
    }

    /// The ordinate at an abscissa.
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.y + self.slope * (x - self.x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_give_the_line() {
        let fit = LineFit::of([(0.0, 1.0), (1.0, 3.0), (4.0, 9.0)].into_iter()).unwrap();
        assert!((fit.slope - 2.0).abs() < 1e-12 && (fit.at(10.0) - 21.0).abs() < 1e-12);
        assert_eq!(LineFit::of(std::iter::empty()), None);
    }

    #[test]
    fn one_abscissa_has_a_mean_and_no_slope() {
        let fit = LineFit::of([(2.0, 1.0), (2.0, 3.0)].into_iter()).unwrap();
        assert_eq!((fit.slope, fit.spread, fit.at(7.0)), (0.0, 0.0, 2.0));
    }
}
