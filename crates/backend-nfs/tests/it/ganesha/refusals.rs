//! What is said when the server cannot be used.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use backend::{ErrorKind, Op, Store, StoreError};
use backend_nfs::{NfsStore, Patience};
use plan::{NfsConfig, Operation};
use servers::{Blackhole, GaneshaOptions};

use super::{direct, mapped, objects, path_of, serving, store, target};
use crate::memory::config;
use crate::reader::{Load, Reader};

/// Only a server that says nothing reaches it.
const LONG: Patience = Patience { connect: Duration::from_mins(1), reply: Duration::from_mins(1) };
/// For a server that says nothing.
const SHORT: Duration = Duration::from_millis(300);

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

#[test]
fn an_export_a_port_or_a_program_that_is_not_there_is_named() {
    let Some(server) = serving(&GaneshaOptions::default(), &objects()) else { return };
    for config in [direct(&server, "/other/folder"), mapped(&server, "/exports")] {
        let error = refused(&config);
        assert!(error.contains("the server exports /export;"), "{error}");
        assert!(error.contains("MNT3ERR_") && error.contains("\n  hint: "), "{error}");
    }
    for (config, port) in [
        (NfsConfig { nfs_port: Some(2050), ..direct(&server, "/export") }, 2050),
        (NfsConfig { mount_port: Some(20_049), ..direct(&server, "/export") }, 20_049),
    ] {
        let error = refused(&config);
        assert!(error.contains(&format!(":{port}")) && error.contains("nothing listens there"), "{error}");
    }
    let crossed = NfsConfig { nfs_port: Some(server.mount_port()), ..direct(&server, "/export") };
    let error = refused(&crossed);
    assert!(error.contains("does not offer NFS"), "{error}");
    server.kill();
    let error = refused(&direct(&server, "/export"));
    assert!(error.contains("nothing listens there"), "{error}");
}

#[test]
fn an_address_that_answers_nothing_is_given_up() {
    let hole = Blackhole::open().unwrap();
    let SocketAddr::V4(address) = hole.address() else { panic!("it is at 127.0.0.1") };
    let config = NfsConfig { host: address.ip().to_string(), ..config(address.port(), "/") };
    let error = refused_within(Patience { connect: SHORT, ..LONG }, &config);
    assert!(error.contains("no connection within 0.3 s") && error.contains("firewalls"), "{error}");
}

#[test]
fn a_server_that_hangs_is_given_up() {
    let Some(server) = serving(&GaneshaOptions::default(), &objects()) else { return };
    server.pause();
    for config in [direct(&server, "/export"), mapped(&server, "/export")] {
        let error = refused_within(Patience { reply: SHORT, ..LONG }, &config);
        assert!(error.contains("no reply within 0.3 s"), "{error}");
    }
    server.resume();
    assert!(NfsStore::open(&direct(&server, "/export")).is_ok());
}

#[test]
fn a_file_that_nobody_may_read_is_a_matter_of_permission() {
    let (options, objects) = (GaneshaOptions { root_squash: true, ..GaneshaOptions::default() }, objects());
    let Some(server) = serving(&options, &objects) else { return };
    let closed = fs::Permissions::from_mode(0o600);
    fs::set_permissions(path_of(&server, &objects, 1), closed).unwrap();
    let store = store(&server);
    let bytes = objects.bytes(1);
    for (operation, denied) in [
        (Operation::Read, Op::Read { object: 1, offset: 0, len: 4096 }),
        (Operation::ReadFile, Op::ReadFile { object: 1, bytes }),
    ] {
        let load = Load { operation, depth: 4, connections: 1, block_bytes: 4096 };
        let mut reader = Reader::open(&store, &objects, load);
        let ops = reader.everything();
        let well: Vec<Op> = ops.into_iter().filter(|op| !matches!(op, Op::Read { object: 1, .. })).collect();
        let others = [well[0], denied, well[0]];
        let ends = reader.run(&others);
        assert_eq!(ends[1].unwrap_err().kind, ErrorKind::Permission);
        assert!(ends[0].is_ok() && ends[2].is_ok(), "{ends:?}");
        let said = reader.report().first_failure.unwrap();
        assert!(said.contains("NFS3ERR_ACCES"), "{said}");
    }
    let error = store.read_at(&objects.key(1), 0, &mut [0; 10]).unwrap_err().to_string();
    assert!(error.contains("NFS3ERR_ACCES") && error.contains("no_root_squash"), "{error}");
    let error = NfsStore::open(&direct(&server, &target(&server))).map(|store| {
        let marker = dataset::Marker { format: 1, note: String::new(), dataset: String::new() };
        store.create_folder(&dataset::Key::new("mine").unwrap(), &marker).unwrap_err().to_string()
    });
    let error = error.unwrap();
    assert!(error.contains("NFS3ERR_ACCES") && error.contains("root_squash"), "{error}");
}
