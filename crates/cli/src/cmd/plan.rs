//! `feedline plan`: what a run would do. Reads and writes nothing below a target.

mod asked;
mod job;
mod line;
mod requests;

use std::collections::BTreeSet;

use feed::units::{format_bytes, group_digits};
use plan::{Cache, Codec, DatasetSpec, Distribution, FILES_PER_FOLDER, Layout, Plan, Task};
use prepare::Prepared;
use record::AxisWords;

use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::{cost, data, host, launched, load, open, output};

pub(crate) use line::words as line_words;

pub(crate) fn plan(args: &InputArgs) -> Result<Exit, Failure> {
    let place = launched::place()?;
    let plan = load::load(args)?.plan;
    // What `run` would refuse is refused here, without a connection to anything.
    data::check_places(&plan)?;
    let processes = place.map(|place| format!("{:<11}{}\n", "process", place.words()));
    output::print(&(processes.unwrap_or_default() + &describe(&plan)))?;
    Ok(Exit::Ok)
}

fn describe(plan: &Plan) -> String {
    let mut rows = vec![("need", need(plan)), ("line", line::words(plan))];
    rows.extend(plan.need.loader_depth.map(|depth| ("loader", loader(plan, depth))));
    rows.extend(job::words(plan).map(|job| ("job", job)));
    rows.extend(plan.targets.iter().map(|target| ("target", place(target))));
    rows.extend(datasets(plan).into_iter().map(|data| ("data", data)));
    rows.extend(cost::checkpoints(plan).map(|row| ("checkpoint", row)));
    rows.extend(cost::overwrites(plan).map(|row| ("writes", row)));
    rows.extend(requests::rows(plan).into_iter().map(|row| ("requests", row)));
    rows.extend([
        ("cells", cells(plan)),
        (
            "time",
            format!("{}{}", cost::time(plan), if writes(plan) { ", and the writing of data" } else { "" }),
        ),
        ("memory", memory(plan, host::copy_source_bytes())),
        ("privileges", privileges(plan)),
        ("plan", hash(plan)),
    ]);
    rows.extend(
        plan.skipped.iter().map(|of| ("skipped", format!("{} on {}: {}", of.engine, of.target, of.reason))),
    );
    let rows = rows.into_iter().map(|(name, value)| format!("{name:<11}{value}\n"));
    rows.chain(plan.cells.iter().map(cell)).collect()
}

/// What is held at once, at most; `source_bytes` are those of what ceilings are copied from.
fn memory(plan: &Plan, source_bytes: u64) -> String {
    // The most, not the sum: cells follow one another.
    let buffers = plan.cells.iter().map(plan::Cell::buffers_bytes).max().unwrap_or(0);
    let source = if plan.cells.iter().any(plan::Cell::copies) {
        format!(", and {} while its own ceilings are measured", format_bytes(source_bytes))
    } else {
        String::new()
    };
    format!("{} of buffers at most, of {} pages{source}", format_bytes(buffers), pages(plan))
}

/// `base`, `base or huge`.
fn pages(plan: &Plan) -> String {
    let pages: BTreeSet<plan::Pages> = plan.cells.iter().map(|cell| cell.pages).collect();
    pages.into_iter().map(plan::Pages::name).collect::<Vec<_>>().join(" or ")
}

fn cell(cell: &plan::Cell) -> String {
    let stands_in = cell.stands_in_for.as_ref().map(|why| format!("  (for {why})")).unwrap_or_default();
    let threads = if cell.threads == 1 { "thread" } else { "threads" };
    let connections = match cell.connections {
        0 => String::new(),
        1 => ", 1 connection".to_owned(),
        several => format!(", {several} connections"),
    };
    format!("  {}  {} {threads}{connections}{stands_in}\n", cell.slug, cell.threads)
}

fn need(plan: &Plan) -> String {
    format!("{} ({})", plan.need.label, plan.need.source)
}

/// What the stated loader can have outstanding.
fn loader(plan: &Plan, depth: u32) -> String {
    let accelerators = u64::from(plan.need.accelerators);
    let readers = feed::counted_noun(u64::from(depth) / accelerators.max(1), "reader");
    let outstanding = feed::counted_noun(u64::from(depth), "read");
    let accelerators = feed::counted_noun(accelerators, "accelerator");
    format!("{readers} on each of {accelerators}: {outstanding} outstanding at most")
}

/// Where a target lies, and what feedline puts before it. A mount that is missing would otherwise be the root disk.
fn place(target: &plan::Target) -> String {
    let settings = target.config.words().into_iter().map(|(name, value)| format!("{name} {value}"));
    let settings: Vec<String> = mount(target)
        .into_iter()
        .chain(settings)
        .chain(target.emulate.as_ref().map(|of| played(target, of)))
        .collect();
    let settings = if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
    format!("{}: {}{settings}", target.name, target.at)
}

/// What a path lies on; absent for others. Nothing is connected to: a plan is made before there is a way to the server.
fn mount(target: &plan::Target) -> Option<String> {
    if target.config.capabilities().network || !target.config.is_storage() {
        return None;
    }
    let facts = open::connect(&target.config).map(|store| store.facts()).unwrap_or_default();
    let fact = |name: &str| facts.iter().find(|fact| fact.0 == name).map(|fact| fact.1.as_str());
    // Where it is mounted is the first thing to check: a mount that failed leaves a folder on the root disk.
    let (kind, point, source) = (fact("file_system")?, fact("mount_point")?, fact("mount_source")?);
    Some(format!("{kind} of {source}, mounted at {point}"))
}

