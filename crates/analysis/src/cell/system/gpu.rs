//! What the GPUs of the machine did meanwhile.

use record::{Gpu, Rep};

use super::traffic::by_time;

/// A GPU of the machine over the repetitions, whoever used it.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuFigures {
    /// Its number.
    pub index: u32,
    /// What it is called.
    pub name: String,
    /// Share of time in which a kernel ran, 0 to 1; absent where nothing was sampled.
    pub busy: Option<f64>,
    /// Bytes per second that it received over PCIe; absent where they are not counted.
    pub received_bps: Option<f64>,
    /// Bytes per second that it sent.
    pub sent_bps: Option<f64>,
}

impl GpuFigures {
    /// Each by its number.
    pub(super) fn of(reps: &[&Rep]) -> Vec<Self> {
        let all = || reps.iter().flat_map(|rep| &rep.system.gpus);
        let mut numbers: Vec<u32> = all().map(|gpu| gpu.index).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let of_one = |index: u32| {
            let gpus: Vec<&Gpu> = all().filter(|gpu| gpu.index == index).collect();
            Self {
                index,
                name: gpus.first().map(|gpu| gpu.name.clone()).unwrap_or_default(),
                busy: over(&gpus, |gpu| Some(f64::from(gpu.busy_permille?) / 1e3 * gpu.wall_ns as f64)),
                received_bps: over(&gpus, |gpu| Some(gpu.received_bytes? as f64 * 1e9)),
                sent_bps: over(&gpus, |gpu| Some(gpu.sent_bytes? as f64 * 1e9)),
            }
        };
        numbers.into_iter().map(of_one).collect()
    }
}

/// Of those readings in which it is known.
fn over(gpus: &[&Gpu], of: impl Fn(&Gpu) -> Option<f64>) -> Option<f64> {
    by_time(gpus.iter().filter_map(|gpu| Some((of(gpu)?, gpu.wall_ns))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::rep;

    #[test]
    fn gpus_are_weighed_by_the_time_of_their_readings() {
        let gpu = |busy_permille, received_bytes, wall_ns| Gpu {
            name: "H100".to_owned(),
            busy_permille,
            received_bytes,
            wall_ns,
            ..Gpu::default()
        };
        let with = |gpu: Gpu| {
            let mut rep = rep("a", 0, 1e9);
            rep.system.gpus = vec![gpu];
            rep
        };
        let reps = [
            with(gpu(Some(1_000), Some(3_000), 3)),
            with(gpu(Some(0), None, 1)),
            with(gpu(None, Some(1_000), 1)),
        ];
        let figures = GpuFigures::of(&reps.iter().collect::<Vec<_>>());
        let [one] = &figures[..] else { panic!("{figures:?}") };
        assert_eq!((one.busy, one.received_bps, one.sent_bps), (Some(0.75), Some(1e12), None));
        assert_eq!(GpuFigures::of(&[]), []);
    }
}
