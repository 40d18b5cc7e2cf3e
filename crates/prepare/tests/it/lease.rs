//! Leases on datasets that lie where no lock reaches.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::Arc;

use backend::SharedStore;
use backend_file::FileStore;
use dataset::Key;
use prepare::{EXPIRES_NS, Holder, Lease, LeaseError, RENEWED_NS, Renewed, Watch};
use tempfile::TempDir;

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
    let refused = prepare::refuse_measured(&*place.store, &machine).unwrap_err().to_string();
    assert!(refused.contains("process 1 on a host"), "{refused}");
    second.release().unwrap();
    first.release().unwrap();
    prepare::refuse_measured(&*place.store, &machine).unwrap();
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
