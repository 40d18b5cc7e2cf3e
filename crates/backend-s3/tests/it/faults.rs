//! Reads from a service that misbehaves: each ends, as what it is, the others end well, and nothing shows a secret.

use std::sync::Barrier;
use std::time::Duration;

use backend::{ErrorKind, Op, Owned, Store};
use dataset::MARKER_NAME;
use plan::{Operation, S3Config};

use crate::fake::{Act, Answer, Asked, Fake, objects, text};
use crate::support::{BOTH, Engine, ID, Opened, SECRET, Setup, config, key, marker};

/// Only a service that says nothing reaches it.
pub(crate) const LONG: Duration = Duration::from_mins(1);
/// For a service that says nothing. One that answers may do so later on a busy machine.
pub(crate) const SHORT: Duration = Duration::from_secs(2);
/// Rounds of reads of which one is answered within [`SHORT`], on a machine however busy.
const ROUNDS: u32 = 20;

/// What object 1 meets with.
struct Fault {
    name: &'static str,
    answer: fn(&Asked) -> Act,
    kinds: &'static [ErrorKind],
    /// What the first failure says, at least.
    says: &'static str,
}

macro_rules! faults {
    ($(($name:literal, $kinds:expr, $says:literal, $asked:ident => $act:expr)),* $(,)?) => {
        &[$(Fault {
            name: $name,
            answer: |$asked| if $asked.object() == Some(1) { $act } else { $asked.well() },
            kinds: &$kinds,
            says: $says,
        }),*]
    };
}

use ErrorKind::{Changed, Permission, Protocol, Redirect, Reset, Server, Throttled, Timeout, Truncated};

const FAULTS: &[Fault] = faults![
    ("a storm of 503", [Throttled], "503 SlowDown", asked => Act::Send(asked.error("503 x", "SlowDown", ""))),
    ("an internal error", [Server], "500 InternalError", asked =>
        Act::Send(asked.error("500 x", "InternalError", ""))),
    ("a reset in mid body", [Reset, Truncated], "", asked =>
        Act::Reset(asked.data("", |length| length)[..2_000].to_vec())),
    ("a reset instead of a reply", [Reset], "", _asked => Act::Reset(Vec::new())),
    ("a body shorter than its length", [Truncated], "", asked =>
        Act::Close(asked.data("", |length| length)[..2_000].to_vec())),
    ("a length longer than the body", [Protocol, Truncated], "", asked =>
        Act::Close(asked.data("", |length| length + 1_000))),
    ("a length shorter than the body", [Protocol], "", asked =>
        Act::Send(asked.data("", |length| length - 1_000))),
    ("a bucket in another region", [Redirect], "eu-south-2", asked => Act::Send(
        asked.error("301 x", "PermanentRedirect", "x-amz-bucket-region: eu-south-2\r\n"))),
    ("a redirect", [Redirect], "307", _asked =>
        Act::Send(text("307 x", "Location: http://127.0.0.1:1/elsewhere\r\n", "<html></html>"))),
    ("a web page", [Protocol], "", _asked => Act::Send(text("200 OK", "", "<html>Welcome</html>"))),
    ("something other than HTTP", [Protocol], "", _asked => Act::Close(b"220 hello\r\n".to_vec())),
    ("silence", [Timeout], "", _asked => Act::Silence(Vec::new())),
    ("silence in mid body", [Timeout], "", asked =>
        Act::Silence(asked.data("", |length| length)[..2_000].to_vec())),
    ("data in chunks", [Protocol], "", _asked => Act::Send(
        b"HTTP/1.1 206 x\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes 4096-8191/10000\r\n\r\n\
          3\r\nabc\r\n0\r\n\r\n".to_vec())),
    ("a head without an end", [Protocol], "", _asked => Act::Silence(
        [b"HTTP/1.1 206 x\r\nX: ".to_vec(), vec![b'x'; 600_000]].concat())),
    ("fields without an end", [Protocol], "", _asked => Act::Silence(
        [b"HTTP/1.1 206 x\r\n".to_vec(), b"X: y\r\n".repeat(100_000)].concat())),
    ("clocks that are apart", [Permission], "403 RequestTimeTooSkewed", asked =>
        Act::Send(asked.error("403 x", "RequestTimeTooSkewed", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))),
    ("a token that has expired", [Permission], "400 ExpiredToken", asked =>
        Act::Send(asked.error("400 x", "ExpiredToken", ""))),
    ("another range than asked for", [Protocol], "", _asked =>
        Act::Send(text("206 x", "Content-Range: bytes 0-4/10000\r\n", "abcde"))),
    ("a range that does not say which", [Protocol], "its Content-Range is not what was asked", _asked =>
        Act::Send(text("206 x", "", &"a".repeat(4096)))),
    ("as many bytes of another place", [Protocol], "its Content-Range is not what was asked", _asked =>
        Act::Send(text("206 x", "Content-Range: bytes 0-4095/10000\r\n", &"a".repeat(4096)))),
];

