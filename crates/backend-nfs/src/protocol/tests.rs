//! The protocol driven by byte strings, without sockets.

use std::sync::Arc;

use backend::{ErrorKind, Op, OpError, QueueReport};
use backend_net::{Frame, Head, Outcome, Payload, Protocol, Text};
use dataset::{Key, Objects};
use plan::{Durability, Operation};
use proptest::prelude::*;

use super::{Asking, Nfs, Sizes, Task};
use crate::handles::Handles;
use crate::identity::Identity;
use crate::xdr::{Handle, LAST_FRAGMENT};

const READ_MAX: u32 = 4096;
const FILE_BYTES: u64 = 10_000;
const WRITE_MAX: u32 = 2048;

fn nfs(operation: Operation, block_bytes: u32) -> Nfs {
    let objects = Arc::new(Objects::uniform(Key::new("data").unwrap(), 3, FILE_BYTES));
    let handles = Arc::new(Handles::made_up(&objects));
    let asking = Asking { operation, handles, block_bytes, durability: Durability::Data };
    let sizes = Sizes { read_bytes: READ_MAX, write_bytes: WRITE_MAX, listing_bytes: 8192 };
    Nfs::for_queue(&Identity::of_process().credential(), sizes, asking)
}

fn reported(nfs: &Nfs) -> QueueReport {
    let mut report = QueueReport::default();
    nfs.report(&mut report);
    report
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn record(body: &[u8]) -> Vec<u8> {
    let mut bytes = words(&[LAST_FRAGMENT | body.len() as u32]);
    bytes.extend(body);
    bytes
}

/// An accepted reply with these results.
fn reply(id: u32, results: &[u8]) -> Vec<u8> {
    let mut body = words(&[id, 1, 0, 0, 0, 0]);
    body.extend(results);
    record(&body)
}

fn attributes(kind: u32, bytes: u64) -> Vec<u8> {
    let mut all = words(&[kind, 0o644, 1, 0, 0]);
    for long in [bytes, bytes, 0, 7, 1] {
        all.extend(long.to_be_bytes());
    }
    all.extend(words(&[0, 0, 1_700_000_000, 5, 0, 0]));
    all
}

/// `READ3resok` up to its data.
fn read_results(count: u32, is_last: bool, length: u32) -> Vec<u8> {
    let mut results = words(&[0, 1]);
    results.extend(attributes(1, FILE_BYTES));
    results.extend(words(&[count, u32::from(is_last), length]));
    results
}

fn lookup_results(kind: u32, bytes: u64) -> Vec<u8> {
    let mut results = words(&[0, 8]);
    results.extend(b"a handle");
    results.extend(words(&[1]));
    results.extend(attributes(kind, bytes));
    results.extend(words(&[0]));
    results
}

fn data_reply(id: u32, count: u32, is_last: bool) -> Vec<u8> {
    let mut results = read_results(count, is_last, count);
    results.extend(vec![0xab; (count as usize).next_multiple_of(4)]);
    reply(id, &results)
}

/// Procedure, offset and count of a READ that was written.
fn asked(call: &[u8]) -> (u32, u64, u32) {
    let procedure = u32::from_be_bytes(call[24..28].try_into().unwrap());
    let end = call.len();
    let offset = u64::from_be_bytes(call[end - 12..end - 4].try_into().unwrap());
    (procedure, offset, u32::from_be_bytes(call[end - 4..].try_into().unwrap()))
}

/// Sends the next call of a task.
fn send(nfs: &mut Nfs, task: &mut Task, id: u32) -> Option<(u32, Vec<u8>)> {
    let mut out = Vec::new();
    let message = nfs.next(task, id, &mut out);
    assert_eq!(message.is_none(), out.is_empty());
    message.map(|message| (message.part, out))
}

/// Gives a whole reply to a task.
fn answer(nfs: &mut Nfs, task: &mut Task, part: u32, bytes: &[u8]) -> Result<(Head, Outcome), OpError> {
    match nfs.frame(bytes) {
        Frame::Reply { .. } => {}
        Frame::Broken(error) => return Err(error),
        Frame::Need(_) => panic!("the reply is whole"),
    }
    let head = nfs.head(task, part, bytes);
    match head {
        Head::Broken(error) => return Err(error),
        Head::Need(more) => panic!("{more} of {} bytes asked for", bytes.len()),
        Head::Data { head_bytes, body_bytes, trailer_bytes, .. } => {
            assert_eq!(head_bytes + body_bytes as usize + trailer_bytes as usize, bytes.len());
        }
        Head::Text { head_bytes } => match nfs.text(task, part, &bytes[head_bytes..]) {
            Text::Ended { used } => assert_eq!(head_bytes + used, bytes.len()),
            Text::Broken(error) => return Err(error),
            Text::More { .. } => panic!("the reply is whole"),
        },
    }
    Ok((head, nfs.ended(task, part).outcome))
}

fn place(head: Head) -> (usize, u64) {
    match head {
        Head::Data { place, body_bytes, .. } => {
            assert!(place.at < place.wrap && place.at as u64 + body_bytes <= place.wrap as u64);
            (place.at, body_bytes)
        }
        other => panic!("{other:?}"),
    }
}

fn failed(kind: ErrorKind, code: u32) -> Outcome {
    Outcome::Ended(Err(OpError { kind, code }))
}

#[test]
fn a_block_beyond_the_servers_limit_is_read_in_parts_at_once_and_counts_as_one() {
    let mut nfs = nfs(Operation::Read, 10_000);
    assert_eq!(nfs.parts_max(), 3);
    let mut task = nfs.task(Op::Read { object: 1, offset: 0, len: 10_000 }).unwrap();
    let sent: Vec<_> = (0..3).map(|id| send(&mut nfs, &mut task, id).unwrap()).collect();
    let parts: Vec<_> = sent.iter().map(|(part, call)| (*part, asked(call))).collect();
    assert_eq!(parts, [(0, (6, 0, 4096)), (1, (6, 4096, 4096)), (2, (6, 8192, 1808))]);
    assert!(send(&mut nfs, &mut task, 9).is_none());
    let (head, outcome) = answer(&mut nfs, &mut task, 2, &data_reply(2, 1808, true)).unwrap();
    assert_eq!((place(head), outcome), ((8192, 1808), Outcome::Goes));
    assert_eq!(answer(&mut nfs, &mut task, 0, &data_reply(0, 4096, false)).unwrap().1, Outcome::Goes);
    let (head, outcome) = answer(&mut nfs, &mut task, 1, &data_reply(1, 4096, false)).unwrap();
    assert_eq!((place(head), outcome), ((4096, 4096), Outcome::Ended(Ok(10_000))));
}

#[test]
fn a_block_of_more_parts_than_may_be_under_way_goes_on_as_they_end() {
    let mut nfs = nfs(Operation::Read, 20 * READ_MAX);
    assert_eq!(nfs.parts_max(), 16);
    let mut task = nfs.task(Op::Read { object: 1, offset: 0, len: 20 * READ_MAX }).unwrap();
    for id in 0..16 {
        assert_eq!(send(&mut nfs, &mut task, id).unwrap().0, id);
    }
    assert!(send(&mut nfs, &mut task, 99).is_none());
    for id in 0..20_u32 {
        let outcome = answer(&mut nfs, &mut task, id % 16, &data_reply(id, READ_MAX, false)).unwrap().1;
        assert_eq!(outcome == Outcome::Goes, id < 19);
        if id < 4 {
            let (part, call) = send(&mut nfs, &mut task, 16 + id).unwrap();
            assert_eq!((part, asked(&call).1), (id, u64::from((16 + id) * READ_MAX)));
        }
    }
}

#[test]
fn a_part_of_what_was_asked_is_followed_by_the_rest_and_counted() {
    let mut nfs = nfs(Operation::Read, 4000);
    let mut task = nfs.task(Op::Read { object: 0, offset: 100, len: 4000 }).unwrap();
    send(&mut nfs, &mut task, 0).unwrap();
    let (head, outcome) = answer(&mut nfs, &mut task, 0, &data_reply(0, 1001, false)).unwrap();
    assert_eq!((place(head), outcome), ((0, 1001), Outcome::Goes));
    let (part, call) = send(&mut nfs, &mut task, 1).unwrap();
    assert_eq!((part, asked(&call)), (0, (6, 1101, 2999)));
    let (head, outcome) = answer(&mut nfs, &mut task, 0, &data_reply(1, 2999, false)).unwrap();
    assert_eq!((place(head), outcome), ((1001, 2999), Outcome::Ended(Ok(4000))));
    assert_eq!(reported(&nfs).short_reads, 1);
}

#[test]
fn a_read_that_cannot_end_ends_as_an_error() {
    for (count, is_last, kind) in
        [(0, false, ErrorKind::Protocol), (0, true, ErrorKind::Eof), (8, true, ErrorKind::Eof)]
    {
        let mut nfs = nfs(Operation::Read, 4000);
        let mut task = nfs.task(Op::Read { object: 0, offset: 0, len: 4000 }).unwrap();
        send(&mut nfs, &mut task, 0).unwrap();
        let outcome = answer(&mut nfs, &mut task, 0, &data_reply(0, count, is_last)).unwrap().1;
        assert_eq!(outcome, failed(kind, 0));
        assert!(send(&mut nfs, &mut task, 1).is_none(), "nothing more is asked");
        assert_eq!(reported(&nfs).short_reads, 0);
    }
}

#[test]
fn lengths_that_do_not_fit_break_the_connection() {
    let reply_of = |count, length, data: usize| {
        let mut results = read_results(count, false, length);
        results.extend(vec![0; data]);
        reply(0, &results)
    };
    for bytes in [
        reply_of(4000, 3996, 3996),
        reply_of(3996, 4000, 4000),
        reply_of(4004, 4004, 4004),
        reply_of(4000, 4000, 3996),
        reply_of(4000, 4000, 4004),
        reply_of(u32::MAX, u32::MAX, 8),
        record(&words(&[0, 1, 0, 0, 0, 0, 0])),
        words(&[u32::MAX, 0, 1]),
        words(&[2000, 0, 1]),
        [words(&[28, 0, 1, 0, 0, 0, 0, 0]), record(&reply_of(4, 4, 4)[32..])].concat(),
    ] {
        let mut nfs = nfs(Operation::Read, 4000);
        let mut task = nfs.task(Op::Read { object: 0, offset: 0, len: 4000 }).unwrap();
        send(&mut nfs, &mut task, 0).unwrap();
        let error = answer(&mut nfs, &mut task, 0, &bytes).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Protocol);
        assert!(reported(&nfs).first_failure.is_some());
    }
}

