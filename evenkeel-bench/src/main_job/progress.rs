//! The bar that shows how far a session is.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::suite::output::note;

/// A bar that is drawn only between runs: a thread that redraws it would take time from what is
/// measured. Hidden where standard error is no terminal; lines with the names stand there instead.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar of so many steps.
    pub(super) fn of(steps: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} ({eta} left) {msg}");
        Progress(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Says what is measured next.
    pub(super) fn name(&self, name: String) {
        if self.0.is_hidden() {
            note!("{name}");
        }
        self.0.set_message(name);
    }

    /// So many steps are done.
    pub(super) fn step(&self, steps: usize) {
        self.0.inc(steps as u64);
    }

    /// Takes the bar away.
    pub(super) fn end(self) {
        self.0.finish_and_clear();
    }
}
