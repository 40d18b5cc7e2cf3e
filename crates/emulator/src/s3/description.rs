//! What a client says of an object beside its bytes.

use std::sync::Arc;

use hyper::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, EXPIRES, HeaderMap,
    HeaderName, HeaderValue,
};

/// Headers that are said back as they came.
const KEPT: [HeaderName; 6] =
    [CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, EXPIRES];

/// What headers of the client's own begin with.
pub(super) const METADATA: &str = "x-amz-meta-";

/// Headers that come with an object and go with it. Most objects have few, and copies share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Description(Arc<[(HeaderName, HeaderValue)]>);

impl Description {
    /// Those of a request. The values are copied, as each would keep alive what was read with it.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let is_kept = |name: &HeaderName| KEPT.contains(name) || name.as_str().starts_with(METADATA);
        let kept = headers.iter().filter(|(name, _)| is_kept(name)).filter_map(|(name, value)| {
            let value = match *name {
                // SDKs that send a body in signed chunks say `aws-chunked` here, and the object has none.
                CONTENT_ENCODING => without_chunks(value.as_bytes()),
                _ => value.as_bytes().to_vec(),
            };
            // What a client says of its own may be nothing.
            let is_said = !value.is_empty() || name.as_str().starts_with(METADATA);
            let value = HeaderValue::from_maybe_shared(value).ok()?;
            is_said.then(|| (name.clone(), value))
        });
        Self(kept.collect())
    }

    /// Those of a response, but for headers that its request has `overridden`.
    pub(super) fn headers(&self, overridden: impl Fn(&HeaderName) -> bool) -> HeaderMap {
        self.0.iter().filter(|(name, _)| !overridden(name)).cloned().collect()
    }
}

/// An encoding less the one that is of the request's body and not of the object.
fn without_chunks(encoding: &[u8]) -> Vec<u8> {
    let encodings = encoding.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    encodings.filter(|encoding| *encoding != b"aws-chunked").collect::<Vec<_>>().join(&b", "[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_of_the_transfer_is_not_the_objects() {
        for (given, kept) in
            [("gzip", "gzip"), ("aws-chunked", ""), ("aws-chunked,gzip", "gzip"), ("br, gzip", "br, gzip")]
        {
            assert_eq!(without_chunks(given.as_bytes()), kept.as_bytes());
        }
    }
}
