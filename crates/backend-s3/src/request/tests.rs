//! The protocol on byte strings, cut anywhere.

pub(crate) mod wire;

use backend::{FilePieces, Op, OpError, QueueReport};
use backend_http::{Asking, Etags, Lean, Task};
use backend_net::{Fate, Frame, Head, Outcome, Payload, Protocol as _, Text};
use plan::Operation;
use proptest::prelude::*;

use super::*;
use crate::credentials::Keyring;
use crate::endpoint::Endpoint;
use crate::fixture::config;
use crate::names::Names;

const BYTES: u64 = 10_000;

fn lean<const PARTS: usize>(operation: Operation, change: impl FnOnce(&mut Asking)) -> Lean<Encoder, PARTS> {
    let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 3, BYTES));
    let endpoint = Endpoint::new(&config(), Some("http://s3.lan".to_owned()), "r").unwrap();
    let credentials =
        aws_credential_types::Credentials::new("AKID", "SECRET", Some("TOKEN".into()), None, "t");
    let mut asking = Asking {
        etags: Arc::new(Etags::new(3)),
        objects: Arc::clone(&objects),
        operation,
        block_bytes: 4096,
        part_bytes: None,
        head: false,
        roots: 1,
    };
    change(&mut asking);
    let names = Names::new("p", asking.roots);
    let keyring = Keyring::new(credentials);
    let encoder = Encoder::new(&endpoint, &names, &objects, Some(&keyring), &Clock::simulated());
    Lean::new(asking, encoder)
}

fn first_failure<const PARTS: usize>(lean: &Lean<Encoder, PARTS>) -> Option<String> {
    let mut report = QueueReport::default();
    lean.report(&mut report);
    report.first_failure
}

/// What came of an operation.
#[derive(Debug, PartialEq)]
struct Played {
    requests: Vec<String>,
    result: Result<u64, OpError>,
    fates: Vec<Fate>,
    buffer: Vec<u8>,
}

/// Drives one operation as an engine does; each reply comes in pieces of `piece` bytes, and a connection ends where
/// its reply does.
fn play<const PARTS: usize>(
    lean: &mut Lean<Encoder, PARTS>,
    op: Op,
    replies: &[&[u8]],
    piece: usize,
) -> Played {
    let mut played = Played { requests: vec![], result: Ok(0), fates: vec![], buffer: vec![0; 4096] };
    let mut task = match lean.task(op) {
        Ok(task) => task,
        Err(error) => return Played { result: Err(error), ..played },
    };
    let (mut open, mut replies) = (Vec::new(), replies.iter());
    loop {
        let mut out = Vec::new();
        while let Some(message) = lean.next(&mut task, 0, &mut out) {
            played.requests.push(String::from_utf8(std::mem::take(&mut out)).unwrap());
            open.push(message.part);
        }
        assert!(!open.is_empty(), "{op:?} neither ends nor asks");
        let part = open.remove(0);
        let reply = replies.next().unwrap_or_else(|| panic!("{:?} was not expected", played.requests));
        let outcome = answer(lean, &mut task, part, reply, piece, &mut played);
        if let Outcome::Ended(result) = outcome {
            assert!(open.is_empty(), "it ended while messages are under way");
            played.result = result;
            return played;
        }
    }
}

