//! What a record says once it is ended: pages, plots and the answer.

use std::path::Path;

use analysis::{Proof, Summary};
use record::{Line, RunRecord};

use crate::args::ShowArgs;
use crate::derived::Derived;
use crate::exit::Failure;
use crate::regression::Past;
use crate::shown::{PAGE_FILE, Told};
use crate::{files, output, proof, resume};

/// What a record says.
pub(crate) struct Conclusion {
    pub(crate) summary: Summary,
    /// What it proves with other runs, where that was asked for.
    pub(crate) proofs: Vec<Proof>,
    /// How it stands beside the baseline of its gate, where it was held against it.
    pub(crate) past: Option<Past>,
}

/// Derives everything from a record, leaves report and plots beside it, and prints the answer. A run that came to its end is
/// held against the baseline of its gate where `results` says where that is: the answer and the exit say one thing.
pub(crate) fn conclude(
    folder: &Path,
    show: ShowArgs,
    proof: Option<&proof::ProofPlan>,
    results: Option<&Path>,
) -> Result<Conclusion, Failure> {
    let summary = derive(folder)?;
    let past = match results.filter(|_| !summary.head.interrupted) {
        Some(results) => Past::of(folder, results, &summary.gate)?,
        None => None,
    };
    let proofs = match proof.filter(|_| !summary.head.interrupted) {
        Some(asked) => asked.add_up(&summary)?,
        None => Vec::new(),
    };
    let told = Told { summary: &summary, proofs: &proofs, past: past.as_ref().and_then(Past::result) };
    output::print_as_is(show.text(&told, folder, output::screen()))?;
    Ok(Conclusion { summary, proofs, past })
}

/// Derives everything from the record as it lies on disk, and leaves pages and plots beside it.
pub(crate) fn derive(folder: &Path) -> Result<Summary, Failure> {
    let derived = Derived::of(folder)?;
    let write = |name: &str, text: &str| files::write(&folder.join(name), text.as_bytes());
    write("report.md", &report::markdown(&derived.summary))?;
    write(PAGE_FILE, &report::html(&[derived.page()]))?;
    for plot in &derived.plots {
        write(&format!("{}.svg", plot.name), &plot.svg)?;
    }
    Ok(derived.summary)
}

/// What is kept of a run that a signal ended, and how to go on.
pub(crate) fn interrupted(record: &RunRecord, folder: &Path) -> String {
    let made = record.lines.iter().filter(|line| matches!(line, Line::Rep(_))).count();
    let (made, folder) = (feed::counted_noun(made as u64, "repetition"), folder.display());
    let next = if resume::can_go_on(&record.run) {
        format!("`feedline run --resume {folder}` makes those that are missing")
    } else {
        "the same command measures anew, without writing them again".to_owned()
    };
    format!("interrupted: {made} kept in {folder}, and the data where they are; {next}")
}
