//! The field's claims: each has an answer that anyone can make again.

use std::fs;
use std::path::Path;

use crate::harness::{Bench, finish};

/// Numbers of the claims, in the order of the list.
fn ids(bench: &Bench) -> Vec<String> {
    let listed = bench.run(&["claims"]).exits(0).out;
    let is_id = |word: &&str| word.starts_with('C') && word[1..].chars().all(|c| c.is_ascii_digit());
    let firsts =
        listed.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
    firsts.filter(is_id).map(str::to_owned).collect()
}

/// What stands behind a label of the page of a claim.
fn said<'a>(page: &'a str, label: &str) -> Option<&'a str> {
    page.lines().find_map(|line| line.strip_prefix(label)).map(str::trim)
}

/// Words of a command, of which single quotes hold together what spaces part.
fn words(command: &str) -> Vec<String> {
    let pieces = command.split('\'').enumerate();
    let words = pieces.flat_map(|(number, piece)| {
        if number % 2 == 1 {
            vec![piece.to_owned()]
        } else {
            piece.split_whitespace().map(str::to_owned).collect()
        }
    });
    words.collect()
}

#[test]
fn each_claim_is_settled_as_it_says() {
    let bench = Bench::new();
    let ids = ids(&bench);
    assert!(ids.len() == 147, "{ids:?}");
    let mut reckoned = 0;
    for id in &ids {
        let page = bench.run(&["claims", &id.to_lowercase()]).exits(0).out;
        let Some(command) = said(&page, "settle it") else {
            assert!(said(&page, "arithmetic").or(said(&page, "on your own")).is_some(), "{page}");
            bench.run(&["run", &format!("claims/{id}")]).exits(2).says("has no scenario");
            continue;
        };
        let command = words(command);
        assert_eq!(command[0], "feedline", "{page}");
        if let Some(shows) = said(&page, "it shows") {
            let asked: Vec<&str> = command[1..].iter().map(String::as_str).collect();
            bench.run(&asked).exits(0).says(shows);
            reckoned += 1;
        } else if let Some(scenarios) = said(&page, "scenarios") {
            assert_eq!(command[1..], ["run", scenarios.split(", ").next().unwrap()]);
        } else {
            assert_eq!(command[1..], ["run".to_owned(), format!("claims/{}", id.to_lowercase())]);
            assert!(page.contains("\nversion = 1\n"), "{page}");
        }
    }
    assert!(reckoned > 25, "{reckoned}");
}

/// Those that are in the folder, as `crates/truth` plays them.
#[test]
fn each_cause_is_a_scenario_of_any_verb() {
    let bench = Bench::new();
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/causes")).unwrap();
    let page = bench.run(&["claims", "c136"]).exits(0).out;
    for file in files {
        let file = file.unwrap().path();
        let name = format!("causes/{}", file.file_stem().unwrap().to_str().unwrap());
        assert!(page.contains(&name), "{name}: {page}");
        let plan = bench.run(&["plan", &name]).exits(0).out;
        // As long as its head says.
        let cells = plan.lines().find_map(|line| line.strip_prefix("cells ")).unwrap().trim();
        let cells = cells.split(' ').next().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(&format!("\n# {cells} cells of ")), "{name}: {cells}");
        assert!(text.starts_with("#:schema ../../schema/scenario-v1.json\n# Why: "), "{name}");
    }
    bench
        .run(&["run", "causes/weather"])
        .exits(2)
        .says("no scenario of a cause `weather`")
        .says("causes/latency, ");
    bench
        .run(&["run", "claims/c136"])
        .exits(2)
        .says("has several scenarios")
        .says("feedline run causes/latency");
}

