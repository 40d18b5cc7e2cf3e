//! What several needs of one storage must agree on, so that they have one line.

use feed::{NEEDS_MAX, Need};

use crate::diagnostic::{Problem, Span};
use crate::words::Mode;
use crate::written::Needs;

/// Refuses needs that cannot be added up.
pub(super) fn refuse(written: &Needs, needs: &[Need], mode: Option<(Mode, Option<Span>)>) -> Vec<Problem> {
    let all = || needs.iter().zip(&written.0).map(|(need, item)| (need, item.span));
    let rates: Vec<(&Need, Span)> = all().filter(|(need, _)| need.asks_rate()).collect();
    let apart = |differ: &dyn Fn(&Need, &Need) -> bool| {
        let (first, rest) = rates.split_first()?;
        rest.iter().find(|other| differ(first.0, other.0)).map(|other| (*first, *other))
    };
    let mut refused = Vec::new();
    if let Some(item) = written.0.get(NEEDS_MAX) {
        let problem = Problem::new(format!("more than {NEEDS_MAX} needs at once"));
        refused.push(problem.at(item.span, "one more").help("add up the rates of what is alike"));
    }
    // The line is drawn once. A share of one need would else be a share of another.
    if let Some(((first, at), (other, place))) = apart(&|a, b| (a.utilization - b.utilization).abs() > 1e-9) {
        let problem = Problem::new("needs of one storage have one line, and these draw it differently");
        let label = |need: &Need| format!("at {}", feed::format_count(need.utilization));
        let problem = problem.at(at, label(first)).at(place, label(other));
        refused.push(
            problem.help("write the same `utilization` in each of them: 0.9 is a job\'s, 1.0 a rate\'s"),
        );
    }
    let hosts = |need: &&(&Need, Span)| need.0.hosts > 1;
    let mut shared = rates.iter().filter(hosts);
    if let Some((first, at)) = shared.next()
        && let Some((other, place)) = shared.find(|(other, _)| other.hosts != first.hosts)
    {
        let label = |need: &Need| format!("of {} hosts", need.hosts);
        let problem =
            Problem::new("this client is one of several hosts, and these needs say of how many others");
        let problem = problem.at(*at, label(first)).at(*place, label(other));
        refused.push(problem.help(
            "state what one host reads of the second, for example need = [..., { rate = \"1 GB/s\" }]",
        ));
    }
    let mut saves = all().filter(|(need, _)| need.checkpoint.is_some());
    if let (Some((_, first)), Some((_, second))) = (saves.next(), saves.next()) {
        let problem = Problem::new("checkpoints are asked for twice");
        refused.push(problem.at(second, "again").also(first, "already here").help("leave one of them"));
    }
    let jobs = rates.iter().filter(|(need, _)| !need.writes).count();
    if let (Some((Mode::Training, span)), true) = (mode, jobs > 1) {
        let problem = Problem::new("one training job is played, and the need lists several that read");
        let problem = problem.at(written.0[0].span, "one of them").also_if(span, "plays one");
        refused.push(problem.help("remove load.mode: what all of them read is then held against one line"));
    }
    refused
}
