//! Processes that were slower than the others, in words.

use analysis::{SlowBy, SlowRank, SlowRanks};

use super::share::percent;

/// Processes that are named one by one.
const NAMED_MAX: usize = 4;

/// `slow of 4 processes: rank 1 on host-2 at 25 % of the others' rate, rank 3 on host-4 at 26 %`.
pub(crate) fn words(of: &SlowRanks) -> String {
    let mut named: Vec<String> = Vec::new();
    let mut said = None;
    // What is compared is said where it changes: each of several would repeat it.
    for one in of.slow.iter().take(NAMED_MAX) {
        let what = if said == Some(one.by) { "" } else { figure(one.by) };
        named.push(format!("{} at {}{what}", name(one), percent(one.of_others)));
        said = Some(one.by);
    }
    let more = of.slow.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("slow of {} processes: {}{more}", of.ranks, named.join(", "))
}

/// `rank 1 on host-2`.
fn name(of: &SlowRank) -> String {
    let host = of.host.as_ref().map(|host| format!(" on {host}"));
    format!("rank {}{}", of.rank, host.unwrap_or_default())
}

fn figure(by: SlowBy) -> &'static str {
    match by {
        SlowBy::Rate => " of the others' rate",
        SlowBy::Utilization => " of the others' least AU",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(rank: u32, host: Option<&str>, by: SlowBy, of_others: f64) -> SlowRank {
        SlowRank { rank, host: host.map(str::to_owned), by, of_others }
    }

    #[test]
    fn slow_processes_are_named_with_their_hosts_and_what_they_had_of_the_others() {
        let rate = |rank: u32, host| slow(rank, Some(host), SlowBy::Rate, 0.25);
        let two = SlowRanks { slow: vec![rate(1, "host-2"), rate(3, "host-4")], ranks: 4 };
        assert_eq!(
            words(&two),
            "slow of 4 processes: rank 1 on host-2 at 25 % of the others' rate, rank 3 on host-4 at 25 %"
        );
        let mixed = vec![slow(0, None, SlowBy::Rate, 0.25), slow(1, None, SlowBy::Utilization, 0.5)];
        assert_eq!(
            words(&SlowRanks { slow: mixed, ranks: 8 }),
            "slow of 8 processes: rank 0 at 25 % of the others' rate, rank 1 at 50 % of the others' least AU"
        );
        let many = SlowRanks { slow: (0..7).map(|rank| rate(rank, "h")).collect(), ranks: 64 };
        assert!(words(&many).ends_with("rank 3 on h at 25 %, and 3 more"), "{}", words(&many));
    }
}
