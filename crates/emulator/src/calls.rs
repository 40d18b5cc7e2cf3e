//! Calls on their way in, marked with their procedure.
//!
//! `nfs3_server` asks for attributes within almost every call, so that a file system cannot tell a GETATTR, which is
//! to be delayed, from the attributes that go with a READ. A handle of ours has room for the procedure: it is written
//! there as the call passes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use nfs3_server::nfs3_types::nfs3::PROGRAM as NFS_PROGRAM;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

/// Bytes of a handle: the crate's generation, our number of the file, our mark.
const HANDLE_BYTES: usize = 24;

/// Where in it the mark is.
const MARK_AT: usize = 16;

/// The head of a call is never longer: RPC header, credentials and verifier of at most 400 bytes, a handle
/// (RFC 5531 sections 8.2 and 9, RFC 1813 section 2.6).
const HEAD_BYTES_MAX: usize = 1024;

/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// Calls as they come in.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Only ever grows: clearing it for each read would cost more than the read.
    buffer: Vec<u8>,
    /// Bytes of `buffer` that were read.
    held: usize,
    /// Bytes of `buffer` that were handed on.
    taken: usize,
    /// Bytes of `buffer` that may be handed on.
    ready: usize,
    /// Bytes that follow and belong to a call that was marked.
    passing: usize,
    /// Whether the next fragment goes on with the call before it.
    continues: bool,
}

impl Calls {
    pub(crate) fn poll_read(
        &mut self,
        socket: &mut TcpStream,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.taken == self.ready {
            self.buffer.copy_within(self.taken..self.held, 0);
            self.held -= self.taken;
            (self.taken, self.ready) = (0, 0);
            let end = self.held + READ_BYTES;
            self.buffer.resize(self.buffer.len().max(end), 0);
            let mut space = ReadBuf::new(&mut self.buffer[self.held..end]);
            ready!(Pin::new(&mut *socket).poll_read(cx, &mut space))?;
            let length = space.filled().len();
            self.held += length;
            if length == 0 {
                return Poll::Ready(Ok(()));
            }
            self.mark();
        }
        let take = out.remaining().min(self.ready - self.taken);
        out.put_slice(&self.buffer[self.taken..self.taken + take]);
        self.taken += take;
        Poll::Ready(Ok(()))
    }

    /// Marks the calls whose head is complete, and makes ready what was looked at.
    fn mark(&mut self) {
        loop {
            let pass = self.passing.min(self.held - self.ready);
            self.ready += pass;
            self.passing -= pass;
            let rest = &mut self.buffer[self.ready..self.held];
            if self.passing > 0 || rest.len() < 4 {
                return;
            }
            let fragment = u32::from_be_bytes([rest[0], rest[1], rest[2], rest[3]]);
            let (length, is_last) = ((fragment & 0x7fff_ffff) as usize, fragment >> 31 == 1);
            let head = length.min(HEAD_BYTES_MAX);
            // Held back until the head is there in full: a mark that comes late would change bytes that were
            // handed on.
            if rest.len() < 4 + head {
                return;
            }
            if !self.continues {
                mark_call(&mut rest[4..4 + head]);
            }
            self.continues = !is_last;
            // The rest of the fragment passes as it comes: a WRITE of a megabyte is not held.
            self.passing = 4 + length;
        }
    }
}

/// Writes the procedure of an NFS call into the handle that it begins with, if it is one of ours.
fn mark_call(call: &mut [u8]) -> Option<()> {
    const CALL: u32 = 0;
    let word = |at: usize| Some(u32::from_be_bytes(call.get(at..at + 4)?.try_into().ok()?));
    // RFC 5531 section 9: xid, CALL, version, program, version, procedure, credentials, verifier.
    if word(4)? != CALL || word(12)? != NFS_PROGRAM {
        return None;
    }
    let procedure = word(20)?;
    let mut at = 24;
    for _ in ["credentials", "verifier"] {
        // Flavor, length, body with its padding (RFC 5531 section 8.2).
        at += 8 + (word(at + 4)? as usize).next_multiple_of(4);
    }
    // A handle of another length is none of ours: its bytes are passed on as they came.
    if word(at)? as usize != HANDLE_BYTES {
        return None;
    }
    let mark = at + 4 + MARK_AT;
    call.get_mut(mark..mark + 4)?.copy_from_slice(&procedure.to_le_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(program: u32, procedure: u32, credentials: usize, behind: usize) -> Vec<u8> {
        let mut words = vec![7_u32, 0, 2, program, 3, procedure, 1, credentials as u32];
        words.extend(vec![0xaaaa_aaaa; credentials.div_ceil(4)]);
        words.extend([0, 0, HANDLE_BYTES as u32]);
        words.extend([1, 2, 3, 4, 5, 6]);
        words.extend(vec![9; behind]);
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut record = (body.len() as u32 | 1 << 31).to_be_bytes().to_vec();
        record.extend(body);
        record
    }

    fn marked(record: &[u8]) -> Vec<u8> {
        let mut expected = record.to_vec();
        let credentials = u32::from_be_bytes(record[32..36].try_into().unwrap()).next_multiple_of(4) as usize;
        let at = 4 + 32 + credentials + 8 + 4 + MARK_AT;
        expected[at..at + 4].copy_from_slice(&[record[27], 0, 0, 0]);
        expected
    }

    /// Hands `bytes` over in pieces and gathers what comes out.
    fn passed(bytes: &[u8], piece: usize) -> Vec<u8> {
        let mut calls = Calls::default();
        let mut out = Vec::new();
        for piece in bytes.chunks(piece) {
            calls.buffer.extend_from_slice(piece);
            calls.held = calls.buffer.len();
            calls.mark();
            out.extend_from_slice(&calls.buffer[calls.taken..calls.ready]);
            calls.buffer.drain(..calls.ready);
            calls.held = calls.buffer.len();
            (calls.taken, calls.ready) = (0, 0);
        }
        out
    }

    #[test]
    fn calls_are_marked_however_they_are_cut() {
        let [read, long, other] =
            [call(NFS_PROGRAM, 6, 28, 3), call(NFS_PROGRAM, 7, 0, 700), call(100_005, 1, 3, 0)];
        let stream = [read.clone(), long.clone(), other.clone(), read.clone()].concat();
        let expected = [marked(&read), marked(&long), other, marked(&read)].concat();
        for piece in [1, 5, 64, 1000, stream.len()] {
            assert_eq!(passed(&stream, piece), expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn what_is_no_call_passes_untouched() {
        let cut = [0x80, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(passed(&cut, 12), cut);
        let mut lying = call(NFS_PROGRAM, 6, 28, 0);
        lying[32..36].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(passed(&lying, lying.len()), lying);
    }

    #[test]
    fn only_the_first_fragment_of_a_call_is_looked_at() {
        let mut first = call(NFS_PROGRAM, 6, 0, 0);
        first[0] &= 0x7f;
        let second = call(NFS_PROGRAM, 6, 0, 0);
        let stream = [first.clone(), second.clone(), second.clone()].concat();
        assert_eq!(passed(&stream, 13), [marked(&first), second.clone(), marked(&second)].concat());
    }
}
