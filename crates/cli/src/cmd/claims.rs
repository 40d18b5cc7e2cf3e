//! `feedline claims`: the field's claims, what is known of them, and how anyone settles one.

use clap::Args;
use feed::Sheet;

use crate::claims::{self, Claim, Settled};
use crate::exit::{Exit, Failure};
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct ClaimsArgs {
    /// Number of a claim, such as c03: what is known of it, and the scenario that measures it; nothing to list all
    pub(crate) claim: Option<String>,
    /// Print the list as the table of the book
    #[arg(long, conflicts_with = "claim")]
    pub(crate) markdown: bool,
}

pub(crate) fn claims(args: &ClaimsArgs) -> Result<Exit, Failure> {
    let text = match &args.claim {
        Some(id) => one(claims::find(id).ok_or_else(|| Failure::usage(claims::unknown(id)))?),
        None if args.markdown => markdown(),
        None => list(),
    };
    output::print(&format!("{}\n", text.trim_end()))?;
    Ok(Exit::Ok)
}

fn list() -> String {
    let mut sheet = Sheet::titled("claims of the field; feedline claims C03 tells more of one");
    for claim in claims::all() {
        sheet.section(claim.id, claim.says);
        sheet.row("", &claim.stands.words());
    }
    sheet.to_string()
}

fn one(claim: &Claim) -> String {
    let mut sheet = Sheet::titled(&format!("{}: {}", claim.id, claim.says));
    sheet.section("told in", &format!("article {}", claim.source().replace("; ", "; article ")));
    sheet.section("stands", &claim.stands.words());
    sheet.section("known", claim.known);
    sheet.section("formula", claim.formula);
    let how = match claim.settled {
        Settled::ByHand(_) => "arithmetic",
        Settled::OnOnesOwn(_) => "on your own",
        Settled::Run(_) | Settled::Each(_) | Settled::Sum { .. } => "settle it",
    };
    sheet.section(how, &claim.how());
    match claim.settled {
        Settled::Run(scenario) => {
            sheet.section("scenario", &format!("scenarios/{}", scenario.file));
            format!("{sheet}\n\n{}", scenario.text)
        }
        Settled::Each(scenarios) => {
            sheet.section("scenarios", &claims::names(scenarios));
            sheet.to_string()
        }
        Settled::Sum { shows, .. } => {
            sheet.section("it shows", shows);
            sheet.to_string()
        }
        Settled::ByHand(_) | Settled::OnOnesOwn(_) => sheet.to_string(),
    }
}

/// The table of the book, of which each row is a claim.
fn markdown() -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let row = |claim: &Claim| {
        let quote = if let Settled::OnOnesOwn(_) = claim.settled { "" } else { "`" };
        let measured = claim.measured().map(|number| format!(", [measured](claims-measured.md#{number})"));
        format!(
            "| {} | {} | {} | {} | `{}` | {quote}{}{quote}{} |\n",
            claim.id,
            cell(&format!("{} ({})", claim.says, claim.source())),
            cell(&claim.stands.words()),
            cell(claim.known),
            cell(claim.formula),
            cell(&claim.how()),
            measured.unwrap_or_default()
        )
    };
    let head =
        "| claim | as told | stands | what follows | formula | settle it |\n|---|---|---|---|---|---|\n";
    head.to_owned() + &claims::all().map(row).collect::<String>()
}
