//! Tuning as run: what the storage, the kernel and the engines were set to, from the record alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fmt::Write as _;

use record::{Captured, Cell, Environment, Limit, Line, RunRecord, Target};

use crate::markdown::text;

/// A Markdown page that another needs to set a machine up alike.
pub fn tuning(record: &RunRecord) -> String {
    let run = &record.run;
    let mut page = format!("# Tuning of {} as run\n", text(&run.run_id));
    page.push_str("\nEverything here was read from the record; nothing was set by hand.\n");
    let commit = run.tool.commit.as_deref().map(|commit| format!(" ({commit})")).unwrap_or_default();
    let tool = format!("feedline {}{commit}, {} build", run.tool.version, run.tool.profile);
    let command = record::typed(&run.command);
    let measure = &run.measure;
    let duration =
        measure.duration_ns.map_or_else(|| "by bytes or steps".to_owned(), feed::format_duration_ns);
    table(
        &mut page,
        "Run",
        &[
            ("tool".to_owned(), tool),
            ("command".to_owned(), command),
            ("plan".to_owned(), run.plan_hash.clone()),
            ("warm-up".to_owned(), feed::format_duration_ns(measure.warmup_ns)),
            ("window".to_owned(), duration),
            ("repetitions".to_owned(), measure.repetitions.to_string()),
            ("seed".to_owned(), measure.seed.to_string()),
        ],
    );
    table(&mut page, "Machine and limits", &machine(&record.env));
    // Nothing is tuned below the null target.
    for target in run.targets.iter().filter(|target| target.storage) {
        table(&mut page, &format!("Target {}", target.name), &of_target(target));
        for (engine, rows) in engines(record, target) {
            table(&mut page, &format!("{} on {}", engine, target.name), &rows);
        }
    }
    page
}

type Rows = Vec<(String, String)>;

fn table(page: &mut String, title: &str, rows: &[(String, String)]) {
    let _ = write!(page, "\n## {}\n\n| | |\n|---|---|\n", text(title));
    for (name, value) in rows {
        let _ = writeln!(page, "| {} | {} |", text(name), text(value));
    }
}

fn machine(env: &Environment) -> Rows {
    let mut rows = vec![
        fact("kernel", &env.kernel),
        fact("architecture", &env.architecture),
        fact("processor", &env.cpu_model),
        fact("processors online", &env.cores_online),
        fact("processors usable", &env.cores_usable),
        words("memory", &env.memory_bytes, |bytes| feed::format_bytes(*bytes)),
        fact("frequency governor", &env.governor),
        fact("clock source", &env.clocksource),
        fact("transparent huge pages", &env.transparent_huge_pages),
        fact("virtualization", &env.virtualization),
        fact("container", &env.container),
        words("processors by cgroup", &env.cgroup_cpu_cores, limit),
        words("memory by cgroup", &env.cgroup_memory_bytes, limit),
        words("open files at most", &env.open_files_max, limit),
        words("locked memory at most, bytes", &env.locked_memory_bytes_max, limit),
        fact("kernel.io_uring_disabled", &env.io_uring_disabled),
    ];
    for (name, mitigation) in env.mitigations.value().into_iter().flatten() {
        rows.push((format!("mitigation of {name}"), mitigation.clone()));
    }
    rows
}

fn fact<T: Display>(name: &str, fact: &Captured<T>) -> (String, String) {
    words(name, fact, ToString::to_string)
}

fn words<T>(name: &str, fact: &Captured<T>, write: impl Fn(&T) -> String) -> (String, String) {
    let value = match fact {
        Captured::Value(value) => write(value),
        Captured::Unavailable(reason) => format!("unknown: {reason}"),
    };
    (name.to_owned(), value)
}

fn limit<T: Display>(limit: &Limit<T>) -> String {
    match limit {
        Limit::Unlimited => "unlimited".to_owned(),
        Limit::At(most) => most.to_string(),
    }
}

fn of_target(target: &Target) -> Rows {
    let mut rows = vec![("at".to_owned(), target.at.clone())];
    let spaced = |name: &str| name.replace('_', " ");
    rows.extend(target.facts.iter().map(|fact| (spaced(&fact.name), fact.value.clone())));
    if let Some(emulation) = &target.emulation {
        let profile = emulation.profile.clone().unwrap_or_else(|| "none".to_owned());
        rows.push(("emulated, profile".to_owned(), profile));
        rows.extend(emulation.settings.iter().map(|fact| (spaced(&fact.name), fact.value.clone())));
    }
    rows
}

/// For each engine of a target what its cells were set to and what the engine was granted; every value that occurs.
fn engines(record: &RunRecord, target: &Target) -> BTreeMap<String, Rows> {
    let mut engines: BTreeMap<&str, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    let of_target = |cell: &&Cell| cell.target == target.name;
    for cell in record.run.cells.iter().filter(of_target) {
        let known = engines.entry(&cell.engine).or_default();
        for (name, value) in settings(cell) {
            known.entry(name).or_default().insert(value);
        }
    }
    for line in &record.lines {
        let Line::Rep(rep) = line else { continue };
        let mut cells = record.run.cells.iter().filter(of_target);
        let Some(cell) = cells.find(|cell| cell.cell == rep.cell) else { continue };
        let known = engines.entry(&cell.engine).or_default();
        // What repetitions say of their first failure is no setting.
        for (name, value) in rep.granted.iter().filter(|(name, _)| !name.starts_with("first_")) {
            let name = format!("granted: {}", name.replace('_', " "));
            known.entry(name).or_default().insert(value.clone());
        }
    }
    let joined = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join("; ");
    let rows = |known: BTreeMap<String, BTreeSet<String>>| {
        known.into_iter().map(|(name, values)| (name, joined(values))).collect()
    };
    engines.into_iter().map(|(engine, known)| (engine.to_owned(), rows(known))).collect()
}

fn settings(cell: &Cell) -> Rows {
    let named = |name: &str, value: String| (name.to_owned(), value);
    let mut rows = vec![
        named("queue depth", cell.queue_depth.to_string()),
        named("threads", cell.threads.to_string()),
        named("block", feed::format_bytes(cell.block_bytes)),
        named("access", cell.access.to_string()),
        named("page cache", cell.cache.to_string()),
        named("operation", cell.operation.to_string()),
    ];
    let optional = [
        ("connections", (cell.connections > 0).then_some(cell.connections)),
        ("retries", (cell.retries > 0).then_some(cell.retries)),
        ("submit batch", cell.submit_batch),
        ("complete batch", cell.complete_batch),
    ];
    rows.extend(optional.into_iter().filter_map(|(name, value)| Some(named(name, value?.to_string()))));
    rows.extend(cell.stands_in_for.iter().map(|engine| named("stands in for", engine.clone())));
    rows
}
