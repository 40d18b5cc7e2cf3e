//! The engine `lean`: HTTP/1.1 without a client library, over [`backend_net`].
//!
//! A request is some 400 bytes that a [`Dialect`] puts together in a few buffers; a reply's head is read by `httparse`, and
//! its body goes from the socket into the operation's buffer. The body of a PUT goes from there to the socket.

use backend::{ErrorKind, FilePieces, Op, OpError, QueueReport};
use backend_net::{
    Fate, Frame, Head, Mark, Message, Outcome, Payload, Phases, Place, Protocol, Reply, Text, Trail,
};
use dataset::Key;
use plan::Operation;

use crate::asking::Asking;
use crate::dialect::Dialect;
use crate::framing::{Framing, Malformed};
use crate::kind::plain;
use crate::ranges::ByteRange;
use crate::reply::{self, Parsed, ReplyHead};
use crate::scan::Scan;
use crate::task::{Cut, PartRequest, Task};
use crate::text::{fnv, one_line};

/// A body that nobody wants is read to its end up to this size; beyond it a new connection is cheaper.
// A new connection costs a round trip, with TLS two or three.
const DRAINED_BYTES_MAX: u64 = 64 << 10;

/// A service of objects as the shared socket engine drives it; at most `PARTS` requests of one operation at once.
#[derive(Debug)]
pub struct Lean<D, const PARTS: usize> {
    asking: Asking,
    folders: Vec<Option<Key>>,
    cut: Cut,
    dialect: D,
    /// Keys after which a listing is given up.
    keys_max: u64,
    failure: Option<String>,
    /// Scans that have their memory already.
    spare: Vec<Scan>,
}

impl<D: Dialect, const PARTS: usize> Lean<D, PARTS> {
    /// What a queue asks, in the words of a service.
    pub fn new(asking: Asking, dialect: D) -> Self {
        let (folders, keys_max) = (asking.folders(), asking.keys_max());
        let cut = Cut { part_bytes: asking.part_bytes, block_bytes: asking.block_bytes };
        Self { asking, folders, cut, dialect, keys_max, failure: None, spare: Vec::new() }
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        if self.failure.is_none() {
            self.failure = Some(one_line(&self.dialect.scrub(&text())));
        }
    }

    /// Gives up a reply and its connection.
    fn broken(&mut self, task: &mut Task<PARTS>, error: OpError, reason: &str) -> Head {
        self.note(|| format!("the reply cannot be used: {reason}"));
        task.fail(error);
        Head::Broken(error)
    }

    /// Takes a successful reply to a HEAD.
    fn looked(&mut self, task: &mut Task<PARTS>, head: &ReplyHead<'_>) -> Head {
        let (object, bytes) = match task.op {
            Op::ReadFile { object, bytes } => (object, bytes),
            Op::Stat { object } => (object, self.asking.objects.bytes(object)),
            _ => return self.broken(task, plain(ErrorKind::Protocol), "nobody asked for a size"),
        };
        if head.length != Some(bytes) || !self.asking.etags.agrees(object, head.etag) {
            task.fail(error::<D>(412, ""));
        }
        nothing(head.bytes)
    }

    /// Takes a successful reply to a GET without a range.
    fn whole(&mut self, task: &mut Task<PARTS>, head: &ReplyHead<'_>) -> Head {
        let Op::ReadFile { object, bytes } = task.op else {
            return self.broken(task, plain(ErrorKind::Protocol), "nobody asked for a whole object");
        };
        let Some(length) = head.length else {
            return self.broken(task, plain(ErrorKind::Protocol), "it does not say how long the object is");
        };
        if length != bytes || !self.asking.etags.agrees(object, head.etag) {
            let error = plain(ErrorKind::Changed);
            if length > DRAINED_BYTES_MAX {
                return self.broken(task, error, "the object was replaced");
            }
            task.fail(error);
        }
        let place = Place { at: 0, wrap: self.asking.block_bytes.max(1) as usize };
        Head::Data { head_bytes: head.bytes, body_bytes: length, place, trailer_bytes: 0 }
    }

