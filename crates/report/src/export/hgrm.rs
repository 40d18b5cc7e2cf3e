//! HdrHistogram's text of percentiles, which its plotter and many others read.

use std::fmt::Write as _;

use analysis::{Distribution, quantile_steps};

/// Steps for each halving of the distance to 100 %, as HdrHistogram's own writers have it.
const TICKS: u32 = 5;

/// The percentiles of a cell in nanoseconds, up to where the samples end: 1 - 10/n. Of a paced load from the intended
/// start, else from the submission.
pub fn hgrm(distribution: &Distribution<'_>) -> String {
    let histogram = distribution.waited();
    let mut text =
        format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    for step in quantile_steps(histogram, TICKS) {
        let beyond = 1.0 / (1.0 - step.q);
        let value = step.value_ns as f64;
        let _ = writeln!(text, "{value:12.3} {:2.12} {:10} {beyond:14.2}", step.q, step.count);
    }
    let (mean, deviation) = (histogram.mean(), histogram.stdev());
    let _ = writeln!(text, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]");
    let (max, count) = (histogram.max() as f64, histogram.len());
    let _ = writeln!(text, "#[Max     = {max:12.3}, Total count    = {count:12}]");
    let sub = 1_u64 << (64 - (2 * 10_u64.pow(u32::from(histogram.sigfig())) - 1).leading_zeros());
    let buckets = histogram.buckets();
    let _ = writeln!(text, "#[Buckets = {buckets:12}, SubBuckets     = {sub:12}]");
    let _ = writeln!(text, "#[Unit: ns; percentiles end where fewer than 10 operations lie beyond]");
    let _ = writeln!(text, "#[Cell: {}]", super::line(&distribution.cell.cell));
    // In a comment of the form, which plotters pass over: they would be slower than any that is listed.
    if distribution.not_served > 0 && distribution.response.is_some() {
        let not_served = distribution.not_served;
        let _ = writeln!(text, "#[Gap: {not_served} arrivals were not served and are not among these]");
    }
    if distribution.unreadable > 0 {
        let unreadable = distribution.unreadable;
        let _ = writeln!(text, "#[Gap: the histograms of {unreadable} repetitions could not be read]");
    }
    text
}
