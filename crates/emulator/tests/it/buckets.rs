//! Buckets that a client makes beside the one that is there from the start.

use crate::http::{Client, holding_one, started};

fn delete(client: &mut Client, path: &str) -> u16 {
    client.send("DELETE", path, &[], b"").status
}

/// The names in a list of buckets.
fn names(list: &str) -> Vec<String> {
    list.split("<Name>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
}

#[test]
fn a_bucket_is_made_listed_used_and_deleted() {
    let (_server, mut client) = holding_one();
    assert_eq!(client.get("/other?location").refusal(), (404, "NoSuchBucket"));
    let made = client.put("/other", b"");
    assert_eq!((made.status, made.header("location")), (200, Some("/other")));
    assert_eq!(client.put("/other", b"").refusal(), (409, "BucketAlreadyOwnedByYou"));
    assert_eq!(names(client.get("/").text()), ["bench", "other"]);
    assert_eq!(client.send("HEAD", "/other", &[], b"").status, 200);
    assert_eq!(client.put("/other/k", b"of the other").status, 200);
    assert_eq!(
        (client.get("/other/k").body, client.get("/bench/k").body),
        (b"of the other".into(), b"kept".into())
    );
    let copied = client.send("PUT", "/other/copy", &["x-amz-copy-source: /bench/k"], b"");
    assert_eq!(copied.status, 200, "{}", copied.text());
    let named_alike = client.send("PUT", "/other/k", &["x-amz-copy-source: /bench/k"], b"");
    assert_eq!(named_alike.status, 200, "it is another object: {}", named_alike.text());
    assert_eq!(client.send_to("other.localhost", ("GET", "/copy"), &[], b"").body, b"kept");
    assert_eq!(client.send("DELETE", "/other", &[], b"").refusal(), (409, "BucketNotEmpty"));
    assert_eq!(
        ["/other/k", "/other/copy", "/other", "/other"].map(|path| delete(&mut client, path)),
        [204, 204, 204, 404]
    );
    assert_eq!(client.get("/other?list-type=2").refusal(), (404, "NoSuchBucket"));
    assert_eq!(client.get("/bench/k").body, b"kept");
}

#[test]
fn buckets_are_listed_in_pages() {
    let (_server, mut client) = started();
    for name in ["aaa", "set-1", "set-2", "set-3", "zzz"] {
        assert_eq!(client.put(&format!("/{name}"), b"").status, 200, "{name}");
    }
    assert_eq!(names(client.get("/").text()), ["aaa", "bench", "set-1", "set-2", "set-3", "zzz"]);
    let first = client.get("/?prefix=set-&max-buckets=2");
    assert_eq!(
        (names(first.text()), first.element("Prefix")),
        (vec!["set-1".to_owned(), "set-2".to_owned()], Some("set-"))
    );
    let token = first.element("ContinuationToken").unwrap();
    let last = client.get(&format!("/?prefix=set-&max-buckets=2&continuation-token={token}"));
    assert_eq!((names(last.text()), last.element("ContinuationToken")), (vec!["set-3".to_owned()], None));
    for wrong in ["max-buckets=0", "max-buckets=10001", "max-buckets=-1", "continuation-token=set-2"] {
        assert_eq!(client.get(&format!("/?{wrong}")).refusal(), (400, "InvalidArgument"), "{wrong}");
    }
}

#[test]
fn a_bucket_lies_where_it_was_asked_to() {
    let (_server, mut client) = started();
    let asked = "<CreateBucketConfiguration><LocationConstraint>eu-central-1</LocationConstraint></CreateBucketConfiguration>";
    assert_eq!(client.put("/far", asked.as_bytes()).status, 200);
    assert!(client.get("/far?location").text().contains(">eu-central-1</LocationConstraint>"));
    assert!(!client.get("/bench?location").text().contains("eu-central-1"));
    for header in [
        "x-amz-acl: public-read",
        "x-amz-bucket-object-lock-enabled: true",
        "x-amz-object-ownership: ObjectWriter",
    ] {
        assert_eq!(
            client.send("PUT", "/locked", &[header], b"").refusal(),
            (501, "NotImplemented"),
            "{header}"
        );
    }
    assert_eq!(client.put("/No", b"").refusal(), (400, "InvalidBucketName"));
    assert_eq!(client.send("HEAD", "/locked", &[], b"").status, 404);
}
