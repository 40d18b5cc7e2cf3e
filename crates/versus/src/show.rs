//! `versus show`: records again, as Markdown.

use std::path::PathBuf;

use anyhow::Result;

use crate::record::Record;
use crate::{print, table};

/// Prints records as one table.
pub(crate) fn show(paths: &[PathBuf]) -> Result<()> {
    let records = paths.iter().map(|path| Record::read(path)).collect::<Result<Vec<_>>>()?;
    print(&table::markdown(&records))
}
