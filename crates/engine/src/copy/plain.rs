//! Objects copied as they are: a thread that reads and one that writes, joined by the buffers that go round.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use backend::{Buf, ObjectWriter, OpError, StoreError};
use dataset::Key;

use super::pull::{Block, Pull, Pulled, Unread};
use super::tally::{Failure, Published, Tally};
use super::work::{Copying, WorkerEnd};

/// No object has this number: there are fewer.
const NONE: u32 = u32::MAX;

/// From the reader to the writer of a worker. At most as many blocks are on their way as there are buffers.
enum Message {
    /// The next block of an object.
    Block { block: Block, pulled: Pulled },
    /// The object could not be read.
    Unread { object: u32, error: OpError },
}

/// Copies objects until none is left.
pub(super) fn run(copying: &Copying<'_>, mut pull: Pull<'_>, start_ns: u64) -> WorkerEnd {
    // Unbounded, and bounded all the same: a message holds a buffer, and there are as many as the queue has.
    let (to_writer, blocks) = channel();
    let (to_reader, buffers) = channel();
    let given_up = AtomicU32::new(NONE);
    let tally = std::thread::scope(|scope| {
        let writer =
            Writer { copying, given_up: &given_up, to_reader, tally: Tally::new(start_ns), current: None };
        let writer = scope.spawn(move || writer.run(&blocks));
        read(copying, &mut pull, &given_up, &to_writer, &buffers);
        drop(to_writer);
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let verified = pull.verified;
    let (report, abandoned) = pull.close();
    WorkerEnd { tally, report, verified, abandoned }
}

fn read(
    copying: &Copying<'_>,
    pull: &mut Pull<'_>,
    given_up: &AtomicU32,
    to_writer: &Sender<Message>,
    buffers: &Receiver<Buf>,
) {
    while let Some(object) = copying.next() {
        let bytes = copying.spec.data.objects().bytes(object);
        let mut offset = 0;
        // Without this the rest of an object whose writer failed would be read for nothing.
        while offset < bytes && given_up.load(Ordering::Relaxed) != object {
            // The writer returns every buffer, or has ended.
            // The wait for a buffer is where a slow target holds the reader back.
            let Some(buf) = pull.free.pop().or_else(|| buffers.recv().ok()) else { return };
            let block = pull.block(object, offset);
            let message = match pull.read(block, buf) {
                Ok(pulled) => Message::Block { block, pulled },
                Err(Unread::Failed(error)) => Message::Unread { object, error },
                Err(Unread::Over(reason)) => {
                    if let Some(reason) = reason {
                        copying.give_up(reason);
                    }
                    return;
                }
            };
            let is_unread = matches!(message, Message::Unread { .. });
            if to_writer.send(message).is_err() || copying.is_over() {
                return;
            }
            if is_unread {
                break;
            }
            offset += u64::from(block.len);
        }
    }
}

/// The writing side of a worker.
struct Writer<'a> {
    copying: &'a Copying<'a>,
    /// The object that could not be written: the reader need not read on.
    given_up: &'a AtomicU32,
    to_reader: Sender<Buf>,
    tally: Tally,
    current: Option<Current>,
}

/// The object that is being written.
struct Current {
    writer: Box<dyn ObjectWriter + Send>,
    begun_ns: u64,
}

impl Writer<'_> {
    fn run(mut self, blocks: &Receiver<Message>) -> Tally {
        for message in blocks {
            match message {
                // What could not be written is counted already.
                Message::Unread { object, .. } if self.given_up.load(Ordering::Relaxed) == object => {}
                Message::Unread { object, error } => {
                    self.current = None;
                    let key = self.copying.spec.data.objects().key(object);
                    self.fail(&Failure { kind: error.kind, words: words(&key, error), is_final: false });
                }
                Message::Block { block, pulled } => self.write(block, pulled),
            }
        }
        // An object that is not whole is dropped here, and its writer leaves nothing behind.
        self.tally
    }

    fn write(&mut self, block: Block, pulled: Pulled) {
        let Pulled { buf, begun_ns, done_ns: read_ns } = pulled;
        // What the reader had read ahead when the copy was given up belongs to no copy any more.
        let is_given_up = self.given_up.load(Ordering::Relaxed) == block.object || self.copying.is_hopeless();
        if is_given_up {
            return self.hand_back(buf);
        }
        let written = self.append(block, begun_ns, &buf);
        self.hand_back(buf);
        self.copying.spec.progress.add(0, u64::from(block.len));
        let bytes = self.copying.spec.data.objects().bytes(block.object);
        let ended = match written {
            Ok(()) if block.offset + u64::from(block.len) < bytes => return,
            Ok(()) => self.publish(bytes, read_ns),
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            self.given_up.store(block.object, Ordering::Relaxed);
            self.current = None;
            self.fail(&Failure::of_write(&error));
        }
    }

    fn hand_back(&self, buf: Buf) {
        // A reader that has ended needs no buffer.
        let _ = self.to_reader.send(buf);
    }

    fn append(&mut self, block: Block, begun_ns: u64, buf: &Buf) -> Result<(), StoreError> {
        if block.offset == 0 {
            let place = self.copying.place;
            let key = place.names.key(place.owned.folder(), block.object);
            let writer = self.copying.to.create(&place.owned, &key)?;
            self.current = Some(Current { writer, begun_ns });
        }
        match &mut self.current {
            Some(current) => current.writer.write(&buf.as_slice()[..block.len as usize]),
            None => Ok(()),
        }
    }

    fn publish(&mut self, bytes: u64, read_ns: u64) -> Result<(), StoreError> {
        let Some(Current { writer, begun_ns }) = self.current.take() else { return Ok(()) };
        let clock = self.copying.spec.clock;
        // Durability has a time of its own: on many storages it is longer than the writing.
        let written_ns = clock.now_ns();
        writer.finish()?;
        let done_ns = clock.now_ns();
        let published = Published { begun_ns, read_ns, written_ns, done_ns, bytes, written_bytes: bytes };
        self.tally.published(&published);
        self.copying.spec.progress.add(1, 0);
        self.copying.succeeded();
        Ok(())
    }

    fn fail(&mut self, failure: &Failure) {
        self.tally.failed(failure);
        if failure.is_final {
            self.copying.give_up(failure.words.clone());
        } else {
            self.copying.failed(&failure.words);
        }
    }
}

/// What a read that failed is called.
pub(super) fn words(key: &Key, error: OpError) -> String {
    format!("cannot read `{key}`: {} ({})", error.kind, error.code)
}
