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

/// Whether a program answers procedure 0, which does nothing (RFC 5531 section 12).
pub(super) fn answers(at: SocketAddr, program: Program) -> bool {
    call(at, program).is_ok_and(|reply| reply[1] == 1 && reply[2] == 0 && reply[REPLY_WORDS - 1] == 0)
}

fn call(at: SocketAddr, (program, version): Program) -> io::Result<[u32; REPLY_WORDS]> {
    let mut stream = TcpStream::connect_timeout(&at, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    // xid, CALL, RPC version 2, program, version, procedure 0, no credentials, no verifier (RFC 5531 section 9).
    let words = [1, 0, 2, program, version, 0, 0, 0, 0, 0];
    let head = LAST | (words.len() as u32 * 4);
    let bytes: Vec<u8> = [head].iter().chain(&words).flat_map(|word| word.to_be_bytes()).collect();
    stream.write_all(&bytes)?;
    let mut reply = [0; 4 + 4 * REPLY_WORDS];
    stream.read_exact(&mut reply)?;
    let word = |index: usize| {
        let at = 4 + 4 * index;
        u32::from_be_bytes([reply[at], reply[at + 1], reply[at + 2], reply[at + 3]])
    };
    Ok(std::array::from_fn(word))
}
