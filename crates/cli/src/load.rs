//! From the command line to a plan.

use std::path::Path;

use feed::{Compared, Flow, Need, NeedSpec};
use plan::{BackendConfig, Margin, Plan};
use scenario::{HostFacts, Source};

use crate::args::InputArgs;
use crate::exit::Failure;
use crate::{bounds, claims, comparing, host};

/// A scenario that was read, and what it resolves to on this machine.
pub(crate) struct Loaded {
    /// The scenario as it will run: the file's text, and the overrides behind it.
    pub(crate) text: String,
    /// What will be done.
    pub(crate) plan: Plan,
}

/// Reads the input, looks at the machine, and resolves; every mistake of the file is in the error.
pub(crate) fn load(args: &InputArgs) -> Result<Loaded, Failure> {
    let source = source(args)?;
    let overrides = overrides(args);
    if is_scenario(&args.input) {
        return resolve(&source, &overrides, args);
    }
    let free_bytes = host::facts(std::slice::from_ref(&args.input)).paths[&args.input].free_bytes;
    // A need of checkpoints alone says itself how much is written.
    let asks_rate = scenario::parse(&source, &overrides).asks_rate();
    let bounded = |count: u64, measure: &str| {
        let size = bounds::dataset(args, free_bytes, count).filter(|_| asks_rate).unwrap_or_default();
        let text = format!("{}{size}{measure}", source.text);
        resolve(&Source { text, ..source.clone() }, &overrides, args)
    };
    // Twice: how long each repetition may take follows from the number of cells, which the first plan has.
    let loaded = bounded(1, "")?;
    match bounds::measure(args, &loaded.plan) {
        Some(measure) => bounded(loaded.plan.datasets.len() as u64, &measure),
        None => Ok(loaded),
    }
}

/// What the need of the input asks for, reads where it does not say; `None` of checkpoints alone.
pub(crate) fn asks(args: &InputArgs) -> Result<Option<Flow>, Failure> {
    Ok(scenario::parse(&source(args)?, &overrides(args)).asks())
}

/// The flags that set keys of the scenario, as overrides of it.
fn overrides(args: &InputArgs) -> Vec<String> {
    let hold = args.hold.map(|hold| format!("need.hold={}", hold.name()));
    let budget = args.budget.as_ref().map(|budget| format!("measure.budget={budget}"));
    let existing = args.existing.then(|| "dataset.source=existing".to_owned());
    // --set wins over --budget and --existing, as it names the key itself. --hold comes last: `--set
    // need=...` replaces the table that it sets a key of.
    budget.into_iter().chain(existing).chain(args.set.iter().cloned()).chain(hold).collect()
}

/// A need as it is typed: in its short form, as the table of its keys, or as a list of these.
///
/// # Errors
/// A usage error where it is none of them.
pub(crate) fn need(text: &str) -> Result<Need, Failure> {
    if text.starts_with(['{', '[']) {
        return scenario::need(text).map_err(Failure::usage);
    }
    let need = NeedSpec::parse_short(text).and_then(|spec| spec.resolve());
    need.map_err(|error| Failure::usage(scenario::in_flags(&format!("error: {error}"))))
}

fn resolve(source: &Source, overrides: &[String], args: &InputArgs) -> Result<Loaded, Failure> {
    let scenario = scenario::parse(source, overrides).only(&args.only);
    let scenario = if args.is_search { scenario.as_search() } else { scenario };
    let order = scenario.order_file().map(host::order);
    let facts = HostFacts { order, ..host::facts(&scenario.local_paths()) };
    let plan = scenario::resolve(&scenario, &facts).map_err(Failure::usage)?;
    Ok(Loaded { text: scenario.as_run(), plan })
}

impl Loaded {
    /// Takes the margins of the file that the gate names, which is there once `calibrate` has run: what is gated is known
    /// before anything is measured. `stored` says whether runs are compared, or variants of one.
    pub(crate) fn with_margins(mut self, stored: bool) -> Result<Self, Failure> {
        let gate = &mut self.plan.gate;
        if let Some(path) = &gate.calibration {
            let margins = comparing::calibrated(Path::new(path), &self.plan.name, stored)?;
            let of_plan = |margin: &record::Margin| {
                Some(Margin { metric: Compared::of_name(&margin.metric)?, share: margin.share })
            };
            gate.regression = margins.iter().filter_map(of_plan).collect();
        }
        Ok(self)
    }
}

/// Where datasets may lie.
pub(crate) struct Places {
    /// Local paths.
    pub(crate) paths: Vec<String>,
    /// Servers and buckets, under their addresses.
    pub(crate) remotes: Vec<(String, BackendConfig)>,
}

/// The places of a scenario's targets, or the path or URL itself. Asks nothing of the machine: what is there may be
/// removed from a full disk too.
pub(crate) fn places(input: &str) -> Result<Places, Failure> {
    if !is_scenario(input) && !is_url(input) {
        return Ok(Places { paths: vec![input.to_owned()], remotes: Vec::new() });
    }
    // What an address must feed does not matter here, and a scenario without it would be one with a mistake.
    let source = if is_url(input) { scenario::from_path(input, Some("1 GB/s")) } else { read(input)? };
    let scenario = scenario::parse(&source, &[]);
    let remotes = scenario.remotes().map_err(Failure::usage)?;
    Ok(Places { paths: scenario.local_paths(), remotes })
}

fn source(args: &InputArgs) -> Result<Source, Failure> {
    if is_scenario(&args.input) {
        // Refused and not preferred: a gate in the file rests on the file's own need.
        if args.need.is_some() {
            return Err(Failure::usage(
                "error: --need goes with a path or URL; a scenario file states its own `need` (or use --set need=\"…\")",
            ));
        }
        return read(&args.input);
    }
    if args.need.is_none() {
        if let Some(why) = claims::refused(&args.input) {
            return Err(Failure::usage(why));
        }
        return Err(Failure::usage(format!(
            "error: `{}` is no scenario file (*.toml)\n  hint: to test a path or URL, say what it must feed: --need 8xh100:resnet50",
            args.input
        )));
    }
    if is_url(&args.input) {
        return Ok(scenario::from_path(&args.input, args.need.as_deref()));
    }
    let is_device = backend_file::probe_path(Path::new(&args.input)).block_device_bytes.is_some();
    let source = if is_device { scenario::from_device } else { scenario::from_path };
    Ok(source(&args.input, args.need.as_deref()))
}

fn read(path: &str) -> Result<Source, Failure> {
    if let Some(scenario) = claims::named(path) {
        return Ok(Source { name: scenario.file.to_owned(), text: scenario.text.to_owned() });
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("error: cannot read the scenario `{path}`: {error}\n  hint: `feedline init {path} --at FOLDER` writes one")))?;
    Ok(Source { name: path.to_owned(), text })
}

/// Whether the input is named like a scenario file, or is that of a claim that comes with the executable: `claims/c03`.
pub(crate) fn is_scenario(input: &str) -> bool {
    let is_file = Path::new(input).extension().is_some_and(|extension| extension == "toml");
    !is_url(input) && (is_file || claims::named(input).is_some())
}

/// Whether the input is the address of a server or a bucket; whether that can be used is the scenario's to say.
fn is_url(input: &str) -> bool {
    input.contains("://")
}
