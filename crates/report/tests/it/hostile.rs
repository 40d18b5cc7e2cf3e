//! Records in which every word is hostile, through every rendering.

use analysis::{distributions, summarise};
use record::{Line, Outcome, RunRecord};
use report::export::{self, Direction, JOB_SUMMARY_BYTES_MAX};
use report::{Screen, Surroundings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::html::training_record;
use crate::records;

/// What a user may write wherever words are taken.
pub(crate) const HOSTILE: &str = "\u{1b}[2J</title></script></style><script>alert(1)</script>\" onload=\"alert(2)' <!-- ]]> &amp; \u{202e}\u{fc}\u{0}";

/// Every string of a value with hostile words behind it, but for those below keys that only feedline writes.
fn poison(value: &mut Value) {
    match value {
        Value::String(words) if words == "unlimited" => {}
        Value::String(words) => words.push_str(HOSTILE),
        Value::Array(values) => values.iter_mut().for_each(poison),
        Value::Object(values) => {
            for (key, value) in values {
                if !["line", "role", "outcome", "histograms", "operation"].contains(&key.as_str()) {
                    poison(value);
                }
            }
        }
        _ => {}
    }
}

fn poisoned<T: Serialize + DeserializeOwned>(of: &T) -> T {
    let mut value = serde_json::to_value(of).unwrap();
    poison(&mut value);
    serde_json::from_value(value).unwrap()
}

/// Records in which whatever a user, a storage or another tool may have written is hostile.
pub(crate) fn records() -> impl Iterator<Item = RunRecord> {
    [records::golden(), training_record()].into_iter().map(|mut record| {
        record.run = poisoned(&record.run);
        record.env = poisoned(&record.env);
        record.lines = record.lines.iter().map(poisoned).collect();
        record.loss = Some(HOSTILE.to_owned());
        for line in &mut record.lines {
            if let Line::Rep(rep) = line
                && rep.cell.starts_with("filer")
            {
                rep.outcome = Outcome::Failed { reason: HOSTILE.to_owned() };
            }
        }
        record
    })
}

/// That a text moves no cursor and turns no line around where it is shown.
#[track_caller]
pub(crate) fn is_only_read(what: &str, text: &str) {
    // Lines of CSV end as RFC 4180 has it.
    let text = &text.replace("\r\n", "\n");
    let steering = text.char_indices().find(|(_, c)| feed::steers(*c) && *c != '\n');
    if let Some((at, c)) = steering {
        let before: String =
            text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("{what}: {c:?} behind {before:?}");
    }
}

#[test]
fn no_word_steers_what_it_is_shown_on() {
    for record in records() {
        let summary = summarise(&record);
        let screen = Screen::PLAIN;
        let surroundings = Surroundings { screen, folder: HOSTILE, page: HOSTILE, full: HOSTILE, past: None };
        let mut shown = vec![
            ("terminal", report::terminal(&summary, screen)),
            ("answer", report::answer(&summary, surroundings).unwrap_or_default()),
            ("markdown", report::markdown(&summary)),
            ("job summary", export::markdown_within(&report::markdown(&summary), JOB_SUMMARY_BYTES_MAX).text),
            ("csv", export::csv(&record, &summary).text),
            ("prometheus", export::prometheus(&summary).text),
            ("junit", export::junit(&summary, None)),
            ("tuning", export::tuning(&record)),
        ];
        shown.extend(report::plots(&summary, &[]).unwrap().into_iter().map(|plot| ("plot", plot.svg)));
        shown.extend(distributions(&record).map(|one| ("hgrm", export::hgrm(&one))));
        for (what, text) in shown {
            assert!(!text.is_empty(), "{what}");
            is_only_read(what, &text);
        }
    }
}

/// Programs read these; a terminal may show them all the same.
#[test]
fn no_word_sends_a_command_through_json() {
    for record in records() {
        let summary = summarise(&record);
        let mut forms = vec![
            export::jsonl(&record, &summary),
            export::bmf(&summary),
            export::fio(&record, &summary),
            export::otava(std::slice::from_ref(&summary)),
        ];
        forms.extend(export::github_action_benchmark(&summary, Direction::Bigger));
        for form in forms {
            let text = form.text.replace("\r\n", "\n");
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        }
    }
}
