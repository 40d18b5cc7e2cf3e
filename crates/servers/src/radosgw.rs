//! Ceph's RADOS gateway: S3 from the memory of one object store daemon.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::authority::Certificate;
use crate::namespace::{Namespace, require};
use crate::process::{Process, Restartable, poll, run};
use crate::{Authority, Unavailable};

/// Port of the gateway, and that of its encrypted connections.
const PORT: u16 = 7480;
const TLS_PORT: u16 = 7443;
/// The gateway's name: what stands before it in a request's `Host` is a bucket.
const NAME: &str = "s3.servers.test";
/// How long the object store may take until the monitor counts it.
const STORE_LIMIT_S: i64 = 45;
/// How long a question over HTTP may take.
const LIMIT: Duration = Duration::from_secs(2);
/// The programs and the packages they come from.
const PROGRAMS: [(&str, &str); 6] = [
    ("radosgw", "radosgw"),
    ("radosgw-admin", "radosgw"),
    ("ceph-mon", "ceph-mon"),
    ("monmaptool", "ceph-mon"),
    ("ceph-osd", "ceph-osd"),
    ("ceph", "ceph-common"),
];

/// An access key. It opens nothing but a server of this crate's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys {
    /// Its name.
    pub id: &'static str,
    /// Its secret.
    pub secret: &'static str,
}

const OWNER: Keys = Keys { id: "AKOWNER", secret: "SKOWNER" };
const READER: Keys = Keys { id: "AKREADER", secret: "SKREADER" };
const STRANGER: Keys = Keys { id: "AKSTRANGER", secret: "SKSTRANGER" };

/// A running gateway with its monitor and its object store (in memory, at most 4 GiB), which end with this value.
///
/// There is no bucket: a test creates its own by its own client.
#[derive(Debug)]
pub struct Radosgw {
    // Fields are dropped in this order: the gateway before what it needs.
    gateway: Restartable,
    store: Process,
    monitor: Process,
    namespace: Namespace,
    folder: TempDir,
    authority: Authority,
}

impl Radosgw {
    /// Starts a gateway and waits until it answers, which takes some fifteen seconds.
    ///
    /// # Errors
    ///
    /// What is missing here: root, `ip`, the packages `radosgw`, `ceph-mon`, `ceph-osd` and `ceph-common`.
    pub fn start() -> Result<Self, Unavailable> {
        for (program, package) in PROGRAMS {
            require(program, package)?;
        }
        // On a busy machine a part may not come up in time; another attempt often finds one that does.
        Self::attempt().or_else(|_| Self::attempt())
    }

    fn attempt() -> Result<Self, Unavailable> {
        let folder = tempfile::Builder::new().prefix("servers-s3-").tempdir();
        let folder = folder.map_err(|error| Unavailable::system("make a temporary folder", error))?;
        let namespace = Namespace::new()?;
        let authority = Authority::new()?;
        // The wildcard is for buckets in the host's name.
        let names = [NAME.to_owned(), format!("*.{NAME}")];
        let certificate = authority.certify(&names, namespace.address().into())?;
        let cluster = write_files(folder.path(), &certificate)
            .map_err(|error| Unavailable::system(format!("write {}", folder.path().display()), error))?;
        let monitor = start_monitor(&namespace, folder.path(), &cluster)?;
        let store = start_store(&namespace, folder.path()).map_err(|why| monitor.or_its_end(why))?;
        // First the users: the tool makes the pools, at which two at once would trip each other.
        make_users(&namespace, folder.path())?;
        let gateway = start_gateway(&namespace, folder.path())?;
        Ok(Self { gateway: Restartable::new(gateway), store, monitor, namespace, folder, authority })
    }

