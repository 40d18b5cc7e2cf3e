//! Every target of a scenario: what is at its address, and in which ways it is measured.

use std::path::PathBuf;

use plan::{BackendConfig, Engine, PathFacts};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::table::Keys as _;
use crate::words::Origin;
use crate::written::{Address, Document, Target};

use super::cache::{self, Subject};
use super::device;
use super::engine::{self, Engines, Lane};
use super::need;
use super::network;
use super::target::{Resolved, target, usable};
use super::task::Task;
use super::tier::Tiers;

/// Each target of the file; `None` for one that cannot be measured, after saying why.
pub(super) fn resolve<'w>(
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
            Address::Nfs(_) | Address::S3(_) | Address::Azure(_) => {
                network::resolve(target, tasks, at, problems)
                    .filter(|resolved| may_be_served(resolved, problems))
            }
        };
        resolved.map(|resolved| Resolved { tiers: tiers.of(&target.name.text), ..resolved })
    };
    written.targets.iter().map(resolve).collect()
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
        None => BackendConfig::File { root, open_files: written.open_files.optional()? },
    };
    let Engines { lanes, registered, skipped } = engines?;
    let target = target(written, request.path, config)?;
    refuse_servers(written, &target, problems)?;
    refuse_untimed(request.document, written, problems)?;
    Some(Resolved {
        written,
        target,
        lanes,
        ways: ways?,
        direct_align_bytes: facts.direct_align_bytes,
        registered,
        tiers: vec![None],
        network: None,
        skipped,
    })
}

/// Refuses what only a server can be like.
fn refuse_servers(written: &Target, target: &plan::Target, problems: &mut Problems) -> Option<()> {
    let Some(emulation) = &target.emulate else { return Some(()) };
    let (key, what) = match emulation {
        plan::Emulation { connection_bps: Some(_), .. } => ("connection_rate", "has no connections"),
        plan::Emulation { faults, .. } if *faults != plan::Faults::default() => {
            ("faults", "is what it is: only a server can be made to fail")
        }
        _ => return Some(()),
    };
    let place = written.emulate.key().unwrap_or(written.name.span);
    let problem = Problem::new(format!("`emulate.{key}` means nothing of a path that is slowed down"))
        .at(place, "asks for it, itself or by its profile")
        .also_if(written.at.span(), what);
    problems
        .push(problem.help("a path takes first_byte, metadata, requests_per_second, request_burst, total_rate, rate_burst and seek"));
    None
}

/// Whether a target is asked for what its server can be like; if not, it is refused.
fn may_be_served(resolved: &Resolved<'_>, problems: &mut Problems) -> bool {
    let Some(emulation) = &resolved.target.emulate else { return true };
    let key = match emulation {
        plan::Emulation { request_burst: Some(_), .. } => "request_burst",
        plan::Emulation { byte_burst: Some(_), .. } => "rate_burst",
        _ => return true,
    };
    let place = resolved.written.emulate.key().unwrap_or(resolved.at());
    let problem = Problem::new(format!("`emulate.{key}` means nothing of a server that feedline starts"))
        .at(place, "asks for it")
        .also_if(resolved.written.at.span(), "is served");
    problems.push(problem.help("play it on a path: at = \"/mnt/data\", with `emulate` there"));
    false
}

/// Refuses what is written beside the queues of a path that is slowed down: it would go as fast as it goes.
fn refuse_untimed(document: &Document, written: &Target, problems: &mut Problems) -> Option<()> {
    let Some(place) = written.emulate.key() else { return Some(()) };
    let (checkpoint, copy) = (&document.checkpoint, &document.copy);
    let beside = [
        ("checkpoint", checkpoint.is_written().then_some(checkpoint.name.span)),
        ("copy", copy.is_written().then_some(copy.name.span)),
        ("need.checkpoint", need::place_of_checkpoints(&document.need)),
    ];
    let Some((table, span)) = beside.into_iter().find_map(|(table, span)| Some((table, span?))) else {
        return Some(());
    };
    let problem =
        Problem::new(format!("`{table}` is not slowed down: only reads and writes of blocks and files are"))
            .at(place, "slows this path down")
            .also(span, "goes as fast as it goes");
    problems.push(problem.help("measure them in scenarios of their own, or play an nfs:// or s3:// target"));
    None
}

/// The engines of a target. Where one was refused, the cache is still looked at, for the default engine.
fn served_by(engines: Option<&Engines>) -> Vec<(Engine, Option<Span>)> {
    match engines {
        Some(engines) => engines.lanes.iter().map(|lane| (lane.engine, lane.span)).collect(),
        // So that a treatment which no path could have is told together with the engine that was wrong.
        None => vec![(Engine::IoUring, None)],
    }
}

/// What is known of a path, if the scenario can use it.
fn path_facts<'h>(request: &Request<'h>) -> Result<&'h PathFacts, Problem> {
    let at = request.at;
    let facts = usable(request.host, request.path, at)?;
    let origin = request.document.dataset.source.given().map(|entry| entry.value.0).unwrap_or_default();
    let refused =
        |message: &str, wrong: &str, help: &str| Err(Problem::new(message).at(at, wrong).help(help));
    match origin {
        // Whether it may be read at all is known only when it is opened, with the rights of that moment.
        _ if facts.block_device_bytes.is_some() => Ok(facts),
        // A single file is neither a folder to write into nor a dataset of samples.
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
