//! Through which local caches each target is read.

use std::path::PathBuf;

use plan::Tier;

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::reader::Field;
use crate::table::{Keys as _, Table as _};
use crate::words::{Origin, TierWord};
use crate::written::{Address, CacheTier, Document, Target};

use super::target;

/// The ways in which targets may be read, once for all of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Tiers {
    /// Names of the targets that are read through a cache.
    targets: Vec<String>,
    /// What is compared; `None` reads straight.
    ways: Vec<Option<Tier>>,
}

impl Tiers {
    /// The ways to read one target; a target without a cache has one, straight.
    pub(super) fn of(&self, target: &str) -> Vec<Option<Tier>> {
        if self.targets.iter().any(|name| name == target) { self.ways.clone() } else { vec![None] }
    }
}

/// The caches of a scenario; `None` when something was wrong, after saying why.
pub(super) fn resolve(document: &Document, host: &HostFacts, problems: &mut Problems) -> Option<Tiers> {
    let written = &document.cache_tier;
    if !written.is_written() {
        return Some(Tiers::default());
    }
    let table = written.name.span;
    let before = problems.len();
    for (name, field) in [("at", written.at.is_absent()), ("capacity", written.capacity.is_absent())] {
        if field {
            let problem = Problem::new(format!("`cache_tier.{name}` is missing"));
            let example = format!("for example cache_tier = {}", CacheTier::EXAMPLE);
            problems.push(problem.at(table, "lacks it").help(example));
        }
    }
    let targets = targets(document, written, table, problems);
    let (at, capacity) = (written.at.given()?, written.capacity.given()?);
    refuse_place(&at.value.0, at.span, (capacity.value.0, capacity.span), host, problems);
    refuse_users_data(document, &at.value.0, at.span, problems);
    let tier = |policy| Tier { at: PathBuf::from(&at.value.0), capacity_bytes: capacity.value.0, policy };
    let policies = written.policy.value_or(vec![TierWord::Lru])?;
    let ways = policies.into_iter().map(|policy| policy.policy().map(tier)).collect();
    (problems.len() == before).then_some(Tiers { targets, ways })
}

/// Names of the targets that are read through the cache.
fn targets(document: &Document, written: &CacheTier, table: Span, problems: &mut Problems) -> Vec<String> {
    let is_remote = |target: &&Target| target.at.given().is_some_and(|at| at.value.remote().is_some());
    let Field::Given(named) = &written.targets else {
        // Local disks are left out by default: a cache on a disk before a disk is a rare thing to want and
        // a common one to get by mistake.
        let remote: Vec<String> =
            document.targets.iter().filter(is_remote).map(|target| target.name.text.clone()).collect();
        if remote.is_empty() && written.targets.is_absent() {
            let problem =
                Problem::new("no target is reached over a network").at(table, "stands before no target");
            problems.push(
                problem.help("name the targets that are read through it: cache_tier.targets = [\"data\"]"),
            );
        }
        return remote;
    };
    for item in &named.value.0 {
        problems.extend(target::refuse_unknown(document, "cache_tier.targets", &item.value.0, item.span));
        let found = document.targets.iter().find(|target| target.name.text == item.value.0);
        if found.and_then(|target| target.at.given()).is_some_and(|at| at.value == Address::Null) {
            let message = format!("`{}` cannot be read through a cache", item.value.0);
            problems.push(Problem::new(message).at(item.span, Address::Null.is()));
        }
    }
    named.value.0.iter().map(|item| item.value.0.clone()).collect()
}

/// Refuses a path among data of the user's, where nothing is ever written. By the addresses: links and mounts are not
/// followed.
fn refuse_users_data(document: &Document, path: &str, at: Span, problems: &mut Problems) {
    if document.dataset.source.given().map(|entry| entry.value.0) != Some(Origin::Existing) {
        return;
    }
    let inside = |folder: &str| plan::lies_within(path, folder);
    for target in &document.targets {
        let Some(address) = target.at.given() else { continue };
        if address.value.path().is_some_and(inside) {
            let problem = Problem::new("the cache tier would lie among your data, where nothing is written");
            problems.push(
                problem
                    .at(at, "is that folder, or inside it")
                    .also(address.span, "is read as it is")
                    .help("choose a folder beside it"),
            );
        }
    }
}

/// Refuses a path that the cache cannot be made in.
fn refuse_place(
    path: &str,
    at: Span,
    (capacity_bytes, capacity): (u64, Span),
    host: &HostFacts,
    problems: &mut Problems,
) {
    let facts = match target::usable(host, path, at) {
        Ok(facts) => facts,
        Err(problem) => {
            problems.push(problem);
            return;
        }
    };
    if facts.block_device_bytes.is_some() || (facts.exists && !facts.directory) {
        let problem = Problem::new("a cache tier is made in a folder").at(at, "is not a folder");
        problems.push(problem.help("write a folder of a file system on that disk"));
    } else if !facts.writable {
        let problem =
            Problem::new("nothing can be written to this path").at(at, "is not writable for this user");
        problems.push(problem.help("choose a folder of your own"));
    // The whole capacity, although a short run fills less: a cache that fills the disk of the system stops
    // more than a benchmark.
    } else if let Some(free_bytes) = facts.free_bytes.filter(|bytes| *bytes < capacity_bytes) {
        let free = feed::format_bytes(free_bytes);
        let problem =
            Problem::new("the cache tier does not fit").at(capacity, format!("{free} are free there"));
        problems.push(problem.help("make cache_tier.capacity smaller"));
    }
}
