//! Reads from a server that misbehaves: each ends, as what it is, and the queue goes on.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use backend::{
    Arena, Buf, Clock, Completion, ErrorKind, IoQueue, Op, OpError, QueueReport, QueueSpec, Request, Store,
};
use backend_nfs::{NfsStore, Patience};
use dataset::{Key, payload};
use plan::{Advice, Cache, Operation, Registered};

use crate::fake::{Act, Asked, FILE_BYTES, objects, record, serve, serve_circles, serve_in_fragments, words};
use crate::memory::{SEED, config};
use crate::reader::{Load, Reader};

const BLOCK_BYTES: u32 = 4096;
/// Only a server that says nothing reaches it.
const LONG: Patience = Patience { connect: Duration::from_mins(1), reply: Duration::from_mins(1) };
/// For a server that says nothing. One that answers may do so later on a busy machine.
const SHORT: Patience = Patience { reply: Duration::from_millis(700), ..LONG };
/// Rounds after which a server that answers, or answers again, must have been found.
const ROUNDS: u32 = 2_000;

struct Opened {
    queue: Box<dyn IoQueue>,
    free: Vec<Buf>,
    clock: Clock,
    // Lives as long as its queue.
    _store: NfsStore,
}

fn open(depth: u32, answer: impl Fn(Asked) -> Act + Send + Sync + 'static) -> Opened {
    open_with(LONG, depth, answer)
}

fn open_with(
    patience: Patience,
    depth: u32,
    answer: impl Fn(Asked) -> Act + Send + Sync + 'static,
) -> Opened {
    let config = config(serve(answer), "/");
    let store = (0..ROUNDS).find_map(|_| NfsStore::open_with(&config, patience).ok()).expect("it opens");
    let (arena, clock) = (Arena::new(depth, BLOCK_BYTES).unwrap(), Clock::real());
    let spec = QueueSpec {
        depth,
        submit_batch: depth,
        block_bytes: BLOCK_BYTES,
        connections: 1,
        cache: Cache::Bypass,
        operation: Operation::Read,
        writes: None,
        advice: Advice::Normal,
        registered: Registered::Auto,
        objects: &objects(),
        arena: &arena,
        clock: &clock,
    };
    let queue = store.open_queue(&spec).unwrap();
    Opened { queue, free: arena.buffers(), clock, _store: store }
}

impl Opened {
    /// Reads one block for each offset of file 1, at once.
    fn read(&mut self, offsets: &[u64]) -> Vec<Result<u64, OpError>> {
        let mut requests: Vec<_> = (0..)
            .zip(offsets)
            .map(|(token, offset)| Request {
                token,
                op: Op::Read { object: 1, offset: *offset, len: BLOCK_BYTES },
                buf: self.free.pop().unwrap(),
            })
            .collect();
        let mut done: Vec<Completion> = Vec::new();
        let deadline_ns = self.clock.now_ns() + 120_000_000_000;
        while done.len() < offsets.len() {
            self.queue.submit(&mut requests, &mut done).unwrap();
            if done.len() < offsets.len() {
                self.queue.wait(1, deadline_ns, &mut done).unwrap();
            }
            assert!(self.clock.now_ns() < deadline_ns, "a read never ended");
        }
        done.sort_by_key(|completion| completion.token);
        let mut results = Vec::new();
        for (completion, offset) in done.into_iter().zip(offsets) {
            if completion.result.is_ok() {
                let data = &completion.buf.as_slice()[..BLOCK_BYTES as usize];
                payload::verify(SEED, 1, *offset, data).expect("the bytes are those of the file");
            }
            results.push(completion.result);
            self.free.push(completion.buf);
        }
        results
    }

    fn report(&self) -> QueueReport {
        self.queue.report()
    }
}

