//! The procedures of NFS.

use emulator::{Protocol, Server, Settings};
use nfs3_client::tokio::{TokioConnector, TokioIo};
use nfs3_client::{Nfs3Connection, Nfs3ConnectionBuilder};
use nfs3_types::nfs3::{
    COMMIT3args, CREATE3args, GETATTR3args, LOOKUP3args, MKDIR3args, Nfs3Option, Nfs3Result, READ3args,
    READ3resok, READDIR3args, READDIRPLUS3args, REMOVE3args, RENAME3args, RMDIR3args, WRITE3args,
    cookieverf3, createhow3, diropargs3, nfs_fh3, nfsstat3, sattr3, stable_how,
};
use nfs3_types::xdr_codec::Opaque;
use plan::{Delay, Emulation, Faults};
use tokio::net::TcpStream;

use crate::generated;

type Client = Nfs3Connection<TokioIo<TcpStream>>;

fn served(emulation: Emulation) -> Server {
    Server::start(&Settings { emulation, ..Settings::new(Protocol::Nfs) }).unwrap()
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

async fn mount(server: &Server, export: &str) -> Option<Client> {
    let builder = Nfs3ConnectionBuilder::new(TokioConnector, "127.0.0.1", export)
        .mount_port(server.port())
        .nfs3_port(server.port())
        .connect_from_privileged_port(false);
    builder.mount().await.ok()
}

fn within<'a>(folder: &nfs_fh3, name: &'a str) -> diropargs3<'a> {
    diropargs3 { dir: folder.clone(), name: name.as_bytes().into() }
}

async fn create(client: &mut Client, folder: &nfs_fh3, name: &str) -> Result<nfs_fh3, nfsstat3> {
    let how = createhow3::GUARDED(sattr3::default());
    match client.create(&CREATE3args { where_: within(folder, name), how }).await.unwrap() {
        Nfs3Result::Ok(made) => match made.obj {
            Nfs3Option::Some(handle) => Ok(handle),
            Nfs3Option::None => panic!("a CREATE without a handle"),
        },
        Nfs3Result::Err((status, _)) => Err(status),
    }
}

async fn write(client: &mut Client, file: &nfs_fh3, offset: u64, data: &[u8]) {
    let args = WRITE3args {
        file: file.clone(),
        offset,
        count: data.len() as u32,
        stable: stable_how::UNSTABLE,
        data: Opaque::borrowed(data),
    };
    assert_eq!(client.write(&args).await.unwrap().unwrap().count, data.len() as u32);
}

async fn read(
    client: &mut Client,
    file: &nfs_fh3,
    offset: u64,
    count: u32,
) -> Result<READ3resok<'static>, nfsstat3> {
    match client.read(&READ3args { file: file.clone(), offset, count }).await.unwrap() {
        Nfs3Result::Ok(data) => Ok(data),
        Nfs3Result::Err((status, _)) => Err(status),
    }
}

async fn make_folder(client: &mut Client, folder: &nfs_fh3, name: &str) -> nfs_fh3 {
    let args = MKDIR3args { where_: within(folder, name), attributes: sattr3::default() };
    match client.mkdir(&args).await.unwrap().unwrap().obj {
        Nfs3Option::Some(handle) => handle,
        Nfs3Option::None => panic!("a MKDIR without a handle"),
    }
}

