//! The connection without a socket, its bytes cut everywhere.

use backend::{Arena, Completion, ErrorKind};
use dataset::payload;
use proptest::prelude::*;

use super::{BODY_IN_PIECES_BYTES, Conn, HEAD_BYTES_MAX, Loss, PIECE_BYTES};
use crate::line::{Asked, CLOSE, Line, Task};
use crate::ops::Ops;

const SEED: u64 = 5;
const LEN: u32 = 600;
/// Buffers are as long as a page.
const BUFFER_BYTES: u64 = 4096;

struct Bench {
    ops: Ops<Line>,
    conn: Conn,
    asked: Vec<Asked>,
    now_ns: u64,
}

impl Bench {
    /// `count` reads of `LEN` bytes, of which as many as may are under way.
    fn new(protocol: Line, count: u32, read_bytes: usize) -> Self {
        Self::of(LEN, protocol, count, read_bytes)
    }

    /// The same of `len` bytes.
    fn of(len: u32, protocol: Line, count: u32, read_bytes: usize) -> Self {
        let arena = Arena::new(count, len).unwrap();
        let conn = Conn::new(0, protocol.pipelines, read_bytes);
        let mut ops = Ops::new(protocol, count);
        for (token, buf) in arena.buffers().into_iter().enumerate() {
            let task = Task::read(token as u32, 100 * token as u64, len);
            assert!(ops.start(token as u32, task, buf, 1).is_ok());
        }
        let mut bench = Self { ops, conn, asked: Vec::new(), now_ns: 1 };
        bench.write();
        bench
    }

    /// Writes what can be written, as the engine does, and takes it as sent.
    fn write(&mut self) {
        while self.ops.anybody_waits() && self.conn.takes_more() {
            self.conn.write(&mut self.ops, self.now_ns);
        }
        let text = String::from_utf8(self.conn.out.writing().clone()).unwrap();
        self.asked.extend(text.lines().map(Asked::parse));
        self.conn.out.advance(text.len(), &mut self.ops);
        for slot in std::mem::take(&mut self.conn.out.taken) {
            self.ops.sent(slot, self.now_ns);
        }
    }

    /// Bytes come, at most `most` in one receive.
    fn feed(&mut self, mut bytes: &[u8], most: usize) -> Result<(), Loss> {
        while !bytes.is_empty() {
            self.now_ns += 1;
            let (first, second) = self.conn.rooms(&mut self.ops);
            assert!(first.len() + second.len() > 0, "there is always room");
            let a = first.len().min(bytes.len()).min(most);
            first[..a].copy_from_slice(&bytes[..a]);
            let b = if a < first.len() { 0 } else { second.len().min(bytes.len() - a).min(most - a) };
            second[..b].copy_from_slice(&bytes[a..a + b]);
            bytes = &bytes[a + b..];
            let verdict = self.conn.filled(a + b, &mut self.ops, self.now_ns);
            if verdict != Ok(()) {
                return verdict;
            }
        }
        Ok(())
    }

    /// The connection is lost, as the engine does it.
    fn lose(&mut self, loss: Loss) {
        for place in 0..self.ops.slots().len() as u32 {
            let slot = self.ops.slots()[place as usize];
            if slot.busy {
                self.ops.lost(place, loss.error_of(place, &slot), self.now_ns);
            }
        }
        self.conn.clear();
    }

    /// Answers every request as asked, in turn, until nothing more is asked; how many there were.
    fn answer_all(&mut self) -> usize {
        let mut count = 0;
        while let Some(asked) = self.asked.get(count).copied() {
            assert_eq!(self.feed(&asked.right(SEED), usize::MAX), Ok(()));
            self.write();
            count += 1;
        }
        count
    }

    /// Ends by token; those that ended well hold the right bytes and stamps in order.
    fn ends(&mut self) -> Vec<(u32, Result<u64, ErrorKind>)> {
        let mut ends: Vec<_> = self.ops.ended.drain(..).map(|end| checked(&end)).collect();
        ends.sort_by_key(|end| end.0);
        ends
    }
}

