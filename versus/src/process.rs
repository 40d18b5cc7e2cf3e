//! A tool as a child process, and what it cost by `wait4`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::family::{self, Seen};
use crate::interrupt;

/// How much of a tool's complaint is passed on.
const COMPLAINT_LINES_MAX: usize = 20;

/// A signal ended the work.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted: no record is written for the case that was running")
    }
}

impl std::error::Error for Interrupted {}

/// What to run.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The program, by path or by name.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Variables added to the environment.
    pub(crate) env: Vec<(&'static str, &'static str)>,
    /// What to do when the program is not there.
    pub(crate) hint: &'static str,
}

impl Call {
    /// The command line as a record shows it. A program stands by its name alone, as does every argument that says where something
    /// lies from the root on: that is of no use to others.
    pub(crate) fn line(&self) -> Vec<String> {
        let named = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let env = self.env.iter().map(|(name, value)| format!("{name}={value}"));
        let args = self.args.iter().map(|arg| {
            let path = Path::new(arg);
            if path.is_absolute() { named(path) } else { arg.clone() }
        });
        env.chain([named(&self.program)]).chain(args).collect()
    }
}

/// What a tool used from its start to its end, children included that it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the unit stands last in a name")]
pub(crate) struct Usage {
    /// Processor time in its own code.
    pub(crate) user_s: f64,
    /// Processor time in the kernel on its behalf.
    pub(crate) system_s: f64,
    /// Time on the wall.
    pub(crate) wall_s: f64,
}

/// What a tool says that it did.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Report {
    /// Operations of the process, from its start to its end.
    pub(crate) ops: u64,
    /// Bytes of its windows.
    pub(crate) bytes: u64,
    /// Their length.
    pub(crate) window_s: f64,
    /// What it was granted, by name, where it says so.
    pub(crate) granted: BTreeMap<String, String>,
}

/// A tool that ended well.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its standard output.
    pub(crate) out: String,
    /// What it used.
    pub(crate) usage: Usage,
    /// What was seen of it while it ran; absent when nobody looked, or it had ended by then.
    pub(crate) seen: Option<Seen>,
}

/// Runs a tool to its end. Its output passes through files in `scratch`, since a full pipe would make it wait.
pub(crate) fn run(call: &Call, scratch: &Path) -> Result<Ended> {
    run_and_look(call, scratch, None)
}

/// The same; after `look_after_ms` it is looked at.
pub(crate) fn run_and_look(call: &Call, scratch: &Path, look_after_ms: Option<i32>) -> Result<Ended> {
    let outputs = [scratch.join("stdout"), scratch.join("stderr")];
    let begun_s = now_s();
    let child = start(call, &outputs)?;
    let pid = Pid::from_child(&child);
    interrupt::watch(pid);
    let seen = look_after_ms.and_then(|ms| look(pid, ms));
    let ended = await_end(pid);
    // Before reaping: from then on the number may belong to another process.
    interrupt::forget();
    ended.with_context(|| format!("cannot wait for {}", call.program.display()))?;
    let (status, user_s, system_s) = reap(pid)?;
    let usage = Usage { user_s, system_s, wall_s: now_s() - begun_s };
    if interrupt::stopped() {
        return Err(Interrupted.into());
    }
    let [out, err] = outputs.map(|path| fs::read(path).unwrap_or_default());
    let out = String::from_utf8_lossy(&out).into_owned();
    if !status.success() {
        let name = call.line().join(" ");
        bail!("{name}\n  ended with {status}:\n{}", complaint(&String::from_utf8_lossy(&err), &out));
    }
    Ok(Ended { out, usage, seen })
}

fn start(call: &Call, outputs: &[PathBuf; 2]) -> Result<Child> {
    let [out, err] = outputs;
    let create =
        |path: &Path| File::create(path).with_context(|| format!("cannot create {}", path.display()));
    let started = Command::new(&call.program)
        .args(&call.args)
        .envs(call.env.iter().copied())
        .stdin(Stdio::null())
        .stdout(create(out)?)
        .stderr(create(err)?)
        .spawn();
    started.map_err(|error| {
        let missing = error.kind() == ErrorKind::NotFound;
        let hint = if missing { format!("\n  hint: {}", call.hint) } else { String::new() };
        anyhow::anyhow!("cannot run {}: {error}{hint}", call.program.display())
    })
}

