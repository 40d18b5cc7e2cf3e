//! The arithmetic of shaping on a virtual clock: connections that ask again as soon as they are answered, and wake-ups
//! that come as late as they like.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proptest::prelude::*;

use super::*;
use crate::limits::LATE_NS;

const S: u64 = 1_000_000_000;

/// What is declared, and what is asked of it.
#[derive(Debug, Clone)]
struct Trial {
    first_byte_ns: u64,
    connection_bps: Option<f64>,
    total_bps: Option<f64>,
    reply_bytes: u64,
    connections: usize,
    /// Requests outstanding on each connection.
    depth: usize,
    /// How late wake-ups come, in turn.
    late_ns: Vec<u64>,
    /// Pieces after which it ends.
    pieces: usize,
}

/// A piece of a reply that went to a client.
#[derive(Debug, Clone, Copy)]
struct Sent {
    connection: usize,
    bytes: u64,
    at_ns: u64,
    /// When its reply was asked for, and how much of that has gone with this piece.
    arrived_ns: u64,
    of_reply: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reply {
    connection: usize,
    arrived_ns: u64,
    ready_ns: u64,
    sent: u64,
    /// Bytes of the piece that waits; 0 before the first.
    piece: u64,
    end_ns: u64,
}

impl Trial {
    fn reply(&self, connection: usize, now_ns: u64) -> Reply {
        let ready_ns = now_ns + self.first_byte_ns;
        Reply { connection, arrived_ns: now_ns, ready_ns, sent: 0, piece: 0, end_ns: ready_ns }
    }

    fn run(&self) -> Vec<Sent> {
        let total = self.total_bps.map(|bps| Arc::new(Mutex::new(Pacer::new(bps))));
        let limits = || SendLimits::new(self.connection_bps, total.as_ref()).unwrap();
        let ways: Vec<Arc<SendLimits>> = (0..self.connections).map(|_| limits()).collect();
        let mut late = self.late_ns.iter().copied().cycle();
        let mut wakes = BinaryHeap::new();
        let mut wake = |wakes: &mut BinaryHeap<_>, due_ns: u64, reply: Reply, now_ns: u64| {
            let at_ns = if due_ns <= now_ns { now_ns } else { due_ns + late.next().unwrap_or(0) };
            wakes.push(Reverse((at_ns, reply)));
        };
        for connection in 0..self.connections {
            for _ in 0..self.depth {
                let reply = self.reply(connection, S);
                wake(&mut wakes, reply.ready_ns, reply, S);
            }
        }
        let mut sent = Vec::new();
        while let Some(Reverse((now_ns, mut reply))) = wakes.pop().filter(|_| sent.len() < self.pieces) {
            let limits = &ways[reply.connection];
            if reply.piece > 0 {
                if let Err(opens_ns) = limits.release(reply.piece, now_ns) {
                    assert!(opens_ns > now_ns, "it would spin");
                    wake(&mut wakes, opens_ns, reply, now_ns);
                    continue;
                }
                reply.sent += reply.piece;
                let Reply { connection, arrived_ns, sent: of_reply, piece: bytes, .. } = reply;
                sent.push(Sent { connection, bytes, at_ns: now_ns, arrived_ns, of_reply });
            }
            if reply.sent == self.reply_bytes {
                let next = self.reply(reply.connection, now_ns);
                wake(&mut wakes, next.ready_ns, next, now_ns);
                continue;
            }
            reply.piece = limits.piece_bytes(reply.sent).min(self.reply_bytes - reply.sent);
            reply.end_ns = limits.reserve(reply.end_ns, reply.piece);
            wake(&mut wakes, reply.end_ns, reply, now_ns);
        }
        sent
    }

    /// Replies a second from the first request to the end of the last reply.
    fn replies_per_s(&self) -> f64 {
        let sent = self.run();
        let ends: Vec<u64> =
            sent.iter().filter(|sent| sent.of_reply == self.reply_bytes).map(|sent| sent.at_ns).collect();
        // From end to end: the beginning, in which the line fills, is left out.
        let (first, last) = (ends.len() / 4, ends.len() - 1);
        (last - first) as f64 * 1e9 / (ends[last] - ends[first]) as f64
    }
}

/// No span between two pieces carries more than the rate allows for it and for [`LATE_NS`].
fn assert_within(rate_bps: f64, sent: &[(u64, u64)]) {
    for (first, from) in sent.iter().enumerate() {
        let mut bytes = 0;
        for to in &sent[first + 1..] {
            bytes += to.1;
            let allowed = rate_bps * (to.0 - from.0 + LATE_NS) as f64 * 1e-9;
            assert!(bytes as f64 <= allowed + 1.0, "{bytes} B in {} ns of {rate_bps} B/s", to.0 - from.0);
        }
    }
}

fn on_time(
    first_byte_ns: u64,
    connection_bps: f64,
    reply_bytes: u64,
    (connections, depth): (usize, usize),
) -> Trial {
    Trial {
        first_byte_ns,
        connection_bps: Some(connection_bps),
        total_bps: None,
        reply_bytes,
        connections,
        depth,
        late_ns: vec![0],
        pieces: 20_000,
    }
}

#[track_caller]
fn assert_close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-3, "{value} is not {expected}");
}

