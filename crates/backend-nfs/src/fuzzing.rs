//! Replies of anybody's to every operation there is.

use std::sync::Arc;

use backend::Op;
use dataset::{Key, Objects};
use plan::{Durability, Operation};

use crate::handles::Handles;
use crate::identity::Identity;
use crate::protocol::{Asking, Nfs, Sizes};

const FILE_BYTES: u64 = 10_000;

/// The first byte chooses the operation, the rest comes from the server.
pub fn replies(bytes: &[u8]) {
    let (Some((which, bytes)), Ok(folder)) = (bytes.split_first(), Key::new("data")) else { return };
    let objects = Arc::new(Objects::uniform(folder, 3, FILE_BYTES));
    let (operation, op) = match which % 8 {
        0 => (Operation::Read, Op::Read { object: 1, offset: 4096, len: 4096 }),
        1 => (Operation::ReadFile, Op::ReadFile { object: 1, bytes: FILE_BYTES }),
        2 => (Operation::Stat, Op::Stat { object: 1 }),
        3 => (Operation::GetAttr, Op::GetAttr { object: 1 }),
        4 => (Operation::Write, Op::Write { object: 1, offset: 4096, len: 4096 }),
        5 => (Operation::WriteFile, Op::WriteFile { object: 1, bytes: FILE_BYTES }),
        6 => (Operation::Names, Op::Names { object: 1 }),
        _ => (Operation::List, Op::List { folder: 0 }),
    };
    let handles = Arc::new(Handles::made_up(&objects));
    let durability = Durability::Data;
    let asking = Asking { operation, handles, block_bytes: 4096, durability };
    let sizes = Sizes { read_bytes: 1024, write_bytes: 1024, listing_bytes: 8192 };
    let nfs = Nfs::for_queue(&Identity::of_process().credential(), sizes, asking);
    backend_net::fuzzing::feed(nfs, &[op, op], bytes);
    let _ = crate::calls::page_of(bytes, 0);
}
