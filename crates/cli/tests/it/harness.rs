//! A folder of its own for each test, and the binary in it.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// User and group that own nothing.
const NOBODY: u32 = 65_534;

/// Beyond this a binary hangs: it is killed, and its output is shown by the test that fails.
const LIMIT: Duration = Duration::from_mins(10);

/// A folder on the disk of the build (not in memory), removed at the end. Other tests measure beside it, so nothing here may
/// hang on how fast this machine is.
pub(crate) struct Bench {
    dir: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        Self { dir }
    }

    /// A bench with the small scenario in `s.toml`: `{extra}` is appended.
    pub(crate) fn with(extra: &str) -> Self {
        let bench = Self::new();
        bench.write("s.toml", &scenario(extra));
        bench
    }

    /// As [`Self::with`], for tests that look at no verdict: the smallest run that has repetitions to look at.
    pub(crate) fn small(extra: &str) -> Self {
        let bench = Self::new();
        bench.write("s.toml", &by_count(&scenario(extra), SMALL));
        bench
    }

    /// As [`Self::with`], for tests of a verdict that no busy machine can change.
    pub(crate) fn judged(extra: &str) -> Self {
        let bench = Self::new();
        bench.write("s.toml", &by_count(&scenario(extra), JUDGED));
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// The binary with `args`, and with `--full` where there is an answer: most tests look at what it leaves out.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let answers = matches!(args.first(), Some(&("run" | "size" | "merge" | "report")));
        let other = ["--variant", "--format", "--html", "--full", "--help"];
        let mut command = self.bare(args);
        if answers && !args.iter().any(|arg| other.contains(arg)) {
            command.arg("--full");
        }
        command
    }

    /// The binary with `args` as they are.
    pub(crate) fn bare(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_feedline"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", "/home/canary-home")
            .env("USER", "canary-user");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        finish(self.command(args))
    }

    /// As [`Self::command`], with no way to AWS but `variables`.
    pub(crate) fn keyed(&self, args: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = self.command(args);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("AWS_") {
                command.env_remove(name);
            }
        }
        command.env("HOME", self.path("")).env("AWS_EC2_METADATA_DISABLED", "true");
        command.envs(variables.iter().copied());
        command
    }

    /// `run.json` of the only run.
    pub(crate) fn run_json(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.run_folder().join("run.json")).unwrap()).unwrap()
    }

    /// Runs the binary to its end, with `meanwhile` beside it.
    pub(crate) fn run_beside(&self, args: &[&str], meanwhile: impl FnOnce(&mut Child)) -> Ended {
        let mut child = self.spawn(args);
        meanwhile(&mut child);
        wait(child)
    }

    /// Starts the binary with its output kept.
    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        start(self.command(args))
    }

    /// The folder of the only run.
    pub(crate) fn run_folder(&self) -> PathBuf {
        let mut runs: Vec<PathBuf> =
            fs::read_dir(self.path("results")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    /// Lines of the only run's repetitions.
    pub(crate) fn reps(&self) -> Vec<Value> {
        let cells = fs::read_to_string(self.run_folder().join("cells.jsonl")).unwrap();
        let lines = cells.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["line"] == "rep").collect()
    }

    /// Checks that the machine was looked at beside each repetition, to its end.
    #[track_caller]
    pub(crate) fn assert_looked_at(&self) {
        let kept = record::read_intervals(&self.run_folder()).unwrap().reps;
        assert_eq!(kept.len(), self.reps().len());
        for rep in kept {
            // The last look is that of the end, however short a window is.
            let looks = rep.looks.iter().filter(|look| look.system.memory_after.is_some());
            assert!(looks.count() > 0, "{}", rep.cell);
        }
    }

    /// How many repetitions have been recorded so far.
    pub(crate) fn reps_so_far(&self) -> usize {
        self.lines_so_far().matches(REP).count()
    }

    /// What has been recorded so far.
    pub(crate) fn lines_so_far(&self) -> String {
        let Ok(mut runs) = fs::read_dir(self.path("results")) else { return String::new() };
        let cells = runs.next().and_then(Result::ok).map(|run| run.path().join("cells.jsonl"));
        cells.and_then(|cells| fs::read_to_string(cells).ok()).unwrap_or_default()
    }

    /// Files of the generated dataset.
    pub(crate) fn data_files(&self) -> Vec<PathBuf> {
        let mut files = self.all_files();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "bin"));
        files
    }

    /// Everything that lies in the target, also what feedline lists nowhere.
    pub(crate) fn all_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        visit(&self.path("data"), &mut files);
        files.sort();
        files
    }
}