    /// Where the gateway listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((self.namespace.address(), PORT))
    }

    /// The URL of the gateway. It takes any region, and buckets in the path.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Its name, for URLs with a bucket before it. Only [`crate::Hosts`] tells anybody of it.
    pub fn name(&self) -> &'static str {
        NAME
    }

    /// The URL of the gateway's encrypted connections, by its address. The certificate is for its name, too.
    pub fn encrypted_endpoint(&self) -> String {
        format!("https://{}:{TLS_PORT}", self.namespace.address())
    }

    /// The ports of plain and of encrypted connections.
    pub fn ports(&self) -> [u16; 2] {
        [PORT, TLS_PORT]
    }

    /// The file of the certificate (PEM) that clients of encrypted connections must trust.
    pub fn authority(&self) -> PathBuf {
        self.authority.path()
    }

    /// Keys of a user who may create buckets.
    pub fn owner(&self) -> Keys {
        OWNER
    }

    /// Keys by which the owner's buckets can be read and not written.
    pub fn reader(&self) -> Keys {
        READER
    }

    /// Keys of another user, whom the owner's buckets are closed to.
    pub fn stranger(&self) -> Keys {
        STRANGER
    }

    /// Ends the gateway by SIGKILL. What it stored stays.
    pub fn kill(&self) {
        self.gateway.kill();
    }

    /// Starts the gateway again, after ending it by SIGKILL where it still runs.
    ///
    /// # Errors
    ///
    /// The gateway ends again or does not answer.
    pub fn restart(&self) -> Result<(), Unavailable> {
        self.gateway.restart(|| start_gateway(&self.namespace, self.folder.path()))
    }

    /// Stops the gateway in its tracks (SIGSTOP): the kernel still takes connections and bytes for it.
    pub fn pause(&self) {
        self.gateway.pause();
    }

    /// Lets it go on (SIGCONT).
    pub fn resume(&self) {
        self.gateway.resume();
    }

    /// The numbers of its processes.
    pub fn processes(&self) -> Vec<u32> {
        vec![self.gateway.id(), self.store.id(), self.monitor.id()]
    }

    /// The host's end of the pair of interfaces, for instance to slow it down.
    pub fn interface(&self) -> String {
        self.namespace.interface()
    }
}

/// A program of Ceph's.
fn ceph(folder: &Path, program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.env("CEPH_CONF", folder.join("ceph.conf")).args(args);
    command
}

fn start_monitor(namespace: &Namespace, folder: &Path, cluster: &str) -> Result<Process, Unavailable> {
    let map = folder.join("monmap").display().to_string();
    let make = ["--create", "--fsid", cluster, "--addv", "a", "[v1:127.0.0.1:6789]", &map];
    run(namespace, folder, ceph(folder, "monmaptool", &make))?;
    run(namespace, folder, ceph(folder, "ceph-mon", &["-i", "a", "--mkfs", "--monmap", &map]))?;
    Process::start(namespace, folder, ceph(folder, "ceph-mon", &["-f", "-i", "a"]))
}

fn start_store(namespace: &Namespace, folder: &Path) -> Result<Process, Unavailable> {
    // The monitor must know it by the same number as the store itself.
    let number = new_uuid().map_err(|error| Unavailable::system("read a random number", error))?;
    // Waits for the monitor.
    run(namespace, folder, ceph(folder, "ceph", &["osd", "new", &number, "0"]))?;
    run(namespace, folder, ceph(folder, "ceph-osd", &["-i", "0", "--mkfs", "--osd-uuid", &number]))?;
    run(namespace, folder, ceph(folder, "ceph", &["osd", "crush", "add", "0", "1", "root=default"]))?;
    let store = Process::start(namespace, folder, ceph(folder, "ceph-osd", &["-f", "-i", "0"]))?;
    // A gateway that finds no store waits for minutes, and the store itself may give up.
    let mut last = Ok(String::new());
    let up = poll(STORE_LIMIT_S, || {
        last = run(namespace, folder, ceph(folder, "ceph", &["osd", "stat"]));
        last.as_ref().is_ok_and(|said| said.contains(" 1 up")).then_some(())
    });
    match up {
        Some(()) => Ok(store),
        None => Err(last.err().unwrap_or_else(|| store.failed("did not come up".to_owned()))),
    }
}

