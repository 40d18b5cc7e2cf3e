//! Leases on datasets that lie where no lock reaches.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use backend::{SharedStore, Store};
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
    let refused = refuse_used(&*place.store).unwrap_err().to_string();
    assert!(refused.contains("process 1 on a host"), "{refused}");
    second.release().unwrap();
    first.release().unwrap();
    assert!(refuse_used(&*place.store).unwrap());
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
        self.leases_in(self.folder.as_str())
    }

    fn leases_in(&self, folder: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut take = |entry: backend::Entry| {
            names.extend(entry.key.as_str().split_once("/leases/").map(|(_, name)| name.to_owned()));
            ControlFlow::Continue(())
        };
        self.store.list(Some(&Key::new(folder).unwrap()), &mut take).unwrap();
        names
    }
}

/// Refuses a store that anybody uses but process 9.
fn refuse_used(store: &dyn Store) -> Result<bool, LeaseError> {
    prepare::refuse_used(store, &holder(9, "here", Some("nine")), &Machine::default())
}

fn writes(store: &SharedStore, id: u64) -> Result<Lease, LeaseError> {
    Lease::to_write(store, holder(id, "here", None), &Machine::default()).map(Option::unwrap)
}

/// As process 9.
fn removes(store: &SharedStore) -> Result<Lease, LeaseError> {
    Lease::to_remove(store, &holder(9, "here", Some("nine")), &Machine::default()).map(Option::unwrap)
}

#[test]
fn those_who_write_share_a_root_and_clean_takes_it_alone() {
    let (place, machine) = (Place::new(), Machine::default());
    let (first, second) = (writes(&place.store, 1).unwrap(), writes(&place.store, 2).unwrap());
    assert!(matches!(removes(&place.store), Err(LeaseError::Written(_))));
    let refused = refuse_used(&*place.store).unwrap_err().to_string();
    assert!(refused.contains("another run writes there (process 1 on"), "{refused}");
    // A dataset that is measured is told first.
    let measured = place.take(holder(1, "here", None), &machine).unwrap();
    assert!(matches!(refuse_used(&*place.store), Err(LeaseError::Held { .. })));
    measured.release().unwrap();
    first.release().unwrap();
    assert!(refuse_used(&*place.store).is_err(), "there is the other one");
    second.release().unwrap();
    let cleaning = removes(&place.store).unwrap();
    let refused = writes(&place.store, 1).err().unwrap().to_string();
    assert!(refused.contains("`feedline clean` removes what is there (process 9 on"), "{refused}");
    // It was given one place by two names.
    assert!(refuse_used(&*place.store).unwrap());
    let again = Lease::to_remove(&place.store, &holder(10, "here", Some("nine")), &machine).unwrap().unwrap();
    let cleaned = prepare::clean(&*place.store).unwrap();
    assert_eq!((cleaned.folders, cleaned.left), (1, Vec::new()));
    cleaning.release().unwrap();
    again.release().unwrap();
    assert!(place.store.folders().unwrap().is_empty(), "nothing is left");
}

#[test]
fn what_a_killed_process_left_of_its_lease_on_a_root_goes() {
    let place = Place::new();
    // Process 200 is not there. Who writes beside it removes its lease.
    drop(writes(&place.store, 200).unwrap());
    assert_eq!(place.leases_in("feedline-in-use").len(), 1);
    writes(&place.store, 1).unwrap().release().unwrap();
    assert_eq!(place.leases_in("feedline-in-use").len(), 0);
    drop(writes(&place.store, 200).unwrap());
    let cleaning = removes(&place.store).unwrap();
    prepare::clean(&*place.store).unwrap();
    cleaning.release().unwrap();
    assert!(place.store.folders().unwrap().is_empty());
}

#[test]
fn leases_of_another_host_are_watched_all_at_once() {
    let (place, machine) = (Place::new(), Machine::default());
    let elsewhere = |id| Lease::to_write(&place.store, holder(id, "elsewhere", None), &machine).unwrap();
    (1..5).for_each(|id| drop(elsewhere(id)));
    let nine = holder(9, "here", Some("nine"));
    assert!(prepare::refuse_used(&*place.store, &nine, &machine).unwrap());
    assert_eq!(machine.watched_ns.get(), EXPIRES_NS);
    let renewed = RefCell::new(elsewhere(1).unwrap());
    drop(elsewhere(2));
    let renews = |watched_ns| {
        if watched_ns == RENEWED_NS {
            renewed.borrow_mut().renew(RENEWED_NS).unwrap();
        }
    };
    let machine = Machine { meanwhile: Some(&renews), ..Machine::default() };
    let refused = prepare::refuse_used(&*place.store, &nine, &machine);
    assert!(matches!(refused, Err(LeaseError::Written(by)) if by.id == 1));
    assert_eq!(machine.watched_ns.get(), RENEWED_NS, "it is known at once");
}

/// A run begins to write between any two calls by which `clean` takes a root and gives it back, and `clean` ends between any two by which
/// a run begins: it is refused, or it is seen, and another `clean` leaves nothing.
#[test]
fn a_lease_that_is_taken_while_clean_goes_is_seen() {
    let shared = |store: Killed| Arc::new(store) as SharedStore;
    let judged = |store: &MemoryStore, taken: Result<Lease, LeaseError>, calls: i64| {
        match taken {
            Err(LeaseError::Removed(by)) => assert_eq!(by.id, 9),
            Err(error) => panic!("before call {calls}: {error}"),
            Ok(lease) => {
                let refused = refuse_used(store);
                assert!(matches!(refused, Err(LeaseError::Written(_))), "before call {calls}");
                lease.release().unwrap();
            }
        }
        removes(&(Arc::new(store.clone()) as SharedStore)).unwrap().release().unwrap();
        assert_eq!(store.names(), Vec::<String>::new(), "before call {calls}");
    };
    for calls in 0.. {
        let (store, taken) = (MemoryStore::default(), Arc::new(Mutex::new(None)));
        let (other, begun) = (store.clone(), Arc::clone(&taken));
        let begins = move || {
            *begun.lock().unwrap() = Some(writes(&(Arc::new(other.clone()) as SharedStore), 1));
        };
        match removes(&shared(Killed::never(&store, calls, begins))) {
            Ok(lease) => lease.release().unwrap(),
            Err(error) => assert!(matches!(error, LeaseError::Written(_)), "before call {calls}: {error}"),
        }
        let Some(taken) = taken.lock().unwrap().take() else {
            assert!(calls > 10, "it was never between");
            break;
        };
        judged(&store, taken, calls);
    }
    for calls in 0.. {
        let (store, is_over) = (MemoryStore::default(), Arc::new(Mutex::new(false)));
        let last = Mutex::new(Some(removes(&(Arc::new(store.clone()) as SharedStore)).unwrap()));
        let over = Arc::clone(&is_over);
        let ends = move || {
            last.lock().unwrap().take().unwrap().release().unwrap();
            *over.lock().unwrap() = true;
        };
        let taken = writes(&shared(Killed::never(&store, calls, ends)), 1);
        if !*is_over.lock().unwrap() {
            assert!(calls > 3, "it was never between");
            break;
        }
        judged(&store, taken, calls);
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
