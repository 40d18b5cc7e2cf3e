//! Leases on datasets that lie where no lock reaches.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use backend::SharedStore;
use backend_file::FileStore;
use dataset::Key;
use prepare::{EXPIRES_NS, Holder, Lease, LeaseError, RENEWED_NS, Renewed, Watch};
use tempfile::TempDir;

use crate::memory::{Killed, MemoryStore};

/// A machine on which time passes as it is told.
#[derive(Default)]
struct Machine<'a> {
    /// What happens while a lease is watched: is told how long it was watched.
    meanwhile: Option<&'a dyn Fn(u64)>,
    watched_ns: Cell<u64>,
    told: RefCell<Vec<u64>>,
}

impl Watch for Machine<'_> {
    /// Processes below 100 are there.
    fn is_alive(&self, holder: &Holder) -> Option<bool> {
        (holder.boot == "here").then_some(holder.process < 100)
    }

    fn begins(&self, holder: &Holder, _at_most_ns: u64) {
        self.told.borrow_mut().push(holder.id);
    }

    fn pass(&self, ns: u64) -> bool {
        self.watched_ns.set(self.watched_ns.get() + ns);
        if let Some(meanwhile) = self.meanwhile {
            meanwhile(self.watched_ns.get());
        }
        true
    }
}

/// A dataset, and its folder.
struct Place {
    root: TempDir,
    store: SharedStore,
    folder: Key,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let store: SharedStore = Arc::new(FileStore::pread(root.path()));
        crate::prepare(&*store).unwrap();
        let folder = store.folders().unwrap().remove(0);
        Self { root, store, folder }
    }

    fn take(&self, holder: Holder, machine: &Machine<'_>) -> Result<Lease, LeaseError> {
        Lease::take(&self.store, &self.folder, holder, machine).map(Option::unwrap)
    }
}

fn holder(id: u64, boot: &str, group: Option<&str>) -> Holder {
    Holder {
        id,
        process: id as u32,
        started: 7,
        host: "a host".to_owned(),
        boot: boot.to_owned(),
        group: group.map(str::to_owned),
    }
}

#[test]
fn one_process_or_those_of_one_group_have_a_dataset() {
    let (place, machine) = (Place::new(), Machine::default());
    let first = place.take(holder(1, "here", Some("g")), &machine).unwrap();
    let second = place.take(holder(2, "elsewhere", Some("g")), &machine).unwrap();
    let Err(refused) = place.take(holder(3, "here", None), &machine) else { panic!("two runs have it") };
    let said = refused.to_string();
    assert!(said.contains("is being measured by another run (process 1 on a host)\n  hint: "), "{said}");
    let refused = prepare::refuse_used(&*place.store, &machine).unwrap_err().to_string();
    assert!(refused.contains("process 1 on a host"), "{refused}");
    second.release().unwrap();
    first.release().unwrap();
    assert!(prepare::refuse_used(&*place.store, &machine).unwrap());
    place.take(holder(3, "here", None), &machine).unwrap().release().unwrap();
    assert!(machine.told.borrow().is_empty(), "nothing had to be watched");
    let cleaned = prepare::clean(&*place.store).unwrap();
    assert_eq!((cleaned.folders, cleaned.left), (1, Vec::new()));
}

#[test]
fn a_lease_that_a_killed_process_left_is_nobodys() {
    // Of this machine: by the process, which is gone.
    let (place, machine) = (Place::new(), Machine::default());
    drop(place.take(holder(100, "here", None), &machine).unwrap());
    place.take(holder(1, "here", None), &machine).unwrap().release().unwrap();
    assert_eq!(machine.watched_ns.get(), 0);
    // Of another: by being watched.
    drop(place.take(holder(100, "elsewhere", None), &machine).unwrap());
    place.take(holder(1, "here", None), &machine).unwrap().release().unwrap();
    assert_eq!((machine.watched_ns.get(), machine.told.take()), (EXPIRES_NS, vec![100]));
    // Clean removes what is left of them, too.
    drop(place.take(holder(100, "elsewhere", None), &machine).unwrap());
    assert_eq!(prepare::clean(&*place.store).unwrap().left, Vec::<String>::new());
    assert!(place.store.folders().unwrap().is_empty());
}

