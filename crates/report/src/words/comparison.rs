//! What comparisons, calibrations and histories leave open, and why.

use analysis::{
    Because, Break, CalibrationNote, ComparisonNote, Difference, Excluded, Exclusion, Lost, NoFigures,
    NotComparable, OneSide, RefusalHint, Regression, RegressionResult, Sampled, Uncompared, UncomparedReason,
    Undecided,
};
use feed::counted_noun;
use record::Tool;

use super::share::percent;
use super::{flag, gap};
use crate::group::by_key;

/// Cells that are named before the rest is counted.
// Three names show which kind of cells it is; forty would be most of the page.
const NAMED_MAX: usize = 3;

/// Why nothing may rest on repetitions, or why there are none.
pub(crate) fn exclusions(of: &[Exclusion]) -> String {
    let words = |one: &Exclusion| match one {
        Exclusion::Flag(of) => flag::words(of),
        Exclusion::Gap(of) => gap::words(of),
    };
    of.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Why nothing may rest on a cell: what either side says, once where both say the same.
pub(crate) fn excluded(of: &Excluded) -> String {
    let sides = match of {
        Excluded::After(reasons) => return exclusions(reasons),
        Excluded::Sides(sides) => sides,
    };
    let [before, after] = sides.each_ref().map(|side| exclusions(&side.reasons));
    // In words: two flags that differ behind their last digit say the same to a reader.
    if before == after {
        return before;
    }
    let named = sides.iter().zip([before, after]).filter(|(_, words)| !words.is_empty());
    named.map(|(side, words)| format!("{}: {words}", side.name)).collect::<Vec<_>>().join("; ")
}

/// Why an effect is inconclusive; nothing where its cell says so.
pub(crate) fn because(of: Because) -> Option<String> {
    Some(match of {
        // The row of the cell has the reason already.
        Because::Excluded => return None,
        Because::FewRuns { runs, wanted } => {
            format!("{runs} of {} before", counted_noun(wanted.into(), "run"))
        }
        Because::NoInterval { samples, sampled } => {
            format!("{} before: an interval needs 3", counted_noun(samples.into(), noun(sampled)))
        }
        Because::NotAmongMany { margin, family } => format!(
            "beyond the margin of {} by itself, not among {family} that were tested together (Benjamini-Hochberg)",
            percent(margin)
        ),
        Because::ReachesOver { margin, smallest } => format!(
            "the interval reaches over the margin of {}: such data would find a change of {} four times in five",
            percent(margin),
            percent(smallest)
        ),
    })
}

const fn noun(of: Sampled) -> &'static str {
    match of {
        Sampled::Repetition => "repetition",
        Sampled::Run => "run",
    }
}

/// What could not be compared, once for all cells that share the reason: `a, b, c and 7 more: not in the run before`.
pub(crate) fn gaps(of: &[Uncompared]) -> Vec<String> {
    // What is no cell's stands by itself, whatever another says.
    let keyed = of.iter().enumerate().map(|(number, gap)| match gap {
        Uncompared::Of { name, reason } => ((None, uncompared_reason(reason)), Some(name.as_str())),
        _ => ((Some(number), uncompared(gap)), None),
    });
    let line = |((_, words), names): ((Option<usize>, String), Vec<Option<&str>>)| {
        let names: Vec<&str> = names.into_iter().flatten().collect();
        match names.as_slice() {
            [] => words,
            few if few.len() <= NAMED_MAX => format!("{}: {words}", few.join(", ")),
            many => {
                let more = many.len() - NAMED_MAX;
                format!("{} and {more} more: {words}", many[..NAMED_MAX].join(", "))
            }
        }
    };
    by_key(keyed).into_iter().map(line).collect()
}

