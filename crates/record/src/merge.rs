//! One record of those that the ranks of a run wrote.

use std::collections::BTreeMap;

use crate::{
    End, Format, Interval, Line, Need, NeedPart, NotRun, RecordedIntervals, RepIntervals, Role, Run,
    RunRecord, Team,
};
use crate::{HistogramSum, encode};

/// Missing ranks that are named one by one.
// Of 512 ranks all but one may be missing.
const MISSING_NAMED_MAX: usize = 8;

/// The record of one rank, and how to call it in messages.
#[derive(Debug, Clone)]
pub struct RankRecord {
    /// Its folder.
    pub name: String,
    /// What it holds.
    pub record: RunRecord,
    /// The seconds of its repetitions.
    pub intervals: RecordedIntervals,
}

/// Several records as one.
#[derive(Debug, Clone)]
pub struct Merged {
    /// The head of rank 0, and what follows of all hosts together: need, depth, threads, connections, accelerators.
    pub run: Run,
    /// Every line of every rank, rank by rank, and one end.
    pub lines: Vec<Line>,
    /// Seconds of the repetitions that all ranks have, added.
    pub intervals: Vec<RepIntervals>,
}

/// Makes one record of those of all ranks, in whatever order they are given. The run is called `run_id`.
///
/// # Errors
/// Everything that does not fit, one sentence each: ranks missing or double, other plans, versions, settings, cut records.
pub fn merge(mut of_ranks: Vec<RankRecord>, run_id: &str) -> Result<Merged, Vec<String>> {
    let mut refused: Vec<String> = of_ranks.iter().flat_map(unfit).collect();
    // All reasons at once: collecting records of many hosts takes a while, and each round trip is one more.
    refused.extend(numbering(&of_ranks));
    // What is no record of one rank differs from one in many ways, of which the first tells enough.
    let mut fit = of_ranks.iter().filter(|one| unfit(one).is_empty());
    if let Some(first) = fit.next() {
        let run = |one: &'_ RankRecord| (one.name.clone(), one.record.run.clone());
        let (first_name, first) = run(first);
        refused.extend(fit.flat_map(|other| {
            let (name, other) = run(other);
            differences((&first_name, &first), (&name, &other))
        }));
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    of_ranks.sort_by_key(|one| one.record.run.rank);
    Ok(Merged { run: head(&of_ranks, run_id), lines: lines(&of_ranks), intervals: added(&of_ranks) })
}

/// Why a record is no whole record of one rank.
fn unfit(one: &RankRecord) -> Vec<String> {
    let RankRecord { name, record, .. } = one;
    let mut found = Vec::new();
    if record.run.ranks <= 1 {
        found.push(format!("`{name}` was not run with --rank and --ranks"));
    }
    if let Some(loss) = &record.loss {
        found.push(format!("`{name}` is not whole: {loss}"));
    }
    let mut ranks = record.lines.iter().filter_map(|line| match line {
        Line::Rep(rep) => Some(rep.rank),
        Line::Ceiling(_) | Line::End(_) => None,
    });
    match ranks.next() {
        None => found.push(format!("`{name}` holds no repetition")),
        // A merged record has every rank's repetitions; adding it again would count them twice.
        Some(_) if ranks.any(|rank| rank != record.run.rank) => {
            found.push(format!("`{name}` is a merged record already"));
        }
        Some(_) => {}
    }
    found
}

/// What is wrong with the ranks of these records together.
fn numbering(of_ranks: &[RankRecord]) -> Vec<String> {
    let Some(ranks) = of_ranks.iter().map(|one| one.record.run.ranks).max() else {
        return vec!["no record was given".to_owned()];
    };
    if ranks <= 1 {
        return Vec::new();
    }
    let mut by_rank: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for one in of_ranks {
        by_rank.entry(one.record.run.rank).or_default().push(&one.name);
    }
    let is_missing = |rank: &u32| !by_rank.contains_key(rank);
    let named = (0..ranks).filter(is_missing).take(MISSING_NAMED_MAX);
    let mut found: Vec<String> = named.map(|rank| format!("rank {rank} of {ranks} is missing")).collect();
    let missing = ranks as usize - by_rank.range(..ranks).count();
    if missing > found.len() {
        found.push(format!("and {} more ranks are missing", missing - found.len()));
    }
    let several = by_rank.iter().filter(|(rank, names)| **rank < ranks && names.len() > 1);
    found.extend(
        several.map(|(rank, names)| format!("rank {rank} is there more than once: `{}`", names.join("`, `"))),
    );
    let beyond = of_ranks.iter().filter(|one| one.record.run.rank >= ranks);
    found.extend(beyond.map(|one| format!("`{}` has rank {} of {ranks}", one.name, one.record.run.rank)));
    found
}

/// What must be equal in the heads of two ranks of one run and is not, a sentence each. Every head has a name to call it by.
pub fn differences(first: (&str, &Run), other: (&str, &Run)) -> Vec<String> {
    let ((first, a), (other, b)) = (first, other);
    let variant = |run: &Run| run.variant.as_ref().map_or("none", |variant| &variant.name).to_owned();
    let format = |format: Format| format!("{}.{}", format.major, format.minor);
    let said = |what: &str, a: String, b: String| {
        (a != b).then(|| format!("{what}: {a} in `{first}` and {b} in `{other}`"))
    };
    let silent =
        |what: &str, differs: bool| differs.then(|| format!("{what} of `{first}` and `{other}` differ"));
    let found = [
        said("scenario", a.scenario.clone(), b.scenario.clone()),
        said("plan", a.plan_hash.clone(), b.plan_hash.clone()),
        said("record format", format(a.format), format(b.format)),
        said("feedline", a.tool.version.clone(), b.tool.version.clone()),
        // A debug build is several times slower, and one among release builds would be the straggler of the
        // job.
        said("build", a.tool.profile.clone(), b.tool.profile.clone()),
        said("variant", variant(a), variant(b)),
        said("ranks", a.ranks.to_string(), b.ranks.to_string()),
        silent("the cells", a.cells != b.cells),
        silent("the settings under `measure`", a.measure != b.measure),
        silent("the needs", a.need != b.need),
    ];
    found.into_iter().flatten().collect()
}

/// The head of rank 0 for all of them.
fn head(of_ranks: &[RankRecord], run_id: &str) -> Run {
    let mut run = head_of_all(&of_ranks[0].record.run);
    run_id.clone_into(&mut run.run_id);
    // One rank with names in it is a record with names.
    run.redacted = of_ranks.iter().all(|one| one.record.run.redacted);
    run
}

/// The head of one rank as that of all of them: need, depth, threads, connections and accelerators are those of all.
pub fn head_of_all(of_one: &Run) -> Run {
    let mut run = of_one.clone();
    let ranks = run.ranks;
    let machines = run.team.as_ref().map_or(ranks, Team::machines);
    run.need = need(&run.need, ranks, machines);
    run.gate.at_depth = run.gate.at_depth.map(|depth| depth.saturating_mul(ranks));
    for cell in &mut run.cells {
        let ranks = cell.ranks.unwrap_or(ranks);
        // Depth and threads of the whole job: the figures are sums, and Little's law has to hold of the
        // merged record too.
        for count in [&mut cell.queue_depth, &mut cell.threads, &mut cell.connections] {
            *count = count.saturating_mul(ranks);
        }
        if let Some(training) = &mut cell.training {
            training.accelerators = training.accelerators.saturating_mul(ranks);
        }
        if let Some(rate_bps) = cell.pace.as_mut().and_then(|pace| pace.rate_bps.as_mut()) {
            *rate_bps *= f64::from(ranks);
        }
    }
    run
}

/// What the accelerators of all ranks need together. Ranks that share machines are fewer hosts than they are ranks.
fn need(of_one: &Need, ranks: u32, machines: u32) -> Need {
    let times = f64::from(ranks);
    let of_all = |label: &str| label_of_all(label, of_one.hosts, ranks, machines);
    let part =
        |part: &NeedPart| NeedPart { label: of_all(&part.label), bytes_per_s: part.bytes_per_s * times };
    Need {
        label: of_all(&of_one.label),
        samples_per_s: of_one.samples_per_s.map(|per_s| per_s * times),
        bytes_per_s: of_one.bytes_per_s.map(|per_s| per_s * times),
        write_bytes_per_s: of_one.write_bytes_per_s.map(|per_s| per_s * times),
        accelerators: of_one.accelerators.saturating_mul(ranks),
        // That of all hosts already, where they share it.
        count: of_one.count.map(|count| if of_one.hosts == 1 { count.saturating_mul(ranks) } else { count }),
        loader_depth: of_one.loader_depth.map(|depth| depth.saturating_mul(ranks)),
        hosts: if is_of_all(of_one.hosts, ranks, machines) { 1 } else { of_one.hosts },
        parts: of_one.parts.iter().map(part).collect(),
        ..of_one.clone()
    }
}

/// Whether each of `hosts` is measured by a rank of its own.
fn is_of_all(hosts: u32, ranks: u32, machines: u32) -> bool {
    hosts == ranks && machines == ranks
}

/// What a need that is called `label` for one of `hosts` is called for all ranks.
fn label_of_all(label: &str, hosts: u32, ranks: u32, machines: u32) -> String {
    let share = format!(", one of {hosts} hosts");
    // Words on what is written beside it may stand behind it.
    let whole = label.contains(&share).then(|| label.replace(&share, ""));
    match whole {
        // What several processes of one host get is not what as many hosts get: the label does not call them that.
        _ if machines < ranks => format!("{ranks} processes x {label}"),
        // The label names the need of the whole job, of which each host has its share.
        Some(whole) if is_of_all(hosts, ranks, machines) => whole,
        Some(whole) => format!("{whole}, {ranks} of {hosts} hosts"),
        None => format!("{ranks} hosts x {label}"),
    }
}

/// Every line but the ends, and an end for all.
fn lines(of_ranks: &[RankRecord]) -> Vec<Line> {
    let all = of_ranks.iter().flat_map(|one| &one.record.lines);
    let (ends, mut lines): (Vec<Line>, Vec<Line>) =
        all.cloned().partition(|line| matches!(line, Line::End(_)));
    let ends = ends.into_iter().filter_map(|line| if let Line::End(end) = line { Some(end) } else { None });
    lines.push(Line::End(end_of_all(ends)));
    lines
}

/// One end for those of all ranks.
pub fn end_of_all(ends: impl IntoIterator<Item = End>) -> End {
    let mut whole = End::default();
    for end in ends {
        whole.interrupted |= end.interrupted;
        // Hosts run side by side; their lengths are not added.
        whole.elapsed_ns = whole.elapsed_ns.max(end.elapsed_ns);
        end.not_run.into_iter().for_each(|of_rank| leave_out(&mut whole.not_run, of_rank));
        whole.changed.extend(end.changed);
        whole.not_looked_at.extend(end.not_looked_at);
        whole.reread.extend(end.reread);
    }
    whole.changed.sort_unstable();
    whole.changed.dedup();
    whole
}

/// A repetition that one rank did not make counts as not made; the rank that made the fewest decides.
fn leave_out(not_run: &mut Vec<NotRun>, of_rank: NotRun) {
    let same = |known: &&mut NotRun| known.cell == of_rank.cell && known.reason == of_rank.reason;
    match not_run.iter_mut().find(same) {
        // A repetition of the job exists where every rank made it.
        Some(known) => known.repetitions = known.repetitions.max(of_rank.repetitions),
        None => not_run.push(of_rank),
    }
}

/// The seconds of each repetition of which every rank has some, added: they begin at one time, by the timetable.
fn added(of_ranks: &[RankRecord]) -> Vec<RepIntervals> {
    let mut by_rep: BTreeMap<(&str, bool, u32), Vec<&RepIntervals>> = BTreeMap::new();
    for rep in of_ranks.iter().flat_map(|one| &one.intervals.reps) {
        by_rep.entry((&rep.cell, rep.role == Role::Confirm, rep.rep)).or_default().push(rep);
    }
    let mut in_order = of_ranks[0].intervals.reps.clone();
    in_order.retain_mut(|rep| {
        let of_all = &by_rep[&(rep.cell.as_str(), rep.role == Role::Confirm, rep.rep)];
        // A second that one host lacks would look like a dip of the storage.
        let seconds = (of_all.len() == of_ranks.len()).then(|| seconds_of_all(of_all)).flatten();
        let is_whole = seconds.is_some();
        rep.seconds = seconds.unwrap_or_default();
        rep.looks = Vec::new();
        is_whole
    });
    in_order
}

/// The seconds of one repetition of all ranks, added; `None` where a histogram cannot be read.
pub fn seconds_of_all(of_ranks: &[&RepIntervals]) -> Option<Vec<Interval>> {
    let mut seconds: BTreeMap<u32, (u64, u64, HistogramSum)> = BTreeMap::new();
    for one in of_ranks.iter().flat_map(|rep| &rep.seconds) {
        let sum = seconds.entry(one.second).or_insert_with(|| (0, 0, HistogramSum::of_seconds()));
        sum.0 = sum.0.saturating_add(one.ops);
        sum.1 = sum.1.saturating_add(one.bytes);
        sum.2.add(&one.service_ns).ok()?;
    }
    let second = |(second, (ops, bytes, service)): (u32, (u64, u64, HistogramSum))| Interval {
        second,
        ops,
        bytes,
        service_ns: encode(&service.histogram()),
    };
    Some(seconds.into_iter().map(second).collect())
}
