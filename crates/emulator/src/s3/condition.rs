//! The conditions that a request sets on the object that is there.
//!
//! Which answer follows from which condition:
//! <https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html>

use hyper::header::{ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, LAST_MODIFIED};
use s3s::dto::{ETagCondition, Timestamp, TimestampFormat};
use s3s::{S3Error, S3ErrorCode, S3Result, s3_error};

use super::object::Object;

/// The conditions of a read.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) matching: Option<ETagCondition>,
    pub(super) not_matching: Option<ETagCondition>,
    pub(super) modified_since: Option<Timestamp>,
    pub(super) unmodified_since: Option<Timestamp>,
}

impl Reading {
    /// Refuses to read an object that is not as asked. A date counts only where its ETag's condition is absent.
    pub(super) fn check(&self, object: &Object) -> S3Result<()> {
        // RFC 9110, section 13.2.2: first what must match, then what must not.
        let is_met = match (&self.matching, &self.unmodified_since) {
            (Some(asked), _) => is_match(asked, object)?,
            (None, Some(since)) => object.modified() <= *since,
            (None, None) => true,
        };
        if !is_met {
            return Err(failed());
        }
        let is_known = match (&self.not_matching, &self.modified_since) {
            (Some(asked), _) => is_weak_match(asked, object)?,
            (None, Some(since)) => object.modified() <= *since,
            (None, None) => false,
        };
        if is_known { Err(not_modified(object)) } else { Ok(()) }
    }

    /// The same of the source of a copy, of which the client has none.
    pub(super) fn check_source(&self, object: &Object) -> S3Result<()> {
        let is_known = |error: &S3Error| *error.code() == S3ErrorCode::NotModified;
        self.check(object).map_err(|error| if is_known(&error) { failed() } else { error })
    }
}

/// The conditions of a write.
#[derive(Default)]
pub(super) struct Writing {
    if_match: Option<ETagCondition>,
    is_new: bool,
}

impl Writing {
    /// Of "none may match", S3 too knows only "none may be there".
    pub(super) fn new(
        if_match: Option<ETagCondition>,
        if_none_match: Option<ETagCondition>,
    ) -> S3Result<Self> {
        match if_none_match {
            Some(ETagCondition::ETag(_)) => Err(s3_error!(NotImplemented, "If-None-Match other than *")),
            Some(ETagCondition::Any) if if_match.is_some() => {
                Err(s3_error!(NotImplemented, "If-Match beside If-None-Match"))
            }
            any => Ok(Self { if_match, is_new: any.is_some() }),
        }
    }

    /// Those of a copy, which `s3s` does not read.
    pub(super) fn of_headers(headers: &HeaderMap) -> S3Result<Self> {
        let read = |name: HeaderName| {
            let condition =
                headers.get(&name).map(|value| ETagCondition::parse_http_header(value.as_bytes()));
            condition.transpose().map_err(|error| s3_error!(error, InvalidArgument, "the value of {name}"))
        };
        Self::new(read(IF_MATCH)?, read(IF_NONE_MATCH)?)
    }

    /// That of a deletion.
    pub(super) fn of_match(if_match: Option<ETagCondition>) -> Self {
        Self { if_match, is_new: false }
    }

    /// Refuses to replace or delete what is there, or is not, where that is not as asked.
    pub(super) fn check(&self, there: Option<&Object>) -> S3Result<()> {
        match (&self.if_match, there) {
            // S3 answers 404 and not 412 where there is no object to match.
            (Some(_), None) => Err(s3_error!(NoSuchKey)),
            (Some(asked), Some(object)) if !is_match(asked, object)? => Err(failed()),
            (None, Some(_)) if self.is_new => Err(s3_error!(PreconditionFailed, "the key exists")),
            _ => Ok(()),
        }
    }
}

fn is_match(asked: &ETagCondition, object: &Object) -> S3Result<bool> {
    // RFC 9110, section 13.1.1: If-Match compares strongly, so a weak ETag never matches.
    Ok(single(asked)?.as_etag().is_none_or(|e_tag| e_tag.strong_cmp(&object.e_tag())))
}

fn is_weak_match(asked: &ETagCondition, object: &Object) -> S3Result<bool> {
    // RFC 9110, section 13.1.2: If-None-Match compares weakly.
    Ok(single(asked)?.as_etag().is_none_or(|e_tag| e_tag.weak_cmp(&object.e_tag())))
}

/// A list of ETags arrives as one that has quotes within, and would match nothing.
fn single(asked: &ETagCondition) -> S3Result<&ETagCondition> {
    let is_list = asked.as_etag().is_some_and(|e_tag| e_tag.value().contains('"'));
    if is_list { Err(s3_error!(NotImplemented, "a condition on more than one ETag")) } else { Ok(asked) }
}

fn failed() -> S3Error {
    s3_error!(PreconditionFailed, "at least one of the conditions did not hold")
}

/// Says, as the one answer of its kind must, what the client's copy is known by.
fn not_modified(object: &Object) -> S3Error {
    let mut headers = HeaderMap::new();
    if let Ok(e_tag) = object.e_tag().to_http_header() {
        // RFC 9110, section 15.4.5: a 304 carries the ETag that a 200 would have.
        headers.insert(ETAG, e_tag);
    }
    let mut date = Vec::new();
    if object.modified().format(TimestampFormat::HttpDate, &mut date).is_ok()
        && let Ok(date) = HeaderValue::from_bytes(&date)
    {
        headers.insert(LAST_MODIFIED, date);
    }
    let mut error = s3_error!(NotModified);
    error.set_headers(headers);
    error
}
