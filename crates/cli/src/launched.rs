//! Whether this process is one of several that a launcher started, and how they measure together.

use std::path::Path;
use std::sync::Arc;

use launch::{Group, Launcher, Place};

use crate::args::{RankArgs, TeamArgs};
use crate::exit::{Exit, Failure};
use crate::output;

/// How the processes of a run measure together.
pub(crate) enum Launched {
    /// There is one.
    Alone,
    /// They do not talk: each repetition has its slot, by the time of day.
    Slots(RankArgs),
    /// They meet.
    Team(Arc<dyn Group>, Launcher),
}

/// The place that the environment states.
///
/// # Errors
/// A usage error for variables that contradict each other.
pub(crate) fn place() -> Result<Option<Place>, Failure> {
    Place::of(&|name| std::env::var(name).ok()).map_err(|error| Failure::usage(format!("error: {error}")))
}

/// Refuses a verb that one process does: several would each do it as if they were alone. `ranks` is what the command line says
/// of their number.
///
/// # Errors
/// Where there are several, or a numbered pod may have others beside it.
pub(crate) fn refuse(verb: &str, ranks: Option<u32>) -> Result<(), Failure> {
    match (place()?, ranks) {
        (None, None | Some(1)) | (Some(Place { launcher: Launcher::IndexedJob, .. }), Some(1)) => Ok(()),
        (None, Some(ranks)) => Err(Failure::usage(format!(
            "error: `feedline {verb}` is done by one process, and --ranks says that there are {ranks}\n  hint: leave out --ranks"
        ))),
        (Some(place), _) => Err(of_one(verb, &place)),
    }
}

/// The same of a verb that numbered pods may do beside each other.
///
/// # Errors
/// Where a launcher started several that could meet.
pub(crate) fn refuse_but_pods(verb: &str) -> Result<(), Failure> {
    match place()? {
        // Under Kubernetes a pod may be numbered and alone; two of them that prepare one dataset do no harm.
        None | Some(Place { launcher: Launcher::IndexedJob, .. }) => Ok(()),
        Some(place) => Err(of_one(verb, &place)),
    }
}

/// How this process does a verb with the others, for one that is not done in slots.
///
/// # Errors
/// Where there are several that cannot meet, and where options of those that do are given to one.
pub(crate) fn without_slots(verb: &str, team: &TeamArgs) -> Result<Launched, Failure> {
    match place()? {
        Some(place) if !place.pmix => Err(of_one(verb, &place)),
        _ => of(&RankArgs::default(), team),
    }
}

/// The failure of all processes at a verb of one.
fn of_one(verb: &str, place: &Place) -> Failure {
    let hint = match place.launcher {
        Launcher::IndexedJob => {
            "start it in a Job whose completionMode is not Indexed, or by `env -u JOB_COMPLETION_INDEX feedline` in a pod that is \
             alone; `feedline run` with --start-at is what several pods do together"
        }
        _ => {
            "start it without the launcher; `feedline run` and `feedline size --find hosts` are what several processes do together"
        }
    };
    let is = place.words();
    once(place, &format!("error: `feedline {verb}` is done by one process, and this is {is}\n  hint: {hint}"))
}

/// How this process measures with the others, if there are any.
///
/// # Errors
/// A usage error where they cannot, or contradict what the command line says; and what the launcher refuses.
pub(crate) fn of(ranks: &RankArgs, team: &TeamArgs) -> Result<Launched, Failure> {
    let place = place()?;
    let launched = match &place {
        None => without_launcher(ranks),
        Some(place) => with_launcher(place, ranks, team),
    }?;
    match (launched, team.first_given()) {
        (Launched::Alone | Launched::Slots(_), Some(option)) => {
            let said = format!(
                "error: {option} is for processes of a launcher that meet, and here none do\n  hint: leave it out, or let a \
                 launcher with PMIx start several (Open MPI's mpirun, `srun --mpi=pmix`)"
            );
            Err(place.map_or_else(|| Failure::usage(said.clone()), |place| once(&place, &said)))
        }
        (launched, _) => Ok(launched),
    }
}

