//! The folders into which a run writes its checkpoints.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use backend::{Clock, SharedStore};
use engine::Destination;
use plan::{Cell, Checkpoint, Plan};
use prepare::CheckpointFolder;

use crate::exit::Failure;
use crate::open::{self, Stores};
use crate::{host, output};

/// One folder for each target that checkpoints are written to. They are removed with this value, however the run ends;
/// what a killed process leaves is removed by `feedline clean`.
pub(crate) struct Checkpoints(BTreeMap<usize, Made>);

struct Made {
    store: SharedStore,
    folder: CheckpointFolder,
    destination: Destination,
    at: String,
}

impl Checkpoints {
    /// Whether every target has room for the checkpoints that lie there at once; nothing has been written before this is
    /// known.
    pub(crate) fn check_room(plan: &Plan, stores: &Stores) -> Result<(), Failure> {
        for (to, of) in wanted(plan) {
            prepare::check_room(&**stores.data(to), of).with_context(|| open::place(&plan.targets[to]))?;
        }
        Ok(())
    }

    /// Makes the folders.
    pub(crate) fn make(plan: &Plan, stores: &Stores) -> Result<Self, Failure> {
        let mut made = Self(BTreeMap::new());
        for (to, of) in wanted(plan) {
            let store = Arc::clone(stores.data(to));
            let seed = own_seed(to);
            let folder = CheckpointFolder::create(&*store, of, seed)
                .with_context(|| open::place(&plan.targets[to]))?;
            let destination = Destination::new(
                Arc::clone(&store),
                folder.owned.clone(),
                Arc::clone(&folder.objects),
                (of, seed),
            );
            made.0.insert(to, Made { store, folder, destination, at: plan.targets[to].at.clone() });
        }
        Ok(made)
    }

    /// Where the checkpoints of a cell go, where it writes any.
    pub(crate) fn of(&self, cell: &Cell) -> Option<Destination> {
        let of = cell.writes_checkpoints()?;
        Some(self.0.get(&of.to)?.destination.clone())
    }
}

// However the run ends: checkpoints are large, and a folder of them that stays fills the disk of the next
// run.
impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.0.values().for_each(Made::remove);
    }
}

impl Made {
    fn remove(&self) {
        if let Err(error) = self.folder.remove(&*self.store) {
            output::say(&format!("checkpoints are left at {}: {error}", self.at));
        }
    }
}

/// Removes checkpoints where their storage answers in time; each is asked by a thread of its own, so that one that does not
/// answer keeps no other. What is left is said, for `feedline clean`.
pub(crate) fn remove_within(checkpoints: &Arc<Checkpoints>, limit: Duration) {
    let (done, removed) = channel();
    let mut left: BTreeMap<usize, &str> = BTreeMap::new();
    for (target, made) in &checkpoints.0 {
        left.insert(*target, &made.at);
        let (checkpoints, target, done) = (Arc::clone(checkpoints), *target, done.clone());
        thread::spawn(move || {
            checkpoints.0[&target].remove();
            // Nobody waits any more.
            let _ = done.send(target);
        });
    }
    let clock = Clock::real();
    while let (false, Some(wait)) = (left.is_empty(), limit.checked_sub(Duration::from_nanos(clock.now_ns())))
    {
        let Ok(target) = removed.recv_timeout(wait) else { break };
        left.remove(&target);
    }
    for at in left.values() {
        output::say(&format!(
            "checkpoints are left at {at}, which does not answer: `feedline clean` removes them"
        ));
    }
}

/// The checkpoints of each target: all cells that write there write the same ones.
fn wanted(plan: &Plan) -> BTreeMap<usize, &Checkpoint> {
    plan.cells.iter().filter_map(Cell::writes_checkpoints).map(|of| (of.to, of)).collect()
}

/// A seed that no other process has, so that its folder is its own.
fn own_seed(target: usize) -> u64 {
    let now = host::unix_time().as_nanos() as u64;
    now.rotate_left(20) ^ (u64::from(std::process::id()) << 32) ^ target as u64
}
