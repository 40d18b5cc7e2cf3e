//! The same on a file system.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use backend_file::FileStore;
use dataset::MARKER_NAME;
use plan::DatasetSpec;
use prepare::{Cleaned, PrepareError, Prepared};

use crate::{SPREAD, assert_content, folder, prepare, prepare_with};

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
                file.set_modified(modified + Duration::from_mins(1)).unwrap();
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
    let existing = DatasetSpec::Existing(plan::Existing::any(None));
    let prepared = prepare_with(&store, &existing, 2).unwrap();
    assert_eq!((prepared.data.objects().count(), prepared.data.objects().total_bytes()), (1, 7));
    assert!(!prepare::recheck(&store, &prepared, 2).unwrap());
    assert_eq!(names(root.path()).len(), 2, "nothing is written");
}

/// The user's own folder, listed.
fn listed(root: &Path) -> Result<Prepared, PrepareError> {
    prepare_with(&FileStore::pread(root), &DatasetSpec::Existing(plan::Existing::any(None)), 2)
}

#[test]
fn links_that_lead_back_are_not_followed() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("a/b")).unwrap();
    for (to, link) in [("..", "a/b/up"), (".", "self"), ("other", "one"), ("one", "other"), ("a", "again")] {
        std::os::unix::fs::symlink(to, root.path().join(link)).unwrap();
    }
    let error = listed(root.path()).unwrap_err();
    assert!(matches!(error, PrepareError::NoFiles { empty_files: 0 }), "{error}");
    assert!(error.to_string().contains("symbolic links below it are not followed"), "{error}");
    fs::write(root.path().join("a/b/x"), "data").unwrap();
    let prepared = listed(root.path()).unwrap();
    assert_eq!((prepared.data.objects().count(), prepared.data.objects().key(0).as_str()), (1, "a/b/x"));
}

#[test]
fn a_name_that_is_not_utf_8_is_an_error_that_shows_it_and_says_what_to_do() {
    for (folder, name) in [(&b"data"[..], &b"caf\xe9"[..]), (b"caf\xe9", b"x")] {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(OsStr::from_bytes(folder));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(OsStr::from_bytes(name)), "x").unwrap();
        let error = listed(root.path()).unwrap_err();
        assert!(matches!(error, PrepareError::UnusableName { .. }));
        let text = error.to_string();
        assert!(text.contains("caf\u{fffd}` is not UTF-8") && text.contains("hint: rename it"), "{text}");
    }
}

#[test]
fn holes_of_a_file_are_counted() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("whole"), vec![1; 1 << 20]).unwrap();
    // Some file systems allocate when data are written back.
    fs::File::open(root.path().join("whole")).unwrap().sync_all().unwrap();
    assert_eq!(listed(root.path()).unwrap().unallocated_bytes, 0);
    fs::File::create(root.path().join("hole")).unwrap().set_len(1 << 30).unwrap();
    let prepared = listed(root.path()).unwrap();
    assert_eq!((prepared.unallocated_bytes, prepared.data.objects().count()), (1 << 30, 2));
}

#[test]
fn what_changes_in_a_folder_during_a_run_is_found() {
    type Change<'a> = &'a dyn Fn(&Path);
    let changes: [(Change<'_>, bool); 6] = [
        (&|root| fs::remove_file(root.join("train/a")).unwrap(), true),
        (&|root| fs::rename(root.join("train"), root.join("test")).unwrap(), true),
        (&|root| fs::remove_dir_all(root.join("train")).unwrap(), true),
        (
            &|root| {
                fs::write(root.join("new"), "replacing").unwrap();
                fs::rename(root.join("new"), root.join("train/a")).unwrap();
            },
            true,
        ),
        (
            &|root| {
                fs::remove_file(root.join("train/a")).unwrap();
                std::os::unix::fs::symlink("b", root.join("train/a")).unwrap();
            },
            true,
        ),
        // What was not there is not read.
        (&|root| fs::write(root.join("train/added"), "added").unwrap(), false),
    ];
    for (number, (change, matters)) in changes.into_iter().enumerate() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("train")).unwrap();
        fs::write(root.path().join("train/a"), "picture").unwrap();
        fs::write(root.path().join("train/b"), "picture").unwrap();
        let prepared = listed(root.path()).unwrap();
        let store = FileStore::pread(root.path());
        assert!(!prepare::recheck(&store, &prepared, 2).unwrap());
        change(root.path());
        assert_eq!(prepare::recheck(&store, &prepared, 2).unwrap(), matters, "change {number}");
    }
}