#[test]
fn what_is_written_is_read_back() {
    run(async {
        let server = served(Emulation::default());
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let file = create(&mut client, &root, "x").await.unwrap();
        assert_eq!(create(&mut client, &root, "x").await, Err(nfsstat3::NFS3ERR_EXIST));
        let data = generated(1, 200_003);
        for (number, block) in data.chunks(65_536).enumerate().collect::<Vec<_>>().into_iter().rev() {
            write(&mut client, &file, number as u64 * 65_536, block).await;
        }
        let commit = COMMIT3args { file: file.clone(), offset: 0, count: 0 };
        client.commit(&commit).await.unwrap().unwrap();
        let block = read(&mut client, &file, 4096, 4096).await.unwrap();
        assert_eq!((&*block.data, block.eof), (&data[4096..8192], false));
        let root_is = client.getattr(&GETATTR3args { object: root.clone() }).await.unwrap().unwrap();
        assert_eq!(root_is.obj_attributes.fsid, plan::EMULATOR_FSID);
        let whole = read(&mut client, &file, 0, 100 << 20).await.unwrap();
        assert_eq!((whole.data.len(), whole.eof), (200_003, true));
        assert!(*whole.data == *data);
        let behind = read(&mut client, &file, 1 << 40, 10).await.unwrap();
        assert_eq!((behind.data.len(), behind.eof), (0, true));
        assert_eq!(read(&mut client, &root, 0, 10).await.err(), Some(nfsstat3::NFS3ERR_ISDIR));
        assert_eq!(server.end().sent_bytes, 4096 + 200_003);
    });
}

#[test]
fn reads_are_clamped_to_what_the_server_says_it_serves() {
    run(async {
        let server = served(Emulation::default());
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let file = create(&mut client, &root, "x").await.unwrap();
        for part in 0..3 {
            write(&mut client, &file, part << 20, &vec![1; 1 << 20]).await;
        }
        let block = read(&mut client, &file, 0, 100 << 20).await.unwrap();
        assert_eq!((block.data.len(), block.eof), (1 << 20, false));
    });
}

#[test]
fn a_folder_is_listed_in_pieces_while_it_changes() {
    run(async {
        let server = served(Emulation::default());
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let folder = make_folder(&mut client, &root, "set").await;
        for index in 0..100 {
            create(&mut client, &folder, &format!("file-{index}")).await.unwrap();
        }
        let (mut names, mut cookie, mut cookieverf) = (Vec::new(), 0, cookieverf3::default());
        loop {
            let args = READDIR3args { dir: folder.clone(), cookie, cookieverf, count: 700 };
            let page = client.readdir(&args).await.unwrap().unwrap();
            for entry in page.reply.entries.0 {
                names.push(String::from_utf8(entry.name.0.to_vec()).unwrap());
                cookie = entry.cookie;
            }
            if page.reply.eof {
                break;
            }
            cookieverf = page.cookieverf;
            let first = names[names.len() - 1].clone();
            client.remove(&REMOVE3args { object: within(&folder, &first) }).await.unwrap().unwrap();
        }
        assert_eq!(names.len(), 100);
        let args = READDIRPLUS3args {
            dir: folder.clone(),
            cookie: 0,
            cookieverf: cookieverf3::default(),
            dircount: 100_000,
            maxcount: 100_000,
        };
        let rest = client.readdirplus(&args).await.unwrap().unwrap();
        assert!(rest.reply.eof && rest.reply.entries.0.len() < 100);
    });
}

#[test]
fn names_are_moved_and_removed_as_their_kind_allows() {
    run(async {
        let server = served(Emulation::default());
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let folder = make_folder(&mut client, &root, "set").await;
        let file = create(&mut client, &folder, "a").await.unwrap();
        write(&mut client, &file, 0, b"moved").await;
        let rename = RENAME3args { from: within(&folder, "a"), to: within(&root, "b") };
        client.rename(&rename).await.unwrap().unwrap();
        assert_eq!(&*read(&mut client, &file, 0, 10).await.unwrap().data, b"moved");
        let status = |result| match result {
            Nfs3Result::Err((status, _)) => status,
            Nfs3Result::Ok(_) => nfsstat3::NFS3_OK,
        };
        let rmdir = RMDIR3args { object: within(&root, "b") };
        assert_eq!(status(client.rmdir(&rmdir).await.unwrap()), nfsstat3::NFS3ERR_NOTDIR);
        create(&mut client, &folder, "c").await.unwrap();
        let rmdir = RMDIR3args { object: within(&root, "set") };
        assert_eq!(status(client.rmdir(&rmdir).await.unwrap()), nfsstat3::NFS3ERR_NOTEMPTY);
        client.remove(&REMOVE3args { object: within(&folder, "c") }).await.unwrap().unwrap();
        assert_eq!(status(client.rmdir(&rmdir).await.unwrap()), nfsstat3::NFS3_OK);
        client.remove(&REMOVE3args { object: within(&root, "b") }).await.unwrap().unwrap();
        assert_eq!(read(&mut client, &file, 0, 10).await.err(), Some(nfsstat3::NFS3ERR_STALE));
    });
}

