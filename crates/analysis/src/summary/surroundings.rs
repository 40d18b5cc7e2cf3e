//! What stands around the way to storage behind a network, and what a run says nothing of for it.

use record::Target;

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::facts::server_is_local;
use crate::cell::lines::Lines;
use crate::cell::network::LOOPBACK;
use crate::summary::not_tested::NotTested;
use crate::summary::note::Note;

/// What the verdicts do not cover.
pub(crate) fn not_tested(lines: &Lines<'_>, cells: &Cells<'_>) -> Vec<NotTested> {
    let remote = |cell: &&CellSummary| cell.network.is_some();
    let is_unknown = |cell: &CellSummary| is_beyond(cells, cell) && rate_is_unknown(lines, cell);
    let rate = cells.all.iter().filter(remote).any(is_unknown);
    // Once for the run: the interface is the machine's, whichever target lies behind it.
    let rate = rate.then_some(NotTested::InterfaceRate);
    let local = local(cells).map(|target| NotTested::RemoteServer { target: target.name.clone() });
    rate.into_iter().chain(local).collect()
}

/// What a reader must know of it.
pub(crate) fn notes(cells: &Cells<'_>) -> Vec<Note> {
    local(cells).map(|target| Note::LocalServer { target: target.name.clone() }).collect()
}

fn local<'a>(cells: &Cells<'a>) -> impl Iterator<Item = &'a Target> {
    cells.targets.iter().filter(|target| target.storage && server_is_local(target))
}

/// Whether the storage of a cell is on another machine for all that is known.
fn is_beyond(cells: &Cells<'_>, cell: &CellSummary) -> bool {
    let target = cells.targets.iter().find(|target| target.name == cell.cell.target);
    // A demo is not judged, so it leaves nothing untested.
    target.is_none_or(|target| !target.demo && !server_is_local(target))
}

/// Loopback has no rate: its limit is the machine's.
fn rate_is_unknown(lines: &Lines<'_>, cell: &CellSummary) -> bool {
    let mut reps = lines.of_cell(&cell.cell.cell).iter();
    reps.any(|rep| match &rep.system.network {
        Some(network) => network.speed_bps.is_none() && network.interface != LOOPBACK,
        None => true,
    })
}

#[cfg(test)]
mod tests {
    use record::{Fact, Network};

    use crate::fixture::{Builder, rep};
    use crate::{NotTested, Note, Summary, summarise};

    fn summary(
        connections: u32,
        edit: impl Fn(&mut record::Rep),
        target: fn(&mut record::Target),
    ) -> Summary {
        let mut builder = Builder::new();
        builder.run.format.minor = 2;
        builder.cell("c", "disk", 8);
        builder.edit_cell("c", |cell| cell.connections = connections);
        builder.push(rep("c", 0, 1e9));
        builder.edit_reps("c", edit);
        target(&mut builder.run.targets[0]);
        summarise(&builder.record())
    }

    #[test]
    fn an_interface_without_a_rate_leaves_its_limit_untested() {
        let is_said = |connections, interface: Option<(&str, Option<u64>)>| {
            let edit = |rep: &mut record::Rep| {
                rep.system.network = interface.map(|(name, speed_bps)| Network {
                    interface: name.to_owned(),
                    speed_bps,
                    wall_ns: 1_000_000_000,
                    ..Network::default()
                });
            };
            summary(connections, edit, |_| {}).not_tested.contains(&NotTested::InterfaceRate)
        };
        assert!(is_said(8, Some(("eth0", None))) && is_said(8, None));
        assert!(!is_said(8, Some(("eth0", Some(10_000_000_000)))) && !is_said(8, Some(("lo", None))));
        assert!(!is_said(0, None), "storage of this machine");
    }

    const LOCAL: fn(&mut record::Target) = |target| {
        target.facts = vec![Fact { name: "server_is_local".to_owned(), value: "true".to_owned() }];
    };

    #[test]
    fn a_server_on_this_machine_leaves_its_page_cache_in_doubt() {
        let in_user_space = |rep: &mut record::Rep| rep.cache.method = "user_space".to_owned();
        let local = summary(8, in_user_space, LOCAL);
        let note = Note::LocalServer { target: "disk".to_owned() };
        assert!(local.notes.contains(&note), "{:?}", local.notes);
        let untested = NotTested::RemoteServer { target: "disk".to_owned() };
        assert!(local.not_tested.contains(&untested), "{:?}", local.not_tested);
        let page_cache = crate::TierKnown::PageCache(crate::PageCacheKnown::ServerIsLocal);
        assert_eq!(local.tiers[0].known, page_cache);
        let cache = &local.cells[0].figures().unwrap().cache;
        assert!(cache.server_is_local && !cache.is_known(), "{cache:?}");
    }

    #[test]
    fn a_demo_needs_no_such_words() {
        let demo = summary(
            8,
            |_| {},
            |target| {
                LOCAL(target);
                target.demo = true;
            },
        );
        let plain = summary(8, |_| {}, |target| target.demo = true);
        assert_eq!((demo.notes, demo.not_tested, demo.tiers), (plain.notes, plain.not_tested, plain.tiers));
        assert!(demo.cells[0].figures().unwrap().cache.is_known());
    }
}
