//! One run at a time on one dataset that feedline wrote. On this machine's file systems its marker is locked while it is
//! measured; on a server, or in a bucket, a lease lies beside it ([`prepare::Lease`]). Data of the user's have no marker, and are
//! left to whoever reads them.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::{SharedStore, StoreError};
use dataset::{Key, MARKER_NAME};
use describe::Datasets;
use plan::{DatasetSpec, Plan};
use prepare::{Lease, LeaseError};
use record::LockedFile;

use crate::data;
use crate::exit::Failure;
use crate::in_use;
use crate::leases::{Leases, ThisMachine};
use crate::open::{self, Stores};
use crate::{output, signals};

/// With whom a run has its datasets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// With nobody.
    Alone,
    /// With the other processes of its run, ranks or variants, which have one name together.
    WithItsOthers(String),
}

/// What a run holds of its datasets, until it is dropped.
pub(crate) struct Held {
    _locks: Vec<LockedFile>,
    _leases: Leases,
}

/// Takes the datasets of a run.
///
/// # Errors
/// For a dataset that another run measures, and what a server refuses.
pub(crate) fn claim(
    plan: &Plan,
    (data, stores): (&Datasets, &Stores),
    claim: &Claim,
    stop: &Arc<AtomicBool>,
) -> Result<Held, Failure> {
    let mut markers = BTreeSet::new();
    for slot in data.all() {
        let root = open::local_root(&plan.targets[slot.target].config);
        markers.extend(root.and_then(|root| marker(&root.join(folder(slot).as_str()))));
    }
    // One folder may be reached by two mounts.
    let mut known = BTreeSet::new();
    markers.retain(|marker| in_use::identity(marker).is_none_or(|file| known.insert(file)));
    let held = markers.iter().map(|marker| lock(marker, claim));
    let locks = held.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    Ok(Held { _locks: locks, _leases: leases(plan, (data, stores), claim, stop)? })
}

/// Takes leases on the datasets that others can reach over a network, and on those that several processes hold together: a lock of
/// several does not tell whose they are. Servers of feedline's own serve this run alone.
fn leases(
    plan: &Plan,
    (data, stores): (&Datasets, &Stores),
    claim: &Claim,
    stop: &Arc<AtomicBool>,
) -> Result<Leases, Failure> {
    let machine = ThisMachine::new(stop);
    let group = match claim {
        Claim::Alone => ThisMachine::own_group(),
        Claim::WithItsOthers(group) => group.clone(),
    };
    let mut leases = Vec::new();
    for slot in data.all() {
        let (target, store) = (&plan.targets[slot.target], stores.data(slot.target));
        let is_local = open::local_root(&target.config).is_some() && store.nfs_mount_point().is_none();
        let is_shared = target.config.capabilities().network
            || store.nfs_mount_point().is_some()
            || (is_local && matches!(claim, Claim::WithItsOthers(_)));
        // One that another process of this run started too.
        let is_own = target.is_served_here();
        let is_written = matches!(plan.datasets[slot.dataset], DatasetSpec::Generate(_));
        if !is_shared || is_own || !is_written {
            continue;
        }
        match Lease::take(store, &folder(slot), machine.holder(&group), &machine) {
            Ok(Some(lease)) => leases.push(lease),
            // The lock on its marker keeps others out, all but those of several processes.
            Ok(None) | Err(LeaseError::Store(StoreError::Full { .. })) if is_local => {}
            Ok(None) => output::say(&format!(
                "target `{}` takes no writes: no other run can be told that its dataset is being measured",
                target.name
            )),
            Err(error) => return Err(failed(&open::place(target), error)),
        }
    }
    Ok(Leases::keep(leases, ends(stop))?)
}

/// The marked folder of a dataset that feedline wrote, below which all of its objects lie.
fn folder(slot: &describe::OnTarget) -> Key {
    let first = slot.prepared.data.objects().key(0);
    let name = first.as_str().split('/').next().unwrap_or_default();
    Key::new(name).unwrap_or(first)
}

/// What keeps runs from a place while something is removed there, beside a lock on its folder.
pub(crate) struct ToRemove {
    _lease: Option<Leases>,
}

/// A process that removes. Two of the places that it is given may be one.
pub(crate) struct Removal {
    group: String,
    never: AtomicBool,
}

impl Removal {
    pub(crate) fn new() -> Self {
        Self { group: ThisMachine::own_group(), never: AtomicBool::new(false) }
    }

    /// Takes a store to remove what feedline wrote there; `None` where nothing is. Where a lock on its folder keeps runs from it no lease
    /// does.
    ///
    /// # Errors
    /// For a dataset that a run has a lease on, and for a run that writes there.
    pub(crate) fn hold(
        &self,
        at: &str,
        store: &SharedStore,
        is_locked: bool,
    ) -> Result<Option<ToRemove>, Failure> {
        // A signal ends the process at once: what it leaves is nobody's.
        let machine = ThisMachine::new(&self.never);
        let holder = machine.holder(&self.group);
        let failed = |error| failed(&format!("cannot clean `{at}`"), error);
        let is_any = prepare::refuse_used(&**store, &holder, &machine).map_err(failed)?;
        // The kernel's NFS client locks a folder for this machine alone.
        if is_locked && store.nfs_mount_point().is_none() {
            return Ok(Some(ToRemove { _lease: None }));
        }
        if !is_any {
            return Ok(None);
        }
        let lease = Lease::to_remove(store, &holder, &machine).map_err(failed)?;
        // Once it is lost, a run may write what is being removed here.
        let lease = Leases::keep(lease.into_iter().collect(), signals::end)?;
        Ok(Some(ToRemove { _lease: Some(lease) }))
    }
}

