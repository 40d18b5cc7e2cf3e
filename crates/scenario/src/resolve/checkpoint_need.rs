//! What checkpoints ask for, as written, and what is refused of it.

use feed::{CheckpointNeed, HostShare};

use crate::diagnostic::{Problem, Problems};
use crate::reader::Field;
use crate::written::{self, NeedTable, Needs};

/// The table of a need that asks for checkpoints, where it was read.
pub(super) fn table(need: &Field<Needs>) -> Option<&written::CheckpointNeed> {
    need.given()?.value.tables().find_map(|table| Some(&table.checkpoint.given()?.value))
}

/// What checkpoints of `table` ask for; `None` within where none are asked for, without where something was wrong, after saying
/// why.
#[expect(clippy::option_option, reason = "absent and wrong differ")]
pub(super) fn resolve(table: &NeedTable, problems: &mut Problems) -> Option<Option<CheckpointNeed>> {
    let Some(entry) = table.checkpoint.entry()? else { return Some(None) };
    let before = problems.len();
    let written = &entry.value;
    let hosts = hosts(table, written, problems)?;
    refuse_interval(written, problems);
    let within_ns = written.within.given()?.value.0;
    let (label, bytes, share) = match (&written.model, &written.bytes) {
        (Field::Given(model), Field::Absent) => {
            let model = model.value.0;
            if hosts > model.processes() {
                problems.push(too_many_hosts(written, hosts, model.processes()));
            }
            (model.name.to_owned(), model.bytes(), model.host_share(model.processes().div_ceil(hosts)))
        }
        (Field::Absent, Field::Given(size)) => {
            let bytes = size.value.0;
            let share = HostShare { processes: 1, bytes: bytes.div_ceil(hosts.into()), files: 1 };
            (feed::format_bytes(bytes), bytes, share)
        }
        _ => return None,
    };
    let need = CheckpointNeed {
        label,
        bytes,
        host_bytes: share.bytes,
        hosts,
        within_ns,
        every_ns: written.every.optional()?,
        restore_within_ns: written.restore_within.optional()?,
        kind: written.kind.value_or(feed::SaveKind::default())?,
        beside_others: false,
    };
    (problems.len() == before).then_some(Some(need))
}

/// Hosts that write together: those of the need, of which there is one number.
fn hosts(table: &NeedTable, written: &written::CheckpointNeed, problems: &mut Problems) -> Option<u32> {
    let of_need: Option<u32> = table.hosts.optional()?;
    let own: Option<u32> = written.hosts.optional()?;
    if let (Some(of_need), Some(own)) = (of_need, own)
        && of_need != own
    {
        let problem = Problem::new("one job has one number of hosts")
            .at(written.hosts.span()?, format!("{own} hosts"))
            .at(table.hosts.span()?, format!("{of_need} hosts"));
        problems.push(problem.help("remove `need.checkpoint.hosts`"));
        return None;
    }
    Some(own.or(of_need).unwrap_or(1))
}

/// Refuses checkpoints that are due before the one before has to be written.
fn refuse_interval(written: &written::CheckpointNeed, problems: &mut Problems) {
    let Some((within, every)) = written.within.given().zip(written.every.given()) else { return };
    if every.value.0 < within.value.0 {
        let problem = Problem::new("a checkpoint would be due before the one before has to be written")
            .at(within.span, "may take this long")
            .at(every.span, "is due this often");
        problems.push(problem.help("write an `every` of at least `within`"));
    }
}

fn too_many_hosts(written: &written::CheckpointNeed, hosts: u32, processes: u32) -> Problem {
    let message = format!(
        "{} write a model of {} processes",
        feed::counted_noun(u64::from(hosts), "host"),
        feed::group_digits(u64::from(processes))
    );
    let problem = Problem::new(message)
        .also_if(written.hosts.span(), "more hosts than processes")
        .also_if(written.model.span(), "one process for each accelerator");
    problem.help(format!("write hosts = {processes} or fewer, or state the `bytes` of your own checkpoint"))
}
