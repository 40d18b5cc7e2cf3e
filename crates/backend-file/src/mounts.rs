//! Which mount a path is on, from `/proc/self/mountinfo`.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

/// A line of `mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    id: u64,
    /// Where it is mounted.
    pub(crate) point: PathBuf,
    /// `ext4`, `nfs4`, `fuse.sshfs`, …
    pub(crate) kind: String,
    /// The device or server.
    pub(crate) source: String,
    /// Options of the mount, then those of the file system, as the kernel writes them.
    pub(crate) options: String,
}

impl Mount {
    /// The mount that holds `path`, which exists.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let mounts = parse(&fs::read_to_string("/proc/self/mountinfo").ok()?);
        // By number, since mounts may lie on top of each other at one point.
        let id = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID)
            .ok()
            .filter(|found| found.stx_mask & StatxFlags::MNT_ID.bits() != 0)
            .map(|found| found.stx_mnt_id);
        let by_id = id.and_then(|id| mounts.iter().find(|mount| mount.id == id));
        by_id.cloned().or_else(|| by_path(mounts, path))
    }
}

/// Options of an NFS mount that decide what a reader gets (nfs(5)), and the names of the facts that they become.
const NFS_OPTIONS: [(&str, &str); 5] = [
    ("vers", "nfs_version"),
    ("proto", "nfs_proto"),
    ("nconnect", "nfs_nconnect"),
    ("rsize", "nfs_rsize_bytes"),
    ("wsize", "nfs_wsize_bytes"),
];

impl Mount {
    /// Whether the kernel's NFS client serves it.
    pub(crate) fn is_nfs(&self) -> bool {
        matches!(self.kind.as_str(), "nfs" | "nfs4")
    }

    /// Server, version, protocol, connections and sizes of an NFS mount; nothing of others. `nconnect` is left out by
    /// the kernel where it is 1.
    pub(crate) fn nfs_facts(&self) -> Vec<(&'static str, String)> {
        if !self.is_nfs() {
            return Vec::new();
        }
        let option = |name: &str| {
            let mut options = self.options.split([' ', ',']);
            options.find_map(|option| Some(option.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
        };
        // The path follows the last `:/`; an IPv6 address has colons of its own.
        let server = self.source.rsplit_once(":/").map(|(server, _)| ("nfs_server", server.to_owned()));
        let known = NFS_OPTIONS.iter().filter_map(|(name, fact)| Some((*fact, option(name)?)));
        let one = option("nconnect").is_none().then(|| ("nfs_nconnect", "1".to_owned()));
        server.into_iter().chain(known).chain(one).collect()
    }
}

/// For kernels before 5.8, which do not say the mount of a path: the deepest mount above it, and of several
/// on one point the last.
fn by_path(mounts: Vec<Mount>, path: &Path) -> Option<Mount> {
    let path = path.canonicalize().ok()?;
    mounts
        .into_iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
}

fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue` (proc_pid_mountinfo(5)).
fn parse_line(line: &str) -> Option<Mount> {
    // The optional fields in front of the hyphen vary in number.
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let id = left.next()?.parse().ok()?;
    let point = unescape(left.nth(3)?);
    let own_options = left.next()?;
    let mut right = right.split(' ');
    let (kind, source, options) = (right.next()?, right.next()?, right.next().unwrap_or(""));
    Some(Mount {
        id,
        point: std::ffi::OsString::from_vec(point).into(),
        kind: kind.to_owned(),
        source: String::from_utf8_lossy(&unescape(source)).into_owned(),
        options: format!("{own_options} {options}").trim_end().to_owned(),
    })
}

/// The kernel writes space, tab, newline and backslash as three octal digits.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let octal = (*first == b'\\').then(|| tail.get(..3)).flatten();
        let value = octal.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 21 0:26 / /mnt/my\\040data rw,nosuid - nfs4 filer:/export rw,vers=4.1,nconnect=8
31 30 0:27 / /mnt/my\\040data/sub rw master:3 shared:4 - fuse.sshfs user@host:/ rw
garbage
";

    #[test]
    fn lines_are_read_with_their_optional_fields_and_escapes() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 3);
        assert_eq!(mounts[1].point, Path::new("/mnt/my data"));
        assert_eq!((mounts[1].kind.as_str(), mounts[1].source.as_str()), ("nfs4", "filer:/export"));
        assert_eq!(mounts[1].options, "rw,nosuid rw,vers=4.1,nconnect=8");
        assert_eq!(mounts[2].kind, "fuse.sshfs");
    }

    #[test]
    fn an_nfs_mount_says_its_server_version_and_connections() {
        let facts = parse(TEXT)[1].nfs_facts();
        let expected = [("nfs_server", "filer"), ("nfs_version", "4.1"), ("nfs_nconnect", "8")];
        assert_eq!(facts, expected.map(|(name, value)| (name, value.to_owned())));
        let line = "40 21 0:30 / /mnt/v3 rw - nfs [2001:db8::1]:/export/a rw,vers=3,rsize=1048576,wsize=65536,proto=tcp6";
        let expected = [
            ("nfs_server", "[2001:db8::1]"),
            ("nfs_version", "3"),
            ("nfs_proto", "tcp6"),
            ("nfs_rsize_bytes", "1048576"),
            ("nfs_wsize_bytes", "65536"),
            ("nfs_nconnect", "1"),
        ];
        let facts = parse_line(line).unwrap().nfs_facts();
        assert_eq!(facts, expected.map(|(name, value)| (name, value.to_owned())));
        assert!(parse(TEXT)[0].nfs_facts().is_empty() && !parse(TEXT)[2].is_nfs());
    }

    #[test]
    fn without_an_id_the_deepest_mount_above_the_path_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let at = |point: PathBuf, id| Mount { id, point, ..parse(TEXT)[0].clone() };
        let here = dir.path().canonicalize().unwrap();
        let mounts = vec![at("/".into(), 1), at(here.clone(), 2), at(here.join("other"), 3)];
        assert_eq!(by_path(mounts, dir.path()).unwrap().id, 2);
    }

    #[test]
    fn the_mount_of_a_real_path_is_found() {
        assert_eq!(Mount::of(Path::new("/proc")).unwrap().kind, "proc");
    }
}
