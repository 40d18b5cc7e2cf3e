//! The digests that a client sends with a body, held against the bytes that come. `s3s` verifies what is signed, and
//! none of these.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::HeaderMap;
use md5::{Digest as _, Md5};
use s3s::checksum::ChecksumHasher;
use s3s::crypto::Checksum as _;
use s3s::dto::Checksum;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Result, TrailingHeaders, s3_error};

/// A checksum, as its header calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Crc32,
    Crc32c,
    Crc64Nvme,
    Sha1,
    Sha256,
}

impl Algorithm {
    const ALL: [Self; 5] = [Self::Crc32, Self::Crc32c, Self::Crc64Nvme, Self::Sha1, Self::Sha256];

    fn header(self) -> &'static str {
        match self {
            Self::Crc32 => "x-amz-checksum-crc32",
            Self::Crc32c => "x-amz-checksum-crc32c",
            Self::Crc64Nvme => "x-amz-checksum-crc64nvme",
            Self::Sha1 => "x-amz-checksum-sha1",
            Self::Sha256 => "x-amz-checksum-sha256",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Crc32 | Self::Crc32c => 4,
            Self::Crc64Nvme => 8,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    fn begin(self, hasher: &mut ChecksumHasher) {
        match self {
            Self::Crc32 => hasher.crc32 = Some(s3s::crypto::Crc32::new()),
            Self::Crc32c => hasher.crc32c = Some(s3s::crypto::Crc32c::new()),
            Self::Crc64Nvme => hasher.crc64nvme = Some(s3s::crypto::Crc64Nvme::new()),
            Self::Sha1 => hasher.sha1 = Some(s3s::crypto::Sha1::new()),
            Self::Sha256 => hasher.sha256 = Some(s3s::crypto::Sha256::new()),
        }
    }

    fn of(self, computed: &Checksum) -> Option<&str> {
        match self {
            Self::Crc32 => computed.checksum_crc32.as_deref(),
            Self::Crc32c => computed.checksum_crc32c.as_deref(),
            Self::Crc64Nvme => computed.checksum_crc64nvme.as_deref(),
            Self::Sha1 => computed.checksum_sha1.as_deref(),
            Self::Sha256 => computed.checksum_sha256.as_deref(),
        }
    }
}

/// Where the digest of a body stands that comes in pieces.
#[derive(Default)]
pub(super) struct Digests {
    md5: Md5,
    declared_md5: Option<[u8; 16]>,
    hasher: ChecksumHasher,
    declared: Vec<(Algorithm, String)>,
    /// Those that come behind the body.
    trailing: Vec<Algorithm>,
    trailer: Option<TrailingHeaders>,
    /// Of the payload, as requests name it that are signed.
    declared_payload: Option<String>,
}

impl Digests {
    /// What is declared of the body of `request`.
    pub(super) fn declared<T>(request: &S3Request<T>) -> S3Result<Self> {
        let headers = &request.headers;
        let mut digests = Self {
            declared_md5: declared_md5(headers)?,
            trailer: request.trailing_headers.clone(),
            ..Self::default()
        };
        // `s3s` holds the payload of signed requests against its hash by itself.
        if request.credentials.is_none() {
            digests.declared_payload = unsigned_payload(headers)?;
        }
        let trailer = text(headers, "x-amz-trailer").unwrap_or_default().to_ascii_lowercase();
        let is_trailing =
            |algorithm: Algorithm| trailer.split(',').any(|name| name.trim() == algorithm.header());
        // Only what is declared is computed: CRC and SHA of every byte would cost more than the rest.
        for algorithm in Algorithm::ALL {
            if let Some(declared) = declared(headers, algorithm)? {
                digests.declared.push((algorithm, declared));
                algorithm.begin(&mut digests.hasher);
            } else if is_trailing(algorithm) {
                digests.trailing.push(algorithm);
                algorithm.begin(&mut digests.hasher);
            }
        }
        if digests.declared_payload.is_some() {
            Algorithm::Sha256.begin(&mut digests.hasher);
        }
        Ok(digests)
    }

    pub(super) fn update(&mut self, data: &[u8]) {
        self.md5.update(data);
        self.hasher.update(data);
    }

