//! A server of our own that knows two files, and answers reads as a test wants.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset::{Key, Objects, payload};

use crate::memory::SEED;

pub(crate) const FILE_BYTES: u64 = 8192;

/// A READ that came, and how many came before it.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) xid: u32,
    pub(crate) number: u64,
    file: u32,
    offset: u64,
    pub(crate) count: u32,
}

/// What to do about a READ.
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Sends, then closes.
    Close(Vec<u8>),
}

type Answer = dyn Fn(Asked) -> Act + Send + Sync;

pub(crate) fn objects() -> Arc<Objects> {
    Arc::new(Objects::uniform(Key::new("data").unwrap(), 2, FILE_BYTES))
}

pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

pub(crate) fn record(body: &[u8]) -> Vec<u8> {
    [&(1 << 31 | body.len() as u32).to_be_bytes()[..], body].concat()
}

fn accepted(xid: u32, results: &[u8]) -> Vec<u8> {
    record(&[&words(&[xid, 1, 0, 0, 0, 0])[..], results].concat())
}

fn opaque(bytes: &[u8]) -> Vec<u8> {
    let mut all = words(&[bytes.len() as u32]);
    all.extend(bytes);
    all.resize(all.len().next_multiple_of(4), 0);
    all
}

fn attributes(handle: &[u8]) -> Vec<u8> {
    let (kind, bytes) = if handle.starts_with(b"file") { (1, FILE_BYTES) } else { (2, 4096) };
    let mut all = words(&[kind, 0o644, 1, 0, 0]);
    for long in [bytes, bytes, 0, 7, 1] {
        all.extend(long.to_be_bytes());
    }
    all.extend(words(&[0; 6]));
    all
}

impl Asked {
    fn content(self, count: u32) -> Vec<u8> {
        let mut data = vec![0; count as usize];
        payload::fill(SEED, self.file, self.offset, &mut data);
        data
    }

    /// The first `count` bytes, under any number, with any length before them.
    pub(crate) fn data_as(self, xid: u32, count: u32, length: u32, is_last: bool) -> Vec<u8> {
        let mut results = words(&[0, 0, count, u32::from(is_last), length]);
        results.extend(self.content(count));
        results.resize(results.len().next_multiple_of(4), 0);
        accepted(xid, &results)
    }

    /// What a server should say.
    pub(crate) fn data(self) -> Vec<u8> {
        self.data_as(self.xid, self.count, self.count, false)
    }

    /// A status instead.
    pub(crate) fn status(self, status: u32) -> Vec<u8> {
        accepted(self.xid, &words(&[status, 0]))
    }
}

/// Serves until the process ends; returns the port.
pub(crate) fn serve(answer: impl Fn(Asked) -> Act + Send + Sync + 'static) -> u16 {
    serve_in_fragments(usize::MAX, answer)
}

/// As [`serve`], with replies in fragments of so many bytes, but for those to reads.
pub(crate) fn serve_in_fragments(bytes: usize, answer: impl Fn(Asked) -> Act + Send + Sync + 'static) -> u16 {
    serve_as(Folders::AtOnce, bytes, answer)
}

/// Serves folders whose pages lead from the first to the second and back, for ever.
pub(crate) fn serve_circles() -> u16 {
    serve_as(Folders::Circles, usize::MAX, |asked| Act::Send(asked.data()))
}

/// How folders are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folders {
    AtOnce,
    Circles,
}

fn serve_as(folders: Folders, bytes: usize, answer: impl Fn(Asked) -> Act + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (answer, reads): (Arc<Answer>, _) = (Arc::new(answer), Arc::new(AtomicU64::new(0)));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (answer, reads) = (Arc::clone(&answer), Arc::clone(&reads));
            std::thread::spawn(move || converse(stream, (folders, bytes), &*answer, &reads));
        }
    });
    port
}

/// A record in fragments of so many bytes.
fn cut(record: &[u8], bytes: usize) -> Vec<u8> {
    let body = &record[4..];
    let count = body.len().div_ceil(bytes);
    let last = |at: usize| if at + 1 == count { 1 << 31 } else { 0 };
    let mark = |at: usize, piece: &[u8]| (last(at) | piece.len() as u32).to_be_bytes();
    let pieces = body.chunks(bytes).enumerate();
    pieces.flat_map(|(at, piece)| [&mark(at, piece)[..], piece].concat()).collect()
}

