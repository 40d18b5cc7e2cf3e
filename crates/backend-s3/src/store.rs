//! [`S3Store`]: a bucket, or what lies below a prefix of it.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use backend::{
    CacheAction, Entry, IoQueue, Limits, ObjectWriter, Owned, QueueSpec, Residency, Store, StoreError, Summed,
};
use backend_http::{Asking, ByteRange, REPLY_TIMEOUT, Seen, Way, connections, content_range, open};
use backend_net::{refuse_on_objects, refuse_page_cache};
use dataset::{Key, MARKER_BYTES_MAX, MARKER_NAME, Marker, Objects};
use plan::{Addresses, Operation, S3_PUT_BYTES_MAX, S3Config};

use crate::open::Bucket;
use crate::request::Encoder;
use crate::sdk::SdkQueue;
use crate::write::{self, S3Writer};
use crate::{failure, listing, sums};

/// What a marker says beside what every store's does: the number of prefixes that the objects of its folder are spread
/// over. Absent where it is 1.
const PREFIXES: &str = "prefixes";

/// Objects below a prefix of a bucket.
#[derive(Debug)]
pub struct S3Store {
    bucket: Arc<Bucket>,
    client: Client,
    /// Whether the service keeps to `If-None-Match`, once it was tried.
    conditional: OnceLock<bool>,
    /// Whether the bucket keeps the objects that are replaced, once it was asked.
    versioned: OnceLock<bool>,
    /// ETags of the objects that were last asked for.
    seen: Seen,
}

/// The engine that reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    Lean,
    Sdk,
}

impl Client {
    /// The engine's name, as scenarios and records have it.
    fn name(self) -> &'static str {
        match self {
            Self::Lean => "lean",
            Self::Sdk => "sdk",
        }
    }
}

impl S3Store {
    /// A bucket that is read by requests written by hand.
    pub fn lean(config: &S3Config) -> Result<Self, StoreError> {
        Self::lean_with(config, REPLY_TIMEOUT)
    }

    /// As [`S3Store::lean`], with another patience for a whole reply than 30 s.
    pub fn lean_with(config: &S3Config, reply: Duration) -> Result<Self, StoreError> {
        if config.checksum {
            return Err(StoreError::Unavailable {
                what: "checksum = true".to_owned(),
                reason: "the engine `lean` leaves bytes where the kernel put them and computes no checksums"
                    .to_owned(),
                hint: "leave it out, or use engine = \"sdk\", which verifies".to_owned(),
            });
        }
        Self::open(config, Client::Lean, reply)
    }

    /// A bucket that is read by the AWS SDK.
    pub fn sdk(config: &S3Config) -> Result<Self, StoreError> {
        Self::sdk_with(config, REPLY_TIMEOUT)
    }

    /// As [`S3Store::sdk`], with another patience for a whole reply than 30 s.
    pub fn sdk_with(config: &S3Config, reply: Duration) -> Result<Self, StoreError> {
        if config.addresses == Addresses::All {
            return Err(StoreError::Unavailable {
                what: "addresses = \"all\"".to_owned(),
                reason: "the engine `sdk` connects by name, and its HTTP client chooses the address"
                    .to_owned(),
                hint: "leave it out, or use engine = \"lean\", which spreads connections over all".to_owned(),
            });
        }
        Self::open(config, Client::Sdk, reply)
    }

    fn open(config: &S3Config, client: Client, reply: Duration) -> Result<Self, StoreError> {
        let bucket = Arc::new(Bucket::open(config, reply)?);
        Ok(Self {
            bucket,
            client,
            conditional: OnceLock::new(),
            versioned: OnceLock::new(),
            seen: Seen::default(),
        })
    }

    /// Whether the service keeps to conditions; tried once, on the marker of a folder of feedline's own.
    fn is_conditional(&self, owned: &Owned) -> Result<bool, StoreError> {
        if let Some(known) = self.conditional.get() {
            return Ok(*known);
        }
        let not_owned = || StoreError::NotOwned { folder: owned.folder().clone() };
        let key = owned.folder().join(MARKER_NAME).map_err(|_| not_owned())?;
        let mut text = vec![0; MARKER_BYTES_MAX];
        let length = self.read_at(&key, 0, &mut text)?;
        text.truncate(length);
        // Tried on the service itself: some answer 200 to a condition that they do not know.
        let found = write::keeps_conditions(&self.bucket, owned.folder(), text)?;
        Ok(*self.conditional.get_or_init(|| found))
    }

