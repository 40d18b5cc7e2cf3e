//! Replies of anybody's to every operation there is, and pages of anybody's.

use std::sync::Arc;

use backend::{Clock, Op};
use backend_http::{Asking, Etags, Lean};
use dataset::{Key, Objects};
use plan::Operation;

use crate::page;
use crate::request::{Encoder, Place, Writer};
use crate::rights::Rights;

const BYTES: u64 = 10_000;

/// The first byte chooses the operation, the rest comes from the server.
pub fn replies(bytes: &[u8]) {
    let (Some((which, bytes)), Ok(folder)) = (bytes.split_first(), Key::new("d")) else { return };
    let (operation, op) = match which % 5 {
        0 => (Operation::Read, Op::Read { object: 1, offset: 4096, len: 4096 }),
        1 => (Operation::ReadFile, Op::ReadFile { object: 1, bytes: BYTES }),
        2 => (Operation::Stat, Op::Stat { object: 1 }),
        3 => (Operation::List, Op::List { folder: 0 }),
        _ => {
            let _ = page::read(bytes);
            return;
        }
    };
    let objects = Arc::new(Objects::uniform(folder, 3, BYTES));
    let asking = Asking {
        etags: Arc::new(Etags::new(3)),
        objects: Arc::clone(&objects),
        operation,
        block_bytes: 4096,
        part_bytes: (which & 0x80 != 0).then_some(3000),
        head: which & 0x40 != 0,
        roots: 1,
    };
    let place = Place { container: b"/c".to_vec(), prefix: "p/".to_owned() };
    let writer = Writer::new("blobs.lan".to_owned(), Rights::Anonymous);
    let encoder = Encoder::new(writer, &place, &objects, &Clock::simulated());
    backend_net::fuzzing::feed(Lean::<_, 4>::new(asking, encoder), &[op, op], bytes);
}
