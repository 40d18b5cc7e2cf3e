//! Scenario files: from TOML text to a plan.
//!
//! A text is read once into types as written, each value with its place, and resolved once into a
//! [`plan::Plan`] without defaults. Mistakes are gathered, not thrown: [`resolve()`] reports all of them at
//! once, those of the text and those that only the machine can show, each with file, line, caret and what
//! to write instead. This crate does no I/O; what the machine allows comes in as [`HostFacts`].

mod diagnostic;
mod document;
mod hint;
mod host;
mod init;
mod list;
mod offered;
mod only;
mod overrides;
mod percentage;
mod reader;
mod recovery;
mod resolve;
mod schema;
mod table;
mod value;
mod words;
mod written;

use std::path::Path;
use std::sync::Arc;

pub use diagnostic::{Diagnostics, Source};
pub use hint::in_flags;
pub use host::HostFacts;
pub use init::{check_shape, from_device, from_path, init, need};
pub use plan::PathFacts;
pub use resolve::{ORDER_BYTES_MAX, SIZE_DEFAULT_BYTES};
pub use schema::schema_json;

use diagnostic::{Problem, Problems, Span};
use plan::{BackendConfig, Plan};
use written::Document;

/// Name of a scenario that did not come from a file.
// Runs without a file share one name, under which a history finds them.
const NAME_WITHOUT_FILE: &str = "run";

/// A scenario as written, with the mistakes that its text alone shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    sources: Arc<[Source]>,
    written: Document,
    problems: Problems,
    /// Mistakes of TOML itself, and of how overrides are written.
    syntax: Problems,
    /// What could not be read for them.
    unreadable: Vec<Span>,
    /// Whether nothing but single values is missing for them.
    reads_on: bool,
    /// The targets that were chosen; all where empty.
    only: Vec<String>,
    /// Whether some of its values are tried alone.
    is_search: bool,
}

/// Reads a scenario and applies `overrides`, each `table.key=value` with a value in TOML or plain text.
///
/// Mistakes are kept and reported by [`resolve()`], together with those that only the machine can show: a scenario is
/// good when it resolves.
pub fn parse(source: &Source, overrides: &[String]) -> Scenario {
    let mut sources = vec![source.clone()];
    sources.extend(overrides.iter().enumerate().map(|(index, text)| overrides::source(index, text)));

    let mut syntax = Problems::default();
    let document::Parsed { mut table, unreadable, keeps_keys } = document::parse(source, &mut syntax);
    let of_text = syntax.len();
    for (index, text) in overrides.iter().enumerate() {
        overrides::apply(&mut table, index + 1, text, &mut syntax);
    }
    let mut problems = Problems::default();
    let written = Document::read(&table, &mut problems);
    // Where a whole statement is lost, resolving would report what follows from its absence as mistakes of
    // the user's.
    let reads_on = keeps_keys && syntax.len() == of_text;
    Scenario {
        sources: sources.into(),
        written,
        problems,
        syntax,
        unreadable,
        reads_on,
        only: Vec::new(),
        is_search: false,
    }
}

/// Resolves a scenario on a machine.
///
/// # Errors
/// Every mistake of the scenario, and everything in it that this machine does not allow. Of a text that is not TOML,
/// everything that does not follow from what could not be read.
pub fn resolve(scenario: &Scenario, host: &HostFacts) -> Result<Plan, Diagnostics> {
    let mut problems = scenario.problems.clone();
    let plan = if scenario.reads_on {
        let of = resolve::Asked { name: &scenario.name(), is_search: scenario.is_search };
        resolve::plan(of, &scenario.written, host, &mut problems)
    } else {
        None
    };
    match plan {
        Some(plan) if problems.is_empty() && scenario.syntax.is_empty() => Ok(plan),
        _ => Err(scenario.diagnostics(problems)),
    }
}

impl Scenario {
    /// The scenario as one of which some values are tried, found out one after the other: its budget need not have room for all.
    #[must_use]
    pub fn as_search(self) -> Self {
        Self { is_search: true, ..self }
    }

