//! Leases of this process on datasets, renewed by a thread of their own until the run has come to its end.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use prepare::{EXPIRES_NS, Holder, Lease, RENEWED_NS, Renewed, Watch};

use crate::{output, suspended};

/// How long a storage may take to let go of leases. One that does not answer keeps no run; what is left is nobody's soon.
const RELEASED_WITHIN: Duration = Duration::from_secs(3);

/// Leases that are renewed until this is dropped, and released then.
pub(crate) struct Leases {
    /// Dropped to end the thread.
    ends: Option<Sender<()>>,
    released: Receiver<()>,
}

impl Leases {
    /// Keeps leases: a small object is written and one removed for each of them every 20 seconds, and none where there is none.
    /// Where one of them was lost to another process, says so and does what `when_lost` does.
    pub(crate) fn keep(mut leases: Vec<Lease>, when_lost: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (ends, is_over) = channel::<()>();
        let (done, released) = channel();
        if leases.is_empty() {
            return Ok(Self { ends: None, released });
        }
        thread::Builder::new().name("leases".to_owned()).spawn(move || {
            let mut before_ns = suspended::with_sleep_ns();
            while is_over.recv_timeout(Duration::from_nanos(RENEWED_NS)) == Err(RecvTimeoutError::Timeout) {
                let now_ns = suspended::with_sleep_ns();
                let passed_ns = now_ns.saturating_sub(before_ns);
                before_ns = now_ns;
                for lease in &mut leases {
                    // A server that is away is waited for by the run, which says so; the lease is renewed after that.
                    if let Ok(Renewed::Lost(to)) = lease.renew(passed_ns) {
                        output::say(&lost(&to));
                        when_lost();
                    }
                }
            }
            for lease in leases {
                if let Err(error) = lease.release() {
                    output::say(&format!("a lease is left, and nobody's soon: {error}"));
                }
            }
            // Nobody waits any more.
            let _ = done.send(());
        })?;
        Ok(Self { ends: Some(ends), released })
    }
}

fn lost(to: &Holder) -> String {
    let Holder { process, host, .. } = to;
    let unheard = feed::format_duration_ns(EXPIRES_NS);
    format!(
        "error: another process ({process} on {host}) has what this one used: it had not heard of this one for {unheard}\n  \
         hint: this one ends; a run keeps what it measured, and goes on by --resume once the other one has ended"
    )
}

impl Drop for Leases {
    fn drop(&mut self) {
        if self.ends.take().is_some() {
            let _ = self.released.recv_timeout(RELEASED_WITHIN);
        }
    }
}

/// What this machine knows of processes.
pub(crate) struct ThisMachine<'a> {
    /// Ends a watch.
    stop: &'a AtomicBool,
    /// This start of it, and the container: elsewhere the number of a process says nothing.
    boot: String,
}

impl<'a> ThisMachine<'a> {
    pub(crate) fn new(stop: &'a AtomicBool) -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let container = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Self { stop, boot: format!("{} {}", boot.trim(), container.display()) }
    }

    /// A group that no other process is in.
    pub(crate) fn own_group() -> String {
        format!("{:016x}", random())
    }

    /// This process, for one lease.
    pub(crate) fn holder(&self, group: &str) -> Holder {
        let process = process::id();
        Holder {
            id: random(),
            process,
            started: started(process).unwrap_or(0),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            boot: self.boot.clone(),
            group: Some(group.to_owned()),
        }
    }
}

impl Watch for ThisMachine<'_> {
    fn is_alive(&self, holder: &Holder) -> Option<bool> {
        (holder.boot == self.boot).then(|| started(holder.process) == Some(holder.started))
    }

    fn begins(&self, holder: &Holder, at_most_ns: u64) {
        let Holder { process, host, .. } = holder;
        output::say(&format!(
            "process {process} on {host} has a lease there: watching whether it is renewed, {} at most",
            feed::format_duration_ns(at_most_ns)
        ));
    }

    fn pass(&self, ns: u64) -> bool {
        thread::park_timeout(Duration::from_nanos(ns));
        !self.stop.load(Ordering::Relaxed)
    }
}

/// When a process started, in the kernel's ticks (proc(5), the 22nd field of `/proc/PID/stat`); `None` of one that is gone.
fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Its name may hold anything; behind it the start is the 20th field.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    fields.get(19)?.parse().ok().filter(|_| fields[0] != "Z")
}

/// A number that no other process draws, on whatever host.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_one_that_had_its_number_and_from_those_of_other_hosts() {
        let never = AtomicBool::new(false);
        let machine = ThisMachine::new(&never);
        let own = machine.holder("g");
        assert_eq!(machine.is_alive(&own), Some(true));
        assert_eq!(machine.is_alive(&Holder { started: own.started + 1, ..own.clone() }), Some(false));
        assert_eq!(machine.is_alive(&Holder { boot: "another".to_owned(), ..own.clone() }), None);
        assert_ne!(own.id, machine.holder("g").id);
    }
}