#[test]
fn what_the_server_says_is_told_apart_and_the_connection_goes_on() {
    let status = |code: u32| reply(0, &words(&[code, 0]));
    for (bytes, kind, code, said) in [
        (status(10_008), ErrorKind::Throttled, 10_008, "READ: NFS3ERR_JUKEBOX"),
        (status(70), ErrorKind::Stale, 70, "READ: NFS3ERR_STALE"),
        (status(13), ErrorKind::Permission, 13, "READ: NFS3ERR_ACCES"),
        (status(21), ErrorKind::Other, 21, "READ: NFS3ERR_ISDIR"),
        (status(77_777), ErrorKind::Other, 77_777, "READ: unknown NFS status 77777"),
        (record(&words(&[0, 1, 1, 1, 5])), ErrorKind::Permission, 5, "READ: AUTH_TOOWEAK"),
        (record(&words(&[0, 1, 0, 0, 0, 2, 4, 4])), ErrorKind::Protocol, 2, "READ: PROG_MISMATCH"),
        (record(&words(&[0, 1, 0, 0, 0, 4])), ErrorKind::Protocol, 4, "READ: GARBAGE_ARGS"),
    ] {
        let mut nfs = nfs(Operation::Read, 4000);
        let mut task = nfs.task(Op::Read { object: 0, offset: 0, len: 4000 }).unwrap();
        send(&mut nfs, &mut task, 0).unwrap();
        let outcome = answer(&mut nfs, &mut task, 0, &bytes).unwrap().1;
        assert_eq!((outcome, reported(&nfs).first_failure.as_deref()), (failed(kind, code), Some(said)));
    }
}

