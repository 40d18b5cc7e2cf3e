//! Who measures a dataset, or writes one, that lies where no lock of this machine reaches: on a server, or in a bucket.
//!
//! A lease is a small object in a folder beside the marker. Each process writes one of its own and none of another's, so that
//! nothing is asked of the storage but that an object which was written is listed. A process that finds another's lease before or
//! after it wrote its own does not measure; of two that begin at one time neither may. Processes of one group, as ranks and
//! variants are, do not mind each other.
//!
//! A lease is renewed: the next one is written under the next number, and the one before is removed. One that another process
//! of this machine left is known by that process. Of all others only watching tells: one whose number stays for [`EXPIRES_NS`]
//! is nobody's any more. So no clock of another host matters, and none of the server's.
//!
//! Of what is being written there is no marker yet that a lease could lie beside, or nobody knows it: datasets, copies, checkpoints. Who
//! writes below a root has a lease in a folder for that alone, which all who write share, and which `clean` takes for itself and
//! removes.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::ControlFlow;

use backend::{Owned, SharedStore, Store, StoreError};
use dataset::{Key, MANIFEST_FORMAT, MARKER_NAME, Marker};
use serde_json::{Value, json};

use crate::removal::child;

/// Folder of the leases on a dataset, below its own.
pub(crate) const FOLDER: &str = "leases";

/// Folder of the leases of those who write below a root, and what its marker says in the place of a dataset.
const USE: &str = "feedline-in-use";

/// How often a lease is to be renewed.
pub const RENEWED_NS: u64 = 20_000_000_000;

/// How long a lease stays as it is before it is nobody's: four renewals that were missed, and a slow one.
pub const EXPIRES_NS: u64 = 90_000_000_000;

/// Between two looks at a lease that is watched.
const LOOK_NS: u64 = 2_000_000_000;

/// How often a lease may be renewed between its listing and its reading, which follow each other at once.
const RENEWED_MEANWHILE: u32 = 1;

/// How often the folder of those who write below a root is marked until its marker stays.
const MARKED_ANEW: u32 = 3;

/// More than any lease has.
const BYTES_MAX: usize = 4096;

/// A process that measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// What no other process has.
    pub id: u64,
    /// Its number on its host.
    pub process: u32,
    /// When it started there, which tells it from others that had its number.
    pub started: u64,
    /// Its host, by name.
    pub host: String,
    /// Where its number counts: this start of its host, and the container on it.
    pub boot: String,
    /// What it measures with others, who share the dataset; alone where absent.
    pub group: Option<String>,
}

impl Holder {
    fn shares_with(&self, other: &Self) -> bool {
        self.id == other.id || (self.group.is_some() && self.group == other.group)
    }

    fn name(&self, generation: u64) -> String {
        format!("{:016x}-{generation:08}", self.id)
    }

    fn text(&self) -> String {
        let Self { process, started, host, boot, group, .. } = self;
        json!({ "process": process, "started": started, "host": host, "boot": boot, "group": group })
            .to_string()
    }

    /// The holder that the lease of this identifier says; one that says nothing is held by somebody all the same.
    fn read(id: u64, text: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(text).unwrap_or_default();
        let word = |name: &str| value[name].as_str().map(str::to_owned);
        let process = value["process"].as_u64().and_then(|process| u32::try_from(process).ok());
        Self {
            id,
            process: process.unwrap_or(0),
            started: value["started"].as_u64().unwrap_or(0),
            host: word("host").unwrap_or_else(|| "an unknown host".to_owned()),
            boot: word("boot").unwrap_or_default(),
            group: word("group"),
        }
    }
}

/// What is known on this machine of another process, and how time passes.
pub trait Watch {
    /// Whether a process is there; `None` of one on another host.
    fn is_alive(&self, holder: &Holder) -> Option<bool>;

    /// Is told whose lease is watched, for how long at most.
    fn begins(&self, holder: &Holder, at_most_ns: u64);

