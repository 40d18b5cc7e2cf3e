//! A server's process.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::Unavailable;
use crate::namespace::Namespace;

/// Between two questions whether something is there.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// Lines of a program's output that an error quotes.
const SAID_LINES_MAX: usize = 20;
/// How long a server may take until it answers, and a tool until it ends.
const READY_LIMIT_S: i64 = 60;

/// A program in a namespace, ended with this value.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    output: PathBuf,
    child: Mutex<Child>,
}

impl Process {
    /// Starts it; what it prints goes to a file in `folder`.
    pub(crate) fn start(
        namespace: &Namespace,
        folder: &Path,
        mut command: Command,
    ) -> Result<Self, Unavailable> {
        let name = name(&command);
        let output = folder.join(format!("{name}.out"));
        redirect(&mut command, &output)
            .map_err(|error| Unavailable::system(format!("write {}", output.display()), error))?;
        // A group of its own: signals then reach whatever the program has started.
        command.process_group(0);
        let child = namespace.spawn(command).map_err(|error| failed_to_start(&name, error))?;
        Ok(Self { name, output, child: Mutex::new(child) })
    }

    /// Waits until `answers` does.
    pub(crate) fn await_ready(&self, mut answers: impl FnMut() -> bool) -> Result<(), Unavailable> {
        let ready = poll(READY_LIMIT_S, || {
            if answers() {
                return Some(None);
            }
            let status = self.status()?;
            Some(Some(status.map_or_else(|error| error.to_string(), |status| status.to_string())))
        });
        match ready {
            Some(None) => Ok(()),
            Some(Some(how)) => Err(self.failed(how)),
            None => Err(self.failed(format!("no answer within {READY_LIMIT_S} s"))),
        }
    }

    /// How it ended, if it did.
    fn status(&self) -> Option<io::Result<ExitStatus>> {
        self.child().try_wait().transpose()
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failed(&self, how: String) -> Unavailable {
        Unavailable::Failed { program: self.name.clone(), how, said: last_lines(&self.output) }
    }

    /// What went wrong with who needs this program: its end, if it has ended.
    pub(crate) fn or_its_end(&self, why: Unavailable) -> Unavailable {
        match self.status() {
            Some(Ok(status)) => self.failed(status.to_string()),
            _ => why,
        }
    }

    /// Its number, which is that of its group as well.
    pub(crate) fn id(&self) -> u32 {
        self.child().id()
    }

    /// Sends its group a signal, unless it has ended.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.status().is_none()
            && let Some(group) = Pid::from_raw(self.id().cast_signed())
        {
            // It may end at this very moment, which is all the same.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Stops it (SIGSTOP) and waits until each of its threads has stopped, which the signal alone does not.
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
        poll(READY_LIMIT_S, || (self.status().is_some() || stopped(self.id())).then_some(()));
    }

    /// Ends it by SIGKILL and waits for its end.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
        let _ = self.child().wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A server whose process can be ended and started anew.
#[derive(Debug)]
pub(crate) struct Restartable(Mutex<Process>);

impl Restartable {
    pub(crate) fn new(process: Process) -> Self {
        Self(Mutex::new(process))
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn id(&self) -> u32 {
        self.process().id()
    }

    pub(crate) fn kill(&self) {
        self.process().kill();
    }

    /// Ends what still runs by SIGKILL, and starts another.
    pub(crate) fn restart(
        &self,
        start: impl FnOnce() -> Result<Process, Unavailable>,
    ) -> Result<(), Unavailable> {
        let mut process = self.process();
        process.kill();
        *process = start()?;
        Ok(())
    }

    pub(crate) fn pause(&self) {
        self.process().pause();
    }

    pub(crate) fn resume(&self) {
        self.process().signal(Signal::CONT);
    }
}

/// Runs a program in a namespace to its end.
pub(crate) fn run(namespace: &Namespace, folder: &Path, command: Command) -> Result<String, Unavailable> {
    let process = Process::start(namespace, folder, command)?;
    let status = poll(READY_LIMIT_S, || process.status());
    match status {
        Some(Ok(status)) if status.success() => Ok(fs::read_to_string(&process.output).unwrap_or_default()),
        Some(Ok(status)) => Err(process.failed(status.to_string())),
        Some(Err(error)) => Err(process.failed(error.to_string())),
        None => Err(process.failed(format!("still running after {READY_LIMIT_S} s"))),
    }
}

/// Whether all threads of a process are in state `T` (proc_pid_stat(5)).
fn stopped(process: u32) -> bool {
    // A signal stops a process thread by thread; one that still runs would answer the test.
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut stats = threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
    stats.all(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
}

fn redirect(command: &mut Command, output: &Path) -> io::Result<()> {
    let file = File::create(output)?;
    // To a file and not a pipe: nobody reads while the server runs, and a full pipe would stop it.
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    Ok(())
}

fn failed_to_start(name: &str, error: io::Error) -> Unavailable {
    Unavailable::system(format!("run {name}"), error)
}

fn name(command: &Command) -> String {
    Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn last_lines(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let first = lines.len().saturating_sub(SAID_LINES_MAX);
    lines[first..].iter().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}

/// Asks until the answer is there or `limit_s` have passed.
pub(crate) fn poll<T>(limit_s: i64, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let until_s = now_s() + limit_s;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if now_s() >= until_s {
            return None;
        }
        // Cut short by a signal it only asks earlier.
        let _ = rustix::thread::nanosleep(&PAUSE);
    }
}

fn now_s() -> i64 {
    clock_gettime(ClockId::Monotonic).tv_sec
}
