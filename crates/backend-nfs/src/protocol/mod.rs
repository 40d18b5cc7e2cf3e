//! NFS version 3 for the engine: operations become calls, and replies are told apart.

mod encode;
mod reply;
mod task;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::sync::Arc;
use std::{fmt, mem};

use backend::{ErrorKind, FilePieces, Op, OpError, QueueReport, unfinished_name};
use backend_net::{Fate, Frame, Head, Mark, Message, Outcome, Payload, Phases, Place, Protocol, Reply, Text};
use nfs3_types::rpc::opaque_auth;
use plan::{Durability, Operation};

use self::encode::{Calls, ListingFrom, Procedure, padding, stable_how};
use self::reply::{NONSENSE, Record, Said, Stop, frame, join, unjoined};
use self::task::{Anew, KEPT, MADE, RENAMED, Step, Then, WRITTEN};
use crate::ENGINE;
use crate::calls::NAME_BYTES_MAX;
use crate::handles::Handles;
use crate::status::Status;
use crate::tree::split;
use crate::xdr::{Reader, Unread};

pub(crate) use self::task::{PARTS_MAX, Task};

/// Bytes of a reply beside its data or names, at most: head, verifier, attributes.
const HEAD_BYTES_MAX: usize = 1024;

/// What a queue asks, and of what.
pub(crate) struct Asking {
    pub(crate) operation: Operation,
    pub(crate) handles: Arc<Handles>,
    /// Bytes of one read, whatever the server's limit.
    pub(crate) block_bytes: u32,
    /// What its writes are to be kept by.
    pub(crate) durability: Durability,
}

impl Asking {
    /// Whether one COMMIT keeps all that was written of a file: what a client does of whom `fsync` is asked.
    fn commits(&self) -> bool {
        self.operation == Operation::WriteFile && self.durability == Durability::Data
    }
}

/// What a server allows.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the unit stands last in a name")]
pub(crate) struct Sizes {
    /// Bytes of one READ, at most.
    pub(crate) read_bytes: u32,
    /// Bytes of one WRITE, at most.
    pub(crate) write_bytes: u32,
    /// Bytes of one page of names.
    pub(crate) listing_bytes: u32,
}

/// The protocol, for one queue or one writer.
pub(crate) struct Nfs {
    calls: Calls,
    asking: Option<Asking>,
    sizes: Sizes,
    parts_max: u32,
    /// Room for a name.
    path: String,
    /// What the names of files that are written anew have in common until they are whole.
    unfinished: String,
    /// Files that were begun anew.
    begun: u64,
    /// Room for a reply that comes in fragments.
    joined: Vec<u8>,
    /// The verifier of the last WRITE. A different one says that the server was restarted since, and lost
    /// what was not committed (RFC 1813 section 3.3.7).
    write_verifier: Option<[u8; 8]>,
    /// Reads that the server answered in part.
    short_reads: u64,
    first_failure: Option<String>,
}

impl Nfs {
    /// For the operations of a queue.
    pub(crate) fn for_queue(credential: &opaque_auth<'_>, sizes: Sizes, asking: Asking) -> Self {
        let is_anew = asking.operation == Operation::WriteFile;
        let part_bytes = if is_anew { sizes.write_bytes } else { sizes.read_bytes };
        let parts_max = asking.block_bytes.div_ceil(part_bytes).clamp(1, PARTS_MAX);
        Self { asking: Some(asking), parts_max, ..Self::for_writer(credential, sizes) }
    }

    /// For tasks that write.
    pub(crate) fn for_writer(credential: &opaque_auth<'_>, sizes: Sizes) -> Self {
        Self {
            calls: Calls::new(credential),
            asking: None,
            sizes,
            parts_max: 1,
            path: String::new(),
            unfinished: unfinished_name("anew"),
            begun: 0,
            joined: Vec::new(),
            write_verifier: None,
            short_reads: 0,
            first_failure: None,
        }
    }

    /// Forgets what was said of a file written before.
    pub(crate) fn begin_file(&mut self) {
        self.write_verifier = None;
        self.first_failure = None;
    }

    fn note(&mut self, what: fmt::Arguments<'_>) {
        self.first_failure.get_or_insert_with(|| what.to_string());
    }

