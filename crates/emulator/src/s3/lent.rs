//! The body of a request, which a refusal may leave unread in part.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::body::{Body as _, Bytes, Frame, Incoming, SizeHint};
use s3s::Body;

/// What comes back of a body that was dropped before its end.
#[derive(Default)]
pub(super) struct Rest(Arc<Mutex<Option<Incoming>>>);

impl Rest {
    /// A body whose rest comes here.
    pub(super) fn lend(&self, body: Incoming) -> Body {
        Body::http_body(Lent { body: Some(body), rest: Arc::clone(&self.0) })
    }

    /// Takes the rest and drops it. A connection that is closed before is reset, and the client may never see why.
    pub(super) async fn drain(self) {
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = rest else { return };
        while let Some(Ok(_)) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {}
    }
}

struct Lent {
    /// Until it is dropped.
    body: Option<Incoming>,
    rest: Arc<Mutex<Option<Incoming>>>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        // At its end nothing is left to be read, and the connection can be used again.
        let body = self.body.take().filter(|body| !body.is_end_stream());
        *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = body;
    }
}

impl hyper::body::Body for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(hyper::body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, hyper::body::Body::size_hint)
    }
}
