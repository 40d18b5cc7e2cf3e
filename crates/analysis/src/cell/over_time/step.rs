//! How long a stretch one point of a picture stands for.

// The rest of a window that is counted over a few milliseconds makes a point of nothing or of ten times the rate.
/// Part of a second below which the last one is no rate.
pub(super) const LAST_SECOND_MIN: f64 = 0.25;

/// Seconds that a point or a column may stand for.
const STEPS_S: [u32; 13] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 86_400];

/// The fewest seconds to a point with which stretches of these lengths have at most `points_max` points.
pub(super) fn step(lengths: &[u32], points_max: u32) -> u32 {
    let points = |step: u32| lengths.iter().map(|length| u64::from(length.div_ceil(step))).sum::<u64>();
    STEPS_S.into_iter().find(|step| points(*step) <= u64::from(points_max)).unwrap_or(STEPS_S[12])
}
