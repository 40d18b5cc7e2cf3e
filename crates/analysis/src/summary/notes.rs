//! What a reader must know of a run.

use std::collections::BTreeSet;

use record::{Cell, Dataset, RunRecord, Target, counter};

use feed::counted_noun;

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::counters::counted;
use crate::cell::facts::fact;
use crate::cell::facts::unallocated_share;
use crate::cell::flag::percent;
use crate::cell::lines::Lines;
use crate::cell::operation;
use crate::cell::validity::{is_known, left_after};
use crate::summary::compared;
use crate::summary::pressure;
use crate::summary::{outages, soak, surroundings};
use crate::verdict::Source;

/// Clock sources that the kernel lets a process read by itself (vDSO).
const FAST_CLOCKS: [&str; 5] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];

/// Share of a dataset's bytes without storage from which on it is said.
const UNALLOCATED_SAID: f64 = 0.01;

/// What a reader must know of this run, gravest first.
pub(crate) fn of_run(source: &Source<'_>) -> Vec<String> {
    let Source { record, lines, cells, .. } = *source;
    let mut notes = Vec::new();
    notes.extend(build_note(record));
    notes.extend(completeness_notes(record, lines));
    notes.extend(clock_note(record));
    notes.extend(cells.need.as_ref().err().cloned());
    notes.extend(cells.targets.iter().filter_map(memory_note));
    notes.extend(record.run.datasets.iter().flat_map(left_out_notes));
    notes.extend(unproven_note(lines, &cells));
    notes.extend(unchecked_notes(record, lines));
    notes.extend(ceiling_note(lines, &cells));
    notes.extend(fewer_connections_notes(record));
    notes.extend(stray_note(record, lines));
    notes.extend(outages::notes(lines, &cells));
    notes.extend(soak::notes(lines, &cells));
    notes.extend(surroundings::notes(&cells));
    notes.extend(compared::engines(&cells));
    notes.extend(pressure::note(lines, &cells, record.env.cores_online.value().copied()));
    if lines.other_variants > 0 {
        let repetitions = counted_noun(lines.other_variants as u64, "repetition");
        notes.push(format!("not in these figures: {repetitions} of other variants; compare them"));
    }
    notes.extend(record.run.need.caveats.iter().map(|caveat| format!("need: {caveat}")));
    notes
}

fn build_note(record: &RunRecord) -> Option<String> {
    let profile = &record.run.tool.profile;
    (profile != "release")
        .then(|| format!("measured by a {profile} build: the client is slow, use cargo run --release"))
}

/// Each read is timed by two looks at the clock, which are part of its latency where they are slow.
fn clock_note(record: &RunRecord) -> Option<String> {
    let source = record.env.clocksource.value().filter(|source| !FAST_CLOCKS.contains(&source.as_str()))?;
    Some(format!(
        "the kernel's clock is {source}, which is read by a system call: each latency holds the time of one, and the \
         client's processor time that of two per read"
    ))
}

fn completeness_notes(record: &RunRecord, lines: &Lines<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    match lines.end {
        None => notes.push("the record has no last line: the run was cut; what is here stands".to_owned()),
        Some(end) if end.interrupted => notes.push("a signal ended the run; what is here stands".to_owned()),
        Some(_) => {}
    }
    notes.extend(record.segments.iter().map(|segment| {
        let measured = feed::format_duration_ns(segment.at_ns);
        let has_ended = lines.ends.iter().any(|end| !end.interrupted && end.elapsed_ns == segment.at_ns);
        let (how, what) =
            if has_ended { ("ended", "rounds were added") } else { ("interrupted", "gone on with") };
        format!("{how} after {measured}, and {what} at {}", segment.started)
    }));
    notes.extend(record.loss.as_ref().map(|loss| format!("the record is damaged: {loss}")));
    notes
}

/// What of a user's files is not read, or not from the device.
fn left_out_notes(dataset: &Dataset) -> Vec<String> {
    let mut notes = Vec::new();
    if dataset.empty_files > 0 {
        let files = counted_noun(dataset.empty_files, "file");
        let left_out =
            if dataset.empty_files == 1 { "holds nothing and was" } else { "hold nothing and were" };
        notes.push(format!("{files} of {} {left_out} left out", dataset.target));
    }
    let share = unallocated_share(dataset);
    if share > UNALLOCATED_SAID {
        notes.push(format!(
            "{} of the bytes of {} have no storage allocated (holes, compression): reading them brings fewer bytes \
             from the device, or none",
            percent(share),
            dataset.target
        ));
    }
    notes
}