fn checked(end: &Completion) -> (u32, Result<u64, ErrorKind>) {
    if end.result.is_ok() {
        let data = &end.buf.as_slice()[..LEN as usize];
        payload::verify(SEED, end.token, 100 * u64::from(end.token), data).expect("the right bytes");
        let [sent, head, first] = end.stamps.phase_ns;
        let stamps = [end.stamps.begun_ns, sent, head, first, end.stamps.done_ns];
        assert!(stamps.is_sorted() && sent > 0, "{stamps:?}");
    }
    (end.token, end.result.map_err(|error| error.kind))
}

/// Replies to four requests, the third an error of some length, in an order of their own.
fn replies(asked: &[Asked]) -> Vec<u8> {
    let order: &[usize] = if asked.len() == 4 { &[2, 0, 3, 1] } else { &[0] };
    let reply = |at: &usize| match asked[*at].object {
        2 => asked[*at].error(2, &"slow down ".repeat(70)),
        _ => asked[*at].right(SEED),
    };
    order.iter().flat_map(reply).collect()
}

fn expected() -> Vec<(u32, Result<u64, ErrorKind>)> {
    let well = Ok(u64::from(LEN));
    vec![(0, well), (1, well), (2, Err(ErrorKind::Throttled)), (3, well)]
}

#[test]
fn a_stream_cut_at_every_position_gives_the_same_ends() {
    let length = replies(&Bench::new(Line::new(true), 4, 4096).asked).len();
    for cut in 0..=length {
        let mut bench = Bench::new(Line::new(true), 4, 4096);
        let stream = replies(&bench.asked);
        assert_eq!(bench.feed(&stream[..cut], usize::MAX), Ok(()));
        assert_eq!(bench.feed(&stream[cut..], usize::MAX), Ok(()));
        assert_eq!(bench.ends(), expected(), "cut at {cut}");
        assert_eq!(bench.ops.protocol.text_bytes, 700);
    }
}

#[test]
fn a_large_body_is_awaited_in_pieces_once_it_has_begun() {
    let bodies = [(BODY_IN_PIECES_BYTES, PIECE_BYTES as usize), (BODY_IN_PIECES_BYTES - 1, 1)];
    for (bytes, piece) in bodies {
        let mut bench = Bench::of(bytes as u32, Line::new(true), 1, 4096);
        let reply = bench.asked[0].right(SEED);
        let head = reply.len() - 1 - bytes as usize;
        let mut at = 0;
        let mut awaited = |until: usize| {
            assert_eq!(bench.feed(&reply[at..until], usize::MAX), Ok(()));
            at = until;
            bench.conn.awaited_bytes()
        };
        assert_eq!(awaited(head), 1, "the first byte is a phase of its own");
        assert_eq!(awaited(head + 1), piece);
        assert_eq!(awaited(reply.len() - 101), piece.min(100));
        assert_eq!(awaited(reply.len() - 1), 1);
        assert_eq!(awaited(reply.len()), 1);
    }
}

#[test]
fn one_at_a_time_goes_on_with_the_next_whatever_came_in_one_piece() {
    for most in [1, 2, 7, 100, 400, 700, 100_000] {
        let mut bench = Bench::new(Line::new(false), 4, 512);
        for turn in 0..4 {
            assert_eq!(bench.asked.len(), turn + 1, "one is under way");
            let asked = bench.asked[turn];
            let reply = if turn == 2 { asked.error(2, "slow down") } else { asked.right(SEED) };
            assert_eq!(bench.feed(&reply, most), Ok(()));
            bench.write();
        }
        assert_eq!(bench.ends(), expected());
    }
}

#[test]
fn parts_of_one_operation_end_it_together() {
    let mut bench = Bench::new(Line::in_parts(true, 4), 1, 4096);
    assert_eq!(bench.asked.len(), 4);
    for part in [3, 0, 2] {
        let reply = bench.asked[part].right(SEED);
        assert_eq!(bench.feed(&reply, usize::MAX), Ok(()));
        assert!(bench.ops.ended.is_empty(), "parts are missing");
    }
    let reply = bench.asked[1].right(SEED);
    bench.feed(&reply, usize::MAX).unwrap();
    assert_eq!(bench.ends(), [(0, Ok(u64::from(LEN)))]);
}

