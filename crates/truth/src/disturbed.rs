//! Storages that misbehave by a script: whatever they do, some things hold of every run.
//!
//! A [`Scene`] is drawn from one number: a scenario, a script of faults for each storage, and a way in which the run is broken
//! off. It is played on the virtual clock from the scenario to the verdict, with a witness between the engine and the
//! storages, and once more, broken off and gone on with. What is held against the witness are invariants, not figures.

mod invariants;
mod met;
mod run;
mod scene;
mod script;
mod witness;

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

use record::{CELLS_FILE, Line, RunRecord, read_run};

pub use met::Met;
pub use scene::{Interruption, Mode, Scene};
pub use script::{Script, Trouble, What};

use invariants::violations;
use run::{Ending, Ran, Stage, reps};

/// Plays the scene of a number in every way.
///
/// # Errors
/// With all that did not hold; or what kept it from being played, which is a mistake of this crate or of feedline.
pub fn check(seed: u64) -> Result<Met, Box<dyn Error>> {
    let scene = Scene::of_seed(seed);
    let stage = Stage::of(&scene)?;
    let whole = stage.run(&Ending::Whole, None, None)?;
    let summary = analysis::summarise(&whole.record);
    let mut wrong = violations(&stage, &whole, &summary);
    let again = stage.run(&Ending::Whole, None, None)?;
    if again.record != whole.record || again.logs != whole.logs {
        wrong.push(format!("played again, it is another run: {}", first_difference(&whole, &again)));
    }
    let mut met = whole.met(&summary);
    if let Some(interruption) = scene.interruption {
        met.gone_on += u64::from(interrupted(&stage, interruption, &whole, &mut wrong)?);
    }
    if wrong.is_empty() { Ok(met) } else { Err(wrong.join("\n").into()) }
}

/// Breaks a run off, goes on with it, and holds both against what must hold; returns whether there was anything to go on with.
fn interrupted(
    stage: &Stage<'_>,
    interruption: Interruption,
    whole: &Ran,
    wrong: &mut Vec<String>,
) -> Result<bool, Box<dyn Error>> {
    // A record waits for storage with each line, and a busy disk keeps it waiting.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    let folder = folder.path().join("run");
    let broken = stage.run(&Ending::of(interruption), Some(&folder), None)?;
    if !broken.is_broken_off() {
        return Ok(false);
    }
    if let (Interruption::Kill { torn, .. }, Some(bytes)) = (interruption, broken.last_line_bytes) {
        tear(&folder, bytes, torn)?;
    }
    let left = read_run(&folder)?;
    wrong.extend(kept(&broken, &left));
    if !broken.is_killed {
        let summary = analysis::summarise(&broken.record);
        wrong.extend(
            violations(stage, &broken, &summary).into_iter().map(|wrong| format!("interrupted: {wrong}")),
        );
    }
    let mut resumed = stage.run(&Ending::Whole, Some(&folder), Some(&left))?;
    let stored = read_run(&folder)?;
    if stored.lines != [&left.lines, resumed.own_lines()].concat() {
        wrong.push("gone on with: what is on storage is not what was recorded".to_owned());
    }
    wrong.extend(invariants::passed_over(&left, &resumed));
    resumed.record = stored;
    // Of one whose line was lost the place is taken again.
    let kept: BTreeSet<u32> = reps(&left).map(|rep| rep.order).collect();
    resumed.logs.extend(broken.logs.into_iter().filter(|(order, _)| kept.contains(order)));
    let summary = analysis::summarise(&resumed.record);
    wrong.extend(
        violations(stage, &resumed, &summary).into_iter().map(|wrong| format!("gone on with: {wrong}")),
    );
    if stage.scene.is_calm() {
        wrong.extend(invariants::is_undisturbed(stage, whole, &left, &resumed));
    }
    Ok(true)
}

/// What is on storage of a run that was broken off is what was recorded, and the loss of a killed one is named.
fn kept(broken: &Ran, left: &RunRecord) -> Vec<String> {
    let mut wrong = Vec::new();
    let recorded = &broken.record.lines;
    // The line that was being written may have become whole.
    let is_kept = left.lines.starts_with(recorded) && left.lines.len() <= recorded.len() + 1;
    if !is_kept {
        wrong.push(format!("{} lines are left of the {} recorded", left.lines.len(), recorded.len()));
    }
    if left.loss.is_some() != broken.is_killed {
        wrong.push(format!("killed: {}, loss: {:?}", broken.is_killed, left.loss));
    }
    wrong
}

/// Leaves a share of the last line, of so many bytes, on storage.
fn tear(folder: &Path, bytes: u64, share: f64) -> std::io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(folder.join(CELLS_FILE))?;
    let before = file.metadata()?.len() - bytes;
    file.set_len(before + (bytes as f64 * share) as u64)
}

/// Where two runs part, in words.
fn first_difference(one: &Ran, other: &Ran) -> String {
    let differing = one.record.lines.iter().zip(&other.record.lines).find(|(one, other)| one != other);
    match differing {
        Some((Line::Rep(one), Line::Rep(other))) => {
            format!("{} rep {} in order {}: {one:?}\n{other:?}", one.cell, one.rep, one.order)
        }
        Some(_) => "their other lines".to_owned(),
        None => format!("{} and {} lines", one.record.lines.len(), other.record.lines.len()),
    }
}
