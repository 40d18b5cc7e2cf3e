//! Requests of S3 that name the bucket in their path or in the host that they ask.

use crate::http::holding_one;

#[test]
fn a_bucket_is_named_by_the_path_or_by_the_host() {
    let (_server, mut client) = holding_one();
    for host in ["bench.localhost:9000", "bench.s3.example"] {
        assert_eq!(client.send_to(host, ("GET", "/k"), &[], b"").body, b"kept", "{host}");
        let listed = client.send_to(host, ("GET", "/?list-type=2&prefix=k"), &[], b"");
        assert_eq!(listed.element("Key"), Some("k"), "{host}");
        assert_eq!(client.send_to(host, ("PUT", "/folder/k"), &[], b"put").status, 200, "{host}");
        assert_eq!(client.get("/bench/folder/k").body, b"put");
    }
    let other = client.send_to("other.localhost", ("GET", "/k"), &[], b"");
    assert_eq!(other.refusal(), (404, "NoSuchBucket"));
    for host in ["localhost:9000", "127.0.0.1:9000", "s3.example"] {
        assert_eq!(client.send_to(host, ("GET", "/bench/k"), &[], b"").body, b"kept", "{host}");
    }
}

/// An object's key begins behind the bucket, wherever that is named.
#[test]
fn reads_of_a_bucket_named_by_the_host_are_counted_as_data() {
    let (server, mut client) = holding_one();
    server.begin();
    client.send_to("bench.localhost", ("GET", "/k"), &[], b"");
    client.send_to("bench.localhost", ("GET", "/"), &[], b"");
    assert_eq!(server.end().sent_bytes, 4);
}