fn without_launcher(ranks: &RankArgs) -> Result<Launched, Failure> {
    match (ranks.rank, ranks.ranks, &ranks.start_at) {
        (None, None, None) => Ok(Launched::Alone),
        (Some(_), Some(2..), Some(_)) => Ok(Launched::Slots(ranks.clone())),
        _ => Err(Failure::usage(
            "error: --rank, --ranks and --start-at go together where no launcher states them\n  hint: give all three, the \
             same --ranks and --start-at on every host, or start feedline by mpirun or srun",
        )),
    }
}

fn with_launcher(place: &Place, ranks: &RankArgs, team: &TeamArgs) -> Result<Launched, Failure> {
    agree(place, ranks).map_err(|said| once(place, &said))?;
    if is_the_only_pod(place, ranks) {
        return Ok(Launched::Alone);
    }
    if ranks.start_at.is_some() {
        let Some(size) = place.size.or(ranks.ranks) else {
            return Err(once(
                place,
                "error: an Indexed Job does not say how many pods it has\n  hint: --ranks N",
            ));
        };
        return Ok(match size {
            1 => Launched::Alone,
            _ => Launched::Slots(RankArgs { rank: Some(place.rank), ranks: Some(size), ..ranks.clone() }),
        });
    }
    if !place.pmix {
        return Err(once(
            place,
            &format!(
                "error: this is {}: its processes cannot talk to each other\n  hint: let a launcher with PMIx start them (Open \
                 MPI's mpirun, `srun --mpi=pmix`), or let each begin at one time: --start-at TIME{}, and `feedline merge` their \
                 records",
                place.words(),
                if place.size.is_none() { " --ranks N (--ranks 1 alone where there is one)" } else { "" },
            ),
        ));
    }
    let joined = launch::join(place, team.pmix.as_deref().map(Path::new));
    // Each says it: without the library they cannot wait for the first.
    match joined.map_err(|error| Failure::usage(format!("error: {error}")))? {
        None => Ok(Launched::Alone),
        Some(group) => Ok(Launched::Team(group, place.launcher)),
    }
}

/// Whether a pod that is numbered has no others beside it: what numbers it does not say so, and the command line may.
fn is_the_only_pod(place: &Place, ranks: &RankArgs) -> bool {
    place.launcher == Launcher::IndexedJob && ranks.ranks == Some(1)
}

/// That what the command line says of ranks is what the launcher says.
fn agree(place: &Place, ranks: &RankArgs) -> Result<(), String> {
    let differs = |asked: Option<u32>, is: Option<u32>| asked.zip(is).is_some_and(|(asked, is)| asked != is);
    if !differs(ranks.rank, Some(place.rank)) && !differs(ranks.ranks, place.size) {
        return Ok(());
    }
    Err(format!(
        "error: this is {}, and --rank or --ranks say otherwise: the processes would not measure together\n  hint: leave out what \
         the launcher states",
        place.words()
    ))
}

/// The failure of all processes alike, said by the first alone.
fn once(place: &Place, said: &str) -> Failure {
    // A launcher ends all when one has failed: the others wait until it is said, where they can.
    let group = if place.pmix { launch::join(place, None).ok().flatten() } else { None };
    say_once(place.rank, group.as_deref(), said)
}

/// The same of processes that meet.
pub(crate) fn once_for_all(group: &dyn Group, said: &str) -> Failure {
    say_once(group.rank(), Some(group), said)
}

fn say_once(rank: u32, group: Option<&dyn Group>, said: &str) -> Failure {
    if rank == 0 {
        output::say(said);
    }
    if let Some(group) = group {
        // What fails here was said all the same.
        let _ = group.fence();
    }
    Failure::Said(Exit::Usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_command_line_says_must_be_what_the_launcher_says() {
        let place = Place { launcher: Launcher::OpenMpi, rank: 2, size: Some(4), pmix: true };
        let asked = |rank, ranks| agree(&place, &RankArgs { rank, ranks, ..RankArgs::default() });
        assert_eq!(asked(None, None), Ok(()));
        assert_eq!(asked(Some(2), Some(4)), Ok(()));
        for (rank, ranks) in [(Some(1), None), (None, Some(3)), (Some(2), Some(5))] {
            assert!(asked(rank, ranks).unwrap_err().contains("rank 2 of 4, started by Open MPI"));
        }
    }
}
