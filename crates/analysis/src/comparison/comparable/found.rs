//! Differences between runs that must be equal.

use std::fmt;

use record::Captured;

/// What may differ between runs that are compared all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum May {
    /// The machine that measures.
    Host,
    /// The release of its kernel.
    Kernel,
    /// The driver and the firmware of the device.
    Driver,
}

impl May {
    /// As scenarios and records write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Kernel => "kernel",
            Self::Driver => "driver",
        }
    }

    /// What a name of a scenario or a record means.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Host, Self::Kernel, Self::Driver].into_iter().find(|may| may.name() == name)
    }
}

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
    pub may: Option<May>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.what, self.before, self.after)
    }
}

/// The differences found so far.
#[derive(Debug, Default)]
pub(in crate::comparison) struct Differences(pub(super) Vec<Difference>);

impl Differences {
    pub(in crate::comparison) fn check(
        &mut self,
        what: impl Into<String>,
        before: &(impl ToString + ?Sized),
        after: &(impl ToString + ?Sized),
        may: Option<May>,
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
        may: May,
    ) {
        if let (Some(before), Some(after)) = (before.value(), after.value()) {
            self.check(what, before, after, Some(may));
        }
    }
}
