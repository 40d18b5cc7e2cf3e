//! The forms of a dataset: one for each combination of what the scenario lists of it beside layouts and sample sizes.

use plan::{Codec, Layout};

use crate::diagnostic::Span;
use crate::list::{Axis, Item};
use crate::reader::{Field, Plain};
use crate::written::Dataset;

use super::schedule::List;

/// Keys of which each value is a dataset of its own.
const KEYS: usize = 4;

/// A value of such a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice<T> {
    pub(super) value: T,
    pub(super) span: Span,
    /// Whether it stands beside others. One value alone is no part of a cell's name, as none was before there were lists.
    is_listed: bool,
}

/// One value of each key, where it is written and means something in the layout.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Form {
    pub(super) shard_bytes: Option<Choice<u64>>,
    pub(super) members: Option<Choice<u32>>,
    pub(super) codec: Option<Choice<Codec>>,
    pub(super) compressible_percent: Option<Choice<u8>>,
}

impl<T: Copy> Choice<T> {
    /// The value, where cells have to be told apart by it.
    pub(super) fn said(self) -> Option<T> {
        self.is_listed.then_some(self.value)
    }
}

/// All forms of one layout.
#[derive(Debug)]
pub(super) struct Forms {
    shard_bytes: Vec<Option<Choice<u64>>>,
    members: Vec<Option<Choice<u32>>>,
    codec: Vec<Option<Choice<Codec>>>,
    compressible_percent: Vec<Option<Choice<u8>>>,
}

impl Forms {
    /// Those of a layout; `None` where a key was wrong. A key that means nothing in the layout multiplies nothing there.
    pub(super) fn of_layout(written: &Dataset, layout: Layout) -> Option<Self> {
        let is_packed = layout != Layout::Files;
        Some(Self {
            shard_bytes: choices(&written.shard_size, is_packed)?,
            members: choices(&written.members, layout == Layout::WebDataset)?,
            // Also of layouts that take none, which refuse it by their name.
            codec: choices(&written.codec, is_packed)?,
            compressible_percent: choices(&written.compressibility, true)?,
        })
    }

    fn lengths(&self) -> [usize; KEYS] {
        [self.shard_bytes.len(), self.members.len(), self.codec.len(), self.compressible_percent.len()]
    }

    /// Number of forms.
    pub(super) fn count(&self) -> usize {
        self.lengths().iter().product()
    }

    /// Every form, the last key varying fastest.
    pub(super) fn all(&self) -> impl Iterator<Item = Form> {
        (0..self.count()).map(|number| {
            let mut rest = number;
            let mut digits = [0; KEYS];
            for (digit, length) in digits.iter_mut().zip(self.lengths()).rev() {
                *digit = rest % length;
                rest /= length;
            }
            let [shard, members, codec, compressible] = digits;
            Form {
                shard_bytes: self.shard_bytes[shard],
                members: self.members[members],
                codec: self.codec[codec],
                compressible_percent: self.compressible_percent[compressible],
            }
        })
    }

    /// Two shard sizes of which each shard holds as many samples of this size.
    pub(super) fn same_shards(&self, sample_bytes: u64) -> Option<[Choice<u64>; 2]> {
        let samples = |choice: &Choice<u64>| choice.value.div_ceil(sample_bytes.max(1));
        let listed: Vec<Choice<u64>> = self.shard_bytes.iter().copied().flatten().collect();
        let alike = |(index, one): (usize, &Choice<u64>)| {
            let earlier = listed[..index].iter().find(|earlier| samples(earlier) == samples(one));
            earlier.map(|earlier| [*earlier, *one])
        };
        listed.iter().enumerate().find_map(alike)
    }
}

/// The values of a key where it is taken, and its absence elsewhere; `None` where it was wrong.
fn choices<W: Plain<T>, T>(written: &Field<Axis<W>>, is_taken: bool) -> Option<Vec<Option<Choice<T>>>> {
    let Some(axis) = written.entry()?.filter(|_| is_taken) else { return Some(vec![None]) };
    let is_listed = axis.value.0.len() > 1;
    let choice = |item: &Item<W>| Choice { value: item.value.plain(), span: item.span, is_listed };
    Some(axis.value.0.iter().map(choice).map(Some).collect())
}

/// The lists of such keys as they are written.
pub(super) fn lists(written: &Dataset) -> [List; KEYS] {
    [
        list(&written.shard_size, "shard sizes"),
        list(&written.members, "numbers of members"),
        list(&written.codec, "codecs"),
        list(&written.compressibility, "shares that compress"),
    ]
}

fn list<W>(written: &Field<Axis<W>>, what: &'static str) -> List {
    let length = written.given().map_or(1, |axis| axis.value.0.len());
    List { span: written.span(), length, what }
}
