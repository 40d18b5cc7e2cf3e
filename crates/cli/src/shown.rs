//! How the end of a run is shown.

use std::io;
use std::path::Path;

use analysis::Summary;
use report::Paths;

use crate::args::ShowArgs;
use crate::output::{self, PAGE_FILE};

impl ShowArgs {
    /// What is printed of the run in a folder.
    pub(crate) fn text(self, summary: &Summary, folder: &Path) -> String {
        if !self.json {
            return output::answer(summary, folder, self.full);
        }
        let page = folder.join(PAGE_FILE);
        let page = page.exists().then(|| page.display().to_string());
        report::answer_json(summary, &Paths { run: folder.display().to_string(), page })
    }

    /// Prints what follows an answer: a JSON object stands alone on standard output, so beside one it is said on standard error.
    pub(crate) fn beside(self, text: &str) -> io::Result<()> {
        if self.json {
            output::say(text.trim_end());
            return Ok(());
        }
        output::print(text)
    }
}
