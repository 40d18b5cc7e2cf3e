//! Folders of one's own, beside those of others.

use std::fs;
use std::path::{Path, PathBuf};

use backend::Store;
use backend_nfs::NfsStore;
use dataset::{Key, Marker};
use servers::{Ganesha, GaneshaOptions, or_skip};

use super::{direct, mapped};
use crate::store::{FILES, FOLDERS, names, owns_a_folder, refuses_what_is_not_ours, side_by_side};

/// Every file and folder below one.
fn everything_in(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(everything_in(&path));
            found.push((path, None));
        } else {
            let content = fs::read(&path).unwrap();
            found.push((path, Some(content)));
        }
    }
    found.sort();
    found
}

/// A server with files of others.
fn theirs() -> Option<Ganesha> {
    let server = or_skip(Ganesha::start(&GaneshaOptions::default()))?;
    for folder in FOLDERS {
        fs::create_dir(server.path().join(&folder[1..])).unwrap();
    }
    for (file, content) in FILES {
        fs::write(server.path().join(&file[1..]), content).unwrap();
    }
    Some(server)
}

#[test]
fn what_is_not_ours_stays_as_it_is() {
    let Some(server) = theirs() else { return };
    let before = everything_in(server.path());
    let store = NfsStore::open(&mapped(&server, "/export")).unwrap();
    assert_eq!(names(&store, None), ["a.bin=2", "a/b/c=3", "a/z=1", "a0=5", "b=0"]);
    refuses_what_is_not_ours(&store);
    let ours = server.path().join("mine");
    let after = everything_in(server.path());
    let (ours, theirs): (Vec<_>, Vec<_>) = after.into_iter().partition(|(path, _)| path.starts_with(&ours));
    assert_eq!(theirs, before);
    assert_eq!(ours.len(), 2, "the folder and its marker: {ours:?}");
}

#[test]
fn a_folder_that_is_not_there_yet_is_made_and_goes_again() {
    let Some(server) = theirs() else { return };
    let before = everything_in(server.path());
    let store = NfsStore::open(&direct(&server, "/export/a/not/there/yet")).unwrap();
    assert!(store.folders().unwrap().is_empty());
    assert_eq!(everything_in(server.path()), before, "a look makes nothing");
    owns_a_folder(&store);
    let after = everything_in(server.path());
    let (made, theirs): (Vec<_>, Vec<_>) =
        after.into_iter().partition(|(path, _)| path.starts_with(server.path().join("a/not")));
    assert_eq!(theirs, before);
    assert!(made.iter().all(|(_, content)| content.is_none()), "no file is left: {made:?}");
}

#[test]
fn threads_write_side_by_side() {
    let Some(server) = theirs() else { return };
    side_by_side(&NfsStore::open(&direct(&server, "/export")).unwrap());
    let file = fs::read(server.path().join("mine/d/3-4")).unwrap();
    assert_eq!(file, "3 4".repeat(1_000).into_bytes(), "it is what the server's own file system has");
}

#[test]
fn a_writer_whose_server_dies_fails_and_leaves_no_object() {
    let Some(server) = theirs() else { return };
    let store = NfsStore::open(&direct(&server, "/export")).unwrap();
    let mine = Key::new("mine").unwrap();
    let marker = Marker { format: 1, note: "note".to_owned(), dataset: "d".to_owned() };
    let owned = store.create_folder(&mine, &marker).unwrap();
    let object = Key::new("mine/object").unwrap();
    let mut writer = store.create(&owned, &object).unwrap();
    writer.write(&vec![7; 100_000]).unwrap();
    server.kill();
    let written = (0..64).try_for_each(|_| writer.write(&vec![7; 1 << 20])).and_then(|()| writer.finish());
    let error = written.unwrap_err().to_string();
    assert!(error.contains("mine/object") && error.contains("\n  hint: "), "{error}");
    assert!(!server.path().join("mine/object").exists());
    server.restart().unwrap();
    let mut writer = store.create(&owned, &object).unwrap();
    writer.write(b"again").unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read(server.path().join("mine/object")).unwrap(), b"again");
}
