//! The need: one of its forms, and all keys of that form; several of them at once.

mod together;

use feed::{Flow, NeedError, NeedSpec, UTILIZATION_DEFAULT};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::Item;
use crate::reader::Field;
use crate::table::{KeyOf, Keys as _};
use crate::value::split_hint;
use crate::words::Mode;
use crate::written::{Document, NEED_EXAMPLES, Need, NeedTable, Needs};

use super::{checkpoint_need, task};

/// A form of the table: the keys that are only its own, those it must have, those it may have.
struct Form {
    name: &'static str,
    own: &'static [&'static str],
    required: &'static [&'static str],
    optional: &'static [&'static str],
    spec: fn(&NeedTable) -> Option<NeedSpec>,
}

// A table and not four parsers: a key that is allowed in one form and forgotten in another would otherwise
// be ignored there.
const FORMS: [Form; 4] = [
    Form {
        name: "a workload profile",
        own: &["workload", "accelerator"],
        required: &["workload", "accelerator", "count"],
        optional: &["hosts", "utilization", "hold", "scope", "write_rate", "checkpoint"],
        spec: profile,
    },
    Form {
        name: "a rate",
        own: &["rate"],
        required: &["rate"],
        optional: &["utilization", "write_rate", "checkpoint"],
        spec: rate,
    },
    Form {
        name: "a batch and its step time",
        own: &["batch", "step_time", "sample_size"],
        required: &["batch", "step_time", "sample_size", "count"],
        optional: &["hosts", "utilization", "hold", "scope", "write_rate", "checkpoint"],
        spec: batch,
    },
    Form {
        name: "tokens per second",
        own: &["tokens_per_second", "token_size"],
        required: &["tokens_per_second", "token_size"],
        optional: &["hosts", "utilization", "scope", "write_rate", "checkpoint"],
        spec: tokens,
    },
];

/// What stands beside no reads.
const WRITES: Form = Form {
    name: "a rate of writes",
    own: &["write_rate"],
    required: &["write_rate"],
    optional: &["utilization", "checkpoint"],
    spec: write_rate,
};

/// What stands beside checkpoints where nothing is read.
const ALONE: Form = Form {
    name: "checkpoints alone",
    own: &["checkpoint"],
    required: &["checkpoint"],
    optional: &["scope"],
    spec: |_| None,
};

/// The need of this client: all that are listed, at once.
pub(crate) fn resolve(document: &Document, problems: &mut Problems) -> Option<feed::Need> {
    let entry = document.need.given()?;
    let mode = task::mode(&document.load);
    let read = |item: &Item<Need>| of_one(item, mode.map(|(mode, _)| mode), problems);
    let needs: Vec<feed::Need> = entry.value.0.iter().filter_map(read).collect();
    if needs.len() < entry.value.0.len() {
        return None;
    }
    let refused = together::refuse(&entry.value, &needs, mode);
    if refused.is_empty() {
        let together = feed::Need::together(needs).map_err(|error| {
            let (cause, hint) = split_hint(&error.to_string());
            let problem = Problem::new(cause).at(entry.span, "together");
            problem.help(hint.unwrap_or_else(|| NEED_EXAMPLES.to_owned()))
        });
        return together.map_err(|problem| problems.push(problem)).ok()?;
    }
    problems.extend(refused);
    None
}

/// One of them.
fn of_one(item: &Item<Need>, mode: Option<Mode>, problems: &mut Problems) -> Option<feed::Need> {
    if let Need::Table(table) = &item.value
        && is_alone(table)
    {
        return of_checkpoints(item, table, problems);
    }
    let spec = match &item.value {
        Need::Short(text) => NeedSpec::parse_short(text).map_err(|error| impossible(item, &error)),
        Need::Table(table) => from_table(item, table, problems).map(Ok)?,
    };
    let spec = spec.map(|spec| for_mode(spec, mode));
    let need = spec.and_then(|spec| spec.resolve().map_err(|error| impossible(item, &error)));
    let need = need.map_err(|problem| problems.push(problem)).ok()?;
    let Need::Table(table) = &item.value else { return Some(need) };
    table.write_rate.entry()?;
    let need = match table.write_rate.given().filter(|_| asks_reads(table)) {
        Some(rate) => {
            let both = need.with_writes(rate.value.0).map_err(|error| impossible(item, &error));
            both.map_err(|problem| problems.push(problem)).ok()?
        }
        None => need,
    };
    let need = match table.hold.optional()? {
        Some(hold) => need.holding(hold),
        None => need,
    };
    let checkpoint = checkpoint_need::resolve(table, problems)?;
    Some(feed::Need { scope: table.scope.value_or(feed::Scope::default())?, checkpoint, ..need })
}

