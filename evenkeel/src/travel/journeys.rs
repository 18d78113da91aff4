//! Tasks that travel to other workers, as the worker knows them that polls one of them: whose
//! visitors it joins, and where objects are to which others have travelled.

use super::whereabouts::Whereabouts;
use crate::raw_task::header::Header;
use std::cell::Cell;
use std::ptr;

/// What a worker knows of them.
#[derive(Debug)]
pub(crate) struct Journeys {
    /// Whether any task has departed from here since the last batch.
    pub(crate) departed: Cell<bool>,
    /// Whose visitors the task joins that is being polled, if it does.
    pub(crate) target: Cell<usize>,
    /// The task that was inside an object at home here last.
    pub(crate) visitor: Cell<*mut Header>,
    /// Where the objects are to which tasks have travelled from here.
    pub(crate) whereabouts: Whereabouts,
}

impl Default for Journeys {
    fn default() -> Self {
        Self {
            departed: Cell::default(),
            target: Cell::default(),
            visitor: Cell::new(ptr::null_mut()),
            whereabouts: Whereabouts::default(),
        }
    }
}
