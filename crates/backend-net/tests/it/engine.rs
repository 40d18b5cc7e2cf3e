//! What the engine does when nothing goes wrong.

use backend::{Arena, Clock, ErrorKind};
use backend_net::{Settings, SourcePort, Wire};
use dataset::payload;

use crate::client::{Client, LATER_NS, LEN, counted, granted, settings};
use crate::line::{Line, Task};
use crate::server::{Peer, SEED, Server};

#[test]
fn many_operations_on_few_connections_end_well() {
    for pipelines in [true, false] {
        let server = Server::right();
        let mut client = Client::new(Line::new(pipelines), &settings(&[server.address]), 32, 4);
        for round in 0..20 {
            (0..32).for_each(|token| client.start(round * 32 + token));
            assert!(client.finish().iter().all(|end| *end == Ok(u64::from(LEN))));
        }
        let report = client.wire.report();
        let named = |name: &str| counted(&report, name);
        assert_eq!(granted(&report, "connections"), "4");
        assert_eq!((named("connections_opened"), named("connections_lost")), (4, 0));
        assert_eq!(named("messages"), 640);
        assert_eq!(named(&format!("messages_to/{}", server.address)), 640);
        assert!(named("wire_received_bytes") > 640 * u64::from(LEN));
        assert!(named("wire_sent_bytes") > 640 * 15 && report.enters > 0);
        assert_eq!(named("wasted_bytes"), 0);
    }
}

#[test]
fn parts_of_a_read_go_over_several_connections() {
    let server = Server::right();
    let mut client = Client::new(Line::in_parts(false, 3), &settings(&[server.address]), 4, 2);
    (0..4).for_each(|token| client.start(token));
    assert_eq!(client.finish(), [Ok(u64::from(LEN)); 4]);
    assert_eq!(client.counted("messages"), 12);
}

#[test]
fn more_operations_than_connections_each_of_more_parts_than_at_once_end_well() {
    for (pipelines, connections) in [(true, 1), (true, 3), (false, 1), (false, 3)] {
        let server = Server::right();
        let protocol = Line::in_turns(pipelines, 5, 2);
        let mut client = Client::new(protocol, &settings(&[server.address]), 16, connections);
        for round in 0..10 {
            (0..16).for_each(|token| client.start(round * 16 + token));
            assert!(client.finish().iter().all(|end| *end == Ok(u64::from(LEN))));
        }
        assert_eq!(client.counted("messages"), 10 * 16 * 5);
    }
}

#[test]
fn connections_are_spread_over_the_addresses() {
    let servers = [Server::right(), Server::right()];
    let addresses = [servers[0].address, servers[1].address];
    let mut client = Client::new(Line::new(true), &settings(&addresses), 8, 4);
    (0..8).for_each(|token| client.start(token));
    client.finish();
    assert_eq!(addresses.map(|address| client.counted(&format!("messages_to/{address}"))), [4, 4]);
}

#[test]
fn addresses_take_turns_where_connections_have_nothing_to_do() {
    let servers = [Server::right(), Server::right()];
    let addresses = [servers[0].address, servers[1].address];
    let mut client = Client::new(Line::new(false), &settings(&addresses), 1, 4);
    for token in 0..10 {
        assert_eq!(client.run(token), Ok(u64::from(LEN)));
    }
    assert_eq!(addresses.map(|address| client.counted(&format!("messages_to/{address}"))), [5, 5]);
}

#[test]
fn a_payload_larger_than_the_sockets_buffers_is_sent_in_full() {
    const BYTES: u32 = 6 << 20;
    for pipelines in [true, false] {
        let server = Server::start(|_, mut peer| {
            while let Some(asked) = peer.ask() {
                payload::verify(SEED, asked.object, asked.offset, &peer.payload)
                    .expect("the bytes that were sent");
                peer.say(&asked.data(b""));
            }
        });
        let clock = Clock::real();
        let wire = Wire::connect(Line::writing(pipelines), &settings(&[server.address]), 2, 1, &clock);
        let mut wire = wire.unwrap();
        let mut done = Vec::new();
        for (object, mut buf) in Arena::new(2, BYTES).unwrap().buffers().into_iter().enumerate() {
            payload::fill(SEED, object as u32, 0, &mut buf.as_mut_slice()[..BYTES as usize]);
            assert!(wire.start(object as u32, Task::read(object as u32, 0, BYTES), buf).is_ok());
        }
        while wire.in_flight() > 0 {
            wire.turn(1, LATER_NS, &mut done).unwrap();
        }
        assert!(done.iter().all(|end| end.result == Ok(u64::from(BYTES))), "{done:?}");
        assert!(counted(&wire.report(), "wire_sent_bytes") > 2 * u64::from(BYTES));
    }
}