/// Whether a need asks for checkpoints, and by none of its keys for reads or writes.
pub(crate) fn is_of_checkpoints_alone(need: &Field<Needs>) -> bool {
    let is_alone = |item: &Item<Need>| matches!(&item.value, Need::Table(table) if is_alone(table));
    need.given().is_some_and(|entry| entry.value.0.iter().all(is_alone))
}

/// Where a need asks for checkpoints.
pub(super) fn place_of_checkpoints(need: &Field<Needs>) -> Option<Span> {
    need.given()?.value.0.iter().find_map(|item| match &item.value {
        Need::Table(table) => table.checkpoint.key(),
        Need::Short(_) => None,
    })
}

fn is_alone(table: &NeedTable) -> bool {
    table.checkpoint.key().is_some() && !is_written(table, &WRITES) && !asks_reads(table)
}

/// What a need asks for, by the keys that were written.
pub(crate) fn asks(need: &Field<Needs>) -> Flow {
    let items = || need.given().into_iter().flat_map(|entry| &entry.value.0);
    let reads = |item: &Item<Need>| match &item.value {
        Need::Table(table) => asks_reads(table),
        Need::Short(_) => true,
    };
    let writes = |item: &Item<Need>| matches!(&item.value, Need::Table(table) if is_written(table, &WRITES));
    let (writes, reads) = (items().any(writes), items().any(reads));
    Flow::of_need(writes && !reads, writes && reads)
}

/// Where writes were asked for first, if they were.
pub(super) fn place_of_writes(need: &Field<Needs>) -> Option<Span> {
    need.given()?.value.tables().find_map(|table| table.write_rate.key())
}

fn asks_reads(table: &NeedTable) -> bool {
    FORMS.iter().any(|form| is_written(table, form))
}

/// A need of checkpoints without any reads.
fn of_checkpoints(item: &Item<Need>, table: &NeedTable, problems: &mut Problems) -> Option<feed::Need> {
    let fits = check_form(item, &ALONE, table.checkpoint.key()?, &table.keys(), problems);
    let checkpoint = checkpoint_need::resolve(table, problems)??;
    let scope = table.scope.value_or(feed::Scope::default())?;
    fits.then(|| feed::Need { scope, ..feed::Need::of_checkpoints(checkpoint) })
}

/// Whether any key that is only this form's was written.
fn is_written(table: &NeedTable, form: &Form) -> bool {
    table.keys().iter().any(|key| form.own.contains(&key.name) && key.at.is_some())
}

/// A rate that a training job is held against has the line of jobs by default, since no job is busy all the time.
fn for_mode(spec: NeedSpec, mode: Option<Mode>) -> NeedSpec {
    match spec {
        // Any first batch is waited for, so that no job reaches 1.00 and every storage would starve it.
        NeedSpec::Rate { bytes_per_s, utilization: None } if mode == Some(Mode::Training) => {
            NeedSpec::Rate { bytes_per_s, utilization: Some(UTILIZATION_DEFAULT) }
        }
        spec => spec,
    }
}

/// The workload of the first need that names one.
pub(super) fn workload(written: &Field<Needs>) -> Option<String> {
    written.given()?.value.0.iter().find_map(|item| match &item.value {
        Need::Table(table) => table.workload.given().map(|workload| workload.value.0.clone()),
        Need::Short(text) => match NeedSpec::parse_short(text) {
            Ok(NeedSpec::Profile { workload, .. }) => Some(workload),
            _ => None,
        },
    })
}

fn impossible(item: &Item<Need>, error: &NeedError) -> Problem {
    let (cause, hint) = split_hint(&error.to_string());
    let problem = Problem::new(cause).at(place(item, error), "");
    problem.help(hint.unwrap_or_else(|| NEED_EXAMPLES.to_owned()))
}

