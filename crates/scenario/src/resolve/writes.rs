//! What writes ask of a target and of its data, and what a need and a load must agree on.

use feed::{Flow, Operation};
use plan::{Cache, Durability, Emulation};

use crate::diagnostic::{Problem, Problems};
use crate::words::{Mode, Origin};
use crate::written::Document;

use super::cache::Way;
use super::dataset::Datasets;
use super::load::Load;
use super::need;
use super::target::Resolved;
use super::task::{self, Task};

/// Refuses writes that would not be what they are called.
pub(super) fn refuse(target: &Resolved<'_>, datasets: &Datasets, load: &Load, problems: &mut Problems) {
    // Data of the user's are not written to at all, which is said elsewhere.
    if datasets.origin == Origin::Existing {
        return;
    }
    let writes = || target.ways.iter().filter(|way| way.operation.writes_over());
    let asks = |cache| writes().any(|way| way.caches.contains(&cache));
    let changes = target.ways.iter().any(|way| way.operation.changes_storage());
    problems.extend(changes.then(|| on_own_server(target, load)).flatten());
    problems.extend(asks(Cache::Warm).then(|| into_memory(target, load)).flatten());
    // What is too much of a file that is written anew is cut off again.
    let is_block = |way: &&Way| way.operation != Operation::WriteFile && way.caches.contains(&Cache::Bypass);
    problems.extend(writes().find(is_block).and_then(|_| unaligned(target, datasets, load)));
    if writes().any(|way| way.operation == Operation::WriteFile) {
        problems.extend(of_one_promise(target, load));
        problems.extend(too_large(target, datasets, load));
    }
}

/// A service of objects has one promise: what it has answered to is kept.
fn of_one_promise(target: &Resolved<'_>, load: &Load) -> Option<Problem> {
    let has_one = target.target.config.put_bytes_max().is_some();
    let span = load.durability.span.filter(|_| has_one && load.durability.listed() != [Durability::Data])?;
    let problem =
        Problem::new("a service of objects keeps whatever it has answered to, and promises nothing else")
            .at(span, "asks for another promise")
            .also(target.at(), "is such a service");
    Some(problem.help("remove `load.durability`, or measure this target in a scenario of its own"))
}

/// One request takes so many bytes and no more.
fn too_large(target: &Resolved<'_>, datasets: &Datasets, load: &Load) -> Option<Problem> {
    let most = target.target.config.put_bytes_max()?;
    let large = datasets.samples.iter().find(|sample| sample.bytes.is_some_and(|bytes| bytes > most))?;
    let most = feed::format_bytes(most);
    let problem =
        Problem::new(format!("`write_file` writes an object by one request, which takes at most {most}"))
            .at(large.span.unwrap_or(target.at()), "is more")
            .also(target.at(), "is such a service")
            .also_if(load.written.operation.span(), "writes objects whole");
    Some(problem.help(format!(
        "write a dataset.sample_size of at most \"{most}\"; `checkpoint` writes larger ones in parts"
    )))
}

/// A server that feedline starts limits, delays and fails neither writes nor changes of names: they would be as fast as it goes.
fn on_own_server(target: &Resolved<'_>, load: &Load) -> Option<Problem> {
    let asked = target.target.emulate.as_ref().filter(|_| target.target.is_served_here())?;
    let is_free = *asked == Emulation { seed: asked.seed, ..Emulation::default() };
    let problem = Problem::new("a server that feedline starts is as fast as it goes where it is written to")
        .at(target.written.emulate.key().unwrap_or(target.at()), "asks it to be like another")
        .also_if(load.written.operation.span(), "writes to it");
    (!is_free).then(|| problem.help("play writes on a path: at = \"/mnt/data\", with `emulate` there"))
}

/// A write into the page cache of which nothing is promised is a copy in memory: a storage need not be there for it.
fn into_memory(target: &Resolved<'_>, load: &Load) -> Option<Problem> {
    if target.network.is_some() || !load.durability.listed().contains(&Durability::None) {
        return None;
    }
    let problem =
        Problem::new("a write through the page cache of which nothing is promised is a copy in memory")
            .at(load.durability.span.unwrap_or(target.at()), "promises nothing")
            .also_if(load.written.cache.span(), "goes through the page cache");
    Some(problem.help("write durability = \"data\", or cache = \"bypass\" where the path has direct I/O"))
}

