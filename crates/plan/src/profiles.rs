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

const PROFILES: [Profile; 6] = [
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
    Profile {
        name: "wifi-like",
        summary: "a storage in a cloud seen from a workstation on WiFi: 40 ms away, 50 Mb/s",
        build: wifi_like,
    },
    Profile {
        name: "same-region-like",
        summary: "a storage in the region of its client: 10 ms away, 10 Gb/s",
        build: same_region_like,
    },
    Profile {
        name: "cross-region-like",
        summary: "a storage across an ocean: 63.7 ms away, as light takes through 6,500 km of fibre and back, 10 Gb/s",
        build: cross_region_like,
    },
];

/// What a link leaves of any storage: each request waits for its way there and back, and all bytes pass the link.
// Names as data: a look at a name goes there and back too. The storage behind the link takes no time of its own, so that a
// figure is the link's alone; a path can be on a link as well as a server.
fn link(round_trip_ns: u64, total_bps: f64) -> Emulation {
    let round_trip = Delay::Constant { ns: round_trip_ns };
    Emulation {
        first_byte: Some(round_trip),
        metadata: Some(round_trip),
        total_bps: Some(total_bps),
        ..Emulation::default()
    }
}

/// A workstation on WiFi.
///
/// - 40 ms and 50 Mb/s: by which the claim is played that a job moved to a cloud waits a hundredth as long. An
///   assumption; the articles give no figure, and a WiFi of today may give several times the rate.
fn wifi_like() -> Emulation {
    link(40 * MS, 50e6 / 8.0)
}

/// A client in the region of its storage.
///
/// - 10 ms and 10 Gb/s: the other side of the same claim. 10 ms are more than a round trip within a region takes: they are
///   the first byte of a warm bucket as articles have it (C02), the bucket's own time included.
fn same_region_like() -> Emulation {
    link(10 * MS, 10e9 / 8.0)
}

/// Metres of fibre to another continent: about the great circle from Frankfurt to northern Virginia, 6,549 km.
const OCEAN_M: f64 = 6_500e3;

/// Metres per second of light in vacuum, by definition.
const LIGHT_MPS: f64 = 299_792_458.0;

/// Group index of silica fibre at 1,550 nm, by which light is slower in it (ITU-T G.652 fibres: 1.468).
const FIBRE_INDEX: f64 = 1.468;

/// A client in another region than its storage.
///
/// - 63.7 ms: the way there and back, which no service can beat. Cables are longer than great circles, and routers take
///   their time, so that real ones are slower.
/// - 10 Gb/s: as in the region, so that both differ by distance alone. An assumption; what one connection gets over such a
///   distance depends on its window.
fn cross_region_like() -> Emulation {
    let round_trip_s = 2.0 * OCEAN_M * FIBRE_INDEX / LIGHT_MPS;
    // To a tenth of a millisecond: more digits would say more than a distance is known.
    link((round_trip_s * 1e4).round() as u64 * (MS / 10), 10e9 / 8.0)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_takes_64_ms_across_an_ocean_and_back() {
        let across = profile("cross-region-like").unwrap();
        assert_eq!(across.first_byte, Some(Delay::Constant { ns: 63_700_000 }));
        assert_eq!(across.metadata, across.first_byte);
    }

    /// A link may lie before a path, which has no connections, and before either server.
    #[test]
    fn links_are_for_servers_and_paths() {
        let links: Vec<&Profile> =
            profiles().iter().filter(|profile| profile.summary.contains(" away, ")).collect();
        assert_eq!(links.len(), 3);
        for one in links {
            let Emulation { connection_bps, total_bps, first_byte, metadata, .. } =
                profile(one.name).unwrap();
            assert!(
                connection_bps.is_none() && total_bps.is_some() && first_byte == metadata,
                "{}",
                one.name
            );
        }
    }
}