fn open(engine: Engine, config: &S3Config, operation: Operation) -> (backend_s3::S3Store, Opened) {
    open_with(LONG, engine, config, operation)
}

fn open_with(
    patience: Duration,
    engine: Engine,
    config: &S3Config,
    operation: Operation,
) -> (backend_s3::S3Store, Opened) {
    let store = engine.open_with(config, patience).unwrap();
    let queue = Opened::new(&store, &objects(), Setup { operation, depth: 3, connections: 2 });
    (store, queue)
}

fn read(object: u32) -> Op {
    Op::Read { object, offset: 4096, len: 4096 }
}

/// Meets with every fault; returns everything that anybody might read of it.
pub(crate) fn meet_all(config: impl Fn(&str) -> S3Config) {
    for engine in BOTH {
        for fault in FAULTS {
            let fake = Fake::serve(fault.answer);
            let patience = if fault.kinds == [Timeout] { SHORT } else { LONG };
            let config = config(&fake.endpoint());
            let (store, mut queue) = open_with(patience, engine, &config, Operation::Read);
            let what = format!("{engine:?} met {}", fault.name);
            let mut rounds = (0..if patience == SHORT { ROUNDS } else { 1 })
                .map(|_| queue.run(&[read(0), read(1), read(2)]))
                .skip_while(|ended| (ended[0], ended[2]) != (Ok(4096), Ok(4096)));
            let ended = rounds.next().unwrap_or_else(|| panic!("{what}, and so did others"));
            drop(rounds);
            let kind = ended[1].unwrap_err().kind;
            let report = queue.queue.report();
            let failure = report.first_failure.clone().unwrap_or_default();
            assert!(fault.kinds.contains(&kind), "{what}: {kind}, {failure}");
            assert!(failure.contains(fault.says), "{what}: {failure}");
            assert!(!failure.contains(char::is_control), "{what}: {failure:?}");
            assert!(queue.run(&[read(3), read(0)]).iter().all(Result::is_ok), "{what}, and does not go on");
            hides(&fake, &format!("{what}: {store:?} {report:?} {:?}", store.facts()));
            queue.close();
        }
    }
}

/// Nothing in a text is a secret, or was made from one.
pub(crate) fn hides(fake: &Fake, text: &str) {
    let seen = fake.seen.lock().unwrap();
    assert!(!seen.signatures.is_empty(), "nothing was signed");
    for secret in [ID, SECRET, "CANARY", "AWS4-HMAC-SHA256"]
        .into_iter()
        .map(str::to_owned)
        .chain(seen.signatures.clone())
    {
        assert!(!text.contains(&secret), "{text}");
    }
}

#[test]
fn every_fault_is_of_its_kind_leaves_others_alone_and_shows_no_secret() {
    meet_all(|endpoint| config(endpoint, "p"));
}

#[test]
fn after_a_storm_the_queue_goes_on() {
    let answer: Answer = |asked| {
        if asked.object().is_some() && asked.number < 20 {
            return Act::Send(asked.error("503 x", "SlowDown", "Retry-After: 1\r\n"));
        }
        asked.well()
    };
    for engine in BOTH {
        let fake = Fake::serve(answer);
        let (_store, mut queue) = open(engine, &config(&fake.endpoint(), ""), Operation::Read);
        let ended = queue.run(&[read(2); 40]);
        let throttled = ended.iter().filter(|end| end.is_err_and(|error| error.kind == Throttled)).count();
        assert_eq!(throttled, 20, "{engine:?} tries nothing again by itself: {ended:?}");
        assert_eq!(ended.iter().filter(|end| end.is_ok()).count(), 20);
        queue.close();
    }
}