#[test]
fn a_file_is_looked_up_then_read_piece_by_piece_through_the_start_of_its_buffer() {
    let mut nfs = nfs(Operation::ReadFile, 8192);
    assert_eq!(nfs.parts_max(), 2);
    let mut task = nfs.task(Op::ReadFile { object: 2, bytes: FILE_BYTES }).unwrap();
    let (_, call) = send(&mut nfs, &mut task, 0).unwrap();
    assert!(call.windows(13).any(|window| window == b"000000002.bin"));
    assert!(call.windows(8).any(|window| window == b"folder 0"));
    assert!(send(&mut nfs, &mut task, 1).is_none(), "its handle is not known yet");
    let outcome = answer(&mut nfs, &mut task, 0, &reply(0, &lookup_results(1, FILE_BYTES))).unwrap().1;
    assert_eq!(outcome, Outcome::Goes);
    let calls: Vec<_> = (1..3).map(|id| send(&mut nfs, &mut task, id).unwrap()).collect();
    assert!(calls[0].1.windows(8).any(|window| window == b"a handle"));
    assert_eq!([asked(&calls[0].1), asked(&calls[1].1)], [(6, 0, 4096), (6, 4096, 4096)]);
    assert!(send(&mut nfs, &mut task, 3).is_none(), "the next piece goes where this one is");
    answer(&mut nfs, &mut task, 0, &data_reply(1, 4096, false)).unwrap();
    answer(&mut nfs, &mut task, 1, &data_reply(2, 4096, false)).unwrap();
    let (part, call) = send(&mut nfs, &mut task, 4).unwrap();
    assert_eq!(asked(&call), (6, 8192, 1808));
    let (head, outcome) = answer(&mut nfs, &mut task, part, &data_reply(4, 1808, true)).unwrap();
    assert_eq!((place(head), outcome), ((0, 1808), Outcome::Ended(Ok(FILE_BYTES))));
}

#[test]
fn a_look_finds_another_size_and_what_is_no_file() {
    for (kind, bytes, error) in [
        (1, FILE_BYTES, None),
        (1, FILE_BYTES - 1, Some((ErrorKind::Changed, 0))),
        (2, FILE_BYTES, Some((ErrorKind::Other, libc::EISDIR as u32))),
        (5, FILE_BYTES, Some((ErrorKind::Other, libc::ELOOP as u32))),
    ] {
        let expected = error.map_or(Outcome::Ended(Ok(0)), |(kind, code)| failed(kind, code));
        let mut by_name = nfs(Operation::Stat, 1);
        let mut task = by_name.task(Op::Stat { object: 0 }).unwrap();
        send(&mut by_name, &mut task, 0).unwrap();
        let found = reply(0, &lookup_results(kind, bytes));
        assert_eq!(answer(&mut by_name, &mut task, 0, &found).unwrap().1, expected);
        let mut by_handle = nfs(Operation::GetAttr, 1);
        let mut task = by_handle.task(Op::GetAttr { object: 0 }).unwrap();
        send(&mut by_handle, &mut task, 0).unwrap();
        let mut results = words(&[0]);
        results.extend(attributes(kind, bytes));
        assert_eq!(answer(&mut by_handle, &mut task, 0, &reply(0, &results)).unwrap().1, expected);
    }
}