    /// Takes a successful reply to a GET of a range.
    fn range(&mut self, task: &mut Task<PARTS>, head: &ReplyHead<'_>, asked: ByteRange) -> Head {
        let protocol = plain(ErrorKind::Protocol);
        let Some(length) = head.length else {
            return self.broken(task, protocol, "it does not say how long its body is");
        };
        let is_whole = head.status == 200;
        if let Err(reason) = asked.check(length, is_whole, head.range) {
            return self.broken(task, protocol, reason);
        }
        let (object, place) = match task.op {
            Op::ReadFile { object, bytes } => {
                let total = head.range.filter(|_| !is_whole).and_then(|found| found.total);
                if length != asked.len || total.is_some_and(|total| total != bytes) {
                    task.fail(plain(ErrorKind::Changed));
                }
                (object, self.cut.place(asked.offset, bytes))
            }
            Op::Read { object, .. } => {
                if length != asked.len {
                    task.fail(plain(ErrorKind::Eof));
                }
                (object, Place { at: 0, wrap: (asked.len as usize).max(1) })
            }
            _ => return self.broken(task, protocol, "nobody asked for bytes"),
        };
        if !self.asking.etags.agrees(object, head.etag) {
            task.fail(plain(ErrorKind::Changed));
        }
        Head::Data { head_bytes: head.bytes, body_bytes: length, place, trailer_bytes: 0 }
    }

    /// Takes a successful reply to a PUT.
    fn stored(&mut self, task: &mut Task<PARTS>, part: u32, head: &ReplyHead<'_>) -> Head {
        match head.length {
            Some(0) => nothing(head.bytes),
            // RFC 9112, section 6.3: it then goes on to the end of the connection, which need not be waited for.
            None if !head.chunked => {
                task.parts[part as usize].close = true;
                nothing(head.bytes)
            }
            // No service says anything here; what one says is read past.
            _ => self.textual(task, part, head),
        }
    }

    /// Takes a reply whose body is text: a page of a listing, or an error.
    fn textual(&mut self, task: &mut Task<PARTS>, part: u32, head: &ReplyHead<'_>) -> Head {
        let failed = head.status != 200;
        if let (true, Some(region)) = (failed, head.region) {
            self.note(|| format!("{} (the bucket is in the region {region})", head.status));
        }
        let framing = match head.length {
            _ if head.chunked => Framing::ChunkLength,
            Some(length) if length > 0 => Framing::Length(length),
            Some(_) => {
                self.ended_without_text(task, head);
                return nothing(head.bytes);
            }
            None => {
                let error = error::<D>(head.status, "");
                return self.broken(task, error, &format!("status {}, and its text has no end", head.status));
            }
        };
        task.parts[part as usize].framing = framing;
        task.parts[part as usize].text = true;
        if task.scanning.is_none() {
            task.scanning = Some(part);
            let scan = task
                .scan
                .get_or_insert_with(|| Box::new(self.spare.pop().unwrap_or_else(|| Scan::new(D::ELEMENTS))));
            // Of several errors at once one text is enough; the others are read and not looked at.
            scan.next_page();
            scan.forget_token();
        }
        Head::Text { head_bytes: head.bytes }
    }

    fn ended_without_text(&mut self, task: &mut Task<PARTS>, head: &ReplyHead<'_>) {
        let (status, code) = (head.status, head.code.unwrap_or_default());
        let error = error::<D>(status, code);
        self.note(|| match code {
            "" => format!("status {status} without a text"),
            code => format!("{status} {code}"),
        });
        task.fail(error);
    }

    /// Fails an operation by the text of an error, which has ended.
    fn error_text(&mut self, task: &mut Task<PARTS>, part: u32, status: u16) {
        let scanned = task.scanning == Some(part);
        let scan = task.scan.as_deref().filter(|_| scanned);
        let code = scan.map_or("", Scan::code);
        let mut error = error::<D>(status, code);
        // A range behind the end of an object of a known size: the object is not the planned one.
        if error.kind == ErrorKind::Eof && matches!(task.op, Op::ReadFile { .. }) {
            error.kind = ErrorKind::Changed;
        }
        let text = || match (code, scan.map(Scan::message)) {
            ("", _) => format!("status {status}; its text is not an answer of {}", D::SERVICE),
            (code, Some(message)) if !message.is_empty() => format!("{status} {code}: {message}"),
            (code, _) => format!("{status} {code}"),
        };
        let advice = || scan.and_then(|scan| D::advice(code, &scan.endpoint()));
        self.note(|| advice().map_or_else(text, |advice| format!("{}; {advice}", text())));
        task.fail(error);
    }