    fn send_blocks(&mut self, task: &mut Task, id: u32, out: &mut Vec<u8>) -> Option<Message> {
        let part = task.next_part(self.parts_max, self.sizes.read_bytes)?;
        let (handle, block) = (task.handle, task.block.piece.offset);
        let slot = &mut task.slots[part as usize];
        slot.asked = Some(Procedure::Read);
        self.calls.read(id, &handle, block + u64::from(slot.at), slot.len, out);
        Some(Message::plain(part))
    }

    /// The next part of the piece of a file that is written anew.
    fn send_pieces(&mut self, task: &mut Task, id: u32, out: &mut Vec<u8>) -> Option<Message> {
        let part = task.next_part(self.parts_max, self.sizes.write_bytes)?;
        let slot = &mut task.slots[part as usize];
        slot.asked = Some(Procedure::Write);
        let (at, len) = (slot.at as usize, slot.len as usize);
        let offset = task.block.piece.offset + at as u64;
        self.calls.write(id, &task.handle, (offset, len as u32), self.kept_by_each_write(), out);
        let payload = Payload::PieceOf { pieces: task.file, number: task.piece(), part: at..at + len };
        Some(Message { part, payload: Some(payload), trailer: padding(len) })
    }

    /// The name of a task's object in its folder.
    fn write_name(&mut self, task: &Task) {
        self.path.clear();
        if let Some(asking) = &self.asking {
            asking.handles.objects().write_key(task.object, &mut self.path);
        }
        self.path.drain(..self.path.len() - split(&self.path).1.len());
    }

    /// The name of a task's file until it is whole, behind what `path` holds; where it begins.
    fn write_unfinished_name(&mut self, anew: &Anew) -> usize {
        let from = self.path.len();
        // A `String` takes all that is written.
        let _ = write!(self.path, ".{:x}{}", anew.number, self.unfinished);
        from
    }

    /// The name that a task's file gets: that of its object, or another of its own.
    fn write_second_name(&mut self, task: &Task, anew: &Anew) {
        if task.makes_names() {
            self.path.clear();
            let _ = write!(self.path, ".{:x}.renamed{}", anew.number, self.unfinished);
        } else {
            self.write_name(task);
        }
    }

    fn send_lookup(&mut self, task: &Task, id: u32, out: &mut Vec<u8>) {
        self.path.clear();
        match &task.anew {
            Some(anew) => drop(self.write_unfinished_name(anew)),
            None => self.write_name(task),
        }
        self.calls.lookup(id, &task.handle, &self.path, out);
    }

    /// A call on the name of a file that is written anew.
    fn send_name(&mut self, task: &Task, id: u32, out: &mut Vec<u8>) -> Option<Procedure> {
        let anew = task.anew.as_ref()?;
        self.write_second_name(task, anew);
        let from = self.write_unfinished_name(anew);
        let (name, unfinished) = self.path.split_at(from);
        Some(match task.step {
            Step::Create => {
                self.calls.create(id, &anew.folder, unfinished, out);
                Procedure::Create
            }
            Step::Rename => {
                self.calls.rename(id, &anew.folder, (unfinished, name), out);
                Procedure::Rename
            }
            _ => {
                let name = if task.has_failed() { unfinished } else { name };
                self.calls.remove(id, &anew.folder, name, out);
                Procedure::Remove
            }
        })
    }

    fn stopped(&mut self, stop: Stop) -> Head {
        match stop {
            Stop::Need(bytes) => Head::Need(bytes),
            Stop::Nonsense(what) => {
                self.note(format_args!("{what}"));
                Head::Broken(NONSENSE)
            }
        }
    }

    fn read_head(&mut self, task: &mut Task, part: u32, bytes: &[u8]) -> Result<Head, Stop> {
        // Taken out while it is borrowed by the record that is read from it.
        let mut joined = mem::take(&mut self.joined);
        let head = match join(bytes, HEAD_BYTES_MAX, &mut joined) {
            Ok(None) => self.read_record(task, part, bytes),
            Ok(Some(length)) => self.read_record(task, part, &joined).and_then(|head| unjoined(head, length)),
            Err(stop) => Err(stop),
        };
        self.joined = joined;
        head
    }