fn played(target: &plan::Target, emulation: &plan::Emulation) -> String {
    let like = emulation.profile.as_ref().map_or_else(String::new, |name| format!(" like {name}"));
    let played = if target.is_slowed_here() { "slowed down" } else { "on a server that feedline starts" };
    format!("{played}{like}, which judges nothing")
}

fn datasets(plan: &Plan) -> Vec<String> {
    let places = plan.places().into_iter();
    let data = |(target, dataset): (usize, usize)| {
        let target = &plan.targets[target];
        format!("{}{}: {}", target.name, form(plan, dataset), data(target, &plan.datasets[dataset]))
    };
    places.map(data).collect()
}

/// Which of several forms a dataset is: `, 64 MiB shards, codec none`.
fn form(plan: &Plan, dataset: usize) -> String {
    // The plan says it of cells alone: a dataset by itself knows no others.
    let cell = plan.cells.iter().find(|cell| cell.dataset == dataset);
    let axes: Vec<AxisWords> = cell.into_iter().flat_map(|cell| &cell.axes).map(describe::axis).collect();
    let form = report::words::form::all(&axes);
    if form.is_empty() { form } else { format!(", {form}") }
}

fn data(target: &plan::Target, spec: &DatasetSpec) -> String {
    match spec {
        _ if !target.config.is_storage() => "none".to_owned(),
        DatasetSpec::Generate(generate) if generate.packing.is_some() => {
            let imagined = prepare::planned(spec).and_then(|_| Prepared::imagined(spec));
            format!("{}, to be written once and reused", shards(generate, imagined.as_ref()))
        }
        DatasetSpec::Generate(plan::Generate {
            samples,
            sample_bytes,
            distribution,
            files_per_folder,
            ..
        }) => format!(
            "{} files of {} B{} ({}){} to be written once and reused",
            group_digits(*samples),
            group_digits(*sample_bytes),
            spread(*distribution),
            format_bytes(spec.total_bytes().unwrap_or(0)),
            fan_out(*files_per_folder),
        ),
        DatasetSpec::Existing(existing) => {
            let which = existing.shards.as_ref().map_or_else(String::new, |shards| format!(" as `{shards}`"));
            if let Some(order) = &existing.order {
                let reads = feed::counted_noun(order.reads, "read");
                let files = feed::counted_noun(order.files, "file");
                return format!("{reads} of {files}, as `{}` lists them, never written", order.at);
            }
            match existing.layout {
                Some(layout) if layout != Layout::Files => {
                    format!("the {} shards found there{which}, never written", layout.name())
                }
                _ => format!("the files found there{which}, never written"),
            }
        }
    }
}

fn writes(plan: &Plan) -> bool {
    plan.datasets.iter().any(|spec| matches!(spec, DatasetSpec::Generate(_)))
}

/// Shards to be written: what they will hold, as far as that is arithmetic.
fn shards(generate: &plan::Generate, imagined: Option<&Prepared>) -> String {
    if let Some(words) =
        imagined.and_then(|imagined| describe::packing::words(imagined, Some(generate.sample_bytes as f64)))
    {
        return words.replace(" of the need)", " of a sample)");
    }
    let Some(of) = generate.packing else { return String::new() };
    let codec = match of.codec {
        Codec::None => String::new(),
        codec => format!(" compressed with {}", codec.name()),
    };
    let count = of.shards(generate.samples, generate.sample_bytes);
    format!(
        "{}{codec} with {} samples of {} B before packing",
        feed::units::counted_noun(count, &format!("{} shard", of.layout.name())),
        group_digits(generate.samples),
        group_digits(generate.sample_bytes),
    )
}

fn spread(distribution: Distribution) -> String {
    match distribution {
        Distribution::Fixed => String::new(),
        Distribution::LogNormal { stdev_bytes } => {
            format!(" on average, lognormal with a standard deviation of {} B", group_digits(stdev_bytes))
        }
    }
}

fn fan_out(files_per_folder: u32) -> String {
    if files_per_folder == FILES_PER_FOLDER {
        return String::new();
    }
    format!(", {} to a folder,", group_digits(u64::from(files_per_folder)))
}

/// What the cells need or gain from more rights than a user has.
fn privileges(plan: &Plan) -> String {
    let is_device =
        |target: &plan::Target| target.config.is_storage() && !target.config.capabilities().writable;
    let device = plan.targets.iter().any(is_device);
    let starts_cold = |cell: &plan::Cell| matches!(cell.cache, Cache::Cold | Cache::ColdStart);
    let names = plan.cells.iter().any(|cell| cell.task != Task::Read && starts_cold(cell));
    let device = if device { "reading the device" } else { "none" };
    let names = if names { "; root alone drops names and inodes before cold cells" } else { "" };
    format!("{device}; locked memory for registered buffers where it is granted{names}")
}

fn cells(plan: &Plan) -> String {
    let searched = plan.cells.iter().filter(|cell| cell.auto_group.is_some()).count();
    let auto = if searched > 0 {
        format!("; {searched} are depths of a search that may end early")
    } else {
        String::new()
    };
    format!("{} x {} repetitions{auto}", plan.cells.len(), plan.measure.repetitions)
}

fn hash(plan: &Plan) -> String {
    let planned: Vec<_> = plan.datasets.iter().map(prepare::planned).collect();
    if planned.iter().any(Option::is_none) {
        return "known once the folder is listed".to_owned();
    }
    describe::plan_hash(plan.cells.iter().filter_map(|cell| Some((cell, planned[cell.dataset].as_ref()?))))
}
