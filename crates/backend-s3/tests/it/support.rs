//! Buckets, and queues over them.

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_s3::config::{BehaviorVersion, Region};
use aws_sdk_s3::primitives::ByteStream;
use backend::StoreError;
use backend_s3::S3Store;
use plan::{Addresses, BucketStyle, Keys, S3Config, Secret};

pub(crate) use backend::conformance::objects::{
    Opened, SEED, Setup, blocks, content, key, marker, names, objects, prepare, write,
};

pub(crate) const BUCKET: &str = "bench";
/// What no text may show.
pub(crate) const ID: &str = "AKIACANARY0000000001";
pub(crate) const SECRET: &str = "wJalrCANARY/K7MDENG+bPxRfiCYKEY";

/// What reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Lean,
    Sdk,
}

pub(crate) const BOTH: [Engine; 2] = [Engine::Lean, Engine::Sdk];

impl Engine {
    pub(crate) fn open(self, config: &S3Config) -> Result<S3Store, StoreError> {
        match self {
            Self::Lean => S3Store::lean(config),
            Self::Sdk => S3Store::sdk(config),
        }
    }

    pub(crate) fn open_with(self, config: &S3Config, reply: Duration) -> Result<S3Store, StoreError> {
        match self {
            Self::Lean => S3Store::lean_with(config, reply),
            Self::Sdk => S3Store::sdk_with(config, reply),
        }
    }
}

pub(crate) fn own(id: &str, secret: &str) -> Keys {
    Keys::Own { id: id.to_owned(), secret: Secret::new(secret) }
}

pub(crate) fn config(endpoint: &str, prefix: &str) -> S3Config {
    S3Config {
        bucket: BUCKET.to_owned(),
        prefix: prefix.to_owned(),
        region: None,
        endpoint: Some(endpoint.to_owned()),
        style: BucketStyle::Auto,
        ca: None,
        keys: own(ID, SECRET),
        addresses: Addresses::First,
        part_bytes: None,
        prefixes: 1,
        head: false,
        checksum: false,
    }
}

/// A client that is not the one under test.
pub(crate) struct Client {
    runtime: tokio::runtime::Runtime,
    s3: aws_sdk_s3::Client,
}

impl Client {
    pub(crate) fn new(config: &S3Config) -> Self {
        let Keys::Own { id, secret } = &config.keys else { panic!("keys of one's own") };
        let config = aws_sdk_s3::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .endpoint_url(config.endpoint.clone().unwrap())
            .force_path_style(true)
            .credentials_provider(Credentials::new(id, secret.reveal(), None, None, "tests"))
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, s3: aws_sdk_s3::Client::from_conf(config) }
    }

    pub(crate) fn make_bucket(&self) {
        self.runtime.block_on(self.s3.create_bucket().bucket(BUCKET).send()).unwrap();
    }

    pub(crate) fn put(&self, key: &str, bytes: &[u8]) {
        let body = ByteStream::from(bytes.to_vec());
        self.runtime.block_on(self.s3.put_object().bucket(BUCKET).key(key).body(body).send()).unwrap();
    }

    pub(crate) fn keys(&self, prefix: &str) -> Vec<String> {
        let asked = self.s3.list_objects_v2().bucket(BUCKET).prefix(prefix).send();
        let page = self.runtime.block_on(asked).unwrap();
        page.contents().iter().map(|object| object.key().unwrap().to_owned()).collect()
    }

    /// Uploads that were begun and not ended; `None` where the service does not say.
    pub(crate) fn uploads(&self) -> Option<usize> {
        let asked = self.s3.list_multipart_uploads().bucket(BUCKET).send();
        self.runtime.block_on(asked).ok().map(|found| found.uploads().len())
    }
}
