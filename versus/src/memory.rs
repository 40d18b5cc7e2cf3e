//! Huge pages reserved for the time of a run.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::output::say;

const RESERVED: &str = "/proc/sys/vm/nr_hugepages";
/// Huge pages reserved: 32 MiB at 2 MiB each, more than the buffers of any case.
const PAGES: u64 = 16;

/// Whether enough reserved huge pages lie free without asking for any.
pub(crate) fn reserved_are_free() -> bool {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    free_pages(&info).is_some_and(|free| free >= PAGES)
}

fn free_pages(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("HugePages_Free:"))?;
    line.trim().parse().ok()
}

/// A reservation of huge pages; what was reserved before is put back when it is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    before: u64,
}

impl Reservation {
    /// Reserves huge pages beside those that are reserved already. Needs root.
    pub(crate) fn make() -> Result<Self> {
        let before = fs::read_to_string(RESERVED).with_context(|| format!("cannot read {RESERVED}"))?;
        let before = before.trim().parse().with_context(|| format!("{RESERVED} holds no number"))?;
        set(before + PAGES)?;
        let reservation = Self { before };
        if !reserved_are_free() {
            bail!("the kernel found no {PAGES} huge pages in one piece");
        }
        Ok(reservation)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Err(error) = set(self.before) {
            say(&format!("{error:#}\n  hint: echo {} > {RESERVED}", self.before));
        }
    }
}

fn set(pages: u64) -> Result<()> {
    fs::write(Path::new(RESERVED), pages.to_string())
        .with_context(|| format!("cannot set {RESERVED} to {pages}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_pages_are_read() {
        assert_eq!(free_pages("HugePages_Total:  16\nHugePages_Free:     12\n"), Some(12));
        assert_eq!(free_pages("MemTotal: 1 kB\n"), None);
    }
}
