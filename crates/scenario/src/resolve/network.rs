//! Targets behind a network: reached over connections of feedline's own.

use std::path::PathBuf;

use plan::{Addresses, AzureConfig, BackendConfig, BucketStyle, Cache, Engine, Keys, NfsConfig, S3Config};

use crate::diagnostic::{Problem, Problems};
use crate::list::Item;
use crate::reader::{Entry, Field, Plain as _};
use crate::written::{
    Address, AzureAddress, Connections as Written, Document, NfsAddress, S3Address, Target,
};

use super::connections::{Connections, Network};
use super::engine::{self, Lane};
use super::load::Load;
use super::target::{self, Resolved};
use super::task::Task;

/// Further attempts at a bucket or a container: services answer some requests with 503 as a matter of course.
// The AWS SDKs make three attempts in all by default (`AWS_MAX_ATTEMPTS`), and so do these.
const OBJECT_RETRIES: u32 = 2;

/// A target at a URL; `None` when it cannot be measured, after saying why.
pub(super) fn resolve<'w>(
    written: &'w Target,
    tasks: &[Task],
    at: &Entry<Address>,
    problems: &mut Problems,
) -> Option<Resolved<'w>> {
    let before = problems.len();
    // As it was written: records show what the user knows the storage by.
    let text = at.value.remote()?;
    let config = config(written, problems)?;
    let lanes = lanes(written, config.capabilities().engines, tasks, problems)?;
    let retries = written.retries.value_or(default_retries(&at.value))?;
    let item = |item: &Item<Written>| Item { span: item.span, value: item.value.plain() };
    let connections = written.connections.entry()?;
    let connections = connections.map(|entry| entry.value.0.iter().map(item).collect());
    let network = Network { connections, charged: config.charged(), retries };
    let target = target::target(written, text, config)?;
    let resolved =
        Resolved { network: Some(network), ..Resolved::without_kernel(written, target, lanes, tasks) };
    (problems.len() == before).then_some(resolved)
}

fn default_retries(address: &Address) -> u32 {
    // NFS has none: a call that fails there has failed in the server, and hiding it would hide the server.
    if address.holds_objects() { OBJECT_RETRIES } else { 0 }
}

/// The engines of a target among those that serve it, the default first.
fn lanes(
    written: &Target,
    possible: &[Engine],
    tasks: &[Task],
    problems: &mut Problems,
) -> Option<Vec<Lane>> {
    let asked = engine::asked(written, *possible.first()?)?;
    let own = engine::refuse_foreign(written, &asked, possible, problems);
    let able = own && engine::refuse_unable(written, &asked, tasks, problems);
    able.then(|| asked.into_iter().map(|(engine, span)| Lane::of(engine, span)).collect())
}

/// What a target at a URL is and how it is reached; `None` when something was wrong, after saying why, and where the
/// address is not a URL.
pub(crate) fn config(written: &Target, problems: &mut Problems) -> Option<BackendConfig> {
    let addresses = written.addresses.value_or(Addresses::First)?;
    match &written.at.given()?.value {
        Address::Null | Address::Path(_) => None,
        Address::Nfs(NfsAddress { host, nfs_port, mount_port, path, .. }) => {
            Some(BackendConfig::Nfs(NfsConfig {
                host: host.clone(),
                nfs_port: *nfs_port,
                mount_port: *mount_port,
                path: path.clone(),
                addresses,
            }))
        }
        Address::S3(S3Address { bucket, prefix, service, .. }) => Some(BackendConfig::S3(S3Config {
            bucket: bucket.clone(),
            prefix: prefix.clone(),
            region: written.region.optional()?.or(service.place().map(|(_, region)| region.to_owned())),
            endpoint: written
                .endpoint
                .optional()?
                .or(service.place().map(|(endpoint, _)| endpoint.to_owned())),
            style: written.style.value_or(BucketStyle::Auto)?,
            ca: written.ca.optional::<String>()?.map(PathBuf::from),
            keys: keys(written, problems)?,
            addresses,
            part_bytes: written.part_size.optional()?,
            prefixes: written.prefixes.value_or(1_u32)?,
            head: written.head.value_or(false)?,
            checksum: written.checksum.value_or(false)?,
        })),
        Address::Azure(AzureAddress { container, prefix, .. }) => Some(BackendConfig::Azure(AzureConfig {
            container: container.clone(),
            prefix: prefix.clone(),
            endpoint: written.endpoint.optional()?,
            ca: written.ca.optional::<String>()?.map(PathBuf::from),
            anonymous: written.anonymous.value_or(false)?,
            addresses,
            part_bytes: written.part_size.optional()?,
            head: written.head.value_or(false)?,
        })),
    }
}

