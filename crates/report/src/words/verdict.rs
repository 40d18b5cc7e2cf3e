//! Verdicts: all that a need asks of a target, in words.

use analysis::{CheckpointVerdict, ReadVerdict, Verdict};
use feed::Judgement;

use super::{checkpoint_verdict, need, read_verdict};

/// The verdict as one sentence, without its first words (judgement and target). Where checkpoints are asked for, each need is
/// told with its own word.
pub fn sentence(of: &Verdict) -> String {
    let reads = of.of_reads().map(|reads| (reads, read_verdict::sentence(reads)));
    if of.checkpoints.is_empty() {
        return reads.map(|(_, words)| words).unwrap_or_default();
    }
    let reads = reads.map(|(reads, words)| format!("{}: {words}", word_of_reads(of, reads)));
    let checkpoints = of.checkpoints.iter();
    let checkpoints =
        checkpoints.map(|one| format!("{}: {}", word_of_part(of, one), checkpoint_verdict::sentence(one)));
    reads.into_iter().chain(checkpoints).collect::<Vec<_>>().join(". ")
}

/// Why the judgement is this one, clause by clause, for a place where need, number of accelerators, advice and scope
/// stand by themselves.
pub(crate) fn reasons(of: &Verdict) -> Vec<String> {
    let mut reasons = of.of_reads().map(read_verdict::reasons).unwrap_or_default();
    if of.checkpoints.is_empty() {
        return reasons;
    }
    if let (Some(first), Some(reads)) = (reasons.first_mut(), of.of_reads()) {
        first.insert_str(0, &format!("{}: ", word_of_reads(of, reads)));
    }
    for one in &of.checkpoints {
        let mut own = checkpoint_verdict::reasons(one);
        own[0].insert_str(0, &format!("{}: ", word_of_part(of, one)));
        reasons.extend(own);
    }
    reasons
}

/// `reads FEEDS`.
fn word_of_reads(of: &Verdict, reads: &ReadVerdict) -> String {
    judged(of, need::name(reads.asked), reads.judgement)
}

/// `write STARVES`.
fn word_of_part(of: &Verdict, one: &CheckpointVerdict) -> String {
    judged(of, checkpoint_verdict::part(one.part), one.judgement)
}

/// A need with its word; alone of a demo, of which nothing is judged.
fn judged(of: &Verdict, need: &str, judgement: Judgement) -> String {
    if of.demo { need.to_owned() } else { format!("{need} {}", judgement.name()) }
}