    fn read_record(&mut self, task: &mut Task, part: u32, bytes: &[u8]) -> Result<Head, Stop> {
        let asked = task.slots.get(part as usize).and_then(|slot| slot.asked);
        let asked = asked.ok_or(Stop::Nonsense("a reply to what was not asked"))?;
        let mut record = Record::new(bytes)?;
        let slot = &mut task.slots[part as usize];
        if let Said::Refused(refusal) = record.said()? {
            slot.failed = Some(refusal.error);
            self.note(format_args!("{}: {}", asked.name(), refusal.name));
            return Ok(record.passed_over());
        }
        let status = record.status()?;
        if status != Status::OK {
            slot.failed = Some(status.op_error());
            self.note(format_args!("{}: {status}", asked.name()));
            return Ok(record.passed_over());
        }
        let head = match asked {
            Procedure::Read => return data_head(&mut record, task, part),
            Procedure::ReadFolder => return names_head(&mut record, task),
            Procedure::Lookup => found(&mut record.reader, task),
            Procedure::GetAttributes => looked(&mut record.reader, task),
            Procedure::Create => created(&mut record.reader, task),
            Procedure::Remove => record.reader.changes(),
            // Of both folders.
            Procedure::Rename => record.reader.changes().and_then(|()| record.reader.changes()),
            Procedure::Write => self.written(&mut record.reader, task, part),
            Procedure::Commit => self.committed(&mut record.reader, task),
        };
        head.map_err(|unread| record.stop(unread))?;
        // The next reply begins behind the record: what is left over shows that this one was not understood.
        if record.rest() > 0 {
            return Err(Stop::Nonsense("a reply that goes on behind its end"));
        }
        Ok(record.passed_over())
    }

    /// What WRITEs are to be kept by. One COMMIT at the end makes a dataset durable: FILE_SYNC would let each of its WRITEs wait
    /// for the disk.
    fn durability(&self) -> Durability {
        self.asking.as_ref().map_or(Durability::None, |asking| asking.durability)
    }

    /// What each WRITE is to be kept by: where a COMMIT follows them, by nothing.
    fn kept_by_each_write(&self) -> Durability {
        match &self.asking {
            Some(asking) if asking.commits() => Durability::None,
            _ => self.durability(),
        }
    }

    /// `WRITE3resok`.
    fn written(&mut self, reader: &mut Reader<'_>, task: &mut Task, part: u32) -> Result<(), Unread> {
        reader.changes()?;
        let count = reader.word()?;
        let committed = reader.word()?;
        let verifier = reader.eight()?;
        let slot = &mut task.slots[part as usize];
        if count > slot.len {
            return Err(Unread::Wrong("a WRITE of more than was sent"));
        }
        slot.got = count;
        if committed < stable_how(self.kept_by_each_write()) {
            // RFC 1813 section 3.3.7: a server keeps at least what it is asked to.
            return Err(Unread::Wrong("a WRITE that is kept less well than was asked"));
        }
        task.slots[part as usize].failed = self.verify(task, verifier).err();
        Ok(())
    }

    /// `COMMIT3resok`.
    fn committed(&mut self, reader: &mut Reader<'_>, task: &mut Task) -> Result<(), Unread> {
        reader.changes()?;
        let verifier = reader.eight()?;
        task.slots[0].failed = self.verify(task, verifier).err();
        Ok(())
    }

    fn verify(&mut self, task: &mut Task, verifier: [u8; 8]) -> Result<(), OpError> {
        let is_known = match &mut task.anew {
            // Of each file: another one that was written since may have met the restart.
            Some(anew) => *anew.verifier.get_or_insert(verifier) == verifier,
            // Once for each restart: what is written from then on may be kept.
            None => self.write_verifier.replace(verifier).is_none_or(|before| before == verifier),
        };
        if is_known {
            return Ok(());
        }
        self.note(format_args!("the server was restarted while the file was written"));
        Err(OpError { kind: ErrorKind::Server, code: 0 })
    }
}

/// `LOOKUP3resok`: the task goes on with the file's handle.
fn found(reader: &mut Reader<'_>, task: &mut Task) -> Result<(), Unread> {
    let handle = reader.handle()?;
    let attributes = reader.optional_attributes()?;
    reader.optional_attributes()?;
    if task.anew.is_some() {
        task.made(handle);
        return Ok(());
    }
    task.handle = handle;
    match attributes {
        Some(attributes) => task.slots[0].failed = task.judge(&attributes).err(),
        // RFC 1813 section 2.6: a server need not send attributes with a reply (`post_op_attr`).
        None => task.step = Step::GetAttributes,
    }
    Ok(())
}

