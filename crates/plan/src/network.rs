//! Settings of storage behind a network, as plain data.

use std::fmt;
use std::path::PathBuf;

/// Parts of one whole object that are under way at once, at most (`part_size`).
// An object of 10 GiB in parts of 8 MiB would ask for 1,280 connections by itself; `aws s3 cp` stops at 10.
pub const PARTS_AT_ONCE_MAX: u32 = 16;

/// Bytes of the largest object that S3 takes in one PUT.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html
pub const S3_PUT_BYTES_MAX: u64 = 5 << 30;

/// Bytes of the largest blob that Azure Blob Storage takes in one request, in the version that is spoken.
// https://learn.microsoft.com/rest/api/storageservices/put-blob
pub const AZURE_PUT_BYTES_MAX: u64 = 5000 << 20;

/// A folder on an NFS server, reached without the kernel's client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsConfig {
    /// Name or address of the server, without brackets.
    pub host: String,
    /// Port of the NFS program; `None` asks the server's port mapper.
    // Servers in containers and emulated ones have no port mapper.
    pub nfs_port: Option<u16>,
    /// Port of the MOUNT program; `None` asks the server's port mapper.
    pub mount_port: Option<u16>,
    /// Absolute path on the server: an export, or a folder below one.
    pub path: String,
    /// Whether connections go to the first of the server's addresses or are spread over all.
    pub addresses: Addresses,
}

/// A bucket, or what lies below a prefix of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Config {
    /// The bucket.
    pub bucket: String,
    /// What every key begins with, without slashes at its ends; empty for the whole bucket.
    pub prefix: String,
    /// Region for the signature; `None` takes what the environment or the profile says.
    pub region: Option<String>,
    /// Base URL of a service other than AWS; `None` takes what the environment says, else AWS.
    pub endpoint: Option<String>,
    /// Where the bucket stands in a URL.
    pub style: BucketStyle,
    /// Certificates (PEM) to trust beside those of the system.
    pub ca: Option<PathBuf>,
    /// Whose requests these are.
    pub keys: Keys,
    /// Whether connections go to the first of the endpoint's addresses or are spread over all.
    pub addresses: Addresses,
    /// A whole object is fetched in parts of this size at once; `None` fetches it by one request.
    pub part_bytes: Option<u64>,
    /// Prefixes over which generated objects are spread; 1 leaves keys as they are.
    pub prefixes: u32,
    /// Whether each whole object is asked for its size (HEAD) before it is fetched.
    pub head: bool,
    /// Whether checksums that the service keeps are asked for and verified.
    pub checksum: bool,
}

/// A container of Azure Blob Storage, or what lies below a prefix of it. What authorises requests is in no plan: it comes from the
/// environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureConfig {
    /// The container.
    pub container: String,
    /// What every name begins with, without slashes at its ends; empty for the whole container.
    pub prefix: String,
    /// URL of the storage account; `None` takes what the environment says.
    pub endpoint: Option<String>,
    /// Certificates (PEM) to trust beside those of the system.
    pub ca: Option<PathBuf>,
    /// Whether requests are made without keys.
    pub anonymous: bool,
    /// Whether connections go to the first of the endpoint's addresses or are spread over all.
    pub addresses: Addresses,
    /// A whole object is fetched in parts of this size at once; `None` fetches it by one request.
    pub part_bytes: Option<u64>,
    /// Whether each whole object is asked for its size (HEAD) before it is fetched.
    pub head: bool,
}

/// Over which of a name's addresses connections are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Addresses {
    /// The first that can be connected to.
    #[default]
    First,
    /// All of them, in turn.
    All,
}

feed::words!(Addresses { First = "first", All = "all" });

/// Where a bucket's name stands in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BucketStyle {
    /// In the host for AWS, in the path for an endpoint of the user's and for names that are no host names.
    #[default]
    Auto,
    /// `https://endpoint/bucket/key`.
    Path,
    /// `https://bucket.endpoint/key`.
    Virtual,
}

feed::words!(BucketStyle { Auto = "auto", Path = "path", Virtual = "virtual" });

