//! What a machine can gate, as a table.

use analysis::Calibration;

use super::words;
use crate::grid::Grid;
use crate::plain::ascii;
use crate::screen::Screen;
use crate::words::comparison as said;

/// What a machine can gate.
pub fn calibration_terminal(calibration: &Calibration, screen: Screen) -> String {
    let runs = feed::counted_noun(calibration.run_ids.len() as u64, "run");
    let kind = if calibration.stored { "stored runs" } else { "interleaved repetitions of equal variants" };
    let of = format!("{}: noise between {kind}, from {runs}", calibration.scenario);
    let mut page = screen.hanging("calibrate  ", &ascii(&of));
    let later = if calibration.stored { "runs of a baseline" } else { "repetitions of each variant" };
    let samples = feed::group_digits(u64::from(calibration.samples));
    page.push_str(&screen.hanging("           ", &format!("for comparisons over {samples} {later}")));
    page.push_str(&screen.grid(&table(calibration)));
    for note in &said::calibration_notes(&calibration.notes) {
        page.push_str(&screen.hanging("note  ", &ascii(note)));
    }
    page + &answer(calibration, screen)
}

fn table(calibration: &Calibration) -> Grid {
    Grid::of("worst cell of each metric", &calibration.noise)
        .name("metric", |noise| noise.metric.name().to_owned())
        .figure("noise", |noise| Some(words::share(noise.spread)))
        .figure("samples", |noise| Some(noise.samples.to_string()))
        .figure("margin", |noise| Some(words::share(noise.margin)))
        .figure("finds from", |noise| Some(words::share(noise.smallest)))
        .done()
}

/// Regressions beyond this are seen without a gate.
const USEFUL_MAX: f64 = 0.5;

/// The one sentence that a reader came for.
fn answer(calibration: &Calibration, screen: Screen) -> String {
    let first = calibration.noise.first();
    let Some(noise) = first.filter(|noise| noise.smallest.is_finite()) else {
        return screen.hanging("INCONCLUSIVE  ", "no metric was measured often enough");
    };
    if noise.smallest > USEFUL_MAX {
        let words = format!(
            "{}: only a regression of {} or more would be found four times in five; find what makes this machine so \
             noisy, or measure longer",
            noise.metric.name(),
            words::share(noise.smallest)
        );
        return screen.hanging("CANNOT GATE  ", &words);
    }
    let words = format!(
        "a gate on {} with a margin of {} finds a regression of {} or more four times in five; \
         smaller ones are lost in the noise of this machine",
        noise.metric.name(),
        words::share(noise.margin),
        words::share(noise.smallest)
    );
    screen.hanging("CAN GATE  ", &words)
}
