//! The edge that `size` searched.

use analysis::{Edge, EdgeDoubt, NoUtilization, Sizing};
use feed::{Interval, counted_noun};

use super::{curve, flag, gap};
use crate::number::cut_percent;

/// `words` of a row, behind what it is of: `disk io_uring, 64 MiB shards: feeds 21 accelerators, not 22`.
pub(crate) fn row(of: &Sizing, words: &str) -> String {
    let way = curve::way(&of.apart);
    let way = if way.is_empty() { way } else { format!(", {way}") };
    format!("{} {}{way}: {words}", of.target, of.engine)
}

/// What was found, in a sentence: `feeds 21 accelerators: AU 91.2 % (90.6 to 91.8); 22 reach 88.9 % (88.1 to 89.6)`.
pub(crate) fn sentence(of: &Sizing) -> String {
    let found = match (&of.meets, &of.misses) {
        (Some(met), Some(missed)) => {
            let (met_words, missed_words) = (reached(met), reached(missed));
            format!("{}: {met_words}; {} reach {missed_words}", claim(of, met.value), noun(of, missed.value))
        }
        (Some(met), None) if is_over_accelerators(of) => {
            format!("feeds at least {}, the most that was tried: {}", noun(of, met.value), reached(met))
        }
        (Some(met), None) => {
            format!("enough: {}, the least that was tried: {}", noun(of, met.value), reached(met))
        }
        (None, Some(missed)) => {
            let target = of.threshold * 100.0;
            format!("not even {}: {target:.1} % wanted, {}", noun(of, missed.value), reached(missed))
        }
        (None, None) => "nothing was measured".to_owned(),
    };
    // Behind the figures: they stand, and what narrows them comes after.
    let doubt = of.doubt().map(|doubt| format!("; not sure: {}", doubted(of, doubt))).unwrap_or_default();
    format!("{found}{doubt}; {} tried", counted_noun(of.tried as u64, "value"))
}

/// The same without figures: `feeds 21 accelerators, not 22`.
pub(crate) fn finding(of: &Sizing) -> String {
    let found = match (&of.meets, &of.misses) {
        (Some(met), Some(missed)) => format!("{}, not {}", claim(of, met.value), missed.value),
        (Some(met), None) if is_over_accelerators(of) => {
            format!("feeds at least {}, the most that was tried", noun(of, met.value))
        }
        (Some(met), None) => format!("{}, the least that was tried", claim(of, met.value)),
        (None, Some(missed)) => format!("not even {}", noun(of, missed.value)),
        (None, None) => "nothing was measured".to_owned(),
    };
    if of.doubt().is_none() { found } else { format!("{found}; not sure") }
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
        EdgeDoubt::Reached => {
            let target = of.threshold * 100.0;
            format!("an interval reaches the target of {target:.1} %, more repetitions narrow it")
        }
    }
}

fn is_over_accelerators(of: &Sizing) -> bool {
    of.axis == "accelerators"
}

fn claim(of: &Sizing, value: u32) -> String {
    format!("{} {}", if is_over_accelerators(of) { "feeds" } else { "enough:" }, noun(of, value))
}

fn noun(of: &Sizing, value: u32) -> String {
    match of.axis.as_str() {
        "accelerators" => counted_noun(value.into(), "accelerator"),
        "readers" => format!("{} per accelerator", counted_noun(value.into(), "reader")),
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
    use analysis::{Rate, WayApart};
    use feed::Interval;

    use super::*;

    fn edge(value: u32, mean: f64, half: f64) -> Edge {
        let interval = Some(Interval { low: mean - half, mean, high: mean + half });
        let au = Ok(Rate { mean, interval, min: mean, max: mean });
        Edge { value, cell: format!("a{value}"), au, doubt: None }
    }

    fn sizing(axis: &str, meets: Option<Edge>, misses: Option<Edge>) -> Sizing {
        let (target, engine) = ("disk".to_owned(), "pread".to_owned());
        let (apart, axis) = (WayApart::default(), axis.to_owned());
        Sizing { target, engine, apart, axis, meets, misses, threshold: 0.9, tried: 5 }
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
}