/// Writes the lines of a run again, each repetition as `edit` makes it from its place among them.
pub(crate) fn edit_reps(folder: &Path, edit: impl Fn(usize, &mut Value)) {
    let path = folder.join("cells.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut place = 0;
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["line"] == "rep" {
            edit(place, &mut line);
            place += 1;
        }
        format!("{line}\n")
    });
    fs::write(&path, lines.collect::<String>()).unwrap();
}

/// A bench with one small run, and the path of its folder. It is the same run for all who ask.
pub(crate) fn measured() -> (Bench, String) {
    static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    let files = FILES.get_or_init(|| {
        let bench = Bench::small(DISK);
        bench.run(&["run", "s.toml"]).exits(0);
        let mut paths = Vec::new();
        visit(&bench.path("results"), &mut paths);
        let read =
            |path: PathBuf| (path.strip_prefix(bench.path("")).unwrap().to_owned(), fs::read(&path).unwrap());
        paths.into_iter().map(read).collect()
    });
    let bench = Bench::new();
    for (path, bytes) in files {
        let path = bench.path("").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let folder = bench.run_folder().to_str().unwrap().to_owned();
    (bench, folder)
}

fn visit(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() { visit(&entry.path(), files) } else { files.push(entry.path()) }
    }
}

/// A scenario of two cells and five short repetitions each, on 4 MiB of data.
///
/// From the page cache, so that a test which expects a verdict depends on this machine's memory and not on a
/// disk that is shared, or throttled.
pub(crate) fn scenario(extra: &str) -> String {
    format!(
        r#"version = 1
need = {{ rate = "1 MB/s" }}
dataset = {{ size = "4 MiB", sample_size = "64 KiB" }}
load = {{ queue_depth = [1, 4], block_size = "16 KiB", cache = "warm" }}
measure = {{ warmup = "10ms", duration = "100ms", repetitions = 5 }}
{extra}
"#
    )
}

/// Windows of 1 MiB: enough to see what is read, and too short for any verdict.
pub(crate) const SMALL: &str = r#"bytes = "1 MiB", repetitions = 3"#;

/// Windows that hold enough for a verdict in blocks of 16 KiB, however fast a machine copies them, and so many of them that
/// what else it does leaves their interval above a line that lies a thousand times lower.
pub(crate) const JUDGED: &str = r#"bytes = "256 MiB", repetitions = 7"#;

/// A scenario with windows that end by what was read, however long that takes on a busy machine.
pub(crate) fn by_count(scenario: &str, measure: &str) -> String {
    let before = scenario.lines().find(|line| line.starts_with("measure = ")).unwrap();
    scenario.replace(before, &format!("measure = {{ {measure} }}"))
}

/// A scenario of three passes of each cell over 1 MiB of data, past every cache of the client's.
pub(crate) fn network(load: &str, targets: &str) -> String {
    format!(
        r#"version = 1
need = {{ rate = "1 MB/s" }}
dataset = {{ size = "1 MiB", sample_size = "64 KiB" }}
load = {{ queue_depth = 2, block_size = "16 KiB", cache = "bypass", {load} }}
measure = {{ {SMALL} }}
{targets}
"#
    )
}

pub(crate) const DISK: &str = r#"targets.disk = { at = "data", engine = "pread" }"#;

/// How the line of a repetition begins.
pub(crate) const REP: &str = r#""line":"rep""#;

/// Starts a command with its output kept.
pub(crate) fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Between two looks at whether something is there: what is measured meanwhile needs the core.
const LOOK: Duration = Duration::from_millis(5);

/// Waits, while `child` runs, until `there` holds.
#[track_caller]
pub(crate) fn until(child: &mut Child, there: impl FnMut() -> bool) {
    if comes_while(child, there) {
        return;
    }
    // What a command says as it ends is why it did.
    let mut said = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_string(&mut said).unwrap();
    }
    panic!("it ended too early: {:?}\n{said}", child.wait());
}

