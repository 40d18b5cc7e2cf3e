//! The sentences above a table: need, data, run.

use analysis::{DatasetFigures, LineAt, Panel, Summary};
use feed::{Demand, Flow};
use record::{Dataset, Target};

use feed::counted_noun;

use crate::group::by_key;
use crate::network;
use crate::number::times;
use crate::page::Fact;
use crate::words;

/// `8 x h100 resnet50 (MLPerf Storage 2.0, measured): 14,286 samples/s, 1.64 GB/s`.
pub(crate) fn need(summary: &Summary) -> String {
    let need = match &summary.need {
        Ok(need) => need,
        Err(why) => return words::need::none(*why),
    };
    let figures = match need.demand {
        // A record made by hand may lack the size of a sample, and then no rate in bytes follows.
        Demand::Samples { per_s, sample_bytes } if sample_bytes > 0.0 => {
            let bps = feed::format_bps(per_s * sample_bytes);
            format!(": {} samples/s, {bps}", feed::format_count(per_s))
        }
        Demand::Samples { per_s, .. } => format!(": {} samples/s", feed::format_count(per_s)),
        // The label is two rates, and this would be one of them.
        Demand::Bytes { .. } if need.flow() == Flow::Both => String::new(),
        Demand::Bytes { per_s, sample_bytes } => {
            let held = if sample_bytes.is_some() { ", bytes held" } else { "" };
            format!(": {}{held}", feed::format_bps(per_s))
        }
        Demand::Nothing => String::new(),
    };
    // The label says what is written beside it.
    format!("{} ({}){figures}", need.label, need.source)
}

/// `line at 90 % busy (0.8 of 8 accelerators' worth idle): 12,857 samples/s = 1.47 GB/s`, for each size of samples, and what
/// is held where that is not the need's; absent without a need.
pub(crate) fn line(summary: &Summary) -> Option<String> {
    let need = summary.need.as_ref().ok()?;
    let lines = analysis::lines(summary);
    let stated_bytes = need.sample_bytes().is_none();
    let figures = match lines.as_slice() {
        [] => return None,
        [one] => format!("{} = {}{}", samples_per_s(one), feed::format_bps(one.bps), written(one)),
        [first, ..] if stated_bytes && first.write_percent.is_none() => feed::format_bps(first.bps),
        several => several.iter().map(of_size).collect::<Vec<_>>().join("; "),
    };
    let idle = need.idle_at_line().map(|idle| format!(" ({idle})")).unwrap_or_default();
    let sizes: Vec<f64> = lines.iter().map(|line| line.sample_bytes).collect();
    let held = need.held(&sizes).map(|held| format!("; {held}")).unwrap_or_default();
    Some(format!("line {}{idle}: {figures}{held}", need.at_line()))
}

/// `checkpoints of llama3-70b on each host: 15.3 GB within 30 s (509 MB/s), read back within 5 min (50.9 MB/s)`; absent where none
/// are asked for.
fn checkpoint_line(summary: &Summary) -> Option<String> {
    let of = summary.need.as_ref().ok()?.checkpoint.as_ref()?;
    let (bytes, within) = (feed::format_bytes(of.host_bytes), feed::format_duration_ns(of.within_ns));
    let host = if of.hosts > 1 { " on each host" } else { "" };
    let restore = of.restore_within_ns.zip(of.restore_bps()).map(|(ns, bps)| {
        format!(", read back within {} ({})", feed::format_duration_ns(ns), feed::format_bps(bps))
    });
    let every = of.every_ns.map(|ns| format!(", every {}", feed::format_duration_ns(ns)));
    let (write, kind) = (feed::format_bps(of.write_bps()), of.kind.name());
    Some(format!(
        "{kind} checkpoints of {}{host}: {bytes} within {within} ({write}){}{}",
        of.label,
        restore.unwrap_or_default(),
        every.unwrap_or_default()
    ))
}

fn samples_per_s(line: &LineAt) -> String {
    format!("{} samples/s", feed::format_count(line.samples_per_s))
}

