//! The operations of S3.

use emulator::{BucketKeys, Protocol, Server, Settings};
use plan::Secret;

use crate::generated;
use crate::http::Client;

fn unsigned() -> Server {
    Server::start(&Settings::new(Protocol::S3)).unwrap()
}

#[test]
fn what_is_put_is_got_whole_and_by_ranges() {
    let server = unsigned();
    let mut client = Client::connect(server.port());
    for (key, data) in [
        ("/bench/a/generated", generated(1, 1_000_003)),
        ("/bench/a/foreign", vec![b'x'; 300_001]),
        ("/bench/a/small", b"{}".to_vec()),
        ("/bench/a/empty", Vec::new()),
    ] {
        let put = client.put(key, &data);
        assert_eq!(put.status, 200, "{}", put.text());
        let whole = client.get(key);
        assert_eq!((whole.status, whole.body == data), (200, true), "{key}");
        assert_eq!(whole.header("etag"), put.header("etag"));
        let head = client.send("HEAD", key, &[], b"");
        assert_eq!(head.header("content-length").unwrap(), data.len().to_string());
        assert_eq!(head.header("etag"), put.header("etag"));
    }
    let data = generated(1, 1_000_003);
    for (range, first, last) in [
        ("0-0", 0, 0),
        ("4096-8191", 4096, 8191),
        ("999999-5000000", 999_999, 1_000_002),
        ("-7", 999_996, 1_000_002),
    ] {
        let part = client.send("GET", "/bench/a/generated", &[&format!("Range: bytes={range}")], b"");
        assert_eq!((part.status, &part.body[..]), (206, &data[first..=last]), "{range}");
        assert_eq!(part.header("content-range").unwrap(), format!("bytes {first}-{last}/1000003"));
    }
    let beyond = client.send("GET", "/bench/a/generated", &["Range: bytes=1000003-"], b"");
    assert_eq!(beyond.status, 416);
    assert_eq!(client.get("/bench/none").status, 404);
    assert_eq!(client.get("/other/none").status, 404);
}

#[test]
fn an_object_that_exists_is_kept_where_asked() {
    let server = unsigned();
    let mut client = Client::connect(server.port());
    let once = ["If-None-Match: *"];
    assert_eq!(client.send("PUT", "/bench/k", &once, b"first").status, 200);
    assert_eq!(client.send("PUT", "/bench/k", &once, b"second").status, 412);
    assert_eq!(client.get("/bench/k").body, b"first");
    assert_eq!(client.put("/bench/k", b"third").status, 200);
    assert_eq!(client.get("/bench/k").body, b"third");
    assert_eq!(client.send("DELETE", "/bench/k", &[], b"").status, 204);
    assert_eq!(client.get("/bench/k").status, 404);
}

/// Closed before the rest of a body is read, a connection is reset, and the answer is lost with it.
#[test]
fn a_refusal_reaches_a_client_that_is_still_sending() {
    let server = unsigned();
    let mut client = Client::connect(server.port());
    let large = vec![b'x'; 3_000_000];
    assert_eq!(client.put("/bench/k", b"first").status, 200);
    for _ in 0..5 {
        assert_eq!(client.send("PUT", "/bench/k", &["If-None-Match: *"], &large).status, 412);
        assert_eq!(client.send("PUT", "/bench/k", &["x-amz-acl: public-read"], &large).status, 501);
        assert_eq!(client.send("PUT", "/bench/k?partNumber=1&uploadId=none", &[], &large).status, 404);
        assert_eq!(client.send("PUT", "/NONE/k", &[], &large).status, 400);
    }
    assert_eq!(client.get("/bench/k").body, b"first");
}

/// A client that waits to be told to go on is told to stop, however little it would send.
#[test]
fn who_is_refused_is_not_told_to_go_on() {
    let server = unsigned();
    let mut client = Client::connect(server.port());
    let refused = client.send("PUT", "/none/k", &["Expect: 100-continue"], b"little");
    assert_eq!(refused.refusal(), (404, "NoSuchBucket"));
    let mut client = Client::connect(server.port());
    let told = client.send("PUT", "/bench/k", &["Expect: 100-continue"], b"little");
    assert_eq!(told.status, 100);
    assert_eq!(client.receive(true).status, 200);
    assert_eq!(client.get("/bench/k").body, b"little");
}

