//! fio as the other: its command lines, its report.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::case::{Access, Case, Data, Kept, Peer};
use crate::data::Place;
use crate::process::{Call, Report};

const HINT: &str = "apt-get install fio (Debian, Ubuntu), dnf install fio (Fedora, RHEL), or --fio PATH";
/// Makes glibc's malloc, which is where fio's buffers come from, ask for huge pages by madvise (glibc 2.35 and later).
const HUGE_MALLOC: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");

/// On which memory fio's buffers lie at its best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buffers {
    /// Huge pages reserved by the administrator.
    Reserved,
    /// Huge pages asked of the kernel by madvise, as feedline does.
    Advised,
}

/// A call of fio that asks for its version.
pub(crate) fn version_call(program: &Path) -> Call {
    Call { program: program.to_owned(), args: vec!["--version".to_owned()], env: Vec::new(), hint: HINT }
}

/// The call of a case.
pub(crate) fn call(
    program: &Path,
    (case, peer): (&Case, Peer),
    (place, window_s): (&Place, f64),
    (buffers, more): (Buffers, &[String]),
) -> Result<Call> {
    let mut args = work(case, place, window_s)?;
    let mut env = Vec::new();
    if peer == Peer::Best {
        args.extend(case.best.iter().map(|&option| option.to_owned()));
        if takes_huge_pages(case) {
            match buffers {
                Buffers::Reserved => args.push("--iomem=mmaphuge".to_owned()),
                Buffers::Advised => env.push(HUGE_MALLOC),
            }
        }
        args.extend_from_slice(more);
    }
    Ok(Call { program: program.to_owned(), args, env, hint: HINT })
}

/// Whether the memory of the buffers is part of a case: with blocking engines it is one block.
pub(crate) fn takes_huge_pages(case: &Case) -> bool {
    case.work.peer_engine == "io_uring"
}

/// The pages that a run of fio as it comes was seen to have, in feedline's words.
pub(crate) fn pages(huge_bytes: u64) -> String {
    match huge_bytes {
        0 => "pages: base".to_owned(),
        bytes => format!("pages: {} KiB of huge ones seen", bytes / 1024),
    }
}

/// The work itself. What is warm must stay so: fio evicts a file first unless it is told otherwise.
fn work(case: &Case, place: &Place, window_s: f64) -> Result<Vec<String>> {
    let work = &case.work;
    let order = match (work.access, work.writes) {
        (Access::Random, Some(_)) if work.mixed.is_some() => "randrw",
        (Access::Random, None) => "randread",
        (Access::Sequential, None) => "read",
        (Access::Random, Some(_)) => "randwrite",
        (Access::Sequential, Some(_)) => "write",
    };
    let data = place.for_peer()?;
    let data = data.to_string_lossy();
    let mut args = vec!["--name=versus".to_owned()];
    if let Data::Files { .. } = place.data {
        args.push(format!("--opendir={data}"));
        args.extend(["--file_service_type=sequential", "--openfiles=1"].map(str::to_owned));
    } else {
        args.push(format!("--filename={}", escaped(&data)));
    }
    args.push(match work.writes {
        None => "--readonly".to_owned(),
        // The file stays as long as it is.
        Some(_) => "--overwrite=1".to_owned(),
    });
    args.extend(work.mixed.map(|percent| format!("--rwmixwrite={percent}")));
    args.extend((work.writes == Some(Kept::Dsync)).then(|| "--sync=dsync".to_owned()));
    args.extend([
        format!("--rw={order}"),
        format!("--bs={}", work.block_bytes),
        format!("--ioengine={}", work.peer_engine),
    ]);
    // For a blocking engine fio knows no depth and says so with every run.
    if work.peer_engine == "io_uring" {
        args.push(format!("--iodepth={}", work.queue_depth));
    }
    args.push(if work.direct { "--direct=1" } else { "--invalidate=0" }.to_owned());
    args.extend(["--time_based".to_owned(), format!("--runtime={}ms", (window_s * 1e3).round())]);
    args.push("--output-format=json".to_owned());
    Ok(args)
}

/// A file's name for `--filename`, where a colon separates names.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace(':', "\\:")
}

#[derive(Debug, Deserialize)]
struct Output {
    jobs: Vec<Job>,
}

#[derive(Debug, Deserialize)]
struct Job {
    error: i64,
    read: Direction,
    write: Direction,
}

#[derive(Debug, Deserialize)]
struct Direction {
    io_bytes: u64,
    total_ios: u64,
    /// Milliseconds.
    runtime: u64,
}

