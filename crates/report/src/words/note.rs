//! What a reader must know of a run, a sentence each.

use analysis::{Course, EngineBeside, Met, Note, Pressed, Pressures, Ranks, Soak, TeamFacts};
use feed::{Operation, counted_noun, format_bps, format_count, format_duration_ns};
use record::{Role, Word};

use super::share::percent;
use super::{need, operation};

pub(crate) fn words(note: &Note) -> String {
    match note {
        Note::Build { profile } => {
            format!("measured by a {profile} build: the client is slow, use cargo run --release")
        }
        Note::Cut => "the record has no last line: the run was cut; what is here stands".to_owned(),
        Note::Interrupted => "a signal ended the run; what is here stands".to_owned(),
        Note::GoneOn { at_ns, started, adds_rounds } => {
            let (how, what) =
                if *adds_rounds { ("ended", "rounds were added") } else { ("interrupted", "gone on with") };
            format!("{how} after {}, and {what} at {started}", format_duration_ns(*at_ns))
        }
        Note::Damaged { loss } => format!("the record is damaged: {loss}"),
        Note::SlowClock { source } => format!(
            "the kernel's clock is {source}, which is read by a system call: each latency holds the time of one, and the \
             client's processor time that of two per read"
        ),
        Note::NoNeed(why) => need::none(*why),
        Note::InMemory { target, file_system } => {
            format!("{target} lies in memory ({file_system}): its figures are not a disk's")
        }
        Note::EmptyFiles { target, files } => {
            let left_out = if *files == 1 { "holds nothing and was" } else { "hold nothing and were" };
            format!("{} of {target} {left_out} left out", counted_noun(*files, "file"))
        }
        Note::ReadWhole { target, what } => format!(
            "{target}: {what}, which holds many samples: each file is read as one sample, and not as a loader reads such a \
             file (its chunks); \"dataset.sample_size\" states how large one of them is"
        ),
        Note::Unallocated { target, share } => format!(
            "{} of the bytes of {target} have no storage allocated (holes, compression): reading them brings fewer bytes \
             from the device, or none",
            percent(*share)
        ),
        Note::DirectNotProven { targets } => {
            format!("{}: direct I/O not proven: residency unknown", targets.join(", "))
        }
        Note::Unchecked { target } => format!("{target}: no read was checked against what was written"),
        Note::CeilingUnknown { cells } => ceiling_unknown(cells),
        Note::FewerConnections { target, asked } => {
            let connections = counted_noun((*asked).into(), "connection");
            format!("{target}: {connections} asked for, fewer made where fewer requests are under way")
        }
        Note::Strays { repetitions } => {
            format!(
                "{} of cells that run.json does not have",
                counted_noun(*repetitions as u64, "repetition")
            )
        }
        Note::Away { target, away_ns, met } => {
            let away = (*away_ns > 0).then(|| format!(" for {}", format_duration_ns(*away_ns)));
            let (repetitions, again) = met_words(*met);
            format!("{target} did not answer{}: {repetitions} met that, {again}", away.unwrap_or_default())
        }
        Note::Suspended { target, met } => {
            let (repetitions, again) = met_words(*met);
            let what = "this process was stopped, or its machine suspended";
            format!("{target}: {what}, during {repetitions}: {again}")
        }
        Note::Soak(of) => soak(of),
        Note::LocalServer { target } => format!(
            "{target}: the server runs on this machine: they share processors and memory, and its page cache is this \
             machine's"
        ),
        Note::Engine(beside) => engine(beside),
        Note::Pressure(found) => pressure(found),
        Note::OtherVariants { repetitions } => {
            let repetitions = counted_noun(*repetitions as u64, "repetition");
            format!("not in these figures: {repetitions} of other variants; compare them")
        }
        Note::Twice { lines: 1 } => {
            "one line of the record has a repetition again: it counts once".to_owned()
        }
        Note::Twice { lines } => {
            format!("{lines} lines of the record have repetitions again: each counts once")
        }
        Note::Caveat(caveat) => format!("need: {caveat}"),
        Note::Ranks(of) => ranks(*of),
        Note::Team(of) => team(of),
    }
}

/// `4 processes on 2 machines, started by Slurm and met through PMIx; their clocks differ by 3 us at most (+- 12 us), …`
fn team(of: &TeamFacts) -> String {
    let TeamFacts { launcher, ranks, machines, apart_ns, uncertainty_ns } = of;
    format!(
        "{ranks} processes on {}, started by {launcher}, agreed on each repetition through PMIx; their clocks differ by {} at most (+- {}), \
         which is corrected",
        counted_noun((*machines).into(), "machine"),
        format_duration_ns(*apart_ns),
        format_duration_ns(*uncertainty_ns),
    )
}

