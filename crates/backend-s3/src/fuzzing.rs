//! Replies of anybody's to every operation there is.

use backend::Clock;
use backend_http::fuzzing::OPERATIONS;

use crate::endpoint::Endpoint;
use crate::fixture::config;
use crate::names::Names;
use crate::request::Encoder;

/// The first byte chooses the operation, the rest comes from the server.
pub fn replies(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else { return };
    backend_http::fuzzing::replies((which % OPERATIONS, *which), bytes, |objects| {
        let endpoint = Endpoint::new(&config(), Some("http://s3.lan".to_owned()), "r").ok()?;
        Some(Encoder::new(&endpoint, &Names::new("p", 1), objects, None, &Clock::simulated()))
    });
}
