//! `feedline emulate`: a server to try things out on, for feedline and for other tools.

use std::env;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use emulator::{BucketKeys, Protocol, Server, Settings, control};
use plan::{Emulation, Secret};
use rustix::process::{Signal, set_parent_process_death_signal};
use scenario::Source;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::emulated::random_text;
use crate::exit::{Exit, Failure};
use crate::{host, output};

/// Where the keys of an S3 server come from, if not made up.
// From the environment and not from flags: a command line is seen by every user of the machine.
const ACCESS_KEY: &str = "FEEDLINE_EMULATE_ACCESS_KEY";
const SECRET_KEY: &str = "FEEDLINE_EMULATE_SECRET";

#[derive(Debug, Args)]
pub(crate) struct EmulateArgs {
    /// What to speak
    #[arg(value_enum)]
    pub(crate) protocol: EmulatedProtocol,
    /// What to be like: s3-like, nfs-1gbe-like, hdd-like; as fast as it goes when absent
    #[arg(long)]
    pub(crate) profile: Option<String>,
    /// Port on 127.0.0.1; a free one by default
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// S3: the bucket that is there from the start
    #[arg(long, default_value = "bench")]
    pub(crate) bucket: String,
    /// NFS: the one export
    #[arg(long, default_value = "/export")]
    pub(crate) export: String,
    /// S3: folders at the beginning of a key that share one rate of requests
    #[arg(long, default_value_t = 1)]
    pub(crate) prefix_folders: u32,
    /// A key of `emulate` in a scenario, e.g. --set 'first_byte="20ms"'
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Take settings and commands from standard input, as `run` gives them
    #[arg(long, hide = true)]
    pub(crate) control: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmulatedProtocol {
    /// S3 over plain HTTP
    S3,
    /// NFS version 3
    Nfs,
}

pub(crate) fn emulate(args: &EmulateArgs) -> Result<Exit, Failure> {
    if args.control {
        // The run that started this may be killed: then nobody closes the channel in an orderly way.
        set_parent_process_death_signal(Some(Signal::TERM))?;
        control::serve(&mut std::io::stdin().lock(), &mut std::io::stdout().lock())?;
        return Ok(Exit::Ok);
    }
    let (settings, made_up) = settings(args)?;
    // Before the server starts, so that a signal in between is not lost.
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let server = Server::start(&settings).map_err(|error| Failure::usage(format!("error: {error}")))?;
    output::print(&greeting(&settings, server.port(), made_up))?;
    signals.forever().next();
    let span = server.end();
    output::print(&format!("served {} requests, refused {}\n", span.requests, span.throttled))?;
    Ok(Exit::Ok)
}

/// The settings, and whether the keys among them were made up here.
fn settings(args: &EmulateArgs) -> Result<(Settings, bool), Failure> {
    let protocol = match args.protocol {
        EmulatedProtocol::S3 => Protocol::S3,
        EmulatedProtocol::Nfs => Protocol::Nfs,
    };
    let given = env::var(ACCESS_KEY).ok().zip(env::var(SECRET_KEY).ok());
    let made_up = given.is_none();
    let (id, secret) = match given {
        Some(keys) => keys,
        None => (random_text()?, random_text()?),
    };
    let settings = Settings {
        port: args.port,
        bucket: args.bucket.clone(),
        export: args.export.clone(),
        prefix_folders: args.prefix_folders,
        keys: BucketKeys::Signed { id, secret: Secret::new(secret) },
        emulation: emulation(args)?,
        ..Settings::new(protocol)
    };
    Ok((settings, made_up))
}

/// What `--profile` and `--set` ask for, read as `emulate` of a scenario is.
fn emulation(args: &EmulateArgs) -> Result<Emulation, Failure> {
    let profile = args.profile.as_ref().map_or(String::new(), |name| format!("profile = {name:?}"));
    let text = format!(
        "version = 1\nneed = {{ rate = \"1 GB/s\" }}\ntargets.server = {{ at = \"s3://bench\", emulate = {{ {profile} }} }}\n"
    );
    // By way of a scenario: the same keys, defaults and refusals, without a second parser.
    let set: Vec<String> = args.set.iter().map(|set| format!("targets.server.emulate.{set}")).collect();
    let source = Source { name: "emulate".to_owned(), text };
    let scenario = scenario::parse(&source, &set);
    let plan = scenario::resolve(&scenario, &host::facts(&[])).map_err(Failure::usage)?;
    let target = plan.targets.into_iter().next().context("a scenario of one target has one")?;
    Ok(target.emulate.unwrap_or_default())
}

/// What to paste where. Keys are shown only where nobody else knows them: those from the environment stay there.
fn greeting(settings: &Settings, port: u16, made_up: bool) -> String {
    let asked: Vec<String> = settings
        .emulation
        .words()
        .into_iter()
        .filter(|(name, _)| *name != "seed")
        .map(|(name, value)| format!("  {name}: {value}\n"))
        .collect();
    let asked = if asked.is_empty() { "  as fast as it goes\n".to_owned() } else { asked.concat() };
    let target = match settings.protocol {
        Protocol::S3 => format!(
            "targets.demo = {{ at = \"s3://{}/run\", endpoint = \"http://127.0.0.1:{port}\", region = \"us-east-1\" }}\n",
            settings.bucket
        ),
        Protocol::Nfs => {
            format!("targets.demo = {{ at = \"nfs://127.0.0.1:{port}{}/run\" }}\n", settings.export)
        }
    };
    let keys = match (&settings.keys, settings.protocol, made_up) {
        (BucketKeys::Signed { id, secret }, Protocol::S3, true) => {
            format!("export AWS_ACCESS_KEY_ID={id} AWS_SECRET_ACCESS_KEY={}\n", secret.reveal())
        }
        (_, Protocol::S3, _) => format!("keys: as in {ACCESS_KEY} and {SECRET_KEY}\n"),
        _ => String::new(),
    };
    let protocol = settings.protocol;
    format!(
        "{protocol} on 127.0.0.1:{port}, until Ctrl-C; what it holds is gone then\n{asked}\n{keys}{target}"
    )
}
