//! What a service may do wrong, or others beside us, while a store prepares, lists and removes.

use std::ops::ControlFlow;
use std::sync::Arc;

use backend::{ErrorKind, Op, Owned, Request, Store, StoreError};
use dataset::{MARKER_NAME, Objects};
use plan::{Addresses, Operation, S3Config};

use crate::fake::{Act, Answer, Asked, BYTES, Fake, objects, text};
use crate::support::{BOTH, Engine, Opened, Setup, config, content, key, marker, write};

const MARKER: &str = "{\"format\":1,\"note\":\"n\",\"dataset\":\"d\"}";

/// Whether a request is for the marker of a folder.
fn is_marker(asked: &Asked) -> bool {
    asked.head.lines().next().is_some_and(|line| line.contains(MARKER_NAME))
}

fn taken(asked: &Asked) -> Act {
    Act::Close(asked.error("412 x", "PreconditionFailed", "Connection: close\r\n"))
}

#[test]
fn a_write_whose_reply_was_lost_is_ours_and_that_of_another_is_not() {
    // Takes each PUT and hangs up; refuses the next attempt. Object 2 is another writer's.
    let answer: Answer = |asked| match (asked.head.starts_with("PUT "), asked.object()) {
        (true, _) if asked.number == 0 && asked.object() != Some(2) => Act::Close(Vec::new()),
        (true, _) => taken(asked),
        (false, None) if is_marker(asked) => {
            Act::Send(text("200 OK", "", &String::from_utf8_lossy(&asked.written)))
        }
        _ => asked.well(),
    };
    let fake = Fake::serve(answer);
    let store = Engine::Lean.open(&config(&fake.endpoint(), "")).unwrap();
    let owned = store.create_folder(&key("d"), &marker()).unwrap();
    let objects = objects();
    write(&store, &owned, objects.key(1).as_str(), &content(1, BYTES)).unwrap();
    for theirs in [content(1, BYTES), content(2, BYTES - 1), [content(2, BYTES), vec![0]].concat()] {
        let refused = write(&store, &owned, objects.key(2).as_str(), &theirs);
        assert!(matches!(refused, Err(StoreError::Exists { .. })), "{refused:?}");
    }
}

fn upload(name: &str) -> String {
    format!("<Upload><Key>{name}</Key><UploadId>id</UploadId></Upload>")
}

#[test]
fn only_uploads_of_the_folder_are_ended_while_its_marker_stands() {
    // Keeps to no prefix, and has two pages.
    let answer: Answer = |asked| {
        if asked.head.starts_with("DELETE ") {
            return Act::Send(b"HTTP/1.1 204 x\r\n\r\n".to_vec());
        }
        if is_marker(asked) {
            return Act::Send(text("200 OK", "", MARKER));
        }
        if !asked.head.contains("uploads") {
            return asked.well();
        }
        let (first, second) = ("p/d/000000/000000001.bin", "p/d/000000/000000002.bin");
        let more = "<IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker>\
                    <NextUploadIdMarker>u</NextUploadIdMarker>";
        let page = if asked.head.contains("key-marker=k") {
            format!(
                "<IsTruncated>false</IsTruncated>{}{}",
                upload("p/d2/000000/000000001.bin"),
                upload(second)
            )
        } else {
            let others = ["q/d/000000/000000001.bin", "p/d/theirs.bin", "d/000000/000000001.bin"].map(upload);
            format!("{more}{}{}", others.concat(), upload(first))
        };
        Act::Send(text(
            "200 OK",
            "",
            &format!("<ListMultipartUploadsResult>{page}</ListMultipartUploadsResult>"),
        ))
    };
    let fake = Fake::serve(answer);
    let store = Engine::Lean.open(&config(&fake.endpoint(), "p")).unwrap();
    let owned = Owned::claim(&store, &key("d")).unwrap();
    store.remove(&owned, &key("d").join(MARKER_NAME).unwrap()).unwrap();
    let seen = fake.seen.lock().unwrap();
    let removed: Vec<&str> = seen.lines.iter().filter_map(|line| line.strip_prefix("DELETE ")).collect();
    assert_eq!(removed.len(), 3, "{removed:?}");
    for (line, part) in removed.iter().zip(["000000001.bin", "000000002.bin", MARKER_NAME]) {
        assert!(line.contains("p/d/") && line.contains(part), "{removed:?}");
        assert_eq!(line.contains("uploadId=id"), part != MARKER_NAME, "{removed:?}");
    }
}

