//! Stored runs, read one at a time and kept as small as a comparison needs them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use analysis::RunSample;
use anyhow::Context as _;
use record::{RUN_FILE, ReadError, RunRecord};

use crate::exit::Failure;
use crate::output;

/// Folders of folders that are searched for runs: results, a group of variants, a variant.
// Deeper lies nothing that feedline writes, and a path such as `/` must not be searched whole.
const DEPTH_MAX: u32 = 4;

/// Runs that could be read, and those that could not.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) runs: Vec<RunSample>,
    /// Runs that were left out, each with its name and why, in one line.
    pub(crate) left_out: Vec<String>,
}

/// Runs that are named one by one where they are left out.
const NAMED_MAX: usize = 5;

impl Samples {
    /// Reads the runs in these folders, oldest first, each once; what cannot be read is named and left out.
    pub(crate) fn read(folders: &[PathBuf], wanted: impl Fn(&RunSample) -> bool) -> Self {
        let mut samples = Self::default();
        let mut seen = BTreeSet::new();
        for folder in folders {
            match read_one(folder) {
                // A run that was copied into a second folder would count twice, and narrow an interval that
                // it does not.
                Ok((sample, _)) if !wanted(&sample) || !seen.insert(sample.run.run_id.clone()) => {}
                Ok((sample, None)) => samples.runs.push(sample),
                // What a cut run did not come to is missing from it alone; what it has is whole.
                Ok((sample, Some(loss))) => {
                    samples.left_out.push(format!("{}: {loss}", sample.run.run_id));
                }
                Err(error) => samples.left_out.push(format!("{}: {}", folder.display(), first_line(&error))),
            }
        }
        // By their start, as a history is read; folder names may have been changed.
        samples.runs.sort_by(|a, b| when(a).cmp(&when(b)));
        samples
    }

    /// Names on standard error what was left out.
    pub(crate) fn warn(&self) {
        for words in self.left_out.iter().take(NAMED_MAX) {
            output::say(&format!("warning: left out: {words}"));
        }
        let more = self.left_out.len().saturating_sub(NAMED_MAX);
        if more > 0 {
            output::say(&format!("warning: left out: {more} more"));
        }
    }
}

fn when(sample: &RunSample) -> (&str, &str) {
    (&sample.run.started, &sample.run.run_id)
}

/// The error without its hint, which is for a user who named the folder.
fn first_line(error: &ReadError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// A run, and what a cut record lost. The repetitions with their histograms are freed when this returns.
// A record is megabytes of histograms, and a baseline hundreds of records: each is reduced before the next
// is read.
fn read_one(folder: &Path) -> Result<(RunSample, Option<String>), ReadError> {
    let record = record::read_run(folder)?;
    Ok((RunSample::of(&record), record.loss))
}

/// The run in a folder that the user named, for a comparison.
pub(crate) fn read(folder: &Path) -> Result<RunSample, Failure> {
    Ok(RunSample::of(&record(folder)?))
}

/// The record in a folder that the user named. One that was cut is read as far as it goes, with a warning.
pub(crate) fn record(folder: &Path) -> Result<RunRecord, Failure> {
    // Pages and plots lie in the folder of their run, and are what a shell completes first.
    if let Some(run) = folder.parent().filter(|parent| folder.is_file() && is_run(parent)) {
        let run = if run.as_os_str().is_empty() { Path::new(".") } else { run };
        return Err(Failure::usage(format!(
            "error: `{}` is a file of a run, and a run is read whole\n  hint: name its folder: {}",
            folder.display(),
            run.display()
        )));
    }
    let record =
        record::read_run(folder).with_context(|| format!("cannot read the run in `{}`", folder.display()))?;
    if let Some(loss) = &record.loss {
        output::say(&format!("warning: {}: {loss}", folder.display()));
    }
    Ok(record)
}

/// Whether a folder holds a run.
pub(crate) fn is_run(folder: &Path) -> bool {
    folder.join(RUN_FILE).is_file()
}

/// The folder of a run that is named by its path, or by its name in the results.
pub(crate) fn folder_of(name: &str, results: &Path) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(name);
    let stored = results.join(name);
    // A path wins over a name: it is what the shell completed.
    if path.is_dir() || !stored.is_dir() {
        return if path.is_dir() { Ok(path) } else { Err(no_folder(name, results)) };
    }
    Ok(stored)
}

