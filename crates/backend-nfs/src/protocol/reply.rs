//! Replies as bytes: how long, whose, and whether the server did what was asked.

use backend::{ErrorKind, OpError};
use backend_net::{Frame, Head};

use crate::status::Status;
use crate::xdr::{LAST_FRAGMENT, Reader, Unread, VERIFIER_BYTES_MAX};

/// Bytes of the mark before a record.
const MARK_BYTES: usize = 4;

/// Bytes of a reply's number, which the first of several fragments must have.
const NUMBER_BYTES: usize = 4;

/// Bytes of the shortest reply: number, type, whether it was accepted.
const REPLY_BYTES_MIN: usize = 12;

/// Bytes to ask for where a head is not there in full; most heads have no more.
const HEAD_BYTES: usize = 128;

/// The error of bytes that make no sense: nothing more can be read from the connection.
pub(crate) const NONSENSE: OpError = OpError { kind: ErrorKind::Protocol, code: 0 };

/// Why a reply cannot be read (on).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// More bytes are needed, so many.
    Need(usize),
    /// It makes no sense; says why.
    Nonsense(&'static str),
}

/// Why data in several fragments are refused.
const DATA_IN_FRAGMENTS: &str = "data in several fragments, which are not read here";

/// Whose reply it is, by its first bytes. No reply is longer than `record_bytes_max`.
pub(crate) fn frame(bytes: &[u8], record_bytes_max: usize) -> Result<Frame, &'static str> {
    let mut reader = Reader::new(bytes);
    let Ok(mark) = reader.word() else { return Ok(Frame::Need(MARK_BYTES + 4)) };
    let length = (mark & !LAST_FRAGMENT) as usize;
    // Before a byte of it is kept: a mark can claim 2 GiB.
    if length > record_bytes_max {
        return Err("a reply longer than what was asked");
    }
    if length < if mark & LAST_FRAGMENT == 0 { NUMBER_BYTES } else { REPLY_BYTES_MIN } {
        return Err("a record too short for a reply");
    }
    Ok(reader.word().map_or(Frame::Need(MARK_BYTES + 4), |id| Frame::Reply { id: Some(id) }))
}

/// Joins a reply that came in several fragments (RFC 5531 section 11) to one with a single mark, of at most `most` bytes;
/// returns the bytes that it had with its marks. `None` for one that came in one fragment.
pub(crate) fn join(bytes: &[u8], most: usize, into: &mut Vec<u8>) -> Result<Option<usize>, Stop> {
    into.clear();
    into.extend([0; MARK_BYTES]);
    let mut at = 0;
    loop {
        let begin = at + MARK_BYTES;
        let mark = bytes.get(at..).and_then(|bytes| Reader::new(bytes).word().ok());
        let mark = mark.ok_or(Stop::Need(begin))?;
        let (length, is_last) = ((mark & !LAST_FRAGMENT) as usize, mark & LAST_FRAGMENT != 0);
        if is_last && at == 0 {
            return Ok(None);
        }
        // A server could send these for ever without the record getting longer.
        if length == 0 && !is_last {
            return Err(Stop::Nonsense("a fragment without bytes"));
        }
        if into.len() + length > most {
            return Err(Stop::Nonsense(DATA_IN_FRAGMENTS));
        }
        at = begin + length;
        into.extend(bytes.get(begin..at).ok_or(Stop::Need(at))?);
        if is_last {
            let mark = LAST_FRAGMENT | (into.len() - MARK_BYTES) as u32;
            into[..MARK_BYTES].copy_from_slice(&mark.to_be_bytes());
            return Ok(Some(at));
        }
    }
}

/// The head of a joined reply, as the `bytes` that it came in.
pub(crate) fn unjoined(head: Head, bytes: usize) -> Result<Head, Stop> {
    match head {
        Head::Data { body_bytes: 0, place, .. } => {
            Ok(Head::Data { head_bytes: bytes, body_bytes: 0, place, trailer_bytes: 0 })
        }
        // The engine reads data from the socket into the buffer and knows of no marks within them. Ganesha
        // sends up to 4 MiB in one fragment.
        _ => Err(Stop::Nonsense(DATA_IN_FRAGMENTS)),
    }
}

