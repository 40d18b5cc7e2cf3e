//! What a test of one client leaves open of a wider need.

use super::cause::Cause;
use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::choice;
use crate::verdict::scope::Scope;

/// Why a cell that reaches `share` of the demand does not feed all that is needed.
pub(crate) fn narrower(
    cells: &Cells<'_>,
    cell: &CellSummary,
    scope: Option<&Scope>,
    share: f64,
) -> Option<Cause> {
    let eligibility = choice::Eligibility::of(cells, &cell.cell.target);
    // The reach of the loader is asked first: it is a fact of this host, whatever others do.
    if let Some(reach) = eligibility.loader_depth.filter(|_| !eligibility.is_reached(cell)) {
        return Some(Cause::BeyondLoader { reach });
    }
    let hosts = scope.map_or(0, Scope::hosts_open);
    if hosts > 0 {
        return Some(Cause::HostsOpen { hosts });
    }
    let least_au = least_au(cell).filter(|least_au| *least_au < share)?;
    Some(Cause::NotInStep { least_au })
}

/// The least utilization of a job of several processes that measured it without waiting for each other, by the repetitions
/// that decide.
fn least_au(cell: &CellSummary) -> Option<f64> {
    cell.latest().figures()?.training.as_ref()?.least_au
}
