use super::*;

const METHODOLOGY: &str = include_str!("../../../../docs/src/methodology.md");

fn named(text: &str) -> String {
    text.to_owned()
}

/// One flag of each kind: the match makes a new kind show up here.
fn following(flag: &Flag) -> Option<Flag> {
    let next = match flag {
        Flag::ClientLimited { .. } => Flag::NotCold { resident: None },
        Flag::NotCold { .. } => Flag::NotWarm { resident: None },
        Flag::NotWarm { .. } => Flag::NotBypassed { resident: 1.0 },
        Flag::NotBypassed { .. } => Flag::NotDropped { resident: Some(1.0) },
        Flag::NotDropped { .. } => Flag::TooShort { repetitions: 1, window_ns: 1 },
        Flag::TooShort { .. } => Flag::FewTurns { repetitions: 1, turns: 1.0 },
        Flag::FewTurns { .. } => Flag::WrongBytes { found: 1, checked: 8 },
        Flag::WrongBytes { .. } => Flag::Errors { failed: 1, share: 1e-3, kinds: named("1 io") },
        Flag::Errors { .. } => Flag::FailedRepetitions { failed: 1, made: 2, reason: named("gone") },
        Flag::FailedRepetitions { .. } => Flag::DatasetChanged,
        Flag::DatasetChanged => Flag::Missing { repetitions: 1, reason: named("budget") },
        Flag::Missing { .. } => Flag::Exhausted { repetitions: 1 },
        Flag::Exhausted { .. } => Flag::Abandoned { reads: 1 },
        Flag::Abandoned { .. } => Flag::Clamped { reads: 1 },
        Flag::Clamped { .. } => Flag::NoHistogram { repetitions: 1 },
        Flag::NoHistogram { .. } => Flag::Opened { files: 1 },
        Flag::Opened { .. } => Flag::NamesInMemory,
        Flag::NamesInMemory => {
            Flag::Merged { request_bytes: 524_288, block_bytes: 131_072, submit_batch: Some(8) }
        }
        Flag::Merged { .. } => Flag::LateClient { lag_p99_ns: 1, response_p99_ns: 2, not_issued: 0 },
        Flag::LateClient { .. } => Flag::NotServed { arrivals: 1, share: 0.1 },
        Flag::NotServed { .. } => Flag::Stolen { share: 0.1 },
        Flag::Stolen { .. } => Flag::StandsIn { asked: named("io_uring") },
        Flag::StandsIn { .. } => return None,
    };
    Some(next)
}

fn every_kind() -> Vec<Flag> {
    let first = Flag::ClientLimited { ceiling_share: None, cpu_share: Some(1.0) };
    std::iter::successors(Some(first), following).collect()
}

/// Name and effect of each row of the book's table of flags.
fn rows_of_the_book() -> Vec<(String, String)> {
    let (_, section) = METHODOLOGY.split_once("\n## Validity\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| {
        let columns: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(columns.len(), 3, "{row}");
        (columns[0].to_owned(), columns[2].to_owned())
    })
    .collect()
}

fn effect(flag: &Flag) -> String {
    match flag {
        Flag::Errors { .. } => {
            let many = Flag::Errors { failed: 1, share: 0.011, kinds: named("1 io") };
            format!("{}; above 1 %: {}", flag.gravity().name(), many.gravity().name())
        }
        Flag::LateClient { .. } => {
            let dropping = Flag::LateClient { lag_p99_ns: 1, response_p99_ns: 2, not_issued: 1 };
            let (said, forbidden) = (flag.gravity().name(), dropping.gravity().name());
            format!("{said}; with arrivals not issued: {forbidden}")
        }
        _ => flag.gravity().name().to_owned(),
    }
}

#[test]
fn the_book_names_every_flag_with_what_it_forbids() {
    let flags: Vec<(String, String)> =
        every_kind().iter().map(|flag| (flag.name().to_owned(), effect(flag))).collect();
    assert_eq!(rows_of_the_book(), flags);
}

#[test]
fn every_flag_has_words_and_an_advice() {
    for flag in every_kind() {
        assert!(!flag.to_string().is_empty() && !flag.advice().is_empty(), "{flag:?}");
        assert!(!flag.to_string().ends_with('.'), "{flag}");
    }
}