/// The value that an error is about, where there is one; else the whole need.
fn place(item: &Item<Need>, error: &NeedError) -> Span {
    let Need::Table(table) = &item.value else {
        return item.span;
    };
    let value = match error {
        NeedError::NoProfile { .. } => table.accelerator.span(),
        NeedError::UnknownWorkload { .. } => table.workload.span(),
        NeedError::Hosts { .. } => table.hosts.span(),
        _ => None,
    };
    value.unwrap_or(item.span)
}

fn from_table(item: &Item<Need>, table: &NeedTable, problems: &mut Problems) -> Option<NeedSpec> {
    let keys = table.keys();
    let written = |name: &&str| keys.iter().find(|key| key.name == *name).and_then(|key| key.at);
    let place = |form: &'static Form| Some((form, form.own.iter().find_map(written)?));
    let mut forms: Vec<_> = FORMS.iter().filter_map(place).collect();
    if forms.is_empty() {
        forms.extend(place(&WRITES));
    }
    match forms.as_slice() {
        [] => {
            let problem = Problem::new("`need` does not say what the accelerators consume");
            problems.push(problem.at(item.span, "").help(NEED_EXAMPLES));
            None
        }
        [(form, own)] => {
            let complete = check_form(item, form, *own, &keys, problems);
            if complete { (form.spec)(table) } else { None }
        }
        // The forms could be compared; but if they disagree, which of them is the need is for the user to
        // say.
        several => {
            let problem = Problem::new("`need` is stated in several ways; choose one");
            let label = |problem: Problem, (form, span): &(&Form, Span)| problem.at(*span, form.name);
            problems.push(several.iter().fold(problem, label));
            None
        }
    }
}

fn check_form(item: &Item<Need>, form: &Form, own: Span, keys: &[KeyOf], problems: &mut Problems) -> bool {
    let missing: Vec<_> = keys
        .iter()
        .filter(|key| form.required.contains(&key.name) && key.at.is_none())
        .map(|key| format!("`{}`", key.name))
        .collect();
    if !missing.is_empty() {
        let problem =
            Problem::absent(format!("`need` by {} also takes {}", form.name, missing.join(" and ")));
        problems.push(problem.at(item.span, "").help(NEED_EXAMPLES));
    }
    let mut fitting = true;
    for key in keys {
        let belongs = form.required.contains(&key.name) || form.optional.contains(&key.name);
        if let (Some(span), false) = (key.at, belongs) {
            let problem = Problem::new(format!("`need.{}` means nothing beside {}", key.name, form.name));
            problems.push(problem.at(span, "remove this").also(own, form.name));
            fitting = false;
        }
    }
    missing.is_empty() && fitting
}

fn profile(table: &NeedTable) -> Option<NeedSpec> {
    Some(NeedSpec::Profile {
        workload: table.workload.optional()??,
        accelerator: table.accelerator.optional()??,
        count: table.count.optional()??,
        hosts: table.hosts.value_or(1)?,
        utilization: table.utilization.optional()?,
    })
}

fn rate(table: &NeedTable) -> Option<NeedSpec> {
    Some(NeedSpec::Rate {
        bytes_per_s: table.rate.given()?.value.0,
        utilization: table.utilization.optional()?,
    })
}

fn write_rate(table: &NeedTable) -> Option<NeedSpec> {
    Some(NeedSpec::WriteRate {
        bytes_per_s: table.write_rate.given()?.value.0,
        utilization: table.utilization.optional()?,
    })
}

fn batch(table: &NeedTable) -> Option<NeedSpec> {
    Some(NeedSpec::Batch {
        batch: table.batch.optional()??,
        step_time_s: table.step_time.given()?.value.0 as f64 / 1e9,
        sample_bytes: table.sample_size.given()?.value.0,
        count: table.count.optional()??,
        hosts: table.hosts.value_or(1)?,
        utilization: table.utilization.optional()?,
    })
}

fn tokens(table: &NeedTable) -> Option<NeedSpec> {
    Some(NeedSpec::Tokens {
        tokens_per_s: table.tokens_per_second.given()?.value.0,
        token_bytes: table.token_size.given()?.value.0 as f64,
        hosts: table.hosts.value_or(1)?,
        utilization: table.utilization.optional()?,
    })
}
