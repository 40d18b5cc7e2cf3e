//! `feedline plan`: what a run would do. Reads and writes nothing below a target.

mod asked;
mod line;
mod requests;

use std::collections::BTreeSet;

use feed::units::{format_bytes, format_duration_ns, group_digits};
use plan::{Cache, Codec, DatasetSpec, Distribution, FILES_PER_FOLDER, Layout, Limit, Operation, Plan};
use prepare::Prepared;

use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::{data, load, open, output};

/// What ceilings and the setting up of a repetition take, about.
pub(crate) const OVERHEAD_NS: u64 = 150_000_000;

pub(crate) use line::words as line_words;

pub(crate) fn plan(args: &InputArgs) -> Result<Exit, Failure> {
    let plan = load::load(args)?.plan;
    data::check_places(&plan)?;
    output::print(&describe(&plan))?;
    Ok(Exit::Ok)
}

fn describe(plan: &Plan) -> String {
    let buffers = plan.cells.iter().map(plan::Cell::buffers_bytes).max().unwrap_or(0);
    let mut rows = vec![("need", need(plan)), ("line", line::words(plan))];
    rows.extend(plan.need.loader_depth.map(|depth| ("loader", loader(plan, depth))));
    rows.extend(plan.targets.iter().map(|target| ("target", place(target))));
    rows.extend(datasets(plan).into_iter().map(|data| ("data", data)));
    rows.extend(checkpoints(plan).map(|row| ("checkpoint", row)));
    rows.extend(requests::rows(plan).into_iter().map(|row| ("requests", row)));
    rows.extend([
        ("cells", cells(plan)),
        ("time", format!("{}{}", time(plan), if writes(plan) { ", and the writing of data" } else { "" })),
        ("memory", format!("{} of buffers at most, of {} pages", format_bytes(buffers), pages(plan))),
        ("privileges", privileges(plan)),
        ("plan", hash(plan)),
    ]);
    rows.extend(
        plan.skipped.iter().map(|of| ("skipped", format!("{} on {}: {}", of.engine, of.target, of.reason))),
    );
    let rows = rows.into_iter().map(|(name, value)| format!("{name:<11}{value}\n"));
    rows.chain(plan.cells.iter().map(cell)).collect()
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

/// Where a target lies: a mount that is missing would otherwise be the root disk.
fn place(target: &plan::Target) -> String {
    if target.config.capabilities().network || !target.config.is_storage() {
        return remote(target);
    }
    let facts = open::connect(&target.config).map(|store| store.facts()).unwrap_or_default();
    let fact = |name: &str| facts.iter().find(|fact| fact.0 == name).map(|fact| fact.1.as_str());
    match (fact("file_system"), fact("mount_point"), fact("mount_source")) {
        (Some(kind), Some(point), Some(source)) => {
            format!("{}: {} on {kind} ({source}, mounted at {point})", target.name, target.at)
        }
        _ => format!("{}: {}", target.name, target.at),
    }
}

/// Where a target lies that is no path. Nothing is connected to: a plan is made before there is a way to the server.
fn remote(target: &plan::Target) -> String {
    let settings = target.config.words().into_iter().map(|(name, value)| format!("{name} {value}"));
    let served = target.emulate.as_ref().map(|emulation| {
        let like = emulation.profile.as_ref().map_or_else(String::new, |name| format!(" like {name}"));
        format!("on a server that feedline starts{like}, which judges nothing")
    });
    let settings: Vec<String> = settings.chain(served).collect();
    let settings = if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
    format!("{}: {}{settings}", target.name, target.at)
}

fn datasets(plan: &Plan) -> Vec<String> {
    let uses: BTreeSet<(usize, usize)> = plan.cells.iter().map(|cell| (cell.target, cell.dataset)).collect();
    uses.into_iter().map(|(target, dataset)| data(&plan.targets[target], &plan.datasets[dataset])).collect()
}

fn data(target: &plan::Target, spec: &DatasetSpec) -> String {
    match spec {
        _ if !target.config.is_storage() => format!("{}: none", target.name),
        DatasetSpec::Generate(generate) if generate.packing.is_some() => {
            let imagined = prepare::planned(spec).and_then(|_| Prepared::imagined(spec));
            format!("{}: {}, to be written once and reused", target.name, shards(generate, imagined.as_ref()))
        }
        DatasetSpec::Generate(plan::Generate {
            samples,
            sample_bytes,
            distribution,
            files_per_folder,
            ..
        }) => format!(
            "{}: {} files of {} B{} ({}){} to be written once and reused",
            target.name,
            group_digits(*samples),
            group_digits(*sample_bytes),
            spread(*distribution),
            format_bytes(spec.total_bytes().unwrap_or(0)),
            fan_out(*files_per_folder),
        ),
        DatasetSpec::Existing(existing) => {
            let which = existing.shards.as_ref().map_or_else(String::new, |shards| format!(" as `{shards}`"));
            match existing.layout {
                Some(layout) if layout != Layout::Files => {
                    format!("{}: the {} shards found there{which}, never written", target.name, layout.name())
                }
                _ => format!("{}: the files found there{which}, never written", target.name),
            }
        }
    }
}

/// What is written for checkpoints, target by target.
pub(crate) fn checkpoints(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let made = |cell: &plan::Cell| cell.checkpoint.clone().map(|of| (of.to, of));
    let by_target: std::collections::BTreeMap<usize, plan::Checkpoint> =
        plan.cells.iter().filter_map(made).collect();
    by_target.into_values().map(|of| {
        format!(
            "{}: {} ({} in {}), again and again; {} of them lie there at most, and none in the end",
            plan.targets[of.to].name,
            of.label,
            format_bytes(of.bytes()),
            feed::units::counted_noun(u64::from(of.files), "file"),
            of.keep + 1,
        )
    })
}

/// What is copied, target by target.
pub(crate) fn copies(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let copies = plan.cells.iter().filter_map(|cell| Some((cell, cell.copy?)));
    copies.map(|(cell, copy)| {
        let whole = plan.dataset(cell).total_bytes();
        let bytes =
            whole.zip(copy.size_bytes).map(|(whole, size)| whole.min(size)).or(copy.size_bytes).or(whole);
        let amount = bytes
            .map_or_else(|| "the whole dataset".to_owned(), |bytes| format!("about {}", format_bytes(bytes)));
        let left = if copy.keep { "the last one stays" } else { "none stays" };
        format!("{}: a copy of {amount} in each repetition; {left}", plan.targets[copy.to].name)
    })
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
    let names = plan.cells.iter().any(|cell| cell.operation != Operation::Read && starts_cold(cell));
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

/// How long a run takes: up to the first look at its fresh repetitions, and where further rounds are needed.
pub(crate) fn time(plan: &Plan) -> String {
    let measure = &plan.measure;
    let of_rounds = |rounds: u32| Some(repetitions(plan, rounds).saturating_mul(repetition_ns(plan)?));
    let Some((total_ns, most_ns)) = of_rounds(measure.repetitions).zip(of_rounds(measure.fresh_rounds))
    else {
        return "until the bytes or epochs asked are read".to_owned();
    };
    let [total, most] = [total_ns, most_ns].map(format_duration_ns);
    let budget = measure.budget_ns.map_or_else(String::new, format_duration_ns);
    // A search for the depth may end with its first cells.
    let about = if plan.cells.iter().any(|cell| cell.auto_group.is_some()) { "up to" } else { "about" };
    match measure.budget_ns {
        Some(budget_ns) if budget_ns < total_ns => {
            format!("{budget}, the budget: what does not fit of about {total} is left out")
        }
        Some(budget_ns) if budget_ns < most_ns => {
            format!("{about} {total}, while a verdict is open up to the budget of {budget}")
        }
        _ if most_ns > total_ns => format!("{about} {total}, {most} while a verdict is open"),
        _ => format!("{about} {total}"),
    }
}

/// How long a search takes, which tries as many values as it takes.
pub(crate) fn search_time(plan: &Plan) -> String {
    let each = repetition_ns(plan).map_or_else(|| "a repetition".to_owned(), format_duration_ns);
    format!(
        "{each} for each value that is tried, {} x that for each side of the edge",
        plan.measure.repetitions
    )
}

/// How long it measures at most; `None` where that depends on the storage.
pub(crate) fn most_ns(plan: &Plan) -> Option<u64> {
    let planned_ns = repetitions(plan, plan.measure.fresh_rounds).saturating_mul(repetition_ns(plan)?);
    Some(plan.measure.budget_ns.map_or(planned_ns, |budget_ns| planned_ns.min(budget_ns)))
}

/// Repetitions of all cells, with so many rounds of fresh ones.
pub(crate) fn repetitions(plan: &Plan, rounds: u32) -> u64 {
    let made = plan.cells.len() as u64 * u64::from(plan.measure.repetitions);
    made + super::run::fresh_cells(plan) * u64::from(rounds)
}

/// What one repetition takes; `None` where that depends on the storage.
fn repetition_ns(plan: &Plan) -> Option<u64> {
    let window_ns = match plan.measure.limit {
        Limit::Duration { duration_ns } => duration_ns,
        Limit::Steps { otherwise_ns, .. } => otherwise_ns,
        Limit::Bytes { .. } | Limit::Epochs { .. } => return None,
    };
    Some(plan.measure.warmup_ns.saturating_add(window_ns).saturating_add(OVERHEAD_NS))
}

/// What a run reads up to the first look at its fresh repetitions, and what it writes. Where repetitions end by time or by
/// steps, what they read depends on the storage: it is told for one that gives as much as the line.
pub(crate) fn bytes(plan: &Plan) -> String {
    let made = plan.cells.iter().map(|cell| (cell, plan.measure.repetitions));
    let each: Option<Vec<f64>> =
        made.map(|(cell, times)| Some(bytes_of(plan, cell)? * f64::from(times))).collect();
    let Some(each) = each.filter(|each| !each.is_empty()) else {
        return "what it reads is known once the folder is listed".to_owned();
    };
    // Which cells are measured afresh is not known yet: they are counted like the others in the mean.
    let fresh = super::run::fresh_cells(plan) as f64 / each.len() as f64;
    let read = format_bytes((each.iter().sum::<f64>() * (1.0 + fresh)).round() as u64);
    let read = match plan.measure.limit {
        Limit::Bytes { .. } | Limit::Epochs { .. } => format!("reads about {read}"),
        Limit::Duration { .. } | Limit::Steps { .. } => {
            format!("reads about {read} where the storage gives what the line takes")
        }
    };
    let written: u64 = places(plan).filter_map(|(_, dataset)| plan.datasets[dataset].total_bytes()).sum();
    if written == 0 { read } else { format!("{read}, writes {} at most", format_bytes(written)) }
}

/// What one repetition of a cell reads; `None` where that is not known before the data is listed.
fn bytes_of(plan: &Plan, cell: &plan::Cell) -> Option<f64> {
    let spec = plan.dataset(cell);
    let at_line = |window_ns: u64| {
        let sample_bytes = match spec {
            DatasetSpec::Generate(generate) => Some(generate.sample_bytes),
            DatasetSpec::Existing(existing) => existing.sample_bytes,
        };
        let sample_bytes = sample_bytes.map(|bytes| bytes as f64).or_else(|| plan.need.sample_bytes());
        let seconds = (plan.measure.warmup_ns + window_ns) as f64 / 1e9;
        plan.need.line_bps(sample_bytes.unwrap_or(1.0)) * seconds
    };
    match plan.measure.limit {
        Limit::Bytes { bytes } => Some(bytes as f64),
        Limit::Epochs { epochs } => Some(spec.total_bytes()? as f64 * epochs as f64),
        Limit::Duration { duration_ns: window_ns } | Limit::Steps { otherwise_ns: window_ns, .. } => {
            Some(at_line(window_ns))
        }
    }
}

/// Where datasets lie: each target with each dataset that it is read for.
fn places(plan: &Plan) -> impl Iterator<Item = (usize, usize)> {
    let stored = plan.cells.iter().filter(|cell| plan.targets[cell.target].config.is_storage());
    let places: BTreeSet<(usize, usize)> = stored.map(|cell| (cell.target, cell.dataset)).collect();
    places.into_iter()
}

fn hash(plan: &Plan) -> String {
    let planned: Vec<_> = plan.datasets.iter().map(prepare::planned).collect();
    if planned.iter().any(Option::is_none) {
        return "known once the folder is listed".to_owned();
    }
    describe::plan_hash(plan.cells.iter().filter_map(|cell| Some((cell, planned[cell.dataset].as_ref()?))))
}
