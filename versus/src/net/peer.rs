//! The others: how they are built and called, and what they print.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

use super::server::{BUCKET, EXPORT, OBJECT_BYTES, OBJECTS, PREFIX, Server};
use super::{NetCase, Peer, Service};
use crate::args::RunArgs;
use crate::process::{self, Call, Report};

/// Our driver of libnfs, which needs the library's headers.
const LIBNFS: &str = include_str!("../../peers/libnfs.c");
/// The package of the other peers, with its lock file.
const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");
const HINT_CC: &str = "apt-get install gcc libnfs-dev";
const HINT_CARGO: &str = "install Rust, or --peers PATH";

/// A peer's program.
#[derive(Debug)]
pub(super) struct Program {
    peer: Peer,
    path: PathBuf,
    /// What it is made of.
    pub(super) version: String,
}

impl Program {
    /// Builds the program below the folder of the data, or takes what is given.
    pub(super) fn build(peer: Peer, args: &RunArgs, scratch: &Path) -> Result<Self> {
        let path = match (peer, &args.peers) {
            (Peer::Libnfs, _) => compile_libnfs(args.libnfs.as_deref(), &args.dir, scratch)?,
            (_, Some(path)) => path.clone(),
            (_, None) => compile_package(&args.dir, scratch)?,
        };
        Ok(Self { peer, path, version: version(peer, args.libnfs.as_deref(), scratch) })
    }

    /// The call of a case; for NFS the file is named as below the export.
    pub(super) fn call(&self, case: &NetCase, server: &Server, file: &str, window_s: f64) -> Call {
        let (depth, block) = (case.queue_depth.to_string(), case.block_bytes.to_string());
        let seconds = window_s.to_string();
        let args = match (self.peer, case.service) {
            (Peer::Libnfs, Service::Nfs { peer_connections, .. }) => {
                vec![
                    server.address.clone(),
                    EXPORT.to_owned(),
                    file.to_owned(),
                    peer_connections.to_string(),
                    depth,
                    block,
                    seconds,
                ]
            }
            _ => s3_args(self.peer, server, [&depth, &block, &seconds]),
        };
        Call { program: self.path.clone(), args, env: Vec::new(), hint: HINT_CARGO }
    }
}

fn s3_args(peer: Peer, server: &Server, [depth, block, seconds]: [&str; 3]) -> Vec<String> {
    let who = match peer {
        Peer::ObjectStore => "object-store",
        Peer::Sdk => "sdk",
        Peer::Raw | Peer::Libnfs => "raw",
    };
    let (objects, bytes) = (OBJECTS.to_string(), OBJECT_BYTES.to_string());
    let options = [
        ("--address", server.address.as_str()),
        ("--bucket", BUCKET),
        ("--prefix", PREFIX),
        ("--objects", &objects),
        ("--object-bytes", &bytes),
        ("--block-bytes", block),
        ("--depth", depth),
        ("--seconds", seconds),
    ];
    let options = options.into_iter().flat_map(|(name, value)| [name.to_owned(), value.to_owned()]);
    [who.to_owned()].into_iter().chain(options).collect()
}

/// Compiles the driver against the library that is installed below a prefix, or the system's.
fn compile_libnfs(prefix: Option<&Path>, dir: &Path, scratch: &Path) -> Result<PathBuf> {
    let (source, program) = (scratch.join("libnfs.c"), dir.join("peers").join("libnfs"));
    fs::create_dir_all(dir.join("peers")).with_context(|| format!("cannot create {}", dir.display()))?;
    fs::write(&source, LIBNFS).with_context(|| format!("cannot write {}", source.display()))?;
    let text = |path: &Path| path.display().to_string();
    let mut args = ["-O2", "-o", &text(&program), &text(&source)].map(str::to_owned).to_vec();
    if let Some(prefix) = prefix.map(text) {
        args.extend([
            format!("-I{prefix}/include"),
            format!("-L{prefix}/lib"),
            format!("-Wl,-rpath,{prefix}/lib"),
        ]);
    }
    args.push("-lnfs".to_owned());
    let call = Call { program: "cc".into(), args, env: Vec::new(), hint: HINT_CC };
    process::run(&call, scratch)
        .with_context(|| format!("cannot build the driver of libnfs; hint: {HINT_CC}"))?;
    Ok(program)
}