    /// Lets time pass; whether to go on.
    fn pass(&self, ns: u64) -> bool;
}

/// Why a dataset cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Another run measures it.
    #[error(
        "`{folder}` is being measured by another run (process {} on {})\n  \
         hint: wait for its end, or give this run a folder of its own",
        holder.process, holder.host
    )]
    Held {
        /// The folder of the dataset.
        folder: Key,
        /// Who has it.
        holder: Holder,
    },
    /// Another run writes below the root.
    #[error("another run writes there (process {} on {})\n  hint: wait for its end", .0.process, .0.host)]
    Written(Holder),
    /// What feedline wrote below the root is being removed.
    #[error("`feedline clean` removes what is there (process {} on {})\n  hint: wait for its end", .0.process, .0.host)]
    Removed(Holder),
    /// A signal came while a lease was watched.
    #[error("interrupted while the lease of another run was watched")]
    Interrupted,
    /// The storage refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A lease that is held. It is removed by [`Lease::release`]; one that a killed process leaves is nobody's soon.
pub struct Lease {
    store: SharedStore,
    owned: Owned,
    holder: Holder,
    /// Numbers under which it may be found, rising: a renewal that was answered by an error may have taken effect.
    generations: Vec<u64>,
    /// Time since it was renewed last.
    unheard_ns: u64,
}

/// What came of the renewal of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renewed {
    /// It is held.
    Held,
    /// It was not renewed for so long that another run could take it for nobody's, and has done so.
    Lost(Holder),
}

impl Lease {
    /// Takes the dataset in `folder`, which carries feedline's marker, for `holder`. `None` where the storage takes no writes: then
    /// nobody there can be told.
    ///
    /// # Errors
    /// [`LeaseError::Held`] by another, and what the storage refuses.
    pub fn take(
        store: &SharedStore,
        folder: &Key,
        holder: Holder,
        watch: &dyn Watch,
    ) -> Result<Option<Self>, LeaseError> {
        let owned = Owned::claim(&**store, folder)?;
        Leases { store: &**store, owned: &owned }.refuse_held(Some(&holder), watch)?;
        let store = SharedStore::clone(store);
        let lease = Self { store, owned, holder, generations: vec![0], unheard_ns: 0 };
        match lease.write(0) {
            Err(error) if takes_no_writes(&error) => return Ok(None),
            written => written?,
        }
        // Who began at the same time found none before.
        let refused = match lease.other() {
            Ok(None) => return Ok(Some(lease)),
            Ok(Some(holder)) => held(folder.clone(), holder),
            Err(error) => error.into(),
        };
        lease.release()?;
        Err(refused)
    }

    /// Takes the root of a store to write below it, beside whoever else does. `None` where the storage takes no writes.
    ///
    /// # Errors
    /// [`LeaseError::Removed`], and what the storage refuses.
    pub fn to_write(
        store: &SharedStore,
        holder: Holder,
        watch: &dyn Watch,
    ) -> Result<Option<Self>, LeaseError> {
        Self::of_root(store, &Holder { group: Some(USE.to_owned()), ..holder }, watch)
    }

    /// Takes the root of a store for the group of `holder`, to remove what lies below it. `None` where the storage takes no writes.
    ///
    /// # Errors
    /// [`LeaseError::Written`] by a run, [`LeaseError::Removed`] by another process, and what the storage refuses.
    pub fn to_remove(
        store: &SharedStore,
        holder: &Holder,
        watch: &dyn Watch,
    ) -> Result<Option<Self>, LeaseError> {
        Self::of_root(store, holder, watch)
    }