/// `12,857 samples/s of 16,384 B = 211 MB/s`.
fn of_size(line: &LineAt) -> String {
    let bytes = feed::group_digits(line.sample_bytes.round() as u64);
    format!("{} of {bytes} B = {}{}", samples_per_s(line), feed::format_bps(line.bps), written(line))
}

/// `, 30 % of it written`.
fn written(line: &LineAt) -> String {
    line.write_percent.map(|percent| format!(", {percent} % of it written")).unwrap_or_default()
}

/// One sentence for all datasets that are alike, each copy on its own target:
/// `nvme, filer: 200,000 files of 114,660 B (22.9 GB), shuffled_epoch; 12 x its bytes were read`.
pub(crate) fn data(summary: &Summary) -> Vec<String> {
    let is_null = |figures: &DatasetFigures| {
        let held_by = summary.targets.iter().find(|target| target.name == figures.dataset.target);
        figures.access.is_empty() && held_by.is_some_and(|target| !target.storage)
    };
    let datasets: Vec<(usize, &DatasetFigures)> =
        summary.datasets.iter().enumerate().filter(|(_, figures)| !is_null(figures)).collect();
    if datasets.is_empty() && !summary.datasets.is_empty() {
        return vec!["none: the null target reads nothing".to_owned()];
    }
    let is_one = datasets.len() == 1;
    let sentence = |(files, kind): (String, Vec<&DatasetFigures>)| {
        let targets: Vec<&str> = kind.iter().map(|figures| figures.dataset.target.as_str()).collect();
        // One dataset is everybody's, and its targets stand in the line of places.
        let lead = if is_one { String::new() } else { format!("{}: ", targets.join(", ")) };
        // The most, since what repeats most is what a cache below could serve.
        let most = kind.iter().filter_map(|figures| figures.reads_per_byte).reduce(f64::max);
        let written = kind.iter().map(|figures| figures.written_over_bytes).fold(0.0, f64::max);
        let moved = match kind.first().map_or(0.0, |figures| figures.dataset.bytes as f64) {
            bytes if written > 0.0 && bytes > 0.0 => {
                // What is written over is a dataset of its own, which a mix alone reads too.
                let read = most.filter(|most| *most > 0.0);
                let read = read.map(|read| format!("{} x its bytes were read; ", times(read)));
                format!("{}written over {} times", read.unwrap_or_default(), times(written / bytes))
            }
            _ => reads(most, kind.iter().any(|figures| figures.reads_repeat)),
        };
        format!("{lead}{files}; {moved}")
    };
    let kinds =
        by_key(datasets.into_iter().map(|(index, figures)| (files(summary, index, figures), figures)));
    kinds.into_iter().map(sentence).collect()
}

fn files(summary: &Summary, index: usize, figures: &DatasetFigures) -> String {
    let dataset = &figures.dataset;
    let cell = summary.cells.iter().find(|cell| cell.cell.dataset == index);
    let form = cell.and_then(|cell| words::form::of_cell(&cell.cell));
    let target = summary.targets.iter().find(|target| target.name == dataset.target);
    let is_device = target.is_some_and(|target| fact(target, "device_node").is_some());
    let what = if is_device { device_words(dataset) } else { files_words(dataset) };
    std::iter::once(what).chain(form).chain(figures.access.iter().cloned()).collect::<Vec<_>>().join(", ")
}

/// `a device of 512 MiB, samples of 114,660 B`.
fn device_words(dataset: &Dataset) -> String {
    let sample = feed::format_bytes(dataset.sample_bytes.max(0.0).round() as u64);
    format!("a device of {}, samples of {sample}", feed::format_bytes(dataset.bytes))
}