/// A reply from its record mark on, as far as it is there.
pub(crate) struct Record<'a> {
    pub(crate) reader: Reader<'a>,
    /// Bytes of it, the mark included.
    total: usize,
}

/// What a reply says before its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// The procedure ran; its status comes next.
    Accepted,
    /// It did not run.
    Refused(CallRefusal),
}

/// Why the server did not run a procedure (RFC 5531 section 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallRefusal {
    pub(crate) error: OpError,
    pub(crate) name: &'static str,
}

impl<'a> Record<'a> {
    /// `bytes` begin with a mark that [`frame`] took.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, Stop> {
        let mark = Reader::new(bytes).word().map_err(|_| Stop::Need(MARK_BYTES))?;
        let total = MARK_BYTES + (mark & !LAST_FRAGMENT) as usize;
        let mut reader = Reader::new(&bytes[..bytes.len().min(total)]);
        // Mark and number; `frame` read them.
        let _ = reader.long();
        Ok(Self { reader, total })
    }

    /// A value that is not there: the reply may have it still, or be over.
    pub(crate) fn stop(&self, unread: Unread) -> Stop {
        match unread {
            Unread::More(needed) if needed > self.total => Stop::Nonsense("a reply that ends too early"),
            Unread::More(needed) => Stop::Need(needed.max(HEAD_BYTES).min(self.total)),
            Unread::Wrong(what) => Stop::Nonsense(what),
        }
    }

    /// Bytes of the reply behind what was read.
    pub(crate) fn rest(&self) -> usize {
        self.total - self.reader.position()
    }

    fn word(&mut self) -> Result<u32, Stop> {
        self.reader.word().map_err(|unread| self.stop(unread))
    }

    /// Reads up to the status of the procedure.
    pub(crate) fn said(&mut self) -> Result<Said, Stop> {
        if self.word()? != 1 {
            return Err(Stop::Nonsense("a message that is no reply"));
        }
        match self.word()? {
            0 => {}
            1 => return self.denied().map(Said::Refused),
            _ => return Err(Stop::Nonsense("a reply neither accepted nor denied")),
        }
        self.word()?;
        self.reader.opaque(VERIFIER_BYTES_MAX).map_err(|unread| self.stop(unread))?;
        let code = self.word()?;
        let (kind, name) = match code {
            0 => return Ok(Said::Accepted),
            1 => (ErrorKind::Protocol, "PROG_UNAVAIL"),
            2 => (ErrorKind::Protocol, "PROG_MISMATCH"),
            3 => (ErrorKind::Protocol, "PROC_UNAVAIL"),
            4 => (ErrorKind::Protocol, "GARBAGE_ARGS"),
            5 => (ErrorKind::Server, "SYSTEM_ERR"),
            _ => return Err(Stop::Nonsense("a reply accepted in an unknown way")),
        };
        Ok(Said::Refused(CallRefusal { error: OpError { kind, code }, name }))
    }

    fn denied(&mut self) -> Result<CallRefusal, Stop> {
        match self.word()? {
            0 => Ok(CallRefusal { error: NONSENSE, name: "RPC_MISMATCH" }),
            1 => {
                let code = self.word()?;
                let error = OpError { kind: ErrorKind::Permission, code };
                let name = match code {
                    1 => "AUTH_BADCRED",
                    2 => "AUTH_REJECTEDCRED",
                    3 => "AUTH_BADVERF",
                    4 => "AUTH_REJECTEDVERF",
                    5 => "AUTH_TOOWEAK",
                    6 => "AUTH_INVALIDRESP",
                    7 => "AUTH_FAILED",
                    _ => "AUTH_ERROR of an unknown kind",
                };
                Ok(CallRefusal { error, name })
            }
            _ => Err(Stop::Nonsense("a reply denied in an unknown way")),
        }
    }

    /// The status of the procedure.
    pub(crate) fn status(&mut self) -> Result<Status, Stop> {
        self.word().map(Status)
    }

    /// A head without data, for whatever was read, that passes over the rest.
    pub(crate) fn passed_over(&self) -> Head {
        Head::Data {
            head_bytes: self.reader.position(),
            body_bytes: 0,
            place: backend_net::Place { at: 0, wrap: 1 },
            trailer_bytes: self.rest() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    fn said(reply: &[u32]) -> Result<Said, Stop> {
        let mut bytes = words(&[LAST_FRAGMENT | (reply.len() * 4) as u32]);
        bytes.extend(words(reply));
        Record::new(&bytes)?.said()
    }

    #[test]
    fn a_reply_is_told_by_its_number() {
        let bytes = words(&[LAST_FRAGMENT + 24, 4711, 1]);
        assert_eq!(frame(&bytes, 100), Ok(Frame::Reply { id: Some(4711) }));
        for length in 0..8 {
            assert_eq!(frame(&bytes[..length], 100), Ok(Frame::Need(8)));
        }
    }

    #[test]
    fn records_that_no_reply_can_be_are_broken() {
        for mark in [101, 3, LAST_FRAGMENT + 101, u32::MAX, LAST_FRAGMENT, LAST_FRAGMENT + 8] {
            assert!(frame(&words(&[mark, 1]), 100).is_err(), "{mark:x}");
        }
    }

    fn cut(record: &[u8], bytes: usize) -> Vec<u8> {
        let count = record.len().div_ceil(bytes);
        let mark = |at: usize, length: usize| if at + 1 == count { LAST_FRAGMENT } else { 0 } | length as u32;
        let pieces = record.chunks(bytes).enumerate();
        pieces.flat_map(|(at, piece)| [&mark(at, piece.len()).to_be_bytes(), piece].concat()).collect()
    }

    #[test]
    fn fragments_are_joined_wherever_they_are_cut_and_however_they_come() {
        let body = words(&[4711, 1, 0, 0, 0, 0, 70, 0]);
        let whole = [&(LAST_FRAGMENT | 32).to_be_bytes()[..], &body].concat();
        let mut joined = Vec::new();
        assert_eq!(join(&whole, 100, &mut joined), Ok(None));
        for bytes in 4..32 {
            let mut cut = cut(&body, bytes);
            assert_eq!(frame(&cut, 100), Ok(Frame::Reply { id: Some(4711) }));
            let length = cut.len();
            for there in 0..length {
                let stop = join(&cut[..there], 100, &mut joined);
                assert!(matches!(stop, Err(Stop::Need(more)) if there < more && more <= length), "{stop:?}");
            }
            cut.extend(b"the next one");
            assert_eq!(join(&cut, 100, &mut joined), Ok(Some(length)));
            assert_eq!(joined, whole);
            assert_eq!(join(&cut, 35, &mut joined), Err(Stop::Nonsense(DATA_IN_FRAGMENTS)));
        }
        let empty = words(&[4, 4711, 0, 0]);
        assert!(matches!(join(&empty, 100, &mut joined), Err(Stop::Nonsense(_))));
    }

    #[test]
    fn refusals_are_told_apart() {
        let refused = |reply: &[u32]| match said(reply) {
            Ok(Said::Refused(refusal)) => (refusal.error.kind, refusal.error.code, refusal.name),
            other => panic!("{other:?}"),
        };
        assert_eq!(said(&[9, 1, 0, 0, 0, 0]), Ok(Said::Accepted));
        assert_eq!(refused(&[9, 1, 1, 1, 5]), (ErrorKind::Permission, 5, "AUTH_TOOWEAK"));
        assert_eq!(refused(&[9, 1, 1, 0, 2, 2]), (ErrorKind::Protocol, 0, "RPC_MISMATCH"));
        assert_eq!(refused(&[9, 1, 0, 0, 0, 2, 4, 4]), (ErrorKind::Protocol, 2, "PROG_MISMATCH"));
        assert_eq!(refused(&[9, 1, 0, 0, 0, 4]), (ErrorKind::Protocol, 4, "GARBAGE_ARGS"));
        assert_eq!(refused(&[9, 1, 0, 0, 0, 5]), (ErrorKind::Server, 5, "SYSTEM_ERR"));
        for nonsense in [
            &[9, 0, 0, 0, 0, 0][..],
            &[9, 1, 2, 0, 0],
            &[9, 1, 0, 0, 401, 0],
            &[9, 1, 0, 0, 0, 6],
            &[9, 1, 1, 2],
        ] {
            assert!(matches!(said(nonsense), Err(Stop::Nonsense(_))), "{nonsense:?}");
        }
        assert_eq!(said(&[9, 1, 0, 0, 0]), Err(Stop::Nonsense("a reply that ends too early")));
    }
}
