//! What goes to standard output and standard error.

use std::io::{self, BufRead as _, ErrorKind, IsTerminal as _, Write as _};

use report::Screen;

/// Width and colours of standard output.
pub(crate) fn screen() -> Screen {
    Screen { columns: columns(), is_coloured: is_coloured() }
}

/// As <https://bixense.com/clicolors/> asks.
fn is_coloured() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_on = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    // Off wins over on: a log with control characters is worse than a terminal without colour.
    // A launcher gives its processes terminals of their own, wherever what they say goes in the end.
    let is_terminal = io::stdout().is_terminal() && !is_set("PMIX_RANK");
    !is_set("NO_COLOR") && (is_on("CLICOLOR_FORCE") || is_terminal)
}

/// Width of the terminal on standard output.
fn columns() -> usize {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout));
    size.and_then(Result::ok)
        .map(|size| usize::from(size.ws_col))
        // Serial consoles and some CI terminals report zero columns.
        .filter(|columns| *columns > 0)
        .unwrap_or(Screen::PLAIN.columns)
}

/// Prints lines to standard output. What a storage or a scenario says in them is only read.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let lines: Vec<String> = text.split('\n').map(feed::plain).collect();
    print_as_is(lines.join("\n"))
}

/// The same of what has colours, is no text, or is read by programs. A reader that has gone (`feedline need | head`) is no failure.
pub(crate) fn print_as_is(text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Prints lines to standard error, where nobody may be listening. What a server or a record says in them is only read.
pub(crate) fn say(text: &str) {
    // A name in a record or an error of a server could otherwise send commands to the terminal.
    let lines: Vec<String> = text.lines().map(feed::plain).collect();
    let _ = writeln!(io::stderr().lock(), "{}", lines.join("\n"));
}

/// Whether a terminal can be asked.
pub(crate) fn can_ask() -> bool {
    // Both: a question that nobody sees would wait for ever, and an answer from a pipe is nobody's.
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks on the terminal. An empty line means `otherwise`; the end of the input means no.
pub(crate) fn agrees(question: &str, otherwise: bool) -> io::Result<bool> {
    let choice = if otherwise { "Y/n" } else { "y/N" };
    write!(io::stderr(), "{question} [{choice}] ")?;
    let mut answer = String::new();
    let is_read = io::stdin().lock().read_line(&mut answer)? > 0;
    Ok(match answer.trim() {
        // The end of input is no agreement: it is what a job without a terminal has.
        "" => otherwise && is_read,
        word => matches!(word, "y" | "Y" | "yes"),
    })
}
