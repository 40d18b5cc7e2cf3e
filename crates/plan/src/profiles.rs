//! Emulated servers by name, with the source of every figure.

use crate::{Delay, Emulation};

const MS: u64 = 1_000_000;

/// A declared server with a name.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// As written in scenarios.
    pub name: &'static str,
    /// What it is like, in a line.
    pub summary: &'static str,
    build: fn() -> Emulation,
}

const PROFILES: [Profile; 3] = [
    Profile {
        name: "s3-like",
        summary: "object store in a cloud: first byte 100 to 200 ms, 5,500 reads a second per prefix, 90 MB/s per connection",
        build: s3_like,
    },
    Profile {
        name: "nfs-1gbe-like",
        summary: "filer with its data in memory behind 1 Gb/s Ethernet: 0.3 ms a call, 117 MB/s in all",
        build: nfs_1gbe_like,
    },
    Profile {
        name: "hdd-like",
        summary: "one spinning disk of 7,200 rpm: 12.2 ms a move, 200 MB/s in sequence, one read at a time",
        build: hdd_like,
    },
];

/// Every profile, with its line of description.
pub fn profiles() -> &'static [Profile] {
    &PROFILES
}

/// The server of that name; seeded with 0.
pub fn profile(name: &str) -> Option<Emulation> {
    let found = PROFILES.iter().find(|profile| profile.name == name)?;
    // The seed is the scenario's business, and 0 here for whoever names none.
    Some(Emulation { profile: Some(name.to_owned()), ..(found.build)() })
}

/// An object store in a cloud.
///
/// - First byte: "roughly 100-200 milliseconds" for small objects, AWS, "Performance design patterns for Amazon S3"
///   (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance-design-patterns.html>). The two
///   ends are taken as evenly likely; no distribution is published. Others report 10 to 30 ms for warm buckets:
///   set `first_byte` for those.
/// - Metadata: the same page speaks of requests; HEAD and LIST are given the shorter end, 100 ms. An assumption.
/// - 5,500 GET and HEAD a second per partitioned prefix: same page. It is what the service gives at least, and more
///   after it has split a prefix; here it is a ceiling.
/// - 90 MB/s a connection: "85-90 MB/s" for one, same page.
// No spread between requests of one connection and no slow tail beyond 200 ms: none is published, and an
// invented tail would decide p99.
fn s3_like() -> Emulation {
    Emulation {
        first_byte: Some(Delay::Uniform { from_ns: 100 * MS, to_ns: 200 * MS }),
        metadata: Some(Delay::Constant { ns: 100 * MS }),
        requests_per_s: Some(5500.0),
        connection_bps: Some(90e6),
        ..Emulation::default()
    }
}

/// A filer whose data is in its memory, behind one port of 1 Gb/s.
///
/// - 117 MB/s: 125 MB/s less what frames of 1,500 bytes spend on Ethernet (38 bytes with preamble and gap), IP (20) and
///   TCP with time stamps (32): 1448 / 1538 (IEEE 802.3, RFC 791, RFC 9293, RFC 7323), less a few bytes of RPC.
/// - 0.3 ms a call: round trips through a switch of 1 Gb/s are commonly measured at 0.2 to 0.5 ms. An assumption; it
///   belongs to no product.
fn nfs_1gbe_like() -> Emulation {
    let round_trip = Delay::Constant { ns: 300_000 };
    Emulation {
        first_byte: Some(round_trip),
        metadata: Some(round_trip),
        total_bps: Some(117e6),
        ..Emulation::default()
    }
}

/// One spinning disk.
///
/// - A move: half a turn at 7,200 rpm is 4.17 ms (60 s / 7,200 / 2), and an average seek of about 8 ms is what data
///   sheets of nearline drives state (8 to 8.5 ms for reads; it is a class of drives, not one of them).
/// - 200 MB/s in sequence: the middle of what such drives state between their outer and inner tracks.
// No command queuing: what a drive gains by sorting a deep queue depends on its firmware.
fn hdd_like() -> Emulation {
    Emulation { seek_ns: Some(12_170_000), total_bps: Some(200e6), ..Emulation::default() }
}
