//! Requests as they go over the wire.

use plan::Secret;

use super::*;
use crate::sign::Signer;

fn encoder(rights: Rights) -> Encoder {
    let place = Place { container: b"/account/train".to_vec(), prefix: "a b/".to_owned() };
    let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 3, 10_000));
    Encoder::new(Writer::new("blobs.lan:10000".to_owned(), rights), &place, &objects, &Clock::simulated())
}

fn text(fill: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    fill(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_signed_read_has_its_range_date_and_signature() {
    let mut encoder = encoder(Rights::Key(Box::new(Signer::new("account", "a2V5").unwrap())));
    let range = ByteRange { offset: 4096, len: 4096 };
    let request = text(|out| encoder.get(1, Some(range), out));
    let lines: Vec<&str> = request.split("\r\n").collect();
    assert_eq!(lines[0], "GET /account/train/a%20b/d/000000/000000001.bin HTTP/1.1");
    assert_eq!(lines[1], "Host: blobs.lan:10000");
    assert!(lines.contains(&"Range: bytes=4096-8191") && lines.contains(&"x-ms-version: 2021-12-02"));
    let date = lines.iter().find_map(|line| line.strip_prefix("x-ms-date: ")).unwrap();
    assert!(crate::date::nanoseconds(date.as_bytes()).is_some(), "{date}");
    assert!(lines.iter().any(|line| line.starts_with("Authorization: SharedKey account:")), "{request}");
    assert!(request.ends_with("\r\n\r\n") && !request.contains("a2V5"), "{request}");
}

#[test]
fn a_shared_access_signature_stands_behind_the_query_and_nothing_is_signed() {
    let mut encoder = encoder(Rights::Shared(Secret::new("sv=1&sig=abc%3D")));
    let request = text(|out| encoder.list(None, 0, Some("to/ken"), out));
    let first = request.lines().next().unwrap();
    assert_eq!(
        first,
        "GET /account/train?comp=list&delimiter=%2F&marker=to%2Fken&prefix=a%20b%2F&restype=container&sv=1&sig=abc%3D \
         HTTP/1.1"
    );
    assert!(!request.contains("Authorization"), "{request}");
    let request = text(|out| encoder.head(0, out));
    assert!(
        request.starts_with("HEAD /account/train/a%20b/d/000000/000000000.bin?sv=1&sig=abc%3D HTTP/1.1\r\n")
    );
}

#[test]
fn a_blob_is_written_anew_by_one_request_over_whatever_is_there() {
    let mut encoder = encoder(Rights::Key(Box::new(Signer::new("account", "a2V5").unwrap())));
    let request = text(|out| encoder.put(1, 10_000, out));
    assert!(request.starts_with("PUT /account/train/a%20b/d/000000/000000001.bin HTTP/1.1\r\n"), "{request}");
    for line in ["Content-Length: 10000", "x-ms-blob-type: BlockBlob"] {
        assert!(request.lines().any(|found| found == line), "{request}");
    }
    assert!(!request.contains("If-None-Match") && request.ends_with("\r\n\r\n"), "{request}");
}

#[test]
fn a_write_says_what_it_makes_and_that_it_is_new() {
    let mut writer = Writer::new("h".to_owned(), Rights::Anonymous);
    let put = Request { length: Some(0), only_new: true, whole_blob: true, ..Request::new("PUT", b"/c/b") };
    let date = stamp(std::time::Duration::ZERO);
    let request = text(|out| writer.push(&put, &date, out));
    for line in ["Content-Length: 0", "If-None-Match: *", "x-ms-blob-type: BlockBlob"] {
        assert!(request.lines().any(|found| found == line), "{request}");
    }
}