fn make_users(namespace: &Namespace, folder: &Path) -> Result<(), Unavailable> {
    let admin = |args: &[&str], keys: Keys| {
        let keys = ["--access-key", keys.id, "--secret-key", keys.secret];
        let args = [args, &keys].concat();
        run(namespace, folder, ceph(folder, "radosgw-admin", &args)).map(drop)
    };
    admin(&["user", "create", "--uid", "owner", "--display-name", "owner"], OWNER)?;
    // A subuser has rights of its own on what the owner has.
    let reader = ["subuser", "create", "--uid", "owner", "--subuser", "owner:reader"];
    admin(&[&reader[..], &["--access", "read", "--key-type", "s3"]].concat(), READER)?;
    admin(&["user", "create", "--uid", "stranger", "--display-name", "stranger"], STRANGER)
}

fn start_gateway(namespace: &Namespace, folder: &Path) -> Result<Process, Unavailable> {
    let gateway = Process::start(namespace, folder, ceph(folder, "radosgw", &["-f", "-n", "client.rgw"]))?;
    let at = SocketAddr::from((namespace.address(), PORT));
    gateway.await_ready(|| answers(at).unwrap_or(false))?;
    Ok(gateway)
}

/// Whether an HTTP server answers an unsigned listing of buckets.
fn answers(at: SocketAddr) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&at, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    // A host of another name would be a bucket of that name.
    write!(stream, "GET / HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n")?;
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    Ok(head == *b"HTTP/1.1 200")
}

/// Writes the configuration and returns the number of the cluster.
fn write_files(folder: &Path, certificate: &Certificate) -> std::io::Result<String> {
    for part in ["mon", "osd", "run", "log"] {
        fs::create_dir(folder.join(part))?;
    }
    let cluster = new_uuid()?;
    fs::write(folder.join("ceph.conf"), configuration(folder, &cluster, certificate))?;
    Ok(cluster)
}

/// Without tcp_nodelay the gateway's head and body wait for each other by 40 ms. A store that may put itself into the
/// map of the cluster does so, and gives up, before it knows the cluster's number: it is put there by hand. Without
/// `mon data avail crit` the monitor ends on a disk that is more than 95 % full.
fn configuration(folder: &Path, cluster: &str, certificate: &Certificate) -> String {
    let folder = folder.display();
    let Certificate { certificate, key } = certificate;
    let (certificate, key) = (certificate.display(), key.display());
    format!(
        // One store holds everything, so one copy must be enough. No manager runs: nothing here asks for it.
        "[global]\n\
         fsid = {cluster}\n\
         mon host = v1:127.0.0.1:6789\n\
         public addr = 127.0.0.1\n\
         cluster addr = 127.0.0.1\n\
         auth cluster required = none\n\
         auth service required = none\n\
         auth client required = none\n\
         osd pool default size = 1\n\
         osd pool default min size = 1\n\
         osd pool default pg num = 8\n\
         osd pool default pg autoscale mode = off\n\
         mon allow pool size one = true\n\
         mon data avail crit = 0\n\
         mon data avail warn = 0\n\
         osd crush chooseleaf type = 0\n\
         run dir = {folder}/run\n\
         log file = {folder}/log/$name.log\n\
         admin socket = {folder}/run/$name.asok\n\
         keyring = {folder}/keyring\n\
         mon data = {folder}/mon\n\
         osd data = {folder}/osd\n\
         [osd]\n\
         osd objectstore = memstore\n\
         osd crush update on start = false\n\
         osd class update on start = false\n\
         memstore device bytes = 4294967296\n\
         [client.rgw]\n\
         rgw frontends = beast endpoint=0.0.0.0:{PORT} tcp_nodelay=1 ssl_endpoint=0.0.0.0:{TLS_PORT} \
         ssl_certificate={certificate} ssl_private_key={key}\n\
         rgw dns name = {NAME}\n\
         rgw enable usage log = false\n\
         rgw enable ops log = false\n"
    )
}

fn new_uuid() -> std::io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/uuid")?.trim().to_owned())
}