/// The first read is answered as `act` says and the others as they should be. The first ends as one of `kinds`, the next
/// well.
fn first_fails(what: &str, kinds: &[ErrorKind], act: impl Fn(Asked) -> Act + Send + Sync + 'static) {
    let mut opened =
        open(1, move |asked| if asked.number == 0 { act(asked) } else { Act::Send(asked.data()) });
    let error = opened.read(&[0])[0].expect_err(what);
    assert!(kinds.contains(&error.kind), "{what}: {error:?}");
    let again = [opened.read(&[4096])[0], opened.read(&[0])[0]];
    assert!(again.contains(&Ok(u64::from(BLOCK_BYTES))), "{what}: {again:?}");
    assert_eq!(again[1], Ok(u64::from(BLOCK_BYTES)), "{what}");
}

#[test]
fn a_server_that_closes_ends_the_read_and_is_connected_to_anew() {
    let ended = [ErrorKind::Reset, ErrorKind::Truncated];
    first_fails("before the reply", &ended, |_| Act::Close(Vec::new()));
    first_fails("within the head", &ended, |asked| Act::Close(asked.data()[..30].to_vec()));
    first_fails("within the data", &ended, |asked| Act::Close(asked.data()[..1000].to_vec()));
}

#[test]
fn small_replies_may_come_in_fragments() {
    for bytes in [4, 7, 100] {
        let port = serve_in_fragments(bytes, |asked| Act::Send(asked.data()));
        let store = Arc::new(NfsStore::open(&config(port, "/")).unwrap());
        for operation in [Operation::Read, Operation::ReadFile, Operation::Stat, Operation::GetAttr] {
            let load = Load { operation, depth: 4, connections: 2, block_bytes: BLOCK_BYTES };
            Reader::open(&store, &objects(), load).reads_everything();
        }
        let load = Load { operation: Operation::List, depth: 4, connections: 2, block_bytes: BLOCK_BYTES };
        let mut lists = Reader::open(&store, &objects(), load);
        let error = lists.run(&[Op::List { folder: 0 }])[0].unwrap_err();
        let said = lists.report().first_failure.unwrap();
        assert!(error.kind == ErrorKind::Protocol && said.contains("in several fragments"), "{said}");
    }
}

#[test]
fn a_silent_server_is_waited_for_no_longer_than_its_time() {
    for sent in [0, 1000] {
        let mut opened = open_with(SHORT, 1, move |asked| {
            let reply = asked.data();
            Act::Send(if asked.number == 0 { reply[..sent].to_vec() } else { reply })
        });
        assert_eq!(opened.read(&[0])[0].unwrap_err().kind, ErrorKind::Timeout, "{sent} bytes came");
        let comes_back = (0..ROUNDS).any(|_| opened.read(&[0])[0] == Ok(u64::from(BLOCK_BYTES)));
        assert!(comes_back, "{sent} bytes came: {:?}", opened.report().first_failure);
    }
}

#[test]
fn replies_that_make_no_sense_are_of_the_protocol() {
    let broken = [ErrorKind::Protocol];
    first_fails("in fragments", &broken, |asked| {
        let whole = asked.data();
        let (one, other) = whole[4..].split_at(2000);
        let other = record(other);
        Act::Send([&2000_u32.to_be_bytes()[..], one, &other].concat())
    });
    first_fails("a record of 2 GiB", &broken, |_| Act::Send(words(&[u32::MAX, 0, 1])));
    first_fails("longer than asked", &broken, |asked| {
        Act::Send(asked.data_as(asked.xid, BLOCK_BYTES + 4, BLOCK_BYTES + 4, false))
    });
    first_fails("an unknown number", &broken, |asked| {
        Act::Send(asked.data_as(asked.xid ^ 0x5555_5555, BLOCK_BYTES, BLOCK_BYTES, false))
    });
    first_fails("two lengths", &broken, |asked| {
        Act::Send(asked.data_as(asked.xid, BLOCK_BYTES, BLOCK_BYTES - 4, false))
    });
    first_fails("a record cut short", &[ErrorKind::Protocol, ErrorKind::Truncated], |asked| {
        Act::Send(record(&asked.data()[4..2000]))
    });
    first_fails("nothing, and not the end", &broken, |asked| {
        Act::Send(asked.data_as(asked.xid, 0, 0, false))
    });
}

