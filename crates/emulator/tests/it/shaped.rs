//! What a declared server does to requests, as far as no clock is needed to see it.

use emulator::{Protocol, Server, Settings};
use plan::{Delay, Emulation, Faults};

use crate::http::{Broken, Client};
use crate::{generated, now_s};

fn started(emulation: Emulation) -> Server {
    Server::start(&Settings { emulation, ..Settings::new(Protocol::S3) }).unwrap()
}

fn failing(faults: Faults) -> Server {
    started(Emulation { faults, seed: 5, ..Emulation::default() })
}

#[test]
fn a_body_is_reset_or_cut_in_its_middle() {
    let cases = [
        (Faults { reset: 1.0, ..Faults::default() }, Broken::Reset, "reset"),
        (Faults { truncated: 1.0, ..Faults::default() }, Broken::Closed, "truncated"),
    ];
    for (faults, broken, name) in cases {
        let server = failing(faults);
        for length in [4096, 3_000_000] {
            let data = generated(0, length);
            assert_eq!(Client::connect(server.port()).put("/bench/k", &data).status, 200);
            server.begin();
            let reply = Client::connect(server.port()).get("/bench/k");
            assert_eq!((reply.status, reply.broken.as_ref()), (200, Some(&broken)), "{name} of {length} B");
            assert!(reply.body.len() <= length / 2 && data.starts_with(&reply.body), "{name}");
            if broken == Broken::Closed {
                assert_eq!(reply.body.len(), length / 2, "all before the cut arrives");
            }
            let span = server.end();
            assert_eq!(span.faults[name], 1);
            if length == 4096 {
                assert_eq!(span.sent_bytes, 2048, "half of it");
            }
        }
    }
}

#[test]
fn corrupted_bytes_come_in_full_and_the_same_each_time_below_the_etag_of_what_was_written() {
    let server = failing(Faults { corrupted: 1.0, ..Faults::default() });
    let mut client = Client::connect(server.port());
    for length in [4096, 3_000_000] {
        let data = generated(0, length);
        let written = client.put("/bench/k", &data);
        let corrupted: Vec<u8> = data.iter().map(|byte| !byte).collect();
        for _ in 0..2 {
            let reply = client.get("/bench/k");
            assert_eq!((reply.status, reply.broken.as_ref()), (200, None), "{length} B");
            assert!(reply.body == corrupted && reply.header("etag") == written.header("etag"), "{length} B");
        }
        let part = client.send("GET", "/bench/k", &["Range: bytes=100-199"], b"");
        assert!(part.status == 206 && part.body == corrupted[100..200], "{length} B");
    }
    assert_eq!(server.end().faults["corrupted"], 6);
}

#[test]
fn errors_that_are_asked_for_leave_the_connection_usable_and_are_counted() {
    let cases = [
        (Faults { server_error: 1.0, ..Faults::default() }, 500, "InternalError", "server_error"),
        (Faults { slow_down: 1.0, ..Faults::default() }, 503, "SlowDown", "slow_down"),
        (Faults { stale: 1.0, ..Faults::default() }, 404, "NoSuchKey", "stale"),
    ];
    for (faults, status, code, name) in cases {
        let server = failing(faults);
        let mut client = Client::connect(server.port());
        assert_eq!(client.put("/bench/k", b"x").status, 200, "writes do not fail");
        assert_eq!(client.send("HEAD", "/bench/k", &[], b"").status, 200, "nor do attributes");
        for _ in 0..3 {
            let reply = client.get("/bench/k");
            assert_eq!((reply.status, reply.header("server")), (status, Some("feedline-emulator")));
            assert!(reply.text().contains(&format!("<Code>{code}</Code>")), "{}", reply.text());
        }
        assert_eq!(server.end().faults[name], 3);
    }
}

#[test]
fn the_same_seed_fails_the_same_requests() {
    let fates = || {
        let server = failing(Faults { server_error: 0.3, stale: 0.2, ..Faults::default() });
        let mut client = Client::connect(server.port());
        client.put("/bench/k", b"x");
        let fates: Vec<u16> = (0..200).map(|_| client.get("/bench/k").status).collect();
        let counted = server.end().faults;
        let seen = |status| fates.iter().filter(|fate| **fate == status).count() as u64;
        assert_eq!((counted["server_error"], counted["stale"]), (seen(500), seen(404)));
        fates
    };
    assert_eq!(fates(), fates());
}

/// So slow a rate that nothing beyond the burst of one request comes in, however long the test takes.
#[test]
fn a_prefix_beyond_its_rate_is_refused_and_others_are_not() {
    let server = started(Emulation { requests_per_s: Some(1e-6), ..Emulation::default() });
    let mut client = Client::connect(server.port());
    for key in ["a/1", "a/b/2", "c/1"] {
        assert_eq!(client.put(&format!("/bench/{key}"), b"x").status, 200, "writes are not limited");
    }
    server.begin();
    assert_eq!(client.get("/bench/a/1").status, 200);
    let refused = client.get("/bench/a/b/2");
    assert_eq!((refused.status, refused.text().contains("SlowDown")), (503, true));
    assert_eq!(client.send("HEAD", "/bench/a/1", &[], b"").status, 503);
    assert_eq!(client.get("/bench/c/1").status, 200, "another prefix");
    assert_eq!(client.get("/other/a/1").status, 404, "the prefix of another bucket");
    let span = server.end();
    assert_eq!((span.requests, span.throttled), (5, 2));
}

