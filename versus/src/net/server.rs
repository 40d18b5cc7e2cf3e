//! The servers, each in processes of its own that end with this one.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use rustix::time::Timespec;

/// Runs a server until standard input ends, also when this process is killed. The port mapper changes its user, for
/// which the kernel forgets that it was to end with its parent.
const GUARD: &str = r#""$@" & server=$!; cat; kill -9 $server; wait $server"#;
/// Where the NFS program listens.
const NFS_PORT: u16 = 2049;
/// Where the port mapper does.
const PORT_MAPPER: u16 = 111;
/// How often it is tried whether a server answers, and the pause between.
const TRIES: u32 = 1500;
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// The bucket of the null server, and what its keys begin with.
pub(super) const BUCKET: &str = "bench";
/// See [`BUCKET`].
pub(super) const PREFIX: &str = "x/";
/// Objects of the null server.
pub(super) const OBJECTS: u64 = 16;
/// Size of each.
pub(super) const OBJECT_BYTES: u64 = 64 << 20;
/// The export of the NFS server.
pub(super) const EXPORT: &str = "/export";

/// A server, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    processes: Vec<Child>,
    /// host:port of the null server; the loopback address of the NFS server, whose port mapper knows its ports.
    pub(super) address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            drop(process.stdin.take());
            let _ = process.wait();
        }
    }
}

impl Server {
    /// Starts NFS-Ganesha over `exported`, in a network namespace that this process enters for the rest of its life:
    /// the host's port mapper and ports are left alone. Needs root.
    pub(crate) fn nfs(exported: &Path, scratch: &Path) -> Result<Self> {
        enter_namespace()?;
        fs::create_dir_all(exported).with_context(|| format!("cannot create {}", exported.display()))?;
        let exported = exported.canonicalize()?;
        let configuration = scratch.join("ganesha.conf");
        fs::write(&configuration, ganesha(&exported))
            .with_context(|| format!("cannot write {}", configuration.display()))?;
        let mut server = Self { processes: Vec::new(), address: "127.0.0.1".to_owned() };
        server.guard(&["rpcbind", "-f"], PORT_MAPPER, scratch)?;
        let in_scratch = |name: &str| scratch.join(name).display().to_string();
        let (log, configuration, pid) =
            (in_scratch("ganesha.log"), in_scratch("ganesha.conf"), in_scratch("ganesha.pid"));
        let call = ["ganesha.nfsd", "-F", "-L", &log, "-f", &configuration, "-p", &pid];
        server.guard(&call, NFS_PORT, scratch)?;
        Ok(server)
    }

    /// Starts the null server.
    pub(crate) fn null_s3() -> Result<Self> {
        let this = std::env::current_exe().context("cannot tell where this program lies")?;
        let mut process = Command::new(this)
            .args(["null-s3", "--bucket", BUCKET, "--prefix", PREFIX])
            .args(["--objects", &OBJECTS.to_string(), "--object-bytes", &OBJECT_BYTES.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .context("cannot start the null server")?;
        let out = process.stdout.take().context("the null server has no output")?;
        let mut server = Self { processes: vec![process], address: String::new() };
        BufReader::new(out).read_line(&mut server.address).context("the null server told no address")?;
        server.address.truncate(server.address.trim_end().len());
        ensure!(!server.address.is_empty(), "the null server ended at once");
        Ok(server)
    }

    fn guard(&mut self, call: &[&str], port: u16, scratch: &Path) -> Result<()> {
        let program = call[0];
        let out = scratch.join(format!("{program}.out"));
        let file = fs::File::create(&out).with_context(|| format!("cannot create {}", out.display()))?;
        // A group of its own: Ctrl-C is for this process, which still has cleaning up to do.
        let process = Command::new("/bin/sh")
            .args(["-c", GUARD, "sh"])
            .args(call)
            .stdin(Stdio::piped())
            .stdout(file.try_clone()?)
            .stderr(file)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        self.processes.push(process);
        for _ in 0..TRIES {
            if TcpStream::connect((self.address.as_str(), port)).is_ok() {
                return Ok(());
            }
            let _ = rustix::thread::nanosleep(&PAUSE);
        }
        let said = fs::read_to_string(&out).unwrap_or_default();
        bail!("{program} does not answer\n{said}  hint: apt-get install nfs-ganesha nfs-ganesha-vfs rpcbind")
    }
}

fn ganesha(exported: &Path) -> String {
    let exported = exported.display();
    format!(
        "NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = {NFS_PORT}; MNT_Port = 20048; Enable_NLM = false; \
         Enable_RQUOTA = false; Enable_UDP = false; Mount_Path_Pseudo = true; }}\n\
         NFSV4 {{ Graceless = true; }}\n\
         EXPORT {{ Export_Id = 1; Path = {exported}; Pseudo = {EXPORT}; Protocols = 3; Transports = TCP; \
         Access_Type = RW; Squash = no_root_squash; SecType = sys; FSAL {{ Name = VFS; }} }}\n\
         LOG {{ Default_Log_Level = EVENT; }}\n"
    )
}

/// Whether this process has entered its namespace.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Enters namespaces of network and mounts with a loopback interface, unless that has been done. This process has one
/// thread, so that all that it starts from then on is in them.
fn enter_namespace() -> Result<()> {
    if ENTERED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    // SAFETY: descriptors stay shared; only FILES would part them.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET | UnshareFlags::NEWNS) }
        .context("cannot make a network namespace\n  hint: cases of NFS need root")?;
    let script = "mount --make-rprivate / && mount -t tmpfs tmpfs /run && mkdir -p /run/rpcbind /run/ganesha && \
                  { [ ! -d /var/lib/nfs ] || mount -t tmpfs tmpfs /var/lib/nfs; } && ip link set lo up";
    let status = Command::new("/bin/sh").args(["-c", script]).status().context("cannot run /bin/sh")?;
    ensure!(status.success(), "cannot set up a network namespace: {status}");
    Ok(())
}