fn uncompared(of: &Uncompared) -> String {
    match of {
        Uncompared::Of { reason, .. } => uncompared_reason(reason),
        Uncompared::NoRun { baseline } => format!("{baseline}: no run to compare with"),
        Uncompared::OwnRun { run_id } => format!("{run_id}: the run itself is no history of it"),
        Uncompared::NoHeadline { target } => {
            format!("{target}: no headline, since nothing may rest on any of its cells")
        }
        Uncompared::NothingInCommon { target, sampled } => {
            format!("{target}: its cells have no {} in common", noun(*sampled))
        }
        Uncompared::SomeInCommon { target, sampled, samples, most } => {
            let most = counted_noun(*most as u64, noun(*sampled));
            format!("{target}: its headline rests on {samples} of {most}, those that all its cells have")
        }
    }
}

fn uncompared_reason(of: &UncomparedReason) -> String {
    match of {
        UncomparedReason::NotComparable(all) => format!("not comparable: {}", differences(all)),
        UncomparedReason::NotAfter => "not in the run after".to_owned(),
        UncomparedReason::NotBefore => "not in the runs before".to_owned(),
        UncomparedReason::OtherSettings => "other settings in the runs before".to_owned(),
        UncomparedReason::RunsLeftOut(runs) => {
            let runs = counted_noun(*runs as u64, "run");
            format!("{runs} before left out, since nothing may rest on it there")
        }
        UncomparedReason::OneSided { metric, side } => match side {
            OneSide::Before => format!("{} before only", metric.name()),
            OneSide::After => format!("{} after only", metric.name()),
            OneSide::Named(name) => format!("{} of {name} only", metric.name()),
        },
        UncomparedReason::NeverTogether(metric) => {
            format!("no repetition has {} on both sides", metric.name())
        }
        UncomparedReason::SomeTogether { most, planned } => {
            format!("{most} of {planned} repetitions have figures on both sides")
        }
        UncomparedReason::NoFigures(why) => {
            let why = match why {
                NoFigures::Excluded(of) => excluded(of),
                NoFigures::NoneBefore => "none before".to_owned(),
                NoFigures::NeverMeet => "no repetition of one side meets one of the other".to_owned(),
            };
            format!("no figures on both sides: {why}")
        }
        UncomparedReason::NoCounterpart { target } => {
            format!("no cell of {target} is left that does the same")
        }
    }
}

fn differences(all: &[Difference]) -> String {
    all.iter().map(Difference::to_string).collect::<Vec<_>>().join("; ")
}

/// What a reader of a comparison must know.
pub(crate) fn notes(of: &[ComparisonNote]) -> Vec<String> {
    of.iter().map(note).collect()
}

fn note(of: &ComparisonNote) -> String {
    match of {
        ComparisonNote::FewRuns { runs, wanted } => format!(
            "{runs} of {} before: the run is the sample, and repetitions within one say little of the next day",
            counted_noun(u64::from(*wanted), "run")
        ),
        ComparisonNote::Declared { difference, runs } => {
            let runs = counted_noun(u64::from(*runs), "run");
            format!("declared to differ, and does in {runs}: {difference}")
        }
        ComparisonNote::ClientLimited { cells } => format!(
            "the client, not the storage, was the limit of {}: a change there is one of the client, and one of the storage \
             may be hidden",
            counted_noun(*cells as u64, "cell")
        ),
        ComparisonNote::Settings { name, settings } => format!("{name}: {}", settings.join(", ")),
        ComparisonNote::Tools { before, after } => {
            format!("feedline {} before, {} after", tool(before), tool(after))
        }
    }
}

fn tool(of: &Tool) -> String {
    let commit = of.commit.as_ref().map_or_else(String::new, |commit| format!(", commit {commit}"));
    format!("{} ({}{commit})", of.version, of.profile)
}

/// What a reader of a calibration must know.
pub(crate) fn calibration_notes(of: &[CalibrationNote]) -> Vec<String> {
    // Runs that were left out come first, and those that share a reason stand together.
    let left_out: Vec<Uncompared> = of
        .iter()
        .filter_map(|note| match note {
            CalibrationNote::Uncompared(gap) => Some(gap.clone()),
            _ => None,
        })
        .collect();
    gaps(&left_out).into_iter().chain(of.iter().filter_map(calibration_note)).collect()
}

