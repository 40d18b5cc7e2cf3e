//! What a reader must know of a run.

use std::collections::BTreeSet;

use record::{Cell, Dataset, RunRecord, Target, counter};

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::counters::counted;
use crate::cell::facts::fact;
use crate::cell::facts::unallocated_share;
use crate::cell::lines::Lines;
use crate::cell::operation;
use crate::cell::validity::{is_known, left_after};
use crate::summary::note::Note;
use crate::summary::{compared, outages, pressure, soak, surroundings};
use crate::verdict::Source;

// A clock that is read by a system call takes a few hundred nanoseconds to a microsecond where one of these takes tens: as long
// as a read from the page cache.
/// Clock sources that the kernel lets a process read by itself (vDSO).
const FAST_CLOCKS: [&str; 5] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "riscv_clocksource"];

// A file has a tail of less than a block, and file systems keep small files in their inodes: that much lacks blocks without
// being a hole.
/// Share of a dataset's bytes without storage from which on it is said.
const UNALLOCATED_SAID: f64 = 0.01;

/// What a reader must know of this run, gravest first.
pub(crate) fn of_run(source: &Source<'_>) -> Vec<Note> {
    let Source { record, lines, cells, .. } = *source;
    let mut notes = Vec::new();
    // A debug build changes every figure, so it comes before all that concerns some.
    notes.extend(build_note(record));
    notes.extend(completeness_notes(record, lines));
    notes.extend(clock_note(record));
    notes.extend(cells.need.as_ref().err().copied().map(Note::NoNeed));
    notes.extend(cells.targets.iter().filter_map(memory_note));
    notes.extend(record.run.datasets.iter().flat_map(left_out_notes));
    notes.extend(unproven_note(lines, &cells));
    notes.extend(unchecked_notes(record, lines));
    notes.extend(ceiling_note(lines, &cells));
    notes.extend(fewer_connections_notes(record));
    // The head was edited, or lines of another run stand behind it: their figures stand nowhere on the page.
    notes.extend(stray_note(record, lines));
    notes.extend(outages::notes(lines, &cells));
    notes.extend(soak::of_run(lines, &cells).into_iter().map(Note::Soak));
    notes.extend(surroundings::notes(&cells));
    notes.extend(compared::engines(&cells).into_iter().map(Note::Engine));
    let cores_online = record.env.cores_online.value().copied();
    notes.extend(pressure::of_run(lines, &cells, cores_online).map(Note::Pressure));
    let repetitions = lines.other_variants;
    notes.extend((repetitions > 0).then_some(Note::OtherVariants { repetitions }));
    let lines = lines.twice;
    notes.extend((lines > 0).then_some(Note::Twice { lines }));
    notes.extend(record.run.need.caveats.iter().cloned().map(Note::Caveat));
    notes
}

fn build_note(record: &RunRecord) -> Option<Note> {
    let profile = &record.run.tool.profile;
    (profile != "release").then(|| Note::Build { profile: profile.clone() })
}

/// Each read is timed by two looks at the clock, which are part of its latency where they are slow.
fn clock_note(record: &RunRecord) -> Option<Note> {
    let source = record.env.clocksource.value().filter(|source| !FAST_CLOCKS.contains(&source.as_str()))?;
    Some(Note::SlowClock { source: source.clone() })
}

fn completeness_notes(record: &RunRecord, lines: &Lines<'_>) -> Vec<Note> {
    let end = match lines.end {
        None => Some(Note::Cut),
        // Of several processes it may have been one that hung, and nothing of them stands: that is said where a verdict would be.
        Some(end) => (end.interrupted && record.run.team.is_none()).then_some(Note::Interrupted),
    };
    let segments = record.segments.iter();
    let gone_on = segments.map(|segment| {
        let ended = |end: &&record::End| !end.interrupted && end.elapsed_ns == segment.at_ns;
        Note::GoneOn {
            at_ns: segment.at_ns,
            started: segment.started.clone(),
            adds_rounds: lines.ends.iter().any(ended),
        }
    });
    let damaged = record.loss.clone().map(|loss| Note::Damaged { loss });
    end.into_iter().chain(gone_on).chain(damaged).collect()
}

/// What of a user's files is not read, or not from the device.
fn left_out_notes(dataset: &Dataset) -> impl Iterator<Item = Note> {
    let target = || dataset.target.clone();
    let (files, share) = (dataset.empty_files, unallocated_share(dataset));
    let empty = (files > 0).then(|| Note::EmptyFiles { target: target(), files });
    let whole = dataset.packing.iter().find(|fact| fact.name == record::READ_WHOLE);
    let whole = whole.map(|fact| Note::ReadWhole { target: target(), what: fact.value.clone() });
    let unallocated = (share > UNALLOCATED_SAID).then(|| Note::Unallocated { target: target(), share });
    empty.into_iter().chain(whole).chain(unallocated)
}

