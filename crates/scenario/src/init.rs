//! Scenarios made for a user: a commented one to keep, and the shortest one for a path.

use toml::de::DeValue;

use crate::diagnostic::{COMMAND_LINE, Diagnostics, Problems, Source, Span};
use crate::document::{Node, Value};
use crate::reader::Written as _;
use crate::written::Address;
use crate::{HostFacts, PathFacts, parse, resolve};

/// A commented scenario for one target. `at` is its address, `need` the short form of a need such as
/// `8xh100:resnet50`.
pub fn init(at: &str, need: &str) -> String {
    include_str!("init.toml").replace("{AT}", &quoted(at)).replace("{NEED}", &quoted(need))
}

/// The scenario that `feedline run PATH --need NEED` runs. Without a need it is one that says so when read. Who names no
/// engine is served by any: where io_uring is forbidden, a path is read by pread.
pub fn from_path(at: &str, need: Option<&str>) -> Source {
    let need = need.map(|need| format!("need = {}\n", needed(need))).unwrap_or_default();
    // In a scenario file an engine that is missing is an error, since somebody chose it or accepted the
    // default. Here nobody did, and containers forbid io_uring by default.
    let otherwise = if is_path(at) { ", on_unavailable = \"pread\"" } else { "" };
    let text = format!("version = 1\n{need}targets.data = {{ at = {}{otherwise} }}\n", quoted(at));
    Source { name: COMMAND_LINE.to_owned(), text }
}

/// Whether an address is that of a folder, or of a device.
fn is_path(at: &str) -> bool {
    let address = Value::String(at.to_owned());
    let node = Node { value: address, span: Span::default() };
    Address::read(&node, "at", &mut Problems::default()).is_some_and(|address| address.path().is_some())
}

/// A need in its short form, as the table of its keys, `{ batch = 400, ... }`, or as a list of these.
fn needed(need: &str) -> String {
    // It must parse as well: a brace that is never closed would otherwise break the text that was made, and
    // not what was typed.
    let is_value = need.starts_with(['{', '[']) && DeValue::parse(need).is_ok();
    if is_value { need.to_owned() } else { quoted(need) }
}

/// As [`from_path`], for the node of a block device: it is only ever read, and the scenario says so.
pub fn from_device(at: &str, need: Option<&str>) -> Source {
    let Source { name, text } = from_path(at, need);
    Source { name, text: format!("{text}dataset.source = \"existing\"\n") }
}

/// What a need says that is typed on a command line: in its short form, as the table of its keys, or as a list of these.
///
/// # Errors
/// Every mistake of it.
pub fn need(text: &str) -> Result<feed::Need, Diagnostics> {
    // A scenario has a target, of which nothing is asked here.
    let scenario = parse(&from_path(".", Some(text)), &[]);
    let mut problems = scenario.problems.clone();
    let need = if scenario.reads_on { resolve::need(&scenario.written, &mut problems) } else { None };
    match need {
        Some(need) if problems.is_empty() && scenario.syntax.is_empty() => Ok(need),
        _ => Err(scenario.diagnostics(problems)),
    }
}

/// Checks a scenario as far as no machine is needed: on one that grants everything it asks.
pub fn check_shape(text: &str) -> Result<(), Diagnostics> {
    let source = Source { name: COMMAND_LINE.to_owned(), text: text.to_owned() };
    let scenario = parse(&source, &[]);
    let paths = scenario.local_paths().into_iter().map(|at| (at, PathFacts::generous())).collect();
    let host =
        // As much of everything as there can be, but one core: the number of cores allows nothing, and sets
        // only defaults.
        HostFacts { cores: 1, memory_bytes: u64::MAX, cache_bytes: None, open_files_max: u64::MAX, io_uring: Ok(()), paths, order: None };
    resolve(&scenario, &host).map(drop)
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