/// Reads fio's JSON, before which it may print notes.
pub(crate) fn parse(out: &str) -> Result<Report> {
    let begin = if out.starts_with('{') { Some(0) } else { out.find("\n{").map(|at| at + 1) };
    let begin = begin.context("fio printed no JSON")?;
    let mut documents = serde_json::Deserializer::from_str(&out[begin..]).into_iter::<Output>();
    let output = documents.next().context("fio printed no JSON")?.context("cannot read fio's JSON")?;
    let mut total = Report::default();
    for job in &output.jobs {
        if job.error != 0 {
            bail!("fio's job ended with error {}", job.error);
        }
        for way in [&job.read, &job.write] {
            total.ops += way.total_ios;
            total.bytes += way.io_bytes;
            total.window_s = total.window_s.max(way.runtime as f64 / 1e3);
        }
    }
    if total.ops == 0 {
        bail!("fio made no operation");
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::CASES;

    fn line(name: &str, peer: Peer, buffers: Buffers) -> String {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let place = Place { at: "/dev/zram9".into(), data: Data::Device };
        let more = ["--norandommap=0".to_owned()];
        let call = call(Path::new("fio"), (case, peer), (&place, 0.5), (buffers, &more)).unwrap();
        call.line().join(" ")
    }

    #[test]
    fn default_is_the_work_and_nothing_more() {
        assert_eq!(
            line("direct-4k-qd32", Peer::Default, Buffers::Reserved),
            "fio --name=versus --filename=/dev/zram9 --readonly --rw=randread --bs=4096 --ioengine=io_uring \
             --iodepth=32 --direct=1 --time_based --runtime=500ms --output-format=json"
        );
    }

    #[test]
    fn best_registers_batches_and_takes_huge_pages() {
        let reserved = line("direct-4k-qd32", Peer::Best, Buffers::Reserved);
        for option in ["--fixedbufs=1", "--registerfiles=1", "--iodepth_batch_submit=32", "--iomem=mmaphuge"]
        {
            assert!(reserved.contains(option), "{option}: {reserved}");
        }
        assert!(reserved.ends_with("--norandommap=0"), "the caller has the last word: {reserved}");
        let advised = line("direct-4k-qd32", Peer::Best, Buffers::Advised);
        assert!(advised.starts_with("GLIBC_TUNABLES=glibc.malloc.hugetlb=1 fio "), "{advised}");
        assert!(!advised.contains("iomem"), "{advised}");
        let mapped = line("mmap-128k", Peer::Best, Buffers::Reserved);
        assert!(mapped.contains("--invalidate=0") && !mapped.contains("iomem"), "{mapped}");
    }

    #[test]
    fn pages_are_told_in_feedlines_words() {
        assert_eq!(pages(0), "pages: base");
        assert_eq!(pages(4 << 20), "pages: 4096 KiB of huge ones seen");
    }

    #[test]
    fn colons_in_names_are_escaped() {
        assert_eq!(escaped("/mnt/a:b\\c"), "/mnt/a\\:b\\\\c");
    }

    #[test]
    fn json_is_read_past_notes_and_trailers() {
        let out = "note: both iodepth >= 1 and synchronous I/O engine are selected\n{\n \"fio version\" : \"fio-3.33\",\n \
                   \"jobs\" : [ { \"error\" : 0, \"read\" : { \"io_bytes\" : 8192, \"total_ios\" : 2, \"runtime\" : 501 },\n \
                   \"write\" : { \"io_bytes\" : 0, \"total_ios\" : 0, \"runtime\" : 0 } } ]\n}\nbye\n";
        let report = parse(out).unwrap();
        assert_eq!((report.ops, report.bytes), (2, 8192));
        assert!((report.window_s - 0.501).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        assert!(parse("fio: bad option\n").unwrap_err().to_string().contains("no JSON"));
        assert!(parse("{ \"jobs\" : [").is_err());
        let job = |error: i64, ios: u64| {
            let read = format!("{{\"io_bytes\":0,\"total_ios\":{ios},\"runtime\":1}}");
            let write = "{\"io_bytes\":0,\"total_ios\":0,\"runtime\":0}";
            format!("{{\"jobs\":[{{\"error\":{error},\"read\":{read},\"write\":{write}}}]}}")
        };
        assert!(parse(&job(22, 1)).unwrap_err().to_string().contains("error 22"));
        assert!(parse(&job(0, 0)).unwrap_err().to_string().contains("no operation"));
    }
}