    /// The MD5 of the body, and the checksums that were declared of it: once it is all there and each of them is right.
    pub(super) fn finish(mut self) -> S3Result<([u8; 16], Checksum)> {
        self.take_trailer()?;
        let md5 = self.md5.finalize().into();
        if self.declared_md5.is_some_and(|declared| declared != md5) {
            return Err(s3_error!(BadDigest, "the body has another MD5 than Content-MD5 says"));
        }
        let mut computed = self.hasher.finalize();
        for (algorithm, declared) in &self.declared {
            if algorithm.of(&computed) != Some(declared) {
                let header = algorithm.header();
                return Err(s3_error!(BadDigest, "the body has another checksum than {header} says"));
            }
        }
        if self.declared_payload.is_some_and(|declared| computed.checksum_sha256 != Some(declared)) {
            return Err(wrong_payload());
        }
        // It was computed for the payload's hash; an answer names only what was declared as a checksum.
        if !self.declared.iter().any(|(algorithm, _)| *algorithm == Algorithm::Sha256) {
            computed.checksum_sha256 = None;
        }
        Ok((md5, computed))
    }

    fn take_trailer(&mut self) -> S3Result<()> {
        let trailer = self.trailer.take().and_then(|trailer| trailer.take()).unwrap_or_default();
        for algorithm in std::mem::take(&mut self.trailing) {
            let header = algorithm.header();
            // The trailer can be read only now: it comes behind the body.
            let declared = declared(&trailer, algorithm)?.ok_or_else(|| {
                s3_error!(InvalidRequest, "x-amz-trailer names {header}, which did not come")
            })?;
            self.declared.push((algorithm, declared));
        }
        Ok(())
    }
}

/// The body of a request that is read before it is understood.
#[derive(Clone)]
pub(super) struct Whole(pub(super) Bytes);

/// Refuses a request whose body, which is there, is not what was declared.
pub(super) fn check_whole<T>(request: &S3Request<T>) -> S3Result<()> {
    if request.trailing_headers.is_some() {
        return Err(s3_error!(NotImplemented, "a body in chunks; send it as it is"));
    }
    let mut digests = Digests::declared(request)?;
    let Whole(body) = request.extensions.get().ok_or_else(|| s3_error!(MissingContentLength))?;
    digests.update(body);
    digests.finish().map(|_| ())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    // What is no text is kept as a character that no digest has, so that it is refused and not passed over.
    headers.get(name).map(|value| value.to_str().unwrap_or("\u{fffd}"))
}

fn declared_md5(headers: &HeaderMap) -> S3Result<Option<[u8; 16]>> {
    let Some(declared) = text(headers, "content-md5") else { return Ok(None) };
    let bytes = BASE64_STANDARD.decode(declared).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.map(Some).ok_or_else(|| s3_error!(InvalidDigest, "Content-MD5 is not the Base64 of 16 bytes"))
}

fn declared(headers: &HeaderMap, algorithm: Algorithm) -> S3Result<Option<String>> {
    let header = algorithm.header();
    let Some(declared) = text(headers, header) else { return Ok(None) };
    let is_digest = BASE64_STANDARD.decode(declared).is_ok_and(|bytes| bytes.len() == algorithm.bytes());
    if !is_digest {
        let bytes = algorithm.bytes();
        return Err(s3_error!(InvalidRequest, "the value of {header} is not the Base64 of {bytes} bytes"));
    }
    Ok(Some(declared.to_owned()))
}

/// The SHA-256 that a request which is not signed says of its body, in Base64. `s3s` looks at it in others, and takes
/// chunks apart in those alone.
fn unsigned_payload(headers: &HeaderMap) -> S3Result<Option<String>> {
    let payload = text(headers, "x-amz-content-sha256");
    let is_chunked = headers.contains_key("x-amz-decoded-content-length")
        || payload.is_some_and(|payload| payload.starts_with("STREAMING-"));
    if is_chunked {
        return Err(s3_error!(
            NotImplemented,
            "a body in chunks of a request that is not signed; sign it, or send the body as it is"
        ));
    }
    match payload {
        None | Some("UNSIGNED-PAYLOAD") => Ok(None),
        Some(declared) => {
            let byte = |at: usize| u8::from_str_radix(declared.get(at..at + 2)?, 16).ok();
            let bytes: Option<Vec<u8>> = (0..declared.len()).step_by(2).map(byte).collect();
            let bytes = bytes.filter(|bytes| bytes.len() == 32).ok_or_else(|| {
                s3_error!(InvalidArgument, "x-amz-content-sha256 is neither a SHA-256 nor UNSIGNED-PAYLOAD")
            })?;
            Ok(Some(BASE64_STANDARD.encode(bytes)))
        }
    }
}

fn wrong_payload() -> S3Error {
    let code = S3ErrorCode::Custom("XAmzContentSHA256Mismatch".into());
    let mut error =
        S3Error::with_message(code, "the body has another SHA-256 than x-amz-content-sha256 says");
    error.set_status_code(StatusCode::BAD_REQUEST);
    error
}
