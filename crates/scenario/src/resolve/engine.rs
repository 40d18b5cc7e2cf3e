//! Which engines serve a target: those that can do what is asked, and that this machine has.

use plan::{Advice, Engine, OnUnavailable, Operation, Registered, Skipped};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::value::split_hint;
use crate::written::Target;

use super::task::Task;

/// An engine that serves a target here.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    pub(super) engine: Engine,
    /// What the kernel is told of memory maps; normal for other engines.
    pub(super) advice: Advice,
    /// Set when it stands in for another one: which, and why.
    pub(super) stands_in_for: Option<String>,
    pub(super) span: Option<Span>,
}

impl Lane {
    /// An engine as it was asked for.
    pub(super) fn of(engine: Engine, span: Option<Span>) -> Self {
        Self { engine, advice: Advice::Normal, stands_in_for: None, span }
    }
}

/// All engines of a target.
#[derive(Debug)]
pub(super) struct Engines {
    pub(super) lanes: Vec<Lane>,
    pub(super) registered: Registered,
    /// Those that `on_unavailable` leaves out.
    pub(super) skipped: Vec<Skipped>,
}

/// An engine as asked for, and where.
pub(super) type PlacedEngine = (Engine, Option<Span>);

/// Engines of paths.
// Of a path. Which of them a kernel has is asked of the machine, not of this list.
const LOCAL: [Engine; 3] = [Engine::IoUring, Engine::Pread, Engine::Mmap];

