//! What describes feedline itself: `schema`, `completions`, `man`.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::{Exit, Failure};

pub(crate) fn schema() -> Result<Exit, Failure> {
    io::stdout().write_all(scenario::schema_json().as_bytes())?;
    Ok(Exit::Ok)
}

pub(crate) fn completions(shell: Shell) -> Exit {
    clap_complete::generate(shell, &mut Cli::command(), "feedline", &mut io::stdout());
    Exit::Ok
}

pub(crate) fn man() -> Result<Exit, Failure> {
    clap_mangen::Man::new(Cli::command()).render(&mut io::stdout())?;
    Ok(Exit::Ok)
}
