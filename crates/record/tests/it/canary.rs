//! Secrets planted in every text of a run, and every byte of the record searched for them.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use record::{
    CELLS_FILE, Captured, Environment, INTERVALS_FILE, Limit, Line, Redactor, RepIntervals, Run, RunWriter,
    read_intervals, read_run,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::sample;

/// Everything that must not be found; the credentials among it are unknown to the redactor.
const CANARIES: [&str; 12] = [
    "mcanary",
    "node17",
    "canaryuser",
    "canarypass",
    "canaryquery",
    "AKIACANARYCANARY1234",
    "canarysignature",
    "canarybearer",
    "canarypassword",
    "canarysecret",
    "canarytoken",
    "canarysession",
];

const PLANTED: &str = "mcanary on node17.canary.example.org and NODE17, /home/mcanary/x, \
    https://canaryuser:canarypass@h/p?q=canaryquery AKIACANARYCANARY1234 X-Amz-Signature=canarysignature \
    X-Amz-Security-Token=canarysession password=canarypassword secret: \"canarysecret\" token='canarytoken' \
    Authorization: Bearer canarybearer";

fn redactor() -> Redactor {
    let labels = [
        ("mcanary", "<user>"),
        ("/home/mcanary", "<home>"),
        ("node17", "<host>"),
        ("node17.canary.example.org", "<host>"),
    ];
    Redactor::new(labels.map(|(secret, label)| (secret.to_owned(), label.to_owned())).to_vec())
}

/// Puts the canaries into every text but words of an enum and histograms.
fn plant(value: Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text} {PLANTED}")),
        Value::Array(values) => values.into_iter().map(plant).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| {
                let word = matches!(key.as_str(), "line" | "role") || key == "outcome" && value.is_string();
                let kept = word || matches!(key.as_str(), "histograms" | "service_ns");
                (key, if kept { value } else { plant(value) })
            })
            .collect(),
        other => other,
    }
}

fn planted<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_value(plant(serde_json::to_value(value).unwrap())).unwrap()
}

/// An environment with the canaries in every field that can hold a text: as a value where the type admits it,
/// else as the reason why there is none.
fn planted_environment() -> Environment {
    let Value::Object(fields) = serde_json::to_value(Environment::default()).unwrap() else { unreachable!() };
    let mut fields = Value::Object(fields);
    for key in fields.as_object().unwrap().keys().cloned().collect::<Vec<_>>() {
        let forms = [
            json!({ "value": PLANTED }),
            json!({ "value": { "x": PLANTED } }),
            json!({ "unavailable": PLANTED }),
        ];
        let admitted = forms.into_iter().find(|form| {
            let mut attempt = fields.clone();
            attempt[&key] = form.clone();
            serde_json::from_value::<Environment>(attempt).is_ok()
        });
        fields[&key] = admitted.unwrap();
    }
    serde_json::from_value(fields).unwrap()
}

/// Every byte of every file, inflated where it is compressed.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let mut bytes = fs::read(&path).unwrap();
            if name == INTERVALS_FILE {
                let mut inflated = Vec::new();
                MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut inflated).unwrap();
                bytes = inflated;
            }
            (name, bytes)
        })
        .collect()
}

fn holds(bytes: &[u8], canary: &str) -> bool {
    bytes.windows(canary.len()).any(|window| window.eq_ignore_ascii_case(canary.as_bytes()))
}

fn write(dir: &Path, redactor: Redactor) {
    let run: Run = planted(&sample::run());
    let env = planted_environment();
    let scenario = format!("# {PLANTED}\n{}", sample::SCENARIO);
    let mut writer = RunWriter::create(dir, &run, &scenario, &env, redactor).unwrap();
    for line in sample::lines() {
        writer.append(&planted::<Line>(&line)).unwrap();
    }
    for rep in sample::intervals() {
        writer.append_intervals(&planted::<RepIntervals>(&rep)).unwrap();
    }
}

#[test]
fn no_byte_of_a_record_holds_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    write(&dir, redactor());
    let files = contents(&dir);
    assert_eq!(files.len(), 5);
    for (name, bytes) in &files {
        assert!(
            holds(bytes, "<user> on <host> and <host>, <home>/x"),
            "{name} holds what was planted, redacted"
        );
        for canary in CANARIES {
            assert!(!holds(bytes, canary), "{canary} in {name}: {}", String::from_utf8_lossy(bytes));
        }
    }
    assert_eq!(read_run(&dir).unwrap().lines.len(), sample::lines().len());
}

#[test]
fn without_known_texts_credentials_are_removed_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    write(&dir, Redactor::default());
    for (name, bytes) in contents(&dir) {
        assert!(holds(&bytes, "mcanary on node17"), "{name}");
        for canary in &CANARIES[2..] {
            assert!(!holds(&bytes, canary), "{canary} in {name}");
        }
    }
}

#[test]
fn histograms_are_written_as_they_are() {
    let lines = sample::lines();
    let Line::Rep(rep) = &lines[1] else { panic!("the second line is a repetition") };
    let text = &rep.histograms["service_ns"].text().unwrap();
    let intervals = sample::intervals();
    let interval = &intervals[0].seconds[0].service_ns.text().unwrap();
    let labels = vec![(text.to_string(), "<a>".to_owned()), (interval.to_string(), "<b>".to_owned())];
    let redactor = Redactor::new(labels);
    assert_eq!(redactor.text(text), "<a>");

    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let mut writer = RunWriter::create(&dir, &sample::run(), "", &sample::environment(), redactor).unwrap();
    for line in &lines {
        writer.append(line).unwrap();
    }
    for rep in &sample::intervals() {
        writer.append_intervals(rep).unwrap();
    }
    assert_eq!(read_run(&dir).unwrap().lines, lines);
    assert_eq!(read_intervals(&dir).unwrap().reps, sample::intervals());
}

/// The words that serde reads back, taken from the types themselves.
fn words_of_enums() -> Vec<String> {
    let mut words = vec!["value".to_owned(), "unavailable".to_owned()];
    for line in sample::lines() {
        let json = serde_json::to_value(line).unwrap();
        let found = [&json["line"], &json["role"], &json["outcome"]];
        words.extend(found.iter().filter_map(|word| word.as_str()).map(str::to_owned));
    }
    words.push(serde_json::to_value(Limit::<u64>::Unlimited).unwrap().as_str().unwrap().to_owned());
    words
}

#[test]
fn a_user_named_like_a_word_of_the_record_does_not_make_it_unreadable() {
    let labels = words_of_enums().into_iter().map(|word| (word, "<user>".to_owned())).collect();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let created = RunWriter::create(&dir, &sample::run(), "", &sample::environment(), Redactor::new(labels));
    let mut writer = created.unwrap();
    for line in &sample::lines() {
        writer.append(line).unwrap();
    }
    let record = read_run(&dir).unwrap();
    assert_eq!(record.lines, sample::lines());
    assert_eq!(record.env.open_files_max, Captured::Value(Limit::Unlimited));
    assert!(fs::read(dir.join(CELLS_FILE)).unwrap().starts_with(b"{\"line\":\"ceiling\""));
}
