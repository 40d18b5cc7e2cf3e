//! Failures of the SDK, in words.

use std::error::Error;
use std::io;

use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use backend::{ErrorKind, OpError, StoreError};
use backend_http::{Scan, failure_text, object_error, plain};

use crate::kind::{self, ELEMENTS};

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    /// Of the reply; 0 where there was none.
    pub(crate) status: u16,
    /// What the service calls it; empty where it did not say.
    pub(crate) code: String,
    /// The service's message, or the cause.
    pub(crate) message: String,
    /// The region that the bucket is in, where the service says so.
    pub(crate) region: Option<String>,
    /// That a gateway sends on to another server, in words.
    // Boxed: this is the error of most calls, and few have it.
    pub(crate) sent_on: Option<Box<str>>,
    /// The service's clock, seconds since 1970.
    pub(crate) date_s: Option<i64>,
    /// The error of an operation that fails in this way.
    pub(crate) error: OpError,
}

impl Failed {
    pub(crate) fn of<E>(error: &SdkError<E, HttpResponse>) -> Self
    where
        E: ProvideErrorMetadata + Error + 'static,
    {
        let reply = error.raw_response();
        let status = reply.map_or(0, |reply| reply.status().as_u16());
        let header = |name: &str| reply.and_then(|reply| reply.headers().get(name)).map(str::to_owned);
        let mut scan = Scan::new(&ELEMENTS);
        // Read beside the SDK, which keeps neither the region nor the code of every service.
        if let Some(body) = reply.and_then(|reply| reply.body().bytes()) {
            scan.push(body);
        }
        let named = error.as_service_error().and_then(ProvideErrorMetadata::code);
        let code = named.filter(|code| !code.is_empty()).unwrap_or(scan.code()).to_owned();
        let said = error.as_service_error().and_then(ProvideErrorMetadata::message);
        let message = said.map_or_else(|| scan.message(), str::to_owned);
        let message = if message.is_empty() && status == 0 { causes(error) } else { message };
        let region = header("x-amz-bucket-region").or(Some(scan.region().to_owned()));
        let date = header("date").and_then(|date| DateTime::from_str(&date, Format::HttpDate).ok());
        Self {
            status,
            error: op_error(error, status, &code),
            sent_on: kind::sent_on(&code, &scan.endpoint()).map(Into::into),
            code,
            message,
            region: region.filter(|region| !region.is_empty()),
            date_s: date.map(|date| date.secs()),
        }
    }

    /// In one line, without the object.
    pub(crate) fn text(&self) -> String {
        failure_text(self.status, &self.code, &self.message)
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.status == 404
    }

    /// The object was there already, or another writer was faster.
    pub(crate) fn is_taken(&self) -> bool {
        // 412: the key is there. 409: another write to it was under way at the same time.
        self.status == 412 || (self.status == 409 && self.code == "ConditionalRequestConflict")
    }

    /// The service does not know a condition that was asked.
    pub(crate) fn is_not_implemented(&self) -> bool {
        self.status == 501 || self.code == "NotImplemented"
    }

    /// As a failure of a store: of one object, or a lack of room.
    pub(crate) fn into_store(self, action: &'static str, object: &str) -> StoreError {
        // 507 is WebDAV's (RFC 4918, section 11.5); the codes are those of Ceph, MinIO and others. AWS has
        // none: a bucket is never full.
        let full = ["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "StorageFull"];
        if self.status == 507 || full.contains(&self.code.as_str()) {
            return StoreError::Full { object: object.to_owned() };
        }
        if let Some(sent_on) = &self.sent_on {
            let text = format!("{}; {sent_on}\n  hint: {}", self.text(), kind::GATEWAYS_FETCH);
            return StoreError::Object { action, object: object.to_owned(), source: io::Error::other(text) };
        }
        object_error(
            (action, object),
            (self.error.kind, &self.text()),
            "the credentials need s3:GetObject and s3:ListBucket, and to prepare a dataset also s3:PutObject, \
             s3:DeleteObject and s3:AbortMultipartUpload",
        )
    }
}

/// The error of an operation that fails in the SDK.
fn op_error<E>(error: &SdkError<E, HttpResponse>, status: u16, code: &str) -> OpError {
    if status >= 300 {
        return kind::error(status, code);
    }
    let kind = match error {
        SdkError::TimeoutError(_) => ErrorKind::Timeout,
        // The one time-out that measured clients set is that for a connection (`client::client`).
        SdkError::DispatchFailure(failure) if failure.is_timeout() => ErrorKind::Connect,
        // What came is no HTTP: errors of the HTTP client that may pass have a kind.
        SdkError::DispatchFailure(failure) if failure.is_other() && failure.as_other().is_none() => {
            ErrorKind::Protocol
        }
        SdkError::DispatchFailure(failure) => {
            let cause = failure.as_connector_error().and_then(|error| io_cause(error.source()?));
            return cause.unwrap_or(plain(ErrorKind::Reset));
        }
        SdkError::ResponseError(_) | SdkError::ServiceError(_) => ErrorKind::Protocol,
        _ => ErrorKind::Other,
    };
    OpError { kind, code: u32::from(status) }
}

/// The operating system's error below others.
pub(crate) fn io_cause(error: &(dyn Error + 'static)) -> Option<OpError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(errno) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return Some(OpError::from_errno(errno));
        }
        next = error.source();
    }
    None
}

/// The causes of a failure in one line.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let cause = error.to_string();
        // The SDK's errors often repeat the text of their cause.
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        next = error.source();
    }
    text
}
