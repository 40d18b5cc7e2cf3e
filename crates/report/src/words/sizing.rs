//! The edge that `size` searched.

use analysis::{Edge, EdgeDoubt, NoUtilization, Sizing, Untried};
use feed::{Interval, counted_noun, format_bps};

use super::share::percent;
use super::{curve, flag, gap};
use crate::number::cut_percent;

/// The storage that was searched, and in which way where there are several: `nvme io_uring`,
/// `filer (DEMO) nfs, 64 MiB shards`.
pub(crate) fn place(of: &Sizing) -> String {
    let way = curve::way(&of.apart);
    let way = if way.is_empty() { way } else { format!(", {way}") };
    format!("{}{} {}{way}", of.target, if of.demo { " (DEMO)" } else { "" }, of.engine)
}

/// `words` of a row, behind what it is of: `disk io_uring, 64 MiB shards: feeds 21 accelerators, not 22`.
pub(crate) fn row(of: &Sizing, words: &str) -> String {
    format!("{}: {words}", place(of))
}

/// What was found, in a sentence: `feeds 21 accelerators: AU 91.2 % (90.6 to 91.8); 22 reach 88.9 % (88.1 to 89.6)`.
pub(crate) fn sentence(of: &Sizing) -> String {
    let reached = |edge: &Edge| format!("{}{}", reached(edge), got(of, edge.value));
    let found = match (&of.meets, &of.misses) {
        (Some(met), Some(missed)) => {
            let (met_words, missed_words) = (reached(met), reached(missed));
            format!("{}: {met_words}; {} reach {missed_words}", claim(of, met.value), noun(of, missed.value))
        }
        (Some(met), None) if is_fed(of) => {
            format!("feeds at least {}, the most that was tried: {}", noun(of, met.value), reached(met))
        }
        (Some(met), None) => {
            format!("enough: {}, the least that was tried: {}", noun(of, met.value), reached(met))
        }
        (None, Some(missed)) => {
            let target = of.threshold * 100.0;
            format!("{}: {target:.1} % wanted, {}", none(of, missed.value), reached(missed))
        }
        (None, None) => "nothing was measured".to_owned(),
    };
    // Behind the figures: they stand, and what narrows them comes after.
    let doubt = of.doubt().map(|doubt| format!("; not sure: {}", doubted(of, doubt))).unwrap_or_default();
    let full = of.full.map_or_else(String::new, |full| {
        let (from, to) = (noun(of, full.from), noun(of, full.to));
        format!("; full from {from} on, at {}: {to} got no more", format_bps(full.bps))
    });
    let cut = of.untried.map(|untried| format!("; the search ended before it tried {}", values(untried)));
    let tried = counted_noun(of.tried as u64, "value");
    format!("{found}{doubt}{full}; {tried} tried{}", cut.unwrap_or_default())
}

/// The same without figures: `feeds 21 accelerators, not 22`.
pub(crate) fn finding(of: &Sizing) -> String {
    let found = match (&of.meets, &of.misses) {
        (Some(met), Some(missed)) => format!("{}, not {}", claim(of, met.value), missed.value),
        (Some(met), None) if is_fed(of) => format!("feeds at least {}, the most tried", noun(of, met.value)),
        (Some(met), None) => format!("{}, the least tried", claim(of, met.value)),
        (None, Some(missed)) => none(of, missed.value),
        (None, None) => "nothing was measured".to_owned(),
    };
    let full = of.full.map_or_else(String::new, |full| {
        format!("; full from {} on, at {}", full.from, format_bps(full.bps))
    });
    let unsure = if of.doubt().is_some() { "; not sure" } else { "" };
    let cut = of.untried.map(|untried| format!("; {} untried", values(untried)));
    format!("{found}{full}{unsure}{}", cut.unwrap_or_default())
}

/// `not even 1 accelerator`; of a search that ended before it tried easier values, `not 8 accelerators`.
fn none(of: &Sizing, missed: u32) -> String {
    format!("{} {}", if of.untried.is_none() { "not even" } else { "not" }, noun(of, missed))
}

/// `9 to 31`.
fn values(untried: Untried) -> String {
    let Untried { from, to } = untried;
    if from == to { from.to_string() } else { format!("{from} to {to}") }
}

/// Why nothing may rest on one side of an edge.
pub(crate) fn edge_doubt(edge: &Edge) -> Option<String> {
    match &edge.au {
        Err(why) => Some(no_utilization(why)),
        Ok(_) => edge.doubt.as_ref().map(flag::words),
    }
}