/// Waits until `there` holds; whether it did while `child` ran.
pub(crate) fn comes_while(child: &mut Child, mut there: impl FnMut() -> bool) -> bool {
    while !there() {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::park_timeout(LOOK);
    }
    true
}

/// Runs a command to its end.
pub(crate) fn finish(command: Command) -> Ended {
    wait(start(command))
}

/// Waits for the end, or makes one after [`LIMIT`].
pub(crate) fn wait(child: Child) -> Ended {
    let id = child.id().cast_signed();
    let (done, is_done) = channel::<()>();
    let guard = std::thread::spawn(move || {
        if is_done.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            // SAFETY: a plain system call; the child has not been waited for.
            unsafe { libc::kill(id, libc::SIGKILL) };
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(done);
    guard.join().unwrap();
    Ended::of(output)
}

/// Runs a command to its end as a user that is not root, within limits that are set while it still is. `None`, and
/// a printed reason, when that user cannot reach this checkout.
#[expect(clippy::print_stderr, reason = "a skip is seen")]
pub(crate) fn finish_as_nobody(
    mut command: Command,
    limits: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) -> Option<Ended> {
    let verb: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    in_child(&mut command, move || limits().and_then(|()| become_nobody()));
    match command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => Some(wait(child)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            eprintln!("skipped: {verb:?} cannot be run by another user from this folder: {error}");
            None
        }
        Err(error) => panic!("{verb:?}: {error}"),
    }
}

/// How the binary ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.prints(text), "{text:?} is not in:\n{}{}", self.out, self.err);
        self
    }

    /// Whether a target feeds. Where own threads waited for a processor nobody can tell, and the page says so.
    #[track_caller]
    pub(crate) fn feeds(&self) -> bool {
        let is_crowded = self.prints("UNCERTAIN") && self.prints("own threads waited for a processor");
        assert!(is_crowded || self.out.contains("\nFEEDS "), "{}", self.out);
        !is_crowded
    }

    /// Whether `text` was printed. Lines break where the words of this very run leave no room, so spaces and ends of
    /// lines are one thing here.
    pub(crate) fn prints(&self, text: &str) -> bool {
        fn words(text: &str) -> String {
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        }
        words(&format!("{}{}", self.out, self.err)).contains(&words(text))
    }
}

/// Runs `prepare_child` in the child, after it was forked and before it becomes the binary.
pub(crate) fn in_child(
    command: &mut Command,
    prepare_child: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: the closures of these tests make plain system calls on plain data.
    unsafe { command.pre_exec(prepare_child) };
}

/// A limit for the child, hard and soft alike.
pub(crate) fn limit(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: the pointer is to a valid value that outlives the call.
    check(unsafe { libc::setrlimit(resource, &raw const limit) })
}

/// Gives up root, where the test has it: root is above every limit and permission.
fn become_nobody() -> io::Result<()> {
    // SAFETY: plain system calls on numbers.
    unsafe {
        if libc::geteuid() != 0 {
            return Ok(());
        }
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setgid(NOBODY))?;
        check(libc::setuid(NOBODY))
    }
}

/// Makes one system call fail with `EPERM`, as the default profile of container runtimes does with those that it
/// does not know, `io_uring_setup` among them.
pub(crate) fn forbid(call: libc::c_long) -> io::Result<()> {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const FAIL_EPERM: u32 = 0x0005_0000 | libc::EPERM as u32;
    let statement = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let filter = [
        statement(LOAD_NUMBER, 0, 0, 0),
        statement(JUMP_EQUAL, call as u32, 0, 1),
        statement(RETURN, FAIL_EPERM, 0, 0),
        statement(RETURN, ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: `program` points to a filter that outlives both calls; the kernel copies it.
    unsafe {
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        check(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program))
    }
}

pub(crate) fn is_root() -> bool {
    // SAFETY: a plain system call without arguments.
    unsafe { libc::geteuid() == 0 }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Says why a test does nothing here; in CI that is a failure.
#[expect(clippy::print_stdout, reason = "a skip is seen")]
pub(crate) fn skip(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "skipped in CI: {reason}");
    println!("skipped: {reason}");
}
