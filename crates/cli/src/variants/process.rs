//! A variant's process, as its parent sees it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::Context as _;

use super::protocol::{Answer, Order, PROTOCOL};
use crate::exit::{Exit, Failure};

/// How often a signal is looked for while a child measures.
const LOOK: Duration = Duration::from_millis(50);

/// Looks until a silent binary is given up: 30 seconds.
// A binary on a slow network file system takes seconds to load; one that reads standard input and says
// nothing takes for ever.
const HELLO_LOOKS_MAX: u32 = 600;

/// One child. It ends when this is dropped, after it has kept what it measured.
pub(super) struct Process {
    name: String,
    binary: PathBuf,
    child: Child,
    /// Closed before the child is waited for.
    orders: Option<ChildStdin>,
    answers: Option<Receiver<String>>,
    is_feedline: bool,
    was_stopped: bool,
}

impl Process {
    /// Starts a child and hears who it is.
    pub(super) fn start(
        name: &str,
        binary: PathBuf,
        args: &[String],
        stop: &AtomicBool,
    ) -> Result<Self, Failure> {
        let starting =
            || format!("cannot start `{}` for variant `{name}`: is it a feedline?", binary.display());
        let mut child = Command::new(&binary)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is the parent's to obey: it tells its children, which end well.
            .process_group(0)
            .spawn()
            .with_context(starting)?;
        let (orders, answers) =
            (child.stdin.take(), child.stdout.take().context("it has no standard output")?);
        // A thread reads, so that a signal is noticed while a child measures for minutes.
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(answers).lines().map_while(Result::ok);
            lines.into_iter().try_for_each(|line| send.send(line))
        });
        let name = name.to_owned();
        let answers = Some(lines);
        let mut process =
            Self { name, binary, child, orders, answers, is_feedline: false, was_stopped: false };
        process.hear_hello(stop)?;
        Ok(process)
    }

    fn hear_hello(&mut self, stop: &AtomicBool) -> Result<(), Failure> {
        for _ in 0..HELLO_LOOKS_MAX {
            match self.next_line() {
                Ok(line) => match serde_json::from_str(&line) {
                    Ok(Answer::Hello { protocol: PROTOCOL, .. }) => {
                        self.is_feedline = true;
                        return Ok(());
                    }
                    Ok(Answer::Hello { protocol, version }) => {
                        return Err(self.other_version(protocol, &version));
                    }
                    _ => return Err(self.stranger("it says something else")),
                },
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                    return Err(Failure::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let ended =
                        self.child.wait().map_or_else(|error| error.to_string(), |how| how.to_string());
                    return Err(self.stranger(&format!("it ended, {ended}")));
                }
            }
        }
        Err(self.stranger("it says nothing"))
    }

    fn next_line(&self) -> Result<String, RecvTimeoutError> {
        self.answers
            .as_ref()
            .map_or(Err(RecvTimeoutError::Disconnected), |answers| answers.recv_timeout(LOOK))
    }

    /// Gives an order and waits for the answer. A signal that comes meanwhile is passed on, once.
    pub(super) fn ask(&mut self, order: &Order, stop: &AtomicBool) -> Result<Answer, Failure> {
        self.say(order);
        loop {
            match self.next_line() {
                Ok(line) => {
                    return serde_json::from_str(&line)
                        .map_err(|_| self.stranger(&format!("it says `{line}`")));
                }
                Err(RecvTimeoutError::Timeout) => self.pass_on(stop),
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone(stop)),
            }
        }
    }

    /// Tells the child to stop where this process was told to.
    pub(super) fn pass_on(&mut self, stop: &AtomicBool) {
        if stop.load(Ordering::Relaxed) && !self.was_stopped {
            self.was_stopped = true;
            self.say(&Order::Stop);
        }
    }

    /// Sends an order. A child that is gone does not answer, which is noticed there.
    fn say(&mut self, order: &Order) {
        if let (Some(orders), Ok(line)) = (&mut self.orders, serde_json::to_string(order)) {
            let _ = writeln!(orders, "{line}").and_then(|()| orders.flush());
        }
    }

    /// Why the child does not answer any more. What it had to say went to standard error.
    fn gone(&mut self, stop: &AtomicBool) -> Failure {
        let how = match self.child.wait() {
            Ok(status) if status.code() == Some(Exit::Interrupted as i32) && stop.load(Ordering::Relaxed) => {
                return Failure::Interrupted;
            }
            Ok(status) if status.code() == Some(Exit::Usage as i32) => {
                return Failure::usage(format!(
                    "error: variant `{}` cannot run: what it says is above",
                    self.name
                ));
            }
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        Failure::Error(anyhow::anyhow!(
            "variant `{}` ended before its time ({how}); what it said is above\n  hint: the records of the other variants \
             are kept, up to there; run again",
            self.name
        ))
    }

    fn stranger(&self, what: &str) -> Failure {
        Failure::Error(anyhow::anyhow!(
            "`{}`, which is to run variant `{}`, is no feedline that takes turns: {what}\n  hint: a feedline from before \
             `run --variant` cannot be interleaved; compare its records with `feedline compare`",
            self.binary.display(),
            self.name
        ))
    }

    fn other_version(&self, protocol: u32, version: &str) -> Failure {
        Failure::Error(anyhow::anyhow!(
            "`{}`, which is to run variant `{}`, is feedline {version} and takes turns in another way ({protocol}, this \
             one {PROTOCOL})\n  hint: start the run with the newer of both, or compare their records with `feedline \
             compare`",
            self.binary.display(),
            self.name
        ))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.orders = None;
        // Who writes without end is told by this that nobody reads.
        self.answers = None;
        // A stranger is killed. A feedline is waited for: it writes its last line.
        if !self.is_feedline {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
