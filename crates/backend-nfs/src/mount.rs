//! From a host and a path to a file handle: port mapper, MOUNT, and what goes wrong on the way.

use std::net::SocketAddr;

use backend::StoreError;
use nfs3_types::mount::{MOUNT_PROGRAM, dirpath};
use nfs3_types::portmap::{IPPROTO_TCP, PMAP_PORT, PMAP_PROG, mapping};
use nfs3_types::rpc::opaque_auth;
use nfs3_types::xdr_codec::{Opaque, Void};
use plan::NfsConfig;
use tokio::runtime::Runtime;

use crate::Patience;
use crate::connect::resolve;
use crate::control::{Line, MOUNT, NFS, PORT_MAPPER, Program};
use crate::failure::Failure;
use crate::xdr::{Handle, Reader};

/// `AUTH_SYS` and `AUTH_NONE` among the flavors of an export (RFC 5531 section 14).
const FLAVORS: [u32; 2] = [1, 0];

/// Number of exports that an error names, at most.
const NAMED_MAX: usize = 12;

/// Exports, and flavors of one, that are read from a reply, at most.
// A list of XDR has no length in front: a server could make it go on as long as its record.
const LIST_MAX: usize = 4096;

/// `MNTPATHLEN` (RFC 1813 section 5.1.2).
const PATH_BYTES_MAX: usize = 1024;

/// An export that was found, and where it is.
#[derive(Debug)]
pub(crate) struct Mounted {
    /// Addresses of the NFS program, in the resolver's order but for the one in use, which comes first.
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) mount_port: u16,
    /// What the server exports of the path.
    pub(crate) export: String,
    /// Folders below it.
    pub(crate) below: Vec<String>,
    pub(crate) root: Handle,
}

/// Finds the export that a path lies in.
pub(crate) struct Mounter<'a> {
    pub(crate) config: &'a NfsConfig,
    pub(crate) credential: &'a opaque_auth<'static>,
    pub(crate) patience: Patience,
    pub(crate) runtime: &'a Runtime,
}