#[test]
fn operations_that_fill_every_place_go_on_as_replies_come() {
    for (pipelines, count, at_once) in
        [(true, 1, 1), (true, 3, 2), (true, 3, 4), (false, 1, 1), (false, 3, 2)]
    {
        let mut bench = Bench::new(Line::in_turns(pipelines, 6, at_once), count, 4096);
        if pipelines {
            assert!(bench.ops.slots().iter().all(|slot| slot.busy), "every place is taken");
        }
        assert_eq!(bench.answer_all(), 6 * count as usize, "{pipelines} {count} {at_once}");
        assert_eq!(bench.ends(), (0..count).map(|token| (token, Ok(u64::from(LEN)))).collect::<Vec<_>>());
        assert!(!bench.ops.anybody_waits() && bench.ops.under_way == 0);
    }
}

#[test]
fn numbers_of_a_deep_queue_of_many_parts_are_all_different() {
    let mut bench = Bench::new(Line::in_turns(true, 40, 16), 1_024, 4096);
    assert_eq!(bench.asked.len(), 16 * 1_024, "as many are under way as may be");
    assert_eq!(bench.answer_all(), 40 * 1_024);
    assert_eq!(bench.ends().len(), 1_024);
    let mut ids: Vec<u32> = bench.asked.iter().map(|asked| asked.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), bench.asked.len());
}

#[test]
fn bodies_of_an_operation_that_has_failed_do_not_touch_its_buffer() {
    let mut bench = Bench::new(Line::in_parts(true, 2), 1, 64);
    let error = bench.asked[0].error(9, "broken");
    bench.feed(&error, usize::MAX).unwrap();
    assert!(bench.ops.ended.is_empty(), "the other part is under way");
    let body = bench.asked[1].data(&[0xAA; 300]);
    assert_eq!(bench.feed(&body, usize::MAX), Ok(()));
    let end = bench.ops.ended.pop().unwrap();
    assert_eq!(end.result.unwrap_err().kind, ErrorKind::Server);
    assert!(end.buf.as_slice().iter().all(|byte| *byte == 0), "the body went elsewhere");
    assert_eq!(bench.ops.wasted_bytes, 300);
}

#[test]
fn a_body_longer_than_its_place_streams_through_it() {
    for (read_bytes, most) in [(64, 1000), (64, 7), (4096, 100), (4096, 1000)] {
        let mut protocol = Line::new(true);
        protocol.wrap = Some(256);
        let mut bench = Bench::new(protocol, 1, read_bytes);
        let body: Vec<u8> = (0..LEN).map(|at| (at % 251) as u8).collect();
        let reply = bench.asked[0].data(&body);
        assert_eq!(bench.feed(&reply, most), Ok(()));
        let end = bench.ops.ended.pop().unwrap();
        assert_eq!(end.result, Ok(u64::from(LEN)));
        for at in 0..256 {
            let last = (at..LEN as usize).step_by(256).next_back().unwrap();
            assert_eq!(end.buf.as_slice()[at], body[last], "byte {at}");
        }
    }
}

#[test]
fn replies_to_nobody_give_the_connection_up() {
    let lost = Err(Loss::protocol());
    let mut bench = Bench::new(Line::new(true), 2, 4096);
    let (first, second) = (bench.asked[0], bench.asked[1]);
    let unknown = Asked { id: first.id ^ 0x4000_0000, ..first };
    assert_eq!(bench.feed(&unknown.right(SEED), usize::MAX), lost, "another sequence");
    bench.conn.clear();
    bench.conn.under_way = 2;
    assert_eq!(bench.feed(&second.right(SEED), usize::MAX), Ok(()));
    assert_eq!(bench.feed(&second.right(SEED), usize::MAX), lost, "a reply that came already");
    bench.conn.clear();
    assert_eq!(bench.feed(b"hello", usize::MAX), lost, "nothing is under way");
}

#[test]
fn a_body_longer_than_its_buffer_gives_the_connection_up() {
    for bytes in [BUFFER_BYTES + 1, 1 << 40, u64::MAX] {
        let mut bench = Bench::new(Line::new(true), 1, 4096);
        let head = format!("{:08x} D {bytes}\n", bench.asked[0].id);
        assert_eq!(bench.feed(head.as_bytes(), usize::MAX), Err(Loss::protocol()));
    }
}

