//! One target: what the plan says of it, and the ways in which it is measured.

use plan::{BackendConfig, Cache, PathFacts, Registered, Skipped, Tier};

use crate::diagnostic::{Problem, Span};
use crate::host::HostFacts;
use crate::reader::closest;
use crate::value::split_hint;
use crate::written::{About, Document, Emulate, Price, Target};

use super::cache::Way;
use super::connections::Network;
use super::engine::Lane;
use super::task::Task;

/// The description of a storage that the scenario does not describe.
// `publish` is true here: of nothing said there is nothing to hide.
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
    /// A target that does not go through this machine's kernel: all tasks by all engines, past the page cache.
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
            // The treatment of the page cache is settled by the kind of target, so that no layout changes
            // it.
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
