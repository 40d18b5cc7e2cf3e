//! The seam between the engine and a protocol: no sockets, no buffers, no time.

use std::ops::Range;

use backend::{FilePieces, Op, OpError, QueueReport};

/// A protocol of requests and replies over a stream.
///
/// An operation is a task of one or more messages. For each, the engine asks [`Protocol::next`] for a message, sends
/// it, finds the reply to it by [`Protocol::frame`], has its head read by [`Protocol::head`], moves its body, and
/// tells [`Protocol::ended`], until the task has ended.
pub trait Protocol {
    /// The state of an operation under way. Made once for each operation, so it should not allocate.
    type Task;

    /// The engine's name, for errors.
    fn name(&self) -> &'static str;

    /// Whether several messages may be under way on one connection, their replies in any order. Otherwise a connection
    /// has one message at a time, and its reply is the next.
    fn pipelines(&self) -> bool;

    /// Messages of one operation that may be under way at once, at most.
    fn parts_max(&self) -> u32;

    /// The phases of an operation.
    fn phases(&self) -> Phases;

    /// Begins an operation; an error ends it without a message.
    fn task(&mut self, op: Op) -> Result<Self::Task, OpError>;

    /// Appends the next message of a task to `out`; `None` when nothing more can be sent before a reply has ended (an
    /// operation that has none under way then ends as [`backend::ErrorKind::Protocol`]: it would stay for ever). The
    /// reply to it carries `id`, where the protocol has such numbers: none is used twice on a connection.
    fn next(&mut self, task: &mut Self::Task, id: u32, out: &mut Vec<u8>) -> Option<Message>;

    /// Whose reply begins with `bytes`, the first that are unread on a connection.
    // Apart from `head`, because only the frame says whose task the head is read for.
    fn frame(&mut self, bytes: &[u8]) -> Frame;

    /// Reads the head of the reply to message `part` of `task` from `bytes`, which begin where [`Protocol::frame`]'s
    /// did.
    fn head(&mut self, task: &mut Self::Task, part: u32, bytes: &[u8]) -> Head;

    /// Takes a body that is not data, in the pieces in which it comes (a listing, the text of an error). `bytes` begin
    /// with what was left of the call before. The first call follows the head at once, with no bytes if none have
    /// come; there is another while some were used and some are left, and then one whenever more have come.
    fn text(&mut self, task: &mut Self::Task, part: u32, bytes: &[u8]) -> Text;

    /// The reply to message `part` was read to its end.
    fn ended(&mut self, task: &mut Self::Task, part: u32) -> Reply;

    /// Message `part` was lost with its connection, or got no reply in time.
    fn lost(&mut self, task: &mut Self::Task, part: u32, error: OpError) -> Outcome {
        let _ = (task, part);
        Outcome::Ended(Err(error))
    }

    /// Adds what was granted and counted beside the engine's own figures, and the first failure as the server put it.
    /// Never holds a secret.
    fn report(&self, report: &mut QueueReport) {
        let _ = report;
    }
}

/// The phases of an operation, in order; there is one name more than there are marks, as the last ends with the
/// operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases {
    /// Names, as [`backend::IoQueue::phases`] gives them.
    pub names: &'static [&'static str],
    /// What ends each but the last, at most [`backend::PHASE_STAMPS`].
    pub marks: &'static [Mark],
}

/// An event in the life of an operation. One that is passed over (a reply without a body) counts together with the
/// next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Its first message was handed to the kernel in full.
    Sent,
    /// The head of the first reply was read.
    Head,
    /// The first byte of a body was in the buffer.
    FirstByte,
    /// The reply to the message of this number, counted from 0, was read in full.
    Reply(u32),
    /// A reply was read that ended this stage of the operation ([`Reply::stage`]).
    Stage(u32),
}

/// A message that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Number among those of the task that are under way, below [`Protocol::parts_max`].
    pub part: u32,
    /// Bytes that follow what was written.
    pub payload: Option<Payload>,
    /// Bytes that end the message after its payload (padding).
    pub trailer: &'static [u8],
}

impl Message {
    /// A message without payload.
    pub fn plain(part: u32) -> Self {
        Self { part, payload: None, trailer: &[] }
    }
}

/// Bytes of the operation's buffer that are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// These.
    Part(Range<usize>),
    /// These, of a piece of a whole object. Its number is written when its first bytes are sent ([`FilePieces::number`]).
    PieceOf {
        /// The object.
        pieces: FilePieces,
        /// Which of its pieces is in the buffer.
        number: u64,
        /// Bytes of the buffer.
        part: Range<usize>,
    },
    /// A whole object, piece by piece from the start of the buffer, each with its number ([`FilePieces::number`]). No piece is larger
    /// than the buffer.
    Object(FilePieces),
}

/// What the first unread bytes of a connection begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Too few to tell; ask again when there are this many.
    Need(usize),
    /// A reply. `id` is that of the message it answers, `None` where replies come in the order of messages.
    Reply {
        /// As given to [`Protocol::next`]; a protocol that pipelines always has it.
        id: Option<u32>,
    },
    /// Not of this protocol: the connection is given up.
    Broken(OpError),
}

/// What a reply begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// Too few bytes to tell; ask again when there are this many.
    Need(usize),
    /// A head of `head_bytes`, then `body_bytes` of data for the buffer, then `trailer_bytes` that mean nothing.
    Data {
        /// Bytes of the head.
        head_bytes: usize,
        /// Bytes of data. More than were asked for are the protocol's to find: the engine gives a connection up whose
        /// place is not inside the buffer, but a body that is longer than its place wraps round in it.
        body_bytes: u64,
        /// Where they go.
        place: Place,
        /// Bytes behind them.
        trailer_bytes: u32,
    },
    /// A head of `head_bytes`, then a body that [`Protocol::text`] takes.
    Text {
        /// Bytes of the head.
        head_bytes: usize,
    },
    /// A reply that cannot be read on: the connection is given up.
    Broken(OpError),
}

/// Where the bytes of a body go in the operation's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Offset of the first.
    pub at: usize,
    /// The buffer is filled from its start again whenever this many bytes of it are full: how an object larger than
    /// its buffer streams through it. `at` lies below it, and it is at most the buffer's size.
    pub wrap: usize,
}

/// What a protocol did with a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// `used` bytes are done with; more text follows.
    More {
        /// Bytes.
        used: usize,
    },
    /// `used` bytes are done with, and they were the last of this reply.
    Ended {
        /// Bytes.
        used: usize,
    },
    /// It cannot be read on: the connection is given up.
    Broken(OpError),
}

/// What follows from a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// For the operation.
    pub outcome: Outcome,
    /// For the connection.
    pub fate: Fate,
    /// The stage of the operation that it ended, for phases of more than one message.
    pub stage: Option<u32>,
}

/// What follows for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on: [`Protocol::next`] has more, or other replies are awaited.
    Goes,
    /// It has ended, as [`backend::Completion::result`] has it. It is returned when no other message of it is under
    /// way.
    Ended(Result<u64, OpError>),
}

/// What follows for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It takes more messages.
    Keep,
    /// It is closed and made anew: the server said so, or what follows on it is not known.
    Close,
}
