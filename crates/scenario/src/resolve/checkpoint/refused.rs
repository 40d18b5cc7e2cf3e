//! What goes with no checkpoint, and checkpoints that fit on no disk.

use plan::DatasetSpec;

use crate::diagnostic::{Problem, Problems};
use crate::host::HostFacts;
use crate::words::Origin;

use super::super::limits;
use super::super::target::Resolved;
use super::{Asked, Checkpoints, trains};

/// Refuses what no checkpoint goes with.
pub(super) fn refuse(asked: &Asked<'_>, problems: &mut Problems) {
    refuse_existing(asked, problems);
    refuse_targets(asked, problems);
    refuse_threads(asked, problems);
}

/// Refuses to write where the scenario promises that nothing is written.
fn refuse_existing(asked: &Asked<'_>, problems: &mut Problems) {
    let source = asked.written.dataset.source.given().filter(|source| source.value.0 == Origin::Existing);
    if let Some(source) = source {
        let problem = Problem::new("checkpoints are written, and nothing is written beside files of yours")
            .at(source.span, "promises that");
        problems
            .push(problem.help("measure checkpoints in a scenario of their own, on a folder for feedline"));
    }
}

/// Refuses targets of which none can be written to, and a choice that one of them does not have.
fn refuse_targets(asked: &Asked<'_>, problems: &mut Problems) {
    let written = &asked.written.checkpoint;
    let at = written.model.key().or(written.size.key());
    let writable = |target: &&&Resolved<'_>| target.target.config.capabilities().writable;
    let none = asked.targets.iter().filter(writable).count() == 0;
    if none && !asked.targets.is_empty() && written.to.is_absent() {
        let problem =
            Problem::new("checkpoints can be written to none of the targets").also_if(at, "asks for them");
        problems.push(problem.help("add a target that is a folder, an NFS export or a bucket"));
    }
    let Some(durable) = written.durable.given().filter(|durable| !durable.value.0) else { return };
    for target in asked.targets.iter().filter(writable).filter(|target| target.network.is_some()) {
        let name = &target.target.name;
        let problem =
            Problem::new(format!("what is written to `{name}` is durable, or it is not written at all"))
                .at(durable.span, "asks for less")
                .also(target.at(), "does not know less");
        problems.push(problem.help("remove `checkpoint.durable`"));
    }
}

/// Refuses threads that could not let accelerators wait for each other.
fn refuse_threads(asked: &Asked<'_>, problems: &mut Problems) {
    let threads = asked.written.load.threads.given().filter(|threads| threads.value.0 > 1 && trains(asked));
    if let Some(threads) = threads {
        let written = &asked.written.checkpoint;
        let problem = Problem::new("accelerators that wait for each other are fed by one thread")
            .at(threads.span, "more than one")
            .also_if(written.model.key().or(written.size.key()), "lets them wait for checkpoints");
        problems.push(problem.help("remove `load.threads`, or the checkpoints"));
    }
}

/// Whether each path has room for all checkpoints that lie there at once, beside the datasets.
pub(in super::super) fn room(
    checkpoints: &Checkpoints,
    targets: &[&Resolved<'_>],
    specs: &[DatasetSpec],
    host: &HostFacts,
    problems: &mut Problems,
) {
    let restored = if checkpoints.restore { checkpoints.plan.bytes() } else { 0 };
    let own = checkpoints.plan.disk_bytes().saturating_add(restored);
    let bytes = specs.iter().map(DatasetSpec::disk_bytes).fold(own, u64::saturating_add);
    for (index, target) in targets.iter().enumerate() {
        let written = checkpoints.to.is_none_or(|to| to == index);
        let facts = limits::path(target).filter(|_| written).and_then(|path| host.paths.get(path));
        if let Some(free) = facts.and_then(|facts| facts.free_bytes).filter(|free| bytes > *free) {
            let message = format!(
                "{} checkpoints, one to restore and the datasets take {}, and {} are free on this path",
                checkpoints.plan.keep + 1,
                feed::format_bytes(bytes),
                feed::format_bytes(free)
            );
            let problem = Problem::new(message)
                .at(target.at(), format!("{} free", feed::format_bytes(free)))
                .also_if(checkpoints.span, format!("{} each", feed::format_bytes(checkpoints.plan.bytes())));
            problems.push(
                problem.help("write a smaller checkpoint.scale, keep fewer of them, or choose another path"),
            );
        }
    }
}