    fn of_root(store: &SharedStore, holder: &Holder, watch: &dyn Watch) -> Result<Option<Self>, LeaseError> {
        for _ in 0..MARKED_ANEW {
            let folder = match mark(&**store) {
                Err(error) if takes_no_writes(&error) => return Ok(None),
                marked => marked?,
            };
            match Self::take(store, &folder, holder.clone(), watch) {
                // It is being removed by `clean`.
                Err(LeaseError::Store(error)) if is_gone(&error) && watch.pass(LOOK_NS) => {}
                Ok(Some(lease)) => {
                    // `clean` may have seen no lease before this one was written, and removed the marker since.
                    lease.mark_anew()?;
                    return Ok(Some(lease));
                }
                taken => return taken,
            }
        }
        Err(StoreError::NotOwned { folder: root_folder()? }.into())
    }

    /// Writes the marker of its folder where it is gone.
    fn mark_anew(&self) -> Result<(), StoreError> {
        if self.is_marked()? {
            return Ok(());
        }
        // A folder of a file system is not marked by that where a lease lies in it; a bucket's has more to say than is known here.
        mark(&*self.store)?;
        if self.is_marked()? {
            return Ok(());
        }
        let text = serde_json::to_vec(&root_marker()).unwrap_or_default();
        let key = child(self.owned.folder(), MARKER_NAME);
        let written = self.store.create(&self.owned, &key).and_then(|mut writer| {
            writer.write(&text)?;
            writer.finish()
        });
        match written {
            // Another process did so a moment ago.
            Err(StoreError::Exists { .. }) => Ok(()),
            written => written,
        }
    }

    fn is_marked(&self) -> Result<bool, StoreError> {
        let key = child(self.owned.folder(), MARKER_NAME);
        Ok(self.store.read_marker(&key)?.is_some())
    }

    /// Renews the lease, `passed_ns` after it was taken or this was called last.
    ///
    /// # Errors
    /// What the storage refuses; the next call tries again, under another number.
    pub fn renew(&mut self, passed_ns: u64) -> Result<Renewed, StoreError> {
        self.unheard_ns = self.unheard_ns.saturating_add(passed_ns);
        let next = self.generations.last().map_or(0, |last| last + 1);
        self.generations.push(next);
        if is_of_root(self.owned.folder()) {
            self.mark_anew()?;
        }
        self.write(next)?;
        // Only now: while nobody could take it for nobody's, there is nobody to look for.
        let other = if self.unheard_ns > EXPIRES_NS { self.other()? } else { None };
        self.unheard_ns = 0;
        self.remove_all_but(1)?;
        Ok(other.map_or(Renewed::Held, Renewed::Lost))
    }

    /// Removes the lease.
    ///
    /// # Errors
    /// What the storage refuses.
    pub fn release(mut self) -> Result<(), StoreError> {
        self.remove_all_but(0)?;
        self.store.remove_empty_folder(&self.owned, &child(self.owned.folder(), FOLDER))?;
        let is_of_clean = is_of_root(self.owned.folder()) && self.holder.group.as_deref() != Some(USE);
        if is_of_clean { self.remove_folder() } else { Ok(()) }
    }

    /// Removes the folder of the leases on a root, unless there is another one.
    fn remove_folder(&self) -> Result<(), StoreError> {
        let is_used = || Leases { store: &*self.store, owned: &self.owned }.all().map(|all| !all.is_empty());
        if is_used()? {
            return Ok(());
        }
        self.remove(&child(self.owned.folder(), MARKER_NAME))?;
        // One that was taken since found the marker, and is not seen without.
        if is_used()? {
            return self.mark_anew();
        }
        self.store.remove_empty_folder(&self.owned, self.owned.folder()).map(drop)
    }

    /// Another run that has a lease on the dataset.
    fn other(&self) -> Result<Option<Holder>, StoreError> {
        let leases = Leases { store: &*self.store, owned: &self.owned };
        Ok(leases.others(Some(&self.holder))?.into_iter().next().map(|(holder, _)| holder))
    }

    /// Removes all but the `kept` last of the numbers under which it may be found.
    fn remove_all_but(&mut self, kept: usize) -> Result<(), StoreError> {
        while self.generations.len() > kept {
            // It may never have been written, or another run that took it for nobody's has removed it.
            self.remove(&self.key(self.generations[0]))?;
            self.generations.remove(0);
        }
        Ok(())
    }

