//! The kernel's NFS client, as `/proc/self/mountstats` counts it for one mount.

use std::path::{Path, PathBuf};

use record::NfsMount;

use super::text::Text;

const NS_PER_MS: u64 = 1_000_000;

/// Operations that read data: `READ_PLUS` takes the place of `READ` with NFS 4.2.
const READS: [&str; 2] = ["READ", "READ_PLUS"];

/// Where one mount's counters are read.
#[derive(Debug)]
pub(super) struct NfsSource {
    mount_point: PathBuf,
    mountstats: Text,
}

impl NfsSource {
    /// `None` where the kernel counts no mounts.
    pub(super) fn open(mount_point: &Path) -> Option<Self> {
        Some(Self { mount_point: mount_point.to_owned(), mountstats: Text::open("/proc/self/mountstats")? })
    }

    pub(super) fn read(&mut self) -> Option<NfsCounters> {
        NfsCounters::parse(self.mountstats.read()?, &self.mount_point)
    }
}

/// A mount's counters since it was mounted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NfsCounters {
    reads: u64,
    transmissions: u64,
    timeouts: u64,
    received_bytes: u64,
    ns: u64,
    connections: u32,
}

impl NfsCounters {
    /// Of the last mount on `mount_point`, which hides those below it. The figures of an operation are, in their order
    /// (linux, `net/sunrpc/stats.c`, `_print_rpc_iostats`): calls, transmissions, major time-outs, bytes sent, bytes
    /// received, and in milliseconds the time queued, the round trip, and all from being queued to the end. Each
    /// connection has a line `xprt:`.
    pub(super) fn parse(mountstats: &str, mount_point: &Path) -> Option<Self> {
        let of_mount = |block: &&str| {
            let head = block.lines().next().unwrap_or_default();
            let on =
                head.split_once(" mounted on ").and_then(|(_, rest)| rest.split_once(" with fstype nfs"));
            on.is_some_and(|(point, _)| unescaped(point) == mount_point.as_os_str().as_encoded_bytes())
        };
        // Mounts stand in the order in which they were made.
        let block = mountstats.split("\ndevice ").filter(of_mount).last()?;
        let mut counters = Self::default();
        for line in block.lines().map(str::trim_start) {
            if line.starts_with("xprt:") {
                counters.connections += 1;
            } else if let Some((name, figures)) = line.split_once(": ")
                && READS.contains(&name)
            {
                counters.add(figures)?;
            }
        }
        Some(counters)
    }

    fn add(&mut self, figures: &str) -> Option<()> {
        let mut figures = figures.split_whitespace().map(|figure| figure.parse::<u64>().ok());
        let mut next = || figures.next().flatten();
        let [calls, sent, timeouts, _, received, _, _, ms] = [(); 8].map(|()| next());
        self.reads += calls?;
        self.transmissions += sent?;
        self.timeouts += timeouts?;
        self.received_bytes += received?;
        // The time from queued to done, not the round trip: waiting for a slot of the connection is the client's part
        // of a slow mount.
        self.ns += ms?.checked_mul(NS_PER_MS)?;
        Some(())
    }

    /// `None` where a counter went backwards: it was mounted anew.
    pub(super) fn since(&self, before: &Self) -> Option<NfsMount> {
        Some(NfsMount {
            reads: self.reads.checked_sub(before.reads)?,
            read_transmissions: self.transmissions.checked_sub(before.transmissions)?,
            read_timeouts: self.timeouts.checked_sub(before.timeouts)?,
            read_received_bytes: self.received_bytes.checked_sub(before.received_bytes)?,
            read_ns: self.ns.checked_sub(before.ns)?,
            // A number and no counter: `nconnect` is fixed while it is mounted.
            connections: self.connections,
        })
    }
}

/// The kernel writes blanks and backslashes of a path as three octal digits: `\040`.
fn unescaped(point: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(point.len());
    let mut rest = point;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        let code = escaped.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(code.unwrap_or(b'\\'));
        rest = if code.is_some() { &escaped[3..] } else { escaped };
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTSTATS: &str = include_str!("../../tests/fixtures/mountstats");

    fn parse(point: &str) -> Option<NfsCounters> {
        NfsCounters::parse(MOUNTSTATS, Path::new(point))
    }

    #[test]
    fn a_mount_of_version_3_is_read() {
        let expected = NfsCounters {
            reads: 152_340,
            transmissions: 152_351,
            timeouts: 4,
            received_bytes: 159_838_474_240,
            ns: 1_203_450 * NS_PER_MS,
            connections: 1,
        };
        assert_eq!(parse("/mnt/filer"), Some(expected));
    }

    #[test]
    fn a_mount_of_version_4_1_counts_a_connection_for_each_transport() {
        let counters = parse("/mnt/four one").unwrap();
        assert_eq!((counters.connections, counters.reads, counters.timeouts), (8, 88_000, 0));
        assert_eq!(counters.received_bytes, 92_400_000_000 + 500, "READ and READ_PLUS");
    }

    #[test]
    fn other_mounts_are_none_and_the_figures_are_what_was_added() {
        assert_eq!(parse("/"), None, "not of NFS");
        assert_eq!(parse("/mnt/filer/below"), None);
        let before = parse("/mnt/filer").unwrap();
        let after = NfsCounters { reads: before.reads + 7, ns: before.ns + 3, ..before };
        let mount = after.since(&before).unwrap();
        assert_eq!((mount.reads, mount.read_ns, mount.read_transmissions, mount.connections), (7, 3, 0, 1));
        assert_eq!(before.since(&after), None);
    }

    #[test]
    fn octal_escapes_are_the_bytes_of_a_path() {
        assert_eq!(unescaped("/a\\040b\\134c"), b"/a b\\c");
        assert_eq!(unescaped("/a\\9"), b"/a\\9");
    }
}
