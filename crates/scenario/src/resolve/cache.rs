//! Which treatments of the page cache one target is measured with.
//!
//! Two keys speak of it: `load.cache` for all targets, `direct` for one. Together they must agree, and with
//! what is done and how.

use plan::{Cache, Engine, Operation, PathFacts};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::{Axis, Item};
use crate::reader::Field;
use crate::value::Flag;
use crate::words::Word;

use super::task::Task;

/// What a target says of the page cache, and the path it is at.
pub(super) struct Subject<'a> {
    pub(super) direct: &'a Field<Axis<Flag>>,
    pub(super) cache: &'a Field<Axis<Word<Cache>>>,
    /// Where the address was written.
    pub(super) at: Span,
    pub(super) facts: &'a PathFacts,
}

/// An operation by one of the target's engines, and the treatments that go with both.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// Index of the engine.
    pub(super) lane: usize,
    pub(super) operation: Operation,
    pub(super) caches: Vec<Cache>,
    /// Whether the scenario states them; by default they follow the layout too.
    pub(super) written: bool,
}

/// One treatment, and the value that asked for it, if one did.
#[derive(Debug, Clone, Copy)]
struct Choice {
    cache: Cache,
    by_direct: bool,
    span: Option<Span>,
}

impl Choice {
    /// As it was written.
    fn words(self) -> String {
        if self.by_direct {
            return format!("direct = {}", self.cache == Cache::Bypass);
        }
        format!("cache = \"{}\"", self.cache.name())
    }
}

/// Every operation by every engine; `None` when a treatment is impossible, after saying why.
pub(super) fn resolve(
    subject: &Subject<'_>,
    engines: &[(Engine, Option<Span>)],
    tasks: &[Task],
    problems: &mut Problems,
) -> Option<Vec<Way>> {
    let before = problems.len();
    let written = written(subject, problems)?;
    for choice in written.iter().flatten() {
        let of_tasks = tasks.iter().filter_map(|task| refuse_for_task(*choice, *task, tasks.len()));
        let of_engines =
            engines.iter().filter_map(|(engine, span)| refuse_for_engine(*choice, *engine, *span));
        let refused = refuse_for_path(*choice, subject).into_iter().chain(of_tasks).chain(of_engines);
        refused.for_each(|problem| problems.push(problem));
    }
    let mut ways = Vec::new();
    for (lane, (engine, _)) in engines.iter().enumerate() {
        for task in tasks {
            let default = default_choice(*engine, task.operation, subject.facts);
            let choices = written.clone().unwrap_or_else(|| vec![default]);
            if written.is_none() {
                problems.extend(match task.operation {
                    Operation::Mix => refuse_mix_of_path(subject),
                    _ => refuse_for_path(default, subject),
                });
            }
            // Of one path all operations have the same list; what a task cannot take has been refused
            // above.
            let caches = choices.into_iter().map(|choice| choice.cache).collect();
            ways.push(Way { lane, operation: task.operation, caches, written: written.is_some() });
        }
    }
    (problems.len() == before).then_some(ways)
}

/// The treatments as written. `Some(None)` where none was; `None` when they were wrong.
#[expect(clippy::option_option, reason = "absent and wrong differ")]
fn written(subject: &Subject<'_>, problems: &mut Problems) -> Option<Option<Vec<Choice>>> {
    let choices = match (subject.direct, subject.cache) {
        (Field::Wrong(_), _) | (_, Field::Wrong(_)) => return None,
        (Field::Absent, Field::Absent) => return Some(None),
        (Field::Given(direct), Field::Absent) => direct.value.0.iter().map(from_direct).collect(),
        (Field::Absent, Field::Given(cache)) => cache.value.0.iter().map(from_cache).collect(),
        // Two keys for one thing: `direct` is fio's word and people look for it. Where both are written
        // they have to agree, and neither wins.
        (Field::Given(direct), Field::Given(cache)) => {
            agreed(&direct.value.0, &cache.value.0, problems)?;
            cache.value.0.iter().map(from_cache).collect()
        }
    };
    Some(Some(choices))
}

