//! The loader that a scenario states beside a closed loop. The reads that it can have outstanding bound what the loop may
//! show.

use feed::Need;

use crate::diagnostic::{Problem, Problems};
use crate::words::Mode;
use crate::written::Document;

use super::super::task::{self, Task};

/// The most reads that the stated loader has outstanding: each reader of each accelerator of this client blocks for one
/// read. `None` where the scenario states no loader, or where one means nothing, after saying why.
pub(in super::super) fn depth(
    document: &Document,
    need: Option<&Need>,
    tasks: &[Task],
    problems: &mut Problems,
) -> Option<u32> {
    let (mode, _) = task::mode(&document.load)?;
    let readers = document.training.readers.given().filter(|_| mode == Mode::Closed)?;
    let refuse = |message: &str, label: &str, help: &str| {
        Some(Problem::new(message).at(readers.span, label).help(help))
    };
    let problem = match readers.value.0.as_slice() {
        [_] if !tasks.iter().any(|task| task.operation.reads_bytes()) => refuse(
            "`training.readers` bounds a verdict, and where no bytes are read there is none",
            "bounds nothing",
            "remove it, or read bytes",
        ),
        [_] if need.is_some_and(|need| need.accelerators == 0) => refuse(
            "`training.readers` are those of one accelerator, and this need names none",
            "of how many accelerators?",
            "remove it, or write a need with accelerators",
        ),
        // Blocking readers, as PyTorch's are: each has one read outstanding, however deep the storage could
        // be used.
        [readers] => return Some((readers.value.0 as u32).saturating_mul(need?.accelerators)),
        _ => refuse(
            "a closed loop is held against one loader",
            "several",
            "write one number; with load.mode = \"training\" each of them is played",
        ),
    };
    problems.extend(problem);
    None
}
