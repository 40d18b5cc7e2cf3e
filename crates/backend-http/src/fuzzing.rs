//! Replies of anybody's to every operation there is.

use std::sync::Arc;

use backend::Op;
use dataset::{Key, Objects};
use plan::Operation;

use crate::{Asking, Dialect, Etags, Lean};

const BYTES: u64 = 10_000;

/// Operations that are asked.
pub const OPERATIONS: u8 = 4;

/// Feeds `bytes` to two operations of this number, below [`OPERATIONS`]; two bits of `which` choose how they are fetched.
pub fn replies<D: Dialect>(
    (number, which): (u8, u8),
    bytes: &[u8],
    dialect: impl FnOnce(&Arc<Objects>) -> Option<D>,
) {
    let (operation, op) = match number {
        0 => (Operation::Read, Op::Read { object: 1, offset: 4096, len: 4096 }),
        1 => (Operation::ReadFile, Op::ReadFile { object: 1, bytes: BYTES }),
        2 => (Operation::Stat, Op::Stat { object: 1 }),
        _ => (Operation::List, Op::List { folder: 0 }),
    };
    let Ok(folder) = Key::new("d") else { return };
    let objects = Arc::new(Objects::uniform(folder, 3, BYTES));
    let Some(dialect) = dialect(&objects) else { return };
    let asking = Asking {
        etags: Arc::new(Etags::new(3)),
        objects,
        operation,
        block_bytes: 4096,
        part_bytes: (which & 0x80 != 0).then_some(3000),
        head: which & 0x40 != 0,
        roots: 1,
    };
    backend_net::fuzzing::feed(Lean::<_, 4>::new(asking, dialect), &[op, op], bytes);
}