/// The default treatment. Names and inodes are in memory while a training job runs; blocks of its data are not.
fn default_choice(engine: Engine, operation: Operation, facts: &PathFacts) -> Choice {
    let cache = match (operation, engine) {
        (operation, _) if operation.is_of_names() => Cache::Warm,
        (Operation::Write | Operation::WriteFile, _) if facts.direct_align_bytes.is_none() => Cache::Warm,
        // Where there is no direct I/O it is refused: through the page cache reads would find what is written beside them.
        (Operation::Mix, _) => Cache::Bypass,
        // A map is the page cache; direct I/O through it does not exist.
        (_, Engine::Mmap) => Cache::Cold,
        // Bypass by default: it needs no eviction, no root, and a machine with much memory cannot fake it.
        _ if facts.direct_align_bytes.is_some() => Cache::Bypass,
        _ => Cache::Cold,
    };
    Choice { cache, by_direct: false, span: None }
}

fn from_direct(item: &Item<Flag>) -> Choice {
    let cache = if item.value.0 { Cache::Bypass } else { Cache::Cold };
    Choice { cache, by_direct: true, span: Some(item.span) }
}

fn from_cache(item: &Item<Word<Cache>>) -> Choice {
    Choice { cache: item.value.0, by_direct: false, span: Some(item.span) }
}

/// Every treatment must be one that `direct` allows, and every value of `direct` must have a treatment.
fn agreed(directs: &[Item<Flag>], caches: &[Item<Word<Cache>>], problems: &mut Problems) -> Option<()> {
    let fits =
        |direct: &Item<Flag>, cache: &Item<Word<Cache>>| direct.value.0 == (cache.value.0 == Cache::Bypass);
    let cache_alone = caches.iter().find(|cache| !directs.iter().any(|direct| fits(direct, cache)));
    let direct_alone = directs.iter().find(|direct| !caches.iter().any(|cache| fits(direct, cache)));
    let (direct, cache) = match (direct_alone, cache_alone) {
        (None, None) => return Some(()),
        (direct, cache) => (direct.unwrap_or(&directs[0]), cache.unwrap_or(&caches[0])),
    };
    let does = if direct.value.0 { "goes past the page cache" } else { "goes through the page cache" };
    let problem = Problem::new(format!(
        "`direct` and cache = \"{}\" contradict each other",
        cache.value.0.name()
    ))
    .at(direct.span, does)
    .at(cache.span, if cache.value.0 == Cache::Bypass { "goes past it" } else { "goes through it" })
    .help("remove `direct`, and write what to compare in `load.cache`, e.g. cache = [\"cold\", \"bypass\"]");
    problems.push(problem);
    None
}

fn is_about_pages(cache: Cache) -> bool {
    matches!(cache, Cache::Bypass | Cache::DontCache)
}

fn refuse_for_task(choice: Choice, task: Task, tasks: usize) -> Option<Problem> {
    match task.operation {
        Operation::Write | Operation::WriteFile => return refuse_for_writes(choice, task, tasks),
        Operation::Mix => return refuse_for_mix(choice, task, tasks),
        _ => {}
    }
    let span = choice.span.filter(|_| is_about_pages(choice.cache) && !task.operation.reads_bytes())?;
    let message = format!("{} means nothing for `{}`", choice.words(), task.operation.name());
    let help = "write cache = \"cold\", which evicts names and inodes, or \"warm\"";
    let several = if tasks > 1 { "; or measure the operations in scenarios of their own" } else { "" };
    Some(
        Problem::new(message)
            .at(span, "is about the pages of files")
            .also_if(task.span, "reads no bytes of files")
            .help(format!("{help}{several}")),
    )
}

