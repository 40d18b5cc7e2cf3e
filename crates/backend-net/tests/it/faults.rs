//! What a server does to its clients.

use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Barrier};

use backend::{Arena, Clock, ErrorKind};
use backend_net::{Settings, Wire};

use crate::client::{Client, End, LEN, counted, settings};
use crate::line::{Asked, CLOSE, Line, Task};
use crate::server::{Peer, SEED, Server};

type Stream = std::net::TcpStream;

const WELL: End = Ok(LEN as u64);

/// Longer than the pause before a connection that was lost is made again.
const PAUSE_NS: u64 = 1_000_000_000;

/// The first connection follows `script`, the others answer; both kinds of protocol see one operation fail in the
/// way expected, and the next end well on another connection.
fn first_fails(expected: ErrorKind, script: fn(Asked, Peer<Stream>)) {
    for pipelines in [true, false] {
        let server = Server::start(move |number, mut peer| {
            if number == 0 {
                if let Some(asked) = peer.ask() {
                    script(asked, peer);
                }
            } else {
                peer.serve(u64::MAX);
            }
        });
        let mut client = Client::new(Line::new(pipelines), &patient(&server), 2, 1);
        assert_eq!(client.run(0), Err(expected), "pipelines: {pipelines}");
        client.until_opened(2);
        assert_eq!([client.run(1), client.run(2)], [WELL; 2], "another connection");
        assert_eq!((client.counted("connections_lost"), client.counted("messages")), (1, 3));
    }
}

fn patient(server: &Server) -> Settings {
    settings(&[server.address])
}

#[test]
fn a_connection_closed_inside_a_body_truncates() {
    first_fails(ErrorKind::Truncated, |asked, mut peer| {
        let reply = asked.right(SEED);
        peer.say(&reply[..reply.len() / 2]);
    });
}

#[test]
fn a_connection_closed_before_its_reply_is_a_reset() {
    first_fails(ErrorKind::Reset, |_, _| {});
}

#[test]
fn a_connection_closed_inside_a_head_is_a_reset() {
    first_fails(ErrorKind::Reset, |asked, mut peer| peer.say(&asked.right(SEED)[..6]));
}

#[test]
fn a_reset_inside_a_reply_is_a_reset() {
    first_fails(ErrorKind::Reset, |_, peer| peer.reset());
}

/// The kernel tells of a reset once, to whoever asks first: a sender leaves the reader an end of the stream like any other.
#[test]
fn a_reset_inside_a_body_that_the_sender_is_told_of_is_a_reset() {
    let together = Arc::new(Barrier::new(2));
    let server = Server::start({
        let together = Arc::clone(&together);
        move |number, mut peer| {
            if number == 0 {
                let Some(asked) = peer.ask() else { return };
                let reply = asked.right(SEED);
                peer.say(&reply[..reply.len() / 2]);
                together.wait();
                together.wait();
                peer.reset();
                together.wait();
            }
        }
    });
    let mut client = Client::new(Line::new(true), &patient(&server), 2, 1);
    let turn = |client: &mut Client| {
        let until_ns = client.clock.now_ns() + 5_000_000;
        client.wire.turn(1, until_ns, &mut client.done).unwrap();
    };
    client.start(0);
    turn(&mut client);
    together.wait();
    turn(&mut client);
    together.wait();
    together.wait();
    client.start(1);
    assert_eq!(client.finish(), [Err(ErrorKind::Reset); 2]);
}

#[test]
fn a_body_that_does_not_fit_is_not_believed() {
    first_fails(ErrorKind::Protocol, |asked, mut peer| {
        peer.say(format!("{:08x} D 99999999\n", asked.id).as_bytes());
        peer.ignore();
    });
}

#[test]
fn garbage_is_not_believed() {
    first_fails(ErrorKind::Protocol, |_, mut peer| {
        peer.say(b"HTTP/1.1 200 OK\r\n\r\n");
        peer.ignore();
    });
}

#[test]
fn a_server_that_closes_after_its_reply_loses_nothing() {
    let server = Server::start(|number, mut peer| {
        let asked = peer.ask();
        let Some(asked) = asked else { return };
        peer.say(&if number == 0 { asked.error(CLOSE, "no more") } else { asked.right(SEED) });
        if number > 0 {
            peer.serve(u64::MAX);
        }
    });
    let mut client = Client::new(Line::new(false), &patient(&server), 1, 1);
    assert_eq!(client.run(0), Err(ErrorKind::Server), "the reply itself");
    assert_eq!(client.run(1), WELL);
    assert_eq!((client.counted("connections_lost"), client.counted("connections_opened")), (0, 2));
}

