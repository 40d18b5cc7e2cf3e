//! What fuzzing needs: a protocol on a connection without a socket, fed with bytes of anybody's.

use backend::{Arena, Op};

use crate::Protocol;
use crate::conn::Conn;
use crate::ops::Ops;

/// Reads asked of a socket at once.
const READ_BYTES: usize = 4096;

/// Starts `ops` on one connection and feeds it `bytes`, the first of which says how many come at once. Whatever they
/// are, nothing panics, and every operation keeps its buffer.
pub fn feed<P: Protocol>(protocol: P, ops: &[Op], bytes: &[u8]) {
    let Some((step, mut bytes)) = bytes.split_first() else { return };
    let step = usize::from(*step) + 1;
    let count = ops.len() as u32;
    let Ok(arena) = Arena::new(count, READ_BYTES as u32) else { return };
    let mut conn = Conn::new(0, protocol.pipelines(), READ_BYTES);
    // Known beforehand, so that inputs may hold it.
    let mut all = Ops::numbered_from(1, protocol, count);
    for ((token, op), buf) in (0..).zip(ops).zip(arena.buffers()) {
        if let Ok(task) = all.protocol.task(*op) {
            assert!(all.start(token, task, buf, 1).is_ok(), "there is room for each");
        }
    }
    loop {
        while all.anybody_waits() && conn.takes_more() {
            conn.write(&mut all, 1);
        }
        let written = conn.out.writing().len();
        conn.out.advance(written, &mut all);
        for slot in std::mem::take(&mut conn.out.taken) {
            all.sent(slot, 2);
        }
        if bytes.is_empty() {
            return;
        }
        let (first, second) = conn.rooms(&mut all);
        assert!(first.len() + second.len() > 0, "there is always room");
        let many = step.min(bytes.len());
        let front = first.len().min(many);
        first[..front].copy_from_slice(&bytes[..front]);
        let back = if front < first.len() { 0 } else { second.len().min(many - front) };
        second[..back].copy_from_slice(&bytes[front..front + back]);
        bytes = &bytes[front + back..];
        if conn.filled(front + back, &mut all, 3).is_err() {
            return;
        }
    }
}
