//! The head of a reply.

use crate::ranges::{ContentRange, content_range, number};

/// Bytes of a head, at most; services answer with about 500.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// Fields of a head, at most.
const FIELDS_MAX: usize = 96;

/// What is wanted of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHead<'a> {
    /// Bytes of it, with those of interim replies before it.
    pub bytes: usize,
    /// Of the final reply.
    pub status: u16,
    /// Bytes of the body, or of what a HEAD asks about; `None` where it is not said.
    pub length: Option<u64>,
    /// Whether the body comes in chunks.
    pub chunked: bool,
    /// The connection ends with this reply.
    pub close: bool,
    /// Which bytes of the object follow.
    pub range: Option<ContentRange>,
    /// The version of the object.
    pub etag: Option<&'a [u8]>,
    /// The region of the bucket, where the service says so.
    pub region: Option<&'a str>,
    /// What the service calls a failure, where it says so in the head: a reply to HEAD has no text.
    pub code: Option<&'a str>,
    /// When the object was written, as an HTTP date.
    pub modified: Option<&'a [u8]>,
}

/// The outcome of reading a head.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// Ask again when there are this many bytes.
    Need(usize),
    /// No reply of HTTP/1.1.
    Broken(&'static str),
    /// A head.
    Head(ReplyHead<'a>),
}

/// Reads the head of the reply that `bytes` begin with; interim replies (1xx) before it are passed over.
pub fn parse(bytes: &[u8]) -> Parsed<'_> {
    let mut skipped = 0;
    loop {
        match parse_one(&bytes[skipped..]) {
            Parsed::Head(head) if head.status == 101 => return Parsed::Broken("it changes the protocol"),
            // RFC 9110, section 15.2: any number of interim replies may come before the final one.
            Parsed::Head(head) if head.status < 200 => skipped += head.bytes,
            Parsed::Head(head) => return Parsed::Head(ReplyHead { bytes: skipped + head.bytes, ..head }),
            Parsed::Need(_) if bytes.len() > HEAD_BYTES_MAX => return Parsed::Broken("its head has no end"),
            Parsed::Need(_) => return Parsed::Need(bytes.len() + 1),
            broken @ Parsed::Broken(_) => return broken,
        }
    }
}

fn parse_one(bytes: &[u8]) -> Parsed<'_> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut reply = httparse::Response::new(&mut fields);
    let length = match reply.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Parsed::Need(bytes.len() + 1),
        Err(_) => return Parsed::Broken("it is not HTTP/1.1"),
    };
    let (Some(status), Some(version)) = (reply.code, reply.version) else {
        return Parsed::Broken("it is not HTTP/1.1");
    };
    let mut head = ReplyHead {
        bytes: length,
        status,
        length: None,
        chunked: false,
        // RFC 9112, section 9.3: HTTP/1.0 closes unless it says keep-alive.
        close: version == 0,
        range: None,
        etag: None,
        region: None,
        code: None,
        modified: None,
    };
    for field in reply.headers.iter() {
        if let Err(reason) = head.take(field.name, field.value) {
            return Parsed::Broken(reason);
        }
    }
    if head.chunked && head.length.is_some() {
        // RFC 9112, section 6.3: the length does not count, and what follows is not to be trusted.
        head.length = None;
        head.close = true;
    }
    Parsed::Head(head)
}

impl<'a> ReplyHead<'a> {
    fn take(&mut self, name: &str, value: &'a [u8]) -> Result<(), &'static str> {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
        // By length first: a head has about a dozen fields, of which a few matter.
        match name.len() {
            14 if is("content-length") => {
                let length = number(value).ok_or("its Content-Length is no number")?;
                // RFC 9112, section 6.3: two lengths are an error that cannot be recovered from. Whoever
                // believes one of them reads a reply that is not there.
                if self.length.is_some_and(|before| before != length) {
                    return Err("it has two lengths");
                }
                self.length = Some(length);
            }
            13 if is("last-modified") => self.modified = Some(value),
            13 if is("content-range") => self.range = content_range(value),
            4 if is("etag") => self.etag = Some(value),
            10 if is("connection") => {
                if has(value, "close") {
                    self.close = true;
                } else if has(value, "keep-alive") {
                    self.close = false;
                }
            }
            17 if is("transfer-encoding") => {
                if !value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    return Err("its Transfer-Encoding is not read here");
                }
                self.chunked = true;
            }
            19 if is("x-amz-bucket-region") => self.region = word(value),
            15 if is("x-ms-error-code") => self.code = word(value),
            _ => {}
        }
        Ok(())
    }
}

