//! What is known of the client's page cache, in words.

use analysis::Figures;
use feed::Cache;

use super::share::percent;

/// `cold: at most 0.2 % resident before (cachestat)`; for a cell that bypasses the page cache, or drops at once what it
/// read, what counts is that its reads left nothing there.
pub(crate) fn page(figures: &Figures) -> String {
    let asked = &figures.cache.asked;
    // Before all proof: what this machine's page cache holds for the server is not the client's, and is read
    // all the same.
    if figures.cache.server_is_local {
        return format!(
            "{asked}: not proven, the server runs on this machine and its page cache is this machine's"
        );
    }
    let names = match figures.names_dropped {
        Some(true) => "; names and inodes dropped before",
        Some(false) => "; names and inodes, or their blocks, in memory",
        None => "",
    };
    format!("{}{names}", pages(figures))
}

fn pages(figures: &Figures) -> String {
    let cache = &figures.cache;
    let (asked, method) = (&cache.asked, &cache.method);
    let Some(share) = cache.resident else {
        return match asked.known() {
            Some(Cache::DontCache) => format!("dropping at once not proven: residency unknown ({method})"),
            Some(Cache::Bypass) => format!("direct I/O not proven: residency unknown ({method})"),
            Some(Cache::ColdStart) => format!("cold at the start not proven ({method})"),
            _ => format!("{asked} not proven ({method})"),
        };
    };
    let share = percent(share);
    match asked.known() {
        // No share is told: residency of zero would look like something that was measured.
        Some(Cache::Bypass) if cache.is_user_space => {
            "bypass: read in user space, the client's page cache takes no part".to_owned()
        }
        Some(Cache::Bypass | Cache::DontCache) => {
            format!("{asked}: at most {share} resident after ({method})")
        }
        Some(Cache::Warm) => format!("warm: at least {share} resident before ({method})"),
        Some(Cache::ColdStart) => format!(
            "cold at the start: at most {share} resident before ({method}); what is read again may come from memory"
        ),
        _ => format!("{asked}: at most {share} resident before ({method})"),
    }
}