fn doubted(of: &Sizing, doubt: EdgeDoubt<'_>) -> String {
    match doubt {
        EdgeDoubt::Flagged(edge, doubt) => format!("{}: {}", noun(of, edge.value), flag::words(doubt)),
        EdgeDoubt::NotInStep { met, least_au } => format!(
            "{}: {} % busy if they are slow in turn, as they do not wait for each other while they measure",
            noun(of, met.value),
            cut_percent(least_au)
        ),
        EdgeDoubt::Reached => {
            let target = of.threshold * 100.0;
            format!("an interval reaches the target of {target:.1} %, more repetitions narrow it")
        }
    }
}

/// Whether the most that a storage feeds was searched, and not the least that feeds all.
fn is_fed(of: &Sizing) -> bool {
    matches!(of.axis.as_str(), "accelerators" | "hosts")
}

/// `, 1.25 GB/s, 97.8 % of 5 times one alone`, of hosts; empty of all else.
fn got(of: &Sizing, value: u32) -> String {
    let Some(scaled) = of.scaling.iter().find(|one| one.hosts == value) else { return String::new() };
    // There is no room here for what a row of the table says of one alone.
    let is_sure =
        of.scaling.iter().filter(|one| [1, value].contains(&one.hosts)).all(|one| one.doubt.is_none());
    let of_one = scaled.of_one.filter(|_| value > 1 && is_sure);
    let of_one = of_one.map(|share| format!(", {} of {value} times one alone", percent(share)));
    format!(", {}{}", format_bps(scaled.bps.mean), of_one.unwrap_or_default())
}

fn claim(of: &Sizing, value: u32) -> String {
    format!("{} {}", if is_fed(of) { "feeds" } else { "enough:" }, noun(of, value))
}

fn noun(of: &Sizing, value: u32) -> String {
    match of.axis.as_str() {
        "accelerators" => counted_noun(value.into(), "accelerator"),
        "readers" => format!("{} per accelerator", counted_noun(value.into(), "reader")),
        "hosts" if of.on_hosts => counted_noun(value.into(), "host"),
        // Several on one machine share its kernel and its links, and say nothing of as many hosts.
        "hosts" if value == 1 => "1 process".to_owned(),
        "hosts" => format!("{value} processes"),
        "prefetch" => format!("{value} batches ahead"),
        _ => format!("{} outstanding", counted_noun(value.into(), "read")),
    }
}

/// `AU 91.2 % (90.6 to 91.8)`. Cut and not rounded: what misses the target never looks as if it met it.
fn reached(edge: &Edge) -> String {
    let au = match &edge.au {
        Ok(au) => au,
        Err(why) => return format!("failed ({})", no_utilization(why)),
    };
    let ends = |of: Interval| format!(" ({} to {})", cut_percent(of.low), cut_percent(of.high));
    format!("AU {} %{}", cut_percent(au.mean), au.interval.map(ends).unwrap_or_default())
}