/// A value that goes into messages: nothing but what regions and codes are made of is let through.
fn word(value: &[u8]) -> Option<&str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    std::str::from_utf8(value).ok().filter(|word| word.len() <= 64 && word.bytes().all(plain))
}

/// Whether a list of words has `word`.
fn has(value: &[u8], word: &str) -> bool {
    value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WELL: &[u8] =
        b"HTTP/1.1 206 Partial Content\r\nx-amz-request-id: 7\r\nETag: \"ab\"\r\nContent-Length: \
                          10\r\ncontent-range: bytes 5-14/100\r\nConnection: keep-alive\r\n\r\n";

    fn head(bytes: &[u8]) -> ReplyHead<'_> {
        match parse(bytes) {
            Parsed::Head(head) => head,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_head_is_read_when_all_of_it_is_there() {
        let read = head(WELL);
        assert_eq!((read.bytes, read.status, read.length), (WELL.len(), 206, Some(10)));
        assert_eq!(read.range, Some(ContentRange { first: 5, last: 14, total: Some(100) }));
        assert_eq!((read.etag, read.close, read.chunked), (Some(&b"\"ab\""[..]), false, false));
        for cut in 0..WELL.len() {
            assert_eq!(parse(&WELL[..cut]), Parsed::Need(cut + 1), "cut at {cut}");
        }
    }

    #[test]
    fn interim_replies_are_passed_over() {
        let mut bytes = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n".to_vec();
        assert_eq!(parse(&bytes), Parsed::Need(bytes.len() + 1));
        bytes.extend_from_slice(WELL);
        assert_eq!((head(&bytes).bytes, head(&bytes).status), (bytes.len(), 206));
        assert!(matches!(parse(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"), Parsed::Broken(_)));
    }

    #[test]
    fn connections_close_when_the_server_says_so_or_speaks_http_1_0() {
        assert!(head(b"HTTP/1.1 200 OK\r\nConnection: foo, Close\r\n\r\n").close);
        assert!(head(b"HTTP/1.0 200 OK\r\n\r\n").close);
        assert!(!head(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n").close);
        assert!(head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n").close);
    }

    #[test]
    fn lengths_that_can_be_read_in_two_ways_are_refused() {
        for fields in [
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: +5",
            "Content-Length: ",
            "Content-Length: 99999999999999999999999",
            "Transfer-Encoding: gzip, chunked",
        ] {
            let bytes = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
            assert!(matches!(parse(bytes.as_bytes()), Parsed::Broken(_)), "{fields}");
        }
        for bytes in [&b"SSH-2.0-OpenSSH\r\n"[..], b"\x16\x03\x01\x02\x00", b"<html></html>"] {
            assert!(matches!(parse(bytes), Parsed::Broken(_)), "{bytes:?}");
        }
    }

    #[test]
    fn a_head_without_end_is_given_up() {
        let bytes = [&b"HTTP/1.1 200 OK\r\nx: "[..], &vec![b'y'; HEAD_BYTES_MAX]].concat();
        assert!(matches!(parse(&bytes), Parsed::Broken(_)));
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
            let _ = parse(&[b"HTTP/1.1 206 x\r\nContent-Range: bytes ", &bytes[..]].concat());
        }

        #[test]
        fn a_damaged_head_never_says_more_than_it_has(at in 0..WELL.len(), byte in any::<u8>()) {
            let mut bytes = WELL.to_vec();
            bytes[at] = byte;
            if let Parsed::Head(head) = parse(&bytes) {
                prop_assert!(head.bytes <= bytes.len());
            }
        }
    }
}
