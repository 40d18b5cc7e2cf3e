//! Requests of S3 that hold only for an object that is, or is not, as the client knows it.

use emulator::Server;

use crate::generated;
use crate::http::{Client, started};

/// A server that holds an object that it generates and one that it was given, and their ETags.
fn served() -> (Server, Client, [(&'static str, String); 2]) {
    let (server, mut client) = started();
    let generated = generated(1, 100_000);
    let put = |(key, data): (&'static str, &[u8])| {
        let reply = client.put(key, data);
        assert_eq!(reply.status, 200, "{}", reply.text());
        (key, reply.header("etag").unwrap().to_owned())
    };
    let objects = [("/bench/generated", &generated[..]), ("/bench/foreign", b"foreign")].map(put);
    (server, client, objects)
}

const OTHER: &str = "\"00000000000000000000000000000000\"";
const BEFORE: &str = "Mon, 01 Jan 2001 00:00:00 GMT";
const AFTER: &str = "Fri, 01 Jan 2100 00:00:00 GMT";

#[test]
fn an_object_is_read_only_where_it_is_as_asked() {
    let (_server, mut client, objects) = served();
    for (path, e_tag) in &objects {
        for (headers, status) in [
            (vec![format!("If-Match: {e_tag}")], 200),
            (vec![format!("If-Match: {}", e_tag.trim_matches('"'))], 200),
            (vec!["If-Match: *".to_owned()], 200),
            (vec![format!("If-Match: {OTHER}")], 412),
            (vec![format!("If-None-Match: {e_tag}")], 304),
            (vec![format!("If-None-Match: W/{e_tag}")], 304),
            (vec!["If-None-Match: *".to_owned()], 304),
            (vec![format!("If-None-Match: {OTHER}")], 200),
            (vec![format!("If-Modified-Since: {BEFORE}")], 200),
            (vec![format!("If-Modified-Since: {AFTER}")], 304),
            (vec![format!("If-Unmodified-Since: {BEFORE}")], 412),
            (vec![format!("If-Unmodified-Since: {AFTER}")], 200),
            (vec![format!("If-Match: {e_tag}"), format!("If-Unmodified-Since: {BEFORE}")], 200),
            (vec![format!("If-None-Match: {OTHER}"), format!("If-Modified-Since: {AFTER}")], 200),
        ] {
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            for method in ["GET", "HEAD"] {
                let reply = client.send(method, path, &headers, b"");
                assert_eq!(reply.status, status, "{method} {path} {headers:?}");
                if status == 304 {
                    assert_eq!(reply.header("etag"), Some(e_tag.as_str()), "{headers:?}");
                    assert!(reply.body.is_empty());
                }
            }
        }
        let failed = client.send("GET", path, &[&format!("If-Match: {OTHER}"), "Range: bytes=0-1"], b"");
        assert_eq!(failed.refusal(), (412, "PreconditionFailed"));
        let part = client.send("GET", path, &[&format!("If-Match: {e_tag}"), "Range: bytes=0-1"], b"");
        assert_eq!((part.status, part.body.len()), (206, 2));
    }
    assert_eq!(client.send("GET", "/bench/none", &["If-Match: *"], b"").refusal(), (404, "NoSuchKey"));
}

#[test]
fn an_object_is_replaced_only_where_it_is_as_asked() {
    let (_server, mut client, objects) = served();
    let if_match = |e_tag: &str| format!("If-Match: {e_tag}");
    for (path, e_tag) in &objects {
        let kept = client.get(path).body;
        for (headers, refusal) in [
            (vec![if_match(OTHER)], (412, "PreconditionFailed")),
            (vec!["If-None-Match: *".to_owned()], (412, "PreconditionFailed")),
            (vec![format!("If-None-Match: {OTHER}")], (501, "NotImplemented")),
        ] {
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            assert_eq!(client.send("PUT", path, &headers, b"new").refusal(), refusal, "{headers:?}");
        }
        assert!(client.get(path).body == kept);
        assert_eq!(client.send("PUT", path, &[&if_match(e_tag)], b"new").status, 200);
        assert_eq!(client.send("PUT", path, &[&if_match(e_tag)], b"newer").status, 412, "it is another now");
        assert_eq!(client.get(path).body, b"new");
    }
    let missing = client.send("PUT", "/bench/none", &[&if_match(OTHER)], b"new");
    assert_eq!(missing.refusal(), (404, "NoSuchKey"));
    assert_eq!(client.get("/bench/none").status, 404);
}

#[test]
fn an_upload_in_parts_that_may_not_replace_an_object_stays_under_way() {
    let (_server, mut client, objects) = served();
    let (path, e_tag) = &objects[0];
    let created = client.send("POST", &format!("{path}?uploads"), &[], b"");
    let path = format!("{path}?uploadId={}", created.element("UploadId").unwrap());
    let part = client.put(&format!("{path}&partNumber=1"), b"part");
    let body = format!(
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{}</ETag></Part></CompleteMultipartUpload>",
        part.header("etag").unwrap()
    );
    for condition in ["If-None-Match: *".to_owned(), format!("If-Match: {OTHER}")] {
        let refused = client.send("POST", &path, &[&condition], body.as_bytes());
        assert_eq!(refused.refusal(), (412, "PreconditionFailed"), "{condition}");
    }
    let done = client.send("POST", &path, &[&format!("If-Match: {e_tag}")], body.as_bytes());
    assert_eq!(done.status, 200, "{}", done.text());
}

#[test]
fn an_object_is_deleted_only_where_it_is_as_asked() {
    let (_server, mut client, objects) = served();
    for (path, e_tag) in &objects {
        let delete = |client: &mut Client, e_tag: &str| {
            client.send("DELETE", path, &[&format!("If-Match: {e_tag}")], b"")
        };
        assert_eq!(delete(&mut client, OTHER).refusal(), (412, "PreconditionFailed"));
        assert_eq!(client.send("HEAD", path, &[], b"").status, 200);
        assert_eq!(delete(&mut client, e_tag).status, 204);
        assert_eq!(delete(&mut client, "*").refusal(), (404, "NoSuchKey"));
        assert_eq!(client.send("DELETE", path, &[], b"").status, 204, "there is none already");
    }
}

#[test]
fn of_many_objects_those_are_deleted_that_are_as_asked() {
    let (_server, mut client, objects) = served();
    let [(_, generated), _] = &objects;
    let entry = |key: &str, rest: &str| format!("<Object><Key>{key}</Key>{rest}</Object>");
    let body = [
        entry("generated", &format!("<ETag>{generated}</ETag>")),
        entry("foreign", &format!("<ETag>{OTHER}</ETag>")),
        entry("none", ""),
        entry("none", "<VersionId>1</VersionId>"),
    ];
    let body = format!("<Delete><Quiet>true</Quiet>{}</Delete>", body.concat());
    let reply = client.send("POST", "/bench?delete", &[], body.as_bytes());
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.text().matches("<Deleted>").count(), 0, "it was to be quiet");
    assert_eq!(reply.text().matches("<Error>").count(), 2, "{}", reply.text());
    assert!(reply.text().contains("PreconditionFailed") && reply.text().contains("NotImplemented"));
    let left = ["generated", "foreign"].map(|key| client.get(&format!("/bench/{key}")).status);
    assert_eq!(left, [404, 200]);
}