#[test]
fn parts_make_an_object() {
    let server = unsigned();
    let mut client = Client::connect(server.port());
    let data = [vec![b'1'; 65_536], vec![b'2'; 65_536], vec![b'3'; 100]].concat();
    let created = client.send("POST", "/bench/big?uploads", &[], b"");
    let id = created.text().split_once("<UploadId>").unwrap().1.split('<').next().unwrap().to_owned();
    let mut parts = String::new();
    for (number, part) in data.chunks(65_536).enumerate() {
        let path = format!("/bench/big?partNumber={}&uploadId={id}", number + 1);
        let put = client.put(&path, part);
        let e_tag = put.header("etag").unwrap();
        let number = (number + 1).to_string();
        parts += &["<Part><PartNumber>", &number, "</PartNumber><ETag>", e_tag, "</ETag></Part>"].concat();
    }
    assert_eq!(client.get("/bench/big").status, 404, "not before it is complete");
    let body = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
    let done = client.send("POST", &format!("/bench/big?uploadId={id}"), &[], body.as_bytes());
    assert_eq!(done.status, 200, "{}", done.text());
    let again = client.send("POST", &format!("/bench/big?uploadId={id}"), &[], body.as_bytes());
    assert_eq!(
        (again.status, again.element("ETag")),
        (200, done.element("ETag")),
        "its answer may have been lost"
    );
    assert!(client.get("/bench/big").body == data);
    // MD5 of the MD5s of the three parts, by Python's hashlib.
    assert_eq!(client.get("/bench/big").header("etag"), Some("\"f316d9118beae9404b057a5eb1c14576-3\""));
    let whole = client.put("/bench/whole", b"123456789");
    assert_eq!(whole.header("etag"), Some("\"25f9e794323b453885f5181f1b624d0b\""));
    let abort = client.send("DELETE", &format!("/bench/big?uploadId={id}"), &[], b"");
    assert_eq!(abort.status, 404, "it is over");
    client.put("/bench/big", b"another");
    let late = client.send("POST", &format!("/bench/big?uploadId={id}"), &[], body.as_bytes());
    assert_eq!(late.refusal(), (404, "NoSuchUpload"), "it made another object than the one that is there");
    assert_eq!(client.get("/bench/big").body, b"another");
}

#[test]
fn a_listing_comes_in_pages() {
    let server = unsigned();
    let mut client = Client::connect(server.port());
    for index in 0..25 {
        assert_eq!(client.put(&format!("/bench/set/{index:02}/x"), b"x").status, 200);
    }
    let (mut keys, mut token) = (0, String::new());
    for _ in 0..3 {
        let page = client.get(&format!("/bench?list-type=2&prefix=set/&max-keys=10{token}"));
        assert_eq!(page.status, 200);
        keys += page.text().matches("<Key>").count();
        let next = page.text().split_once("<NextContinuationToken>");
        token = next.map_or(String::new(), |(_, next)| {
            format!("&continuation-token={}", next.split('<').next().unwrap().replace('/', "%2F"))
        });
    }
    assert_eq!((keys, token.as_str()), (25, ""));
    let folders = client.get("/bench?list-type=2&prefix=set/&delimiter=/");
    assert_eq!(folders.text().matches("<CommonPrefixes>").count(), 25);
    assert_eq!(client.get("/bench?list-type=2&prefix=none").text().matches("<Key>").count(), 0);
}

#[test]
fn with_keys_only_those_are_let_in() {
    let keys = BucketKeys::Signed { id: "ID".to_owned(), secret: Secret::new("SECRET") };
    let server = Server::start(&Settings { keys, ..Settings::new(Protocol::S3) }).unwrap();
    let mut client = Client::connect(server.port());
    assert_eq!(client.get("/bench/k").status, 403);
    let stranger = "Authorization: AWS4-HMAC-SHA256 Credential=WRONG/20260101/us-east-1/s3/aws4_request, \
        SignedHeaders=host;x-amz-content-sha256;x-amz-date, \
        Signature=0000000000000000000000000000000000000000000000000000000000000000";
    let headers = [stranger, "x-amz-date: 20260101T000000Z", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
    let refused = client.send("GET", "/bench/k", &headers, b"");
    assert_eq!(refused.status, 403, "{}", refused.text());
}

#[test]
fn every_response_says_whose_it_is() {
    let keys = BucketKeys::Signed { id: "ID".to_owned(), secret: Secret::new("SECRET") };
    let server = unsigned();
    let signed = Server::start(&Settings { keys, ..Settings::new(Protocol::S3) }).unwrap();
    let mut client = Client::connect(server.port());
    for reply in [
        client.put("/bench/k", b"x"),
        client.get("/bench/k"),
        client.send("HEAD", "/bench/k", &[], b""),
        client.get("/bench?list-type=2"),
        client.get("/bench/none"),
        Client::connect(signed.port()).get("/bench/k"),
    ] {
        assert_eq!(reply.header("server"), Some("feedline-emulator"), "{}", reply.status);
    }
}

/// Larger and smaller than what is made of a body at once.
#[test]
fn a_span_counts_the_bytes_of_objects_and_nothing_else() {
    let server = unsigned();
    let mut client = Client::connect(server.port());
    client.put("/bench/large", &generated(1, 1_000_003));
    client.put("/bench/small", b"small");
    server.begin();
    client.get("/bench/large");
    client.get("/bench/small");
    client.send("GET", "/bench/large", &["Range: bytes=10-29"], b"");
    client.send("HEAD", "/bench/large", &[], b"");
    client.get("/bench?list-type=2");
    client.get("/bench/none");
    client.put("/bench/other", b"other");
    assert_eq!(server.end().sent_bytes, 1_000_003 + 5 + 20);
}

#[test]
fn a_span_counts_requests() {
    let server = unsigned();
    let mut client = Client::connect(server.port());
    client.put("/bench/k", b"x");
    server.begin();
    for _ in 0..7 {
        client.get("/bench/k");
    }
    let span = server.end();
    assert_eq!((span.requests, span.throttled, span.faults.len()), (7, 0, 0));
    assert_eq!((span.asked_ns, span.metadata_asked_ns), (None, None));
}