/// Whose requests are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// As for every AWS tool: environment, profile, SSO, web identity, instance metadata.
    Chain {
        /// A profile other than the default.
        profile: Option<String>,
    },
    /// Unsigned.
    Anonymous,
    /// Keys that feedline itself made up for a server that it started.
    // Not written anywhere: they exist in this process and in the server that it started, and end with
    // both.
    Own {
        /// Access key id.
        id: String,
        /// Its secret.
        secret: Secret,
    },
}

/// Text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for signing and nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

// Plans are printed by tests and panics; a derived implementation would print keys with them.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// What requests cost, as the user says; feedline knows no prices.
#[derive(Debug, Clone, PartialEq)]
// In no profile: list prices change with region, class and contract, and a wrong sum is worse than none.
pub struct Price {
    /// The currency, as printed.
    pub currency: String,
    /// Of a thousand requests that read (GET, HEAD).
    pub per_1000_reads: f64,
    /// Of a thousand requests that write or list (PUT, LIST).
    pub per_1000_writes: f64,
    /// Of 10^9 bytes that leave the service.
    pub per_gb: f64,
}

/// What the user says of a storage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// In one line, or the product.
    pub product: Option<String>,
    /// Its firmware or version.
    pub firmware: Option<String>,
    /// What the data lies on.
    pub media: Option<String>,
    /// Servers that make it up.
    pub nodes: Option<u32>,
    /// Whether reports may show it; the record keeps it in any case.
    // Some sites may not name products in public; the record still needs them to compare runs.
    pub publish: bool,
}

impl About {
    /// All of it in one line, for records and tables; `None` where nothing is said.
    pub fn line(&self) -> Option<String> {
        let parts = [
            self.product.clone(),
            self.firmware.as_ref().map(|firmware| format!("firmware {firmware}")),
            self.media.clone(),
            self.nodes.map(|nodes| if nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") }),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl NfsConfig {
    /// What differs from a plain mount of the address, as name and value.
    pub(crate) fn words(&self) -> Vec<(&'static str, String)> {
        let addresses = (self.addresses != Addresses::First).then(|| self.addresses.name().to_owned());
        [
            ("nfsport", self.nfs_port.map(|port| port.to_string())),
            ("mountport", self.mount_port.map(|port| port.to_string())),
            ("addresses", addresses),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

impl AzureConfig {
    /// What differs from the container as every tool reaches it, as name and value. Holds no key and no secret.
    pub(crate) fn words(&self) -> Vec<(&'static str, String)> {
        let yes = |set: bool| set.then(|| "yes".to_owned());
        let addresses = (self.addresses != Addresses::First).then(|| self.addresses.name().to_owned());
        [
            ("endpoint", self.endpoint.clone()),
            ("anonymous", yes(self.anonymous)),
            ("addresses", addresses),
            ("parts of", self.part_bytes.map(feed::format_bytes)),
            ("head", yes(self.head)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

impl S3Config {
    /// What differs from the bucket as every tool reaches it, as name and value. Holds no key and no secret.
    pub(crate) fn words(&self) -> Vec<(&'static str, String)> {
        let yes = |set: bool| set.then(|| "yes".to_owned());
        let addresses = (self.addresses != Addresses::First).then(|| self.addresses.name().to_owned());
        let style = (self.style != BucketStyle::Auto).then(|| self.style.name().to_owned());
        let profile = match &self.keys {
            Keys::Chain { profile } => profile.clone(),
            Keys::Anonymous | Keys::Own { .. } => None,
        };
        [
            ("region", self.region.clone()),
            ("endpoint", self.endpoint.clone()),
            ("style", style),
            ("profile", profile),
            ("anonymous", yes(self.keys == Keys::Anonymous)),
            ("addresses", addresses),
            ("parts of", self.part_bytes.map(feed::format_bytes)),
            ("prefixes", (self.prefixes > 1).then(|| self.prefixes.to_string())),
            ("head", yes(self.head)),
            ("checksum", yes(self.checksum)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}