#[test]
fn attributes_that_a_lookup_leaves_out_are_asked_for() {
    let mut nfs = nfs(Operation::Stat, 1);
    let mut task = nfs.task(Op::Stat { object: 0 }).unwrap();
    send(&mut nfs, &mut task, 0).unwrap();
    let mut results = words(&[0, 8]);
    results.extend(b"a handle");
    results.extend(words(&[0, 0]));
    assert_eq!(answer(&mut nfs, &mut task, 0, &reply(0, &results)).unwrap().1, Outcome::Goes);
    let (_, call) = send(&mut nfs, &mut task, 1).unwrap();
    assert!(call.ends_with(b"a handle"));
}

fn names(verifier: u64, listed: &[&str], first_cookie: u64, is_last: bool) -> Vec<u8> {
    let mut results = words(&[0, 0]);
    results.extend(verifier.to_be_bytes());
    for (name, cookie) in listed.iter().zip(first_cookie..) {
        results.extend(words(&[1, 0, 9, name.len() as u32]));
        results.extend(name.as_bytes());
        results.resize(results.len().next_multiple_of(4), 0);
        results.extend(cookie.to_be_bytes());
    }
    results.extend(words(&[0, u32::from(is_last)]));
    results
}

#[test]
fn a_folder_is_listed_page_by_page() {
    let mut nfs = nfs(Operation::List, 1);
    let mut task = nfs.task(Op::List { folder: 0 }).unwrap();
    send(&mut nfs, &mut task, 0).unwrap();
    let page = reply(0, &names(5, &[".", "..", "one", "three"], 1, false));
    assert_eq!(answer(&mut nfs, &mut task, 0, &page).unwrap().1, Outcome::Goes);
    let (_, call) = send(&mut nfs, &mut task, 1).unwrap();
    let tail = &call[call.len() - 20..];
    assert_eq!(tail, [&4_u64.to_be_bytes()[..], &5_u64.to_be_bytes(), &8192_u32.to_be_bytes()].concat());
    let page = reply(1, &names(5, &["five"], 5, true));
    assert_eq!(answer(&mut nfs, &mut task, 0, &page).unwrap().1, Outcome::Ended(Ok(3)));
}

#[test]
fn a_listing_comes_in_any_pieces() {
    let page = reply(0, &names(5, &["a", "somewhat longer", ".", "b"], 1, true));
    for step in 1..40 {
        let mut nfs = nfs(Operation::List, 1);
        let mut task = nfs.task(Op::List { folder: 0 }).unwrap();
        send(&mut nfs, &mut task, 0).unwrap();
        let Head::Text { head_bytes } = nfs.head(&mut task, 0, &page) else { panic!("a listing") };
        let (mut start, mut end) = (head_bytes, head_bytes);
        loop {
            end = page.len().min(end + step);
            match nfs.text(&mut task, 0, &page[start..end]) {
                Text::More { used } => start += used,
                Text::Ended { used } => {
                    assert_eq!(start + used, page.len());
                    break;
                }
                Text::Broken(error) => panic!("{error:?} in pieces of {step}"),
            }
        }
        assert_eq!(nfs.ended(&mut task, 0).outcome, Outcome::Ended(Ok(3)), "in pieces of {step}");
    }
}

#[test]
fn a_listing_without_progress_or_beyond_its_record_breaks_the_connection() {
    let mut longer = names(5, &["a"], 1, true);
    longer.extend(words(&[0]));
    let mut shorter = names(5, &["a"], 1, true);
    shorter.truncate(shorter.len() - 4);
    for results in [names(5, &[], 1, false), longer, shorter] {
        let mut nfs = nfs(Operation::List, 1);
        let mut task = nfs.task(Op::List { folder: 0 }).unwrap();
        send(&mut nfs, &mut task, 0).unwrap();
        let error = answer(&mut nfs, &mut task, 0, &reply(0, &results)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Protocol);
    }
}

#[test]
fn a_write_sends_the_rest_of_what_was_taken_in_part_and_sees_a_restart() {
    let sizes = Sizes { read_bytes: READ_MAX, write_bytes: WRITE_MAX, listing_bytes: 8192 };
    let mut nfs = Nfs::for_writer(&Identity::of_process().credential(), sizes);
    let written = |count: u32, verifier: u32| reply(0, &words(&[0, 0, 0, count, 0, 0, verifier]));
    let file = Handle::new(b"file").unwrap();
    let mut task = Task::write(file, 1_000, 7);
    let mut out = Vec::new();
    let message = nfs.next(&mut task, 0, &mut out).unwrap();
    assert_eq!((message.payload, message.trailer), (Some(Payload::Part(0..7)), &[0_u8][..]));
    assert_eq!(answer(&mut nfs, &mut task, 0, &written(3, 9)).unwrap().1, Outcome::Goes);
    let message = nfs.next(&mut task, 1, &mut out).unwrap();
    assert_eq!(message.payload, Some(Payload::Part(3..7)));
    assert_eq!(answer(&mut nfs, &mut task, 0, &written(4, 9)).unwrap().1, Outcome::Ended(Ok(7)));
    for (verifier, outcome) in [(9, Outcome::Ended(Ok(0))), (8, failed(ErrorKind::Server, 0))] {
        let mut task = Task::commit(file);
        send(&mut nfs, &mut task, 2).unwrap();
        let committed = reply(2, &words(&[0, 0, 0, 0, verifier]));
        assert_eq!(answer(&mut nfs, &mut task, 0, &committed).unwrap().1, outcome);
    }
    assert!(reported(&nfs).first_failure.unwrap().contains("restarted"));
    let mut task = Task::write(file, 0, 4);
    send(&mut nfs, &mut task, 3).unwrap();
    assert!(answer(&mut nfs, &mut task, 0, &written(5, 9)).is_err(), "more than was sent");
}

