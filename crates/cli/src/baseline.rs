//! Baselines: named lists of runs below the results, and paths that are used as such.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::exit::Failure;
use crate::samples;

/// Folder of the named baselines, below the results.
const FOLDER: &str = "baselines";

/// Longest list that is read: a million runs.
// A path given by mistake may be a disk image.
const LIST_BYTES_MAX: u64 = 100 << 20;

/// Where the runs of a baseline are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Baseline {
    /// As the user calls it.
    pub(crate) name: String,
    /// Folders of its runs, whether they exist or not; `None` where there is no such baseline yet.
    pub(crate) folders: Option<Vec<PathBuf>>,
}

/// Finds a baseline by its name below the results, else by its path.
pub(crate) fn find(name: &str, results: &Path) -> Result<Baseline, Failure> {
    let named = results.join(FOLDER).join(name);
    let is_name = check_name(name).is_ok();
    // A name wins over a file of that name in the current folder: a gate must not depend on where it is
    // run.
    let path = if is_name && named.exists() { named } else { PathBuf::from(name) };
    let folders = if !path.exists() {
        None
    } else if path.is_dir() {
        Some(samples::below(&path)?)
    } else {
        let text = read_list(&path)?;
        Some(listed(&text).map(|line| results.join(line)).collect())
    };
    Ok(Baseline { name: name.to_owned(), folders })
}

/// Lines that name a run.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    // Lists are text to be edited by hand: a bad night is commented out, and not deleted.
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn read_list(path: &Path) -> Result<String, Failure> {
    let read = || {
        let mut text = String::new();
        fs::File::open(path)?.take(LIST_BYTES_MAX).read_to_string(&mut text)?;
        io::Result::Ok(text)
    };
    let hint = "a baseline is a text file with the folder of a run on each line, or a folder of runs";
    Ok(read().with_context(|| format!("cannot read the baseline `{}` ({hint})", path.display()))?)
}

/// Refuses a baseline that is not there, and says which there are.
pub(crate) fn missing(name: &str, results: &Path) -> Failure {
    let folder = results.join(FOLDER);
    let mut names: Vec<String> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Failure::usage(format!(
        "error: there is no baseline `{name}`: neither `{}` nor the path exists (there are: {there})\n  \
         hint: add runs to one with `feedline run SCENARIO --add-to {name}`",
        folder.join(name).display()
    ))
}

/// Refuses a baseline that a gate names and that does not exist. On the first night there is none at all, or `--add-to`
/// names it.
pub(crate) fn expect(name: &str, results: &Path, add_to: Option<&str>) -> Result<(), Failure> {
    let others = fs::read_dir(results.join(FOLDER)).is_ok_and(|mut entries| entries.next().is_some());
    // Where there is no baseline at all the first run has nothing to misspell.
    if others && add_to != Some(name) && find(name, results)?.folders.is_none() {
        return Err(missing(name, results));
    }
    Ok(())
}

/// A name that is a plain file name.
fn check_name(name: &str) -> Result<(), Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    // Room for a suffix within the 255 bytes of a file name.
    if !name.is_empty() && name.chars().all(plain) && !name.starts_with('.') && name.len() <= 100 {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "error: `{name}` cannot be the name of a baseline\n  hint: use up to 100 letters, digits, `-`, `_` and `.`"
    )))
}

/// Tries whether a run can be added later, before hours are spent on it; makes an empty list where there is none.
pub(crate) fn prepare(results: &Path, name: &str) -> Result<(), Failure> {
    check_name(name)?;
    open(results, name).map(|_| ())
}

/// Adds a run to a named baseline. Two that add at once both succeed: each line is one write at the end of the file.
pub(crate) fn add(results: &Path, name: &str, folder: &Path) -> Result<(), Failure> {
    check_name(name)?;
    let mut file = open(results, name)?;
    // Relative, so that the folder of results can be moved or copied to another machine.
    let run = folder.strip_prefix(results).unwrap_or(folder);
    let path = list_path(results, name);
    // Otherwise the new run would be appended to the name of the last one, and both be lost.
    let lead = if ends_whole(&mut file).unwrap_or(true) { "" } else { "\n" };
    let line = format!("{lead}{}\n", run.display());
    let added = file.write_all(line.as_bytes());
    Ok(added.with_context(|| format!("cannot add the run to the baseline `{}`", path.display()))?)
}

