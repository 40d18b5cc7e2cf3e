//! Targets: what is at their address, which engines serve them, which caches they are measured with.

use std::path::PathBuf;

use plan::{BackendConfig, Cache, Engine, OnUnavailable, Registered, Skipped};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::{HostFacts, PathFacts};
use crate::reader::Field;
use crate::value::split_hint;
use crate::words::Origin;
use crate::written::{Address, Document, Target};

use super::cache;

/// A target that can be measured on this machine.
#[derive(Debug)]
pub(super) struct Resolved<'w> {
    pub(super) written: &'w Target,
    pub(super) target: plan::Target,
    pub(super) lanes: Vec<Lane>,
    pub(super) caches: Vec<Cache>,
    pub(super) direct_align_bytes: Option<u32>,
    pub(super) registered: Registered,
    skipped: Vec<Skipped>,
}

/// An engine that serves a target here.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    pub(super) engine: Engine,
    /// Set when it stands in for another one: which, and why.
    pub(super) stands_in_for: Option<String>,
    pub(super) span: Option<Span>,
}

impl Resolved<'_> {
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
    host: &HostFacts,
    problems: &mut Problems,
) -> Vec<Option<Resolved<'w>>> {
    written.targets.iter().map(|target| resolve(target, written, host, problems)).collect()
}

fn resolve<'w>(
    written: &'w Target,
    document: &Document,
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<Resolved<'w>> {
    let at = written.at.given()?;
    match &at.value {
        Address::Null => null(written, document, at.span, problems),
        Address::Path(path) => file(written, document, path, at.span, host, problems),
    }
}

fn null<'w>(
    written: &'w Target,
    document: &Document,
    at: Span,
    problems: &mut Problems,
) -> Option<Resolved<'w>> {
    let refused = [
        ("engine", written.engine.key()),
        ("direct", written.direct.key()),
        ("registered", written.registered.key()),
        ("on_unavailable", written.on_unavailable.key()),
    ];
    let mut possible = true;
    for (key, span) in refused {
        if let Some(span) = span {
            let problem = Problem::new(format!("`{key}` means nothing where there is no storage"));
            problems.push(problem.at(span, "remove this").also(at, "is no storage"));
            possible = false;
        }
    }
    if let Some(source) = document.dataset.source.given().filter(|source| source.value.0 == Origin::Existing)
    {
        let problem = Problem::new("there are no files on a target that is no storage");
        problems.push(problem.at(at, "is no storage").also(source.span, "says that there are files"));
        possible = false;
    }
    possible.then(|| Resolved {
        written,
        target: target(written, "null:", BackendConfig::Null),
        lanes: vec![Lane { engine: Engine::Null, stands_in_for: None, span: None }],
        caches: vec![Cache::Bypass],
        direct_align_bytes: None,
        registered: Registered::Off,
        skipped: Vec::new(),
    })
}

fn file<'w>(
    written: &'w Target,
    document: &Document,
    path: &str,
    at: Span,
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<Resolved<'w>> {
    let engines = engines(written, host, problems);
    let registered = registered(written, problems);
    let facts =
        path_facts(path, &document.dataset.source, at, host).map_err(|problem| problems.push(problem));
    let facts = facts.ok()?;
    let caches = cache::resolve(&written.direct, &document.load.cache, at, facts, problems);
    let (lanes, skipped) = engines?;
    let config = BackendConfig::File { root: PathBuf::from(path) };
    Some(Resolved {
        written,
        target: target(written, path, config),
        lanes,
        caches: caches?.into_iter().map(|choice| choice.cache).collect(),
        direct_align_bytes: facts.direct_align_bytes,
        registered: registered?,
        skipped,
    })
}

fn target(written: &Target, at: &str, config: BackendConfig) -> plan::Target {
    let name = written.name.text.clone();
    plan::Target {
        title: written.title.given().map_or_else(|| name.clone(), |title| title.value.0.clone()),
        about: written.about.given().map(|about| about.value.0.clone()),
        at: at.to_owned(),
        config,
        name,
    }
}

