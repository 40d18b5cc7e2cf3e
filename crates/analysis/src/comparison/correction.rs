//! The correction for many cells.
//!
//! Of 288 cells in which nothing changed, seven would seem to by a 95 % interval each. The step-up procedure of Benjamini
//! and Hochberg ("Controlling the False Discovery Rate", J. R. Statist. Soc. B 57, 1995) keeps the expected share of false
//! alarms among all alarms below q; with the direction told too (Benjamini and Yekutieli, "False Discovery Rate-Adjusted
//! Multiple Confidence Intervals for Selected Parameters", JASA 100, 2005), and where cells vary together.

/// Expected share of false alarms among all.
pub(super) const Q: f64 = 0.05;

/// Which of these p-values stand: with all m of them in ascending order, those up to the last k-th that is at most
/// k * [`Q`] / m.
pub(super) fn step_up(p_values: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let all = p_values.len() as f64;
    let stands = |(rank, index): &(usize, &usize)| p_values[**index] <= (rank + 1) as f64 * Q / all;
    let last = order.iter().enumerate().rfind(stands).map(|(rank, _)| rank);
    let mut found = vec![false; p_values.len()];
    for index in &order[..last.map_or(0, |last| last + 1)] {
        found[*index] = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The fifteen p-values of section 3 of the paper of 1995.
    const PAPER: [f64; 15] = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
        0.6528, 0.7590, 1.0000,
    ];

    #[test]
    fn the_example_of_the_paper_keeps_its_first_four() {
        let mut expected = vec![true; 4];
        expected.extend([false; 11]);
        assert_eq!(step_up(&PAPER), expected);
        let backwards: Vec<f64> = PAPER.into_iter().rev().collect();
        expected.reverse();
        assert_eq!(step_up(&backwards), expected);
    }

    #[test]
    fn a_later_one_carries_an_earlier_one_that_would_not_stand_by_itself() {
        // 0.03 is above its own 0.025 and below the 0.05 of the last.
        assert_eq!(step_up(&[0.03, 0.04]), [true, true]);
        assert_eq!(step_up(&[0.03, 0.06]), [false, false]);
        assert_eq!(step_up(&[]), [false; 0]);
    }

    proptest! {
        #[test]
        fn none_stands_that_would_not_without_the_correction(p_values in prop::collection::vec(0.0..=1.0_f64, 0..50)) {
            for (p, stands) in p_values.iter().zip(step_up(&p_values)) {
                prop_assert!(!stands || *p <= Q);
            }
        }
    }
}
