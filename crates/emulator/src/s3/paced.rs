//! The body of a reply at the rates of its connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::{Bytes, Frame, SizeHint};
use s3s::{Body, StdError};

use crate::send_limits::{SendLimits, Sending};
use crate::timer::Timer;

/// A body in pieces, each of which goes when the last of its bytes may arrive.
pub(super) struct Paced {
    body: Body,
    limits: Arc<SendLimits>,
    timer: Arc<Timer>,
    /// What the body gave and has not gone.
    made: Bytes,
    /// Pieces gone end here by the schedule.
    ready_ns: u64,
    sent: u64,
    left: u64,
    /// The piece under way, and its bytes.
    sending: Option<(Sending, usize)>,
}

impl Paced {
    /// The `bytes` of `body`, which are ready at `ready_ns`.
    pub(super) fn body(
        body: Body,
        limits: &Arc<SendLimits>,
        timer: &Arc<Timer>,
        ready_ns: u64,
        bytes: u64,
    ) -> Body {
        Body::http_body(Self {
            body,
            limits: Arc::clone(limits),
            timer: Arc::clone(timer),
            made: Bytes::new(),
            ready_ns,
            sent: 0,
            left: bytes,
            sending: None,
        })
    }
}

impl hyper::body::Body for Paced {
    type Data = Bytes;
    type Error = StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StdError>>> {
        let this = &mut *self;
        loop {
            if let Some((sending, piece)) = &mut this.sending {
                // By the schedule and not by the clock: what a late wake-up has cost is made up for by the
                // next piece.
                this.ready_ns = ready!(Pin::new(sending).poll(cx));
                let piece = this.made.split_to(*piece);
                (this.sent, this.left) = (this.sent + piece.len() as u64, this.left - piece.len() as u64);
                this.sending = None;
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            if this.made.is_empty() {
                match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                    Some(Ok(frame)) => this.made = frame.into_data().unwrap_or_default(),
                    ended => return Poll::Ready(ended),
                }
                continue;
            }
            let piece = this.made.len().min(this.limits.piece_bytes(this.sent) as usize);
            let sending = this.limits.send(this.ready_ns, piece as u64, &this.timer);
            this.sending = Some((sending, piece));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        // Known to the byte, so that the reply has a length and comes in no chunks.
        SizeHint::with_exact(self.left)
    }
}