#[test]
fn a_lease_that_is_renewed_while_it_is_watched_is_respected_and_one_that_is_given_back_is_not() {
    let place = Place::new();
    let other = RefCell::new(Some(place.take(holder(1, "elsewhere", None), &Machine::default()).unwrap()));
    let renews = |watched_ns| {
        if watched_ns == RENEWED_NS {
            other.borrow_mut().as_mut().unwrap().renew(RENEWED_NS).unwrap();
        }
    };
    let machine = Machine { meanwhile: Some(&renews), ..Machine::default() };
    assert!(matches!(place.take(holder(2, "here", None), &machine), Err(LeaseError::Held { .. })));
    assert_eq!(machine.watched_ns.get(), RENEWED_NS, "it is known at once");
    let gives_back = |watched_ns| {
        if watched_ns == RENEWED_NS {
            other.take().unwrap().release().unwrap();
        }
    };
    let machine = Machine { meanwhile: Some(&gives_back), ..Machine::default() };
    place.take(holder(2, "here", None), &machine).unwrap();
    assert_eq!(machine.watched_ns.get(), RENEWED_NS);
}

impl Place {
    /// Names of the leases on the dataset.
    fn leases(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut take = |entry: backend::Entry| {
            names.extend(entry.key.as_str().split_once("/leases/").map(|(_, name)| name.to_owned()));
            ControlFlow::Continue(())
        };
        self.store.list(Some(&self.folder), &mut take).unwrap();
        names
    }
}

/// Whether the folder of leases on the root carries feedline's marker.
fn is_root_leased(place: &Place) -> bool {
    place.root.path().join("feedline-in-use/feedline-owns-this-folder.json").exists()
}

#[test]
fn those_who_write_share_a_root_and_clean_takes_it_alone() {
    let (place, machine) = (Place::new(), Machine::default());
    let writes = |id| Lease::to_write(&place.store, holder(id, "here", None), &machine).map(Option::unwrap);
    let removes = || Lease::to_remove(&place.store, holder(9, "here", None), &machine).map(Option::unwrap);
    let (first, second) = (writes(1).unwrap(), writes(2).unwrap());
    assert!(matches!(removes(), Err(LeaseError::Written(_))));
    let refused = prepare::refuse_used(&*place.store, &machine).unwrap_err().to_string();
    assert!(refused.contains("another run writes there (process 1 on"), "{refused}");
    // A dataset that is measured is told first.
    let measured = place.take(holder(1, "here", None), &machine).unwrap();
    assert!(matches!(prepare::refuse_used(&*place.store, &machine), Err(LeaseError::Held { .. })));
    measured.release().unwrap();
    first.release().unwrap();
    assert!(is_root_leased(&place), "there is the other one");
    second.release().unwrap();
    assert!(!is_root_leased(&place));
    let cleaning = removes().unwrap();
    let refused = writes(1).err().unwrap().to_string();
    assert!(refused.contains("`feedline clean` removes what is there (process 9 on"), "{refused}");
    let cleaned = prepare::clean(&*place.store).unwrap();
    assert_eq!((cleaned.folders, cleaned.left), (1, Vec::new()));
    cleaning.release().unwrap();
    assert!(place.store.folders().unwrap().is_empty(), "nothing is left");
}

#[test]
fn what_a_killed_process_left_of_its_lease_on_a_root_goes_with_clean() {
    let (place, machine) = (Place::new(), Machine::default());
    // Process 200 is not there.
    drop(Lease::to_write(&place.store, holder(200, "here", None), &machine).unwrap());
    assert!(prepare::refuse_used(&*place.store, &machine).unwrap());
    let cleaning = Lease::to_remove(&place.store, holder(1, "here", None), &machine).unwrap().unwrap();
    prepare::clean(&*place.store).unwrap();
    cleaning.release().unwrap();
    assert!(place.store.folders().unwrap().is_empty());
}

