//! One operation on its way through a ring: the stage it is in, and what an answer to that stage means.

use backend::{Buf, Completion, ErrorKind, OpError, PHASE_STAMPS, Stamps};
use rustix::fd::RawFd;

use super::pieces::{Pieces, PiecesAnswer, judge_size};

/// The beginning of an operation that was not handed over yet.
const NOT_BEGUN: u64 = u64::MAX;

const CHANGED: OpError = OpError { kind: ErrorKind::Changed, code: 0 };

/// The part of an operation that is outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Open,
    Read,
    Close,
    /// A look at a name, the only stage of its operation.
    Look,
}

/// What to do after an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Fill the entry of the stage that the flight is in now.
    GoOn,
    /// As before, after a read that was answered in part.
    Short,
    /// The operation has ended.
    End,
}

/// An operation that was taken and has not ended.
#[derive(Debug)]
pub(super) struct FileFlight {
    pub(super) token: u32,
    pub(super) buf: Buf,
    pub(super) stage: Stage,
    pub(super) object: u32,
    pub(super) pieces: Pieces,
    /// The open file; of no meaning where it is in the ring's own table.
    pub(super) fd: RawFd,
    /// Whether it was asked to be opened without an update of its time of last access.
    pub(super) keeps_time: bool,
    begun_ns: u64,
    phase_ns: [u64; PHASE_STAMPS],
    result: Result<u64, OpError>,
}

impl FileFlight {
    /// A whole file to be read, or, with `stage` [`Stage::Look`], a name to be looked at.
    pub(super) fn new(token: u32, buf: Buf, object: u32, pieces: Pieces, stage: Stage) -> Self {
        Self {
            token,
            buf,
            stage,
            object,
            pieces,
            fd: -1,
            keeps_time: false,
            begun_ns: NOT_BEGUN,
            phase_ns: [0; PHASE_STAMPS],
            result: Ok(0),
        }
    }

    /// It is handed over now, unless it was before.
    pub(super) fn begin(&mut self, now_ns: u64) {
        self.begun_ns = self.begun_ns.min(now_ns);
    }

    /// Takes the answer to the stage it is in.
    pub(super) fn answer(&mut self, answer: i32, look: &libc::statx, now_ns: u64) -> Then {
        match self.stage {
            // Neither has done anything yet, so the same entry is handed over again.
            Stage::Open | Stage::Look if matches!(-answer, libc::EINTR | libc::EAGAIN) => Then::GoOn,
            Stage::Open => self.opened(answer, now_ns),
            Stage::Read => self.read(answer, now_ns),
            Stage::Close => self.end(ended(answer)),
            Stage::Look => {
                let judged = judge_size(u32::from(look.stx_mode), look.stx_size, self.pieces.bytes());
                self.end(ended(answer).and(judged))
            }
        }
    }

    fn opened(&mut self, answer: i32, now_ns: u64) -> Then {
        if answer < 0 {
            return self.end(ended(answer));
        }
        self.fd = answer;
        self.phase_ns[0] = now_ns;
        self.stage = Stage::Read;
        Then::GoOn
    }

    fn read(&mut self, answer: i32, now_ns: u64) -> Then {
        match self.pieces.answer(answer) {
            PiecesAnswer::Repeat | PiecesAnswer::Next => Then::GoOn,
            PiecesAnswer::Short => Then::Short,
            PiecesAnswer::Ended(result) => {
                // Its size was not asked before: one that ends early is one of another size.
                self.result =
                    result.map_err(|error| if error.kind == ErrorKind::Eof { CHANGED } else { error });
                if self.result.is_ok() {
                    self.phase_ns[1] = now_ns;
                }
                self.stage = Stage::Close;
                Then::GoOn
            }
        }
    }

    fn end(&mut self, ended: Result<(), OpError>) -> Then {
        if let (Err(error), true) = (ended, self.result.is_ok()) {
            self.result = Err(error);
        }
        Then::End
    }

    /// Whether it turned out to be of another size than planned. What is no regular file at all looks the same here.
    pub(super) fn is_changed(&self) -> bool {
        self.stage != Stage::Look && self.result.is_err_and(|error| error.kind == ErrorKind::Changed)
    }

    /// Takes what a look at its name says of a file that has changed.
    pub(super) fn settle(&mut self, looked: Result<(u32, u64), OpError>) {
        let judged = looked.and_then(|(mode, bytes)| judge_size(mode, bytes, self.pieces.bytes()));
        if let Err(error) =
            judged.map_err(|error| if error.kind == ErrorKind::NotFound { CHANGED } else { error })
        {
            self.result = Err(error);
        }
    }

    /// The completion for its caller.
    pub(super) fn land(self, done_ns: u64) -> Completion {
        let Self { token, buf, begun_ns, phase_ns, result, .. } = self;
        let stamps = Stamps { begun_ns: begun_ns.min(done_ns), phase_ns, done_ns };
        Completion { token, buf, result, stamps }
    }
}

fn ended(answer: i32) -> Result<(), OpError> {
    if answer < 0 { Err(OpError::from_errno(-answer)) } else { Ok(()) }
}
