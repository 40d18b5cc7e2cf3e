//! NFS-Ganesha, as clients of a network see it.

mod faults;
mod folders;
mod reads;
mod refusals;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use backend_nfs::NfsStore;
use dataset::{Key, Objects, payload};
use plan::{Addresses, NfsConfig};
use servers::{Ganesha, GaneshaOptions, or_skip};

use crate::memory::SEED;

/// The target: a folder below the export.
const TARGET: &str = "target";

/// Four files of some blocks, their last one short, in two folders.
fn objects() -> Arc<Objects> {
    Arc::new(Objects::Uniform {
        folder: Key::new("data").unwrap(),
        count: 4,
        bytes: (3 << 20) + 12_345,
        files_per_folder: 2,
    })
}

/// A server that has a dataset in its target; none where it cannot be had.
fn serving(options: &GaneshaOptions, objects: &Objects) -> Option<Ganesha> {
    let server = or_skip(Ganesha::start(options))?;
    write(&server, objects);
    Some(server)
}

/// Writes a dataset behind the server's back.
fn write(server: &Ganesha, objects: &Objects) {
    for object in 0..objects.count() {
        let path = path_of(server, objects, object);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_file(&path, object, objects.bytes(object));
    }
}

fn write_file(path: &Path, object: u32, bytes: u64) {
    let mut content = vec![0; bytes as usize];
    payload::fill(SEED, object, 0, &mut content);
    fs::write(path, content).unwrap();
}

fn path_of(server: &Ganesha, objects: &Objects, object: u32) -> PathBuf {
    server.path().join(TARGET).join(objects.key(object).as_str())
}

/// A folder of the server, its ports named.
fn direct(server: &Ganesha, path: &str) -> NfsConfig {
    NfsConfig {
        host: server.address().to_string(),
        nfs_port: Some(server.nfs_port()),
        mount_port: Some(server.mount_port()),
        path: path.to_owned(),
        addresses: Addresses::First,
    }
}

/// A folder of the server, its ports left to the port mapper.
fn mapped(server: &Ganesha, path: &str) -> NfsConfig {
    NfsConfig { nfs_port: None, mount_port: None, ..direct(server, path) }
}

/// The target's path, as a client has it.
fn target(server: &Ganesha) -> String {
    format!("{}/{TARGET}", server.export())
}

fn store(server: &Ganesha) -> Arc<NfsStore> {
    Arc::new(NfsStore::open(&direct(server, &target(server))).unwrap())
}
