//! What a file system does to a dataset: each call that changes something fails once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use backend_file::FileStore;
use dataset::MANIFEST_NAME;
use plan::DatasetSpec;
use prepare::Prepared;
use syscalls::{Answer, Call};

use crate::{BESIDE_OTHERS, assert_content, prepare_with};

/// Three samples, each large enough to be written back by itself.
const LARGE: DatasetSpec = match BESIDE_OTHERS {
    DatasetSpec::Generate(spec) => {
        DatasetSpec::Generate(plan::Generate { samples: 3, sample_bytes: 1 << 20, ..spec })
    }
    DatasetSpec::Existing(_) => unreachable!(),
};

/// Files of others, and what they hold.
const THEIRS: [(&str, &str); 2] = [("theirs", "precious"), ("data/1.jpg", "mine")];

/// How a call fails on a full or failing disk, or where rights were taken away, and how the system says it.
fn error(call: &Call) -> (i32, &'static str) {
    match call {
        Call::Write { .. } => (libc::ENOSPC, "o space left"),
        Call::Sync { .. } | Call::SyncAll { .. } => (libc::EIO, "Input/output error"),
        _ => (libc::EACCES, "Permission denied"),
    }
}

fn is_wait(call: &Call) -> bool {
    matches!(call, Call::Sync { .. } | Call::SyncAll { .. })
}

/// A target with files of others.
struct Place {
    folder: tempfile::TempDir,
    store: FileStore,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in THEIRS {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let store = FileStore::pread(folder.path());
        Self { folder, store }
    }

    fn prepare(&self) -> Result<Prepared, String> {
        prepare_with(&self.store, &LARGE, 1).map_err(|error| error.to_string())
    }

    /// The same, where no call fails.
    fn prepare_well(&self) -> Option<Prepared> {
        self.failing(usize::MAX - 1, || self.prepare().unwrap()).map(|(prepared, _)| prepared)
    }

    fn clean(&self) -> Result<(), String> {
        prepare::clean(&self.store).map(drop).map_err(|error| error.to_string())
    }

    /// Every file below it.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.folder.path()).unwrap().to_owned();
                    files.insert(name, fs::read(path).unwrap());
                }
            }
        }
        files
    }

    fn assert_theirs(&self, name: &str) {
        let files = self.files();
        for (theirs, content) in THEIRS {
            assert_eq!(files.get(Path::new(theirs)).map(Vec::as_slice), Some(content.as_bytes()), "{name}");
        }
    }

    /// Runs `body` while call `number` fails; what came of it, and that call. `None` where calls cannot be watched. Storage is
    /// not waited for.
    fn failing<T: Send>(&self, number: usize, body: impl FnOnce() -> T + Send) -> Option<(T, Option<Call>)> {
        let mut seen = 0;
        let mut failed = None;
        let answer = |call: &Call| {
            seen += 1;
            if seen != number + 1 {
                return if is_wait(call) { Answer::Skip } else { Answer::Pass };
            }
            failed = Some(call.clone());
            Answer::Fail(error(call).0)
        };
        let (value, _) = syscalls::watch(self.folder.path(), answer, body)?;
        Some((value, failed))
    }
}

#[test]
fn whichever_call_fails_nothing_of_others_is_touched_and_the_next_attempt_completes_a_dataset() {
    for number in 0.. {
        let place = Place::new();
        let Some((prepared, failed)) = place.failing(number, || place.prepare()) else { return };
        let Some(failed) = failed else {
            assert!(prepared.is_ok() && number > 20, "{number} calls were made");
            return;
        };
        let name = format!("call {number} of {}", failed.path().display());
        let said = prepared.map(|_| ()).expect_err(&name);
        assert!(said.contains(error(&failed).1) && said.contains('`'), "{name}: {said}");
        place.assert_theirs(&name);
        let Some(again) = place.prepare_well() else { return };
        assert_content(&place.store, &again);
        assert!(place.prepare_well().unwrap().reused, "{name}");
        place.clean().unwrap();
        place.assert_theirs(&name);
        assert_eq!(place.files().len(), THEIRS.len(), "{name}: {:?}", place.files().keys());
    }
}

#[test]
fn whichever_call_fails_the_next_attempt_removes_what_is_left_of_a_dataset() {
    for number in 0.. {
        let place = Place::new();
        if place.prepare_well().is_none() {
            return;
        }
        let Some((cleaned, failed)) = place.failing(number, || place.clean()) else { return };
        let Some(failed) = failed else {
            assert!(cleaned.is_ok() && number >= 5, "{number} calls were made");
            return;
        };
        let name = format!("call {number}, {failed:?}");
        let said = cleaned.expect_err(&name);
        assert!(said.contains(error(&failed).1) && said.contains('`'), "{name}: {said}");
        place.assert_theirs(&name);
        place.clean().unwrap_or_else(|error| panic!("{name}: {error}"));
        place.assert_theirs(&name);
        assert_eq!(place.files().len(), THEIRS.len(), "{name}: {:?}", place.files().keys());
    }
}

/// A manifest says that the dataset is complete: were it on storage before that is, a power cut would leave a lie.
#[test]
fn a_manifest_appears_behind_all_that_it_vouches_for() {
    let place = Place::new();
    let answer = |call: &Call| if is_wait(call) { Answer::Skip } else { Answer::Pass };
    let watched = syscalls::watch(place.folder.path(), answer, || place.prepare());
    let Some((_, calls)) = watched else { return };
    let at = |is: &dyn Fn(&Call) -> bool| calls.iter().rposition(is).unwrap();
    let is_of_manifest = |path: &Path| path.to_string_lossy().contains(MANIFEST_NAME);
    let others =
        at(&|call| !is_of_manifest(call.path()) && matches!(call, Call::Write { .. } | Call::Rename { .. }));
    let all = at(&|call| matches!(call, Call::SyncAll { .. }));
    let own = at(&|call| is_of_manifest(call.path()) && matches!(call, Call::Write { .. }));
    let synced = at(&|call| is_of_manifest(call.path()) && matches!(call, Call::Sync { .. }));
    let appears = at(&|call| is_of_manifest(call.path()) && matches!(call, Call::Rename { .. }));
    assert!(others < all && all < appears && own < synced && synced < appears, "{calls:?}");
    assert!(calls[appears..].iter().any(|call| matches!(call, Call::Sync { .. })), "its name is waited for");
}
