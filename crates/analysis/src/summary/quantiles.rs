//! Latency by percentile, of the cells that a picture of it shows.

use std::collections::BTreeSet;

use record::axis::{self, Groups, agree};
use record::{HistogramSum, Role};

use crate::cell::cell_summary::CellSummary;
use crate::cell::counters::counted;
use crate::cell::latency::{Percentile, SERVICE, merged, percentile, steps};
use crate::cell::operation;
use crate::cell::paced;
use crate::cell::repetitions::Repetitions;
use crate::verdict::{Judged, Source};

/// The latencies of one cell by percentile: over its interleaved repetitions, for display alone.
#[derive(Debug, Clone, PartialEq)]
pub struct PercentileCurve {
    /// Name of the cell.
    pub cell: String,
    /// From the intended start, over all arrivals of a paced load; else from the submission.
    pub is_response: bool,
    /// Operations that the percentiles are over.
    pub count: u64,
    /// Whether it ends early because what lies beyond was not served at all.
    pub ends_unserved: bool,
    /// Quantile, 0 to at most 1 - 10 / `count`, and latency in nanoseconds: both rise.
    pub points: Vec<(f64, u64)>,
}

/// One curve for each target and engine: of the judged cell, else of the first that clears the line, else of the deepest;
/// of paced loads both service and response.
pub(crate) fn curves(source: &Source<'_>, judged: &Judged) -> Vec<PercentileCurve> {
    let mut curves = Vec::new();
    for cell in chosen(source, judged) {
        let reps = Repetitions::of(
            source.lines.of_cell(&cell.cell.cell),
            &cell.cell,
            Role::Measure,
            &source.record.run.measure,
        )
        .used;
        let (service, _) = merged(&reps, SERVICE);
        curves.extend(of_service(cell, &service));
        if let Some(paced) = cell.figures().and_then(|figures| figures.paced) {
            let sum = |name| reps.iter().map(|rep| counted(rep, name)).fold(0_u64, u64::saturating_add);
            let (response, _) = merged(&reps, paced::RESPONSE);
            let served = sum(record::counter::SERVED);
            curves.extend(of_response(cell, &response, (paced.arrivals, served)));
        }
    }
    curves
}

/// The cells whose latency is drawn, in the order of the scenario.
fn chosen<'a>(source: &Source<'a>, judged: &Judged) -> Vec<&'a CellSummary> {
    let any_storage = source.cells.all.iter().any(|cell| cell.storage && cell.figures().is_some());
    let is_shown = |cell: &&CellSummary| {
        cell.figures().is_some() && cell.storage == any_storage && operation::moves_samples(&cell.cell)
    };
    let mut groups: Vec<Vec<&CellSummary>> = Vec::new();
    let mut known = Groups::along(axis::LATENCY.iter().copied());
    for cell in source.cells.all.iter().filter(is_shown) {
        let is_of = |at: usize| agree(&source.cells, &groups[at][0].cell, &cell.cell, axis::LATENCY);
        match known.place(&source.cells, &cell.cell, is_of) {
            at if at < groups.len() => groups[at].push(cell),
            _ => groups.push(vec![cell]),
        }
    }
    let curves = source.panels.iter().flat_map(|panel| &panel.curves);
    let clearing = curves.filter_map(|curve| curve.clears_at);
    let clearing = clearing.map(|index| source.cells.all[index].cell.cell.as_str()).collect();
    groups.into_iter().filter_map(|group| of_group(judged, &clearing, &group)).collect()
}

fn of_group<'a>(
    judged: &Judged,
    clearing: &BTreeSet<&str>,
    group: &[&'a CellSummary],
) -> Option<&'a CellSummary> {
    let clears = |cell: &&&CellSummary| clearing.contains(cell.cell.cell.as_str());
    let offered = |cell: &CellSummary| {
        cell.figures().and_then(|figures| figures.paced).map_or(0.0, |paced| paced.offered_bps)
    };
    let resting = group.iter().find(|cell| judged.rests_on(cell));
    // Latency under the most load that was tried: a curve at depth 1 is the same for most storages.
    let hardest = || {
        group.iter().max_by(|a, b| {
            (offered(a).total_cmp(&offered(b))).then(a.cell.queue_depth.cmp(&b.cell.queue_depth))
        })
    };
    resting.or_else(|| group.iter().find(clears)).or_else(hardest).copied()
}

