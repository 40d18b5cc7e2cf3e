//! The same on a file system.

use std::fs;
use std::path::Path;
use std::time::Duration;

use backend_file::FileStore;
use plan::DatasetSpec;
use prepare::PrepareError;

use crate::{assert_content, folder, prepare, prepare_with};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_dataset_is_written_reused_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::pread(root.path());
    let first = prepare(&store).unwrap();
    assert_content(&store, &first);
    let second = prepare(&store).unwrap();
    assert!(second.reused && second.fingerprint == first.fingerprint);
    assert!(!prepare::recheck(&store, &second, 2).unwrap());
    fs::write(root.path().join("mine"), "mine").unwrap();
    let cleaned = prepare::clean(&store).unwrap();
    assert_eq!((cleaned.folders, cleaned.files, cleaned.left), (1, 7, vec![]));
    assert_eq!(names(root.path()), ["mine"]);
}

#[test]
fn what_a_killed_process_left_is_gone_on_with_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::pread(root.path());
    let first = prepare(&store).unwrap();
    let folder = root.path().join(folder());
    fs::remove_file(folder.join("manifest.json")).unwrap();
    fs::rename(folder.join("000000/000000002.bin"), folder.join("000000/.000000002.bin.feedline-tmp"))
        .unwrap();
    let again = prepare(&store).unwrap();
    assert_eq!(again.bytes_written, 1000);
    assert_ne!(again.fingerprint, first.fingerprint);
    assert_content(&store, &again);
    fs::write(folder.join("000000/.000000001.bin.feedline-tmp"), "half").unwrap();
    prepare::clean(&store).unwrap();
    assert_eq!(names(root.path()), Vec::<String>::new());
}

#[test]
fn an_object_truncated_or_touched_later_is_named() {
    type Change<'a> = &'a dyn Fn(&fs::File);
    let changes: [(Change<'_>, &str); 2] = [
        (&|file| file.set_len(10).unwrap(), "has 10 B"),
        (
            &|file| {
                let modified = file.metadata().unwrap().modified().unwrap();
                file.set_modified(modified + Duration::from_secs(60)).unwrap();
            },
            "was modified",
        ),
    ];
    for (change, expected) in changes {
        let root = tempfile::tempdir().unwrap();
        let store = FileStore::pread(root.path());
        let prepared = prepare(&store).unwrap();
        let object = root.path().join(folder()).join("000000/000000003.bin");
        change(&fs::File::options().write(true).open(object).unwrap());
        assert!(prepare::recheck(&store, &prepared, 2).unwrap());
        let error = prepare(&store).unwrap_err().to_string();
        assert!(error.contains("000000003.bin") && error.contains(expected), "{error}");
    }
}

#[test]
fn a_folder_of_the_users_is_listed_and_links_are_not_followed() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("train")).unwrap();
    fs::write(root.path().join("train/a.jpg"), "picture").unwrap();
    std::os::unix::fs::symlink("/", root.path().join("link")).unwrap();
    let store = FileStore::pread(root.path());
    let existing = DatasetSpec::Existing { sample_bytes: None };
    let prepared = prepare_with(&store, &existing, 2).unwrap();
    assert_eq!((prepared.objects.count(), prepared.objects.total_bytes()), (1, 7));
    assert!(!prepare::recheck(&store, &prepared, 2).unwrap());
    assert_eq!(names(root.path()).len(), 2, "nothing is written");
}

#[test]
fn a_root_that_cannot_be_written_is_an_error_that_names_it() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let error = prepare(&FileStore::pread(&file)).unwrap_err();
    assert!(matches!(error, PrepareError::Store(_)) && error.to_string().contains("file"), "{error}");
}