/// What a run does that has lost a lease: it ends, and keeps what it measured.
fn ends(stop: &Arc<AtomicBool>) -> impl Fn() + Send + 'static {
    let stop = Arc::clone(stop);
    move || stop.store(true, Ordering::Relaxed)
}

fn failed(place: &str, error: LeaseError) -> Failure {
    match error {
        LeaseError::Interrupted => Failure::Interrupted,
        error => anyhow::Error::new(error).context(place.to_owned()).into(),
    }
}

/// What keeps `feedline clean` from the places of a run, until it is dropped.
pub(crate) struct Used {
    _locks: Vec<LockedFile>,
    _leases: Leases,
}

/// Holds the places of a plan against `feedline clean`: what lies there may be a dataset of which a part is written, a copy or a
/// checkpoint. Several runs may hold one place. Folders of this machine are locked; elsewhere, where this run may write, a lease tells.
///
/// # Errors
/// For a place that something is being removed from, and what a server refuses.
pub(crate) fn use_places(plan: &Plan, stores: &Stores, stop: &Arc<AtomicBool>) -> Result<Used, Failure> {
    let mut locks = Vec::new();
    for (index, target) in plan.targets.iter().enumerate() {
        let Some(root) = open::local_root(&target.config) else { continue };
        let is_written = is_written(plan, index);
        if is_written {
            in_use::make(root);
        }
        match in_use::hold_to_use(root) {
            // Of data of the user's another program may have its own idea of a lock.
            Err(_) if !is_written => {}
            locked => locks.extend(locked?),
        }
    }
    let mut leases = Vec::new();
    let taken = root_leases(plan, stores, stop, &mut leases);
    // Those that were taken before one was refused are given back.
    let leases = Leases::keep(leases, ends(stop))?;
    taken.map(|()| Used { _locks: locks, _leases: leases })
}

/// Takes leases on the roots that others can reach over a network, where this run may write.
fn root_leases(
    plan: &Plan,
    stores: &Stores,
    stop: &AtomicBool,
    leases: &mut Vec<Lease>,
) -> Result<(), Failure> {
    let machine = ThisMachine::new(stop);
    for (index, target) in plan.targets.iter().enumerate() {
        let store = stores.data(index);
        let is_shared = target.config.capabilities().network || store.nfs_mount_point().is_some();
        if !is_shared || target.is_served_here() || !is_written(plan, index) {
            continue;
        }
        // A lease is written too: not where something of another's lies.
        data::check_place(plan, index, &**store)?;
        match Lease::to_write(store, machine.holder(&ThisMachine::own_group()), &machine) {
            Ok(Some(lease)) => leases.push(lease),
            Ok(None) => output::say(&format!(
                "target `{}` takes no writes at its root: `feedline clean` cannot be told that something is written there",
                target.name
            )),
            Err(error) => return Err(failed(&open::place(target), error)),
        }
    }
    Ok(())
}

/// Whether a plan has feedline write to a target.
fn is_written(plan: &Plan, target: usize) -> bool {
    let is_generated = |&(at, dataset): &(usize, usize)| {
        at == target && matches!(plan.datasets[dataset], DatasetSpec::Generate(_))
    };
    let takes = |cell: &plan::Cell| {
        cell.task.copy().is_some_and(|copy| copy.to == target)
            || cell.writes_checkpoints().is_some_and(|checkpoints| checkpoints.to == target)
    };
    plan.places().iter().any(is_generated) || plan.cells.iter().any(takes)
}

/// The marker of a folder, by its one name: two targets may lie at one path.
fn marker(folder: &Path) -> Option<PathBuf> {
    let marker = folder.join(MARKER_NAME);
    marker.is_file().then(|| fs::canonicalize(&marker).unwrap_or(marker))
}

/// `None` where a file system knows no locks, or the marker may not be opened.
fn lock(marker: &Path, claim: &Claim) -> Result<Option<LockedFile>, Failure> {
    // An NFS client of the kernel locks for one alone only what may be written.
    let opened = OpenOptions::new().read(true).write(true).open(marker).or_else(|_| File::open(marker));
    // What may not be opened is measured without a lock; the reads will say what is wrong with it.
    let Ok(file) = opened else { return Ok(None) };
    let locked = match claim {
        Claim::Alone => file.try_lock(),
        Claim::WithItsOthers(_) => file.try_lock_shared(),
    };
    match locked {
        Ok(()) => Ok(Some(file.into())),
        Err(TryLockError::Error(_)) => {
            output::say(&format!(
                "`{}`: its file system knows no locks, and nothing tells whether another run measures this dataset",
                folder_of(marker).display()
            ));
            Ok(None)
        }
        Err(TryLockError::WouldBlock) => Err(measured(marker, in_use::holder_of(&file))),
    }
}

fn folder_of(marker: &Path) -> &Path {
    marker.parent().unwrap_or(marker)
}

fn measured(marker: &Path, by: Option<u32>) -> Failure {
    let folder = folder_of(marker).display();
    let who = in_use::named(by);
    Failure::Error(anyhow::Error::new(io::Error::other(format!(
        "`{folder}` is being measured by another run{who}\n  hint: wait for its end, or give this run a folder of its own"
    ))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_alone_or_several_processes_of_one_hold_a_dataset() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("d");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(MARKER_NAME), "{}").unwrap();
        let marker = marker(&folder).unwrap();
        let of_run = Claim::WithItsOthers("one".to_owned());
        let shared = [&of_run; 2].map(|claim| lock(&marker, claim).unwrap());
        assert!(shared.iter().all(Option::is_some));
        assert!(lock(&marker, &Claim::Alone).is_err());
        drop(shared);
        assert!(lock(&marker, &Claim::Alone).unwrap().is_some());
    }
}