fn of_service(cell: &CellSummary, histogram: &HistogramSum) -> Option<PercentileCurve> {
    let count = histogram.len();
    let points = steps(count, 1.0).zip(histogram.values_at_quantiles(steps(count, 1.0))).collect();
    curve(cell, (false, count, false), points)
}

/// Percentiles over all arrivals: those that were not served count as slower than any that was.
fn of_response(
    cell: &CellSummary,
    histogram: &HistogramSum,
    (arrivals, served): (u64, u64),
) -> Option<PercentileCurve> {
    let mut points = Vec::new();
    let mut ends_unserved = false;
    for q in steps(arrivals, 1.0) {
        match percentile(histogram, arrivals, served, q) {
            Percentile::At(ns) => points.push((q, ns)),
            // The curve ends here instead of running flat: beyond lie arrivals that no latency was measured of.
            Percentile::NotServed => ends_unserved = true,
            Percentile::Unknown => {}
        }
    }
    curve(cell, (true, arrivals, ends_unserved), points)
}

fn curve(
    cell: &CellSummary,
    (is_response, count, ends_unserved): (bool, u64, bool),
    points: Vec<(f64, u64)>,
) -> Option<PercentileCurve> {
    let name = cell.cell.cell.clone();
    // One point draws nothing.
    (points.len() > 1).then_some(PercentileCurve { cell: name, is_response, count, ends_unserved, points })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, rep};
    use crate::summarise;

    #[test]
    fn quantiles_end_where_ten_operations_are_left() {
        let found: Vec<f64> = steps(1_000, 1.0).collect();
        assert!((found.last().unwrap() - 0.99).abs() < 1e-12);
        assert!(found[0].abs() < 1e-12 && found.len() == 41, "{}", found.len());
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(steps(9, 1.0).count(), 0);
        assert_eq!(steps(10, 1.0).count(), 0, "nothing lies below the first");
    }

    #[test]
    fn an_engine_shows_its_judged_cell_and_without_one_its_deepest() {
        let mut builder = Builder::new();
        for (engine, depth) in [("io_uring", 8), ("pread", 8), ("pread", 32), ("pread", 16)] {
            let name = format!("{engine}/qd{depth}");
            builder.cell(&name, "disk", depth);
            builder.edit_cell(&name, |cell| cell.engine = engine.to_owned());
            let mut one = rep(&name, 0, if engine == "pread" { 0.1e9 } else { 0.2e9 });
            let mut service = record::new_histogram();
            service.record_n(u64::from(depth) * 1_000, 990).unwrap();
            service.record_n(u64::from(depth) * 50_000, 10).unwrap();
            one.histograms.insert(SERVICE.to_owned(), record::encode(&service));
            builder.push(one);
        }
        let summary = summarise(&builder.record());
        assert_eq!(summary.verdicts[0].cell(), Some("io_uring/qd8"));
        let found: Vec<(&str, u64)> =
            summary.percentiles.iter().map(|curve| (curve.cell.as_str(), curve.count)).collect();
        assert_eq!(found, [("io_uring/qd8", 1_000), ("pread/qd32", 1_000)]);
        let (q, ns) = *summary.percentiles[1].points.last().unwrap();
        assert!((q - 0.99).abs() < 1e-9 && ns.abs_diff(32_000) < 64, "{q} {ns}");
    }

    #[test]
    fn a_response_ends_where_arrivals_were_not_served() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.push(rep("c", 0, 1e9));
        builder.pace("c", 1.0, 0.8);
        let curves = summarise(&builder.record()).percentiles;
        let response = curves.iter().find(|curve| curve.is_response).unwrap();
        assert!(response.ends_unserved);
        assert!(response.points.last().unwrap().0 <= 0.8);
    }
}
