//! The protocol over real connections, against a server that answers as a test says.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use backend::{Arena, Clock, Completion, ErrorKind, IoQueue, Op, QueueSpec, Request};
use backend_http::{Asking, Etags, Lean};
use backend_net::{Settings, SourcePort};
use dataset::{Key, Objects, payload};
use plan::{Advice, Cache, Operation, Registered};

use crate::credentials::Keyring;
use crate::endpoint::Endpoint;
use crate::names::Names;
use crate::request::Encoder;

const SEED: u64 = 7;
const BYTES: u64 = 10_000;
const LATER_NS: u64 = 60_000_000_000;

/// What a server makes of a request: bytes to send, and whether it hangs up then.
pub(crate) type Answer = fn(&str) -> (Vec<u8>, bool);

pub(crate) fn serve(answer: Answer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            std::thread::spawn(move || talk(socket.unwrap(), answer));
        }
    });
    address
}

fn talk(mut socket: TcpStream, answer: Answer) {
    let (mut read, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        while let Some(end) = read.windows(4).position(|end| end == b"\r\n\r\n") {
            let request = String::from_utf8(read.drain(..end + 4).collect()).unwrap();
            let (reply, hang_up) = answer(&request);
            if socket.write_all(&reply).is_err() || hang_up {
                return;
            }
        }
        match socket.read(&mut piece) {
            Ok(bytes) if bytes > 0 => read.extend_from_slice(&piece[..bytes]),
            _ => return,
        }
    }
}

fn object_of(request: &str) -> u32 {
    let end = request.find(".bin").unwrap();
    request[end - 9..end].parse().unwrap()
}

/// As S3 answers.
fn well(request: &str) -> Vec<u8> {
    let range = request.lines().find_map(|line| line.strip_prefix("Range: bytes="));
    let (first, last) = range.map_or((0, BYTES - 1), |range| {
        let (first, last) = range.split_once('-').unwrap();
        (first.parse().unwrap(), last.parse::<u64>().unwrap().min(BYTES - 1))
    });
    let mut body = vec![0; (last + 1 - first) as usize];
    payload::fill(SEED, object_of(request), first, &mut body);
    let status = if range.is_some() { "206 Partial Content" } else { "200 OK" };
    let head = format!(
        "HTTP/1.1 {status}\r\nETag: \"1\"\r\nContent-Length: {}\r\nContent-Range: bytes {first}-{last}/{BYTES}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

fn open(
    address: SocketAddr,
    operation: Operation,
    part_bytes: Option<u64>,
) -> (Box<dyn IoQueue>, Vec<backend::Buf>) {
    let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 4, BYTES));
    let config = crate::fixture::config();
    let endpoint = Endpoint::new(&config, Some(format!("http://{address}")), "r").unwrap();
    let keyring = Keyring::new(aws_credential_types::Credentials::new("AKID", "SECRET", None, None, "t"));
    let clock = Clock::real();
    let encoder = Encoder::new(&endpoint, &Names::new("p", 1), &objects, Some(&keyring), &clock);
    let asking = Asking {
        etags: Arc::new(Etags::new(4)),
        objects: Arc::clone(&objects),
        operation,
        block_bytes: 4096,
        part_bytes,
        head: false,
        roots: 1,
    };
    let arena = Arena::new(4, 4096).unwrap();
    let settings = Settings {
        addresses: vec![address],
        connections: 2,
        connect_timeout_ns: 5_000_000_000,
        reply_timeout_ns: 1_000_000_000,
        tls: None,
        source_port: SourcePort::Any,
    };
    let spec = QueueSpec {
        depth: 4,
        submit_batch: 4,
        block_bytes: 4096,
        connections: 2,
        cache: Cache::Bypass,
        operation,
        writes: None,
        advice: Advice::Normal,
        registered: Registered::Off,
        objects: &objects,
        arena: &arena,
        clock: &clock,
    };
    let queue = backend_net::open(Lean::<_, 4>::new(asking, encoder), &settings, &spec).unwrap();
    (queue, arena.buffers())
}

