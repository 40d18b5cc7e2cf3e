//! What is known of the order in which samples come, in words.

use analysis::OrderFact;
use feed::{counted_noun, group_digits};
use record::Mixing;

pub(crate) fn words(fact: &OrderFact) -> String {
    match fact {
        OrderFact::SideBySide { shards, asked, buffer_samples } => {
            let asked = asked.map(|asked| format!(" of the {asked} asked for")).unwrap_or_default();
            let buffer = match buffer_samples {
                0 => "no shuffle buffer".to_owned(),
                samples => {
                    format!("each with a shuffle buffer of {}", counted_noun((*samples).into(), "sample"))
                }
            };
            format!("{} side by side{asked}, {buffer}", counted_noun(*shards, "shard"))
        }
        OrderFact::Runs { samples } => {
            format!("runs of {} that follow each other", counted_noun((*samples).into(), "sample"))
        }
        OrderFact::Mixed(mixing) => mixed(mixing),
        OrderFact::Tail { shards, share } => format!(
            "{} for the rank that has most; the mean one has nothing left for {:.1} % of an epoch",
            counted_noun(*shards, "shard"),
            share * 100.0
        ),
    }
}

/// `samples move 62 % as far as a whole shuffle moves them, ...`.
fn mixed(mixing: &Mixing) -> String {
    let moved = mixing.displacement * 100.0;
    let kept = mixing.neighbours_kept * 100.0;
    let held = match mixing.buffer_samples {
        0 => String::new(),
        samples => format!(" ({} held by all readers)", group_digits(samples)),
    };
    // Where all readers have as much there is nothing to plan for.
    let uneven = if mixing.imbalance > 0.0 {
        format!("; the largest share of a reader is {:.1} % above the mean one", mixing.imbalance * 100.0)
    } else {
        String::new()
    };
    format!(
        "samples move {moved:.0} % as far as a whole shuffle moves them, and {kept:.1} % still follow their \
         neighbour{held}{uneven}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_an_order_is_said_with_its_figures() {
        let side_by_side =
            |asked, buffer_samples| words(&OrderFact::SideBySide { shards: 10, asked, buffer_samples });
        assert_eq!(
            side_by_side(None, 100),
            "10 shards side by side, each with a shuffle buffer of 100 samples"
        );
        assert_eq!(
            side_by_side(Some(16), 0),
            "10 shards side by side of the 16 asked for, no shuffle buffer"
        );
        let mixing = Mixing { buffer_samples: 800, displacement: 0.5, neighbours_kept: 0.25, imbalance: 0.0 };
        assert_eq!(
            words(&OrderFact::Mixed(mixing)),
            "samples move 50 % as far as a whole shuffle moves them, and 25.0 % still follow their neighbour (800 held \
             by all readers)"
        );
    }
}