#[test]
fn spread_sizes_in_many_folders_are_written_reused_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::pread(root.path());
    let first = prepare_with(&store, &SPREAD, 4).unwrap();
    assert_content(&store, &first);
    for object in 0..9 {
        let path = root.path().join(first.data.objects().key(object).as_str());
        assert_eq!(fs::metadata(path).unwrap().len(), first.data.objects().bytes(object));
    }
    let mut folders = names(&root.path().join(prepare::identify(&SPREAD).unwrap().as_str()));
    folders.retain(|name| !name.contains("json"));
    folders.sort();
    assert_eq!(folders, ["000000", "000001", "000002"]);
    let second = prepare_with(&store, &SPREAD, 4).unwrap();
    assert!(second.reused && second.fingerprint == first.fingerprint);
    let cleaned = prepare::clean(&store).unwrap();
    assert_eq!((cleaned.folders, cleaned.files, cleaned.left), (1, 9 + 2, vec![]));
    assert!(names(root.path()).is_empty());
}

#[test]
fn a_root_that_cannot_be_written_is_an_error_that_names_it() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let error = prepare(&FileStore::pread(&file)).unwrap_err();
    assert!(matches!(error, PrepareError::Store(_)) && error.to_string().contains("file"), "{error}");
}

#[test]
fn a_root_that_is_not_there_is_clean() {
    let root = tempfile::tempdir().unwrap();
    let cleaned = prepare::clean(&FileStore::pread(&root.path().join("not/there"))).unwrap();
    assert_eq!(cleaned, Cleaned::default());
    assert!(names(root.path()).is_empty());
}

#[test]
fn what_lies_beside_a_dataset_does_not_hinder_its_removal() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::pread(root.path());
    prepare(&store).unwrap();
    let odd = OsStr::from_bytes(b"caf\xe9");
    fs::create_dir_all(root.path().join("mine")).unwrap();
    fs::create_dir(root.path().join(odd)).unwrap();
    fs::write(root.path().join("mine").join(odd), "mine").unwrap();
    fs::write(root.path().join(odd).join(MARKER_NAME), "mine").unwrap();
    let cleaned = prepare::clean(&store).unwrap();
    assert_eq!((cleaned.folders, cleaned.files, cleaned.left), (1, 7, vec![]));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2);
    assert!(root.path().join("mine").join(odd).exists() && root.path().join(odd).join(MARKER_NAME).exists());
}

#[test]
fn a_folder_left_by_a_killed_process_before_it_had_its_name_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::pread(root.path());
    prepare(&store).unwrap();
    let marker = fs::read(root.path().join(folder()).join(MARKER_NAME)).unwrap();
    prepare::clean(&store).unwrap();
    let [unnamed, theirs] = [".feedline-00000000.0123456789abcdef.feedline-tmp", ".theirs.feedline-tmp"];
    for name in [unnamed, theirs] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    fs::write(root.path().join(unnamed).join(MARKER_NAME), &marker).unwrap();
    fs::write(root.path().join(theirs).join("x"), &marker).unwrap();
    let cleaned = prepare::clean(&store).unwrap();
    let bytes = marker.len() as u64;
    assert_eq!(cleaned, Cleaned { folders: 1, files: 1, bytes, left: vec![] });
    assert_eq!(names(root.path()), [theirs]);
}

const ROOT_VARIABLE: &str = "FEEDLINE_TEST_ROOT";

/// The user `nobody`.
const NOBODY: u32 = 65_534;

#[test]
fn a_folder_that_may_not_be_looked_into_is_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let closed = root.path().join("lost+found");
    fs::create_dir(&closed).unwrap();
    let set_mode = |path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set_mode(root.path(), 0o777);
    set_mode(&closed, 0o000);
    if fs::read_dir(&closed).is_err() {
        clean_beside_a_closed_folder(root.path());
    } else {
        // Nothing is closed to root.
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "files::as_a_user_that_is_not_root", "--ignored", "--nocapture"])
            .env(ROOT_VARIABLE, root.path())
            .current_dir("/")
            .uid(NOBODY)
            .output();
        match child {
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success() && text.contains("1 passed"), "{text}");
            }
            Err(error) => eprintln!("skipped: this test cannot be run as another user: {error}"),
        }
    }
    set_mode(&closed, 0o700);
}

#[test]
#[ignore = "needs a folder that is closed to it; run by another test"]
fn as_a_user_that_is_not_root() {
    clean_beside_a_closed_folder(Path::new(&env::var_os(ROOT_VARIABLE).unwrap()));
}

fn clean_beside_a_closed_folder(root: &Path) {
    assert!(fs::read_dir(root.join("lost+found")).is_err());
    let store = FileStore::pread(root);
    prepare(&store).unwrap();
    let cleaned = prepare::clean(&store).unwrap();
    assert_eq!((cleaned.folders, cleaned.files, cleaned.left), (1, 7, vec![]));
    assert_eq!(names(root), ["lost+found"]);
}
