//! Scenarios that settle claims of the field.

use std::path::PathBuf;

use plan::{Limit, Load, Plan};
use scenario::Source;

use crate::machine::machine;
use crate::shipped::assert_valid;

const MS: u64 = 1_000_000;
/// What a reader waits for one of them, ceilings and the writing of its data aside.
const LONGEST_MS: u64 = 100_000;

fn resolved(source: &Source) -> Plan {
    let scenario = scenario::parse(source, &[]);
    let host = machine(&scenario.local_paths());
    scenario::resolve(&scenario, &host).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn claims() -> Vec<Source> {
    below("claims")
}

fn below(folder: &str) -> Vec<Source> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let source = |path: PathBuf| Source {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        text: std::fs::read_to_string(path).unwrap(),
    };
    paths.into_iter().map(source).collect()
}

#[test]
fn each_claim_is_predicted_and_as_short_as_it_says() {
    let claims = claims();
    assert_eq!(claims.len(), 38);
    for source in claims {
        let name = &source.name;
        assert!(source.text.starts_with("#:schema ../../schema/scenario-v1.json\n# Why: "), "{name}");
        assert_valid(name, &source.text);
        let plan = resolved(&source);
        assert_eq!(format!("{}.toml", plan.name), *name);
        let cells = plan.cells.len();
        let says = |what: &str| source.text.contains(&format!("\n# {what} of "));
        let jobs = plan.cells.iter().filter(|cell| matches!(cell.load, Load::Training(_))).count();
        if jobs > 0 {
            // A job is held against what its steps take, with a memory or a disk beside what is emulated, and ends with them.
            assert!(
                says(&format!("{cells} cells")) || says(&format!("{jobs} jobs")),
                "{name}: {cells}, {jobs} jobs"
            );
            continue;
        }
        // What a drive of the user's gives is no more foretold than it is emulated, but where the file says what is claimed.
        let emulated = plan.targets.iter().filter(|target| target.emulate.is_some()).count();
        assert!(emulated == plan.targets.len() || emulated == 0, "{name}");
        assert!(emulated == 0 || plan.is_predicted(), "{name}");
        assert!(says(&format!("{cells} cells")), "{name}: {cells}");
        let Limit::Duration { duration_ns } = plan.measure.limit else {
            assert_eq!(emulated, 0, "{name}: a server may be slow");
            continue;
        };
        let repetitions =
            (plan.cells.len() + plan.targets.len()) as u64 * u64::from(plan.measure.repetitions);
        let measured_ms = repetitions * (plan.measure.warmup_ns + duration_ns) / MS;
        assert!(measured_ms <= LONGEST_MS, "{name}: {measured_ms}");
    }
}

#[test]
fn each_cause_matches_the_schema_and_is_called_as_its_file() {
    for source in below("causes") {
        assert_valid(&source.name, &source.text);
        assert_eq!(format!("{}.toml", resolved(&source).name), source.name);
    }
}

/// What the head of a file says to take the `#` from.
#[test]
fn a_commented_claim_is_good_as_it_stands() {
    let mut commented = 0;
    for source in claims().into_iter().filter(|source| source.text.contains("\n#expect = ")) {
        commented += 1;
        let text = source.text.replace("\n#expect = ", "\nexpect = ");
        assert_valid(&source.name, &text);
        assert!(resolved(&Source { text, ..source }).expect.is_some());
    }
    assert!(commented >= 3, "{commented}");
}

/// Where server and claim are given, the file says the same of both.
#[test]
fn a_claim_and_its_server_agree() {
    for source in claims() {
        let plan = resolved(&source);
        for (claim, target) in
            plan.expect.iter().flat_map(|claim| plan.targets.iter().map(move |of| (claim, of)))
        {
            let mut emulated = target.emulated();
            // Prefixes are those of each target.
            if let Some(settings) = &mut emulated {
                settings.prefixes = claim.settings.prefixes;
            }
            assert!(emulated.is_none_or(|settings| settings == claim.settings), "{}", source.name);
        }
    }
}

#[test]
fn a_claim_has_words_and_at_least_one_figure() {
    let refused = |expect: &str| {
        let text = format!(
            "version = 1\nneed = \"8xh100:resnet50\"\ntargets.t = {{ at = \"/mnt/t\" }}\nexpect = {expect}\n"
        );
        let scenario = scenario::parse(&Source { name: "c.toml".to_owned(), text }, &[]);
        scenario::resolve(&scenario, &machine(&scenario.local_paths())).unwrap_err().to_string()
    };
    assert!(refused("{ claim = \"fast\" }").contains("`expect` has no figure"));
    assert!(refused("{ seek = \"5ms\" }").contains("`expect.claim` is missing"));
    assert!(refused("\"fast\"").contains("`expect` is a table of keys"));
}
