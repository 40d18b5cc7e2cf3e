//! Repetitions one after the other on an axis of time, with a gap between them: what lies between is not shown.

use super::scale::Scale;

/// Gap between repetitions, as a share of all that they last, and the share that all gaps may take.
// Wide enough to be seen between two repetitions, and bounded, or fifty of them would be mostly gaps.
const GAP: f64 = 0.018;
const GAPS_MAX: f64 = 0.25;

/// Ticks that a scale of seconds aims at.
const SECONDS_TICKS: f64 = 8.0;

/// Where each repetition begins and ends.
pub(super) struct Strip {
    starts: Vec<f64>,
    lengths: Vec<f64>,
    end: f64,
}

impl Strip {
    /// Of repetitions that last `lengths`, in seconds.
    pub(super) fn of(lengths: &[f64]) -> Self {
        let sum: f64 = lengths.iter().sum();
        let count = lengths.len().saturating_sub(1).max(1) as f64;
        let gap = sum * GAP.min(GAPS_MAX / count);
        let mut starts = Vec::new();
        let mut end = 0.0;
        for length in lengths {
            starts.push(end);
            end += length + gap;
        }
        let end = if lengths.is_empty() { 1.0 } else { end - gap };
        Self { starts, lengths: lengths.to_vec(), end: if end > 0.0 { end } else { 1.0 } }
    }

    /// A moment of a repetition, as drawn.
    pub(super) fn place(&self, number: usize, seconds: f64) -> f64 {
        self.starts[number] + seconds
    }

    /// Seconds for one repetition, else the numbers of repetitions in their middles.
    pub(super) fn scale(&self, reps: &[u32]) -> Scale {
        // One repetition may be a soak of hours. Of several the time between them was spent on other cells, and
        // no clock runs through all of them.
        if let [length] = self.lengths.as_slice() {
            let (unit, unit_s) = match *length {
                7_200.0.. => ("h", 3_600.0),
                600.0.. => ("min", 60.0),
                _ => ("s", 1.0),
            };
            let ticks = Scale::linear(length / unit_s, SECONDS_TICKS, "").ticks;
            let ticks = ticks.into_iter().map(|(value, words)| (value * unit_s, words)).collect();
            return Scale::between(0.0, self.end, ticks, &format!("time since the window opened, {unit}"));
        }
        let middle = |(number, rep): (usize, &u32)| {
            (self.starts[number] + self.lengths[number] / 2.0, (rep + 1).to_string())
        };
        let words = format!("repetition, {} each; other cells ran between them", self.each());
        Scale::between(0.0, self.end, reps.iter().enumerate().map(middle).collect(), &words)
    }

    /// `30 s`, `29 s to 30 s`.
    fn each(&self) -> String {
        let words = |seconds: f64| feed::format_duration_ns((seconds * 1e9).round() as u64);
        let low = self.lengths.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.lengths.iter().copied().fold(0.0, f64::max);
        // Windows end with a read, and are never equal to the millisecond.
        if high <= low * 1.02 { words(high) } else { format!("{} to {}", words(low), words(high)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_stand_one_after_the_other_with_gaps() {
        let strip = Strip::of(&[10.0, 10.0, 10.0]);
        assert!(strip.place(1, 0.0) > 10.0 && strip.place(2, 10.0) <= strip.end + 1e-9);
        let scale = strip.scale(&[0, 1, 2]);
        let words: Vec<&str> = scale.ticks.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(words, ["1", "2", "3"]);
        assert!(scale.words.contains("10 s each"), "{}", scale.words);
    }

    #[test]
    fn one_repetition_has_an_axis_of_its_seconds_and_none_is_no_mistake() {
        let scale = Strip::of(&[7_200.0]).scale(&[0]);
        assert!(scale.words.ends_with(", h") && scale.share(7_199.0) < 1.0);
        assert!(Strip::of(&[]).scale(&[]).ticks.is_empty());
        assert!(Strip::of(&[0.0]).end > 0.0);
    }
}