#[test]
fn an_object_that_is_replaced_is_changed() {
    let answer: Answer = |asked| {
        let version = if asked.number == 0 { "ETag: \"1\"\r\n" } else { "ETag: \"2\"\r\n" };
        if asked.object().is_some() { Act::Send(asked.data(version, |length| length)) } else { asked.well() }
    };
    for engine in BOTH {
        for (operation, op) in [
            (Operation::Read, read(1)),
            (Operation::ReadFile, Op::ReadFile { object: 1, bytes: crate::fake::BYTES }),
            (Operation::Stat, Op::Stat { object: 1 }),
        ] {
            let fake = Fake::serve(answer);
            let (_store, mut queue) = open(engine, &config(&fake.endpoint(), ""), operation);
            assert!(queue.run(&[op])[0].is_ok(), "{engine:?} {op:?}");
            assert_eq!(queue.run(&[op])[0].unwrap_err().kind, Changed, "{engine:?} {op:?}");
            queue.close();
        }
    }
}

#[test]
fn a_part_is_not_taken_for_all_nor_for_a_range_that_it_does_not_name() {
    // The first half of an object twice as long as it was; a range that says nothing of its place.
    let half: Answer = |asked| match asked.object() {
        Some(_) => Act::Send(text("206 x", "Content-Range: bytes 0-9999/20000\r\n", &"a".repeat(10_000))),
        None => asked.well(),
    };
    let nameless: Answer = |asked| match asked.object() {
        Some(_) => Act::Send(text("206 x", "", &"a".repeat(4096))),
        None => asked.well(),
    };
    let whole = Op::ReadFile { object: 1, bytes: crate::fake::BYTES };
    let first = Op::Read { object: 1, offset: 0, len: 4096 };
    for engine in BOTH {
        for (answer, operation, op, says) in [
            (half, Operation::ReadFile, whole, "a part came where all was asked"),
            (nameless, Operation::Read, first, "its Content-Range is not what was asked"),
        ] {
            let fake = Fake::serve(answer);
            let (_store, mut queue) = open(engine, &config(&fake.endpoint(), ""), operation);
            assert_eq!(queue.run(&[op])[0].map_err(|error| error.kind), Err(Protocol), "{engine:?} {op:?}");
            let failure = queue.queue.report().first_failure.unwrap_or_default();
            assert!(failure.contains(says), "{engine:?} {op:?}: {failure}");
            queue.close();
        }
    }
}

/// Parts that are asked for one after the other would wait for each other until patience ends.
#[test]
fn parts_of_one_object_are_under_way_at_once_on_as_many_connections() {
    // Of 10,000 bytes in parts of 1,000, nine lie before the last block and stay in no buffer.
    static ALL_UNDER_WAY: Barrier = Barrier::new(9);
    let answer: Answer = |asked| {
        if asked.object().is_some() && asked.number < 9 {
            ALL_UNDER_WAY.wait();
        }
        asked.well()
    };
    for engine in BOTH {
        let fake = Fake::serve(answer);
        let config = S3Config { part_bytes: Some(1_000), ..config(&fake.endpoint(), "") };
        let store = engine.open(&config).unwrap();
        let setup = Setup { operation: Operation::ReadFile, depth: 1, connections: 9 };
        let mut queue = Opened::new(&store, &objects(), setup);
        let whole = Op::ReadFile { object: 1, bytes: crate::fake::BYTES };
        assert_eq!(queue.run(&[whole]), [Ok(crate::fake::BYTES)], "{engine:?}");
        queue.close();
    }
}

#[test]
fn bytes_that_nobody_asked_for_never_become_anothers() {
    let answer: Answer = |asked| match asked.object() {
        Some(1) => Act::Send([asked.data("", |length| length), vec![b'x'; 5_000]].concat()),
        _ => asked.well(),
    };
    for engine in BOTH {
        let fake = Fake::serve(answer);
        let (_store, mut queue) = open(engine, &config(&fake.endpoint(), ""), Operation::Read);
        for _ in 0..5 {
            // What is read well is verified; the connection may be given up over what followed.
            let ended = queue.run(&[read(1), read(2), read(1)]);
            assert!(ended.iter().any(Result::is_ok), "{engine:?}: {ended:?}");
        }
        assert_eq!(queue.run(&[read(3), read(0)]).len(), 2);
        queue.close();
    }
}

#[test]
fn a_connection_that_ends_after_each_reply_costs_no_operation() {
    let answer: Answer = |asked| match asked.object() {
        Some(_) => Act::Close(asked.data("Connection: close\r\n", |length| length)),
        None => asked.well(),
    };
    for engine in BOTH {
        let fake = Fake::serve(answer);
        let (_store, mut queue) = open(engine, &config(&fake.endpoint(), ""), Operation::Read);
        let ended = queue.run(&[read(0), read(1), read(2), read(3), read(0), read(1)]);
        assert!(ended.iter().all(Result::is_ok), "{engine:?}: {ended:?}");
        queue.close();
    }
}