#[test]
fn an_idle_connection_that_ends_is_made_anew_and_nothing_is_lost() {
    for pipelines in [true, false] {
        let server = Server::start(|_, mut peer| {
            if let Some(asked) = peer.ask() {
                peer.say(&asked.right(SEED));
            }
        });
        let mut client = Client::new(Line::new(pipelines), &patient(&server), 1, 1);
        for round in 0..3 {
            assert_eq!(client.run(round), WELL);
            client.until_opened(u64::from(round) + 2);
        }
        assert_eq!(client.counted("connections_lost"), 0);
    }
}

#[test]
fn a_server_that_never_answers_times_out_and_takes_its_connection_with_it() {
    for pipelines in [true, false] {
        let server =
            Server::start(|number, mut peer| if number == 0 { peer.ignore() } else { peer.serve(u64::MAX) });
        let patience = patient(&server);
        let mut client = Client::on(Clock::simulated(), Line::new(pipelines), &patience, 1, 1);
        client.start(0);
        client.turn();
        client.pass(patience.reply_timeout_ns);
        assert_eq!(client.finish(), [Err(ErrorKind::Timeout)], "pipelines: {pipelines}");
        client.pass(PAUSE_NS);
        client.until_opened(2);
        assert_eq!(client.run(1), WELL);
    }
}

#[test]
fn an_unknown_number_gives_up_everything_on_its_connection() {
    let server = Server::start(|_, mut peer| {
        let Some(first) = peer.ask() else { return };
        peer.ask();
        peer.say(&Asked { id: first.id ^ 0x4000_0000, ..first }.right(SEED));
        peer.ignore();
    });
    let mut client = Client::new(Line::new(true), &patient(&server), 2, 1);
    client.start(0);
    client.start(1);
    assert_eq!(client.finish(), [Err(ErrorKind::Protocol); 2]);
}

#[test]
fn a_reply_that_comes_twice_is_no_reply() {
    let server = Server::start(|_, mut peer| {
        let (Some(first), Some(_)) = (peer.ask(), peer.ask()) else { return };
        peer.say(&first.right(SEED).repeat(2));
        peer.ignore();
    });
    let mut client = Client::new(Line::new(true), &patient(&server), 2, 1);
    client.start(0);
    client.start(1);
    assert_eq!(client.finish(), [WELL, Err(ErrorKind::Protocol)]);
}

#[test]
fn replies_in_any_order_and_in_crumbs_find_their_operations() {
    let server = Server::start(|_, mut peer| {
        let asked: Vec<Asked> = (0..8).map_while(|_| peer.ask()).collect();
        for asked in asked.iter().rev() {
            for (at, crumb) in asked.right(SEED).chunks(3).enumerate() {
                // A whole body in crumbs takes long; its beginning is where the heads are.
                if at < 20 {
                    peer.say(crumb);
                }
            }
            peer.say(&asked.right(SEED)[60..]);
        }
        peer.ignore();
    });
    let mut client = Client::new(Line::new(true), &patient(&server), 8, 1);
    (0..8).for_each(|token| client.start(token));
    assert_eq!(client.finish(), [WELL; 8]);
}

#[test]
fn a_loss_hits_what_is_on_that_connection_only() {
    let server = Server::start(|number, mut peer| {
        if number == 0 {
            peer.ask();
        } else {
            peer.serve(u64::MAX);
        }
    });
    let mut client = Client::new(Line::new(true), &patient(&server), 4, 2);
    (0..4).for_each(|token| client.start(token));
    let ends = client.finish();
    assert_eq!(ends.iter().filter(|end| **end == WELL).count(), 2, "{ends:?}");
    assert_eq!(ends.iter().filter(|end| **end == Err(ErrorKind::Reset)).count(), 2, "{ends:?}");
}

#[test]
fn operations_without_a_connection_fail_when_none_can_be_made() {
    let mut server = Server::start(|_, mut peer| {
        peer.ask();
    });
    let mut client = Client::new(Line::new(false), &patient(&server), 2, 1);
    server.stop();
    assert_eq!(client.run(0), Err(ErrorKind::Reset));
    client.start(1);
    client.start(2);
    assert_eq!(client.finish(), [Err(ErrorKind::Connect); 2]);
    let before = client.wire.report().enters;
    let until_ns = client.clock.now_ns() + 300_000_000;
    client.wire.turn(1, until_ns, &mut client.done).unwrap();
    // Pauses double from 10 ms: a handful of attempts, each of a few calls.
    assert!(client.wire.report().enters - before < 200, "it does not spin");
}

