//! What goes wrong: faults, drawn from a seed by a counter, so that the same requests in the same
//! order meet the same fate.

use dataset::Draws;
use plan::Faults;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Reset,
    ServerError,
    Stall,
    Truncated,
    SlowDown,
    Stale,
    Corrupted,
}

impl Fault {
    /// In the order in which they are drawn.
    pub(crate) const ALL: [Self; 7] = [
        Self::Reset,
        Self::ServerError,
        Self::Stall,
        Self::Truncated,
        Self::SlowDown,
        Self::Stale,
        Self::Corrupted,
    ];

    /// The word used in scenarios and records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::ServerError => "server_error",
            Self::Stall => "stall",
            Self::Truncated => "truncated",
            Self::SlowDown => "slow_down",
            Self::Stale => "stale",
            Self::Corrupted => "corrupted",
        }
    }

    /// How often it is asked for.
    pub(crate) fn share(self, of: &Faults) -> f64 {
        match self {
            Self::Reset => of.reset,
            Self::ServerError => of.server_error,
            Self::Stall => of.stall,
            Self::Truncated => of.truncated,
            Self::SlowDown => of.slow_down,
            Self::Stale => of.stale,
            Self::Corrupted => of.corrupted,
        }
    }
}

/// Makes bytes others, the same ones however often they are asked for.
pub(crate) fn corrupt(data: &mut [u8]) {
    for byte in data {
        // No byte inverted is itself, so every byte is wrong.
        *byte = !*byte;
    }
}

/// The fault that befalls the next request.
pub(crate) fn fault(draws: &Draws, faults: &Faults) -> Option<Fault> {
    // One draw for all kinds: their shares add up, and another kind in the scenario moves no draw.
    let mut left = draws.chance();
    Fault::ALL.into_iter().find(|fault| {
        let share = fault.share(faults);
        let befalls = left < share;
        left -= share;
        befalls
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 100_000;

    /// 5 standard deviations of a binomial count around each share.
    #[test]
    fn faults_come_as_often_as_asked_and_the_same_for_a_seed() {
        let faults = Faults { reset: 0.01, stall: 0.002, slow_down: 0.05, ..Faults::default() };
        let count = |seed| {
            let draws = Draws::new(seed, 0);
            let drawn: Vec<_> = (0..DRAWS).filter_map(|_| fault(&draws, &faults)).collect();
            Fault::ALL.map(|kind| drawn.iter().filter(|fault| **fault == kind).count())
        };
        assert_eq!(count(1), count(1));
        assert_ne!(count(1), count(2));
        for (kind, counted) in Fault::ALL.into_iter().zip(count(1)) {
            let share = kind.share(&faults);
            let (mean, spread) = (share * DRAWS as f64, (DRAWS as f64 * share * (1.0 - share)).sqrt());
            assert!((counted as f64 - mean).abs() <= 5.0 * spread, "{}: {counted} for {mean}", kind.name());
        }
    }

    #[test]
    fn a_share_of_one_befalls_every_request_and_none_befalls_by_default() {
        let draws = Draws::new(3, 0);
        let always = Faults { stale: 1.0, ..Faults::default() };
        assert!((0..1000).all(|_| fault(&draws, &always) == Some(Fault::Stale)));
        assert!((0..1000).all(|_| fault(&draws, &Faults::default()).is_none()));
    }
}