#[test]
fn refusals_and_statuses_are_counted_as_what_they_are() {
    first_fails("AUTH_TOOWEAK", &[ErrorKind::Permission], |asked| {
        Act::Send(record(&words(&[asked.xid, 1, 1, 1, 5])))
    });
    first_fails("PROG_MISMATCH", &[ErrorKind::Protocol], |asked| {
        Act::Send(record(&words(&[asked.xid, 1, 0, 0, 0, 2, 4, 4])))
    });
    first_fails("GARBAGE_ARGS", &[ErrorKind::Protocol], |asked| {
        Act::Send(record(&words(&[asked.xid, 1, 0, 0, 0, 4])))
    });
    for (status, kind) in [
        (10_008, ErrorKind::Throttled),
        (70, ErrorKind::Stale),
        (13, ErrorKind::Permission),
        (5, ErrorKind::Io),
        (12_345, ErrorKind::Other),
    ] {
        first_fails("a status", &[kind], move |asked| Act::Send(asked.status(status)));
    }
    first_fails("the end", &[ErrorKind::Eof], |asked| Act::Send(asked.data_as(asked.xid, 100, 100, true)));
}

#[test]
fn a_read_answered_in_parts_is_finished_and_counted() {
    let mut opened = open(1, |asked| {
        let count = asked.count.min(1000);
        Act::Send(asked.data_as(asked.xid, count, count, false))
    });
    assert_eq!(opened.read(&[0]), [Ok(4096)]);
    assert_eq!(opened.report().short_reads, 4);
}

#[test]
fn folders_whose_listing_goes_round_end_with_an_error_that_names_them() {
    let store = Arc::new(NfsStore::open(&config(serve_circles(), "/")).unwrap());
    let prefix = Key::new("data/000000").unwrap();
    let error = store.list(Some(&prefix), &mut |_| ControlFlow::Continue(())).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("nfs://localhost/data/000000") && said.contains("comes back to where it was"),
        "{said}"
    );
    let load = Load { operation: Operation::List, depth: 2, connections: 1, block_bytes: BLOCK_BYTES };
    let mut lists = Reader::open(&store, &objects(), load);
    for end in lists.run(&[Op::List { folder: 0 }; 3]) {
        assert_eq!(end.unwrap_err().kind, ErrorKind::Protocol);
    }
    assert!(lists.report().first_failure.unwrap().contains("comes back to where it was"));
    assert_eq!(lists.counted("connections_lost"), 0, "what else is under way there goes on");
}

#[test]
fn replies_may_come_in_another_order() {
    let (send, held): (Sender<Vec<u8>>, Receiver<Vec<u8>>) = channel();
    let (send, held) = (Mutex::new(send), Mutex::new(held));
    let mut opened = open(2, move |asked| {
        if asked.number.is_multiple_of(2) {
            send.lock().unwrap().send(asked.data()).unwrap();
            return Act::Send(Vec::new());
        }
        let earlier = held.lock().unwrap().recv().unwrap();
        Act::Send([asked.data(), earlier].concat())
    });
    for _ in 0..10 {
        assert_eq!(opened.read(&[0, FILE_BYTES - 4096]), [Ok(4096), Ok(4096)]);
    }
}

#[test]
fn a_reply_that_comes_twice_never_becomes_anothers_bytes() {
    let mut opened = open(1, |asked| {
        let reply = asked.data();
        Act::Send(if asked.number == 0 { [&reply[..], &reply].concat() } else { reply })
    });
    assert_eq!(opened.read(&[0]), [Ok(4096)]);
    // Its bytes are checked; the connection may have been given up over the reply that nobody waits for.
    let _ = opened.read(&[4096]);
    assert_eq!(opened.read(&[4096]), [Ok(4096)]);
}
