//! What a run does not show, and what a reader must know of it.

use record::{RunRecord, Target};

use crate::summary::{CellSummary, Lines, Summary};
use crate::validity::Flag;

/// What the verdicts do not cover, each in a few words.
pub(crate) fn not_tested(summary: &Summary) -> Vec<String> {
    let mut list = Vec::new();
    let hosts = summary.need.as_ref().map_or(1, |need| need.hosts);
    if hosts > 1 {
        list.push(format!("{hosts} hosts at once"));
    }
    list.push("decode".to_owned());
    list.push("opening files per sample (files are held open)".to_owned());
    if summary.datasets.iter().any(|dataset| dataset.reads_repeat) {
        list.push("the device's and the hypervisor's cache not excluded (reads repeat)".to_owned());
    }
    let limited = summary.cells.iter().filter(|cell| is_client_limited(cell)).count();
    if limited > 0 {
        let cells = if limited == 1 { "cell" } else { "cells" };
        list.push(format!("what storage does beyond {limited} client-limited {cells}"));
    }
    list
}

fn is_client_limited(cell: &CellSummary) -> bool {
    let confirmed = cell.confirmed.as_ref().and_then(|measurement| measurement.figures());
    [cell.figures(), confirmed]
        .into_iter()
        .flatten()
        .any(|figures| figures.flags.iter().any(Flag::is_client_limit))
}

/// What a reader must know of this run, gravest first.
pub(crate) fn notes(record: &RunRecord, lines: &Lines<'_>, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(build_note(record));
    notes.extend(completeness_notes(record, lines));
    notes.extend(summary.need.as_ref().err().cloned());
    notes.extend(summary.targets.iter().filter_map(memory_note));
    notes.extend(stray_note(record, lines));
    if lines.other_variants > 0 {
        let count = lines.other_variants;
        notes.push(format!("{count} repetitions of other variants are not in these figures; compare them"));
    }
    if record.run.ranks > 1 {
        let (rank, ranks) = (record.run.rank, record.run.ranks);
        notes.push(format!("these are the figures of process {rank} of {ranks} alone"));
    }
    notes.extend(record.run.need.caveats.iter().map(|caveat| format!("need: {caveat}")));
    notes
}

fn build_note(record: &RunRecord) -> Option<String> {
    let profile = &record.run.tool.profile;
    (profile != "release")
        .then(|| format!("measured by a {profile} build: the client is slow, use cargo run --release"))
}

fn completeness_notes(record: &RunRecord, lines: &Lines<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    match lines.end {
        None => notes.push("the record has no last line: the run was cut; what is here stands".to_owned()),
        Some(end) if end.interrupted => notes.push("a signal ended the run; what is here stands".to_owned()),
        Some(_) => {}
    }
    notes.extend(record.loss.as_ref().map(|loss| format!("the record is damaged: {loss}")));
    notes
}

/// Storage that is memory; the reader would take its verdict for a disk's.
fn memory_note(target: &Target) -> Option<String> {
    let file_system = target.facts.iter().find(|fact| fact.name == "file_system")?;
    let in_memory = ["tmpfs", "ramfs"].iter().any(|kind| file_system.value.starts_with(kind));
    (target.storage && in_memory).then(|| {
        format!("{} lies in memory ({}): its figures are not a disk's", target.name, file_system.value)
    })
}

fn stray_note(record: &RunRecord, lines: &Lines<'_>) -> Option<String> {
    let known = |name: &str| record.run.cells.iter().any(|cell| cell.cell == name);
    let strays = lines.reps.iter().filter(|rep| !known(&rep.cell)).count();
    (strays > 0).then(|| format!("{strays} repetitions name cells that run.json does not have"))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Builder, rep};
    use crate::summarise;

    fn builder() -> Builder {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.push(rep("c", 0, 1e9));
        builder
    }

    #[test]
    fn a_quiet_run_still_names_decode_and_opening() {
        let builder = builder();
        let summary = summarise(&builder.record());
        assert_eq!(summary.not_tested, ["decode", "opening files per sample (files are held open)"]);
        assert_eq!(summary.notes, Vec::<String>::new());
    }

    #[test]
    fn bytes_read_again_leave_caches_below_in_doubt() {
        let mut twice = builder();
        twice.run.datasets[0].bytes = 1_000_000_000_000;
        twice.push(rep("c", 1, 1e9));
        let summary = summarise(&twice.record());
        assert!(
            summary.not_tested.iter().any(|line| line.contains("hypervisor")),
            "{:?}",
            summary.not_tested
        );
        let mut over = builder();
        over.run.datasets[0].bytes -= 1;
        assert!(summarise(&over.record()).not_tested.iter().any(|line| line.contains("hypervisor")));
        let mut random = builder();
        random.edit_cell("c", |cell| cell.access = "random".to_owned());
        assert!(summarise(&random.record()).not_tested.iter().any(|line| line.contains("hypervisor")));
    }

    #[test]
    fn more_hosts_than_this_one_are_named() {
        let mut builder = builder();
        builder.run.need.hosts = 8;
        assert_eq!(summarise(&builder.record()).not_tested[0], "8 hosts at once");
    }

    #[test]
    fn what_may_mislead_is_noted() {
        let mut builder = builder();
        builder.run.tool.profile = "debug".to_owned();
        builder.run.targets[0].facts =
            vec![record::Fact { name: "file_system".to_owned(), value: "tmpfs".to_owned() }];
        builder.push(rep("elsewhere", 0, 1e9));
        builder.end = None;
        let mut record = builder.record();
        record.loss = Some("the last line is incomplete".to_owned());
        let notes = summarise(&record).notes.join("\n");
        for words in
            ["debug build", "no last line", "is incomplete", "lies in memory (tmpfs)", "name cells that"]
        {
            assert!(notes.contains(words), "{words} not in:\n{notes}");
        }
    }
}
