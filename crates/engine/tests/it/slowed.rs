//! Repetitions on a storage that is slowed down as declared.

use std::sync::Arc;

use backend::Clock;
use backend::simulated::{Simulated, Step};
use backend::slowed::{Slowed, Slowness};
use feed::bounds::Burst;
use plan::{Emulation, Limit};
use record::Rep;

use crate::{MS, SEED, Sim, histogram};

/// Two repetitions of `window_ms` with `queue_depth` reads outstanding.
fn two(asked: &Emulation, queue_depth: u32, window_ms: u64) -> [Rep; 2] {
    let clock = Clock::simulated();
    let own = Simulated::new(&clock, queue_depth, SEED, |_| Step::ok(MS / 10));
    let slowed = Slowed::new(Arc::new(own), Arc::new(Slowness::new(asked)));
    let limit = Limit::Duration { duration_ns: window_ms * MS };
    let sim = Sim { limit, ..Sim::on(slowed, &clock, queue_depth) };
    [sim.run(), sim.run()]
}

#[test]
fn credits_that_a_repetition_spends_are_missing_in_the_next() {
    let asked = Emulation {
        requests_per_s: Some(250.0),
        request_burst: Some(Burst { per_s: 1_000.0, credits: 60.0 }),
        ..Emulation::default()
    };
    // 60 credits and the 24.5 that come back in 98 ms; then those alone.
    assert_eq!(two(&asked, 4, 98).map(|rep| rep.counters["ops"]), [84, 24]);
    let plain = Emulation { request_burst: None, ..asked };
    assert_eq!(two(&plain, 4, 98).map(|rep| rep.counters["ops"]), [24, 24]);
}

/// One a second: after the 30 s for which a repetition waits, more than half of them are given up.
#[test]
fn what_a_repetition_gave_up_does_not_reach_into_the_next() {
    let asked = Emulation { requests_per_s: Some(1.0), ..Emulation::default() };
    let [first, second] = two(&asked, 64, 98).map(|rep| {
        let latency = histogram(&rep, "service_ns");
        (latency.len(), latency.min(), latency.max())
    });
    assert_eq!(first.0, 30);
    assert_eq!(first, second);
}