/// `200,000 files of 114,660 B (22.9 GB)`.
fn files_words(dataset: &Dataset) -> String {
    if dataset.layout != "files" {
        return shards_words(dataset);
    }
    let mean = dataset.bytes as f64 / dataset.files.max(1) as f64;
    let mean_words = feed::format_bytes(mean.round() as u64);
    let size = if let Some(stdev) = dataset.lognormal_stdev_bytes {
        format!("of {mean_words} on average (lognormal, standard deviation {})", feed::format_bytes(stdev))
    // Within a byte: a mean of whole bytes is held against a size that a scenario may state in fractions of a
    // KiB.
    } else if (mean - dataset.sample_bytes).abs() < 1.0 {
        format!("of {}", feed::format_bytes(dataset.sample_bytes.round() as u64))
    } else {
        let sample = feed::format_bytes(dataset.sample_bytes.max(0.0).round() as u64);
        format!("of {mean_words} on average, samples of {sample}")
    };
    // Of files that are read by a list.
    let pass =
        dataset.samples.map_or_else(String::new, |reads| format!(", {} a pass", counted_noun(reads, "read")));
    format!("{} {size} ({}){pass}", counted_noun(dataset.files, "file"), feed::format_bytes(dataset.bytes))
}

/// `100 objects of webdataset, 263 MB on average: 200,000 samples of 131,300 B (26.3 GB)`.
fn shards_words(dataset: &Dataset) -> String {
    let mean = feed::format_bytes((dataset.bytes as f64 / dataset.files.max(1) as f64).round() as u64);
    format!(
        "{} of {}, {mean} on average: {} of {} ({})",
        counted_noun(dataset.files, "object"),
        dataset.layout,
        counted_noun(dataset.samples.unwrap_or(dataset.files), "sample"),
        feed::format_bytes(dataset.sample_bytes.max(0.0).round() as u64),
        feed::format_bytes(dataset.bytes)
    )
}

fn reads(most: Option<f64>, repeat: bool) -> String {
    match most {
        Some(0.0) => "nothing was read".to_owned(),
        Some(_) if !repeat => "no byte read twice".to_owned(),
        Some(reads) => format!("{} x its bytes were read", times(reads)),
        None => "nothing to read".to_owned(),
    }
}

/// Where each storage target lies: `disk: feedline-data on ext4 (/dev/vda, QEMU HARDDISK)`.
pub(crate) fn places(summary: &Summary) -> Vec<String> {
    let storage = summary.targets.iter().filter(|target| target.storage);
    storage.map(|target| place(summary, target)).collect()
}

fn place(summary: &Summary, target: &Target) -> String {
    let on = fact(target, "file_system").map(|name| format!(" on {name}")).unwrap_or_default();
    let device: Vec<&str> =
        ["mount_source", "device_model"].into_iter().filter_map(|name| fact(target, name)).collect();
    let device = if device.is_empty() { String::new() } else { format!(" ({})", device.join(", ")) };
    let way: Vec<String> = [network::place(summary, target), about(target), demo_words(target, false)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| format!("; {part}"))
        .collect();
    format!("{}: {}{on}{device}{}", target.name, target.at, way.concat())
}

/// What the user says of a target, where reports may show it.
pub(crate) fn about(target: &Target) -> String {
    target.about.as_ref().map(|words| format!("about: {words}")).unwrap_or_default()
}

/// `DEMO, server started by feedline: s3-like, first_byte 15 ms`, `DEMO, slowed down by feedline: seek 8 ms`, with the seed where `all` is asked for; empty for a
/// storage of the user's.
pub(crate) fn demo_words(target: &Target, all: bool) -> String {
    if !target.demo {
        return String::new();
    }
    let emulation = target.emulation.iter().flat_map(|emulation| {
        // The seed makes a run repeatable and says nothing of the storage that was played.
        let settings = emulation.settings.iter().filter(|fact| all || fact.name != "seed");
        let settings = settings.map(|fact| format!("{} {}", fact.name, fact.value));
        emulation.profile.clone().into_iter().chain(settings)
    });
    let asked = emulation.collect::<Vec<_>>().join(", ");
    let asked = if asked.is_empty() { asked } else { format!(": {asked}") };
    let played = if is_path(target) { "slowed down by feedline" } else { "server started by feedline" };
    format!("DEMO, {played}{asked}")
}

/// Whether a target lies at a path of this machine.
pub(crate) fn is_path(target: &Target) -> bool {
    !target.at.contains("://")
}

