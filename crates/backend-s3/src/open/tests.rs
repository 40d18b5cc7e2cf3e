//! What a user reads when a bucket cannot be used.

use plan::Secret;

use super::*;
use crate::request::tests::wire::{Answer, serve};

/// Longer than any attempt at an answer that comes.
const PATIENCE: Duration = Duration::from_secs(30);

const SECRETS: [&str; 2] = ["AKIACANARY", "wJalrCANARY"];

/// The error of opening a bucket whose service answers like this.
fn refusal(answer: Answer) -> String {
    let config = S3Config {
        endpoint: Some(format!("http://{}", serve(answer))),
        keys: Keys::Own { id: SECRETS[0].to_owned(), secret: Secret::new(SECRETS[1]) },
        ..crate::fixture::config()
    };
    let text = Bucket::open(&config, PATIENCE)
        .map_or_else(|error| error.to_string(), |bucket| format!("{bucket:?}"));
    assert!(!SECRETS.iter().any(|secret| text.contains(secret)), "{text}");
    text
}

#[test]
fn each_refusal_says_what_to_write() {
    let cases: [(Answer, &[&str]); 6] = [
        (
            |_| (error("404 Not Found", "NoSuchBucket", ""), false),
            &["the bucket `bucket` does not exist", "hint: make it"],
        ),
        (
            |_| {
                (
                    error("403 Forbidden", "InvalidAccessKeyId", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
                    false,
                )
            },
            &["does not know the access key", "(hidden)", "hint: are these the keys"],
        ),
        (
            |_| {
                (
                    error("403 Forbidden", "RequestTimeTooSkewed", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
                    false,
                )
            },
            &["the clocks of this machine and of", " s apart"],
        ),
        (
            |_| (error("301 Moved", "PermanentRedirect", "x-amz-bucket-region: eu-south-2\r\n"), false),
            &["in the region eu-south-2, not in us-east-1", "hint: write region = \"eu-south-2\""],
        ),
        (
            |_| (b"HTTP/1.1 404 x\r\nContent-Length: 13\r\n\r\n<html></html>".into(), false),
            &["is not one of S3", "hint: is this the endpoint"],
        ),
        (
            |_| (b"HTTP/1.1 407 x\r\nContent-Length: 13\r\n\r\n<html></html>".into(), false),
            &["a proxy answers", "hint: "],
        ),
    ];
    for (answer, expected) in cases {
        let text = refusal(answer);
        assert!(expected.iter().all(|part| text.contains(part)), "{text}");
    }
}

fn error(status: &str, code: &str, fields: &str) -> Vec<u8> {
    let text = format!("<Error><Code>{code}</Code><Message>key {}</Message></Error>", SECRETS[0]);
    format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

#[test]
fn a_bucket_that_answers_is_opened_without_showing_its_keys() {
    let text = refusal(|_| {
        let text = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
        (format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len()).into_bytes(), false)
    });
    assert!(text.starts_with("Bucket {"), "{text}");
}

#[test]
fn a_service_that_is_not_there_is_named() {
    let closed = servers::closed_port().unwrap();
    let config =
        S3Config { endpoint: Some(format!("http://127.0.0.1:{closed}")), ..crate::fixture::config() };
    let text = Bucket::open(&config, PATIENCE).unwrap_err().to_string();
    assert!(text.contains("refuses connections") && text.contains("hint: is the service running"), "{text}");
}

#[test]
fn an_answer_without_end_is_not_kept_in_memory() {
    let text = refusal(|_| {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n<ListBucketResult>";
        ([head.as_bytes(), &vec![b' '; 17 << 20]].concat(), false)
    });
    // Without a bound it would be waited for until the patience ends.
    assert!(text.contains("its answer (status 200) is not one of S3"), "{text}");
}
