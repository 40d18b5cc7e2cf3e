//! The servers that a run starts for its targets, each in a process of its own: what they cost is not the client's.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};
use emulator::{BucketKeys, Protocol, Settings, control};
use plan::{Addresses, BackendConfig, BucketStyle, Keys, NfsConfig, S3Config, Secret};
use serde::{Deserialize, Serialize};

/// Both ends of the control channel.
struct Channel {
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Channel {
    fn ask(&mut self, line: &str) -> anyhow::Result<String> {
        writeln!(self.commands, "{line}")?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            bail!("the emulated server has ended; what it said is above");
        }
        Ok(answer)
    }
}

/// How another process of this machine reaches a server. Holds its keys, which end with it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reached {
    port: u16,
    keys: Option<(String, String)>,
}

/// A server, and how to reach it. It ends when this is dropped, unless another process started it.
pub(crate) struct Emulated {
    /// Absent where another process started it.
    child: Option<Child>,
    /// Closed before the child is waited for.
    channel: Option<Mutex<Channel>>,
    config: BackendConfig,
    reached: Reached,
}

impl Emulated {
    /// Starts the server that a target declares.
    ///
    /// # Errors
    /// For a target that declares none or is on no network, and a server that does not start.
    pub(crate) fn start(target: &plan::Target) -> anyhow::Result<Self> {
        let named = || format!("cannot start the emulated server of target `{}`", target.name);
        let settings = settings(target).with_context(named)?;
        // A process of its own: in this one its threads would take the processor time that is called the
        // client's.
        let program = std::env::current_exe().with_context(named)?;
        let mut child = Command::new(program)
            .args(["emulate", &settings.protocol.to_string(), "--control"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is this process's to obey: what is under way is finished and kept.
            .process_group(0)
            .spawn()
            .with_context(named)?;
        let (Some(commands), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("{}: it has no control channel", named());
        };
        let mut channel = Channel { commands, answers: BufReader::new(answers) };
        let started = channel
            .ask(&control::settings_line(&settings))
            .and_then(|answer| Ok(control::read_started(&answer)?));
        let keys = match &settings.keys {
            BucketKeys::Signed { id, secret } => Some((id.clone(), secret.reveal().to_owned())),
            BucketKeys::Unsigned => None,
        };
        // Made before the answer is looked at, so that the child is waited for in any case.
        let mut emulated = Self {
            child: Some(child),
            channel: Some(Mutex::new(channel)),
            config: target.config.clone(),
            reached: Reached { port: 0, keys },
        };
        emulated.reached.port = started.with_context(named)?.port;
        emulated.config = reached(&target.config, &emulated.reached);
        Ok(emulated)
    }

    /// A server that another process of this machine started for a target.
    ///
    /// # Errors
    /// Where that process started none.
    pub(crate) fn of_leader(target: &plan::Target, by: Option<&Reached>) -> anyhow::Result<Self> {
        let Some(by) = by else { bail!("no server was started for target `{}`", target.name) };
        let config = reached(&target.config, by);
        Ok(Self { child: None, channel: None, config, reached: by.clone() })
    }

    /// How another process of this machine reaches it.
    pub(crate) fn how_reached(&self) -> Reached {
        self.reached.clone()
    }

    /// Whether this process started it.
    pub(crate) fn is_own(&self) -> bool {
        self.child.is_some()
    }

    /// How the server is reached.
    pub(crate) fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn ask(&self, line: &str) -> anyhow::Result<String> {
        let Some(channel) = &self.channel else { bail!("the emulated server was ended") };
        channel.lock().unwrap_or_else(PoisonError::into_inner).ask(line)
    }
}

impl engine::Server for Emulated {
    fn begin(&self) {
        // A server that is gone fails the requests of the repetition, which say so.
        let _ = self.ask(control::BEGIN);
    }

    fn end(&self) -> record::Emulated {
        let answer = self.ask(control::END);
        answer.and_then(|answer| Ok(control::read_emulated(&answer)?)).unwrap_or_default()
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        // The end of its input is how the server is asked to end; the kill is for one that does not listen.
        self.channel = None;
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn settings(target: &plan::Target) -> anyhow::Result<Settings> {
    let Some(emulation) = target.emulate.clone() else { bail!("it declares none") };
    let protocol = match &target.config {
        BackendConfig::S3(_) => Protocol::S3,
        BackendConfig::Nfs(_) => Protocol::Nfs,
        _ => bail!("`{}` is not reached over a network", target.at),
    };
    let mut settings = Settings { emulation, ..Settings::new(protocol) };
    match &target.config {
        BackendConfig::S3(S3Config { bucket, prefix, .. }) => {
            settings.bucket.clone_from(bucket);
            // Signed although it is on loopback: signing is part of what a client does, and part of its
            // cost.
            settings.keys = BucketKeys::Signed { id: random_text()?, secret: Secret::new(random_text()?) };
            // What distinguishes keys begins behind the target's own prefix.
            settings.prefix_folders =
                prefix.split('/').filter(|folder| !folder.is_empty()).count() as u32 + 1;
        }
        BackendConfig::Nfs(NfsConfig { path, .. }) => {
            let export = path.split('/').find(|folder| !folder.is_empty());
            settings.export = format!("/{}", export.context("an export has a name: nfs://demo/export")?);
        }
        _ => {}
    }
    Ok(settings)
}

/// The target's own configuration, turned to the server.
fn reached(config: &BackendConfig, by: &Reached) -> BackendConfig {
    let port = by.port;
    match config {
        BackendConfig::S3(asked) => BackendConfig::S3(S3Config {
            // The region that S3's own tools sign for where none is configured.
            region: Some("us-east-1".to_owned()),
            endpoint: Some(format!("http://127.0.0.1:{port}")),
            style: BucketStyle::Path,
            ca: None,
            keys: match &by.keys {
                Some((id, secret)) => Keys::Own { id: id.clone(), secret: Secret::new(secret.clone()) },
                None => Keys::Anonymous,
            },
            addresses: Addresses::First,
            ..asked.clone()
        }),
        BackendConfig::Nfs(asked) => BackendConfig::Nfs(NfsConfig {
            host: "127.0.0.1".to_owned(),
            nfs_port: Some(port),
            mount_port: Some(port),
            addresses: Addresses::First,
            ..asked.clone()
        }),
        other => other.clone(),
    }
}

/// 32 hexadecimal digits that nobody can guess.
pub(crate) fn random_text() -> anyhow::Result<String> {
    use std::fmt::Write as _;
    use std::io::Read as _;

    let mut bytes = [0_u8; 16];
    // Sixteen bytes of the kernel, in place of a dependency.
    let source = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    source.context("cannot make up a key: /dev/urandom cannot be read")?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