    /// Refuses a folder whose objects lie where this store does not look for them.
    fn is_spread_alike(&self, marker: &Key, text: &[u8]) -> Result<(), StoreError> {
        let written: Option<u64> = serde_json::from_slice::<serde_json::Value>(text)
            .ok()
            .and_then(|text| text.get(PREFIXES)?.as_u64());
        let (written, own) = (written.unwrap_or(1), self.bucket.names.spread());
        // With another number the keys are other ones: objects would be missed, and a clean would leave them.
        if written == u64::from(own) {
            return Ok(());
        }
        let folder = marker.folder().map_or_else(String::new, |folder| folder.to_string());
        Err(StoreError::Unavailable {
            what: format!("`{}`", self.bucket.shown(&format!("{}{folder}", self.bucket.names.prefix()))),
            reason: format!("it was written with prefixes = {written}, and here prefixes = {own}"),
            hint: format!("use (or clean with) the scenario that wrote it, or write prefixes = {written}"),
        })
    }

    fn asking(&self, spec: &QueueSpec<'_>) -> Asking {
        let config = &self.bucket.config;
        Asking {
            objects: Arc::clone(spec.objects),
            etags: self.seen.of(spec.objects),
            operation: spec.operation,
            block_bytes: spec.block_bytes,
            part_bytes: config.part_bytes,
            head: config.head,
            roots: self.bucket.names.spread(),
        }
    }

    /// Refuses a queue that writes whole objects where it may not, or cannot.
    fn may_replace(&self, spec: &QueueSpec<'_>) -> Result<(), StoreError> {
        // Whatever was asked for: a bucket has one promise, that what it has answered to is kept.
        spec.may_write()?;
        let unavailable = |reason: String, hint: &str| {
            let what = format!("operation \"{}\"", Operation::WriteFile.name());
            Err(StoreError::Unavailable { what, reason, hint: hint.to_owned() })
        };
        let largest = spec.objects.bytes_max();
        if largest > S3_PUT_BYTES_MAX {
            let reason = format!("one PUT takes at most {S3_PUT_BYTES_MAX} B, and an object has {largest} B");
            return unavailable(reason, "write a smaller dataset.sample_size");
        }
        if *self.versioned.get_or_init(|| write::keeps_versions(&self.bucket)) {
            let reason =
                "the bucket keeps a version of every object that is replaced, and `clean` removes none";
            return unavailable(reason.to_owned(), "use a bucket without versioning");
        }
        // What a queue of reads has seen of them is about to be replaced.
        self.seen.forget();
        Ok(())
    }

    fn open_lean(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        let bucket = &self.bucket;
        let (tls, reply_timeout) = (bucket.tls.as_ref(), bucket.reply_timeout);
        let way = Way { addresses: &bucket.addresses, tls, reply_timeout };
        let encoder =
            Encoder::new(&bucket.endpoint, &bucket.names, spec.objects, bucket.keyring.as_ref(), spec.clock);
        open(encoder, self.asking(spec), way, spec)
    }
}

