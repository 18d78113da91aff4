//! The progress bar of a session.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use suite::output::offer;

/// A bar that is drawn only between runs: a thread that redrew it would take time from the
/// measurement. Hidden where standard error is no terminal.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Creates a bar of `rows` rows.
    pub(super) fn of(rows: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(rows as u64), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} ({eta} left) {msg}");
        Progress(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Shows what is measured next.
    pub(super) fn name(&self, name: String) {
        self.0.set_message(name);
    }

    /// Advances by one row and prints it above the bar. Returns an error if it cannot be printed,
    /// or if it has no reader.
    pub(super) fn row(&self, text: &str) -> anyhow::Result<()> {
        self.0.inc(1);
        self.0.suspend(|| offer(text))
    }

    /// Removes the bar.
    pub(super) fn end(self) {
        self.0.finish_and_clear();
    }
}
