//! Checksums that a service keeps.

use aws_smithy_types::base64;
use backend::{ErrorKind, Op, Store, StoreError};
use dataset::MARKER_NAME;
use plan::{Operation, S3Config};

use crate::fake::{Act, Asked, BYTES, Fake, objects, text};
use crate::support::{self, Engine, Opened, Setup, blocks, config, key, marker, prepare, write};

/// CRC-32 as in IEEE 802.3, as services say it: big-endian, in base64.
fn crc32(bytes: &[u8]) -> String {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    };
    base64::encode((!bytes.iter().fold(u32::MAX, step)).to_be_bytes())
}

/// An object with its checksum, of which one byte is another where the object's number is odd. Only who asks for
/// checksums has them.
fn keeps(asked: &Asked) -> Act {
    let Some(object) = asked.object().filter(|_| !asked.is_look()) else { return asked.well() };
    let reply = asked.data("ETag: \"1\"\r\n", |length| length);
    let at = reply.len() - BYTES as usize;
    let body = &reply[at..];
    if !asked.head.to_lowercase().contains("x-amz-checksum-mode: enabled") {
        return Act::Send(reply);
    }
    let mut reply =
        asked.data(&format!("ETag: \"1\"\r\nx-amz-checksum-crc32: {}\r\n", crc32(body)), |length| length);
    if object % 2 == 1 {
        *reply.last_mut().unwrap() ^= 1;
    }
    Act::Send(reply)
}

fn whole(object: u32) -> Op {
    Op::ReadFile { object, bytes: BYTES }
}

const FILES: Setup = Setup { operation: Operation::ReadFile, depth: 2, connections: 2 };

#[test]
fn a_wrong_byte_is_an_error_where_the_service_keeps_checksums() {
    assert_eq!(crc32(b"123456789"), "y/Q5Jg==");
    let fake = Fake::serve(keeps);
    let checked = S3Config { checksum: true, ..config(&fake.endpoint(), "p") };
    let store = Engine::Sdk.open(&checked).unwrap();
    let mut queue = Opened::new(&store, &objects(), FILES);
    let ended = queue.run(&[0, 1, 2, 3].map(whole));
    assert_eq!((ended[0], ended[2]), (Ok(BYTES), Ok(BYTES)));
    for end in [ended[1], ended[3]] {
        assert_eq!(end.unwrap_err().kind, ErrorKind::Corrupt);
    }
    assert!(queue.queue.report().first_failure.unwrap().contains("checksum"));
    assert_eq!(queue.counted("replies_with_checksum"), 4);
    queue.close();

    let store = Engine::Sdk.open(&S3Config { checksum: false, ..checked }).unwrap();
    let mut queue = Opened::new(&store, &objects(), FILES);
    assert!(queue.run(&[whole(0), whole(2)]).iter().all(Result::is_ok));
    assert!(!queue.queue.report().counted.iter().any(|(name, _)| name == "replies_with_checksum"));
    queue.close();
}

#[test]
fn what_is_written_carries_a_checksum_where_they_are_asked_for() {
    fn strict(asked: &Asked) -> Act {
        let is_marker = asked.head.lines().next().is_some_and(|line| line.contains(MARKER_NAME));
        match (asked.head.starts_with("PUT "), is_marker) {
            (true, _)
                if !asked.head.to_lowercase().contains(&format!(
                    "x-amz-checksum-crc32: {}\r\n",
                    crc32(&asked.written).to_lowercase()
                )) =>
            {
                Act::Send(asked.error("400 x", "BadDigest", ""))
            }
            (true, _) if asked.number > 0 => Act::Send(asked.error("412 x", "PreconditionFailed", "")),
            (false, true) => Act::Send(text("200 OK", "", &String::from_utf8_lossy(&asked.written))),
            _ => asked.well(),
        }
    }
    let fake = Fake::serve(strict);
    let store = Engine::Sdk.open(&S3Config { checksum: true, ..config(&fake.endpoint(), "") }).unwrap();
    let owned = store.create_folder(&key("d"), &marker()).unwrap();
    write(&store, &owned, "d/small", b"bytes").unwrap();
}

#[test]
fn the_engine_that_cannot_verify_says_which_can() {
    let fake = Fake::serve(Asked::well);
    let error = Engine::Lean.open(&S3Config { checksum: true, ..config(&fake.endpoint(), "") }).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    let text = error.to_string();
    let says = ["checksum = true", "`lean`", "hint: leave it out, or use engine = \"sdk\""];
    assert!(says.iter().all(|says| text.contains(says)), "{text}");
}

/// A service that keeps no checksums is read as well, and what the record says of it is that there were none.
pub(crate) fn none_are_kept_and_all_is_read(config: &S3Config) {
    let config = S3Config { checksum: true, prefix: "checked".to_owned(), ..config.clone() };
    let objects = support::objects();
    let store = Engine::Sdk.open(&config).unwrap();
    prepare(&store, &objects);
    for part_bytes in [None, Some(3_000)] {
        let store = Engine::Sdk.open(&S3Config { part_bytes, ..config.clone() }).unwrap();
        let mut queue = Opened::new(&store, &objects, FILES);
        let files: Vec<Op> = (0..objects.count())
            .map(|object| Op::ReadFile { object, bytes: objects.bytes(object) })
            .collect();
        assert!(queue.run(&files).iter().all(Result::is_ok), "{:?}", queue.queue.report());
        assert_eq!(queue.counted("replies_with_checksum"), 0);
        queue.close();
        let mut queue = Opened::new(&store, &objects, Setup { operation: Operation::Read, ..FILES });
        assert!(queue.run(&blocks(&objects)).iter().all(Result::is_ok), "{:?}", queue.queue.report());
        queue.close();
    }
}
