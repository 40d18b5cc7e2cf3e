//! Why a cell has no figures, in words.

use analysis::{Gap, GapCause, JobGap};

use super::{kinds, operation};

/// Of storage behind a network, with the first failure in the storage's own words.
pub(crate) fn words(gap: &Gap) -> String {
    let cause = cause(&gap.cause);
    // Left out where the cause has it already: one sentence of an error is enough.
    match gap.first.as_ref().filter(|first| !cause.contains(first.as_str())) {
        Some(first) => format!("{cause}; the first: {first}"),
        None => cause,
    }
}

fn cause(cause: &GapCause) -> String {
    let words = match cause {
        GapCause::Recorded(reason) => reason,
        GapCause::NotRecorded => "the record gives no reason",
        GapCause::RunCut => "the run was cut before it",
        GapCause::Interrupted => "interrupted too early to count",
        GapCause::AllWarmup => {
            "the warm-up read the whole dataset: make dataset.size larger or the warm-up shorter"
        }
        GapCause::EmptyWindow => "the window was empty",
        GapCause::AllFailed { operation, kinds } => {
            return format!("all {}s failed: {}", operation::noun(operation), kinds::errors(kinds));
        }
        GapCause::NothingEnded { operation } => {
            let noun = operation::noun(operation);
            return format!("no {noun} ended inside the window; lengthen measure.duration");
        }
        GapCause::NotApart => "the record does not say how much of it was read and how much written",
        GapCause::NoSampleSize => "run.json does not say how large a sample of this cell is",
        GapCause::NotComputed => "its figures cannot be computed",
        GapCause::Job(JobGap::NotRecorded) => "the record does not say what became of its training job",
        GapCause::Job(JobGap::NoDemand) => "the record has a training job that takes no samples, or no time",
        GapCause::Job(JobGap::NoAccelerator) => "the record names no accelerator of its training job",
        GapCause::Job(JobGap::NoTime) => "the record gives an accelerator of its training job no time",
        GapCause::Job(JobGap::ComputedTooLong) => {
            "the record has an accelerator compute for longer than its training job took"
        }
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_follows_in_the_words_of_the_storage_unless_they_are_said() {
        let kinds = [("server".to_owned(), 1_200)].into_iter().collect();
        let cause = GapCause::AllFailed { operation: "read_file".into(), kinds };
        let with_first = |first: &str| words(&Gap { cause: cause.clone(), first: Some(first.to_owned()) });
        let expected = "all reads failed: 1,200 server; the first: 500 InternalError";
        assert_eq!(with_first("500 InternalError"), expected);
        assert_eq!(with_first("1,200 server"), "all reads failed: 1,200 server");
    }

    #[test]
    fn what_did_not_end_is_called_by_what_it_was() {
        let of = |operation: &str| words(&GapCause::NothingEnded { operation: operation.into() }.into());
        let ended = "ended inside the window; lengthen measure.duration";
        assert_eq!(of("read"), format!("no read {ended}"));
        assert_eq!(of("stat"), format!("no stat {ended}"));
        assert_eq!(of("copy"), format!("no write {ended}"));
        assert_eq!(words(&GapCause::Recorded("file is gone".to_owned()).into()), "file is gone");
    }
}
