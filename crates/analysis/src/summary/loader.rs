//! What a PyTorch `DataLoader` would be given to read as a training cell did.

use feed::{Judgement, formula};

use crate::cell::cell_summary::CellSummary;
use crate::summary::Summary;

/// Arguments of each accelerator's `DataLoader` with the reason for each, in the order to be written: `num_workers=8`.
/// What follows from them, and what was not measured, comes last, without a value.
///
/// Empty for a cell that plays no job, and for one whose reads share a depth: no `DataLoader` reads so.
pub fn loader_arguments(summary: &Summary, cell: &CellSummary) -> Vec<(String, String)> {
    let Some(job) = &cell.cell.training else { return Vec::new() };
    let Some(readers) = job.readers.filter(|readers| *readers > 0) else { return Vec::new() };
    let mut lines = Vec::new();
    let mut say = |argument: String, reason: String| lines.push((argument, reason));
    let decode = match job.decode.as_deref() {
        None => "a lower bound: decode was not measured",
        Some("cost") => "decode was a stated cost, not work",
        Some(_) => "decode was measured with it",
    };
    let fed = fed_words(summary, cell);
    if job.prefetch == 0 {
        say(
            "num_workers=0".to_owned(),
            format!("batches were fetched once they were waited for{fed}; {decode}"),
        );
    } else {
        say(format!("num_workers={readers}"), format!("readers of each accelerator{fed}; {decode}"));
        let factor = job.prefetch.div_ceil(readers);
        let batches = if job.prefetch == 1 { "batch" } else { "batches" };
        let ahead = format!("{} {batches}", job.prefetch);
        let readers = feed::counted_noun(u64::from(readers), "reader");
        say(format!("prefetch_factor={factor}"), format!("{ahead} ahead over {readers}, rounded up"));
        say("persistent_workers=True".to_owned(), persistent_words(job.startup_ns));
    }
    say("pin_memory".to_owned(), "left to you: copies to accelerators are not played".to_owned());
    if let Some(sample_bytes) = cell.sample_bytes {
        let batches = u64::from(job.accelerators) * u64::from(job.prefetch);
        let bytes =
            feed::format_bytes(formula::prefetch_bytes(batches, job.batch, sample_bytes).round() as u64);
        say(
            "memory".to_owned(),
            format!("{bytes} of samples as stored are held ahead on this client; decoded ones take more"),
        );
    }
    lines
}

fn persistent_words(startup_ns: u64) -> String {
    if startup_ns == 0 {
        return "readers start once, not in each epoch: no time to start was played".to_owned();
    }
    let startup = feed::format_duration_ns(startup_ns);
    format!("readers start once; the {startup} that they took to start were played before each epoch")
}

/// What the verdict that rests on the cell says of it.
fn fed_words(summary: &Summary, cell: &CellSummary) -> String {
    let verdict = summary.verdicts.iter().find(|one| one.cell.as_deref() == Some(cell.cell.cell.as_str()));
    match verdict.map(|verdict| verdict.judgement) {
        Some(Judgement::Feeds) => ", with which it is fed".to_owned(),
        Some(Judgement::Starves) => ", the best of those measured, with which it starves".to_owned(),
        Some(Judgement::Uncertain) | None => String::new(),
    }
}