fn answer<const PARTS: usize>(
    lean: &mut Lean<Encoder, PARTS>,
    task: &mut Task<PARTS>,
    part: u32,
    reply: &[u8],
    piece: usize,
    played: &mut Played,
) -> Outcome {
    let mut have = piece.min(reply.len());
    let reset = OpError { kind: ErrorKind::Reset, code: 0 };
    let more = |have: &mut usize| {
        let before = *have;
        *have = (*have + piece).min(reply.len());
        before < *have
    };
    while let Frame::Need(_) = lean.frame(&reply[..have]) {
        if !more(&mut have) {
            return lean.lost(task, part, reset);
        }
    }
    if let Frame::Broken(error) = lean.frame(&reply[..have]) {
        return lean.lost(task, part, error);
    }
    let head = loop {
        match lean.head(task, part, &reply[..have]) {
            Head::Need(_) if more(&mut have) => {}
            Head::Need(_) => return lean.lost(task, part, reset),
            head => break head,
        }
    };
    match head {
        Head::Broken(error) => return lean.lost(task, part, error),
        Head::Data { head_bytes, body_bytes, place, .. } => {
            let Some(body) = reply.get(head_bytes..head_bytes + body_bytes as usize) else {
                return lean.lost(task, part, OpError { kind: ErrorKind::Truncated, code: 0 });
            };
            let mut at = place.at;
            for byte in body {
                assert!(at < place.wrap && place.wrap <= played.buffer.len());
                played.buffer[at] = *byte;
                at = (at + 1) % place.wrap;
            }
        }
        Head::Text { head_bytes } => {
            let mut used = head_bytes;
            have = have.max(used);
            loop {
                match lean.text(task, part, &reply[used..have]) {
                    Text::Ended { .. } => break,
                    Text::More { used: more_used } => {
                        used += more_used;
                        if !more(&mut have) {
                            return lean.lost(task, part, reset);
                        }
                    }
                    Text::Broken(error) => return lean.lost(task, part, error),
                }
            }
        }
        Head::Need(_) => unreachable!("asked for above"),
    }
    let reply = lean.ended(task, part);
    played.fates.push(reply.fate);
    reply.outcome
}

fn content(offset: u64, len: u64) -> Vec<u8> {
    (offset..offset + len).map(|at| (at % 251) as u8).collect()
}

fn partial(offset: u64, len: u64) -> Vec<u8> {
    let last = offset + len - 1;
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Length: {len}\r\nContent-Range: bytes \
         {offset}-{last}/{BYTES}\r\n\r\n"
    );
    [head.into_bytes(), content(offset, len)].concat()
}

fn whole(bytes: u64) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: {bytes}\r\n\r\n");
    [head.into_bytes(), content(0, bytes)].concat()
}

