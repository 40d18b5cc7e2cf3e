//! The body of a PUT: a whole object from a buffer of one block.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use aws_sdk_s3::primitives::{ByteStream, SdkBody};
use backend::FilePieces;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// The pieces of an object, each made when the HTTP client asks for it: an object of any size is held as one.
struct Object {
    pieces: FilePieces,
    block: Vec<u8>,
    next: u64,
    left_bytes: u64,
}

/// An object of `pieces` from a buffer, whose bytes the body has of its own.
pub(super) fn stream(pieces: FilePieces, buffer: &[u8]) -> ByteStream {
    // The SDK's bodies outlive the call that sends them, so a buffer cannot be lent to one.
    let block = buffer[..pieces.get(0).len as usize].to_vec();
    ByteStream::new(SdkBody::from_body_1_x(Object { pieces, block, next: 0, left_bytes: pieces.bytes() }))
}

impl Body for Object {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.is_end_stream() {
            return Poll::Ready(None);
        }
        let (pieces, number) = (self.pieces, self.next);
        let length = pieces.get(number).len as usize;
        pieces.number(number, &mut self.block);
        self.next += 1;
        self.left_bytes -= length as u64;
        Poll::Ready(Some(Ok(Frame::data(Bytes::copy_from_slice(&self.block[..length])))))
    }

    fn is_end_stream(&self) -> bool {
        self.left_bytes == 0
    }

    fn size_hint(&self) -> SizeHint {
        // By it the SDK names the length of the body, without which S3 takes none.
        SizeHint::with_exact(self.left_bytes)
    }
}