#[test]
fn a_listing_that_is_none_is_found_out() {
    let answer: Answer = |asked| {
        let timed = asked.head.contains("delimiter");
        if timed { Act::Send(text("200 OK", "", "<html>Welcome</html>")) } else { asked.well() }
    };
    for engine in BOTH {
        let fake = Fake::serve(answer);
        let (_store, mut queue) = open(engine, &config(&fake.endpoint(), ""), Operation::List);
        let kind = queue.run(&[Op::List { folder: 0 }])[0].unwrap_err().kind;
        assert!(matches!(kind, Protocol | ErrorKind::NotFound), "{engine:?}: {kind}");
        queue.close();
    }
}

/// What object 1 meets with when it is put.
#[test]
fn puts_that_fail_are_of_their_kind_and_the_queue_goes_on() {
    let faults: [(Answer, ErrorKind); 5] = [
        (|asked| put(asked, |asked| Act::Send(asked.error("503 x", "SlowDown", ""))), Throttled),
        (|asked| put(asked, |asked| Act::Send(asked.error("403 x", "AccessDenied", ""))), Permission),
        (
            |asked| {
                put(asked, |asked| Act::Close(asked.error("500 x", "InternalError", "Connection: close\r\n")))
            },
            Server,
        ),
        (|asked| put(asked, |_| Act::Reset(Vec::new())), Reset),
        (|asked| put(asked, |_| Act::Send(text("307 x", "Location: http://127.0.0.1:1/\r\n", ""))), Redirect),
    ];
    for (answer, kind) in faults {
        let fake = Fake::serve(answer);
        let store = Engine::Lean.open_with(&config(&fake.endpoint(), ""), LONG).unwrap();
        let owned = Owned::claim(&store, &key("d")).unwrap();
        let objects = objects();
        let (mut queue, mut free, clock) = crate::checks::open_anew(&store, &owned, &objects, 4096).unwrap();
        let anew = |object| Op::WriteFile { object, bytes: crate::fake::BYTES };
        let mut ended = Vec::new();
        let ops = [anew(0), anew(1), anew(2), anew(1), anew(3)];
        let patience = (&clock, 60_000_000_000);
        backend::conformance::drive(&mut *queue, &mut free, &ops, patience, |number, completion| {
            ended.push((number, completion.result.map_err(|error| error.kind)));
        });
        ended.sort_unstable_by_key(|(number, _)| *number);
        let expected =
            [Ok(crate::fake::BYTES), Err(kind), Ok(crate::fake::BYTES), Err(kind), Ok(crate::fake::BYTES)];
        assert_eq!(ended.into_iter().map(|(_, result)| result).collect::<Vec<_>>(), expected);
        hides(&fake, &format!("{:?}", queue.report()));
        assert_eq!(queue.close(clock.now_ns() + 1_000_000_000, &mut Vec::new()), 0);
    }
}

/// What a service does that fails to take object 1 and takes all others.
fn put(asked: &Asked, fails: fn(&Asked) -> Act) -> Act {
    let ended = || Act::Send(text("200 OK", "", ""));
    match asked.object() {
        Some(1) => fails(asked),
        Some(_) => ended(),
        // The marker of the folder.
        None if asked.head.contains(MARKER_NAME) => {
            let marker = serde_json::to_string(&marker()).unwrap();
            let range = format!("Content-Range: bytes 0-{0}/{1}\r\n", marker.len() - 1, marker.len());
            Act::Send(text("206 Partial Content", &range, &marker))
        }
        None => asked.well(),
    }
}

#[test]
fn a_bucket_that_keeps_what_is_replaced_is_not_written_anew() {
    let answer: Answer = |asked| {
        if !asked.head.contains("?versioning") {
            return put(asked, |_| Act::Send(text("200 OK", "", "")));
        }
        let says = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
        Act::Send(text("200 OK", "", says))
    };
    let fake = Fake::serve(answer);
    let store = Engine::Lean.open_with(&config(&fake.endpoint(), ""), LONG).unwrap();
    let owned = Owned::claim(&store, &key("d")).unwrap();
    let refused =
        crate::checks::open_anew(&store, &owned, &objects(), 4096).map(drop).unwrap_err().to_string();
    assert!(refused.contains("keeps a version of every object"), "{refused}");
    let lines = &fake.seen.lock().unwrap().lines;
    assert!(!lines.iter().any(|line| line.starts_with("PUT ")), "{lines:?}");
}
