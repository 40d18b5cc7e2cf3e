//! Targets behind a network: reached over connections of feedline's own.

use std::path::PathBuf;

use plan::{
    Addresses, BackendConfig, BucketStyle, Cache, Charged, Engine, Keys, NfsConfig, Operation,
    PARTS_AT_ONCE_MAX, S3Config,
};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::Item;
use crate::reader::{Entry, Field, Plain as _};
use crate::written::{Address, Connections as Written, Document, NfsAddress, S3Address, Target};

use super::engine::{self, Lane};
use super::load::{Load, Task};
use super::target::{self, Resolved};

/// Connections to an NFS server by default: as many as `nconnect=4`, from which a server that answers each connection
/// in series gains most (1.2 to 1.5 times as much from NFS-Ganesha).
const NFS_CONNECTIONS: u32 = 4;

/// Further attempts at a bucket: services answer some requests with 503 as a matter of course.
const S3_RETRIES: u32 = 2;

/// Connections for the parts of whole objects by default, unless the depth alone is more: at the 85 to 90 MB/s that a
/// connection to S3 gives (AWS, Performance design patterns for Amazon S3) enough for 160 Gb/s, and a quarter of the files
/// that a process may have open where nobody raised the limit.
const PART_CONNECTIONS_MAX: u32 = 256;

/// How the cells of a target use its network.
#[derive(Debug, Clone)]
pub(super) struct Network {
    /// Connections as written.
    connections: Option<Vec<Item<u32>>>,
    /// How operations become requests; `None` where they share connections.
    charged: Option<Charged>,
    pub(super) retries: u32,
}

/// Connections of one cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Connections {
    /// As written.
    pub(super) written: Option<u32>,
    /// What a cell may use of them at most.
    pub(super) most: u32,
    /// What it has when nothing is written.
    pub(super) default: u32,
}

impl Network {
    /// Lengths of the axis.
    pub(super) fn count(&self) -> usize {
        self.connections.as_ref().map_or(1, Vec::len)
    }

    /// Where the axis was written.
    pub(super) fn span(&self) -> Option<Span> {
        self.connections.as_ref()?.first().map(|item| item.span)
    }

    /// The fewest connections as written.
    pub(super) fn fewest(&self) -> Option<Item<u32>> {
        self.connections.iter().flatten().min_by_key(|item| item.value).copied()
    }

    /// Connections of the cell at `index` of the axis.
    pub(super) fn at(
        &self,
        index: usize,
        depth: u32,
        operation: Operation,
        sample_bytes: Option<u64>,
    ) -> Connections {
        let written = self.connections.as_ref().map(|listed| listed[index].value);
        let Some(charged) = self.charged else {
            return Connections { written, most: u32::MAX, default: depth.min(NFS_CONNECTIONS) };
        };
        let at_once = u64::from(PARTS_AT_ONCE_MAX);
        let parts = match (operation, charged.part_bytes, sample_bytes) {
            (Operation::ReadFile, Some(part), Some(sample)) => sample.div_ceil(part).clamp(1, at_once),
            // The size of the user's objects is not known here. Who cuts them has large ones.
            (Operation::ReadFile, Some(_), None) => at_once,
            _ => 1,
        };
        let most = depth.saturating_mul(parts as u32);
        Connections { written, most, default: most.min(PART_CONNECTIONS_MAX.max(depth)) }
    }
}

impl Connections {
    /// What a cell of `threads` threads has: at least one for each.
    pub(super) fn of(self, threads: u32) -> u32 {
        self.written.unwrap_or(self.default).min(self.most).max(threads)
    }
}

/// A target at a URL; `None` when it cannot be measured, after saying why.
pub(super) fn resolve<'w>(
    written: &'w Target,
    tasks: &[Task],
    at: &Entry<Address>,
    problems: &mut Problems,
) -> Option<Resolved<'w>> {
    let before = problems.len();
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
    if matches!(address, Address::S3(_)) { S3_RETRIES } else { 0 }
}

/// The engines of a target, of those that serve it, the default first.
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
/// address is none.
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
        Address::S3(S3Address { bucket, prefix, .. }) => Some(BackendConfig::S3(S3Config {
            bucket: bucket.clone(),
            prefix: prefix.clone(),
            region: written.region.optional()?,
            endpoint: written.endpoint.optional()?,
            style: written.style.value_or(BucketStyle::Auto)?,
            ca: written.ca.optional::<String>()?.map(PathBuf::from),
            keys: keys(written, problems)?,
            addresses,
            part_bytes: written.part_size.optional()?,
            prefixes: written.prefixes.value_or(1_u32)?,
            head: written.head.value_or(false)?,
            checksum: written.checksum.value_or(false)?,
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

/// Refuses connections as written that no cell has requests for; `of_cells` are those of the target's cells. In a
/// shallower cell than the deepest there may be fewer, which its row shows.
pub(super) fn refuse_unused(
    resolved: &Resolved<'_>,
    of_cells: impl Iterator<Item = Connections>,
    load: &Load,
    problems: &mut Problems,
) {
    let Some(written) = resolved.network.as_ref().and_then(|network| network.connections.as_ref()) else {
        return;
    };
    let Some(most) = of_cells.map(|connections| connections.most).max() else { return };
    for item in written.iter().filter(|item| item.value > most) {
        let what = "more connections than requests under way: a connection carries one at a time";
        let problem = Problem::new(what)
            .at(item.span, "connections")
            .also_if(load.schedule.depth_span, format!("at most {most} under way"));
        problems.push(problem.help(format!("write at most {most}, or a deeper queue, or remove it")));
    }
}