    /// Takes the end of a page of a listing.
    fn page(&mut self, task: &mut Task<PARTS>) {
        let Some(scan) = task.scan.as_deref().filter(|scan| scan.is_listing()) else {
            self.note(|| format!("the endpoint does not answer with a listing: it is not {}", D::SERVICE));
            task.fail(plain(ErrorKind::Protocol));
            return;
        };
        match scan.goes_on_at() {
            Ok(Some(token))
                if scan.entries() <= self.keys_max && task.trail.goes_on(fnv(token.as_bytes())) =>
            {
                task.token = Some(token);
            }
            // A server that gives the same tokens in turn would be asked for ever.
            Ok(Some(_)) => {
                self.note(|| "a listing does not come to an end".to_owned());
                task.fail(plain(ErrorKind::Protocol));
            }
            Ok(None) => {
                (task.token, task.trail) = (None, Trail::default());
                task.root += 1;
            }
            Err(()) => {
                self.note(|| {
                    "a page of a listing should be followed by another and does not say where".to_owned()
                });
                task.fail(plain(ErrorKind::Protocol));
            }
        }
    }

    /// What follows for an operation when one of its messages has ended.
    fn outcome(&mut self, task: &mut Task<PARTS>) -> Outcome {
        if task.under_way > 0 {
            return Outcome::Goes;
        }
        if let Some(error) = task.failed {
            self.reclaim(task);
            return Outcome::Ended(Err(error));
        }
        let result = match task.op {
            Op::List { .. } if task.root < self.asking.roots => return Outcome::Goes,
            Op::List { .. } => match task.scan.as_deref().map_or(0, Scan::entries) {
                // There are no folders in a bucket: one without entries is one that is not there.
                0 => Err(error::<D>(404, "")),
                entries => Ok(entries),
            },
            Op::ReadFile { bytes, .. } if task.is_answered(bytes) => Ok(bytes),
            Op::ReadFile { .. } => return Outcome::Goes,
            Op::Read { len, .. } => Ok(u64::from(len)),
            Op::Stat { .. } | Op::GetAttr { .. } => Ok(0),
            Op::WriteFile { bytes, .. } => Ok(bytes),
            Op::Write { .. } | Op::Names { .. } => Err(OpError::from_errno(libc::EINVAL)),
        };
        self.reclaim(task);
        Outcome::Ended(result)
    }

    fn reclaim(&mut self, task: &mut Task<PARTS>) {
        // Kept with the memory that it has, so that listings allocate nothing once a few are under way.
        if let Some(mut scan) = task.scan.take() {
            scan.reset();
            self.spare.push(*scan);
        }
    }
}

/// A failure by its status and code.
fn error<D: Dialect>(status: u16, code: &str) -> OpError {
    OpError { kind: D::kind(status, code), code: u32::from(status) }
}

/// A reply without a body.
fn nothing(head_bytes: usize) -> Head {
    Head::Data { head_bytes, body_bytes: 0, place: Place { at: 0, wrap: 1 }, trailer_bytes: 0 }
}

impl<D: Dialect, const PARTS: usize> Protocol for Lean<D, PARTS> {
    type Task = Task<PARTS>;