/// Nothing has to be out of the page cache for a write, which goes through it or around it.
fn refuse_for_writes(choice: Choice, task: Task, tasks: usize) -> Option<Problem> {
    let span = choice.span.filter(|_| !matches!(choice.cache, Cache::Warm | Cache::Bypass))?;
    let several = if tasks > 1 { "; or measure the operations in scenarios of their own" } else { "" };
    Some(
        Problem::new(format!("{} means nothing for `{}`", choice.words(), task.operation.name()))
            .at(span, "is about bytes that are read")
            .also_if(task.span, "reads none")
            .help(format!(
                "write cache = \"bypass\", or \"warm\" for writes through the page cache{several}"
            )),
    )
}

/// Reads through the page cache would find there what is written beside them.
fn refuse_for_mix(choice: Choice, task: Task, tasks: usize) -> Option<Problem> {
    let span = choice.span.filter(|_| choice.cache != Cache::Bypass)?;
    let several = if tasks > 1 { "; or measure the operations in scenarios of their own" } else { "" };
    let problem = Problem::new(format!("{} and a mix: reads would come from memory", choice.words()));
    let problem = problem
        .at(span, "goes through the page cache")
        .also_if(task.span, "reads what lies beside what it writes");
    Some(problem.help(format!("write cache = \"bypass\", or remove it{several}")))
}

/// The same of a path where nothing goes past it.
fn refuse_mix_of_path(subject: &Subject<'_>) -> Option<Problem> {
    let Subject { at, facts, .. } = *subject;
    let file_system = &facts.file_system;
    let has_direct = facts.direct_align_bytes.is_some() && !facts.in_memory;
    let problem = Problem::new(format!("a mix goes past the page cache, and {file_system} does not let it"));
    let problem = problem.at(at, "this path");
    let help = "measure what is read and what is written by itself: load.operation = [\"read\", \"write\"]";
    (!has_direct).then(|| problem.help(help))
}

fn refuse_for_engine(choice: Choice, engine: Engine, at: Option<Span>) -> Option<Problem> {
    let span = choice.span.filter(|_| is_about_pages(choice.cache) && engine == Engine::Mmap)?;
    let problem = Problem::new("a memory map is made of the pages of the page cache")
        .at(span, format!("{} cannot be", choice.words()))
        .also_if(at, "maps them");
    Some(problem.help(
        "write load.cache = \"cold\", \"cold_start\" or \"warm\", which every engine can, or remove \"mmap\"",
    ))
}

fn refuse_for_path(choice: Choice, subject: &Subject<'_>) -> Option<Problem> {
    let Subject { at, facts, .. } = *subject;
    let asked = |problem: Problem| match choice.span {
        Some(span) => {
            problem.at(span, format!("cannot be {} here", choice.cache.name())).also(at, "of this path")
        }
        None => problem.at(at, "this path"),
    };
    let file_system = &facts.file_system;
    // tmpfs takes O_DIRECT since Linux 6.6 and then copies memory: honoured in form, and a lie in a table
    // of storages.
    if facts.in_memory && choice.cache != Cache::Warm {
        let problem = Problem::new(format!("this path is memory ({file_system}), not storage"));
        return Some(asked(problem).help(
            "choose a path on a disk; load.cache = \"warm\" measures this one for what it is: a copy from memory",
        ));
    }
    if choice.cache == Cache::Bypass && facts.direct_align_bytes.is_none() {
        let problem = Problem::new(format!("{file_system} does not offer direct I/O"));
        return Some(
            asked(problem).help("write load.cache = \"cold\" (evicted before each repetition), or remove it"),
        );
    }
    if choice.cache == Cache::DontCache && !facts.dontcache {
        let problem = Problem::new(format!(
            "{file_system} on this kernel has no reads that drop their pages (RWF_DONTCACHE)"
        ));
        return Some(asked(problem).help(
            "they take Linux 6.14 and a file system that has them (ext4, xfs); write load.cache = \"cold\", or \"bypass\"",
        ));
    }
    None
}
