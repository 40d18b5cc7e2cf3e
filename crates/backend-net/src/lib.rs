//! One non-blocking socket engine for the protocols of network storage.
//!
//! [`open`] makes an [`backend::IoQueue`] of a [`Protocol`] and the addresses of its server. The engine owns
//! connections, buffers, stamps and time-outs; the protocol writes requests and recognises replies, and touches no
//! socket. Bodies go from the socket straight into the buffer of the operation that asked for them.

#[cfg(test)]
extern crate self as backend_net;

mod conn;
mod dial;
mod drive;
pub mod fuzzing;
mod interface;
#[cfg(test)]
#[path = "../tests/it/line.rs"]
#[expect(dead_code, reason = "shared with the integration tests")]
mod line;
mod link;
mod ops;
mod outbox;
mod protocol;
mod queue;
mod readiness;
mod refuse;
mod settings;
mod trail;
mod transport;
mod wire;

pub use dial::explain_tls;
pub use interface::{interface_to, is_local};
pub use protocol::{
    Fate, Frame, Head, Mark, Message, Outcome, Payload, Phases, Place, Protocol, Reply, Text,
};
pub use queue::open;
pub use refuse::{refuse_on_objects, refuse_page_cache};
pub use settings::{Settings, SourcePort, Tls};
pub use trail::Trail;
pub use wire::Wire;