    fn name(&self) -> &'static str {
        "lean"
    }

    fn pipelines(&self) -> bool {
        false
    }

    fn parts_max(&self) -> u32 {
        PARTS as u32
    }

    fn phases(&self) -> Phases {
        if self.asking.operation.reads_bytes() {
            Phases {
                names: &["send_ns", "headers_ns", "first_byte_ns", "body_ns"],
                marks: &[Mark::Sent, Mark::Head, Mark::FirstByte],
            }
        } else if self.asking.operation == Operation::WriteFile {
            Phases { names: &["send_ns", "reply_ns"], marks: &[Mark::Sent] }
        } else {
            Phases { names: &[], marks: &[] }
        }
    }

    fn task(&mut self, op: Op) -> Result<Self::Task, OpError> {
        self.asking.check(op, self.folders.len())?;
        Ok(Task::new(op, self.asking.head && self.asking.operation == Operation::ReadFile))
    }

    fn next(&mut self, task: &mut Self::Task, _id: u32, out: &mut Vec<u8>) -> Option<Message> {
        let (part, asked) = task.next(self.cut)?;
        match (task.op, asked) {
            (Op::List { folder }, _) => {
                let folder = self.folders[folder as usize].as_ref();
                self.dialect.list(folder, task.root, task.token.as_deref(), out);
            }
            (Op::Stat { object } | Op::GetAttr { object }, _)
            | (Op::ReadFile { object, .. }, PartRequest::Head) => {
                self.dialect.head(object, out);
            }
            (Op::Read { object, .. } | Op::ReadFile { object, .. }, PartRequest::Range(range)) => {
                self.dialect.get(object, Some(range), out);
            }
            (Op::Read { object, .. } | Op::ReadFile { object, .. }, _) => self.dialect.get(object, None, out),
            (Op::WriteFile { object, bytes }, _) => {
                self.dialect.put(object, bytes, out);
                let pieces = FilePieces::new(bytes, self.asking.block_bytes);
                let payload = (bytes > 0).then_some(Payload::Object(pieces));
                return Some(Message { payload, ..Message::plain(part) });
            }
            (Op::Write { .. } | Op::Names { .. }, _) => return None,
        }
        Some(Message::plain(part))
    }

    fn frame(&mut self, bytes: &[u8]) -> Frame {
        // Enough to tell HTTP from the greetings of other services.
        const BEGINS: &[u8] = b"HTTP/1.";
        let known = bytes.len().min(BEGINS.len());
        if bytes[..known] != BEGINS[..known] {
            self.note(|| "the endpoint does not speak HTTP/1.1".to_owned());
            return Frame::Broken(plain(ErrorKind::Protocol));
        }
        if known < BEGINS.len() { Frame::Need(BEGINS.len()) } else { Frame::Reply { id: None } }
    }

    fn head(&mut self, task: &mut Self::Task, part: u32, bytes: &[u8]) -> Head {
        let head = match reply::parse(bytes) {
            Parsed::Need(bytes) => return Head::Need(bytes),
            Parsed::Broken(reason) => return self.broken(task, plain(ErrorKind::Protocol), reason),
            Parsed::Head(head) => head,
        };
        let state = &mut task.parts[part as usize];
        (state.status, state.close) = (head.status, head.close);
        let asked = state.asked;
        match (asked, head.status) {
            // RFC 9110, section 9.3.2: whatever the fields of a reply to HEAD say, no body follows.
            (PartRequest::Head, 200) => self.looked(task, &head),
            // Data in chunks would have to be copied out of them. Services say how long an object is.
            (PartRequest::Whole | PartRequest::Range(_), 200 | 206) if head.chunked => {
                self.broken(task, plain(ErrorKind::Protocol), "its data come in chunks")
            }
            // Azure answers 201 (Created).
            (PartRequest::Put, 200 | 201) => self.stored(task, part, &head),
            (PartRequest::Whole, 200) => self.whole(task, &head),
            (PartRequest::Whole, 206) => {
                self.broken(task, plain(ErrorKind::Protocol), "a part came where all was asked")
            }
            (PartRequest::Range(range), 200 | 206) => self.range(task, &head, range),
            (PartRequest::Nothing, _) => {
                self.broken(task, plain(ErrorKind::Protocol), "nobody asked for anything")
            }
            (PartRequest::Head, _) | (_, 204 | 304) => {
                self.ended_without_text(task, &head);
                nothing(head.bytes)
            }
            _ => self.textual(task, part, &head),
        }
    }

    fn text(&mut self, task: &mut Self::Task, part: u32, bytes: &[u8]) -> Text {
        let wanted = task.scanning == Some(part);
        let mut framing = task.parts[part as usize].framing;
        let mut scan = task.scan.take();
        let used = framing.take(bytes, |text| {
            if let (true, Some(scan)) = (wanted, scan.as_deref_mut()) {
                scan.push(text);
            }
        });
        task.scan = scan;
        task.parts[part as usize].framing = framing;
        match used {
            Ok(used) if framing == Framing::Ended => Text::Ended { used },
            Ok(used) => Text::More { used },
            Err(Malformed) => {
                self.note(|| "the chunks of a reply make no sense".to_owned());
                let error = plain(ErrorKind::Protocol);
                task.fail(error);
                Text::Broken(error)
            }
        }
    }

    fn ended(&mut self, task: &mut Self::Task, part: u32) -> Reply {
        let state = task.parts[part as usize];
        let fate = if state.close { Fate::Close } else { Fate::Keep };
        if task.failed.is_none() {
            match (state.asked, state.status) {
                (PartRequest::Page, 200) => self.page(task),
                (PartRequest::Put, 200 | 201) => {}
                (_, status) if state.text => self.error_text(task, part, status),
                _ => {}
            }
        }
        task.free(part);
        Reply { outcome: self.outcome(task), fate, stage: None }
    }

    fn lost(&mut self, task: &mut Self::Task, part: u32, error: OpError) -> Outcome {
        task.fail(error);
        task.free(part);
        self.outcome(task)
    }

    fn report(&self, report: &mut QueueReport) {
        report.first_failure.clone_from(&self.failure);
    }
}