fn list_path(results: &Path, name: &str) -> PathBuf {
    results.join(FOLDER).join(name)
}

fn open(results: &Path, name: &str) -> Result<fs::File, Failure> {
    let path = list_path(results, name);
    let folder = results.join(FOLDER);
    let file = fs::create_dir_all(&folder)
        .and_then(|()| OpenOptions::new().read(true).append(true).create(true).open(&path));
    let hint = if path.is_dir() { "it is a folder: copy the run into it" } else { "is it yours to write?" };
    Ok(file.with_context(|| format!("cannot write the baseline `{}` ({hint})", path.display()))?)
}

/// Whether the file ends with a whole line; a file that was edited by hand may not.
fn ends_whole(file: &mut fs::File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(results: &Path, name: &str) -> Vec<PathBuf> {
        find(name, results).unwrap().folders.unwrap()
    }

    #[test]
    fn a_run_is_added_by_its_name_and_found_again() {
        let results = tempfile::tempdir().unwrap();
        prepare(results.path(), "nightly").unwrap();
        assert!(folders(results.path(), "nightly").is_empty());
        for run in ["a", "b"] {
            add(results.path(), "nightly", &results.path().join(run)).unwrap();
        }
        let list = results.path().join("baselines/nightly");
        assert_eq!(fs::read_to_string(&list).unwrap(), "a\nb\n");
        assert_eq!(folders(results.path(), "nightly"), ["a", "b"].map(|run| results.path().join(run)));
        assert_eq!(folders(results.path(), list.to_str().unwrap()).len(), 2);
    }

    #[test]
    fn a_list_that_was_edited_by_hand_is_read_and_continued() {
        let results = tempfile::tempdir().unwrap();
        prepare(results.path(), "nightly").unwrap();
        let list = results.path().join("baselines/nightly");
        fs::write(&list, "# since the new disk\n\n  a  \n/elsewhere/b").unwrap();
        add(results.path(), "nightly", &results.path().join("c")).unwrap();
        let expected = [results.path().join("a"), PathBuf::from("/elsewhere/b"), results.path().join("c")];
        assert_eq!(folders(results.path(), "nightly"), expected);
    }

    #[test]
    fn many_that_add_at_once_lose_no_line() {
        let results = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let results = results.path();
                scope.spawn(move || {
                    for run in 0..50 {
                        add(results, "nightly", &results.join(format!("run-{thread}-{run}"))).unwrap();
                    }
                });
            }
        });
        let text = fs::read_to_string(results.path().join("baselines/nightly")).unwrap();
        let lines: std::collections::BTreeSet<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 400);
        assert!(
            lines.iter().all(|line| line.starts_with("run-") && line.matches('-').count() == 2),
            "{text}"
        );
    }

    #[test]
    fn a_baseline_that_points_nowhere_is_told_from_one_that_is_empty() {
        let results = tempfile::tempdir().unwrap();
        assert_eq!(find("nightly", results.path()).unwrap().folders, None);
        assert_eq!(find("no/such/path", results.path()).unwrap().folders, None);
        prepare(results.path(), "weekly").unwrap();
        assert_eq!(find("weekly", results.path()).unwrap().folders, Some(Vec::new()));
        let refusal = missing("nightly", results.path()).to_string();
        assert!(refusal.contains("there are: weekly") && refusal.contains("--add-to nightly"), "{refusal}");
    }

    #[test]
    fn a_name_that_is_a_path_is_not_written_to() {
        let results = tempfile::tempdir().unwrap();
        for name in ["", "../x", "a/b", ".hidden", "a b"] {
            let refusal = prepare(results.path(), name).unwrap_err();
            assert_eq!(refusal.exit(), crate::exit::Exit::Usage, "{name}");
        }
        fs::create_dir_all(results.path().join("baselines/folder")).unwrap();
        assert!(prepare(results.path(), "folder").unwrap_err().to_string().contains("it is a folder"));
    }
}
