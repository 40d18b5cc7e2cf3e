//! What is left to do for a run that does not end by itself after a signal.

use std::collections::BTreeMap;
use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, TryLockError, Weak};
use std::time::Duration;

use backend::Clock;
use record::{End, Line, NotLookedAt, NotRun, Role, RunRecord, RunWriter};

use crate::args::ShowArgs;
use crate::checkpoints::{self, Checkpoints};
use crate::exit::Failure;
use crate::progress::Progress;
use crate::{conclusion, output};

/// How long a storage may take to let go of checkpoints.
const CLEAR_UP: Duration = Duration::from_secs(3);

/// Why a dataset was not looked at again.
const NOT_LOOKED_AT: &str = "a signal ended the run before it";

/// A run whose thread does not return from what it waits for: a thread of its own ends it.
pub(crate) struct AtLast {
    pub(crate) folder: PathBuf,
    /// How the answer is shown; `None` of a variant, whose parent shows it.
    pub(crate) show: Option<ShowArgs>,
    pub(crate) writer: Weak<Mutex<RunWriter>>,
    pub(crate) checkpoints: Weak<Checkpoints>,
    pub(crate) clock: Clock,
    /// Datasets that lie on a storage, by their index.
    pub(crate) datasets: Vec<usize>,
    pub(crate) progress: Progress,
}

impl AtLast {
    /// Ends the record, shows what it holds, and takes the checkpoints along.
    pub(crate) fn end(self) {
        self.progress.finish();
        if let Err(failure) = self.end_record().and_then(|()| self.show()) {
            output::say(&failure.to_string());
        }
        if let Some(checkpoints) = self.checkpoints.upgrade() {
            checkpoints::remove_within(&checkpoints, CLEAR_UP);
        }
    }

    /// Appends the last line. The thread of the run appends nothing behind it, should it return after all.
    fn end_record(&self) -> Result<(), Failure> {
        let record = record::read_run(&self.folder)?;
        let Some(writer) = self.writer.upgrade() else { return Ok(()) };
        let mut held = match writer.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // It is the record itself that the run waits for.
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        let not_looked_at =
            |dataset: &usize| NotLookedAt { dataset: *dataset, reason: NOT_LOOKED_AT.to_owned() };
        let ended = held.append(&Line::End(End {
            interrupted: true,
            elapsed_ns: self.clock.now_ns(),
            not_run: not_run(&record),
            not_looked_at: self.datasets.iter().map(not_looked_at).collect(),
            ..End::default()
        }));
        mem::forget(held);
        mem::forget(writer);
        Ok(ended?)
    }

    fn show(&self) -> Result<(), Failure> {
        match self.show {
            Some(show) => {
                conclusion::conclude(&self.folder, show, None, None)?;
                output::say(&conclusion::interrupted(&record::read_run(&self.folder)?, &self.folder));
            }
            None => drop(conclusion::derive(&self.folder)?),
        }
        Ok(())
    }
}

/// What was planned and not made. A search plans no value.
fn not_run(record: &RunRecord) -> Vec<NotRun> {
    let mut made: BTreeMap<&str, u32> = BTreeMap::new();
    for line in &record.lines {
        if let Line::Rep(rep) = line
            && rep.role == Role::Measure
        {
            *made.entry(&rep.cell).or_default() += 1;
        }
    }
    let planned = if record.run.size.is_some() { 0 } else { record.run.measure.repetitions };
    let left = record.run.cells.iter().map(|cell| {
        let made = made.get(cell.cell.as_str()).copied().unwrap_or(0);
        let repetitions = planned.saturating_sub(made);
        NotRun { cell: cell.cell.clone(), repetitions, reason: "interrupted".to_owned() }
    });
    left.filter(|left| left.repetitions > 0).collect()
}