fn converse(
    mut stream: TcpStream,
    (folders, fragment_bytes): (Folders, usize),
    answer: &Answer,
    reads: &AtomicU64,
) -> Option<()> {
    loop {
        let mut mark = [0; 4];
        stream.read_exact(&mut mark).ok()?;
        let mut body = vec![0; (u32::from_be_bytes(mark) & 0x7fff_ffff) as usize];
        stream.read_exact(&mut body).ok()?;
        let word = |at: usize| u32::from_be_bytes(body[at..at + 4].try_into().unwrap());
        let credential = word(28) as usize;
        let args = &body[32 + credential.next_multiple_of(4) + 8..];
        let (bytes, closes) = match (word(12), word(20)) {
            (100_003, 6) => {
                let long = |at: usize| u64::from_be_bytes(args[at..at + 8].try_into().unwrap());
                let asked = Asked {
                    xid: word(0),
                    number: reads.fetch_add(1, Ordering::SeqCst),
                    file: u32::from(args[8] - b'0'),
                    offset: long(12),
                    count: u32::from_be_bytes(args[20..24].try_into().unwrap()),
                };
                match answer(asked) {
                    Act::Send(bytes) => (bytes, false),
                    Act::Close(bytes) => (bytes, true),
                }
            }
            (100_003, procedure @ (16 | 17)) if folders == Folders::Circles => {
                (accepted(word(0), &circle(procedure, args)), false)
            }
            (program, procedure) => {
                let reply = accepted(word(0), &results(program, procedure, args));
                (cut(&reply, fragment_bytes), false)
            }
        };
        stream.write_all(&bytes).ok()?;
        if closes {
            return None;
        }
    }
}

/// A page of one entry that is behind the one asked for: 1, 2, and 1 again.
fn circle(procedure: u32, args: &[u8]) -> Vec<u8> {
    let cookie = 1 + u32::from(args[19]) % 2;
    let mut all = words(&[0, 0, 0, 0, 1, 0, cookie]);
    all.extend(opaque(format!("00000000{}.bin", cookie - 1).as_bytes()));
    all.extend(words(&[0, cookie]));
    if procedure == 17 {
        all.extend(words(&[1]));
        all.extend(attributes(b"file"));
        all.extend(words(&[0]));
    }
    all.extend(words(&[0, 0]));
    all
}

/// Handles are of eight bytes: `root....`, `data....`, `folder..`, and `file0...` with the file's number behind.
fn results(program: u32, procedure: u32, args: &[u8]) -> Vec<u8> {
    let handle = args.get(4..12).unwrap_or_default();
    let child = |name: &[u8]| match name {
        b"data" => *b"data....",
        b"000000" => *b"folder..",
        _ => [b'f', b'i', b'l', b'e', name[8], b'.', b'.', b'.'],
    };
    let mut all = words(&[0]);
    match (program, procedure) {
        (100_005, 1) => {
            all.extend(opaque(b"root...."));
            all.extend(words(&[1, 1]));
        }
        (_, 1) => all.extend(attributes(handle)),
        (_, 3) => {
            let name = &args[16..16 + args[15] as usize];
            all.extend(opaque(&child(name)));
            all.extend(words(&[1]));
            all.extend(attributes(&child(name)));
            all.extend(words(&[0]));
        }
        // READDIR
        (_, 16) => {
            all.extend(words(&[0, 0, 0]));
            for (cookie, name) in (1..).zip([b"000000000.bin", b"000000001.bin"]) {
                all.extend(words(&[1, 0, cookie]));
                all.extend(opaque(name));
                all.extend(words(&[0, cookie]));
            }
            all.extend(words(&[0, 1]));
        }
        (_, 17) => {
            all.extend(words(&[0, 0, 0]));
            for (cookie, name) in (1..).zip([b"000000000.bin", b"000000001.bin"]) {
                all.extend(words(&[1, 0, cookie]));
                all.extend(opaque(name));
                all.extend(words(&[0, cookie, 0, 1]));
                all.extend(opaque(&child(name)));
            }
            all.extend(words(&[0, 1]));
        }
        // FSINFO
        (_, 19) => all.extend(words(&[0, 65_536, 65_536, 1, 65_536, 65_536, 1, 65_536, 0, 0, 0, 0, 0])),
        _ => all = words(&[10_004, 0, 0]),
    }
    all
}
