//! How the end of a run is shown.

use std::io;
use std::path::Path;

use analysis::{Proof, Summary};
use report::{Paths, Screen, Surroundings};

use crate::args::ShowArgs;
use crate::output;

/// The page that a run leaves beside its record.
pub(crate) const PAGE_FILE: &str = "report.html";

impl ShowArgs {
    /// What is printed of the run in a folder, and of what it proves with other runs.
    pub(crate) fn text(self, summary: &Summary, proofs: &[Proof], folder: &Path, screen: Screen) -> String {
        // A record that was brought here may have come without its page.
        let page = Some(folder.join(PAGE_FILE)).filter(|page| page.exists());
        let page = page.map(|page| page.display().to_string());
        if self.json {
            let paths = Paths { run: folder.display().to_string(), page };
            return report::answer_json(summary, proofs, &paths);
        }
        // A command in its place: the answer must not name a file that is not there.
        let page = page.unwrap_or_else(|| format!("feedline report {} --html -o FILE", folder.display()));
        self.answer(summary, (folder, &page), screen) + &report::proofs_terminal(proofs)
    }

    /// The answer, after all cells where they are asked for; all of a run that judges nothing.
    fn answer(self, summary: &Summary, (folder, page): (&Path, &str), screen: Screen) -> String {
        let folder = folder.display().to_string();
        let all = format!("feedline report {folder} --full");
        let answer = report::answer(summary, Surroundings { screen, folder: &folder, page, full: &all });
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