/// `disk: ext4 on /dev/vda; filer: nfs4`, of the storage targets whose file system is known.
pub(crate) fn places_in_short(summary: &Summary) -> String {
    let short = |target: &Target| {
        let on = fact(target, "mount_source").map(|source| format!(" on {source}")).unwrap_or_default();
        Some(format!("{}: {}{on}", target.name, fact(target, "file_system")?))
    };
    let storage = summary.targets.iter().filter(|target| target.storage);
    storage.filter_map(short).collect::<Vec<_>>().join("; ")
}

fn fact<'a>(target: &'a Target, name: &str) -> Option<&'a str> {
    let fact = target.facts.iter().find(|fact| fact.name == name)?;
    // Files of sysfs end with a line break, and some are empty.
    Some(fact.value.trim()).filter(|value| !value.is_empty())
}

/// `20 cells x 5, interleaved, 38 min; null ceiling 31 M reads/s`.
pub(crate) fn ran(summary: &Summary) -> String {
    let head = &summary.head;
    let planned = counted_noun(head.cells_planned as u64, "cell");
    let cells = if head.cells_run == head.cells_planned {
        planned
    } else {
        format!("{} of {planned}", head.cells_run)
    };
    let length = match head.elapsed_ns {
        Some(elapsed_ns) if head.interrupted => {
            format!("interrupted after {}", feed::format_duration_ns(elapsed_ns))
        }
        Some(elapsed_ns) => feed::format_duration_ns(elapsed_ns),
        None => "cut".to_owned(),
    };
    let operation = operation(summary.cells.iter().map(|one| &one.cell));
    format!("{cells} x {}, interleaved, {length}{}", head.repetitions, ceiling(head, operation))
}

/// What cells do over and over, in one word.
fn operation<'a>(mut cells: impl Iterator<Item = &'a record::Cell>) -> &'static str {
    let writes = |cell: &record::Cell| cell.operation.known().is_some_and(feed::Operation::writes_over);
    if cells.any(writes) { "operation" } else { "read" }
}

fn ceiling(head: &analysis::Head, operation: &str) -> String {
    let direct = head.ceiling_ops_per_s.map(|of| range(of, |rate| per_s(rate, operation)));
    let copied = head.ceiling_bps.map(|of| format!("{} copied", range(of, feed::format_bps)));
    let both: Vec<String> = direct.into_iter().chain(copied).collect();
    if both.is_empty() { String::new() } else { format!("; null ceiling {}", both.join(", ")) }
}

fn per_s(rate: f64, operation: &str) -> String {
    match rate {
        1e6.. => format!("{:.1} M {operation}s/s", rate / 1e6),
        _ => format!("{:.0} k {operation}s/s", rate / 1e3),
    }
}

/// One rate where the two are the same within 5 %; a unit that both have is written once: `5.8 to 15.2 M reads/s`.
fn range((low, high): (f64, f64), show: impl Fn(f64) -> String) -> String {
    let (shown_low, shown_high) = (show(low), show(high));
    // Ceilings of two operations differ by chance within a few percent.
    if high <= low * 1.05 {
        return shown_high;
    }
    let shown_low = match (shown_low.split_once(' '), shown_high.split_once(' ')) {
        (Some((figure, unit)), Some((_, other))) if unit == other => figure,
        _ => &shown_low,
    };
    format!("{shown_low} to {shown_high}")
}

/// The conditions of a panel with its own line.
pub(crate) fn panel(panel: &Panel) -> String {
    format!("{}{}", words::curve::conditions(panel), panel_line(panel))
}

/// `; line 1.47 GB/s`; empty without a need.
pub(crate) fn panel_line(panel: &Panel) -> String {
    panel.line.map(|line| format!("; line {}", feed::format_bps(line.bps))).unwrap_or_default()
}

