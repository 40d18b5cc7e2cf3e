//! What storage supplies beside what workloads demand, both by the size of a sample.

use feed::formula::samples_per_s;
use feed::{Demand, Flow};

use crate::cell::cell_summary::CellSummary;
use crate::cell::operation;
use crate::cell::rate::Rate;
use crate::cell::training::closed_loops::is_closed;
use crate::curve::treatment::{self, FromMemory};
use crate::summary::Summary;

/// Supply and demand of one client.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofline {
    /// The best that was measured of each target, in the order of the scenario.
    pub supplies: Vec<Supply>,
    /// What known workloads demand of as many accelerators as the need names; empty where it names none.
    pub demands: Vec<DemandPoint>,
    /// The accelerator of these workloads, `h100`, and how many of them.
    pub accelerators: Option<(String, u32)>,
    /// The need of the scenario at its utilization; absent without one.
    pub need: Option<DemandPoint>,
}

/// What a target supplies.
#[derive(Debug, Clone, PartialEq)]
pub struct Supply {
    /// Name of the target.
    pub target: String,
    /// Whether feedline started its server itself.
    pub demo: bool,
    /// Its best cell for each size of samples, from the smallest on.
    pub points: Vec<SupplyPoint>,
    /// Samples per second and bytes per second that no point exceeds; absent where one size was measured.
    pub roofs: Option<(f64, f64)>,
}

impl Supply {
    /// The roof at a size of samples: the lower of the most samples and the most bytes per second.
    pub fn roof_at(&self, sample_bytes: f64) -> Option<f64> {
        self.roofs.map(|(samples_per_s, bps)| samples_per_s.min(bps / sample_bytes))
    }
}

/// The best cell of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct SupplyPoint {
    /// Name of the cell.
    pub cell: String,
    /// Bytes of one sample.
    pub sample_bytes: f64,
    /// Samples per second.
    pub samples_per_s: Rate,
    /// Whether the client, not the storage, was measured, or the cell is not valid.
    pub is_doubtful: bool,
}

/// What a workload demands.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandPoint {
    /// `resnet50`, or the need in words.
    pub name: String,
    /// Bytes of one sample; absent for a need in bytes per second, which is the same for every size.
    pub sample_bytes: Option<f64>,
    /// Samples per second at the utilization that the workload asks for; absent for a need in bytes per second.
    pub samples_per_s: Option<f64>,
    /// The same in bytes per second.
    pub bps: f64,
}

/// Supply and demand of a run; `None` where no cell that reads samples has figures, and of a need of reads and writes at once,
/// whose demand depends on how a load mixes them.
pub fn roofline(summary: &Summary) -> Option<Roofline> {
    if summary.need.as_ref().is_ok_and(|need| need.flow() == Flow::Both) {
        return None;
    }
    let supplies: Vec<Supply> =
        summary.targets.iter().filter(|target| target.storage).filter_map(|of| supply(summary, of)).collect();
    if supplies.is_empty() {
        return None;
    }
    let accelerators = accelerators(summary);
    let demands = accelerators.iter().flat_map(|(kind, count)| demands(kind, *count)).collect();
    let need = need(summary);
    Some(Roofline { supplies, demands, accelerators, need })
}

fn supply(summary: &Summary, target: &record::Target) -> Option<Supply> {
    let mut points: Vec<SupplyPoint> = Vec::new();
    let asked = summary.need.as_ref().map_or(Flow::Reads, feed::Need::flow);
    let is_supply = |cell: &&CellSummary| {
        cell.cell.target == target.name
            && is_closed(cell)
            && operation::is_asked_for(&cell.cell, asked)
            // A cache of the client is no supply of the storage.
            && treatment::from_cache(&cell.cell) == FromMemory::Nothing
    };
    for cell in summary.cells.iter().filter(is_supply) {
        let (Some(figures), Some(sample_bytes)) = (cell.figures(), cell.sample_bytes) else { continue };
        let point = SupplyPoint {
            cell: cell.cell.cell.clone(),
            sample_bytes,
            samples_per_s: figures.samples_per_s,
            is_doubtful: figures.is_client_limited() || !figures.is_valid(),
        };
        match points.iter_mut().find(|known| (known.sample_bytes / sample_bytes - 1.0).abs() < 1e-9) {
            // The best of each size, unlike a verdict's cell: a roof is what was reached at all, and is drawn as such.
            Some(known) if known.samples_per_s.mean < point.samples_per_s.mean => *known = point,
            Some(_) => {}
            None => points.push(point),
        }
    }
    points.retain(|point| point.samples_per_s.mean > 0.0 && point.sample_bytes > 0.0);
    // From the smallest on, as the curve is drawn through them in this order.
    points.sort_by(|a, b| a.sample_bytes.total_cmp(&b.sample_bytes));
    let most = |get: fn(&SupplyPoint) -> f64| points.iter().map(get).fold(0.0, f64::max);
    // One size cannot tell whether samples or bytes are the limit.
    let roofs = (points.len() > 1).then(|| {
        let bps = |point: &SupplyPoint| point.samples_per_s.mean * point.sample_bytes;
        (most(|point| point.samples_per_s.mean), most(bps))
    });
    (!points.is_empty()).then(|| Supply { target: target.name.clone(), demo: target.demo, points, roofs })
}

