//! Where a request names its bucket: in its path, or in the host that it asks.

use std::net::IpAddr;

use s3s::S3Result;
use s3s::host::{S3Host, VirtualHost};

/// Domain of this machine, with all names below it (RFC 6761, section 6.3).
const LOCAL: &str = ".localhost";

/// The bucket within a host, where one is named there: below [`LOCAL`] any, below other domains the one that is served
/// from the start.
pub(super) fn bucket<'a>(host: &'a str, served: &str) -> Option<&'a str> {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    // 127.0.0.1 is no bucket `127` in the domain `0.0.1`.
    if name.parse::<IpAddr>().is_ok() {
        return None;
    }
    let is_served = name.strip_prefix(served).is_some_and(|domain| domain.starts_with('.'));
    if is_served { Some(&name[..served.len()]) } else { name.strip_suffix(LOCAL) }
}

/// The hosts of a server that starts with this bucket.
pub(super) struct Hosts {
    pub(super) bucket: String,
}

impl S3Host for Hosts {
    fn parse_host_header<'a>(&'a self, host: &'a str) -> S3Result<VirtualHost<'a>> {
        let virtual_host = VirtualHost::new(host);
        Ok(match bucket(host, &self.bucket) {
            Some(bucket) => virtual_host.with_bucket(bucket),
            None => virtual_host,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_the_first_part_of_a_host_that_is_no_address() {
        for (host, found) in [
            ("bench.localhost:9000", Some("bench")),
            ("a.b.localhost", Some("a.b")),
            ("bench.s3.example:80", Some("bench")),
            ("s3.example:80", None),
            ("bench:9000", None),
            ("bench2.example", None),
            ("localhost:9000", None),
            ("127.0.0.1:9000", None),
            ("127.0.0.1", None),
        ] {
            assert_eq!(bucket(host, "bench"), found, "{host}");
        }
        assert_eq!(bucket("127.0.0.1", "127"), None);
    }
}
