//! The need: one of its forms, and all keys of that form.

use feed::{NeedError, NeedSpec, UTILIZATION_DEFAULT};

use crate::diagnostic::{Problem, Problems, Span};
use crate::reader::{Entry, Field};
use crate::value::split_hint;
use crate::words::Mode;
use crate::written::{Document, NEED_EXAMPLES, Need, NeedTable};

use super::load;

/// A form of the table: the keys that are only its own, those it must have, those it may have.
struct Form {
    name: &'static str,
    own: &'static [&'static str],
    required: &'static [&'static str],
    optional: &'static [&'static str],
    spec: fn(&NeedTable) -> Option<NeedSpec>,
}

const FORMS: [Form; 4] = [
    Form {
        name: "a workload profile",
        own: &["workload", "accelerator"],
        required: &["workload", "accelerator", "count"],
        optional: &["hosts", "utilization", "hold", "scope"],
        spec: profile,
    },
    Form { name: "a rate", own: &["rate"], required: &["rate"], optional: &["utilization"], spec: rate },
    Form {
        name: "a batch and its step time",
        own: &["batch", "step_time", "sample_size"],
        required: &["batch", "step_time", "sample_size", "count"],
        optional: &["hosts", "utilization", "hold", "scope"],
        spec: batch,
    },
    Form {
        name: "tokens per second",
        own: &["tokens_per_second", "token_size"],
        required: &["tokens_per_second", "token_size"],
        optional: &["hosts", "utilization", "scope"],
        spec: tokens,
    },
];

/// The need of this client.
pub(super) fn resolve(document: &Document, problems: &mut Problems) -> Option<feed::Need> {
    let entry = document.need.given()?;
    let spec = match &entry.value {
        Need::Short(text) => NeedSpec::parse_short(text).map_err(|error| impossible(entry, &error)),
        Need::Table(table) => from_table(entry, table, problems).map(Ok)?,
    };
    let spec = spec.map(|spec| for_mode(spec, load::mode(&document.load).map(|(mode, _)| mode)));
    let need = spec.and_then(|spec| spec.resolve().map_err(|error| impossible(entry, &error)));
    let need = need.map_err(|problem| problems.push(problem)).ok()?;
    let Need::Table(table) = &entry.value else { return Some(need) };
    let need = match &table.hold {
        Field::Wrong(_) => return None,
        Field::Absent => need,
        Field::Given(hold) => need.holding(hold.value.0),
    };
    let scope = match &table.scope {
        Field::Wrong(_) => return None,
        scope => scope.given().map(|entry| entry.value.0).unwrap_or_default(),
    };
    Some(feed::Need { scope, ..need })
}

/// A rate that a training job is held against has the line of jobs by default, since no job is busy all the time.
fn for_mode(spec: NeedSpec, mode: Option<Mode>) -> NeedSpec {
    match spec {
        NeedSpec::Rate { bytes_per_s, utilization: None } if mode == Some(Mode::Training) => {
            NeedSpec::Rate { bytes_per_s, utilization: Some(UTILIZATION_DEFAULT) }
        }
        spec => spec,
    }
}

/// The workload of a need that names one.
pub(super) fn workload(written: &Field<Need>) -> Option<String> {
    match &written.given()?.value {
        Need::Table(table) => table.workload.given().map(|workload| workload.value.0.clone()),
        Need::Short(text) => match NeedSpec::parse_short(text) {
            Ok(NeedSpec::Profile { workload, .. }) => Some(workload),
            _ => None,
        },
    }
}

fn impossible(entry: &Entry<Need>, error: &NeedError) -> Problem {
    let (cause, hint) = split_hint(&error.to_string());
    let problem = Problem::new(cause).at(place(entry, error), "");
    problem.help(hint.unwrap_or_else(|| NEED_EXAMPLES.to_owned()))
}

/// The value that an error is about, where there is one; else the whole need.
fn place(entry: &Entry<Need>, error: &NeedError) -> Span {
    let Need::Table(table) = &entry.value else {
        return entry.span;
    };
    let value = match error {
        NeedError::Unknown { kind: "accelerator", .. } => table.accelerator.span(),
        NeedError::Unknown { .. } => table.workload.span(),
        NeedError::Hosts { .. } => table.hosts.span(),
        _ => None,
    };
    value.unwrap_or(entry.span)
}

