//! A run of several processes, from their meeting to the verdict that rank 0 gives for all.

use std::sync::Arc;

use super::asked::Asked;
use super::begin::Begun;
use super::lead::Leading;
use super::meeting::Meeting;
use super::{begin, broken, follow};
use crate::exit::{Exit, Failure};
use crate::session::{RunKind, Session};
use crate::signals;

/// How long all wait for one that does not come: end within ten seconds is what is promised.
const PATIENCE_DEFAULT_NS: u64 = 6_000_000_000;

/// Less would end healthy runs: those that work tell so once a second.
const PATIENCE_MIN_NS: u64 = 3_000_000_000;

/// How often a process that does not speak asks who is missing before it ends by itself.
const ASKED_MAX: u32 = 20;

/// Makes a run with the other processes.
///
/// # Errors
/// Where they do not agree, which rank 0 says; and what one of them cannot do, which it says itself and ends all.
pub(crate) fn run(asked: &Asked<'_>) -> Result<Exit, Failure> {
    let patience_ns = match &asked.team.patience {
        None => PATIENCE_DEFAULT_NS,
        Some(text) => patience_of(text).map_err(|said| match asked.group.rank() {
            0 => Failure::usage(said),
            _ => Failure::Said(Exit::Usage),
        })?,
    };
    let (group, own, size) = (Arc::clone(&asked.group), asked.group.rank(), asked.group.size());
    let on_missing = move |missing: &[u32], asked: u32, hosts: &[String]| {
        let speaks = broken::speaks(own, size, missing);
        // The one that speaks may allow more time than this process does: it ends all, and only where it never does they end
        // by themselves.
        if !speaks && asked < ASKED_MAX {
            return;
        }
        let words = broken::missing_words(missing, hosts, patience_ns);
        broken::end(&words, speaks, |code, why| group.abort(code, why));
    };
    let meeting = Arc::new(Meeting::new(Arc::clone(&asked.group), patience_ns, on_missing)?);
    match together(asked, &meeting) {
        // All have come to the same end, or whoever failed has said so.
        Ok(exit) => Ok(exit),
        Err(Failure::Said(exit)) => Err(Failure::Said(exit)),
        Err(failure) => Err(broken::fail(&meeting, &failure)),
    }
}

fn patience_of(text: &str) -> Result<u64, String> {
    let hint = "hint: write --patience 60s";
    let ns = feed::units::parse_duration_ns(text)
        .map_err(|error| format!("error: --patience: {error}\n  {hint}"))?;
    if ns < PATIENCE_MIN_NS {
        return Err(format!(
            "error: --patience: less than 3s would end runs of which nothing hangs\n  {hint}"
        ));
    }
    Ok(ns)
}

fn together(asked: &Asked<'_>, meeting: &Arc<Meeting>) -> Result<Exit, Failure> {
    let stop = signals::stop_flag_within(signals::GRACE_OF_LAUNCHER)?;
    if !meeting.leads() {
        // What a signal ends is said by rank 0.
        signals::keep(|| {});
    }
    let agreed = begin::agree(asked, meeting)?;
    let Begun { ready, team, secrets } = begin::make_ready(asked, meeting, agreed, &stop)?;
    if !meeting.leads() {
        follow::follow(&ready, meeting, asked.size.is_some())?;
        meeting.working(|| ())?;
        return Ok(Exit::Ok);
    }
    let slack = begin::slack(&ready.loaded.plan);
    let leading = Leading::new(Arc::clone(meeting), team, secrets, slack);
    let leading = Some(Arc::new(leading));
    let kind = RunKind { size: asked.size, leading, show: asked.show, ..RunKind::default() };
    let mut session = Session::begin(&ready, asked.measure.no_redact, kind)?;
    let interrupted = session.execute(|session, bench| (asked.make)(&ready, session, bench))?;
    // The others wait until the answer is there: a launcher may end all when the first one does.
    meeting.working(|| conclude(asked, session, interrupted))?
}

fn conclude(asked: &Asked<'_>, session: Session<'_>, interrupted: bool) -> Result<Exit, Failure> {
    let concluded = session.conclude(asked.show, None, asked.past)?;
    if interrupted { Ok(Exit::Interrupted) } else { (asked.judge)(&concluded) }
}
