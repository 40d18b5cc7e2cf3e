//! Asking whether an RPC program is there.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A program and its version.
pub(super) type Program = (u32, u32);

/// RFC 1833 section 3.1.
pub(super) const PORT_MAPPER: Program = (100_000, 2);
/// RFC 1813 section 2.3.
pub(super) const NFS: Program = (100_003, 3);
/// RFC 1813 section 5.1.1.
pub(super) const MOUNT: Program = (100_005, 3);

const LIMIT: Duration = Duration::from_secs(2);
/// The last fragment of a record (RFC 5531 section 11).
const LAST: u32 = 1 << 31;
/// A reply that says nothing but that the call succeeded: xid, REPLY, MSG_ACCEPTED, an empty verifier, SUCCESS.
const REPLY_WORDS: usize = 6;

/// The procedure of a port mapper that tells the port of a program, and TCP as it names it (RFC 1833 section 3.1).
const GET_PORT: u32 = 3;
const TCP: u32 = 6;

/// Whether a program answers procedure 0, which does nothing (RFC 5531 section 12).
pub(super) fn answers(at: SocketAddr, program: Program) -> bool {
    call::<REPLY_WORDS>(at, program, 0, &[]).is_ok_and(|reply| has_succeeded(&reply))
}

/// Whether the port mapper at `at` knows where a program listens. A server registers what answers already.
pub(super) fn is_registered(at: SocketAddr, (program, version): Program) -> bool {
    let reply = call::<{ REPLY_WORDS + 1 }>(at, PORT_MAPPER, GET_PORT, &[program, version, TCP, 0]);
    reply.is_ok_and(|reply| has_succeeded(&reply) && reply[REPLY_WORDS] != 0)
}

fn has_succeeded(reply: &[u32]) -> bool {
    reply[1] == 1 && reply[2] == 0 && reply[REPLY_WORDS - 1] == 0
}

/// The first `WORDS` words of the reply.
fn call<const WORDS: usize>(
    at: SocketAddr,
    (program, version): Program,
    procedure: u32,
    arguments: &[u32],
) -> io::Result<[u32; WORDS]> {
    let mut stream = TcpStream::connect_timeout(&at, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    // xid, CALL, RPC version 2, program, version, procedure, no credentials, no verifier (RFC 5531 section 9).
    let words = [&[1, 0, 2, program, version, procedure, 0, 0, 0, 0], arguments].concat();
    let head = LAST | (words.len() as u32 * 4);
    let bytes: Vec<u8> = [head].iter().chain(&words).flat_map(|word| word.to_be_bytes()).collect();
    stream.write_all(&bytes)?;
    // Read to the words that are wanted and no further: nothing is asked behind it.
    let mut reply = vec![0; 4 + 4 * WORDS];
    stream.read_exact(&mut reply)?;
    let word = |index: usize| {
        let at = 4 + 4 * index;
        u32::from_be_bytes([reply[at], reply[at + 1], reply[at + 2], reply[at + 3]])
    };
    Ok(std::array::from_fn(word))
}
