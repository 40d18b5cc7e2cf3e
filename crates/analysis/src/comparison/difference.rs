//! Differences between runs that must be equal.

use std::fmt;

use feed::MayDiffer;
use record::Captured;

/// Something that must be equal and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What: `plan`, `dataset`, `mount_options of nvme`.
    pub what: String,
    /// Its value before.
    pub before: String,
    /// Its value after.
    pub after: String,
    /// What the user may declare so that it is allowed.
    pub may: Option<MayDiffer>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.what, self.before, self.after)
    }
}

/// The differences found so far.
#[derive(Debug, Default)]
pub(super) struct Differences(pub(super) Vec<Difference>);

impl Differences {
    pub(super) fn check(
        &mut self,
        what: impl Into<String>,
        before: &(impl ToString + ?Sized),
        after: &(impl ToString + ?Sized),
        may: Option<MayDiffer>,
    ) {
        let (before, after) = (before.to_string(), after.to_string());
        if before != after {
            self.0.push(Difference { what: what.into(), before, after, may });
        }
    }

    /// A fact that either record may not hold: what is not known is not known to differ.
    pub(super) fn known<T: ToString>(
        &mut self,
        what: &str,
        before: &Captured<T>,
        after: &Captured<T>,
        may: MayDiffer,
    ) {
        if let (Some(before), Some(after)) = (before.value(), after.value()) {
            self.check(what, before, after, Some(may));
        }
    }
}
