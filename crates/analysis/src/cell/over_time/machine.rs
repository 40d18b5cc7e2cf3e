//! What the machine did over a repetition, from one look at it to the next.

use record::{Device, Look, Memory, Network};

use super::step::LAST_SECOND_MIN;

/// What the machine did over a stretch of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineRate {
    /// From, seconds since the window opened.
    pub from_s: f64,
    /// To.
    pub to_s: f64,
    /// The block device below the target; absent where it is not known.
    pub device: Option<DeviceRate>,
    /// The interface towards it; absent where it is not behind a network.
    pub network: Option<NetworkRate>,
    /// Processors, whoever kept them busy; absent where the kernel does not say.
    pub cores: Option<CoresBusy>,
    /// Memory at its end.
    pub memory: Option<Memory>,
    /// Memory of the process that measured, at its end.
    pub resident_bytes: Option<u64>,
}

/// What a block device did, each second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DeviceRate {
    /// Reads.
    pub reads_per_s: f64,
    /// Bytes read.
    pub read_bps: f64,
    /// Writes.
    pub writes_per_s: f64,
    /// Bytes written.
    pub write_bps: f64,
}

/// What went through an interface, each second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NetworkRate {
    /// Bytes received.
    pub received_bps: f64,
    /// Bytes sent.
    pub sent_bps: f64,
}

/// Processors that were busy; 1 is one processor busy all the time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CoresBusy {
    /// All of them together.
    pub all: f64,
    /// The busiest.
    pub busiest: f64,
}

impl MachineRate {
    /// Of each `step` looks of a window of `window_s`. A stretch too short for a rate, and one beyond the window, are left out.
    pub(super) fn of(looks: &[Look], step: usize, window_s: f64) -> Vec<Self> {
        let stretch = |looks: &[Look]| {
            let span_s = sum(looks.iter().map(|look| look.span_ns)) / 1e9;
            let to_s = looks.last()?.at_ns as f64 / 1e9;
            let from_s = (to_s - span_s).max(0.0);
            // The last look comes a little behind the window, with what was done until then: its rate is by its own time.
            let is_shown = span_s >= LAST_SECOND_MIN && from_s < window_s;
            is_shown.then(|| Self { from_s, to_s: to_s.min(window_s), ..Self::over(looks, span_s) })
        };
        looks.chunks(step.max(1)).filter_map(stretch).collect()
    }

    /// What was done in `span_s`.
    fn over(looks: &[Look], span_s: f64) -> Self {
        let per_s = |count: f64| count / span_s;
        let devices: Vec<&Device> = looks.iter().filter_map(|look| look.system.device.as_ref()).collect();
        let of_devices = |of: fn(&Device) -> u64| per_s(sum(devices.iter().copied().map(of)));
        let networks: Vec<&Network> = looks.iter().filter_map(|look| look.system.network.as_ref()).collect();
        let of_networks = |of: fn(&Network) -> u64| per_s(sum(networks.iter().copied().map(of)));
        // A stretch in which a counter was missing once would seem slow.
        let is_whole = |seen: usize| seen == looks.len();
        Self {
            from_s: 0.0,
            to_s: span_s,
            device: is_whole(devices.len()).then(|| DeviceRate {
                reads_per_s: of_devices(|device| device.reads),
                read_bps: of_devices(|device| device.read_bytes),
                writes_per_s: of_devices(|device| device.writes),
                write_bps: of_devices(|device| device.write_bytes),
            }),
            network: is_whole(networks.len()).then(|| NetworkRate {
                received_bps: of_networks(|network| network.received_bytes),
                sent_bps: of_networks(|network| network.sent_bytes),
            }),
            cores: CoresBusy::of(looks, span_s),
            memory: looks.last().and_then(|look| look.system.memory_after),
            resident_bytes: looks.last().and_then(|look| look.resident_bytes),
        }
    }
}

impl CoresBusy {
    fn of(looks: &[Look], span_s: f64) -> Option<Self> {
        let count = looks.first()?.system.core_busy_ns.len();
        let is_same = looks.iter().all(|look| look.system.core_busy_ns.len() == count);
        if count == 0 || !is_same {
            return None;
        }
        let busy = |core: usize| sum(looks.iter().map(|look| look.system.core_busy_ns[core])) / 1e9 / span_s;
        let of_cores = || (0..count).map(busy);
        Some(Self { all: of_cores().sum(), busiest: of_cores().fold(0.0, f64::max) })
    }
}

/// As a float: a foreign record may hold any counts.
fn sum(counts: impl Iterator<Item = u64>) -> f64 {
    counts.map(|count| count as f64).sum()
}

#[cfg(test)]
mod tests {
    use record::System;

    use super::*;

    fn look((at_ns, span_ns): (u64, u64), read_bytes: Option<u64>, core_busy_ns: &[u64]) -> Look {
        let device = read_bytes.map(|read_bytes| Device { read_bytes, ..Device::default() });
        let system = System { device, core_busy_ns: core_busy_ns.to_vec(), ..System::default() };
        Look { at_ns, span_ns, resident_bytes: None, system }
    }

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_rate_is_by_the_time_between_two_looks() {
        let looks = [look((S, S), Some(300), &[S / 2, S]), look((3 * S, 2 * S), Some(300), &[0, 2 * S])];
        let found = MachineRate::of(&looks, 1, 3.0);
        let read = |rate: &MachineRate| rate.device.map(|device| device.read_bps);
        assert_eq!(found.iter().map(read).collect::<Vec<_>>(), [Some(300.0), Some(150.0)]);
        assert_eq!(found[0].cores, Some(CoresBusy { all: 1.5, busiest: 1.0 }));
        assert_eq!(found[1].cores, Some(CoresBusy { all: 1.0, busiest: 1.0 }));
        let both = MachineRate::of(&looks, 2, 3.0);
        assert_eq!((both.len(), read(&both[0]), both[0].to_s), (1, Some(200.0), 3.0));
    }

    #[test]
    fn what_was_done_behind_the_window_is_no_rate_of_it() {
        let looks = [look((S, S), Some(300), &[]), look((S + S / 2, S / 2), Some(150), &[])];
        let found = MachineRate::of(&looks, 1, 1.3);
        assert_eq!((found[1].from_s, found[1].to_s), (1.0, 1.3));
        assert_eq!(found[1].device.map(|device| device.read_bps), Some(300.0), "not 500");
        assert_eq!(MachineRate::of(&looks, 1, 1.0).len(), 1, "the window was over");
    }

    #[test]
    fn a_stretch_that_is_short_or_lacks_a_count_has_no_rate() {
        let looks = [look((S, S), Some(1), &[1]), look((S + S / 10, S / 10), Some(1), &[1])];
        assert_eq!(MachineRate::of(&looks, 1, 9.0).len(), 1);
        let lacking = [look((S, S), None, &[1]), look((2 * S, S), Some(1), &[1, 1])];
        let found = MachineRate::of(&lacking, 2, 9.0);
        assert_eq!((found[0].device, found[0].cores, found[0].network), (None, None, None));
    }

    #[test]
    fn looks_of_a_foreign_record_are_held_to_the_window() {
        let most = look((u64::MAX, u64::MAX), Some(u64::MAX), &[u64::MAX]);
        let found = MachineRate::of(&[most, look((5, 0), Some(1), &[1])], 1, 2.0);
        assert_eq!((found.len(), found[0].to_s), (1, 2.0));
        assert!(found[0].device.unwrap().read_bps.is_finite());
    }
}
