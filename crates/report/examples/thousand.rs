//! How long a run of thousands of cells takes from the disk to plots and page, and the memory that takes.
//!
//! `cargo run --release -p report --example thousand -- write DIR [CELLS [SECONDS]]` makes the run, `... -- read DIR [HTML]`
//! reads, summarises and renders it; the last line is the most memory that it took.
#![expect(clippy::print_stdout, reason = "figures are what it is for")]
#![expect(clippy::disallowed_methods, reason = "the time of a whole process runs on no virtual clock")]

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use report::Page;

#[path = "../benches/support/mod.rs"]
mod support;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["write", dir] => write(dir, "1000", "0"),
        ["write", dir, cells] => write(dir, cells, "0"),
        ["write", dir, cells, seconds] => write(dir, cells, seconds),
        ["read", dir] => read(Path::new(dir), None),
        ["read", dir, html] => read(Path::new(dir), Some(html)),
        _ => Err("write DIR [CELLS [SECONDS]] | read DIR [HTML]".into()),
    }
}

fn write(dir: &str, cells: &str, seconds: &str) -> Result<(), Box<dyn Error>> {
    Ok(support::write(Path::new(dir), &support::run(cells.parse()?, 5), seconds.parse()?)?)
}

fn read(dir: &Path, html: Option<&str>) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let mut last = began;
    let mut said = |what: &str| {
        let now = Instant::now();
        println!("{what:<10} {:>7.1} ms", (now - last).as_secs_f64() * 1e3);
        last = now;
    };
    let record = record::read_run(dir)?;
    said("read");
    let summary = analysis::summarise(&record);
    said("summarise");
    let of = |cells: &BTreeSet<&str>| record::read_intervals_of(dir, |cell| cells.contains(cell));
    let over_time = analysis::over_time_read(&record, of)?;
    said("over time");
    let plots = report::plots(&summary, &over_time)?;
    said("plots");
    let scenario = std::fs::read_to_string(dir.join(record::SCENARIO_FILE))?;
    let page = Page { summary: &summary, plots: &plots, scenario: &scenario, environment: &record.env };
    let page = report::html(&[page]);
    said("html");
    if let Some(path) = html {
        std::fs::write(path, &page)?;
    }
    println!("{:<10} {:>7.1} ms, page of {} bytes", "all", began.elapsed().as_secs_f64() * 1e3, page.len());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    Ok(())
}