/// How many repetitions met an outage, and what became of them.
fn met_words(Met { repetitions, made_again }: Met) -> (String, String) {
    // A repetition that met an outage is no sample of the storage at work; it is made again, and the reader is
    // told.
    let again = format!("{made_again} made again and in no figure");
    (counted_noun(repetitions as u64, "repetition"), again)
}

fn ceiling_unknown(cells: &[String]) -> String {
    let first = cells.first().map_or("", String::as_str);
    match cells.len() {
        1 => format!("the client's ceiling is unknown for {first}: no read ended in its window"),
        many => format!(
            "the client's ceiling is unknown for {many} cells, {first} among them: no read ended in their windows"
        ),
    }
}

/// `s3: sdk reaches 62 % of lean (920 MB/s of 1.49 GB/s, at depths 512 and 512)`.
fn engine(EngineBeside { target, other, best }: &EngineBeside) -> String {
    format!(
        "{target}: {} reaches {} of {} ({} of {}, at depths {} and {})",
        other.engine,
        percent(other.bps / best.bps),
        best.engine,
        format_bps(other.bps),
        format_bps(best.bps),
        other.queue_depth,
        best.queue_depth
    )
}

/// `pressure, in the worst cell: some task waited for a processor 12 % (nvme/io_uring/qd32)`.
fn pressure(found: &Pressures) -> String {
    let words = |what: &str, pressed: &Option<Pressed>| {
        pressed.as_ref().map(|Pressed { cell, share }| format!("{what} {} ({cell})", percent(*share)))
    };
    let waits = [
        words("for a processor", &found.cpu),
        words("for I/O", &found.io),
        words("for memory", &found.memory),
    ];
    let waits = waits.into_iter().flatten().collect::<Vec<_>>().join(", ");
    // Stolen time is no wait of a task: the hypervisor took it from whatever ran.
    let waits = (!waits.is_empty()).then(|| format!("some task waited {waits}"));
    let parts = waits.into_iter().chain(words("stolen by the hypervisor", &found.stolen));
    format!("pressure, in the worst cell: {}", parts.collect::<Vec<_>>().join("; "))
}

fn ranks(of: Ranks) -> String {
    match of {
        Ranks::Alone { rank, ranks } => {
            format!("these are the figures of process {rank} of {ranks} alone")
        }
        Ranks::Together { ranks, fewer, overlap } => {
            let fewer = if fewer { ", in some cells the first of them alone" } else { "" };
            // Rounded down: 94.9 % is not the 95 % that are asked for.
            let overlap = overlap
                .map(|share| format!(", in windows that overlap by {} % or more", (share * 100.0).floor()));
            format!(
                "ranks 0 to {} measured together{fewer}{}: each repetition is the sum of theirs, and queue depth, threads and \
                 processors are those of all; what memory did on each is left out, and devices where they ran on several machines",
                ranks - 1,
                overlap.unwrap_or_default()
            )
        }
    }
}

/// `soak nvme depth 32: 3.1 GB/s in the first tenth, 2.4 GB/s in the last (-22 %); lowest minute 2.2 GB/s at 52 min`.
fn soak(of: &Soak) -> String {
    let place = match &of.target_at_depth {
        Some((target, depth)) => format!("{target} depth {depth}"),
        None => of.cell.clone(),
    };
    let number = of.rep.map(|rep| format!(" {}", rep + 1));
    let which = match (of.role, number) {
        (Role::Measure, None) => String::new(),
        (Role::Measure, Some(number)) => format!(", repetition{number}"),
        // Named: a soak of the fresh repetitions is another window than that of the first ones.
        (Role::Confirm, number) => format!(", confirmation{}", number.unwrap_or_default()),
    };
    format!("soak {place}{which}: {}", course(of.course, &of.operation))
}

fn course(course: Course, of: &Word<Operation>) -> String {
    let rate = |per_s: f64| match of.known() {
        Some(of_names) if of_names.is_of_names() => {
            format!("{} {}/s", format_count(per_s), operation::noun(of))
        }
        _ => format_bps(per_s),
    };
    let change = course.last_tenth / course.first_tenth - 1.0;
    // A first tenth that moved nothing has no change in percent.
    let change = if change.is_finite() { format!(" ({})", signed(change)) } else { String::new() };
    format!(
        "{} in the first tenth, {} in the last{change}; lowest minute {} at {}",
        rate(course.first_tenth),
        rate(course.last_tenth),
        rate(course.lowest_minute),
        clock(course.lowest_at_s)
    )
}

/// `-22 %`, `+1.5 %`.
fn signed(change: f64) -> String {
    let sign = match change {
        change if change < 0.0 => "-",
        change if change > 0.0 => "+",
        _ => "",
    };
    format!("{sign}{}", percent(change.abs()))
}

/// `1 h 12 min`, `12 min`.
fn clock(seconds: usize) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    if hours > 0 { format!("{hours} h {minutes} min") } else { format!("{minutes} min") }
}

#[cfg(test)]
mod tests;
