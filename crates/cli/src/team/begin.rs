//! From several processes to one run: they agree on what is measured, and make it ready.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plan::{Limit, Plan};
use record::{Member, Run, Team};

use super::asked::Asked;
use super::meeting::{Meeting, Slack};
use super::members::{self, Hello, Refusal};
use super::{broken, clocks};
use crate::announce::{self, Announced};
use crate::claim::Claim;
use crate::exit::{Exit, Failure};
use crate::load::Loaded;
use crate::open::{Servers, Stores};
use crate::session::{self, Ready, Shown};
use crate::{data, host, output, signals, slots};

/// How many times longer than this process another may take for the same work.
const MORE_TIMES: u64 = 9;

/// A run that all processes are ready for.
pub(super) struct Begun {
    pub(super) ready: Ready,
    /// All of them, for the record.
    pub(super) team: Team,
    /// Names that it hides.
    pub(super) secrets: Vec<(String, String)>,
}

/// What the processes have agreed on.
pub(super) struct Agreed {
    loaded: Loaded,
    members: Vec<Member>,
    secrets: Vec<(String, String)>,
}

/// Lets all processes say what they would measure, and compares their clocks.
///
/// # Errors
/// Where they would not measure the same, or one of them cannot; rank 0 says so for all.
pub(super) fn agree(asked: &Asked<'_>, meeting: &Meeting) -> Result<Agreed, Failure> {
    let loaded = (asked.load)();
    let hello = Hello::of(&loaded, asked.measure.no_redact);
    let all = meeting.all(&hello, Slack::None)?;
    meeting.call_hosts(all.iter().map(|one| one.host.clone()).collect());
    members::agree(&all).map_err(|refusal| said_once(meeting, &refusal))?;
    let clocks = clocks::compare(meeting, &host::unix_now_ns)?;
    let members = members::members(&all, &clocks);
    let loaded = loaded?;
    refuse_servers(&loaded.plan, &members).map_err(|refusal| said_once(meeting, &refusal))?;
    refuse_slowed(&loaded.plan).map_err(|refusal| said_once(meeting, &refusal))?;
    refuse_checkpoints(&loaded.plan).map_err(|refusal| said_once(meeting, &refusal))?;
    Ok(Agreed { loaded, members, secrets: members::secrets(&all) })
}

/// Servers of feedline's own listen on loopback, where other machines do not reach them.
fn refuse_servers(plan: &Plan, members: &[Member]) -> Result<(), Refusal> {
    let emulated = plan.targets.iter().find(|target| target.is_served_here());
    match emulated {
        Some(target) if members.iter().any(|member| member.machine > 0) => Err(Refusal {
            exit: Exit::Usage,
            text: format!(
                "error: target `{}` is a server that feedline starts for its own machine, and these processes run on \
                 several\n  hint: start all of them on one machine, or `feedline emulate` a server that all reach",
                target.name
            ),
        }),
        _ => Ok(()),
    }
}

fn refuse_slowed(plan: &Plan) -> Result<(), Refusal> {
    slots::slowed(plan).map_or(Ok(()), |text| Err(Refusal { exit: Exit::Usage, text }))
}

/// Times of saves of several processes are not judged together, and each process would need room of its own.
fn refuse_checkpoints(plan: &Plan) -> Result<(), Refusal> {
    if plan.cells.iter().all(|cell| cell.writes_checkpoints().is_none()) {
        return Ok(());
    }
    Err(Refusal {
        exit: Exit::Usage,
        text: "error: checkpoints are measured by one process: times of several are not judged together\n  hint: start it without \
               the launcher, or leave the checkpoints out"
            .to_owned(),
    })
}

/// The failure of all, said by rank 0.
fn said_once(meeting: &Meeting, refusal: &Refusal) -> Failure {
    // All end by themselves: a launcher that sends a signal after the first of them interrupts nothing.
    signals::ended_by_itself();
    if meeting.leads() {
        output::say(&refusal.text);
    }
    // Nor before it is said. What fails here was said all the same.
    let _ = meeting.fence(Slack::None);
    Failure::Said(refusal.exit)
}

