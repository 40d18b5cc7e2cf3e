//! [`NfsStore`]: a folder on an NFS server.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use backend::{
    CacheAction, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, Store, StoreError,
};
use backend_net::refuse_page_cache;
use dataset::{Key, MARKER_BYTES_MAX, Marker, Objects};
use plan::{Durability, EMULATOR_FSID, NfsConfig, Operation};

use crate::control::{Control, runtime};
use crate::failure::Failure;
use crate::handles::Handles;
use crate::identity::Identity;
use crate::mount::Mounter;
use crate::protocol::{Asking, Nfs, Sizes};
use crate::shared::Shared;
use crate::status::Status;
use crate::tree::{Missing, Tree, split};
use crate::write::{self, NfsWriter};
use crate::xdr::FileType;
use crate::{ENGINE, Patience, listing};

/// Files below a folder on an NFS server, which need not exist before something is written.
pub struct NfsStore {
    shared: Arc<Shared>,
}

impl NfsStore {
    /// Finds the export that the path lies in, and asks what it allows. The folder itself need not exist.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the host has no address, nothing answers there, or what answers is no NFS
    /// server, has not version 3, or does not export the path to this host and user.
    pub fn open(config: &NfsConfig) -> Result<Self, StoreError> {
        Self::open_with(config, Patience::default())
    }