#[test]
fn a_measured_write_is_cut_to_what_the_server_takes_and_is_kept_as_asked() {
    let mut nfs = nfs(Operation::Write, 4096);
    let written = |count: u32, committed: u32| reply(0, &words(&[0, 0, 0, count, committed, 0, 9]));
    let mut task = nfs.task(Op::Write { object: 1, offset: 4096, len: 3000 }).unwrap();
    let mut out = Vec::new();
    let message = nfs.next(&mut task, 0, &mut out).unwrap();
    assert_eq!(message.payload, Some(Payload::Part(0..2048)));
    // Offset, count, DATA_SYNC and the length of the data.
    assert!(out.ends_with(&words(&[0, 4096, 2048, 1, 2048])), "{out:?}");
    assert_eq!(answer(&mut nfs, &mut task, 0, &written(2048, 2)).unwrap().1, Outcome::Goes, "kept better");
    let message = nfs.next(&mut task, 1, &mut out).unwrap();
    assert_eq!(message.payload, Some(Payload::Part(2048..3000)));
    let mut out = Vec::new();
    assert_eq!(answer(&mut nfs, &mut task, 0, &written(952, 1)).unwrap().1, Outcome::Ended(Ok(3000)));
    let mut task = nfs.task(Op::Write { object: 1, offset: 0, len: 8 }).unwrap();
    nfs.next(&mut task, 2, &mut out).unwrap();
    assert!(
        answer(&mut nfs, &mut task, 0, &written(8, 0)).is_err(),
        "DATA_SYNC was asked, UNSTABLE answered"
    );
}

#[test]
fn a_restart_fails_the_write_that_shows_it_and_no_later_one() {
    let mut nfs = nfs(Operation::Write, 4096);
    for (verifier, outcome) in
        [(9, Outcome::Ended(Ok(8))), (7, failed(ErrorKind::Server, 0)), (7, Outcome::Ended(Ok(8)))]
    {
        let mut task = nfs.task(Op::Write { object: 1, offset: 0, len: 8 }).unwrap();
        send(&mut nfs, &mut task, 0).unwrap();
        let written = reply(0, &words(&[0, 0, 0, 8, 1, 0, verifier]));
        assert_eq!(answer(&mut nfs, &mut task, 0, &written).unwrap().1, outcome);
    }
}

/// A file of 10,000 bytes that is written anew in pieces of 4,096, in WRITEs of 2,048.
fn anew(durability: Durability) -> (Nfs, Task) {
    let objects = Arc::new(Objects::uniform(Key::new("data").unwrap(), 3, FILE_BYTES));
    let handles = Arc::new(Handles::made_up(&objects));
    let asking = Asking { operation: Operation::WriteFile, handles, block_bytes: 4096, durability };
    let sizes = Sizes { read_bytes: READ_MAX, write_bytes: WRITE_MAX, listing_bytes: 8192 };
    let mut nfs = Nfs::for_queue(&Identity::of_process().credential(), sizes, asking);
    let task = nfs.task(Op::WriteFile { object: 2, bytes: FILE_BYTES }).unwrap();
    (nfs, task)
}

/// `CREATE3resok`, with a handle or without one.
fn create_results(has_handle: bool) -> Vec<u8> {
    let mut results = words(&[0, u32::from(has_handle)]);
    if has_handle {
        results.extend(words(&[8]));
        results.extend(b"a handle");
    }
    results.extend(words(&[0, 0, 0]));
    results
}

/// `WRITE3resok` that kept so many bytes in memory, by a server that was started as often as `verifier`.
fn write_results(count: u32, verifier: u32) -> Vec<u8> {
    words(&[0, 0, 0, count, 0, 0, verifier])
}

fn procedure(call: &[u8]) -> u32 {
    u32::from_be_bytes(call[24..28].try_into().unwrap())
}

/// Sends the next call of a task and gives it its reply: what was called, what was sent of the buffer, and what follows.
fn exchange(nfs: &mut Nfs, task: &mut Task, results: &[u8]) -> (u32, Option<Payload>, Outcome) {
    let mut out = Vec::new();
    let message = nfs.next(task, 0, &mut out).expect("a call follows");
    let outcome = answer(nfs, task, message.part, &reply(0, results)).unwrap().1;
    (procedure(&out), message.payload, outcome)
}

