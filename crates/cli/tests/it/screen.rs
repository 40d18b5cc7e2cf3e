//! What a terminal is shown, in a pseudo-terminal, and what a pipe is.

use std::path::Path;

use crate::harness::{Bench, finish};
use crate::terminal::{Output, run_in};

const RED: &str = "\u{1b}[1;31mSTARVES\u{1b}[0m";

/// The answer of the golden record, printed by `feedline` itself, or inside of a terminal of so many columns.
fn printed(columns: Option<u16>, variables: &[(&str, &str)]) -> String {
    let bench = Bench::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/fixtures/golden");
    // A path is never broken, so it is a short one.
    std::os::unix::fs::symlink(golden, bench.path("golden")).unwrap();
    let mut command = bench.bare(&["report", "golden"]);
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").envs(variables.iter().copied());
    match columns {
        None => finish(command).exits(0).out,
        Some(columns) => {
            let (ended, shown) = run_in(columns, command, "", Output::Shown);
            ended.exits(0);
            shown.replace("\r\n", "\n")
        }
    }
}

/// The width of the longest line, whatever colours it has.
fn width(page: &str) -> usize {
    let plain = |line: &str| {
        let parts = line.split('\u{1b}').enumerate();
        parts.map(|(number, part)| if number == 0 { part } else { part.split_once('m').unwrap().1 }).collect()
    };
    page.lines()
        .map(|line| {
            let line: String = plain(line);
            line.trim_end().len()
        })
        .max()
        .unwrap()
}

#[test]
fn a_terminal_is_as_wide_as_it_is_and_has_colours() {
    for (columns, width_min) in [(80, 70), (100, 90), (160, 130)] {
        let page = printed(Some(columns), &[]);
        assert!(page.contains(RED), "{page}");
        let width = width(&page);
        assert!((width_min..=columns as usize).contains(&width), "{width} of {columns}:\n{page}");
        assert!(page.lines().count() <= 20, "{page}");
    }
    assert!(!printed(Some(80), &[("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn a_pipe_has_eighty_columns_and_no_colour_unless_asked_for() {
    let page = printed(None, &[]);
    assert!(!page.contains('\u{1b}') && (70..=80).contains(&width(&page)), "{page}");
    assert!(printed(None, &[("CLICOLOR_FORCE", "1")]).contains(RED));
    assert!(!printed(None, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(!printed(None, &[("CLICOLOR_FORCE", "0")]).contains('\u{1b}'));
}
