//! Names that only one program knows.

use std::fs;
use std::io::Write as _;
use std::net::IpAddr;
use std::process::{Command, Stdio};

use tempfile::NamedTempFile;

use crate::Unavailable;
use crate::namespace::require;

/// Where names are looked up first.
const HOSTS: &str = "/etc/hosts";
/// Lays a file over the one that the machine has, in a mount namespace of its own.
const ENTER: &str = "mount --bind \"$0\" /etc/hosts && exec \"$@\"";

/// Names and their addresses, beside those that the machine has; the machine's own file stays as it is.
#[derive(Debug)]
pub struct Hosts {
    file: NamedTempFile,
}

impl Hosts {
    /// Names with their addresses; a name may have several.
    ///
    /// # Errors
    ///
    /// What is missing here: root, `unshare`, `mount`, or the right to make a mount namespace.
    pub fn new<N: AsRef<str>>(names: &[(N, IpAddr)]) -> Result<Self, Unavailable> {
        if !rustix::process::geteuid().is_root() {
            return Err(Unavailable::NotRoot);
        }
        require("unshare", "util-linux")?;
        require("mount", "mount")?;
        let failed = |error| Unavailable::system("write a file of names", error);
        let mut file = NamedTempFile::new().map_err(failed)?;
        // Last, so that a name of the machine's stays what it is.
        let mut text = fs::read_to_string(HOSTS).unwrap_or_default();
        for (name, address) in names {
            text = format!("{text}\n{address} {}", name.as_ref());
        }
        file.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
        let hosts = Self { file };
        let mut probe = hosts.around(&Command::new("true"));
        let probe = probe.stdin(Stdio::null()).output();
        let probe = probe.map_err(|error| Unavailable::system("run unshare", error))?;
        if probe.status.success() {
            return Ok(hosts);
        }
        Err(Unavailable::Failed {
            program: "unshare".to_owned(),
            how: probe.status.to_string(),
            said: String::from_utf8_lossy(&probe.stderr).trim_end().to_owned(),
        })
    }

    /// The same program with the same arguments, folder and changes of the environment, which knows these names. What
    /// it inherits is to be set anew.
    pub fn around(&self, command: &Command) -> Command {
        let mut around = Command::new("unshare");
        // A bind mount in a namespace: /etc/hosts of the machine is never written, and other programs see
        // nothing.
        around.args(["--mount", "sh", "-c", ENTER]).arg(self.file.path());
        around.arg(command.get_program()).args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            around.current_dir(folder);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => around.env(name, value),
                None => around.env_remove(name),
            };
        }
        around
    }
}