#[test]
fn a_head_without_end_is_given_up_before_it_fills_the_memory() {
    let mut bench = Bench::new(Line::new(false), 1, 4096);
    let verdict = bench.feed(&vec![b'x'; 2 * HEAD_BYTES_MAX], 60_000);
    assert_eq!(verdict, Err(Loss::protocol()));
    assert!(bench.conn.head_capacity() <= HEAD_BYTES_MAX);
}

#[test]
fn the_end_of_a_stream_is_a_truncation_inside_a_body_and_a_reset_elsewhere() {
    let mut bench = Bench::new(Line::new(true), 2, 4096);
    let reply = bench.asked[0].right(SEED);
    bench.feed(&reply[..5], usize::MAX).unwrap();
    assert_eq!(bench.conn.at_end(), Loss::reset(), "half a head");
    bench.feed(&reply[5..100], usize::MAX).unwrap();
    let loss = bench.conn.at_end();
    bench.lose(loss);
    assert_eq!(bench.ends(), [(0, Err(ErrorKind::Truncated)), (1, Err(ErrorKind::Reset))]);
}

#[test]
fn a_reply_that_asks_for_it_closes_the_connection_after_it() {
    let mut bench = Bench::new(Line::new(false), 1, 4096);
    let reply = bench.asked[0].error(CLOSE, "goodbye");
    assert!(bench.feed(&reply, usize::MAX).is_err());
    assert_eq!(bench.ends(), [(0, Err(ErrorKind::Server))]);
}

#[test]
fn numbers_of_messages_do_not_repeat() {
    let mut bench = Bench::new(Line::new(true), 3, 4096);
    let arena = Arena::new(3000, 64).unwrap();
    let mut bufs = arena.buffers();
    while let Some(buf) = bufs.pop() {
        let last = *bench.asked.last().unwrap();
        let _ = bench.feed(&last.right(SEED), usize::MAX);
        bench.ops.ended.clear();
        assert!(bench.ops.start(1, Task::read(1, 100, 64), buf, 1).is_ok());
        bench.write();
    }
    let mut ids: Vec<u32> = bench.asked.iter().map(|asked| asked.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), bench.asked.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_split_of_the_stream_gives_the_same_ends(
        sizes in prop::collection::vec(1_usize..900, 1..200),
        read_bytes in prop::sample::select(vec![64_usize, 512, 4096, 65_536]),
    ) {
        let mut bench = Bench::new(Line::new(true), 4, read_bytes);
        let stream = replies(&bench.asked);
        let (mut at, mut sizes) = (0, sizes.into_iter().cycle());
        while at < stream.len() {
            let size = sizes.next().unwrap().min(stream.len() - at);
            prop_assert_eq!(bench.feed(&stream[at..at + size], size), Ok(()));
            at += size;
        }
        prop_assert_eq!(bench.ends(), expected());
    }

    #[test]
    fn any_bytes_end_every_operation_once_and_take_bounded_memory(
        pipelines in any::<bool>(),
        right in 0_usize..700,
        noise in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"0 DE\n\0".to_vec())], 0..900),
        most in 1_usize..5000,
    ) {
        let mut bench = Bench::new(Line::new(pipelines), 3, 512);
        let mut stream = bench.asked[0].right(SEED);
        stream.truncate(right);
        stream.extend(noise);
        let loss = match bench.feed(&stream, most) {
            Ok(()) => bench.conn.at_end(),
            Err(loss) => loss,
        };
        prop_assert!(bench.conn.head_capacity() <= HEAD_BYTES_MAX);
        bench.lose(loss);
        bench.ops.fail_waiting(backend::OpError::from_errno(111), 9);
        let mut tokens: Vec<u32> = bench.ops.ended.iter().map(|end| end.token).collect();
        tokens.sort_unstable();
        prop_assert_eq!(tokens, [0, 1, 2]);
        prop_assert_eq!(bench.ops.in_flight(), 0);
    }
}
