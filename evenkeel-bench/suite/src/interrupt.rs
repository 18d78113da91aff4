//! What Ctrl-C does to a session: it ends after the run that is under way, and what is measured is
//! kept.
//!
//! Roles: the handler of the signal, on a thread of its own, and the session. The session says when
//! it begins to measure; from then on the handler leaves the end to it, once. The session looks
//! after each run, and ends as after a failure: with its tables and its report. A second signal
//! ends the process at once, as does one before anything is measured; a run that hangs can be ended
//! in no other way.
//!
//! The first signal loses nothing, for only the session touches what is measured. After the second
//! one there are no tables and no page. What a session with a file for each family has measured is
//! in these files by then, since each run is written when it is over, and so are the lines of `run
//! --json`; what `run` has for its table is lost. Rejected: writing the report in the handler,
//! which would need a lock around all records and would cut a run short that others wait for.

use std::sync::atomic::{AtomicBool, Ordering};

/// A session measures, or shows what it has measured.
static MEASURES: AtomicBool = AtomicBool::new(false);
/// The session has been asked to end.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The session has ended because of a signal.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// The session has ended because the rows that it prints have no reader any more.
#[derive(Debug, thiserror::Error)]
#[error("what is printed has no reader")]
pub struct Unread;

/// The session begins to measure.
pub fn begin() {
    // Relaxed, here and below: the flags guard no data.
    MEASURES.store(true, Ordering::Relaxed);
}

/// A signal has come. Whether a session takes care of the end.
pub fn signal() -> bool {
    MEASURES.load(Ordering::Relaxed) && !ASKED.swap(true, Ordering::Relaxed)
}

/// Why a session has ended: because of the signal if there was one, for it reaches the programs of
/// the peers as well, whose failure is none then.
pub fn why(error: anyhow::Error) -> anyhow::Error {
    check().err().unwrap_or(error)
}

/// An error if the session has been asked to end.
pub fn check() -> anyhow::Result<()> {
    if ASKED.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
}