    /// Removes what may be gone.
    fn remove(&self, key: &Key) -> Result<(), StoreError> {
        match self.store.remove(&self.owned, key) {
            Err(error) if is_missing(&error) => Ok(()),
            removed => removed,
        }
    }

    fn write(&self, generation: u64) -> Result<(), StoreError> {
        let mut writer = self.store.create(&self.owned, &self.key(generation))?;
        writer.write(self.holder.text().as_bytes())?;
        writer.finish()
    }

    fn key(&self, generation: u64) -> Key {
        child(&child(self.owned.folder(), FOLDER), &self.holder.name(generation))
    }
}

/// Whether its folder went meanwhile.
fn is_gone(error: &StoreError) -> bool {
    matches!(error, StoreError::NotOwned { .. }) || is_missing(error)
}

fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::Object { source, .. } if source.kind() == ErrorKind::NotFound)
}

fn takes_no_writes(error: &StoreError) -> bool {
    let StoreError::Object { source, .. } = error else { return false };
    matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Whether it is the folder of those who write below a root.
pub(crate) fn is_of_root(folder: &Key) -> bool {
    folder.as_str() == USE
}

fn held(folder: Key, holder: Holder) -> LeaseError {
    match holder.group.as_deref() {
        _ if !is_of_root(&folder) => LeaseError::Held { folder, holder },
        Some(USE) => LeaseError::Written(holder),
        _ => LeaseError::Removed(holder),
    }
}

fn root_folder() -> Result<Key, StoreError> {
    Key::new(USE).map_err(|_| StoreError::Unsupported { store: "a lease", action: "be named" })
}

fn root_marker() -> Marker {
    Marker {
        format: MANIFEST_FORMAT,
        note: "feedline tells here who writes beside this folder; `feedline clean` removes it".to_owned(),
        dataset: USE.to_owned(),
    }
}

/// Makes the folder of those who write below the root, where it is not there.
fn mark(store: &dyn Store) -> Result<Key, StoreError> {
    let folder = root_folder()?;
    if store.read_marker(&child(&folder, MARKER_NAME))?.is_some() {
        return Ok(folder);
    }
    match store.create_folder(&folder, &root_marker()) {
        // Another process made it a moment ago.
        Err(StoreError::Exists { .. }) => Ok(folder),
        made => made.map(|_| folder),
    }
}

/// Refuses a folder of feedline's that anybody but `own` has. Leases that are nobody's any more go.
///
/// # Errors
/// [`LeaseError::Held`], and what the storage refuses.
pub(crate) fn refuse_held(
    store: &dyn Store,
    folder: &Key,
    own: &Holder,
    watch: &dyn Watch,
) -> Result<(), LeaseError> {
    let owned = Owned::claim(store, folder)?;
    Leases { store, owned: &owned }.refuse_held(Some(own), watch)
}

/// Whether `key` is that of a lease on the dataset in `folder`.
pub(crate) fn is_lease(folder: &Key, key: &Key) -> bool {
    let below = key.as_str().strip_prefix(child(folder, FOLDER).as_str());
    below.and_then(|name| name.strip_prefix('/')).and_then(parse).is_some()
}

/// Identifier and number of a lease, by its name.
fn parse(name: &str) -> Option<(u64, u64)> {
    let (id, generation) = name.split_once('-')?;
    (id.len() == 16).then_some(())?;
    Some((u64::from_str_radix(id, 16).ok()?, generation.parse().ok()?))
}

/// The leases on one dataset.
struct Leases<'a> {
    store: &'a dyn Store,
    owned: &'a Owned,
}

