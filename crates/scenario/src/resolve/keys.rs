//! Which keys of a target mean something, by what its address is.

use crate::diagnostic::{Problem, Problems, Span};
use crate::written::{Address, Target};

/// What a key is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// Any storage.
    Storage,
    /// This machine's kernel; with what it is about there.
    Kernel(&'static str),
    /// Connections.
    Network,
    /// Buckets.
    Bucket,
}

/// Refuses keys that mean nothing at this kind of address; whether none was.
pub(super) fn fit(written: &Target, address: &Address, at: Span, problems: &mut Problems) -> bool {
    let before = problems.len();
    for (key, span, about) in keys(written) {
        let Some(span) = span else { continue };
        let (message, place) = match (address, about) {
            (Address::Null, _) => {
                (format!("`{key}` means nothing where there is no storage"), "is no storage")
            }
            (Address::Path(_), About::Network) => {
                (format!("`{key}` is for nfs:// and s3:// targets"), "is a path")
            }
            (Address::Path(_), About::Bucket) => (format!("`{key}` is for s3:// targets"), "is a path"),
            (Address::Nfs(_), About::Bucket) => {
                (format!("`{key}` is for s3:// targets"), "is a folder on an NFS server")
            }
            (Address::Nfs(_) | Address::S3(_), About::Kernel(what)) => (
                format!("`{key}` is about {what}, which takes no part here"),
                "is reached past the kernel's files",
            ),
            _ => continue,
        };
        problems.push(Problem::new(message).at(span, "remove this").also(at, place));
    }
    problems.len() == before
}

fn keys(written: &Target) -> [(&'static str, Option<Span>, About); 21] {
    use About::{Bucket, Kernel, Network, Storage};
    [
        ("engine", written.engine.key(), Storage),
        ("server_memory", written.server_memory.key(), Storage),
        ("madvise", written.madvise.key(), Kernel("memory maps")),
        ("direct", written.direct.key(), Kernel("this machine's page cache")),
        ("registered", written.registered.key(), Kernel("io_uring")),
        ("on_unavailable", written.on_unavailable.key(), Kernel("io_uring")),
        ("connections", written.connections.key(), Network),
        ("addresses", written.addresses.key(), Network),
        ("retries", written.retries.key(), Network),
        ("emulate", written.emulate.key(), Network),
        ("prefixes", written.prefixes.key(), Bucket),
        ("part_size", written.part_size.key(), Bucket),
        ("region", written.region.key(), Bucket),
        ("endpoint", written.endpoint.key(), Bucket),
        ("style", written.style.key(), Bucket),
        ("ca", written.ca.key(), Bucket),
        ("profile", written.profile.key(), Bucket),
        ("anonymous", written.anonymous.key(), Bucket),
        ("head", written.head.key(), Bucket),
        ("checksum", written.checksum.key(), Bucket),
        ("price", written.price.key(), Bucket),
    ]
}
