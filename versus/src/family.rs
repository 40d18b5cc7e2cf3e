//! What the kernel tells of a running process and its children.

use std::fs;

/// Names of the threads that the kernel adds to a process for requests that would have blocked.
const IO_WORKER: &str = "iou-wrk";

/// What can be seen of a tool while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Memory on huge pages.
    pub(crate) huge_page_bytes: u64,
    /// Threads of the kernel to which io_uring handed requests that would have blocked.
    pub(crate) io_workers: usize,
}

/// A process, its children and theirs. What has ended meanwhile counts as nothing.
pub(crate) fn seen(pid: i32) -> Seen {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let mut seen = Seen { huge_page_bytes: huge_page_bytes(&rollup), io_workers: io_workers(pid) };
    for child in children(pid) {
        let child = self::seen(child);
        seen.huge_page_bytes += child.huge_page_bytes;
        seen.io_workers += child.io_workers;
    }
    seen
}

/// Children of all threads: a tool need not fork from its first. The kernel may leave some out while others end.
fn children(pid: i32) -> Vec<i32> {
    let of = |thread: String| fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).ok();
    let lists: Vec<String> = threads(pid).filter_map(of).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|child| child.parse().ok()).collect()
}

fn io_workers(pid: i32) -> usize {
    let name = |thread: String| fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).ok();
    threads(pid).filter_map(name).filter(|name| name.starts_with(IO_WORKER)).count()
}

fn threads(pid: i32) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

/// Adds up the lines of `smaps_rollup` that count huge pages, transparent or reserved, in memory of its own.
fn huge_page_bytes(rollup: &str) -> u64 {
    let counted = ["AnonHugePages:", "Shared_Hugetlb:", "Private_Hugetlb:"];
    let kib = |line: &str| {
        let (name, rest) = line.split_once(char::is_whitespace)?;
        counted.contains(&name).then(|| rest.split_whitespace().next()?.parse::<u64>().ok())?
    };
    rollup.lines().filter_map(kib).sum::<u64>() * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_are_added_up() {
        let text = "55d0-7fff ---p 0 00:00 0 [rollup]\nRss: 9000 kB\nAnonHugePages:      8192 kB\n\
                    ShmemPmdMapped: 64 kB\nFilePmdMapped: 1024 kB\nShared_Hugetlb: 0 kB\nPrivate_Hugetlb:    4096 kB\n";
        assert_eq!(huge_page_bytes(text), 12 << 20);
        assert_eq!(huge_page_bytes(""), 0);
    }

    #[test]
    fn a_process_that_is_gone_has_nothing() {
        assert_eq!(seen(i32::MAX), Seen { huge_page_bytes: 0, io_workers: 0 });
    }

    /// The kernel leaves children out of its list while others of the same thread end (proc(5)), as those of other tests do.
    #[test]
    fn threads_and_children_of_this_process_are_seen() {
        let mut child = std::process::Command::new("/bin/sleep").arg("3600").spawn().unwrap();
        let (parent, expected) = (std::process::id().cast_signed(), child.id().cast_signed());
        let is_seen = (0..1_000).any(|_| children(parent).contains(&expected));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_seen);
    }
}