#[test]
fn only_the_export_and_what_is_below_can_be_mounted() {
    run(async {
        let server = served(Emulation::default());
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        make_folder(&mut client, &root, "set").await;
        assert!(mount(&server, "/export/set").await.is_some());
        assert!(mount(&server, "/export/none").await.is_none());
        assert!(mount(&server, "/other").await.is_none());
    });
}

#[test]
fn a_handle_of_a_server_that_was_is_stale() {
    run(async {
        let server = served(Emulation::default());
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let old = create(&mut client, &root, "x").await.unwrap();
        let later = served(Emulation::default());
        let mut client = mount(&later, "/export").await.unwrap();
        assert_eq!(read(&mut client, &old, 0, 10).await.err(), Some(nfsstat3::NFS3ERR_STALE));
    });
}

#[test]
fn faults_come_with_reads_and_are_counted() {
    run(async {
        let cases = [
            (
                Faults { server_error: 1.0, ..Faults::default() },
                nfsstat3::NFS3ERR_SERVERFAULT,
                "server_error",
            ),
            (Faults { slow_down: 1.0, ..Faults::default() }, nfsstat3::NFS3ERR_JUKEBOX, "slow_down"),
            (Faults { stale: 1.0, ..Faults::default() }, nfsstat3::NFS3ERR_STALE, "stale"),
        ];
        for (faults, status, name) in cases {
            let server = served(Emulation { faults, ..Emulation::default() });
            let mut client = mount(&server, "/export").await.unwrap();
            let root = client.root_nfs_fh3();
            let file = create(&mut client, &root, "x").await.unwrap();
            write(&mut client, &file, 0, b"data").await;
            for _ in 0..3 {
                assert_eq!(read(&mut client, &file, 0, 4).await.err(), Some(status));
            }
            assert_eq!(server.end().faults[name], 3);
        }
    });
}

#[test]
fn a_short_read_has_half_its_bytes_and_is_not_the_end() {
    run(async {
        let faults = Faults { truncated: 1.0, ..Faults::default() };
        let server = served(Emulation { faults, ..Emulation::default() });
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let file = create(&mut client, &root, "x").await.unwrap();
        write(&mut client, &file, 0, &generated(1, 8192)).await;
        let short = read(&mut client, &file, 0, 8192).await.unwrap();
        assert_eq!((short.data.len(), short.count, short.eof), (4096, 4096, false));
    });
}

#[test]
fn corrupted_data_is_read_as_if_it_were_right() {
    run(async {
        let faults = Faults { corrupted: 1.0, ..Faults::default() };
        let server = served(Emulation { faults, ..Emulation::default() });
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let file = create(&mut client, &root, "x").await.unwrap();
        let data = generated(1, 8192);
        write(&mut client, &file, 0, &data).await;
        let corrupted: Vec<u8> = data.iter().map(|byte| !byte).collect();
        let read = read(&mut client, &file, 0, 8192).await.unwrap();
        assert!(*read.data == *corrupted && read.eof);
        assert_eq!(server.end().faults["corrupted"], 1);
    });
}