fn from_table(entry: &Entry<Need>, table: &NeedTable, problems: &mut Problems) -> Option<NeedSpec> {
    let keys = keys(table);
    let written = |name: &&str| keys.iter().find(|(key, _)| key == name).and_then(|(_, span)| *span);
    let forms: Vec<_> =
        FORMS.iter().filter_map(|form| form.own.iter().find_map(written).map(|span| (form, span))).collect();
    match forms.as_slice() {
        [] => {
            let problem = Problem::new("`need` does not say what the accelerators consume");
            problems.push(problem.at(entry.span, "").help(NEED_EXAMPLES));
            None
        }
        [(form, own)] => {
            let complete = check_form(entry, form, *own, &keys, problems);
            if complete { (form.spec)(table) } else { None }
        }
        several => {
            let problem = Problem::new("`need` is stated in several ways; choose one");
            let label = |problem: Problem, (form, span): &(&Form, Span)| problem.at(*span, form.name);
            problems.push(several.iter().fold(problem, label));
            None
        }
    }
}

fn check_form(
    entry: &Entry<Need>,
    form: &Form,
    own: Span,
    keys: &[(&'static str, Option<Span>)],
    problems: &mut Problems,
) -> bool {
    let missing: Vec<_> = keys
        .iter()
        .filter(|(key, span)| form.required.contains(key) && span.is_none())
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    if !missing.is_empty() {
        let problem =
            Problem::absent(format!("`need` by {} also takes {}", form.name, missing.join(" and ")));
        problems.push(problem.at(entry.span, "").help(NEED_EXAMPLES));
    }
    let mut fitting = true;
    for (key, span) in keys {
        let belongs = form.required.contains(key) || form.optional.contains(key);
        if let (Some(span), false) = (span, belongs) {
            let problem = Problem::new(format!("`need.{key}` means nothing beside {}", form.name));
            problems.push(problem.at(*span, "remove this").also(own, form.name));
            fitting = false;
        }
    }
    missing.is_empty() && fitting
}

fn keys(table: &NeedTable) -> [(&'static str, Option<Span>); 13] {
    [
        ("workload", table.workload.key()),
        ("accelerator", table.accelerator.key()),
        ("count", table.count.key()),
        ("hosts", table.hosts.key()),
        ("utilization", table.utilization.key()),
        ("hold", table.hold.key()),
        ("scope", table.scope.key()),
        ("rate", table.rate.key()),
        ("batch", table.batch.key()),
        ("step_time", table.step_time.key()),
        ("sample_size", table.sample_size.key()),
        ("tokens_per_second", table.tokens_per_second.key()),
        ("token_size", table.token_size.key()),
    ]
}

fn profile(table: &NeedTable) -> Option<NeedSpec> {
    Some(NeedSpec::Profile {
        workload: table.workload.given()?.value.0.clone(),
        accelerator: table.accelerator.given()?.value.0.clone(),
        count: table.count.given()?.value.into(),
        hosts: table.hosts.value_or(1)?,
        utilization: utilization(table)?,
    })
}

fn rate(table: &NeedTable) -> Option<NeedSpec> {
    Some(NeedSpec::Rate { bytes_per_s: table.rate.given()?.value.0, utilization: utilization(table)? })
}

fn batch(table: &NeedTable) -> Option<NeedSpec> {
    Some(NeedSpec::Batch {
        batch: table.batch.given()?.value.into(),
        step_time_s: table.step_time.given()?.value.0 as f64 / 1e9,
        sample_bytes: table.sample_size.given()?.value.0,
        count: table.count.given()?.value.into(),
        hosts: table.hosts.value_or(1)?,
        utilization: utilization(table)?,
    })
}

fn tokens(table: &NeedTable) -> Option<NeedSpec> {
    Some(NeedSpec::Tokens {
        tokens_per_s: table.tokens_per_second.given()?.value.0,
        token_bytes: table.token_size.given()?.value.0 as f64,
        hosts: table.hosts.value_or(1)?,
        utilization: utilization(table)?,
    })
}

/// `Some(None)` leaves the choice to the need; `None` when it was written and wrong.
#[expect(clippy::option_option, reason = "absent and wrong differ")]
fn utilization(table: &NeedTable) -> Option<Option<f64>> {
    match &table.utilization {
        Field::Wrong(_) => None,
        field => Some(field.given().map(|entry| entry.value.0)),
    }
}
