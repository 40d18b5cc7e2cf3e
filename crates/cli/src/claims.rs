//! Claims of the field, what is known of each, and how anyone settles it.

mod claim;
mod list;
mod sources;

use std::path::Path;

use claim::FOLDER;
pub(crate) use claim::{Claim, Scenario, Settled};
use list::{CAUSES, CLAIMS};

/// Folder under which the scenario of a cause for which accelerators wait is named, `causes/latency`.
const FOLDER_OF_CAUSES: &str = "causes/";

/// The claim of this number, in whatever case.
pub(crate) fn find(id: &str) -> Option<&'static Claim> {
    all().find(|claim| claim.id.eq_ignore_ascii_case(id))
}

/// All of them, in the order of their numbers.
pub(crate) fn all() -> impl Iterator<Item = &'static Claim> {
    CLAIMS.iter()
}

/// The scenario that `claims/c03` or `causes/latency` names; `None` where a path of this name exists, which wins.
pub(crate) fn named(input: &str) -> Option<&'static Scenario> {
    if Path::new(input).exists() {
        return None;
    }
    let Some(id) = input.strip_prefix(FOLDER) else { return CAUSES.iter().find(|one| one.name() == input) };
    match find(id)?.settled {
        Settled::Run(scenario) => Some(scenario),
        _ => None,
    }
}

/// Why `claims/c21` names no scenario; `None` where it does, and for all that is named neither like a claim nor like a cause.
pub(crate) fn refused(input: &str) -> Option<String> {
    if Path::new(input).exists() || named(input).is_some() {
        return None;
    }
    if let Some(cause) = input.strip_prefix(FOLDER_OF_CAUSES) {
        let (cause, known) = (feed::plain(cause), names(&CAUSES));
        return Some(format!("error: there is no scenario of a cause `{cause}`\n  hint: {known}"));
    }
    let id = input.strip_prefix(FOLDER)?;
    let Some(claim) = find(id) else { return Some(unknown(id)) };
    let (id, how) = (claim.id, claim.how());
    let why = match claim.settled {
        Settled::Sum { .. } | Settled::ByHand(_) => "is settled by arithmetic, and has no scenario",
        Settled::OnOnesOwn(_) => "has no scenario: no storage settles it",
        Settled::Run(_) | Settled::Each(_) => "has several scenarios",
    };
    Some(format!("error: claim {id} {why}\n  hint: {how}"))
}

/// `causes/latency, causes/rate`.
pub(crate) fn names(scenarios: &[Scenario]) -> String {
    scenarios.iter().map(Scenario::name).collect::<Vec<_>>().join(", ")
}

/// That there is no such claim.
pub(crate) fn unknown(id: &str) -> String {
    let id = feed::plain(id);
    format!("error: there is no claim `{id}`\n  hint: `feedline claims` lists those that there are")
}

#[cfg(test)]
mod tests {
    use super::claim::Stands;
    use super::*;

    #[test]
    fn each_claim_is_there_once_and_its_scenario_resolves() {
        let numbers: Vec<u32> = all().map(|claim| claim.id[1..].parse().unwrap()).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        for claim in all() {
            let scenarios = match claim.settled {
                Settled::Run(scenario) => {
                    assert_eq!(named(&format!("claims/{}", claim.id)).map(|of| of.file), Some(scenario.file));
                    std::slice::from_ref(scenario)
                }
                Settled::Each(scenarios) => scenarios,
                Settled::Sum { .. } | Settled::ByHand(_) | Settled::OnOnesOwn(_) => &[],
            };
            for scenario in scenarios {
                scenario::check_shape(scenario.text).unwrap_or_else(|error| panic!("{error}"));
            }
        }
        assert!(CAUSES.iter().all(|cause| named(cause.name()).is_some_and(|found| found.file == cause.file)));
        assert!(named("claims/c21").is_none() && named("claims/c999").is_none() && named("c03").is_none());
    }

    #[test]
    fn what_is_said_fits_its_table_and_only_what_its_owner_has_settles_what_is_left_open() {
        for claim in all() {
            assert!(!claim.source().is_empty(), "{}: who says so?", claim.id);
            assert!(claim.says.len() <= 150 && claim.known.len() <= 260, "{}: too long", claim.id);
            if let Settled::OnOnesOwn(_) = claim.settled {
                assert!(matches!(claim.stands, Stands::Without(_)), "{}", claim.id);
            }
        }
    }

    /// The value of a sum of `+ - * / ( )` and numbers, each a word of its own.
    fn value(sum: &str) -> f64 {
        let spaced = sum.replace('(', "( ").replace(')', " )");
        let mut words = spaced.split_whitespace().peekable();
        let value = terms(&mut words);
        assert_eq!(words.next(), None, "{sum}");
        value
    }

    type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

    fn terms(words: &mut Words<'_>) -> f64 {
        let mut sum = factors(words);
        while let Some(sign) = words.next_if(|word| ["+", "-"].contains(word)) {
            let term = factors(words);
            sum += if sign == "+" { term } else { -term };
        }
        sum
    }

    fn factors(words: &mut Words<'_>) -> f64 {
        let mut product = factor(words);
        while let Some(sign) = words.next_if(|word| ["*", "/"].contains(word)) {
            let factor = factor(words);
            product *= if sign == "*" { factor } else { factor.recip() };
        }
        product
    }

    fn factor(words: &mut Words<'_>) -> f64 {
        match words.next().unwrap() {
            "(" => {
                let value = terms(words);
                assert_eq!(words.next(), Some(")"));
                value
            }
            number => number.parse().unwrap_or_else(|_| panic!("`{number}` is no number")),
        }
    }

    #[test]
    fn what_is_reckoned_by_hand_is_right() {
        assert_eq!((value("7 - 2 * 3 / 4 - 1 + 2"), value("(7 - 1) / (1e1 + 2)")), (6.5, 0.5));
        let equations = all().filter_map(|claim| match claim.settled {
            Settled::ByHand(equations) => Some((claim.id, equations)),
            _ => None,
        });
        for (id, equations) in equations {
            for equation in equations.split("; ") {
                let (sum, result) = equation.split_once(" = ").unwrap_or_else(|| panic!("{id}: {equation}"));
                let (sum, result) = (value(sum), value(result));
                assert!((sum / result - 1.0).abs() < 0.006, "{id}: {equation}: it is {sum}");
            }
        }
    }
}
