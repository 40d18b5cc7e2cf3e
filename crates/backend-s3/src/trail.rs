//! Whether a listing gets anywhere: a service that says the same tokens again and again would be listed for ever.

use crate::names::fnv;

/// The tokens of one listing, of which one is kept: whenever as many came again as before it, another one (Brent's
/// way to find a cycle, <https://doi.org/10.1007/BF01933190>). No memory grows, and any cycle is found.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    kept: u64,
    count: u64,
}

impl Trail {
    /// Takes the next token; false where it came before.
    pub(crate) fn goes_on(&mut self, token: &str) -> bool {
        let hash = fnv(token.as_bytes());
        if self.count > 0 && hash == self.kept {
            return false;
        }
        self.count += 1;
        if self.count.is_power_of_two() {
            self.kept = hash;
        }
        true
    }
}

/// Keys after which the listing of a folder is given up, `objects` being in the dataset: what others put beside them
/// is no reason, a service that makes up keys is.
pub(crate) fn keys_max(objects: u32) -> u64 {
    2 * u64::from(objects) + 100_000
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens until one is found to have come before; at most `count`.
    fn found_after(count: u64, token: impl Fn(u64) -> u64) -> Option<u64> {
        let mut trail = Trail::default();
        (0..count).find(|number| !trail.goes_on(&token(*number).to_string()))
    }

    #[test]
    fn every_cycle_of_tokens_is_found_and_nothing_else() {
        assert_eq!(found_after(10_000, |number| number), None);
        for (before, cycle) in [(0, 1), (0, 2), (0, 7), (5, 1), (3, 64), (100, 3)] {
            let token =
                |number: u64| if number < before { number } else { before + (number - before) % cycle };
            let found = found_after(10_000, token);
            assert!(
                found.is_some_and(|found| found <= 3 * (before + cycle) + 2),
                "{before} {cycle}: {found:?}"
            );
        }
    }
}