#[test]
fn a_file_is_made_written_piece_by_piece_committed_and_renamed() {
    let (mut nfs, mut task) = anew(Durability::Data);
    assert_eq!(nfs.parts_max(), 2, "WRITEs of one piece under way at once");
    let (part, call) = send(&mut nfs, &mut task, 0).unwrap();
    assert_eq!((part, procedure(&call)), (0, 8));
    assert!(!call.windows(13).any(|window| window == b"000000002.bin"), "under a name of its own");
    let created = reply(0, &create_results(true));
    nfs.frame(&created);
    nfs.head(&mut task, 0, &created);
    assert_eq!(nfs.ended(&mut task, 0).stage, Some(super::MADE));
    let pieces = backend::FilePieces::new(FILE_BYTES, 4096);
    let mut parts = Vec::new();
    for number in 0..3 {
        let lens: &[u32] = if number < 2 { &[2048, 2048] } else { &[1808] };
        let mut under_way = Vec::new();
        for (at, len) in (0_usize..).step_by(2048).zip(lens) {
            let mut out = Vec::new();
            let message = nfs.next(&mut task, 1, &mut out).unwrap();
            let part = at..at + *len as usize;
            assert_eq!(message.payload, Some(Payload::PieceOf { pieces, number, part }));
            let offset = number * 4096 + at as u64;
            let mut end = offset.to_be_bytes().to_vec();
            // UNSTABLE: one COMMIT keeps them all.
            end.extend(words(&[*len, 0, *len]));
            assert!(out.ends_with(&end), "{out:?}");
            under_way.push((message.part, *len));
        }
        assert!(send(&mut nfs, &mut task, 2).is_none(), "the next piece is written where this one is");
        for (part, len) in under_way {
            let outcome = answer(&mut nfs, &mut task, part, &reply(1, &write_results(len, 9))).unwrap().1;
            assert_eq!(outcome, Outcome::Goes);
            parts.push(len);
        }
    }
    assert_eq!(parts.iter().sum::<u32>(), FILE_BYTES as u32);
    let committed = words(&[0, 0, 0, 0, 9]);
    assert_eq!(exchange(&mut nfs, &mut task, &committed), (21, None, Outcome::Goes));
    let (_, call) = send(&mut nfs, &mut task, 3).unwrap();
    assert_eq!(procedure(&call), 14);
    assert!(call.windows(13).any(|window| window == b"000000002.bin"));
    let renamed = reply(3, &words(&[0, 0, 0, 0, 0]));
    assert_eq!(answer(&mut nfs, &mut task, 0, &renamed).unwrap().1, Outcome::Ended(Ok(FILE_BYTES)));
}

#[test]
fn a_file_is_kept_as_asked() {
    for (durability, stable, last) in
        [(Durability::None, 0, 14), (Durability::Data, 0, 21), (Durability::Full, 2, 14)]
    {
        let (mut nfs, mut task) = anew(durability);
        exchange(&mut nfs, &mut task, &create_results(true));
        for len in [2048, 2048, 2048, 2048, 1808] {
            let mut out = Vec::new();
            let message = nfs.next(&mut task, 0, &mut out).unwrap();
            assert!(out.ends_with(&words(&[len, stable, len])), "{durability:?}");
            let written = words(&[0, 0, 0, len, stable, 0, 9]);
            answer(&mut nfs, &mut task, message.part, &reply(0, &written)).unwrap();
        }
        let (_, call) = send(&mut nfs, &mut task, 1).unwrap();
        assert_eq!(procedure(&call), last, "{durability:?}");
    }
}

#[test]
fn a_handle_that_a_create_leaves_out_is_looked_up() {
    let (mut nfs, mut task) = anew(Durability::Data);
    let (_, created) = send(&mut nfs, &mut task, 0).unwrap();
    assert_eq!(answer(&mut nfs, &mut task, 0, &reply(0, &create_results(false))).unwrap().1, Outcome::Goes);
    let (_, call) = send(&mut nfs, &mut task, 1).unwrap();
    let name = b"feedline-tmp";
    assert!(call.windows(name.len()).any(|window| window == name), "by the name that it was made under");
    assert!(created.windows(name.len()).any(|window| window == name));
    let found = reply(1, &lookup_results(1, 0));
    assert_eq!(answer(&mut nfs, &mut task, 0, &found).unwrap().1, Outcome::Goes);
    let (_, call) = send(&mut nfs, &mut task, 2).unwrap();
    assert_eq!(procedure(&call), 7);
    assert!(call.windows(8).any(|window| window == b"a handle"));
}

#[test]
fn an_empty_file_is_made_and_renamed() {
    let (mut nfs, _) = anew(Durability::Data);
    let mut task = nfs.task(Op::WriteFile { object: 0, bytes: 0 }).unwrap();
    assert_eq!(exchange(&mut nfs, &mut task, &create_results(true)), (8, None, Outcome::Goes));
    let renamed = words(&[0, 0, 0, 0, 0]);
    assert_eq!(exchange(&mut nfs, &mut task, &renamed), (14, None, Outcome::Ended(Ok(0))));
}

