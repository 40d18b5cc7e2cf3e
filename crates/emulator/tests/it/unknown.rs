//! What the emulated S3 does not do.

use crate::http::holding_one;

#[test]
fn what_is_not_done_is_refused() {
    let (_server, mut client) = holding_one();
    let reads = ["acl", "legal-hold", "retention", "torrent", "versionId=1", "partNumber=1"];
    for query in reads {
        let refused = client.get(&format!("/bench/k?{query}"));
        assert_eq!(refused.refusal(), (501, "NotImplemented"), "GET {query}");
    }
    for (query, body) in [
        ("acl", ""),
        ("tagging", "<Tagging><TagSet></TagSet></Tagging>"),
        ("legal-hold", "<LegalHold><Status>ON</Status></LegalHold>"),
        ("append", "other"),
        ("partNumber=1", "other"),
    ] {
        let refused = client.put(&format!("/bench/k?{query}"), body.as_bytes());
        assert_eq!(refused.refusal(), (501, "NotImplemented"), "PUT {query}: {}", refused.text());
    }
    for query in ["tagging", "versionId=1"] {
        let refused = client.send("DELETE", &format!("/bench/k?{query}"), &[], b"");
        assert_eq!(refused.refusal(), (501, "NotImplemented"), "DELETE {query}");
    }
    for query in ["acl", "tagging", "versions", "versioning", "policy", "uploads", "lifecycle", "list-type=3"]
    {
        let refused = client.get(&format!("/bench?{query}"));
        assert_eq!(refused.refusal(), (501, "NotImplemented"), "GET bucket {query}");
    }
    for (method, path) in [("POST", "/bench/k"), ("OPTIONS", "/bench/k")] {
        assert_eq!(client.send(method, path, &[], b"").status, 501, "{method} {path}");
    }
    let form = ["Content-Type: multipart/form-data; boundary=b"];
    let fields = b"--b\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nk\r\n--b\r\n\
        Content-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nother\r\n--b--\r\n";
    assert_eq!(client.send("POST", "/bench", &form, fields).refusal(), (501, "NotImplemented"));
    assert_eq!(client.get("/bench/k").body, b"kept");
}

#[test]
fn what_a_header_asks_for_and_is_not_done_is_refused() {
    let (_server, mut client) = holding_one();
    for header in [
        "x-amz-acl: public-read",
        "x-amz-grant-read: id=1",
        "x-amz-tagging: a=b",
        "x-amz-server-side-encryption: aws:kms",
        "x-amz-server-side-encryption-customer-algorithm: AES256",
        "x-amz-storage-class: GLACIER",
        "x-amz-object-lock-mode: COMPLIANCE",
        "x-amz-website-redirect-location: /other",
        "x-amz-write-offset-bytes: 4",
        "x-amz-expected-bucket-owner: 111122223333",
    ] {
        let name = header.split(':').next().unwrap();
        for (method, path) in [("PUT", "/bench/k"), ("POST", "/bench/k?uploads")] {
            let refused = client.send(method, path, &[header], b"");
            assert_eq!(refused.refusal(), (501, "NotImplemented"), "{method} {header}");
            assert!(refused.text().contains(name), "{}", refused.text());
        }
    }
    for header in ["If-Range: \"1\"", "x-amz-expected-bucket-owner: 111122223333"] {
        let refused = client.send("GET", "/bench/k", &[header, "Range: bytes=0-0"], b"");
        assert_eq!(refused.refusal(), (501, "NotImplemented"), "{header}");
    }
    assert_eq!(client.send("DELETE", "/bench/k", &["x-amz-if-match-size: 4"], b"").status, 501);
    assert_eq!(client.get("/bench/k").body, b"kept");
}

#[test]
fn what_is_so_anyhow_may_be_asked_for() {
    let (_server, mut client) = holding_one();
    for header in ["x-amz-acl: private", "x-amz-storage-class: STANDARD", "x-amz-api-version: 2006-03-01"] {
        assert_eq!(client.send("PUT", "/bench/k", &[header], b"kept").status, 200, "{header}");
    }
    assert_eq!(client.send("PUT", "/bench/k?x-id=PutObject", &[], b"kept").status, 200);
    let tags = client.get("/bench/k?tagging");
    assert_eq!((tags.status, tags.text().contains("<Tag>")), (200, false), "there are none");
    assert_eq!(client.get("/bench/none?tagging").refusal(), (404, "NoSuchKey"));
    let head = client.send("HEAD", "/bench/k", &["Range: bytes=1-2"], b"");
    assert_eq!(head.header("content-length"), Some("2"));
}