/// The engines for `tasks`; `None` when one cannot be, after saying why.
pub(super) fn resolve(
    written: &Target,
    tasks: &[Task],
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<Engines> {
    let asked = asked(written, by_default(tasks))?;
    let able =
        refuse_foreign(written, &asked, &LOCAL, problems) && refuse_unable(written, &asked, tasks, problems);
    let (lanes, skipped) = available(written, &asked, host, problems)?;
    let advices: Vec<Advice> = written.madvise.value_or(vec![Advice::Normal])?;
    let lanes = lanes.into_iter().flat_map(|lane| advised(lane, &advices)).collect();
    Some(Engines { lanes, registered: written.registered.value_or(Registered::default())?, skipped })
        .filter(|_| able)
}

/// The engines of a target as written, else its `default`; `None` when they were wrong.
pub(super) fn asked(written: &Target, default: Engine) -> Option<Vec<PlacedEngine>> {
    written.engine.placed_or(default)
}

/// io_uring, except where it can do nothing of what is asked: list folders, or write whole files anew.
pub(super) fn by_default(tasks: &[Task]) -> Engine {
    let able = |task: &Task| Engine::IoUring.operations().contains(&task.operation);
    let is_of_paths = |task: &Task| Engine::Pread.operations().contains(&task.operation);
    let by_pread = tasks.iter().all(|task| is_of_paths(task) && !able(task));
    if by_pread { Engine::Pread } else { Engine::IoUring }
}

/// Refuses engines of other kinds of storage; whether all were of this kind.
// All of them are named, and not only the first: a list of engines is mended in one go.
pub(super) fn refuse_foreign(
    written: &Target,
    asked: &[PlacedEngine],
    possible: &[Engine],
    problems: &mut Problems,
) -> bool {
    let mut own = true;
    for (engine, span) in asked.iter().filter(|asked| !possible.contains(&asked.0)) {
        let names: Vec<String> = possible.iter().map(|engine| format!("\"{engine}\"")).collect();
        let problem = Problem::new(format!("{engine} does not serve this kind of target"))
            .at(span.unwrap_or(written.name.span), "serves another kind")
            .also_if(written.at.span(), "is of this kind");
        problems.push(problem.help(format!("write engine = {}, or leave it out", names.join(" or "))));
        own = false;
    }
    own
}

/// Refuses engines that cannot do an operation; whether all can.
pub(super) fn refuse_unable(
    written: &Target,
    asked: &[PlacedEngine],
    tasks: &[Task],
    problems: &mut Problems,
) -> bool {
    let mut able = true;
    for task in tasks {
        for (engine, span) in asked.iter().filter(|asked| !asked.0.operations().contains(&task.operation)) {
            let label = match span {
                Some(_) => "cannot".to_owned(),
                None => format!("has {engine} by default, which cannot"),
            };
            // Who wrote no operation is not told of one.
            let message = match task.by_need {
                Some(_) => format!("{engine} writes over no blocks, and the need asks for writes"),
                None => format!("{engine} cannot do `{}`", task.operation.name()),
            };
            let problem = Problem::new(message)
                .at(span.unwrap_or(written.name.span), label)
                .also_if(task.span.or(task.by_need), "asks for it");
            problems.push(problem.help(able_engines(*engine, task.operation, tasks)));
            able = false;
        }
    }
    able
}

/// What to write so that all of `tasks` can be done. On a path, pread can do everything.
fn able_engines(refused: Engine, operation: Operation, tasks: &[Task]) -> String {
    let several = if tasks.len() > 1 { ", or measure the operations in scenarios of their own" } else { "" };
    let can = |engine: &Engine| tasks.iter().all(|task| engine.operations().contains(&task.operation));
    let engines: Vec<String> = [Engine::IoUring, Engine::Pread]
        .iter()
        .filter(|engine| LOCAL.contains(&refused) && can(engine))
        .map(|engine| format!("engine = \"{engine}\""))
        .collect();
    match (engines.as_slice(), operation) {
        ([], Operation::Write) => {
            format!("objects are replaced whole: write load.operation = \"write_file\"{several}")
        }
        ([], Operation::Mix) => format!(
            "a mix is one of blocks, and objects are replaced whole: measure what is read and what is written by itself, \
             load.operation = [\"read_file\", \"write_file\"]{several}"
        ),
        ([], Operation::Names) => format!(
            "names are changed on paths and over nfs:// alone: write load.operation = \"write_file\", which replaces objects{several}"
        ),
        ([], _) => format!(
            "`getattr` is for nfs:// targets; operation = \"stat\" is its like for all others{several}"
        ),
        (engines, _) => format!("write {}{several}", engines.join(" or ")),
    }
}

/// A lane for each advice, where the engine takes any.
fn advised(lane: Lane, advices: &[Advice]) -> Vec<Lane> {
    // Advice on maps is one axis of one engine: the others would be measured as often again for nothing.
    if lane.engine != Engine::Mmap {
        return vec![lane];
    }
    advices.iter().map(|advice| Lane { advice: *advice, ..lane.clone() }).collect()
}

/// The engines that this machine has, and those that `on_unavailable` leaves out.
fn available(
    written: &Target,
    asked: &[PlacedEngine],
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<(Vec<Lane>, Vec<Skipped>)> {
    let otherwise = written.on_unavailable.value_or(OnUnavailable::default())?;
    let (mut lanes, mut skipped) = (Vec::new(), Vec::new());
    for (engine, span) in asked.iter().copied() {
        match (unavailable(engine, host), otherwise) {
            (None, _) => lanes.push(Lane::of(engine, span)),
            (Some(reason), OnUnavailable::Skip) => {
                let target = written.name.text.clone();
                skipped.push(Skipped { target, engine, reason: reason.to_owned() });
            }
            // A stand-in that is missing as well is an error and not a chain of further ones.
            (Some(reason), OnUnavailable::Use(other)) if unavailable(other, host).is_none() => {
                let stands_in_for = Some(format!("{engine}: {reason}"));
                lanes.push(Lane { stands_in_for, ..Lane::of(other, span) });
            }
            (Some(reason), _) => {
                problems.push(refuse_unavailable(written, engine, span, reason));
                return None;
            }
        }
    }
    Some((lanes, skipped))
}

/// Why an engine is not available here. Every Linux has pread and mmap.
fn unavailable(engine: Engine, host: &HostFacts) -> Option<&str> {
    match engine {
        // Docker's default seccomp profile has forbidden io_uring since 2023, so that this is the usual
        // case in containers.
        Engine::IoUring => host.io_uring.as_ref().err().map(String::as_str),
        Engine::Null | Engine::Pread | Engine::Mmap | Engine::Nfs3 | Engine::Lean | Engine::Sdk => None,
    }
}

fn refuse_unavailable(written: &Target, engine: Engine, span: Option<Span>, reason: &str) -> Problem {
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