/// Storage that is memory; the reader would take its verdict for a disk's.
fn memory_note(target: &Target) -> Option<String> {
    let file_system = fact(target, "file_system")?;
    let in_memory = ["tmpfs", "ramfs"].iter().any(|kind| file_system.starts_with(kind));
    (target.storage && in_memory)
        .then(|| format!("{} lies in memory ({file_system}): its figures are not a disk's", target.name))
}

/// Direct reads that the page cache may have served for all that is known.
fn unproven_note(lines: &Lines<'_>, cells: &Cells<'_>) -> Option<String> {
    let is_bypass = |cell: &&CellSummary| cell.storage && cell.cell.cache == feed::Cache::Bypass;
    let is_unproven =
        |cell: &&CellSummary| lines.of_cell(&cell.cell.cell).iter().any(|rep| left_after(rep).is_none());
    let unproven = cells.all.iter().filter(is_bypass).filter(is_unproven);
    let targets: BTreeSet<&str> = unproven.map(|cell| cell.cell.target.as_str()).collect();
    let names = targets.into_iter().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("{names}: direct I/O not proven: residency unknown"))
}

/// Targets whose content is known, and of which nothing was compared with it.
fn unchecked_notes(record: &RunRecord, lines: &Lines<'_>) -> Vec<String> {
    let is_generated = |cell: &&Cell| {
        let dataset = record.run.datasets.get(cell.dataset);
        dataset.is_some_and(|dataset| dataset.source == "generate")
    };
    let checked = |target: &Target| -> Option<u64> {
        let is_of = |cell: &&Cell| operation::reads_samples(cell) && cell.target == target.name;
        let cells = record.run.cells.iter().filter(is_of).filter(is_generated);
        let names: BTreeSet<&str> = cells.map(|cell| cell.cell.as_str()).collect();
        let reps = names.into_iter().flat_map(|name| lines.of_cell(name));
        reps.map(|rep| counted(rep, counter::VERIFIED)).reduce(|sum, more| sum + more)
    };
    let storage = record.run.targets.iter().filter(|target| target.storage);
    storage
        .filter(|target| checked(target) == Some(0))
        .map(|target| format!("{}: no read was checked against what was written", target.name))
        .collect()
}

/// Cells whose ceiling was looked for and not found: nobody can tell whether the client limits them.
fn ceiling_note(lines: &Lines<'_>, cells: &Cells<'_>) -> Option<String> {
    let named = |known: bool| -> BTreeSet<&str> {
        let ceilings = lines.ceilings.iter().filter(|ceiling| is_known(ceiling) == known);
        ceilings.flat_map(|ceiling| ceiling.cells.iter().map(String::as_str)).collect()
    };
    let (known, unknown) = (named(true), named(false));
    let is_storage = |name: &&&str| cells.named(name).is_some_and(|cell| cell.storage);
    let cells: Vec<&str> = unknown.difference(&known).filter(is_storage).copied().collect();
    match cells.as_slice() {
        [] => None,
        [one] => Some(format!("the client's ceiling is unknown for {one}: no read ended in its window")),
        [first, ..] => Some(format!(
            "the client's ceiling is unknown for {} cells, {first} among them: no read ended in their windows",
            cells.len()
        )),
    }
}

/// Targets of which some cells have fewer connections than were asked for: one carries one request at a time, and they
/// have no more requests.
fn fewer_connections_notes(record: &RunRecord) -> Vec<String> {
    let asked = |cell: &Cell| -> Option<u32> {
        cell.axes.iter().find(|axis| axis.name == "connections")?.value.parse().ok()
    };
    let fewer = |target: &Target| {
        let cells = record.run.cells.iter().filter(|cell| cell.target == target.name);
        cells.filter_map(|cell| asked(cell).filter(|asked| (1..*asked).contains(&cell.connections))).min()
    };
    let note = |target: &Target| {
        let asked = fewer(target)?;
        let connections = counted_noun(u64::from(asked), "connection");
        Some(format!(
            "{}: {connections} asked for, fewer made where fewer requests are under way",
            target.name
        ))
    };
    record.run.targets.iter().filter_map(note).collect()
}

fn stray_note(record: &RunRecord, lines: &Lines<'_>) -> Option<String> {
    let known: BTreeSet<&str> = record.run.cells.iter().map(|cell| cell.cell.as_str()).collect();
    let strays = lines.reps.iter().filter(|rep| !known.contains(rep.cell.as_str())).count();
    let repetitions = counted_noun(strays as u64, "repetition");
    (strays > 0).then(|| format!("{repetitions} of cells that run.json does not have"))
}

#[cfg(test)]
mod tests;
