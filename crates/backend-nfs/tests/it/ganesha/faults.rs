//! A server and files that change while they are read.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use backend::{ErrorKind, Op, OpError};
use backend_nfs::{NfsStore, Patience};
use plan::Operation;
use servers::{Ganesha, GaneshaOptions};

use super::{direct, objects, path_of, serving, store, target, write_file};
use crate::reader::{End, Load, Reader};

const BLOCK_BYTES: u32 = 16 << 10;

/// Rounds of reads after which a server that is back must have been found.
const ROUNDS: u32 = 2_000;

/// For a server that hangs. One that does not may be later than that on a busy machine.
fn impatient(server: &Ganesha) -> Arc<NfsStore> {
    let patience = Patience { connect: Duration::from_mins(1), reply: Duration::from_millis(700) };
    let config = direct(server, &target(server));
    let opened = (0..ROUNDS).find_map(|_| NfsStore::open_with(&config, patience).ok());
    Arc::new(opened.expect("it opens"))
}

/// What went wrong, each kind once.
fn kinds(ends: &[End]) -> Vec<ErrorKind> {
    let mut kinds: Vec<ErrorKind> = ends.iter().filter_map(|end| end.err().map(|error| error.kind)).collect();
    kinds.sort_by_key(|kind| kind.name());
    kinds.dedup();
    kinds
}

/// Asks for everything until all of it ends well.
fn comes_back(reader: &mut Reader) {
    let ops = reader.everything();
    for _ in 0..ROUNDS {
        if reader.run(&ops).iter().all(Result::is_ok) {
            return;
        }
    }
    panic!("it does not come back: {:?}", reader.report().first_failure);
}

#[test]
fn a_server_that_dies_under_a_full_queue_ends_each_read_and_is_found_again() {
    let objects = objects();
    let Some(server) = serving(&GaneshaOptions::default(), &objects) else { return };
    let store = store(&server);
    for connections in [1, 4] {
        let mut reader = Reader::open(&store, &objects, Load::blocks(64, connections, BLOCK_BYTES));
        let ops = reader.everything();
        let mut killed = false;
        let ends = reader.run_and(&ops, |ended| {
            if !killed && ended > ops.len() / 4 {
                server.kill();
                killed = true;
            }
        });
        let expected = [ErrorKind::Connect, ErrorKind::Reset, ErrorKind::Truncated];
        let kinds = kinds(&ends);
        assert!(!kinds.is_empty() && kinds.iter().all(|kind| expected.contains(kind)), "{kinds:?}");
        assert!(ends.iter().any(Result::is_ok));
        server.restart().unwrap();
        comes_back(&mut reader);
        assert!(reader.counted("connections_lost") > 0);
        assert!(reader.counted("connections_opened") > u64::from(connections));
    }
}

#[test]
fn a_server_that_hangs_under_a_full_queue_times_out_and_is_found_again() {
    let objects = objects();
    let Some(server) = serving(&GaneshaOptions::default(), &objects) else { return };
    let mut reader = Reader::open(&impatient(&server), &objects, Load::blocks(8, 2, BLOCK_BYTES));
    let ops = reader.everything();
    comes_back(&mut reader);
    server.pause();
    let ends = reader.run(&ops[..8]);
    assert_eq!(kinds(&ends), [ErrorKind::Timeout], "{ends:?}");
    server.resume();
    comes_back(&mut reader);
}

fn kind_of(end: End) -> Option<ErrorKind> {
    end.err().map(|OpError { kind, .. }| kind)
}

#[test]
fn a_file_that_was_cut_short_ends_early_and_the_queue_goes_on() {
    let objects = objects();
    let Some(server) = serving(&GaneshaOptions::default(), &objects) else { return };
    let mut reader = Reader::open(&store(&server), &objects, Load::blocks(4, 1, BLOCK_BYTES));
    let kept = 100_000;
    let file = fs::File::options().write(true).open(path_of(&server, &objects, 1)).unwrap();
    file.set_len(kept).unwrap();
    let block = u64::from(BLOCK_BYTES);
    let at = |offset| Op::Read { object: 1, offset, len: BLOCK_BYTES };
    let (first, last, behind) = (at(0), at(kept / block * block), at(1 << 20));
    let ends = reader.run(&[first, last, behind, first]);
    let eof = Some(ErrorKind::Eof);
    assert_eq!(ends.into_iter().map(kind_of).collect::<Vec<_>>(), [None, eof, eof, None]);
}

#[test]
fn a_file_that_is_another_now_is_found_out() {
    let objects = objects();
    let Some(server) = serving(&GaneshaOptions::default(), &objects) else { return };
    let store = store(&server);
    let open = |operation| {
        let load = Load { operation, depth: 4, connections: 1, block_bytes: BLOCK_BYTES };
        Reader::open(&store, &objects, load)
    };
    let readers = [Operation::Read, Operation::ReadFile, Operation::Stat, Operation::GetAttr].map(open);
    let path = path_of(&server, &objects, 1);
    fs::remove_file(&path).unwrap();
    write_file(&path, 1, 50_000);
    // By its handle the old one is asked for; by its name the new one, of another size, unless the server remembers.
    let by_name = [ErrorKind::Changed, ErrorKind::NotFound, ErrorKind::Stale];
    let bytes = objects.bytes(1);
    let asked = [
        (Op::Read { object: 1, offset: 1 << 20, len: BLOCK_BYTES }, &by_name[2..]),
        (Op::ReadFile { object: 1, bytes }, &by_name),
        (Op::Stat { object: 1 }, &by_name),
        (Op::GetAttr { object: 1 }, &by_name[2..]),
    ];
    for (mut reader, (op, expected)) in readers.into_iter().zip(asked) {
        let other = reader.everything()[0];
        let ends: Vec<_> = reader.run(&[other, op, other]).into_iter().map(kind_of).collect();
        assert_eq!((ends[0], ends[2]), (None, None), "{op:?}");
        assert!(ends[1].is_some_and(|kind| expected.contains(&kind)), "{op:?}: {ends:?}");
    }
}
