//! Replies of anybody's to every operation there is, and pages of anybody's.

use backend::Clock;
use backend_http::fuzzing::OPERATIONS;

use crate::page;
use crate::request::{Encoder, Place, Writer};
use crate::rights::Rights;

/// The first byte chooses the operation, the rest comes from the server.
pub fn replies(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let number = which % (OPERATIONS + 1);
    if number == OPERATIONS {
        let _ = page::read(bytes);
        return;
    }
    let place = Place { container: b"/c".to_vec(), prefix: "p/".to_owned() };
    let writer = Writer::new("blobs.lan".to_owned(), Rights::Anonymous);
    backend_http::fuzzing::replies((number, *which), bytes, |objects| {
        Some(Encoder::new(writer, &place, objects, &Clock::simulated()))
    });
}