fn compile_package(dir: &Path, scratch: &Path) -> Result<PathBuf> {
    let target = dir.join("peers");
    let args = [
        "build",
        "--release",
        "--locked",
        "--quiet",
        "--manifest-path",
        &format!("{PACKAGE}/Cargo.toml"),
        "--target-dir",
        &target.display().to_string(),
    ];
    let args = args.map(str::to_owned).to_vec();
    let call = Call { program: "cargo".into(), args, env: Vec::new(), hint: HINT_CARGO };
    process::run(&call, scratch).context("cannot build the peers")?;
    Ok(target.join("release/peers"))
}

/// What the peer is made of, where that can be told.
fn version(peer: Peer, libnfs: Option<&Path>, scratch: &Path) -> String {
    let found = match (peer, libnfs) {
        (Peer::Libnfs, Some(prefix)) => built_version(prefix).map(|version| format!("libnfs {version}")),
        (Peer::Libnfs, None) => package_version(scratch).map(|version| format!("libnfs {version} (Debian)")),
        (Peer::ObjectStore, _) => locked("object_store"),
        (Peer::Sdk, _) => locked("aws-sdk-s3"),
        (Peer::Raw, _) => Some("of this repository".to_owned()),
    };
    found.unwrap_or_else(|| "unknown".to_owned())
}

/// The version of an installed library, as it tells the compilers of others.
fn built_version(prefix: &Path) -> Option<String> {
    let described = fs::read_to_string(prefix.join("lib/pkgconfig/libnfs.pc")).ok()?;
    described.lines().find_map(|line| line.strip_prefix("Version:")).map(|version| version.trim().to_owned())
}

fn package_version(scratch: &Path) -> Option<String> {
    let args = ["-W", "-f", "${Version}", "libnfs-dev"].map(str::to_owned).to_vec();
    let call = Call { program: "dpkg-query".into(), args, env: Vec::new(), hint: "" };
    process::run(&call, scratch).ok().map(|ended| ended.out)
}

fn locked(package: &str) -> Option<String> {
    let lock = fs::read_to_string(format!("{PACKAGE}/Cargo.lock")).ok()?;
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    let (version, _) = rest.split_once('"')?;
    Some(format!("{package} {version}"))
}

/// The line that every peer prints.
#[derive(Debug, Deserialize)]
struct Line {
    ops: u64,
    bytes: u64,
    window_s: f64,
    errors: u64,
}

/// Reads what a peer printed.
pub(super) fn parse(out: &str) -> Result<Report> {
    let line: Line = serde_json::from_str(out.trim()).context("a peer printed no line of JSON")?;
    if line.errors > 0 {
        bail!("{} reads of the peer's failed", line.errors);
    }
    ensure!(line.ops > 0, "the peer made no read");
    Ok(Report { ops: line.ops, bytes: line.bytes, window_s: line.window_s, ..Report::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_peer_is_read() {
        let report = parse("{\"ops\":7,\"bytes\":28672,\"window_s\":0.5,\"errors\":0}\n").unwrap();
        assert_eq!((report.ops, report.bytes), (7, 28_672));
        assert!((report.window_s - 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        assert!(parse("").is_err());
        let failed = parse("{\"ops\":7,\"bytes\":1,\"window_s\":0.5,\"errors\":2}").unwrap_err().to_string();
        assert!(failed.contains("2 reads"), "{failed}");
        assert!(parse("{\"ops\":0,\"bytes\":0,\"window_s\":0.5,\"errors\":0}").is_err());
    }

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let version = locked("object_store").unwrap();
        assert!(version.starts_with("object_store 0.14."), "{version}");
        assert_eq!(locked("no-such-package"), None);
    }
}
