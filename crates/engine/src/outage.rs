//! Waiting for a server that went away, so that an outage of seconds does not cost the rest of a run.

use backend::{Completion, ErrorKind, Op, Request};
use plan::{Cell, Task, Words as _};
use record::{Outage, Outcome};

use crate::error::RepError;
use crate::outcome::Measured;
use crate::rep;
use crate::spec::RepSpec;

/// How long a server is waited for: filers and gateways start again within minutes.
pub(crate) const WAIT_NS_MAX: u64 = 300_000_000_000;

/// How often a repetition that meets an outage is made again. If the last attempt fails too, the repetition has failed.
pub(crate) const AGAIN_MAX: u32 = 2;

/// Reads of the first look. The server is away if all of them fail; one that fails only some of its reads is there.
const FIRST_READS: u32 = 3;

/// Between two looks.
// Twice a second: a server that comes up under the load of its clients should not find one that asks a thousand
// times.
const PAUSE_NS: u64 = 500_000_000;

/// A look without a reply after this time counts as not answered.
const LOOK_NS_MAX: u64 = 2_000_000_000;

/// How often a wait checks whether the run is to end.
const STEP_NS: u64 = 100_000_000;

/// What a repetition says of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    /// Nothing that an outage would explain.
    None,
    /// Some operations failed as they do where a server is away. One that is asked too much can do that too.
    Perhaps,
    /// No connection could be made, where there had been some, or the repetition failed of lost connections.
    Sure,
    /// It was this process that was away.
    Suspended,
}

impl Sign {
    /// The sign of a repetition that ended.
    pub(crate) fn of(measured: &Result<Measured, RepError>) -> Self {
        let of_kind = |kind: ErrorKind| match kind {
            ErrorKind::Connect => Self::Sure,
            kind if is_away(kind) => Self::Perhaps,
            _ => Self::None,
        };
        match measured {
            Err(RepError::Store(error)) => of_kind(error.kind()),
            // The machine's own limits (memory, threads) are no outage, however often it is tried.
            Err(_) => Self::None,
            Ok(measured) => {
                let is_failed = matches!(measured.rep.outcome, Outcome::Failed { .. });
                let met = measured.rep.errors.keys().filter_map(|kind| ErrorKind::of_word(kind));
                // One that failed has no figures to lose, and a server may be back before it is looked at.
                let of_kind =
                    |kind: ErrorKind| if is_failed && kind.is_lost() { Self::Sure } else { of_kind(kind) };
                met.map(of_kind).max().unwrap_or(Self::None)
            }
        }
    }
}

/// Whether operations fail so where a server is away.
fn is_away(kind: ErrorKind) -> bool {
    kind.is_lost() || kind == ErrorKind::Timeout
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// The server was there at the first look.
    NotAway,
    /// It answered in the end, or the run is to end: the repetition is to be made again.
    Over(Outage),
    /// It did not answer in time.
    InVain,
}

/// Waits until the server of `spec` answers a read, at most until `until_ns`. Calls `say` once if it does not answer the
/// first look.
pub(crate) fn wait(spec: &RepSpec<'_>, until_ns: u64, say: &mut dyn FnMut()) -> Waited {
    let begun_ns = spec.clock.now_ns();
    for look in 0_u32.. {
        let reads = if look == 0 { FIRST_READS } else { 1 };
        let answers = (0..reads).any(|_| answers(spec));
        let outage = Outage { away_ns: spec.clock.now_ns() - begun_ns, suspended: false };
        match look {
            // What it met is recorded, and resuming makes it again.
            _ if spec.is_stopped() => return Waited::Over(outage),
            0 if answers => return Waited::NotAway,
            _ if answers => return Waited::Over(outage),
            0 => say(),
            _ => {}
        }
        let next_ns = spec.clock.now_ns() + PAUSE_NS;
        if next_ns > until_ns {
            return Waited::InVain;
        }
        pause(spec, next_ns);
    }
    Waited::InVain
}

/// Whether a single read is answered. An error that the server itself reports is an answer.
fn answers(spec: &RepSpec<'_>) -> bool {
    match look(spec) {
        Ok(Some(completion)) => completion.result.err().is_none_or(|error| !is_away(error.kind)),
        Ok(None) => false,
        Err(RepError::Store(error)) => !is_away(error.kind()),
        Err(_) => true,
    }
}

/// Reads the first block of the dataset by a queue of its own; `None` where no answer came in time.
fn look(spec: &RepSpec<'_>) -> Result<Option<Completion>, RepError> {
    // A read whatever the cell does: every storage answers one, and metadata may come from a cache before a server
    // that is away.
    let cell = Cell { task: Task::Read, ..spec.cell.clone() };
    let (mut queue, buffers) =
        rep::open(&RepSpec { cell: &cell, ..*spec }, (1, cell.connections.min(1)), None)?;
    let len = spec.data.objects().bytes(0).min(u64::from(cell.block_bytes)) as u32;
    let op = Op::Read { object: 0, offset: 0, len };
    let mut requests = buffers.into_iter().map(|buf| Request { token: 0, op, buf }).collect();
    let mut done = Vec::new();
    let until_ns = spec.clock.now_ns() + LOOK_NS_MAX;
    let mut is_ok = queue.submit(&mut requests, &mut done).is_ok();
    while is_ok && done.is_empty() && spec.clock.now_ns() < until_ns && !spec.is_stopped() {
        is_ok = queue.wait(1, until_ns.min(spec.clock.now_ns() + STEP_NS), &mut done).is_ok();
    }
    let answer = done.pop();
    // Closed without waiting: what has not answered by now is what was found out.
    queue.close(spec.clock.now_ns(), &mut done);
    Ok(answer)
}

fn pause(spec: &RepSpec<'_>, until_ns: u64) {
    let now_ns = || spec.clock.now_ns();
    while now_ns() < until_ns && !spec.is_stopped() {
        backend::null::pass_time(spec.clock, until_ns.min(now_ns() + STEP_NS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_that_lost_its_connections_and_failed_met_an_outage_though_the_server_is_back() {
        let cell = Cell::plain(plan::Engine::Null, 4_096, 1);
        let of = |outcome: &Outcome, kind: ErrorKind| {
            let mut measured = Measured::failed(&cell, String::new(), 0);
            measured.rep.outcome = outcome.clone();
            measured.rep.errors.insert(kind.name().to_owned(), 1);
            Sign::of(&Ok(measured))
        };
        let failed = Outcome::Failed { reason: String::new() };
        let kinds = [ErrorKind::Connect, ErrorKind::Reset, ErrorKind::Timeout, ErrorKind::Throttled];
        assert_eq!(kinds.map(|kind| of(&failed, kind)), [Sign::Sure, Sign::Sure, Sign::Perhaps, Sign::None]);
        let complete = kinds.map(|kind| of(&Outcome::Complete, kind));
        assert_eq!(complete, [Sign::Sure, Sign::Perhaps, Sign::Perhaps, Sign::None]);
    }
}
