//! One combination of what a scenario lists, before it becomes a cell.

use plan::{Access, Cache, Layout, Operation, Pages, Tier};

use super::block::Block;
use super::connections::Connections;
use super::engine::Lane;
use super::sample::Sample;

/// One combination, before it becomes a cell.
pub(super) struct Point<'a> {
    pub(super) lane: &'a Lane,
    pub(super) operation: Operation,
    pub(super) dataset: usize,
    pub(super) sample: Sample,
    /// Where it is to be said how samples lie.
    pub(super) layout: Option<Layout>,
    pub(super) block: Block,
    /// With whether that is to be said.
    pub(super) pages: (Pages, bool),
    pub(super) access: Access,
    pub(super) cache: Cache,
    pub(super) tier: Option<&'a Tier>,
    pub(super) load: plan::Load,
    /// `None` where there is no network.
    pub(super) connections: Option<Connections>,
    pub(super) depth: u32,
}