#[test]
fn an_operation_of_the_sdk_begins_when_it_is_submitted() {
    let fake = Fake::serve(Asked::well);
    let store = Engine::Sdk.open(&config(&fake.endpoint(), "")).unwrap();
    let setup = Setup { operation: Operation::Read, depth: 2, connections: 1 };
    let mut opened = Opened::new(&store, &objects(), setup);
    let (mut requests, mut done) = (Vec::new(), Vec::new());
    for token in 0..2 {
        let buf = opened.free.pop().unwrap();
        requests.push(Request { token, op: Op::Read { object: token, offset: 0, len: 4096 }, buf });
    }
    let before_ns = opened.clock.now_ns();
    opened.queue.submit(&mut requests, &mut done).unwrap();
    let after_ns = opened.clock.now_ns();
    while done.len() < 2 {
        opened.queue.wait(1, after_ns + 60_000_000_000, &mut done).unwrap();
    }
    for completion in &done {
        let begun_ns = completion.stamps.begun_ns;
        assert!(completion.result.is_ok() && before_ns <= begun_ns && begun_ns <= after_ns, "{completion:?}");
    }
    opened.close();
}

#[test]
fn the_sdk_refuses_to_spread_connections_over_addresses() {
    let fake = Fake::serve(Asked::well);
    let all = S3Config { addresses: Addresses::All, ..config(&fake.endpoint(), "") };
    assert!(Engine::Lean.open(&all).is_ok());
    let error = Engine::Sdk.open(&all).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }) && error.to_string().contains("lean"), "{error}");
    let store = Engine::Sdk.open(&config(&fake.endpoint(), "")).unwrap();
    let opened =
        Opened::new(&store, &objects(), Setup { operation: Operation::Stat, depth: 1, connections: 1 });
    let granted = opened.queue.report().granted;
    assert!(granted.iter().any(|(name, how)| *name == "addresses" && how.contains("by name")), "{granted:?}");
    opened.close();
}

#[test]
fn facts_name_a_server_on_this_machine_and_the_emulator() {
    let emulator: Answer = |_| {
        let page = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
        Act::Send(text("200 OK", "Server: feedline-emulator\r\n", page))
    };
    for (answer, by) in [(emulator, Some("feedline")), (Asked::well, None)] {
        let fake = Fake::serve(answer);
        for engine in BOTH {
            let facts = engine.open(&config(&fake.endpoint(), "")).unwrap().facts();
            let fact = |name| facts.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_str());
            assert_eq!((fact("emulated_by"), fact("server_is_local")), (by, Some("true")), "{engine:?}");
        }
    }
}

/// Where a listing goes on.
fn token(asked: &Asked) -> Option<&str> {
    let (_, rest) = asked.head.lines().next()?.split_once("continuation-token=")?;
    rest.split(['&', ' ']).next()
}

fn page(keys: usize, next: &str) -> Act {
    let keys = "<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>".repeat(keys);
    let more =
        format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{next}</NextContinuationToken>{keys}");
    Act::Send(text("200 OK", "", &format!("<ListBucketResult>{more}</ListBucketResult>")))
}

#[test]
fn listings_that_never_end_are_given_up() {
    let cycle: Answer = |asked| page(1, if token(asked) == Some("a") { "b" } else { "a" });
    let endless: Answer = |asked| {
        let number = token(asked).map_or(0, |token| token.parse().unwrap());
        // Ends at last, so that a client that does not give up is one that succeeds.
        if number == 300 { asked.well() } else { page(1_000, &(number + 1).to_string()) }
    };
    for answer in [cycle, endless] {
        let fake = Fake::serve(answer);
        for engine in BOTH {
            let store = engine.open(&config(&fake.endpoint(), "")).unwrap();
            let objects = Arc::new(Objects::uniform(key("d"), 4, BYTES));
            let setup = Setup { operation: Operation::List, depth: 1, connections: 1 };
            let mut queue = Opened::new(&store, &objects, setup);
            let ended = queue.run(&[Op::List { folder: 0 }]);
            assert_eq!(ended[0].map_err(|error| error.kind), Err(ErrorKind::Protocol), "{engine:?}");
            assert!(queue.queue.report().first_failure.unwrap().contains("does not come to an end"));
            queue.close();
        }
    }
    let fake = Fake::serve(cycle);
    let store = Engine::Lean.open(&config(&fake.endpoint(), "")).unwrap();
    for error in
        [store.list(None, &mut |_| ControlFlow::Continue(())).unwrap_err(), store.folders().unwrap_err()]
    {
        assert!(error.to_string().contains("for the second time"), "{error}");
    }
}
