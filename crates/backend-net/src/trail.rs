//! Whether a listing makes progress: a server that gives the same places again and again would be listed for ever.

/// The places at which the pages of one listing began, as numbers (a cookie, the hash of a token), of which one is
/// kept: the latest whose number is a power of two. No memory grows, and a circle of any length is found within about
/// three times the pages that it and the way to it have (R. P. Brent, "An improved Monte Carlo factorization
/// algorithm", BIT 20, 1980, section 2, <https://doi.org/10.1007/BF01933190>).
#[derive(Debug, Clone, Copy, Default)]
pub struct Trail {
    kept: Option<u64>,
    count: u64,
}

impl Trail {
    /// Takes the next place; false where it came before.
    pub fn goes_on(&mut self, place: u64) -> bool {
        if self.kept == Some(place) {
            return false;
        }
        self.count += 1;
        // The gaps between kept places double. Once one lies on the circle and the gap is as long as the circle, it
        // is met again before the next is kept.
        if self.count.is_power_of_two() {
            self.kept = Some(place);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Places until one is found to have come before; at most `count`.
    fn found_after(count: u64, place: impl Fn(u64) -> u64) -> Option<u64> {
        let mut trail = Trail::default();
        (0..count).find(|number| !trail.goes_on(place(*number)))
    }

    #[test]
    fn a_long_way_without_a_circle_is_none() {
        assert_eq!(found_after(100_000, |number| number), None);
        assert_eq!(found_after(100_000, |number| u64::MAX - number), None);
    }

    #[test]
    fn the_same_place_twice_in_a_row_is_found_at_once() {
        assert_eq!(found_after(10, |_| 0), Some(1));
    }

    proptest! {
        #[test]
        fn every_circle_is_found_and_nothing_before_it(way in 0_u64..2_000, circle in 1_u64..2_000) {
            let place = |number: u64| if number < way { number } else { way + (number - way) % circle };
            let found = found_after(100_000, place);
            prop_assert!(
                found.is_some_and(|found| found >= way + circle && found <= 3 * (way + circle) + 2),
                "{found:?}"
            );
        }
    }
}