/// What is known of a path, if the scenario can use it.
fn path_facts<'h>(
    path: &str,
    source: &Field<crate::words::Word<Origin>>,
    at: Span,
    host: &'h HostFacts,
) -> Result<&'h PathFacts, Problem> {
    let facts = host.paths.get(path);
    let facts =
        facts.ok_or_else(|| Problem::new("nothing is known of this path").at(at, "was not looked at"))?;
    if let Some(problem) = &facts.problem {
        let (cause, hint) = split_hint(problem);
        let problem = Problem::new("this path cannot be used").at(at, cause);
        return Err(match hint {
            Some(hint) => problem.help(hint),
            None => problem,
        });
    }
    let origin = source.given().map(|entry| entry.value.0).unwrap_or_default();
    let refused =
        |message: &str, wrong: &str, help: &str| Err(Problem::new(message).at(at, wrong).help(help));
    match origin {
        _ if facts.exists && !facts.directory => {
            refused("this path is not a folder", "is something else", "write the path of a folder")
        }
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

fn registered(written: &Target, problems: &mut Problems) -> Option<Registered> {
    let (span, registered) = match &written.registered {
        Field::Absent => return Some(Registered::default()),
        Field::Wrong(_) => return None,
        Field::Given(entry) => (entry.key, entry.value.0),
    };
    let engines = written.engine.given().map(|entry| &entry.value.0);
    if engines.is_some_and(|engines| engines.iter().all(|engine| engine.value.0 != Engine::IoUring)) {
        let problem = Problem::new("only io_uring registers buffers and files").at(span, "remove this");
        problems.push(problem.also_if(written.engine.span(), "registers nothing"));
        return None;
    }
    Some(registered)
}

/// The engines that serve the target here, and those that `on_unavailable` leaves out.
fn engines(written: &Target, host: &HostFacts, problems: &mut Problems) -> Option<(Vec<Lane>, Vec<Skipped>)> {
    let asked: Vec<(Engine, Option<Span>)> = match &written.engine {
        Field::Absent => vec![(Engine::IoUring, None)],
        Field::Given(entry) => entry.value.0.iter().map(|item| (item.value.0, Some(item.span))).collect(),
        Field::Wrong(_) => return None,
    };
    let otherwise = match &written.on_unavailable {
        Field::Absent => OnUnavailable::default(),
        Field::Given(entry) => entry.value.0,
        Field::Wrong(_) => return None,
    };
    let (mut lanes, mut skipped) = (Vec::new(), Vec::new());
    for (engine, span) in asked {
        match (unavailable(engine, host), otherwise) {
            (None, _) => lanes.push(Lane { engine, stands_in_for: None, span }),
            (Some(reason), OnUnavailable::Skip) => {
                skipped.push(Skipped {
                    target: written.name.text.clone(),
                    engine,
                    reason: reason.to_owned(),
                });
            }
            (Some(reason), OnUnavailable::Use(other)) if unavailable(other, host).is_none() => {
                let stands_in_for = Some(format!("{engine}: {reason}"));
                lanes.push(Lane { engine: other, stands_in_for, span });
            }
            (Some(reason), _) => {
                problems.push(refuse_engine(written, engine, span, reason));
                return None;
            }
        }
    }
    Some((lanes, skipped))
}

/// Why an engine cannot be had here. Every Linux has pread.
fn unavailable(engine: Engine, host: &HostFacts) -> Option<&str> {
    match engine {
        Engine::IoUring => host.io_uring.as_ref().err().map(String::as_str),
        Engine::Null | Engine::Pread | Engine::Mmap => None,
    }
}

fn refuse_engine(written: &Target, engine: Engine, span: Option<Span>, reason: &str) -> Problem {
    let (cause, hint) = split_hint(reason);
    let label = if span.is_some() { "" } else { "by default" };
    let problem = Problem::new(format!("{engine} cannot be used here: {cause}"))
        .at(span.unwrap_or(written.name.span), label);
    let problem = match written.on_unavailable.given() {
        Some(entry) if matches!(entry.value.0, OnUnavailable::Use(_)) => {
            problem.also(entry.span, "nor can this")
        }
        _ => problem,
    };
    let problem = match hint {
        Some(hint) => problem.help(hint),
        None => problem,
    };
    problem.help(
        "engine = \"pread\" does without it; on_unavailable = \"skip\" leaves its cells out, \"pread\" replaces them",
    )
}
