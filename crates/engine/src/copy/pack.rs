//! Samples that are read as files and written as shards. A layout may ask for the bytes of a sample in any order, and more
//! than once, so a shard is built on the thread that reads: the block that was read last is kept, and shards are
//! built side by side.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

use backend::{Buf, ObjectWriter, StoreError};
use formats::{FormatError, Samples};
use plan::Packing;

use super::plain::words;
use super::pull::{Block, Pull, Unread};
use super::shards::Shards;
use super::tally::{Failure, Published, Tally};
use super::work::{Copying, WorkerEnd};

/// Builds shards until none is left.
pub(super) fn run(
    copying: &Copying<'_>,
    mut pull: Pull<'_>,
    (packing, shards): (&Packing, &Shards),
    start_ns: u64,
) -> WorkerEnd {
    let mut tally = Tally::new(start_ns);
    while let Some(shard) = copying.next() {
        match build(copying, &mut pull, packing, (shard, shards.range(shard))) {
            Ok(published) => {
                tally.published(&published);
                copying.spec.progress.add(1, 0);
                copying.succeeded();
            }
            Err(Stopped::Over(reason)) => {
                if let Some(reason) = reason {
                    copying.give_up(reason);
                }
                break;
            }
            Err(Stopped::Failed(failure)) => {
                tally.failed(&failure);
                if failure.is_final {
                    copying.give_up(failure.words);
                } else {
                    copying.failed(&failure.words);
                }
            }
        }
    }
    let verified = pull.verified;
    let (report, abandoned) = pull.close();
    WorkerEnd { tally, report, verified, abandoned }
}

/// Why a shard was not built.
enum Stopped {
    Failed(Failure),
    /// The copy is to end, for this reason unless a signal asked for it.
    Over(Option<String>),
}

fn build(
    copying: &Copying<'_>,
    pull: &mut Pull<'_>,
    packing: &Packing,
    (shard, range): (u32, Range<u32>),
) -> Result<Published, Stopped> {
    let of_write = |error: &StoreError| Stopped::Failed(Failure::of_write(error));
    let (place, clock) = (copying.place, copying.spec.clock);
    let key = place.names.key(place.owned.folder(), shard);
    let stopped = RefCell::new(None);
    let writer = copying.to.create(&place.owned, &key).map_err(|error| of_write(&error))?;
    let objects = copying.spec.data.objects();
    let bytes = range.clone().map(|object| objects.bytes(object)).sum();
    let mut samples = Pulling {
        copying,
        pull,
        range,
        kept: None,
        stopped: &stopped,
        first_ns: None,
        last_ns: clock.now_ns(),
    };
    let mut out = Out { writer, stopped: &stopped, bytes: 0 };
    let built = formats::write(packing, &mut samples, &mut out);
    // Before anything is returned: the buffer that is kept goes back to the queue whatever came of the shard.
    let (begun_ns, read_ns) = samples.end();
    let Out { writer, bytes: written_bytes, .. } = out;
    // Before the format's error, which only says that writing failed.
    if let Some(stopped) = stopped.into_inner() {
        return Err(stopped);
    }
    built.map_err(|error| Stopped::Failed(of_format(&error)))?;
    let written_ns = clock.now_ns();
    writer.finish().map_err(|error| of_write(&error))?;
    let done_ns = clock.now_ns();
    Ok(Published { begun_ns, read_ns, written_ns, done_ns, bytes, written_bytes })
}

fn of_format(error: &FormatError) -> Failure {
    let words = format!("cannot build a shard: {error}");
    // Another shard of the same samples may be writable, for example where one sample is too large.
    Failure { kind: backend::ErrorKind::Other, words, is_final: false }
}

/// Samples of a shard, pulled through the queue as the layout asks for them.
struct Pulling<'a, 'p> {
    copying: &'a Copying<'a>,
    pull: &'a mut Pull<'p>,
    range: Range<u32>,
    /// The block that was read last.
    kept: Option<(Block, Buf)>,
    stopped: &'a RefCell<Option<Stopped>>,
    first_ns: Option<u64>,
    last_ns: u64,
}

impl Pulling<'_, '_> {
    /// Frees the buffer; when the first read was issued and the last one ended.
    fn end(self) -> (u64, u64) {
        self.pull.free.extend(self.kept.map(|(_, buf)| buf));
        (self.first_ns.unwrap_or(self.last_ns), self.last_ns)
    }

    /// Reads the block with byte `offset` of an object, unless it was the last one.
    fn keep(&mut self, object: u32, offset: u64) -> Option<&(Block, Buf)> {
        let begin = offset - offset % u64::from(self.copying.spec.cell.block_bytes);
        let is_kept =
            self.kept.as_ref().is_some_and(|(block, _)| (block.object, block.offset) == (object, begin));
        if !is_kept {
            self.pull.free.extend(self.kept.take().map(|(_, buf)| buf));
            let buf = self.pull.free.pop()?;
            let block = self.pull.block(object, begin);
            match self.pull.read(block, buf) {
                Ok(pulled) => {
                    self.first_ns.get_or_insert(pulled.begun_ns);
                    self.last_ns = pulled.done_ns;
                    self.copying.spec.progress.add(0, u64::from(block.len));
                    self.kept = Some((block, pulled.buf));
                }
                Err(Unread::Over(reason)) => self.stop(Stopped::Over(reason)),
                Err(Unread::Failed(error)) => {
                    let key = self.copying.spec.data.objects().key(object);
                    let words = words(&key, error);
                    self.stop(Stopped::Failed(Failure { kind: error.kind, words, is_final: false }));
                }
            }
        }
        self.kept.as_ref()
    }

    /// What is read from now on does not matter: the shard is not published.
    fn stop(&self, why: Stopped) {
        self.stopped.borrow_mut().get_or_insert(why);
    }
}

impl Samples for Pulling<'_, '_> {
    fn count(&self) -> u64 {
        u64::from(self.range.end - self.range.start)
    }

    fn number(&self, index: u64) -> u64 {
        u64::from(self.range.start) + index
    }

    fn bytes(&self, index: u64) -> u64 {
        self.copying.spec.data.objects().bytes(self.number(index) as u32)
    }

    fn fill(&mut self, index: u64, offset: u64, out: &mut [u8]) {
        let object = self.number(index) as u32;
        let (mut offset, mut rest) = (offset, out);
        while !rest.is_empty() {
            if self.stopped.borrow().is_some() {
                // A layout asks for bytes by a function that cannot fail; the shard is thrown away.
                return rest.fill(0);
            }
            let Some((block, buf)) = self.keep(object, offset) else { continue };
            let from = (offset - block.offset) as usize;
            let part = rest.len().min(block.len as usize - from);
            let (head, tail) = rest.split_at_mut(part);
            head.copy_from_slice(&buf.as_slice()[from..from + part]);
            offset += part as u64;
            rest = tail;
        }
    }
}

/// A shard being written.
struct Out<'a> {
    writer: Box<dyn ObjectWriter + Send>,
    stopped: &'a RefCell<Option<Stopped>>,
    bytes: u64,
}

impl io::Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stopped.borrow().is_some() {
            return Err(io::Error::other("the shard is not wanted any more"));
        }
        if let Err(error) = self.writer.write(bytes) {
            let failure = Stopped::Failed(Failure::of_write(&error));
            self.stopped.borrow_mut().get_or_insert(failure);
            return Err(io::Error::other(error.to_string()));
        }
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
