//! From the command line to a plan.

use std::path::Path;

use plan::Plan;
use scenario::Source;

use crate::args::InputArgs;
use crate::exit::Failure;
use crate::host;

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
    let scenario = scenario::parse(&source, &args.set).map_err(Failure::usage)?;
    let facts = host::facts(&scenario.local_paths());
    let plan = scenario::resolve(&scenario, &facts).map_err(Failure::usage)?;
    Ok(Loaded { text: scenario.as_run(), plan })
}

/// The local paths of a scenario's targets, or the path itself. Asks nothing of the machine: what is there may be
/// removed from a full disk too.
pub(crate) fn local_paths(input: &str) -> Result<Vec<String>, Failure> {
    if !is_scenario(input) {
        return Ok(vec![input.to_owned()]);
    }
    Ok(scenario::parse(&read(input)?, &[]).map_err(Failure::usage)?.local_paths())
}

fn source(args: &InputArgs) -> Result<Source, Failure> {
    if is_scenario(&args.input) {
        if args.need.is_some() {
            return Err(Failure::usage(
                "error: --need goes with a path; a scenario file states its own `need` (or use --set need=\"…\")",
            ));
        }
        return read(&args.input);
    }
    if args.need.is_none() {
        return Err(Failure::usage(format!(
            "error: `{}` is no scenario file (*.toml)\n  hint: to test a path, say what it must feed: --need 8xh100:resnet50",
            args.input
        )));
    }
    let is_device = backend_file::probe_path(Path::new(&args.input)).block_device_bytes.is_some();
    let source = if is_device { scenario::from_device } else { scenario::from_path };
    Ok(source(&args.input, args.need.as_deref()))
}

fn read(path: &str) -> Result<Source, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("error: cannot read the scenario `{path}`: {error}\n  hint: `feedline init {path} --at FOLDER` writes one")))?;
    Ok(Source { name: path.to_owned(), text })
}

/// Whether the input is named like a scenario file.
pub(crate) fn is_scenario(input: &str) -> bool {
    Path::new(input).extension().is_some_and(|extension| extension == "toml")
}