/// Opens the storages and makes the datasets ready: rank 0 first, then one process of each machine, then all. Whoever comes
/// later finds what was written, or writes it where the storage is its machine's own.
pub(super) fn make_ready(
    asked: &Asked<'_>,
    meeting: &Meeting,
    agreed: Agreed,
    stop: &Arc<AtomicBool>,
) -> Result<Begun, Failure> {
    let Agreed { loaded, members, secrets } = agreed;
    let share = meeting.share();
    let name = format!("{} processes from {:x}", share.of, host::unix_now_ns());
    let name: String = meeting.tell(meeting.leads().then_some(&name))?;
    let claim = Claim::WithItsOthers(name);
    let stores = open(asked, meeting, &loaded.plan)?;
    let turn = match share.index {
        0 => 0,
        rank if members::is_first_of_machine(&members, rank) => 1,
        _ => 2,
    };
    let mut open = Some((loaded, stores));
    let mut ready = None;
    for present in 0..3 {
        let mine = if present == turn { open.take() } else { None };
        let made = meeting.working(|| {
            let shown = || if meeting.leads() { Shown::of(asked.measure) } else { Ok(Shown::nothing()) };
            let make = |(loaded, stores)| Ready::with(loaded, stores, shown()?, &claim, Arc::clone(stop));
            let made = mine.map(make).transpose();
            // Before the others are told that it is done: one that failed ends them.
            made.map_err(|failure| broken::fail(meeting, &failure))
        })?;
        ready = made?.or(ready);
    }
    let Some(ready) = ready else { unreachable!("every process has one of three turns") };
    same_data(&ready, meeting)?;
    Ok(Begun { ready, team: Team { launcher: asked.launcher.name().to_owned(), members }, secrets })
}

/// Opens the storages: rank 0 starts the servers that are declared, and says what will be done.
fn open(asked: &Asked<'_>, meeting: &Meeting, plan: &Plan) -> Result<Stores, Failure> {
    let own = || -> Result<Option<Stores>, Failure> {
        if !meeting.leads() {
            return Ok(None);
        }
        let stores = session::open(plan)?;
        announce::announce(plan, &stores, asked.measure, &Announced::of(asked.input, asked.size.is_some()))?;
        Ok(Some(stores))
    };
    let failed = |failure: Failure| broken::fail(meeting, &failure);
    let opened = meeting.working(|| own().map_err(failed))??;
    let reached = opened.as_ref().map(Stores::reached);
    let reached = meeting.tell(reached.as_ref())?;
    match opened {
        Some(stores) => meeting.working(|| stores),
        None => meeting
            .working(|| {
                data::check_places(plan)?;
                Stores::through(plan, &Servers::OfLeader(reached))
            })?
            .map_err(failed),
    }
}

/// That all read the same bytes in the same order, and through as many connections: known once the data are there.
fn same_data(ready: &Ready, meeting: &Meeting) -> Result<(), Failure> {
    let own = session::described(ready, true, meeting.share().of);
    let runs: Vec<Run> = meeting.gather(&own, Slack::None)?;
    let name = |rank: usize| meeting.named(rank as u32);
    let differing = runs
        .iter()
        .enumerate()
        .skip(1)
        .flat_map(|(rank, run)| record::differences((&name(0), &runs[0]), (&name(rank), run)));
    let differing: Vec<String> = differing.take(8).map(|line| format!("\n  - {line}")).collect();
    let differing: String = meeting.tell(meeting.leads().then_some(&differing.concat()))?;
    if differing.is_empty() {
        return Ok(());
    }
    let text = format!(
        "error: the processes would not measure the same:{differing}\n  hint: let every host reach the same data, and have the \
         same feedline"
    );
    Err(said_once(meeting, &Refusal { exit: Exit::Error, text }))
}

/// How much longer than this process the others may take for a repetition: one that ends by what was read or copied ends at other
/// times on other hosts.
pub(super) fn slack(plan: &Plan) -> Slack {
    if planned_ns(plan).is_some() { Slack::None } else { Slack::Own(MORE_TIMES) }
}

/// How long a process that takes no part in a repetition waits for those that do: as many times as long as is planned. Where that is
/// not known it waits without end.
// It has nothing of its own to go by. Those that take part watch each other, and one alone is watched by nobody, as in a run of one
// process.
pub(super) fn idle(plan: &Plan) -> Slack {
    Slack::Time(planned_ns(plan).map_or(u64::MAX, |ns| ns.saturating_mul(MORE_TIMES)))
}

/// How long every repetition takes by the plan; `None` where one ends by what was read or copied.
fn planned_ns(plan: &Plan) -> Option<u64> {
    let ends_by_work = |cell: &plan::Cell| cell.task.copy().is_some() || cell.cache == plan::Cache::Cold;
    match plan.measure.limit {
        Limit::Duration { duration_ns } if !plan.cells.iter().any(ends_by_work) => {
            Some(plan.measure.warmup_ns.saturating_add(duration_ns))
        }
        _ => None,
    }
}
