//! `versus show`: records again, as Markdown.

use std::path::PathBuf;

use anyhow::Result;

use crate::output::print;
use crate::record::Record;
use crate::{net, table};

/// Prints records as one table.
pub(crate) fn show(paths: &[PathBuf]) -> Result<()> {
    let records = paths.iter().map(|path| Record::read(path)).collect::<Result<Vec<_>>>()?;
    let means: Vec<String> = net::means(&records).iter().map(|mean| format!("\n- {mean}")).collect();
    let end = if means.is_empty() { "" } else { "\n" };
    print(&(table::markdown(&records) + &means.concat() + end))
}
