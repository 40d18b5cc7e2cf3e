//! Caches between the reads and the storage.

use analysis::{BelowKnown, CacheBelow, CacheTier, NamesKnown, PageCacheKnown, TierKnown};
use feed::counted_noun;

/// `nvme: the device's cache: not excluded, reads repeat`.
pub(crate) fn tier(of: &CacheTier) -> String {
    let known = match &of.known {
        TierKnown::PageCache(known) => format!("the client's page cache: {}", page_cache(*known)),
        TierKnown::Names(known) => format!("names and inodes: {}", names(*known)),
        TierKnown::Below { cache, known } => format!("{}: {}", cache_below(*cache), below(*known)),
        TierKnown::BackingFile { path } => backing_file(path),
    };
    format!("{}: {known}", of.target)
}

/// The name of a cache below the client.
pub(crate) const fn cache_below(of: CacheBelow) -> &'static str {
    match of {
        CacheBelow::FileSystem => "the file system's own cache",
        CacheBelow::Server => "the server's cache",
        CacheBelow::Hypervisor => "the hypervisor's cache below the virtual disk",
        CacheBelow::Device => "the device's cache",
        CacheBelow::DeviceOrHypervisor => "the device's and the hypervisor's cache",
    }
}

/// What no run can exclude of a loop device.
pub(crate) fn backing_file(path: &str) -> String {
    format!("loop device over {path}: this machine's cache of that file not excluded")
}

fn page_cache(known: PageCacheKnown) -> String {
    match known {
        PageCacheKnown::ServerIsLocal => {
            "not excluded, the server runs on this machine and reads through it".to_owned()
        }
        PageCacheKnown::UserSpace => "takes no part, storage is reached in user space".to_owned(),
        PageCacheKnown::NothingRead => "no bytes were read".to_owned(),
        PageCacheKnown::AsAsked { proven, cells } => {
            let all = counted_noun(cells as u64, "cell");
            if proven == cells {
                format!("proven to be as asked, in {all}")
            } else {
                format!("proven to be as asked in {proven} of {all}")
            }
        }
    }
}

const fn names(known: NamesKnown) -> &'static str {
    match known {
        NamesKnown::InMemory => {
            "in memory, or their blocks on the device were (root with access to the device drops them)"
        }
        NamesKnown::Dropped => "dropped before each repetition",
        NamesKnown::SomeDropped => "dropped before some cold cells, as they were before others",
        NamesKnown::AsTheyWere => "as they were: in memory for all that is known",
    }
}

fn below(known: BelowKnown) -> String {
    match known {
        BelowKnown::Excluded { times, memory_bytes } => {
            let memory = feed::format_bytes(memory_bytes);
            format!("excluded, the dataset is {times:.1} times its memory of {memory}")
        }
        BelowKnown::ReadsRepeat => "not excluded, reads repeat".to_owned(),
        // feedline wrote these bytes itself, shortly before, and a cache below may hold what was just written.
        BelowKnown::ReadOnce { generated: true } => {
            "no byte was read twice; what was written before the run may still be there".to_owned()
        }
        BelowKnown::ReadOnce { generated: false } => "no byte was read twice".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tier_says_what_is_proven_of_it() {
        let pages = |proven| TierKnown::PageCache(PageCacheKnown::AsAsked { proven, cells: 2 });
        let server = |known| TierKnown::Below { cache: CacheBelow::Server, known };
        let said = [
            (pages(2), "the client's page cache: proven to be as asked, in 2 cells"),
            (pages(0), "the client's page cache: proven to be as asked in 0 of 2 cells"),
            (TierKnown::Names(NamesKnown::Dropped), "names and inodes: dropped before each repetition"),
            (server(BelowKnown::ReadsRepeat), "the server's cache: not excluded, reads repeat"),
            (
                server(BelowKnown::Excluded { times: 3.25, memory_bytes: 64_000_000_000 }),
                "the server's cache: excluded, the dataset is 3.2 times its memory of 64 GB",
            ),
            (
                TierKnown::BackingFile { path: "/data/disk.img".to_owned() },
                "loop device over /data/disk.img: this machine's cache of that file not excluded",
            ),
        ];
        for (known, expected) in said {
            assert_eq!(tier(&CacheTier { target: "disk".to_owned(), known }), format!("disk: {expected}"));
        }
    }
}