#[test]
fn a_connection_is_reset_in_the_middle_of_a_reply_and_others_live_on() {
    run(async {
        let faults = Faults { reset: 1.0, ..Faults::default() };
        let server = served(Emulation { faults, ..Emulation::default() });
        let mut client = mount(&server, "/export").await.unwrap();
        let mut other = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let file = create(&mut client, &root, "x").await.unwrap();
        write(&mut client, &file, 0, &generated(1, 1 << 20)).await;
        let args = READ3args { file: file.clone(), offset: 0, count: 1 << 20 };
        let error = client.read(&args).await.unwrap_err();
        assert!(format!("{error:?}").contains("ConnectionReset"), "{error:?}");
        let attributes = other.getattr(&GETATTR3args { object: file }).await.unwrap().unwrap();
        assert_eq!(attributes.obj_attributes.size, 1 << 20);
        assert_eq!(server.end().faults["reset"], 1);
    });
}

/// The server asks its file system for attributes with every READ: those must not count, nor be delayed, as calls of
/// their own.
#[test]
fn only_calls_for_attributes_and_names_are_delayed_as_metadata() {
    run(async {
        let server = served(Emulation {
            first_byte: Some(Delay::Constant { ns: 1_000_000 }),
            metadata: Some(Delay::Constant { ns: 2_000_000 }),
            ..Emulation::default()
        });
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let file = create(&mut client, &root, "x").await.unwrap();
        write(&mut client, &file, 0, b"data").await;
        server.begin();
        for _ in 0..5 {
            read(&mut client, &file, 0, 4).await.unwrap();
        }
        client.getattr(&GETATTR3args { object: file }).await.unwrap().unwrap();
        client.lookup(&LOOKUP3args { what: within(&root, "x") }).await.unwrap().unwrap();
        let span = server.end();
        let count = |text: Option<record::HistogramText>| text.unwrap().decode().unwrap().len();
        assert_eq!(span.requests, 7);
        assert_eq!((count(span.asked_ns), count(span.achieved_ns)), (5, 5));
        assert_eq!((count(span.metadata_asked_ns), count(span.metadata_achieved_ns)), (2, 2));
    });
}

#[test]
fn a_server_beyond_its_rate_asks_to_come_back_later() {
    run(async {
        let server = served(Emulation { requests_per_s: Some(1e-6), ..Emulation::default() });
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let file = create(&mut client, &root, "x").await.unwrap();
        write(&mut client, &file, 0, b"data").await;
        assert!(read(&mut client, &file, 0, 4).await.is_ok(), "the burst");
        assert_eq!(read(&mut client, &file, 0, 4).await.err(), Some(nfsstat3::NFS3ERR_JUKEBOX));
        let lookup = client.lookup(&LOOKUP3args { what: within(&root, "x") }).await.unwrap();
        assert!(matches!(lookup, Nfs3Result::Err((nfsstat3::NFS3ERR_JUKEBOX, _))));
        assert_eq!(server.end().throttled, 2);
    });
}

/// Later is allowed and earlier is not, so a busy machine cannot upset it.
#[test]
fn no_read_comes_sooner_than_declared() {
    run(async {
        let server = served(Emulation {
            first_byte: Some(Delay::Constant { ns: 2_000_000 }),
            connection_bps: Some(25e6),
            ..Emulation::default()
        });
        let mut client = mount(&server, "/export").await.unwrap();
        let root = client.root_nfs_fh3();
        let file = create(&mut client, &root, "x").await.unwrap();
        write(&mut client, &file, 0, &generated(1, 65_536)).await;
        server.begin();
        for _ in 0..24 {
            let asked_s = crate::now_s();
            assert_eq!(read(&mut client, &file, 0, 65_536).await.unwrap().data.len(), 65_536);
            let (took_s, declared_s) = (crate::now_s() - asked_s, 0.002 + 65_536.0 / 25e6);
            assert!(took_s >= declared_s, "{took_s} s where {declared_s} s are declared");
        }
    });
}
