//! NFS-Ganesha: NFSv3 from a folder of this machine.

mod rpc;

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::Unavailable;
use crate::namespace::{Namespace, require};
use crate::process::{Process, Restartable};

/// Port of the NFS program, as everywhere.
const NFS_PORT: u16 = 2049;
/// Port of the MOUNT program, as Linux's own server has it.
const MOUNT_PORT: u16 = 20048;
/// Port of the port mapper.
const PORT_MAPPER: u16 = 111;
/// The exported folder, as clients name it.
const EXPORT: &str = "/export";

/// How a server is set up.
#[derive(Debug, Clone, Default)]
pub struct GaneshaOptions {
    /// The most bytes that one READ returns (`rtmax`); none leaves 64 MiB.
    pub max_read_bytes: Option<u32>,
    /// Whether requests of root's are those of nobody.
    pub root_squash: bool,
}

/// A running server, which ends with this value.
///
/// Its files belong to whoever the client says, so that root may write them from either side.
#[derive(Debug)]
pub struct Ganesha {
    // Fields are dropped in this order: the server before what it needs.
    server: Restartable,
    port_mapper: Process,
    namespace: Namespace,
    folder: TempDir,
    exported: PathBuf,
}

impl Ganesha {
    /// Starts a server and waits until it answers.
    ///
    /// # Errors
    ///
    /// What is missing here: root, the packages `nfs-ganesha-vfs` and `rpcbind`, `ip`, a file system with file handles.
    pub fn start(options: &GaneshaOptions) -> Result<Self, Unavailable> {
        require("ganesha.nfsd", "nfs-ganesha nfs-ganesha-vfs")?;
        require("rpcbind", "rpcbind")?;
        let folder = tempfile::Builder::new().prefix("servers-nfs-").tempdir();
        let folder = folder.map_err(|error| Unavailable::system("make a temporary folder", error))?;
        let exported = folder.path().join("export");
        write_files(folder.path(), &exported, options)
            .map_err(|error| Unavailable::system(format!("write {}", folder.path().display()), error))?;
        let namespace = Namespace::new()?;
        // First: Ganesha ends if it cannot register with a port mapper.
        let port_mapper = start_port_mapper(&namespace, folder.path())?;
        let server = start_server(&namespace, folder.path())?;
        Ok(Self { server: Restartable::new(server), port_mapper, namespace, folder, exported })
    }

    /// The server's address.
    pub fn address(&self) -> IpAddr {
        self.namespace.address().into()
    }

    /// Where the NFS program listens.
    pub fn nfs_port(&self) -> u16 {
        NFS_PORT
    }

    /// Where the MOUNT program listens. The port mapper (port 111) knows both.
    pub fn mount_port(&self) -> u16 {
        MOUNT_PORT
    }

    /// The export's name for clients.
    pub fn export(&self) -> &'static str {
        EXPORT
    }

    /// The exported folder on this machine.
    pub fn path(&self) -> &Path {
        &self.exported
    }

    /// A URL of the export that leaves the ports to the port mapper.
    pub fn url(&self) -> String {
        format!("nfs://{}{EXPORT}", self.address())
    }

    /// A URL of the export that names the ports.
    pub fn direct_url(&self) -> String {
        format!("{}?nfsport={NFS_PORT}&mountport={MOUNT_PORT}", self.url())
    }

    /// What the server wrote to its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("ganesha.log")).unwrap_or_default()
    }

    /// Ends the server by SIGKILL. The port mapper goes on.
    pub fn kill(&self) {
        self.server.kill();
    }

    /// Starts the server again, after ending it by SIGKILL where it still runs. File handles stay valid.
    ///
    /// # Errors
    ///
    /// The server ends again or does not answer.
    pub fn restart(&self) -> Result<(), Unavailable> {
        self.server.restart(|| start_server(&self.namespace, self.folder.path()))
    }

    /// Stops the server in its tracks (SIGSTOP): the kernel still takes connections and bytes for it.
    pub fn pause(&self) {
        self.server.pause();
    }

    /// Lets it go on (SIGCONT).
    pub fn resume(&self) {
        self.server.resume();
    }

    /// The numbers of its processes.
    pub fn processes(&self) -> Vec<u32> {
        vec![self.server.id(), self.port_mapper.id()]
    }

    /// The host's end of the pair of interfaces, for instance to slow it down.
    pub fn interface(&self) -> String {
        self.namespace.interface()
    }
}

fn start_port_mapper(namespace: &Namespace, folder: &Path) -> Result<Process, Unavailable> {
    let mut command = Command::new("rpcbind");
    // In the foreground. Never with `-h`: rpcbind 1.2.6 aborts at that (double free); the namespace keeps it
    // from the host instead.
    command.arg("-f");
    let process = Process::start(namespace, folder, command)?;
    let at = SocketAddr::from((namespace.address(), PORT_MAPPER));
    process.await_ready(|| rpc::answers(at, rpc::PORT_MAPPER))?;
    Ok(process)
}

fn start_server(namespace: &Namespace, folder: &Path) -> Result<Process, Unavailable> {
    let mut command = Command::new("ganesha.nfsd");
    command.args(["-F", "-L"]).arg(folder.join("ganesha.log"));
    command.arg("-f").arg(folder.join("ganesha.conf"));
    command.arg("-p").arg(folder.join("ganesha.pid"));
    let process = Process::start(namespace, folder, command)?;
    let at = |port| SocketAddr::from((namespace.address(), port));
    process
        .await_ready(|| rpc::answers(at(NFS_PORT), rpc::NFS) && rpc::answers(at(MOUNT_PORT), rpc::MOUNT))?;
    // It registers some time after it answers.
    let mapper = at(PORT_MAPPER);
    process.await_ready(|| {
        [rpc::NFS, rpc::MOUNT].into_iter().all(|program| rpc::is_registered(mapper, program))
    })?;
    Ok(process)
}

fn write_files(folder: &Path, exported: &Path, options: &GaneshaOptions) -> std::io::Result<()> {
    fs::create_dir(exported)?;
    // Nobody, to whom root's requests may be squashed, must be able to come this far.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder, open)?;
    fs::write(folder.join("ganesha.conf"), configuration(exported, options))
}

fn configuration(exported: &Path, options: &GaneshaOptions) -> String {
    let squash = if options.root_squash { "root_squash" } else { "no_root_squash" };
    // Without a limit Ganesha answers up to 64 MiB, and no read of a test is short.
    let most = options
        .max_read_bytes
        .map_or_else(String::new, |bytes| format!("MaxRead = {bytes}; PrefRead = {bytes};"));
    let exported = exported.display();
    format!(
        // NLM would need statd. Without a grace period a server that was started again answers at once.
        // Clients name the pseudo path, so the folder may lie anywhere.
        "NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = {NFS_PORT}; MNT_Port = {MOUNT_PORT}; Enable_NLM = false; \
         Enable_RQUOTA = false; Enable_UDP = false; Mount_Path_Pseudo = true; }}\n\
         NFSV4 {{ Graceless = true; }}\n\
         EXPORT {{ Export_Id = 1; Path = {exported}; Pseudo = {EXPORT}; Protocols = 3; Transports = TCP; \
         Access_Type = RW; Squash = {squash}; SecType = sys; {most} FSAL {{ Name = VFS; }} }}\n\
         LOG {{ Default_Log_Level = EVENT; }}\n"
    )
}