fn failure(status: &str, code: &str) -> Vec<u8> {
    let text =
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>why AKID not</Message></Error>");
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

const READ: Op = Op::Read { object: 1, offset: 4096, len: 4096 };
const FILE: Op = Op::ReadFile { object: 1, bytes: BYTES };

fn kind_of(played: &Played) -> ErrorKind {
    played.result.unwrap_err().kind
}

#[test]
fn a_read_is_a_signed_get_of_a_range() {
    let mut lean = lean::<1>(Operation::Read, |_| {});
    let played = play(&mut lean, READ, &[&partial(4096, 4096)], 7);
    assert_eq!((played.result, played.fates), (Ok(4096), vec![Fate::Keep]));
    assert_eq!(played.buffer, content(4096, 4096));
    let request = &played.requests[0];
    let begins = "GET /bucket/p/d/000000/000000001.bin HTTP/1.1\r\nHost: s3.lan\r\n";
    assert!(request.starts_with(begins) && request.ends_with("\r\n\r\n"), "{request}");
    for field in [
        "\r\nRange: bytes=4096-8191\r\n",
        "\r\nx-amz-security-token: TOKEN\r\n",
        "/r/s3/aws4_request,SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,Signature=",
    ] {
        assert!(request.contains(field), "{request}");
    }
}

const ANEW: Op = Op::WriteFile { object: 1, bytes: BYTES };

#[test]
fn an_object_is_written_anew_by_a_signed_put_of_all_its_pieces() {
    let mut lean = lean::<1>(Operation::WriteFile, |_| {});
    let mut task = lean.task(ANEW).unwrap();
    let mut out = Vec::new();
    let message = lean.next(&mut task, 0, &mut out).unwrap();
    assert_eq!(message.payload, Some(Payload::Object(FilePieces::new(BYTES, 4096))));
    let request = String::from_utf8(out).unwrap();
    let begins = "PUT /bucket/p/d/000000/000000001.bin HTTP/1.1\r\nHost: s3.lan\r\n";
    assert!(request.starts_with(begins) && request.ends_with("\r\n\r\n"), "{request}");
    for field in
        ["\r\nContent-Length: 10000\r\n", "\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\n", "Signature="]
    {
        assert!(request.contains(field), "{request}");
    }
    assert!(lean.next(&mut task, 0, &mut Vec::new()).is_none(), "it is asked once");
    assert!(lean.task(READ).is_err() && lean.task(Op::WriteFile { object: 9, bytes: 1 }).is_err());
}

#[test]
fn a_put_has_ended_with_its_reply_whatever_is_said_besides() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    for (reply, result, fate) in [
        (&b"HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 0\r\n\r\n"[..], Ok(BYTES), Fate::Keep),
        (b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", Ok(BYTES), Fate::Keep),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Ok(BYTES), Fate::Keep),
        (chunked, Ok(BYTES), Fate::Keep),
        // It goes on to the end of the connection.
        (b"HTTP/1.1 200 OK\r\n\r\n", Ok(BYTES), Fate::Close),
        (&failure("503 x", "SlowDown"), Err(ErrorKind::Throttled), Fate::Keep),
        (&failure("403 x", "AccessDenied"), Err(ErrorKind::Permission), Fate::Keep),
        (&failure("500 x", "InternalError"), Err(ErrorKind::Server), Fate::Keep),
        (b"HTTP/1.1 204 No Content\r\n\r\n", Err(ErrorKind::Protocol), Fate::Keep),
    ] {
        for piece in [1, 13, 1 << 20] {
            let mut lean = lean::<1>(Operation::WriteFile, |_| {});
            let played = play(&mut lean, ANEW, &[reply], piece);
            let shown = String::from_utf8_lossy(reply);
            assert_eq!(played.result.map_err(|error| error.kind), result, "{shown}");
            assert_eq!(played.fates, [fate], "{shown}");
            assert_eq!(played.buffer, [0; 4096], "nothing of a reply comes into the buffer");
        }
    }
}

#[test]
fn a_reply_other_than_what_was_asked_is_no_success() {
    let short = partial(4096, 100);
    let elsewhere = partial(0, 4096);
    let too_long = partial(4096, 5000);
    let chunked =
        b"HTTP/1.1 206 x\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes 4096-8191/10000\r\n\r\n";
    let no_length = b"HTTP/1.1 206 x\r\nContent-Range: bytes 4096-8191/10000\r\n\r\n";
    for (reply, expected) in [
        (&short[..], ErrorKind::Eof),
        (&elsewhere, ErrorKind::Protocol),
        (&too_long, ErrorKind::Protocol),
        (&whole(BYTES), ErrorKind::Protocol),
        (chunked, ErrorKind::Protocol),
        (no_length, ErrorKind::Protocol),
        (&partial(4096, 4096)[..2000], ErrorKind::Truncated),
        (&failure("416 x", "InvalidRange"), ErrorKind::Eof),
        (&failure("404 x", "NoSuchKey"), ErrorKind::NotFound),
        (&failure("503 x", "SlowDown"), ErrorKind::Throttled),
        (&failure("400 x", "RequestTimeout"), ErrorKind::Timeout),
        (&failure("201 x", ""), ErrorKind::Protocol),
        (b"HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n", ErrorKind::Server),
        (b"HTTP/1.1 403 Forbidden\r\n\r\nuntil the end", ErrorKind::Permission),
        (b"SSH-2.0-OpenSSH_9.2\r\n", ErrorKind::Protocol),
    ] {
        for piece in [1, 13, 1 << 20] {
            let mut lean = lean::<1>(Operation::Read, |_| {});
            let played = play(&mut lean, READ, &[reply], piece);
            assert_eq!(
                kind_of(&played),
                expected,
                "{}",
                String::from_utf8_lossy(&reply[..40.min(reply.len())])
            );
        }
    }
    let mut lean = lean::<1>(Operation::Read, |_| {});
    play(&mut lean, READ, &[&whole(BYTES)], 64);
    assert!(first_failure(&lean).unwrap().contains("the endpoint ignores Range"));
}

#[test]
fn all_of_an_object_may_answer_a_range_that_is_all_of_it() {
    let mut lean = lean::<1>(Operation::Read, |_| {});
    let played = play(&mut lean, Op::Read { object: 0, offset: 0, len: 4096 }, &[&whole(4096)], 512);
    assert_eq!(played.result, Ok(4096));
}

#[test]
fn the_first_failure_is_kept_without_secrets_and_the_connection_too() {
    let mut lean = lean::<1>(Operation::Read, |_| {});
    let (first, second) = ("<Error><Code>SlowDown</C", "ode><Message>AKID, TOKEN</Message></Error>");
    let chunks = format!(
        "HTTP/1.1 503 Slow Down\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:X}\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    );
    let played = play(&mut lean, READ, &[chunks.as_bytes()], 3);
    assert_eq!((kind_of(&played), played.fates), (ErrorKind::Throttled, vec![Fate::Keep]));
    play(&mut lean, READ, &[&failure("404 x", "NoSuchKey")], 64);
    assert_eq!(first_failure(&lean).unwrap(), "503 SlowDown: (hidden), (hidden)");
    assert!(!format!("{lean:?}").contains("SECRET"), "{lean:?}");
}

#[test]
fn a_redirect_names_the_region() {
    let mut lean = lean::<1>(Operation::Read, |_| {});
    let reply = b"HTTP/1.1 301 x\r\nx-amz-bucket-region: eu-south-2\r\nConnection: close\r\nContent-Length: 2\r\n\r\n<>";
    let played = play(&mut lean, READ, &[reply], 64);
    assert_eq!((kind_of(&played), played.fates), (ErrorKind::Redirect, vec![Fate::Close]));
    assert!(first_failure(&lean).unwrap().contains("eu-south-2"));
}

#[test]
fn an_object_that_is_replaced_is_found_out() {
    let mut lean = lean::<1>(Operation::Read, |_| {});
    assert_eq!(play(&mut lean, READ, &[&partial(4096, 4096)], 4096).result, Ok(4096));
    let other = String::from_utf8_lossy(&partial(4096, 4096)).replacen("\"1\"", "\"2\"", 1);
    let head = other.find("\r\n\r\n").unwrap() + 4;
    let reply = [&other.as_bytes()[..head], &content(4096, 4096)].concat();
    let played = play(&mut lean, READ, &[&reply], 4096);
    assert_eq!((kind_of(&played), played.fates), (ErrorKind::Changed, vec![Fate::Keep]));
}

fn last_piece() -> Vec<u8> {
    let last = FilePieces::new(BYTES, 4096).last();
    content(last.offset, u64::from(last.len))
}

#[test]
fn a_whole_object_streams_through_its_buffer() {
    let mut plain = lean::<1>(Operation::ReadFile, |_| {});
    let played = play(&mut plain, FILE, &[&whole(BYTES)], 999);
    assert_eq!(played.result, Ok(BYTES));
    assert_eq!(played.buffer[..last_piece().len()], last_piece());
    assert!(!played.requests[0].contains("Range:"));
    let looked = b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n";
    let mut heads = lean::<1>(Operation::ReadFile, |asking| asking.head = true);
    let played = play(&mut heads, FILE, &[looked, &whole(BYTES)], 999);
    assert_eq!((played.result, played.requests.len()), (Ok(BYTES), 2));
    assert!(played.requests[0].starts_with("HEAD "));
    let missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 300\r\n\r\n";
    assert_eq!(kind_of(&play(&mut heads, FILE, &[missing], 999)), ErrorKind::NotFound);
}

#[test]
fn a_whole_object_comes_in_ranges_where_they_are_asked_for() {
    let mut lean = lean::<4>(Operation::ReadFile, |asking| asking.part_bytes = Some(3_000));
    let replies: Vec<Vec<u8>> = [(0, 3_000), (3_000, 3_000), (6_000, 2_192), (8_192, 1_808)]
        .map(|(offset, len)| partial(offset, len))
        .into();
    let replies: Vec<&[u8]> = replies.iter().map(|reply| &reply[..]).collect();
    let played = play(&mut lean, FILE, &replies, 100);
    assert_eq!((played.result, played.requests.len()), (Ok(BYTES), 4));
    assert_eq!(played.buffer[..last_piece().len()], last_piece());
    let throttled = failure("503 x", "SlowDown");
    let played = play(&mut lean, FILE, &[replies[0], &throttled, replies[2]], 100);
    assert_eq!(kind_of(&played), ErrorKind::Throttled);
}

#[test]
fn an_object_of_another_size_is_changed() {
    let mut lean = lean::<1>(Operation::ReadFile, |_| {});
    for (reply, fates) in [(whole(BYTES - 1), 1), (whole(BYTES + 1), 1), (whole(1 << 20), 0)] {
        let played = play(&mut lean, FILE, &[&reply], 4096);
        assert_eq!((kind_of(&played), played.fates.len()), (ErrorKind::Changed, fates));
    }
    assert_eq!(kind_of(&play(&mut lean, FILE, &[&failure("416 x", "")], 9)), ErrorKind::Changed);
    assert_eq!(kind_of(&play(&mut lean, FILE, &[&partial(0, BYTES)], 9)), ErrorKind::Protocol);
}

#[test]
fn a_look_is_a_head() {
    let mut lean = lean::<1>(Operation::Stat, |_| {});
    let reply = |bytes: u64| format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n").into_bytes();
    assert_eq!(play(&mut lean, Op::Stat { object: 2 }, &[&reply(BYTES)], 5).result, Ok(0));
    let played = play(&mut lean, Op::Stat { object: 2 }, &[&reply(BYTES + 1)], 5);
    assert_eq!(kind_of(&played), ErrorKind::Changed);
    assert_eq!(kind_of(&play(&mut lean, Op::Stat { object: 3 }, &[], 5)), ErrorKind::NotFound);
    assert_eq!(kind_of(&play(&mut lean, READ, &[], 5)), ErrorKind::Other);
}

fn page(keys: usize, token: Option<&str>) -> Vec<u8> {
    let more = token.map_or(String::new(), |token| {
        format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>")
    });
    let keys: String = "<Contents><Key>p/d/x</Key></Contents>".repeat(keys);
    let text = format!("<ListBucketResult>{more}{keys}</ListBucketResult>");
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{text}\r\n0\r\n\r\n", text.len())
        .into_bytes()
}

#[test]
fn a_listing_goes_through_all_pages_and_prefixes() {
    let mut lean = lean::<1>(Operation::List, |asking| asking.roots = 2);
    let replies = [page(3, Some("a/b")), page(2, None), page(1, None)];
    let replies: Vec<&[u8]> = replies.iter().map(|reply| &reply[..]).collect();
    let played = play(&mut lean, Op::List { folder: 0 }, &replies, 17);
    assert_eq!(played.result, Ok(6));
    let lines: Vec<&str> = played.requests.iter().map(|request| request.lines().next().unwrap()).collect();
    let prefix = |root: &str| format!("delimiter=%2F&list-type=2&prefix=p%2F{root}%2Fd%2F000000%2F HTTP/1.1");
    assert_eq!(lines[0], format!("GET /bucket/?{}", prefix("00")));
    assert_eq!(lines[1], format!("GET /bucket/?continuation-token=a%2Fb&{}", prefix("00")));
    assert_eq!(lines[2], format!("GET /bucket/?{}", prefix("01")));
}

#[test]
fn a_folder_without_entries_is_not_there_and_a_page_of_a_proxy_is_no_listing() {
    let list = |reply: &[u8]| {
        let mut lean = lean::<1>(Operation::List, |_| {});
        kind_of(&play(&mut lean, Op::List { folder: 0 }, &[reply], 64))
    };
    assert_eq!(list(&page(0, None)), ErrorKind::NotFound);
    assert_eq!(list(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"), ErrorKind::Protocol);
    assert_eq!(list(b"HTTP/1.1 206 OK\r\nContent-Length: 6\r\n\r\n<html>"), ErrorKind::Protocol);
    assert_eq!(list(b"HTTP/1.1 407 Auth\r\nContent-Length: 6\r\n\r\n<html>"), ErrorKind::Protocol);
}

proptest! {
    #[test]
    fn no_bytes_end_well_unless_they_are_the_reply(
        at in 0..200_usize, bytes in proptest::collection::vec(any::<u8>(), 1..40), piece in 1..300_usize,
    ) {
        let well = partial(4096, 4096);
        let mut reply = well.clone();
        for (place, byte) in reply[at..].iter_mut().zip(&bytes) {
            *place = *byte;
        }
        let mut lean = lean::<1>(Operation::Read, |_| {});
        let played = play(&mut lean, READ, &[&reply], piece);
        if played.result.is_ok() {
            prop_assert_eq!(played.result, Ok(4096));
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400), piece in 1..100_usize) {
        for operation in [Operation::Read, Operation::List] {
            let op = if operation == Operation::Read { READ } else { Op::List { folder: 0 } };
            let mut lean = lean::<1>(operation, |_| {});
            let reply = [b"HTTP/1.1 200 OK\r\n", &bytes[..]].concat();
            prop_assert!(play(&mut lean, op, &[&reply], piece).result.is_err());
        }
    }
}
