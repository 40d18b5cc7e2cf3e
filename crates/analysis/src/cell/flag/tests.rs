use super::*;

fn not_steady(slope: f64, end_of_line: f64) -> Gravity {
    let end_of_line = Some(end_of_line);
    Flag::NotSteady { repetitions: 3, made: 5, range: 0.34, slope, end_of_line }.gravity()
}

fn falling_to(end_of_line: f64) -> Gravity {
    Flag::Bursts { fall: 0.35, in_windows: true, end_of_line: Some(end_of_line) }.gravity()
}

#[test]
fn a_change_within_windows_forbids_only_what_its_end_contradicts() {
    assert_eq!(not_steady(-0.2, 0.99), Gravity::ForbidsFeeds);
    assert_eq!(not_steady(-0.2, 1.0), Gravity::Informs);
    assert_eq!(not_steady(0.2, 1.0), Gravity::ForbidsStarves);
    assert_eq!(not_steady(0.2, 0.99), Gravity::Informs);
    assert_eq!((not_steady(-0.05, 0.9), not_steady(0.05, 1.1)), (Gravity::Informs, Gravity::Informs));
    assert_eq!((falling_to(1.2), falling_to(0.2)), (Gravity::Informs, Gravity::ForbidsFeeds));
}