/// Storage that is memory; the reader would take its verdict for a disk's.
fn memory_note(target: &Target) -> Option<Note> {
    let file_system = fact(target, "file_system")?;
    let in_memory = ["tmpfs", "ramfs"].iter().any(|kind| file_system.starts_with(kind));
    // The null target is memory by design.
    let (target, is_storage) = (target.name.clone(), target.storage);
    (is_storage && in_memory).then(|| Note::InMemory { target, file_system: file_system.to_owned() })
}

/// Direct reads that the page cache may have served for all that is known.
fn unproven_note(lines: &Lines<'_>, cells: &Cells<'_>) -> Option<Note> {
    let is_bypass = |cell: &&CellSummary| cell.storage && cell.cell.cache == feed::Cache::Bypass;
    let is_unproven =
        |cell: &&CellSummary| lines.of_cell(&cell.cell.cell).iter().any(|rep| left_after(rep).is_none());
    let unproven = cells.all.iter().filter(is_bypass).filter(is_unproven);
    let targets: BTreeSet<&str> = unproven.map(|cell| cell.cell.target.as_str()).collect();
    let targets: Vec<String> = targets.into_iter().map(str::to_owned).collect();
    (!targets.is_empty()).then_some(Note::DirectNotProven { targets })
}

/// Targets whose content is known, and of which nothing was compared with it.
fn unchecked_notes(record: &RunRecord, lines: &Lines<'_>) -> Vec<Note> {
    // Only of data that feedline wrote it is known what a read must bring; users' data are read twice instead, which has a flag
    // of its own.
    let is_generated = |cell: &&Cell| {
        let dataset = record.run.datasets.get(cell.dataset);
        dataset.is_some_and(|dataset| dataset.source == "generate")
    };
    let checked = |target: &Target| -> Option<u64> {
        let is_of = |cell: &&Cell| operation::reads_samples(cell) && cell.target == target.name;
        let cells = record.run.cells.iter().filter(is_of).filter(is_generated);
        let names: BTreeSet<&str> = cells.map(|cell| cell.cell.as_str()).collect();
        let reps = names.into_iter().flat_map(|name| lines.of_cell(name));
        // Not a sum from zero: a target without a repetition was not measured, and is told elsewhere.
        reps.map(|rep| counted(rep, counter::VERIFIED)).reduce(|sum, more| sum + more)
    };
    let storage = record.run.targets.iter().filter(|target| target.storage);
    storage
        .filter(|target| checked(target) == Some(0))
        .map(|target| Note::Unchecked { target: target.name.clone() })
        .collect()
}

/// Cells whose ceiling was looked for and not found: nobody can tell whether the client limits them.
fn ceiling_note(lines: &Lines<'_>, cells: &Cells<'_>) -> Option<Note> {
    let named = |known: bool| -> BTreeSet<&str> {
        let ceilings = lines.ceilings.iter().filter(|ceiling| is_known(ceiling) == known);
        ceilings.flat_map(|ceiling| ceiling.cells.iter().map(String::as_str)).collect()
    };
    // Of several ceilings of a cell, one that was found is enough.
    let (known, unknown) = (named(true), named(false));
    let by_name = cells.by_name();
    let is_storage = |name: &&&str| by_name.get(**name).is_some_and(|cell| cell.storage);
    let cells = unknown.difference(&known).filter(is_storage);
    let cells: Vec<String> = cells.map(|name| (*name).to_owned()).collect();
    (!cells.is_empty()).then_some(Note::CeilingUnknown { cells })
}

/// Targets of which some cells have fewer connections than were asked for: one carries one request at a time, and they
/// have no more requests.
fn fewer_connections_notes(record: &RunRecord) -> Vec<Note> {
    // The axis holds what the scenario asked for, the cell what it got.
    let asked = |cell: &Cell| -> Option<u32> {
        cell.axes.iter().find(|axis| axis.name == "connections")?.value.parse().ok()
    };
    let fewer = |target: &Target| {
        let cells = record.run.cells.iter().filter(|cell| cell.target == target.name);
        // Zero connections are those of a record from before they were counted.
        cells.filter_map(|cell| asked(cell).filter(|asked| (1..*asked).contains(&cell.connections))).min()
    };
    let note =
        |target: &Target| Some(Note::FewerConnections { target: target.name.clone(), asked: fewer(target)? });
    record.run.targets.iter().filter_map(note).collect()
}

fn stray_note(record: &RunRecord, lines: &Lines<'_>) -> Option<Note> {
    let known: BTreeSet<&str> = record.run.cells.iter().map(|cell| cell.cell.as_str()).collect();
    let repetitions = lines.reps.iter().filter(|rep| !known.contains(rep.cell.as_str())).count();
    (repetitions > 0).then_some(Note::Strays { repetitions })
}

#[cfg(test)]
mod tests;
