//! Checksums that a service keeps.

use aws_smithy_types::base64;
use backend::{ErrorKind, Op, Store, StoreError, Summed};
use dataset::MARKER_NAME;
use md5::{Digest as _, Md5};
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

const LONG_NS: u64 = 60_000_000_000;

/// Whether the sum of an object agrees, and whether the service declares it to be one; `None` where it keeps none.
fn summed(fake: &Fake, object: u32) -> Option<(bool, bool)> {
    let store = Engine::Lean.open(&config(&fake.endpoint(), "p")).unwrap();
    let whole = store.read_summed(&objects().key(object), BYTES, LONG_NS).unwrap()?;
    assert_eq!(whole.bytes.len() as u64, BYTES, "all bytes come, right or wrong");
    Some((whole.agrees, whole.is_declared))
}

#[test]
fn an_object_read_whole_is_held_against_the_checksum_of_its_service() {
    let fake = Fake::serve(keeps);
    assert_eq!([0, 1].map(|object| summed(&fake, object)), [Some((true, true)), Some((false, true))]);
    let store = Engine::Lean.open(&config(&fake.endpoint(), "p")).unwrap();
    assert!(store.read_summed(&objects().key(0), BYTES - 1, LONG_NS).unwrap().is_none(), "it is too large");
    assert!(store.read_summed(&objects().key(0), BYTES, 0).unwrap().is_none(), "there is no time");
}

/// The first object has an MD5 for its ETag, and the others what is none.
fn tagged(asked: &Asked) -> Act {
    let md5 = format!("{:032x}", u128::from_be_bytes(Md5::digest(support::content(0, BYTES)).into()));
    let fields = match asked.object() {
        None => return asked.well(),
        Some(0) => format!("ETag: \"{md5}\"\r\nx-amz-server-side-encryption: AES256\r\n"),
        Some(1) => format!("ETag: \"{}\"\r\n", "0".repeat(32)),
        Some(2) => format!("ETag: \"{md5}-2\"\r\nx-amz-checksum-crc32: AAAAAA==-2\r\n"),
        _ => format!("ETag: \"{md5}\"\r\nx-amz-server-side-encryption: aws:kms\r\n"),
    };
    Act::Send(asked.data(&fields, |length| length))
}

#[test]
fn an_etag_is_a_sum_where_it_has_the_form_of_an_md5_and_the_object_is_plain() {
    let fake = Fake::serve(tagged);
    let found = [0, 1, 2, 3].map(|object| summed(&fake, object));
    assert_eq!(found, [Some((true, false)), Some((false, false)), None, None]);
}

/// The emulator answers MD5s of what is uploaded at once, and none of what is uploaded in parts.
pub(crate) fn etags_are_sums_of_what_is_written_at_once(config: &S3Config) {
    let store = Engine::Lean.open(&S3Config { prefix: "summed".to_owned(), ..config.clone() }).unwrap();
    let owned = store.create_folder(&key("d"), &marker()).unwrap();
    for (name, bytes, is_summed) in [("d/small", 9, true), ("d/none", 0, true), ("d/parts", 17 << 20, false)]
    {
        let content = support::content(3, bytes);
        write(&store, &owned, name, &content).unwrap();
        let whole = store.read_summed(&key(name), bytes, LONG_NS).unwrap();
        let wanted = Summed { bytes: content, agrees: true, is_declared: false };
        assert!(whole == is_summed.then_some(wanted), "{name}");
    }
}