#[test]
fn what_fails_is_removed_once_nothing_of_it_is_under_way_and_fails_as_it_did_first() {
    let removed = words(&[0, 0, 0]);
    let (mut nfs, mut task) = anew(Durability::Data);
    exchange(&mut nfs, &mut task, &create_results(true));
    let parts: Vec<u32> = (0..2).map(|id| send(&mut nfs, &mut task, id).unwrap().0).collect();
    let full = reply(0, &words(&[28, 0, 0]));
    assert_eq!(answer(&mut nfs, &mut task, parts[0], &full).unwrap().1, Outcome::Goes);
    assert!(send(&mut nfs, &mut task, 2).is_none(), "a WRITE may still arrive");
    let written = reply(1, &write_results(2048, 9));
    assert_eq!(answer(&mut nfs, &mut task, parts[1], &written).unwrap().1, Outcome::Goes);
    // Whatever the server says of it.
    for results in [&removed[..], &words(&[13, 0, 0])] {
        let (mut nfs, mut task) = anew(Durability::Data);
        exchange(&mut nfs, &mut task, &create_results(true));
        exchange(&mut nfs, &mut task, &words(&[28, 0, 0]));
        assert_eq!(exchange(&mut nfs, &mut task, results), (12, None, failed(ErrorKind::Full, 28)));
        assert_eq!(reported(&nfs).first_failure.as_deref(), Some("WRITE: NFS3ERR_NOSPC"));
    }
    assert_eq!(exchange(&mut nfs, &mut task, &removed), (12, None, failed(ErrorKind::Full, 28)));
    // What was not made is not removed.
    let (mut nfs, mut task) = anew(Durability::Data);
    assert_eq!(exchange(&mut nfs, &mut task, &words(&[30, 0, 0])).2, failed(ErrorKind::Permission, 30));
}

#[test]
fn a_server_that_was_restarted_within_a_file_has_not_kept_it() {
    let (mut nfs, mut task) = anew(Durability::Data);
    exchange(&mut nfs, &mut task, &create_results(true));
    exchange(&mut nfs, &mut task, &write_results(2048, 1));
    // Another file that is begun after the restart is not concerned, and shows the restart before this one does.
    let mut other = nfs.task(Op::WriteFile { object: 0, bytes: 8 }).unwrap();
    exchange(&mut nfs, &mut other, &create_results(true));
    assert_eq!(exchange(&mut nfs, &mut other, &write_results(8, 2)).2, Outcome::Goes);
    assert_eq!(exchange(&mut nfs, &mut other, &words(&[0, 0, 0, 0, 2])).2, Outcome::Goes);
    assert_eq!(exchange(&mut nfs, &mut other, &words(&[0, 0, 0, 0, 0])).2, Outcome::Ended(Ok(8)));
    for len in [2048, 2048, 2048] {
        assert_eq!(exchange(&mut nfs, &mut task, &write_results(len, 1)).2, Outcome::Goes);
    }
    assert_eq!(exchange(&mut nfs, &mut task, &write_results(1808, 1)).2, Outcome::Goes);
    assert_eq!(exchange(&mut nfs, &mut task, &words(&[0, 0, 0, 0, 2])).0, 21);
    assert_eq!(exchange(&mut nfs, &mut task, &words(&[0, 0, 0])), (12, None, failed(ErrorKind::Server, 0)));
}

#[test]
fn what_a_lost_connection_leaves_is_removed_by_the_next_and_a_lost_removal_by_clean() {
    let reset = OpError { kind: ErrorKind::Reset, code: 0 };
    let (mut nfs, mut task) = anew(Durability::Data);
    send(&mut nfs, &mut task, 0).unwrap();
    assert_eq!(nfs.lost(&mut task, 0, reset), Outcome::Goes, "it may have been made");
    let (_, call) = send(&mut nfs, &mut task, 1).unwrap();
    assert_eq!(procedure(&call), 12);
    assert_eq!(nfs.lost(&mut task, 0, OpError::from_errno(libc::EIO)), Outcome::Ended(Err(reset)));
}

#[test]
fn a_name_is_made_changed_and_removed() {
    let renamed = words(&[0, 0, 0, 0, 0]);
    let removed = words(&[0, 0, 0]);
    let mut nfs = nfs(Operation::Names, 1);
    let mut task = nfs.task(Op::Names { object: 1 }).unwrap();
    // With or without a handle, which nobody needs.
    assert_eq!(exchange(&mut nfs, &mut task, &create_results(false)), (8, None, Outcome::Goes));
    let (_, call) = send(&mut nfs, &mut task, 0).unwrap();
    assert!(!call.windows(13).any(|window| window == b"000000001.bin"), "the object keeps its name");
    assert_eq!(answer(&mut nfs, &mut task, 0, &reply(0, &renamed)).unwrap().1, Outcome::Goes);
    let (_, call) = send(&mut nfs, &mut task, 0).unwrap();
    assert_eq!(procedure(&call), 12);
    assert!(call.windows(8).any(|window| window == b".renamed"));
    assert_eq!(answer(&mut nfs, &mut task, 0, &reply(0, &removed)).unwrap().1, Outcome::Ended(Ok(0)));
    // One that is not removed has failed; one that is not renamed is removed under the name that it has.
    let mut task = nfs.task(Op::Names { object: 1 }).unwrap();
    exchange(&mut nfs, &mut task, &create_results(true));
    exchange(&mut nfs, &mut task, &renamed);
    let refused = words(&[13, 0, 0]);
    assert_eq!(exchange(&mut nfs, &mut task, &refused).2, failed(ErrorKind::Permission, 13));
    let mut task = nfs.task(Op::Names { object: 1 }).unwrap();
    exchange(&mut nfs, &mut task, &create_results(true));
    assert_eq!(exchange(&mut nfs, &mut task, &words(&[13, 0, 0, 0, 0])), (14, None, Outcome::Goes));
    let (_, call) = send(&mut nfs, &mut task, 0).unwrap();
    assert!(!call.windows(8).any(|window| window == b".renamed"));
    let outcome = answer(&mut nfs, &mut task, 0, &reply(0, &removed)).unwrap().1;
    assert_eq!(outcome, failed(ErrorKind::Permission, 13));
}