fn no_utilization(why: &NoUtilization) -> String {
    match why {
        NoUtilization::Unmeasured(reason) => gap::words(reason),
        NoUtilization::NoJob => "no job was recorded".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use analysis::{Full, Rate, Scaled, WayApart};
    use feed::Interval;

    use super::*;

    fn edge(value: u32, mean: f64, half: f64) -> Edge {
        let interval = Some(Interval { low: mean - half, mean, high: mean + half });
        let au = Ok(Rate { mean, interval, min: mean, max: mean });
        Edge { value, cell: format!("a{value}"), au, least_au: None, doubt: None }
    }

    fn sizing(axis: &str, meets: Option<Edge>, misses: Option<Edge>) -> Sizing {
        let (target, engine) = ("disk".to_owned(), "pread".to_owned());
        Sizing {
            target,
            engine,
            demo: false,
            apart: WayApart::default(),
            axis: axis.to_owned(),
            on_hosts: true,
            meets,
            misses,
            threshold: 0.9,
            tried: 5,
            untried: None,
            scaling: Vec::new(),
            full: None,
        }
    }

    #[test]
    fn an_edge_is_told_with_both_its_sides() {
        let sure = sizing("accelerators", Some(edge(22, 0.9305, 0.002)), Some(edge(23, 0.8895, 0.001)));
        assert_eq!(
            sentence(&sure),
            "feeds 22 accelerators: AU 93.0 % (92.8 to 93.2); 23 accelerators reach AU 88.9 % (88.8 to 89.0); 5 values tried"
        );
        assert_eq!(finding(&sure), "feeds 22 accelerators, not 23");
        let open = sizing("readers", Some(edge(4, 0.91, 0.02)), Some(edge(3, 0.85, 0.001)));
        assert!(sentence(&open).contains("; not sure: an interval reaches the target of 90.0 %, more"));
        assert_eq!(finding(&open), "enough: 4 readers per accelerator, not 3; not sure");
    }

    #[test]
    fn a_row_without_an_edge_says_what_was_tried() {
        let all = sizing("accelerators", Some(edge(32, 0.99, 0.0)), None);
        assert!(
            sentence(&all).starts_with("feeds at least 32 accelerators, the most that was tried: AU 99.0")
        );
        let none = sizing("accelerators", None, Some(edge(1, 0.5, 0.0)));
        assert!(sentence(&none).starts_with("not even 1 accelerator: 90.0 % wanted, AU 50.0"));
        assert_eq!(finding(&sizing("prefetch", None, None)), "nothing was measured");
    }

    #[test]
    fn a_search_that_ended_before_its_edge_says_between_which_values_it_lies() {
        let cut = |meets, misses, from, to| Sizing {
            untried: Some(Untried { from, to }),
            ..sizing("accelerators", meets, misses)
        };
        let both = cut(Some(edge(8, 0.99, 0.001)), Some(edge(32, 0.5, 0.001)), 9, 31);
        assert_eq!(finding(&both), "feeds 8 accelerators, not 32; 9 to 31 untried");
        assert!(sentence(&both).ends_with("; 5 values tried; the search ended before it tried 9 to 31"));
        let missed = cut(None, Some(edge(2, 0.5, 0.001)), 1, 1);
        assert_eq!(finding(&missed), "not 2 accelerators; 1 untried");
        assert!(sentence(&missed).starts_with("not 2 accelerators: 90.0 % wanted"));
    }

    /// A storage that gives 50 MB/s, and hosts that need 20 MB/s each.
    fn of_hosts() -> Sizing {
        let scaled = |hosts: u32, bps: f64| Scaled {
            hosts,
            bps: Rate { mean: bps, interval: None, min: bps, max: bps },
            of_one: Some(bps / (20e6 * f64::from(hosts))),
            doubt: None,
        };
        Sizing {
            scaling: vec![scaled(1, 20e6), scaled(2, 40e6), scaled(3, 50e6), scaled(4, 50e6)],
            full: Some(Full { from: 3, to: 4, bps: 50e6 }),
            ..sizing("hosts", Some(edge(2, 0.99, 0.001)), Some(edge(3, 0.833, 0.001)))
        }
    }

    #[test]
    fn hosts_are_told_with_what_they_got_beside_one_alone_and_where_the_storage_is_full() {
        assert_eq!(
            sentence(&of_hosts()),
            "feeds 2 hosts: AU 99.0 % (98.9 to 99.1), 40 MB/s, 100 % of 2 times one alone; 3 hosts reach AU 83.3 % (83.2 to \
             83.4), 50 MB/s, 83 % of 3 times one alone; full from 3 hosts on, at 50 MB/s: 4 hosts got no more; 5 values tried"
        );
        assert_eq!(finding(&of_hosts()), "feeds 2 hosts, not 3; full from 3 on, at 50 MB/s");
        let mut doubted = of_hosts();
        doubted.scaling[0].doubt = Some(analysis::Flag::DatasetChanged);
        assert!(!sentence(&doubted).contains("alone"), "{}", sentence(&doubted));
        let none = Sizing { meets: None, misses: Some(edge(1, 0.5, 0.0)), full: None, ..of_hosts() };
        let words = sentence(&none);
        assert!(
            words.starts_with("not even 1 host: 90.0 % wanted, AU 50.0 % (50.0 to 50.0), 20 MB/s; "),
            "{words}"
        );
    }

    #[test]
    fn processes_that_share_a_machine_are_no_hosts_and_own_servers_no_storage() {
        let shared = Sizing { on_hosts: false, demo: true, ..of_hosts() };
        assert_eq!(finding(&shared), "feeds 2 processes, not 3; full from 3 on, at 50 MB/s");
        assert!(!sentence(&shared).contains("host"), "{}", sentence(&shared));
        assert_eq!(
            (place(&shared).as_str(), place(&of_hosts()).as_str()),
            ("disk (DEMO) pread", "disk pread")
        );
        let all = Sizing { misses: None, full: None, meets: Some(edge(1, 0.99, 0.0)), ..shared };
        assert!(finding(&all).starts_with("feeds at least 1 process, the most tried"));
    }
}