fn no_folder(name: &str, results: &Path) -> Failure {
    let places = format!("neither `{name}` nor `{}` is a folder", results.join(name).display());
    Failure::usage(format!(
        "error: there is no run `{name}`: {places}\n  hint: name the folder of a run, such as results/<run_id>"
    ))
}

/// Folders of runs in and below a folder, in the order of their names. Links are not followed.
pub(crate) fn below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut runs = Vec::new();
    visit(folder, DEPTH_MAX, &mut runs)
        .with_context(|| format!("cannot look for runs in `{}`", folder.display()))?;
    runs.sort();
    Ok(runs)
}

fn visit(folder: &Path, depth: u32, runs: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if is_run(folder) {
        runs.push(folder.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if depth > 0 && entry.file_type()?.is_dir() {
            visit(&entry.path(), depth - 1, runs)?;
        }
    }
    Ok(())
}

/// The variants whose records a folder holds, in the order of their command line. Empty where the folder is not that of a
/// group.
pub(crate) fn group(folder: &Path) -> Result<Vec<RunSample>, Failure> {
    variants(folder, |record| RunSample::of(&record))
}

/// The same with every repetition, for plots.
pub(crate) fn group_records(folder: &Path) -> Result<Vec<RunRecord>, Failure> {
    variants(folder, |record| record)
}

/// What `keep` makes of each variant; one record is read at a time.
fn variants<T>(folder: &Path, keep: impl Fn(RunRecord) -> T) -> Result<Vec<T>, Failure> {
    if is_run(folder) {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("cannot look into `{}`", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|folder| is_run(folder));
    folders.sort();
    let (mut groups, mut variants) = (BTreeSet::new(), Vec::new());
    for folder in &folders {
        let record = record(folder)?;
        // One plain run among them makes it a folder of runs, and no group.
        let Some(variant) = &record.run.variant else { return Ok(Vec::new()) };
        groups.insert(variant.group.clone());
        variants.push((variant.number, keep(record)));
    }
    if groups.len() > 1 {
        return Err(Failure::usage(format!(
            "error: `{}` holds variants of {} different runs\n  hint: name the folder of one `run --variant`",
            folder.display(),
            groups.len()
        )));
    }
    variants.sort_by_key(|(number, _)| *number);
    Ok(variants.into_iter().map(|(_, kept)| kept).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_in(folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(RUN_FILE), "{}").unwrap();
    }

    #[test]
    fn runs_are_found_below_a_folder_and_links_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        for name in ["b", "a", "group/one", "group/two", "a/never/looked/into"] {
            run_in(&root.path().join(name));
        }
        fs::create_dir(root.path().join("empty")).unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("loop")).unwrap();
        let found = below(root.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(root.path()).unwrap()).collect();
        assert_eq!(names, ["a", "b", "group/one", "group/two"].map(Path::new));
        assert_eq!(below(&root.path().join("a")).unwrap(), [root.path().join("a")]);
        assert!(below(&root.path().join("none")).unwrap_err().to_string().contains("none"));
    }

    #[test]
    fn what_cannot_be_read_is_named_and_left_out() {
        let root = tempfile::tempdir().unwrap();
        run_in(&root.path().join("damaged"));
        let newer = root.path().join("newer");
        run_in(&newer);
        fs::write(newer.join(RUN_FILE), r#"{"format":{"major":9,"minor":0}}"#).unwrap();
        let folders = [root.path().join("damaged"), newer, root.path().join("gone")];
        let samples = Samples::read(&folders, |_| true);
        assert!(samples.runs.is_empty());
        for (words, (name, why)) in samples.left_out.iter().zip([
            ("damaged", "format"),
            ("newer", "newer feedline"),
            ("gone", "missing"),
        ]) {
            assert!(words.contains(name) && words.contains(why) && !words.contains('\n'), "{words}");
        }
        assert_eq!(samples.left_out.len(), 3);
    }
}