#[test]
fn who_waits_is_told_when_the_server_takes_connections_and_drops_them() {
    let server = Server::start(|number, mut peer| {
        if number == 0 {
            peer.ask();
        }
    });
    let mut client = Client::new(Line::new(false), &patient(&server), 1, 1);
    for token in 0..6 {
        assert_eq!(client.run(token), Err(ErrorKind::Reset));
    }
}

#[test]
fn a_connection_goes_to_the_next_address_when_its_own_fails() {
    let mut first = Server::start(|_, mut peer| {
        peer.ask();
    });
    let second = Server::right();
    let addresses = [first.address, second.address];
    let mut client = Client::new(Line::new(false), &settings(&addresses), 1, 1);
    first.stop();
    assert_eq!(client.run(0), Err(ErrorKind::Reset));
    assert_eq!([client.run(1), client.run(2)], [WELL; 2]);
    let to = addresses.map(|address| client.counted(&format!("messages_to/{address}")));
    assert_eq!(to, [1, 2]);
}

/// Says bytes, and waits until the kernel of the client has them. Of more than a window it takes none until some are read.
fn deliver(peer: &mut Peer<Stream>, bytes: &[u8]) {
    peer.say(bytes);
    loop {
        let mut unacknowledged: libc::c_int = 0;
        // SAFETY: the socket is open, and the answer is one integer.
        unsafe { libc::ioctl(peer.socket().as_raw_fd(), libc::TIOCOUTQ, &raw mut unacknowledged) };
        if unacknowledged == 0 {
            return;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_large_body_on_a_slow_line_is_slow_and_not_lost() {
    const BYTES: u32 = 1 << 20;
    // The first step begins the body; the second has fewer bytes than a connection wakes its client for.
    const STEPS: [usize; 2] = [100, 20_000];
    let steps = Arc::new(Barrier::new(2));
    let theirs = Arc::clone(&steps);
    let server = Server::start(move |_, mut peer| {
        let Some(asked) = peer.ask() else { return };
        let reply = asked.right(SEED);
        let mut rest = &reply[..];
        for step in STEPS {
            let (now, later) = rest.split_at(step);
            deliver(&mut peer, now);
            theirs.wait();
            theirs.wait();
            rest = later;
        }
        peer.say(rest);
        peer.ignore();
    });
    let patience = patient(&server);
    let clock = Clock::simulated();
    let mut wire = Wire::connect(Line::new(true), &patience, 1, 1, &clock).unwrap();
    let buf = Arena::new(1, BYTES).unwrap().buffers().pop().unwrap();
    assert!(wire.start(0, Task::read(0, 0, BYTES), buf).is_ok());
    let mut done = Vec::new();
    wire.turn(0, 0, &mut done).unwrap();
    for _ in STEPS {
        steps.wait();
        clock.advance_to(clock.now_ns() + patience.reply_timeout_ns);
        wire.turn(0, 0, &mut done).unwrap();
        steps.wait();
    }
    while done.is_empty() {
        wire.turn(1, u64::MAX, &mut done).unwrap();
    }
    assert_eq!(done[0].result, Ok(u64::from(BYTES)));
    assert_eq!(counted(&wire.report(), "connections_lost"), 0);
}

#[test]
fn a_refused_connection_is_named() {
    let mut server = Server::right();
    server.stop();
    let error = Wire::connect(Line::new(true), &patient(&server), 1, 1, &Clock::real())
        .err()
        .expect("nobody listens")
        .to_string();
    for part in ["line", &server.address.to_string(), "refused", "\n  hint: "] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn an_address_that_answers_nothing_is_given_up() {
    let hole = servers::Blackhole::open().unwrap();
    let patience = Settings { connect_timeout_ns: 100_000_000, ..settings(&[hole.address()]) };
    let wire = Wire::connect(Line::new(true), &patience, 1, 2, &Clock::real());
    let error = wire.err().unwrap().to_string();
    assert!(error.contains(&hole.address().to_string()) && error.contains("\n  hint: "), "{error}");
}