#[test]
fn a_claim_is_a_scenario_of_any_verb() {
    let bench = Bench::new();
    bench.run(&["check", "claims/c03"]).exits(0).says("ok: ");
    bench.run(&["plan", "claims/C03", "--set", "dataset.samples=8"]).exits(0).says("8 files of 130,000 B");
    // What is named is refused where it is none, and a file of that name is what it is.
    bench.run(&["run", "claims/c999"]).exits(2).says("there is no claim `c999`");
    bench.run(&["run", "claims/c21"]).exits(2).says("settled by arithmetic").says("feedline what-if idle");
    bench.run(&["claims", "c999"]).exits(2).says("there is no claim `c999`");
    fs::create_dir_all(bench.path("claims/c03")).unwrap();
    bench.run(&["check", "claims/c03", "--need", "1 MB/s"]).exits(0);
}

#[test]
fn the_book_has_the_table_of_this_version() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/generated/claims.md");
    let printed = Bench::new().run(&["claims", "--markdown"]).exits(0).out;
    assert!(
        fs::read_to_string(book).unwrap() == printed,
        "feedline claims --markdown makes docs/src/generated/claims.md"
    );
}

/// Each row of the page on systems that has a command has one that works in a checkout.
#[test]
fn each_scenario_of_a_claim_has_a_record_of_its_own_and_its_figures_in_the_book() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/src/generated/claims-measured.md")).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(root.join("scenarios/claims")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let folders = [root.join("results/claims").join(&name), root.join("results").join(&name)];
        let kept =
            folders.iter().find_map(|folder| std::fs::read_to_string(folder.join("scenario.toml")).ok());
        let kept = kept.unwrap_or_else(|| panic!("{name} has no record in results/claims"));
        assert!(
            kept.contains(&std::fs::read_to_string(&path).unwrap()),
            "{name} is recorded as another scenario"
        );
        let number = name.split('-').next().unwrap();
        assert!(page.contains(&format!("<a id=\"{number}\"></a>")), "{name} is missing in the book");
        count += 1;
    }
    assert!(count > 30);
}

/// The claim's record: readers that burn 20 ms of a processor on what they read in 60 ms, or in none, on two cores.
#[test]
fn more_readers_than_cores_get_what_the_formula_says_within_five_percent() {
    let bench = Bench::new();
    let record =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/claims/c137-more-workers-than-cores");
    let rows = bench.run(&["export", record.to_str().unwrap(), "--format", "jsonl"]).exits(0).out;
    let (cores, burnt_s) = (2.0, 0.020);
    let mut held = 0;
    for row in rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap()) {
        let cell = row["cell"].as_str().unwrap();
        let Some(readers) = [2_u32, 4, 16].into_iter().find(|count| cell.contains(&format!("/a1-r{count}-")))
        else {
            continue;
        };
        let read_s = if cell.starts_with("far/") { 0.060 } else { 0.0 };
        let expected = (f64::from(readers) / (read_s + burnt_s)).min(cores / burnt_s);
        let got = row["samples_per_s"].as_f64().unwrap();
        assert!(got <= expected * 1.01, "{cell}: {got} of {expected}");
        // Where cores are full whatever the readers do, it is no bound alone.
        if read_s == 0.0 {
            assert!(got >= expected * 0.95, "{cell}: {got} of {expected}");
            held += 1;
        }
    }
    assert!(held >= 9, "{held} repetitions\n{rows}");
}

#[test]
fn each_system_of_the_field_is_shown_by_the_command_of_its_row() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(checkout.join("docs/src/systems.md")).unwrap();
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| system ")).collect();
    let is_without = |row: &&&str| row.ends_with("| - |");
    let (all, without) = (rows.len(), rows.iter().filter(is_without).count());
    assert!(all >= 135 && without <= 2, "{without} of {all} have no command");
    let bench = Bench::new();
    for row in rows.iter().filter(|row| !is_without(row)) {
        let command = row.rsplit_once("| `feedline ").unwrap_or_else(|| panic!("{row}")).1;
        let words = words(command.strip_suffix("` |").unwrap());
        let mut asked = bench.bare(&words.iter().map(String::as_str).collect::<Vec<_>>());
        asked.current_dir(&checkout);
        let shown = finish(asked).exits(0).out;
        assert!(!shown.is_empty(), "{row}");
    }
}