/// A process takes a lease between any two calls by which another one takes its own and gives it back, and gives its own back between
/// any two by which another one takes one: who has one is seen.
#[test]
fn a_lease_that_is_taken_while_the_last_one_goes_is_seen() {
    let memory = MemoryStore::default;
    let writes = |store: &SharedStore, id| {
        Lease::to_write(store, holder(id, "here", None), &Machine::default()).map(Option::unwrap)
    };
    let is_seen = |store: &MemoryStore| {
        matches!(prepare::refuse_used(store, &Machine::default()), Err(LeaseError::Written(_)))
    };
    for calls in 0.. {
        let (store, taken) = (memory(), Arc::new(Mutex::new(None)));
        let first = {
            let (other, taken) = (store.clone(), Arc::clone(&taken));
            let takes = move || {
                let lease = writes(&(Arc::new(other.clone()) as SharedStore), 2);
                *taken.lock().unwrap() = Some(lease);
            };
            writes(&(Arc::new(Killed::never(&store, calls, takes)) as SharedStore), 1).unwrap()
        };
        first.release().unwrap();
        let Some(second) = taken.lock().unwrap().take() else {
            assert!(calls > 10, "it was never between");
            break;
        };
        let second = second.unwrap();
        assert!(is_seen(&store), "before call {calls} of the other one");
        second.release().unwrap();
        assert_eq!(store.names(), Vec::<String>::new(), "before call {calls}");
    }
    for calls in 0.. {
        let (store, gone) = (memory(), Arc::new(Mutex::new(false)));
        let last = Mutex::new(Some(writes(&(Arc::new(store.clone()) as SharedStore), 1).unwrap()));
        let goes = {
            let gone = Arc::clone(&gone);
            move || {
                last.lock().unwrap().take().unwrap().release().unwrap();
                *gone.lock().unwrap() = true;
            }
        };
        let second = writes(&(Arc::new(Killed::never(&store, calls, goes)) as SharedStore), 2).unwrap();
        if !*gone.lock().unwrap() {
            assert!(calls > 3, "it was never between");
            break;
        }
        assert!(is_seen(&store), "it goes before call {calls} of the one that comes");
        second.release().unwrap();
        assert_eq!(store.names(), Vec::<String>::new(), "it goes before call {calls}");
    }
}

/// A server that is asked and not heard: what it was to write is there, and the next one must not meet it.
#[test]
fn a_renewal_that_took_effect_and_failed_is_followed_by_the_next() {
    let (place, machine) = (Place::new(), Machine::default());
    let mut lease = place.take(holder(1, "here", None), &machine).unwrap();
    let written = format!("{}/leases/0000000000000001-00000001", place.folder);
    std::fs::write(place.root.path().join(written), "{}").unwrap();
    lease.renew(RENEWED_NS).unwrap_err();
    assert_eq!(lease.renew(RENEWED_NS).unwrap(), Renewed::Held);
    assert_eq!(place.leases(), ["0000000000000001-00000002"]);
    lease.release().unwrap();
    assert_eq!(place.leases(), Vec::<String>::new());
}

#[test]
fn a_run_that_was_not_heard_of_is_told_who_has_its_dataset() {
    let (place, machine) = (Place::new(), Machine::default());
    let mut first = place.take(holder(1, "elsewhere", None), &machine).unwrap();
    assert_eq!(first.renew(EXPIRES_NS + 1).unwrap(), Renewed::Held, "nobody has taken it");
    // Watched in vain, and removed.
    let second = place.take(holder(2, "here", None), &machine).unwrap();
    assert_eq!(first.renew(EXPIRES_NS / 2).unwrap(), Renewed::Held, "not yet so long that it could be");
    assert_eq!(first.renew(EXPIRES_NS + 1).unwrap(), Renewed::Lost(holder(2, "here", None)));
    first.release().unwrap();
    assert_eq!(place.leases().len(), 1, "that of the other is left alone");
    second.release().unwrap();
}
