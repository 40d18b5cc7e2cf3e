//! How the end of a run is shown.

use std::io;
use std::path::Path;

use analysis::{Proof, RegressionResult, Summary};
use report::{Paths, Screen, Surroundings};

use crate::args::ShowArgs;
use crate::output;

/// The page that a run leaves beside its record.
pub(crate) const PAGE_FILE: &str = "report.html";

/// What there is to tell of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) summary: &'a Summary,
    /// What it proves with other runs.
    pub(crate) proofs: &'a [Proof],
    /// How it stands against the baseline of its gate, where it was compared with that.
    pub(crate) past: Option<&'a RegressionResult>,
}

impl ShowArgs {
    /// What is printed of the run in a folder.
    pub(crate) fn text(self, told: &Told<'_>, folder: &Path, screen: Screen) -> String {
        let Told { summary, proofs, past } = *told;
        // A record that was brought here may have come without its page.
        let page = Some(folder.join(PAGE_FILE)).filter(|page| page.exists());
        let page = page.map(|page| page.display().to_string());
        if self.json {
            let paths = Paths { run: folder.display().to_string(), page };
            return report::answer_json(summary, proofs, past, &paths);
        }
        // A command in its place: the answer must not name a file that is not there.
        let page = page.unwrap_or_else(|| format!("feedline report {} --html -o FILE", folder.display()));
        self.answer(told, (folder, &page), screen) + &report::proofs_terminal(proofs)
    }

    /// The answer, after all cells where they are asked for; all of a run that judges nothing.
    fn answer(self, told: &Told<'_>, (folder, page): (&Path, &str), screen: Screen) -> String {
        let Told { summary, past, .. } = *told;
        let folder = folder.display().to_string();
        let all = format!("feedline report {folder} --full");
        let answer =
            report::answer(summary, Surroundings { screen, folder: &folder, page, full: &all, past });
        let whole = || format!("{}\n", report::terminal(summary, screen).trim_end());
        match answer {
            Some(answer) if self.full => format!("{}\n{answer}", whole()),
            Some(answer) => answer,
            None => format!("{}PAGE {page}\n", whole()),
        }
    }

    /// Prints what follows an answer: a JSON object stands alone on standard output, so beside one it is said on standard error.
    pub(crate) fn beside(self, text: &str) -> io::Result<()> {
        if self.json {
            output::say(text.trim_end());
            return Ok(());
        }
        output::print_as_is(text)
    }
}
