//! The list of `dataset.order`: what it may hold, and what goes with it. Whether its names are files is known only where the
//! dataset is listed.

use feed::Access;
use plan::{Cache, Cell, DatasetSpec, FileOrder, Operation};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::written::Document;

use super::task::Task;

/// Most bytes of a list.
// ImageNet's 1.28 million names are 40 MB. The text is held while a run goes on, so that it needs a bound.
pub const ORDER_BYTES_MAX: u64 = 256 << 20;

/// Most lines of a list.
// Short names would be many in so many bytes, and each takes 20 B in the order and up to 40 B while it is looked up.
const LINES_MAX: usize = 20_000_000;

/// Most bytes of a line: no path of Linux is longer (`PATH_MAX`), and a key of S3 has 1024.
const LINE_BYTES_MAX: usize = 4096;

/// Characters of a name that a message shows: a line that is no name may have thousands.
const SHOWN_CHARS_MAX: usize = 60;

/// The list, where there is one; `None` too when something was wrong, after saying why.
pub(super) fn resolve(
    document: &Document,
    tasks: &[Task],
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<FileOrder> {
    refuse_orders(document, problems);
    let order = document.dataset.order.given()?;
    refuse_beside(document, order.span, tasks, problems);
    let at = &order.value.0;
    let read = host
        .order
        .as_ref()
        .map_or(Err("nobody looked at it"), |held| held.as_deref().map_err(String::as_str));
    let read = read.map_err(|error| {
        let problem = Problem::new(format!("cannot read the list `{at}`: {error}"));
        problem
            .at(order.span, "names it")
            .help("a relative path counts from the folder in which feedline is started")
    });
    let named = read.and_then(|bytes| {
        named(at, bytes).map_err(|Refused { message, help }| {
            let message = message.replacen("{}", &format!("`{at}`"), 1);
            Problem::new(message).at(order.span, "names the list").help(help)
        })
    });
    named.map_err(|problem| problems.push(problem)).ok()
}

/// What is wrong with a list; `{}` stands for its name.
struct Refused {
    message: String,
    help: &'static str,
}

/// The names in a text, when it can be a list.
fn named(at: &str, bytes: &[u8]) -> Result<FileOrder, Refused> {
    let refused = |message: String, help| Err(Refused { message, help });
    if bytes.len() as u64 > ORDER_BYTES_MAX {
        let most = feed::format_bytes(ORDER_BYTES_MAX);
        return refused(
            format!("{{}} has more than {most}"),
            "write the part of the order that the window reads",
        );
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            return refused(format!("line {line} of {{}} is not UTF-8"), "write one name a line, as text");
        }
    };
    for (line, name) in (1..).zip(text.lines()) {
        if line > LINES_MAX {
            let most = feed::group_digits(LINES_MAX as u64);
            return refused(
                format!("{{}} has more than {most} lines"),
                "write the part of the order that the window reads",
            );
        }
        if name.len() > LINE_BYTES_MAX {
            let message =
                format!("line {line} of {{}} has {} B, and no name more than {LINE_BYTES_MAX}", name.len());
            return refused(message, "write one name a line");
        }
        if name.starts_with('/') {
            let message = format!("line {line} of {{}} begins at the root: {}", shown(name));
            return refused(message, "names count from the folder at the target's `at`");
        }
        if name.contains(char::is_control) {
            return refused(
                format!("line {line} of {{}} has a control character: {}", shown(name)),
                "write one name a line and nothing beside it, no further columns",
            );
        }
    }
    let order = FileOrder::new(at.to_owned(), text.into());
    if order.reads == 0 {
        return refused("{} names no file".to_owned(), "write one name a line");
    }
    Ok(order)
}

fn shown(name: &str) -> String {
    let beginning: String = name.chars().take(SHOWN_CHARS_MAX).collect();
    let rest = if beginning.len() < name.len() { "..." } else { "" };
    format!("`{}{rest}`", beginning.escape_debug())
}

/// Refuses the order of a list without a list, and beside others.
fn refuse_orders(document: &Document, problems: &mut Problems) {
    let Some(access) = document.load.access.given() else { return };
    let Some(list) = access.value.0.iter().find(|order| order.value.0 == Access::List) else { return };
    if document.dataset.order.is_absent() {
        let problem = Problem::new("`access = \"list\"` has no list").at(list.span, "reads by one");
        problems.push(problem.help(
            "write dataset.order = \"order.txt\", a file with one name a line, with dataset.source = \"existing\"",
        ));
    }
    if access.value.0.len() > 1 {
        // The dataset is what the list names, as often as it names it: passes of other orders would be of other samples.
        let problem = Problem::new("a list is measured alone").at(access.span, "has other orders beside it");
        problems.push(problem.help("measure the others in a scenario without `dataset.order`"));
    }
}

/// Refuses what else would say which files are read, or reads them in another order.
fn refuse_beside(document: &Document, order: Span, tasks: &[Task], problems: &mut Problems) {
    if let Some(shards) = document.dataset.shards.key() {
        let problem = Problem::new("`dataset.order` and `dataset.shards` both say which files are read");
        problems.push(problem.at(order, "remove this").at(shards, "or this"));
    }
    if let Some(copy) = document.copy.from.key() {
        let problem = Problem::new("a copy takes each file once, and knows no list");
        problems.push(problem.at(copy, "copies").also(order, "is a list of files"));
    }
    if let Some(task) = tasks.iter().find(|task| task.operation == Operation::List) {
        let problem = Problem::new("`list` goes through folders, and the list names files");
        let problem = problem.at(order, "is a list of files").also_if(task.span, "reads names of folders");
        problems.push(problem.help("write load.operation = \"read_file\", \"read\" or \"stat\""));
    }
}

/// Refuses cold cells by a list that repeats: what is read again would come from memory, and count as cold.
pub(super) fn refuse_cold(
    document: &Document,
    specs: &[DatasetSpec],
    cells: &[Cell],
    problems: &mut Problems,
) {
    let is_cold = |cell: &Cell| cell.access == plan::Access::List && cell.cache == Cache::Cold;
    let repeating = cells.iter().filter(|cell| is_cold(cell)).find_map(|cell| match &specs[cell.dataset] {
        DatasetSpec::Existing(existing) => existing.order.as_ref().filter(|order| order.repeats()),
        DatasetSpec::Generate(_) => None,
    });
    let (Some(order), Some(at)) = (repeating, document.dataset.order.key()) else { return };
    let message = format!(
        "`cold` reads no byte twice, and `{}` names {} {} times",
        order.at,
        feed::counted_noun(order.files, "file"),
        feed::group_digits(order.reads)
    );
    let problem = Problem::new(message).at(at, "names files again");
    let problem = problem.also_if(document.load.cache.span(), "evicts before each repetition alone");
    problems.push(problem.help(
        "write load.cache = \"cold_start\", under which what is read again may come from memory, or \"bypass\"",
    ));
}
