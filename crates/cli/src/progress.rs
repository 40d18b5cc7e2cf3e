//! Progress on standard error. Drawn by a thread of its own, never by one that measures; the figures are the
//! same without it.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use engine::Progress as Counters;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::output;

const REDRAW: Duration = Duration::from_millis(200);

/// A line on a terminal, plain lines at the turns of a run elsewhere, or nothing.
pub(crate) struct Progress {
    bar: ProgressBar,
    plain: bool,
}

impl Progress {
    /// Shows progress unless `hidden`; rates come from `counters`.
    pub(crate) fn new(hidden: bool, counters: &Arc<Counters>) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = if hidden || !terminal { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let counters = Arc::clone(counters);
        let read = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            // Another process may be the one that reads.
            if counters.get().1 > 0 {
                let _ = write!(out, "{} read", feed::units::format_bytes(counters.get().1));
            }
        };
        let style = ProgressStyle::with_template("{elapsed_precise} {pos}/{len} {msg} {read}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner())
            .with_key("read", read);
        bar.set_style(style);
        bar.enable_steady_tick(REDRAW);
        Self { bar, plain: !hidden && !terminal }
    }

    /// A turn of the run that is worth a line of its own.
    pub(crate) fn phase(&self, text: &str) {
        if self.plain {
            output::say(text);
        }
        self.bar.set_message(text.to_owned());
    }

    /// How many steps there will be.
    pub(crate) fn expect(&self, steps: u64) {
        self.bar.set_length(steps);
    }

    /// More steps than there were to be.
    pub(crate) fn add(&self, steps: u64) {
        self.bar.inc_length(steps);
    }

    /// The step that begins.
    pub(crate) fn step(&self, text: String) {
        self.bar.set_message(text);
        self.bar.inc(1);
    }

    /// Bytes of a dataset that are written.
    pub(crate) fn writing(&self, target: &str, done: u64, total: u64) {
        let (done, total) = (feed::units::format_bytes(done), feed::units::format_bytes(total));
        self.bar.set_message(format!("writing the dataset on {target}: {done} of {total};"));
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
