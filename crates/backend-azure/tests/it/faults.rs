//! Services that misbehave: what is counted, what is said, and what is bounded.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use backend::{ErrorKind, Op, Store, StoreError};
use dataset::{Marker, Objects, payload};
use plan::{AzureConfig, Operation};

use crate::support::{Opened, SEED, Setup, config, key, names, open, open_with};

const BYTES: u64 = 10_000;
/// A token that a careless service repeats.
const TOKEN: &str = "sv=1&sig=AZCANARYAZCANARY%3D";

/// What a service answers to a request's head; the number says how many requests came before it. `None` hangs up.
type Answer = fn(&str, usize) -> Option<Vec<u8>>;

/// Serves until the process ends; the first lines of what came.
fn serve(answer: Answer) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let seen = Arc::clone(&kept);
            std::thread::spawn(move || talk(socket.unwrap(), answer, &seen));
        }
    });
    (address, seen)
}

fn talk(mut socket: TcpStream, answer: Answer, seen: &Mutex<Vec<String>>) {
    let (mut read, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        while let Some(end) = read.windows(4).position(|end| end == b"\r\n\r\n") {
            let request = String::from_utf8(read.drain(..end + 4).collect()).unwrap();
            let length = request.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let mut body = length.map_or(0, |length| length.parse().unwrap());
            while body > 0 {
                let got = body.min(read.len());
                read.drain(..got);
                body -= got;
                if body > 0 {
                    let bytes = socket.read(&mut piece).unwrap();
                    read.extend_from_slice(&piece[..bytes]);
                }
            }
            let number = {
                let mut seen = seen.lock().unwrap();
                seen.push(request.lines().next().unwrap().to_owned());
                seen.len() - 1
            };
            let Some(reply) = answer(&request, number) else { return };
            if socket.write_all(&reply).is_err() {
                return;
            }
        }
        match socket.read(&mut piece) {
            Ok(bytes) if bytes > 0 => read.extend_from_slice(&piece[..bytes]),
            _ => return,
        }
    }
}