    /// The scenario as if its text had these targets alone; as it is where none is named. What names one of the others is then
    /// a mistake.
    #[must_use]
    pub fn only(mut self, names: &[String]) -> Self {
        let known: Vec<String> = self.written.targets.iter().map(|target| target.name.text.clone()).collect();
        for name in names.iter().filter(|name| !known.contains(name)) {
            let problem = Problem::absent(format!("--only names `{name}`, which is no target"));
            self.problems.push(problem.help(format!("targets: {}", known.join(", "))));
        }
        if !names.is_empty() {
            self.written.targets.retain(|target| names.contains(&target.name.text));
        }
        Self { only: names.to_vec(), ..self }
    }

    /// The path of every target that has one, a folder or a block device, and of the cache tier, as written: what
    /// [`HostFacts::paths`] must describe.
    pub fn local_paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for target in &self.written.targets {
            if let Some(path) = target.at.given().and_then(|at| at.value.path())
                && !paths.iter().any(|known| known == path)
            {
                paths.push(path.to_owned());
            }
        }
        if let Some(at) = self.written.cache_tier.at.given().map(|at| &at.value.0)
            && !paths.contains(at)
        {
            paths.push(at.clone());
        }
        paths
    }

    /// The file of `dataset.order`, as written: what [`HostFacts::order`] must hold.
    pub fn order_file(&self) -> Option<&str> {
        self.written.dataset.order.given().map(|at| at.value.0.as_str())
    }

    /// Whether its need asks for reads; true where it does not say.
    pub fn asks_rate(&self) -> bool {
        !resolve::is_of_checkpoints_alone(&self.written.need)
    }

    /// What its need asks for, reads where it does not say; `None` of checkpoints alone.
    pub fn asks(&self) -> Option<feed::Flow> {
        self.asks_rate().then(|| resolve::asks(&self.written.need))
    }

    /// The servers and buckets of a scenario's targets, under their addresses as written; those that feedline starts
    /// by itself are left out. Needs nothing of the machine.
    ///
    /// # Errors
    /// When a target's address or the way to it is wrong, every mistake of the text.
    pub fn remotes(&self) -> Result<Vec<(String, BackendConfig)>, Diagnostics> {
        let mut problems = self.problems.clone();
        let mut remotes = Vec::new();
        let mut readable = true;
        for target in self.written.targets.iter().filter(|target| target.emulate.is_absent()) {
            let Some(at) = target.at.given() else {
                readable = false;
                continue;
            };
            let Some(text) = at.value.remote() else { continue };
            match resolve::network_config(target, &mut problems) {
                Some(config) => remotes.push((text.to_owned(), config)),
                None => readable = false,
            }
        }
        if readable && self.syntax.is_empty() { Ok(remotes) } else { Err(self.diagnostics(problems)) }
    }

    /// The mistakes of TOML, and of the others those that cannot follow from them.
    fn diagnostics(&self, problems: Problems) -> Diagnostics {
        let mut all = self.syntax.clone();
        let is_toml = self.syntax.is_empty();
        all.append(if is_toml { problems } else { problems.without_consequences(&self.unreadable) });
        all.into_diagnostics(Arc::clone(&self.sources))
    }

    /// The text that was run: the scenario's own, and its overrides and chosen targets as comments below it.
    pub fn as_run(&self) -> String {
        let mut text = self.sources[0].text.clone();
        let set = self.sources[1..]
            .iter()
            .map(|source| format!("--set {}", source.text.replace(char::is_control, " ")));
        for option in set.chain(self.only.iter().map(|name| format!("--only {name}"))) {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            // As comments: the file that a record keeps has to resolve, and an override may have replaced
            // what it holds.
            text.extend(["# run with ", &option, "\n"]);
        }
        text
    }

    /// The stem of the file, or `run` when there was none.
    fn name(&self) -> String {
        let path = Path::new(&self.sources[0].name);
        // A record is named by it, and `command line` or a URL is no name.
        let stem = path.file_stem().filter(|_| path.extension().is_some_and(|extension| extension == "toml"));
        stem.map_or_else(|| NAME_WITHOUT_FILE.to_owned(), |stem| stem.to_string_lossy().into_owned())
    }
}
