//! Virtual decoders: each works on one sample at a time, for as long as that takes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Servers of the whole client, first come first served.
#[derive(Debug)]
pub(crate) struct Servers {
    /// When each is free.
    free_ns: BinaryHeap<Reverse<u64>>,
}

impl Servers {
    pub(crate) fn new(count: u32) -> Self {
        Self { free_ns: (0..count.max(1)).map(|_| Reverse(0)).collect() }
    }

    /// Takes a sample that was read at `read_ns`; returns when it is decoded.
    pub(crate) fn serve(&mut self, read_ns: u64, cost_ns: u64) -> u64 {
        // The one that is free first; which of them it is makes no difference.
        let free_ns = self.free_ns.pop().map_or(0, |Reverse(ns)| ns);
        let decoded_ns = read_ns.max(free_ns) + cost_ns;
        self.free_ns.push(Reverse(decoded_ns));
        decoded_ns
    }
}
