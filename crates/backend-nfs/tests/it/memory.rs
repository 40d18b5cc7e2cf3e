//! A server of another implementation, in this process and in memory.

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use backend_nfs::NfsStore;
use dataset::{Key, Objects, payload};
use nfs3_server::memfs::{MemFs, MemFsConfig};
use nfs3_server::tcp::{NFSTcp, NFSTcpListener};
use plan::{Addresses, NfsConfig};
use tokio::sync::oneshot;

/// Seed of all content.
pub(crate) const SEED: u64 = 7;

/// Bytes of each file of the dataset: no multiple of 4096.
pub(crate) const FILE_BYTES: u64 = 10_001;

/// Files of the dataset, in two folders.
pub(crate) const FILES: u32 = 6;

/// A running server; ends when it is dropped.
pub(crate) struct Server {
    pub(crate) port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves an export of a name.
    pub(crate) fn start(files: MemFsConfig, export: &str) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let (listening, port) = mpsc::channel();
        let export = export.to_owned();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let files = MemFs::new(files).unwrap();
                let mut server = NFSTcpListener::bind("127.0.0.1:0", files).await.unwrap();
                server.with_export_name(export);
                listening.send(server.get_listen_port()).unwrap();
                tokio::spawn(serve(Arc::new(server)));
                let _ = stopped.await;
            });
        });
        Self { port: port.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn config(&self, path: &str) -> NfsConfig {
        config(self.port, path)
    }

    pub(crate) fn store(&self, path: &str) -> NfsStore {
        NfsStore::open(&self.config(path)).unwrap()
    }
}

/// Serves on after a connection whose client had gone before it was accepted: `nfs3_server` asks for its address, and
/// panics where there is none.
async fn serve(server: Arc<NFSTcpListener<MemFs>>) {
    loop {
        let accepting = Arc::clone(&server);
        if tokio::spawn(async move { accepting.handle_forever().await }).await.is_ok() {
            return;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Both programs on one port of this machine, which is named.
pub(crate) fn config(port: u16, path: &str) -> NfsConfig {
    NfsConfig {
        host: "localhost".to_owned(),
        nfs_port: Some(port),
        mount_port: Some(port),
        path: path.to_owned(),
        addresses: Addresses::First,
    }
}

/// The dataset that [`with_dataset`] has.
pub(crate) fn objects() -> Objects {
    Objects::Uniform {
        folder: Key::new("data").unwrap(),
        count: FILES,
        bytes: FILE_BYTES,
        files_per_folder: 3,
    }
}

/// A server that has a dataset.
pub(crate) fn with_dataset() -> Server {
    let mut files = MemFsConfig::default();
    let objects = objects();
    files.add_dir("/data");
    for folder in objects.folders().into_iter().flatten() {
        files.add_dir(&format!("/{folder}"));
    }
    for object in 0..objects.count() {
        let mut content = vec![0; FILE_BYTES as usize];
        payload::fill(SEED, object, 0, &mut content);
        files.add_file(&format!("/{}", objects.key(object)), content);
    }
    Server::start(files, "/")
}