impl Mounter<'_> {
    fn what(&self) -> String {
        format!("`nfs://{}{}`", self.config.host, self.config.path)
    }

    fn failed(&self, at: &str, failure: &Failure) -> StoreError {
        failure.unavailable(format!("{} ({at})", self.what()))
    }

    /// Each of the host's addresses is tried until one can be connected to.
    pub(crate) fn mount(&self) -> Result<Mounted, StoreError> {
        let unresolved = |error| StoreError::Unavailable {
            what: self.what(),
            reason: format!("the host `{}` has no address: {error}", self.config.host),
            hint: "check the name of the server, and this machine's DNS".to_owned(),
        };
        let mut hosts = resolve(&self.config.host, 0).map_err(unresolved)?;
        let mut failed = None;
        for number in 0..hosts.len() {
            match self.mount_at(hosts[number]) {
                Err(Attempt { error, goes_on: true }) => failed = failed.or(Some(error)),
                Err(Attempt { error, .. }) => return Err(error),
                Ok((mut mounted, nfs_port)) => {
                    // The engine dials the first address where the scenario asks for one alone: it must be
                    // the one that was seen to work.
                    put_first(&mut hosts, number);
                    mounted.addresses = hosts.iter().map(|host| at_port(*host, nfs_port)).collect();
                    return Ok(mounted);
                }
            }
        }
        Err(failed.unwrap_or_else(|| unresolved(std::io::Error::other("none was found"))))
    }

    fn mount_at(&self, host: SocketAddr) -> Result<(Mounted, u16), Attempt> {
        let mount_port = self.port_of(host, MOUNT, self.config.mount_port)?;
        let nfs_port = self.port_of(host, NFS, self.config.nfs_port)?;
        let mut line = self.open(at_port(host, mount_port), MOUNT)?;
        let (export, below, root) = self.find_export(&mut line)?;
        let mounted = Mounted { addresses: Vec::new(), mount_port, export, below, root };
        Ok((mounted, nfs_port))
    }

    fn open(&self, to: SocketAddr, program: Program) -> Result<Line, Attempt> {
        let line = self.runtime.block_on(Line::open(to, self.credential.clone(), self.patience));
        line.map(|(line, _)| line).map_err(|failure| {
            let mut error = self.failed(&format!("{} at {to}", program.name), &failure);
            if let (StoreError::Unavailable { hint, .. }, true) =
                (&mut error, program.number == PORT_MAPPER.number)
            {
                // NFSv4 needs none, so many servers run without it.
                hint.push_str("; without a port mapper, name both ports: ?nfsport=2049&mountport=N");
            }
            Attempt { error, goes_on: true }
        })
    }

    fn port_of(&self, host: SocketAddr, program: Program, known: Option<u16>) -> Result<u16, Attempt> {
        if let Some(port) = known {
            return Ok(port);
        }
        let to = at_port(host, PMAP_PORT);
        let mut line = self.open(to, PORT_MAPPER)?;
        let args = mapping { prog: program.number, vers: program.version, prot: IPPROTO_TCP, port: 0 };
        let asked = line.call(PORT_MAPPER, PMAP_PROG::PMAPPROC_GETPORT as u32, &args);
        let port = self
            .runtime
            .block_on(asked)
            .map_err(Failure::from)
            .and_then(|results| Reader::new(&results).word().map_err(Failure::from));
        let failed = |failure: &Failure| Attempt::last(self.failed(&format!("port mapper at {to}"), failure));
        match port.map(u16::try_from) {
            // RFC 1833 section 3.2: port 0 says that the program is not registered.
            Ok(Ok(0)) if program.number == NFS.number => {
                Err(failed(&Failure::Absent("NFS version 3 over TCP")))
            }
            Ok(Ok(0)) => Err(failed(&Failure::Absent("MOUNT version 3 over TCP"))),
            Ok(Ok(port)) => Ok(port),
            Ok(Err(_)) => Err(failed(&Failure::Protocol("a port beyond 65535".to_owned()))),
            Err(failure) => Err(failed(&failure)),
        }
    }

    /// The longest part of the path that the server exports.
    fn find_export(&self, line: &mut Line) -> Result<(String, Vec<String>, Handle), Attempt> {
        let parts: Vec<&str> = self.config.path.split('/').filter(|part| !part.is_empty()).collect();
        let mut first_refusal = None;
        // From the longest path up: an export inside another has options of its own, and is the one that a
        // mount would take.
        for length in (0..=parts.len()).rev() {
            let export = format!("/{}", parts[..length].join("/"));
            let answer = self.runtime.block_on(async {
                let args = dirpath(Opaque::borrowed(export.as_bytes()));
                let results = line.call(MOUNT, MOUNT_PROGRAM::MOUNTPROC3_MNT as u32, &args).await?;
                mounted(&results)
            });
            match answer {
                Ok(Ok(root)) => {
                    let below = parts[length..].iter().map(|part| (*part).to_owned()).collect();
                    return Ok((export, below, root));
                }
                Ok(Err(refusal)) => {
                    let goes_up = refusal.goes_up();
                    first_refusal.get_or_insert(refusal);
                    if !goes_up {
                        break;
                    }
                }
                Err(failure) => return Err(Attempt::last(self.failed("MOUNT", &failure))),
            }
        }
        let refusal = first_refusal.unwrap_or(MountRefusal(MNT_NOENT));
        Err(Attempt::last(self.refused(refusal, line)))
    }

    fn refused(&self, refusal: MountRefusal, line: &mut Line) -> StoreError {
        let exports = self.runtime.block_on(async {
            let results = line.call(MOUNT, MOUNT_PROGRAM::MOUNTPROC3_EXPORT as u32, &Void).await?;
            exports(&results)
        });
        let offered = match exports {
            Ok(exports) if exports.is_empty() => "the server exports nothing".to_owned(),
            Ok(exports) => {
                let more = if exports.len() > NAMED_MAX { ", ..." } else { "" };
                format!("the server exports {}{more}", exports[..exports.len().min(NAMED_MAX)].join(", "))
            }
            Err(_) => "the server does not say what it exports".to_owned(),
        };
        StoreError::Unavailable {
            what: self.what(),
            reason: format!("the server refuses to mount it ({refusal})"),
            hint: format!("{offered}; {}", refusal.hint()),
        }
    }
}

/// A failed attempt at one address, and whether another address is worth trying.
struct Attempt {
    error: StoreError,
    goes_on: bool,
}

impl Attempt {
    fn last(error: StoreError) -> Self {
        Self { error, goes_on: false }
    }
}

/// Moves the host of a number to the front; the others stay in their order.
fn put_first(hosts: &mut [SocketAddr], number: usize) {
    hosts[..=number].rotate_right(1);
}

fn at_port(mut address: SocketAddr, port: u16) -> SocketAddr {
    address.set_port(port);
    address
}

const MNT_PERM: u32 = 1;
const MNT_NOENT: u32 = 2;
const MNT_ACCES: u32 = 13;
const MNT_NOTDIR: u32 = 20;
/// Not a status of the protocol: the export asks for other credentials.
const NO_FLAVOR: u32 = u32::MAX;

/// `mountstat3` (RFC 1813 section 5.1.5), other than OK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MountRefusal(u32);

impl MountRefusal {
    /// Whether a folder above may be exported.
    fn goes_up(self) -> bool {
        // Servers differ in how they refuse what is not exported: Ganesha answers MNT3ERR_ACCES, nfs3_server
        // MNT3ERR_NOENT.
        matches!(self.0, MNT_NOENT | MNT_ACCES | MNT_NOTDIR | MNT_PERM)
    }