fn keys(written: &Target, problems: &mut Problems) -> Option<Keys> {
    let profile = written.profile.optional()?;
    let anonymous = written.anonymous.value_or(false)?;
    if let (Some(span), true) = (written.profile.key(), anonymous) {
        let problem = Problem::new("requests without keys have no use for a profile").at(span, "names keys");
        problems.push(problem.also_if(written.anonymous.key(), "takes none").help("remove one of them"));
        return None;
    }
    Some(if anonymous { Keys::Anonymous } else { Keys::Chain { profile } })
}

/// Refuses treatments of the page cache that were written where no target has one.
pub(super) fn refuse_cache(document: &Document, problems: &mut Problems) {
    let Some(cache) = document.load.cache.given() else { return };
    let addresses = || document.targets.iter().filter_map(|target| target.at.given());
    let remote = |at: &&Entry<Address>| at.value.remote().is_some();
    let local = |at: &Entry<Address>| at.value.path().is_some();
    // An address that could not be read might have been a path, which has a page cache.
    let unread = document.targets.iter().any(|target| matches!(target.at, Field::Wrong(_)));
    let Some(first) = addresses().find(remote).filter(|_| !unread && !addresses().any(local)) else { return };
    for item in cache.value.0.iter().filter(|item| item.value.0 != Cache::Bypass) {
        let name = item.value.0.name();
        let problem = Problem::new(format!("cache = \"{name}\" is about this machine's page cache"))
            .at(item.span, "no target goes through it")
            .also(first.span, "goes past it by nature");
        problems.push(problem.help(
            "write cache = \"bypass\", or remove it; the server's own cache is kept out by a dataset of three times \
             its memory",
        ));
    }
}

/// Refuses fewer connections than threads, where both were written.
pub(super) fn refuse_fewer(resolved: &Resolved<'_>, load: &Load, problems: &mut Problems) {
    let fewest = resolved.network.as_ref().and_then(Network::fewest);
    if let (Some(fewest), Some(threads)) = (fewest, load.written.threads.given())
        && u64::from(fewest.value) < threads.value.0
    {
        let problem = Problem::new("fewer connections than threads: each thread has at least one of its own")
            .at(fewest.span, "connections")
            .also(threads.span, "threads");
        problems.push(problem.help("write at least as many connections, or remove `load.threads`"));
    }
}

/// Refuses more connections than any cell has requests for; `of_cells` are those of the target's cells. A shallower cell
/// may have fewer requests than connections, which its row shows.
pub(super) fn refuse_unused(
    resolved: &Resolved<'_>,
    of_cells: impl Iterator<Item = Connections>,
    load: &Load,
    problems: &mut Problems,
) {
    let Some(network) = &resolved.network else { return };
    let Some(most) = of_cells.map(|connections| connections.most).max() else { return };
    for item in network.listed().filter(|item| item.value > most) {
        let what = "more connections than requests under way: a connection carries one at a time";
        let problem = Problem::new(what)
            .at(item.span, "connections")
            .also_if(load.schedule.depth_span, format!("at most {most} under way"));
        problems.push(problem.help(format!("write at most {most}, or a deeper queue, or remove it")));
    }
}