/// `CREATE3resok`.
fn created(reader: &mut Reader<'_>, task: &mut Task) -> Result<(), Unread> {
    let handle = reader.optional_handle()?;
    reader.optional_attributes()?;
    reader.changes()?;
    if let Some(anew) = &mut task.anew {
        anew.is_made = true;
    }
    match handle {
        // Its handle is not asked for where it is not written to.
        _ if task.makes_names() => task.named(),
        Some(file) => task.made(file),
        // RFC 1813 section 2.6: a server need not send a handle with a reply (`post_op_fh3`).
        None => task.step = Step::Lookup,
    }
    Ok(())
}

/// `GETATTR3resok`.
fn looked(reader: &mut Reader<'_>, task: &mut Task) -> Result<(), Unread> {
    let attributes = reader.attributes()?;
    task.slots[0].failed = task.judge(&attributes).err();
    Ok(())
}

/// `READ3resok`, up to its data.
fn data_head(record: &mut Record<'_>, task: &mut Task, part: u32) -> Result<Head, Stop> {
    let reader = &mut record.reader;
    let mut read = || {
        reader.optional_attributes()?;
        Ok((reader.word()?, reader.flag()?, reader.word()?))
    };
    let (count, is_last, length) = read().map_err(|unread| record.stop(unread))?;
    let slot = &mut task.slots[part as usize];
    if length != count {
        return Err(Stop::Nonsense("a READ that names two lengths"));
    }
    if count > slot.len {
        return Err(Stop::Nonsense("a READ of more than was asked"));
    }
    let trailer = padding(count as usize).len();
    // Data go straight into the buffer, so their length must be certain before the first byte is moved.
    if record.rest() != count as usize + trailer {
        return Err(Stop::Nonsense("a READ whose record has not the length of its data"));
    }
    (slot.got, slot.is_last) = (count, is_last);
    let at = slot.at as usize;
    Ok(Head::Data {
        head_bytes: record.reader.position(),
        body_bytes: u64::from(count),
        place: Place { at, wrap: at + count.max(1) as usize },
        trailer_bytes: trailer as u32,
    })
}

/// `READDIR3resok`, up to its names.
fn names_head(record: &mut Record<'_>, task: &mut Task) -> Result<Head, Stop> {
    let reader = &mut record.reader;
    let mut read = || {
        reader.optional_attributes()?;
        reader.eight()
    };
    let verifier = read().map_err(|unread| record.stop(unread))?;
    let names = &mut task.names;
    (names.verifier, names.left, names.in_page) = (verifier, record.rest(), 0);
    Ok(Head::Text { head_bytes: record.reader.position() })
}

/// What comes next in a page of a listing.
enum ListingItem {
    Entry { counts: bool, cookie: u64 },
    End { is_last: bool },
}

fn listing_item(reader: &mut Reader<'_>) -> Result<ListingItem, Unread> {
    if !reader.flag()? {
        return reader.flag().map(|is_last| ListingItem::End { is_last });
    }
    reader.long()?;
    let name = reader.opaque(NAME_BYTES_MAX)?;
    Ok(ListingItem::Entry { counts: !matches!(name, b"." | b".."), cookie: reader.long()? })
}

impl Protocol for Nfs {
    type Task = Task;

