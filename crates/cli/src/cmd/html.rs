//! `feedline report --html`: one page for a run, or several side by side.

use std::path::Path;

use report::Page;

use crate::derived::Derived;
use crate::exit::{Exit, Failure};
use crate::{files, output};

/// Writes the page to `file`, or to standard output.
pub(crate) fn html<'a>(runs: impl Iterator<Item = &'a Path>, file: Option<&Path>) -> Result<Exit, Failure> {
    let runs = runs.map(Derived::of).collect::<Result<Vec<_>, _>>()?;
    let page = report::html(&runs.iter().map(Derived::page).collect::<Vec<Page<'_>>>());
    match file {
        Some(path) => {
            files::write(path, page.as_bytes())?;
            output::say(&format!("html  {}", path.display()));
        }
        None => output::print(&page)?,
    }
    Ok(Exit::Ok)
}
