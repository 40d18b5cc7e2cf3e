//! Scenario files: from TOML text to a plan.
//!
//! A text is read once into types as written, each value with its place, and resolved once into a
//! [`plan::Plan`] without defaults. Mistakes are gathered, not thrown: [`resolve()`] reports all of them at
//! once, those of the text and those that only the machine can show, each with file, line, caret and what
//! to write instead. This crate does no I/O; what the machine allows comes in as [`HostFacts`].

mod diagnostic;
mod document;
mod host;
mod init;
mod list;
mod offered;
mod only;
mod overrides;
mod percentage;
mod reader;
mod resolve;
mod schema;
mod table;
mod value;
mod words;
mod written;

use std::path::Path;
use std::sync::Arc;

pub use diagnostic::{Diagnostics, Source};
pub use host::{HostFacts, PathFacts};
pub use init::{check_shape, from_device, from_path, init};
pub use resolve::SIZE_DEFAULT_BYTES;
pub use schema::schema_json;

use diagnostic::Problems;
use plan::{BackendConfig, Plan};
use written::Document;

/// Name of a scenario that did not come from a file.
const NAME_WITHOUT_FILE: &str = "run";

/// A scenario as written, with the mistakes that its text alone shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    sources: Arc<[Source]>,
    written: Document,
    problems: Problems,
}

/// Reads a scenario and applies `overrides`, each `table.key=value` with a value in TOML or plain text.
///
/// Mistakes other than those of TOML itself are kept and reported by [`resolve()`], together with those that
/// only the machine can show: a scenario is good when it resolves, not when it parses.
///
/// # Errors
/// When the text is not TOML or an override cannot be applied, together with every other mistake in what
/// could be read.
pub fn parse(source: &Source, overrides: &[String]) -> Result<Scenario, Diagnostics> {
    let mut sources = vec![source.clone()];
    sources.extend(overrides.iter().enumerate().map(|(index, text)| overrides::source(index, text)));
    let sources: Arc<[Source]> = sources.into();

    let mut syntax = Problems::default();
    let (mut document, unreadable) = document::parse(source, &mut syntax);
    for (index, text) in overrides.iter().enumerate() {
        overrides::apply(&mut document, index + 1, text, &mut syntax);
    }
    let mut problems = Problems::default();
    let written = Document::read(&document, &mut problems);
    if syntax.is_empty() {
        return Ok(Scenario { sources, written, problems });
    }
    syntax.append(problems.without_consequences(&unreadable));
    Err(syntax.into_diagnostics(sources))
}

/// Resolves a scenario on a machine.
///
/// # Errors
/// Every mistake of the scenario, and everything in it that this machine does not allow.
pub fn resolve(scenario: &Scenario, host: &HostFacts) -> Result<Plan, Diagnostics> {
    let mut problems = scenario.problems.clone();
    let plan = resolve::plan(&scenario.name(), &scenario.written, host, &mut problems);
    match plan {
        Some(plan) if problems.is_empty() => Ok(plan),
        _ => Err(problems.into_diagnostics(Arc::clone(&scenario.sources))),
    }
}

impl Scenario {
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
        if readable { Ok(remotes) } else { Err(problems.into_diagnostics(Arc::clone(&self.sources))) }
    }

    /// The text that was run: the scenario's own, and its overrides as comments below it.
    pub fn as_run(&self) -> String {
        let mut text = self.sources[0].text.clone();
        for source in &self.sources[1..] {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str("# run with --set ");
            text.push_str(&source.text.replace(char::is_control, " "));
            text.push('\n');
        }
        text
    }

    /// The stem of the file, or `run` when there was none.
    fn name(&self) -> String {
        let path = Path::new(&self.sources[0].name);
        let stem = path.file_stem().filter(|_| path.extension().is_some_and(|extension| extension == "toml"));
        stem.map_or_else(|| NAME_WITHOUT_FILE.to_owned(), |stem| stem.to_string_lossy().into_owned())
    }
}