impl Leases<'_> {
    /// Refuses leases of others than `own`; those that are nobody's are removed.
    fn refuse_held(&self, own: Option<&Holder>, watch: &dyn Watch) -> Result<(), LeaseError> {
        let mut unknown = Vec::new();
        for (holder, keys) in self.holders(own)? {
            let shares = own.is_some_and(|own| holder.shares_with(own));
            match watch.is_alive(&holder) {
                Some(false) => self.remove(keys)?,
                _ if shares => {}
                Some(true) => return Err(held(self.owned.folder().clone(), holder)),
                None => unknown.push(holder),
            }
        }
        if unknown.is_empty() { Ok(()) } else { self.refuse_renewed(unknown, watch) }
    }

    /// Watches leases, all of them at once: whether their holders renew them. Those that are given back meanwhile are nobody's.
    fn refuse_renewed(&self, mut unknown: Vec<Holder>, watch: &dyn Watch) -> Result<(), LeaseError> {
        watch.begins(&unknown[0], EXPIRES_NS);
        let before = self.all()?;
        let mut now = before.clone();
        for _ in 0..EXPIRES_NS / LOOK_NS {
            if !watch.pass(LOOK_NS) {
                return Err(LeaseError::Interrupted);
            }
            now = self.all()?;
            unknown.retain(|holder| now.contains_key(&holder.id));
            if let Some(at) = unknown.iter().position(|holder| now.get(&holder.id) != before.get(&holder.id))
            {
                return Err(held(self.owned.folder().clone(), unknown.swap_remove(at)));
            }
            if unknown.is_empty() {
                return Ok(());
            }
        }
        let keys = unknown.iter().filter_map(|holder| now.remove(&holder.id)).flatten();
        Ok(self.remove(keys.collect())?)
    }

    fn remove(&self, keys: Vec<Key>) -> Result<(), StoreError> {
        keys.into_iter().try_for_each(|key| self.store.remove(self.owned, &key))
    }

    /// Those who do not share the dataset with `own`.
    fn others(&self, own: Option<&Holder>) -> Result<Vec<(Holder, Vec<Key>)>, StoreError> {
        let mut others = self.holders(own)?;
        others.retain(|(holder, _)| !own.is_some_and(|own| holder.shares_with(own)));
        Ok(others)
    }

    /// All holders but `own`, and their leases.
    fn holders(&self, own: Option<&Holder>) -> Result<Vec<(Holder, Vec<Key>)>, StoreError> {
        let mut holders = Vec::new();
        for (id, keys) in self.all()? {
            // One's own need not be read.
            if own.is_some_and(|own| own.id == id) {
                continue;
            }
            // One that was given back meanwhile is nobody's.
            if let Some(holder) = self.holder(id, &keys)? {
                holders.push((holder, keys));
            }
        }
        Ok(holders)
    }

    fn all(&self) -> Result<BTreeMap<u64, Vec<Key>>, StoreError> {
        let mut all: BTreeMap<u64, Vec<Key>> = BTreeMap::new();
        let folder = child(self.owned.folder(), FOLDER);
        let listed = self.store.list(Some(&folder), &mut |entry| {
            let name = entry.key.as_str().rsplit('/').next().unwrap_or_default();
            if let Some((id, _)) = parse(name) {
                all.entry(id).or_default().push(entry.key);
            }
            ControlFlow::Continue(())
        });
        match listed {
            Err(error) if is_missing(&error) => Ok(all),
            listed => listed.map(|()| all),
        }
    }

    /// Whose lease it is of which `keys` were listed; `None` where it is there no more.
    fn holder(&self, id: u64, keys: &[Key]) -> Result<Option<Holder>, StoreError> {
        let mut text = vec![0; BYTES_MAX];
        let mut listed = keys.to_vec();
        // Renewed meanwhile, it has another key.
        for _ in 0..=RENEWED_MEANWHILE {
            for key in listed.iter().rev() {
                match self.store.read_at(key, 0, &mut text) {
                    Ok(length) => return Ok(Some(Holder::read(id, &text[..length]))),
                    Err(error) if is_missing(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            listed = self.all()?.remove(&id).unwrap_or_default();
        }
        Ok(None)
    }
}
