//! How a storage misbehaves, and when.

use std::ops::Range;

use backend::ErrorKind;
use backend::simulated::{Fault, Step};
use backend::{OpError, StoreError};
use feed::Words;

use crate::draw::Draw;

/// Longer than any run: an operation that takes it never ends.
const FOREVER_NS: u64 = 1 << 50;

/// Time within which troubles begin: about that of a run that meets none.
const RUN_NS: f64 = 2.5e9;

/// A storage on the virtual clock, and its troubles.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Seed of what is drawn for single operations.
    pub seed: u64,
    /// Operations that it serves at a time.
    pub channels: u32,
    /// Least time in service of one.
    pub latency_ns: u64,
    /// What is added to it at most.
    pub jitter_ns: u64,
    /// What goes wrong.
    pub troubles: Vec<Trouble>,
}

/// A span of the run's clock in which something is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Trouble {
    /// When.
    pub during_ns: Range<u64>,
    /// What.
    pub what: What,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum What {
    /// The server is away: all operations end with this error, and no queue opens.
    Away(ErrorKind),
    /// Operations take so many times as long.
    Slow(u64),
    /// The first operation never ends.
    Stall,
    /// One of so many operations ends with this error.
    Fails(ErrorKind, u64),
    /// One of so many operations ends well with other bytes than lie there.
    Lies(u64),
    /// One of so many operations ends well, and half of its bytes never came.
    Short(u64),
    /// Queues break.
    Breaks,
    /// No queue opens.
    OpensNot,
    /// The page cache cannot be acted on.
    KeepsCache,
}

impl Script {
    /// One that serves well.
    pub(crate) fn calm(seed: u64, draw: &mut Draw) -> Self {
        let latency_ns = draw.pick(&[1_000_000, 2_500_000, 4_000_000]);
        Self { seed, channels: draw.pick(&[2, 4, 8]), latency_ns, jitter_ns: 0, troubles: Vec::new() }
    }

    /// One that has so many troubles.
    pub(crate) fn troubled(seed: u64, troubles: usize, draw: &mut Draw) -> Self {
        let jitter_ns = draw.pick(&[0, 200_000, 3_000_000]);
        let troubles = (0..troubles).map(|_| drawn(draw)).collect();
        Self { jitter_ns, troubles, ..Self::calm(seed, draw) }
    }

    /// What is wrong at `now_ns`, each with its place in the script.
    fn now(&self, now_ns: u64) -> impl Iterator<Item = (usize, What)> + '_ {
        let troubles = self.troubles.iter().enumerate();
        troubles.filter(move |(_, one)| one.during_ns.contains(&now_ns)).map(|(at, one)| (at, one.what))
    }

    /// What happens to operation `number`, begun at `now_ns`. `stalled` holds the stalls that were met before.
    pub(crate) fn step(&self, number: u64, now_ns: u64, stalled: &mut Vec<usize>) -> Step {
        let mut draw = Draw::new(self.seed ^ number.rotate_left(17));
        let mut step = Step::ok(self.latency_ns + (self.jitter_ns as f64 * draw.unit()) as u64);
        for (at, what) in self.now(now_ns) {
            let is_hit = |one_in: u64, draw: &mut Draw| draw.unit() * (one_in as f64) < 1.0;
            let error = |kind| Some(Fault::Error(OpError { kind, code: 0 }));
            match what {
                What::Away(kind) => step.fault = error(kind),
                What::Slow(times) => step.latency_ns *= times,
                What::Stall if !stalled.contains(&at) => {
                    stalled.push(at);
                    step.latency_ns = FOREVER_NS;
                }
                What::Fails(kind, one_in) if is_hit(one_in, &mut draw) => step.fault = error(kind),
                What::Lies(one_in) if is_hit(one_in, &mut draw) => step.fault = Some(Fault::Corrupt),
                What::Short(one_in) if is_hit(one_in, &mut draw) => step.fault = Some(Fault::Short),
                What::Breaks => step.fault = Some(Fault::Break),
                _ => {}
            }
        }
        step
    }

    /// Why no queue opens at `now_ns`, where none does.
    pub(crate) fn refuses_queue(&self, now_ns: u64) -> Option<StoreError> {
        self.now(now_ns).find_map(|(_, what)| match what {
            What::Away(ErrorKind::Connect) => Some(StoreError::NoConnection {
                what: "the server".to_owned(),
                reason: "refused by the script".to_owned(),
                hint: "wait".to_owned(),
            }),
            What::Away(kind) => Some(refused("connect to", kind)),
            What::OpensNot => Some(refused("open", ErrorKind::TooManyOpen)),
            _ => None,
        })
    }

    /// Why the page cache cannot be acted on at `now_ns`, where it cannot.
    pub(crate) fn refuses_cache(&self, now_ns: u64) -> Option<StoreError> {
        let refuses = self.now(now_ns).any(|(_, what)| what == What::KeepsCache);
        refuses.then(|| refused("empty the page cache of", ErrorKind::Permission))
    }
}

fn refused(action: &'static str, kind: ErrorKind) -> StoreError {
    let source = std::io::Error::from(match kind {
        ErrorKind::Timeout => std::io::ErrorKind::TimedOut,
        ErrorKind::Reset => std::io::ErrorKind::ConnectionReset,
        ErrorKind::Permission => std::io::ErrorKind::PermissionDenied,
        _ => std::io::ErrorKind::Other,
    });
    StoreError::Object { action, object: "storage".to_owned(), source }
}

fn drawn(draw: &mut Draw) -> Trouble {
    let begins_ns = (draw.unit() * RUN_NS) as u64 * u64::from(draw.unit() < 0.9);
    let lasts_ns = if draw.unit() < 0.15 { FOREVER_NS } else { draw.log_between(5e6, 3e9) as u64 };
    let one_in = draw.pick(&[1, 3, 40, 1_000]);
    let away = [ErrorKind::Connect, ErrorKind::Connect, ErrorKind::Reset, ErrorKind::Timeout];
    // What only a verification finds is no way in which a single operation fails.
    let kinds: Vec<ErrorKind> =
        ErrorKind::ALL.iter().copied().filter(|kind| *kind != ErrorKind::Corrupt).collect();
    let what = match draw.pick(&[0, 0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 8]) {
        0 => What::Away(draw.pick(&away)),
        1 => What::Slow(draw.pick(&[2, 10, 1_000])),
        2 => What::Stall,
        3 => What::Fails(draw.pick(&kinds), one_in),
        4 => What::Lies(one_in),
        5 => What::Short(one_in),
        6 => What::Breaks,
        7 => What::OpensNot,
        _ => What::KeepsCache,
    };
    Trouble { during_ns: begins_ns..begins_ns + lasts_ns, what }
}