#[test]
fn bodies_of_several_rounds_come_whole_and_side_by_side() {
    const BYTES: u32 = 3 << 20;
    for pipelines in [true, false] {
        let server = Server::right();
        let clock = Clock::real();
        let mut wire =
            Wire::connect(Line::new(pipelines), &settings(&[server.address]), 4, 2, &clock).unwrap();
        let mut done = Vec::new();
        for (object, buf) in (0..).zip(Arena::new(4, BYTES).unwrap().buffers()) {
            assert!(wire.start(object, Task::read(object, 0, BYTES), buf).is_ok());
        }
        while wire.in_flight() > 0 {
            wire.turn(1, LATER_NS, &mut done).unwrap();
        }
        for end in &done {
            assert_eq!(end.result, Ok(u64::from(BYTES)));
            payload::verify(SEED, end.token, 0, &end.buf.as_slice()[..BYTES as usize]).unwrap();
        }
    }
}

#[test]
fn a_full_engine_gives_the_buffer_back() {
    let server = Server::start(|_, mut peer| peer.ignore());
    let mut client = Client::new(Line::new(true), &settings(&[server.address]), 1, 1);
    client.start(0);
    let buf = Arena::new(1, LEN).unwrap().buffers().pop().unwrap();
    assert!(client.wire.start(1, Task::read(1, 0, LEN), buf).is_err());
    assert_eq!(client.wire.in_flight(), 1);
}

#[test]
fn a_privileged_port_is_used_where_it_may_be_and_reported_where_not() {
    let (ports, told) = std::sync::mpsc::channel();
    let ports = std::sync::Mutex::new(ports);
    let server = Server::start(move |_, mut peer| {
        ports.lock().unwrap().send(peer.socket().peer_addr().unwrap().port()).unwrap();
        peer.serve(u64::MAX);
    });
    let low = Settings { source_port: SourcePort::PrivilegedIfAllowed, ..settings(&[server.address]) };
    let mut client = Client::new(Line::new(true), &low, 1, 1);
    assert_eq!(client.run(0), Ok(u64::from(LEN)));
    let (port, report) = (told.recv().unwrap(), client.wire.report());
    if port < 1024 {
        assert_eq!(granted(&report, "source_port"), "");
    } else {
        assert_eq!(granted(&report, "source_port"), "any: not allowed to bind below 1024");
    }
}

#[test]
fn a_server_may_be_at_an_address_of_ipv6() {
    let listener = match std::net::TcpListener::bind("[::1]:0") {
        Ok(listener) => listener,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "no IPv6 here: {error}");
            println!("skipped: no IPv6 here: {error}");
            return;
        }
    };
    let server = Server::listening(listener, |_, stream| Peer::over(stream).serve(u64::MAX));
    let mut client = Client::new(Line::new(true), &settings(&[server.address]), 1, 1);
    assert_eq!(client.run(0), Ok(u64::from(LEN)));
}

#[test]
fn nothing_under_way_waits_until_the_deadline_without_spinning() {
    let server = Server::right();
    let mut client = Client::new(Line::new(true), &settings(&[server.address]), 1, 1);
    let (until_ns, before) = (client.clock.now_ns() + 30_000_000, client.wire.report().enters);
    client.wire.turn(5, until_ns, &mut client.done).unwrap();
    assert!(client.clock.now_ns() >= until_ns && client.done.is_empty());
    assert!(client.wire.report().enters - before < 20, "it does not spin");
}

#[test]
fn an_address_is_needed() {
    let error = Wire::connect(Line::new(true), &settings(&[]), 1, 1, &Clock::real()).err().unwrap();
    assert!(error.to_string().contains("hint"), "{error}");
    assert_eq!(ErrorKind::Connect.name(), "connect");
}
