//! Ctrl-C ends a session after the run that is under way, and keeps what was measured.
//!
//! Roles: the handler of the signal, on a thread of its own, and the session. The session says when
//! it begins to measure; from then on the handler leaves the end to the session, once. The session
//! checks for a signal after each run, and ends as after a failure: with its tables and its report.
//! A second signal ends the process at once, and so does a signal before the session measures. A
//! run that hangs ends by its own [patience](crate::kit::patience), or by the second signal.
//!
//! The first signal loses nothing, for only the session touches the measurements. After the second
//! one there are no tables and no page. A session with a file for each family has then written each
//! run to its file when the run ended; `run --json` has printed its lines likewise. The rows that
//! `run` keeps for its table are lost. Rejected: writing the report in the handler. That would need
//! a lock around all records, and would cut short a run that others wait for.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a session measures, or shows what it has measured.
static MEASURES: AtomicBool = AtomicBool::new(false);
/// Whether the session has been asked to end.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The session has ended because of a signal.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// The session has ended because the rows that it prints have lost their reader.
#[derive(Debug, thiserror::Error)]
#[error("the output has no reader")]
pub struct Unread;

/// Records that the session begins to measure.
pub fn begin() {
    // Relaxed, here and below: the flags guard no data.
    MEASURES.store(true, Ordering::Relaxed);
}

/// Records a signal. Returns whether a session takes care of the end.
pub fn signal() -> bool {
    MEASURES.load(Ordering::Relaxed) && !ASKED.swap(true, Ordering::Relaxed)
}

/// Returns why a session has ended: because of the signal if there was one. The signal reaches the
/// peers' programs as well, and their failure then is no error of theirs.
pub fn why(error: anyhow::Error) -> anyhow::Error {
    check().err().unwrap_or(error)
}

/// Returns an error if the session has been asked to end.
pub fn check() -> anyhow::Result<()> {
    if ASKED.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
}
