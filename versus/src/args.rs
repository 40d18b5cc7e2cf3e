//! The command line.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Parser, Subcommand};

/// Fewest rounds whose median is worth keeping.
const ROUNDS_MIN: u32 = 5;
/// Rounds of a quick look: one in each order.
const ROUNDS_QUICK: u32 = 2;

/// feedline and its peers on the same data, in turn, judged from outside.
///
/// Exit codes: 0 done (targets met or not), 1 error, 2 usage, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "versus", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run cases and write their records
    Run(Box<RunArgs>),
    /// List the cases
    List,
    /// Show records again, as Markdown
    Show(ShowArgs),
    /// Read in a loop that measures nothing: what the kernel alone takes
    #[command(hide = true)]
    Bare(BareArgs),
    /// Serve S3 that does next to nothing, until standard input ends
    #[command(hide = true)]
    NullS3(NullS3Args),
}

/// What a bare loop reads.
#[derive(Debug, Clone, Args)]
pub(crate) struct BareArgs {
    /// A file of blocks, or the folder of a dataset of files
    pub(crate) at: PathBuf,
    /// Bytes of a block, or of each file
    #[arg(long)]
    pub(crate) block_bytes: u32,
    /// Reads outstanding
    #[arg(long, default_value_t = 1)]
    pub(crate) depth: u32,
    /// Threads that share them
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: u32,
    /// How long
    #[arg(long)]
    pub(crate) seconds: f64,
    /// Past the page cache
    #[arg(long)]
    pub(crate) direct: bool,
    /// Files by calls that block, in place of a ring
    #[arg(long)]
    pub(crate) blocking: bool,
}

/// What the null server holds.
#[derive(Debug, Clone, Args)]
pub(crate) struct NullS3Args {
    /// Its one bucket
    #[arg(long, default_value = "bench")]
    pub(crate) bucket: String,
    /// What the keys begin with
    #[arg(long, default_value = "x/")]
    pub(crate) prefix: String,
    /// How many objects there are: PREFIX000.bin, PREFIX001.bin and so on
    #[arg(long, default_value_t = 16)]
    pub(crate) objects: u32,
    /// Size of each
    #[arg(long, default_value_t = 64 << 20)]
    pub(crate) object_bytes: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Records (*.json)
    #[arg(required = true)]
    pub(crate) records: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Cases by name or by the beginning of their names; none means all
    pub(crate) cases: Vec<String>,
    /// Rounds; at least 5 [default: 5, with --quick 2]
    #[arg(long)]
    rounds: Option<u32>,
    /// A look, not a record to keep: allows fewer rounds and is written to CASE.quick.json
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seconds of the short run of each pair
    #[arg(long, default_value_t = 0.5)]
    pub(crate) short: f64,
    /// Seconds of the long run of each pair
    #[arg(long, default_value_t = 3.0)]
    pub(crate) long: f64,
    /// Folder for the data, on the storage under test; kept for the next time (`feedline clean` removes it)
    #[arg(long, default_value = "versus-data")]
    pub(crate) dir: PathBuf,
    /// Folder for the records
    #[arg(long, default_value = "results/versus")]
    pub(crate) out: PathBuf,
    /// The feedline to run [default: the one beside this program]
    #[arg(long)]
    feedline: Option<PathBuf>,
    /// What runs the bare loops, in the place of this program
    #[arg(long, hide = true)]
    bare: Option<PathBuf>,
    /// The fio to run
    #[arg(long, default_value = "fio")]
    pub(crate) fio: PathBuf,
    /// Where a libnfs is installed that was built from its source [default: the system's]
    #[arg(long, value_name = "PREFIX")]
    pub(crate) libnfs: Option<PathBuf>,
    /// The built peers of S3 [default: built from this repository when a case needs them]
    #[arg(long)]
    pub(crate) peers: Option<PathBuf>,
    /// One more option for fio at its best, e.g. --best-arg=--norandommap=0
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) best_arg: Vec<String>,
    /// Reserve huge pages for fio's buffers while running (root; vm.nr_hugepages is put back afterwards)
    #[arg(long)]
    pub(crate) allow_hugepages: bool,
    /// Block device without a medium for direct-4k-qd32, only read [default: a zram device made for it, as root]
    #[arg(long, value_name = "/dev/zramN")]
    pub(crate) device: Option<PathBuf>,
}

impl RunArgs {
    /// Rounds to make.
    pub(crate) fn rounds(&self) -> Result<u32> {
        let rounds = self.rounds.unwrap_or(if self.quick { ROUNDS_QUICK } else { ROUNDS_MIN });
        if rounds == 0 || (rounds < ROUNDS_MIN && !self.quick) {
            bail!(
                "{rounds} rounds are too few for a median\n  hint: at least {ROUNDS_MIN}, or --quick for a look that is not kept"
            );
        }
        Ok(rounds)
    }

    /// Refuses lengths whose difference says nothing.
    pub(crate) fn check_lengths(&self) -> Result<()> {
        // Written so that a NaN is refused as well.
        if !(self.short > 0.0 && self.long >= 2.0 * self.short && self.long <= 3600.0) {
            bail!(
                "runs of {} s and {} s say nothing about the time between\n  hint: --long at least twice --short, both above 0, at most an hour",
                self.short,
                self.long
            );
        }
        Ok(())
    }

    /// The feedline to run: as given, or beside this program.
    /// Who runs the bare loop: this program, unless another is given.
    pub(crate) fn bare(&self) -> Result<PathBuf> {
        match &self.bare {
            Some(given) => Ok(given.clone()),
            None => std::env::current_exe().context("cannot tell where this program lies"),
        }
    }

    pub(crate) fn feedline(&self) -> Result<PathBuf> {
        if let Some(given) = &self.feedline {
            return Ok(given.clone());
        }
        let this = std::env::current_exe().context("cannot tell where this program lies")?;
        let beside = this.with_file_name("feedline");
        if !beside.is_file() {
            bail!(
                "no feedline beside {}\n  hint: cargo build --release -p feedline, or --feedline PATH",
                this.display()
            );
        }
        Ok(beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> RunArgs {
        let words = ["versus", "run"].iter().chain(words);
        match Cli::try_parse_from(words).unwrap().verb {
            Verb::Run(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fewer_than_five_rounds_need_quick() {
        assert_eq!(parsed(&[]).rounds().unwrap(), 5);
        assert_eq!(parsed(&["--rounds", "9"]).rounds().unwrap(), 9);
        assert_eq!(parsed(&["--quick"]).rounds().unwrap(), 2);
        assert_eq!(parsed(&["--quick", "--rounds", "3"]).rounds().unwrap(), 3);
        let refused = parsed(&["--rounds", "4"]).rounds().unwrap_err().to_string();
        assert!(refused.contains("--quick"), "{refused}");
        assert!(parsed(&["--quick", "--rounds", "0"]).rounds().is_err());
    }

    #[test]
    fn lengths_must_differ() {
        assert!(parsed(&[]).check_lengths().is_ok());
        assert!(parsed(&["--short", "1", "--long", "2"]).check_lengths().is_ok());
        for (short, long) in [("1", "1.9"), ("0", "1"), ("NaN", "3"), ("1", "inf")] {
            assert!(parsed(&["--short", short, "--long", long]).check_lengths().is_err(), "{short} {long}");
        }
    }
}