    fn name(&self) -> &'static str {
        ENGINE
    }

    fn pipelines(&self) -> bool {
        // RFC 5531 section 9: the xid of a reply names its call, so replies may come in any order.
        true
    }

    fn parts_max(&self) -> u32 {
        self.parts_max
    }

    fn phases(&self) -> Phases {
        match self.asking.as_ref().map(|asking| asking.operation) {
            Some(Operation::Read) => {
                Phases { names: &["send_ns", "reply_ns", "body_ns"], marks: &[Mark::Sent, Mark::Head] }
            }
            Some(Operation::Write) => Phases { names: &["send_ns", "reply_ns"], marks: &[Mark::Sent] },
            Some(Operation::ReadFile) => {
                Phases { names: &["lookup_ns", "read_ns"], marks: &[Mark::Reply(0)] }
            }
            Some(Operation::WriteFile) => Phases {
                names: &["create_ns", "write_ns", "sync_ns", "rename_ns"],
                marks: &[Mark::Stage(MADE), Mark::Stage(WRITTEN), Mark::Stage(KEPT)],
            },
            Some(Operation::Names) => Phases {
                names: &["create_ns", "rename_ns", "remove_ns"],
                marks: &[Mark::Stage(MADE), Mark::Stage(RENAMED)],
            },
            _ => Phases { names: &[], marks: &[] },
        }
    }

    fn task(&mut self, op: Op) -> Result<Task, OpError> {
        let Some(asking) = &self.asking else { return Err(OpError::from_errno(libc::EINVAL)) };
        let handles = &asking.handles;
        let planned = |object: u32| handles.objects().bytes(object);
        match (op, asking.operation) {
            (Op::Read { object, offset, len }, Operation::Read | Operation::Write) => {
                Ok(Task::read(handles.file(object)?, offset, len))
            }
            (Op::ReadFile { object, bytes }, Operation::ReadFile) => {
                let file = FilePieces::new(bytes, asking.block_bytes);
                Ok(Task::read_file(handles.folder_of(object)?, object, file))
            }
            (Op::Stat { object }, Operation::Stat) => {
                Ok(Task::stat(handles.folder_of(object)?, object, planned(object)))
            }
            (Op::GetAttr { object }, Operation::GetAttr) => {
                Ok(Task::get_attributes(handles.file(object)?, planned(object)))
            }
            (Op::Write { object, offset, len }, Operation::Write) => {
                Ok(Task::write(handles.file(object)?, offset, len))
            }
            (Op::WriteFile { object, bytes }, Operation::WriteFile) => {
                let file = FilePieces::new(bytes, asking.block_bytes);
                self.begun += 1;
                let then = Then::Bytes { commits: asking.commits() };
                Ok(Task::make(handles.folder_of(object)?, object, file, self.begun, then))
            }
            (Op::Names { object }, Operation::Names) => {
                self.begun += 1;
                let file = FilePieces::new(0, asking.block_bytes);
                Ok(Task::make(handles.folder_of(object)?, object, file, self.begun, Then::Names))
            }
            (Op::List { folder }, Operation::List) => Ok(Task::list(handles.folder(folder)?)),
            _ => Err(OpError::from_errno(libc::EINVAL)),
        }
    }

    fn next(&mut self, task: &mut Task, id: u32, out: &mut Vec<u8>) -> Option<Message> {
        let step = task.step;
        if task.has_failed() && step != Step::Remove {
            return None;
        }
        match step {
            Step::Blocks => return self.send_blocks(task, id, out),
            Step::Pieces => return self.send_pieces(task, id, out),
            _ => {}
        }
        let (message, asked) = match step {
            Step::Lookup => {
                self.send_lookup(task, id, out);
                (Message::plain(0), Procedure::Lookup)
            }
            Step::GetAttributes => {
                self.calls.get_attributes(id, &task.handle, out);
                (Message::plain(0), Procedure::GetAttributes)
            }
            Step::Names => {
                let from = ListingFrom { cookie: task.names.cookie, verifier: task.names.verifier };
                // READDIR, not READDIRPLUS: a loader that lists a folder asks for names alone.
                self.calls.read_folder(id, &task.handle, from, self.sizes.listing_bytes, out);
                (Message::plain(0), Procedure::ReadFolder)
            }
            Step::Write => {
                let slot = task.slots[0];
                let offset = task.block.piece.offset + u64::from(slot.at);
                // A server may take less at once than a block: the rest follows, as of a WRITE that was taken in part.
                let len = slot.len.min(self.sizes.write_bytes);
                self.calls.write(id, &task.handle, (offset, len), self.durability(), out);
                let (start, count) = (slot.at as usize, len as usize);
                let payload = Some(Payload::Part(start..start + count));
                (Message { part: 0, payload, trailer: padding(count) }, Procedure::Write)
            }
            Step::Commit => {
                self.calls.commit(id, &task.handle, out);
                (Message::plain(0), Procedure::Commit)
            }
            Step::Create | Step::Rename | Step::Remove => (Message::plain(0), self.send_name(task, id, out)?),
            Step::Wait | Step::Blocks | Step::Pieces => return None,
        };
        task.slots[0].asked = Some(asked);
        task.step = Step::Wait;
        Some(message)
    }

    fn frame(&mut self, bytes: &[u8]) -> Frame {
        // Nothing longer was asked for. A longer record is a claim that nothing here can use.
        let most = self.sizes.read_bytes.max(self.sizes.listing_bytes) as usize + HEAD_BYTES_MAX;
        frame(bytes, most).unwrap_or_else(|what| {
            self.note(format_args!("{what}"));
            Frame::Broken(NONSENSE)
        })
    }

    fn head(&mut self, task: &mut Task, part: u32, bytes: &[u8]) -> Head {
        self.read_head(task, part, bytes).unwrap_or_else(|stop| self.stopped(stop))
    }

    fn text(&mut self, task: &mut Task, part: u32, bytes: &[u8]) -> Text {
        let names = &mut task.names;
        let there = &bytes[..bytes.len().min(names.left)];
        let mut used = 0;
        let what = loop {
            let mut reader = Reader::new(&there[used..]);
            match listing_item(&mut reader) {
                Ok(ListingItem::Entry { counts, cookie }) => {
                    names.entries += u64::from(counts);
                    names.in_page += 1;
                    names.cookie = cookie;
                }
                Ok(ListingItem::End { is_last }) => {
                    used += reader.position();
                    if used < names.left {
                        break "a listing that goes on behind its end";
                    }
                    if names.in_page == 0 && !is_last {
                        break "a listing that goes on without an entry";
                    }
                    names.is_last = is_last;
                    let most = self.asking.as_ref().map_or(u64::MAX, |asking| asking.handles.names_max());
                    if !is_last && names.is_endless(most) {
                        task.slots[part as usize].failed = Some(NONSENSE);
                        self.note(format_args!(
                            "READDIR: the listing of a folder comes back to where it was"
                        ));
                    }
                    return Text::Ended { used };
                }
                // A name may be cut by the end of a receive. What was read before it is done with, and the
                // rest comes again.
                Err(Unread::More(_)) if there.len() < names.left => {
                    names.left -= used;
                    return Text::More { used };
                }
                Err(Unread::More(_)) => break "a listing that ends too early",
                Err(Unread::Wrong(what)) => break what,
            }
            used += reader.position();
        };
        self.note(format_args!("{what}"));
        Text::Broken(NONSENSE)
    }

    fn ended(&mut self, task: &mut Task, part: u32) -> Reply {
        let slot = &mut task.slots[part as usize];
        let (asked, failed) = (slot.asked.take(), slot.failed.take());
        let outcome = match (failed, asked) {
            (failed, Some(Procedure::Remove)) => task.removed(failed),
            (Some(error), _) => task.fail(error),
            _ if task.has_failed() => task.fail(NONSENSE),
            (None, None) => task.fail(NONSENSE),
            (None, Some(Procedure::Lookup)) if task.step == Step::GetAttributes => Outcome::Goes,
            (None, Some(Procedure::Lookup | Procedure::GetAttributes)) => task.looked(),
            (None, Some(Procedure::ReadFolder)) => task.listed(),
            // What follows is known from its reply.
            (None, Some(Procedure::Create)) => Outcome::Goes,
            (None, Some(Procedure::Rename)) => task.renamed(),
            (None, Some(Procedure::Write)) if task.anew.is_none() => task.wrote(),
            (None, Some(Procedure::Commit)) => task.committed(),
            (None, Some(Procedure::Read | Procedure::Write)) => {
                let (outcome, short) = task.took(part);
                self.short_reads += u64::from(short);
                outcome
            }
        };
        if let Outcome::Ended(Err(error)) = outcome {
            self.note(format_args!("{}", error.kind));
        }
        Reply { outcome, fate: Fate::Keep, stage: task.stage.take() }
    }

    fn lost(&mut self, task: &mut Task, part: u32, error: OpError) -> Outcome {
        task.lost(part, error)
    }

    fn report(&self, report: &mut QueueReport) {
        if let Some(asking) = &self.asking {
            report.granted.extend([
                ("read_bytes_max", self.sizes.read_bytes.to_string()),
                ("handles_bytes", asking.handles.memory_bytes().to_string()),
            ]);
        }
        report.short_reads += self.short_reads;
        report.first_failure.clone_from(&self.first_failure);
    }
}
