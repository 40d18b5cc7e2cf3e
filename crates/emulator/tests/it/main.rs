//! Both servers over real sockets: S3 by raw HTTP, NFS by `nfs3_client`.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod buckets;
mod conditions;
mod copies;
mod digests;
mod hosts;
mod http;
mod listings;
mod nfs;
mod s3;
mod shaped;
mod unknown;

use dataset::payload;

/// Bytes as feedline writes them.
fn generated(object: u32, length: usize) -> Vec<u8> {
    let mut data = vec![0; length];
    payload::fill(7, object, 0, &mut data);
    data
}

/// Seconds of the clock that the server waits by.
fn now_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