/// Direct I/O writes whole blocks of the device: a last block that is shorter would make the file longer.
fn unaligned(target: &Resolved<'_>, datasets: &Datasets, load: &Load) -> Option<Problem> {
    let align = u64::from(target.direct_align_bytes?);
    // What a mix reads would come from the page cache, which is refused.
    let mixes = target.ways.iter().any(|way| way.operation == Operation::Mix);
    let or_warm = if mixes { "" } else { ", or load.cache = \"warm\"" };
    let help = |bytes: u64| {
        let near = feed::format_bytes(bytes.next_multiple_of(align.max(4096)));
        format!("write for example dataset.sample_size = \"{near}\"{or_warm}")
    };
    if !datasets.is_uniform() {
        let problem =
            Problem::new(format!("direct I/O writes multiples of {align} B here, and sizes spread"))
                .at(target.at(), "of this path")
                .also_if(load.written.operation.span(), "writes to the end of each file");
        return Some(problem.help(format!("write sizes that are equal{or_warm}")));
    }
    let odd = datasets
        .samples
        .iter()
        .find(|sample| sample.bytes.is_some_and(|bytes| !bytes.is_multiple_of(align)))?;
    let bytes = odd.bytes?;
    let problem = Problem::new(format!("direct I/O writes multiples of {align} B here"))
        .at(odd.span.unwrap_or(target.at()), format!("{} B is not a multiple", feed::group_digits(bytes)))
        .also(target.at(), "of this path");
    Some(problem.help(help(bytes)))
}

/// Refuses a load of which nothing could answer the need.
pub(super) fn refuse_other_need(document: &Document, tasks: &[Task], problems: &mut Problems) {
    let asked = need::asks(&document.need);
    // Of a need that is wrong nothing is known, and a mix of which nothing says how much is written is refused by that.
    let is_unsaid = asked == Flow::Reads
        && document.load.mix.is_absent()
        && tasks.iter().any(|task| task.operation == Operation::Mix);
    if document.need.entry().is_none() || is_unsaid {
        return;
    }
    if let (Some((Mode::Training, Some(mode))), false) = (task::mode(&document.load), asked == Flow::Reads) {
        let place = need::place_of_writes(&document.need).or(document.need.span()).unwrap_or_default();
        let problem = Problem::new("a training load reads alone, and the need asks for writes");
        let problem = problem.at(place, "asks for them").also(mode, "plays a job");
        problems.push(problem.help("remove this key of the need, or load.mode: other loads write too"));
        return;
    }
    let is_answered = match asked {
        // Looking names up answers no need of reads either, and is let be: it has its own table.
        Flow::Reads => !tasks.iter().all(|task| task.operation.writes_over()),
        flow => tasks.iter().any(|task| task.operation.flow() == Some(flow)),
    };
    if is_answered {
        return;
    }
    let (problem, needs, does, help) = match asked {
        Flow::Writes => (
            "the need is one of writes, and nothing writes alone",
            "is of writes",
            "writes nothing, or reads beside it",
            "write load.operation = \"write\" or \"write_file\"; or need = { rate = ... }, with a write_rate beside it for both at once",
        ),
        Flow::Both => (
            "the need is one of reads and writes at once, and nothing does both",
            "is of both",
            "does one of them",
            "write load.operation = \"mix\", or add it: each alone may be fed where both together are not",
        ),
        Flow::Reads => (
            "the need is one of reads, and nothing reads alone",
            "is of reads",
            "writes",
            "write need = { write_rate = \"2 GB/s\" }, with a rate beside it for both at once; or load.operation = [\"read\", \"write\"]",
        ),
    };
    let problem = Problem::new(problem).at(document.need.span().unwrap_or_default(), needs);
    let problem = tasks.iter().fold(problem, |problem, task| problem.also_if(task.span, does));
    problems.push(problem.help(help));
}
