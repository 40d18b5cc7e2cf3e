//! Bytes delivered beside those on the wire and those of the interface.

use record::{Cell, Rep, counter};

use crate::cell::counters::counted;
use crate::cell::counters::sum;
use crate::cell::flag::TURNS_MIN;
use crate::cell::operation;

// Headers of HTTP or RPC and of TLS are about 1 % of a read of 64 KiB, those of packets 2 to 6 %.
/// How far the counts of bytes may be apart and still agree.
const APART_MAX: f64 = 0.10;

/// Loopback carries both directions in either count, and whatever else the machine says to itself.
pub(crate) const LOOPBACK: &str = "lo";

/// What accompanies the data of one message at most where headers explain what was received beyond the data: an S3
/// reply has some 600 B of headers, an NFS reply 128 B, and TLS adds 22 B to each 16 KiB.
const HEADER_BYTES_MAX: f64 = 2_000.0;

/// Bytes of data beside all that was received for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wire {
    /// Bytes of operations that ended well, warm-up included and those that were waited for at the end.
    pub delivered_bytes: u64,
    /// Bytes that sockets carried in the same span the way that data went: those that came, of writes those that left, of a mix
    /// both.
    pub carried_bytes: u64,
    /// Bytes given to sockets.
    pub sent_bytes: u64,
    /// Bytes of data received for operations that did not end well.
    pub wasted_bytes: u64,
    /// Messages sent.
    pub messages: u64,
    /// Bytes that the interface carried the same way by byte of data in the windows; absent where it was not read, on loopback, and
    /// where all windows had fewer than 20 turns of their queue.
    pub interface_per_byte: Option<f64>,
}

impl Wire {
    pub(crate) fn of(cell: &Cell, used: &[&Rep]) -> Option<Self> {
        let received_bytes = sum(used, counter::WIRE_RECEIVED_BYTES);
        // Engines whose sockets are not ours count none.
        let sent_bytes = sum(used, counter::WIRE_SENT_BYTES);
        (received_bytes > 0).then(|| Self {
            delivered_bytes: sum(used, counter::DELIVERED_BYTES),
            carried_bytes: carried(cell, received_bytes, sent_bytes),
            sent_bytes,
            wasted_bytes: sum(used, counter::WASTED_BYTES),
            messages: sum(used, counter::MESSAGES),
            interface_per_byte: interface_per_byte(cell, used),
        })
    }

    /// Bytes on the wire by byte delivered in the same span; absent where nothing was (names).
    pub fn per_byte(&self) -> Option<f64> {
        (self.delivered_bytes > 0).then(|| self.carried_bytes as f64 / self.delivered_bytes as f64)
    }

    /// Share of the bytes on the wire that were received for operations that did not end well, 0 to 1.
    pub fn wasted_share(&self) -> f64 {
        self.wasted_bytes as f64 / self.carried_bytes.max(1) as f64
    }

    /// What does not fit among the three counts; nothing where they agree within 10 %.
    pub fn findings(&self) -> Vec<WireFinding> {
        let Some(per_byte) = self.per_byte() else { return Vec::new() };
        let mut found = Vec::new();
        if per_byte > 1.0 + APART_MAX {
            found.push(WireFinding::More { per_byte, cause: self.cause() });
        } else if per_byte < 1.0 - APART_MAX {
            found.push(WireFinding::Less { per_byte });
        }
        // Headers of packets add 2 to 6 % to what sockets see.
        let interface = self.interface_per_byte.map(|bytes| bytes / per_byte);
        match interface {
            Some(ratio) if ratio > 1.0 + APART_MAX => found.push(WireFinding::OthersReceived { ratio }),
            Some(ratio) if ratio < 1.0 - APART_MAX => found.push(WireFinding::OtherInterface { ratio }),
            _ => {}
        }
        found
    }

    /// Why more was received than delivered.
    fn cause(&self) -> WireCause {
        let beyond = self.carried_bytes.saturating_sub(self.delivered_bytes);
        // The larger part is named: a sentence with two causes leaves the reader to guess which matters.
        if self.wasted_bytes as f64 > beyond as f64 / 2.0 {
            return WireCause::Failures { bytes: self.wasted_bytes };
        }
        let each = beyond.saturating_sub(self.wasted_bytes) as f64 / self.messages.max(1) as f64;
        if each <= HEADER_BYTES_MAX {
            WireCause::Headers { bytes_each: each }
        } else {
            WireCause::Unexplained
        }
    }
}

/// Why more was received than delivered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WireCause {
    /// Data of operations that failed.
    Failures {
        /// How many bytes.
        bytes: u64,
    },
    /// Headers of messages.
    Headers {
        /// Bytes of one, mean.
        bytes_each: f64,
    },
    /// More than headers explain.
    Unexplained,
}

/// What does not fit among the counts of bytes of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WireFinding {
    /// More was received than delivered.
    More {
        /// Bytes on the wire by byte delivered.
        per_byte: f64,
        /// What explains it.
        cause: WireCause,
    },
    /// Less was received than delivered.
    Less {
        /// Bytes on the wire by byte delivered.
        per_byte: f64,
    },
    /// The interface received more than the sockets.
    OthersReceived {
        /// Its bytes by theirs.
        ratio: f64,
    },
    /// The interface received less than the sockets.
    OtherInterface {
        /// Its bytes by theirs.
        ratio: f64,
    },
}

impl WireFinding {
    /// How far the counts are apart, to find the worst of a kind.
    pub fn extent(&self) -> f64 {
        match self {
            Self::More { per_byte: ratio, .. }
            | Self::Less { per_byte: ratio }
            | Self::OthersReceived { ratio }
            | Self::OtherInterface { ratio } => (ratio - 1.0).abs(),
        }
    }
}

/// The interface is read as windows open and close: what is under way then counts on one side alone, and decides how
/// few turns of the queue compare.
fn interface_per_byte(cell: &Cell, used: &[&Rep]) -> Option<f64> {
    let turns_ops = TURNS_MIN * f64::from(cell.queue_depth);
    let known: Vec<(u64, u64)> = used
        .iter()
        .filter(|rep| counted(rep, counter::OPS) as f64 >= turns_ops)
        .filter_map(|rep| Some((rep.system.network.as_ref()?, counted(rep, counter::BYTES))))
        // Each byte crosses `lo` once and is counted as sent and as received, beside whatever other servers here say to their
        // clients.
        .filter(|(network, _)| network.interface != LOOPBACK)
        .map(|(network, bytes)| (carried(cell, network.received_bytes, network.sent_bytes), bytes))
        .collect();
    let total = |of: fn(&(u64, u64)) -> u64| known.iter().map(of).fold(0, u64::saturating_add);
    let (carried, asked) = (total(|one| one.0), total(|one| one.1));
    (asked > 0).then(|| carried as f64 / asked as f64)
}

/// Of what was received and sent, what went the way that data goes.
fn carried(cell: &Cell, received: u64, sent: u64) -> u64 {
    if operation::is_write(cell) {
        return sent;
    }
    if operation::writes_over(cell) { received.saturating_add(sent) } else { received }
}
