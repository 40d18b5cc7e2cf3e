//! Targets: what is at their address, and in which ways it is measured.

use std::path::PathBuf;

use plan::{BackendConfig, Cache, Engine, Registered, Skipped, Tier};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::{HostFacts, PathFacts};
use crate::reader::closest;
use crate::value::split_hint;
use crate::words::Origin;
use crate::written::{About, Address, Document, Emulate, Price, Target};

use super::cache::{self, Subject, Way};
use super::device;
use super::engine::{self, Engines, Lane};
use super::load::Task;
use super::network::{self, Network};
use super::tier::Tiers;

/// What is said of a storage of which the scenario says nothing.
const UNTOLD: plan::About =
    plan::About { product: None, firmware: None, media: None, nodes: None, publish: true };

/// A target that can be measured on this machine.
#[derive(Debug)]
pub(super) struct Resolved<'w> {
    pub(super) written: &'w Target,
    pub(super) target: plan::Target,
    pub(super) lanes: Vec<Lane>,
    pub(super) ways: Vec<Way>,
    pub(super) direct_align_bytes: Option<u32>,
    pub(super) registered: Registered,
    /// The caches that it is read through; `None` reads straight.
    pub(super) tiers: Vec<Option<Tier>>,
    /// How its network is used, where there is one.
    pub(super) network: Option<Network>,
    pub(super) skipped: Vec<Skipped>,
}

impl<'w> Resolved<'w> {
    /// A target of which this machine's kernel takes no part: all tasks by all engines, past the page cache.
    pub(super) fn without_kernel(
        written: &'w Target,
        target: plan::Target,
        lanes: Vec<Lane>,
        tasks: &[Task],
    ) -> Self {
        let way = |lane, task: &Task| Way {
            lane,
            operation: task.operation,
            caches: vec![Cache::Bypass],
            written: true,
        };
        let ways = (0..lanes.len()).flat_map(|lane| tasks.iter().map(move |task| way(lane, task))).collect();
        Self {
            written,
            target,
            lanes,
            ways,
            direct_align_bytes: None,
            registered: Registered::Off,
            tiers: vec![None],
            network: None,
            skipped: Vec::new(),
        }
    }

    pub(super) fn into_parts(self) -> (plan::Target, Vec<Skipped>) {
        (self.target, self.skipped)
    }

    /// Where the address was written.
    pub(super) fn at(&self) -> Span {
        self.written.at.span().unwrap_or(self.written.name.span)
    }
}

/// Each target of the file; `None` for one that cannot be measured, after saying why.
pub(super) fn resolve_all<'w>(
    written: &'w Document,
    tasks: &[Task],
    tiers: &Tiers,
    host: &HostFacts,
    problems: &mut Problems,
) -> Vec<Option<Resolved<'w>>> {
    network::refuse_cache(written, problems);
    let resolve = |target: &'w Target| {
        let at = target.at.given()?;
        let resolved = match &at.value {
            Address::Null => null(target, written, tasks, at.span, problems),
            Address::Path(path) => {
                local(target, &Request { document: written, tasks, host, path, at: at.span }, problems)
            }
            Address::Nfs(_) | Address::S3(_) => network::resolve(target, tasks, at, problems),
        };
        resolved.map(|resolved| Resolved { tiers: tiers.of(&target.name.text), ..resolved })
    };
    written.targets.iter().map(resolve).collect()
}

/// Refuses a name under `key` that is no target of the scenario.
pub(super) fn refuse_unknown(document: &Document, key: &str, name: &str, span: Span) -> Option<Problem> {
    let names: Vec<_> = document.targets.iter().map(|target| target.name.text.as_str()).collect();
    if names.contains(&name) {
        return None;
    }
    let label = match closest(name, names.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "not under `targets`".to_owned(),
    };
    let problem = Problem::new(format!("`{key}` names `{name}`, which is no target")).at(span, label);
    Some(problem.help(format!("targets: {}", names.join(", "))))
}

/// What is asked of a target at a path.
struct Request<'a> {
    document: &'a Document,
    tasks: &'a [Task],
    host: &'a HostFacts,
    path: &'a str,
    at: Span,
}

