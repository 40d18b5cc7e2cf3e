//! What a curve would be if nothing but latency and the top rate bounded it: the smaller of the depth by the bytes
//! of a read by the latency at depth 1, and the highest rate measured.

use crate::cell::cell_summary::CellSummary;

/// Depths that a curve must have for the comparison to show anything.
const DEPTHS_MIN: usize = 4;

/// `min(highest rate, depth x bytes of a read / latency at depth 1)`, from measured values alone or predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Mean latency of a read at depth 1, nanoseconds.
    pub latency_ns: f64,
    /// Mean bytes of a read.
    pub read_bytes: f64,
    /// The highest mean rate of the curve, bytes per second.
    pub highest_bps: f64,
    /// The deepest depth measured.
    pub deepest: u32,
    /// Whether it follows from a claim or from the settings of an emulated server, and not from measured values.
    pub is_predicted: bool,
}

impl Model {
    /// `None` unless depth 1 and at least four depths were measured; `cells` are those of one curve, from the
    /// shallowest on.
    pub(crate) fn of(cells: &[&CellSummary]) -> Option<Self> {
        let measured: Vec<&CellSummary> = cells
            .iter()
            .copied()
            .filter(|cell| cell.figures().is_some_and(crate::Figures::is_valid))
            .collect();
        let mut depths: Vec<u32> = measured.iter().map(|cell| cell.cell.queue_depth).collect();
        depths.dedup();
        // Depth 1 alone shows the latency of the storage: at any other depth a read waits for others too.
        let first = measured.first().filter(|cell| cell.cell.queue_depth == 1)?.figures()?;
        let rates = measured.iter().filter_map(|cell| Some(cell.figures()?.bps.mean));
        let model = Self {
            latency_ns: first.latency.mean_ns?,
            read_bytes: first.bps.mean / first.ops_per_s,
            highest_bps: rates.fold(0.0, f64::max),
            deepest: *depths.last()?,
            is_predicted: false,
        };
        let is_usable = model.latency_ns > 0.0 && model.read_bytes > 0.0;
        (depths.len() >= DEPTHS_MIN && is_usable).then_some(model)
    }

    /// Bytes per second at a depth, which need not be whole.
    pub fn bps_at(&self, depth: f64) -> f64 {
        (depth * self.read_bytes / self.latency_ns * 1e9).min(self.highest_bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, rep};
    use crate::summarise;

    fn model(points: &[(u32, f64)]) -> Option<Model> {
        let mut builder = Builder::new();
        for (depth, bps) in points {
            let name = format!("qd{depth}");
            builder.cell(&name, "disk", *depth);
            builder.push(rep(&name, 0, *bps));
        }
        summarise(&builder.record()).panels[0].curves[0].model
    }

    #[test]
    fn the_rate_grows_with_the_depth_up_to_the_highest_measured() {
        // Reads of 100 kB that take 1 ms: 0.1 GB/s for each that is outstanding.
        let found = model(&[(1, 0.1e9), (2, 0.19e9), (4, 0.35e9), (8, 0.5e9)]).unwrap();
        for (depth, bps) in [(1.0, 0.1e9), (3.0, 0.3e9), (5.0, 0.5e9), (8.0, 0.5e9)] {
            assert!((found.bps_at(depth) / bps - 1.0).abs() < 2e-3, "{depth}: {}", found.bps_at(depth));
        }
        assert_eq!(found.deepest, 8);
    }

    #[test]
    fn it_needs_depth_1_and_four_depths() {
        assert_eq!(model(&[(1, 0.1e9), (2, 0.2e9), (4, 0.3e9)]), None);
        assert_eq!(model(&[(2, 0.1e9), (4, 0.2e9), (8, 0.3e9), (16, 0.4e9)]), None);
    }
}
