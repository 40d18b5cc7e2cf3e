//! A small protocol of requests and replies, for tests.
//!
//! A request is a line: number, kind, object, offset, bytes; a write has its bytes and a full stop behind it. A reply
//! is a line and a body: `ID D BYTES` with bytes and a full stop behind them, or `ID E CODE` with text up to a NUL.

use std::fmt::Write as _;

use backend::{ErrorKind, Op, OpError};
use backend_net::{Fate, Frame, Head, Mark, Message, Outcome, Payload, Phases, Place, Protocol, Reply, Text};

/// Messages of one operation that are under way at once, at most.
const AT_ONCE_MAX: usize = 16;

/// The code of an error that asks for the connection to be closed.
pub(crate) const CLOSE: u32 = 77;

pub(crate) struct Line {
    /// Replies carry numbers, and come in any order.
    pub(crate) pipelines: bool,
    /// Messages that a read is split into.
    pub(crate) parts: u32,
    /// Messages of one operation that may be under way at once, at most [`AT_ONCE_MAX`]; the others follow.
    pub(crate) at_once: u32,
    /// Requests carry the bytes, and replies none.
    pub(crate) writes: bool,
    pub(crate) text_bytes: usize,
    written: String,
    /// Bodies stream through so many bytes of the buffer.
    pub(crate) wrap: Option<usize>,
}

impl Line {
    pub(crate) fn new(pipelines: bool) -> Self {
        let written = String::new();
        Self { pipelines, parts: 1, at_once: 1, writes: false, text_bytes: 0, written, wrap: None }
    }

    pub(crate) fn in_parts(pipelines: bool, parts: u32) -> Self {
        Self { parts, at_once: parts, ..Self::new(pipelines) }
    }

    /// As [`Line::in_parts`], but only so many of them under way at once.
    pub(crate) fn in_turns(pipelines: bool, parts: u32, at_once: u32) -> Self {
        Self { at_once, ..Self::in_parts(pipelines, parts) }
    }

    pub(crate) fn writing(pipelines: bool) -> Self {
        Self { writes: true, ..Self::new(pipelines) }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    pub(crate) object: u32,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    next: u32,
    ended: u32,
    code: u32,
    /// Which of its parts each message under way brings.
    asked: [Option<u32>; AT_ONCE_MAX],
}

impl Task {
    pub(crate) fn read(object: u32, offset: u64, len: u32) -> Self {
        Self { object, offset, len, next: 0, ended: 0, code: 0, asked: [None; AT_ONCE_MAX] }
    }
}

fn broken() -> OpError {
    OpError { kind: ErrorKind::Protocol, code: 1 }
}

/// The kind of error that a code of the server stands for.
fn kind_of(code: u32) -> ErrorKind {
    match code {
        1 => ErrorKind::Eof,
        2 => ErrorKind::Throttled,
        _ => ErrorKind::Server,
    }
}

impl Line {
    fn part_bytes(&self, task: &Task) -> u32 {
        task.len.div_ceil(self.parts)
    }
}

impl Protocol for Line {
    type Task = Task;

    fn name(&self) -> &'static str {
        "line"
    }

    fn pipelines(&self) -> bool {
        self.pipelines
    }

    fn parts_max(&self) -> u32 {
        self.at_once
    }

    fn phases(&self) -> Phases {
        Phases {
            names: &["send_ns", "headers_ns", "first_byte_ns", "body_ns"],
            marks: &[Mark::Sent, Mark::Head, Mark::FirstByte],
        }
    }

    fn task(&mut self, op: Op) -> Result<Task, OpError> {
        match op {
            Op::Read { object, offset, len } => Ok(Task::read(object, offset, len)),
            _ => Err(OpError::from_errno(95)),
        }
    }