fn calibration_note(of: &CalibrationNote) -> Option<String> {
    Some(match of {
        CalibrationNote::Uncompared(_) => return None,
        CalibrationNote::NoRun => "no run to learn from".to_owned(),
        CalibrationNote::FewRuns { runs, wanted } => {
            let wanted = counted_noun(u64::from(*wanted), "run");
            format!("rests on {runs} of {wanted}: the spread is hardly known")
        }
        CalibrationNote::CellsLeftOut(cells) => {
            format!("{} left out, since nothing may rest on it", counted_noun(*cells as u64, "cell"))
        }
        CalibrationNote::Drift(change) => {
            let moved = if *change < 0.0 { "fell" } else { "rose" };
            let share = percent(change.abs());
            format!(
                "throughput {moved} by up to {share} within the run: interleaving takes it out of the comparison"
            )
        }
        CalibrationNote::Differs { name, metric, change } => {
            let sign = if *change < 0.0 { "-" } else { "+" };
            format!(
                "{name}: {} differs by {sign}{} between two that are the same: order, placement or temperature decides here",
                metric.word(),
                percent(change.abs())
            )
        }
    })
}

/// Where comparability breaks: `from 20261121T…: kernel 6.1 -> 6.6`.
pub(crate) fn broken(of: &Break) -> String {
    format!("from {}: {}", of.run_id, differences(&of.differences))
}

/// What a gate on regressions found, each in a sentence; nothing where it is met.
pub fn regressions(of: &RegressionResult) -> Vec<String> {
    match of {
        RegressionResult::Met => Vec::new(),
        RegressionResult::Regressed(all) => all.iter().map(regression).collect(),
        RegressionResult::Inconclusive(all) => all.iter().map(undecided).collect(),
    }
}

/// `disk throughput -14.9 %, the margin is 10.0 %`.
fn regression(of: &Regression) -> String {
    match of {
        Regression::Worse { name, effect, although } => {
            let change = (effect.ratio.mean - 1.0) * 100.0;
            let margin = effect.margin * 100.0;
            let also = although.as_ref().map(|why| format!("; {}", excluded(why))).unwrap_or_default();
            format!("{name} {} {change:+.1} %, the margin is {margin:.1} %{also}", effect.metric.word())
        }
        Regression::Lost(lost) => {
            format!("{} has no figures any more: {}", lost.cell, exclusions(&lost.reasons))
        }
    }
}

fn undecided(of: &Undecided) -> String {
    match of {
        Undecided::Headline { target, metric, because: why } => {
            let why = why.and_then(because).map(|why| format!(": {why}")).unwrap_or_default();
            format!("{target} {}{why}", metric.word())
        }
        Undecided::Target(target) => format!("{target}: nothing may rest on any of its cells"),
        Undecided::NotMeasured(Lost { cell, reasons, .. }) => {
            format!("{cell} was not measured: {}", exclusions(reasons))
        }
        Undecided::Metric(metric) => format!("{}: no cell can tell", metric.name()),
        Undecided::Nothing => "nothing could be compared".to_owned(),
        Undecided::NotComparable(baseline) => format!("no run of the baseline {baseline} is comparable"),
    }
}

/// `they differ in`, a line for each difference with what may be declared, and what to do; without control characters,
/// since records of others are told.
pub fn refusal(of: &NotComparable) -> String {
    let line = |one: &Difference| {
        let words = feed::plain(&format!("{}: {} -> {}", one.what, one.before, one.after));
        let allowed = one.may.map(|may| format!(" (allowed by `{}` in may_differ)", may.name()));
        format!("\n  {words}{}", allowed.unwrap_or_default())
    };
    let lines: String = of.differences.iter().map(line).collect();
    let hint = match of.hint() {
        RefusalHint::Declare => "declare what may differ with --may-differ, or in the scenario's gate",
        RefusalHint::NameTargets => "name two targets of the run",
        RefusalHint::NameVariants => "name two variants of one run, as `feedline run --variant` makes them",
        RefusalHint::OtherRuns => "compare runs of one scenario on one storage",
    };
    format!("they differ in{lines}\n  hint: {hint}")
}

