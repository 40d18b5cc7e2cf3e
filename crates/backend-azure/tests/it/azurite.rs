//! All checks against Azurite, by an account's key and by shared access signatures.

use std::sync::Arc;
use std::time::Duration;

use backend::conformance::objects as alike;
use backend::conformance::{Fixture, run_write_files};
use backend::{Clock, ErrorKind, Op, Store, StoreError};
use dataset::{MARKER_NAME, Objects};
use plan::{AzureConfig, Cache, Operation};
use servers::{Authority, Azurite, or_skip};

use crate::support::{
    CONTAINER, Opened, Setup, Variables, blocks, config, content, key, marker, objects, open, open_with,
    prepare, write,
};

/// An Azurite with our container; none where it cannot be had.
fn start() -> Option<Azurite> {
    let server = or_skip(Azurite::start())?;
    server.make_container(CONTAINER).unwrap();
    Some(server)
}

fn by_key(server: &Azurite) -> [(&'static str, String); 1] {
    [("AZURE_STORAGE_KEY", server.key().to_owned())]
}

fn by_token(token: &str) -> [(&'static str, String); 1] {
    [("AZURE_STORAGE_SAS_TOKEN", token.to_owned())]
}

fn at(server: &Azurite, prefix: &str) -> AzureConfig {
    config(&server.endpoint(), server.authority(), prefix)
}

#[test]
fn azurite_passes_every_check() {
    let Some(server) = start() else { return };
    for (rights, variables) in [("key", by_key(&server)), ("sas", by_token(server.owner()))] {
        let at = |prefix: &str| at(&server, &format!("{rights}/{prefix}"));
        blobs_are_written_listed_in_order_read_and_removed(&at("ops"), &variables);
        nothing_is_overwritten(&at("once"), &variables);
        what_is_not_ours_is_neither_written_nor_removed(&at("theirs"), &variables);
        it_conforms_however_objects_are_fetched(&at("conform"), &variables);
        blobs_are_written_anew(&at("anew"), &variables);
    }
    let variables = by_key(&server);
    a_large_blob_is_written_in_blocks_and_a_dropped_one_is_not_there(&at(&server, "large"), &variables);
    five_hundred_operations_are_under_way_at_once(&at(&server, "deep"), &variables);
    what_is_gone_or_replaced_is_told(&at(&server, "gone"), &variables);
    a_reader_reads_and_writes_nothing(&server);
    who_is_not_let_in_is_told_why(&server);
}

fn blobs_are_written_listed_in_order_read_and_removed(config: &AzureConfig, variables: Variables<'_>) {
    let store = open(config, variables).unwrap();
    let place = format!("az://{CONTAINER}/{}", config.prefix);
    alike::objects_are_written_listed_in_order_read_and_removed(&store, &place);
}

fn blobs_are_written_anew(config: &AzureConfig, variables: Variables<'_>) {
    run_write_files(&Fixture {
        store: Arc::new(open(config, variables).unwrap()),
        objects: objects(),
        seed: None,
        caches: vec![Cache::Bypass],
        clock: Clock::real(),
        depth: 3,
    });
}

fn nothing_is_overwritten(config: &AzureConfig, variables: Variables<'_>) {
    let store = open(config, variables).unwrap();
    let owned = store.create_folder(&key("mine"), &marker()).unwrap();
    assert!(matches!(store.create_folder(&key("mine"), &marker()), Err(StoreError::Exists { .. })));
    write(&store, &owned, "mine/a", b"first").unwrap();
    assert!(matches!(write(&store, &owned, "mine/a", b"other"), Err(StoreError::Exists { .. })));
    let mut late = store.create(&owned, &key("mine/late")).unwrap();
    late.write(b"slow").unwrap();
    write(&store, &owned, "mine/late", b"fast!").unwrap();
    assert!(matches!(late.finish(), Err(StoreError::Exists { .. })));
    let mut large = store.create(&owned, &key("mine/large")).unwrap();
    large.write(b"more").unwrap();
    write(&store, &owned, "mine/large", b"small").unwrap();
    large.write(&vec![1; 17 << 20]).unwrap();
    assert!(matches!(large.finish(), Err(StoreError::Exists { .. })));
    let mut begun = store.create(&owned, &key("mine/begun")).unwrap();
    begun.write(&vec![1; 17 << 20]).unwrap();
    let refused = write(&store, &owned, "mine/begun", b"small").unwrap_err().to_string();
    assert!(refused.contains("was begun and is not ended") && refused.contains("hint: "), "{refused}");
    begun.finish().unwrap();
    for (name, bytes) in [("mine/a", b"first"), ("mine/late", b"fast!"), ("mine/large", b"small")] {
        let mut found = [0; 5];
        assert_eq!(store.read_at(&key(name), 0, &mut found).unwrap(), 5);
        assert_eq!(&found, bytes);
    }
}

fn what_is_not_ours_is_neither_written_nor_removed(config: &AzureConfig, variables: Variables<'_>) {
    let store = open(config, variables).unwrap();
    let others = store.create_folder(&key("a"), &marker()).unwrap();
    write(&store, &others, "a/z", b"1").unwrap();
    // Without its marker it is anybody's.
    store.remove(&others, &key("a").join(MARKER_NAME).unwrap()).unwrap();
    alike::what_is_not_ours_is_refused(&store);
}

fn it_conforms_however_objects_are_fetched(config: &AzureConfig, variables: Variables<'_>) {
    let objects = objects();
    prepare(&open(config, variables).unwrap(), &objects);
    for (part_bytes, head) in [(None, false), (Some(3_000), false), (Some(4_096), true), (None, true)] {
        let config = AzureConfig { part_bytes, head, ..config.clone() };
        alike::conforms(Arc::new(open(&config, variables).unwrap()), &objects);
    }
}

fn a_large_blob_is_written_in_blocks_and_a_dropped_one_is_not_there(
    config: &AzureConfig,
    variables: Variables<'_>,
) {
    alike::a_large_object_is_there_once_it_is_whole(&open(config, variables).unwrap());
}

fn five_hundred_operations_are_under_way_at_once(config: &AzureConfig, variables: Variables<'_>) {
    let objects = Arc::new(Objects::uniform(key("data"), 4, 1_000_001));
    prepare(&open(config, variables).unwrap(), &objects);
    let store = open(config, variables).unwrap();
    let mut queue =
        Opened::new(&store, &objects, Setup { operation: Operation::Read, depth: 512, connections: 16 });
    let ops = blocks(&objects);
    assert!(ops.len() > 512);
    assert!(queue.run(&ops).iter().all(Result::is_ok), "{:?}", queue.queue.report().first_failure);
    assert!(queue.counted("wire_received_bytes") > objects.total_bytes());
    assert_eq!(queue.counted("connections_opened"), 16);
    assert_eq!(queue.counted("messages"), ops.len() as u64);
    queue.close();
}

fn what_is_gone_or_replaced_is_told(config: &AzureConfig, variables: Variables<'_>) {
    let store = open(config, variables).unwrap();
    let objects = objects();
    let read = |object| Op::Read { object, offset: 0, len: 100 };
    let mut queue =
        Opened::new(&store, &objects, Setup { operation: Operation::Read, depth: 2, connections: 1 });
    assert_eq!(queue.run(&[read(1)])[0].unwrap_err().kind, ErrorKind::NotFound);
    let failure = queue.queue.report().first_failure.unwrap();
    assert!(failure.contains("404 BlobNotFound"), "{failure}");
    queue.close();

    let owned = prepare(&store, &objects);
    let mut queue =
        Opened::new(&store, &objects, Setup { operation: Operation::Read, depth: 2, connections: 1 });
    assert_eq!(queue.run(&[read(2)]), [Ok(100)]);
    let name = objects.key(2);
    let other = open(config, variables).unwrap();
    other.remove(&owned, &name).unwrap();
    write(&other, &owned, name.as_str(), &content(2, 10_001)).unwrap();
    assert_eq!(queue.run(&[read(2)])[0].unwrap_err().kind, ErrorKind::Changed);
    let behind = Op::Read { object: 3, offset: 20_000, len: 100 };
    assert_eq!(queue.run(&[behind])[0].unwrap_err().kind, ErrorKind::Eof);
    queue.close();
}

fn a_reader_reads_and_writes_nothing(server: &Azurite) {
    let config = at(server, "read");
    let owned = prepare(&open(&config, &by_key(server)).unwrap(), &objects());
    let store = open(&config, &by_token(server.reader())).unwrap();
    alike::a_reader_reads_and_writes_nothing(&store, &owned, ["AuthorizationPermissionMismatch", "sp=rcwdl"]);
}

fn who_is_not_let_in_is_told_why(server: &Azurite) {
    let config = at(server, "");
    let wrong = "d3JvbmcgQVpDQU5BUlkgd3Jvbmc=";
    let other = AzureConfig { container: "missing".to_owned(), ..config.clone() };
    let anonymous = AzureConfig { anonymous: true, ..config.clone() };
    let nobody = [("AZURE_STORAGE_KEY", wrong.to_owned()), ("AZURE_STORAGE_ACCOUNT", "nobody".to_owned())];
    let forged = server.owner().replace("sig=4U", "sig=5U");
    for (config, variables, says) in [
        (&config, &[("AZURE_STORAGE_KEY", wrong.to_owned())][..], "check the key"),
        (&config, &by_token(&forged), "AuthorizationFailure"),
        (&config, &nobody, "hint: "),
        (&other, &by_key(server), "`missing` does not exist"),
        (&anonymous, &[], "leave out anonymous = true"),
    ] {
        let error = open(config, variables).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(shown.contains(says) && shown.contains("hint: "), "{shown}");
        let secrets = [wrong, server.key(), "sig=", "5UDK2A"];
        assert!(!secrets.iter().any(|secret| shown.contains(secret)), "{shown}");
    }
}

#[test]
fn it_is_read_over_tls_by_who_trusts_it() {
    let Some(server) = or_skip(Azurite::encrypted()) else { return };
    let variables = by_key(&server);
    let config = at(&server, "tls");
    server.make_container(CONTAINER).unwrap();
    let objects = objects();
    prepare(&open(&config, &variables).unwrap(), &objects);
    alike::conforms(Arc::new(open(&config, &variables).unwrap()), &objects);
    let store = open(&config, &variables).unwrap();
    let queue = Opened::new(&store, &objects, Setup { operation: Operation::Read, depth: 2, connections: 1 });
    let granted = queue.queue.report().granted;
    assert!(granted.iter().any(|(name, how)| *name == "tls" && how.starts_with("TLS1.")), "{granted:?}");
    queue.close();
    let stranger = Authority::new().unwrap();
    for ca in [None, Some(stranger.path())] {
        let error = open(&AzureConfig { ca, ..config.clone() }, &variables).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("does not trust") && text.contains("by ca = \"FILE\""), "{text}");
    }
}

#[test]
fn readers_of_a_server_that_is_stopped_or_killed_are_told() {
    let Some(server) = start() else { return };
    let (config, variables) = (at(&server, ""), by_key(&server));
    let objects = objects();
    prepare(&open(&config, &variables).unwrap(), &objects);
    // For when it is stopped: what is not may be later than that on a busy machine.
    let opened = (0..20).find_map(|_| open_with(&config, &variables, Duration::from_secs(2)).ok());
    let store = opened.expect("it opens");
    let mut queue =
        Opened::new(&store, &objects, Setup { operation: Operation::Read, depth: 4, connections: 2 });
    let all = [0, 1, 2, 3].map(|object| Op::Read { object, offset: 4096, len: 4096 });
    goes_on(&mut queue, &all);

    server.pause();
    let ended = queue.run(&all);
    server.resume();
    let kinds: Vec<ErrorKind> = ended.iter().map(|end| end.unwrap_err().kind).collect();
    assert!(kinds.contains(&ErrorKind::Timeout), "{kinds:?}");
    assert!(kinds.iter().all(|kind| kind.is_transient()), "{kinds:?}");
    goes_on(&mut queue, &all);

    server.kill();
    let kinds: Vec<ErrorKind> = queue.run(&all).iter().map(|end| end.unwrap_err().kind).collect();
    let expected = [ErrorKind::Reset, ErrorKind::Connect, ErrorKind::Timeout];
    assert!(kinds.iter().all(|kind| expected.contains(kind)), "{kinds:?}");
    queue.close();
}

/// A queue reads well again, after some attempts that may still be hit.
fn goes_on(queue: &mut Opened, ops: &[Op]) {
    let well = (0..100).any(|_| {
        let ended = queue.run(ops);
        assert!(ended.iter().all(|end| end.is_ok_and(|_| true) || end.unwrap_err().kind.is_transient()));
        ended.iter().all(Result::is_ok)
    });
    assert!(well, "{:?}", queue.queue.report().first_failure);
}
