//! The table of cases over a network. The bounds were set from prototypes' figures before these backends were written.

use super::{NetCase, NetTarget, Peer, Service};
use crate::case::{Bound, Measure};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// No cell of NFS may fall below this share of libnfs's throughput. What they come to together: `means`.
const CELL_MIN: f64 = 0.9;
/// What several connections must gain over the one that other tools open.
const GAIN_MIN: f64 = 1.15;

const fn cpu(against: Peer, most: f64) -> NetTarget {
    NetTarget { against, measure: Measure::CpuPerOp, bound: Bound::AtMost(most) }
}

const fn throughput(against: Peer, least: f64) -> NetTarget {
    NetTarget { against, measure: Measure::Throughput, bound: Bound::AtLeast(least) }
}

/// Every case over a network.
pub(crate) fn cases() -> Vec<NetCase> {
    let mut cases = Vec::new();
    for (size, block_bytes) in [("4k", 4 * KIB), ("128k", 128 * KIB), ("1m", MIB)] {
        for connections in [1, 4] {
            cases.extend([8, 32].map(|depth| nfs(size, block_bytes, connections, depth)));
        }
        cases.push(nfs_default(size, block_bytes));
    }
    for (size, block_bytes) in [("4k", 4 * KIB), ("128k", 128 * KIB), ("8m", 8 * MIB)] {
        for depth in [8, 64] {
            cases.push(s3_lean(size, block_bytes, depth));
            cases.push(s3_sdk(size, block_bytes, depth));
        }
    }
    cases
}

fn nfs(size: &str, block_bytes: u64, connections: u32, queue_depth: u32) -> NetCase {
    let noun = if connections == 1 { "connection" } else { "connections" };
    NetCase {
        name: format!("nfs-{size}-c{connections}-qd{queue_depth}"),
        about: format!(
            "random {} of a file on an NFS server, {connections} {noun}, depth {queue_depth}",
            words(block_bytes)
        ),
        service: Service::Nfs { connections: Some(connections), peer_connections: connections },
        block_bytes,
        queue_depth,
        peers: &[Peer::Libnfs],
        targets: vec![throughput(Peer::Libnfs, CELL_MIN)],
    }
}

fn nfs_default(size: &str, block_bytes: u64) -> NetCase {
    NetCase {
        name: format!("nfs-default-{size}-qd32"),
        about: format!(
            "random {} of a file on an NFS server, depth 32; feedline's default connections against one",
            words(block_bytes)
        ),
        service: Service::Nfs { connections: None, peer_connections: 1 },
        block_bytes,
        queue_depth: 32,
        peers: &[Peer::Libnfs],
        targets: vec![throughput(Peer::Libnfs, GAIN_MIN)],
    }
}

fn s3_lean(size: &str, block_bytes: u64, queue_depth: u32) -> NetCase {
    let targets = match size {
        "4k" => vec![cpu(Peer::ObjectStore, 0.30), cpu(Peer::Sdk, 0.12), cpu(Peer::Raw, 1.15)],
        "128k" => vec![cpu(Peer::ObjectStore, 0.50)],
        _ => vec![cpu(Peer::ObjectStore, 0.40), cpu(Peer::Raw, 1.10)],
    };
    NetCase {
        name: format!("s3-{size}-qd{queue_depth}"),
        about: format!(
            "random {} by GET from a null server, engine lean, depth {queue_depth}",
            words(block_bytes)
        ),
        service: Service::S3 { engine: "lean" },
        block_bytes,
        queue_depth,
        peers: &[Peer::ObjectStore, Peer::Sdk, Peer::Raw],
        targets,
    }
}

fn s3_sdk(size: &str, block_bytes: u64, queue_depth: u32) -> NetCase {
    NetCase {
        name: format!("s3-sdk-{size}-qd{queue_depth}"),
        about: format!(
            "random {} by GET from a null server, engine sdk, depth {queue_depth}",
            words(block_bytes)
        ),
        service: Service::S3 { engine: "sdk" },
        block_bytes,
        queue_depth,
        peers: &[Peer::Sdk],
        targets: vec![throughput(Peer::Sdk, 1.3)],
    }
}

fn words(bytes: u64) -> String {
    if bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{} KiB", bytes / KIB) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_begins_another() {
        let cases = cases();
        assert_eq!(cases.len(), 27);
        for case in &cases {
            let alike = cases.iter().filter(|other| other.name.starts_with(&case.name)).count();
            assert_eq!(alike, 1, "{}", case.name);
        }
    }

    #[test]
    fn targets_name_peers_that_run() {
        for case in cases() {
            assert!(!case.targets.is_empty(), "{}", case.name);
            assert!(case.targets.iter().all(|target| case.peers.contains(&target.against)), "{}", case.name);
        }
    }
}
