//! Bodies that are not what the client says of them.

use crate::http::{Client, started};

const BODY: &[u8] = b"123456789";

/// Digests of [`BODY`]: those of MD5 and SHA by Python's hashlib, those of CRC by the catalogue of their parameters
/// (<https://reveng.sourceforge.io/crc-catalogue/all.htm>: "check").
const RIGHT: [&str; 6] = [
    "Content-MD5: JfnnlDI7RTiF9RgfG2JNCw==",
    "x-amz-checksum-crc32: y/Q5Jg==",
    "x-amz-checksum-crc32c: 4waSgw==",
    "x-amz-checksum-crc64nvme: rosUhgp5mIg=",
    "x-amz-checksum-sha1: 98O8HYCOBHMq32eZZczDTKeuNEE=",
    "x-amz-checksum-sha256: FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=",
];

/// Puts [`BODY`] to these paths, and says what came of it.
fn put(client: &mut Client, path: &str, header: &str) -> (u16, String) {
    let reply = client.send("PUT", path, &[header], BODY);
    let (status, code) = reply.refusal();
    (status, code.to_owned())
}

fn part_of_an_upload(client: &mut Client) -> String {
    let created = client.send("POST", "/bench/parts?uploads", &[], b"");
    format!("/bench/parts?partNumber=1&uploadId={}", created.element("UploadId").unwrap())
}

#[test]
fn a_body_that_is_not_what_was_declared_is_refused() {
    let (_server, mut client) = started();
    let part = part_of_an_upload(&mut client);
    for path in ["/bench/k", &part] {
        for right in RIGHT {
            let (name, digest) = right.split_once(": ").unwrap();
            let wrong = format!("{name}: {}", digest.replacen(digest.chars().next().unwrap(), "A", 1));
            let broken = if name == "Content-MD5" { "InvalidDigest" } else { "InvalidRequest" };
            for value in ["?", "AAAA", &digest[1..]] {
                let refused = put(&mut client, path, &format!("{name}: {value}"));
                assert_eq!(refused, (400, broken.to_owned()), "{name}: {value}");
            }
            assert_eq!(put(&mut client, path, &wrong), (400, "BadDigest".to_owned()), "{wrong}");
            if path == "/bench/k" {
                assert_eq!(client.get(path).status, 404, "{wrong}");
            }
        }
        for right in RIGHT {
            assert_eq!(put(&mut client, path, right).0, 200, "{right}");
        }
    }
    assert_eq!(client.get("/bench/k").body, BODY);
}

#[test]
fn a_checksum_that_was_verified_is_said_back() {
    let (_server, mut client) = started();
    let part = part_of_an_upload(&mut client);
    for right in &RIGHT[1..] {
        let (name, digest) = right.split_once(": ").unwrap();
        for path in ["/bench/k", &part] {
            assert_eq!(client.send("PUT", path, &[right], BODY).header(name), Some(digest));
        }
        assert_eq!(client.send("GET", "/bench/k", &["x-amz-checksum-mode: ENABLED"], b"").header(name), None);
    }
}

/// With keys the same is part of what is signed.
#[test]
fn without_keys_the_digest_that_is_usually_signed_holds_too() {
    let (_server, mut client) = started();
    let right = "x-amz-content-sha256: 15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225";
    assert_eq!(put(&mut client, "/bench/k", right).0, 200);
    assert_eq!(put(&mut client, "/bench/k", "x-amz-content-sha256: UNSIGNED-PAYLOAD").0, 200);
    let wrong = right.replace(": 15", ": 16");
    assert_eq!(put(&mut client, "/bench/k", &wrong), (400, "XAmzContentSHA256Mismatch".to_owned()));
    for chunked in
        ["x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length: 9"]
    {
        assert_eq!(put(&mut client, "/bench/k", chunked), (501, "NotImplemented".to_owned()), "{chunked}");
    }
    assert_eq!(client.get("/bench/k").body, BODY);
}

#[test]
fn an_upload_is_completed_only_of_parts_that_are_as_listed() {
    let (_server, mut client) = started();
    let path = part_of_an_upload(&mut client);
    for number in ["0", "10001"] {
        let path = path.replace("partNumber=1", &format!("partNumber={number}"));
        assert_eq!(put(&mut client, &path, RIGHT[1]), (400, "InvalidArgument".to_owned()), "{number}");
    }
    let part = client.send("PUT", &path, &[RIGHT[1]], BODY);
    let e_tag = part.header("etag").unwrap();
    let mut complete = |parts: &[&str]| {
        let part = |sum: &&str| format!("<Part><PartNumber>1</PartNumber><ETag>{e_tag}</ETag>{sum}</Part>");
        let parts: String = parts.iter().map(part).collect();
        let body = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let path = path.replace("partNumber=1&", "");
        let reply = client.send("POST", &path, &[], body.as_bytes());
        (reply.status, reply.refusal().1.to_owned())
    };
    let right = "<ChecksumCRC32>y/Q5Jg==</ChecksumCRC32>";
    assert_eq!(complete(&[right, right]), (400, "InvalidPartOrder".to_owned()));
    for wrong in ["<ChecksumCRC32>A/Q5Jg==</ChecksumCRC32>", "<ChecksumCRC32C>4waSgw==</ChecksumCRC32C>"] {
        assert_eq!(complete(&[wrong]), (400, "InvalidPart".to_owned()), "{wrong}");
    }
    assert_eq!(complete(&[right]).0, 200);
}

#[test]
fn a_list_of_keys_that_is_not_what_was_declared_deletes_nothing() {
    let (_server, mut client) = started();
    assert_eq!(client.put("/bench/k", BODY).status, 200);
    let list = b"<Delete><Object><Key>k</Key></Object></Delete>";
    for right in RIGHT {
        let refused = client.send("POST", "/bench?delete", &[right], list);
        assert_eq!(refused.refusal(), (400, "BadDigest"), "{right}");
    }
    // Larger than what is taken of other bodies before they are looked at.
    let long = |keys| {
        format!(
            "<Delete>{}</Delete>",
            "<Object><Key>none/of/these/is/there/whatever/its/name</Key></Object>".repeat(keys)
        )
    };
    let path = "/bench?delete&x-id=DeleteObjects";
    let refused = client.send("POST", path, &[], long(1001).as_bytes());
    assert_eq!(refused.refusal(), (400, "MalformedXML"));
    assert_eq!(client.send("POST", path, &[], long(1000).as_bytes()).status, 200);
    assert_eq!(client.get("/bench/k").status, 200);
    // By Python's hashlib.
    let right = "Content-MD5: 5DKh5iefM5MSKvRILIuFwQ==";
    assert_eq!(client.send("POST", "/bench?delete", &[right], list).status, 200);
    assert_eq!(client.get("/bench/k").status, 404);
}