/// Looks at a process and its children, once it has run for a while.
fn look(pid: Pid, after_ms: i32) -> Option<Seen> {
    let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let mut wanted =
        libc::pollfd { fd: std::os::fd::AsRawFd::as_raw_fd(&process), events: libc::POLLIN, revents: 0 };
    // SAFETY: the pointer is to one pollfd that lives across the call, and its descriptor is open.
    let ready = unsafe { libc::poll(&raw mut wanted, 1, after_ms) };
    (ready == 0).then(|| family::seen(pid.as_raw_nonzero().get()))
}

/// Waits for the end of a process and leaves it to be reaped.
fn await_end(pid: Pid) -> io::Result<()> {
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            ended => return Ok(ended.map(drop)?),
        }
    }
}

/// Reaps a process that has ended: how it ended, and its user and system time in seconds.
fn reap(pid: Pid) -> Result<(ExitStatus, f64, f64)> {
    let mut status = 0;
    // SAFETY: a rusage is plain numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to locals that live across the call.
    let reaped = unsafe { libc::wait4(pid.as_raw_nonzero().get(), &raw mut status, 0, &raw mut usage) };
    if reaped < 0 {
        return Err(io::Error::last_os_error()).context("cannot read what a tool used");
    }
    let status = std::os::unix::process::ExitStatusExt::from_raw(status);
    Ok((status, seconds(usage.ru_utime), seconds(usage.ru_stime)))
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

fn now_s() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The last lines of what a tool said: of its standard error, or of its output where it said nothing there.
fn complaint(err: &str, out: &str) -> String {
    let said = if err.trim().is_empty() { out } else { err };
    let lines: Vec<&str> = said.trim_end().lines().collect();
    let first = lines.len().saturating_sub(COMPLAINT_LINES_MAX);
    lines[first..].iter().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Call {
        Call {
            program: "/bin/sh".into(),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: vec![("SAID", "hello")],
            hint: "install a shell",
        }
    }

    #[test]
    fn output_and_environment_pass() {
        let scratch = tempfile::tempdir().unwrap();
        let ended = run(&shell("echo $SAID"), scratch.path()).unwrap();
        assert_eq!(ended.out, "hello\n");
        assert!(ended.usage.user_s >= 0.0 && ended.usage.wall_s > 0.0);
        let mut named = shell("x");
        named.args.push("/somewhere/else/feedline".to_owned());
        assert_eq!(named.line(), ["SAID=hello", "sh", "-c", "x", "feedline"]);
    }

    /// fio forks its jobs, so a grandchild's time must count. Whose time it is is tested, not how much.
    #[test]
    fn children_of_the_child_count() {
        let scratch = tempfile::tempdir().unwrap();
        let cpu_s = |script: &str| {
            let usage = run(&shell(script), scratch.path()).unwrap().usage;
            usage.user_s + usage.system_s
        };
        let busy = cpu_s("( i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done ) & wait");
        let idle = cpu_s(":");
        assert!(busy > idle, "{busy} {idle}");
    }

    #[test]
    fn failure_brings_the_complaint() {
        let scratch = tempfile::tempdir().unwrap();
        let error = run(&shell("echo out; echo no such engine >&2; exit 3"), scratch.path()).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("no such engine") && error.contains("exit status: 3"), "{error}");
        let error = run(&shell("echo only here; exit 1"), scratch.path()).unwrap_err().to_string();
        assert!(error.contains("only here"), "{error}");
    }

    #[test]
    fn a_missing_program_says_how_to_get_it() {
        let scratch = tempfile::tempdir().unwrap();
        let call = Call { program: "/nonexistent/fio".into(), ..shell("") };
        let error = run(&call, scratch.path()).unwrap_err().to_string();
        assert!(
            error.contains("cannot run /nonexistent/fio") && error.contains("install a shell"),
            "{error}"
        );
    }

    #[test]
    fn a_long_complaint_is_cut_to_its_end() {
        let long: Vec<String> = (0..100).map(|line| format!("line {line}")).collect();
        let told = complaint(&long.join("\n"), "");
        assert_eq!(told.lines().count(), COMPLAINT_LINES_MAX);
        assert!(told.ends_with("line 99"));
    }
}
