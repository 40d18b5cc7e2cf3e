//! What the verdicts do not cover, in words.

use analysis::{CacheBelow, NotTested, Summary};
use feed::{counted_noun, format_duration_ns, group_digits};

use crate::words::tier::{backing_file, cache_below};

/// What the verdicts of a run do not cover, each in a few words.
pub(crate) fn all(summary: &Summary) -> Vec<String> {
    summary.not_tested.iter().map(words).collect()
}

fn words(of: &NotTested) -> String {
    match of {
        NotTested::Hosts { hosts } => format!("{hosts} hosts at once"),
        NotTested::CachesBelow { caches, read_again } => {
            let caches: Vec<String> = caches.iter().map(cache).collect();
            let why = if *read_again { "reads repeat" } else { "what was read had just been written" };
            format!("{} not excluded ({why})", caches.join(", "))
        }
        NotTested::Kept { targets } => {
            format!(
                "writes that are kept ({}: may hold in memory alone what was written)",
                targets.join(", ")
            )
        }
        NotTested::BackingFile { path } => backing_file(path),
        NotTested::InterfaceRate => "the interface's own limit (its rate is not known)".to_owned(),
        NotTested::RemoteServer { target } => {
            format!("a server on another machine ({target}: it runs on this one)")
        }
        NotTested::Outage { targets } => {
            format!("what a job does while {} is away, as it was here", targets.join(", "))
        }
        NotTested::BeyondClient { cells } => {
            format!("what storage does beyond {}", counted_noun(*cells as u64, "client-limited cell"))
        }
        NotTested::FailedCells { cells } => format!("{} failed", counted_noun(*cells as u64, "cell")),
        NotTested::LeftOut { cells, all, targets } => {
            let of = format!("{} of {}", group_digits(*cells as u64), counted_noun(*all as u64, "cell"));
            let whole =
                if targets.is_empty() { String::new() } else { format!(", all of {}", targets.join(", ")) };
            format!("{of}{whole}: the budget left no time")
        }
        NotTested::SecondReading => "a second reading of what was read before the interruption".to_owned(),
        NotTested::Later { under_load_ns } => {
            format!("burst credits and slow changes ({} under load)", format_duration_ns(*under_load_ns))
        }
        NotTested::SteadyFlash => "flash that was written full before (its erased blocks run out)".to_owned(),
        // Said of nearly every run: files are held open so that reads alone are measured, which loaders rarely
        // do.
        NotTested::Opening { opens: 0 } => "opening files per sample (files are held open)".to_owned(),
        NotTested::Opening { opens } => {
            let opens = counted_noun(*opens, "read");
            format!("opening a file for each sample ({opens} opened theirs, the others found it open)")
        }
        NotTested::OpeningByNewNames => "opening with names not in memory".to_owned(),
        NotTested::Decode { cost, checksum } => match (cost, checksum) {
            (false, false) => "decode".to_owned(),
            (true, false) => "decode itself (a stated cost stands for it)".to_owned(),
            (false, true) => "decode itself (a checksum stands for it)".to_owned(),
            (true, true) => "decode itself (a stated cost and a checksum stand for it)".to_owned(),
        },
    }
}

/// `the server's cache (filer, gateway)`.
fn cache((cache, targets): &(CacheBelow, Vec<String>)) -> String {
    let cache = cache_below(*cache);
    if targets.is_empty() { cache.to_owned() } else { format!("{cache} ({})", targets.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_said_in_a_few_words() {
        let below = |caches: &[(CacheBelow, &[&str])], read_again| NotTested::CachesBelow {
            read_again,
            caches: caches
                .iter()
                .map(|(cache, names)| (*cache, names.iter().map(|name| (*name).to_owned()).collect()))
                .collect(),
        };
        let decode = |cost, checksum| NotTested::Decode { cost, checksum };
        let said = [
            (NotTested::Hosts { hosts: 8 }, "8 hosts at once"),
            (
                below(&[(CacheBelow::Device, &[]), (CacheBelow::Server, &["a", "b"])], true),
                "the device's cache, the server's cache (a, b) not excluded (reads repeat)",
            ),
            (
                below(&[(CacheBelow::Server, &["a"])], false),
                "the server's cache (a) not excluded (what was read had just been written)",
            ),
            (
                NotTested::Kept { targets: vec!["a".to_owned()] },
                "writes that are kept (a: may hold in memory alone what was written)",
            ),
            (
                NotTested::BackingFile { path: "/data/disk.img".to_owned() },
                "loop device over /data/disk.img: this machine's cache of that file not excluded",
            ),
            (NotTested::SteadyFlash, "flash that was written full before (its erased blocks run out)"),
            (NotTested::InterfaceRate, "the interface's own limit (its rate is not known)"),
            (
                NotTested::RemoteServer { target: "disk".to_owned() },
                "a server on another machine (disk: it runs on this one)",
            ),
            (
                NotTested::Outage { targets: vec!["nfs".to_owned(), "s3".to_owned()] },
                "what a job does while nfs, s3 is away, as it was here",
            ),
            (NotTested::BeyondClient { cells: 2 }, "what storage does beyond 2 client-limited cells"),
            (NotTested::FailedCells { cells: 1 }, "1 cell failed"),
            (
                NotTested::LeftOut { cells: 1, all: 12, targets: Vec::new() },
                "1 of 12 cells: the budget left no time",
            ),
            (
                NotTested::LeftOut { cells: 4, all: 12, targets: vec!["nfs".to_owned()] },
                "4 of 12 cells, all of nfs: the budget left no time",
            ),
            (NotTested::SecondReading, "a second reading of what was read before the interruption"),
            (
                NotTested::Later { under_load_ns: 1_000_000_000 },
                "burst credits and slow changes (1 s under load)",
            ),
            (NotTested::Opening { opens: 0 }, "opening files per sample (files are held open)"),
            (
                NotTested::Opening { opens: 1_400 },
                "opening a file for each sample (1,400 reads opened theirs, the others found it open)",
            ),
            (NotTested::OpeningByNewNames, "opening with names not in memory"),
            (decode(false, false), "decode"),
            (decode(true, false), "decode itself (a stated cost stands for it)"),
            (decode(true, true), "decode itself (a stated cost and a checksum stand for it)"),
        ];
        for (one, expected) in said {
            assert_eq!(words(&one), expected);
        }
    }
}