#[test]
fn delays_asked_for_and_achieved_are_kept_apart_for_data_and_metadata() {
    let server = started(Emulation {
        first_byte: Some(Delay::Uniform { from_ns: 2_000_000, to_ns: 4_000_000 }),
        metadata: Some(Delay::Constant { ns: 1_000_000 }),
        ..Emulation::default()
    });
    let mut client = Client::connect(server.port());
    client.put("/bench/k", b"x");
    server.begin();
    for _ in 0..20 {
        client.get("/bench/k");
    }
    client.send("HEAD", "/bench/k", &[], b"");
    let span = server.end();
    let decode = |text: &Option<record::HistogramText>| text.as_ref().unwrap().decode().unwrap();
    let (asked, achieved) = (decode(&span.asked_ns), decode(&span.achieved_ns));
    assert_eq!((asked.len(), achieved.len()), (20, 20));
    assert!(asked.min() >= 1_990_000 && asked.max() <= 4_010_000);
    assert!(achieved.min() >= asked.min(), "never before it was due");
    assert_eq!((decode(&span.metadata_asked_ns).len(), decode(&span.metadata_achieved_ns).len()), (1, 1));
}

#[test]
fn paced_and_seeking_servers_lose_no_byte() {
    let data = generated(0, 2_000_000);
    for emulation in [
        Emulation { connection_bps: Some(50e6), ..Emulation::default() },
        Emulation { total_bps: Some(50e6), connection_bps: Some(40e6), ..Emulation::default() },
        Emulation { seek_ns: Some(1_000_000), total_bps: Some(500e6), ..Emulation::default() },
    ] {
        let server = started(emulation);
        let mut client = Client::connect(server.port());
        assert_eq!(client.put("/bench/k", &data).status, 200);
        assert!(client.get("/bench/k").body == data);
    }
}

#[test]
fn a_server_with_a_stalled_request_ends_at_once_when_dropped() {
    let server = failing(Faults { stall: 1.0, ..Faults::default() });
    let mut client = Client::connect(server.port());
    client.put("/bench/k", b"x");
    let port = server.port();
    let waiting = std::thread::spawn(move || {
        let mut other = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        std::io::Write::write_all(&mut other, b"GET /bench/k HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        // Reset or closed: in either case without an answer.
        let _ = std::io::Read::read_to_end(&mut other, &mut answer);
        answer
    });
    while server.end().faults.is_empty() {
        std::thread::yield_now();
    }
    drop(server);
    assert!(waiting.join().unwrap().is_empty());
}

/// The head is moved by reads alone: nothing else is asked to wait for it.
#[test]
fn only_reads_move_the_head() {
    let server = started(Emulation { seek_ns: Some(1_000_000), ..Emulation::default() });
    let mut client = Client::connect(server.port());
    for key in ["a", "b"] {
        assert_eq!(client.put(&format!("/bench/{key}"), b"x").status, 200);
        client.send("HEAD", &format!("/bench/{key}"), &[], b"");
    }
    client.get("/bench?list-type=2");
    assert_eq!(server.end().asked_ns, None);
    client.get("/bench/a");
    client.get("/bench/b");
    let span = server.end();
    assert_eq!(span.asked_ns.unwrap().decode().unwrap().len(), 2);
    assert_eq!(span.metadata_asked_ns, None);
}

/// Later is allowed and earlier is not, so a busy machine cannot upset it.
#[test]
fn no_read_comes_sooner_than_declared_alone_and_all_together() {
    const READS: u32 = 12;
    let (first_byte_s, connection_bps, total_bps) = (0.002, 25e6, 40e6);
    let server = started(Emulation {
        first_byte: Some(Delay::Constant { ns: 2_000_000 }),
        connection_bps: Some(connection_bps),
        total_bps: Some(total_bps),
        ..Emulation::default()
    });
    let data = generated(0, 65_536);
    assert_eq!(Client::connect(server.port()).put("/bench/k", &data).status, 200);
    server.begin();
    let port = server.port();
    let begun_s = now_s();
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let data = data.clone();
            std::thread::spawn(move || {
                let mut client = Client::connect(port);
                for _ in 0..READS {
                    let asked_s = now_s();
                    assert!(client.get("/bench/k").body == data);
                    let took_s = now_s() - asked_s;
                    let declared_s = first_byte_s + data.len() as f64 / connection_bps;
                    assert!(took_s >= declared_s, "{took_s} s where {declared_s} s are declared");
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    let bytes = f64::from(4 * READS) * data.len() as f64;
    let took_s = now_s() - begun_s;
    assert!(took_s >= bytes / total_bps, "{bytes} B in {took_s} s");
}