/// `31 GB/s, 270,000 reads/s at depth 128, 150 ns CPU per read: this client without storage`.
pub(crate) fn ceiling_sentence(summary: &Summary, ceiling: &analysis::CeilingFigures) -> String {
    let Some(fastest) = ceiling.fastest else {
        return "not measured".to_owned();
    };
    let of_target = summary.cells.iter().map(|one| &one.cell).filter(|cell| cell.target == ceiling.target);
    let operation = operation(of_target);
    let cpu = fastest
        .cpu_ns_per_op
        .map(|ns| format!(", {} CPU per {operation}", feed::format_duration_ns(ns.round() as u64)))
        .unwrap_or_default();
    format!(
        "{}, {} {operation}s/s at depth {}{cpu}: this client without storage",
        feed::format_bps(fastest.bps),
        feed::format_count(fastest.ops_per_s),
        fastest.queue_depth
    )
}

/// What was needed of which data, where it lies, and how it was measured.
pub(crate) fn need_facts(summary: &Summary) -> Vec<Fact> {
    let plan = Some(summary.head.plan_hash.clone()).filter(|hash| !hash.is_empty());
    let mut facts = vec![Fact::new("need", need(summary))];
    facts.extend(line(summary).map(|line| Fact::new("", line)));
    facts.extend(checkpoint_line(summary).map(|line| Fact::new("", line)));
    facts.extend(plan.map(|hash| Fact::new("plan", hash)));
    facts.extend(data(summary).into_iter().map(|data| Fact::new("data", data)));
    facts.extend(places(summary).into_iter().map(|place| Fact::new("at", place)));
    facts.push(Fact::new("ran", ran(summary)));
    facts
}

/// Which run this is, on what, and all that is known of its targets.
pub(crate) fn run_facts(summary: &Summary) -> Vec<Fact> {
    let head = &summary.head;
    let mut facts = vec![Fact::new("run", format!("{}, started {}", head.run_id, head.started))];
    let machine = words::machine::machine(&head.machine);
    facts.extend((!machine.is_empty()).then(|| Fact::new("machine", machine)));
    let commit = head.tool.commit.as_ref().map(|commit| format!(" ({commit})")).unwrap_or_default();
    let tool = format!("feedline {}{commit}, {} build", head.tool.version, head.tool.profile);
    facts.push(Fact::new("tool", tool));
    facts.extend(summary.targets.iter().map(|target| Fact::new("target", target_words(summary, target))));
    facts
}

/// A target with all that is known of it.
fn target_words(summary: &Summary, target: &record::Target) -> String {
    // A remote target has facts of a network's client, with byte counts and names that its own words make
    // readable.
    let facts: Vec<String> = if network::is_remote(summary, target) {
        network::facts(summary, target)
    } else {
        let words = |fact: &record::Fact| format!("{} {}", fact.name.replace('_', " "), fact.value);
        target.facts.iter().map(words).collect()
    };
    let said = [about(target), demo_words(target, true)].into_iter().filter(|words| !words.is_empty());
    let all = facts.into_iter().chain(said).map(|words| format!("; {words}"));
    format!("{}: {}{}", target.name, target.at, all.collect::<String>())
}

/// The title of a run.
pub(crate) fn title(summary: &Summary) -> &str {
    summary.head.title.as_deref().unwrap_or(&summary.head.scenario)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_names_its_unit_once_where_both_ends_share_it() {
        let reads_per_s = |rate| per_s(rate, "read");
        assert_eq!(range((5.8e6, 15.2e6), reads_per_s), "5.8 to 15.2 M reads/s");
        assert_eq!(range((580e3, 15.2e6), reads_per_s), "580 k reads/s to 15.2 M reads/s");
        assert_eq!(range((270e3, 275e3), reads_per_s), "275 k reads/s");
        assert_eq!(range((12e9, 31e9), feed::format_bps), "12 to 31 GB/s");
    }

    #[test]
    fn what_writes_too_has_a_ceiling_of_operations() {
        let of = |does: &str| {
            let mut cell = record::testing::cell("c", "disk", 8);
            cell.operation = does.into();
            operation(std::iter::once(&cell))
        };
        assert_eq!(["read", "write", "mix"].map(of), ["read", "operation", "operation"]);
    }
}
