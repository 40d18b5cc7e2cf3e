//! How far the hosts' times of day are apart.

use record::Member;

use super::meeting::{Meeting, Slack};
use crate::exit::Failure;

/// Fences that are read from.
const FENCES: usize = 32;

/// What a process's clock showed as it left each fence, nanoseconds since 1970.
type Stamps = Vec<u64>;

/// How far each process's clock is ahead of rank 0's, and how far off that may be, nanoseconds.
///
/// All leave a fence at nearly the same time, some a little later than others. So the median over many fences is the
/// difference of the clocks, and the spread says how much a little is.
pub(super) fn compare(meeting: &Meeting, now_ns: &dyn Fn() -> u64) -> Result<Vec<(i64, u64)>, Failure> {
    let mut stamps = Stamps::with_capacity(FENCES);
    for _ in 0..FENCES {
        meeting.fence(Slack::None)?;
        stamps.push(now_ns());
    }
    let all = meeting.all(&stamps, Slack::None)?;
    Ok(all.iter().map(|stamps| ahead(stamps, &all[0])).collect())
}

/// Median and half of the middle four fifths of how far `stamps` are ahead of `first`.
fn ahead(stamps: &[u64], first: &[u64]) -> (i64, u64) {
    let mut ahead: Vec<i64> =
        stamps.iter().zip(first).map(|(own, first)| own.wrapping_sub(*first).cast_signed()).collect();
    ahead.sort_unstable();
    let Some(last) = ahead.len().checked_sub(1) else { return (0, 0) };
    let (low, high) = (ahead[last / 10], ahead[last - last / 10]);
    (ahead[ahead.len() / 2], high.abs_diff(low) / 2)
}

/// A time of day of a process as rank 0's clock would have shown it.
pub(super) fn corrected_ns(unix_ns: u64, member: &Member) -> u64 {
    unix_ns.saturating_add_signed(member.clock_ahead_ns.saturating_neg())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::meeting::tests::meetings;
    use super::*;

    #[test]
    fn clocks_that_differ_by_seconds_are_put_right() {
        const S: u64 = 1_000_000_000;
        // Each fence is a second after the one before; rank 1 leaves every second one a millisecond late, and its clock is 5 s
        // ahead; rank 2's is 3 s behind.
        let found = meetings(3, |meeting| {
            let rank = meeting.share().index;
            let fences = AtomicU64::new(0);
            let now = || {
                let fence = fences.fetch_add(1, Ordering::Relaxed);
                let late_ns = if rank == 1 && fence % 2 == 1 { 1_000_000 } else { 0 };
                1_000 * S + fence * S + late_ns + [0, 5 * S, 0][rank as usize] - [0, 0, 3 * S][rank as usize]
            };
            compare(meeting, &now).unwrap()
        });
        for ahead in found {
            assert_eq!(ahead, [(0, 0), (5_001_000_000, 500_000), (-3_000_000_000, 0)]);
        }
        let member = Member {
            host: "a".to_owned(),
            machine: 0,
            clock_ahead_ns: 5_000_000_000,
            clock_uncertainty_ns: 0,
        };
        assert_eq!(corrected_ns(1_005 * S, &member), 1_000 * S);
        assert_eq!(corrected_ns(997 * S, &Member { clock_ahead_ns: -3_000_000_000, ..member }), 1_000 * S);
    }
}
