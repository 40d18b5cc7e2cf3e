//! The data that both tools read: written by feedline once, kept for the next time.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::case::Data;

/// Where a case's data lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// What feedline's target is `at`.
    pub(crate) at: PathBuf,
    /// What is read.
    pub(crate) data: Data,
}

impl Place {
    /// Below `dir`, a folder for each kind of data; or the device.
    pub(crate) fn of(data: Data, dir: &Path, device: Option<&Path>) -> Result<Self> {
        let at = match data {
            Data::File { bytes } => dir.join(format!("one-of-{}m", bytes >> 20)),
            // Apart from what is read: feedline keeps what it writes over in a dataset of its own.
            Data::Written { bytes } => dir.join(format!("written-of-{}m", bytes >> 20)),
            Data::Files { count, bytes } => dir.join(format!("{count}-of-{bytes}b")),
            Data::Device => device.context("this case needs a device")?.to_owned(),
            Data::Null => PathBuf::from("null:"),
        };
        if at.to_str().is_none() {
            bail!("{} is no UTF-8, which a scenario cannot name", at.display());
        }
        Ok(Self { at, data })
    }

    /// Makes the folder of generated data, so that feedline finds where to write.
    pub(crate) fn create(&self) -> Result<()> {
        if matches!(self.data, Data::Device | Data::Null) {
            return Ok(());
        }
        fs::create_dir_all(&self.at).with_context(|| format!("cannot create {}", self.at.display()))
    }

    /// What fio is to read: the one file, the folder of files, or the device.
    pub(crate) fn for_peer(&self) -> Result<PathBuf> {
        match self.data {
            Data::File { bytes } | Data::Written { bytes } => only_file(&self.dataset()?, bytes),
            Data::Files { .. } => self.dataset(),
            Data::Device | Data::Null => Ok(self.at.clone()),
        }
    }

    /// The one dataset that feedline wrote here.
    fn dataset(&self) -> Result<PathBuf> {
        let mut folders = entries(&self.at)?;
        folders.retain(|path| path.is_dir() && is_dataset(&name(path)));
        match folders.as_slice() {
            [one] => Ok(one.clone()),
            [] => bail!("feedline wrote no dataset below {}", self.at.display()),
            _ => {
                let at = self.at.display();
                let count = folders.len();
                bail!("{count} datasets lie below {at}, left by another version\n  hint: feedline clean {at}")
            }
        }
    }
}

/// Whether a folder has the name of a dataset: leases of feedline's lie in one of their own beside it.
fn is_dataset(name: &str) -> bool {
    let digits = name.strip_prefix("feedline-");
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The file of this size in the folders of a dataset.
fn only_file(dataset: &Path, bytes: u64) -> Result<PathBuf> {
    for folder in entries(dataset)?.iter().filter(|path| path.is_dir()) {
        for file in entries(folder)? {
            let metadata = fs::metadata(&file).with_context(|| format!("cannot read {}", file.display()))?;
            if metadata.is_file() && metadata.len() == bytes {
                return Ok(file);
            }
        }
    }
    bail!("no file of {bytes} B lies in {}", dataset.display())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = list().with_context(|| format!("cannot list {}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset(root: &Path, name: &str, file: &str, bytes: u64) {
        let folder = root.join("one-of-1m").join(name).join("000000");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), vec![0; bytes as usize]).unwrap();
    }

    #[test]
    fn the_file_of_the_right_size_is_found() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::of(Data::File { bytes: 1 << 20 }, root.path(), None).unwrap();
        place.create().unwrap();
        assert!(place.for_peer().unwrap_err().to_string().contains("wrote no dataset"));
        dataset(root.path(), "feedline-1a", "000.bin", 1 << 20);
        dataset(root.path(), "feedline-in-use", "lease", 1);
        let file = place.for_peer().unwrap();
        assert!(file.ends_with("one-of-1m/feedline-1a/000000/000.bin"), "{}", file.display());
    }

    #[test]
    fn a_file_of_another_size_is_not_taken() {
        let root = tempfile::tempdir().unwrap();
        dataset(root.path(), "feedline-1a", "000.bin", 5);
        let place = Place::of(Data::File { bytes: 1 << 20 }, root.path(), None).unwrap();
        assert!(place.for_peer().unwrap_err().to_string().contains("no file of 1048576 B"));
    }

    #[test]
    fn two_datasets_are_not_guessed_between() {
        let root = tempfile::tempdir().unwrap();
        for name in ["feedline-1a", "feedline-2b"] {
            dataset(root.path(), name, "000.bin", 1 << 20);
        }
        let place = Place::of(Data::File { bytes: 1 << 20 }, root.path(), None).unwrap();
        let error = place.for_peer().unwrap_err().to_string();
        assert!(error.contains("2 datasets") && error.contains("feedline clean /"), "{error}");
    }
}
