//! What a scenario does over and over, and when.

use feed::Flow;
use plan::{Layout, Operation};

use crate::diagnostic::Span;
use crate::list::Item;
use crate::words::{Mode, Word};
use crate::written::{Depths, Document, Load as Written};

/// An operation, and where it was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) operation: Operation,
    pub(super) span: Option<Span>,
    /// Where the need asks for it, of one that follows from that.
    pub(super) by_need: Option<Span>,
}

/// When reads are issued, and where that was written; `None` when it was wrong.
pub(super) fn mode(written: &Written) -> Option<(Mode, Option<Span>)> {
    Some((written.mode.value_or(Mode::default())?, written.mode.span()))
}

/// The largest depth that is listed; `None` where none is.
pub(super) fn deepest(written: &Written) -> Option<u32> {
    match &written.queue_depth.given()?.value {
        Depths::Auto => None,
        Depths::Listed(depths) => depths.0.iter().map(|item| item.value.0 as u32).max(),
    }
}

/// What is done over and over; `asked` by the need, and where it asks for writes. Where that was wrong, the rest is looked at as if blocks were read; a training job takes
/// whole files unless something else is written, or samples lie in shards.
pub(super) fn tasks(document: &Document, (asked, asked_at): (Flow, Option<Span>)) -> Vec<Task> {
    let written = &document.load;
    match written.operation.given() {
        None => {
            let (mode, span) = mode(written).unwrap_or_default();
            // MLPerf's loaders open, read and close each file, and a job that skips the opening is easier
            // on a storage than the one it stands for.
            let training = written.operation.is_absent() && mode == Mode::Training && !is_packed(document);
            let operation = match training {
                true => Operation::ReadFile,
                false if document.load.mix.key().is_some() => Operation::Mix,
                false => match asked {
                    Flow::Reads => Operation::Read,
                    Flow::Writes => Operation::Write,
                    Flow::Both => Operation::Mix,
                },
            };
            let follows =
                matches!(operation, Operation::Write | Operation::Mix) && document.load.mix.key().is_none();
            let by_need = asked_at.filter(|_| follows);
            vec![Task { operation, span: span.filter(|_| training), by_need }]
        }
        Some(entry) => {
            let task = |item: &Item<Word<Operation>>| Task {
                operation: item.value.0,
                span: Some(item.span),
                by_need: None,
            };
            entry.value.0.iter().map(task).collect()
        }
    }
}

/// Whether a training job over this data takes blocks of open files: shards are not opened sample by sample.
fn is_packed(document: &Document) -> bool {
    let layouts = document.dataset.layout.given().into_iter().flat_map(|axis| &axis.value.0);
    layouts.into_iter().any(|item| item.value.0 != Layout::Files)
}