impl Store for S3Store {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let (bucket, config) = (&*self.bucket, &self.bucket.config);
        let addresses: Vec<String> = bucket.addresses.iter().map(ToString::to_string).collect();
        let yes = |set: bool| if set { "yes" } else { "no" }.to_owned();
        let mut facts = vec![
            ("file_system", "s3".to_owned()),
            ("endpoint", bucket.endpoint.shown()),
            ("endpoint_addresses", addresses.join(" ")),
            ("region", bucket.endpoint.region.clone()),
            ("bucket_style", if bucket.endpoint.path_style { "path" } else { "virtual" }.to_owned()),
            ("tls", yes(bucket.endpoint.origin.https)),
            (
                "credentials",
                bucket.keyring.as_ref().map_or_else(|| "anonymous".to_owned(), |keyring| keyring.kind()),
            ),
            ("client", self.client.name().to_owned()),
            ("head_before_get", yes(config.head)),
            ("checksums_asked", yes(config.checksum)),
            ("part_bytes", config.part_bytes.map_or_else(|| "none".to_owned(), |bytes| bytes.to_string())),
            ("prefixes", config.prefixes.to_string()),
        ];
        if bucket.addresses.iter().any(|address| backend_net::is_local(*address)) {
            facts.push(("server_is_local", "true".to_owned()));
        }
        if bucket.emulated {
            facts.push(("emulated_by", "feedline".to_owned()));
        }
        facts
    }

    fn network_interface(&self) -> Option<String> {
        backend_net::interface_to(*self.bucket.addresses.first()?)
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
        listing::list(&self.bucket, prefix, each)
    }

    fn folders(&self) -> Result<Vec<Key>, StoreError> {
        listing::folders(&self.bucket)
    }

    fn stat(&self, key: &Key) -> Result<Option<Entry>, StoreError> {
        listing::stat(&self.bucket, key)
    }

    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        if buf.is_empty() {
            return Ok(0);
        }
        let bucket = &self.bucket;
        let physical = bucket.names.of(key);
        let range = ByteRange { offset, len: buf.len() as u64 };
        let asked =
            bucket.client.get_object().bucket(&bucket.config.bucket).key(&physical).range(range.header());
        let broken = |reason: String| StoreError::Object {
            action: "read",
            object: bucket.shown(&physical),
            source: std::io::Error::other(reason),
        };
        bucket.runtime.run(async {
            let mut reply = match asked.send().await {
                Ok(reply) => reply,
                Err(error) => {
                    let failed = bucket.failed(&error);
                    // Nothing lies behind the end.
                    let past = failed.status == 416;
                    return if past {
                        Ok(0)
                    } else {
                        Err(failed.into_store("read", &bucket.shown(&physical)))
                    };
                }
            };
            let found = reply.content_range().map(|found| content_range(found.as_bytes()));
            // A service that ignores Range sends the object from its start.
            if found.is_none() && offset > 0 {
                return Err(broken("the endpoint ignores Range".to_owned()));
            }
            if found.is_some_and(|found| found.is_none_or(|found| found.first != offset)) {
                return Err(broken("its Content-Range is not what was asked".to_owned()));
            }
            let mut filled = 0;
            while let Some(piece) = reply.body.next().await {
                let piece = piece.map_err(|error| broken(failure::causes(&error)))?;
                let room = piece.len().min(buf.len() - filled);
                buf[filled..filled + room].copy_from_slice(&piece[..room]);
                filled += room;
            }
            Ok(filled)
        })
    }

    fn read_summed(&self, key: &Key, bytes_max: u64, limit_ns: u64) -> Result<Option<Summed>, StoreError> {
        sums::read(&self.bucket, key, bytes_max, Duration::from_nanos(limit_ns))
    }

    fn create_folder(&self, folder: &Key, marker: &Marker) -> Result<Owned, StoreError> {
        let mut text = serde_json::to_value(marker).unwrap_or_default();
        if self.bucket.names.spread() > 1 {
            text[PREFIXES] = self.bucket.names.spread().into();
        }
        write::create_folder(&self.bucket, folder, serde_json::to_vec_pretty(&text).unwrap_or_default())?;
        Owned::claim(self, folder)
    }

    fn read_marker(&self, key: &Key) -> Result<Option<Marker>, StoreError> {
        let mut text = vec![0; MARKER_BYTES_MAX];
        match self.read_at(key, 0, &mut text) {
            Ok(bytes) => match serde_json::from_slice(&text[..bytes]) {
                Ok(marker) => self.is_spread_alike(key, &text[..bytes]).map(|()| Some(marker)),
                Err(_) => Ok(None),
            },
            Err(StoreError::Object { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn create(&self, owned: &Owned, key: &Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        owned.refuse_others(key)?;
        self.seen.forget();
        let conditional = self.is_conditional(owned)?;
        Ok(Box::new(S3Writer::new(&self.bucket, key, conditional)?))
    }

    fn remove(&self, owned: &Owned, key: &Key) -> Result<(), StoreError> {
        owned.refuse_others(key)?;
        self.seen.forget();
        if owned.folder().join(MARKER_NAME).is_ok_and(|marker| marker == *key) {
            // Without the marker nobody would find again what is left.
            self.read_marker(key)?;
            write::end_uploads(&self.bucket, owned.folder());
        }
        write::remove(&self.bucket, key)
    }

    fn remove_empty_folder(&self, owned: &Owned, key: &Key) -> Result<bool, StoreError> {
        if owned.folder() != key {
            owned.refuse_others(key)?;
        }
        listing::is_empty(&self.bucket, key)
    }

    fn cache(&self, _action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        Ok(Residency::user_space(objects))
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        refuse_page_cache(self.client.name(), spec.cache)?;
        refuse_on_objects("S3", spec.operation)?;
        if spec.operation == Operation::WriteFile {
            self.may_replace(spec)?;
        }
        match self.client {
            Client::Lean => self.open_lean(spec),
            Client::Sdk => {
                Ok(Box::new(SdkQueue::open(&self.bucket, self.asking(spec), connections(spec), spec)?))
            }
        }
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }
}
