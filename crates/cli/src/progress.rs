//! Progress on standard error. Drawn by a thread of its own, never by one that measures; the figures are the
//! same without it.

use std::fmt::Write;
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backend::SharedStore;
use engine::Progress as Counters;
use feed::units::{format_bps, format_bytes};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::args::MeasureArgs;
use crate::output;
use crate::watch::Watch;

// Five times a second: a person sees no more, and the terminal costs processor time of this very machine.
const REDRAW: Duration = Duration::from_millis(200);

/// Time over which a rate is told.
// Shorter, and a loader's batches make the figure jump; longer, and a stall is seen too late.
const RATE_OVER: Duration = Duration::from_secs(1);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Display {
    /// Not at all.
    Hidden,
    /// A bar on a terminal, plain lines elsewhere.
    Bar,
    /// A row for each second, and plain lines.
    Watch,
}

impl Display {
    /// As asked.
    pub(crate) fn of(args: &MeasureArgs) -> Self {
        match args {
            MeasureArgs { watch: true, .. } => Self::Watch,
            MeasureArgs { quiet: true, .. } => Self::Hidden,
            _ => Self::Bar,
        }
    }
}

/// A bar on a terminal, plain lines at each phase elsewhere, or nothing.
#[derive(Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
    plain: bool,
    watch: Watch,
    counters: Arc<Counters>,
    line_bps: Arc<AtomicU64>,
}

impl Progress {
    /// Shows progress as `display` says; rates come from `counters`.
    pub(crate) fn new(display: Display, counters: &Arc<Counters>) -> Self {
        // Rows and a line that is drawn over itself do not go together.
        let drawn = display == Display::Bar && std::io::stderr().is_terminal();
        let bar = if drawn { ProgressBar::new(0) } else { ProgressBar::hidden() };
        bar.set_style(style("{elapsed_precise}  {wide_msg}", None));
        bar.enable_steady_tick(REDRAW);
        let plain = display != Display::Hidden && !drawn;
        let (watch, line_bps) = (Watch::default(), Arc::default());
        Self { bar, plain, watch, counters: Arc::clone(counters), line_bps }
    }

    /// Begins to print a row for each second, of the target that is measured.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub(crate) fn watch(&self, targets: Vec<(String, SharedStore)>) -> io::Result<()> {
        self.watch.begin(targets, &self.counters)
    }

    /// Says which target is measured now.
    pub(crate) fn target(&self, index: usize) {
        self.watch.target(index);
    }

    /// Begins a phase of the run.
    pub(crate) fn phase(&self, text: &str) {
        // A log keeps lines: a bar that is drawn over itself would fill it.
        if self.plain {
            output::say(text);
        }
        self.bar.set_message(text.to_owned());
    }

    /// Shows how far a dataset is written.
    pub(crate) fn writing(&self, target: &str, done: u64, total: u64) {
        if self.bar.length() == Some(0) {
            let rate = |state: &ProgressState, out: &mut dyn Write| {
                let _ = write!(out, "{}", format_bps(state.per_sec()));
            };
            self.bar.set_style(style("{bar:12} {left}  {rate}  {wide_msg}", None).with_key("rate", rate));
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
        let (done, total) = (format_bytes(done), format_bytes(total));
        self.bar.set_message(format!("writing the dataset on {target}: {done} of {total}"));
    }

    /// Sets the number of repetitions to come, 0 where it is not known, and the longest time that they take.
    pub(crate) fn expect(&self, steps: u64, budget_ns: Option<u64>) {
        self.bar.reset();
        self.bar.set_length(steps);
        let rate = live_rate(Arc::clone(&self.counters), Arc::clone(&self.line_bps));
        let place = if steps > 0 { "{bar:12} {left}" } else { "{elapsed_precise}" };
        let style = style(&format!("{place}  {{rate}}{{wide_msg}}"), budget_ns.map(Duration::from_nanos));
        self.bar.set_style(style.with_key("rate", rate));
    }

    /// Adds repetitions to those that were expected.
    pub(crate) fn add(&self, steps: u64) {
        self.bar.inc_length(steps);
    }

    /// Begins a repetition; `line_bps` is the line that its rate is shown against, bytes per second, or 0.
    pub(crate) fn step(&self, text: String, line_bps: f64) {
        self.line_bps.store(line_bps as u64, Ordering::Relaxed);
        self.bar.set_message(text);
        self.bar.inc(1);
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        self.watch.end();
        self.bar.finish_and_clear();
    }
}

/// The style of the bar; the time left is at most what is left of `budget`.
fn style(template: &str, budget: Option<Duration>) -> ProgressStyle {
    let left = move |state: &ProgressState, out: &mut dyn Write| {
        // The estimate counts all planned steps; a budget may end the run before them.
        let budget = budget.map_or(Duration::MAX, |budget| budget.saturating_sub(state.elapsed()));
        let seconds = state.eta().min(budget).as_secs();
        let _ = write!(out, "{}:{:02} left", seconds / 60, seconds % 60);
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ").with_key("left", left)
}

/// `1.42 GB/s, 97 % of line`: the rate of the last second, from the counters that workers keep anyway. Empty where another
/// process reads.
fn live_rate(
    counters: Arc<Counters>,
    line_bps: Arc<AtomicU64>,
) -> impl Fn(&ProgressState, &mut dyn Write) + Clone + Send + Sync {
    let last = Arc::new(Mutex::new((Duration::ZERO, 0_u64, None::<f64>)));
    move |state: &ProgressState, out: &mut dyn Write| {
        // From counters that the workers keep anyway: drawing adds nothing to the measured path.
        let (now, bytes) = (state.elapsed(), counters.get().1);
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now.saturating_sub(last.0);
        if since >= RATE_OVER {
            let bps = (bytes - last.1) as f64 / since.as_secs_f64();
            *last = (now, bytes, (bytes > 0).then_some(bps));
        }
        let Some(bps) = last.2 else { return };
        let _ = write!(out, "{}", format_bps(bps));
        let line_bps = line_bps.load(Ordering::Relaxed);
        if line_bps > 0 {
            let _ = write!(out, ", {:.0} % of line", bps / line_bps as f64 * 100.0);
        }
        let _ = write!(out, "  ");
    }
}