#[test]
fn only_the_operation_of_the_queue_is_taken_and_what_is_missing_is_not_found() {
    let mut nfs = nfs(Operation::Read, 1);
    assert_eq!(nfs.task(Op::Stat { object: 0 }).unwrap_err(), OpError::from_errno(libc::EINVAL));
    let missing = nfs.task(Op::Read { object: 3, offset: 0, len: 1 }).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::NotFound);
}

/// A task of any operation with its first call sent, and a reply to it.
fn cases() -> Vec<(Operation, Op, Vec<u8>)> {
    let mut got = words(&[0]);
    got.extend(attributes(1, FILE_BYTES));
    vec![
        (Operation::Read, Op::Read { object: 0, offset: 0, len: 1001 }, data_reply(0, 1001, false)),
        (Operation::Stat, Op::Stat { object: 0 }, reply(0, &lookup_results(1, FILE_BYTES))),
        (Operation::GetAttr, Op::GetAttr { object: 0 }, reply(0, &got)),
        (Operation::List, Op::List { folder: 0 }, reply(0, &names(5, &["a", "bcd"], 1, true))),
        (Operation::Read, Op::Read { object: 0, offset: 0, len: 9 }, record(&words(&[0, 1, 1, 1, 5]))),
        (Operation::Read, Op::Read { object: 0, offset: 0, len: 9 }, reply(0, &words(&[10_008, 0]))),
        (Operation::WriteFile, Op::WriteFile { object: 0, bytes: 9 }, reply(0, &create_results(true))),
    ]
}

#[test]
fn a_head_cut_anywhere_asks_for_more_and_never_for_what_is_there() {
    for (operation, op, bytes) in cases() {
        let mut nfs = nfs(operation, 4096);
        let mut task = nfs.task(op).unwrap();
        send(&mut nfs, &mut task, 0).unwrap();
        let mut whole = None;
        for end in 0..=bytes.len() {
            match nfs.frame(&bytes[..end]) {
                Frame::Need(needed) => {
                    assert!(end < 8 && needed > end);
                    continue;
                }
                Frame::Reply { id } => assert_eq!(id, Some(0)),
                Frame::Broken(error) => panic!("{error:?}"),
            }
            match nfs.head(&mut task, 0, &bytes[..end]) {
                Head::Need(needed) => {
                    assert!(whole.is_none() && needed > end && needed <= bytes.len(), "{needed} at {end}");
                }
                Head::Broken(error) => panic!("{error:?} at {end}"),
                head => assert_eq!(*whole.get_or_insert(head), head),
            }
        }
        assert!(whole.is_some());
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_nor_ask_for_more_than_a_record(
        case in 0_usize..7,
        mut bytes in prop::collection::vec(any::<u8>(), 8..400),
        plausible in 0_usize..7,
    ) {
        let front = words(&[LAST_FRAGMENT | (bytes.len() - 4) as u32, 0, 1, 0, 0, 0, 0]);
        let front = &front[..(plausible * 4).min(bytes.len())];
        bytes[..front.len()].copy_from_slice(front);
        let (operation, op, _) = cases().swap_remove(case);
        let mut nfs = nfs(operation, 4096);
        let mut task = nfs.task(op).unwrap();
        send(&mut nfs, &mut task, 0).unwrap();
        if let Frame::Reply { .. } = nfs.frame(&bytes) {
            match nfs.head(&mut task, 0, &bytes) {
                Head::Need(needed) => prop_assert!(needed > bytes.len() && needed < 16_384),
                Head::Data { head_bytes, body_bytes, .. } => {
                    prop_assert!(head_bytes <= bytes.len() && body_bytes <= 4096);
                    let _ = nfs.ended(&mut task, 0);
                }
                Head::Text { head_bytes } => {
                    let rest = &bytes[head_bytes..];
                    match nfs.text(&mut task, 0, rest) {
                        Text::More { used } | Text::Ended { used } => prop_assert!(used <= rest.len()),
                        Text::Broken(_) => {}
                    }
                }
                Head::Broken(error) => prop_assert_eq!(error.kind, ErrorKind::Protocol),
            }
        }
    }
}
