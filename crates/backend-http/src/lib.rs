//! Reading objects over HTTP/1.1: what stores of objects share.
//!
//! [`open()`] makes a queue of the engine `lean` over [`backend_net`]: HTTP/1.1 without a client library. What a service's
//! requests look like and what it calls its failures is a [`Dialect`]; everything else (framing, ranges, parts of large
//! objects, listings page by page, objects that are replaced) is here, once. So are endpoints, certificates and the steps by
//! which an endpoint is found out to answer.

mod asking;
mod connect;
mod dialect;
mod encode;
mod etags;
mod failure;
mod framing;
pub mod fuzzing;
mod kind;
mod lean;
mod open;
mod origin;
mod ranges;
mod reply;
mod scan;
mod task;
mod text;
mod trust;
mod wall;

pub use asking::{Asking, PARTS_MAX};
pub use connect::{CONNECT_TIMEOUT, reach, read_ca, tls};
pub use dialect::Dialect;
pub use encode::{decoded, push_hex, push_number, push_path, push_query};
pub use etags::{Etags, Seen};
pub use failure::{failure_text, object_error};
pub use framing::{Framing, Malformed};
pub use kind::{kind_of_status, plain};
pub use lean::Lean;
pub use open::{REPLY_TIMEOUT, Way, connections, open};
pub use origin::{Origin, Url};
pub use ranges::{ByteRange, ContentRange, content_range};
pub use reply::{Parsed, ReplyHead, parse};
pub use scan::{Elements, Scan};
pub use task::Task;
pub use text::{fnv, hidden, one_line};
pub use trust::{Roots, Trust};
pub use wall::{Wall, date, now};
