//! The end of a run of several processes before its end.

use std::process;
use std::thread;
use std::time::Duration;

use super::meeting::{Meeting, named};
use crate::exit::{Exit, Failure};
use crate::{output, signals};

/// Ranks that are named one by one.
const NAMED_MAX: usize = 8;

/// How long those wait that do not speak, for the one that keeps what was measured.
const KEPT_WITHIN: Duration = Duration::from_secs(3);

/// What is said where processes do not come.
pub(super) fn missing_words(missing: &[u32], hosts: &[String], patience_ns: u64) -> String {
    let names: Vec<String> = missing.iter().take(NAMED_MAX).map(|rank| named(*rank, hosts)).collect();
    let more = missing.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "error: {}{more} did not come within {}, where all others wait: the process hangs, or its host does\n  what was measured \
         until then is kept, and judges nothing\n  hint: look at that host; --patience 60s waits longer",
        names.join(", "),
        feed::format_duration_ns(patience_ns),
    )
}

/// Whether it is this process that speaks, of `size` of which some are missing: the first that is there.
pub(super) fn speaks(own: u32, size: u32, missing: &[u32]) -> bool {
    (0..size).find(|rank| !missing.contains(rank)) == Some(own)
}

/// Ends all processes, as some of them do not come. The one that speaks keeps what was measured before.
#[expect(clippy::exit, reason = "what is waited for does not return, so no caller can end the process")]
pub(super) fn end(words: &str, speaks: bool, abort: impl FnOnce(i32, &str)) {
    if speaks {
        output::say(words);
        signals::end_kept();
    } else {
        wait(KEPT_WITHIN);
    }
    abort(Exit::Error as i32, words);
    process::exit(Exit::Error as i32);
}

/// Says why this process cannot go on, and ends all of them.
pub(super) fn fail(meeting: &Meeting, failure: &Failure) -> Failure {
    let own = meeting.named(meeting.share().index);
    output::say(&format!("{own}: {failure}"));
    let exit = failure.exit();
    meeting.abort(exit as i32, &format!("{own} ended"));
    Failure::Said(exit)
}

#[expect(clippy::disallowed_methods, reason = "nothing is measured any more")]
fn wait(time: Duration) {
    thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_there_speaks_and_names_who_is_not() {
        assert_eq!([0, 1, 2].map(|own| speaks(own, 3, &[0])), [false, true, false]);
        assert_eq!([0, 1, 2].map(|own| speaks(own, 3, &[2])), [true, false, false]);
        let hosts: Vec<String> = (0..20).map(|rank| format!("n{rank}")).collect();
        let words = missing_words(&[2], &hosts, 6_000_000_000);
        assert!(words.starts_with("error: rank 2 on n2 did not come within 6 s, where"), "{words}");
        let all: Vec<u32> = (1..20).collect();
        assert!(missing_words(&all, &[], 6).starts_with("error: rank 1, rank 2, "), "without hosts");
        assert!(missing_words(&all, &hosts, 6).contains("rank 8 on n8 and 11 more did not"));
    }
}
