//! What a request asks, before it is written and signed.

use backend_http::ByteRange;

/// A request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'static str,
    /// Encoded.
    pub(crate) path: &'a [u8],
    /// Names in order and values, not encoded; one without a value is left out.
    pub(crate) query: &'a [(&'static str, Option<&'a str>)],
    pub(crate) range: Option<ByteRange>,
    /// Bytes of the body; `None` where a request has none.
    pub(crate) length: Option<u64>,
    /// Whether a blob that is there already refuses it.
    pub(crate) only_new: bool,
    /// Whether a whole blob is written by it.
    pub(crate) whole_blob: bool,
}

impl<'a> Request<'a> {
    pub(crate) fn new(method: &'static str, path: &'a [u8]) -> Self {
        let (range, length, query) = (None, None, &[][..]);
        Self { method, path, query, range, length, only_new: false, whole_blob: false }
    }
}
