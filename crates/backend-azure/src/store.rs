//! [`AzureStore`]: a container, or what lies below a prefix of it.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use backend::{
    CacheAction, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, Store, StoreError,
};
use backend_http::{Asking, ByteRange, REPLY_TIMEOUT, Seen, Way, open};
use backend_net::{refuse_on_objects, refuse_page_cache};
use dataset::{Key, MARKER_BYTES_MAX, Marker, Objects};
use plan::{AZURE_PUT_BYTES_MAX, AzureConfig, Operation};

use crate::asked::Request;
use crate::container::Container;
use crate::request::{Encoder, Writer};
use crate::{listing, write};

/// The engine, as scenarios and records have it.
const ENGINE: &str = "lean";

/// Objects below a prefix of a container.
#[derive(Debug)]
pub struct AzureStore {
    container: Arc<Container>,
    seen: Seen,
}

impl AzureStore {
    /// A container that is reached.
    ///
    /// # Errors
    /// Why it cannot be: no account, nothing that authorises, no connection, no such container.
    pub fn open(config: &AzureConfig) -> Result<Self, StoreError> {
        Self::open_with(config, REPLY_TIMEOUT, |name| std::env::var(name).ok())
    }

    /// As [`AzureStore::open`], with another patience for a whole reply than 30 s, and with these variables in place of the
    /// environment's.
    ///
    /// # Errors
    /// As [`AzureStore::open`].
    pub fn open_with(
        config: &AzureConfig,
        reply: Duration,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, StoreError> {
        let container = Arc::new(Container::open(config, reply, variable)?);
        Ok(Self { container, seen: Seen::default() })
    }

    /// Refuses a queue that writes whole blobs where it may not, or cannot.
    fn may_replace(&self, spec: &QueueSpec<'_>) -> Result<(), StoreError> {
        // Whatever was asked for: a container has one promise, that what it has answered to is kept.
        spec.may_write()?;
        let largest = spec.objects.bytes_max();
        if largest > AZURE_PUT_BYTES_MAX {
            return Err(StoreError::Unavailable {
                what: format!("operation \"{}\"", Operation::WriteFile.name()),
                reason: format!(
                    "one request takes at most {AZURE_PUT_BYTES_MAX} B, and a blob has {largest} B"
                ),
                hint: "write a smaller dataset.sample_size".to_owned(),
            });
        }
        // What a queue of reads has seen of them is about to be replaced.
        self.seen.forget();
        Ok(())
    }
}

impl Store for AzureStore {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let (container, config) = (&*self.container, &self.container.config);
        let addresses: Vec<String> = container.addresses.iter().map(ToString::to_string).collect();
        let yes = |set: bool| if set { "yes" } else { "no" }.to_owned();
        let mut facts = vec![
            ("file_system", "azure".to_owned()),
            ("endpoint", container.origin.shown()),
            ("endpoint_addresses", addresses.join(" ")),
            ("tls", yes(container.origin.https)),
            ("credentials", container.rights.kind()),
            ("client", ENGINE.to_owned()),
            ("head_before_get", yes(config.head)),
            ("part_bytes", config.part_bytes.map_or_else(|| "none".to_owned(), |bytes| bytes.to_string())),
        ];
        if container.addresses.iter().any(|address| backend_net::is_local(*address)) {
            facts.push(("server_is_local", "true".to_owned()));
        }
        facts
    }

    fn network_interface(&self) -> Option<String> {
        backend_net::interface_to(*self.container.addresses.first()?)
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        // Ranges begin at any byte, and nothing of the kernel's lies between.
        Ok(Limits { direct_align_bytes: Some(1), page_cache: false })
    }

    fn list(
        &self,
        prefix: Option<&Key>,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        listing::list(&self.container, prefix, each)
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        listing::folders(&self.container)
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        listing::stat(&self.container, key)
    }

    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        if buf.is_empty() {
            return Ok(0);
        }
        let container = &self.container;
        let mut path = Vec::new();
        container.place.write(key.as_str(), &mut path);
        let range = ByteRange { offset, len: buf.len() as u64 };
        let asked = Request { range: Some(range), ..Request::new("GET", &path) };
        let reply = match container.caller.call(&asked, &[], buf.len()) {
            Ok(reply) => reply,
            // Nothing lies behind the end.
            Err(failed) if failed.status == 416 => return Ok(0),
            Err(failed) => return Err(failed.into_store("read", &listing::shown(container, key))),
        };
        // A service that ignores Range sends the blob from its start.
        let is_whole = reply.status == 200 && offset == 0;
        if !is_whole && reply.range.is_none_or(|found| found.first != offset) {
            return Err(StoreError::Object {
                action: "read",
                object: listing::shown(container, key),
                source: io::Error::other("its Content-Range is not what was asked"),
            });
        }
        buf[..reply.body.len()].copy_from_slice(&reply.body);
        Ok(reply.body.len())
    }

    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError> {
        let text = serde_json::to_vec_pretty(marker).unwrap_or_default();
        write::create_folder(&self.container, folder, &text)?;
        Owned::claim(self, folder)
    }

    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError> {
        let mut text = vec![0; MARKER_BYTES_MAX];
        match self.read_at(key, 0, &mut text) {
            Ok(bytes) => Ok(serde_json::from_slice(&text[..bytes]).ok()),
            Err(StoreError::Object { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        owned.refuse_others(key)?;
        self.seen.forget();
        Ok(Box::new(write::AzureWriter::new(&self.container, key)))
    }

    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError> {
        owned.refuse_others(key)?;
        self.seen.forget();
        write::remove(&self.container, key)
    }

    fn remove_empty_folder(&self, owned: &Owned, key: &Key) -> Result<bool, StoreError> {
        if owned.folder() != key {
            owned.refuse_others(key)?;
        }
        listing::is_empty(&self.container, key)
    }

    fn cache(&self, _action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        Ok(Residency::user_space(objects))
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        refuse_page_cache(ENGINE, spec.cache)?;
        refuse_on_objects("Azure Blob Storage", spec.operation)?;
        if spec.operation == Operation::WriteFile {
            self.may_replace(spec)?;
        }
        let (container, config) = (&*self.container, &self.container.config);
        let asking = Asking {
            objects: Arc::clone(spec.objects),
            etags: self.seen.of(spec.objects),
            operation: spec.operation,
            block_bytes: spec.block_bytes,
            part_bytes: config.part_bytes,
            head: config.head,
            roots: 1,
        };
        let writer = Writer::new(container.origin.authority(), container.rights.clone());
        let encoder = Encoder::new(writer, &container.place, spec.objects, spec.clock);
        let (tls, reply_timeout) = (container.tls.as_ref(), container.reply_timeout);
        open(encoder, asking, Way { addresses: &container.addresses, tls, reply_timeout }, spec)
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }
}
