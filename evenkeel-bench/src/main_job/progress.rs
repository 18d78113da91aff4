//! The bar that shows how far a session is.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use suite::output::offer;

/// A bar that is drawn only between runs: a thread that redraws it would take time from what is
/// measured. Hidden where standard error is no terminal.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar of so many rows.
    pub(super) fn of(rows: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(rows as u64), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} ({eta} left) {msg}");
        Progress(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Says what is measured next.
    pub(super) fn name(&self, name: String) {
        self.0.set_message(name);
    }

    /// A row is done: it is printed above the bar. An error if it cannot be, or if it has no reader
    /// any more.
    pub(super) fn row(&self, text: &str) -> anyhow::Result<()> {
        self.0.inc(1);
        self.0.suspend(|| offer(text))
    }

    /// Takes the bar away.
    pub(super) fn end(self) {
        self.0.finish_and_clear();
    }
}
