//! Requests signed by hand: AWS Signature Version 4 with the key of the day kept.
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::{KEY, REGION};

const SIGNED: &str = "host;range;x-amz-content-sha256;x-amz-date";

/// Signs GETs of one host.
#[derive(Debug)]
pub(crate) struct Signer {
    host: String,
    second: i64,
    date: String,
    scope: String,
    key: Hmac<Sha256>,
    canonical: String,
    to_sign: String,
}

impl Signer {
    /// For `host:port`.
    pub(crate) fn new(host: &str) -> Self {
        let (second, date) = now();
        let scope = format!("{}/{REGION}/s3/aws4_request", &date[..8]);
        let mut key = mac(format!("AWS4{}", KEY.1).as_bytes());
        for part in scope.split('/') {
            key.update(part.as_bytes());
            key = mac(&key.finalize().into_bytes());
        }
        let (canonical, to_sign) = (String::new(), String::new());
        Self { host: host.to_owned(), second, date, scope, key, canonical, to_sign }
    }

    /// Writes the request for a range of what lies at `path` in place of what `request` holds.
    pub(crate) fn get(&mut self, path: &str, (first, last): (u64, u64), request: &mut String) {
        self.renew();
        let Self { host, date, scope, canonical, to_sign, .. } = self;
        canonical.clear();
        let _ = write!(
            canonical,
            "GET\n{path}\n\nhost:{host}\nrange:bytes={first}-{last}\nx-amz-content-sha256:UNSIGNED-PAYLOAD\n\
             x-amz-date:{date}\n\n{SIGNED}\nUNSIGNED-PAYLOAD"
        );
        to_sign.clear();
        let _ = write!(to_sign, "AWS4-HMAC-SHA256\n{date}\n{scope}\n");
        hex(&Sha256::digest(canonical.as_bytes()), to_sign);
        let mut key = self.key.clone();
        key.update(to_sign.as_bytes());
        request.clear();
        let _ = write!(
            request,
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nrange: bytes={first}-{last}\r\n\
             x-amz-content-sha256: UNSIGNED-PAYLOAD\r\nx-amz-date: {date}\r\nauthorization: AWS4-HMAC-SHA256 \
             Credential={}/{scope}, SignedHeaders={SIGNED}, Signature=",
            KEY.0
        );
        hex(&key.finalize().into_bytes(), request);
        request.push_str("\r\n\r\n");
    }

    /// A run does not last until the next day, but for the next second.
    fn renew(&mut self) {
        if unix_s() != self.second {
            (self.second, self.date) = now();
        }
    }
}

fn mac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

fn hex(bytes: &[u8], into: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        into.push(char::from(DIGITS[usize::from(byte >> 4)]));
        into.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

fn unix_s() -> i64 {
    // SAFETY: a null pointer asks for the value alone.
    unsafe { libc::time(std::ptr::null_mut()) }
}

/// This second, and as `20260102T030405Z`.
fn now() -> (i64, String) {
    let second = unix_s();
    // SAFETY: a tm is plain numbers and a pointer, for which zeros are valid.
    let mut tm: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to locals that live across the call.
    unsafe { libc::gmtime_r(&raw const second, &raw mut tm) };
    let libc::tm { tm_year, tm_mon, tm_mday, tm_hour, tm_min, tm_sec, .. } = tm;
    let (year, month) = (tm_year + 1900, tm_mon + 1);
    (second, format!("{year:04}{month:02}{tm_mday:02}T{tm_hour:02}{tm_min:02}{tm_sec:02}Z"))
}
