//! Verdicts: all that a need asks of a target, in words.

use analysis::{CheckpointVerdict, ReadVerdict, Verdict};

use super::{checkpoint_verdict, need, read_verdict};

/// The verdict as one sentence, without its first words (judgement and target). Where checkpoints are asked for, each need is
/// told with its own word.
pub fn sentence(of: &Verdict) -> String {
    let reads = of.of_reads().map(|reads| (reads, read_verdict::sentence(reads)));
    if of.checkpoints.is_empty() {
        return reads.map(|(_, words)| words).unwrap_or_default();
    }
    let reads = reads.map(|(reads, words)| format!("{}: {words}", word_of_reads(reads)));
    let checkpoints = of.checkpoints.iter();
    let checkpoints =
        checkpoints.map(|one| format!("{}: {}", word_of_part(one), checkpoint_verdict::sentence(one)));
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
        first.insert_str(0, &format!("{}: ", word_of_reads(reads)));
    }
    for one in &of.checkpoints {
        let mut own = checkpoint_verdict::reasons(one);
        own[0].insert_str(0, &format!("{}: ", word_of_part(one)));
        reasons.extend(own);
    }
    reasons
}

/// `reads FEEDS`; the need alone where nothing is judged.
fn word_of_reads(of: &ReadVerdict) -> String {
    let need = need::name(of.asked);
    if of.is_demo() { need.to_owned() } else { format!("{need} {}", of.judgement.name()) }
}

/// `write STARVES`.
fn word_of_part(of: &CheckpointVerdict) -> String {
    let part = checkpoint_verdict::part(of.part);
    if of.cause == analysis::CheckpointCause::Demo {
        return part.to_owned();
    }
    format!("{part} {}", of.judgement.name())
}
