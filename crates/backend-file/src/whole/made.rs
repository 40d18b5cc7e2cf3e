//! Names by blocking calls, in line: an empty file is made, renamed and removed, as tools that measure metadata do it.

use std::sync::Arc;

use backend::{Clock, Op, OpError, PHASE_STAMPS, QueueReport, Request, unfinished_name};
use rustix::fd::AsFd as _;
use rustix::fs::{AtFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::names::{Holder, Name, Names};
use crate::inline::Serve;
use crate::tree::FILE_MODE;
use crate::{failure, tree, write};

const PHASES: &[&str] = &["create_ns", "rename_ns", "remove_ns"];

/// One thread's names, one after the other.
pub(super) struct NamesMade {
    names: Arc<Names>,
    name: Name,
    /// The name that a file is made under, and the one that it gets. A queue has one file at a time, and `clean` knows both.
    // Made once, so that nothing is allocated for an operation.
    unfinished: [String; 2],
    clock: Clock,
    opens: u64,
    enters: u64,
}

impl NamesMade {
    pub(super) fn open(names: Arc<Names>, clock: &Clock) -> Self {
        let unfinished = [unfinished_name("name"), unfinished_name("name")];
        Self { names, name: Name::new(), unfinished, clock: clock.clone(), opens: 0, enters: 0 }
    }

    fn make(&mut self, object: u32, phase_ns: &mut [u64; PHASE_STAMPS]) -> Result<(), Errno> {
        let names = Arc::clone(&self.names);
        let folder = names.holder(object, &mut self.name)?;
        let made = self.steps(&folder, phase_ns);
        if made.is_err() {
            // Whichever step failed: what stays would be in the way of every operation that follows. What cannot be removed is
            // known to `clean` by its name.
            for name in &self.unfinished {
                let _ = tree::unlink(folder.as_fd(), name);
            }
        }
        made
    }

    fn steps(&mut self, folder: &Holder<'_>, phase_ns: &mut [u64; PHASE_STAMPS]) -> Result<(), Errno> {
        let [first, second] = &self.unfinished;
        // openat, close.
        self.enters += 2;
        self.opens += 1;
        write::close(openat(folder, first.as_str(), write::NEW_FILE, FILE_MODE)?)?;
        phase_ns[0] = self.clock.now_ns();
        self.enters += 1;
        renameat(folder, first.as_str(), folder, second.as_str())?;
        phase_ns[1] = self.clock.now_ns();
        self.enters += 1;
        unlinkat(folder, second.as_str(), AtFlags::empty())
    }
}

impl Serve for NamesMade {
    fn serve(&mut self, request: &mut Request, phase_ns: &mut [u64; PHASE_STAMPS]) -> Result<u64, OpError> {
        match request.op {
            Op::Names { object } => self.make(object, phase_ns).map(|()| 0).map_err(failure::of_operation),
            _ => Err(OpError::from_errno(libc::EOPNOTSUPP)),
        }
    }

    fn phases(&self) -> &'static [&'static str] {
        PHASES
    }

    fn report(&self) -> QueueReport {
        QueueReport {
            granted: vec![("folders", self.names.summary())],
            opens: self.opens,
            enters: self.enters,
            ..QueueReport::default()
        }
    }
}