fn null<'w>(
    written: &'w Target,
    document: &Document,
    tasks: &[Task],
    at: Span,
    problems: &mut Problems,
) -> Option<Resolved<'w>> {
    if let Some(source) = document.dataset.source.given().filter(|source| source.value.0 == Origin::Existing)
    {
        let problem = Problem::new("there are no files on a target that is no storage");
        problems.push(problem.at(at, "is no storage").also(source.span, "says that there are files"));
    }
    let target = target(written, "null:", BackendConfig::Null)?;
    Some(Resolved::without_kernel(written, target, vec![Lane::of(Engine::Null, None)], tasks))
}

/// A folder or a block device.
fn local<'w>(written: &'w Target, request: &Request<'_>, problems: &mut Problems) -> Option<Resolved<'w>> {
    let engines = engine::resolve(written, request.tasks, request.host, problems);
    let facts = path_facts(request).map_err(|problem| problems.push(problem)).ok()?;
    if facts.block_device_bytes.is_some() {
        device::refuse_writing(request.document, request.at, problems);
    }
    let subject =
        Subject { direct: &written.direct, cache: &request.document.load.cache, at: request.at, facts };
    let ways = cache::resolve(&subject, &served_by(engines.as_ref()), request.tasks, problems);
    let root = PathBuf::from(request.path);
    let config = match facts.block_device_bytes {
        Some(_) => BackendConfig::Device { path: root },
        None => BackendConfig::File { root },
    };
    let Engines { lanes, registered, skipped } = engines?;
    Some(Resolved {
        written,
        target: target(written, request.path, config)?,
        lanes,
        ways: ways?,
        direct_align_bytes: facts.direct_align_bytes,
        registered,
        tiers: vec![None],
        network: None,
        skipped,
    })
}

/// The engines of a target. Where one was refused, the cache is still looked at, for the default engine.
fn served_by(engines: Option<&Engines>) -> Vec<(Engine, Option<Span>)> {
    match engines {
        Some(engines) => engines.lanes.iter().map(|lane| (lane.engine, lane.span)).collect(),
        None => vec![(Engine::IoUring, None)],
    }
}

/// The target's own part of a plan; `None` when one of its keys was wrong.
pub(super) fn target(written: &Target, at: &str, config: BackendConfig) -> Option<plan::Target> {
    let name = written.name.text.clone();
    Some(plan::Target {
        title: written.title.given().map_or_else(|| name.clone(), |title| title.value.0.clone()),
        about: written.about.resolved(About::resolved)?.unwrap_or(UNTOLD),
        at: at.to_owned(),
        config,
        emulate: written.emulate.resolved(Emulate::resolved)?,
        server_memory_bytes: written.server_memory.optional()?,
        price: written.price.resolved(Price::resolved)?,
        name,
    })
}

/// What is known of a path, if it can be used at all.
pub(super) fn usable<'h>(host: &'h HostFacts, path: &str, at: Span) -> Result<&'h PathFacts, Problem> {
    let Some(facts) = host.paths.get(path) else {
        return Err(Problem::new("nothing is known of this path").at(at, "was not looked at"));
    };
    let Some(problem) = &facts.problem else { return Ok(facts) };
    let (cause, hint) = split_hint(problem);
    let problem = Problem::new("this path cannot be used").at(at, cause);
    Err(match hint {
        Some(hint) => problem.help(hint),
        None => problem,
    })
}

/// What is known of a path, if the scenario can use it.
fn path_facts<'h>(request: &Request<'h>) -> Result<&'h PathFacts, Problem> {
    let at = request.at;
    let facts = usable(request.host, request.path, at)?;
    let origin = request.document.dataset.source.given().map(|entry| entry.value.0).unwrap_or_default();
    let refused =
        |message: &str, wrong: &str, help: &str| Err(Problem::new(message).at(at, wrong).help(help));
    match origin {
        _ if facts.block_device_bytes.is_some() => Ok(facts),
        _ if facts.exists && !facts.directory => refused(
            "this path is no folder and no block device",
            "is something else",
            "write the path of a folder",
        ),
        Origin::Existing if !facts.exists => refused(
            "this path does not exist",
            "nothing is here",
            "write the path of the folder that holds the files",
        ),
        Origin::Generate if !facts.writable => refused(
            "nothing can be written to this path",
            "is not writable for this user",
            "choose a folder of your own, or measure what is there with dataset.source = \"existing\"",
        ),
        _ => Ok(facts),
    }
}
