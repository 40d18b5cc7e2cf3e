//! What runs prove together.

use analysis::{Lack, Proof};
use feed::{counted_noun, format_duration_ns};

use super::tier::cache_below;

/// `proof: 3 runs over 26 h`, `screen: 2 runs over 9 h; lacks 1 run more`.
pub(crate) fn sentence(of: &Proof) -> String {
    let runs = counted_noun(of.runs.into(), "run");
    let made = format!("{}: {runs} over {}", of.evidence.name(), format_duration_ns(of.span_ns));
    // What is lacking is the next thing to do, so it stands in the same sentence.
    if of.lacks.is_empty() { made } else { format!("{made}; lacks {}", lacks(of).join(", ")) }
}

/// What is lacking, each in a few words.
pub(crate) fn lacks(of: &Proof) -> Vec<String> {
    of.lacks.iter().copied().map(lack).collect()
}

fn lack(of: Lack) -> String {
    match of {
        Lack::Runs(runs) => format!("{} more", counted_noun(runs.into(), "run")),
        Lack::Span(ns) => format!("{} more between the first and the last", format_duration_ns(ns)),
        Lack::Hosts(hosts) => counted_noun(hosts.into(), "host"),
        Lack::Cache(cache) => {
            format!("{} excluded (server_memory, and a dataset 3 times as large)", cache_below(cache))
        }
        // No number of runs makes up for a need that nobody measured.
        Lack::MeasuredProfile => "a profile that was measured".to_owned(),
        Lack::Word(runs) => format!("a word of {}", counted_noun(runs as u64, "run")),
        Lack::Agreement => "runs that agree".to_owned(),
        Lack::Gate(runs) => format!("what else the gate demands in {}", counted_noun(runs as u64, "run")),
    }
}

#[cfg(test)]
mod tests {
    use analysis::Evidence;
    use feed::Judgement;

    use super::*;

    #[test]
    fn a_proof_says_what_it_rests_on_and_a_screen_what_it_lacks() {
        const HOUR_NS: u64 = 3_600_000_000_000;
        let of = |evidence, lacks: &[Lack]| Proof {
            target: "disk".to_owned(),
            judgement: Judgement::Feeds,
            evidence,
            runs: 2,
            span_ns: 9 * HOUR_NS,
            lacks: lacks.to_vec(),
        };
        assert_eq!(sentence(&of(Evidence::Proof { runs: 2 }, &[])), "proof: 2 runs over 9 h");
        assert_eq!(
            sentence(&of(Evidence::Screen, &[Lack::Runs(1), Lack::Span(15 * HOUR_NS), Lack::Agreement])),
            "screen: 2 runs over 9 h; lacks 1 run more, 15 h more between the first and the last, runs that agree"
        );
        let gate = sentence(&of(Evidence::Screen, &[Lack::Gate(2)]));
        assert_eq!(gate, "screen: 2 runs over 9 h; lacks what else the gate demands in 2 runs");
    }
}
