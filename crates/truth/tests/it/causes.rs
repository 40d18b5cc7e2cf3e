//! Every cause that a diagnosis can name has a scenario in which it is named.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, thread};

use analysis::Bound;
use truth::causes::{CAUSES, Cause, HEAD, diagnosed};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The row of the book, or why it is not the cause that is named.
fn told(cause: &Cause) -> Result<String, String> {
    let summary = cause.play().map_err(|error| error.to_string())?;
    let (cell, job, diagnosis) = diagnosed(&summary).ok_or("no cause is named")?;
    let is_named = diagnosis.bound == cause.bound
        && cause.remedy.as_ref().is_none_or(|remedy| *remedy == diagnosis.remedy);
    if is_named {
        Ok(cause.row(diagnosis))
    } else {
        Err(format!("{}: {}\n{:?}\n{diagnosis:#?}", cause.name, cell.cell.cell, job.stall))
    }
}

#[test]
fn each_scenario_of_a_cause_is_told_its_cause_and_the_book_says_so() {
    let rows: Result<Vec<String>, String> = thread::scope(|scope| {
        let played: Vec<_> = CAUSES.iter().map(|cause| scope.spawn(move || told(cause))).collect();
        played.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let table = HEAD.to_owned() + &rows.unwrap_or_else(|why| panic!("{why}")).concat();
    let book = fs::read_to_string(root().join("docs/src/generated/causes.md")).unwrap_or_default();
    assert!(book == table, "truth --causes docs/src/generated/causes.md makes it:\n{table}");
}

#[test]
fn each_cause_has_a_scenario_and_each_scenario_a_cause() {
    for bound in Bound::ALL {
        assert!(CAUSES.iter().any(|cause| cause.bound == bound), "{bound:?} is played by no scenario");
    }
    let files = fs::read_dir(root().join("scenarios/causes")).unwrap();
    let files: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let played: BTreeSet<String> = CAUSES.iter().map(|cause| format!("{}.toml", cause.name)).collect();
    assert_eq!(files, played);
}
