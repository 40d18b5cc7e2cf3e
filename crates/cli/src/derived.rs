//! Everything that is made of the record of a run: figures, plots, and the page that holds them.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use analysis::Summary;
use record::{Environment, RunRecord};
use report::{Page, Plot};

use crate::exit::Failure;
use crate::samples;

/// What is kept of a run once its histograms have been read.
pub(crate) struct Derived {
    pub(crate) summary: Summary,
    pub(crate) plots: Vec<Plot>,
    scenario: String,
    environment: Environment,
}

impl Derived {
    /// Derives all of it from the record as it lies on disk. What a cut record lost is said on standard error.
    pub(crate) fn of(run: &Path) -> Result<Self, Failure> {
        Self::from_record(run, &samples::record(run)?)
    }

    /// The same where the record has been read.
    pub(crate) fn from_record(run: &Path, record: &RunRecord) -> Result<Self, Failure> {
        let summary = analysis::summarise(record);
        let read = |cells: &BTreeSet<&str>| record::read_intervals_of(run, |cell| cells.contains(cell));
        let over_time = analysis::over_time_read(record, read)?;
        let plots = report::plots(&summary, &over_time)?;
        Ok(Self { summary, plots, scenario: scenario(run)?, environment: record.env.clone() })
    }

    /// What a page shows of it.
    pub(crate) fn page(&self) -> Page<'_> {
        Page {
            summary: &self.summary,
            plots: &self.plots,
            scenario: &self.scenario,
            environment: &self.environment,
        }
    }
}

/// The scenario as it was run; empty where it was left out of a published record.
fn scenario(run: &Path) -> Result<String, Failure> {
    let path = run.join(record::SCENARIO_FILE);
    match fs::read(&path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => {
            Err(anyhow::Error::from(error).context(format!("cannot read `{}`", path.display())).into())
        }
    }
}