/// The reads that were found to come in 2.6 ms each: 2 ms to the first byte were hidden behind the line's late credit.
#[test]
fn one_read_after_the_other_takes_latency_and_transfer() {
    assert_close(on_time(2_000_000, 25e6, 65_536, (1, 1)).replies_per_s(), 1.0 / (0.002 + 65_536.0 / 25e6));
    assert_close(on_time(0, 90e6, 8 << 20, (1, 1)).replies_per_s(), 90e6 / f64::from(8 << 20));
    assert_close(on_time(30_000_000, 90e6, 130_000, (1, 1)).replies_per_s(), 1.0 / (0.030 + 130e3 / 90e6));
}

#[test]
fn reads_outstanding_on_one_connection_hide_the_latency_and_not_the_transfer() {
    assert_close(on_time(2_000_000, 25e6, 65_536, (1, 8)).replies_per_s(), 25e6 / 65_536.0);
    assert_close(
        on_time(20_000_000, 250e6, 65_536, (1, 8)).replies_per_s(),
        8.0 / (0.020 + 65_536.0 / 250e6),
    );
}

#[test]
fn connections_share_what_all_get_together() {
    let trial = Trial { total_bps: Some(100e6), ..on_time(2_000_000, 25e6, 65_536, (16, 1)) };
    assert_close(trial.replies_per_s(), 100e6 / 65_536.0);
    let alone = Trial { total_bps: Some(100e6), ..on_time(2_000_000, 25e6, 65_536, (2, 1)) };
    assert_close(alone.replies_per_s(), 2.0 / (0.002 + 65_536.0 / 25e6));
}

#[test]
fn lateness_within_its_bound_is_made_up_on_a_line_that_is_never_idle() {
    let trial = Trial { late_ns: vec![60_000, 0, 200_000], ..on_time(2_000_000, 25e6, 65_536, (1, 8)) };
    let ratio = trial.replies_per_s() / (25e6 / 65_536.0);
    assert!((0.999..=1.001).contains(&ratio), "{ratio}");
}

/// After a pause of the whole server, what waited goes at the rate and not at once.
#[test]
fn a_pause_of_the_server_is_not_made_up() {
    let mut late_ns = vec![0; 40];
    late_ns[30] = S;
    let trial = Trial { late_ns, pieces: 400, ..on_time(2_000_000, 25e6, 65_536, (1, 8)) };
    let sent: Vec<(u64, u64)> = trial.run().iter().map(|sent| (sent.at_ns, sent.bytes)).collect();
    assert!(sent.windows(2).any(|pair| pair[1].0 - pair[0].0 > S / 2), "it did pause");
    assert_within(25e6, &sent);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_faster_than_declared_however_late_the_server_wakes(
        first_byte_ns in 0_u64..5_000_000,
        rates in prop_oneof![
            (1e6..2e9_f64).prop_map(|bps| (Some(bps), None)),
            (1e6..2e9_f64).prop_map(|bps| (None, Some(bps))),
            (1e6..2e9_f64, 1e6..2e9_f64).prop_map(|(of_one, of_all)| (Some(of_one), Some(of_all))),
        ],
        reply_bytes in 1_u64..2_000_000,
        connections in 1_usize..6,
        depth in 1_usize..9,
        late_ns in prop::collection::vec(prop_oneof![4 => 0_u64..100_000, 1 => 0_u64..50_000_000], 1..60),
    ) {
        let (connection_bps, total_bps) = rates;
        let trial = Trial {
            first_byte_ns, connection_bps, total_bps, reply_bytes, connections, depth, late_ns, pieces: 300,
        };
        let sent = trial.run();
        if let Some(total_bps) = total_bps {
            assert_within(total_bps, &sent.iter().map(|sent| (sent.at_ns, sent.bytes)).collect::<Vec<_>>());
        }
        for (connection, bps) in (0..connections).filter_map(|connection| Some((connection, connection_bps?))) {
            let own = sent.iter().filter(|sent| sent.connection == connection);
            assert_within(bps, &own.map(|sent| (sent.at_ns, sent.bytes)).collect::<Vec<_>>());
        }
        let slowest = connection_bps.into_iter().chain(total_bps).fold(f64::INFINITY, f64::min);
        for piece in sent {
            let transfer_ns = piece.of_reply as f64 / slowest * 1e9;
            prop_assert!((piece.at_ns - piece.arrived_ns) as f64 >= first_byte_ns as f64 + transfer_ns - 1.0);
        }
    }
}