#[cfg(test)]
mod tests {
    use analysis::{Flag, GapCause, SideExclusions};
    use feed::Compared;

    use super::*;

    fn of(name: &str, reason: UncomparedReason) -> Uncompared {
        Uncompared::Of { name: name.to_owned(), reason }
    }

    fn gone() -> Vec<Exclusion> {
        vec![Exclusion::Gap(GapCause::Recorded("file is gone".to_owned()).into())]
    }

    #[test]
    fn cells_of_one_reason_are_told_together_and_counted_from_the_fourth_on() {
        let mut all = vec![Uncompared::NoRun { baseline: "nightly".to_owned() }];
        all.extend(["a", "b", "c", "d", "e"].map(|name| of(name, UncomparedReason::NotAfter)));
        all.push(of("a", UncomparedReason::OtherSettings));
        assert_eq!(
            gaps(&all),
            [
                "nightly: no run to compare with",
                "a, b, c and 2 more: not in the run after",
                "a: other settings in the runs before"
            ]
        );
    }

    #[test]
    fn a_cell_is_excluded_by_the_side_that_says_so_and_once_where_both_do() {
        let sides = |reasons: [Vec<Exclusion>; 2]| {
            let [before, after] = reasons;
            let side = |name: &str, reasons| SideExclusions { name: name.to_owned(), reasons };
            excluded(&Excluded::Sides([side("base", before), side("head", after)]))
        };
        assert_eq!(sides([Vec::new(), gone()]), "head: file is gone");
        assert_eq!(sides([gone(), gone()]), "file is gone");
        let names = || vec![Exclusion::Flag(Flag::NamesInMemory)];
        let two = sides([gone(), names()]);
        assert!(two.starts_with("base: file is gone; head: "), "{two}");
    }

    #[test]
    fn what_is_inconclusive_says_what_the_data_would_show() {
        let said = [
            (Because::Excluded, None),
            (Because::FewRuns { runs: 7, wanted: 8 }, Some("7 of 8 runs before")),
            (
                Because::NoInterval { samples: 2, sampled: Sampled::Repetition },
                Some("2 repetitions before: an interval needs 3"),
            ),
            (
                Because::ReachesOver { margin: 0.1, smallest: 0.22 },
                Some(
                    "the interval reaches over the margin of 10 %: such data would find a change of 22 % four times in five",
                ),
            ),
        ];
        for (of, expected) in said {
            assert_eq!(because(of).as_deref(), expected);
        }
    }

    #[test]
    fn a_refusal_lists_every_difference_and_what_may_be_declared() {
        let one = |what: &str, may| Difference {
            what: what.to_owned(),
            before: "a\u{1b}".to_owned(),
            after: "b".to_owned(),
            may,
        };
        let kernel = || one("kernel", Some(feed::MayDiffer::Kernel));
        let text = refusal(&NotComparable { differences: vec![one("plan", None), kernel()] });
        assert_eq!(
            text,
            "they differ in\n  plan: a  -> b\n  kernel: a  -> b (allowed by `kernel` in may_differ)\n  hint: compare runs \
             of one scenario on one storage"
        );
        assert!(refusal(&NotComparable { differences: vec![kernel()] }).contains("--may-differ"));
    }

    #[test]
    fn a_regression_says_by_how_much_and_what_else_is_wrong() {
        let lost = Lost { cell: "c".to_owned(), target: "disk".to_owned(), failed: true, reasons: gone() };
        assert_eq!(regression(&Regression::Lost(lost)), "c has no figures any more: file is gone");
        assert_eq!(undecided(&Undecided::Metric(Compared::P99)), "p99: no cell can tell");
        assert_eq!(
            calibration_notes(&[CalibrationNote::CellsLeftOut(1), CalibrationNote::Drift(0.52)]),
            [
                "1 cell left out, since nothing may rest on it",
                "throughput rose by up to 52 % within the run: interleaving takes it out of the comparison"
            ]
        );
    }
}
