//! Which treatments of the page cache one target is measured with.
//!
//! Two keys speak of it: `load.cache` for all targets, `direct` for one. Together they must agree.

use plan::Cache;

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::PathFacts;
use crate::list::{Axis, Item};
use crate::reader::Field;
use crate::value::Flag;
use crate::words::Word;

/// One treatment, and the value that asked for it, if any did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) cache: Cache,
    span: Option<Span>,
}

/// The treatments for a target on a path with these `facts`, which was written at `at`.
pub(super) fn resolve(
    direct: &Field<Axis<Flag>>,
    cache: &Field<Axis<Word<Cache>>>,
    at: Span,
    facts: &PathFacts,
    problems: &mut Problems,
) -> Option<Vec<Choice>> {
    let choices = match (direct, cache) {
        (Field::Wrong(_), _) | (_, Field::Wrong(_)) => return None,
        (Field::Absent, Field::Absent) => vec![Choice { cache: by_default(facts), span: None }],
        (Field::Given(direct), Field::Absent) => direct.value.0.iter().map(from_direct).collect(),
        (Field::Absent, Field::Given(cache)) => cache.value.0.iter().map(from_cache).collect(),
        (Field::Given(direct), Field::Given(cache)) => {
            agreed(&direct.value.0, &cache.value.0, problems)?;
            cache.value.0.iter().map(from_cache).collect()
        }
    };
    let mut possible = true;
    for problem in choices.iter().filter_map(|choice| refuse(*choice, at, facts)) {
        problems.push(problem);
        possible = false;
    }
    possible.then_some(choices)
}

fn by_default(facts: &PathFacts) -> Cache {
    if facts.direct_align_bytes.is_some() { Cache::Bypass } else { Cache::Cold }
}

fn from_direct(item: &Item<Flag>) -> Choice {
    let cache = if item.value.0 { Cache::Bypass } else { Cache::Cold };
    Choice { cache, span: Some(item.span) }
}

fn from_cache(item: &Item<Word<Cache>>) -> Choice {
    Choice { cache: item.value.0, span: Some(item.span) }
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

fn refuse(choice: Choice, at: Span, facts: &PathFacts) -> Option<Problem> {
    let asked = |problem: Problem| match choice.span {
        Some(span) => {
            problem.at(span, format!("cannot be {} here", choice.cache.name())).also(at, "of this path")
        }
        None => problem.at(at, "this path"),
    };
    let file_system = &facts.file_system;
    if facts.in_memory && choice.cache != Cache::Warm {
        let problem = Problem::new(format!("this path is memory ({file_system}), not storage"));
        return Some(asked(problem).help(
            "choose a path on a disk; load.cache = \"warm\" measures this one for what it is: a copy from memory",
        ));
    }
    if choice.cache == Cache::Bypass && facts.direct_align_bytes.is_none() {
        let problem =
            Problem::new(format!("direct I/O where there is none: {file_system} does not offer it"));
        return Some(
            asked(problem).help("write load.cache = \"cold\" (evicted before each repetition), or remove it"),
        );
    }
    None
}