fn text(status: &str, fields: &str, text: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

fn page(blobs: &str, next: &str) -> Vec<u8> {
    let marker =
        if next.is_empty() { "<NextMarker/>".to_owned() } else { format!("<NextMarker>{next}</NextMarker>") };
    text("200 OK", "", &format!("<EnumerationResults><Blobs>{blobs}</Blobs>{marker}</EnumerationResults>"))
}

fn blob(name: &str) -> String {
    format!("<Blob><Name>{name}</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>")
}

fn error(status: &str, code: &str) -> Vec<u8> {
    let message = format!("no: {TOKEN} AZCANARYAZCANARY= refused");
    text(
        status,
        "",
        &format!("<Error><Code>{code}</Code><Message>{}</Message></Error>", message.replace('&', "&amp;")),
    )
}

/// A block, or the listing by which a container is opened.
fn well(request: &str) -> Vec<u8> {
    let Some(range) = request.lines().find_map(|line| line.strip_prefix("Range: bytes=")) else {
        return page("", "");
    };
    let (first, last) = range.split_once('-').unwrap();
    let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
    let mut body = vec![0; (last + 1 - first) as usize];
    payload::fill(SEED, object_of(request).unwrap(), first, &mut body);
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Length: {}\r\nContent-Range: bytes \
         {first}-{last}/{BYTES}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

fn object_of(request: &str) -> Option<u32> {
    let end = request.find(".bin")?;
    request[end - 9..end].parse().ok()
}

fn token() -> [(&'static str, String); 1] {
    [("AZURE_STORAGE_SAS_TOKEN", TOKEN.to_owned())]
}

fn at(address: SocketAddr) -> AzureConfig {
    config(&format!("http://{address}/account"), None, "")
}

/// Object 1 fails in one way while the others are read well; its kind, and what was kept of the failure.
fn fails(answer: Answer) -> (ErrorKind, String) {
    let store = open_with(&at(serve(answer).0), &token(), Duration::from_secs(5)).unwrap();
    let objects = Arc::new(Objects::uniform(key("d"), 3, BYTES));
    let mut queue =
        Opened::new(&store, &objects, Setup { operation: Operation::Read, depth: 4, connections: 2 });
    let ends = queue.run(&[0, 1, 2].map(|object| Op::Read { object, offset: 4096, len: 4096 }));
    assert_eq!((ends[0], ends[2]), (Ok(4096), Ok(4096)));
    let failure = queue.queue.report().first_failure.unwrap_or_default();
    queue.close();
    assert!(!failure.contains("AZCANARY"), "{failure}");
    (ends[1].unwrap_err().kind, failure)
}

/// What answers a read of object 1, while others are read well.
fn instead(request: &str, reply: Vec<u8>) -> Vec<u8> {
    if object_of(request) == Some(1) { reply } else { well(request) }
}

#[test]
fn failures_are_counted_by_what_the_service_says() {
    let (kind, failure) = fails(|request, _| Some(instead(request, error("503 x", "ServerBusy"))));
    assert_eq!(kind, ErrorKind::Throttled);
    assert_eq!(failure, "503 ServerBusy: no: (hidden) (hidden) refused");
    let cases: [(Answer, ErrorKind); 5] = [
        (|request, _| Some(instead(request, error("500 x", "InternalError"))), ErrorKind::Server),
        (|request, _| Some(instead(request, error("500 x", "OperationTimedOut"))), ErrorKind::Timeout),
        (|request, _| Some(instead(request, error("403 x", "AuthenticationFailed"))), ErrorKind::Permission),
        (|request, _| Some(instead(request, b"<html>Welcome</html>".to_vec())), ErrorKind::Protocol),
        (|request, _| (object_of(request) != Some(1)).then(|| well(request)), ErrorKind::Reset),
    ];
    for (answer, expected) in cases {
        assert_eq!(fails(answer).0, expected);
    }
}

#[test]
fn a_listing_goes_on_page_after_page_and_not_in_a_circle() {
    let (address, seen) = serve(|request, _| {
        Some(match request {
            _ if request.contains("maxresults") => page("", ""),
            _ if request.contains("marker=second%2F%21") => page(&blob("b"), ""),
            // A page without blobs is not the last.
            _ if request.contains("marker=first") => page("", "second/!"),
            _ => page(&blob("a"), "first"),
        })
    });
    let store = open(&at(address), &token()).unwrap();
    assert_eq!(names(&store, None), ["a=1", "b=1"]);
    assert_eq!(seen.lock().unwrap().len(), 4);

    let (address, _) = serve(|request, _| {
        Some(if request.contains("maxresults") { page("", "") } else { page(&blob("a"), "again") })
    });
    let store = open(&at(address), &token()).unwrap();
    let each = &mut |_| std::ops::ControlFlow::Continue(());
    let text = store.list(None, each).unwrap_err().to_string();
    assert!(text.contains("for the second time") && text.contains("hint: "), "{text}");
    let objects = Arc::new(Objects::uniform(key("d"), 3, BYTES));
    let mut queue =
        Opened::new(&store, &objects, Setup { operation: Operation::List, depth: 1, connections: 1 });
    assert_eq!(queue.run(&[Op::List { folder: 0 }])[0].unwrap_err().kind, ErrorKind::Protocol);
    queue.close();
}

/// The marker that a test writes.
fn marker() -> Marker {
    Marker { format: 1, note: "note".to_owned(), dataset: "d".to_owned() }
}

/// A service that takes the first write and loses its answer; a second one finds `there`.
fn forgets(request: &str, number: usize, there: &str) -> Option<Vec<u8>> {
    let found = format!("Content-Range: bytes 0-{}/{}\r\n", there.len() - 1, there.len());
    match request.split(' ').next().unwrap() {
        "PUT" if number == 2 => None,
        "PUT" => Some(error("409 x", "BlobAlreadyExists")),
        "HEAD" => Some(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", there.len()).into_bytes()),
        "GET" if request.contains("comp=list") => Some(page("", "")),
        "GET" if request.contains("Range") => Some(text("206 x", &found, there)),
        _ => Some(text("200 OK", "", there)),
    }
}

#[test]
fn a_second_attempt_at_a_write_finds_its_own_blob_and_takes_no_others_for_it() {
    let ours: Answer =
        |request, number| forgets(request, number, &serde_json::to_string_pretty(&marker()).unwrap());
    let others: Answer = |request, number| {
        forgets(
            request,
            number,
            &serde_json::to_string_pretty(&marker()).unwrap().replace("note\"", "nope\""),
        )
    };
    for (answer, is_ours) in [(ours, true), (others, false)] {
        let (address, seen) = serve(answer);
        let store = open(&at(address), &token()).unwrap();
        let made = store.create_folder(&key("d"), &marker());
        assert_eq!(made.is_ok(), is_ours, "{made:?}");
        assert!(is_ours || matches!(made, Err(StoreError::Exists { .. })), "{made:?}");
        let lines = seen.lock().unwrap().clone();
        assert_eq!(lines.iter().filter(|line| line.starts_with("PUT ")).count(), 2, "{lines:?}");
    }
}

#[test]
fn a_call_is_tried_again_where_that_may_help() {
    let (address, seen) = serve(|request, number| match number {
        0 => Some(page("", "")),
        1 | 2 => Some(error("503 x", "ServerBusy")),
        _ if request.starts_with("HEAD ") => {
            Some(b"HTTP/1.1 404 x\r\nx-ms-error-code: BlobNotFound\r\nContent-Length: 9\r\n\r\n".to_vec())
        }
        _ => None,
    });
    let store = open(&at(address), &token()).unwrap();
    assert_eq!(store.stat(&key("a")).unwrap(), None);
    assert_eq!(seen.lock().unwrap().len(), 4);
}

#[test]
fn what_is_no_blob_service_is_told_apart_and_no_answer_is_without_bound() {
    let cases: [(Answer, &str); 6] = [
        (|_, _| Some(text("200 OK", "", "<html><body>Sign in</body></html>")), "no listing"),
        (|_, _| Some(text("404 Not Found", "", "<html></html>")), "not one of Azure Blob Storage"),
        (|_, _| Some(b"SSH-2.0-OpenSSH_9\r\n".to_vec()), "does it speak HTTP"),
        (
            |_, _| {
                Some(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n<EnumerationResults>".to_vec())
            },
            "no answer in time",
        ),
        (|_, _| Some(error("403 x", "AuthenticationFailed")), "check the signature"),
        (|_, _| Some(error("503 x", "ServerBusy")), "fewer requests"),
    ];
    for (answer, says) in cases {
        let patience = Duration::from_millis(300);
        // A busy machine may be late with an answer that comes; one that does not come is late each time.
        let tell = || open_with(&at(serve(answer).0), &token(), patience).unwrap_err().to_string();
        let told = (0..20).map(|_| tell()).find(|told| told.contains(says));
        let told = told.unwrap_or_else(tell);
        assert!(told.contains(says) && told.contains("hint: ") && !told.contains("AZCANARY"), "{told}");
    }
    // 64 MiB of a listing, in chunks without end.
    let (address, _) = serve(|request, _| {
        if request.contains("maxresults") {
            return Some(page("", ""));
        }
        let chunk = [b"100000\r\n".to_vec(), vec![b'x'; 1 << 20], b"\r\n".to_vec()].concat();
        Some([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(), chunk.repeat(64)].concat())
    });
    let store = open(&at(address), &token()).unwrap();
    let told = store.folders().unwrap_err().to_string();
    assert!(told.contains("longer than any has reason to be"), "{told}");
}