/// The ends of these operations, in their order, all at once.
fn run(
    answer: Answer,
    operation: Operation,
    part_bytes: Option<u64>,
    ops: &[Op],
) -> (Vec<Completion>, String) {
    let (mut queue, mut free) = open(serve(answer), operation, part_bytes);
    let mut requests: Vec<Request> =
        (0..).zip(ops).map(|(token, op)| Request { token, op: *op, buf: free.pop().unwrap() }).collect();
    let mut done = Vec::new();
    while done.len() < ops.len() {
        queue.submit(&mut requests, &mut done).unwrap();
        if done.len() < ops.len() {
            queue.wait(1, LATER_NS, &mut done).unwrap();
        }
    }
    done.sort_by_key(|completion| completion.token);
    let failure = queue.report().first_failure.unwrap_or_default();
    assert_eq!(queue.close(LATER_NS, &mut Vec::new()), 0);
    (done, failure)
}

fn read(object: u32) -> Op {
    Op::Read { object, offset: 4096, len: 4096 }
}

#[test]
fn blocks_and_whole_objects_arrive_whether_connections_last_or_not() {
    let answers: [Answer; 2] = [
        |request| (well(request), false),
        |request| {
            let reply = String::from_utf8_lossy(&well(request)[..13]).into_owned()
                + "Partial\r\nConnection: close\r\n";
            let whole = well(request);
            let rest = whole.windows(2).position(|end| end == b"\r\n").unwrap() + 2;
            ([reply.as_bytes(), &whole[rest..]].concat(), true)
        },
    ];
    for answer in answers {
        let (done, failure) = run(answer, Operation::Read, None, &[0, 1, 2, 3].map(read));
        for completion in &done {
            assert_eq!(completion.result, Ok(4096), "{failure}");
            payload::verify(SEED, completion.token, 4096, completion.buf.as_slice()).unwrap();
        }
        for part_bytes in [None, Some(3_000)] {
            let ops = [0, 1].map(|object| Op::ReadFile { object, bytes: BYTES });
            let (done, failure) = run(answer, Operation::ReadFile, part_bytes, &ops);
            for completion in &done {
                assert_eq!(completion.result, Ok(BYTES), "{failure}");
                let last = &completion.buf.as_slice()[..(BYTES - 8192) as usize];
                payload::verify(SEED, completion.token, 8192, last).unwrap();
            }
        }
    }
}

/// Object 1 fails in one way while the others are read well, with what was kept of the failure.
fn fails(answer: Answer) -> (ErrorKind, String) {
    let (mut done, failure) = run(answer, Operation::Read, None, &[0, 1, 2].map(read));
    let failed = done.remove(1);
    assert!(done.iter().all(|completion| completion.result == Ok(4096)), "{done:?}");
    (failed.result.unwrap_err().kind, failure)
}

#[test]
fn one_failure_is_of_its_kind_and_leaves_the_others_alone() {
    let (kind, failure) = fails(|request| {
        match object_of(request) {
        1 => (b"HTTP/1.1 503 x\r\nTransfer-Encoding: chunked\r\n\r\n1c\r\n<Error><Code>SlowDown</Code>\r\n0\r\n\r\n".into(), false),
        _ => (well(request), false),
    }
    });
    assert_eq!((kind, failure.as_str()), (ErrorKind::Throttled, "503 SlowDown"));
    let (kind, _) = fails(|request| match object_of(request) {
        1 => (well(request)[..3_000].to_vec(), true),
        _ => (well(request), false),
    });
    assert!(matches!(kind, ErrorKind::Truncated | ErrorKind::Reset), "{kind}");
    let (kind, failure) = fails(|request| match object_of(request) {
        1 => (b"<html>Welcome</html>".into(), true),
        _ => (well(request), false),
    });
    assert_eq!(kind, ErrorKind::Protocol, "{failure}");
    let (kind, _) = fails(|request| match object_of(request) {
        1 => (Vec::new(), false),
        _ => (well(request), false),
    });
    assert_eq!(kind, ErrorKind::Timeout);
}
