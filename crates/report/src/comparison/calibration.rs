//! What a machine can gate, as a table.

use analysis::{Calibration, Noise};

use super::words;
use crate::plain::{ascii, hanging};

/// What a machine can gate.
pub fn calibration_terminal(calibration: &Calibration) -> String {
    let runs = feed::counted_noun(calibration.run_ids.len() as u64, "run");
    let kind = if calibration.stored { "stored runs" } else { "interleaved repetitions of equal variants" };
    let of = format!("{}: noise between {kind}, from {runs}", calibration.scenario);
    let mut page = hanging("calibrate  ", &ascii(&of));
    let later = if calibration.stored { "runs of a baseline" } else { "repetitions of each variant" };
    let samples = feed::group_digits(u64::from(calibration.samples));
    page.push_str(&hanging(
        "           ",
        &format!("for comparisons over {samples} {later}; worst cell of each metric"),
    ));
    if !calibration.noise.is_empty() {
        page.push_str("metric        noise  samples   margin  finds from\n");
    }
    page.extend(calibration.noise.iter().map(row));
    for note in &calibration.notes {
        page.push_str(&hanging("note  ", &ascii(note)));
    }
    page + &answer(calibration)
}

fn row(noise: &Noise) -> String {
    let Noise { metric, spread, samples, margin, smallest } = noise;
    format!(
        "{:<10} {:>8} {samples:>8} {:>8} {:>11}\n",
        metric.name(),
        words::share(*spread),
        words::share(*margin),
        words::share(*smallest)
    )
}

/// Regressions beyond this are seen without a gate.
const USEFUL_MAX: f64 = 0.5;

/// The one sentence that a reader came for.
fn answer(calibration: &Calibration) -> String {
    let first = calibration.noise.first();
    let Some(noise) = first.filter(|noise| noise.smallest.is_finite()) else {
        return hanging("INCONCLUSIVE  ", "no metric was measured often enough");
    };
    if noise.smallest > USEFUL_MAX {
        let words = format!(
            "{}: only a regression of {} or more would be found four times in five; find what makes this machine so \
             noisy, or measure longer",
            noise.metric.name(),
            words::share(noise.smallest)
        );
        return hanging("CANNOT GATE  ", &words);
    }
    let words = format!(
        "a gate on {} with a margin of {} finds a regression of {} or more four times in five; \
         smaller ones are lost in the noise of this machine",
        noise.metric.name(),
        words::share(noise.margin),
        words::share(noise.smallest)
    );
    hanging("CAN GATE  ", &words)
}
