//! Azurite, Microsoft's emulator of Azure Storage: blobs in a folder.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::namespace::{Namespace, is_there, require};
use crate::process::{Process, run};
use crate::{Authority, Unavailable};

const PROGRAM: &str = "azurite-blob";
const PORT: u16 = 10_000;
/// How long a question over HTTP may take.
const LIMIT: Duration = Duration::from_secs(5);

/// The account and its key. It opens nothing but a server of this crate's.
const ACCOUNT: &str = "benchaccount";
const KEY: &str = "ZmVlZGxpbmUtdGVzdHMtQVpDQU5BUlktMDEyMzQ1Njc4OS1hYmNkZWZnaGlqa2xtbm9w";

/// Signatures by that key for all of the account until 2099, version 2021-12-02: with every right, and to read and list.
const OWNER: &str = "sv=2021-12-02&ss=b&srt=sco&sp=rwdlac&se=2099-01-01T00%3A00%3A00Z&spr=https%2Chttp\
                     &sig=4UDK2A%2FvCRFw%2BRwxo0IsaJktznXAr5GRSwWKGwnwk1M%3D";
const READER: &str = "sv=2021-12-02&ss=b&srt=sco&sp=rl&se=2099-01-01T00%3A00%3A00Z&spr=https%2Chttp\
                      &sig=E72RIbDUSMknnkCqBLa4X%2F4qEleBeQvsLf5MHfqL%2FZA%3D";

/// A running Azurite and the folder of its blobs, which end with this value.
#[derive(Debug)]
pub struct Azurite {
    // Fields are dropped in this order: the server before what it needs.
    server: Process,
    namespace: Namespace,
    folder: TempDir,
    authority: Option<Authority>,
}

impl Azurite {
    /// Starts one and waits until it answers.
    ///
    /// # Errors
    ///
    /// What is missing here: root, `ip`, or Azurite.
    pub fn start() -> Result<Self, Unavailable> {
        Self::begin(None)
    }

    /// As [`Azurite::start`], over HTTPS alone.
    ///
    /// # Errors
    ///
    /// As [`Azurite::start`].
    pub fn encrypted() -> Result<Self, Unavailable> {
        Self::begin(Some(Authority::new()?))
    }

    fn begin(authority: Option<Authority>) -> Result<Self, Unavailable> {
        if !is_there(PROGRAM) {
            return Err(Unavailable::MissingOfNode { program: PROGRAM, package: "azurite" });
        }
        let folder = tempfile::Builder::new().prefix("servers-azure-").tempdir();
        let folder = folder.map_err(|error| Unavailable::system("make a temporary folder", error))?;
        let namespace = Namespace::new()?;
        let server = serve(&namespace, &folder, authority.as_ref())?;
        Ok(Self { server, namespace, folder, authority })
    }

    /// The URL of the account.
    pub fn endpoint(&self) -> String {
        let scheme = if self.authority.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/{ACCOUNT}", address(&self.namespace))
    }

    /// The account.
    pub fn account(&self) -> &'static str {
        ACCOUNT
    }

    /// Its key.
    pub fn key(&self) -> &'static str {
        KEY
    }

    /// A shared access signature with every right.
    pub fn owner(&self) -> &'static str {
        OWNER
    }

    /// A shared access signature with the rights to read and to list.
    pub fn reader(&self) -> &'static str {
        READER
    }

    /// The file of the certificate (PEM) that clients must trust; `None` where connections are plain.
    pub fn authority(&self) -> Option<PathBuf> {
        self.authority.as_ref().map(Authority::path)
    }

    /// Makes a container, by `curl`.
    ///
    /// # Errors
    ///
    /// There is no `curl`, or the server answers other than that it was made.
    pub fn make_container(&self, name: &str) -> Result<(), Unavailable> {
        require("curl", "curl")?;
        let mut command = Command::new("curl");
        // Whom to trust is for the clients under test to find out; OpenSSL takes the authority's certificates for self-signed,
        // since issuer and owner have one name there.
        command.args(["-sS", "--insecure", "--fail-with-body", "-X", "PUT", "-H", "Content-Length: 0"]);
        command.arg(format!("{}/{name}?restype=container&{OWNER}", self.endpoint()));
        run(&self.namespace, self.folder.path(), command).map(drop)
    }

    /// Ends the server by SIGKILL. It writes what it stores down every few seconds, so that another would not find all of it.
    pub fn kill(&self) {
        self.server.kill();
    }

    /// Stops the server in its tracks (SIGSTOP): the kernel still takes connections and bytes for it.
    pub fn pause(&self) {
        self.server.pause();
    }

    /// Lets it go on (SIGCONT).
    pub fn resume(&self) {
        self.server.signal(Signal::CONT);
    }
}

fn address(namespace: &Namespace) -> SocketAddr {
    SocketAddr::from((namespace.address(), PORT))
}

fn serve(
    namespace: &Namespace,
    folder: &TempDir,
    authority: Option<&Authority>,
) -> Result<Process, Unavailable> {
    let mut command = Command::new(PROGRAM);
    command.env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{KEY}"));
    // Without it every start tells Microsoft.
    command.args(["--silent", "--disableTelemetry", "--blobHost", "0.0.0.0"]);
    command.arg("--blobPort").arg(PORT.to_string()).arg("--location").arg(folder.path().join("blobs"));
    if let Some(authority) = authority {
        let made = authority.certify(&[], namespace.address().into())?;
        command.arg("--cert").arg(made.certificate).arg("--key").arg(made.key);
    }
    let server = Process::start(namespace, folder.path(), command)?;
    let at = address(namespace);
    let path = format!("/{ACCOUNT}?comp=list&{READER}");
    // One that speaks HTTPS alone is asked by its clients; that it takes connections must do here.
    server.await_ready(|| match authority {
        Some(_) => TcpStream::connect_timeout(&at, LIMIT).is_ok(),
        None => answers(at, &path).unwrap_or(false),
    })?;
    Ok(server)
}

/// Whether a listing of containers is answered.
fn answers(at: SocketAddr, path: &str) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&at, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n")?;
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    Ok(head == *b"HTTP/1.1 200")
}