    fn next(&mut self, task: &mut Task, id: u32, out: &mut Vec<u8>) -> Option<Message> {
        if task.next == self.parts {
            return None;
        }
        let part = task.asked[..self.at_once as usize].iter().position(Option::is_none)?;
        task.asked[part] = Some(task.next);
        let at = task.next * self.part_bytes(task);
        task.next += 1;
        let part = part as u32;
        let len = self.part_bytes(task).min(task.len - at);
        self.written.clear();
        let kind = if self.writes { 'W' } else { 'R' };
        let (object, offset) = (task.object, task.offset + u64::from(at));
        writeln!(self.written, "{id:08x} {kind} {object} {offset} {len}").unwrap();
        out.extend_from_slice(self.written.as_bytes());
        let range = at as usize..(at + len) as usize;
        Some(if self.writes {
            Message { part, payload: Some(Payload::Part(range)), trailer: b"." }
        } else {
            Message::plain(part)
        })
    }

    fn frame(&mut self, bytes: &[u8]) -> Frame {
        if !self.pipelines {
            return Frame::Reply { id: None };
        }
        let Some(digits) = bytes.get(..8) else { return Frame::Need(8) };
        let id = std::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok());
        id.map_or(Frame::Broken(broken()), |id| Frame::Reply { id: Some(id) })
    }

    fn head(&mut self, task: &mut Task, part: u32, bytes: &[u8]) -> Head {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            return Head::Need(bytes.len() + 1);
        };
        let line = std::str::from_utf8(&bytes[..end]).unwrap_or("");
        let mut words = line.split(' ').skip(1);
        let (kind, number) = (words.next(), words.next().and_then(|number| number.parse::<u64>().ok()));
        let head_bytes = end + 1;
        match (kind, number) {
            (Some("D"), Some(body_bytes)) => {
                let asked = task.asked[part as usize].expect("a reply to what was asked");
                let at = (asked * self.part_bytes(task)) as usize;
                let wrap = at.saturating_add(usize::try_from(body_bytes).unwrap_or(usize::MAX)).max(at + 1);
                let wrap = self.wrap.unwrap_or(wrap);
                Head::Data { head_bytes, body_bytes, place: Place { at, wrap }, trailer_bytes: 1 }
            }
            (Some("E"), Some(code)) => {
                task.code = (code as u32).max(1);
                Head::Text { head_bytes }
            }
            _ => Head::Broken(broken()),
        }
    }

    fn text(&mut self, _: &mut Task, _: u32, bytes: &[u8]) -> Text {
        let end = bytes.iter().position(|byte| *byte == 0);
        self.text_bytes += end.unwrap_or(bytes.len());
        end.map_or(Text::More { used: bytes.len() }, |end| Text::Ended { used: end + 1 })
    }

    fn ended(&mut self, task: &mut Task, part: u32) -> Reply {
        task.asked[part as usize] = None;
        task.ended += 1;
        let fate = if task.code == CLOSE { Fate::Close } else { Fate::Keep };
        let outcome = if task.code > 0 {
            Outcome::Ended(Err(OpError { kind: kind_of(task.code), code: task.code }))
        } else if task.ended == self.parts {
            Outcome::Ended(Ok(u64::from(task.len)))
        } else {
            Outcome::Goes
        };
        Reply { outcome, fate, stage: None }
    }
}

/// A request as a server reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) id: u32,
    pub(crate) writes: bool,
    pub(crate) object: u32,
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

impl Asked {
    pub(crate) fn parse(line: &str) -> Self {
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        Self {
            id: u32::from_str_radix(words[0], 16).unwrap(),
            writes: words[1] == "W",
            object: words[2].parse().unwrap(),
            offset: words[3].parse().unwrap(),
            len: words[4].parse().unwrap(),
        }
    }

    /// A reply with `body`.
    pub(crate) fn data(&self, body: &[u8]) -> Vec<u8> {
        let mut reply = format!("{:08x} D {}\n", self.id, body.len()).into_bytes();
        reply.extend_from_slice(body);
        reply.push(b'.');
        reply
    }

    /// The reply that was asked for, of the content of dataset `seed`.
    pub(crate) fn right(&self, seed: u64) -> Vec<u8> {
        let mut body = vec![0; self.len as usize];
        dataset::payload::fill(seed, self.object, self.offset, &mut body);
        self.data(&body)
    }

    pub(crate) fn error(&self, code: u32, text: &str) -> Vec<u8> {
        format!("{:08x} E {code}\n{text}\0", self.id).into_bytes()
    }
}