    fn hint(self) -> &'static str {
        match self.0 {
            MNT_ACCES | MNT_PERM => {
                "export the folder to this host, with `insecure` where this user may not use ports below 1024"
            }
            NO_FLAVOR => "export the folder with sec=sys",
            _ => "name one of these, or a folder below one",
        }
    }
}

impl std::fmt::Display for MountRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            MNT_PERM => f.write_str("MNT3ERR_PERM"),
            MNT_NOENT => f.write_str("MNT3ERR_NOENT"),
            5 => f.write_str("MNT3ERR_IO"),
            MNT_ACCES => f.write_str("MNT3ERR_ACCES"),
            MNT_NOTDIR => f.write_str("MNT3ERR_NOTDIR"),
            22 => f.write_str("MNT3ERR_INVAL"),
            63 => f.write_str("MNT3ERR_NAMETOOLONG"),
            10_004 => f.write_str("MNT3ERR_NOTSUPP"),
            10_006 => f.write_str("MNT3ERR_SERVERFAULT"),
            NO_FLAVOR => f.write_str("it asks for other credentials than AUTH_SYS"),
            other => write!(f, "unknown MOUNT status {other}"),
        }
    }
}

/// `mountres3`.
fn mounted(results: &[u8]) -> Result<Result<Handle, MountRefusal>, Failure> {
    let mut reader = Reader::new(results);
    match reader.word()? {
        0 => {}
        other => return Ok(Err(MountRefusal(other))),
    }
    let root = reader.handle()?;
    let flavors = reader.word()? as usize;
    // A server may name no flavor at all; then AUTH_SYS is tried.
    let mut fits = flavors == 0;
    for _ in 0..flavors.min(LIST_MAX) {
        fits |= FLAVORS.contains(&reader.word()?);
    }
    Ok(if fits { Ok(root) } else { Err(MountRefusal(NO_FLAVOR)) })
}

/// `exports`: the folders, without the groups that they are exported to.
fn exports(results: &[u8]) -> Result<Vec<String>, Failure> {
    let mut reader = Reader::new(results);
    let mut folders = Vec::new();
    while reader.flag()? && folders.len() < LIST_MAX {
        let folder = reader.opaque(PATH_BYTES_MAX)?;
        // The name goes to a terminal: control characters of a server must not reach it.
        folders.push(String::from_utf8_lossy(folder).chars().filter(|c| !c.is_control()).collect());
        while reader.flag()? {
            reader.opaque(PATH_BYTES_MAX)?;
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn an_export_with_auth_sys_is_mounted_and_one_without_is_not() {
        let root = Handle::new(&[0, 0, 0, 9]).unwrap();
        assert_eq!(mounted(&words(&[0, 4, 9, 2, 390_003, 1])).unwrap(), Ok(root));
        assert_eq!(mounted(&words(&[0, 4, 9, 0])).unwrap(), Ok(root));
        assert_eq!(mounted(&words(&[0, 4, 9, 1, 390_003])).unwrap(), Err(MountRefusal(NO_FLAVOR)));
        assert_eq!(mounted(&words(&[13])).unwrap(), Err(MountRefusal(MNT_ACCES)));
        assert_eq!(mounted(&words(&[4711])).unwrap().unwrap_err().to_string(), "unknown MOUNT status 4711");
        assert!(mounted(&words(&[0, 4, 9, u32::MAX])).is_err(), "flavors that are not there");
    }

    #[test]
    fn the_address_in_use_comes_first_and_the_others_in_their_order() {
        let hosts: Vec<SocketAddr> =
            ["192.0.2.1:0", "[2001:db8::2]:0", "192.0.2.3:0"].map(|host| host.parse().unwrap()).into();
        for (number, order) in [[0, 1, 2], [1, 0, 2], [2, 0, 1]].into_iter().enumerate() {
            let mut moved = hosts.clone();
            put_first(&mut moved, number);
            assert_eq!(moved, order.map(|from| hosts[from]));
        }
        assert_eq!(at_port(hosts[1], 2049).to_string(), "[2001:db8::2]:2049");
    }

    #[test]
    fn exports_are_listed_without_their_groups() {
        let mut bytes = words(&[1, 2]);
        bytes.extend(b"/a\0\0");
        bytes.extend(words(&[1, 1]));
        bytes.extend(b"*\0\0\0");
        bytes.extend(words(&[0, 1, 4]));
        bytes.extend(b"/b\x1bc");
        bytes.extend(words(&[0, 0]));
        assert_eq!(exports(&bytes).unwrap(), ["/a", "/bc"]);
    }

    proptest! {
        #[test]
        fn arbitrary_replies_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = mounted(&bytes);
            let _ = exports(&bytes);
        }
    }
}
