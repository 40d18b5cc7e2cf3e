//! Containers, and queues over them.

use std::path::PathBuf;
use std::time::Duration;

use backend::StoreError;
use backend_azure::AzureStore;
use plan::{Addresses, AzureConfig};

pub(crate) use backend::conformance::objects::{
    Opened, SEED, Setup, blocks, content, key, marker, names, objects, prepare, write,
};

pub(crate) const CONTAINER: &str = "bench";

/// Longer than any answer takes that comes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What the environment says.
pub(crate) type Variables<'a> = &'a [(&'static str, String)];

pub(crate) fn open(config: &AzureConfig, variables: Variables<'_>) -> Result<AzureStore, StoreError> {
    open_with(config, variables, PATIENCE)
}

pub(crate) fn open_with(
    config: &AzureConfig,
    variables: Variables<'_>,
    reply: Duration,
) -> Result<AzureStore, StoreError> {
    AzureStore::open_with(config, reply, |name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    })
}

pub(crate) fn config(endpoint: &str, ca: Option<PathBuf>, prefix: &str) -> AzureConfig {
    AzureConfig {
        container: CONTAINER.to_owned(),
        prefix: prefix.to_owned(),
        endpoint: Some(endpoint.to_owned()),
        ca,
        anonymous: false,
        addresses: Addresses::First,
        part_bytes: None,
        head: false,
    }
}