    /// As [`NfsStore::open`], with the caller's time-outs.
    ///
    /// # Errors
    /// As [`NfsStore::open`].
    pub fn open_with(config: &NfsConfig, patience: Patience) -> Result<Self, StoreError> {
        let what = || format!("`nfs://{}{}`", config.host, config.path);
        let runtime = runtime().map_err(|error| StoreError::Unavailable {
            what: what(),
            reason: format!("no event loop: {error}"),
            hint: "raise the limit of open files (`ulimit -n`)".to_owned(),
        })?;
        let identity = Identity::of_process();
        let credential = identity.credential();
        let mounter = Mounter { config, credential: &credential, patience, runtime: &runtime };
        let mounted = mounter.mount()?;
        let address = mounted.addresses[0];
        let failed = |failure: Failure| failure.unavailable(format!("{} (NFS at {address})", what()));
        let control = Control::new(runtime, address, credential, patience);
        let local_address = control.warm_up().map_err(failed)?;
        let facts = control.file_system_facts(&mounted.root).map_err(failed)?;
        let file_system = control.get_attributes(&mounted.root).map_err(failed)?.file_system;
        let tree = Tree::new(control, mounted.root, &mounted.below, facts.listing_bytes);
        match tree.folder("", Missing::Fail) {
            Ok(_) => {}
            // `prepare` makes the folder; for everything else the first listing says that it is not there.
            Err(failure) if failure.is(Status::NOENT) => {}
            Err(failure) => return Err(failure.unavailable(what())),
        }
        let shared = Shared {
            tree,
            config: config.clone(),
            identity,
            patience,
            facts,
            file_system,
            mounted,
            local_address,
            uploads: Mutex::default(),
            handles: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Attributes of the file `key`; `None` when nothing or something else is there.
    fn look(&self, key: &Key) -> Result<Option<(crate::xdr::Handle, crate::xdr::Attributes)>, Failure> {
        let tree = &self.shared.tree;
        let (folder, name) = split(key.as_str());
        let found = tree.fresh(|| {
            let folder = tree.folder(folder, Missing::Fail)?;
            tree.control().look(&folder, name)
        });
        match found {
            Ok((handle, attributes)) if attributes.kind == FileType::File => Ok(Some((handle, attributes))),
            Ok(_) => Ok(None),
            Err(failure) if failure.is(Status::NOENT) || failure.is(Status::NOTDIR) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn read_once(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, Failure> {
        let (file, _) = self.look(key)?.ok_or(Failure::Status(Status::NOENT))?;
        let mut filled = 0;
        while filled < buf.len() {
            let asked = buf.len() - filled;
            let (data, is_last) = self.shared.tree.control().read(&file, offset + filled as u64, asked)?;
            buf[filled..filled + data.len()].copy_from_slice(&data);
            filled += data.len();
            if is_last {
                break;
            }
            // RFC 1813 section 3.3.6 allows an empty READ only at the end, which it then says.
            if data.is_empty() {
                return Err(Failure::Protocol("READ brings nothing, and not the end".to_owned()));
            }
        }
        Ok(filled)
    }

    fn handles(&self, spec: &QueueSpec<'_>) -> Result<Arc<Handles>, StoreError> {
        // Only these go by the handles of files; others look names up while they are timed, and handles of a
        // million files take memory.
        let files = matches!(spec.operation, Operation::Read | Operation::GetAttr | Operation::Write);
        let mut kept = self.shared.handles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handles) = kept.as_ref().filter(|handles| handles.serve(spec.objects, files)) {
            return Ok(Arc::clone(handles));
        }
        let found = Handles::find(&self.shared.tree, spec.objects, files);
        let found = found.map_err(|(folder, failure)| failure.object("list", self.shared.shown(&folder)))?;
        Ok(Arc::clone(kept.insert(Arc::new(found))))
    }
}

impl Store for NfsStore {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let Shared { tree, config, facts, mounted, .. } = &*self.shared;
        let control = tree.control();
        let source_port = if control.is_privileged() {
            "privileged"
        } else {
            "any: this user may not use ports below 1024, or none was free"
        };
        let mut said = vec![
            ("file_system", "nfs, version 3 in user space".to_owned()),
            ("server", config.host.clone()),
            ("server_address", control.address().to_string()),
            ("server_addresses", mounted.addresses.len().to_string()),
            ("export", mounted.export.clone()),
            ("path", config.path.clone()),
            ("mount_port", mounted.mount_port.to_string()),
            ("source_port", source_port.to_owned()),
            ("credentials", self.shared.identity.shown()),
            ("file_system_id", format!("{:x}", self.shared.file_system)),
            ("rtmax_bytes", facts.read_bytes_max.to_string()),
            ("rtpref_bytes", facts.read_bytes_preferred.to_string()),
            ("wtmax_bytes", facts.write_bytes_max.to_string()),
            ("dtpref_bytes", facts.listing_bytes.to_string()),
        ];
        if mounted.addresses.iter().any(|address| backend_net::is_local(*address)) {
            said.push(("server_is_local", "true".to_owned()));
        }
        // feedline's own emulator, at whatever address it was given: nothing measured on it may be judged.
        if self.shared.file_system == EMULATOR_FSID {
            said.push(("emulated_by", "feedline".to_owned()));
        }
        said
    }

    fn network_interface(&self) -> Option<String> {
        self.shared
            .local_address
            .and_then(|_| backend_net::interface_to(self.shared.tree.control().address()))
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        // There is no page cache to go around.
        Ok(Limits { direct_align_bytes: None, page_cache: false })
    }

    fn list(
        &self,
        prefix: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        listing::list(&self.shared.tree, &|path| self.shared.shown(path), prefix, each)
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        listing::folders(&self.shared.tree, &|path| self.shared.shown(path))
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        let found =
            self.look(key).map_err(|failure| failure.object("look at", self.shared.shown(key.as_str())))?;
        Ok(found.map(|(_, attributes)| listing::entry(key.clone(), &attributes)))
    }

    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        let read = self.read_once(key, offset, buf);
        read.map_err(|failure| failure.object("read", self.shared.shown(key.as_str())))
    }

    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError> {
        write::create_folder(&self.shared, folder, marker)?;
        Owned::claim(self, folder)
    }

    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError> {
        let mut text = vec![0; MARKER_BYTES_MAX];
        match self.read_once(key, 0, &mut text) {
            // What does not parse proves no ownership: its folder then counts as another's and is not
            // touched.
            Ok(bytes) => Ok(serde_json::from_slice(&text[..bytes]).ok()),
            // A link or a folder of that name is no marker.
            Err(failure) if failure.is(Status::NOENT) => Ok(None),
            Err(failure) => Err(failure.object("read", self.shared.shown(key.as_str()))),
        }
    }

    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        owned.refuse_others(key)?;
        Ok(Box::new(NfsWriter::create(&self.shared, key.as_str())?))
    }

    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError> {
        owned.refuse_others(key)?;
        write::remove(&self.shared, key)
    }

    fn remove_empty_folder(&self, owned: &Owned, key: &Key) -> Result<bool, StoreError> {
        if owned.folder() != key {
            owned.refuse_others(key)?;
        }
        write::remove_empty_folder(&self.shared, key)
    }

    fn cache(&self, _action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        Ok(Residency::user_space(objects))
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        refuse_page_cache(ENGINE, spec.cache)?;
        let changes = spec.operation.changes_storage();
        let durability = if changes { spec.may_write()? } else { Durability::None };
        if spec.operation == Operation::WriteFile {
            // Files that take the place of others have handles of their own.
            self.shared.forget_handles();
        }
        let handles = self.handles(spec)?;
        let sizes = self.shared.sizes();
        let sizes = Sizes { read_bytes: sizes.read_bytes.min(spec.block_bytes.max(1)), ..sizes };
        let asking = Asking { operation: spec.operation, handles, block_bytes: spec.block_bytes, durability };
        let protocol = Nfs::for_queue(&self.shared.identity.credential(), sizes, asking);
        let settings = self.shared.settings(spec.connections.max(1), self.shared.config.addresses);
        backend_net::open(protocol, &settings, spec)
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        let free = self.shared.tree.control().free_bytes(self.shared.tree.export());
        match free {
            Ok(bytes) => Ok(Some(bytes)),
            Err(failure) if failure.is_unsupported() => Ok(None),
            Err(failure) => Err(failure.object("ask for free bytes of", self.shared.shown(""))),
        }
    }
}
