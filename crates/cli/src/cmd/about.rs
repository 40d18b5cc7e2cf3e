//! What describes feedline itself: `schema`, `completions`, `man`, `--version`.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::verb::{Cli, Described, VERSION};

pub(crate) fn schema(of: Described) -> Result<Exit, Failure> {
    match of {
        Described::Scenario => output::print_as_is(scenario::schema_json())?,
        Described::Answer => output::print_as_is(report::ANSWER_SCHEMA)?,
    }
    Ok(Exit::Ok)
}

pub(crate) fn version() -> Result<Exit, Failure> {
    output::print(&version_line())?;
    Ok(Exit::Ok)
}

fn version_line() -> String {
    format!("feedline {VERSION}\n")
}

pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "feedline", &mut script);
    output::print_as_is(&script)?;
    Ok(Exit::Ok)
}

pub(crate) fn man() -> Result<Exit, Failure> {
    let mut page = Vec::new();
    let command = Cli::command();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        // Behind the page of the whole: one page is all there is to install.
        let name = format!("feedline {}", verb.get_name());
        let described = clap_mangen::Man::new(verb.clone().bin_name(name));
        writeln!(page, ".SH \"VERB {}\"", verb.get_name().to_uppercase())?;
        described.render_synopsis_section(&mut page)?;
        described.render_options_section(&mut page)?;
    }
    output::print_as_is(&page)?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_what_the_command_line_says_it_is() {
        assert_eq!(version_line(), Cli::command().render_long_version());
    }
}
