//! What is said when a store cannot be opened.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use backend::StoreError;
use backend_nfs::{NfsStore, Patience};
use nfs3_server::memfs::MemFsConfig;
use plan::NfsConfig;

use crate::memory::{Server, config};

/// Only a server that says nothing reaches it.
const LONG: Patience = Patience { connect: Duration::from_mins(1), reply: Duration::from_mins(1) };
/// For a server that says nothing.
const SHORT: Patience = Patience { reply: Duration::from_millis(300), ..LONG };

fn refused(config: &NfsConfig) -> String {
    refused_within(LONG, config)
}

fn refused_within(patience: Patience, config: &NfsConfig) -> String {
    match NfsStore::open_with(config, patience) {
        Ok(_) => panic!("it opened"),
        Err(error @ StoreError::Unavailable { .. }) => error.to_string(),
        Err(error) => panic!("{error:?}"),
    }
}

/// A server that answers whatever is first asked with these bytes, and then stays silent or closes.
fn answers(bytes: &'static [u8], closes: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 1024];
        let read = stream.read(&mut asked).unwrap();
        assert!(read > 8);
        let mut answer = bytes.to_vec();
        if answer.get(4..8) == Some(b"xid.") {
            answer[4..8].copy_from_slice(&asked[4..8]);
        }
        stream.write_all(&answer).unwrap();
        while !closes && stream.read(&mut asked).is_ok_and(|read| read > 0) {}
    });
    port
}

#[test]
fn a_closed_port_is_named() {
    let port = servers::closed_port().unwrap();
    let error = refused(&config(port, "/"));
    assert!(error.contains(&format!(":{port}")) && error.contains("nothing listens there"), "{error}");
}

#[test]
fn a_host_without_an_address_is_named() {
    let config = NfsConfig { host: "no-such-host.invalid".to_owned(), ..config(1, "/") };
    let error = refused(&config);
    assert!(error.contains("`no-such-host.invalid` has no address"), "{error}");
}

#[test]
fn what_is_no_nfs_server_is_found_out() {
    let error = refused(&config(answers(b"HTTP/1.1 400 Bad Request\r\n\r\n", false), "/"));
    assert!(error.contains("makes no sense") && error.contains("hint: check that an NFS server"), "{error}");
    let error = refused(&config(answers(b"\xff\xff\xff\xff", false), "/"));
    assert!(error.contains("a record of 2147483647 B"), "{error}");
    let error = refused(&config(
        answers(b"\x80\0\0\x18xid.\0\0\0\x01\0\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0", false),
        "/",
    ));
    assert!(error.contains("a verifier of 4294967295 B"), "{error}");
}

#[test]
fn a_server_that_closes_or_stays_silent_ends_the_call() {
    let error = refused(&config(answers(b"", true), "/"));
    assert!(error.contains("the connection broke"), "{error}");
    let error = refused(&config(answers(b"\x80\0\0\x18xid.", true), "/"));
    assert!(error.contains("the connection broke"), "{error}");
    let error = refused_within(SHORT, &config(answers(b"", false), "/"));
    assert!(error.contains("no reply within 0.3 s"), "{error}");
}

#[test]
fn a_server_that_refuses_the_caller_or_the_version_is_told_apart() {
    let too_weak = b"\x80\0\0\x14xid.\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x05";
    let error = refused(&config(answers(too_weak, false), "/"));
    assert!(error.contains("AUTH_TOOWEAK") && error.contains("insecure"), "{error}");
    let only_4 = b"\x80\0\0\x20xid.\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\x04\0\0\0\x04";
    let error = refused(&config(answers(only_4, false), "/"));
    assert!(error.contains("only 4 to 4") && error.contains("NFS version 3"), "{error}");
}

#[test]
fn an_export_that_is_not_there_is_named_with_those_that_are() {
    let server = Server::start(MemFsConfig::default(), "/tank/data");
    let error = refused(&server.config("/tank/other"));
    assert!(error.contains("MNT3ERR_NOENT") && error.contains("the server exports /tank/data"), "{error}");
    assert!(NfsStore::open(&server.config("/tank/data/not/there")).is_ok());
}