/// The accelerator that the need names, and how many of them one client feeds.
fn accelerators(summary: &Summary) -> Option<(String, u32)> {
    let need = summary.need.as_ref().ok().filter(|need| need.accelerators > 0)?;
    let words: Vec<String> =
        need.label.to_lowercase().split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect();
    // By whole words, as one name may be part of another.
    let named = feed::PROFILES.iter().find(|profile| words.iter().any(|word| word == profile.accelerator))?;
    Some((named.accelerator.to_owned(), need.accelerators))
}

/// F01 and F02 for every workload of MLPerf Storage that has figures for this accelerator.
// Language models take thousands of times less: a scale that holds them too shows nothing of the others.
fn demands(accelerator: &str, count: u32) -> Vec<DemandPoint> {
    let of_accelerator =
        feed::PROFILES.iter().filter(|profile| profile.is_of_mlperf() && profile.accelerator == accelerator);
    let point = |profile: &feed::Profile| {
        let per_s = samples_per_s(count, profile.batch, profile.step_time_s) * profile.utilization;
        DemandPoint {
            name: profile.workload.to_owned(),
            sample_bytes: Some(profile.sample_bytes),
            samples_per_s: Some(per_s),
            bps: feed::formula::required_bps(per_s, profile.sample_bytes),
        }
    };
    of_accelerator.map(point).collect()
}

fn need(summary: &Summary) -> Option<DemandPoint> {
    let need = summary.need.as_ref().ok()?;
    let name = need.label.clone();
    match need.demand {
        Demand::Samples { per_s, sample_bytes } => {
            // A need that names no size is one of the samples that were read.
            let first = summary.cells.iter().find_map(|cell| cell.sample_bytes);
            let sample_bytes = if sample_bytes > 0.0 { sample_bytes } else { first? };
            let per_s = per_s * need.utilization;
            let bps = per_s * sample_bytes;
            Some(DemandPoint { name, sample_bytes: Some(sample_bytes), samples_per_s: Some(per_s), bps })
        }
        Demand::Bytes { per_s, .. } => {
            let bps = per_s * need.utilization;
            Some(DemandPoint { name, sample_bytes: None, samples_per_s: None, bps })
        }
        Demand::Nothing => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, need_in_bytes, rep};
    use crate::summarise;

    fn two_sizes() -> Builder {
        let mut builder = Builder::new();
        let large = record::Dataset { sample_bytes: 1e6, ..builder.run.datasets[0].clone() };
        builder.run.datasets.push(large);
        for (name, dataset, depth, bps) in
            [("a", 0, 8, 0.5e9), ("b", 0, 32, 0.8e9), ("c", 1, 8, 2e9), ("d", 1, 32, 1.9e9)]
        {
            builder.cell(name, "disk", depth);
            builder.edit_cell(name, |cell| cell.dataset = dataset);
            builder.push(rep(name, 0, bps));
        }
        builder
    }

    #[test]
    fn the_best_cell_of_each_size_makes_the_roofs() {
        let found = roofline(&summarise(&two_sizes().record())).unwrap();
        let supply = &found.supplies[0];
        let cells: Vec<&str> = supply.points.iter().map(|point| point.cell.as_str()).collect();
        assert_eq!(cells, ["b", "c"]);
        assert!((supply.roof_at(1e4).unwrap() / 8_000.0 - 1.0).abs() < 1e-9, "samples bound small ones");
        assert!((supply.roof_at(1e7).unwrap() / 200.0 - 1.0).abs() < 1e-9, "bytes bound large ones");
    }

    #[test]
    fn workloads_of_as_many_of_the_accelerators_that_the_need_names_are_demands() {
        let found = roofline(&summarise(&two_sizes().record())).unwrap();
        assert_eq!(found.accelerators, Some(("h100".to_owned(), 8)));
        let names: Vec<&str> = found.demands.iter().map(|demand| demand.name.as_str()).collect();
        assert_eq!(names, ["unet3d", "resnet50", "cosmoflow"]);
        // 8 x 400 / 0.224 s at 90 %.
        assert!((found.demands[1].samples_per_s.unwrap() - 12_857.1).abs() < 0.1);
        assert_eq!(found.need.unwrap().samples_per_s, Some(9_000.0));
    }

    #[test]
    fn a_need_in_bytes_has_no_size_and_no_accelerators() {
        let mut builder = two_sizes();
        builder.run.need = need_in_bytes(1e9);
        let found = roofline(&summarise(&builder.record())).unwrap();
        assert_eq!((found.accelerators, found.demands.len()), (None, 0));
        let need = found.need.unwrap();
        assert_eq!((need.sample_bytes, need.bps), (None, 0.9e9));
    }

    #[test]
    fn one_size_has_no_roof() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.push(rep("c", 0, 1e9));
        let found = roofline(&summarise(&builder.record())).unwrap();
        assert_eq!((found.supplies[0].roofs, found.supplies[0].roof_at(1e5)), (None, None));
    }
}
