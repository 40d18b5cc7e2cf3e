//! Objects of S3 that are made of others.

use crate::generated;
use crate::http::started;

#[test]
fn a_copy_is_the_object_and_outlives_it() {
    let (_server, mut client) = started();
    for (key, data) in [("a b+%c", generated(1, 1_000_003)), ("small", b"{}".to_vec()), ("empty", Vec::new())]
    {
        let key = key.replace('%', "%25").replace(' ', "%20").replace('+', "%2B");
        let put = client.put(&format!("/bench/{key}"), &data);
        let source = format!("x-amz-copy-source: bench/{key}");
        let copied = client.send("PUT", "/bench/copy", &[&source], b"");
        assert_eq!(copied.status, 200, "{}", copied.text());
        let e_tag = copied.element("ETag").unwrap().replace("&quot;", "\"");
        assert_eq!(Some(e_tag.as_str()), put.header("etag"));
        assert!(copied.element("LastModified").is_some());
        assert_eq!(client.send("DELETE", &format!("/bench/{key}"), &[], b"").status, 204);
        let got = client.get("/bench/copy");
        assert!(got.status == 200 && got.body == data, "{key}");
        assert_eq!(got.header("etag"), put.header("etag"));
    }
}

#[test]
fn a_copy_that_cannot_be_made_is_refused() {
    let (_server, mut client) = started();
    let put = client.put("/bench/there", b"there");
    let right = put.header("etag").unwrap();
    let other = "\"00000000000000000000000000000000\"";
    let cases = [
        ("/bench/none", String::new(), (404, "NoSuchKey")),
        ("/other/there", String::new(), (404, "NoSuchBucket")),
        ("/bench/there?versionId=1", String::new(), (501, "NotImplemented")),
        ("/bench/there", format!("x-amz-copy-source-if-match: {other}"), (412, "PreconditionFailed")),
        ("/bench/there", format!("x-amz-copy-source-if-none-match: {right}"), (412, "PreconditionFailed")),
        ("/bench/there", format!("If-Match: {right}"), (404, "NoSuchKey")),
    ];
    for (source, condition, refusal) in cases {
        let source = format!("x-amz-copy-source: {source}");
        let headers: Vec<&str> =
            [source.as_str(), &condition].into_iter().filter(|h| !h.is_empty()).collect();
        assert_eq!(client.send("PUT", "/bench/copy", &headers, b"").refusal(), refusal, "{headers:?}");
        assert_eq!(client.get("/bench/copy").status, 404);
    }
    let unlisted = client.send("PUT", "/bench/copy%01", &["x-amz-copy-source: /bench/there"], b"");
    assert_eq!(unlisted.refusal(), (400, "InvalidArgument"));
    let itself = client.send("PUT", "/bench/there", &["x-amz-copy-source: /bench/there"], b"");
    assert_eq!(itself.refusal(), (400, "InvalidRequest"));
    let met = format!("x-amz-copy-source-if-match: {right}");
    let copied = client.send("PUT", "/bench/copy", &["x-amz-copy-source: /bench/there", &met], b"");
    assert_eq!(copied.status, 200, "{}", copied.text());
    let again =
        client.send("PUT", "/bench/copy", &["x-amz-copy-source: /bench/there", "If-None-Match: *"], b"");
    assert_eq!(again.refusal(), (412, "PreconditionFailed"));
}

#[test]
fn parts_are_copied_from_ranges_of_objects() {
    let (_server, mut client) = started();
    let data = generated(1, 1_000_003);
    client.put("/bench/from", &data);
    let created = client.send("POST", "/bench/to?uploads", &[], b"");
    let to = format!("/bench/to?uploadId={}", created.element("UploadId").unwrap());
    let source = "x-amz-copy-source: /bench/from";
    let mut parts = String::new();
    for (number, range) in ["0-299999", "300000-999999", "1000000-1000002"].iter().enumerate() {
        let path = format!("{to}&partNumber={}", number + 1);
        let range = format!("x-amz-copy-source-range: bytes={range}");
        let copied = client.send("PUT", &path, &[source, &range], b"");
        assert_eq!(copied.status, 200, "{}", copied.text());
        let (number, e_tag) = ((number + 1).to_string(), copied.element("ETag").unwrap());
        parts += &["<Part><PartNumber>", &number, "</PartNumber><ETag>", e_tag, "</ETag></Part>"].concat();
    }
    for range in ["bytes=0-1000003", "bytes=5-", "bytes=-5", "5-6"] {
        let range = format!("x-amz-copy-source-range: {range}");
        let refused = client.send("PUT", &format!("{to}&partNumber=4"), &[source, &range], b"");
        assert_eq!(refused.refusal(), (400, "InvalidArgument"), "{range}");
    }
    let body = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
    let done = client.send("POST", &to, &[], body.as_bytes());
    assert_eq!(done.status, 200, "{}", done.text());
    assert!(client.get("/bench/to").body == data);
}

const SAID: [&str; 5] = [
    "Content-Type: application/x-thing",
    "Content-Encoding: gzip",
    "Cache-Control: no-store",
    "x-amz-meta-made-by: Someone",
    "x-amz-meta-nothing: ",
];

/// Name and value of a header line.
fn line(line: &str) -> (String, &str) {
    let (name, value) = line.split_once(": ").unwrap();
    (name.to_lowercase(), value)
}

#[test]
fn what_is_said_of_an_object_is_said_back_and_copied() {
    let (_server, mut client) = started();
    assert_eq!(client.send("PUT", "/bench/said", &SAID, b"x").status, 200);
    let created = client.send("POST", "/bench/parts?uploads", &SAID, b"");
    let path = format!("/bench/parts?uploadId={}", created.element("UploadId").unwrap());
    let part = client.put(&format!("{path}&partNumber=1"), b"part");
    let body = format!(
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{}</ETag></Part></CompleteMultipartUpload>",
        part.header("etag").unwrap()
    );
    assert_eq!(client.send("POST", &path, &[], body.as_bytes()).status, 200);
    let copied = client.send("PUT", "/bench/copied", &["x-amz-copy-source: /bench/said"], b"");
    assert_eq!(copied.status, 200, "{}", copied.text());
    for path in ["/bench/said", "/bench/parts", "/bench/copied"] {
        for (name, value) in SAID.map(line) {
            assert_eq!(client.get(path).header(&name), Some(value), "{path}");
            assert_eq!(client.send("HEAD", path, &[], b"").header(&name), Some(value), "{path}");
        }
    }
    let shown = client.get("/bench/said?response-content-type=text/plain");
    assert_eq!(shown.header("content-type"), Some("text/plain"));
    assert_eq!(shown.header("content-encoding"), Some("gzip"));
    let replaced =
        ["x-amz-copy-source: /bench/said", "x-amz-metadata-directive: REPLACE", "Content-Type: text/plain"];
    assert_eq!(client.send("PUT", "/bench/said", &replaced, b"").status, 200);
    let got = client.get("/bench/said");
    assert_eq!((got.header("content-type"), got.header("x-amz-meta-made-by")), (Some("text/plain"), None));
    assert_eq!(got.body, b"x");
}
